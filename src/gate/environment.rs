//! What a run takes from its surroundings, read once, so that nothing below reads the environment.
#![allow(clippy::disallowed_methods, reason = "read once here for all below")]

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use etcetera::BaseStrategy;

use crate::error::{Error, ExitCode};
use crate::revision::{CiHints, LOCATION_VARIABLES};
use crate::suite::quantity::parse_size;

/// The surroundings of a run.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Where the user stands.
    pub cwd: PathBuf,
    /// Where worktrees and target directories are kept.
    pub cache: PathBuf,
    /// How much the kept executables may take on disk, in bytes; 0: none are kept.
    pub cache_limit_bytes: u64,
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
            cache_limit_bytes: cache_limit(std::env::var("BENCHGATE_CACHE_SIZE").ok().as_deref())?,
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

/// The kept executables of some hundred builds.
const DEFAULT_CACHE_LIMIT: u64 = 2 << 30;

/// `BENCHGATE_CACHE_SIZE`, a size such as `500MiB`, or `0`.
fn cache_limit(text: Option<&str>) -> Result<u64, Error> {
    match text {
        None | Some("") => Ok(DEFAULT_CACHE_LIMIT),
        Some("0") => Ok(0),
        Some(text) => parse_size(text)
            .map_err(|invalid| Error::Usage(format!("BENCHGATE_CACHE_SIZE: `{text}` {invalid}"))),
    }
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

/// The variables that would send a child's git to the user's repository instead of the worktree it runs in.
fn is_git_location(name: &OsStr) -> bool {
    LOCATION_VARIABLES.iter().any(|variable| name == *variable)
}

/// A flag that the first interrupt sets: what runs is killed, everything is cleaned up, and what was measured is
/// reported. A second one ends the process at once; what works for us notices that we are gone, and the next run sweeps.
fn interrupt_flag() -> Result<Arc<AtomicBool>, Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let flag = Arc::new(AtomicBool::new(false));
    let failed =
        |error: std::io::Error| Error::Execution(format!("failed to listen for interrupts: {error}"));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let told = Arc::clone(&flag);
    let listen = move || {
        for _ in signals.forever() {
            if told.swap(true, Ordering::Relaxed) {
                end_at_once();
            }
        }
    };
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(listen).map_err(failed)?;
    Ok(flag)
}

fn end_at_once() -> ! {
    let _ = writeln!(
        std::io::stderr(),
        "\nerror: interrupted twice, so this ended before the clean-up was through; the next run, or `cargo benchgate cache \
         clean`, finishes it"
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
    fn limit_of_the_cache_is_a_size_or_nothing() {
        assert_eq!(cache_limit(Some("5MiB")).ok(), Some(5 << 20));
        assert_eq!(cache_limit(Some("0")).ok(), Some(0));
        assert_eq!(cache_limit(None).ok(), Some(2 << 30));
        let error = cache_limit(Some("plenty")).expect_err("it is no size").to_string();
        assert!(error.starts_with("BENCHGATE_CACHE_SIZE: `plenty` "), "{error}");
    }

    #[test]
    fn commit_before_a_push_of_a_new_branch_is_no_commit() {
        let before =
            |sha| hints(&[("CI_PIPELINE_SOURCE", "push"), ("CI_COMMIT_BEFORE_SHA", sha)]).push_before;
        assert_eq!(before("abc0"), Some("abc0".to_owned()));
        assert_eq!(before("0000"), None);
    }
}
