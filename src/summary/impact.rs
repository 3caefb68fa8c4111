//! One number for a run: the worst slowdown beyond a threshold, else the best speed-up beyond it, else the mean.

use super::model::{Impact, ImpactRule};

/// The impact on one benchmark: base time / head time - 1. `None` where a time is not above 0.
pub fn of_times(base: f64, head: f64) -> Option<f64> {
    let usable = |time: f64| time.is_finite() && 0.0 < time;
    (usable(base) && usable(head)).then(|| base / head - 1.0)
}

/// Geometric mean of the factors, exponent 1/n, minus 1; `None` of nothing.
pub fn geometric_mean(impacts: &[f64]) -> Option<f64> {
    if impacts.is_empty() {
        return None;
    }
    let logs: f64 = impacts.iter().map(|impact| impact.ln_1p()).sum();
    Some((logs / impacts.len() as f64).exp_m1())
}

/// The impact of a run. `sure` are the impacts that may stand for the run alone, `all` those of the mean; `threshold` is a
/// ratio of speed that must be exceeded. `None` of nothing: no data is not 0.
pub fn of_run(sure: &[f64], all: &[f64], threshold: f64) -> Option<(ImpactRule, f64)> {
    let mean = geometric_mean(all)?;
    let worst = sure.iter().copied().min_by(f64::total_cmp).filter(|&impact| impact < -threshold);
    let best = sure.iter().copied().max_by(f64::total_cmp).filter(|&impact| threshold < impact);
    Some(match (worst, best) {
        (Some(worst), _) => (ImpactRule::Worst, worst),
        (None, Some(best)) => (ImpactRule::Best, best),
        (None, None) => (ImpactRule::GeometricMean, mean),
    })
}

/// A speed impact as change of time in per cent, plus is slower; `None` where there is no speed left.
pub fn as_time_percent(speed_impact: f64) -> Option<f64> {
    // The same as 1 / (1 + impact) - 1, without losing a small one.
    let percent = -speed_impact / (1.0 + speed_impact) * 100.0;
    percent.is_finite().then_some(percent + 0.0)
}

/// Where it stands on the bar: logarithmic, so that twice as slow and twice as fast are equally far from the middle.
pub fn gauge(speed_impact: f64) -> f64 {
    let position = -speed_impact.ln_1p() / std::f64::consts::LN_2;
    if position.is_nan() { 0.0 } else { position.clamp(-1.0, 1.0) + 0.0 }
}

/// All of it, as it stands in the report.
pub(super) fn report(sure: &[f64], all: &[f64], excluded: usize, threshold: f64) -> Option<Impact> {
    let (rule, speed_impact) = of_run(sure, all, threshold)?;
    Some(Impact {
        rule,
        speed_impact,
        time_percent: as_time_percent(speed_impact),
        gauge: gauge(speed_impact),
        benchmarks: all.len(),
        excluded,
        mean_time_percent: geometric_mean(all).and_then(as_time_percent),
    })
}
