//! Throughput: the mirror image of latency. Never judged on its own, never gated, never counted.

use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::settings::MetricSettings;

use super::evidence::{Evidence, Side, UnitRun};
use super::outcome::{Comparison, Details, Reason, Verdict};

const NANOSECONDS_A_SECOND: f64 = 1e9;

/// The work units per second of one run, where it states its work.
pub(super) fn rate(run: &UnitRun) -> Option<f64> {
    if let Some(rate) = run.values.get(&Metric::Throughput) {
        return Some(rate);
    }
    let latency = run.values.get(&Metric::Latency).filter(|&latency| 0.0 < latency)?;
    Some(run.work? / (latency / NANOSECONDS_A_SECOND)).filter(|rate| rate.is_finite())
}

/// The change of a rate that belongs to a change of latency, in per cent; its own inverse.
pub(super) fn mirrored(percent: f64) -> f64 {
    -100.0 * percent / (100.0 + percent)
}

/// The throughput row beside a latency comparison; `None` where no run states its work and nobody asked.
pub(super) fn derive(
    evidence: &Evidence,
    base: &Side,
    head: &Side,
    latency: &Comparison,
) -> Option<Comparison> {
    // Runs that only count instructions have no part in it.
    let has_rate = |run: &&UnitRun| {
        run.values.get(&Metric::Latency).is_some() || run.values.get(&Metric::Throughput).is_some()
    };
    let runs = || base.runs.iter().chain(&head.runs).filter(has_rate);
    let settings = evidence.settings.metrics.get(&Metric::Throughput);
    let asked = settings.is_some_and(|settings| settings.asked_for);
    if !asked && runs().all(|run| run.work.is_none()) {
        return None;
    }
    let mut row = Comparison {
        metric: Metric::Throughput,
        unit: unit(settings),
        better: Better::Higher,
        max_percent: -mirrored(latency.max_percent),
        min_difference: 0.0,
        gate: false,
        derived_from: Some(Metric::Latency),
        acceptance: None,
        details: details(&latency.details, None),
        ..latency.clone()
    };
    let work = match constant_work(runs()) {
        Ok(work) => work,
        Err(reason) => return Some(skipped(row, reason)),
    };
    if latency.verdict == Verdict::Skipped {
        return Some(skipped(row, Reason::NotMeasured));
    }
    let rate = |latency: Option<f64>| latency.map(|latency| work / (latency / NANOSECONDS_A_SECOND));
    let not_positive = |value: Option<f64>, limit: f64| value.is_some_and(|value| value <= limit);
    if not_positive(latency.base, 0.0)
        || not_positive(latency.head, 0.0)
        || not_positive(latency.ci_low_percent, -100.0)
    {
        return Some(skipped(row, Reason::NonPositiveLatency));
    }
    row.details = details(&latency.details, Some(work));
    row.base = rate(latency.base);
    row.head = rate(latency.head);
    row.difference = row.head.zip(row.base).map(|(head, base)| head - base);
    row.change_percent = latency.change_percent.map(mirrored);
    row.ci_low_percent = latency.ci_high_percent.map(mirrored);
    row.ci_high_percent = latency.ci_low_percent.map(mirrored);
    Some(row)
}

/// What holds of the rate as well: how it was decided, and the medians, where the work is known. The mean of rates is not
/// the rate of the mean, and their spread is not that of the times.
fn details(latency: &Details, work: Option<f64>) -> Details {
    let rate = |latency: Option<f64>| {
        let rate = work? / (latency.filter(|latency| 0.0 < *latency)? / NANOSECONDS_A_SECOND);
        Some(rate).filter(|rate| rate.is_finite())
    };
    Details {
        base_median: rate(latency.base_median),
        head_median: rate(latency.head_median),
        base_mean: None,
        head_mean: None,
        cliffs_delta: latency.cliffs_delta.map(|delta| -delta),
        base_outliers: None,
        head_outliers: None,
        base_robust_cv: None,
        head_robust_cv: None,
        base_autocorrelation: None,
        head_autocorrelation: None,
        ..latency.clone()
    }
}

fn unit(settings: Option<&MetricSettings>) -> Unit {
    settings.map_or(Unit::PerSecond, |settings| settings.unit.clone())
}

/// The work of every run, when it is one and the same everywhere.
fn constant_work<'a>(runs: impl Iterator<Item = &'a UnitRun>) -> Result<f64, Reason> {
    let mut common: Option<f64> = None;
    for run in runs {
        let work = run.work.filter(|work| work.is_finite() && 0.0 < *work).ok_or(Reason::NotMeasured)?;
        match common {
            Some(known) if known.total_cmp(&work).is_ne() => return Err(Reason::WorkDiffers),
            _ => common = Some(work),
        }
    }
    common.ok_or(Reason::NotMeasured)
}

/// A row without numbers.
fn skipped(row: Comparison, reason: Reason) -> Comparison {
    Comparison {
        base: None,
        head: None,
        difference: None,
        change_percent: None,
        ci_low_percent: None,
        ci_high_percent: None,
        probability_regression: None,
        probability_improvement: None,
        verdict: Verdict::Skipped,
        reason: Some(reason),
        samples_needed: None,
        acceptance: None,
        ..row
    }
}
