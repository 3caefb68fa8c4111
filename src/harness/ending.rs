//! How a process ended, and whether that counts as success.

use crate::verdict::evidence::ErrorKind;

use super::contract::{ExitOutcome, HarnessError, RunOutput};

/// An error unless the process ended by itself with one of these codes.
pub(super) fn check(output: &RunOutput, exit_codes: &[i32]) -> Result<(), HarnessError> {
    match output.outcome {
        ExitOutcome::Code(code) if exit_codes.contains(&code) => Ok(()),
        ExitOutcome::Code(code) => {
            let accepted = exit_codes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
            let message = format!(
                "the benchmark exited with code {code}, success is {accepted}; run the bench by hand to see why, \
                 or name the code in `exit_codes`"
            );
            Err(HarnessError::new(ErrorKind::ExitCode, message))
        }
        ExitOutcome::Signal(signal) => {
            let name = signal_name(signal).map(|name| format!(" ({name})")).unwrap_or_default();
            let message = format!(
                "the benchmark was killed by signal {signal}{name}; run the bench by hand to see why"
            );
            Err(HarnessError::new(ErrorKind::ExitCode, message))
        }
        ExitOutcome::TimedOut => {
            let ms = output.wall_ns / 1_000_000;
            let after =
                if ms < 1000 { format!("{ms} ms") } else { format!("{}.{} s", ms / 1000, ms % 1000 / 100) };
            let message = format!(
                "the benchmark was killed at its time limit, after {after}; raise `timeout` (--timeout), or measure \
                 less work in one run"
            );
            Err(HarnessError::new(ErrorKind::Timeout, message))
        }
    }
}

/// The names of the signals a benchmark dies of.
fn signal_name(signal: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 11] = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL, perhaps out of memory"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGTERM, "SIGTERM"),
    ];
    NAMES.iter().find(|(number, _)| *number == signal).map(|&(_, name)| name)
}
