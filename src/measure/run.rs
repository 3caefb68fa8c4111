//! The driver: rounds of unit runs, until every benchmark has what it needs.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harness::contract::RunBudget;
use crate::verdict::evidence::{BenchmarkError, StoppedBecause, UnitRun};

use super::executor::Executor;
use super::plan::MeasurePlan;
use super::progress::{Observer, Part, Progress};
use super::schedule::Schedule;
use super::state::State;
use super::time;
use super::unit::{self, Failure, Sample};

/// Whether a benchmark has enough samples.
pub trait StopRule {
    /// Asked after each round of a benchmark whose number of samples is adaptive, between its least and its most.
    /// `runs` are its kept runs by side.
    fn stop(&self, benchmark: usize, runs: &[Vec<UnitRun>]) -> Option<StoppedBecause>;
}

/// Stops as soon as the least number of samples and the least time are reached.
#[derive(Debug, Clone, Copy)]
pub struct StopAtMinimum;

impl StopRule for StopAtMinimum {
    fn stop(&self, _benchmark: usize, _runs: &[Vec<UnitRun>]) -> Option<StoppedBecause> {
        Some(StoppedBecause::MinReached)
    }
}

/// What came of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The benchmarks, in the plan's order.
    pub benchmarks: Vec<MeasuredBenchmark>,
    /// The sequence number after the last unit run.
    pub next_sequence: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether the user ended it.
    pub interrupted: bool,
}

/// What came of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredBenchmark {
    /// The kept runs by side, in the order they were made. Only whole rounds are kept.
    pub sides: Vec<Vec<UnitRun>>,
    /// Why measuring ended; `None` where no side was to be measured.
    pub stopped_because: Option<StoppedBecause>,
    /// Why it has no result, when it has none.
    pub error: Option<BenchmarkError>,
    /// The failed unit runs, each of which cost a round.
    pub failures: Vec<BenchmarkError>,
    /// Its own code sets a long measuring time, so it was measured in the harness's quick way.
    pub quick: bool,
    /// The work of one iteration in the benchmark's words, by side.
    pub stated_work: Vec<Option<String>>,
}

/// Measures a plan: all benchmarks in every round, the sides of each interleaved.
///
/// When `max_time` turns out too short after the first round, those that can still be finished are measured first, the
/// cheapest first of all.
pub fn measure(
    plan: &MeasurePlan,
    executor: &mut dyn Executor,
    stop: &dyn StopRule,
    observer: &mut dyn Observer,
    interrupted: &AtomicBool,
) -> Measured {
    let started = executor.elapsed();
    let states = plan.benchmarks.iter().map(State::new).collect();
    let sequence = plan.first_sequence;
    let mut driver =
        Driver { plan, executor, stop, observer, interrupted, started, states, sequence, short: false };
    // An interrupt breaks out of each part, and of those after it at once.
    let flow = driver.warm_up();
    let flow = if flow.is_continue() { driver.rounds() } else { flow };
    let flow = if flow.is_continue() { driver.head_alone() } else { flow };
    driver.finish(flow.is_break())
}

struct Driver<'a> {
    plan: &'a MeasurePlan,
    executor: &'a mut dyn Executor,
    stop: &'a dyn StopRule,
    observer: &'a mut dyn Observer,
    interrupted: &'a AtomicBool,
    started: Duration,
    states: Vec<State<'a>>,
    sequence: u64,
    /// `max_time` was found too short for all.
    short: bool,
}

/// How a row of unit runs ended.
enum Row {
    Whole(Vec<Taken>),
    Dropped,
    OutOfTime,
}

/// A sample with its place in the run.
pub(super) struct Taken {
    pub(super) side: usize,
    pub(super) sequence: u64,
    pub(super) sample: Sample,
}

type Flow = ControlFlow<()>;

impl Driver<'_> {
    fn warm_up(&mut self) -> Flow {
        let most = self.plan.benchmarks.iter().map(|planned| planned.sampling.warmup).max().unwrap_or(0);
        for round in 0..most.div_ceil(2) {
            let schedule = self.schedule(true);
            for place in schedule.benchmarks(round, self.states.len()) {
                let state = &self.states[place];
                let left = state.planned.sampling.warmup.saturating_sub(2 * round);
                if !state.is_open() || left == 0 {
                    continue;
                }
                let identity = &state.planned.identity;
                let order = match left {
                    1 => schedule.half(identity, round, &state.measured),
                    _ => schedule.palindrome(identity, round, &state.measured),
                };
                match self.row(place, &order, Part::WarmUp)? {
                    Row::Whole(samples) => self.states[place].learn_latency(&samples),
                    Row::Dropped => {}
                    Row::OutOfTime => return self.out_of_time_early(),
                }
            }
            self.report(Part::WarmUp, round + 1);
        }
        ControlFlow::Continue(())
    }

    fn rounds(&mut self) -> Flow {
        let schedule = self.schedule(false);
        for round in 0_u32.. {
            let now = self.choose();
            if now.is_empty() {
                break;
            }
            for place in schedule.benchmarks(round, self.states.len()) {
                if !now.contains(&place) || !self.states[place].is_open() {
                    continue;
                }
                if self.would_exceed(self.states[place].round_cost()) {
                    self.stop_for_time(place);
                    continue;
                }
                let state = &mut self.states[place];
                let order = schedule.palindrome(&state.planned.identity, state.rounds, &state.measured);
                state.rounds += 1;
                match self.row(place, &order, Part::Rounds)? {
                    Row::Whole(samples) => {
                        let state = &mut self.states[place];
                        state.keep(samples, self.plan.stage);
                        state.judge(place, self.stop);
                    }
                    Row::Dropped => {}
                    Row::OutOfTime if round == 0 => return self.out_of_time_early(),
                    Row::OutOfTime => self.stop_for_time(place),
                }
            }
            if round == 0 {
                self.check_time();
            }
            self.report(Part::Rounds, round + 1);
        }
        ControlFlow::Continue(())
    }

    /// Head on its own, after all that is compared: it must not take time from a comparison.
    fn head_alone(&mut self) -> Flow {
        let schedule = self.schedule(false);
        let mut open: Vec<bool> = self
            .states
            .iter()
            .map(|state| state.error.is_none() && state.measured.contains(&state.planned.head()))
            .collect();
        for round in 0_u32.. {
            for (open, state) in open.iter_mut().zip(&self.states) {
                *open &= state.error.is_none()
                    && state.runs.get(state.planned.head()).map_or(0, Vec::len)
                        < state.planned.head_alone_until as usize;
            }
            if !open.contains(&true) {
                break;
            }
            for place in schedule.benchmarks(round, self.states.len()) {
                if !open[place] {
                    continue;
                }
                if self.would_exceed(self.states[place].unit_cost.map(|cost| cost * 2)) {
                    open[place] = false;
                    continue;
                }
                let state = &mut self.states[place];
                state.rounds += 1;
                let order = [state.planned.head(); 2];
                match self.row(place, &order, Part::HeadAlone)? {
                    Row::Whole(samples) => self.states[place].keep(samples, self.plan.stage),
                    Row::Dropped => {}
                    Row::OutOfTime => open[place] = false,
                }
            }
            self.report(Part::HeadAlone, round + 1);
        }
        ControlFlow::Continue(())
    }

    /// The unit runs of one benchmark in one round. One that fails ends the row, whose other samples have lost their
    /// counterpart.
    fn row(&mut self, place: usize, order: &[usize], part: Part) -> ControlFlow<(), Row> {
        let mut samples = Vec::with_capacity(order.len());
        for &side in order {
            if self.interrupted.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            if self.would_exceed(Some(Duration::ZERO)) {
                return ControlFlow::Continue(Row::OutOfTime);
            }
            let state = &self.states[place];
            let timeout = Duration::from_nanos(state.planned.sampling.timeout_ns);
            let quick = match part {
                Part::WarmUp => self.is_quick(place),
                // Settled before the first kept run, so that all samples are taken in one way.
                Part::Rounds | Part::HeadAlone => state.quick,
            };
            let budget = match part {
                Part::WarmUp => RunBudget { quick, ..RunBudget::cheapest(timeout) },
                Part::Rounds | Part::HeadAlone => {
                    RunBudget { timeout, latency_hint_ns: state.latency_hint_ns, quick }
                }
            };
            let before = self.executor.elapsed();
            let result = unit::run(self.executor, state.planned, side, budget);
            let cost = self.executor.elapsed().saturating_sub(before);
            let sequence = self.sequence;
            self.sequence += u64::from(part != Part::WarmUp);
            match result {
                Ok(sample) => {
                    let state = &mut self.states[place];
                    state.learn_cost(cost, part == Part::WarmUp);
                    state.quick |= part == Part::WarmUp && (quick || sample.overlong);
                    samples.push(Taken { side, sequence, sample });
                }
                Err(Failure::Interrupted) => return ControlFlow::Break(()),
                Err(Failure::Failed(error)) => {
                    self.states[place].fail(error);
                    return ControlFlow::Continue(Row::Dropped);
                }
            }
        }
        ControlFlow::Continue(Row::Whole(samples))
    }

    /// Whether a warm-up run should be quick. One benchmark that sets its own time tells it of its whole group: a run
    /// of seconds for each of them could use up `max_time`.
    fn is_quick(&self, place: usize) -> bool {
        let state = &self.states[place];
        state.quick || self.states.iter().any(|other| other.quick && other.is_sibling(state))
    }

    /// The benchmarks of the next round.
    fn choose(&mut self) -> Vec<usize> {
        let open = |states: &[State<'_>], wanted: &dyn Fn(&State<'_>) -> bool| -> Vec<usize> {
            (0..states.len()).filter(|&place| states[place].is_open() && wanted(&states[place])).collect()
        };
        if !self.short {
            return open(&self.states, &|_| true);
        }
        let lacking = |state: &State<'_>| !state.postponed && !state.has_needed();
        let first = open(&self.states, &lacking);
        if !first.is_empty() {
            return first;
        }
        // The chosen ones are through, perhaps sooner than thought: look whether others fit now.
        self.admit();
        let next = open(&self.states, &lacking);
        if !next.is_empty() {
            return next;
        }
        let rest = open(&self.states, &|state| !state.postponed);
        if rest.is_empty() {
            open(&self.states, &|_| true).into_iter().for_each(|place| self.stop_for_time(place));
        }
        rest
    }

    /// Says after the first round if the time is too short for all, and chooses those that fit.
    fn check_time(&mut self) {
        let Some(max_time) = self.plan.max_time else { return };
        let needed = self.elapsed() + self.least_left();
        if needed <= max_time {
            return;
        }
        self.short = true;
        self.observer.time_is_short(needed, max_time);
        self.admit();
    }

    /// Sets aside the benchmarks whose needed number of samples does not fit in the time left.
    fn admit(&mut self) {
        let Some(max_time) = self.plan.max_time else { return };
        let left = max_time.saturating_sub(self.elapsed());
        let unknown = self.mean_unit_cost();
        let needs: Vec<(usize, Duration)> = (0..self.states.len())
            .filter(|&place| self.states[place].is_open() && !self.states[place].has_needed())
            .map(|place| (place, self.states[place].least_left(unknown)))
            .collect();
        let mut fits = time::fitting(left, &needs);
        let any_through = self.states.iter().any(|state| state.error.is_none() && state.has_needed());
        if fits.is_empty() && !any_through {
            // Estimates err: better try the cheapest than end with nothing.
            fits.extend(needs.iter().min_by_key(|&&(place, need)| (need, place)).map(|&(place, _)| place));
        }
        for (place, _) in needs {
            self.states[place].postponed = !fits.contains(&place);
        }
    }

    /// The time ran out before every benchmark had its first round.
    fn out_of_time_early(&mut self) -> Flow {
        if let Some(max_time) = self.plan.max_time {
            let needed = self.elapsed() + self.least_left();
            self.observer.time_is_short(needed, max_time);
        }
        (0..self.states.len()).for_each(|place| self.stop_for_time(place));
        ControlFlow::Continue(())
    }

    fn stop_for_time(&mut self, place: usize) {
        if let Some(max_time) = self.plan.max_time
            && self.states[place].is_open()
        {
            self.states[place].run_out_of_time(max_time);
        }
    }

    /// Whether something that takes so long would end after `max_time`. What nothing is known of never does.
    fn would_exceed(&self, cost: Option<Duration>) -> bool {
        let (Some(max_time), Some(cost)) = (self.plan.max_time, cost) else { return false };
        let now = self.elapsed();
        max_time <= now || max_time < now + cost
    }

    /// What the needed numbers of samples will still take, of those without for lack of time as well.
    fn least_left(&self) -> Duration {
        let unknown = self.mean_unit_cost();
        self.states.iter().filter(|state| state.wants_time()).map(|state| state.least_left(unknown)).sum()
    }

    /// Stands in for the cost of benchmarks that never ran; with none that did, one run has taken all the time so far.
    fn mean_unit_cost(&self) -> Duration {
        let known: Vec<Duration> = self.states.iter().filter_map(|state| state.unit_cost).collect();
        match u32::try_from(known.len()) {
            Ok(count) if 0 < count => known.iter().sum::<Duration>() / count,
            _ => self.elapsed(),
        }
    }

    fn elapsed(&self) -> Duration {
        self.executor.elapsed().saturating_sub(self.started)
    }

    fn schedule(&self, warm_up: bool) -> Schedule {
        Schedule { seed: self.plan.seed, stage: self.plan.stage, warm_up }
    }

    fn report(&mut self, part: Part, rounds: u32) {
        let progress = Progress {
            stage: self.plan.stage,
            part,
            rounds,
            benchmarks: self.states.len(),
            finished: self.states.iter().filter(|state| !state.is_open()).count(),
            failed: self.states.iter().filter(|state| state.error.is_some()).count(),
            elapsed: self.elapsed(),
            max_time: self.plan.max_time,
            least_left: self.least_left(),
        };
        self.observer.round_finished(&progress);
    }

    fn finish(self, interrupted: bool) -> Measured {
        let elapsed = self.elapsed();
        let benchmarks = self.states.into_iter().map(|state| state.finish(interrupted)).collect();
        Measured { benchmarks, next_sequence: self.sequence, elapsed, interrupted }
    }
}
