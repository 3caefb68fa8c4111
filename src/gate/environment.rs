//! What a run takes from its surroundings, read once, so that nothing below reads the environment.
#![allow(clippy::disallowed_methods, reason = "read once here for all below")]

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use etcetera::BaseStrategy;

use crate::error::{Error, ExitCode};
use crate::revision::CiHints;

/// The surroundings of a run.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Where the user stands.
    pub cwd: PathBuf,
    /// Where worktrees and target directories are kept.
    pub cache: PathBuf,
    /// The cargo to call.
    pub cargo: PathBuf,
    /// Our own executable, started again as the runner.
    pub own_executable: PathBuf,
    /// Everything that is set, but what a git hook tells git about where it works: no child works there.
    pub variables: Vec<(OsString, OsString)>,
    /// What a CI system says about the run.
    pub ci: CiHints,
    /// Set by the first interrupt.
    pub interrupted: Arc<AtomicBool>,
}

impl Environment {
    /// Reads the surroundings of this process, and takes over its interrupts: the first one is told through
    /// `interrupted`.
    ///
    /// # Errors
    ///
    /// When there is no working directory, no home for the cache, or the interrupts cannot be taken over.
    pub fn of_this_process() -> Result<Self, Error> {
        let cwd = std::env::current_dir()
            .map_err(|error| Error::Execution(format!("failed to find the working directory: {error}")))?;
        let own_executable = std::env::current_exe().map_err(|error| {
            Error::Execution(format!("failed to find the path of cargo-benchgate itself: {error}"))
        })?;
        Ok(Self {
            cwd,
            cache: cache_directory()?,
            cargo: std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from),
            own_executable,
            variables: std::env::vars_os().filter(|(name, _)| !is_git_location(name)).collect(),
            ci: ci_hints(|name| std::env::var(name).ok()),
            interrupted: interrupt_flag()?,
        })
    }

    /// Whether the user asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The value of a variable, where it is set and is text.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.to_str())
    }
}

/// `BENCHGATE_CACHE_DIR`, else `benchgate` in the user's cache directory.
///
/// # Errors
///
/// When neither is known.
pub fn cache_directory() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os("BENCHGATE_CACHE_DIR").filter(|path| !path.is_empty()) {
        return std::path::absolute(&path).map_err(|error| {
            Error::Usage(format!(
                "BENCHGATE_CACHE_DIR is not a path ({error}); set it to a directory outside the repository"
            ))
        });
    }
    etcetera::choose_base_strategy().map(|strategy| strategy.cache_dir().join("benchgate")).map_err(|error| {
        Error::Usage(format!("no cache directory is known ({error}); set BENCHGATE_CACHE_DIR or HOME"))
    })
}

/// What GitHub and GitLab tell about a run, as far as the choice of the base needs it.
fn ci_hints(variable: impl Fn(&str) -> Option<String>) -> CiHints {
    let event = variable("GITHUB_EVENT_NAME");
    let merge_ref = variable("GITHUB_REF")
        .is_some_and(|reference| reference.starts_with("refs/pull/") && reference.ends_with("/merge"));
    CiHints {
        pull_request_merge: event.as_deref() == Some("pull_request") && merge_ref,
        push_before: variable("CI_COMMIT_BEFORE_SHA").filter(|sha| {
            variable("CI_PIPELINE_SOURCE").as_deref() == Some("push") && sha.bytes().any(|byte| byte != b'0')
        }),
        default_branch: variable("CI_DEFAULT_BRANCH").filter(|name| !name.is_empty()),
    }
}

/// The variables that would send a child's git to the user's repository instead of the worktree it runs in: a
/// hook's git sets them. Those that carry configuration, such as credentials for a registry, stay.
fn is_git_location(name: &OsStr) -> bool {
    [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_QUARANTINE_PATH",
        "GIT_GRAFT_FILE",
        "GIT_SHALLOW_FILE",
        "GIT_REPLACE_REF_BASE",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_INTERNAL_SUPER_PREFIX",
    ]
    .iter()
    .any(|variable| name == *variable)
}

/// A flag that the first interrupt sets. A second one gives the clean-up that is then going on a little more time, so
/// that pressing Ctrl-C twice leaves no more behind than pressing it once; a third one ends the process at once.
fn interrupt_flag() -> Result<Arc<AtomicBool>, Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let flag = Arc::new(AtomicBool::new(false));
    let failed =
        |error: std::io::Error| Error::Execution(format!("failed to listen for interrupts: {error}"));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let told = Arc::clone(&flag);
    let listen = move || {
        for (number, _) in signals.forever().enumerate() {
            match number {
                0 => told.store(true, Ordering::Relaxed),
                1 => drop(std::thread::spawn(|| {
                    std::thread::sleep(CLEAN_UP_LIMIT);
                    end_at_once();
                })),
                _ => end_at_once(),
            }
        }
    };
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(listen).map_err(failed)?;
    Ok(flag)
}

/// How long a clean-up may take after a second interrupt: more than a killed benchmark takes to be gone.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(15);

fn end_at_once() -> ! {
    // The user asked more than once; the next run sweeps what is left.
    let _ = writeln!(
        std::io::stderr(),
        "\nerror: interrupted again before the clean-up was through; the next run, or `cargo benchgate cache clean`, finishes it"
    );
    std::process::exit(ExitCode::Execution as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(variables: &[(&str, &str)]) -> CiHints {
        ci_hints(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn merge_checkout_of_a_pull_request_is_recognised() {
        assert!(
            hints(&[("GITHUB_EVENT_NAME", "pull_request"), ("GITHUB_REF", "refs/pull/7/merge")])
                .pull_request_merge
        );
        assert!(
            !hints(&[("GITHUB_EVENT_NAME", "pull_request"), ("GITHUB_REF", "refs/heads/x")])
                .pull_request_merge
        );
        assert!(!hints(&[]).pull_request_merge);
    }

    #[test]
    fn commit_before_a_push_of_a_new_branch_is_no_commit() {
        let before =
            |sha| hints(&[("CI_PIPELINE_SOURCE", "push"), ("CI_COMMIT_BEFORE_SHA", sha)]).push_before;
        assert_eq!(before("abc0"), Some("abc0".to_owned()));
        assert_eq!(before("0000"), None);
    }
}
