//! Every way a build can fail.

use std::io;
use std::path::{Path, PathBuf};

/// A failed step of a build. [`BuildError::Interrupted`] is the user's wish, the rest ends the run with status 4.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A program could not be started at all.
    #[error("failed to start `{command}`: {source}; is it installed and in PATH?")]
    Start {
        /// The command as the user could paste it.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// A question to cargo, rustc or rustup was answered with an error.
    #[error("failed to {action}: `{command}` ended with {exit}\n{stderr}")]
    Refused {
        /// What was being done.
        action: &'static str,
        /// The command as the user could paste it.
        command: String,
        /// How it ended.
        exit: String,
        /// What it said, trimmed.
        stderr: String,
    },
    /// A program answered with something that cannot be read.
    #[error("failed to read the answer of `{command}`: {reason}")]
    Answer {
        /// The command as the user could paste it.
        command: String,
        /// Why.
        reason: String,
    },
    /// No target could be built; cargo has printed why.
    #[error("failed to build {revision}: `{command}` ended with {exit}; cargo's messages are above")]
    Failed {
        /// The label of the revision, as in [`super::BuildPlace`].
        revision: String,
        /// The command as the user could paste it.
        command: String,
        /// How it ended.
        exit: String,
        /// Whether cargo came so far as to build something.
        started: bool,
    },
    /// The stop flag was set, or cargo was ended by the user's signal.
    #[error("interrupted while building")]
    Interrupted,
    /// A manifest or cargo configuration file cannot be used.
    #[error("failed to use {}: {reason}", path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file operation failed; the message of `source` names the path.
    #[error("failed to {action}: {source}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// Why, and where.
        source: io::Error,
    },
}

impl BuildError {
    /// For `map_err`: says what was being done.
    pub(super) fn io(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    pub(super) fn configuration(path: &Path, reason: impl Into<String>) -> Self {
        Self::Configuration { path: path.to_owned(), reason: reason.into() }
    }
}

impl From<BuildError> for crate::error::Error {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Interrupted => Self::Interrupted,
            error => Self::Execution(error.to_string()),
        }
    }
}
