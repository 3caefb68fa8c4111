//! The noises that are simulated: for each, what the machine makes of the same work, run after run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::words;

words! {
    /// A law of the run times of unchanged code. All have a typical value of 100.
    Noise {
        /// Independent lognormal runs, coefficient of variation 1 %.
        Cv1 = "CV 1 %",
        /// The same, 3 %.
        Cv3 = "CV 3 %",
        /// The same, 5 %.
        Cv5 = "CV 5 %",
        /// The same, 10 %.
        Cv10 = "CV 10 %",
        /// The same, 25 %.
        Cv25 = "CV 25 %",
        /// CV 5 %, and one run in 20 takes 1.5 to 4 times as long.
        Heavy = "heavy",
        /// 1 + an exponential of mean 0.06: a long right tail.
        Skewed = "skewed",
        /// A level shared by both revisions that wanders (sd 8 %, correlation 0.9 from run to run), plus CV 3 %.
        Ar1 = "AR(1)",
        /// The same, slower and wider (sd 15 %, 0.98), plus CV 2 %.
        SlowAr1 = "slow AR(1)",
        /// Runs get 30 % slower, evenly over the measurement, plus CV 5 %.
        Drift = "drift 30 %",
        /// From the middle of the measurement on all runs are 30 % slower, plus CV 5 %.
        Step = "step mid-run",
        /// The same from the 12th run a side on.
        StepAt12 = "step at n=12",
        /// 4 of every 14 runs are 25 % slower, random phase, plus CV 3 %.
        Periodic = "periodic",
        /// An idle run starts a burst with probability 0.04: 3 to 9 runs, one factor of 1.2 to 2, plus CV 3 %.
        Bursts = "bursts",
        /// Each run is 15 % slower with probability one half, plus CV 3 %.
        TwoModes = "two modes 15 %",
        /// The CV grows from 2 to 12 % over the measurement.
        GrowingSpread = "growing spread",
        /// CV 3 %, read from a timer that moves in steps of 5.
        Quantised = "timer step 5 %",
    }
}

/// The typical run of base.
const BASE: f64 = 100.0;

/// The steps of the coarse timer.
const TIMER_STEP: f64 = 5.0;

/// So many runs of each side, at random places, that are made slower by a random factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowRuns {
    /// Of base and head.
    pub(crate) counts: [usize; 2],
    /// The smallest and the largest factor.
    pub(crate) factors: [f64; 2],
}

impl SlowRuns {
    pub(crate) fn apply(self, sides: &mut Sides, random: &mut Random) {
        for (side, count) in [&mut sides.base, &mut sides.head].into_iter().zip(self.counts) {
            // The first steps of a shuffle: each place is equally likely, none is taken twice.
            let mut places: Vec<usize> = (0..side.len()).collect();
            for taken in 0..count.min(side.len()) {
                let other = taken + (random.uniform() * (places.len() - taken) as f64) as usize;
                places.swap(taken, other);
                side[places[taken]] *= random.between(self.factors[0], self.factors[1]);
            }
        }
    }
}

/// The samples of base and head, in the order they were made: two runs of each in a round.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sides {
    pub(super) base: Vec<f64>,
    pub(super) head: Vec<f64>,
}

impl Noise {
    /// So many runs a side (even), where head takes `1 + delta` times as long as base.
    pub(super) fn sides(self, count: usize, delta: f64, random: &mut Random) -> Sides {
        let factors = self.factors(2 * count, random);
        let mut sides = Sides::default();
        for round in factors.chunks(4) {
            // ABBA or BAAB.
            let base_first = random.chance(0.5);
            for (place, factor) in round.iter().enumerate() {
                let outer = place == 0 || place == 3;
                let (side, change) =
                    if outer == base_first { (&mut sides.base, 1.0) } else { (&mut sides.head, 1.0 + delta) };
                let value = BASE * factor * change;
                side.push(match self {
                    Self::Quantised => (value / TIMER_STEP).round() * TIMER_STEP,
                    _ => value,
                });
            }
        }
        sides
    }

    /// What each run of a schedule is multiplied by.
    fn factors(self, runs: usize, random: &mut Random) -> Vec<f64> {
        let last = (runs - 1) as f64;
        match self {
            Self::Cv1 => each(runs, |_| random.lognormal(0.01)),
            Self::Cv3 | Self::Quantised => each(runs, |_| random.lognormal(0.03)),
            Self::Cv5 => each(runs, |_| random.lognormal(0.05)),
            Self::Cv10 => each(runs, |_| random.lognormal(0.10)),
            Self::Cv25 => each(runs, |_| random.lognormal(0.25)),
            Self::Heavy => each(runs, |_| {
                let slow = if random.chance(0.05) { random.between(1.5, 4.0) } else { 1.0 };
                slow * random.lognormal(0.05)
            }),
            Self::Skewed => each(runs, |_| 1.0 - 0.06 * (1.0 - random.uniform()).ln()),
            Self::Ar1 => wandering(runs, 0.9, 0.08, 0.03, random),
            Self::SlowAr1 => wandering(runs, 0.98, 0.15, 0.02, random),
            Self::Drift => each(runs, |run| (1.0 + 0.3 * run as f64 / last) * random.lognormal(0.05)),
            Self::Step => each(runs, |run| step(run, runs / 2) * random.lognormal(0.05)),
            Self::StepAt12 => each(runs, |run| step(run, 24) * random.lognormal(0.05)),
            Self::Periodic => {
                let phase = (random.uniform() * 14.0) as usize;
                each(runs, |run| {
                    let slow = if (run + phase) % 14 < 4 { 1.25 } else { 1.0 };
                    slow * random.lognormal(0.03)
                })
            }
            Self::Bursts => {
                let (mut left, mut slow) = (0, 1.0);
                each(runs, |_| {
                    if left == 0 && random.chance(0.04) {
                        (left, slow) = (3 + (random.uniform() * 7.0) as usize, random.between(1.2, 2.0));
                    }
                    let factor = if left == 0 { 1.0 } else { slow };
                    left = left.saturating_sub(1);
                    factor * random.lognormal(0.03)
                })
            }
            Self::TwoModes => each(runs, |_| {
                let slow = if random.chance(0.5) { 1.15 } else { 1.0 };
                slow * random.lognormal(0.03)
            }),
            Self::GrowingSpread => each(runs, |run| random.lognormal(0.02 + 0.10 * run as f64 / last)),
        }
    }
}

fn each(runs: usize, factor: impl FnMut(usize) -> f64) -> Vec<f64> {
    (0..runs).map(factor).collect()
}

fn step(run: usize, from: usize) -> f64 {
    if from <= run { 1.3 } else { 1.0 }
}

/// A stationary AR(1) process on the log scale, times independent noise.
fn wandering(runs: usize, rho: f64, sd: f64, cv: f64, random: &mut Random) -> Vec<f64> {
    let mut level = sd * random.normal();
    each(runs, |run| {
        if 0 < run {
            level = rho * level + (1.0 - rho * rho).sqrt() * sd * random.normal();
        }
        level.exp() * random.lognormal(cv)
    })
}

/// Seeded random numbers.
pub(super) struct Random {
    generator: ChaCha8Rng,
    /// Normal numbers come in pairs.
    spare: Option<f64>,
}

impl Random {
    /// The numbers of one trial of one row: other rows and trials never change them.
    pub(super) fn of(row: u64, trial: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(row);
        generator.set_stream(trial);
        Self { generator, spare: None }
    }

    /// In [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (-53.0_f64).exp2()
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Standard normal, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }

    /// Median 1, coefficient of variation `cv`.
    fn lognormal(&mut self, cv: f64) -> f64 {
        ((cv * cv).ln_1p().sqrt() * self.normal()).exp()
    }
}
