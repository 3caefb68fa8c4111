//! Many benchmarks in one run: the chance of any false alarm, and what is found, under each correction.

use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::settings::{Correction, JudgeSettings, Preset, Stop};
use cargo_benchgate::verdict::evidence::Evidence;
use cargo_benchgate::verdict::levels::CONFIRM_SAMPLES;
use cargo_benchgate::verdict::outcome::{Comparison, Verdict};
use cargo_benchgate::verdict::{RunContext, confirmation_candidates};

use super::noise::{Noise, Random, Sides};
use super::rule::Rule;
use super::simulate::{Judge, on_all_cores};
use super::{trial, words};

/// The noises of a run, drawn anew for each benchmark.
const NOISES: [Noise; 8] =
    [Noise::Cv1, Noise::Cv3, Noise::Cv5, Noise::Cv10, Noise::Heavy, Noise::Skewed, Noise::Bursts, Noise::Ar1];

/// Runs a side where there is one look.
const ONE_LOOK: usize = 30;

/// From so many benchmarks on, one in 20 is slower by the tolerance and 15 points, and one in 20 by 5 points.
const WITH_CHANGES: usize = 20;

words! {
    /// A rule for a whole run.
    Guard {
        /// Independent bootstrap, 0.95, no correction.
        Independent = "independent .95, none",
        /// Rank tests with automatic pairing, 0.95, no correction.
        Loose = "rank .95, none",
        /// The same at 0.99.
        Strict = "rank .99, none",
        /// Holm at 0.05 over all benchmarks.
        Holm = "rank, holm .05",
        /// Benjamini-Hochberg at 0.05: what a report would mark.
        Bh = "rank, bh .05",
        /// Candidates at 0.05, measured again, Holm at 0.01 over the candidates.
        Confirm = "rank .95, confirm",
        /// Preset `effect` with 30 runs a side.
        Effect = "preset effect",
        /// The default preset, whole.
        Default = "preset default",
    }
}

impl Guard {
    pub(crate) const ALL: [Self; 8] = [
        Self::Independent,
        Self::Loose,
        Self::Strict,
        Self::Holm,
        Self::Bh,
        Self::Confirm,
        Self::Effect,
        Self::Default,
    ];

    fn judge(self) -> JudgeSettings {
        let with = |rule: Rule, correction| JudgeSettings { correction, ..rule.judge() };
        match self {
            Self::Independent => Rule::Independent95.judge(),
            Self::Loose => Rule::Rank95.judge(),
            Self::Strict => Rule::Rank99.judge(),
            Self::Holm => with(Rule::Rank95, Correction::Holm),
            Self::Bh => with(Rule::Rank95, Correction::Bh),
            Self::Confirm => with(Rule::Rank95, Correction::Confirm),
            Self::Effect => JudgeSettings { stop: Stop::Fixed, ..judge_of(Preset::Effect) },
            Self::Default => judge_of(Preset::Default),
        }
    }

    /// So many times fewer runs are simulated: the exact test of preset `effect` takes its time.
    pub(crate) fn thinned(self) -> u64 {
        if self == Self::Effect { 10 } else { 1 }
    }

    /// Whether a benchmark is called a regression. `bh` is for reports: it marks, and the verdict stays.
    fn calls(self, comparison: &Comparison) -> bool {
        let marked = match self {
            Self::Bh => comparison.details.adjusted_p.is_some_and(|p| p <= 0.05),
            _ => true,
        };
        marked && comparison.verdict == Verdict::Regression
    }
}

/// What the runs came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Alarms {
    pub(crate) runs: u64,
    /// Runs with at least one unchanged benchmark called a regression.
    pub(crate) any_false: u64,
    /// Benchmarks that are slower by the tolerance and 15 points: all, and those called.
    pub(crate) large: [u64; 2],
    /// The same for 5 points.
    pub(crate) small: [u64; 2],
    /// Unit runs a side, of all benchmarks, without the fresh ones.
    pub(crate) screened: u64,
    /// Fresh unit runs a side.
    pub(crate) fresh: u64,
}

impl Alarms {
    /// Any false alarm, +15 found, +5 found, in per cent.
    pub(crate) fn shares(&self) -> [f64; 3] {
        let share = |called: u64, all: u64| if all == 0 { 0.0 } else { 100.0 * called as f64 / all as f64 };
        [
            share(self.any_false, self.runs),
            share(self.large[1], self.large[0]),
            share(self.small[1], self.small[0]),
        ]
    }

    /// Unit runs a side of one benchmark, the fresh ones included, on average.
    pub(crate) fn runs_a_side(&self, benchmarks: usize) -> f64 {
        (self.screened + self.fresh) as f64 / (self.runs * benchmarks as u64) as f64
    }

    fn join(self, other: Self) -> Self {
        let add = |left: [u64; 2], right: [u64; 2]| [left[0] + right[0], left[1] + right[1]];
        Self {
            runs: self.runs + other.runs,
            any_false: self.any_false + other.any_false,
            large: add(self.large, other.large),
            small: add(self.small, other.small),
            screened: self.screened + other.screened,
            fresh: self.fresh + other.fresh,
        }
    }
}

/// The size of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Family {
    pub(crate) benchmarks: usize,
    /// `max_percent`.
    pub(crate) tolerance: u32,
}

/// One benchmark of a run.
struct Simulated {
    /// Points beyond the tolerance; `None` for unchanged code.
    beyond: Option<f64>,
    sides: Sides,
    fresh: Sides,
}

impl Family {
    /// Simulates so many runs, each judged under every guard: the guards see the same samples.
    pub(crate) fn simulate(self, guards: &[Guard], runs: u64, judge: Judge<'_>) -> Vec<Alarms> {
        let numbers: Vec<u64> = (0..runs).collect();
        let one = |&number: &u64| {
            let simulated = self.draw(number);
            guards.iter().map(|&guard| self.judge(guard, &simulated, judge)).collect::<Vec<Alarms>>()
        };
        let blank = vec![Alarms::default(); guards.len()];
        on_all_cores(&numbers, one)
            .into_iter()
            .fold(blank, |sum, run| sum.into_iter().zip(run).map(|(sum, run)| sum.join(run)).collect())
    }

    fn draw(self, run: u64) -> Vec<Simulated> {
        let seed = self.benchmarks as u64 * 1000 + u64::from(self.tolerance);
        let random = &mut Random::of(seed, run);
        let changed = if self.benchmarks < WITH_CHANGES { 0 } else { self.benchmarks / 20 };
        let one = |index: usize| {
            let noise = NOISES[(random.uniform() * NOISES.len() as f64) as usize];
            let beyond = match index {
                _ if index < changed => Some(15.0),
                _ if index < 2 * changed => Some(5.0),
                _ => None,
            };
            let delta = beyond.map_or(0.0, |beyond| (f64::from(self.tolerance) + beyond) / 100.0);
            Simulated {
                beyond,
                sides: noise.sides(60, delta, random),
                fresh: noise.sides(CONFIRM_SAMPLES as usize, delta, random),
            }
        };
        (0..self.benchmarks).map(one).collect()
    }

    fn judge(self, guard: Guard, simulated: &[Simulated], judge: Judge<'_>) -> Alarms {
        let settings = guard.judge();
        let count = if settings.stop == Stop::Settled { 60 } else { ONE_LOOK };
        let measure = |(index, simulated): (usize, &Simulated)| {
            let first = |side: &[f64]| side[..count].to_vec();
            let sides = Sides { base: first(&simulated.sides.base), head: first(&simulated.sides.head) };
            trial::evidence(
                index.to_string(),
                trial::settings(&settings, f64::from(self.tolerance), count),
                &sides,
            )
        };
        let mut evidence: Vec<Evidence> = simulated.iter().enumerate().map(measure).collect();
        let context = RunContext::default();
        let mut alarms = Alarms { runs: 1, ..Alarms::default() };
        if settings.correction == Correction::Confirm {
            // What the real loop would have measured: no run beyond the look that settled it.
            let screened = judge(&evidence, &context);
            for judged in &screened.benchmarks {
                alarms.screened += judged.comparisons[0].samples[0] as u64;
            }
            for index in confirmation_candidates(&evidence, &context) {
                trial::add_fresh(&mut evidence[index], &simulated[index].fresh);
                alarms.fresh += u64::from(CONFIRM_SAMPLES);
            }
        } else {
            alarms.screened += (count * evidence.len()) as u64;
        }
        let judged = judge(&evidence, &context);
        for (simulated, judged) in simulated.iter().zip(&judged.benchmarks) {
            let called = u64::from(guard.calls(&judged.comparisons[0]));
            match simulated.beyond {
                None => alarms.any_false = (alarms.any_false).max(called),
                Some(beyond) => {
                    let slot = if 10.0 < beyond { &mut alarms.large } else { &mut alarms.small };
                    slot[0] += 1;
                    slot[1] += called;
                }
            }
        }
        alarms
    }
}
