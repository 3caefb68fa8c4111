//! Worktrees taken away again: after a run, and after a run that was killed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gix::worktree::remove::Force;

use super::error::RevisionError;
use super::lock::Lock;
use super::remove;
use super::repository::Repository;

/// The lock reason of a tree that was kept on purpose.
pub(super) const KEPT: &str = "cargo-benchgate kept";

/// What the lock reasons of the trees of a run begin with.
pub(super) const RUNNING: &str = "cargo-benchgate pid=";

/// A registration whose slot cannot be seen must be this old before it counts as left behind: the cache of another
/// container may be out of sight and in use.
const UNSEEN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A half-made registration must be this old before it counts as left behind.
const HALF_MADE_AGE: Duration = Duration::from_secs(60);

/// What becomes of trees that were kept on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// The slot is wanted: they go.
    Remove,
    /// They stay.
    Leave,
}

/// Frees a slot of what a killed run left: registrations, worktrees, links. The slot's lock must be held.
pub(super) fn slot(repository: &Repository, directory: &Path, kept: Kept) -> Result<(), RevisionError> {
    let local = repository.local();
    let trees = directory.read_dir().into_iter().flatten().flatten();
    if directory.join("run").exists() || trees.into_iter().any(|entry| entry.path().join("tree").exists()) {
        crate::measure::kill_leftovers(directory);
    }
    let mut stay = Vec::new();
    for (base, is_kept) in registrations(&local, directory)? {
        if is_kept && kept == Kept::Leave && base.exists() {
            stay.push(base);
        } else {
            worktree(repository, &base)?;
        }
    }
    let doing = || RevisionError::io("sweep a build slot");
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(doing()(error)),
    };
    for entry in entries {
        let entry = entry.map_err(doing())?;
        let path = entry.path();
        if entry.file_type().map_err(doing())?.is_symlink() {
            fs_err::remove_file(&path).map_err(doing())?;
        } else if entry.file_name() == "run" {
            remove::directory(&path).map_err(doing())?;
        } else {
            remove_links(&path);
            remove::directory(&path.join(super::slot::WORK)).map_err(doing())?;
            let tree = path.join("tree");
            if !stay.contains(&tree) {
                remove::directory(&tree).map_err(doing())?;
            }
        }
    }
    Ok(())
}

/// Removes the links to places outside of the repository beside a worktree.
fn remove_links(revision: &Path) {
    for entry in revision.read_dir().into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            // A link that stays is in nobody's way.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes one worktree with its registration, whatever state both are in.
pub(super) fn worktree(repository: &Repository, path: &Path) -> Result<(), RevisionError> {
    let local = repository.local();
    let doing = || format!("remove the worktree {}", path.display());
    let _alone = registry_lock(path)?;
    for attempt in [Attempt::First, Attempt::Last] {
        let proxies = local.worktrees().map_err(RevisionError::git(doing()))?;
        let Some(proxy) = proxies.into_iter().find(|proxy| proxy.base().is_ok_and(|base| base == path))
        else {
            break;
        };
        match (proxy.remove(Force::OverrideLock, gix::progress::Discard), attempt) {
            (Ok(()), _) => break,
            // Read-only directories, or a `.git` link that is gone: without the directory, removal always works.
            (Err(_), Attempt::First) => remove::directory(path).map_err(RevisionError::io(doing()))?,
            (Err(error), Attempt::Last) => return Err(RevisionError::git(doing())(error)),
        }
    }
    remove_half_made(repository);
    remove::directory(path).map_err(RevisionError::io(doing()))
}

#[derive(Clone, Copy)]
enum Attempt {
    First,
    Last,
}

/// Held while a registration is made or removed: git's `worktrees` directory goes with its last entry.
pub(super) fn registry_lock(tree: &Path) -> Result<Option<Lock>, RevisionError> {
    let doing = || RevisionError::io("lock the list of worktrees");
    // <repository>/slot-00/<revision>/tree
    let Some(directory) = tree.ancestors().nth(3) else { return Ok(None) };
    fs_err::create_dir_all(directory).map_err(doing())?;
    Lock::wait(&directory.join("worktrees.lock")).map(Some).map_err(doing())
}

/// The slots below `root` that have a registration, whether their directories are still there or not.
pub(super) fn registered_slots(repository: &Repository, root: &Path) -> Result<Vec<PathBuf>, RevisionError> {
    let bases = registrations(&repository.local(), root)?;
    Ok(bases
        .into_iter()
        .filter_map(|(base, _)| Some(root.join(base.strip_prefix(root).ok()?.components().next()?)))
        .collect())
}

/// Removes the registrations of ours outside of `root`, of another cache directory, whose run is over. Failing is no harm.
pub(super) fn strays(repository: &Repository, root: &Path) {
    let local = repository.local();
    let Ok(proxies) = local.worktrees() else { return };
    for proxy in proxies {
        let is_ours = proxy.lock_reason().is_some_and(|reason| reason.starts_with(RUNNING.as_bytes()));
        let Ok(base) = proxy.base() else { continue };
        // <repository>/slot-00/<revision>/tree
        let Some(slot) = base.ancestors().nth(2).filter(|_| is_ours && !base.starts_with(root)) else {
            continue;
        };
        if slot.is_dir() {
            if let Ok(Some(_lock)) = super::slot::try_lock(slot) {
                let _ = worktree(repository, &base);
            }
        } else if is_older(proxy.git_dir(), UNSEEN_AGE) {
            let _ = proxy.remove(Force::OverrideLock, gix::progress::Discard);
        }
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    path.metadata()
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|old| age < old))
}

/// The worktrees registered below `directory`, and whether they were kept on purpose.
fn registrations(local: &gix::Repository, directory: &Path) -> Result<Vec<(PathBuf, bool)>, RevisionError> {
    let proxies = local.worktrees().map_err(RevisionError::git("list the worktrees of the repository"))?;
    Ok(proxies
        .into_iter()
        .filter_map(|proxy| {
            let base = proxy.base().ok()?;
            let kept = proxy.lock_reason().is_some_and(|reason| reason.starts_with(KEPT.as_bytes()));
            base.starts_with(directory).then_some((base, kept))
        })
        .collect())
}

/// Removes registrations of ours that were killed before they said where their worktree is. git keeps those for ever,
/// since they are locked. They are known by name, content and age; failing is no harm.
fn remove_half_made(repository: &Repository) {
    let worktrees = repository.common_dir().join("worktrees");
    let Ok(entries) = worktrees.read_dir() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name
            .to_str()
            .and_then(|name| name.strip_prefix("tree"))
            .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_ours || !is_older(&entry.path(), HALF_MADE_AGE) {
            continue;
        }
        let Ok(files) = entry.path().read_dir() else { continue };
        let files: Vec<_> = files.flatten().map(|file| file.file_name()).collect();
        if files.iter().all(|file| file == "locked") {
            let _ = std::fs::remove_file(entry.path().join("locked"));
            let _ = std::fs::remove_dir(entry.path());
        }
    }
    let _ = std::fs::remove_dir(worktrees);
}
