//! When measuring of a benchmark ends: asked after every round.

use crate::stats::median_law::MedianLaw;
use crate::stats::quantile::{median, sorted};
use crate::suite::metric::Metric;
use crate::suite::presets::MEAN_SAMPLES;
use crate::suite::settings::{BenchmarkSettings, MetricSettings, SampleCount, Stop};

use super::evidence::{Side, Stage, StoppedBecause, UnitRun};
use super::plan::{is_settled, looks};
use super::replay::Replay;
use super::samples::Runs;

/// Why measuring can end with the runs there are; `None` means: one more round. `sides` are the runs of each revision,
/// base first; one alone for a benchmark that is measured on head only.
pub fn stop<R: AsRef<[UnitRun]>>(settings: &BenchmarkSettings, sides: &[R]) -> Option<StoppedBecause> {
    let sides: Vec<&[UnitRun]> = sides.iter().map(AsRef::as_ref).collect();
    let fewest = sides.iter().map(|side| kept(side).count()).min().unwrap_or(0);
    let (min, max) = match settings.sampling.samples {
        SampleCount::Fixed(wanted) => {
            return (wanted as usize <= fewest).then_some(StoppedBecause::FixedSamples);
        }
        SampleCount::Adaptive { min, max } => (min as usize, max as usize),
    };
    let compared = 2 <= sides.len();
    let reached = min <= fewest && sides.iter().all(|side| min_time_reached(settings, side));
    match settings.judge.stop {
        Stop::Settled if compared && is_settled(settings) => {
            if all_settled(settings, &sides) {
                return Some(StoppedBecause::Settled);
            }
            // Past the last look nothing more can be decided.
            let last = looks(settings).last().map_or(max, |look| (*look as usize).min(max));
            return (last <= fewest).then_some(StoppedBecause::MaxSamples);
        }
        // No rule may look at these more than once.
        Stop::Settled if compared => {
            let wanted = (MEAN_SAMPLES as usize).clamp(min.min(max), max);
            if wanted <= fewest && reached {
                return Some(StoppedBecause::FixedSamples);
            }
        }
        Stop::Precision if reached && precise(settings, &sides) => return Some(StoppedBecause::Target),
        Stop::Precision => {}
        Stop::Settled | Stop::Fixed if reached && fewest < max => return Some(StoppedBecause::MinReached),
        Stop::Settled | Stop::Fixed => {}
    }
    (max <= fewest).then_some(StoppedBecause::MaxSamples)
}

fn kept(side: &[UnitRun]) -> impl Iterator<Item = &UnitRun> {
    side.iter().filter(|run| run.stage == Stage::Screen)
}

/// Whether the measured wall time of a side has reached `min_time`.
fn min_time_reached(settings: &BenchmarkSettings, side: &[UnitRun]) -> bool {
    let measured: f64 = kept(side).filter_map(UnitRun::wall).sum();
    settings.sampling.min_time_ns as f64 <= measured
}

/// The comparable metrics that measuring waits for: the gated ones, or all when none is.
fn awaited(settings: &BenchmarkSettings) -> Vec<&Metric> {
    let gated: Vec<&Metric> =
        comparable(settings).filter(|(_, limits)| limits.gate).map(|(metric, _)| metric).collect();
    if gated.is_empty() { comparable(settings).map(|(metric, _)| metric).collect() } else { gated }
}

fn comparable(settings: &BenchmarkSettings) -> impl Iterator<Item = (&Metric, &MetricSettings)> {
    let own = settings.metrics.iter();
    own.filter(|(metric, _)| metric.is_comparable() && **metric != Metric::Throughput)
}

/// Whether every awaited comparison of every further side with the first is settled. One that is not measured on both
/// sides will not become so.
fn all_settled(settings: &BenchmarkSettings, sides: &[&[UnitRun]]) -> bool {
    let Some((base, heads)) = sides.split_first() else { return false };
    let has = |side: &[UnitRun], metric: &Metric| kept(side).any(|run| run.values.get(metric).is_some());
    // Where every gated metric is of another phase (counts) or missing, the others say when it is enough.
    let mut awaited = awaited(settings);
    if !awaited.iter().any(|metric| has(base, metric)) {
        awaited = comparable(settings).map(|(metric, _)| metric).collect();
    }
    let mut any = false;
    for head in heads {
        let runs = Runs::of(base, head, Stage::Screen);
        for &metric in &awaited {
            if !has(base, metric) || !has(head, metric) {
                continue;
            }
            any = true;
            if !Replay::of(settings, &runs, metric, &settings.metrics[metric], [0; 32]).is_settled() {
                return false;
            }
        }
    }
    any
}

/// Whether the bootstrap interval of every side's median is narrow enough: (high - low) / 2 / median.
fn precise(settings: &BenchmarkSettings, sides: &[&[UnitRun]]) -> bool {
    let tail = (1.0 - settings.judge.confidence) / 2.0;
    let half_width = |values: &[f64]| {
        let sorted = sorted(values);
        let law = MedianLaw::pruned(&sorted);
        let (low, high) = (law.quantile(tail)?, law.quantile(1.0 - tail)?);
        median(&sorted).filter(|median| 0.0 < *median).map(|median| (high - low) / 2.0 / median)
    };
    awaited(settings).into_iter().all(|metric| {
        sides.iter().all(|side| {
            let values: Vec<f64> = kept(side).filter_map(|run| run.values.get(metric)).collect();
            // A metric without a usable median has no precision to wait for.
            values.is_empty() || half_width(&values).is_none_or(|width| width <= settings.judge.target_ci)
        })
    })
}

impl AsRef<[UnitRun]> for Side {
    fn as_ref(&self) -> &[UnitRun] {
        &self.runs
    }
}
