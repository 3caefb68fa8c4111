//! One command of the user's around the unit runs: outside the timing, and never a sample.

use crate::harness::contract::{CommandSpec, ExitOutcome, stderr_tail};
use crate::verdict::evidence::{BenchmarkError, ErrorKind};

use super::executor::Executor;
use super::problem::ExecuteError;

/// Why a hook did not end well.
#[derive(Debug, Clone, PartialEq)]
pub enum HookFailure {
    /// The user interrupted the run.
    Interrupted,
    /// It could not be started, ran past its time limit, or did not exit with 0.
    Failed(BenchmarkError),
}

/// Runs a hook in a revision. `hook` is its key, such as `setup`; `side` is what people call the revision.
///
/// # Errors
///
/// An interrupt, or a failure that names the key, the command and the end of it.
pub fn run(
    executor: &mut dyn Executor,
    revision: usize,
    (hook, side): (&str, &str),
    command: &CommandSpec,
) -> Result<(), HookFailure> {
    let failed = |why: String, stderr| {
        let message = format!("{hook} of {side}, `{}`, {why}", shown(command));
        HookFailure::Failed(BenchmarkError { kind: ErrorKind::HookFailed, message, stderr })
    };
    let output = executor.execute(revision, command).map_err(|error| match error {
        ExecuteError::Interrupted => HookFailure::Interrupted,
        error => failed(format!("was not run: {error}"), None),
    })?;
    let why = match output.outcome {
        ExitOutcome::Code(0) => return Ok(()),
        ExitOutcome::Code(code) => format!("exited with code {code}"),
        ExitOutcome::Signal(signal) => format!("was ended by signal {signal}"),
        ExitOutcome::TimedOut => format!(
            "ran past its limit of {} s and was killed; raise `timeout` if it needs longer",
            command.timeout.as_secs_f64()
        ),
    };
    Err(failed(why, stderr_tail(&output.stderr)))
}

/// The command as a shell takes it.
fn shown(command: &CommandSpec) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let word = |word: std::borrow::Cow<'_, str>| match !word.is_empty() && word.chars().all(plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let program = word(command.program.to_string_lossy());
    command.args.iter().fold(program, |text, argument| format!("{text} {}", word(argument.to_string_lossy())))
}
