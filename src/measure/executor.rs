//! The seam between the driver and the world: one unit run, one clock.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::harness::contract::{CommandSpec, RunOutput};

use super::client::RunnerClient;
use super::problem::ExecuteError;

/// What the driver needs of the world. The scripted twin is [`ScriptedExecutor`](super::scripted::ScriptedExecutor).
pub trait Executor {
    /// Makes one unit run of a revision.
    fn execute(&mut self, revision: usize, command: &CommandSpec) -> Result<RunOutput, ExecuteError>;

    /// The same, with the user instructions the program and everything it started retired; `None` where they could not be
    /// counted in full.
    fn execute_counted(
        &mut self,
        revision: usize,
        command: &CommandSpec,
    ) -> Result<(RunOutput, Option<u64>), ExecuteError> {
        Ok((self.execute(revision, command)?, None))
    }

    /// Whether [`Executor::execute_counted`] can count here; the error says why not, after "because".
    fn hardware_counters(&mut self) -> Result<(), String> {
        Err("nothing here counts".to_owned())
    }

    /// Makes a directory of that revision empty, or new.
    fn empty(&mut self, _revision: usize, _directory: &Path) -> Result<(), ExecuteError> {
        Ok(())
    }

    /// The size in bytes of a file as that revision has it.
    fn file_size(&mut self, revision: usize, path: &Path) -> Result<u64, ExecuteError>;

    /// Time since the executor was made.
    fn elapsed(&self) -> Duration;
}

/// Runs real programs, with the fixed path pointed to the revision that runs.
pub struct LiveExecutor<'a> {
    client: RunnerClient,
    switch: Box<dyn FnMut(usize) -> std::io::Result<()> + 'a>,
    live: Option<usize>,
    interrupted: &'a AtomicBool,
    started: Instant,
}

impl<'a> LiveExecutor<'a> {
    /// `switch` points the fixed path to a revision; it is called before a run whenever another one is live.
    pub fn new(
        client: RunnerClient,
        switch: impl FnMut(usize) -> std::io::Result<()> + 'a,
        interrupted: &'a AtomicBool,
    ) -> Self {
        Self { client, switch: Box::new(switch), live: None, interrupted, started: Instant::now() }
    }

    fn make_live(&mut self, revision: usize) -> Result<(), ExecuteError> {
        if self.live != Some(revision) {
            // Unknown until the switch is through: a failed one may have left either behind.
            self.live = None;
            (self.switch)(revision).map_err(|error| ExecuteError::Switch(error.to_string()))?;
            self.live = Some(revision);
        }
        Ok(())
    }
}

impl std::fmt::Debug for LiveExecutor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveExecutor")
            .field("client", &self.client)
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}

impl Executor for LiveExecutor<'_> {
    fn execute(&mut self, revision: usize, command: &CommandSpec) -> Result<RunOutput, ExecuteError> {
        self.make_live(revision)?;
        self.client.execute(command, self.interrupted)
    }

    fn execute_counted(
        &mut self,
        revision: usize,
        command: &CommandSpec,
    ) -> Result<(RunOutput, Option<u64>), ExecuteError> {
        self.make_live(revision)?;
        self.client.execute_counted(command, self.interrupted)
    }

    fn hardware_counters(&mut self) -> Result<(), String> {
        self.client.hardware_counters(self.interrupted)
    }

    fn empty(&mut self, revision: usize, directory: &Path) -> Result<(), ExecuteError> {
        self.make_live(revision)?;
        let outcome = match directory.exists() {
            true => fs_err::remove_dir_all(directory),
            false => Ok(()),
        };
        outcome
            .and_then(|()| fs_err::create_dir_all(directory))
            .map_err(|error| ExecuteError::Prepare(error.to_string()))
    }

    fn file_size(&mut self, revision: usize, path: &Path) -> Result<u64, ExecuteError> {
        self.make_live(revision)?;
        let metadata = std::fs::metadata(path)
            .map_err(|error| ExecuteError::FileSize { path: path.into(), reason: error.to_string() })?;
        Ok(metadata.len())
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
