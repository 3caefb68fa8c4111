//! What the driver does about `max_time`: which groups run on, and which are set aside.

use std::ops::ControlFlow;
use std::time::Duration;

use super::group::Group;
use super::run::{Driver, Flow};
use super::time;

impl Driver<'_> {
    /// The groups of the next round.
    pub(super) fn choose(&mut self) -> Vec<usize> {
        let open = |driver: &Self, wanted: &dyn Fn(&Group) -> bool| -> Vec<usize> {
            let groups = &driver.groups;
            (0..groups.len())
                .filter(|&at| groups[at].is_open(&driver.states) && wanted(&groups[at]))
                .collect()
        };
        let lacking =
            |driver: &Self| open(driver, &|group| !group.postponed && !group.has_needed(&driver.states));
        if !self.short {
            return open(self, &|_| true);
        }
        let first = lacking(self);
        if !first.is_empty() {
            return first;
        }
        // The chosen ones are through, perhaps sooner than thought: look whether others fit now.
        self.admit();
        let next = lacking(self);
        if !next.is_empty() {
            return next;
        }
        let rest = open(self, &|group| !group.postponed);
        if rest.is_empty() {
            open(self, &|_| true).into_iter().for_each(|at| self.stop_for_time(at));
        }
        rest
    }

    /// Says after the first round if the time is too short for all, and chooses those that fit.
    pub(super) fn check_time(&mut self) {
        let Some(max_time) = self.plan.max_time else { return };
        let needed = self.elapsed() + self.least_left();
        if needed <= max_time {
            return;
        }
        self.short = true;
        self.observer.time_is_short(needed, max_time);
        self.admit();
    }

    /// Sets aside the groups whose needed number of samples does not fit in the time left.
    fn admit(&mut self) {
        let Some(max_time) = self.plan.max_time else { return };
        let left = max_time.saturating_sub(self.elapsed());
        let unknown = self.mean_unit_cost();
        let states = &self.states;
        let needs: Vec<(usize, Duration)> = (0..self.groups.len())
            .filter(|&at| self.groups[at].is_open(states) && !self.groups[at].has_needed(states))
            .map(|at| (at, self.groups[at].least_left(states, unknown)))
            .collect();
        let mut fits = time::fitting(left, &needs);
        if fits.is_empty() && !self.groups.iter().any(|group| group.is_any_through(states)) {
            // Estimates err: better try the cheapest than end with nothing.
            fits.extend(needs.iter().min_by_key(|&&(at, need)| (need, at)).map(|&(at, _)| at));
        }
        for (at, _) in needs {
            self.groups[at].postponed = !fits.contains(&at);
        }
    }

    /// The time ran out before every benchmark had its first round.
    pub(super) fn out_of_time_early(&mut self) -> Flow {
        if let Some(max_time) = self.plan.max_time {
            let needed = self.elapsed() + self.least_left();
            self.observer.time_is_short(needed, max_time);
        }
        (0..self.groups.len()).for_each(|at| self.stop_for_time(at));
        ControlFlow::Continue(())
    }

    pub(super) fn stop_for_time(&mut self, at: usize) {
        let Some(max_time) = self.plan.max_time else { return };
        for place in self.groups[at].open(&self.states) {
            self.states[place].run_out_of_time(max_time);
        }
    }

    /// Whether something that takes so long would end after `max_time`. What nothing is known of never does.
    pub(super) fn would_exceed(&self, cost: Option<Duration>) -> bool {
        let (Some(max_time), Some(cost)) = (self.plan.max_time, cost) else { return false };
        let now = self.elapsed();
        max_time <= now || max_time < now + cost
    }

    /// What the needed numbers of samples will still take, of those without for lack of time as well.
    pub(super) fn least_left(&self) -> Duration {
        let unknown = self.mean_unit_cost();
        self.groups.iter().map(|group| group.least_left(&self.states, unknown)).sum()
    }

    /// Stands in for the cost of benchmarks that never ran; with none that did, one run has taken all the time so far.
    fn mean_unit_cost(&self) -> Duration {
        let known: Vec<Duration> = self.groups.iter().filter_map(|group| group.unit_cost).collect();
        match u32::try_from(known.len()) {
            Ok(count) if 0 < count => known.iter().sum::<Duration>() / count,
            _ => self.elapsed(),
        }
    }
}
