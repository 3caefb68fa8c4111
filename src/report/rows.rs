//! The rows that people read, in the order they read them: the same cells for every format, problems first.

use crate::suite::identity::labels;
use crate::suite::metric::{Metric, Unit};
use crate::suite::run_wide::AlsoFailOn;
use crate::suite::settings::Aggregation;
use crate::verdict::budget;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Presence};
use crate::verdict::outcome::{
    BenchResult, BudgetOutcome, BudgetStatus, Comparison, Reason, Statistics, Verdict,
};
use crate::verdict::result;

use super::assemble::identity_order;
use super::model::{Benchmark, Report};
use super::text::visible;
use super::{quantity, wording};

/// How much a row asks to be looked at, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It could not be measured.
    Broken,
    /// It fails the run.
    Failing,
    /// The samples cannot tell.
    Unsure,
    /// Worse, and not gated.
    NotGatedFailing,
    /// Not gated, and the samples cannot tell.
    NotGatedUnsure,
    /// Not judged.
    Skipped,
    /// Better.
    Better,
    /// Nothing to say.
    Fine,
    /// In one revision only, or the same in both.
    Absent,
}

impl Weight {
    /// Whether a reader must look at it.
    pub fn is_problem(self) -> bool {
        matches!(self, Self::Broken | Self::Failing)
    }

    /// The word that styles and filters of a page know it by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Failing => "failing",
            Self::Unsure => "unsure",
            Self::NotGatedFailing => "aside",
            Self::NotGatedUnsure => "aside-unsure",
            Self::Skipped => "skipped",
            Self::Better => "better",
            Self::Fine => "fine",
            Self::Absent => "absent",
        }
    }
}

/// What a row is about.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Two revisions.
    Comparison(&'a Comparison),
    /// An absolute limit.
    Budget(&'a BudgetOutcome),
    /// A failure.
    Error(&'a BenchmarkError),
    /// A benchmark that was not compared.
    Presence,
    /// What one revision took, where there is no other.
    Measured(&'a Statistics),
    /// Nothing that could be shown.
    Nothing,
}

/// One row. Every cell is safe for a terminal, and still to be escaped for any other format.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// How much it asks to be looked at.
    pub weight: Weight,
    /// The benchmark's name, with `@revision` where several are compared.
    pub target: String,
    /// The metric.
    pub metric: String,
    /// The value of base.
    pub base: String,
    /// The value of head.
    pub head: String,
    /// The change with its interval.
    pub change: String,
    /// The verdict's word.
    pub verdict: String,
    /// The numbers that decided.
    pub reason: String,
    /// Lines below it.
    pub notes: Vec<String>,
    /// The benchmark.
    pub benchmark: &'a Benchmark,
    /// What it is about.
    pub source: Source<'a>,
}

/// All rows: the worst benchmark first, then by name; those that were not compared last.
pub fn rows(report: &Report) -> Vec<Row<'_>> {
    let several = 1 < head_revisions(report);
    let labels = labels(report.benchmarks.iter().map(|benchmark| &benchmark.identity));
    let labels = labels.iter().map(|label| visible(label));
    let mut benchmarks: Vec<(&Benchmark, String)> = report.benchmarks.iter().zip(labels).collect();
    // Those that were not compared come last whatever their result is.
    benchmarks.sort_by(|(a, _), (b, _)| {
        severity(a).cmp(&severity(b)).then_with(|| identity_order(&a.identity, &b.identity))
    });
    let mut rows = Vec::new();
    for (benchmark, label) in benchmarks {
        let mut of_one = match wording::is_alone(report) {
            true => alone_rows(report, benchmark, label),
            false => compared_rows(report, benchmark, label, several),
        };
        // With several revisions a metric's rows stay together, in the order of the revisions.
        if !several {
            of_one.sort_by_key(|row| row.weight);
        }
        rows.append(&mut of_one);
    }
    rows
}

fn head_revisions(report: &Report) -> usize {
    let mut names: Vec<&str> =
        report.benchmarks.iter().flat_map(|it| &it.comparisons).map(|it| it.head_revision.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn severity(benchmark: &Benchmark) -> (std::cmp::Reverse<BenchResult>, bool) {
    (std::cmp::Reverse(benchmark.result), benchmark.presence != Presence::Compared)
}

/// The rows of a benchmark that was measured of one revision alone: what it took, metric by metric.
fn alone_rows<'a>(report: &Report, benchmark: &'a Benchmark, label: String) -> Vec<Row<'a>> {
    let mut rows = checks(report, benchmark, &label);
    for side in &benchmark.sides {
        for (metric, statistics) in &side.statistics {
            rows.push(Row {
                target: label.clone(),
                metric: visible(metric.name()),
                head: quantity::value(statistics.median, &statistics.unit),
                verdict: "measured".to_owned(),
                reason: wording::spread(statistics),
                source: Source::Measured(statistics),
                ..row(Weight::Fine, benchmark)
            });
        }
    }
    if rows.is_empty() {
        let (verdict, reason) = (benchmark.result.to_string(), "no samples".to_owned());
        rows.push(Row { target: label, verdict, reason, ..row(unexplained(benchmark), benchmark) });
    }
    rows
}

/// The rows of a benchmark of two revisions or more.
fn compared_rows<'a>(
    report: &Report,
    benchmark: &'a Benchmark,
    label: String,
    several_heads: bool,
) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    // A program that needs less memory than its starter tells nothing of its own, on a metric nobody asked for.
    let untold =
        |it: &&Comparison| !it.gate && it.verdict == Verdict::Skipped && it.reason == Some(Reason::AtFloor);
    let mut comparisons: Vec<&Comparison> = benchmark.comparisons.iter().filter(|it| !untold(it)).collect();
    if several_heads {
        comparisons.sort_by(|a, b| a.metric.cmp(&b.metric));
    }
    for comparison in comparisons {
        let target = match several_heads {
            true => format!("{label} @{}", visible(spec_of(report, &comparison.head_revision))),
            false => label.clone(),
        };
        let mut row = comparison_row(report, target, benchmark, comparison);
        if [Verdict::Regression, Verdict::Improved].contains(&comparison.verdict) {
            row.notes.extend(wording::code_note(benchmark, comparison));
        }
        rows.push(row);
    }
    rows.extend(checks(report, benchmark, &label));
    if let Some(reason) = wording::presence(benchmark) {
        rows.push(presence_row(report, label.clone(), benchmark, reason));
    }
    if rows.is_empty() {
        let reason = "measured, with nothing to compare and no budget".to_owned();
        let (base, head) = latencies(benchmark);
        let verdict = benchmark.result.to_string();
        let metric = "latency".to_owned();
        let row = row(unexplained(benchmark), benchmark);
        rows.push(Row { target: label, metric, base, head, verdict, reason, ..row });
    }
    rows
}

/// What the user called a revision.
pub(super) fn spec_of<'a>(report: &'a Report, name: &'a str) -> &'a str {
    report.revisions.iter().find(|revision| revision.name == name).map_or(name, |revision| &revision.spec)
}

/// The weight of the only row of a benchmark: it has to carry what failed.
fn unexplained(benchmark: &Benchmark) -> Weight {
    if benchmark.result < BenchResult::MetricError { Weight::Absent } else { Weight::Broken }
}

/// Whether the run was told to fail on a thing beside a regression.
fn fails_on(report: &Report, what: AlsoFailOn) -> bool {
    report.suite.also_fail_on.iter().any(|named| named == what.as_str())
}

/// The rows that need one revision only: budgets, what it lacks, and the error.
fn checks<'a>(report: &Report, benchmark: &'a Benchmark, label: &str) -> Vec<Row<'a>> {
    let budgets = benchmark.budgets.iter();
    let mut rows: Vec<Row<'a>> =
        budgets.map(|budget| budget_row(report, label.to_owned(), benchmark, budget)).collect();
    rows.extend(unmeasured_rows(benchmark, label));
    if let Some(error) = &benchmark.error {
        let mut notes: Vec<String> = error.message.lines().map(visible).collect();
        let tail = error.stderr.iter().flat_map(|stderr| stderr.lines());
        notes.extend(tail.map(|line| format!("| {}", visible(&line.replace('\t', "    ")))));
        rows.push(Row {
            target: label.to_owned(),
            verdict: wording::failed(benchmark.result, error.kind).to_owned(),
            reason: error.kind.to_string(),
            notes,
            source: Source::Error(error),
            ..row(error_weight(report, error), benchmark)
        });
    }
    rows
}

/// What `max_time` left out is no failure where that is allowed.
fn error_weight(report: &Report, error: &BenchmarkError) -> Weight {
    match error.kind {
        ErrorKind::NotMeasured if report.suite.allow_partial => unsure(report),
        _ => Weight::Broken,
    }
}

fn unsure(report: &Report) -> Weight {
    if fails_on(report, AlsoFailOn::Inconclusive) { Weight::Failing } else { Weight::Unsure }
}

/// What was asked for and not measured of a benchmark that is not compared, which has no other row to say so.
fn unmeasured_rows<'a>(benchmark: &'a Benchmark, label: &str) -> Vec<Row<'a>> {
    let alone = result::stands_alone(benchmark.presence, &benchmark.settings, benchmark.sides.len());
    if !alone || benchmark.error.is_some() {
        return Vec::new();
    }
    let mut missing: Vec<&Metric> = Vec::new();
    for side in benchmark.sides.iter().filter(|side| side.revision != "base") {
        missing.extend(result::unmeasured(&benchmark.settings, &side.runs));
    }
    missing.dedup();
    let of_metric = |metric: &Metric| Row {
        target: label.to_owned(),
        metric: visible(metric.name()),
        verdict: wording::NOT_MEASURED.to_owned(),
        reason: "asked for, and not measured".to_owned(),
        ..row(Weight::Broken, benchmark)
    };
    missing.into_iter().map(of_metric).collect()
}

fn row(weight: Weight, benchmark: &Benchmark) -> Row<'_> {
    let none = || quantity::NONE.to_owned();
    Row {
        weight,
        target: none(),
        metric: none(),
        base: none(),
        head: none(),
        change: none(),
        verdict: none(),
        reason: String::new(),
        notes: Vec::new(),
        benchmark,
        source: Source::Nothing,
    }
}

/// How much a comparison asks to be looked at: what decided the exit status comes first.
fn comparison_weight(report: &Report, benchmark: &Benchmark, it: &Comparison) -> Weight {
    let own = it.derived_from.is_none();
    let missing =
        benchmark.error.is_none() && result::is_missing(it, &benchmark.settings, &benchmark.harness);
    match (it.verdict, it.gate) {
        (Verdict::Regression, true) if result::is_accepted(it) => Weight::NotGatedFailing,
        (Verdict::Regression, true) => Weight::Failing,
        (Verdict::Regression, false) => Weight::NotGatedFailing,
        (Verdict::Inconclusive, true) if own => unsure(report),
        (Verdict::Inconclusive, true) => Weight::Unsure,
        (Verdict::Inconclusive, false) => Weight::NotGatedUnsure,
        (Verdict::Skipped, _) if own && (missing || it.reason == Some(Reason::NonFinite)) => Weight::Broken,
        (Verdict::Skipped, true) if own && fails_on(report, AlsoFailOn::Skipped) => Weight::Failing,
        (Verdict::Skipped, _) => Weight::Skipped,
        (Verdict::Improved, _) => Weight::Better,
        (Verdict::Pass, _) => Weight::Fine,
    }
}

fn comparison_row<'a>(
    report: &Report,
    target: String,
    benchmark: &'a Benchmark,
    it: &'a Comparison,
) -> Row<'a> {
    let weight = comparison_weight(report, benchmark, it);
    let verdict = match weight {
        Weight::Broken => wording::NOT_MEASURED.to_owned(),
        _ => wording::verdict(it),
    };
    Row {
        target,
        metric: wording::compared_metric(it),
        base: quantity::optional(it.base, &it.unit),
        head: quantity::optional(it.head, &it.unit),
        change: wording::change(it),
        verdict,
        reason: wording::reason(it),
        source: Source::Comparison(it),
        ..row(weight, benchmark)
    }
}

fn budget_row<'a>(
    report: &Report,
    target: String,
    benchmark: &'a Benchmark,
    it: &'a BudgetOutcome,
) -> Row<'a> {
    let weight = match it.status {
        BudgetStatus::Fail => Weight::Failing,
        _ if budget::effect(it) == BenchResult::MetricError => Weight::Broken,
        BudgetStatus::NoData => Weight::Broken,
        BudgetStatus::Skipped if fails_on(report, AlsoFailOn::Skipped) => Weight::Failing,
        BudgetStatus::Skipped => Weight::Skipped,
        BudgetStatus::Pass => Weight::Fine,
    };
    Row {
        target,
        metric: wording::budget_metric(it),
        base: quantity::optional(of_base(benchmark, it), &it.unit),
        head: quantity::optional(it.actual, &it.unit),
        verdict: wording::budget_status(it).to_owned(),
        reason: wording::budget_reason(it),
        source: Source::Budget(it),
        ..row(weight, benchmark)
    }
}

/// What a budget would have been held against in base: whether it was exceeded before, too.
fn of_base(benchmark: &Benchmark, it: &BudgetOutcome) -> Option<f64> {
    let side = benchmark.sides.iter().find(|side| side.revision == "base")?;
    let statistics = side.statistics.get(&it.budget.metric)?;
    Some(match it.budget.aggregation {
        Aggregation::Min => statistics.min,
        Aggregation::Max => statistics.max,
        Aggregation::Mean => statistics.mean,
        Aggregation::Median => statistics.median,
        percentile @ Aggregation::Percentile(_) => {
            *statistics.percentiles.get(&wording::aggregation(percentile))?
        }
    })
}

fn presence_row<'a>(report: &Report, target: String, benchmark: &'a Benchmark, reason: String) -> Row<'a> {
    let weight = match benchmark.presence {
        Presence::Removed if fails_on(report, AlsoFailOn::Removed) => Weight::Failing,
        Presence::NotComparable => Weight::Skipped,
        _ => Weight::Absent,
    };
    let (base, head) = latencies(benchmark);
    let verdict = benchmark.presence.as_str().replace('_', " ");
    let source = Source::Presence;
    Row { target, base, head, verdict, reason, source, ..row(weight, benchmark) }
}

/// The latency of base and head where they were measured, for rows without a comparison.
fn latencies(benchmark: &Benchmark) -> (String, String) {
    let median = |name: &str| {
        let side = benchmark.sides.iter().find(|side| side.revision == name)?;
        Some(side.statistics.get(&Metric::Latency)?.median)
    };
    let shown = |name| quantity::optional(median(name), &Unit::Nanoseconds);
    (shown("base"), shown("head"))
}
