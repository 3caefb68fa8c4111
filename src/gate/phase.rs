//! One phase of measuring after another, told to the user, with the evidence that comes of it.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::functions;
use super::remarks;
use crate::measure::{
    self, Executor, MeasurePlan, MeasuredBenchmark, Observer, Part, PlannedBenchmark, Progress, StopRule,
};
use crate::suite::settings::BenchmarkSettings;
use crate::ui::Ui;
use crate::verdict;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence, Stage, StoppedBecause, UnitRun};

/// How often progress is redrawn at the most.
const REDRAW: Duration = Duration::from_millis(100);

/// How often a log, which nothing can be redrawn in, hears that the run goes on.
const LOG_LINE: Duration = Duration::from_secs(60);

/// One phase of measuring after another.
pub(super) struct Phase<'a> {
    pub(super) ui: &'a Ui,
    interrupted: &'a AtomicBool,
    pub(super) seed: u64,
    pub(super) stage: Stage,
    next_sequence: u64,
    /// What is left of it.
    max_time: Option<Duration>,
    /// Failed unit runs that cost a round but no benchmark, and what was noticed of the benchmarks, in words.
    pub(super) notes: Vec<String>,
    was_interrupted: bool,
}

/// A benchmark with the place of its evidence.
pub(super) type Placed = (usize, PlannedBenchmark);

impl<'a> Phase<'a> {
    /// The phase every run begins with.
    pub(super) fn first(
        ui: &'a Ui,
        interrupted: &'a AtomicBool,
        seed: u64,
        max_time: Option<Duration>,
    ) -> Self {
        let (stage, notes) = (Stage::Screen, Vec::new());
        Self { ui, interrupted, seed, stage, next_sequence: 0, max_time, notes, was_interrupted: false }
    }

    /// Whether the user ended one of the phases.
    pub(super) fn is_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// Measures what is planned and adds the runs to the evidence.
    pub(super) fn run(&mut self, evidence: &mut [Evidence], planned: &[Placed], executor: &mut dyn Executor) {
        let stop = Stop { settings: planned.iter().map(|(place, _)| &evidence[*place].settings).collect() };
        let mut observer = Shown { ui: self.ui, told: Instant::now() };
        let plan = self.plan(planned);
        let measured = measure::measure(&plan, executor, &stop, &mut observer, self.interrupted);
        self.ui.clear_progress();
        let done = if self.stage == Stage::Screen { "Measured" } else { "Confirmed" };
        self.ui.status(done, end_line(&measured));
        if self.stage == Stage::Screen {
            let labels = planned.iter().map(|(place, _)| evidence[*place].identity.label());
            let labelled: Vec<_> = labels.zip(&measured.benchmarks).collect();
            self.notes.extend(remarks::remarks(&labelled));
        }
        for ((place, _), benchmark) in planned.iter().zip(self.over(measured)) {
            let evidence = &mut evidence[*place];
            if self.stage == Stage::Screen {
                evidence.stopped_because = benchmark.stopped_because;
            }
            let failures = add(evidence, self.stage, benchmark);
            self.notes.extend(failures);
        }
        let told = functions::complete(evidence);
        if self.stage == Stage::Screen {
            self.notes.extend(told);
        }
    }

    /// Counts instructions and adds the runs to the evidence. What is planned are counting runs.
    pub(super) fn count(
        &mut self,
        evidence: &mut [Evidence],
        planned: &[Placed],
        executor: &mut dyn Executor,
    ) {
        let stop = Stop { settings: planned.iter().map(|(place, _)| &evidence[*place].settings).collect() };
        let mut observer = Shown { ui: self.ui, told: Instant::now() };
        let plan = self.plan(planned);
        let measured = match self.stage {
            Stage::Screen => measure::count(&plan, executor, &stop, &mut observer, self.interrupted),
            // What is confirmed was not exact, so the number of runs is that of any other metric.
            Stage::Confirm => measure::measure(&plan, executor, &stop, &mut observer, self.interrupted),
        };
        self.ui.clear_progress();
        self.ui.status("Counted", end_line(&measured));
        for ((place, _), mut benchmark) in planned.iter().zip(self.over(measured)) {
            let evidence = &mut evidence[*place];
            // Their rounds come after those of the times, so that a number means one round of one stage.
            let runs = evidence.sides.iter().flat_map(|side| &side.runs);
            let before = runs.filter(|run| run.stage == self.stage).filter_map(|run| run.round).max();
            let first = before.map_or(0, |round| round + 1);
            for run in benchmark.sides.iter_mut().flatten() {
                run.round = run.round.map(|round| first + round);
            }
            let error = evidence.error.clone();
            let failures = add(evidence, self.stage, benchmark);
            self.notes.extend(failures);
            // An error of the times says more.
            evidence.error = error.or_else(|| evidence.error.take().map(of_count));
        }
    }

    fn plan(&self, planned: &[Placed]) -> MeasurePlan {
        MeasurePlan {
            seed: self.seed,
            stage: self.stage,
            first_sequence: self.next_sequence,
            max_time: self.max_time,
            benchmarks: planned.iter().map(|(_, benchmark)| benchmark.clone()).collect(),
        }
    }

    /// Takes a finished phase's place in the run; gives what it measured.
    fn over(&mut self, measured: measure::Measured) -> Vec<MeasuredBenchmark> {
        self.next_sequence = measured.next_sequence;
        self.max_time = self.max_time.map(|max_time| max_time.saturating_sub(measured.elapsed));
        self.was_interrupted |= measured.interrupted;
        measured.benchmarks
    }
}

/// Adds the runs and the error of a benchmark to its evidence; gives a note on failures that cost no more than rounds.
fn add(evidence: &mut Evidence, stage: Stage, mut benchmark: MeasuredBenchmark) -> Option<String> {
    for (side, runs) in evidence.sides.iter_mut().zip(&mut benchmark.sides) {
        side.runs.append(runs);
    }
    evidence.error = match stage {
        Stage::Screen => benchmark.error,
        // Too few fresh samples leave a candidate unconfirmed; what was screened stays, a count that failed as well.
        Stage::Confirm => benchmark
            .error
            .filter(|error| !matches!(error.kind, ErrorKind::NotMeasured | ErrorKind::Interrupted))
            .or_else(|| evidence.error.take()),
    };
    match (&evidence.error, benchmark.failures.first()) {
        (None, Some(first)) => Some(format!(
            "{}: {} failed and cost a round each: {}",
            evidence.identity.label(),
            counted(benchmark.failures.len(), "unit run"),
            first.message
        )),
        _ => None,
    }
}

/// An error of a counting run, which leaves the times alone.
fn of_count(error: BenchmarkError) -> BenchmarkError {
    let kind = match error.kind {
        ErrorKind::NotMeasured | ErrorKind::Interrupted => error.kind,
        _ => ErrorKind::MetricFailed,
    };
    BenchmarkError { kind, ..error }
}

pub(super) fn start_line(planned: &[Placed], seed: u64) -> String {
    let sides = planned.iter().map(|(_, benchmark)| benchmark.measured_sides().len()).max().unwrap_or(0);
    let revisions = match sides {
        0 | 1 => "head alone".to_owned(),
        2 => "base and head interleaved".to_owned(),
        more => format!("{more} revisions interleaved"),
    };
    format!("{}, {revisions}, seed {seed}", counted(planned.len(), "benchmark"))
}

fn end_line(measured: &measure::Measured) -> String {
    let runs = measured.benchmarks.iter().flat_map(|benchmark| benchmark.sides.iter()).map(Vec::len);
    let (least, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let samples = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let interrupted = if measured.interrupted { ", interrupted" } else { "" };
    let side =
        if measured.benchmarks.iter().any(|benchmark| 1 < benchmark.sides.len()) { " a side" } else { "" };
    format!("{samples} samples{side} in {:.1} s{interrupted}", measured.elapsed.as_secs_f64())
}

pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The stop rule of the judge, asked with the runs so far.
struct Stop<'a> {
    settings: Vec<&'a BenchmarkSettings>,
}

impl StopRule for Stop<'_> {
    fn stop(&self, benchmark: usize, runs: &[Vec<UnitRun>]) -> Option<StoppedBecause> {
        verdict::stop::stop(self.settings[benchmark], runs)
    }
}

/// Progress between rounds.
struct Shown<'a> {
    ui: &'a Ui,
    told: Instant,
}

impl Observer for Shown<'_> {
    fn round_finished(&mut self, progress: &Progress) {
        let redrawn = self.ui.shows_progress();
        let pause = if redrawn { REDRAW } else { LOG_LINE };
        if self.told.elapsed() < pause {
            return;
        }
        self.told = Instant::now();
        let part = match (progress.stage, progress.part) {
            (Stage::Confirm, _) => "confirming, round",
            (_, Part::WarmUp) => "warm-up, round",
            (_, Part::Rounds) => "round",
            (_, Part::HeadAlone) => "head alone, run",
            (_, Part::Counting) => "counting, round",
        };
        let left = match progress.least_left.as_secs() {
            0 => String::new(),
            seconds => format!(", at least {seconds} s left"),
        };
        let line = format!(
            "{part} {}: {} of {} done, {} s{left}",
            progress.rounds,
            progress.finished,
            progress.benchmarks,
            progress.elapsed.as_secs()
        );
        match redrawn {
            true => self.ui.progress(&format!("   Measuring {line}")),
            false => self.ui.status("Measuring", line),
        }
    }

    fn time_is_short(&mut self, needed: Duration, available: Duration) {
        self.ui.warn(format!(
            "max_time is too short: the least number of samples for every benchmark takes about {} s in all, max_time is {}; some \
             will not be measured; raise max_time, select fewer benchmarks, or lower min_samples",
            needed.as_secs_f64().ceil(),
            crate::suite::quantity::format_duration(u64::try_from(available.as_nanos()).unwrap_or(u64::MAX))
        ));
    }
}
