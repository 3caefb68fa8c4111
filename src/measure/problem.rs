//! Why a unit run gave no output.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::verdict::evidence::ErrorKind;

/// Why a program could not be started. Paths are as shown to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum StartProblem {
    /// The working directory is not there.
    #[error("its working directory {cwd} does not exist in this revision; check `cwd`")]
    NoWorkingDirectory {
        /// The directory.
        cwd: String,
    },
    /// The program's path leads nowhere.
    #[error("the program {program} does not exist")]
    NoProgram {
        /// The program.
        program: String,
    },
    /// A bare program name that no directory of PATH holds.
    #[error("no directory in its PATH holds a program named {program}")]
    NotInPath {
        /// The name.
        program: String,
    },
    /// The program is a script, and what should interpret it is not there.
    #[error("{program} exists, but the interpreter its first line (or its loader) names does not")]
    NoInterpreter {
        /// The program.
        program: String,
    },
    /// The system refuses to execute it.
    #[error("{program} cannot be executed: permission denied; is it a file with the executable bit?")]
    NotExecutable {
        /// The program.
        program: String,
    },
    /// The file for standard input cannot be opened.
    #[error("its standard input {path} cannot be opened: {reason}; check `stdin`")]
    NoStdin {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// Anything else the system said.
    #[error("{program} could not be started: {reason}")]
    Other {
        /// The program.
        program: String,
        /// What the system said.
        reason: String,
    },
}

/// Why a unit run gave no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// The user interrupted the run; the program was killed.
    #[error("interrupted")]
    Interrupted,
    /// The program could not be started.
    #[error("{0}")]
    Start(#[from] StartProblem),
    /// The process that starts the programs is gone.
    #[error("the process that starts the benchmarks ended unexpectedly: {0}")]
    RunnerDied(String),
    /// The fixed path could not be pointed to the revision.
    #[error("failed to switch to the files of the revision: {0}")]
    Switch(String),
    /// The files around the run could not be made.
    #[error("failed to prepare the files of the run: {0}")]
    Prepare(String),
    /// Something the program started outlived every attempt to kill it.
    #[error("processes it left behind could not be killed: {0}")]
    Leftovers(String),
    /// What the program wrote could not be read back.
    #[error("failed to read back {}: {reason}", path.display())]
    ReadBack {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The program wrote more than is read back.
    #[error("the program wrote {bytes} bytes to {what}, more than the {limit} bytes that are read")]
    TooLarge {
        /// `standard output`, or the file's name.
        what: String,
        /// What it wrote, in bytes.
        bytes: u64,
        /// What is read at most, in bytes.
        limit: u64,
    },
    /// The size of the work file could not be read.
    #[error("failed to read the size of the work file {}: {reason}", path.display())]
    FileSize {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

impl ExecuteError {
    /// The kind a benchmark's error gets.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Interrupted => ErrorKind::Interrupted,
            Self::Start(_)
            | Self::RunnerDied(_)
            | Self::Switch(_)
            | Self::Prepare(_)
            | Self::Leftovers(_) => ErrorKind::StartFailed,
            Self::ReadBack { .. } | Self::TooLarge { .. } => ErrorKind::Output,
            Self::FileSize { .. } => ErrorKind::MetricFailed,
        }
    }
}
