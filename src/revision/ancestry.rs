//! The line of commits from a good one to a bad one.

use std::collections::HashMap;

use super::commit::{Commit, CommitId};
use super::error::RevisionError;
use super::repository::Repository;

/// A commit of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCommit {
    /// The commit.
    pub commit: Commit,
    /// Its parents but the first: not empty for a merge.
    pub merged: Vec<CommitId>,
}

impl Repository {
    /// The commits from `good`, which comes first, to `bad`: those of `git rev-list --first-parent bad` that are descendants of
    /// `good`. A merge stands for all that it brought in.
    ///
    /// # Errors
    ///
    /// When `good` is no ancestor of `bad`, or the clone is too shallow to tell.
    pub fn line(&self, good: &Commit, bad: &Commit) -> Result<Vec<LineCommit>, RevisionError> {
        let between = self.commits_between(good, bad, false)?;
        if between.is_empty() && good.id != bad.id {
            if !self.shallow_boundary()?.is_empty() {
                let what = format!("the history from {} to {}", good.id.short(), bad.id.short());
                return Err(self.shallow(what, "git fetch --unshallow".to_owned()));
            }
            return Err(RevisionError::NotAnAncestor {
                ancestor: good.id.short().to_owned(),
                descendant: bad.id.short().to_owned(),
            });
        }
        let mut descendants: HashMap<CommitId, Commit> =
            between.into_iter().map(|commit| (commit.id.clone(), commit)).collect();
        let mut line = Vec::new();
        let mut next = Some(bad.id.clone());
        // Where `good` came in by a merge, the line ends before it is met.
        while let Some(commit) = next.and_then(|id| descendants.remove(&id)) {
            let mut parents = self.parents(&commit.id)?.into_iter().map(CommitId::from);
            next = parents.next();
            line.push(LineCommit { commit, merged: parents.collect() });
        }
        line.push(LineCommit { commit: good.clone(), merged: Vec::new() });
        line.reverse();
        Ok(line)
    }

    /// The best common ancestor of two commits; `None` when they share no history.
    ///
    /// # Errors
    ///
    /// When history cannot be read, as in a clone that is too shallow.
    pub fn common_ancestor(&self, one: &CommitId, other: &CommitId) -> Result<Option<Commit>, RevisionError> {
        let local = self.local();
        let bases = local
            .merge_bases_many(one.object_id(), &[other.object_id()])
            .map_err(RevisionError::git(format!("find where {} and {} part", one.short(), other.short())))?;
        bases.first().map_or(Ok(None), |base| self.commit_at(base.detach()))
    }
}
