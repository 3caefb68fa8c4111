//! Whether what was simulated agrees with what was published.

use super::simulate::{Cell, Tally};
use super::words;

/// Agreement is within so many standard errors of the difference.
const STANDARD_ERRORS: f64 = 4.0;

/// A share of 0 or 100 % has no standard error of its own: it gets that of this share.
const LEAST_SHARE: f64 = 0.005;

/// Half of the last published digit of a mean.
const HALF_A_DIGIT: f64 = 0.05;

words! {
    /// What is compared of a cell.
    Quantity {
        /// Share of trials, in per cent.
        Regression = "regression",
        /// Share of trials, in per cent.
        Improved = "improved",
        /// Share of trials, in per cent.
        Pass = "pass",
        /// Share of trials, in per cent.
        Inconclusive = "inconclusive",
        /// Share of trials that the noise gate stopped, in per cent.
        Noisy = "too noisy",
        /// Share of runs with any false regression, in per cent.
        AnyFalse = "any false",
        /// Share of the benchmarks slower by the tolerance and 15 points that were called, in per cent.
        FoundLarge = "+15 found",
        /// The same of 5 points.
        FoundSmall = "+5 found",
        /// Share of intervals that hold the true change, in per cent.
        Covered = "covered",
        /// Samples a side at the verdict, on average.
        MeanRuns = "mean n",
    }
}

/// What a quantity should be: shares in per cent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    /// Published from so many trials; `digit` is the step of the published figure.
    Is { value: f64, trials: u64, digit: f64 },
    /// Published with its own margin: only our trials add to it.
    Within { value: f64, margin: f64 },
    /// A published upper bound.
    AtMost { value: f64, trials: u64 },
    /// A published lower bound.
    AtLeast { value: f64, trials: u64 },
    /// A published range.
    Between { low: f64, high: f64 },
}

impl Target {
    pub(crate) fn value(self) -> f64 {
        match self {
            Self::Is { value, .. }
            | Self::Within { value, .. }
            | Self::AtMost { value, .. }
            | Self::AtLeast { value, .. } => value,
            Self::Between { low, high } => f64::midpoint(low, high),
        }
    }
}

/// One comparison with the publication.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Check {
    pub(crate) quantity: Quantity,
    pub(crate) target: Target,
}

/// One row of a target table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The table and the place in it.
    pub(crate) id: String,
    /// The name of the rule.
    pub(crate) rule: &'static str,
    pub(crate) cell: Cell,
    /// Trials of a full run.
    pub(crate) trials: u64,
    pub(crate) checks: Vec<Check>,
}

/// How a check came out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) check: Check,
    /// A share in per cent, or a mean.
    pub(crate) seen: f64,
    /// How far off it may be.
    pub(crate) allowed: f64,
    pub(crate) off: bool,
}

/// Compares a share in per cent, from so many trials, with its target.
pub(crate) fn compare_share(quantity: Quantity, seen: f64, trials: u64, target: Target) -> Outcome {
    let share = (target.value() / 100.0).clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
    let published = match target {
        Target::Is { trials, .. } | Target::AtMost { trials, .. } | Target::AtLeast { trials, .. } => {
            1.0 / trials as f64
        }
        Target::Within { .. } | Target::Between { .. } => 0.0,
    };
    let error = 100.0 * (share * (1.0 - share) * (1.0 / trials as f64 + published)).sqrt();
    judge(Check { quantity, target }, seen, STANDARD_ERRORS * error)
}

/// Compares one quantity of a tally with its target.
pub(crate) fn compare(check: Check, tally: &Tally) -> Outcome {
    let count = match check.quantity {
        Quantity::Regression => tally.regression,
        Quantity::Improved => tally.improved,
        Quantity::Pass => tally.pass,
        Quantity::Inconclusive => tally.inconclusive,
        Quantity::Noisy => tally.noisy,
        Quantity::Covered => tally.covered,
        Quantity::MeanRuns => return compare_mean(check, tally),
        Quantity::AnyFalse | Quantity::FoundLarge | Quantity::FoundSmall => 0, // Of whole runs, not of one cell.
    };
    let share = 100.0 * count as f64 / tally.trials as f64;
    compare_share(check.quantity, share, tally.trials, check.target)
}

fn compare_mean(check: Check, tally: &Tally) -> Outcome {
    let published = match check.target {
        Target::Is { trials, .. } => 1.0 / trials as f64,
        _ => 0.0,
    };
    let error = tally.sd_runs() * (1.0 / tally.trials as f64 + published).sqrt();
    judge(check, tally.mean_runs(), STANDARD_ERRORS * error + HALF_A_DIGIT)
}

fn judge(check: Check, seen: f64, allowed: f64) -> Outcome {
    let distance = seen - check.target.value();
    let (allowed, off) = match check.target {
        Target::Is { digit, .. } => {
            // A figure published in whole per cent may itself be half of one off; in tenths that is nothing.
            let allowed = if 0.5 < digit { allowed + digit / 2.0 } else { allowed };
            (allowed, allowed < distance.abs())
        }
        Target::Within { margin, .. } => (allowed + margin, allowed + margin < distance.abs()),
        Target::AtMost { .. } => (allowed, allowed < distance),
        Target::AtLeast { .. } => (allowed, allowed < -distance),
        Target::Between { low, high } => {
            let allowed = (high - low) / 2.0;
            (allowed, allowed < distance.abs())
        }
    };
    Outcome { check, seen, allowed, off }
}
