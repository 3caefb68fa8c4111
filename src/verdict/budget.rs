//! Budgets: absolute limits on head alone. Always enforced, whatever the noise.

use crate::stats::describe::mean;
use crate::stats::quantile::{median, quantile, sorted};
use crate::suite::metric::{Metric, Unit};
use crate::suite::settings::{Aggregation, BenchmarkSettings, Budget, Operator};

use super::evidence::Side;
use super::floor;
use super::outcome::{BenchResult, BudgetOutcome, BudgetStatus, Reason};
use super::throughput;

/// Samples that a percentile's tail should hold.
const TAIL_SAMPLES: f64 = 10.0;

/// Head samples that all budgets need: head alone is measured on to that. 0 without a percentile budget.
pub fn samples_needed(budgets: &[Budget]) -> u32 {
    budgets.iter().map(|budget| tail_samples(budget.aggregation)).max().unwrap_or(0)
}

/// Samples one aggregation needs: for pN, ceil(10 / (1 - N/100)).
pub fn tail_samples(aggregation: Aggregation) -> u32 {
    match aggregation {
        // 100 - 99.9 is a little below 0.1 in binary: a whole number stays a whole number.
        Aggregation::Percentile(percent) if percent < 100.0 => {
            (TAIL_SAMPLES * 100.0 / (100.0 - percent) - 1e-6).ceil() as u32
        }
        _ => 0,
    }
}

/// What came of a budget on one side; `screened` samples of both stages count.
pub(super) fn check(settings: &BenchmarkSettings, budget: &Budget, side: &Side) -> BudgetOutcome {
    let values: Vec<f64> = match budget.metric {
        Metric::Throughput => side.runs.iter().filter_map(throughput::rate).collect(),
        ref metric => side.runs.iter().filter_map(|run| run.values.get(metric)).collect(),
    };
    let finite = values.iter().all(|value| value.is_finite());
    let actual = if finite { aggregate(budget.aggregation, &values) } else { None };
    let declared = settings.metrics.get(&budget.metric).map(|metric| metric.unit.clone());
    let mut outcome = BudgetOutcome {
        budget: budget.clone(),
        revision: side.revision.clone(),
        unit: budget.metric.unit().or(declared).unwrap_or(Unit::Own("".into())),
        actual,
        status: BudgetStatus::NoData,
        reason: Some(if finite { Reason::NoSamples } else { Reason::NonFinite }),
        samples: values.len(),
        few_tail_samples: values.len() < tail_samples(budget.aggregation) as usize,
    };
    let Some(actual) = actual else { return outcome };
    let holds = |value: f64| holds(value, budget.operator, budget.limit);
    (outcome.status, outcome.reason) =
        (if holds(actual) { BudgetStatus::Pass } else { BudgetStatus::Fail }, None);
    let floor = if budget.metric == Metric::PeakRss { floor::of(&side.runs) } else { 0.0 };
    if 0.0 < floor && actual <= floor {
        let upper_bound = matches!(budget.operator, Operator::Less | Operator::LessOrEqual);
        (outcome.status, outcome.reason) = if upper_bound && holds(floor) {
            (BudgetStatus::Pass, None)
        } else {
            (BudgetStatus::Skipped, Some(Reason::AtFloor))
        };
    }
    outcome
}

/// What a budget makes of the benchmark's result. A budget that could not be assessed is an error of its metric; one
/// whose metric cannot be measured here, where that is allowed, has no effect.
pub fn effect(outcome: &BudgetOutcome) -> BenchResult {
    match (outcome.status, outcome.reason) {
        (BudgetStatus::Fail, _) => BenchResult::OverBudget,
        (BudgetStatus::NoData, _) | (BudgetStatus::Skipped, Some(Reason::AtFloor)) => {
            BenchResult::MetricError
        }
        (BudgetStatus::Pass | BudgetStatus::Skipped, _) => BenchResult::Pass,
    }
}

fn aggregate(aggregation: Aggregation, values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    match aggregation {
        Aggregation::Min => sorted.first().copied(),
        Aggregation::Max => sorted.last().copied(),
        Aggregation::Mean => mean(values),
        Aggregation::Median => median(&sorted),
        Aggregation::Percentile(percent) => quantile(&sorted, percent / 100.0),
    }
}

fn holds(value: f64, operator: Operator, limit: f64) -> bool {
    match operator {
        Operator::Less => value < limit,
        Operator::LessOrEqual => value <= limit,
        Operator::Greater => limit < value,
        Operator::GreaterOrEqual => limit <= value,
    }
}
