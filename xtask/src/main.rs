//! Developer tasks: `cargo xtask <verb>`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to its terminal")]

mod bench;
mod bench_builds;
mod bisect;
mod calibrate;
mod demo;
mod history_bench;
mod man;
mod traces;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <verb>

verbs:
  bench      measure the tool itself: start-up, overhead a run, judging; `bench bisect [N]`: how often bisect is right
  calibrate  simulate the error rates of the verdicts, compare them with the published ones
  demo       make a small repository with a planted slowdown, gate it, show the table
  man        write the manual pages to target/man, or to a directory
  schema     print the JSON Schema of a report
  traces     what the judges make of the golden timing traces; with a directory, writes them there for `judge`";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["bench"] => bench::run(),
        ["bench", "bisect"] => bisect::run(20),
        ["bench", "bisect", runs] => runs.parse().map_err(Into::into).and_then(bisect::run),
        ["demo"] => demo::run(),
        ["man"] => man::run(None),
        ["man", directory] => man::run(Some(directory.as_ref())),
        ["calibrate", ..] => calibrate::run(&args[1..]),
        ["schema"] => {
            print!("{}", cargo_benchgate::report::json::SCHEMA);
            return ExitCode::SUCCESS;
        }
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
