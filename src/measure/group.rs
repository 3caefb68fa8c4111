//! What is run at once: mostly one benchmark, or several that share a process.

use std::time::Duration;

use super::plan::PlannedBenchmark;
use super::state::State;

/// The benchmarks of one process, with what their runs cost.
pub(super) struct Group {
    /// Places of the benchmarks, ascending; never none.
    pub(super) members: Vec<usize>,
    /// The sides that run, the same for all members.
    pub(super) sides: Vec<usize>,
    /// Rounds begun, whether kept or dropped.
    pub(super) rounds: u32,
    /// The cheapest unit run so far, everything around it included.
    pub(super) unit_cost: Option<Duration>,
    /// Whether `unit_cost` is still that of warm-up runs, which harnesses may keep shorter.
    cost_of_warm_up: bool,
    /// Set aside because time is short.
    pub(super) postponed: bool,
    /// Its programs cannot run in lock-step after all.
    pub(super) solo: bool,
}

impl Group {
    /// The groups of a plan, in the order of their first members.
    pub(super) fn all(planned: &[PlannedBenchmark]) -> Vec<Self> {
        let mut groups: Vec<(Option<usize>, Self)> = Vec::new();
        for (place, benchmark) in planned.iter().enumerate() {
            let key = benchmark.unit.together;
            match groups.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
                Some((_, group)) => group.members.push(place),
                None => groups.push((
                    key,
                    Self {
                        members: vec![place],
                        sides: benchmark.measured_sides(),
                        rounds: 0,
                        unit_cost: None,
                        cost_of_warm_up: true,
                        postponed: false,
                        solo: false,
                    },
                )),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// Its first benchmark, which its orders are drawn from.
    pub(super) fn first(&self) -> usize {
        self.members[0]
    }

    /// Those of its benchmarks that need more runs.
    pub(super) fn open(&self, states: &[State<'_>]) -> Vec<usize> {
        self.members.iter().copied().filter(|&place| states[place].is_open()).collect()
    }

    pub(super) fn is_open(&self, states: &[State<'_>]) -> bool {
        self.members.iter().any(|&place| states[place].is_open())
    }

    /// Whether all of it counts as measured when the time is over.
    pub(super) fn has_needed(&self, states: &[State<'_>]) -> bool {
        self.members.iter().all(|&place| !states[place].is_open() || states[place].has_needed())
    }

    /// Whether any of it has been measured in full.
    pub(super) fn is_any_through(&self, states: &[State<'_>]) -> bool {
        self.members.iter().any(|&place| states[place].error.is_none() && states[place].has_needed())
    }

    /// Whether base and head run at once in one process.
    pub(super) fn is_lockstep(&self, states: &[State<'_>]) -> bool {
        !self.solo && self.sides == [0, 1] && states[self.first()].planned.unit.lockstep.is_some()
    }

    /// Unit runs in one round: two of every side, and where they run at once, two in all.
    fn round_runs(&self, states: &[State<'_>]) -> u32 {
        if self.is_lockstep(states) { 2 } else { 2 * self.sides.len() as u32 }
    }

    pub(super) fn round_cost(&self, states: &[State<'_>]) -> Option<Duration> {
        Some(self.unit_cost? * self.round_runs(states))
    }

    /// What the needed numbers of samples will still take; `unknown` stands in for a unit run never made.
    pub(super) fn least_left(&self, states: &[State<'_>], unknown: Duration) -> Duration {
        let wanting = self.members.iter().map(|&place| &states[place]).filter(|state| state.wants_time());
        let rounds = wanting.map(State::needed_rounds).max().unwrap_or(0);
        self.unit_cost.unwrap_or(unknown) * self.round_runs(states) * rounds
    }

    pub(super) fn learn_cost(&mut self, cost: Duration, warm_up: bool) {
        let known = self.unit_cost.filter(|_| warm_up || !self.cost_of_warm_up);
        self.unit_cost = Some(known.map_or(cost, |known| known.min(cost)));
        self.cost_of_warm_up = warm_up;
    }
}
