//! Counting instructions: one run a side tells an exact count; one that differs from run to run is measured like a time.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use crate::suite::metric::Metric;
use crate::verdict::evidence::{StoppedBecause, UnitRun};

use super::executor::Executor;
use super::plan::MeasurePlan;
use super::progress::{Observer, Part};
use super::run::{Driver, Flow, Measured, Row, StopRule};

/// Counts the instructions of the benchmarks of a plan, whose unit runs have to be counting ones.
///
/// Each side runs once, and the first side twice. Where these two agree the count is exact, and that is all. Where they
/// do not, as with randomly seeded hash maps, the runs are thrown away and rounds follow, as of any other metric.
pub fn count(
    plan: &MeasurePlan,
    executor: &mut dyn Executor,
    stop: &dyn StopRule,
    observer: &mut dyn Observer,
    interrupted: &AtomicBool,
) -> Measured {
    let mut driver = Driver::new(plan, executor, stop, observer, interrupted);
    let flow = driver.count_once();
    if flow.is_break() {
        return driver.finish(true);
    }
    let first: Vec<Option<Vec<Vec<UnitRun>>>> = driver
        .states
        .iter_mut()
        .map(|state| {
            let side = state.measured.first().copied().filter(|_| state.is_open())?;
            if agree(&state.runs[side]) {
                state.stopped = Some(StoppedBecause::FixedSamples);
                return None;
            }
            let empty = vec![Vec::new(); state.runs.len()];
            state.wall_ns.iter_mut().for_each(|wall| *wall = 0);
            Some(std::mem::replace(&mut state.runs, empty))
        })
        .collect();
    let flow = driver.rounds();
    for (state, first) in driver.states.iter_mut().zip(first) {
        // Better too few runs than none.
        if let Some(first) = first.filter(|_| state.runs.iter().all(Vec::is_empty)) {
            state.runs = first;
        }
    }
    driver.finish(flow.is_break())
}

impl Driver<'_> {
    /// Every side once, and the first one again.
    fn count_once(&mut self) -> Flow {
        let schedule = self.schedule(false);
        for at in schedule.benchmarks(0, self.groups.len()) {
            let open = self.groups[at].open(&self.states);
            if open.is_empty() {
                continue;
            }
            let group = &mut self.groups[at];
            let identity = &self.states[group.first()].planned.identity;
            let mut order = schedule.half(identity, group.rounds, &group.sides);
            order.push(group.sides[0]);
            group.rounds += 1;
            match self.row(at, &open, &order, Part::Counting)? {
                Row::Whole(samples) => self.keep(at, samples),
                Row::Dropped => {
                    // What cannot be counted once cannot be counted at all.
                    for place in open {
                        let state = &mut self.states[place];
                        state.stopped = Some(StoppedBecause::Error);
                        state.error = state.error.take().or_else(|| state.failures.last().cloned());
                    }
                }
                Row::OutOfTime => return self.out_of_time_early(),
            }
        }
        self.report(Part::Counting, 1);
        ControlFlow::Continue(())
    }
}

/// Whether all runs of a side count the same.
fn agree(runs: &[UnitRun]) -> bool {
    let counts: Vec<f64> = runs.iter().filter_map(|run| run.values.get(&Metric::Instructions)).collect();
    counts.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq())
}
