//! Developer tasks: `cargo xtask <verb>`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to its terminal")]

mod bench;
mod demo;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <verb>

verbs:
  bench   measure the tool itself: start-up, overhead a run, judging
  demo    make a small repository with a planted slowdown, gate it, show the table";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let outcome = match (args.next().as_deref(), args.next()) {
        (Some("bench"), None) => bench::run(),
        (Some("demo"), None) => demo::run(),
        (None | Some("help" | "--help" | "-h"), None) => {
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
