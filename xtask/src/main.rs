//! Developer tasks: `cargo xtask <verb>`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to its terminal")]

mod bench;
mod calibrate;
mod demo;
mod history_bench;
mod traces;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <verb>

verbs:
  bench      measure the tool itself: start-up, overhead a run, judging
  calibrate  simulate the error rates of the verdicts, compare them with the published ones
  demo       make a small repository with a planted slowdown, gate it, show the table
  traces     what the judges make of the golden timing traces; with a directory, writes them there for `judge`";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["bench"] => bench::run(),
        ["demo"] => demo::run(),
        ["calibrate", ..] => calibrate::run(&args[1..]),
        ["traces"] => traces::run(None),
        ["traces", directory] => traces::run(Some(directory.as_ref())),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
