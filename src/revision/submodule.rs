//! Submodules of a checkout, from what the user's clone already has: nothing is fetched.
//!
//! Each gets a git directory of its own below the worktree's registration, which goes with it, and borrows the objects
//! of the user's. The user's configuration is neither needed nor written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gix::bstr::BStr;
use gix::index::entry::{Flags, Mode};

use super::error::RevisionError;
use super::git::Git;
use super::repository::{self, Repository};
use super::snapshot;
use super::watch::Watch;

/// What filling needs to know.
pub(super) struct Filling<'a> {
    /// The root of the checkout.
    pub(super) checkout: &'a Path,
    /// The slot it is in.
    pub(super) slot: &'a Path,
    /// Whether it holds the user's working tree: then the submodules are taken as they are there.
    pub(super) snapshot: bool,
    pub(super) interrupt: &'a AtomicBool,
}

/// What came of it. Paths are relative to the checkout.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) files: Vec<PathBuf>,
    pub(super) notes: Vec<String>,
    /// Whether a submodule holds anything else than its commit in the checkout says.
    pub(super) dirty: bool,
    /// Whether a submodule stayed empty.
    pub(super) incomplete: bool,
    pub(super) watches: Vec<Watch>,
}

/// One repository with submodules.
pub(super) struct Level {
    /// The checkout's repository.
    pub(super) worktree: gix::Repository,
    /// Its place in the checkout.
    pub(super) prefix: PathBuf,
    /// The same place in the user's tree.
    pub(super) user_tree: Option<PathBuf>,
    /// The user's git directory of it, which may hold the submodules' below `modules`.
    pub(super) user_git_dir: PathBuf,
    /// What is staged beyond the commit: added or moved on, or taken out.
    pub(super) staged: BTreeMap<PathBuf, Option<gix::ObjectId>>,
}

/// The user's clone of a submodule.
struct Source {
    repository: gix::Repository,
    /// Whether it is checked out in the user's tree.
    in_tree: bool,
}

impl Filling<'_> {
    /// Fills the submodules of a repository, and theirs.
    pub(super) fn fill(&self, level: &Level, filled: &mut Filled) -> Result<(), RevisionError> {
        let mut wanted = links(&level.worktree)?;
        for (path, id) in &level.staged {
            match id {
                Some(id) => wanted.insert(path.clone(), *id),
                None => wanted.remove(path),
            };
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let names = names(&level.worktree)?;
        for (path, id) in wanted {
            let shown = level.prefix.join(&path).display().to_string();
            let Some(name) = names.get(&path) else {
                filled.incomplete = true;
                filled.notes.push(format!("submodule '{shown}' is not in .gitmodules and stays empty"));
                continue;
            };
            let Some(source) = source(level, name, &path)? else {
                let inside = match level.prefix.as_os_str().is_empty() {
                    true => String::new(),
                    false => format!(" -C {}", level.prefix.display()),
                };
                filled.incomplete = true;
                filled.notes.push(format!(
                    "submodule '{shown}' is not in this clone and stays empty; 'git{inside} submodule update --init {}' \
                     fetches it",
                    path.display()
                ));
                continue;
            };
            self.one(level, (name, &path, id), &source, filled)?;
        }
        Ok(())
    }

    fn one(
        &self,
        level: &Level,
        (name, path, id): (&str, &Path, gix::ObjectId),
        source: &Source,
        filled: &mut Filled,
    ) -> Result<(), RevisionError> {
        let prefix = level.prefix.join(path);
        let doing = format!("check out submodule '{}'", prefix.display());
        let at_head = source.repository.head_id().ok().map(gix::Id::detach);
        let id = match at_head {
            Some(head) if self.snapshot && source.in_tree => {
                filled.dirty |= head != id;
                head
            }
            _ => id,
        };
        if !source.repository.has_object(id) {
            return Err(RevisionError::SubmoduleCommit { path: prefix, commit: id.to_string() });
        }
        let place = self.checkout.join(&prefix);
        let git_dir = level.worktree.git_dir().join("modules").join(name);
        self.make(&doing, &place, &git_dir, &source.repository, id)?;

        let made = repository::open_work_tree(&place).map_err(RevisionError::git(doing.clone()))?;
        let index = made.open_index().map_err(RevisionError::git(doing))?;
        for entry in index.entries().iter().filter(|entry| entry.mode != Mode::COMMIT) {
            filled.files.push(prefix.join(snapshot::native(entry.path(&index))?));
        }
        let mut staged = BTreeMap::new();
        if self.snapshot && source.in_tree {
            let user = Repository::from_gix(source.repository.clone())?;
            let head = user.head()?;
            let mut differences = snapshot::differences(&user, &head, self.interrupt)?;
            filled.watches.push(Watch::begin(&user, &head, &prefix, &differences));
            snapshot::apply(user.root(), &place, &mut differences, self.interrupt)?;
            filled.dirty |= !differences.is_empty();
            filled.files.retain(|file| {
                file.strip_prefix(&prefix).map_or(true, |rest| !differences.deleted.contains(rest))
            });
            filled.files.extend(differences.copied.iter().map(|file| prefix.join(file)));
            let named = |note| format!("in submodule '{}': {note}", prefix.display());
            filled.notes.extend(differences.notes.into_iter().map(named));
            staged = differences.submodules;
        }
        let user_tree = level.user_tree.as_ref().map(|tree| tree.join(path));
        let user_git_dir = source.repository.git_dir().to_owned();
        self.fill(&Level { worktree: made, prefix, user_tree, user_git_dir, staged }, filled)
    }

    /// Makes the submodule's repository and checks it out.
    fn make(
        &self,
        doing: &str,
        place: &Path,
        git_dir: &Path,
        source: &gix::Repository,
        id: gix::ObjectId,
    ) -> Result<(), RevisionError> {
        let io = || RevisionError::io(doing);
        if place.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            fs_err::remove_file(place).map_err(io())?;
        }
        fs_err::create_dir_all(place).map_err(io())?;
        let parent = git_dir.parent().expect("it lies below `modules`");
        fs_err::create_dir_all(parent).map_err(io())?;
        let git = Git { directory: place, doing, interrupt: self.interrupt, slot: self.slot };
        let text = |text: &str| OsString::from(text);
        let format = format!("--object-format={}", source.object_hash());
        let separate = text("--separate-git-dir");
        let words = [text("init"), text("-q"), text("--template="), text(&format), separate, git_dir.into()];
        git.run(&words)?;
        let (theirs, info) = (source.common_dir(), git_dir.join("objects/info"));
        fs_err::create_dir_all(&info).map_err(io())?;
        let mut objects = theirs.join("objects").into_os_string();
        objects.push("\n");
        fs_err::write(info.join("alternates"), objects.as_encoded_bytes()).map_err(io())?;
        if theirs.join("shallow").exists() {
            fs_err::copy(theirs.join("shallow"), git_dir.join("shallow")).map_err(io())?;
        } else {
            // For what asks `git describe`. Nothing is copied: the objects are there already.
            let tags = "+refs/tags/*:refs/tags/*";
            let words = [text("fetch"), text("-q"), text("--no-write-fetch-head"), theirs.into(), text(tags)];
            if let Err(RevisionError::Interrupted) = git.run(&words) {
                return Err(RevisionError::Interrupted);
            }
        }
        git.run(&["checkout", "-q", "--force", "--detach", &id.to_string()])?;
        Ok(())
    }
}

/// The submodules of a repository's index, with their commits.
fn links(worktree: &gix::Repository) -> Result<BTreeMap<PathBuf, gix::ObjectId>, RevisionError> {
    let index = worktree.open_index().map_err(RevisionError::git("read the index of the checkout"))?;
    let links = index
        .entries()
        .iter()
        .filter(|entry| entry.mode == Mode::COMMIT && !entry.flags.contains(Flags::SKIP_WORKTREE));
    links.map(|entry| Ok((snapshot::native(entry.path(&index))?, entry.id))).collect()
}

/// The names of the submodules by their paths.
fn names(worktree: &gix::Repository) -> Result<BTreeMap<PathBuf, String>, RevisionError> {
    let file = worktree.open_modules_file().map_err(RevisionError::git("read .gitmodules"))?;
    let mut names = BTreeMap::new();
    if let Some(file) = &file {
        for name in file.names() {
            let Ok(path) = file.path(name) else { continue };
            let text = name.to_string();
            // The name becomes a path below the git directory.
            if is_harmless(Path::new(&text)) {
                names.insert(snapshot::native(BStr::new(path.as_ref() as &[u8]))?, text);
            }
        }
    }
    Ok(names)
}

fn is_harmless(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path != Path::new("")
}

/// The user's clone of a submodule: the one in the user's tree, or one that was checked out there before.
fn source(level: &Level, name: &str, path: &Path) -> Result<Option<Source>, RevisionError> {
    let doing = || RevisionError::git(format!("open the clone of submodule '{}'", path.display()));
    if let Some(tree) = level.user_tree.as_ref().map(|tree| tree.join(path))
        && tree.join(".git").exists()
    {
        let repository = repository::open_work_tree(&tree).map_err(doing())?;
        return Ok(Some(Source { repository, in_tree: true }));
    }
    let git_dir = level.user_git_dir.join("modules").join(name);
    if git_dir.join("HEAD").exists() {
        let repository = repository::open_git_dir(&git_dir).map_err(doing())?;
        return Ok(Some(Source { repository, in_tree: false }));
    }
    Ok(None)
}
