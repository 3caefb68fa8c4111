//! The measuring phase: lists, rounds, and the evidence that comes of them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Context;
use super::benchmarks::{self, Benchmarks, Finder};
use super::counting;
use super::hooks::{GRACE, Hooks};
use super::phase::{self, Phase, Placed, counted};
use super::programs::Programs;
use super::shard;
use crate::error::Error;
use crate::measure::{Executor, LiveExecutor, RunnerClient};
use crate::report::model::Shard;
use crate::revision::Slot;
use crate::suite::Suite;
use crate::suite::metric::Metric;
use crate::suite::settings::{BenchmarkSettings, SampleCount};
use crate::verdict::evidence::{ErrorKind, Evidence, Stage};
use crate::verdict::levels::CONFIRM_SAMPLES;
use crate::verdict::{self, RunContext};

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
    let scratch = Scratch::make(slot, programs)?;
    let mut hooks = Hooks::default();
    let mut measured = find_and_measure(context, suite, (slot, &scratch.run), programs, seeds, &mut hooks);
    if hooks.owes_cleanup() {
        clean_up(context, (slot, &scratch.run), programs, &mut hooks, &mut measured);
    }
    measured
}

/// Runs the cleanups of the suite, which an interrupt makes short but does not skip. One that fails is an error of the
/// benchmarks it belongs to.
fn clean_up(
    context: &Context<'_>,
    (slot, scratch): (&Slot, &Path),
    programs: &Programs,
    hooks: &mut Hooks,
    measured: &mut Result<Vec<Measured>, Error>,
) {
    let environment = context.environment;
    let client = RunnerClient::new(&environment.own_executable, scratch);
    let switch = |revision: usize| slot.point_at(&programs.sides[revision].place);
    let (give_up, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let failures = std::thread::scope(|scope| {
        scope.spawn(|| grant_grace(&environment.interrupted, &give_up, &done));
        let _done = Done(&done);
        hooks.finish(&mut LiveExecutor::new(client, switch, &give_up))
    });
    for (owner, failure) in failures {
        let Ok(measured) = measured else {
            context.ui.warn(&failure.message);
            continue;
        };
        for evidence in measured.iter_mut().flat_map(|measured| &mut measured.evidence) {
            let identity = &evidence.identity;
            if identity.target == owner.target && identity.variant == owner.variant {
                evidence.error.get_or_insert_with(|| failure.clone());
            }
        }
    }
}

/// Says that it is over when it is dropped, in a panic too: who waits for it would wait for ever.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sets `give_up` once the user's interrupt is [`GRACE`] old, unless it is all `done` before.
fn grant_grace(interrupted: &AtomicBool, give_up: &AtomicBool, done: &AtomicBool) {
    const TICK: Duration = Duration::from_millis(5);
    let mut since: Option<Instant> = None;
    while !done.load(Ordering::Relaxed) {
        if interrupted.load(Ordering::Relaxed) && GRACE < since.get_or_insert_with(Instant::now).elapsed() {
            give_up.store(true, Ordering::Relaxed);
        }
        std::thread::sleep(TICK);
    }
}

/// Lists and measures; what `hooks` owes afterwards is the caller's.
fn find_and_measure(
    context: &Context<'_>,
    suite: &Suite,
    (slot, scratch): (&Slot, &Path),
    programs: &Programs,
    seeds: &[u64],
    hooks: &mut Hooks,
) -> Result<Vec<Measured>, Error> {
    let environment = context.environment;
    let client = RunnerClient::new(&environment.own_executable, scratch);
    let switch = |revision: usize| slot.point_at(&programs.sides[revision].place);
    let mut executor = LiveExecutor::new(client, switch, &environment.interrupted);
    let (head_tree, live_tree) = (slot.tree(&programs.head().place), slot.live_tree());
    let finder = Finder {
        context,
        suite,
        programs,
        head_tree: &head_tree,
        live_tree: &live_tree,
        variant: 0,
        executor: &mut executor,
        hooks: &mut *hooks,
        slot,
        together: Vec::new(),
        found: Benchmarks::default(),
        listed: Vec::new(),
    };
    let mut found = finder.find()?;
    if !found.interrupted {
        refuse_nothing(&found, &context.request.overrides.metrics)?;
    }
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
    set_up(&mut found, hooks, &mut executor);
    if !found.interrupted {
        counting::choose(&mut found, &mut executor, environment.variable("PATH"));
    }
    if !found.planned.is_empty() && !found.interrupted {
        programs.settle()?;
    }
    let labels: Vec<(String, &BenchmarkSettings)> = found
        .planned
        .iter()
        .map(|(place, benchmark)| (benchmark.identity.label(), &found.evidence[*place].settings))
        .collect();
    for warning in verdict::warnings::before_measuring(&labels) {
        context.ui.warn(crate::report::text::visible(&warning));
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

/// Runs the setups that the planned benchmarks need. One that fails is the error of its benchmark, which is not measured.
fn set_up(found: &mut Benchmarks, hooks: &mut Hooks, executor: &mut dyn Executor) {
    for (place, owner, commands) in std::mem::take(&mut found.setups) {
        if found.interrupted {
            return;
        }
        match hooks.begin(executor, owner, &commands) {
            Ok(()) => {}
            Err(trouble) if trouble.kind == ErrorKind::Interrupted => found.interrupted = true,
            Err(trouble) => {
                found.evidence[place].error.get_or_insert(*trouble);
                found.planned.retain(|(planned, _)| *planned != place);
            }
        }
    }
}

/// Runs the rounds of everything planned. Takes any executor, so that whole runs are tested without a clock.
pub(super) fn run_rounds(mut phase: Phase<'_>, found: &Benchmarks, executor: &mut dyn Executor) -> Measured {
    let ui = phase.ui;
    let planned = &found.planned;
    let mut evidence = found.evidence.clone();
    phase.notes.clone_from(&found.notes);
    if found.interrupted {
        for (place, _) in planned {
            evidence[*place].error.get_or_insert_with(benchmarks::interrupted);
        }
    } else if !planned.is_empty() {
        // Of rows without a measurement there is nothing to wait for; they say why.
        ui.status("Measuring", phase::start_line(planned, phase.seed));
        phase.run(&mut evidence, planned, executor);
        let counting = counting::plans(planned, &evidence, &found.counted);
        if !counting.is_empty() && !phase.is_interrupted() {
            ui.status("Counting", format!("instructions of {}", counted(counting.len(), "benchmark")));
            phase.count(&mut evidence, &counting, executor);
        }
        confirm(&mut phase, &mut evidence, found, executor);
    }
    for (place, error) in &found.errors {
        evidence[*place].error.get_or_insert_with(|| error.clone());
    }
    counting::explain(&mut evidence, &found.not_counted);
    for note in &phase.notes {
        ui.warn(note);
    }
    Measured {
        evidence,
        interrupted: found.interrupted || phase.is_interrupted(),
        notes: phase.notes,
        shard: found.shard.clone(),
        filtered: !found.left_out.is_empty(),
    }
}

/// Measures again what may fail the run: times and counts each where they are the reason.
fn confirm(
    phase: &mut Phase<'_>,
    evidence: &mut [Evidence],
    found: &Benchmarks,
    executor: &mut dyn Executor,
) {
    let context = RunContext { seed: phase.seed, ..RunContext::default() };
    let candidates = verdict::confirmation_metrics(evidence, &context);
    if candidates.is_empty() || phase.is_interrupted() {
        return;
    }
    let again = |planned: Vec<Placed>, wanted: &dyn Fn(usize, &Metric) -> bool| -> Vec<Placed> {
        let chosen = planned.into_iter().filter(|(place, _)| {
            candidates.iter().any(|(candidate, metrics)| {
                candidate == place && metrics.iter().any(|metric| wanted(*place, metric))
            })
        });
        let fixed = chosen.map(|(place, mut benchmark)| {
            // Who wants more samples than that wants them of what decides, too.
            benchmark.sampling.samples = SampleCount::Fixed(match benchmark.sampling.samples {
                SampleCount::Fixed(wanted) => wanted.max(CONFIRM_SAMPLES),
                SampleCount::Adaptive { .. } => CONFIRM_SAMPLES,
            });
            benchmark.head_alone_until = 0;
            (place, benchmark)
        });
        fixed.collect()
    };
    let is_counted =
        |place: usize, metric: &Metric| *metric == Metric::Instructions && found.counted.contains(&place);
    let times = again(found.planned.clone(), &|place, metric| !is_counted(place, metric));
    let counts = counting::plans(&found.planned, evidence, &found.counted);
    let counts = again(counts, &is_counted);
    phase.ui.status(
        "Confirming",
        format!(
            "{} that may fail the run, at least {CONFIRM_SAMPLES} fresh samples a side",
            counted(candidates.len(), "benchmark")
        ),
    );
    phase.stage = Stage::Confirm;
    if !times.is_empty() {
        phase.run(evidence, &times, executor);
    }
    if !counts.is_empty() && !phase.is_interrupted() {
        phase.count(evidence, &counts, executor);
    }
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
            let benchmarks = format!("{} ({}{more})", counted(left_out.len(), "benchmark"), shown.join(", "));
            return Err(Error::AllLeftOut { benchmarks });
        }
    }
    // A flag that does nothing anywhere is a mistake; where only some harnesses can measure it, the others go without.
    for name in asked_for {
        let metric = Metric::from_name(name);
        let measured = |(place, _): &Placed| found.evidence[*place].settings.metrics.contains_key(&metric);
        if !found.planned.is_empty() && !found.planned.iter().any(measured) {
            if let Metric::Own(_) = metric {
                return Err(Error::Usage(format!(
                    "`--metric {name}`: none of the selected benchmarks declares it; select one whose table or entry does"
                )));
            }
            return Err(Error::Usage(format!(
                "`--metric {name}`: none of the selected benchmarks can measure it; `cargo benchgate list` tells their harnesses, \
                 and the README which metrics each of them has"
            )));
        }
    }
    Ok(())
}

/// Directories in the slot for this run alone: one of the run, and one for what benchmarks make in each revision. What a
/// killed run left in them goes first.
struct Scratch {
    run: PathBuf,
    work: Vec<PathBuf>,
}

impl Scratch {
    fn make(slot: &Slot, programs: &Programs) -> Result<Self, Error> {
        let work = programs.sides.iter().map(|side| slot.works(&side.place)).collect();
        let scratch = Self { run: slot.directory().join("run"), work };
        for path in scratch.all().filter(|path| path.exists()) {
            fs_err::remove_dir_all(path).map_err(|error| {
                Error::Execution(format!("failed to clear the scratch directory: {error}"))
            })?;
        }
        fs_err::create_dir(&scratch.run)
            .map_err(|error| Error::Execution(format!("failed to make the scratch directory: {error}")))?;
        Ok(scratch)
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.work.iter().chain([&self.run])
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next run clears what cannot be removed now.
        self.all().for_each(|path| drop(fs_err::remove_dir_all(path)));
    }
}
