//! Where commits stand: on the branch, or by their times where no branch knows them.

use std::collections::{HashMap, HashSet};

use super::facts::RevisionFacts;
use super::index::IndexedRun;
use crate::revision::BranchLine;

/// Where a revision of a run stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Standing {
    At(Place),
    Dirty,
    OffBranch,
    NoCommit,
}

impl Standing {
    pub(super) fn place(&self) -> Option<Place> {
        match self {
            Self::At(place) => Some(*place),
            _ => None,
        }
    }
}

/// The place of a commit: its time, made never to fall along the line, and its depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    order_time: i64,
    /// Larger is newer; the same for all commits that are not on the line.
    height: i64,
    pub(super) committed_at: i64,
    pub(super) depth: Option<u32>,
}

impl Place {
    /// Comparable between series: larger is newer.
    pub(super) fn in_all_series(&self) -> (i64, i64) {
        (self.order_time, self.height)
    }
}

/// The places of all commits of a history.
pub(super) struct Places {
    /// The commits of the branch, where there is one.
    on_branch: Option<HashMap<String, Place>>,
    /// Commits that the repository has and the branch has not.
    elsewhere: HashSet<String>,
}

impl Places {
    /// Skewed clocks give commits a time before that of their parents; along the line the largest time so far counts.
    pub(super) fn new(line: Option<&BranchLine>) -> Self {
        let elsewhere = line.map(|line| line.elsewhere.clone()).unwrap_or_default();
        let on_branch = line.map(|line| {
            let mut commits: Vec<_> = line.commits.iter().collect();
            commits.sort_unstable_by_key(|(_, commit)| std::cmp::Reverse(commit.depth));
            let mut order_time = i64::MIN;
            commits
                .into_iter()
                .map(|(id, commit)| {
                    order_time = order_time.max(commit.committed_at);
                    let height = -i64::from(commit.depth);
                    let committed_at = commit.committed_at;
                    (id.clone(), Place { order_time, height, committed_at, depth: Some(commit.depth) })
                })
                .collect()
        });
        Self { on_branch, elsewhere }
    }

    pub(super) fn of(&self, commit: &str) -> Option<Place> {
        self.on_branch.as_ref()?.get(commit).copied()
    }

    pub(super) fn standing(&self, run: &IndexedRun, revision: &RevisionFacts) -> Standing {
        if revision.dirty {
            return Standing::Dirty;
        }
        if revision.commit.is_empty() {
            return Standing::NoCommit;
        }
        match self.of(&revision.commit) {
            Some(place) => Standing::At(place),
            None if self.on_branch.is_some() && !run.imported => Standing::OffBranch,
            None if self.elsewhere.contains(&*revision.commit) => Standing::OffBranch,
            None => {
                let time = revision.committed_at.unwrap_or(run.result_time.div_euclid(1_000_000_000));
                Standing::At(Place { order_time: time, height: i64::MIN, committed_at: time, depth: None })
            }
        }
    }
}
