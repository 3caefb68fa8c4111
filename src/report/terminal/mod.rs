//! The report for people: problems first, a reason in numbers on every row, then the counts and the exit status.

use anstyle::{AnsiColor, Style};

use crate::suite::identity::labels;
use crate::suite::metric::{Metric, Unit};
use crate::verdict::evidence::Presence;
use crate::verdict::outcome::{
    BenchResult, BudgetOutcome, BudgetStatus, Comparison, PairingUsed, Reason, Verdict,
};
use crate::verdict::result;

use super::assemble::identity_order;
use super::model::{Benchmark, Report};
use super::text::{visible, wrap};
use super::{quantity, wording};

mod table;

use table::{Row, Table};

/// How the report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether to colour. Nothing is said by colour alone.
    pub color: bool,
    /// Columns of the terminal; `None` where there is none, as in a log or a file.
    pub width: Option<usize>,
}

/// How much a row asks to be looked at: the order of rows and their colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Broken,
    Failing,
    Unsure,
    NotGatedFailing,
    NotGatedUnsure,
    Skipped,
    Better,
    Fine,
    Absent,
}

impl Weight {
    fn style(self) -> Style {
        match self {
            Self::Broken | Self::Failing => AnsiColor::Red.on_default().bold(),
            Self::Unsure | Self::NotGatedFailing => AnsiColor::Yellow.on_default(),
            Self::Better => AnsiColor::Green.on_default(),
            Self::Fine => Style::new(),
            Self::NotGatedUnsure | Self::Skipped | Self::Absent => Style::new().dimmed(),
        }
    }
}

/// The report as text that ends with a line end. Text of benchmarks and programs cannot drive the terminal.
pub fn terminal(report: &Report, options: Options) -> String {
    let several = 1 < head_revisions(report);
    let labels = labels(report.benchmarks.iter().map(|benchmark| &benchmark.identity));
    let labels = labels.iter().map(|label| visible(label));
    let mut benchmarks: Vec<(&Benchmark, String)> = report.benchmarks.iter().zip(labels).collect();
    // Worst result first, then by name. Those that were not compared come last whatever their result is.
    benchmarks.sort_by(|(a, _), (b, _)| {
        severity(a).cmp(&severity(b)).then_with(|| identity_order(&a.identity, &b.identity))
    });
    let mut rows = Vec::new();
    for (benchmark, label) in benchmarks {
        let mut of_one = match wording::is_alone(report) {
            true => alone_rows(benchmark, label),
            false => compared_rows(report, benchmark, label, several),
        };
        // With several revisions a metric's rows stay together, in the order of the revisions.
        if !several {
            of_one.sort_by_key(|(weight, _)| *weight);
        }
        rows.extend(of_one.into_iter().map(|(_, row)| row));
    }
    let mut text = String::new();
    if rows.is_empty() {
        text.push_str("no benchmarks\n");
    } else {
        text.push_str(&Table { rows }.render(options.color, options.width));
    }
    text.push('\n');
    footer(report, options, &mut text);
    text
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
fn alone_rows(benchmark: &Benchmark, label: String) -> Vec<(Weight, Row)> {
    let mut rows = checks(benchmark, &label);
    for side in &benchmark.sides {
        for (metric, statistics) in &side.statistics {
            let weight = Weight::Fine;
            let row = Row {
                target: label.clone(),
                metric: visible(metric.name()),
                head: quantity::value(statistics.median, &statistics.unit),
                verdict: "measured".to_owned(),
                reason: wording::spread(statistics),
                ..row(weight)
            };
            rows.push((weight, row));
        }
    }
    if rows.is_empty() {
        let weight = Weight::Absent;
        let (verdict, reason) = (benchmark.result.to_string(), "no samples".to_owned());
        rows.push((weight, Row { target: label, verdict, reason, ..row(weight) }));
    }
    rows
}

/// The rows of a benchmark of two revisions or more.
fn compared_rows(
    report: &Report,
    benchmark: &Benchmark,
    label: String,
    several_heads: bool,
) -> Vec<(Weight, Row)> {
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
        rows.push(comparison_row(target, comparison));
    }
    rows.extend(checks(benchmark, &label));
    if let Some(reason) = wording::presence(benchmark) {
        rows.push(presence_row(label.clone(), benchmark, reason));
    }
    if rows.is_empty() {
        let weight = Weight::Absent;
        let reason = "measured, with nothing to compare and no budget".to_owned();
        let (base, head) = latencies(benchmark);
        let verdict = benchmark.result.to_string();
        rows.push((
            weight,
            Row { target: label, metric: "latency".to_owned(), base, head, verdict, reason, ..row(weight) },
        ));
    }
    rows
}

/// What the user called a revision.
fn spec_of<'a>(report: &'a Report, name: &'a str) -> &'a str {
    report.revisions.iter().find(|revision| revision.name == name).map_or(name, |revision| &revision.spec)
}

/// The rows that need one revision only: budgets, and the error.
fn checks(benchmark: &Benchmark, label: &str) -> Vec<(Weight, Row)> {
    let budgets = benchmark.budgets.iter();
    let mut rows: Vec<(Weight, Row)> = budgets.map(|budget| budget_row(label.to_owned(), budget)).collect();
    if let Some(error) = &benchmark.error {
        let mut notes: Vec<String> = error.message.lines().map(visible).collect();
        let tail = error.stderr.iter().flat_map(|stderr| stderr.lines());
        notes.extend(tail.map(|line| format!("| {}", visible(&line.replace('\t', "    ")))));
        let weight = Weight::Broken;
        let verdict = wording::failed(benchmark.result).to_owned();
        let reason = error.kind.to_string();
        rows.push((weight, Row { target: label.to_owned(), verdict, reason, notes, ..row(weight) }));
    }
    rows
}

fn row(weight: Weight) -> Row {
    let none = || quantity::NONE.to_owned();
    Row {
        style: weight.style(),
        target: none(),
        metric: none(),
        base: none(),
        head: none(),
        change: none(),
        verdict: none(),
        reason: String::new(),
        notes: Vec::new(),
    }
}

fn comparison_row(target: String, it: &Comparison) -> (Weight, Row) {
    let weight = match (it.verdict, it.gate) {
        (Verdict::Regression, true) if result::is_accepted(it) => Weight::NotGatedFailing,
        (Verdict::Regression, true) => Weight::Failing,
        (Verdict::Regression, false) => Weight::NotGatedFailing,
        (Verdict::Inconclusive, true) => Weight::Unsure,
        (Verdict::Inconclusive, false) => Weight::NotGatedUnsure,
        (Verdict::Skipped, _) => Weight::Skipped,
        (Verdict::Improved, _) => Weight::Better,
        (Verdict::Pass, _) => Weight::Fine,
    };
    let row = Row {
        target,
        metric: wording::compared_metric(it),
        base: quantity::optional(it.base, &it.unit),
        head: quantity::optional(it.head, &it.unit),
        change: wording::change(it),
        verdict: wording::verdict(it),
        reason: wording::reason(it),
        ..row(weight)
    };
    (weight, row)
}

fn budget_row(target: String, it: &BudgetOutcome) -> (Weight, Row) {
    let weight = match it.status {
        BudgetStatus::Fail => Weight::Failing,
        BudgetStatus::NoData => Weight::Broken,
        BudgetStatus::Skipped => Weight::Skipped,
        BudgetStatus::Pass => Weight::Fine,
    };
    let row = Row {
        target,
        metric: wording::budget_metric(it),
        head: quantity::optional(it.actual, &it.unit),
        verdict: wording::budget_status(it).to_owned(),
        reason: wording::budget_reason(it),
        ..row(weight)
    };
    (weight, row)
}

fn presence_row(target: String, benchmark: &Benchmark, reason: String) -> (Weight, Row) {
    let weight = match benchmark.presence {
        Presence::NotComparable => Weight::Skipped,
        _ => Weight::Absent,
    };
    let (base, head) = latencies(benchmark);
    let verdict = benchmark.presence.as_str().replace('_', " ");
    (weight, Row { target, base, head, verdict, reason, ..row(weight) })
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

fn footer(report: &Report, options: Options, text: &mut String) {
    let mut paragraph = |prefix: &str, style: Style, body: &str| {
        let indent = prefix.len();
        let columns = options.width.map(|width| width.saturating_sub(indent).max(20));
        for (at, line) in wrap(body, columns).iter().enumerate() {
            match (at, options.color) {
                (0, true) => text.push_str(&format!("{style}{prefix}{style:#}{line}\n")),
                (0, false) => text.push_str(&format!("{prefix}{line}\n")),
                _ => text.push_str(&format!("{:indent$}{line}\n", "")),
            }
        }
    };
    let plain = Style::new();
    let in_pairs = |it: &Comparison| it.pairing == Some(PairingUsed::Paired);
    if report.benchmarks.iter().flat_map(|benchmark| &benchmark.comparisons).any(in_pairs) {
        paragraph(
            "",
            plain,
            "in pairs: the machine moved both sides together, so the change is the median of the pairs' own ratios, not HEAD / BASE",
        );
    }
    let advice = wording::advice(report);
    if !advice.is_empty() {
        paragraph("", plain, "ways out of inconclusive:");
        advice.iter().for_each(|way| paragraph("  - ", plain, way));
    }
    for warning in &report.warnings {
        paragraph("warning: ", AnsiColor::Yellow.on_default().bold(), &visible(warning));
    }
    for revision in &report.revisions {
        paragraph("", plain, &wording::revision(revision));
    }
    for line in wording::counts(report) {
        paragraph("", plain, &line);
    }
    paragraph("", plain, &format!("seed {}", report.seed));
    let style = match report.exit.code {
        0 => AnsiColor::Green.on_default().bold(),
        _ => AnsiColor::Red.on_default().bold(),
    };
    // One line whatever the width: the last line can be searched for.
    let exit = wording::exit(report);
    match options.color {
        true => text.push_str(&format!("{style}{exit}{style:#}\n")),
        false => text.push_str(&format!("{exit}\n")),
    }
}
