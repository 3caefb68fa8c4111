//! How often the samples of a benchmark are looked at, and how sure each look must be.

use crate::suite::settings::{
    BenchmarkSettings, Correction, Method, Preset, Resamples, SampleCount, Statistic, Stop,
};

use super::levels::{self, LOOKS, SETTLED_ERROR};
use super::table::Needed;

/// The plan of the looks.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plan {
    /// One look, at all there is.
    Once(Needed),
    /// The settled rule: at the numbers of samples a side, ascending; never empty.
    Settled {
        looks: Vec<u32>,
        needed: Needed,
        /// Whether a regression is called at the last look only, so that its p-value is that of one look.
        regression_at_the_end: bool,
    },
}

impl Plan {
    /// The plan of samples that were made in rounds, or not: without rounds there is one look.
    pub(super) fn of(settings: &BenchmarkSettings, has_rounds: bool) -> Self {
        let once = Self::Once(Needed::all(settings.judge.confidence));
        if !has_rounds || !is_settled(settings) {
            return once;
        }
        let looks = looks(settings);
        if looks.is_empty() {
            return once;
        }
        let regression_at_the_end = settings.judge.correction == Correction::Holm;
        let mut needed = levels::settled(settings.judge.method);
        if regression_at_the_end {
            needed.worse = 1.0 - SETTLED_ERROR;
        }
        Self::Settled { looks, needed, regression_at_the_end }
    }

    /// How sure a regression must be.
    pub(super) fn needed(&self) -> Needed {
        match self {
            Self::Once(needed) | Self::Settled { needed, .. } => *needed,
        }
    }

    /// The chance of a false regression at the limit.
    pub(super) fn error(&self) -> f64 {
        match self {
            Self::Once(needed) => 1.0 - needed.worse,
            Self::Settled { .. } => SETTLED_ERROR,
        }
    }
}

/// Whether the settled rule is asked for and sound here: it has no levels for a mean, nor for random resamples.
pub(super) fn is_settled(settings: &BenchmarkSettings) -> bool {
    let judge = &settings.judge;
    let has_levels = match judge.method {
        Method::Rank => true,
        Method::Bootstrap => judge.statistic == Statistic::Median && judge.resamples == Resamples::Exact,
    };
    judge.stop == Stop::Settled && judge.preset != Preset::Effect && has_levels
}

/// The looks between the least and the most samples. Leaving some out only lowers the errors.
pub(super) fn looks(settings: &BenchmarkSettings) -> Vec<u32> {
    let (min, max) = match settings.sampling.samples {
        SampleCount::Fixed(count) => (0, count),
        SampleCount::Adaptive { min, max } => (min, max),
    };
    let min = min.max(settings.judge.min_samples);
    LOOKS.into_iter().filter(|look| (min..=max).contains(look)).collect()
}
