//! One unit run: the command, the process, the samples.

use crate::harness::HarnessKind;
use crate::harness::callgrind;
use crate::harness::contract::{
    Executable, HarnessError, Measurement, RunBudget, RunOutput, Selection, stderr_tail,
};
use crate::suite::metric::Metric;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Values};

use super::executor::Executor;
use super::hook::{self, HookFailure};
use super::plan::{Counting, PlannedBenchmark, SidePlan, WorkPlan};
use super::problem::ExecuteError;

/// What one unit run gave of one benchmark on one side.
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

/// Why a unit run gave nothing for a benchmark.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    kind: ErrorKind,
    /// Without the benchmark's name.
    message: String,
    stderr: Option<String>,
}

/// Why it gave none at all.
pub(super) enum Failure {
    Interrupted,
    Failed(Trouble),
}

/// What is run.
pub(super) struct Unit<'a> {
    /// The benchmarks that are asked of it, which share programs and launches; never none.
    pub(super) members: &'a [&'a PlannedBenchmark],
    /// The side; in lock-step the one that compares itself with the other.
    pub(super) side: usize,
    /// Whether base and head run at once.
    pub(super) lockstep: bool,
    pub(super) budget: RunBudget,
}

/// A sample of the member of that number on a side.
pub(super) type Given = (usize, usize, Result<Sample, Trouble>);

impl Trouble {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), stderr: None }
    }

    /// The error of one benchmark.
    pub(super) fn of(&self, planned: &PlannedBenchmark, side: usize) -> BenchmarkError {
        let message = format!("{}, {}: {}", planned.identity.label(), name(planned, side), self.message);
        BenchmarkError { kind: self.kind, message, stderr: self.stderr.clone() }
    }
}

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Interrupted => Self::Interrupted,
            error => Self::Failed(Trouble::new(error.kind(), error.to_string())),
        }
    }
}

/// Makes one unit run of one side, which has to be a planned one.
pub(super) fn run(executor: &mut dyn Executor, unit: &Unit<'_>) -> Result<Vec<Given>, Failure> {
    let first = unit.members[0];
    let plan = side_plan(first, unit.side);
    if unit.lockstep {
        prepare(executor, first, 1 - unit.side)?;
    }
    prepare(executor, first, unit.side)?;
    let work: Vec<Option<f64>> = unit
        .members
        .iter()
        .map(|planned| work(executor, side_plan(planned, unit.side)))
        .collect::<Result<_, _>>()?;
    let mut given = if let Some(programs) = first.unit.lockstep.as_deref().filter(|_| unit.lockstep) {
        in_lockstep(executor, unit, plan, programs)?
    } else if let Counting::Callgrind { latency_ns } = first.unit.counting {
        vec![(0, unit.side, counted(executor, unit, plan, latency_ns)?)]
    } else {
        alone(executor, unit, plan)?
    };
    for (member, _, sample) in &mut given {
        if let Ok(sample) = sample {
            sample.work = work[*member];
        }
    }
    Ok(given)
}

/// One process of one revision.
fn alone(executor: &mut dyn Executor, unit: &Unit<'_>, plan: &SidePlan) -> Result<Vec<Given>, Failure> {
    let first = unit.members[0];
    let SidePlan { revision, executable, launch, .. } = plan;
    let selection = match first.unit.together {
        Some(_) => Selection::All,
        None => Selection::One(&first.identity.id),
    };
    let command = first.harness.run_command(executable, launch, &selection, unit.budget);
    let counting = first.unit.counting == Counting::Hardware;
    let (output, count) = match counting {
        true => executor.execute_counted(*revision, &command)?,
        false => (executor.execute(*revision, &command)?, None),
    };
    let parse = |selection: &Selection<'_>| first.harness.parse_run(selection, launch, &output);
    let measurements = match parse(&selection) {
        Ok(measurements) => Some(measurements),
        // What is wrong with one benchmark's figures is no fault of the others in the same output.
        Err(error) if error.kind == ErrorKind::MetricFailed && selection == Selection::All => None,
        Err(error) => return Err(Failure::Failed(trouble(error, &output))),
    };
    let given = unit.members.iter().enumerate().map(|(member, planned)| {
        let id = &planned.identity.id;
        let own = match &measurements {
            Some(_) => Ok(None),
            None => parse(&Selection::One(id)).map(Some),
        };
        let own = match own {
            Ok(own) => own,
            Err(error) => return (member, unit.side, Err(trouble(error, &output))),
        };
        let mut of_all = own.iter().chain(&measurements).flatten();
        let measured = of_all.find(|measured| measured.id == *id);
        let sample = match measured.filter(|measured| measured.values.iter().next().is_some()) {
            None => Err(Trouble {
                stderr: stderr_tail(&output.stderr),
                ..Trouble::new(ErrorKind::MeasuredNothing, "it ended with success and measured nothing")
            }),
            Some(_) if counting && count.is_none() => Err(Trouble::new(
                ErrorKind::MetricFailed,
                "its instructions could not be counted: the processor's counters were in use by something else for a \
                 part of the run; end other profilers, or leave `instructions` out",
            )),
            Some(measured) => {
                let mut sample = sample(planned.harness, measured.clone(), &output);
                if let Some(count) = count {
                    sample.values.set(Metric::Instructions, count as f64);
                }
                Ok(sample)
            }
        };
        (member, unit.side, sample)
    });
    Ok(given.collect())
}

/// One process that takes turns between base and head.
fn in_lockstep(
    executor: &mut dyn Executor,
    unit: &Unit<'_>,
    plan: &SidePlan,
    programs: &[Executable; 2],
) -> Result<Vec<Given>, Failure> {
    let planned = unit.members[0];
    let selection = Selection::One(&planned.identity.id);
    let other = 1 - unit.side;
    let command = planned.harness.lockstep_command(
        &programs[unit.side],
        &programs[other],
        &plan.launch,
        &selection,
        unit.budget,
    );
    let Some(command) = command else {
        let message = format!("{} cannot compare two programs in one process", planned.harness);
        return Err(Failure::Failed(Trouble::new(ErrorKind::Unsupported, message)));
    };
    let output = executor.execute(plan.revision, &command)?;
    let [compared, comparing] = planned
        .harness
        .parse_lockstep(&selection, &plan.launch, &output)
        .map_err(|error| Failure::Failed(trouble(error, &output)))?;
    Ok(vec![
        (0, other, Ok(sample(planned.harness, compared, &output))),
        (0, unit.side, Ok(sample(planned.harness, comparing, &output))),
    ])
}

/// The instructions of one benchmark, by callgrind.
fn counted(
    executor: &mut dyn Executor,
    unit: &Unit<'_>,
    plan: &SidePlan,
    latency_ns: Option<f64>,
) -> Result<Result<Sample, Trouble>, Failure> {
    let planned = unit.members[0];
    let id = &planned.identity.id;
    let budget = RunBudget { latency_hint_ns: latency_ns, ..unit.budget };
    let Some(count) = callgrind::Count::of(planned.harness, &plan.executable, &plan.launch, id, budget)
    else {
        let message = format!("instructions of a {} benchmark cannot be counted", planned.harness);
        return Ok(Err(Trouble::new(ErrorKind::MetricFailed, message)));
    };
    let mut outputs = Vec::new();
    for command in count.commands() {
        outputs.push(executor.execute(plan.revision, command)?);
    }
    let failed = |error: HarnessError| {
        let stderr = outputs.last().and_then(|output| stderr_tail(&output.stderr));
        // Whatever went wrong, it is this metric alone that is missing.
        Trouble { kind: ErrorKind::MetricFailed, message: error.message, stderr }
    };
    Ok(count.parse(&outputs).map_err(failed).map(|instructions| Sample {
        values: Values::from_iter([(Metric::Instructions, instructions)]),
        wall_ns: outputs.iter().map(|output| output.wall_ns).sum(),
        work: None,
        context_switches: outputs.iter().map(|output| output.involuntary_switches).sum(),
        peak_rss_floor: None,
        overlong: false,
        stated_work: None,
    }))
}

fn sample(harness: HarnessKind, measurement: Measurement, output: &RunOutput) -> Sample {
    let floor = output.peak_rss_floor_bytes;
    // What a program reports of its own memory is not read from its process.
    let is_read = harness == HarnessKind::Process;
    let has_floor = is_read && 0 < floor && measurement.values.get(&Metric::PeakRss).is_some();
    Sample {
        values: measurement.values,
        wall_ns: output.wall_ns,
        work: None,
        context_switches: output.involuntary_switches,
        peak_rss_floor: has_floor.then_some(floor as f64),
        overlong: measurement.overlong,
        stated_work: measurement.stated_work,
    }
}

fn trouble(error: HarnessError, output: &RunOutput) -> Trouble {
    Trouble { kind: error.kind, message: error.message, stderr: stderr_tail(&output.stderr) }
}

/// The work of a run about to be made.
fn work(executor: &mut dyn Executor, plan: &SidePlan) -> Result<Option<f64>, Failure> {
    Ok(match &plan.work {
        None => None,
        Some(WorkPlan::Value(value)) => Some(*value),
        Some(WorkPlan::File(path)) => Some(executor.file_size(plan.revision, path)? as f64),
    })
}

/// The user's commands before a run of a side.
fn prepare(executor: &mut dyn Executor, planned: &PlannedBenchmark, side: usize) -> Result<(), Failure> {
    let plan = side_plan(planned, side);
    if let Some(directory) = &plan.workdir {
        executor.empty(plan.revision, directory)?;
    }
    for command in &plan.prepare {
        let name = name(planned, side);
        hook::run(executor, plan.revision, ("prepare_each", &name), command).map_err(
            |failure| match failure {
                HookFailure::Interrupted => Failure::Interrupted,
                HookFailure::Failed(BenchmarkError { kind, message, stderr }) => {
                    Failure::Failed(Trouble { kind, message, stderr })
                }
            },
        )?;
    }
    Ok(())
}

fn side_plan(planned: &PlannedBenchmark, side: usize) -> &SidePlan {
    planned.sides[side].as_ref().expect("only the measured sides are run")
}

/// What people call the side.
fn name(planned: &PlannedBenchmark, side: usize) -> String {
    match side {
        _ if side == planned.head() => "head".into(),
        0 => "base".into(),
        further => format!("revision {further}"),
    }
}
