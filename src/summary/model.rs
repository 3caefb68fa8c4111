//! The summary as it stands in the report.

use serde::{Deserialize, Serialize};

use crate::suite::metric::Metric;
use crate::suite::settings::word_enum;

use super::change::{Direction, Magnitude};
use super::label::{Certainty, Label};

/// What the summary is made by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SummarySettings {
    /// The smallest change that is significant, per cent.
    pub min_change_percent: f64,
    /// From what change of speed on one benchmark is the impact of the run, per cent.
    pub impact_percent: f64,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self { min_change_percent: 0.2, impact_percent: 10.0 }
    }
}

/// What one revision comes to against base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// The revision that was compared with base.
    pub revision: String,
    /// The label of all rows.
    pub label: Label,
    /// For a mixed one: the kind that two thirds of the changes are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mostly: Option<Direction>,
    /// How much the label is to be believed: by magnitude, held back where chance explains as many changes.
    pub certainty: Certainty,
    /// The same by nothing but the number of changes.
    pub certainty_by_count: Certainty,
    /// What the label would be if every significant row counted alike: for judging the rules.
    pub label_by_significance: Label,
    /// The rows that may vote: the gated comparisons; all, where none is gated.
    pub rows: usize,
    /// The rows that changed.
    pub flagged: Flagged,
    /// Rows flagged beside those, no more than chance makes: they have no vote.
    pub by_chance: usize,
    /// Rows that would be flagged by chance alone if nothing had changed, at most.
    pub expected_by_chance: f64,
    /// Flagged rows of at least twice the change they needed.
    pub noteworthy: usize,
    /// The largest change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magnitude: Option<Magnitude>,
    /// The row that got worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
    /// The row that got best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Worst>,
    /// The groups, in a stable order.
    pub groups: Vec<GroupSummary>,
    /// A change that all rows share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
    /// One number for the run; `None` where no row has a ratio.
    pub impact: Option<Impact>,
}

/// Rows that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Flagged {
    /// Worse.
    pub regressions: usize,
    /// Better.
    pub improvements: usize,
}

impl Flagged {
    /// Both kinds.
    pub fn all(self) -> usize {
        self.regressions + self.improvements
    }
}

/// A row at the end of the range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// The benchmark, as texts name it.
    pub benchmark: String,
    /// The metric.
    pub metric: Metric,
    /// Its change; `None` from 0 to more.
    pub change_percent: Option<f64>,
}

/// The label of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The group.
    pub group: String,
    /// Its label.
    pub label: Label,
    /// As for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mostly: Option<Direction>,
    /// As for the whole.
    pub certainty: Certainty,
    /// Its rows.
    pub rows: usize,
    /// Those that changed.
    pub flagged: Flagged,
    /// Whether it changed otherwise than the whole: such a group is always shown.
    pub disagrees: bool,
}

/// A change that all rows share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// The median change, per cent of time; plus is slower.
    pub percent: f64,
    /// Lower end of its 95 % interval.
    pub ci_low_percent: f64,
    /// Upper end.
    pub ci_high_percent: f64,
    /// The rows it was taken from.
    pub rows: usize,
    /// Those that moved its way.
    pub same_direction: usize,
}

word_enum! {
    /// Which number stands for the run.
    ImpactRule {
        /// A benchmark got slower by more than `impact_percent`.
        Worst = "worst_regression",
        /// None did, and one got faster by more.
        Best = "best_improvement",
        /// The geometric mean of all.
        GeometricMean = "geometric_mean",
    }
}

/// One number for the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Impact {
    /// Where it comes from.
    pub rule: ImpactRule,
    /// As speed: base time / head time - 1, from -1 up; minus is slower.
    pub speed_impact: f64,
    /// As time, per cent; plus is slower. `None` where speed fell to 0.
    pub time_percent: Option<f64>,
    /// Where it stands on a logarithmic scale, from -1 (half the time or less) to 1 (twice the time or more).
    pub gauge: f64,
    /// Benchmarks it was taken from.
    pub benchmarks: usize,
    /// Benchmarks that have no ratio, and are not in it.
    pub excluded: usize,
    /// The geometric mean over all, as time in per cent; plus is slower.
    pub mean_time_percent: Option<f64>,
}
