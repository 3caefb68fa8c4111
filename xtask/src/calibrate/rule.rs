//! The rules that are calibrated: each a set of judge settings a user could write.

use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::settings::{
    Correction, Interval, JudgeSettings, Method, Pairing, Preset, Resamples, SampleCount, Statistic, Stop,
};

use super::words;

words! {
    /// A rule by the name the tables give it.
    Rule {
        /// Independent exact bootstrap, one look, confidence 0.95, no noise gate.
        Independent95 = "independent .95",
        /// The same with bias-corrected intervals.
        IndependentBca = "independent, bca",
        /// Bootstrap with automatic pairing, one look, 0.95, no noise gate.
        Smooth95 = "smooth .95",
        /// The same at 0.99.
        Smooth99 = "smooth .99",
        /// Rank tests with automatic pairing, one look, 0.95, no noise gate.
        Rank95 = "rank .95",
        /// The same at 0.99.
        Rank99 = "rank .99",
        /// The default judge up to the confirmation: bootstrap with automatic pairing, settled; no noise gate.
        Smooth = "smooth settled",
        /// Rank tests with automatic pairing, settled; no noise gate.
        Rank = "rank settled",
        /// The default judge on means: one look, 0.95, 2000 random resamples, no noise gate.
        Mean95 = "mean .95",
        /// Preset `fixed`, its noise gate and random resamples included.
        Fixed = "preset fixed",
        /// The same without its noise gate.
        FixedUngated = "preset fixed, max_cv 0",
        /// The same with pairs.
        FixedPaired = "preset fixed, paired",
    }
}

impl Rule {
    /// The judge of the rule.
    pub(super) fn judge(self) -> JudgeSettings {
        let settled =
            JudgeSettings { max_cv: 0.0, correction: Correction::None, ..judge_of(Preset::Default) };
        let once = |confidence| JudgeSettings { stop: Stop::Fixed, confidence, ..settled.clone() };
        let independent = |confidence| JudgeSettings {
            pairing: Pairing::Independent,
            resamples: Resamples::Exact,
            min_samples: 10,
            ..once(confidence)
        };
        let by_ranks = |judge: JudgeSettings| JudgeSettings { method: Method::Rank, ..judge };
        let fixed = judge_of(Preset::Fixed);
        match self {
            Self::Independent95 => independent(0.95),
            Self::IndependentBca => JudgeSettings { interval: Interval::Bca, ..independent(0.95) },
            Self::Smooth95 => once(0.95),
            Self::Smooth99 => once(0.99),
            Self::Rank95 => by_ranks(once(0.95)),
            Self::Rank99 => by_ranks(once(0.99)),
            Self::Smooth => settled,
            Self::Rank => by_ranks(settled),
            Self::Mean95 => JudgeSettings { statistic: Statistic::Mean, ..once(0.95) },
            Self::Fixed => fixed,
            Self::FixedUngated => JudgeSettings { max_cv: 0.0, ..fixed },
            Self::FixedPaired => JudgeSettings { pairing: Pairing::Paired, ..fixed },
        }
    }
}

/// The sampling that goes with a judge: `count` a side is the most there can be.
pub(super) fn samples(judge: &JudgeSettings, count: usize) -> SampleCount {
    let count = count as u32;
    match judge.stop {
        Stop::Settled => SampleCount::Adaptive { min: judge.min_samples, max: count },
        Stop::Fixed | Stop::Precision => SampleCount::Fixed(count),
    }
}
