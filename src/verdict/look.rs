//! One look at the samples of a comparison: what the judge makes of the change, and the ten rows of that.

use crate::stats::describe::{cv, mean, robust_cv};
use crate::stats::quantile::{median, sorted};
use crate::suite::metric::Better;
use crate::suite::settings::{JudgeSettings, Method, MetricSettings, Preset, Statistic};

use super::bootstrap::Bootstrap;
use super::outcome::{PairingUsed, Reason, Verdict};
use super::pairing::Chosen;
use super::rank::{self, PValues};
use super::samples::Samples;
use super::table::{Claims, Limits, Needed, Observed, decide};

/// What is asked of the samples.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) judge: &'a JudgeSettings,
    pub(super) metric: &'a MetricSettings,
    pub(super) needed: Needed,
    /// Whether what lies exactly at the tolerance argues against a pass too, not only against a regression.
    pub(super) ties_argue_against: bool,
    /// Whether the interval is wanted; it decides nothing.
    pub(super) interval: bool,
    /// Of the random resamples.
    pub(super) key: [u8; 32],
}

/// What one look saw and decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) verdict: Verdict,
    pub(super) reason: Option<Reason>,
    /// Whether no further look is needed.
    pub(super) settled: bool,
    pub(super) base: Option<f64>,
    pub(super) head: Option<f64>,
    pub(super) difference: Option<f64>,
    pub(super) change_percent: Option<f64>,
    /// Central, at the judge's confidence.
    pub(super) interval_percent: Option<[f64; 2]>,
    pub(super) claims: Option<Claims>,
    pub(super) p_values: Option<PValues>,
    pub(super) dispersions: Option<[f64; 2]>,
    pub(super) pair_dispersion: Option<f64>,
    pub(super) correlation: Option<f64>,
    pub(super) pairing: Option<PairingUsed>,
}

impl Look {
    /// A verdict without numbers.
    pub(super) fn bare((verdict, reason): (Verdict, Option<Reason>)) -> Self {
        Self {
            verdict,
            reason,
            settled: false,
            base: None,
            head: None,
            difference: None,
            change_percent: None,
            interval_percent: None,
            claims: None,
            p_values: None,
            dispersions: None,
            pair_dispersion: None,
            correlation: None,
            pairing: None,
        }
    }
}

/// The change as the judge sees it.
struct Change {
    ratio: Option<f64>,
    interval: Option<[f64; 2]>,
    claims: Option<Claims>,
    /// The claim "not worse than `min_difference`", where that is more than the tolerance.
    within_min_difference: Option<f64>,
    p_values: Option<PValues>,
}

/// Looks at finite samples.
pub(super) fn look(question: &Question<'_>, samples: &Samples) -> Look {
    let judge = question.judge;
    let (base_sorted, head_sorted) = (sorted(&samples.base), sorted(&samples.head));
    let statistic = |values: &[f64], sorted: &[f64]| match judge.statistic {
        Statistic::Median => median(sorted),
        Statistic::Mean => mean(values),
    };
    let (Some(base), Some(head)) =
        (statistic(&samples.base, &base_sorted), statistic(&samples.head, &head_sorted))
    else {
        return Look::bare(decide(&limits(question), &nothing(samples)));
    };
    let dispersions = match judge.statistic {
        Statistic::Median => [robust_cv(&base_sorted), robust_cv(&head_sorted)],
        Statistic::Mean => [cv(&samples.base), cv(&samples.head)],
    };
    let chosen = Chosen::of(judge, samples);
    let pair_dispersion = chosen.dispersion();
    let change =
        (0.0 < base).then(|| change(question, samples, [&base_sorted, &head_sorted], [base, head], &chosen));
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let change_percent = change.as_ref().and_then(|change| change.ratio).map(percent);
    let own_estimate = chosen.logs.is_some() || by_ranks(judge);
    let observed = Observed {
        samples: samples.counts(),
        base: Some(base),
        change_percent,
        // Where the change is not that of the two statistics, neither is the difference that counts.
        difference: match change_percent {
            Some(percent) if own_estimate => base * percent / 100.0,
            _ => head - base,
        },
        dispersion: pair_dispersion.unwrap_or(dispersions[0].max(dispersions[1])),
        separated: separated(&base_sorted, &head_sorted),
        claims: change.as_ref().and_then(|change| change.claims),
        without_claims: if by_ranks(judge) { Reason::NonPositive } else { Reason::ZeroBootstrapBase },
    };
    let (verdict, reason) = decide(&limits(question), &observed);
    let within = change.as_ref().and_then(|change| change.within_min_difference);
    let settled = match (verdict, reason) {
        // Small now is not small for good: sure of it, or look again.
        (Verdict::Pass, Some(_)) => within.is_some_and(|claim| question.needed.not_worse <= claim),
        (Verdict::Pass | Verdict::Improved | Verdict::Regression, None) => true,
        _ => false,
    };
    Look {
        verdict,
        reason,
        settled,
        base: Some(base),
        head: Some(head),
        difference: Some(head - base),
        change_percent,
        interval_percent: change.as_ref().and_then(|change| change.interval).map(|ends| ends.map(percent)),
        claims: observed.claims,
        p_values: change.as_ref().and_then(|change| change.p_values),
        dispersions: Some(dispersions),
        pair_dispersion,
        correlation: chosen.correlation,
        pairing: observed.claims.map(|_| match chosen.logs {
            Some(_) => PairingUsed::Paired,
            None => PairingUsed::Independent,
        }),
    }
}

fn change(
    question: &Question<'_>,
    samples: &Samples,
    sorted: [&[f64]; 2],
    statistics: [f64; 2],
    chosen: &Chosen,
) -> Change {
    let tolerance = question.metric.max_percent;
    // What `min_difference` is of base, in per cent: within it, a change beyond the tolerance passes all the same.
    let floor = question.metric.min_difference / statistics[0] * 100.0;
    let floor = (0.0 < floor).then_some(floor.max(tolerance));
    if !by_ranks(question.judge) {
        let law = Bootstrap::of(question, samples, sorted, statistics, chosen);
        return Change {
            ratio: Some(law.ratio),
            interval: if question.interval { law.interval() } else { None },
            claims: law.claims(tolerance),
            within_min_difference: floor.and_then(|floor| law.claims(floor)).map(|claims| claims.not_worse),
            p_values: None,
        };
    }
    let Some(ratio) = rank::estimate(sorted, chosen) else {
        let ratio = Some(statistics[1] / statistics[0]);
        return Change { ratio, interval: None, claims: None, within_min_difference: None, p_values: None };
    };
    let p_values = rank::p_values(question, sorted, chosen, tolerance);
    let interval = || rank::interval(sorted, chosen, question.judge.confidence);
    Change {
        ratio: Some(ratio),
        interval: if question.interval { interval() } else { None },
        claims: Some(p_values.claims()),
        within_min_difference: floor
            .map(|floor| rank::p_values(question, sorted, chosen, floor).claims().not_worse),
        p_values: Some(p_values),
    }
}

/// Whether the change is the estimate of a rank test. Preset `effect` tests by ranks, but shows the ratio of medians.
fn by_ranks(judge: &JudgeSettings) -> bool {
    judge.method == Method::Rank && judge.preset != Preset::Effect
}

/// The ratios at which a metric is worse, and better, by so many per cent.
pub(super) fn thresholds(metric: &MetricSettings, percent: f64) -> (f64, f64) {
    let step = percent / 100.0;
    match metric.better {
        Better::Lower => (1.0 + step, 1.0 - step),
        Better::Higher => (1.0 - step, 1.0 + step),
    }
}

fn limits(question: &Question<'_>) -> Limits {
    Limits {
        better: question.metric.better,
        max_percent: question.metric.max_percent,
        min_difference: question.metric.min_difference,
        min_samples: question.judge.min_samples,
        max_cv: question.judge.max_cv,
        needed: question.needed,
    }
}

/// What there is to see where a side has no samples.
fn nothing(samples: &Samples) -> Observed {
    Observed {
        samples: samples.counts(),
        base: None,
        change_percent: None,
        difference: 0.0,
        dispersion: 0.0,
        separated: false,
        claims: None,
        without_claims: Reason::NoSamples,
    }
}

/// Whether the ranges of two ascending samples, all positive, do not touch.
fn separated(base: &[f64], head: &[f64]) -> bool {
    match (base, head) {
        ([base_min, ..], [head_min, ..]) if 0.0 < *base_min && 0.0 < *head_min => {
            base[base.len() - 1] < *head_min || head[head.len() - 1] < *base_min
        }
        _ => false,
    }
}
