//! The report: one model, written by every format and read back by `judge`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::suite::accept::Accept;
use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::Metric;
use crate::suite::settings::BenchmarkSettings;
use crate::summary::SummarySettings;
use crate::verdict::evidence::{BenchmarkError, Presence, StoppedBecause, UnitRun, is_interrupt};
use crate::verdict::outcome::{BenchResult, BudgetOutcome, Comparison};

pub use crate::verdict::outcome::{Exit, NotGated, Statistics, Summary};

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
    /// How each revision was built; empty for samples without a build.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<RevisionBuild>,
    /// The packages from elsewhere whose versions differ between base and head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependency_changes: Vec<DependencyChange>,
    /// The counts.
    pub summary: Summary,
    /// What advises the reader: load, governor, lock differences, ….
    pub warnings: Vec<String>,
    /// The exit status and why.
    pub exit: Exit,
}

impl Report {
    /// Whether the user ended the run before all of it was measured.
    pub fn was_interrupted(&self) -> bool {
        self.benchmarks.iter().any(|it| is_interrupt(it.stopped_because, it.error.as_ref()))
    }
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
    /// The committer's time, RFC 3339 in UTC: the order of a history whose commits are in no repository at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_at: Option<String>,
}

/// How a revision was built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevisionBuild {
    /// The name of the revision.
    pub revision: String,
    /// Whether its executables are those of an earlier run, and cargo was not run.
    pub from_cache: bool,
    /// Where its lock file came from: `committed`; `updated`, since it did not fit the manifests; `copied` from head;
    /// or `generated`. `None` where cargo was not run.
    pub lock: Option<String>,
}

/// One package whose version differs between base and head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DependencyChange {
    /// Its name.
    pub name: String,
    /// Its version in base, with the commit for one from git; `None`: it is not there.
    pub base: Option<String>,
    /// Its version in head; `None`: it is not there.
    pub head: Option<String>,
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
    /// The name its owner gives it (`BENCHGATE_MACHINE`); machines of one name share their histories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// The compiler and profile both sides were built with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Toolchain {
    /// First line of `rustc -vV`.
    pub rustc: String,
    /// `cargo --version`.
    pub cargo: String,
    /// The triple that was built for.
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
    /// What the summary is made by.
    #[serde(default)]
    pub summary: SummarySettings,
    /// Known slowdowns that do not fail the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<Accept>,
    /// Which part of the run this is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The number of shards it was joined from, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_shards: Option<u32>,
    /// The features both sides were built with, sorted; `--all-features` and `--no-default-features` as these words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}

/// One part of a run that several machines share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which one, from 1.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// The benchmarks of all shards together.
    pub benchmarks: usize,
    /// SHA-256 over the names and settings of these and their shards, hex: equal in all shards of a run.
    pub plan_sha256: String,
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
