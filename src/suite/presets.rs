//! The named sets of judge keys.

use super::settings::{
    Correction, Interval, JudgeSettings, Method, Pairing, Preset, Resamples, Statistic, Stop,
};

/// The preset that holds when nothing is said.
pub const DEFAULT_PRESET: Preset = Preset::Default;

/// Resamples of the mean, which has no closed form.
pub const MEAN_RESAMPLES: u32 = 2000;

/// Samples a side where the mean would have to stop early: it has no sound settled rule.
pub const MEAN_SAMPLES: u32 = 30;

/// The last look of the settled stop; beyond it its levels do not hold.
pub const LAST_LOOK: u32 = 60;

/// All judge keys of a preset.
pub fn judge_of(preset: Preset) -> JudgeSettings {
    let fixed = JudgeSettings {
        preset,
        method: Method::Bootstrap,
        statistic: Statistic::Median,
        pairing: Pairing::Independent,
        interval: Interval::Percentile,
        resamples: Resamples::MonteCarlo(2000),
        confidence: 0.95,
        min_samples: 10,
        max_cv: 0.5,
        stop: Stop::Fixed,
        correction: Correction::None,
        target_ci: 0.01,
        show_percent: 2.0,
    };
    match preset {
        Preset::Fixed => fixed,
        Preset::Default => JudgeSettings {
            pairing: Pairing::Auto,
            resamples: Resamples::Exact,
            min_samples: 8,
            stop: Stop::Settled,
            correction: Correction::Confirm,
            ..fixed
        },
        // Two-sided Mann-Whitney, Holm over the run, an interval that excludes 1; no noise gate. Its runs go on until
        // every side's interval is narrow enough.
        Preset::Effect => JudgeSettings {
            method: Method::Rank,
            interval: Interval::Bca,
            min_samples: 8,
            max_cv: 0.0,
            stop: Stop::Precision,
            correction: Correction::Holm,
            ..fixed
        },
    }
}
