//! The line of a branch: its commits along first parents, as far back as someone asks.

use std::collections::{HashMap, HashSet};

use super::commit::Commit;
use super::error::RevisionError;
use super::repository::Repository;

/// Where wanted commits stand on a branch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BranchLine {
    /// The branch's name.
    pub name: String,
    /// The wanted commits that are on it.
    pub commits: HashMap<String, BranchCommit>,
    /// The wanted commits that the repository has and that are not on it.
    pub elsewhere: HashSet<String>,
    /// Whether history ends early because the clone is shallow.
    pub is_cut: bool,
}

/// One commit of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchCommit {
    /// First-parent steps from the tip.
    pub depth: u32,
    /// The committer's time, in seconds since 1970.
    pub committed_at: i64,
}

impl Repository {
    /// Walks the first parents of `tip` until all wanted commits are found, or history ends.
    ///
    /// # Errors
    ///
    /// When a commit that should be there cannot be read.
    pub fn branch_line(
        &self,
        name: String,
        tip: &Commit,
        wanted: &HashSet<&str>,
    ) -> Result<BranchLine, RevisionError> {
        let boundary = self.shallow_boundary()?;
        let mut local = self.local();
        local.object_cache_size_if_unset(4 * 1024 * 1024);
        let mut line = BranchLine { name, ..BranchLine::default() };
        let mut next = Some(tip.id.object_id());
        let mut depth = 0;
        while let Some(id) = next.filter(|_| line.commits.len() < wanted.len()) {
            let doing = || RevisionError::git(format!("walk the history of {}", line.name));
            let commit = local.find_commit(id).map_err(doing())?;
            let text = id.to_string();
            if wanted.contains(text.as_str()) {
                let committed_at = commit.time().map_err(doing())?.seconds;
                line.commits.insert(text, BranchCommit { depth, committed_at });
            }
            if boundary.contains(&id) {
                line.is_cut = true;
                break;
            }
            next = commit.parent_ids().next().map(gix::Id::detach);
            depth += 1;
        }
        let is_elsewhere = |commit: &&&str| {
            let id = gix::ObjectId::from_hex(commit.as_bytes()).ok();
            !line.commits.contains_key(**commit) && id.is_some_and(|id| local.has_object(id))
        };
        line.elsewhere = wanted.iter().filter(is_elsewhere).map(|commit| (*commit).to_owned()).collect();
        Ok(line)
    }

    /// How deep on the first-parent line of `tip` the newest commit is that `commit` builds on; `None` when there is none.
    ///
    /// # Errors
    ///
    /// When a commit that should be there cannot be read.
    pub fn left_line(
        &self,
        name: String,
        tip: &Commit,
        commit: &Commit,
    ) -> Result<Option<u32>, RevisionError> {
        let ancestors: HashSet<gix::ObjectId> = {
            let doing = || RevisionError::git(format!("walk the history of {}", commit.id.short()));
            let local = self.local();
            let walk = local.rev_walk([commit.id.object_id()]).all().map_err(doing())?;
            walk.map_while(Result::ok).map(|info| info.id).collect()
        };
        let local = self.local();
        let mut next = Some(tip.id.object_id());
        let mut depth = 0;
        while let Some(id) = next {
            if ancestors.contains(&id) {
                return Ok(Some(depth));
            }
            let doing = || RevisionError::git(format!("walk the history of {name}"));
            // Beyond the end of a shallow clone there is nothing to read.
            let Some(found) = local.try_find_object(id).map_err(doing())? else { return Ok(None) };
            next = found.into_commit().parent_ids().next().map(gix::Id::detach);
            depth += 1;
        }
        Ok(None)
    }
}
