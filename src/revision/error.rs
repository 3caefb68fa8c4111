//! Every way a git step can fail, in words that say what to do.

use std::io;
use std::path::PathBuf;

/// A failure of a git step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RevisionError {
    /// No repository at or above the directory.
    #[error(
        "no git repository at or above {}: base and head are git revisions; run inside a repository, or start one with \
         'git init' and a first commit",
        .start.display()
    )]
    NoRepository {
        /// Where the search began.
        start: PathBuf,
    },
    /// The repository belongs to another user.
    #[error(
        "git repository {root} belongs to another user, and git refuses to work in it; if you trust it, run \
         'git config --global --add safe.directory {root}'",
        root = .root.display()
    )]
    Untrusted {
        /// The root of the working tree, or the bare repository.
        root: PathBuf,
    },
    /// The repository has no commit.
    #[error("git repository {} has no commit yet: there is nothing to compare; commit something first", .root.display())]
    NoCommits {
        /// The root of the working tree, or the bare repository.
        root: PathBuf,
    },
    /// The repository is bare, so there is no working tree to take as head.
    #[error("git repository {} is bare: it has no working tree to take as head; name a commit with --head", .root.display())]
    NoWorkTree {
        /// The bare repository.
        root: PathBuf,
    },
    /// The text cannot name a revision.
    #[error("revision {spec:?} cannot be used: {reason}")]
    BadSpec {
        /// The text.
        spec: String,
        /// Why not.
        reason: &'static str,
    },
    /// Nothing of that name is in this repository.
    #[error("revision '{spec}' is not in this repository: {reason}{hint}")]
    NotFound {
        /// The text.
        spec: String,
        /// What git says.
        reason: String,
        /// What to try, beginning with its own punctuation; may be empty.
        hint: String,
    },
    /// It names something else than a commit.
    #[error("revision '{spec}' names a {found}, not a commit; name a commit, a branch or a tag")]
    NotACommit {
        /// The text.
        spec: String,
        /// What it names.
        found: String,
    },
    /// The clone is shallow, so history that is needed is not there.
    #[error(
        "{what} is not in this clone: the clone is shallow (depth {depth}); in GitHub Actions set 'fetch-depth: 0' on \
         actions/checkout (or run '{fetch}'), on GitLab set GIT_DEPTH: 0"
    )]
    Shallow {
        /// What is missing.
        what: String,
        /// Commits from HEAD to where history ends.
        depth: usize,
        /// The command that fetches it.
        fetch: String,
    },
    /// The first commit is not in the history of the second.
    #[error(
        "{ancestor} is no ancestor of {descendant}: there is no line of commits from the one to the other; name the earlier one \
         first, both on one line of history"
    )]
    NotAnAncestor {
        /// The commit that should come first.
        ancestor: String,
        /// The commit that should come last.
        descendant: String,
    },
    /// No base can be chosen.
    #[error("no base can be chosen: {reason}; name one with --base")]
    NoBase {
        /// Why not.
        reason: String,
    },
    /// A name of a revision that cannot be a directory's.
    #[error("revision name '{name}' cannot be used: letters, digits, '-' and '_' only, not 'live'")]
    BadRevisionName {
        /// The name.
        name: String,
    },
    /// A pattern of files to include that cannot be used.
    #[error("snapshot_include pattern '{pattern}' cannot be used: {reason}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// Why not.
        reason: String,
    },
    /// The cache directory lies inside the repository, where cargo would find the outer workspace.
    #[error(
        "cache directory {} lies inside the repository {}: worktrees there would be taken for part of it; set another \
         cache directory",
        .cache.display(), .root.display()
    )]
    CacheInsideRepository {
        /// The cache directory.
        cache: PathBuf,
        /// The root of the working tree.
        root: PathBuf,
    },
    /// Every slot is held by another run.
    #[error("all {count} build slots in {} are in use by other runs; wait for one to end", .directory.display())]
    NoFreeSlot {
        /// Slots tried.
        count: usize,
        /// Where they are.
        directory: PathBuf,
    },
    /// A partial clone lacks file contents, and they cannot be had.
    #[error(
        "failed to check out {commit}: this is a partial clone, some files of that commit were never fetched, and they could \
         not be fetched now ({reason}); run 'git fetch --refetch --no-filter' while the remote can be reached"
    )]
    PartialClone {
        /// The commit id.
        commit: String,
        /// What git says.
        reason: String,
    },
    /// The git program is needed and not there.
    #[error("failed to {doing}: that needs the git program, and none is in PATH; install git")]
    NoGitProgram {
        /// What it is needed for.
        doing: String,
    },
    /// A submodule's commit is not in the user's clone of it.
    #[error(
        "submodule '{path}' belongs at commit {commit}, which its clone does not have; run \
         'git -C {path} fetch origin {commit}' (or 'git submodule update --init {path}')",
        path = .path.display()
    )]
    SubmoduleCommit {
        /// The submodule, relative to the repository's root.
        path: PathBuf,
        /// The commit id.
        commit: String,
    },
    /// The working tree changes faster than it can be copied.
    #[error(
        "the working tree is being edited while it is copied ({files}); run again when whatever writes there is done, or \
         judge a commit with '--head HEAD'"
    )]
    TreeBusy {
        /// The files that changed.
        files: String,
    },
    /// A git step failed.
    #[error("failed to {doing}: {reason}")]
    Git {
        /// What was being done, to what.
        doing: String,
        /// What git says.
        reason: String,
    },
    /// A file operation failed.
    #[error("failed to {doing}: {source}")]
    Io {
        /// What was being done, to what.
        doing: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl RevisionError {
    /// Whether it is the fault of what was asked for (exit status 3), as against a step that failed (4).
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NoRepository { .. }
            | Self::Untrusted { .. }
            | Self::NoCommits { .. }
            | Self::NoWorkTree { .. }
            | Self::BadSpec { .. }
            | Self::NotFound { .. }
            | Self::NotACommit { .. }
            | Self::Shallow { .. }
            | Self::NotAnAncestor { .. }
            | Self::NoBase { .. }
            | Self::BadRevisionName { .. }
            | Self::BadPattern { .. }
            | Self::CacheInsideRepository { .. } => true,
            Self::NoFreeSlot { .. }
            | Self::PartialClone { .. }
            | Self::NoGitProgram { .. }
            | Self::SubmoduleCommit { .. }
            | Self::TreeBusy { .. }
            | Self::Git { .. }
            | Self::Io { .. }
            | Self::Interrupted => false,
        }
    }

    /// A failed git step, `doing` what.
    pub(super) fn git(doing: impl Into<String>) -> impl FnOnce(gix::Error) -> Self {
        let doing = doing.into();
        move |error| Self::Git { doing, reason: explain(&error) }
    }

    /// A failed file operation, `doing` what.
    pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}

impl From<RevisionError> for crate::error::Error {
    fn from(error: RevisionError) -> Self {
        match error {
            RevisionError::Interrupted => Self::Interrupted,
            usage if usage.is_usage() => Self::Usage(usage.to_string()),
            other => Self::Execution(other.to_string()),
        }
    }
}

/// The chain of causes in one line. gix shows only the top of it by itself.
pub(super) fn explain(error: &gix::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.iter_errors() {
        let text = cause.to_string();
        let text = text.trim().trim_end_matches('.');
        if !text.is_empty() && parts.iter().all(|part| !part.contains(text)) {
            parts.push(text.to_owned());
        }
    }
    parts.join(": ")
}
