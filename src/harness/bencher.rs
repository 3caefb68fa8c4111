//! The bencher crate, a port of `#[bench]` to stable toolchains that prints the same text and takes one argument.

use std::time::Duration;

use crate::verdict::evidence::ErrorKind;

use super::contract::{
    CommandSpec, Executable, ExitOutcome, HarnessError, Measurement, ResolvedLaunch, RunBudget, RunOutput,
    Selection,
};
use super::{ending, libtest};

/// It cannot list: the names only show when everything is measured, which takes 0.3 to 3 s a benchmark.
const LIST_TIMEOUT: Duration = Duration::from_secs(600);

pub(super) fn list_command(executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
    super::command(executable, launch, ["--bench".into()], LIST_TIMEOUT)
}

/// Its only argument is a part of the name. Those with longer names that hold this one run as well, and are left out
/// when the output is read.
pub(super) fn run_command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    selection: &Selection<'_>,
    budget: RunBudget,
) -> CommandSpec {
    let filter = match selection {
        Selection::One(id) => Some((*id).into()),
        Selection::All => None,
    };
    let args = std::iter::once("--bench".into()).chain(filter);
    super::command(executable, launch, args, budget.timeout)
}

pub(super) fn parse_list(output: &RunOutput) -> Result<Vec<String>, HarnessError> {
    ending::check(output, &[0]).map_err(|error| {
        let message = match output.outcome {
            ExitOutcome::TimedOut => format!(
                "finding the bencher benchmarks, which takes a run of all of them, took more than {} s; split the target \
                 into several",
                LIST_TIMEOUT.as_secs()
            ),
            _ => format!("finding the bencher benchmarks, which takes a run of all of them, failed: {error}"),
        };
        HarnessError::new(error.kind, message)
    })?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut ids: Vec<String> = Vec::new();
    for measured in measured(&stdout)? {
        if !ids.contains(&measured.id) {
            ids.push(measured.id);
        }
    }
    Ok(ids)
}

pub(super) fn parse_run(
    selection: &Selection<'_>,
    output: &RunOutput,
) -> Result<Vec<Measurement>, HarnessError> {
    libtest::selected(measured(&String::from_utf8_lossy(&output.stdout))?, selection)
}

/// All benchmarks of an output, which has to be one of bencher.
fn measured(stdout: &str) -> Result<Vec<Measurement>, HarnessError> {
    if !stdout.lines().any(|line| line.starts_with("test result: ")) {
        let message = "the program's output is not of the bencher crate: it has no line that begins with `test result: `; if \
                       this target has a main of its own, set `harness = \"process\"` in its \
                       `[[package.metadata.benchgate.bench]]` entry";
        return Err(HarnessError::new(ErrorKind::Output, message));
    }
    libtest::text(stdout, "bencher")
}
