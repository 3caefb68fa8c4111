//! From a saved report back to what was measured, for judging it again.

use crate::verdict::evidence::{Evidence, Side};

use super::model::{Benchmark, Report, ReportSide};

impl From<&Report> for Vec<Evidence> {
    fn from(report: &Report) -> Self {
        report.benchmarks.iter().map(Evidence::from).collect()
    }
}

impl From<Report> for Vec<Evidence> {
    fn from(report: Report) -> Self {
        report.benchmarks.into_iter().map(Evidence::from).collect()
    }
}

impl From<Benchmark> for Evidence {
    fn from(benchmark: Benchmark) -> Self {
        Self {
            identity: benchmark.identity,
            harness: benchmark.harness,
            presence: benchmark.presence,
            presence_note: benchmark.presence_note,
            settings: benchmark.settings,
            sides: benchmark.sides.into_iter().map(Side::from).collect(),
            stopped_because: benchmark.stopped_because,
            error: benchmark.error,
        }
    }
}

impl From<ReportSide> for Side {
    fn from(side: ReportSide) -> Self {
        Self { revision: side.revision, executable_sha256: side.executable_sha256, runs: side.runs }
    }
}

impl From<&Benchmark> for Evidence {
    fn from(benchmark: &Benchmark) -> Self {
        benchmark.clone().into()
    }
}
