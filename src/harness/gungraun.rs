//! gungraun and iai-callgrind: exact instruction counts, by their own runner, or by valgrind where it is missing.

use std::ffi::OsString;
use std::time::Duration;

use crate::verdict::evidence::{ErrorKind, Values};

use super::contract::{
    CommandSpec, Executable, HarnessError, Measurement, ResolvedLaunch, RunBudget, RunOutput, Selection,
};
use super::ending;

mod direct;
mod summary;

/// Without the runner the list is a run of everything under valgrind, at half a second each.
const LIST_TIMEOUT: Duration = Duration::from_secs(600);
/// What is read back: the runner's summaries; from valgrind alone its profiles, and what the program says of itself.
const COLLECT: &[&str] = &["summary.json", "*.callgrind", direct::FACTS];

/// The one harness under its two names: what differs between them.
#[derive(Debug)]
pub(super) struct Family {
    /// The crate's name.
    name: &'static str,
    /// The variable of its output directory.
    home: &'static str,
    /// The variable that turns colour off.
    color: &'static str,
    /// What the function that is counted lies in, as valgrind matches it.
    toggle: &'static str,
    /// What the name of a case's function begins with, behind the name of the benchmark's.
    case_prefix: &'static str,
    /// Whether the runner takes a glob of ids. It is that of the bench's file otherwise.
    selects: bool,
}

pub(super) const GUNGRAUN: Family = Family {
    name: "gungraun",
    home: "GUNGRAUN_HOME",
    color: "GUNGRAUN_COLOR",
    toggle: "*::__gungraun_wrapper_mod::*",
    case_prefix: "__run_",
    selects: true,
};

pub(super) const IAI_CALLGRIND: Family = Family {
    name: "iai-callgrind",
    home: "IAI_CALLGRIND_HOME",
    color: "IAI_CALLGRIND_COLOR",
    toggle: "*::__iai_callgrind_wrapper_mod::*",
    case_prefix: "",
    selects: false,
};

impl Family {
    pub(super) fn list_command(&self, executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
        if launch.facts.tools.runner.is_none() {
            return self.direct_command(executable, launch, &Selection::All, LIST_TIMEOUT);
        }
        self.command(executable, launch, ["--bench".into(), "--list".into()], LIST_TIMEOUT)
    }

    /// The benchmarks' own prints do not show in a list, and every line of it has its end to be known by.
    pub(super) fn parse_list(&self, output: &RunOutput) -> Result<Vec<String>, HarnessError> {
        ending::check(output, &[0])
            .map_err(|error| self.explained(error, output, "listing the benchmarks failed"))?;
        if let Some(measured) = self.without_runner(output)? {
            return Ok(measured.into_iter().map(|measurement| measurement.id).collect());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut ids: Vec<String> = Vec::new();
        for id in text.lines().filter_map(|line| line.strip_suffix(": benchmark")) {
            if !ids.iter().any(|known| known == id) {
                ids.push(id.to_owned());
            }
        }
        Ok(ids)
    }

    /// The runner keeps the last run of its output directory to compare with, so every run gets a fresh one.
    pub(super) fn run_command(
        &self,
        executable: &Executable,
        launch: &ResolvedLaunch,
        selection: &Selection<'_>,
        budget: RunBudget,
    ) -> CommandSpec {
        if launch.facts.tools.runner.is_none() {
            return self.direct_command(executable, launch, selection, budget.timeout);
        }
        let mut args: Vec<OsString> = vec!["--bench".into(), "--save-summary=json".into()];
        if let (Selection::One(id), true) = (selection, self.selects) {
            args.push(glob(id).into());
        }
        self.command(executable, launch, args, budget.timeout)
    }

    fn command(
        &self,
        executable: &Executable,
        launch: &ResolvedLaunch,
        args: impl IntoIterator<Item = OsString>,
        timeout: Duration,
    ) -> CommandSpec {
        let (program, args) =
            super::program_and_args(executable, args.into_iter().chain(launch.args.iter().cloned()));
        CommandSpec {
            program,
            args,
            env: self.environment(executable, launch),
            cwd: launch.cwd.clone(),
            stdin: launch.stdin.clone(),
            timeout,
            scratch_variable: Some(self.home),
            collect: COLLECT,
            capture_stdout: true,
        }
    }

    fn environment(&self, executable: &Executable, launch: &ResolvedLaunch) -> Vec<(OsString, OsString)> {
        let mut env = super::environment(executable, launch);
        env.retain(|(name, _)| name != self.color);
        env.push((self.color.into(), "never".into()));
        env
    }

    pub(super) fn parse_run(
        &self,
        selection: &Selection<'_>,
        launch: &ResolvedLaunch,
        output: &RunOutput,
    ) -> Result<Vec<Measurement>, HarnessError> {
        let summaries = self.summaries(output)?;
        // Status 3 says that the bench's own limits are exceeded; they are not ours, and everything was measured.
        let limits_exceeded = if summaries.is_empty() { None } else { Some(3) };
        let accepted: Vec<i32> = launch.exit_codes.iter().copied().chain(limits_exceeded).collect();
        ending::check(output, &accepted)
            .map_err(|error| self.explained(error, output, "the benchmark failed"))?;
        let measured = match self.without_runner(output)? {
            Some(measured) => measured,
            None => summaries,
        };
        match selection {
            Selection::One(id) => {
                let one = measured.into_iter().find(|measurement| measurement.id == *id);
                Ok(vec![one.ok_or_else(|| measured_nothing(id))?])
            }
            Selection::All if measured.is_empty() => {
                let message = format!(
                    "the program exited with success and counted nothing; check that its `main!` names its groups, and \
                     that it runs with `cargo bench` and {}-runner",
                    self.name
                );
                Err(HarnessError::new(ErrorKind::MeasuredNothing, message))
            }
            Selection::All => Ok(measured),
        }
    }

    /// What the runner says of each benchmark.
    fn summaries(&self, output: &RunOutput) -> Result<Vec<Measurement>, HarnessError> {
        let files = output.files.iter().filter(|file| file.path.ends_with("summary.json"));
        files.map(|file| summary::measurement(self, file)).collect()
    }

    /// What was counted by valgrind alone; `None` where the runner did it.
    fn without_runner(&self, output: &RunOutput) -> Result<Option<Vec<Measurement>>, HarnessError> {
        if !output.files.iter().any(|file| file.path.ends_with(direct::FACTS)) {
            // A program with its runner's path built in takes that one, and may have counted all in place of a list.
            let summaries = self.summaries(output)?;
            return Ok((!summaries.is_empty()).then_some(summaries));
        }
        self.counted_directly(&output.files).map(Some)
    }

    /// The error of a process that failed, with what to do about it where its own words tell.
    fn explained(&self, error: HarnessError, output: &RunOutput, what: &str) -> HarnessError {
        let runner = format!("{}-runner", self.name);
        let text = String::from_utf8_lossy(&output.stderr);
        if text.contains(&format!("Is {runner} installed")) {
            return self.lacks_tools(None);
        }
        if let Some(library) = older_than(&text, self.name) {
            return self.lacks_tools(Some(library));
        }
        if text.contains(&format!("{runner} (")) && text.contains(" is newer than ") {
            let message = format!(
                "the installed {runner} is newer than the {} of the bench; install the runner of its version, by `cargo \
                 install {runner} --version X.Y.Z`",
                self.name
            );
            return HarnessError::new(ErrorKind::Unsupported, message);
        }
        HarnessError::new(error.kind, format!("{what}: {error}"))
    }

    /// The error where nothing is there to count with; the runner has to have the version of the library exactly.
    fn lacks_tools(&self, version: Option<&str>) -> HarnessError {
        let version = version.unwrap_or("X.Y.Z, the version of the library in Cargo.lock");
        let message = format!(
            "its instructions are counted by {name}-runner and valgrind, and they are not both installed in that version: \
             `cargo install {name}-runner --version {version}`, and valgrind from the system's packages",
            name = self.name
        );
        HarnessError::new(ErrorKind::Unsupported, message)
    }
}

/// The version in "… is older than gungraun (0.20.0)".
fn older_than<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("is older than {name} ("))?;
    let version: &str = rest.split_once(')')?.0.trim();
    version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte)).then_some(version)
}

/// The glob that matches just this id.
fn glob(id: &str) -> String {
    let mut glob = String::new();
    for character in id.chars() {
        if r"\*?[]".contains(character) {
            glob.push('\\');
        }
        glob.push(character);
    }
    glob
}

fn measurement(id: String, values: Values) -> Measurement {
    Measurement { id, values, overlong: false, stated_work: None }
}

fn measured_nothing(id: &str) -> HarnessError {
    let message = format!(
        "the program exited with success and counted nothing for `{id}`; a benchmark whose tool is not callgrind or \
         cachegrind has no instruction count"
    );
    HarnessError::new(ErrorKind::MeasuredNothing, message)
}
