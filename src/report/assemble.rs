//! From what was measured and judged to the report: values are moved, nothing is computed.

use std::collections::BTreeMap;

use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::Metric;
use crate::verdict::Judged;
use crate::verdict::evidence::{Evidence, Side, UnitRun};
use crate::verdict::outcome::{BudgetOutcome, Comparison};

use super::model::{
    Benchmark, DependencyChange, Exit, Machine, Report, ReportSide, Revision, RevisionBuild, RunWide,
    SCHEMA_VERSION, Statistics, Summary, Tool, Toolchain,
};
use super::text::natural_order;

/// What is known of a run beside its benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The verb: `compare`, `run`, `judge`, ….
    pub command: String,
    /// The seed of the order of runs and of all random draws.
    pub seed: u64,
    /// RFC 3339, UTC.
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
    /// How the revisions were built.
    pub builds: Vec<RevisionBuild>,
    /// How head's dependencies differ from base's.
    pub dependency_changes: Vec<DependencyChange>,
    /// What advises the reader.
    pub warnings: Vec<String>,
}

impl Header {
    /// A header that says nothing but the verb and the seed: for samples without a run.
    pub fn bare(command: &str, seed: u64) -> Self {
        Self {
            command: command.to_owned(),
            seed,
            started_at: None,
            finished_at: None,
            revisions: Vec::new(),
            machine: None,
            toolchain: None,
            suite: RunWide::default(),
            builds: Vec::new(),
            dependency_changes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl From<&Report> for Header {
    /// The header of a saved report, for judging it again: the times and the machine stay those of the measuring.
    fn from(report: &Report) -> Self {
        Self {
            command: report.command.clone(),
            seed: report.seed,
            started_at: report.started_at.clone(),
            finished_at: report.finished_at.clone(),
            revisions: report.revisions.clone(),
            machine: report.machine.clone(),
            toolchain: report.toolchain.clone(),
            suite: report.suite.clone(),
            builds: report.builds.clone(),
            dependency_changes: report.dependency_changes.clone(),
            warnings: report.warnings.clone(),
        }
    }
}

/// The report of a run. `evidence` and `judged` are in one order; benchmarks come out by name, numbers by value.
pub fn assemble(
    header: Header,
    evidence: Vec<Evidence>,
    judged: Vec<Judged>,
    summary: Summary,
    exit: Exit,
) -> Report {
    let mut benchmarks: Vec<Benchmark> =
        evidence.into_iter().zip(judged).map(|(e, j)| benchmark(e, j)).collect();
    benchmarks.sort_by(|a, b| identity_order(&a.identity, &b.identity));
    Report {
        schema_version: SCHEMA_VERSION,
        tool: Tool { name: "cargo-benchgate".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        command: header.command,
        seed: header.seed,
        started_at: header.started_at,
        finished_at: header.finished_at,
        revisions: header.revisions,
        machine: header.machine.map(|machine| Machine {
            load_at_start: finite(machine.load_at_start),
            load_at_end: finite(machine.load_at_end),
            ..machine
        }),
        toolchain: header.toolchain,
        suite: header.suite,
        benchmarks,
        builds: header.builds,
        dependency_changes: header.dependency_changes,
        summary,
        warnings: header.warnings,
        exit,
    }
}

/// The order of benchmarks in every format.
pub fn identity_order(left: &BenchmarkIdentity, right: &BenchmarkIdentity) -> std::cmp::Ordering {
    natural_order(&left.target.package, &right.target.package)
        .then_with(|| left.target.kind.cmp(&right.target.kind))
        .then_with(|| natural_order(&left.target.target, &right.target.target))
        .then_with(|| natural_order(&left.variant, &right.variant))
        .then_with(|| natural_order(&left.id, &right.id))
}

fn benchmark(evidence: Evidence, judged: Judged) -> Benchmark {
    let mut statistics = judged.statistics.into_iter();
    let side = |side: Side| ReportSide {
        revision: side.revision,
        executable_sha256: side.executable_sha256,
        statistics: finite_statistics(statistics.next().unwrap_or_default()),
        runs: side.runs.into_iter().map(finite_run).collect(),
    };
    Benchmark {
        identity: evidence.identity,
        group: judged.group,
        harness: evidence.harness,
        presence: evidence.presence,
        presence_note: evidence.presence_note,
        result: judged.result,
        sides: evidence.sides.into_iter().map(side).collect(),
        comparisons: judged.comparisons.into_iter().map(finite_comparison).collect(),
        budgets: judged
            .budgets
            .into_iter()
            .map(|budget| BudgetOutcome { actual: finite(budget.actual), ..budget })
            .collect(),
        stopped_because: evidence.stopped_because,
        settings: evidence.settings,
        error: evidence.error,
    }
}

/// A number that is not finite is missing: JSON has no word for it, and no reader should meet one.
fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

fn finite_run(run: UnitRun) -> UnitRun {
    UnitRun {
        work: finite(run.work),
        peak_rss_floor: finite(run.peak_rss_floor),
        wall_ns: finite(run.wall_ns),
        ..run
    }
}

fn finite_comparison(comparison: Comparison) -> Comparison {
    Comparison {
        base: finite(comparison.base),
        head: finite(comparison.head),
        difference: finite(comparison.difference),
        change_percent: finite(comparison.change_percent),
        ci_low_percent: finite(comparison.ci_low_percent),
        ci_high_percent: finite(comparison.ci_high_percent),
        probability_regression: finite(comparison.probability_regression),
        probability_improvement: finite(comparison.probability_improvement),
        base_dispersion: finite(comparison.base_dispersion),
        head_dispersion: finite(comparison.head_dispersion),
        ..comparison
    }
}

fn finite_statistics(statistics: BTreeMap<Metric, Statistics>) -> BTreeMap<Metric, Statistics> {
    let whole =
        |it: &Statistics| [it.min, it.max, it.mean, it.median].iter().all(|number| number.is_finite());
    statistics
        .into_iter()
        .filter(|(_, it)| whole(it))
        .map(|(metric, it)| {
            let percentiles = it.percentiles.into_iter().filter(|(_, number)| number.is_finite()).collect();
            let it = Statistics {
                standard_deviation: finite(it.standard_deviation),
                cv: finite(it.cv),
                robust_cv: finite(it.robust_cv),
                percentiles,
                ..it
            };
            (metric, it)
        })
        .collect()
}
