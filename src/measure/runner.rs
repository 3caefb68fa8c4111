//! The runner: the small process that starts the benchmarks, so that the tool's own memory is not in their figures.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::process::{Ended, Host, RunProblem, Start, probe_counters};
use super::wire::{Reply, Request};

/// The first argument that turns the program into the runner.
pub const RUNNER_ARGUMENT: &str = "__run";

/// How the directories start that a runner may remove.
pub(super) const SESSION_PREFIX: &str = "benchgate-run-";

/// The whole life of a runner, started as `cargo-benchgate __run DIRECTORY`: it answers requests until its standard
/// input ends, then removes the directory. Gives the exit code. To be called before anything big is touched, since
/// what this process ever held is the floor of every peak RSS it can see.
pub fn runner_main() -> i32 {
    let Some(session) = std::env::args_os().nth(2).map(PathBuf::from).filter(|path| is_session(path)) else {
        writeln!(io::stderr(), "`{RUNNER_ARGUMENT}` is internal: cargo benchgate starts it itself").ok();
        return 3;
    };
    let ended = Host::new().and_then(|mut host| serve(&mut host));
    std::fs::remove_dir_all(&session).ok();
    match ended {
        Ok(()) => 0,
        Err(error) => {
            writeln!(io::stderr(), "{error}").ok();
            5
        }
    }
}

/// Only directories made for a runner are ever removed by one.
fn is_session(path: &Path) -> bool {
    path.is_absolute()
        && path.is_dir()
        && path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(SESSION_PREFIX.as_bytes()))
}

fn serve(host: &mut Host) -> io::Result<()> {
    while let Some(line) = host.next_line()? {
        let start = match serde_json::from_slice::<Request>(&line)? {
            Request::Run(start) => Start::from(*start),
            Request::Counters => {
                answer(&Reply::Counters(probe_counters()))?;
                continue;
            }
            // The run it was meant for has ended by itself and is answered.
            Request::Cancel => continue,
        };
        let reply = match host.run(&start) {
            Ok(Ended::Finished(finished)) => Reply::Finished(finished),
            Ok(Ended::Cancelled) => Reply::Cancelled,
            Ok(Ended::ParentGone) => return Ok(()),
            Err(RunProblem::Start(problem)) => Reply::NotStarted(problem),
            Err(RunProblem::Host(message)) => Reply::Failed(message),
        };
        answer(&reply)?;
    }
    Ok(())
}

fn answer(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
