//! The user's repository: where it is, and what its working tree holds beyond HEAD.

use std::path::{Path, PathBuf};

use gix::sec::Trust;
use gix::sec::trust::{DefaultForLevel, Mapping};
use gix::status::index_worktree::Item as ChangedItem;
use gix::status::tree_index::TrackRenames;
use gix::status::{Submodule, UntrackedFiles};

use super::commit::Commit;
use super::error::{RevisionError, explain};
use super::snapshot::native;
use super::untracked::Caches;

/// The user's repository. Nothing here writes to it but a checkout, which adds a registration below `worktrees/` and
/// takes it away again.
#[derive(Clone)]
pub struct Repository {
    inner: gix::ThreadSafeRepository,
    /// Absolute, without symbolic links: the root of the working tree, or the bare repository.
    root: PathBuf,
    common_dir: PathBuf,
    has_work_tree: bool,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("root", &self.root).field("common_dir", &self.common_dir).finish()
    }
}

impl Repository {
    /// The repository that holds `start`, or the one `GIT_DIR` names.
    pub fn discover(start: &Path) -> Result<Self, RevisionError> {
        let start = fs_err::canonicalize(start).map_err(RevisionError::io("look for a git repository"))?;
        let trust = Mapping { full: options(Trust::Full), reduced: options(Trust::Reduced) };
        let upwards =
            gix::discover::upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() };
        let found =
            gix::ThreadSafeRepository::discover_with_environment_overrides_opts(&start, upwards, trust);
        let repository = match found {
            Ok(repository) => repository,
            Err(_) if is_absent(&start) => return Err(RevisionError::NoRepository { start }),
            Err(error) => {
                return Err(RevisionError::Git {
                    doing: format!("open the git repository at {}", start.display()),
                    reason: explain(&error),
                });
            }
        };
        Self::from_gix(repository.to_thread_local())
    }

    /// The repository whose common directory this is.
    pub(super) fn open_common_dir(common_dir: &Path) -> Result<Self, RevisionError> {
        let repository = open_git_dir(common_dir)
            .map_err(RevisionError::git(format!("open the git repository {}", common_dir.display())))?;
        Self::from_gix(repository)
    }

    /// The repository behind an open handle.
    pub(super) fn from_gix(mut repository: gix::Repository) -> Result<Self, RevisionError> {
        repository.make_paths_absolute().map_err(RevisionError::git("find the git repository"))?;
        let absolute = |path: &Path| {
            fs_err::canonicalize(path).map_err(RevisionError::io("find the root of the git repository"))
        };
        let root = absolute(repository.workdir().unwrap_or_else(|| repository.git_dir()))?;
        let common_dir = absolute(repository.common_dir())?;
        if repository.git_dir_trust() != Trust::Full {
            return Err(RevisionError::Untrusted { root });
        }
        let has_work_tree = repository.workdir().is_some();
        Ok(Self { inner: repository.into_sync(), root, common_dir, has_work_tree })
    }

    /// The root of the working tree (of this linked worktree, in one), or the bare repository; absolute, symbolic links
    /// resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The git directory all worktrees share; absolute, symbolic links resolved.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether there is a working tree.
    pub fn has_work_tree(&self) -> bool {
        self.has_work_tree
    }

    /// Where `path` lies below the root; `None` outside of it.
    pub fn relative(&self, path: &Path) -> Option<PathBuf> {
        let absolute = std::path::absolute(path).ok()?;
        // What does not exist (yet) has no canonical form; its nearest ancestor that does decides.
        for ancestor in absolute.ancestors() {
            if let Ok(canonical) = ancestor.canonicalize() {
                let rest = absolute.strip_prefix(ancestor).expect("an ancestor is a prefix");
                return canonical.join(rest).strip_prefix(&self.root).ok().map(Path::to_owned);
            }
        }
        None
    }

    /// The commit HEAD is at.
    pub fn head(&self) -> Result<Commit, RevisionError> {
        let local = self.local();
        let head = local.head().map_err(RevisionError::git("read HEAD"))?;
        if head.is_unborn() {
            return Err(RevisionError::NoCommits { root: self.root.clone() });
        }
        let commit = local.head_commit().map_err(RevisionError::git("read the commit HEAD is at"))?;
        Commit::read(&commit).map_err(RevisionError::git("read the commit HEAD is at"))
    }

    /// The short name of the branch HEAD is on; `None` when it is detached.
    pub fn head_branch(&self) -> Result<Option<String>, RevisionError> {
        let name = self.local().head_name().map_err(RevisionError::git("read HEAD"))?;
        Ok(name.map(|name| name.shorten().to_string()))
    }

    /// Whether the working tree differs from HEAD: staged, modified, deleted or untracked-not-ignored files.
    /// Directories tagged as caches, such as cargo's target directories, do not count.
    pub fn is_dirty(&self) -> Result<bool, RevisionError> {
        let head = self.head()?;
        let mut caches = Caches::default();
        for item in self.status(&head)? {
            let item = item.map_err(RevisionError::git("compare the working tree with HEAD"))?;
            let counts = match &item {
                gix::status::Item::TreeIndex(_) => true,
                gix::status::Item::IndexWorktree(change @ ChangedItem::DirectoryContents { entry, .. }) => {
                    change.summary().is_some()
                        && caches.around(&self.root, &native(entry.rela_path.as_ref())?).is_none()
                }
                gix::status::Item::IndexWorktree(change) => change.summary().is_some(),
            };
            if counts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The differences between `head`, the index and the working tree, untracked files one by one.
    pub(super) fn status(&self, head: &Commit) -> Result<gix::status::Iter, RevisionError> {
        if !self.has_work_tree {
            return Err(RevisionError::NoWorkTree { root: self.root.clone() });
        }
        let doing = || RevisionError::git("compare the working tree with HEAD");
        let local = self.local();
        let tree = gix::ObjectId::from_hex(head.tree.as_bytes()).expect("made from an object id only");
        // `status.showUntrackedFiles = no` takes the walk away; here untracked files always count.
        let walk = local.dirwalk_options().map_err(doing())?.classify_untracked_bare_repositories(true);
        local
            .status(gix::progress::Discard)
            .map_err(doing())?
            .head_tree(tree)
            .index_worktree_options_mut(|options| options.dirwalk_options = Some(walk))
            .untracked_files(UntrackedFiles::Files)
            .index_worktree_submodules(Submodule::AsConfigured { check_dirty: true })
            .index_worktree_rewrites(None)
            .tree_index_track_renames(TrackRenames::Disabled)
            .into_iter(None)
            .map_err(doing())
    }

    /// Whether a commit's tree holds something at this path, relative to its root.
    pub fn holds(&self, commit: &Commit, path: &Path) -> Result<bool, RevisionError> {
        let doing = || RevisionError::git(format!("look into commit {}", commit.id));
        let local = self.local();
        let commit = local.find_commit(commit.id.object_id()).map_err(doing())?;
        let tree = commit.tree().map_err(doing())?;
        let entry = tree.lookup_entry_by_path(path).map_err(doing())?;
        Ok(entry.is_some())
    }

    /// A handle for one thread.
    pub(super) fn local(&self) -> gix::Repository {
        self.inner.to_thread_local()
    }
}

/// Opens a git directory that belongs to a repository whose owner was checked.
pub(super) fn open_git_dir(git_dir: &Path) -> gix::Result<gix::Repository> {
    gix::open_opts(git_dir, options(Trust::Full).open_path_as_is(true))
}

/// Opens the repository of a working tree that belongs to one whose owner was checked.
pub(super) fn open_work_tree(work_tree: &Path) -> gix::Result<gix::Repository> {
    let mut repository = gix::open_opts(work_tree, options(Trust::Full))?;
    repository.make_paths_absolute()?;
    Ok(repository)
}

/// How repositories are opened.
fn options(trust: Trust) -> gix::open::Options {
    gix::open::Options::default_for_level(trust).config_overrides([
        // Else gix raises the format version in the user's shared config when a worktree is added, and older git refuses
        // the repository from then on.
        "worktree.useRelativePaths=false",
        // A reflog entry needs a name and an address, which CI machines do not have.
        "core.logAllRefUpdates=false",
    ])
}

/// Whether there simply is no repository, as against one that cannot be opened.
fn is_absent(start: &Path) -> bool {
    !start.ancestors().any(|directory| directory.join(".git").exists())
}
