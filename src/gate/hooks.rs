//! Setup and cleanup around the benchmarks of a target: once a revision, and the cleanup whatever came of the rest.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::launch::Places;
use crate::harness::contract::{CommandSpec, Executable};
use crate::measure::{Executor, HookFailure, run_hook};
use crate::suite::identity::TargetId;
use crate::suite::launch::Launch;
use crate::suite::placeholder::{Lookup, PlaceholderError, expand};
use crate::verdict::evidence::{BenchmarkError, ErrorKind};

/// How long all cleanups may take once the user has interrupted the run.
pub(super) const GRACE: Duration = Duration::from_secs(30);

/// The hooks of a target in one revision, ready to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Commands {
    pub(super) setup: Vec<CommandSpec>,
    pub(super) prepare_each: Vec<CommandSpec>,
    pub(super) cleanup: Vec<CommandSpec>,
}

/// Whose hooks they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) target: TargetId,
    pub(super) variant: String,
    /// The number the executor knows the revision by.
    pub(super) revision: usize,
    /// What people call the revision.
    pub(super) side: String,
}

/// The targets whose setup was begun: each owes its cleanup.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    begun: Vec<Begun>,
}

#[derive(Debug)]
struct Begun {
    owner: Owner,
    commands: Commands,
    outcome: Result<(), Box<BenchmarkError>>,
}

/// Fills in the hooks of `launch` for a program. They run in the package's root, where relative programs are found too.
///
/// # Errors
///
/// A variable that is not set.
pub(super) fn resolve(
    launch: &Launch,
    executable: &Executable,
    places: &Places<'_>,
    timeout: Duration,
) -> Result<Commands, PlaceholderError> {
    let root = executable.package_root.to_string_lossy();
    let head_root = places.head_root.to_string_lossy();
    let work_directory = places.work_directory.to_string_lossy();
    let lookup =
        Lookup { root: &root, head_root: &head_root, workdir: Some(&work_directory), env: places.variable };
    let mut env = executable.env.clone();
    for (name, value) in &launch.env {
        env.retain(|(known, _)| known.as_os_str() != name.as_str());
        env.push((OsString::from(name), OsString::from(expand(value, &lookup)?)));
    }
    let command = |words: &Vec<String>| {
        let words = words.iter().map(|word| expand(word, &lookup)).collect::<Result<Vec<_>, _>>()?;
        let (program, args) = words.split_first().expect("the suite refuses empty commands");
        Ok(CommandSpec {
            program: program_path(program, &executable.package_root),
            args: args.iter().map(OsString::from).collect(),
            env: env.clone(),
            cwd: executable.package_root.clone(),
            stdin: None,
            timeout,
            scratch_variable: None,
            collect: &[],
            capture_stdout: false,
        })
    };
    let all = |commands: &[Vec<String>]| commands.iter().map(command).collect::<Result<Vec<_>, _>>();
    Ok(Commands {
        setup: all(&launch.hooks.setup)?,
        prepare_each: all(&launch.hooks.prepare_each)?,
        cleanup: all(&launch.hooks.cleanup)?,
    })
}

/// A bare name is left to PATH; anything with a separator counts from the package's root.
fn program_path(program: &str, root: &Path) -> PathBuf {
    match program.contains('/') {
        true => root.join(program.strip_prefix("./").unwrap_or(program)),
        false => program.into(),
    }
}

impl Hooks {
    /// Runs the setup of a target in a revision, unless that was done before; then the answer is the same.
    ///
    /// # Errors
    ///
    /// An interrupt, or a command that failed.
    pub(super) fn begin(
        &mut self,
        executor: &mut dyn Executor,
        owner: Owner,
        commands: &Commands,
    ) -> Result<(), Box<BenchmarkError>> {
        if commands.setup.is_empty() && commands.cleanup.is_empty() {
            return Ok(());
        }
        let same = |begun: &&Begun| {
            begun.owner == owner
                && begun.commands.setup == commands.setup
                && begun.commands.cleanup == commands.cleanup
        };
        if let Some(begun) = self.begun.iter().find(same) {
            return begun.outcome.clone();
        }
        let run = |command| run_hook(executor, owner.revision, ("setup", &owner.side), command);
        let outcome = commands.setup.iter().try_for_each(run).map_err(|failure| Box::new(trouble(failure)));
        self.begun.push(Begun { owner, commands: commands.clone(), outcome: outcome.clone() });
        outcome
    }

    /// Whether a cleanup is owed.
    pub(super) fn owes_cleanup(&self) -> bool {
        self.begun.iter().any(|begun| !begun.commands.cleanup.is_empty())
    }

    /// Runs every cleanup, the last begun first. Gives the failures with their owners; one that fails stops no other.
    pub(super) fn finish(&mut self, executor: &mut dyn Executor) -> Vec<(Owner, BenchmarkError)> {
        let mut failures = Vec::new();
        while let Some(Begun { owner, commands, .. }) = self.begun.pop() {
            for command in commands.cleanup {
                let ran = run_hook(executor, owner.revision, ("cleanup", &owner.side), &command);
                if let Err(failure) = ran {
                    failures.push((owner.clone(), trouble(failure)));
                }
            }
        }
        failures
    }
}

fn trouble(failure: HookFailure) -> BenchmarkError {
    match failure {
        HookFailure::Failed(error) => error,
        HookFailure::Interrupted => {
            BenchmarkError { kind: ErrorKind::Interrupted, message: "interrupted".to_owned(), stderr: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::contract::{ExitOutcome, RunOutput};
    use crate::measure::ScriptedExecutor;
    use crate::measure::scripted::output;
    use crate::suite::identity::TargetKind;

    fn command(program: &str) -> CommandSpec {
        CommandSpec {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: "/live/tree".into(),
            stdin: None,
            timeout: Duration::from_secs(60),
            scratch_variable: None,
            collect: &[],
            capture_stdout: false,
        }
    }

    fn owner(revision: usize) -> Owner {
        let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() };
        Owner { target, variant: String::new(), revision, side: ["base", "head"][revision].into() }
    }

    #[test]
    fn setup_runs_once_a_revision_and_cleanup_in_the_opposite_order() {
        let mut executor = ScriptedExecutor::default();
        for revision in [0, 1] {
            executor.on_wall_ns(revision, "make", &[1]).on_wall_ns(revision, "clean", &[1]);
        }
        let commands = Commands {
            setup: vec![command("make")],
            prepare_each: Vec::new(),
            cleanup: vec![command("clean")],
        };
        let mut hooks = Hooks::default();
        for revision in [0, 1, 1, 0] {
            hooks.begin(&mut executor, owner(revision), &commands).unwrap();
        }
        assert!(hooks.owes_cleanup());
        assert!(hooks.finish(&mut executor).is_empty());
        let calls: Vec<_> = executor
            .calls
            .iter()
            .map(|call| (call.command.program.to_str().unwrap(), call.revision))
            .collect();
        assert_eq!(calls, [("make", 0), ("make", 1), ("clean", 1), ("clean", 0)]);
    }

    #[test]
    fn failed_setup_is_told_each_time_and_its_cleanup_is_owed_all_the_same() {
        let failing = RunOutput { outcome: ExitOutcome::Code(3), stderr: b"no disk\n".to_vec(), ..output(1) };
        let mut executor = ScriptedExecutor::default();
        executor
            .on(0, "make", move |_| Ok(failing.clone()))
            .on(0, "clean", |_| Ok(RunOutput { outcome: ExitOutcome::TimedOut, ..output(1) }));
        let commands = Commands {
            setup: vec![command("make"), command("never")],
            prepare_each: Vec::new(),
            cleanup: vec![command("clean"), command("clean")],
        };
        let mut hooks = Hooks::default();
        let first = hooks.begin(&mut executor, owner(0), &commands).unwrap_err();
        assert_eq!(first.message, "setup of base, `make`, exited with code 3");
        assert_eq!((first.kind, first.stderr.as_deref()), (ErrorKind::HookFailed, Some("no disk")));
        assert_eq!(hooks.begin(&mut executor, owner(0), &commands), Err(first));
        let failures = hooks.finish(&mut executor);
        assert_eq!(failures.len(), 2, "one that fails stops no other");
        assert!(failures[0].1.message.contains("ran past its limit of 60 s"), "{failures:?}");
        assert_eq!(executor.calls.len(), 3);
    }

    #[test]
    fn programs_with_a_separator_count_from_the_package_and_bare_names_from_the_path() {
        let root = Path::new("/live/tree");
        assert_eq!(program_path("./gen", root), Path::new("/live/tree/gen"));
        assert_eq!(program_path("tools/gen", root), Path::new("/live/tree/tools/gen"));
        assert_eq!(program_path("/bin/true", root), Path::new("/bin/true"));
        assert_eq!(program_path("true", root), Path::new("true"));
    }
}
