//! The report: one model, written by every format and read back by `judge`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::{Metric, Unit};
use crate::suite::settings::BenchmarkSettings;
use crate::verdict::evidence::{BenchmarkError, Presence, StoppedBecause, UnitRun};
use crate::verdict::outcome::{BenchResult, BudgetOutcome, Comparison};

/// The version of the schema: raised when something is changed or removed, not when something is added.
pub const SCHEMA_VERSION: u32 = 1;

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// The verb: `compare`, `run`, `judge`, ….
    pub command: String,
    /// The seed of the order of runs and of all random draws.
    pub seed: u64,
    /// RFC 3339, UTC. `None` for samples without a run.
    pub started_at: Option<String>,
    /// RFC 3339, UTC.
    pub finished_at: Option<String>,
    /// The revisions, base first.
    pub revisions: Vec<Revision>,
    /// The computer.
    pub machine: Option<Machine>,
    /// The compiler.
    pub toolchain: Option<Toolchain>,
    /// The resolved run-wide settings.
    pub suite: RunWide,
    /// The benchmarks, in a stable order.
    pub benchmarks: Vec<Benchmark>,
    /// The counts.
    pub summary: Summary,
    /// What advises the reader: load, governor, lock differences, ….
    pub warnings: Vec<String>,
    /// The exit status and why.
    pub exit: Exit,
}

/// The writing program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// `cargo-benchgate`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// One revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// `base`, `head`, or the name of a further one.
    pub name: String,
    /// What the user wrote, or what was chosen for them.
    pub spec: String,
    /// Full commit id; `None` outside git.
    pub commit: Option<String>,
    /// First line of the commit message.
    pub subject: Option<String>,
    /// Whether uncommitted or untracked files are part of it.
    pub dirty: bool,
    /// Why this revision was chosen, where the user did not name it.
    pub chosen_because: Option<String>,
}

/// The computer the run was made on. Never a host name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `linux`, `macos`, ….
    pub os: String,
    /// `x86_64`, ….
    pub arch: String,
    /// The CPU model as the system names it.
    pub cpu_model: Option<String>,
    /// Logical CPUs.
    pub logical_cpus: usize,
    /// The frequency governor, where there is one.
    pub governor: Option<String>,
    /// One-minute load average at the start.
    pub load_at_start: Option<f64>,
    /// One-minute load average at the end.
    pub load_at_end: Option<f64>,
    /// Physical memory in bytes.
    pub memory_bytes: Option<u64>,
}

/// The compiler and profile both sides were built with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Toolchain {
    /// First line of `rustc -vV`.
    pub rustc: String,
    /// `cargo --version`.
    pub cargo: String,
    /// The host triple, or the `--target`.
    pub target: String,
    /// The profile.
    pub profile: String,
}

/// The run-wide settings that decided, as resolved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunWide {
    /// Things beside a regression that fail the run.
    pub also_fail_on: Vec<String>,
    /// Whether benchmarks left out at `max_time` are accepted.
    pub allow_partial: bool,
    /// The whole measuring phase. ns; `None` is unlimited.
    pub max_time_ns: Option<u64>,
    /// `--no-fail`: exit 1 becomes 0.
    pub no_fail: bool,
}

/// One benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// Package, kind, target, variant, id.
    #[serde(flatten)]
    pub identity: BenchmarkIdentity,
    /// The group it is summarised in.
    pub group: String,
    /// The harness that measured it.
    pub harness: String,
    /// How it stands in the revisions.
    pub presence: Presence,
    /// Why it is not comparable, where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence_note: Option<String>,
    /// The worst of its gated parts.
    pub result: BenchResult,
    /// What was measured.
    pub sides: Vec<ReportSide>,
    /// Base against each further revision.
    pub comparisons: Vec<Comparison>,
    /// The absolute limits.
    pub budgets: Vec<BudgetOutcome>,
    /// Why measuring ended.
    pub stopped_because: Option<StoppedBecause>,
    /// What it was measured and judged by.
    pub settings: BenchmarkSettings,
    /// Why it has no result, when it has none.
    pub error: Option<BenchmarkError>,
}

/// One revision's part of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportSide {
    /// The name of the revision.
    pub revision: String,
    /// SHA-256 of the executable, hex.
    pub executable_sha256: Option<String>,
    /// Per metric.
    pub statistics: BTreeMap<Metric, Statistics>,
    /// The raw samples with their order.
    pub runs: Vec<UnitRun>,
}

/// The description of one sample. All in the metric's base unit but the two ratios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The unit.
    pub unit: Unit,
    /// Samples.
    pub count: usize,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Sample standard deviation (n - 1); `None` for one sample.
    pub standard_deviation: Option<f64>,
    /// Standard deviation over mean.
    pub cv: Option<f64>,
    /// Interquartile range / 1.349 / median.
    pub robust_cv: Option<f64>,
    /// 90th, 95th, 99th percentile, and those a budget names, by name.
    pub percentiles: BTreeMap<String, f64>,
}

/// The counts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// All benchmarks.
    pub benchmarks: usize,
    /// By result.
    pub pass: usize,
    /// By result.
    pub improved: usize,
    /// By result.
    pub inconclusive: usize,
    /// By result.
    pub over_budget: usize,
    /// By result.
    pub regression: usize,
    /// By result.
    pub metric_error: usize,
    /// By result.
    pub error: usize,
    /// Comparisons and budgets that were skipped.
    pub skipped: usize,
    /// Comparisons that are not gated, by verdict.
    pub not_gated: NotGated,
    /// By presence.
    pub unchanged: usize,
    /// By presence.
    pub new: usize,
    /// By presence.
    pub removed: usize,
    /// By presence.
    pub not_comparable: usize,
}

/// Comparisons that may not fail the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NotGated {
    /// By verdict.
    pub pass: usize,
    /// By verdict.
    pub improved: usize,
    /// By verdict.
    pub inconclusive: usize,
    /// By verdict.
    pub regression: usize,
}

/// How the run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The status of the process.
    pub code: u8,
    /// Why, in one line, for every status but 0.
    pub because: Option<String>,
    /// What `--no-fail` turned into 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_no_fail: Option<u8>,
}
