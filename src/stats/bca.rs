//! The bias-corrected and accelerated interval (Efron 1987; Efron and Tibshirani 1993, chapter 14).

use super::law::ChangeLaw;
use super::normal;

/// How the bias and the acceleration are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convention {
    /// Bias from P(below), one jackknife mean over all leave-one-out values.
    StrictPooled,
    /// Bias from P(below) + P(equal) / 2, a jackknife mean and a weight for each sample.
    MidStratified,
}

/// The parts of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bca {
    /// The bias in standard normal units.
    pub bias: f64,
    /// The acceleration.
    pub acceleration: f64,
    /// The levels at which the law is read.
    pub levels: [f64; 2],
}

impl Bca {
    /// The levels for a central interval of that confidence. `jackknife`: the leave-one-out values, one list a sample.
    /// `None` where the bias or the levels do not exist, as when no resample is below the estimate.
    pub fn of(
        below: f64,
        equal: f64,
        jackknife: &[&[f64]],
        confidence: f64,
        convention: Convention,
    ) -> Option<Self> {
        let share = match convention {
            Convention::StrictPooled => below,
            Convention::MidStratified => below + equal / 2.0,
        };
        let bias = normal::quantile(share);
        let acceleration = acceleration(jackknife, convention);
        let tail = (1.0 - confidence) / 2.0;
        let levels = [tail, 1.0 - tail].map(|p| {
            let shifted = bias + normal::quantile(p);
            normal::cdf(bias + shifted / (1.0 - acceleration * shifted))
        });
        let usable =
            bias.is_finite() && levels.iter().all(|level| level.is_finite()) && levels[0] < levels[1];
        usable.then_some(Self { bias, acceleration, levels })
    }

    /// The interval of a law at these levels.
    pub fn interval(&self, law: &dyn ChangeLaw) -> [f64; 2] {
        self.levels.map(|level| law.quantile(level))
    }
}

fn acceleration(jackknife: &[&[f64]], convention: Convention) -> f64 {
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        sum / count
    };
    let pooled = mean(&mut jackknife.iter().flat_map(|group| group.iter().copied()));
    let (mut squares, mut cubes) = (0.0, 0.0);
    for group in jackknife {
        let size = group.len() as f64;
        let (centre, weight) = match convention {
            Convention::StrictPooled => (pooled, 1.0),
            Convention::MidStratified => (mean(&mut group.iter().copied()), (size - 1.0) / size),
        };
        for value in *group {
            let influence = (centre - value) * weight;
            squares += influence * influence;
            cubes += influence * influence * influence;
        }
    }
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    if acceleration.is_finite() { acceleration } else { 0.0 }
}

/// The medians of an ascending sample with each value left out in turn; empty below two values.
pub fn leave_one_out_medians(sorted: &[f64]) -> Vec<f64> {
    let rest = match sorted.len().checked_sub(1) {
        None | Some(0) => return Vec::new(),
        Some(rest) => rest,
    };
    let without = |left_out: usize, place: usize| sorted[if place < left_out { place } else { place + 1 }];
    (0..sorted.len())
        .map(|left_out| {
            if rest % 2 == 1 {
                without(left_out, rest / 2)
            } else {
                f64::midpoint(without(left_out, rest / 2 - 1), without(left_out, rest / 2))
            }
        })
        .collect()
}

/// The means of a sample with each value left out in turn; empty below two values.
pub fn leave_one_out_means(values: &[f64]) -> Vec<f64> {
    if values.len() < 2 {
        return Vec::new();
    }
    let sum: f64 = values.iter().sum();
    values.iter().map(|value| (sum - value) / (values.len() - 1) as f64).collect()
}
