//! The commits between two revisions.

use std::collections::HashSet;

use gix::revision::walk::Sorting;

use super::commit::Commit;
use super::error::RevisionError;
use super::repository::Repository;

impl Repository {
    /// The commits that come after `good` and up to `bad`: descendants of `good` that `bad` contains, `bad` among them,
    /// parents before children. `first_parent` follows only the line `bad` was made on. Empty where `good` is no ancestor
    /// of `bad`.
    ///
    /// # Errors
    ///
    /// When history cannot be read, as where a shallow clone ends on the way.
    pub fn commits_between(
        &self,
        good: &Commit,
        bad: &Commit,
        first_parent: bool,
    ) -> Result<Vec<Commit>, RevisionError> {
        let doing = format!("list the commits from {} to {}", good.id.short(), bad.id.short());
        let local = self.local();
        let boundary = self.shallow_boundary()?;
        let mut walk = local
            .rev_walk([bad.id.object_id()])
            .with_hidden([good.id.object_id()])
            .sorting(Sorting::ByCommitTime(gix::traverse::commit::simple::CommitTimeOrder::NewestFirst));
        if first_parent {
            walk = walk.first_parent_only();
        }
        let mut found = Vec::new();
        for info in walk.all().map_err(RevisionError::git(doing.clone()))? {
            let info = info.map_err(RevisionError::git(doing.clone()))?;
            if boundary.contains(&info.id) {
                let what = format!("the history between {} and {}", good.id.short(), bad.id.short());
                return Err(self.shallow(what, "git fetch --unshallow".to_owned()));
            }
            let parents: Vec<gix::ObjectId> = match first_parent {
                true => info.parent_ids().take(1).map(gix::Id::detach).collect(),
                false => info.parent_ids().map(gix::Id::detach).collect(),
            };
            found.push((info.id, parents));
        }
        let mut descend: HashSet<gix::ObjectId> = HashSet::from([good.id.object_id()]);
        let mut path = Vec::new();
        for (id, parents) in in_order(found) {
            if parents.iter().any(|parent| descend.contains(parent)) {
                descend.insert(id);
                let commit = local.find_commit(id).and_then(|commit| Commit::read(&commit));
                path.push(commit.map_err(RevisionError::git(doing.clone()))?);
            }
        }
        Ok(path)
    }
}

/// Parents before children, whatever the commits' clocks say.
fn in_order(
    mut commits: Vec<(gix::ObjectId, Vec<gix::ObjectId>)>,
) -> Vec<(gix::ObjectId, Vec<gix::ObjectId>)> {
    commits.reverse();
    let all: HashSet<gix::ObjectId> = commits.iter().map(|(id, _)| *id).collect();
    let mut done: HashSet<gix::ObjectId> = HashSet::with_capacity(commits.len());
    let mut ordered = Vec::with_capacity(commits.len());
    // Mostly one pass: the times are right but for rebased and skewed commits.
    while !commits.is_empty() {
        let before = ordered.len();
        commits.retain(|(id, parents)| {
            let waits = parents.iter().any(|parent| all.contains(parent) && !done.contains(parent));
            if !waits {
                done.insert(*id);
                ordered.push((*id, parents.clone()));
            }
            waits
        });
        if ordered.len() == before {
            break;
        }
    }
    ordered
}
