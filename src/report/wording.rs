//! What budgets, presences, counts and the exit status say to people, from the numbers that decided them.

use crate::harness::HarnessKind;
use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::settings::{Aggregation, Operator};
use crate::verdict::budget;
use crate::verdict::evidence::{ErrorKind, Presence};
use crate::verdict::outcome::{BenchResult, BudgetOutcome, BudgetStatus, Comparison, Reason, Verdict};

use super::model::{Benchmark, Report, Revision, Statistics};
use super::quantity;
use super::samples_csv::SAMPLES;
use super::text::visible;

pub use super::reason::{change, compared_metric, reason, sentence, verdict};

/// The metric of a budget with what is taken of it: `latency p95`.
pub fn budget_metric(outcome: &BudgetOutcome) -> String {
    format!("{} {}", visible(outcome.budget.metric.name()), aggregation(outcome.budget.aggregation))
}

/// The word of a budget's answer in tables.
pub fn budget_status(outcome: &BudgetOutcome) -> &'static str {
    match outcome.status {
        BudgetStatus::Pass => "in budget",
        BudgetStatus::Fail => "OVER BUDGET",
        BudgetStatus::Skipped if budget::effect(outcome) == BenchResult::MetricError => "NOT CHECKED",
        BudgetStatus::Skipped => "skipped",
        BudgetStatus::NoData => "NO DATA",
    }
}

/// What decided a budget: its value, its limit, its samples.
pub fn budget_reason(it: &BudgetOutcome) -> String {
    let actual = quantity::optional(it.actual, &it.unit);
    let limit = budget_limit(&it.budget.operator, it.budget.limit, &it.unit);
    let mut parts = vec![match it.status {
        BudgetStatus::Pass => format!("{actual} is within {limit}"),
        BudgetStatus::Fail => format!("{actual} is not {limit}"),
        BudgetStatus::Skipped | BudgetStatus::NoData => format!("budget {limit} was not checked"),
    }];
    match it.reason {
        Some(Reason::AtFloor) => parts.push("the value is at the floor of what can be measured".to_owned()),
        Some(Reason::NonFinite) => parts.push("a value is not a finite number".to_owned()),
        Some(Reason::NotMeasured) => parts.push("the metric was not measured".to_owned()),
        Some(Reason::WorkDiffers) => parts.push("work differs from run to run".to_owned()),
        Some(Reason::NonPositiveLatency) => parts.push("latency is 0 or below".to_owned()),
        _ => {}
    }
    parts.push(plural(it.samples, "sample"));
    if it.few_tail_samples {
        let needed = it.budget.aggregation.samples_needed();
        parts.push(format!("few for {}, which wants {needed}", aggregation(it.budget.aggregation)));
    }
    parts.join(", ")
}

fn budget_limit(operator: &Operator, limit: f64, unit: &Unit) -> String {
    format!("{operator} {}", quantity::value(limit, unit))
}

/// The word of an aggregation, as the suite writes it: `median`, `p99.9`.
pub fn aggregation(aggregation: Aggregation) -> String {
    match aggregation {
        Aggregation::Min => "min".to_owned(),
        Aggregation::Max => "max".to_owned(),
        Aggregation::Mean => "mean".to_owned(),
        Aggregation::Median => "median".to_owned(),
        Aggregation::Percentile(percentile) => format!("p{percentile}"),
    }
}

/// The word of a direction, as the suite writes it.
pub fn better(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    }
}

/// Why a benchmark was not compared; `None` for one that was.
pub fn presence(benchmark: &Benchmark) -> Option<String> {
    let note = benchmark.presence_note.as_deref().map(visible);
    Some(match (benchmark.presence, note) {
        (Presence::Compared, _) => return None,
        (_, Some(note)) => note,
        (Presence::Unchanged, None) if benchmark.sides.iter().any(|side| !side.runs.is_empty()) => {
            "the programs of both sides are identical, so head alone was measured, for its budgets".to_owned()
        }
        (Presence::Unchanged, None) => {
            "the programs of both sides are identical, so nothing was measured".to_owned()
        }
        (Presence::New, None) => "only in head, so there is nothing to compare".to_owned(),
        (Presence::Removed, None) => "only in base".to_owned(),
        (Presence::NotComparable, None) => "the sides cannot be compared".to_owned(),
    })
}

/// What is known of the code behind a time that changed: that it is the same on both sides, or counts the same.
pub fn code_note(benchmark: &Benchmark, changed: &Comparison) -> Option<String> {
    let compared = benchmark.presence == Presence::Compared;
    let note = benchmark.presence_note.as_deref().filter(|_| compared).map(visible);
    let counts_the_same = |it: &Comparison| {
        it.metric == Metric::Instructions
            && it.head_revision == changed.head_revision
            && it.change_percent.is_some_and(|change| change.abs() < SAME_COUNT_PERCENT)
    };
    note.or_else(|| {
        let same = changed.metric == Metric::Latency && benchmark.comparisons.iter().any(counts_the_same);
        same.then(|| {
            "it takes the same number of instructions on both sides, so look at where its code or its data lies in memory, not \
             at what it does"
                .to_owned()
        })
    })
}

/// More samples a side than this are no way out.
const PRACTICAL_SAMPLES: u32 = 1000;

/// Below this a change of a count is none, in per cent.
const SAME_COUNT_PERCENT: f64 = 0.05;

/// The word of what was wanted and is missing.
pub const NOT_MEASURED: &str = "NOT MEASURED";

/// The word of a benchmark that failed to give a result.
pub fn failed(result: BenchResult, kind: ErrorKind) -> &'static str {
    match (result, kind) {
        (BenchResult::MetricError, _) | (_, ErrorKind::NotMeasured) => NOT_MEASURED,
        _ => "ERROR",
    }
}

/// A revision for the line below the table: its name, commit, and why it is this one.
pub fn revision(revision: &Revision) -> String {
    let mut text = format!("{}: ", visible(&revision.name));
    match &revision.commit {
        Some(commit) => text.push_str(&visible(commit.get(..10).unwrap_or(commit))),
        None => text.push_str(&visible(&revision.spec)),
    }
    if revision.dirty {
        text.push_str(" with uncommitted changes");
    }
    if let Some(subject) = &revision.subject {
        text.push_str(&format!(" \"{}\"", visible(subject)));
    }
    if let Some(why) = &revision.chosen_because {
        text.push_str(&format!(" ({})", visible(why)));
    }
    text
}

/// The counts of a run in words: results, what was not gated or skipped, and how benchmarks stand in the revisions.
pub fn counts(report: &Report) -> Vec<String> {
    let summary = &report.summary;
    let some = |parts: &[(usize, &str)]| {
        let parts = parts.iter().filter(|(count, _)| 0 < *count);
        parts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    };
    // New and removed ones pass, since nothing of them can regress; to call them passed would say more.
    let elsewhere = report.benchmarks.iter().filter(|benchmark| {
        benchmark.presence != Presence::Compared && benchmark.result == BenchResult::Pass && !is_alone(report)
    });
    let passed = summary.pass.saturating_sub(elsewhere.count());
    let results = some(&[
        (summary.error, "failed"),
        (summary.metric_error, "not measured"),
        (summary.regression, "with a regression"),
        (summary.over_budget, "over budget"),
        (summary.inconclusive, "inconclusive"),
        (summary.improved, "improved"),
        (passed, "passed"),
    ]);
    let presence = some(&[
        (summary.unchanged, "unchanged"),
        // Of a single revision everything would be new, which says nothing.
        (if is_alone(report) { 0 } else { summary.new }, "new"),
        (summary.removed, "removed"),
        (summary.not_comparable, "not comparable"),
    ]);
    let not_gated = &summary.not_gated;
    let not_gated = some(&[
        (not_gated.regression, "regression"),
        (not_gated.inconclusive, "inconclusive"),
        (not_gated.improved, "improved"),
        (not_gated.pass, "pass"),
    ]);
    let mut lines = vec![plural(summary.benchmarks, "benchmark")];
    if !results.is_empty() {
        lines[0].push_str(&format!(": {results}"));
    }
    if !presence.is_empty() {
        lines[0].push_str(&format!("; {presence}"));
    }
    let mut rest = Vec::new();
    if !not_gated.is_empty() {
        rest.push(format!("not gated: {not_gated}"));
    }
    if 0 < summary.accepted {
        rest.push(format!("accepted: {}", plural(summary.accepted, "regression")));
    }
    if 0 < summary.skipped {
        rest.push(format!("skipped: {}", summary.skipped));
    }
    if !rest.is_empty() {
        lines.push(rest.join("; "));
    }
    lines
}

/// The computer and the compiler, a line each.
pub fn environment(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(it) = &report.machine {
        let mut line = format!("machine: {} {}", visible(&it.os), visible(&it.arch));
        line.extend(it.cpu_model.as_deref().map(|model| format!(", {}", visible(model))));
        line.push_str(&format!(", {} CPUs", it.logical_cpus));
        let load = it.load_at_start.zip(it.load_at_end);
        line.extend(load.map(|(start, end)| format!(", load {start:.2} to {end:.2}")));
        lines.push(line);
    }
    if let Some(it) = &report.toolchain {
        let [rustc, target, profile] = [&it.rustc, &it.target, &it.profile].map(|text| visible(text));
        lines.push(format!("toolchain: {rustc}, {target}, profile {profile}"));
    }
    lines
}

/// Whether the report is of one revision, with nothing to compare it with.
pub fn is_alone(report: &Report) -> bool {
    report.revisions.len() == 1
}

/// The last line of a report: the status, and why.
pub fn exit(report: &Report) -> String {
    let exit = &report.exit;
    let because =
        exit.because.as_deref().map(|because| format!(": {}", visible(because))).unwrap_or_default();
    match (exit.code, exit.without_no_fail) {
        (0, Some(code)) => format!("gate not enforced (--no-fail, exit status 0 instead of {code}){because}"),
        (0, None) => format!("gate passed (exit status 0){}", unsaid(report)),
        (1, _) => format!("gate failed (exit status 1){because}"),
        (code, _) => format!("gate undecided (exit status {code}){because}"),
    }
}

/// What a passed gate does not say: what could not be told, what got worse without being gated, that nothing was compared.
pub(super) fn unsaid(report: &Report) -> String {
    let summary = &report.summary;
    let compared = report.benchmarks.iter().any(|benchmark| !benchmark.comparisons.is_empty());
    let unchanged = 0 < summary.unchanged;
    let budgets = report.benchmarks.iter().any(|benchmark| !benchmark.budgets.is_empty());
    let mut parts = Vec::new();
    if !compared && !unchanged {
        parts.push(match budgets {
            true => "only budgets were checked, nothing was compared".to_owned(),
            false => "nothing was compared and no budget was checked".to_owned(),
        });
    }
    let gated = report.benchmarks.iter().flat_map(|benchmark| &benchmark.comparisons).any(|it| it.gate);
    if compared && !gated && !budgets {
        parts.push("nothing is gated".to_owned());
    }
    if 0 < summary.inconclusive {
        parts.push(format!("{} inconclusive", summary.inconclusive));
    }
    if 0 < summary.accepted {
        parts.push(format!("{} accepted", plural(summary.accepted, "regression")));
    }
    if 0 < summary.not_gated.regression {
        parts.push(format!("{} not gated", plural(summary.not_gated.regression, "regression")));
    }
    if parts.is_empty() { String::new() } else { format!(", but {}", parts.join(", ")) }
}

/// How to tell code from its place in memory, where a function got slower and nothing was counted.
pub fn placement(report: &Report) -> Option<&'static str> {
    let of_a_function = |benchmark: &&Benchmark| {
        [HarnessKind::Criterion, HarnessKind::Divan, HarnessKind::Libtest]
            .iter()
            .any(|harness| harness.as_str() == benchmark.harness)
    };
    let slower =
        |it: &Comparison| it.metric == Metric::Latency && it.verdict == Verdict::Regression && it.gate;
    let counted = |it: &Comparison| it.metric == Metric::Instructions;
    let concerned = report.benchmarks.iter().filter(of_a_function).any(|benchmark| {
        benchmark.comparisons.iter().any(slower) && !benchmark.comparisons.iter().any(counted)
    });
    concerned.then_some(
        "a function the change did not touch can get slower by its place in memory alone: `--metric instructions` tells the two apart",
    )
}

/// The ways out of the inconclusive comparisons of a report, each once; empty when there is none.
pub fn advice(report: &Report) -> Vec<String> {
    let mut open: Vec<(&Benchmark, &Comparison)> = report
        .benchmarks
        .iter()
        .flat_map(|benchmark| benchmark.comparisons.iter().map(move |it| (benchmark, it)))
        .filter(|(_, it)| it.verdict == Verdict::Inconclusive && it.derived_from.is_none())
        .collect();
    if open.is_empty() {
        return Vec::new();
    }
    // What may fail the run comes first; the others need no way out while there is such a one.
    if open.iter().any(|(_, it)| it.gate) {
        open.retain(|(_, it)| it.gate);
    }
    let on_programs = open.iter().any(|(benchmark, it)| {
        it.metric == Metric::Latency && benchmark.harness == HarnessKind::Process.as_str()
    });
    let open: Vec<&Comparison> = open.into_iter().map(|(_, it)| it).collect();
    let any =
        |reasons: &[Reason]| open.iter().any(|it| it.reason.is_some_and(|reason| reasons.contains(&reason)));
    let mut ways = Vec::new();
    let unsure =
        [Reason::TooClose, Reason::FewSamples, Reason::NoSamples, Reason::Noisy, Reason::ZeroBootstrapBase];
    let is_judged_again = report.command == "judge";
    if any(&[Reason::Unconfirmed]) && is_judged_again {
        ways.push(
            "decide on the samples there are, since saved ones cannot be measured again: `--correction holm`, or `--correction \
             none`, where every comparison has its own chance of a false alarm"
                .to_owned(),
        );
    }
    if any(&unsure) || any(&[Reason::Unconfirmed]) && !is_judged_again {
        // With one that no number of samples settles there is no number for all.
        let needed: Option<Vec<u32>> = open.iter().map(|it| it.samples_needed).collect();
        let needed = needed.and_then(|needed| needed.into_iter().max());
        // A fixed number, since the settled rule has no looks beyond its last one.
        ways.push(match needed {
            _ if report.benchmarks.iter().any(|it| it.harness == SAMPLES) => "take more samples".to_owned(),
            Some(needed) if needed <= PRACTICAL_SAMPLES => {
                format!("take more samples: `--samples {needed}` would likely settle all of them")
            }
            Some(needed) => {
                format!("about {needed} samples a side would settle all of them, too many to wait for")
            }
            None => "take more samples: a fixed number of them, with `--samples`".to_owned(),
        });
    }
    if any(&[Reason::TooClose, Reason::Unconfirmed]) {
        ways.push(
            "accept more: a wider `max_percent`, or a `min_difference` below which no change counts"
                .to_owned(),
        );
        ways.push(
            "ask for less certainty: a lower `confidence`, where `stop` is `fixed` or `precision`".to_owned(),
        );
    }
    if any(&[Reason::Noisy, Reason::TooClose, Reason::ZeroBootstrapBase]) {
        ways.push("use a quieter machine: nothing else running, a fixed CPU frequency".to_owned());
        if on_programs {
            ways.push(
                "gate another metric: `cpu_total` or `peak_rss` of a whole program vary less than its latency".to_owned(),
            );
        }
    }
    if any(&[Reason::AtFloor]) {
        ways.push(
            "measure more memory than the tool itself needs, or do not gate `peak_rss` here".to_owned(),
        );
    }
    if any(&[Reason::ZeroBase, Reason::ZeroBootstrapBase]) {
        ways.push("give the benchmark more work: a base of 0 has no ratio".to_owned());
    }
    ways
}

/// How many samples a side has, and how far they lie apart.
pub fn spread(statistics: &Statistics) -> String {
    let [low, high] = [statistics.min, statistics.max].map(|value| quantity::value(value, &statistics.unit));
    format!("median of {}, {low} to {high}", plural(statistics.count, "sample"))
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
