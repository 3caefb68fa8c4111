//! One unit run: the command, the process, the sample.

use crate::harness::HarnessKind;
use crate::harness::contract::{Measurement, ResolvedLaunch, RunBudget, RunOutput, Selection, stderr_tail};
use crate::suite::metric::Metric;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Values};

use super::executor::Executor;
use super::plan::{PlannedBenchmark, SidePlan, WorkPlan};
use super::problem::ExecuteError;

/// What one unit run gave.
pub(super) struct Sample {
    pub(super) values: Values,
    /// Wall time of the whole process. ns.
    pub(super) wall_ns: u64,
    pub(super) work: Option<f64>,
    pub(super) context_switches: u64,
    /// Bytes; only beside a peak RSS.
    pub(super) peak_rss_floor: Option<f64>,
    /// Its own code set a long measuring time.
    pub(super) overlong: bool,
    /// The work of one iteration in the benchmark's words.
    pub(super) stated_work: Option<String>,
}

/// Why it gave none.
pub(super) enum Failure {
    Interrupted,
    Failed(BenchmarkError),
}

/// Makes one unit run of one side, which has to be a planned one.
pub(super) fn run(
    executor: &mut dyn Executor,
    planned: &PlannedBenchmark,
    side: usize,
    budget: RunBudget,
) -> Result<Sample, Failure> {
    let plan = planned.sides[side].as_ref().expect("only the measured sides are run");
    let failed = |kind, message: String, stderr| {
        let message = format!("{}, {}: {message}", planned.identity.label(), name(planned, side));
        Failure::Failed(BenchmarkError { kind, message, stderr })
    };
    let not_run = |error: ExecuteError| match error {
        ExecuteError::Interrupted => Failure::Interrupted,
        error => failed(error.kind(), error.to_string(), None),
    };
    let work = match &plan.work {
        None => None,
        Some(WorkPlan::Value(value)) => Some(*value),
        Some(WorkPlan::File(path)) => Some(executor.file_size(plan.revision, path).map_err(not_run)? as f64),
    };
    let SidePlan { revision, executable, launch, .. } = plan;
    let selection = Selection::One(&planned.identity.id);
    let command = planned.harness.run_command(executable, launch, &selection, budget);
    let output = executor.execute(*revision, &command).map_err(not_run)?;
    let measurement = measurement(planned, &selection, launch, &output)
        .map_err(|(kind, message)| failed(kind, message, stderr_tail(&output.stderr)))?;
    let floor = output.peak_rss_floor_bytes;
    // What a program reports of its own memory is not read from its process.
    let is_read = planned.harness == HarnessKind::Process;
    let has_floor = is_read && 0 < floor && measurement.values.get(&Metric::PeakRss).is_some();
    Ok(Sample {
        values: measurement.values,
        wall_ns: output.wall_ns,
        work,
        context_switches: output.involuntary_switches,
        peak_rss_floor: has_floor.then_some(floor as f64),
        overlong: measurement.overlong,
        stated_work: measurement.stated_work,
    })
}

/// What the output of the run says of the benchmark.
fn measurement(
    planned: &PlannedBenchmark,
    selection: &Selection<'_>,
    launch: &ResolvedLaunch,
    output: &RunOutput,
) -> Result<Measurement, (ErrorKind, String)> {
    let measurements =
        planned.harness.parse_run(selection, launch, output).map_err(|error| (error.kind, error.message))?;
    measurements
        .into_iter()
        .find(|measurement| measurement.id == planned.identity.id)
        .filter(|measurement| measurement.values.iter().next().is_some())
        .ok_or_else(|| (ErrorKind::MeasuredNothing, "it ended with success and measured nothing".to_owned()))
}

/// What people call the side.
fn name(planned: &PlannedBenchmark, side: usize) -> String {
    match side {
        _ if side == planned.head() => "head".into(),
        0 => "base".into(),
        further => format!("revision {further}"),
    }
}
