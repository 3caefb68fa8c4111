//! The measuring phase: lists, rounds, and the evidence that comes of them.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::Context;
use super::benchmarks::{Benchmarks, Finder};
use super::programs::Programs;
use super::remarks;
use super::shard;
use crate::error::Error;
use crate::measure::{
    self, Executor, LiveExecutor, MeasurePlan, Observer, Part, PlannedBenchmark, Progress, RunnerClient,
    StopRule,
};
use crate::report::model::Shard;
use crate::revision::Slot;
use crate::suite::Suite;
use crate::suite::metric::Metric;
use crate::suite::settings::{BenchmarkSettings, SampleCount};
use crate::ui::Ui;
use crate::verdict::evidence::{ErrorKind, Evidence, Stage, StoppedBecause, UnitRun};
use crate::verdict::levels::CONFIRM_SAMPLES;
use crate::verdict::{self, RunContext};

/// How often progress is redrawn at the most.
const REDRAW: Duration = Duration::from_millis(100);

/// How often a log, which nothing can be redrawn in, hears that the run goes on.
const LOG_LINE: Duration = Duration::from_secs(60);

/// What the measuring phase gave.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) evidence: Vec<Evidence>,
    pub(super) interrupted: bool,
    /// Failed unit runs that cost a round but no benchmark, in words.
    pub(super) notes: Vec<String>,
    /// Which part of the run these are, where they are one.
    pub(super) shard: Option<Shard>,
    /// Whether filters left benchmarks out.
    pub(super) filtered: bool,
}

/// Lists and measures all benchmarks of the built programs, once for each seed.
pub(super) fn measure(
    context: &Context<'_>,
    suite: &Suite,
    slot: &Slot,
    programs: &Programs,
    seeds: &[u64],
) -> Result<Vec<Measured>, Error> {
    let scratch = Scratch::make(slot)?;
    let environment = context.environment;
    let client = RunnerClient::new(&environment.own_executable, &scratch.0);
    let switch = |revision: usize| slot.point_at(&programs.sides[revision].name);
    let mut executor = LiveExecutor::new(client, switch, &environment.interrupted);
    let work_directory = scratch.0.join("work");
    fs_err::create_dir(&work_directory)
        .map_err(|error| Error::Execution(format!("failed to make a directory: {error}")))?;
    let (head_tree, live_tree) = (slot.tree(&programs.head().name), slot.live_tree());
    let finder = Finder {
        context,
        suite,
        programs,
        head_tree: &head_tree,
        live_tree: &live_tree,
        work_directory: &work_directory,
        executor: &mut executor,
        found: Benchmarks::default(),
    };
    let mut found = finder.find()?;
    refuse_nothing(&found, &context.request.overrides.metrics)?;
    if let Some(request) = &context.request.shard {
        let all = found.evidence.len();
        shard::keep(&mut found, request);
        let (ours, part) = (found.evidence.len(), format!("{}/{}", request.index, request.count));
        context.ui.status("Shard", format!("{part}: {ours} of {}", counted(all, "benchmark")));
        if ours == 0 {
            context.ui.note(format!(
                "there is nothing in shard {part}: there is {} in all",
                counted(all, "benchmark")
            ));
        }
    }
    let labels: Vec<(String, &BenchmarkSettings)> = found
        .planned
        .iter()
        .map(|(place, benchmark)| (benchmark.identity.label(), &found.evidence[*place].settings))
        .collect();
    for warning in verdict::warnings::before_measuring(&labels) {
        context.ui.warn(warning);
    }
    let mut measured: Vec<Measured> = Vec::new();
    let max_time = suite.run.max_time_ns.map(Duration::from_nanos);
    for &seed in seeds {
        let phase = Phase::first(context.ui, &environment.interrupted, seed, max_time);
        measured.push(run_rounds(phase, &found, &mut executor));
        if measured.iter().any(|measured| measured.interrupted) {
            break;
        }
    }
    Ok(measured)
}

/// Runs the rounds of everything planned. Takes any executor, so that whole runs are tested without a clock.
pub(super) fn run_rounds(mut phase: Phase<'_>, found: &Benchmarks, executor: &mut dyn Executor) -> Measured {
    let (ui, seed, max_time) = (phase.ui, phase.seed, phase.max_time);
    let planned = &found.planned;
    let mut evidence = found.evidence.clone();
    phase.notes.clone_from(&found.notes);
    if planned.is_empty() {
        // Rows without a measurement say why; there is nothing to wait for.
        phase.notes.iter().for_each(|note| ui.warn(note));
        return measured(found, evidence, false, phase.notes);
    }
    ui.status("Measuring", start_line(planned, seed));
    let screened = phase.run(&mut evidence, planned, executor);

    let candidates = candidates(seed, &evidence, planned);
    let mut interrupted = screened.interrupted;
    if !candidates.is_empty() && !interrupted {
        ui.status(
            "Confirming",
            format!(
                "{} that may fail the run, {CONFIRM_SAMPLES} fresh samples a side",
                counted(candidates.len(), "benchmark")
            ),
        );
        phase.stage = Stage::Confirm;
        phase.first_sequence = screened.next_sequence;
        phase.max_time = max_time.map(|max_time| max_time.saturating_sub(screened.elapsed));
        interrupted = phase.run(&mut evidence, &candidates, executor).interrupted;
    }
    for note in &phase.notes {
        ui.warn(note);
    }
    measured(found, evidence, interrupted, phase.notes)
}

fn measured(found: &Benchmarks, evidence: Vec<Evidence>, interrupted: bool, notes: Vec<String>) -> Measured {
    Measured {
        evidence,
        interrupted,
        notes,
        shard: found.shard.clone(),
        filtered: !found.left_out.is_empty(),
    }
}

/// One phase of measuring.
pub(super) struct Phase<'a> {
    ui: &'a Ui,
    interrupted: &'a AtomicBool,
    seed: u64,
    stage: Stage,
    first_sequence: u64,
    max_time: Option<Duration>,
    /// Failed unit runs that cost a round but no benchmark, and what was noticed of the benchmarks, in words.
    notes: Vec<String>,
}

impl<'a> Phase<'a> {
    /// The phase every run begins with.
    pub(super) fn first(
        ui: &'a Ui,
        interrupted: &'a AtomicBool,
        seed: u64,
        max_time: Option<Duration>,
    ) -> Self {
        Self { ui, interrupted, seed, stage: Stage::Screen, first_sequence: 0, max_time, notes: Vec::new() }
    }

    /// Measures what is planned and adds the runs to the evidence.
    fn run(
        &mut self,
        evidence: &mut [Evidence],
        planned: &[(usize, PlannedBenchmark)],
        executor: &mut dyn Executor,
    ) -> measure::Measured {
        let plan = MeasurePlan {
            seed: self.seed,
            stage: self.stage,
            first_sequence: self.first_sequence,
            max_time: self.max_time,
            benchmarks: planned.iter().map(|(_, benchmark)| benchmark.clone()).collect(),
        };
        let stop = Stop { settings: planned.iter().map(|(place, _)| &evidence[*place].settings).collect() };
        let mut observer = Shown { ui: self.ui, told: Instant::now() };
        let mut measured = measure::measure(&plan, executor, &stop, &mut observer, self.interrupted);
        self.ui.clear_progress();
        let done = if self.stage == Stage::Screen { "Measured" } else { "Confirmed" };
        self.ui.status(done, end_line(&measured));
        if self.stage == Stage::Screen {
            let labels = planned.iter().map(|(place, _)| evidence[*place].identity.label());
            let labelled: Vec<_> = labels.zip(&measured.benchmarks).collect();
            self.notes.extend(remarks::remarks(&labelled));
        }
        for ((place, _), benchmark) in planned.iter().zip(&mut measured.benchmarks) {
            let evidence = &mut evidence[*place];
            for (side, runs) in evidence.sides.iter_mut().zip(&mut benchmark.sides) {
                side.runs.append(runs);
            }
            match self.stage {
                Stage::Screen => {
                    evidence.stopped_because = benchmark.stopped_because;
                    evidence.error = benchmark.error.take();
                }
                // Too few fresh samples leave a candidate unconfirmed; what was screened stays.
                Stage::Confirm => {
                    let error = benchmark.error.take();
                    let failed = error.filter(|error| {
                        !matches!(error.kind, ErrorKind::NotMeasured | ErrorKind::Interrupted)
                    });
                    evidence.error = failed;
                }
            }
            if let (None, Some(first)) = (&evidence.error, benchmark.failures.first()) {
                self.notes.push(format!(
                    "{}: {} failed and cost a round each: {}",
                    evidence.identity.label(),
                    counted(benchmark.failures.len(), "unit run"),
                    first.message
                ));
            }
        }
        measured
    }
}

/// The plans of the benchmarks that may fail the run, for measuring them again.
fn candidates(
    seed: u64,
    evidence: &[Evidence],
    planned: &[(usize, PlannedBenchmark)],
) -> Vec<(usize, PlannedBenchmark)> {
    let judged = RunContext { seed, ..RunContext::default() };
    let candidates = verdict::confirmation_candidates(evidence, &judged);
    planned
        .iter()
        .filter(|(place, _)| candidates.contains(place))
        .map(|(place, benchmark)| {
            let mut benchmark = benchmark.clone();
            benchmark.sampling.samples = SampleCount::Fixed(CONFIRM_SAMPLES);
            benchmark.head_alone_until = 0;
            (*place, benchmark)
        })
        .collect()
}

fn refuse_nothing(found: &Benchmarks, asked_for: &[String]) -> Result<(), Error> {
    match (found.evidence.is_empty(), found.left_out.as_slice()) {
        (false, _) => {}
        (true, []) => {
            let message = "the suite selects no benchmark; `cargo benchgate list` shows it";
            return Err(Error::Usage(message.to_owned()));
        }
        (true, left_out) => {
            let shown: Vec<String> =
                left_out.iter().take(8).map(|id| crate::report::text::visible(id)).collect();
            let more = if shown.len() < left_out.len() { ", …" } else { "" };
            return Err(Error::Usage(format!(
                "nothing is selected: the filters leave out all of {} ({}{more}); `--filter` and `--skip` take globs over ids, such as \
                 'group/*'",
                counted(left_out.len(), "benchmark"),
                shown.join(", ")
            )));
        }
    }
    // A flag that does nothing anywhere is a mistake; where only some harnesses can measure it, the others go without.
    for name in asked_for {
        let metric = Metric::from_name(name);
        let measured = |(place, _): &(usize, PlannedBenchmark)| {
            found.evidence[*place].settings.metrics.contains_key(&metric)
        };
        if !found.planned.is_empty() && !found.planned.iter().any(measured) {
            return Err(Error::Usage(format!(
                "`--metric {name}`: none of the selected benchmarks can measure it; harnesses that time functions inside a process \
                 give `latency` alone"
            )));
        }
    }
    Ok(())
}

fn start_line(planned: &[(usize, PlannedBenchmark)], seed: u64) -> String {
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

fn counted(count: usize, noun: &str) -> String {
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
            "max_time is too short: the least number of samples for every benchmark takes about {} s in all, max_time is {} s; some \
             will not be measured; raise max_time, select fewer benchmarks, or lower min_samples",
            needed.as_secs_f64().ceil(),
            available.as_secs()
        ));
    }
}

/// A directory in the slot for this run alone; what a killed run left in it goes first.
struct Scratch(PathBuf);

impl Scratch {
    fn make(slot: &Slot) -> Result<Self, Error> {
        let path = slot.directory().join("run");
        if path.exists() {
            fs_err::remove_dir_all(&path).map_err(|error| {
                Error::Execution(format!("failed to clear the scratch directory: {error}"))
            })?;
        }
        fs_err::create_dir(&path)
            .map_err(|error| Error::Execution(format!("failed to make the scratch directory: {error}")))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next run clears what cannot be removed now.
        let _ = fs_err::remove_dir_all(&self.0);
    }
}
