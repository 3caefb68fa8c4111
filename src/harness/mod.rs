//! The bench harnesses: which command measures a benchmark, and what its output says. Pure functions.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::suite::settings::word_enum;

pub mod callgrind;
pub mod contract;
mod criterion;
pub mod detect;
mod ending;
pub mod marker;
mod process;

pub use contract::{
    CollectedFile, CommandSpec, Executable, ExitOutcome, HarnessError, Measurement, ResolvedLaunch,
    RunBudget, RunOutput, Selection,
};
pub use detect::{Detection, detect};
pub use marker::{Marker, MarkerScanner};

word_enum! {
    /// A harness that can be measured.
    HarnessKind {
        /// The whole process is one benchmark.
        Process = "process",
        /// criterion 0.5 to 0.8.
        Criterion = "criterion",
    }
}

impl HarnessKind {
    /// The command that lists the benchmarks of a program. `None`: it holds one, whose id is the target's name.
    pub fn list_command(self, executable: &Executable, launch: &ResolvedLaunch) -> Option<CommandSpec> {
        match self {
            Self::Process => None,
            Self::Criterion => Some(criterion::list_command(executable, launch)),
        }
    }

    /// The ids the list command printed, in their order, each once. An empty list is no error here: what it means
    /// depends on the other revision.
    pub fn parse_list(self, output: &RunOutput) -> Result<Vec<String>, HarnessError> {
        match self {
            Self::Process => Ok(Vec::new()),
            Self::Criterion => criterion::parse_list(output),
        }
    }

    /// The command of one unit run.
    pub fn run_command(
        self,
        executable: &Executable,
        launch: &ResolvedLaunch,
        selection: &Selection<'_>,
        budget: impl Into<RunBudget>,
    ) -> CommandSpec {
        match self {
            Self::Process => process::run_command(executable, launch, budget.into()),
            Self::Criterion => criterion::run_command(executable, launch, selection, budget.into()),
        }
    }

    /// Whether a run always measures everything the program has, whatever is selected.
    pub fn runs_all(self) -> bool {
        false
    }

    /// The command that compares two programs in one process, sample by sample in turn; `None` where the harness has none.
    pub fn lockstep_command(
        self,
        _head: &Executable,
        _base: &Executable,
        _launch: &ResolvedLaunch,
        _selection: &Selection<'_>,
        _budget: RunBudget,
    ) -> Option<CommandSpec> {
        None
    }

    /// What that command measured of the base and the head it was given, in this order.
    pub fn parse_lockstep(
        self,
        _selection: &Selection<'_>,
        _launch: &ResolvedLaunch,
        _output: &RunOutput,
    ) -> Result<[Measurement; 2], HarnessError> {
        let message = format!("{self} does not compare two programs in one process");
        Err(HarnessError::new(crate::verdict::evidence::ErrorKind::Unsupported, message))
    }

    /// What a unit run measured: exactly the selected benchmark, or with [`Selection::All`] at least one.
    pub fn parse_run(
        self,
        selection: &Selection<'_>,
        launch: &ResolvedLaunch,
        output: &RunOutput,
    ) -> Result<Vec<Measurement>, HarnessError> {
        ending::check(output, &launch.exit_codes)?;
        match self {
            Self::Process => Ok(vec![process::measurement(selection, output)]),
            Self::Criterion => criterion::parse_run(selection, output),
        }
    }
}

/// The program and the words before the harness's own arguments: the runner of `[target.<triple>]`, where there is one.
fn program_and_args(
    executable: &Executable,
    args: impl IntoIterator<Item = OsString>,
) -> (PathBuf, Vec<OsString>) {
    let mut words = executable.runner.iter().cloned().chain([executable.path.clone().into_os_string()]);
    let program = words.next().expect("the executable itself is always the last word");
    (program.into(), words.chain(args).collect())
}

/// The executable's environment with the launch's variables on top.
fn environment(executable: &Executable, launch: &ResolvedLaunch) -> Vec<(OsString, OsString)> {
    let mut env = executable.env.clone();
    for (name, value) in &launch.env {
        match env.iter_mut().find(|(known, _)| known == name) {
            Some(slot) => slot.1.clone_from(value),
            None => env.push((name.clone(), value.clone())),
        }
    }
    env
}
