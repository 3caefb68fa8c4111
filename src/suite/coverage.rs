//! Which entries are about a benchmark that is there.

use super::identity::TargetId;
use super::keys::nearest;
use super::plan::{Suite, is_about};
use super::read::Entry;

/// So many ids are named.
const NAMED: usize = 3;

impl Suite {
    /// What is said of entries whose `filter` or `skip` leaves none of the benchmarks that the targets list: all they say
    /// is without effect. An entry about a target that could not be listed is not judged.
    pub fn entries_without_benchmarks(&self, listed: &[(TargetId, Vec<String>)]) -> Vec<String> {
        self.entries().iter().filter_map(|entry| without_benchmarks(self, entry, listed)).collect()
    }
}

fn without_benchmarks(suite: &Suite, entry: &Entry, listed: &[(TargetId, Vec<String>)]) -> Option<String> {
    if entry.covers_all() {
        return None;
    }
    let all_listed = suite
        .targets()
        .iter()
        .filter(|plan| is_about(entry, &plan.id))
        .all(|plan| listed.iter().any(|(target, _)| *target == plan.id));
    let mut ids: Vec<&String> =
        listed.iter().filter(|(target, _)| is_about(entry, target)).flat_map(|(_, ids)| ids).collect();
    ids.sort_unstable();
    ids.dedup();
    if !all_listed || ids.is_empty() || ids.iter().any(|id| entry.covers(id)) {
        return None;
    }
    let patterns = entry.filter.as_ref().map_or(&[][..], |globs| &globs.patterns);
    let near = patterns.iter().find_map(|pattern| nearest(pattern, &ids));
    let help = match near {
        Some(near) => format!("did you mean {near:?}?"),
        None => {
            let named: Vec<&str> = ids.iter().take(NAMED).map(|id| id.as_str()).collect();
            format!("there are {}{}", named.join(", "), if ids.len() > NAMED { ", …" } else { "" })
        }
    };
    let lost = match (entry.layer.budgets.is_empty(), entry.layer.metrics.is_empty()) {
        (false, _) => "its budgets are checked on nothing",
        (true, false) => "its limits hold for nothing",
        (true, true) => "it has no effect",
    };
    Some(format!(
        "{}: {} is about none of the {} benchmarks of its target, so {lost}; {help}",
        entry.place.manifest,
        entry.place.table,
        ids.len()
    ))
}
