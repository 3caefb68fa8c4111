//! The floor of peak RSS: the process that starts a benchmark leaves its own peak in the benchmark's figure, so a
//! value at the floor says only "at most the floor".

use crate::stats::describe::mean;
use crate::stats::quantile::{median, sorted};
use crate::suite::settings::Statistic;

use super::evidence::UnitRun;
use super::look::Look;
use super::outcome::{Comparison, Reason, Verdict};
use super::samples::Samples;

/// The floor of some runs, in bytes: the highest of them; 0 is none.
pub(super) fn of<'a>(runs: impl IntoIterator<Item = &'a UnitRun>) -> f64 {
    runs.into_iter()
        .filter_map(|run| run.peak_rss_floor)
        .filter(|floor| floor.is_finite())
        .fold(0.0, f64::max)
}

/// Whether base, and whether head, is at its floor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AtFloor([bool; 2]);

/// Raises the samples of a side that is at its floor to it. Everything that is asked of them is asked of these.
pub(super) fn raise(floors: [f64; 2], mut samples: Samples, statistic: Statistic) -> (Samples, AtFloor) {
    let at_floor = |values: &[f64], floor: f64| {
        let value = match statistic {
            Statistic::Median => median(&sorted(values)),
            Statistic::Mean => mean(values),
        };
        0.0 < floor && value.is_some_and(|value| value <= floor)
    };
    let low = [at_floor(&samples.base, floors[0]), at_floor(&samples.head, floors[1])];
    if low[0] {
        samples.base.iter_mut().for_each(|value| *value = value.max(floors[0]));
        samples.pairs.iter_mut().for_each(|(value, _)| *value = value.max(floors[0]));
    }
    if low[1] {
        samples.head.iter_mut().for_each(|value| *value = value.max(floors[1]));
        samples.pairs.iter_mut().for_each(|(_, value)| *value = value.max(floors[1]));
    }
    (samples, AtFloor(low))
}

impl AtFloor {
    /// Whether a verdict on raised samples holds: the true value of a side at its floor may be less, and only where that
    /// would not change the verdict is it kept.
    fn keeps(self, verdict: Verdict) -> bool {
        let Self([base, head]) = self;
        match verdict {
            Verdict::Regression => !head,
            Verdict::Improved => !base,
            _ => !base && !head,
        }
    }

    /// Whether both sides are: then there is nothing to compare, and more runs of the same programs change nothing.
    pub(super) fn is_both(self) -> bool {
        self == Self([true, true])
    }

    /// A look at raised samples, with the verdict they allow.
    pub(super) fn keep(self, seen: Look) -> Look {
        if self.is_both() {
            let Look { base, head, .. } = seen;
            return Look { base, head, settled: true, ..Look::bare(SKIPPED) };
        }
        if self.keeps(seen.verdict) {
            return seen;
        }
        Look { verdict: OPEN.0, reason: OPEN.1, settled: false, ..seen }
    }

    /// The same for a verdict that came after the look. Both at their floors were skipped there.
    pub(super) fn keep_verdict(self, comparison: &mut Comparison) {
        if comparison.verdict != Verdict::Skipped && !self.keeps(comparison.verdict) {
            (comparison.verdict, comparison.reason) = OPEN;
        }
    }
}

const SKIPPED: (Verdict, Option<Reason>) = (Verdict::Skipped, Some(Reason::AtFloor));
const OPEN: (Verdict, Option<Reason>) = (Verdict::Inconclusive, Some(Reason::AtFloor));
