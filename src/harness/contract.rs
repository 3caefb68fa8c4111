//! The values that pass between the harness adapters and the driver that runs their commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A built bench program with all that is needed to start it as cargo would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The program, behind the fixed path that both revisions share.
    pub path: PathBuf,
    /// The package's root, behind the same fixed path; the working directory of benches.
    pub package_root: PathBuf,
    /// The whole environment, already scrubbed of the harnesses' knobs.
    pub env: Vec<(OsString, OsString)>,
    /// `[target.<triple>.runner]` words before the program; mostly empty.
    pub runner: Vec<OsString>,
}

/// A command for the runner: complete, nothing is inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program, an absolute path or a name looked up in the PATH of `env`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The file it reads as standard input; closed (`/dev/null`) when absent.
    pub stdin: Option<PathBuf>,
    /// When its whole process tree is killed.
    pub timeout: Duration,
    /// The variable that gets the path of a fresh, empty directory, removed after the run.
    pub scratch_variable: Option<&'static str>,
    /// Names of the files below that directory that are read back after the run.
    pub collect: &'static [&'static str],
    /// Whether standard output is read back (otherwise only its tail is kept, for errors).
    pub capture_stdout: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitOutcome {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was killed at its time limit.
    TimedOut,
}

/// A file the harness wrote below its scratch directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedFile {
    /// Relative to the scratch directory.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What came of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutput {
    /// How it ended.
    pub outcome: ExitOutcome,
    /// From just before the spawn to the moment it was reaped. ns.
    pub wall_ns: u64,
    /// User time of the waited-for process tree. ns.
    pub user_ns: u64,
    /// System time of the same. ns.
    pub system_ns: u64,
    /// Largest resident set of any process of it. Bytes.
    pub peak_rss_bytes: u64,
    /// What the runner's own memory may have put into that figure: a value at or below it says only "at most". Bytes.
    pub peak_rss_floor_bytes: u64,
    /// Involuntary context switches: the mark of a contended machine.
    pub involuntary_switches: u64,
    /// Standard output, whole when asked for, else its tail.
    pub stdout: Vec<u8>,
    /// The tail of standard error.
    pub stderr: Vec<u8>,
    /// The collected files.
    pub files: Vec<CollectedFile>,
}
