//! The scripted twin of the real executor: exact outputs and a clock that only runs move.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harness::contract::{CommandSpec, ExitOutcome, RunOutput};

use super::executor::Executor;
use super::problem::ExecuteError;

/// What a scripted run gives.
pub type Scripted = Result<RunOutput, ExecuteError>;

/// Answers runs from scripts, without processes.
#[derive(Default)]
pub struct ScriptedExecutor {
    scripts: Vec<Script>,
    sizes: BTreeMap<(usize, PathBuf), u64>,
    /// Time every run takes beside its wall time.
    pub overhead: Duration,
    /// Set once so many runs were made.
    pub interrupt_after: Option<(usize, Arc<AtomicBool>)>,
    /// Every run that was asked for, in order.
    pub calls: Vec<Call>,
    clock: Duration,
}

/// One run that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The revision.
    pub revision: usize,
    /// The command.
    pub command: CommandSpec,
}

struct Script {
    revision: usize,
    needle: String,
    answer: Box<dyn FnMut(usize) -> Scripted>,
    runs: usize,
}

impl ScriptedExecutor {
    /// Answers the runs of a benchmark in a revision: those whose program's file name is `benchmark`, or that have it as
    /// an argument. `answer` gets the number of the run among them, from 0. The first script that fits a run answers it.
    pub fn on(
        &mut self,
        revision: usize,
        benchmark: &str,
        answer: impl FnMut(usize) -> Scripted + 'static,
    ) -> &mut Self {
        let answer = Box::new(answer);
        self.scripts.push(Script { revision, needle: benchmark.into(), answer, runs: 0 });
        self
    }

    /// Answers with whole-process runs of these wall times in ns, over and over.
    pub fn on_wall_ns(&mut self, revision: usize, benchmark: &str, wall_ns: &[u64]) -> &mut Self {
        let wall_ns = wall_ns.to_vec();
        self.on(revision, benchmark, move |run| Ok(output(wall_ns[run % wall_ns.len()])))
    }

    /// The size of a file in a revision.
    pub fn file(&mut self, revision: usize, path: impl Into<PathBuf>, bytes: u64) -> &mut Self {
        self.sizes.insert((revision, path.into()), bytes);
        self
    }

    /// The revisions of all runs of a benchmark, in order.
    pub fn order(&self, benchmark: &str) -> Vec<usize> {
        self.calls.iter().filter(|call| names(&call.command, benchmark)).map(|call| call.revision).collect()
    }
}

impl std::fmt::Debug for ScriptedExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedExecutor")
            .field("calls", &self.calls)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Executor for ScriptedExecutor {
    fn execute(&mut self, revision: usize, command: &CommandSpec) -> Scripted {
        if let Some((runs, flag)) = &self.interrupt_after
            && *runs <= self.calls.len()
        {
            flag.store(true, Ordering::Relaxed);
            return Err(ExecuteError::Interrupted);
        }
        self.calls.push(Call { revision, command: command.clone() });
        let fits = |script: &&mut Script| script.revision == revision && names(command, &script.needle);
        let answer = match self.scripts.iter_mut().find(fits) {
            Some(script) => {
                script.runs += 1;
                (script.answer)(script.runs - 1)
            }
            None => Err(ExecuteError::Prepare(format!("no script for {command:?} in revision {revision}"))),
        };
        let wall_ns = answer.as_ref().map_or(0, |output| output.wall_ns);
        self.clock += self.overhead + Duration::from_nanos(wall_ns);
        answer
    }

    fn file_size(&mut self, revision: usize, path: &Path) -> Result<u64, ExecuteError> {
        let size = self.sizes.get(&(revision, path.to_owned())).copied();
        size.ok_or_else(|| ExecuteError::FileSize { path: path.into(), reason: "it is not there".into() })
    }

    fn elapsed(&self) -> Duration {
        self.clock
    }
}

fn names(command: &CommandSpec, benchmark: &str) -> bool {
    command.program.file_name().is_some_and(|name| name == benchmark)
        || command.args.iter().any(|argument| argument == benchmark)
}

/// A successful run of that wall time in ns, all of it user time, without output.
pub fn output(wall_ns: u64) -> RunOutput {
    RunOutput {
        outcome: ExitOutcome::Code(0),
        wall_ns,
        user_ns: wall_ns,
        system_ns: 0,
        peak_rss_bytes: 8 << 20,
        peak_rss_floor_bytes: 2 << 20,
        involuntary_switches: 0,
        stdout: Vec::new(),
        stderr: Vec::new(),
        files: Vec::new(),
    }
}
