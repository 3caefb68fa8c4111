//! The bench harnesses: which command measures a benchmark, and what its output says. Pure functions.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::suite::settings::word_enum;
use crate::verdict::evidence::ErrorKind;

mod bencher;
pub mod callgrind;
pub mod contract;
mod criterion;
pub mod detect;
mod divan;
mod ending;
mod gungraun;
mod libtest;
mod lines;
pub mod marker;
mod process;
mod tango;

pub use contract::{
    CollectedFile, CommandSpec, DeclaredMetric, Executable, ExitOutcome, Facts, HarnessError, Measurement,
    ResolvedLaunch, RunBudget, RunOutput, Selection, Tools,
};
pub use detect::{Detection, detect};
pub use marker::Marker;

word_enum! {
    /// A harness that can be measured.
    HarnessKind {
        /// The whole process is one benchmark.
        Process = "process",
        /// criterion 0.4 to 0.8.
        Criterion = "criterion",
        /// divan 0.1.
        Divan = "divan",
        /// The built-in `#[bench]` functions.
        Libtest = "libtest",
        /// The bencher crate, their stable port.
        Bencher = "bencher",
        /// gungraun 0.16 to 0.20.
        Gungraun = "gungraun",
        /// iai-callgrind 0.14 to 0.16, by its new name gungraun.
        IaiCallgrind = "iai-callgrind",
        /// tango-bench 0.9.
        Tango = "tango",
        /// Our own line protocol.
        Lines = "lines",
    }
}

impl HarnessKind {
    /// The command that lists the benchmarks of a program. `None`: it holds one, whose id is the target's name.
    pub fn list_command(self, executable: &Executable, launch: &ResolvedLaunch) -> Option<CommandSpec> {
        match self {
            Self::Process => None,
            Self::Criterion => Some(criterion::list_command(executable, launch)),
            Self::Divan => Some(divan::list_command(executable, launch)),
            Self::Libtest => Some(libtest::list_command(executable, launch)),
            Self::Bencher => Some(bencher::list_command(executable, launch)),
            Self::Gungraun => Some(gungraun::GUNGRAUN.list_command(executable, launch)),
            Self::IaiCallgrind => Some(gungraun::IAI_CALLGRIND.list_command(executable, launch)),
            Self::Tango => Some(tango::list_command(executable, launch)),
            Self::Lines => Some(lines::list_command(executable, launch)),
        }
    }

    /// The command that lists, in the same shape, those of the listed benchmarks that `cargo bench` leaves out because
    /// the bench's code says so. `None` where the list holds none of them.
    pub fn list_ignored_command(
        self,
        executable: &Executable,
        launch: &ResolvedLaunch,
    ) -> Option<CommandSpec> {
        match self {
            Self::Libtest => Some(libtest::list_ignored_command(executable, launch)),
            _ => None,
        }
    }

    /// The ids the list command printed, in their order, each once. An empty list is no error here: what it means
    /// depends on the other revision.
    pub fn parse_list(self, output: &RunOutput) -> Result<Vec<String>, HarnessError> {
        match self {
            Self::Process => Ok(Vec::new()),
            Self::Criterion => criterion::parse_list(output),
            Self::Divan => divan::parse_list(output),
            Self::Libtest => libtest::parse_list(output),
            Self::Bencher => bencher::parse_list(output),
            Self::Gungraun => gungraun::GUNGRAUN.parse_list(output),
            Self::IaiCallgrind => gungraun::IAI_CALLGRIND.parse_list(output),
            Self::Tango => tango::parse_list(output),
            Self::Lines => lines::parse_list(output),
        }
    }

    /// What to look at when a program lists no benchmark: the rest of a sentence, without a full stop.
    pub fn without_benchmarks(self) -> &'static str {
        match self {
            Self::Criterion => "check that its `criterion_group!` names some",
            Self::Divan => {
                "check that its functions have `#[divan::bench]` and that its main calls `divan::main()`"
            }
            Self::Libtest => {
                "check that its functions have `#[bench]`; if it has a main of its own or uses criterion or divan, its \
                 `[[bench]]` needs `harness = false`"
            }
            Self::Bencher => "check that its `benchmark_group!` names some",
            Self::Process => "check that it is a program",
            Self::Gungraun | Self::IaiCallgrind => {
                "check that its groups name some and that its `main!` names the groups"
            }
            Self::Tango => "check that its `tango_benchmarks!` names some",
            Self::Lines => {
                "check that it prints lines `benchgate: ID METRIC VALUE UNIT` on its standard output"
            }
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
            Self::Divan => divan::run_command(executable, launch, selection, budget.into()),
            Self::Libtest => libtest::run_command(executable, launch, selection, budget.into()),
            Self::Bencher => bencher::run_command(executable, launch, selection, budget.into()),
            Self::Gungraun => gungraun::GUNGRAUN.run_command(executable, launch, selection, budget.into()),
            Self::IaiCallgrind => {
                gungraun::IAI_CALLGRIND.run_command(executable, launch, selection, budget.into())
            }
            Self::Tango => tango::run_command(executable, launch, selection, budget.into()),
            Self::Lines => lines::run_command(executable, launch, budget.into()),
        }
    }

    /// What a unit run measured: exactly the selected benchmark, or with [`Selection::All`] at least one.
    pub fn parse_run(
        self,
        selection: &Selection<'_>,
        launch: &ResolvedLaunch,
        output: &RunOutput,
    ) -> Result<Vec<Measurement>, HarnessError> {
        // The others' exit status says more than success and failure.
        if !matches!(self, Self::Gungraun | Self::IaiCallgrind | Self::Tango) {
            ending::check(output, &launch.exit_codes)?;
        }
        match self {
            Self::Process => Ok(vec![process::measurement(selection, output)]),
            Self::Criterion => criterion::parse_run(selection, output),
            Self::Divan => divan::parse_run(selection, output),
            Self::Libtest => libtest::parse_run(selection, output),
            Self::Bencher => bencher::parse_run(selection, output),
            Self::Lines => lines::parse_run(selection, launch, output),
            Self::Gungraun => gungraun::GUNGRAUN.parse_run(selection, launch, output),
            Self::IaiCallgrind => gungraun::IAI_CALLGRIND.parse_run(selection, launch, output),
            Self::Tango => tango::parse_run(selection, launch, output),
        }
    }

    /// The program of the harness's own that a bench cannot do without, where there is one.
    pub fn runner_name(self) -> Option<&'static str> {
        match self {
            Self::Gungraun => Some("gungraun-runner"),
            Self::IaiCallgrind => Some("iai-callgrind-runner"),
            _ => None,
        }
    }

    /// Whether a run always measures all the program has: there is no way to ask it for one benchmark alone.
    pub fn runs_all(self) -> bool {
        matches!(self, Self::Process | Self::Lines | Self::IaiCallgrind)
    }

    /// Whether its runs may count without timing anything.
    pub fn counts_alone(self) -> bool {
        matches!(self, Self::Gungraun | Self::IaiCallgrind | Self::Lines)
    }

    /// The command that measures a benchmark of two programs at once, sample by sample in lock-step; `None` where the
    /// harness has no such way. Both programs run together, so neither may look for files behind the fixed path, which
    /// leads to one side only.
    pub fn lockstep_command(
        self,
        head: &Executable,
        base: &Executable,
        launch: &ResolvedLaunch,
        selection: &Selection<'_>,
        budget: impl Into<RunBudget>,
    ) -> Option<CommandSpec> {
        match (self, selection) {
            (Self::Tango, Selection::One(id)) => {
                tango::lockstep_command(head, base, launch, id, budget.into())
            }
            _ => None,
        }
    }

    /// What a run of [`Self::lockstep_command`] measured: base, then head. Their ratio is the median of the ratios of
    /// samples that were taken at the same time.
    pub fn parse_lockstep(
        self,
        selection: &Selection<'_>,
        _launch: &ResolvedLaunch,
        output: &RunOutput,
    ) -> Result<[Measurement; 2], HarnessError> {
        match (self, selection) {
            (Self::Tango, Selection::One(id)) => tango::parse_lockstep(id, output),
            _ => Err(HarnessError::new(
                ErrorKind::Unsupported,
                format!("{self} has no run in lock-step of what was selected"),
            )),
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

/// A command that is read by its standard output alone.
fn command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    args: impl IntoIterator<Item = OsString>,
    timeout: Duration,
) -> CommandSpec {
    let (program, args) = program_and_args(executable, args.into_iter().chain(launch.args.iter().cloned()));
    CommandSpec {
        program,
        args,
        env: environment(executable, launch),
        cwd: launch.cwd.clone(),
        stdin: launch.stdin.clone(),
        timeout,
        scratch_variable: None,
        collect: &[],
        capture_stdout: true,
    }
}

/// The text as a regular expression that matches just it.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// A line of output as messages quote it: its first characters.
fn quoted(line: &str) -> String {
    const LONGEST: usize = 120;
    let line = line.trim_end();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}
