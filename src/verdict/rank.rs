//! The rank judge: signed-rank of the pairs, or Mann-Whitney of the sides, tested at the tolerance.

use crate::stats::binomial;
use crate::stats::mann_whitney::{self, doubled_u_below};
use crate::stats::signed_rank;
use crate::suite::metric::Better;

use super::look::{Question, thresholds};
use super::pairing::Chosen;
use super::table::Claims;

/// Values this close to the tolerance, relative to it, are at it.
const TIE_SLACK: f64 = 1e-11;

/// One-sided p-values at a tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PValues {
    /// Small for a regression.
    pub(super) regression: f64,
    /// Small for an improvement.
    pub(super) improvement: f64,
    /// Small for a pass.
    pub(super) pass: f64,
}

impl PValues {
    /// The claims they support.
    pub(super) fn claims(&self) -> Claims {
        Claims { worse: 1.0 - self.regression, better: 1.0 - self.improvement, not_worse: 1.0 - self.pass }
    }
}

/// The tests at a tolerance in per cent. Both sides ascending and not empty.
pub(super) fn p_values(
    question: &Question<'_>,
    sorted: [&[f64]; 2],
    chosen: &Chosen,
    percent: f64,
) -> PValues {
    let (worse_at, better_at) = thresholds(question.metric, percent);
    let above = |ratio| p_above(sorted, chosen, ratio);
    let below = |ratio| p_below(sorted, chosen, ratio);
    match question.metric.better {
        Better::Lower => {
            PValues { regression: above(worse_at), improvement: below(better_at), pass: below(worse_at) }
        }
        Better::Higher => {
            PValues { regression: below(worse_at), improvement: above(better_at), pass: above(worse_at) }
        }
    }
}

/// The tests of a confirmation: those of [`p_values`], and for pairs the sign test beside them, the smaller of both doubled
/// (Bonferroni). The signed-rank test is the stronger one for even noise, but a few runs that were preempted have the
/// largest ranks and can hide a plain slowdown from it; the sign test does not see how large a difference is.
pub(super) fn confirming(
    question: &Question<'_>,
    sorted: [&[f64]; 2],
    chosen: &Chosen,
    percent: f64,
) -> PValues {
    let ranks = p_values(question, sorted, chosen, percent);
    let Some(logs) = &chosen.logs else { return ranks };
    let (worse_at, better_at) = thresholds(question.metric, percent);
    let above =
        |ratio: f64| if ratio <= 0.0 { 0.0 } else { sign_test(logs.iter().map(|log| log - ratio.ln())) };
    let below =
        |ratio: f64| if ratio <= 0.0 { 1.0 } else { sign_test(logs.iter().map(|log| ratio.ln() - log)) };
    let signs = match question.metric.better {
        Better::Lower => {
            PValues { regression: above(worse_at), improvement: below(better_at), pass: below(worse_at) }
        }
        Better::Higher => {
            PValues { regression: below(worse_at), improvement: above(better_at), pass: above(worse_at) }
        }
    };
    let either = |one: f64, other: f64| (2.0 * one.min(other)).min(1.0);
    PValues {
        regression: either(ranks.regression, signs.regression),
        improvement: either(ranks.improvement, signs.improvement),
        pass: either(ranks.pass, signs.pass),
    }
}

/// P that at least so many of fair coins fall on the positive side. A difference of 0 argues against.
fn sign_test(differences: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = differences.len();
    binomial::at_least(count, 0.5, differences.filter(|difference| TIE_SLACK < *difference).count())
}

/// Small when head / base lies above the ratio.
fn p_above([base, head]: [&[f64]; 2], chosen: &Chosen, ratio: f64) -> f64 {
    match &chosen.logs {
        Some(_) if ratio <= 0.0 => 0.0,
        Some(logs) => {
            let limit = ratio.ln();
            let short: Vec<f64> = logs.iter().map(|log| limit - log).collect();
            signed_rank::p_positive_at_most(&short, TIE_SLACK)
        }
        None => {
            let doubled = doubled_u_below(base, head, ratio, TIE_SLACK);
            mann_whitney::null_at_most(base.len(), head.len(), doubled.div_ceil(2) as f64)
        }
    }
}

/// Small when head / base lies below the ratio.
fn p_below([base, head]: [&[f64]; 2], chosen: &Chosen, ratio: f64) -> f64 {
    match &chosen.logs {
        Some(_) if ratio <= 0.0 => 1.0,
        Some(logs) => {
            let limit = ratio.ln();
            let beyond: Vec<f64> = logs.iter().map(|log| log - limit).collect();
            signed_rank::p_positive_at_most(&beyond, TIE_SLACK)
        }
        None => {
            let all = 2 * base.len() as u64 * head.len() as u64;
            let doubled = all - doubled_u_below(base, head, ratio, TIE_SLACK);
            mann_whitney::null_at_most(base.len(), head.len(), doubled.div_ceil(2) as f64)
        }
    }
}

/// The Hodges-Lehmann estimate of head / base; `None` where a value has no logarithm.
pub(super) fn estimate(sorted: [&[f64]; 2], chosen: &Chosen) -> Option<f64> {
    match &chosen.logs {
        Some(logs) => Some(signed_rank::centre(logs).exp()),
        None => {
            let [base, head] = logs_of(sorted)?;
            Some(mann_whitney::shift(&base, &head).exp())
        }
    }
}

/// The bounds of the estimate, each one-sided at half of what is left of the confidence. An end the samples are too
/// small for is infinite.
pub(super) fn interval(sorted: [&[f64]; 2], chosen: &Chosen, confidence: f64) -> Option<[f64; 2]> {
    let level = (1.0 - confidence) / 2.0;
    let bounds = match &chosen.logs {
        Some(logs) => signed_rank::centre_bounds(logs, level)?,
        None => {
            let [base, head] = logs_of(sorted)?;
            mann_whitney::shift_bounds(&base, &head, level)
        }
    };
    Some(bounds.map(f64::exp))
}

/// The logarithms of two ascending samples, where all are positive.
fn logs_of(sorted: [&[f64]; 2]) -> Option<[Vec<f64>; 2]> {
    let positive = sorted.iter().all(|side| side.first().is_some_and(|first| 0.0 < *first));
    positive.then(|| sorted.map(|side| side.iter().map(|value| value.ln()).collect()))
}
