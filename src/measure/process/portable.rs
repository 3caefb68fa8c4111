//! The half for other systems: wall time only.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use super::super::wire::CANCEL;
use super::{Ended, Ending, Finished, RunProblem, Start, command, explain};

/// The process that starts programs one at a time, listening to the tool all the while.
pub(in super::super) struct Host {
    lines: Receiver<Vec<u8>>,
}

impl Host {
    /// Makes this process the host.
    pub(in super::super) fn new() -> io::Result<Self> {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in io::stdin().lock().split(b'\n') {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { lines })
    }

    /// The next line from the tool; `None` when the tool is gone.
    pub(in super::super) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.lines.recv().ok())
    }

    /// Starts the program and waits for it. What it started itself is not followed.
    pub(in super::super) fn run(&mut self, start: &Start) -> Result<Ended, RunProblem> {
        let host = |error: io::Error| RunProblem::Host(format!("failed to wait for it: {error}"));
        let mut command = command(start)?;
        let started = Instant::now();
        let mut child =
            command.spawn().map_err(|error| RunProblem::Start(explain(start, &command, &error)))?;
        loop {
            if let Some(status) = child.try_wait().map_err(host)? {
                return Ok(Ended::Finished(finished(Ending::Code(status.code().unwrap_or(-1)), started)));
            }
            let forced = match self.lines.try_recv() {
                Ok(line) if line == CANCEL.as_bytes() => Some(Ended::Cancelled),
                Err(TryRecvError::Disconnected) => Some(Ended::ParentGone),
                _ if start.timeout <= started.elapsed() => {
                    Some(Ended::Finished(finished(Ending::TimedOut, started)))
                }
                _ => None,
            };
            if let Some(ended) = forced {
                child.kill().map_err(host)?;
                child.wait().map_err(host)?;
                return Ok(ended);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn finished(ending: Ending, started: Instant) -> Finished {
    Finished {
        ending,
        wall_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        user_ns: 0,
        system_ns: 0,
        peak_rss_bytes: 0,
        peak_rss_floor_bytes: 0,
        involuntary_switches: 0,
        instructions: None,
    }
}

/// Nothing is known how to count here.
pub(in super::super) fn probe_counters() -> Result<(), String> {
    Err("hardware counters are read on Linux only".to_owned())
}

/// Nothing is known of what a dead host left running.
pub(in super::super) fn kill_session(_host: u32) {}

/// What a child started is not known; the caller kills the child itself.
pub(in super::super) fn kill_tree(_child: u32) {}

/// The session is not known.
pub(in super::super) fn own_session() -> i32 {
    0
}

/// No environment of another process is known.
pub(in super::super) fn kill_marked(_variable: &str, _slot: &std::path::Path) {}
