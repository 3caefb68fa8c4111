//! From verdicts to the result of a benchmark, and to the counts of a run.

use crate::suite::harnesses::measures_sometimes;
use crate::suite::launch::HarnessChoice;
use crate::suite::metric::Metric;
use crate::suite::settings::BenchmarkSettings;

use super::budget;
use super::evidence::{Presence, UnitRun};
use super::outcome::{
    AcceptStatus, BenchResult, BudgetOutcome, BudgetStatus, Comparison, NotGated, Reason, Summary, Verdict,
};
use super::throughput;

/// The worst of the gated comparisons and the budgets. A comparison that was skipped for a value that is not finite is
/// an error of its metric; any other skipped one has no effect here.
pub fn worst(comparisons: &[Comparison], budgets: &[BudgetOutcome]) -> BenchResult {
    let of_comparison = |comparison: &Comparison| match comparison.verdict {
        _ if comparison.derived_from.is_some() => BenchResult::Pass,
        Verdict::Skipped if comparison.reason == Some(Reason::NonFinite) => BenchResult::MetricError,
        _ if !comparison.gate => BenchResult::Pass,
        Verdict::Pass | Verdict::Skipped => BenchResult::Pass,
        Verdict::Regression if is_accepted(comparison) => BenchResult::Pass,
        Verdict::Improved => BenchResult::Improved,
        Verdict::Inconclusive => BenchResult::Inconclusive,
        Verdict::Regression => BenchResult::Regression,
    };
    let all = comparisons.iter().map(of_comparison).chain(budgets.iter().map(budget::effect));
    all.max().unwrap_or(BenchResult::Pass)
}

/// Whether a comparison lacks samples that it must have: of a metric that was asked for, or of a gated one that base has
/// and head no longer reports, unless its harness (by its word) measures it sometimes only. A metric that only head reports
/// is new, and nothing that nobody asked for is missed.
pub fn is_missing(comparison: &Comparison, settings: &BenchmarkSettings, harness: &str) -> bool {
    let sometimes = HarnessChoice::from_word(harness)
        .is_some_and(|harness| measures_sometimes(harness, &comparison.metric));
    let asked = settings.metrics.get(&comparison.metric).is_some_and(|limits| limits.asked_for);
    let [base, head] = comparison.samples;
    comparison.derived_from.is_none()
        && comparison.reason == Some(Reason::NotMeasured)
        && (asked || comparison.gate && !sometimes && 0 < base && head == 0)
}

/// Whether no side of a benchmark is compared, so that each must have by itself what was asked for.
pub fn stands_alone(presence: Presence, settings: &BenchmarkSettings, sides: usize) -> bool {
    match presence {
        Presence::New => true,
        Presence::Compared => !settings.compare || sides == 1,
        Presence::Removed | Presence::Unchanged | Presence::NotComparable => false,
    }
}

/// The metrics that were asked for and that none of the runs of a side has; none of a side without runs.
pub fn unmeasured<'a>(settings: &'a BenchmarkSettings, runs: &[UnitRun]) -> Vec<&'a Metric> {
    let has = |metric: &Metric| match metric {
        Metric::Throughput => runs.iter().any(|run| throughput::rate(run).is_some()),
        metric => runs.iter().any(|run| run.values.get(metric).is_some()),
    };
    let asked = settings.metrics.iter().filter(|(_, limits)| limits.asked_for && !runs.is_empty());
    asked.map(|(metric, _)| metric).filter(|metric| !has(metric)).collect()
}

/// Whether a comparison fails the run.
pub fn is_failing(comparison: &Comparison) -> bool {
    comparison.gate
        && comparison.derived_from.is_none()
        && comparison.verdict == Verdict::Regression
        && !is_accepted(comparison)
}

/// Whether an `accept` entry keeps a regression from failing the run.
pub fn is_accepted(comparison: &Comparison) -> bool {
    comparison.acceptance.as_ref().is_some_and(|acceptance| acceptance.status == AcceptStatus::Accepted)
}

/// Adds one benchmark to the counts.
pub fn count(
    summary: &mut Summary,
    presence: Presence,
    result: BenchResult,
    comparisons: &[Comparison],
    budgets: &[BudgetOutcome],
) {
    summary.benchmarks += 1;
    *match result {
        BenchResult::Pass => &mut summary.pass,
        BenchResult::Improved => &mut summary.improved,
        BenchResult::Inconclusive => &mut summary.inconclusive,
        BenchResult::OverBudget => &mut summary.over_budget,
        BenchResult::Regression => &mut summary.regression,
        BenchResult::MetricError => &mut summary.metric_error,
        BenchResult::Error => &mut summary.error,
    } += 1;
    match presence {
        Presence::Compared => {}
        Presence::Unchanged => summary.unchanged += 1,
        Presence::New => summary.new += 1,
        Presence::Removed => summary.removed += 1,
        Presence::NotComparable => summary.not_comparable += 1,
    }
    for comparison in comparisons.iter().filter(|comparison| comparison.derived_from.is_none()) {
        if comparison.verdict == Verdict::Skipped {
            summary.skipped += 1;
            summary.gated_skipped += usize::from(comparison.gate);
        } else if is_accepted(comparison) {
            summary.accepted += 1;
        } else if !comparison.gate {
            count_not_gated(&mut summary.not_gated, comparison.verdict);
        }
    }
    let skipped = budgets.iter().filter(|budget| budget.status == BudgetStatus::Skipped).count();
    summary.skipped += skipped;
    summary.gated_skipped += skipped;
}

fn count_not_gated(not_gated: &mut NotGated, verdict: Verdict) {
    match verdict {
        Verdict::Pass => not_gated.pass += 1,
        Verdict::Improved => not_gated.improved += 1,
        Verdict::Inconclusive => not_gated.inconclusive += 1,
        Verdict::Regression => not_gated.regression += 1,
        Verdict::Skipped => {}
    }
}
