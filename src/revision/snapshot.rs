//! The working tree beyond HEAD: which files differ, and laying them over a checkout of HEAD.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use gix::bstr::{BStr, BString};
use gix::index::entry::Mode;
use gix::status::index_worktree::Item as WorktreeItem;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use super::commit::Commit;
use super::error::RevisionError;
use super::repository::Repository;
use super::untracked::Caches;

/// What must be done to a checkout of HEAD to make it equal to the working tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Differences {
    /// Files and links to take from the working tree.
    pub(super) copied: BTreeSet<PathBuf>,
    /// Files and links to remove.
    pub(super) deleted: BTreeSet<PathBuf>,
    /// Submodules that are staged at another commit than HEAD's; `None` for one that is taken out.
    pub(super) submodules: BTreeMap<PathBuf, Option<gix::ObjectId>>,
    /// What is not taken along, and why.
    pub(super) notes: Vec<String>,
}

impl Differences {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.copied.is_empty() && self.deleted.is_empty() && self.submodules.is_empty()
    }
}

/// Compares the working tree with `head`.
pub(super) fn differences(
    repository: &Repository,
    head: &Commit,
    interrupt: &AtomicBool,
) -> Result<Differences, RevisionError> {
    let mut seen = Seen::default();
    for item in repository.status(head)? {
        if interrupt.load(Ordering::Relaxed) {
            return Err(RevisionError::Interrupted);
        }
        match item.map_err(RevisionError::git("compare the working tree with HEAD"))? {
            gix::status::Item::TreeIndex(change) => seen.staged(change),
            gix::status::Item::IndexWorktree(change) => seen.in_worktree(change),
        }
    }
    seen.settle(repository.root())
}

/// What the comparison reports, in the order it comes.
#[derive(Default)]
struct Seen {
    present: BTreeSet<BString>,
    untracked: BTreeSet<BString>,
    gone: BTreeSet<BString>,
    unstaged: BTreeSet<BString>,
    submodules: BTreeMap<BString, Option<gix::ObjectId>>,
    notes: BTreeSet<String>,
}

impl Seen {
    fn staged(&mut self, change: gix::diff::index::Change) {
        use gix::diff::index::ChangeRef;
        match change {
            ChangeRef::Addition { location, entry_mode, id, .. }
            | ChangeRef::Modification { location, entry_mode, id, .. } => {
                if entry_mode == Mode::COMMIT {
                    self.submodules.insert(location.into_owned(), Some(id.into_owned()));
                } else {
                    self.present.insert(location.into_owned());
                }
            }
            ChangeRef::Deletion { location, entry_mode, .. } => {
                if entry_mode == Mode::COMMIT {
                    self.submodules.insert(location.into_owned(), None);
                } else {
                    self.unstaged.insert(location.into_owned());
                }
            }
            ChangeRef::Rewrite { source_location, location, copy, .. } => {
                self.present.insert(location.into_owned());
                if !copy {
                    self.unstaged.insert(source_location.into_owned());
                }
            }
        }
    }

    fn in_worktree(&mut self, item: WorktreeItem) {
        match item {
            WorktreeItem::Modification { rela_path, status, .. } => match status {
                EntryStatus::Conflict { .. } => {
                    self.notes
                        .insert(format!("'{rela_path}' has merge conflicts; it is taken as it is on disk"));
                    self.present.insert(rela_path);
                }
                EntryStatus::Change(Change::Removed) => {
                    self.gone.insert(rela_path);
                }
                EntryStatus::Change(Change::Type { worktree_mode }) => {
                    if matches!(worktree_mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK) {
                        self.present.insert(rela_path);
                    } else {
                        self.gone.insert(rela_path);
                    }
                }
                EntryStatus::Change(Change::Modification { .. }) | EntryStatus::IntentToAdd => {
                    self.present.insert(rela_path);
                }
                // Submodules are looked at one by one, as they are in the user's tree.
                EntryStatus::Change(Change::SubmoduleModification(_)) | EntryStatus::NeedsUpdate(_) => {}
            },
            WorktreeItem::DirectoryContents { entry, .. } => self.untracked(entry),
            WorktreeItem::Rewrite { source, dirwalk_entry, copy, .. } => {
                if !copy {
                    self.gone.insert(source.rela_path().to_owned());
                }
                self.untracked(dirwalk_entry);
            }
        }
    }

    fn untracked(&mut self, entry: gix::dir::Entry) {
        use gix::dir::entry::{Kind, Status};
        if entry.status != Status::Untracked {
            return;
        }
        match entry.disk_kind {
            Some(Kind::File | Kind::Symlink) => {
                self.untracked.insert(entry.rela_path);
            }
            Some(Kind::Repository) => {
                self.notes
                    .insert(format!("'{}' is a repository of its own and is left out", entry.rela_path));
            }
            Some(Kind::Untrackable | Kind::Directory) | None => {}
        }
    }

    fn leave_caches_out(&mut self, root: &Path) -> Result<(), RevisionError> {
        let mut caches = Caches::default();
        for path in std::mem::take(&mut self.untracked) {
            match caches.around(root, &native(path.as_ref())?) {
                Some(cache) => {
                    self.notes.insert(format!("'{}' is tagged as a cache and is left out", cache.display()));
                }
                None => {
                    self.untracked.insert(path);
                }
            }
        }
        Ok(())
    }

    fn settle(mut self, root: &Path) -> Result<Differences, RevisionError> {
        self.leave_caches_out(root)?;
        // Unstaged but still there: untracked, unless it is ignored, and then it is no part of the snapshot.
        let unstaged = self.unstaged.difference(&self.untracked).cloned().collect::<Vec<_>>();
        self.gone.extend(unstaged);
        let present = self.present.union(&self.untracked).filter(|path| !self.gone.contains(*path));
        Ok(Differences {
            copied: present.map(|path| native(path.as_ref())).collect::<Result<_, _>>()?,
            deleted: self.gone.iter().map(|path| native(path.as_ref())).collect::<Result<_, _>>()?,
            submodules: self
                .submodules
                .into_iter()
                .map(|(path, id)| Ok((native(path.as_ref())?, id)))
                .collect::<Result<_, RevisionError>>()?,
            notes: self.notes.into_iter().collect(),
        })
    }
}

/// A path of git as one of this system.
pub(super) fn native(path: &BStr) -> Result<PathBuf, RevisionError> {
    let path = gix::path::from_bstr(path).map_err(RevisionError::git(format!("read the path '{path}'")))?;
    Ok(path.into_owned())
}

/// Makes the checkout at `tree` equal to the working tree at `root`. Files that vanish meanwhile count as deleted; they
/// are moved over to `deleted`.
pub(super) fn apply(
    root: &Path,
    tree: &Path,
    differences: &mut Differences,
    interrupt: &AtomicBool,
) -> Result<(), RevisionError> {
    // Deletions first: a file may have become a directory, or the other way round.
    for path in &differences.deleted {
        delete(tree, path).map_err(RevisionError::io("lay the working tree's changes over the checkout"))?;
    }
    let mut vanished = Vec::new();
    for path in &differences.copied {
        if interrupt.load(Ordering::Relaxed) {
            return Err(RevisionError::Interrupted);
        }
        let copied = copy(root, tree, path);
        if !copied.map_err(RevisionError::io(format!("copy {} into the checkout", path.display())))? {
            delete(tree, path)
                .map_err(RevisionError::io("lay the working tree's changes over the checkout"))?;
            vanished.push(path.clone());
        }
    }
    for path in vanished {
        differences.copied.remove(&path);
        differences.deleted.insert(path);
    }
    Ok(())
}

/// Copies a file with its permissions, or a link as a link; false when there is neither.
fn copy(root: &Path, tree: &Path, path: &Path) -> io::Result<bool> {
    let from = root.join(path);
    let to = tree.join(path);
    let metadata = match from.symlink_metadata() {
        Ok(metadata) if metadata.is_file() || metadata.is_symlink() => metadata,
        Ok(_) => return Ok(false),
        Err(error) if is_absent(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    make_parents(tree, path)?;
    match to.symlink_metadata() {
        Ok(old) if old.is_dir() => super::remove::directory(&to)?,
        Ok(_) => fs_err::remove_file(&to)?,
        Err(_) => {}
    }
    if metadata.is_symlink() {
        symlink(&fs_err::read_link(&from)?, &to)?;
    } else {
        fs_err::copy(&from, &to)?;
    }
    Ok(true)
}

/// Makes the directories above `path`, real ones: writing through a link would leave the checkout.
fn make_parents(tree: &Path, path: &Path) -> io::Result<()> {
    let mut directory = tree.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        directory.push(part);
        match directory.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => continue,
            Ok(_) => fs_err::remove_file(&directory)?,
            Err(_) => {}
        }
        fs_err::create_dir(&directory)?;
    }
    Ok(())
}

/// Removes a file or link, and the directories that are empty then, as git does.
fn delete(tree: &Path, path: &Path) -> io::Result<()> {
    let target = tree.join(path);
    // A parent that is a link: the file was never in the checkout.
    let mut parent = tree.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        parent.push(part);
        if parent.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            return Ok(());
        }
    }
    match target.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => fs_err::remove_file(&target)?,
        Err(error) if is_absent(&error) => return Ok(()),
        Err(error) => return Err(error),
    }
    for directory in target.ancestors().skip(1).take_while(|directory| *directory != tree) {
        if std::fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}
