//! The values that pass between the harness adapters and the driver that runs their commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::suite::identity::TargetKind;
use crate::suite::metric::{Better, Metric, Unit};
use crate::verdict::evidence::{ErrorKind, Values};

/// A built bench program with all that is needed to start it as cargo would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The kind of its target: cargo starts benches, and only them, with `--bench` before all other arguments.
    pub kind: TargetKind,
    /// The program, behind the fixed path that both revisions share.
    pub path: PathBuf,
    /// The package's root, behind the same fixed path; the working directory of benches.
    pub package_root: PathBuf,
    /// The whole environment, already scrubbed of the harnesses' knobs.
    pub env: Vec<(OsString, OsString)>,
    /// `[target.<triple>.runner]` words before the program; mostly empty.
    pub runner: Vec<OsString>,
}

/// How the suite wants a program started, with every placeholder filled in for one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedLaunch {
    /// Arguments after the harness's own.
    pub args: Vec<OsString>,
    /// Variables set on top of the executable's environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// A file the program reads as standard input; closed when absent.
    pub stdin: Option<PathBuf>,
    /// Exit codes that count as success.
    pub exit_codes: Vec<i32>,
    /// What the adapter has to know beyond the program itself.
    pub facts: Facts,
}

/// What some adapters have to know of the suite and of the machine: looked up outside, so that they stay pure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The metrics of the user's own that the suite declares.
    pub metrics: Vec<DeclaredMetric>,
    /// The programs that measure for a harness.
    pub tools: Tools,
}

/// A metric of the user's own, as the suite declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredMetric {
    /// Its name.
    pub metric: Metric,
    /// The unit of its values.
    pub unit: Unit,
    /// Its direction.
    pub better: Better,
}

/// Programs beside the bench that its harness needs, as far as the PATH of the bench leads to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// The harness's own runner: `gungraun-runner` or `iai-callgrind-runner`.
    pub runner: Option<PathBuf>,
    /// Valgrind.
    pub valgrind: Option<PathBuf>,
}

/// Which benchmarks of a program one unit run measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection<'a> {
    /// The one with exactly this id. A whole program is always selected by its target's name.
    One(&'a str),
    /// Every one the program has.
    All,
}

/// What one unit run may cost. A bare time limit converts into it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunBudget {
    /// When the process tree is killed.
    pub timeout: Duration,
    /// Latency of the benchmark seen in an earlier run, in ns: harnesses that sample inside a process take fewer
    /// samples of a slow function. Give both revisions the same hint, or their runs differ in more than the code.
    pub latency_hint_ns: Option<f64>,
    /// The benchmark sets a long measuring time of its own: use what the harness has to end early all the same.
    pub quick: bool,
}

impl RunBudget {
    /// The cheapest run that still tells the latency: for a first, thrown-away run of an unknown function.
    pub fn cheapest(timeout: Duration) -> Self {
        Self { timeout, latency_hint_ns: Some(f64::INFINITY), quick: false }
    }
}

impl From<Duration> for RunBudget {
    fn from(timeout: Duration) -> Self {
        Self { timeout, latency_hint_ns: None, quick: false }
    }
}

/// What one unit run says of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The benchmark's id; empty for a whole program that was not selected by name.
    pub id: String,
    /// One value per metric.
    pub values: Values,
    /// It took far longer than it was asked to, because its own code sets the measuring time.
    pub overlong: bool,
    /// The work of one iteration as the benchmark states it, in words: `17671 bytes`.
    pub stated_work: Option<String>,
}

/// Why a process gave no list or no measurement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HarnessError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// What failed, why, and what to try. One line.
    pub message: String,
}

impl HarnessError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The last 20 lines of standard error, at most 2 KiB; `None` when there are none.
pub fn stderr_tail(stderr: &[u8]) -> Option<String> {
    const LINES: usize = 20;
    const BYTES: usize = 2048;
    let text = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(BYTES)..]);
    let text = text.trim_end().trim_start_matches('\u{fffd}');
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(LINES)..].join("\n");
    (!tail.trim().is_empty()).then_some(tail)
}

/// At the start of an argument: the path of the run's fresh directory, for programs that take it as an argument alone.
pub const SCRATCH: &str = "{scratch}";

/// A command for the runner: complete, nothing is inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program, an absolute path or a name looked up in the PATH of `env`.
    pub program: PathBuf,
    /// Its arguments; [`SCRATCH`] at the start of one stands for the fresh directory of `scratch_variable`.
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
    /// Names of the files below that directory that are read back after the run; `*.csv` is every name that ends so.
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
