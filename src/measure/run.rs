//! The driver: rounds of unit runs, until every benchmark has what it needs.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harness::contract::RunBudget;
use crate::verdict::evidence::{BenchmarkError, StoppedBecause, UnitRun};

use super::executor::Executor;
use super::group::Group;
use super::plan::{MeasurePlan, PlannedBenchmark};
use super::progress::{Observer, Part, Progress};
use super::schedule::Schedule;
use super::state::State;
use super::unit::{self, Failure, Sample, Unit};

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
    let mut driver = Driver::new(plan, executor, stop, observer, interrupted);
    // An interrupt breaks out of each part, and of those after it at once.
    let flow = driver.warm_up();
    let flow = if flow.is_continue() { driver.rounds() } else { flow };
    let flow = if flow.is_continue() { driver.head_alone() } else { flow };
    driver.finish(flow.is_break())
}

pub(super) struct Driver<'a> {
    pub(super) plan: &'a MeasurePlan,
    pub(super) executor: &'a mut dyn Executor,
    stop: &'a dyn StopRule,
    pub(super) observer: &'a mut dyn Observer,
    interrupted: &'a AtomicBool,
    started: Duration,
    pub(super) states: Vec<State<'a>>,
    pub(super) groups: Vec<Group>,
    sequence: u64,
    /// `max_time` was found too short for all.
    pub(super) short: bool,
}

/// How a row of unit runs ended.
pub(super) enum Row {
    /// With the samples of every benchmark that has all of them.
    Whole(Vec<Taken>),
    /// Without any.
    Dropped,
    OutOfTime,
}

/// A sample with its place in the run.
pub(super) struct Taken {
    /// Of the benchmark in the plan.
    pub(super) place: usize,
    pub(super) side: usize,
    pub(super) sequence: u64,
    pub(super) sample: Sample,
}

pub(super) type Flow = ControlFlow<()>;

impl<'a> Driver<'a> {
    pub(super) fn new(
        plan: &'a MeasurePlan,
        executor: &'a mut dyn Executor,
        stop: &'a dyn StopRule,
        observer: &'a mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Self {
        let started = executor.elapsed();
        let states = plan.benchmarks.iter().map(State::new).collect();
        let groups = Group::all(&plan.benchmarks);
        let sequence = plan.first_sequence;
        Self { plan, executor, stop, observer, interrupted, started, states, groups, sequence, short: false }
    }

    fn warm_up(&mut self) -> Flow {
        let most = self.plan.benchmarks.iter().map(|planned| planned.sampling.warmup).max().unwrap_or(0);
        for round in 0..most.div_ceil(2) {
            let schedule = self.schedule(true);
            for at in schedule.benchmarks(round, self.groups.len()) {
                let open = self.groups[at].open(&self.states);
                let warmup = |&place: &usize| self.states[place].planned.sampling.warmup;
                let left = open.iter().map(warmup).max().unwrap_or(0).saturating_sub(2 * round);
                if left == 0 {
                    continue;
                }
                let group = &self.groups[at];
                let identity = &self.states[group.first()].planned.identity;
                let order = match left {
                    1 => schedule.half(identity, round, &group.sides),
                    _ => schedule.palindrome(identity, round, &group.sides),
                };
                match self.row(at, &open, &order, Part::WarmUp)? {
                    Row::Whole(samples) => {
                        for place in open {
                            self.states[place].learn_latency(place, &samples);
                        }
                    }
                    Row::Dropped => {}
                    Row::OutOfTime => return self.out_of_time_early(),
                }
            }
            self.report(Part::WarmUp, round + 1);
        }
        ControlFlow::Continue(())
    }

    pub(super) fn rounds(&mut self) -> Flow {
        let schedule = self.schedule(false);
        for round in 0_u32.. {
            let now = self.choose();
            if now.is_empty() {
                break;
            }
            for at in schedule.benchmarks(round, self.groups.len()) {
                if !now.contains(&at) || !self.groups[at].is_open(&self.states) {
                    continue;
                }
                if self.would_exceed(self.groups[at].round_cost(&self.states)) {
                    self.stop_for_time(at);
                    continue;
                }
                let open = self.groups[at].open(&self.states);
                let group = &mut self.groups[at];
                let identity = &self.states[group.first()].planned.identity;
                let order = schedule.palindrome(identity, group.rounds, &group.sides);
                group.rounds += 1;
                match self.row(at, &open, &order, Part::Rounds)? {
                    Row::Whole(samples) => {
                        self.keep(at, samples);
                        for place in open {
                            let state = &mut self.states[place];
                            // One that lost this round to a failure is asked after its next one.
                            if state.is_open() {
                                state.judge(place, self.stop);
                            }
                        }
                    }
                    Row::Dropped => {}
                    Row::OutOfTime if round == 0 => return self.out_of_time_early(),
                    Row::OutOfTime => self.stop_for_time(at),
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
        let mut given_up = vec![false; self.groups.len()];
        for round in 0_u32.. {
            let mut any = false;
            for at in schedule.benchmarks(round, self.groups.len()) {
                let wants = |&place: &usize| self.states[place].wants_head_alone();
                let open: Vec<usize> = self.groups[at].members.iter().copied().filter(wants).collect();
                if given_up[at] || open.is_empty() {
                    continue;
                }
                if self.would_exceed(self.groups[at].unit_cost.map(|cost| cost * 2)) {
                    given_up[at] = true;
                    continue;
                }
                any = true;
                let group = &mut self.groups[at];
                group.rounds += 1;
                let order = [self.states[group.first()].planned.head(); 2];
                match self.row(at, &open, &order, Part::HeadAlone)? {
                    Row::Whole(samples) => self.keep(at, samples),
                    Row::Dropped => {}
                    Row::OutOfTime => given_up[at] = true,
                }
            }
            if !any {
                break;
            }
            self.report(Part::HeadAlone, round + 1);
        }
        ControlFlow::Continue(())
    }

    pub(super) fn keep(&mut self, at: usize, samples: Vec<Taken>) {
        let round = self.groups[at].rounds - 1;
        for taken in samples {
            self.states[taken.place].keep(taken, self.plan.stage, round);
        }
    }

    /// The unit runs of some benchmarks of one group in one round. What fails for a benchmark takes its other samples of
    /// the row along, which have lost their counterpart; a process that fails ends the row for all.
    pub(super) fn row(
        &mut self,
        at: usize,
        places: &[usize],
        order: &[usize],
        part: Part,
    ) -> ControlFlow<(), Row> {
        let lockstep = part != Part::HeadAlone && self.groups[at].is_lockstep(&self.states);
        // Two processes in the two orders make up the four runs of a palindrome.
        let order = if lockstep { &order[..order.len().min(2)] } else { order };
        let mut places = places.to_vec();
        let mut samples: Vec<Taken> = Vec::with_capacity(order.len() * places.len());
        for &side in order {
            if self.interrupted.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            if self.would_exceed(Some(Duration::ZERO)) {
                return ControlFlow::Continue(Row::OutOfTime);
            }
            let budget = self.budget(&places, part);
            let members: Vec<&PlannedBenchmark> =
                places.iter().map(|&place| self.states[place].planned).collect();
            let unit = Unit { members: &members, side, lockstep, budget };
            let before = self.executor.elapsed();
            let result = unit::run(self.executor, &unit);
            let cost = self.executor.elapsed().saturating_sub(before);
            let sequence = self.sequence;
            self.sequence += u64::from(part != Part::WarmUp);
            let given = match result {
                Ok(given) => given,
                Err(Failure::Interrupted) => return ControlFlow::Break(()),
                Err(Failure::Failed(trouble)) => {
                    // Two programs that do not understand each other may still run one after the other.
                    self.groups[at].solo |=
                        lockstep && places.iter().all(|&place| self.states[place].samples() == 0);
                    for &place in &places {
                        let state = &mut self.states[place];
                        state.fail(trouble.of(state.planned, side));
                    }
                    return ControlFlow::Continue(Row::Dropped);
                }
            };
            self.groups[at].learn_cost(cost, part == Part::WarmUp);
            let mut lost = Vec::new();
            for (member, side, sample) in given {
                let place = places[member];
                let state = &mut self.states[place];
                match sample {
                    Ok(sample) => {
                        state.quick |= part == Part::WarmUp && (budget.quick || sample.overlong);
                        samples.push(Taken { place, side, sequence, sample });
                    }
                    Err(trouble) => {
                        state.fail(trouble.of(state.planned, side));
                        lost.push(place);
                    }
                }
            }
            samples.retain(|taken| !lost.contains(&taken.place));
            places.retain(|place| !lost.contains(place));
            if places.is_empty() {
                return ControlFlow::Continue(Row::Dropped);
            }
        }
        ControlFlow::Continue(Row::Whole(samples))
    }

    /// What one unit run of these may cost.
    fn budget(&self, places: &[usize], part: Part) -> RunBudget {
        let states = || places.iter().map(|&place| &self.states[place]);
        let timeout = states().map(|state| state.planned.sampling.timeout_ns).max().unwrap_or(0);
        let timeout = Duration::from_nanos(timeout);
        let quick = match part {
            Part::WarmUp => places.iter().any(|&place| self.is_quick(place)),
            // Settled before the first kept run, so that all samples are taken in one way.
            Part::Rounds | Part::HeadAlone | Part::Counting => states().any(|state| state.quick),
        };
        match part {
            Part::WarmUp => RunBudget { quick, ..RunBudget::cheapest(timeout) },
            Part::Rounds | Part::HeadAlone | Part::Counting => {
                let hints = states().filter_map(|state| state.latency_hint_ns);
                RunBudget { timeout, latency_hint_ns: hints.min_by(f64::total_cmp), quick }
            }
        }
    }

    /// Whether a warm-up run should be quick. One benchmark that sets its own time tells it of its whole group: a run
    /// of seconds for each of them could use up `max_time`.
    fn is_quick(&self, place: usize) -> bool {
        let state = &self.states[place];
        state.quick || self.states.iter().any(|other| other.quick && other.is_sibling(state))
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.executor.elapsed().saturating_sub(self.started)
    }

    pub(super) fn schedule(&self, warm_up: bool) -> Schedule {
        Schedule { seed: self.plan.seed, stage: self.plan.stage, warm_up }
    }

    pub(super) fn report(&mut self, part: Part, rounds: u32) {
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

    pub(super) fn finish(self, interrupted: bool) -> Measured {
        let elapsed = self.elapsed();
        let benchmarks = self.states.into_iter().map(|state| state.finish(interrupted)).collect();
        Measured { benchmarks, next_sequence: self.sequence, elapsed, interrupted }
    }
}
