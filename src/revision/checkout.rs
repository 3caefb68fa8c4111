//! A temporary linked worktree that holds one revision's files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::{Flags, Mode};

use super::commit::Commit;
use super::error::{RevisionError, explain};
use super::repository::Repository;
use super::slot::{Held, Slot, is_revision_name};
use super::snapshot::{self, Differences};
use super::{content, include, sweep};

/// What a checkout is to hold.
#[derive(Debug, Clone)]
pub enum Content {
    /// The files of a commit.
    Commit(Commit),
    /// The files of the working tree: HEAD with everything staged, modified, deleted and untracked-not-ignored.
    WorkingTree {
        /// The commit HEAD is at.
        head: Commit,
        /// Globs of ignored files to take along, relative to the repository's root.
        include: Vec<String>,
    },
}

/// A file of a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedOutFile {
    /// Relative to the checkout.
    pub path: PathBuf,
    /// The blob id, in hexadecimal. Equal ids mean equal bytes on disk: where an attribute or a setting may change
    /// content on its way out, it is the id of what is on disk.
    pub blob: String,
}

/// A linked worktree that is removed when it is dropped.
#[derive(Debug)]
pub struct Checkout {
    /// Its directory; absolute, symbolic links resolved.
    pub path: PathBuf,
    /// Every tracked or overlaid file, in the order of paths.
    pub files: Vec<CheckedOutFile>,
    /// Whether it holds anything else than its commit, ignored files that were asked for aside.
    pub dirty: bool,
    /// What differs from the user's tree, and why, for people.
    pub notes: Vec<String>,
    worktree: gix::ThreadSafeRepository,
    held: Arc<Held>,
    armed: bool,
}

impl Slot {
    /// Checks out `content` as `revision` into this slot. Set `interrupt` from elsewhere to abort; nothing is left then.
    pub fn checkout(
        &self,
        revision: &str,
        content: Content,
        interrupt: &AtomicBool,
    ) -> Result<Checkout, RevisionError> {
        if !is_revision_name(revision) {
            return Err(RevisionError::BadRevisionName { name: revision.to_owned() });
        }
        let repository = &self.held.repository;
        let path = self.tree(revision);
        let (commit, differences, included) = match content {
            Content::Commit(commit) => (commit, Differences::default(), Vec::new()),
            Content::WorkingTree { head, include } => {
                let mut differences = snapshot::differences(repository, &head, interrupt)?;
                let (included, notes) = include::files(repository.root(), &include)?;
                differences.notes.extend(notes);
                (head, differences, included.into_iter().collect())
            }
        };
        sweep::worktree(repository, &path)?;
        let worktree = add(repository, &path, &commit, interrupt)?;
        // From here on, dropping it removes the worktree.
        let mut checkout = Checkout {
            path,
            files: Vec::new(),
            dirty: !differences.is_empty(),
            notes: Vec::new(),
            worktree: worktree.clone().into_sync(),
            held: Arc::clone(&self.held),
            armed: true,
        };
        lock(&worktree, &format!("cargo-benchgate pid={}", std::process::id()))?;
        checkout.fill(&worktree, differences, included, interrupt)?;
        Ok(checkout)
    }
}

impl Checkout {
    /// Makes the index agree with the files' present times, so that git need not look into any file to find them clean.
    /// To be called after something else has set times. Content is compared, so a changed file stays changed; files of
    /// the working tree that were laid over the checkout are left alone.
    ///
    /// It waits for the clock's second to end: a file written in the second its index was written in would be read again
    /// by every `git status`, on one side of the comparison only.
    pub fn refresh_index(&self) -> Result<(), RevisionError> {
        let doing = || RevisionError::git(format!("refresh the index of {}", self.path.display()));
        let worktree = self.worktree.to_thread_local();
        let mut status = worktree
            .status(gix::progress::Discard)
            .map_err(doing())?
            .index_worktree_options_mut(|options| options.dirwalk_options = None)
            .index_worktree_submodules(None)
            .index_worktree_rewrites(None)
            .into_index_worktree_iter(Vec::new())
            .map_err(doing())?;
        for item in status.by_ref() {
            item.map_err(doing())?;
        }
        let outcome = status.into_outcome();
        wait_out_the_second(&self.path, &self.files);
        let written = outcome.and_then(|mut outcome| outcome.write_changes());
        match written {
            Some(written) => written.map_err(doing()),
            None => {
                let mut index = worktree.open_index().map_err(doing())?;
                index.write(gix::index::write::Options::default()).map_err(doing())
            }
        }
    }

    /// Removes the worktree and its registration.
    pub fn remove(mut self) -> Result<(), RevisionError> {
        self.armed = false;
        sweep::worktree(&self.held.repository, &self.path)
    }

    /// Leaves the worktree where it is until the next run takes its slot, and gives its path.
    pub fn keep(mut self) -> Result<PathBuf, RevisionError> {
        lock(&self.worktree.to_thread_local(), &format!("{}: until the next run", sweep::KEPT))?;
        self.armed = false;
        Ok(self.path.clone())
    }

    fn fill(
        &mut self,
        worktree: &gix::Repository,
        mut differences: Differences,
        included: Vec<PathBuf>,
        interrupt: &AtomicBool,
    ) -> Result<(), RevisionError> {
        let root = self.held.repository.root().to_owned();
        let index = worktree.open_index().map_err(RevisionError::git("read the index of the checkout"))?;
        let mut files: HashMap<PathBuf, Option<gix::ObjectId>> =
            HashMap::with_capacity(index.entries().len());
        let filtered = may_be_filtered(worktree, &index);
        for entry in index.entries() {
            let path = entry.path(&index);
            if entry.mode == Mode::COMMIT {
                self.notes.push(format!("submodule '{path}' is not checked out"));
            } else if !entry.flags.contains(Flags::SKIP_WORKTREE) {
                files.insert(snapshot::native(path)?, (!filtered).then_some(entry.id));
            }
        }
        snapshot::apply(&root, &self.path, &mut differences, interrupt)?;
        let tracked_or_copied =
            |path: &PathBuf| files.contains_key(path) || differences.copied.contains(path);
        let mut extra = Differences::default();
        extra.copied.extend(included.into_iter().filter(|path| !tracked_or_copied(path)));
        snapshot::apply(&root, &self.path, &mut extra, interrupt)?;
        for path in &differences.deleted {
            files.remove(path);
        }
        for path in differences.copied.iter().chain(&extra.copied) {
            files.insert(path.clone(), None);
        }
        self.notes.append(&mut differences.notes);
        self.files = with_ids(&self.path, files, worktree.object_hash(), interrupt)?;
        Ok(())
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if self.armed {
            // What cannot be removed now is swept by the next run.
            let _ = sweep::worktree(&self.held.repository, &self.path);
        }
    }
}

fn add(
    repository: &Repository,
    path: &Path,
    commit: &Commit,
    interrupt: &AtomicBool,
) -> Result<gix::Repository, RevisionError> {
    let parent = path.parent().expect("a tree lies in its revision's directory");
    fs_err::create_dir_all(parent).map_err(RevisionError::io("make the directory of a revision"))?;
    let local = repository.local();
    let failed = |error: gix::Error| {
        // gix rolls back, but for empty directories.
        let _ = sweep::worktree(repository, path);
        if interrupt.load(Ordering::Relaxed) {
            return RevisionError::Interrupted;
        }
        let reason = explain(&error);
        if is_partial_clone(&local) {
            return RevisionError::PartialClone { commit: commit.id.to_string(), reason };
        }
        RevisionError::Git { doing: format!("check out commit {} to {}", commit.id, path.display()), reason }
    };
    let prepared = {
        let _alone = sweep::registry_lock(path)?;
        let head = gix::worktree::add::Head::Detached(commit.id.object_id());
        local.prepare_add_worktree(path, head, interrupt)
    };
    let prepared = prepared.map_err(failed)?;
    let (worktree, outcome) = prepared.checkout(gix::progress::Discard, interrupt).map_err(failed)?;
    if let Some(collision) = outcome.collisions.first() {
        let reason = format!(
            "'{}' differs from another path in case only, and this file system cannot hold both",
            collision.path
        );
        let _ = sweep::worktree(repository, path);
        return Err(RevisionError::Git { doing: format!("check out commit {}", commit.id), reason });
    }
    Ok(worktree)
}

fn lock(worktree: &gix::Repository, reason: &str) -> Result<(), RevisionError> {
    let linked = worktree.worktree().expect("a linked worktree has a working tree");
    linked.set_lock(Some(BStr::new(reason))).map_err(RevisionError::git("lock a temporary worktree"))
}

fn is_partial_clone(local: &gix::Repository) -> bool {
    let config = local.config_snapshot();
    config.string("extensions.partialClone").is_some()
        || local
            .remote_names()
            .iter()
            .any(|name| config.boolean(format!("remote.{name}.promisor").as_str()).unwrap_or(false))
}

/// Whether files on disk may differ from their blobs: by attributes, or by line-ending settings.
fn may_be_filtered(worktree: &gix::Repository, index: &gix::index::File) -> bool {
    let config = worktree.config_snapshot();
    let global = worktree.attribute_global_paths().unwrap_or_default();
    config.string("core.autocrlf").is_some_and(|value| value.as_bstr() != "false")
        || config.string("core.attributesFile").is_some()
        || worktree.common_dir().join("info/attributes").exists()
        || global.iter().any(|path| path.exists())
        || index.entries().iter().any(|entry| entry.path(index).ends_with(b".gitattributes"))
}

fn with_ids(
    root: &Path,
    files: HashMap<PathBuf, Option<gix::ObjectId>>,
    hash: gix::hash::Kind,
    interrupt: &AtomicBool,
) -> Result<Vec<CheckedOutFile>, RevisionError> {
    let mut known = Vec::with_capacity(files.len());
    let mut unknown = Vec::new();
    for (path, id) in files {
        match id {
            Some(id) => known.push((path, id)),
            None => unknown.push(path),
        }
    }
    known.extend(content::ids(root, &unknown, hash, interrupt)?);
    known.sort();
    Ok(known.into_iter().map(|(path, id)| CheckedOutFile { path, blob: id.to_string() }).collect())
}

/// Waits until no file can have been written in the second the index is about to be written in.
fn wait_out_the_second(tree: &Path, files: &[CheckedOutFile]) {
    // File times may come from a clock that ticks every few milliseconds only.
    const COARSE_TICK: Duration = Duration::from_millis(20);
    let since_epoch = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = since_epoch(SystemTime::now());
    let is_this_second = |file: &CheckedOutFile| {
        let modified = tree.join(&file.path).symlink_metadata().and_then(|metadata| metadata.modified());
        modified.is_ok_and(|modified| now.as_secs() <= since_epoch(modified).as_secs())
    };
    if files.iter().any(is_this_second) {
        let rest = Duration::from_secs(1).saturating_sub(Duration::from_nanos(u64::from(now.subsec_nanos())));
        std::thread::sleep(rest + COARSE_TICK);
    }
}
