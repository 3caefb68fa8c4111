//! The floor of peak RSS: the process that starts a benchmark leaves its own peak in the benchmark's figure, so a
//! value at the floor says only "at most the floor".

use crate::stats::describe::mean;
use crate::stats::quantile::{median, sorted};
use crate::suite::settings::Statistic;

use super::evidence::UnitRun;
use super::look::Look;
use super::outcome::{Reason, Verdict};
use super::samples::Samples;

/// The floor of some runs, in bytes: the highest of them; 0 is none.
pub(super) fn of<'a>(runs: impl IntoIterator<Item = &'a UnitRun>) -> f64 {
    runs.into_iter()
        .filter_map(|run| run.peak_rss_floor)
        .filter(|floor| floor.is_finite())
        .fold(0.0, f64::max)
}

/// Looks at peak RSS with respect to the floors of the two sides.
pub(super) fn look(
    floors: [f64; 2],
    samples: &Samples,
    statistic: Statistic,
    judged: impl Fn(&Samples) -> Look,
) -> Look {
    let at_floor = |values: &[f64], floor: f64| {
        let value = match statistic {
            Statistic::Median => median(&sorted(values)),
            Statistic::Mean => mean(values),
        };
        0.0 < floor && value.is_some_and(|value| value <= floor)
    };
    let low = [at_floor(&samples.base, floors[0]), at_floor(&samples.head, floors[1])];
    if low == [false, false] {
        return judged(samples);
    }
    let mut raised = samples.clone();
    if low[0] {
        raised.base.iter_mut().for_each(|value| *value = value.max(floors[0]));
        raised.pairs.iter_mut().for_each(|(value, _)| *value = value.max(floors[0]));
    }
    if low[1] {
        raised.head.iter_mut().for_each(|value| *value = value.max(floors[1]));
        raised.pairs.iter_mut().for_each(|(_, value)| *value = value.max(floors[1]));
    }
    let mut seen = judged(&raised);
    if low == [true, true] {
        let (base, head) = (seen.base, seen.head);
        // More runs of the same programs would be at the floor too.
        return Look { base, head, settled: true, ..Look::bare((Verdict::Skipped, Some(Reason::AtFloor))) };
    }
    let kept = match seen.verdict {
        Verdict::Regression => !low[1],
        Verdict::Improved => !low[0],
        _ => false,
    };
    if !kept {
        (seen.verdict, seen.reason, seen.settled) = (Verdict::Inconclusive, Some(Reason::AtFloor), false);
    }
    seen
}
