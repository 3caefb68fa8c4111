//! The `cargo benchgate` command.

use std::process;

use cargo_benchgate::{build, cli, measure};

fn main() {
    // The small process that starts the benchmarks: nothing else may be loaded in it first.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == measure::runner::RUNNER_ARGUMENT) {
        process::exit(measure::runner::runner_main());
    }
    if std::env::args_os().nth(1).is_some_and(|arg| arg == build::guard::GUARD_ARGUMENT) {
        process::exit(build::guard::guard_main());
    }
    process::exit(cli::main(std::env::args_os()) as i32);
}
