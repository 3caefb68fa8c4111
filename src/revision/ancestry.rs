//! The line of commits from a good one to a bad one.

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
        let mut line = Vec::new();
        let mut next = Some(bad.id.clone());
        while let Some(id) = next {
            if id == good.id {
                line.push(LineCommit { commit: good.clone(), merged: Vec::new() });
                line.reverse();
                return Ok(line);
            }
            let Some(commit) = self.commit_at(id.object_id())? else {
                return Err(self.shallow(
                    format!("the history from {} to {}", good.id.short(), bad.id.short()),
                    "git fetch --unshallow".to_owned(),
                ));
            };
            let mut parents = self.parents(&id)?.into_iter().map(CommitId::from);
            next = parents.next();
            line.push(LineCommit { commit, merged: parents.collect() });
        }
        // `good` came in by a merge: the line begins with the first commit that has it as an ancestor.
        let descends = |at: usize| self.is_ancestor(&good.id, &line[at].commit.id);
        if !descends(0)? {
            return Err(RevisionError::NotAnAncestor {
                ancestor: good.id.short().to_owned(),
                descendant: bad.id.short().to_owned(),
            });
        }
        // From bad backwards descendants of good come first, then none any more.
        let (mut inside, mut outside) = (0, line.len());
        while outside - inside > 1 {
            let middle = inside.midpoint(outside);
            if descends(middle)? {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        line.truncate(outside);
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

    fn is_ancestor(&self, ancestor: &CommitId, descendant: &CommitId) -> Result<bool, RevisionError> {
        Ok(self.common_ancestor(ancestor, descendant)?.is_some_and(|base| base.id == *ancestor))
    }
}
