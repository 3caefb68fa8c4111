//! Statuses of a benchmark against its own past, and verdicts of a result against a baseline: seed document 1, exactly.

use serde::{Deserialize, Serialize};

use super::lookback::{Distribution, Row, distribution, z_score};
use super::tolerance::{Floors, Tolerance};
use crate::suite::metric::Better;
use crate::suite::settings::word_enum;

/// Results a series must hold before its newest one is judged.
pub const MIN_EARLIER: usize = 10;
/// The z-score a status needs; fixed.
pub const STATUS_Z: f64 = 2.0;
/// The smallest move from the window's mean, or from the baseline, that counts: 2 % of it.
pub const MIN_SHARE: f64 = 0.02;
/// Standard deviations a contender must be away from its baseline.
pub const BASELINE_Z: f64 = 3.0;
/// The z-score a comparison needs by default.
pub const DEFAULT_Z: f64 = 2.0;
/// The pairwise change in per cent that is pointed out by default.
pub const DEFAULT_PERCENT: f64 = 5.0;

word_enum! {
    /// How a benchmark stands to its history; worst last.
    Status {
        /// Nothing can be said.
        Insufficient = "insufficient",
        /// Within the threshold.
        Stable = "stable",
        /// Better than its history.
        Improved = "improved",
        /// Worse than its history.
        Regressed = "regressed",
    }
}

/// One result scored against the rows before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Rows before it.
    pub earlier: usize,
    /// Mean of the window.
    pub mean: Option<f64>,
    /// Spread of the window.
    pub sd: Option<f64>,
    /// Distance from the mean in standard deviations, positive for better.
    pub z: Option<f64>,
    /// +1 or -1 where it counts as an improvement or a regression, else 0.
    pub side: i8,
}

/// The status of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The word.
    pub status: Status,
    /// The move of the newest row from the window's mean in per cent of it, positive where the value rose.
    pub change_percent: Option<f64>,
    /// The newest row.
    pub latest: Score,
    /// The row before it.
    pub previous: Option<Score>,
}

/// Whether a value is away from a reference by more than 2 % of it; from 0 any change is.
pub fn clears_share(value: f64, reference: f64) -> bool {
    MIN_SHARE * reference.abs() < (value - reference).abs()
}

/// Scores the last of the rows, which are in order, against the ones before it.
pub fn score_last(rows: &[Row], better: Better) -> Option<Score> {
    let (last, earlier) = rows.split_last()?;
    Some(score(last.value, distribution(earlier), earlier.len(), better))
}

/// Scores a value against a distribution of so many earlier rows.
pub fn score(value: f64, against: Distribution, earlier: usize, better: Better) -> Score {
    let z = against.z(value, better);
    let counts =
        |z: f64, mean: f64| MIN_EARLIER <= earlier && STATUS_Z < z.abs() && clears_share(value, mean);
    let side = match (z, against.mean) {
        (Some(z), Some(mean)) if counts(z, mean) => {
            if 0.0 < z {
                1
            } else {
                -1
            }
        }
        _ => 0,
    };
    Score { earlier, mean: against.mean, sd: against.sd, z, side }
}

/// The status of a series whose rows are in order; `None` of an empty one.
pub fn status(rows: &[Row], better: Better) -> Option<Judged> {
    let latest = score_last(rows, better)?;
    let previous = score_last(&rows[..rows.len() - 1], better);
    let status = if latest.earlier < MIN_EARLIER || latest.z.is_none() {
        Status::Insufficient
    } else if latest.side != 0 && previous.is_some_and(|previous| previous.side == latest.side) {
        if 0 < latest.side { Status::Improved } else { Status::Regressed }
    } else {
        Status::Stable
    };
    let value = rows[rows.len() - 1].value;
    Some(Judged { status, change_percent: move_percent(value, latest.mean), latest, previous })
}

/// The move from a mean in per cent of it; `None` without a mean, and from 0.
pub fn move_percent(value: f64, mean: Option<f64>) -> Option<f64> {
    let mean = mean.filter(|&mean| mean != 0.0)?;
    Some(100.0 * (value - mean) / mean.abs())
}

/// The thresholds of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// The z-score that must be crossed, above 0.
    pub z: f64,
    /// The pairwise change that is pointed out, in per cent, above 0.
    pub percent: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { z: DEFAULT_Z, percent: DEFAULT_PERCENT }
    }
}

/// The percent difference to one baseline result. It shows how large a change is and never sets a status.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pairwise {
    /// In per cent of the baseline, positive for better.
    pub percent_change: f64,
    /// The threshold in effect.
    pub percent_threshold: f64,
    /// With the baseline as reference.
    pub tolerance: Tolerance,
    /// Worse by more than the threshold and the tolerance.
    pub regression_indicated: bool,
    /// Better by more than the threshold and the tolerance.
    pub improvement_indicated: bool,
}

/// A contender against the history up to its baseline's commit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lookback {
    /// Distance from the window's mean in standard deviations, positive for better.
    pub z_score: f64,
    /// The threshold in effect.
    pub z_threshold: f64,
    /// Distance from the baseline in standard deviations of the window, positive for better.
    pub baseline_z_score: f64,
    /// The threshold in effect.
    pub baseline_z_threshold: f64,
    /// With the window's mean as reference.
    pub tolerance: Tolerance,
    /// Whether it is away from the baseline by more than 2 % of it.
    pub clears_two_percent: bool,
    /// All four conditions, for worse.
    pub regression_indicated: bool,
    /// All four conditions, for better.
    pub improvement_indicated: bool,
}

/// A contender against its baseline and the history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The window.
    pub distribution: Distribution,
    /// `None` for a baseline of 0.
    pub pairwise: Option<Pairwise>,
    /// `None` where the history has no spread.
    pub lookback: Option<Lookback>,
    /// The word.
    pub status: Status,
}

/// Compares a contender with a baseline. `history` holds the rows up to and including the baseline's commit, in order.
pub fn compare(
    history: &[Row],
    baseline: f64,
    contender: f64,
    better: Better,
    floors: Floors,
    thresholds: Thresholds,
) -> Compared {
    let distribution = distribution(history);
    let pairwise = pairwise(baseline, contender, better, floors, thresholds);
    let lookback = distribution.z(contender, better).zip(distribution.mean).and_then(|(z, mean)| {
        let baseline_z = z_score(contender, baseline, distribution.sd, better)?;
        let tolerance = floors.judge(mean, contender);
        let clears_two_percent = clears_share(contender, baseline);
        let free = clears_two_percent && !tolerance.within_tolerance;
        Some(Lookback {
            z_score: z,
            z_threshold: thresholds.z,
            baseline_z_score: baseline_z,
            baseline_z_threshold: BASELINE_Z,
            tolerance,
            clears_two_percent,
            regression_indicated: free && z < -thresholds.z && baseline_z <= -BASELINE_Z,
            improvement_indicated: free && thresholds.z < z && BASELINE_Z <= baseline_z,
        })
    });
    let status = match lookback {
        None => Status::Insufficient,
        Some(lookback) if lookback.regression_indicated => Status::Regressed,
        Some(lookback) if lookback.improvement_indicated => Status::Improved,
        Some(_) => Status::Stable,
    };
    Compared { distribution, pairwise, lookback, status }
}

fn pairwise(
    baseline: f64,
    contender: f64,
    better: Better,
    floors: Floors,
    thresholds: Thresholds,
) -> Option<Pairwise> {
    if baseline == 0.0 {
        return None;
    }
    let sign = if better == Better::Lower { -1.0 } else { 1.0 };
    let percent_change = 100.0 * (contender - baseline) / baseline.abs() * sign + 0.0;
    let tolerance = floors.judge(baseline, contender);
    let free = !tolerance.within_tolerance;
    Some(Pairwise {
        percent_change,
        percent_threshold: thresholds.percent,
        tolerance,
        regression_indicated: free && percent_change < -thresholds.percent,
        improvement_indicated: free && thresholds.percent < percent_change,
    })
}
