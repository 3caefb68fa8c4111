//! The ten rows that turn one look at a comparison into a verdict. The first row that matches holds.

use crate::suite::metric::Better;

use super::outcome::{Reason, Verdict};

/// In percentage points: what is this close to a limit is at the limit. 110 / 100 is a little above 1.1 in binary.
pub(super) const EPSILON_PERCENT: f64 = 1e-9;

/// Room for the rounding of sums of probabilities: equal to the wanted probability is enough.
const PROBABILITY_SLACK: f64 = 1e-12;

/// What a comparison is measured against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    pub(super) better: Better,
    pub(super) max_percent: f64,
    /// In the metric's unit; 0 is off.
    pub(super) min_difference: f64,
    /// A side.
    pub(super) min_samples: u32,
    /// A ratio; 0 is off.
    pub(super) max_cv: f64,
    pub(super) needed: Needed,
}

/// How sure each claim must be, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Needed {
    pub(super) worse: f64,
    pub(super) better: f64,
    pub(super) not_worse: f64,
}

impl Needed {
    /// One probability for all three.
    pub(super) fn all(confidence: f64) -> Self {
        Self { worse: confidence, better: confidence, not_worse: confidence }
    }
}

/// How sure the samples make each claim, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Claims {
    /// "Worse by more than accepted."
    pub(super) worse: f64,
    /// "Better by more than that."
    pub(super) better: f64,
    /// "Not worse than accepted."
    pub(super) not_worse: f64,
}

/// What one look saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observed {
    /// Of base and head.
    pub(super) samples: [usize; 2],
    /// The statistic of base, where there are samples.
    pub(super) base: Option<f64>,
    /// (head / base - 1) * 100, where base allows it.
    pub(super) change_percent: Option<f64>,
    /// What `min_difference` is compared with, in the metric's unit.
    pub(super) difference: f64,
    /// The larger dispersion of the two sides (or that of the pairs), a ratio.
    pub(super) dispersion: f64,
    /// Whether the ranges of the two sides do not touch.
    pub(super) separated: bool,
    /// `None` where the judge cannot say anything, as when a resample of base can be 0 or below.
    pub(super) claims: Option<Claims>,
    /// Why it cannot.
    pub(super) without_claims: Reason,
}

/// The verdict with its reason.
pub(super) fn decide(limits: &Limits, seen: &Observed) -> (Verdict, Option<Reason>) {
    let inconclusive = |reason| (Verdict::Inconclusive, Some(reason));
    let Some(base) = seen.base.filter(|_| !seen.samples.contains(&0)) else {
        return inconclusive(Reason::NoSamples);
    };
    if base <= 0.0 {
        return inconclusive(Reason::ZeroBase);
    }
    if seen.samples.iter().any(|&samples| samples < limits.min_samples as usize) {
        return inconclusive(Reason::FewSamples);
    }
    if 0.0 < limits.max_cv && limits.max_cv < seen.dispersion && !seen.separated {
        return inconclusive(Reason::Noisy);
    }
    let (Some(claims), Some(change)) = (seen.claims, seen.change_percent) else {
        return inconclusive(seen.without_claims);
    };
    if 0.0 < limits.min_difference && seen.difference.abs() < limits.min_difference {
        return (Verdict::Pass, Some(Reason::BelowMinDifference));
    }
    let degradation = degradation(limits.better, change);
    if limits.max_percent + EPSILON_PERCENT < degradation && enough(claims.worse, limits.needed.worse) {
        return (Verdict::Regression, None);
    }
    if degradation < -limits.max_percent - EPSILON_PERCENT && enough(claims.better, limits.needed.better) {
        return (Verdict::Improved, None);
    }
    if enough(claims.not_worse, limits.needed.not_worse) {
        return (Verdict::Pass, None);
    }
    inconclusive(Reason::TooClose)
}

/// How much worse a change is, in per cent: negative is better.
pub(super) fn degradation(better: Better, change_percent: f64) -> f64 {
    match better {
        Better::Lower => change_percent,
        Better::Higher => -change_percent,
    }
}

fn enough(probability: f64, needed: f64) -> bool {
    needed <= probability + PROBABILITY_SLACK
}
