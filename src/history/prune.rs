//! Which reports of a store may go.

use std::collections::BTreeMap;

use super::index::Index;

/// What is to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rule {
    /// Runs measured before this time. ns since 1970.
    pub before: Option<i64>,
    /// All but so many of the newest runs of each machine.
    pub keep: Option<usize>,
    /// Runs of this machine only; alone: all of them.
    pub machine: Option<String>,
}

/// The names of the files that the rule removes: those that every given condition is about.
pub fn doomed(index: &Index, rule: &Rule) -> Vec<String> {
    let mut by_machine: BTreeMap<&str, Vec<(i64, &str)>> = BTreeMap::new();
    for report in &index.reports {
        if let Ok(run) = &report.content {
            by_machine.entry(&run.machine).or_default().push((run.result_time, &report.file.name));
        }
    }
    let mut doomed = Vec::new();
    for (machine, mut runs) in by_machine {
        if rule.machine.as_ref().is_some_and(|wanted| wanted != machine) {
            continue;
        }
        runs.sort_unstable();
        let beyond = rule.keep.map_or(runs.len(), |keep| runs.len().saturating_sub(keep));
        doomed.extend(
            runs[..beyond]
                .iter()
                .filter(|(time, _)| rule.before.is_none_or(|before| *time < before))
                .map(|(_, name)| (*name).to_owned()),
        );
    }
    doomed.sort_unstable();
    doomed
}
