//! The looks at one comparison, replayed from its samples: the first that settles it holds, so a saved run gets the
//! verdict it got while it was measured.

use crate::suite::metric::Metric;
use crate::suite::settings::{BenchmarkSettings, JudgeSettings, MetricSettings, Pairing, Preset};

use super::evidence::UnitRun;
use super::exact;
use super::floor::{self, AtFloor};
use super::look::{Look, Question, look};
use super::outcome::{Reason, Verdict};
use super::plan::Plan;
use super::samples::{Runs, Samples};
use super::table::Needed;

/// A comparison that is about to be looked at.
pub(super) struct Replay<'a> {
    judge: JudgeSettings,
    limits: &'a MetricSettings,
    metric: &'a Metric,
    plan: Plan,
    samples: Samples,
    /// Of base and head, in bytes; 0 is none.
    floors: [f64; 2],
    /// The looks that are allowed by `min_time`.
    timely: Vec<u32>,
    key: [u8; 32],
}

/// What the looks come to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision {
    pub(super) look: Look,
    /// The samples it was taken from, raised to their floors.
    pub(super) samples: Samples,
    /// The sides that are at their floors.
    pub(super) at_floor: AtFloor,
    /// Whether a look of the settled rule decided.
    pub(super) settled: bool,
    /// Whether counts decided, without any chance in it.
    pub(super) exact: bool,
}

impl<'a> Replay<'a> {
    pub(super) fn of(
        settings: &BenchmarkSettings,
        runs: &Runs<'_>,
        metric: &'a Metric,
        limits: &'a MetricSettings,
        key: [u8; 32],
    ) -> Self {
        let plan = Plan::of(settings, runs.has_rounds);
        let samples = runs.samples(metric);
        let timely = match &plan {
            Plan::Once(_) => Vec::new(),
            Plan::Settled { looks, .. } => timely(settings, runs, metric, looks, samples.fewest()),
        };
        let mut judge = settings.judge.clone();
        if !runs.has_rounds {
            judge.pairing = Pairing::Independent;
        }
        let floors = match metric {
            Metric::PeakRss => [floor::of(runs.base.iter().copied()), floor::of(runs.head.iter().copied())],
            _ => [0.0, 0.0],
        };
        Self { judge, limits, metric, plan, samples, floors, timely, key }
    }

    /// All samples there are.
    pub(super) fn samples(&self) -> &Samples {
        &self.samples
    }

    /// How sure a look must be.
    pub(super) fn needed(&self) -> Needed {
        self.plan.needed()
    }

    /// The chance of a false regression at the limit.
    pub(super) fn error(&self) -> f64 {
        self.plan.error()
    }

    /// What each look asks.
    pub(super) fn question(&self, interval: bool) -> Question<'_> {
        Question {
            judge: &self.judge,
            metric: self.limits,
            needed: self.plan.needed(),
            ties_argue_against: matches!(self.plan, Plan::Settled { .. }),
            interval,
            key: self.key,
        }
    }

    /// The first look that settles it, else all samples. The samples must be finite.
    pub(super) fn decide(&self) -> Decision {
        if self.is_exact() {
            let look = exact::look(self.limits, &self.samples);
            let at_floor = AtFloor::default();
            return Decision { look, samples: self.samples.clone(), at_floor, settled: false, exact: true };
        }
        if let Some(count) = self.settled_at() {
            return Decision { settled: true, ..self.look(self.samples.first(count), true) };
        }
        let mut decision = self.look(self.samples.clone(), true);
        let look = &mut decision.look;
        // Only at the calibrated looks may a probability decide.
        if matches!(self.plan, Plan::Settled { .. }) && look.reason.is_none() {
            (look.verdict, look.reason) = (Verdict::Inconclusive, Some(Reason::TooClose));
        }
        decision
    }

    /// Whether more samples could not change the verdict. Counts that agree need one round; between two looks nothing
    /// new can be said.
    pub(super) fn is_settled(&self) -> bool {
        let at_a_look = self.timely.last().is_some_and(|last| *last as usize == self.samples.fewest());
        !self.samples.all_finite() || self.is_exact() || (at_a_look && self.settled_at().is_some())
    }

    fn is_exact(&self) -> bool {
        exact::is_exact(self.metric, self.limits, &self.samples)
    }

    /// The number of samples a side of the first look that settled it.
    fn settled_at(&self) -> Option<usize> {
        let Plan::Settled { regression_at_the_end, .. } = &self.plan else { return None };
        let last = self.timely.last().copied();
        self.timely.iter().copied().find_map(|count| {
            let seen = self.look(self.samples.first(count as usize), false).look;
            let too_early =
                *regression_at_the_end && seen.verdict == Verdict::Regression && Some(count) != last;
            (seen.settled && !too_early).then_some(count as usize)
        })
    }

    fn look(&self, samples: Samples, interval: bool) -> Decision {
        let (samples, at_floor) = floor::raise(self.floors, samples, self.judge.statistic);
        let look = look(&self.question(interval), &samples);
        // Preset `effect` has its verdict from all of the run, later.
        let look = match self.judge.preset {
            Preset::Effect if !at_floor.is_both() => look,
            _ => at_floor.keep(look),
        };
        Decision { look, samples, at_floor, settled: false, exact: false }
    }
}

/// The looks there are samples for, without those before `min_time` was reached, except the last of the plan.
fn timely(
    settings: &BenchmarkSettings,
    runs: &Runs<'_>,
    metric: &Metric,
    looks: &[u32],
    fewest: usize,
) -> Vec<u32> {
    let reached = |count: u32| {
        let measured = |side: &[&UnitRun]| {
            // Times and counts may come from different runs.
            let own = side.iter().filter(|run| run.values.get(metric).is_some());
            let first = own.take(count as usize);
            first.filter_map(|run| run.wall()).sum::<f64>()
        };
        let wanted = settings.sampling.min_time_ns as f64;
        wanted <= measured(&runs.base) && wanted <= measured(&runs.head)
    };
    let last = looks.last().copied();
    looks
        .iter()
        .copied()
        .filter(|&look| look as usize <= fewest && (Some(look) == last || reached(look)))
        .collect()
}
