//! What is known of one benchmark while it is measured.

use std::time::Duration;

use crate::suite::metric::Metric;
use crate::suite::settings::SampleCount;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Stage, StoppedBecause, UnitRun};

use super::plan::PlannedBenchmark;
use super::run::{MeasuredBenchmark, StopRule, Taken};

/// So many failed unit runs make a benchmark an error.
pub(super) const MOST_FAILURES: usize = 3;

pub(super) struct State<'a> {
    pub(super) planned: &'a PlannedBenchmark,
    pub(super) measured: Vec<usize>,
    pub(super) runs: Vec<Vec<UnitRun>>,
    pub(super) wall_ns: Vec<u64>,
    pub(super) latency_hint_ns: Option<f64>,
    /// A warm-up run of it, or of one of its group, took far longer than it was asked to.
    pub(super) quick: bool,
    /// By side.
    pub(super) stated_work: Vec<Option<String>>,
    pub(super) failures: Vec<BenchmarkError>,
    pub(super) stopped: Option<StoppedBecause>,
    pub(super) error: Option<BenchmarkError>,
}

impl<'a> State<'a> {
    pub(super) fn new(planned: &'a PlannedBenchmark) -> Self {
        Self {
            planned,
            measured: planned.measured_sides(),
            runs: vec![Vec::new(); planned.sides.len()],
            wall_ns: vec![0; planned.sides.len()],
            latency_hint_ns: None,
            quick: false,
            stated_work: vec![None; planned.sides.len()],
            failures: Vec::new(),
            stopped: None,
            error: None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.stopped.is_none() && self.error.is_none() && !self.measured.is_empty()
    }

    pub(super) fn samples(&self) -> u32 {
        self.measured.iter().map(|&side| self.runs[side].len() as u32).min().unwrap_or(0)
    }

    /// Whether it counts as measured when the time is over.
    pub(super) fn has_needed(&self) -> bool {
        self.planned.needed_samples() <= self.samples()
    }

    /// Rounds until it has the needed number of samples.
    pub(super) fn needed_rounds(&self) -> u32 {
        self.planned.needed_samples().saturating_sub(self.samples()).div_ceil(2)
    }

    pub(super) fn fail(&mut self, error: BenchmarkError) {
        self.failures.push(error.clone());
        // What the user wrote to prepare a run is not a benchmark that may stumble once.
        if error.kind == ErrorKind::HookFailed || MOST_FAILURES <= self.failures.len() {
            self.stopped = Some(StoppedBecause::Error);
            self.error = Some(error);
        }
    }

    pub(super) fn judge(&mut self, place: usize, rule: &dyn StopRule) {
        let samples = self.samples();
        self.stopped = match self.planned.sampling.samples {
            SampleCount::Fixed(count) => (count <= samples).then_some(StoppedBecause::FixedSamples),
            SampleCount::Adaptive { max, .. } => {
                let least_wall = self.measured.iter().map(|&side| self.wall_ns[side]).min().unwrap_or(0);
                let may_stop = self.planned.least_samples() <= samples
                    && self.planned.sampling.min_time_ns <= least_wall;
                may_stop
                    .then(|| rule.stop(place, &self.runs))
                    .flatten()
                    .or((max <= samples).then_some(StoppedBecause::MaxSamples))
            }
        };
    }

    pub(super) fn run_out_of_time(&mut self, max_time: Duration) {
        self.stopped = Some(StoppedBecause::MaxTime);
        if !self.has_needed() {
            self.error = Some(BenchmarkError {
                kind: ErrorKind::NotMeasured,
                message: format!(
                    "max_time of {max_time:?} ended with {} of the {} samples a side that {} needs; raise max_time or \
                     select fewer benchmarks",
                    self.samples(),
                    self.planned.needed_samples(),
                    self.planned.identity.label(),
                ),
                stderr: None,
            });
        }
    }

    /// Whether head has to run on for a budget on a percentile, once all that is compared is through.
    pub(super) fn wants_head_alone(&self) -> bool {
        let head = self.planned.head();
        self.error.is_none()
            && self.measured.contains(&head)
            && self.runs[head].len() < self.planned.head_alone_until as usize
    }

    /// Whether more time would give it more: also when it was closed for lack of time.
    pub(super) fn wants_time(&self) -> bool {
        self.is_open() || self.error.as_ref().is_some_and(|error| error.kind == ErrorKind::NotMeasured)
    }

    /// The fastest of its warm-up runs of all sides, so that every side gets the same hint.
    pub(super) fn learn_latency(&mut self, place: usize, taken: &[Taken]) {
        let own = taken.iter().filter(|taken| taken.place == place);
        let latencies = own.filter_map(|taken| taken.sample.values.get(&Metric::Latency));
        let fastest = latencies.chain(self.latency_hint_ns).min_by(f64::total_cmp);
        self.latency_hint_ns = fastest.filter(|latency| latency.is_finite());
    }

    /// Whether the bench's code is likely to set up both alike: the same program, and ids with the same beginning.
    pub(super) fn is_sibling(&self, other: &Self) -> bool {
        let group =
            |state: &Self| state.planned.identity.id.split_once('/').map(|(group, _)| group.to_owned());
        let (one, two) = (&self.planned.identity, &other.planned.identity);
        (&one.target, &one.variant) == (&two.target, &two.variant)
            && group(self).is_some()
            && group(self) == group(other)
    }

    /// Keeps a sample of a whole round.
    pub(super) fn keep(&mut self, taken: Taken, stage: Stage, round: u32) {
        let Taken { side, sequence, sample, .. } = taken;
        self.stated_work[side] = sample.stated_work;
        self.wall_ns[side] += sample.wall_ns;
        let wall = sample.wall_ns as f64;
        let is_latency =
            sample.values.get(&Metric::Latency).is_some_and(|latency| latency.total_cmp(&wall).is_eq());
        self.runs[side].push(UnitRun {
            stage,
            round: Some(round),
            sequence: Some(sequence),
            context_switches: Some(sample.context_switches),
            work: sample.work,
            peak_rss_floor: sample.peak_rss_floor,
            wall_ns: (!is_latency).then_some(wall),
            values: sample.values,
        });
    }

    pub(super) fn finish(mut self, interrupted: bool) -> MeasuredBenchmark {
        if interrupted && self.is_open() {
            self.stopped = Some(StoppedBecause::Interrupted);
            if self.samples() == 0 {
                self.error = Some(BenchmarkError {
                    kind: ErrorKind::Interrupted,
                    message: "interrupted before the first round was complete".into(),
                    stderr: None,
                });
            }
        }
        MeasuredBenchmark {
            sides: self.runs,
            stopped_because: self.stopped,
            error: self.error,
            failures: self.failures,
            quick: self.quick,
            stated_work: self.stated_work,
        }
    }
}
