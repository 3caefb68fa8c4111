//! When measuring of a benchmark ends: asked after every round.

use crate::suite::metric::Metric;
use crate::suite::settings::{BenchmarkSettings, SampleCount};

use super::evidence::{Side, Stage, StoppedBecause};

/// Why measuring can end with the runs there are; `None` means: one more round. `sides` holds one side for a benchmark
/// that is measured on head alone.
pub fn stop(settings: &BenchmarkSettings, sides: &[Side]) -> Option<StoppedBecause> {
    let fewest = sides.iter().map(kept).min().unwrap_or(0);
    match settings.sampling.samples {
        SampleCount::Fixed(wanted) => (wanted as usize <= fewest).then_some(StoppedBecause::FixedSamples),
        SampleCount::Adaptive { min, max } => {
            if max as usize <= fewest {
                Some(StoppedBecause::MaxSamples)
            } else if min as usize <= fewest && sides.iter().all(|side| min_time_reached(settings, side)) {
                Some(StoppedBecause::MinReached)
            } else {
                None
            }
        }
    }
}

fn kept(side: &Side) -> usize {
    side.runs.iter().filter(|run| run.stage == Stage::Screen).count()
}

/// Whether the measured wall time of a side has reached `min_time`.
fn min_time_reached(settings: &BenchmarkSettings, side: &Side) -> bool {
    let measured: f64 = side.samples(&Metric::Latency, Stage::Screen).iter().sum();
    settings.sampling.min_time_ns as f64 <= measured
}
