//! Whether the user's tree is still what a snapshot was taken of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use super::commit::Commit;
use super::error::RevisionError;
use super::repository::Repository;
use super::snapshot::{self, Differences};

/// What a snapshot was taken of: cheap to compare, since files equal to the commit are left to git's index.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    repository: Repository,
    head: Commit,
    /// Where the repository's files lie in the checkout: empty, or the path of a submodule.
    prefix: PathBuf,
    copied: BTreeMap<PathBuf, Option<Stamp>>,
    deleted: BTreeSet<PathBuf>,
}

/// A file without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Watch {
    /// To be taken before the files are copied.
    pub(super) fn begin(
        repository: &Repository,
        head: &Commit,
        prefix: &Path,
        differences: &Differences,
    ) -> Self {
        let stamped = |path: &PathBuf| (path.clone(), stamp(&repository.root().join(path)));
        Self {
            repository: repository.clone(),
            head: head.clone(),
            prefix: prefix.to_owned(),
            copied: differences.copied.iter().map(stamped).collect(),
            deleted: differences.deleted.clone(),
        }
    }

    /// The files that differ now from what was copied to `tree`, relative to the checkout. A new time alone is no
    /// difference.
    pub(super) fn edited(&self, tree: &Path, interrupt: &AtomicBool) -> Result<Vec<PathBuf>, RevisionError> {
        let now = snapshot::differences(&self.repository, &self.head, interrupt)?;
        let copied: BTreeSet<PathBuf> = self.copied.keys().cloned().collect();
        let mut edited: BTreeSet<&PathBuf> = copied.symmetric_difference(&now.copied).collect();
        edited.extend(self.deleted.symmetric_difference(&now.deleted));
        for (path, before) in &self.copied {
            let file = self.repository.root().join(path);
            if stamp(&file) != *before && !same_content(&file, &tree.join(&self.prefix).join(path)) {
                edited.insert(path);
            }
        }
        Ok(edited.into_iter().map(|path| self.prefix.join(path)).collect())
    }

    /// The differences as they are now. What was laid over the checkout before and is equal to the commit again is among
    /// them, so that it is taken from the tree once more.
    pub(super) fn again(
        &self,
        before: Differences,
        interrupt: &AtomicBool,
    ) -> Result<Differences, RevisionError> {
        let mut now = snapshot::differences(&self.repository, &self.head, interrupt)?;
        let touched = before.copied.into_iter().chain(before.deleted);
        now.copied.extend(touched.filter(|path| !now.deleted.contains(path)).collect::<Vec<_>>());
        Ok(now)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.symlink_metadata().ok()?;
    Some(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() })
}

fn same_content(one: &Path, other: &Path) -> bool {
    match (std::fs::read_link(one), std::fs::read_link(other)) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), Err(_)) => {
            matches!((std::fs::read(one), std::fs::read(other)), (Ok(one), Ok(other)) if one == other)
        }
        _ => false,
    }
}
