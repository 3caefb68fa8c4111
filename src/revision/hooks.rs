//! Where git looks for hooks, and what a repository's default branch is called.

use std::path::PathBuf;

use super::error::RevisionError;
use super::repository::Repository;

/// The directory git runs hooks from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hooks {
    /// Absolute. It need not exist.
    pub directory: PathBuf,
    /// Whether `core.hooksPath` names it.
    pub is_configured: bool,
    /// Whether it belongs to this repository alone: it lies in the working tree or in the git directory.
    pub is_own: bool,
}

impl Repository {
    /// `core.hooksPath`, relative to the root of the working tree; else `hooks` in the common git directory.
    ///
    /// # Errors
    ///
    /// A value that is no path.
    pub fn hooks(&self) -> Result<Hooks, RevisionError> {
        let local = self.local();
        let configured = local
            .config_snapshot()
            .trusted_path("core.hooksPath")
            .map_err(RevisionError::git("read core.hooksPath"))?
            .filter(|path| !path.as_os_str().is_empty());
        let is_configured = configured.is_some();
        let directory = match configured {
            Some(path) => self.root().join(path),
            None => self.common_dir().join("hooks"),
        };
        // Links and `..` are followed as far as the path exists; git follows them when it runs a hook.
        let real = fs_err::canonicalize(&directory).unwrap_or_else(|_| directory.clone());
        let is_own = real.starts_with(self.root()) || real.starts_with(self.common_dir());
        Ok(Hooks { directory, is_configured, is_own })
    }

    /// The name of the default branch, as far as it is known: what `origin/HEAD` points to, else main or master, else the
    /// only branch.
    pub fn default_branch_name(&self) -> Option<String> {
        let current = self.head_branch().ok().flatten();
        self.default_branch(current.as_deref(), None).ok().map(|branch| branch.short)
    }
}
