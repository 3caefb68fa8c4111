//! One look at the samples of a comparison: the law of the change, and what the ten rows make of it.

use crate::stats::describe::{cv, mean, robust_cv};
use crate::stats::draws::{Draws, Taken};
use crate::stats::law::ChangeLaw;
use crate::stats::quantile::{median, sorted};
use crate::stats::ratio_law::RatioLaw;
use crate::suite::metric::Better;
use crate::suite::settings::{JudgeSettings, MetricSettings, Resamples, Statistic};

use super::outcome::{PairingUsed, Reason, Verdict};
use super::samples::Samples;
use super::table::{Claims, EPSILON_PERCENT, Limits, Needed, Observed, decide};

/// Resamples of a mean, which has no closed form.
const MEAN_RESAMPLES: u32 = 2_000;

/// The exact law has no comparison when base is 0 or below with more than this probability: 2 000 random resamples
/// would meet one in half of the cases.
const UNDEFINED_LIMIT: f64 = std::f64::consts::LN_2 / 2_000.0;

/// What is asked of the samples.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) judge: &'a JudgeSettings,
    pub(super) metric: &'a MetricSettings,
    pub(super) needed: Needed,
    /// Of the random resamples.
    pub(super) key: [u8; 32],
}

/// What one look saw and decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) verdict: Verdict,
    pub(super) reason: Option<Reason>,
    pub(super) base: Option<f64>,
    pub(super) head: Option<f64>,
    pub(super) difference: Option<f64>,
    pub(super) change_percent: Option<f64>,
    /// Central, at the judge's confidence.
    pub(super) interval_percent: Option<[f64; 2]>,
    pub(super) probability_regression: Option<f64>,
    pub(super) probability_improvement: Option<f64>,
    pub(super) dispersions: Option<[f64; 2]>,
    pub(super) pairing: Option<PairingUsed>,
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
        return empty(decide_nothing(question, samples));
    };
    let dispersions = match judge.statistic {
        Statistic::Median => [robust_cv(&base_sorted), robust_cv(&head_sorted)],
        Statistic::Mean => [cv(&samples.base), cv(&samples.head)],
    };
    let difference = head - base;
    let change_percent = (0.0 < base).then(|| (head / base - 1.0) * 100.0);
    let law = (0.0 < base).then(|| law(question, samples, [&base_sorted, &head_sorted])).flatten();
    let claims = law.as_deref().map(|law| claims(question.metric, law));
    let observed = Observed {
        samples: samples.counts(),
        base: Some(base),
        change_percent,
        difference,
        dispersion: dispersions[0].max(dispersions[1]),
        separated: separated(&base_sorted, &head_sorted),
        claims,
    };
    let (verdict, reason) = decide(&limits(question), &observed);
    Look {
        verdict,
        reason,
        base: Some(base),
        head: Some(head),
        difference: Some(difference),
        change_percent,
        interval_percent: law.as_deref().map(|law| interval(law, judge.confidence)),
        probability_regression: claims.map(|claims| claims.worse),
        probability_improvement: claims.map(|claims| claims.better),
        dispersions: Some(dispersions),
        pairing: law.is_some().then_some(PairingUsed::Independent),
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

/// The verdict where a side has no samples.
fn decide_nothing(question: &Question<'_>, samples: &Samples) -> (Verdict, Option<Reason>) {
    let observed = Observed {
        samples: samples.counts(),
        base: None,
        change_percent: None,
        difference: 0.0,
        dispersion: 0.0,
        separated: false,
        claims: None,
    };
    decide(&limits(question), &observed)
}

fn empty((verdict, reason): (Verdict, Option<Reason>)) -> Look {
    Look {
        verdict,
        reason,
        base: None,
        head: None,
        difference: None,
        change_percent: None,
        interval_percent: None,
        probability_regression: None,
        probability_improvement: None,
        dispersions: None,
        pairing: None,
    }
}

/// The law of the ratio head / base; `None` where a resample of base can be 0 or below.
fn law(question: &Question<'_>, samples: &Samples, sorted: [&[f64]; 2]) -> Option<Box<dyn ChangeLaw>> {
    let draws = |taken, count| -> Option<Box<dyn ChangeLaw>> {
        Some(Box::new(Draws::independent(&samples.base, &samples.head, taken, count, question.key)?))
    };
    match (question.judge.statistic, question.judge.resamples) {
        (Statistic::Median, Resamples::Exact) => {
            let law = RatioLaw::of_medians(sorted[0], sorted[1])?;
            (law.undefined() <= UNDEFINED_LIMIT).then(|| Box::new(law) as Box<dyn ChangeLaw>)
        }
        (Statistic::Median, Resamples::MonteCarlo(count)) => draws(Taken::Median, count),
        (Statistic::Mean, Resamples::Exact) => draws(Taken::Mean, MEAN_RESAMPLES),
        (Statistic::Mean, Resamples::MonteCarlo(count)) => draws(Taken::Mean, count),
    }
}

/// The ratios at which a metric is worse, and better, by exactly what is accepted.
fn thresholds(metric: &MetricSettings) -> (f64, f64) {
    let step = (metric.max_percent + EPSILON_PERCENT) / 100.0;
    match metric.better {
        Better::Lower => (1.0 + step, 1.0 - step),
        Better::Higher => (1.0 - step, 1.0 + step),
    }
}

fn claims(metric: &MetricSettings, law: &dyn ChangeLaw) -> Claims {
    let (worse_at, better_at) = thresholds(metric);
    let (worse, better) = match metric.better {
        Better::Lower => (law.above(worse_at), law.below(better_at)),
        Better::Higher => (law.below(worse_at), law.above(better_at)),
    };
    Claims { worse, better, not_worse: 1.0 - worse }
}

/// The central interval of the change in per cent.
fn interval(law: &dyn ChangeLaw, confidence: f64) -> [f64; 2] {
    let tail = (1.0 - confidence) / 2.0;
    [tail, 1.0 - tail].map(|p| (law.quantile(p) - 1.0) * 100.0)
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
