//! What the numbers of keys, and of the flags that stand over them, may be.

use std::ops::RangeInclusive;

const HOUR_NS: u64 = 3_600_000_000_000;

pub(super) const WARMUP: RangeInclusive<u32> = 0..=10_000;
pub(super) const SAMPLES: RangeInclusive<u32> = 2..=100_000;
/// ns.
pub(super) const MIN_TIME_NS: RangeInclusive<u64> = 0..=24 * HOUR_NS;
/// ns. No process starts and ends in less than a millisecond for sure, so a lower limit fails every run.
pub(super) const TIMEOUT_NS: RangeInclusive<u64> = 1_000_000..=24 * HOUR_NS;
/// ns.
pub(super) const MAX_TIME_NS: RangeInclusive<u64> = 1..=168 * HOUR_NS;
pub(super) const CONFIDENCE: RangeInclusive<f64> = 0.5..=0.999;
/// A ratio.
pub(super) const MAX_CV: RangeInclusive<f64> = 0.0..=10.0;
/// Per cent.
pub(super) const SHOW_PERCENT: RangeInclusive<f64> = 0.0..=1000.0;
pub(super) const RESAMPLES: RangeInclusive<u32> = 100..=1_000_000;
/// Runs a side a percentile budget may need where nothing limits the time: above, a typing mistake would take days.
pub(super) const MOST_TAIL_SAMPLES: u32 = 100_000;
