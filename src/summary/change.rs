//! Which row changed at all, which way, and how much: the one definition of significance that every format shows.

use serde::{Deserialize, Serialize};

use crate::suite::metric::Better;
use crate::suite::settings::word_enum;
use crate::verdict::outcome::{Comparison, Reason, Verdict};

/// Rows whose dispersion is above this ratio need [`NOISY_FACTOR`] times the smallest change.
const NOISY_DISPERSION: f64 = 0.05;
const NOISY_FACTOR: f64 = 10.0;

word_enum! {
    /// Which way a row changed.
    Direction {
        /// Worse: slower, larger, more.
        Regression = "regression",
        /// Better.
        Improvement = "improvement",
    }
}

word_enum! {
    /// How large an observed change is; a change on an edge has the higher class.
    Magnitude {
        /// From the smallest change that counts (0.2 %).
        Small = "small",
        /// From 1 %.
        Medium = "medium",
        /// From 4 %.
        Large = "large",
        /// From 10 %.
        VeryLarge = "very_large",
    }
}

impl Magnitude {
    /// The class of a change in per cent, whatever its sign; `None` below the smallest change that counts.
    pub fn of(change_percent: f64, min_change_percent: f64) -> Option<Self> {
        match change_percent.abs() {
            size if size.is_nan() || size < min_change_percent => None,
            size if size < 1.0 => Some(Self::Small),
            size if size < 4.0 => Some(Self::Medium),
            size if size < 10.0 => Some(Self::Large),
            _ => Some(Self::VeryLarge),
        }
    }

    /// The word of texts.
    pub fn words(self) -> &'static str {
        match self {
            Self::VeryLarge => "very large",
            other => other.as_str(),
        }
    }
}

/// One row that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Which way.
    pub direction: Direction,
    /// How much.
    pub magnitude: Magnitude,
}

/// The smallest change in per cent at which a row may vote: wider where its samples scatter.
pub fn threshold(comparison: &Comparison, min_change_percent: f64) -> f64 {
    let details = &comparison.details;
    let dispersions = [
        comparison.base_dispersion.or(details.base_robust_cv),
        comparison.head_dispersion.or(details.head_robust_cv),
    ];
    let noisy = dispersions.into_iter().flatten().any(|dispersion| NOISY_DISPERSION < dispersion);
    if noisy { min_change_percent * NOISY_FACTOR } else { min_change_percent }
}

/// Whether, and how, a row changed: its interval excludes 0 (a count needs none), and the change is at least the
/// threshold and `min_difference`. The gate's own verdict has no say.
pub fn significant(comparison: &Comparison, min_change_percent: f64) -> Option<Change> {
    if comparison.verdict == Verdict::Skipped {
        return None;
    }
    if comparison.reason == Some(Reason::FromZero) {
        let direction = direction(comparison.better, 1.0);
        return Some(Change { direction, magnitude: Magnitude::VeryLarge });
    }
    let change = comparison.change_percent?;
    let magnitude = Magnitude::of(change, min_change_percent)?;
    if change.abs() < threshold(comparison, min_change_percent) {
        return None;
    }
    let difference = comparison.compared_difference().map_or(f64::INFINITY, f64::abs);
    if difference < comparison.min_difference || difference == 0.0 {
        return None;
    }
    if comparison.reason != Some(Reason::Exact) {
        let (low, high) = comparison.ci_low_percent.zip(comparison.ci_high_percent)?;
        if low <= 0.0 && 0.0 <= high {
            return None;
        }
    }
    Some(Change { direction: direction(comparison.better, change), magnitude })
}

fn direction(better: Better, change: f64) -> Direction {
    match (better, 0.0 < change) {
        (Better::Lower, true) | (Better::Higher, false) => Direction::Regression,
        (Better::Lower, false) | (Better::Higher, true) => Direction::Improvement,
    }
}
