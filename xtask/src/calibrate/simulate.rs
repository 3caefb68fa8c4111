//! Trials of one cell of a table, judged through the entry point that `compare` uses, on every core.

use std::thread;

use cargo_benchgate::suite::settings::JudgeSettings;
use cargo_benchgate::verdict::evidence::Evidence;
use cargo_benchgate::verdict::outcome::{Comparison, Reason, Verdict};
use cargo_benchgate::verdict::{RunContext, RunJudgement};

use super::noise::{Noise, Random, SlowRuns};
use super::trial;

/// What turns evidence into verdicts: [`cargo_benchgate::verdict::judge_run`], or in a test another judge.
pub(crate) type Judge<'a> = &'a (dyn Fn(&[Evidence], &RunContext) -> RunJudgement + Sync);

/// Benchmarks judged in one call.
const BATCH: u64 = 32;

/// One cell: what is simulated.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) noise: Noise,
    /// Runs a side at most.
    pub(crate) count: usize,
    /// The true change of head, a ratio: 0.1 is 10 % slower.
    pub(crate) delta: f64,
    /// `max_percent`.
    pub(crate) tolerance: f64,
    pub(crate) judge: JudgeSettings,
    /// Runs that are slow beside the noise.
    pub(crate) slow_runs: Option<SlowRuns>,
}

/// What the trials of a cell came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) trials: u64,
    pub(crate) regression: u64,
    pub(crate) improved: u64,
    pub(crate) pass: u64,
    pub(crate) inconclusive: u64,
    /// Those of the inconclusive that the noise gate stopped.
    pub(crate) noisy: u64,
    /// Trials whose interval holds the true change.
    pub(crate) covered: u64,
    /// Samples a side, summed up; and their squares.
    runs: u64,
    runs_squared: u64,
}

impl Tally {
    fn add(&mut self, delta: f64, comparison: &Comparison) {
        let samples = comparison.samples[0];
        let truth = delta * 100.0;
        let covers = |low: f64, high: f64| low <= truth && truth <= high;
        self.trials += 1;
        self.noisy += u64::from(comparison.reason == Some(Reason::Noisy));
        self.covered += u64::from(
            comparison
                .ci_low_percent
                .zip(comparison.ci_high_percent)
                .is_some_and(|(low, high)| covers(low, high)),
        );
        self.runs += samples as u64;
        self.runs_squared += (samples * samples) as u64;
        *match comparison.verdict {
            Verdict::Regression => &mut self.regression,
            Verdict::Improved => &mut self.improved,
            Verdict::Pass => &mut self.pass,
            Verdict::Inconclusive | Verdict::Skipped => &mut self.inconclusive,
        } += 1;
    }

    fn join(mut self, other: Self) -> Self {
        self.trials += other.trials;
        self.regression += other.regression;
        self.improved += other.improved;
        self.pass += other.pass;
        self.inconclusive += other.inconclusive;
        self.noisy += other.noisy;
        self.covered += other.covered;
        self.runs += other.runs;
        self.runs_squared += other.runs_squared;
        self
    }

    /// Samples a side at the verdict, on average.
    pub(crate) fn mean_runs(&self) -> f64 {
        self.runs as f64 / self.trials as f64
    }

    /// Standard deviation of the samples a side.
    pub(crate) fn sd_runs(&self) -> f64 {
        let mean = self.mean_runs();
        (self.runs_squared as f64 / self.trials as f64 - mean * mean).max(0.0).sqrt()
    }
}

/// Simulates a cell. The same row number, trials and judge give the same tally, on any number of cores.
pub(crate) fn simulate(cell: &Cell, row: u64, trials: u64, judge: Judge<'_>) -> Tally {
    let batches: Vec<(u64, u64)> =
        (0..trials).step_by(BATCH as usize).map(|first| (first, trials.min(first + BATCH))).collect();
    let tallies = on_all_cores(&batches, |&(first, end)| {
        let evidence: Vec<Evidence> = (first..end).map(|trial| measure(cell, row, trial)).collect();
        let mut tally = Tally::default();
        for judged in judge(&evidence, &RunContext::default()).benchmarks {
            tally.add(cell.delta, &judged.comparisons[0]);
        }
        tally
    });
    tallies.into_iter().fold(Tally::default(), Tally::join)
}

/// The evidence of one trial.
pub(crate) fn measure(cell: &Cell, row: u64, trial: u64) -> Evidence {
    let random = &mut Random::of(row, trial);
    let mut sides = cell.noise.sides(cell.count, cell.delta, random);
    if let Some(slow_runs) = cell.slow_runs {
        slow_runs.apply(&mut sides, random);
    }
    trial::evidence(trial.to_string(), trial::settings(&cell.judge, cell.tolerance, cell.count), &sides)
}

/// Works on every item, on all cores; the answers come in no stated order.
pub(crate) fn on_all_cores<T: Sync, A: Send>(items: &[T], work: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|core| {
                scope.spawn(move || items.iter().skip(core).step_by(cores).map(work).collect::<Vec<A>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    })
}
