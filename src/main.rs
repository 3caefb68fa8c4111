//! The `cargo benchgate` command.

use std::process::ExitCode;

use cargo_benchgate::measure::runner::{RUNNER_ARGUMENT, runner_main};

fn main() -> ExitCode {
    // First of all: what this process ever holds is the floor of every peak RSS it can measure.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == RUNNER_ARGUMENT) {
        return ExitCode::from(u8::try_from(runner_main()).unwrap_or(5));
    }
    ExitCode::SUCCESS
}
