//! A temporary linked worktree that holds one revision's files.

use std::collections::{BTreeSet, HashMap};
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
use super::submodule::{Filled, Filling, Level};
use super::watch::Watch;
use super::{content, include, lfs, partial, sweep};

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
    /// Whether every file has its content: no submodule stayed empty, and nothing is a pointer of Git LFS. What is not here
    /// today may be tomorrow, under the same commit.
    pub whole: bool,
    /// What differs from the user's tree, and why, for people.
    pub notes: Vec<String>,
    worktree: gix::ThreadSafeRepository,
    /// What was taken from the user's tree; empty for a commit.
    watches: Vec<Watch>,
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
        let (commit, included) = match content {
            Content::Commit(commit) => (commit, None),
            Content::WorkingTree { head, include } => {
                (head, Some(include::files(repository.root(), &include)?))
            }
        };
        sweep::worktree(repository, &path)?;
        let (worktree, fetched) = added(self, &path, &commit, interrupt)?;
        // From here on, dropping it removes the worktree.
        let mut checkout = Checkout {
            path,
            files: Vec::new(),
            dirty: false,
            whole: false,
            notes: fetched.into_iter().collect(),
            worktree: worktree.clone().into_sync(),
            watches: Vec::new(),
            held: Arc::clone(&self.held),
            armed: true,
        };
        lock(&worktree, &format!("{}{}", sweep::RUNNING, std::process::id()))?;
        checkout.fill(&worktree, &commit, included, interrupt)?;
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

    /// The files that were edited in the user's tree since they were copied, relative to the checkout; none for a commit.
    pub fn edited_since(&self, interrupt: &AtomicBool) -> Result<Vec<PathBuf>, RevisionError> {
        let mut edited = Vec::new();
        for watch in &self.watches {
            edited.extend(watch.edited(&self.path, interrupt)?);
        }
        Ok(edited)
    }

    /// Completes a checkout of the commit's own files: the working tree's changes, submodules, and what is known of each
    /// file. `included` is there for a working tree.
    fn fill(
        &mut self,
        worktree: &gix::Repository,
        commit: &Commit,
        included: Option<(BTreeSet<PathBuf>, Vec<String>)>,
        interrupt: &AtomicBool,
    ) -> Result<(), RevisionError> {
        let index = worktree.open_index().map_err(RevisionError::git("read the index of the checkout"))?;
        let mut files: HashMap<PathBuf, Option<gix::ObjectId>> =
            HashMap::with_capacity(index.entries().len());
        let filtered = may_be_filtered(worktree, &index);
        for entry in index.entries() {
            if entry.mode != Mode::COMMIT && !entry.flags.contains(Flags::SKIP_WORKTREE) {
                files.insert(snapshot::native(entry.path(&index))?, (!filtered).then_some(entry.id));
            }
        }
        let snapshot = included.is_some();
        let mut differences = Differences::default();
        if let Some((included, notes)) = included {
            self.notes.extend(notes);
            differences = self.copy_working_tree(commit, interrupt)?;
            let tracked_or_copied =
                |path: &PathBuf| files.contains_key(path) || differences.copied.contains(path);
            let mut extra = Differences::default();
            extra.copied.extend(included.into_iter().filter(|path| !tracked_or_copied(path)));
            snapshot::apply(self.held.repository.root(), &self.path, &mut extra, interrupt)?;
            for path in &differences.deleted {
                files.remove(path);
            }
            for path in differences.copied.iter().chain(&extra.copied) {
                files.insert(path.clone(), None);
            }
        }
        self.dirty = !differences.is_empty();
        self.notes.append(&mut differences.notes);
        let filled = self.fill_submodules(worktree, differences, snapshot, interrupt)?;
        self.dirty |= filled.dirty;
        self.watches.extend(filled.watches);
        self.notes.extend(filled.notes);
        files.extend(filled.files.into_iter().map(|path| (path, None)));
        let pointers = lfs::pointers(&self.path, files.keys());
        self.whole = !filled.incomplete && pointers.is_none();
        self.notes.extend(pointers);
        self.files = with_ids(&self.path, files, worktree.object_hash(), interrupt)?;
        Ok(())
    }

    /// Lays the user's working tree over the checkout. What is edited meanwhile is copied once more, so that the copy is
    /// that of one moment.
    fn copy_working_tree(
        &mut self,
        head: &Commit,
        interrupt: &AtomicBool,
    ) -> Result<Differences, RevisionError> {
        let repository = self.held.repository.clone();
        let mut differences = snapshot::differences(&repository, head, interrupt)?;
        let mut edited = Vec::new();
        for _ in 0..COPIES {
            let watch = Watch::begin(&repository, head, Path::new(""), &differences);
            snapshot::apply(repository.root(), &self.path, &mut differences, interrupt)?;
            edited = watch.edited(&self.path, interrupt)?;
            if edited.is_empty() {
                self.watches.push(watch);
                return Ok(differences);
            }
            differences = watch.again(differences, interrupt)?;
        }
        Err(RevisionError::TreeBusy { files: named(&edited) })
    }

    fn fill_submodules(
        &self,
        worktree: &gix::Repository,
        differences: Differences,
        snapshot: bool,
        interrupt: &AtomicBool,
    ) -> Result<Filled, RevisionError> {
        let repository = &self.held.repository;
        let filling = Filling { checkout: &self.path, slot: &self.held.directory, snapshot, interrupt };
        let mut filled = Filled::default();
        let level = Level {
            worktree: worktree.clone(),
            prefix: PathBuf::new(),
            user_tree: repository.has_work_tree().then(|| repository.root().to_owned()),
            user_git_dir: repository.common_dir().to_owned(),
            staged: differences.submodules,
        };
        filling.fill(&level, &mut filled)?;
        Ok(filled)
    }
}

/// How often a tree that is edited meanwhile is copied.
const COPIES: usize = 4;

/// Files shown in a message.
const SHOWN: usize = 5;

/// Paths in a sentence: the first few, and how many more.
pub fn named(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    match paths.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
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

/// Adds a worktree. What a partial clone lacks is fetched from where it was cloned from, which the note says.
fn added(
    slot: &Slot,
    path: &Path,
    commit: &Commit,
    interrupt: &AtomicBool,
) -> Result<(gix::Repository, Option<String>), RevisionError> {
    let repository = &slot.held.repository;
    let first = match add(repository, path, commit, interrupt) {
        Err(RevisionError::PartialClone { reason, .. }) => reason,
        done => return Ok((done?, None)),
    };
    let missing = partial::fetch_missing(repository, commit, slot.directory(), interrupt);
    let count = missing.map_err(|error| match error {
        RevisionError::Git { reason, .. } => {
            RevisionError::PartialClone { commit: commit.id.to_string(), reason }
        }
        error => error,
    })?;
    if count == 0 {
        return Err(RevisionError::PartialClone { commit: commit.id.to_string(), reason: first });
    }
    let worktree = add(repository, path, commit, interrupt)?;
    let note =
        format!("this partial clone lacked {count} files of commit {}; git fetched them", commit.id.short());
    Ok((worktree, Some(note)))
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
        if is_interrupted(interrupt) {
            return RevisionError::Interrupted;
        }
        let reason = explain(&error);
        if partial::remote(&local).is_some() {
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

/// Whether it is the user who ended the checkout. Ctrl-C reaches a filter program as soon as us, and its failure may be
/// seen before the flag is set.
fn is_interrupted(interrupt: &AtomicBool) -> bool {
    const LOOKS: u32 = 10;
    (0..LOOKS).any(|look| {
        if 0 < look {
            std::thread::sleep(Duration::from_millis(5));
        }
        interrupt.load(Ordering::Relaxed)
    })
}

fn lock(worktree: &gix::Repository, reason: &str) -> Result<(), RevisionError> {
    let linked = worktree.worktree().expect("a linked worktree has a working tree");
    linked.set_lock(Some(BStr::new(reason))).map_err(RevisionError::git("lock a temporary worktree"))
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
