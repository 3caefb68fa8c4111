//! From a saved report back to what was measured, for judging it again.

use crate::verdict::evidence::{Evidence, Side};

use super::model::{Benchmark, Report, ReportSide};

impl From<&Report> for Vec<Evidence> {
    fn from(report: &Report) -> Self {
        report.benchmarks.iter().map(Evidence::from).collect()
    }
}

impl From<&Benchmark> for Evidence {
    fn from(benchmark: &Benchmark) -> Self {
        Self {
            identity: benchmark.identity.clone(),
            harness: benchmark.harness.clone(),
            presence: benchmark.presence,
            presence_note: benchmark.presence_note.clone(),
            settings: benchmark.settings.clone(),
            sides: benchmark.sides.iter().map(Side::from).collect(),
            stopped_because: benchmark.stopped_because,
            error: benchmark.error.clone(),
        }
    }
}

impl From<&ReportSide> for Side {
    fn from(side: &ReportSide) -> Self {
        Self {
            revision: side.revision.clone(),
            executable_sha256: side.executable_sha256.clone(),
            runs: side.runs.clone(),
        }
    }
}
