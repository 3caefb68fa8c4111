//! Which targets of another revision are built, and by which names they are known.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{Built, Layout, Matching};
use crate::suite::identity::{TargetId, TargetKind};
use crate::suite::{Selection, Suite};

/// The targets of another revision that are built.
pub(super) fn wanted(matching: &Matching, left_behind: &BTreeSet<TargetId>) -> Vec<TargetId> {
    let kept = matching.others.iter().filter(|(id, _)| !left_behind.contains(id));
    kept.map(|(_, other)| other.clone()).collect()
}

/// The targets, by head's names, that another revision leaves to the built-in harness and head, as it was built, does
/// not.
pub(super) fn left_behind(head: &Built, layout: &Layout, matching: &Matching) -> BTreeSet<TargetId> {
    let moved_on = |id: &TargetId| {
        head.targets
            .get(id)
            .is_some_and(|built| built.as_ref().is_ok_and(|built| built.uses_libtest == Some(false)))
    };
    let others = matching.others.iter();
    let behind = others
        .filter(|(id, other)| moved_on(id) && layout.target(other).is_some_and(|target| target.uses_libtest));
    behind.map(|(id, _)| id.clone()).collect()
}

/// What was built, by head's names.
pub(super) fn named_as_in_head(
    built: Built,
    matching: &Matching,
    targets: &[TargetId],
    left_behind: &BTreeSet<TargetId>,
) -> Built {
    let mut renamed = Built { targets: BTreeMap::new(), missing: Vec::new(), ..built };
    for id in targets.iter().filter(|id| !left_behind.contains(*id)) {
        match matching.others.get(id).and_then(|other| built.targets.get(other)) {
            Some(found) => drop(renamed.targets.insert(id.clone(), found.clone())),
            None => renamed.missing.push(id.clone()),
        }
    }
    renamed
}

/// Bench targets that base has and head has not, of the selected packages, and of packages that are gone when all of
/// head's are selected. A selection by target names what it wants, and `only_listed` as well.
pub(super) fn removed_targets(
    (head, base): (&Layout, &Layout),
    matching: &Matching,
    suite: &Suite,
    selection: &Selection,
) -> Vec<TargetId> {
    if !selection.benches.is_empty() || suite.run.only_listed {
        return Vec::new();
    }
    let mut packages: BTreeSet<&str> = suite.targets().iter().map(|plan| plan.id.package.as_str()).collect();
    packages.extend(matching.others.values().map(|id| id.package.as_str()));
    let has_benches = |id: &TargetId| id.kind == TargetKind::Bench;
    let everything = selection.packages.is_empty()
        && selection.exclude.is_empty()
        && head.targets().filter(has_benches).all(|id| packages.contains(id.package.as_str()));
    let is_gone = |name: &str| !head.packages.iter().any(|package| package.name == name);
    let of_head: BTreeSet<TargetId> = head.targets().collect();
    let matched: BTreeSet<&TargetId> = matching.others.values().collect();
    base.targets()
        .filter(|id| {
            id.kind == TargetKind::Bench
                && (packages.contains(id.package.as_str()) || (everything && is_gone(&id.package)))
                && !of_head.contains(id)
                && !matched.contains(id)
        })
        .collect()
}
