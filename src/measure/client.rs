//! The tool's side of the runner: one run at a time, with the files around it.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fs_err as fs;
use tempfile::TempDir;

use crate::harness::contract::{CollectedFile, CommandSpec, RunOutput, SCRATCH};

use super::problem::ExecuteError;
use super::process::{Finished, Replies, Start, Waited, kill_session};
use super::runner::{RUNNER_ARGUMENT, SESSION_PREFIX};
use super::wire::{CANCEL, Reply, Request};

/// How much is kept of output nobody asked for. Bytes.
pub const TAIL_BYTES: u64 = 8 << 10;

/// How much is read at most of standard output or a collected file. Bytes.
pub const READ_LIMIT_BYTES: u64 = 16 << 20;

/// How often the interrupt flag is looked at while a program runs.
const TICK: Duration = Duration::from_millis(50);

/// How long a runner may take to end, or to answer a cancel: it gives up on what it kills after 10 s.
const RUNNER_LIMIT: Duration = Duration::from_secs(15);

/// Starts runs through a runner process, which is started when it is first needed and again once if it dies.
#[derive(Debug)]
pub struct RunnerClient {
    program: PathBuf,
    parent: PathBuf,
    runner: Option<Runner>,
    /// How the last one died, once one has.
    died: Option<String>,
    restarted: bool,
}

#[derive(Debug)]
struct Runner {
    process: Child,
    /// Closing it ends the runner. `None` only while that happens.
    input: Option<ChildStdin>,
    replies: Replies,
    session: TempDir,
}

impl RunnerClient {
    /// A client whose runner is `program __run`, with its files in a new directory below `parent`.
    pub fn new(program: impl Into<PathBuf>, parent: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), parent: parent.into(), runner: None, died: None, restarted: false }
    }

    /// The id of the runner process, where one runs.
    pub fn runner_id(&self) -> Option<u32> {
        self.runner.as_ref().map(|runner| runner.process.id())
    }

    /// Makes one run. Sets of files, environment and paths are the same from run to run, so that both revisions start
    /// from the same memory layout. `interrupted` is noticed within 50 ms, and then the program is killed.
    pub fn execute(
        &mut self,
        spec: &CommandSpec,
        interrupted: &AtomicBool,
    ) -> Result<RunOutput, ExecuteError> {
        Ok(self.run(spec, false, interrupted)?.0)
    }

    /// The same, with the user instructions of the program and all it started; `None` where they could not be counted.
    pub fn execute_counted(
        &mut self,
        spec: &CommandSpec,
        interrupted: &AtomicBool,
    ) -> Result<(RunOutput, Option<u64>), ExecuteError> {
        self.run(spec, true, interrupted)
    }

    /// Asks the runner once whether instructions can be counted; the error says why not.
    pub fn hardware_counters(&mut self, interrupted: &AtomicBool) -> Result<(), String> {
        let line = serde_json::to_vec(&Request::Counters).map_err(|error| error.to_string())?;
        self.session().map_err(|error| error.to_string())?;
        match self.round_trip(line, interrupted).map_err(|error| error.to_string())? {
            Reply::Counters(answer) => answer,
            _ => Err("the process that starts the benchmarks did not answer".to_owned()),
        }
    }

    fn run(
        &mut self,
        spec: &CommandSpec,
        count: bool,
        interrupted: &AtomicBool,
    ) -> Result<(RunOutput, Option<u64>), ExecuteError> {
        if interrupted.load(Ordering::Relaxed) {
            return Err(ExecuteError::Interrupted);
        }
        let session = self.session()?;
        let files = RunFiles::prepare(&session, spec.scratch_variable.is_some())?;
        let start = Start { count, ..files.start(spec) };
        let line = serde_json::to_vec(&Request::Run(Box::new(start.into())))
            .map_err(|error| ExecuteError::Prepare(error.to_string()))?;
        let result = match self.round_trip(line, interrupted) {
            Ok(Reply::Finished(finished)) => {
                files.read_back(spec, &finished).map(|output| (output, finished.instructions))
            }
            Ok(Reply::NotStarted(problem)) => Err(problem.into()),
            Ok(Reply::Cancelled) => Err(ExecuteError::Interrupted),
            Ok(Reply::Counters(_)) => {
                Err(ExecuteError::RunnerDied("it answered a question of before".to_owned()))
            }
            Ok(Reply::Failed(message)) => Err(ExecuteError::Leftovers(message)),
            Err(error) => Err(error),
        };
        files.clear();
        result
    }

    /// The directory of a runner that was alive a moment ago.
    fn session(&mut self) -> Result<PathBuf, ExecuteError> {
        if let Some(runner) = &mut self.runner
            && !matches!(runner.process.try_wait(), Ok(None))
        {
            self.bury();
        }
        let runner = match (self.runner.take(), &self.died) {
            (Some(runner), _) => runner,
            (None, Some(why)) if self.restarted => {
                return Err(ExecuteError::RunnerDied(format!("twice, {why}")));
            }
            (None, died) => {
                self.restarted = died.is_some();
                Runner::start(&self.program, &self.parent)?
            }
        };
        Ok(self.runner.insert(runner).session.path().to_owned())
    }

    fn round_trip(&mut self, mut line: Vec<u8>, interrupted: &AtomicBool) -> Result<Reply, ExecuteError> {
        line.push(b'\n');
        let runner = self.runner.as_mut().ok_or_else(|| ExecuteError::RunnerDied("it is gone".into()))?;
        if !runner.send(&line) {
            return Err(self.died(interrupted));
        }
        let mut cancelled_at: Option<Instant> = None;
        loop {
            let runner = self.runner.as_mut().ok_or_else(|| ExecuteError::RunnerDied("it is gone".into()))?;
            match runner.replies.wait(TICK) {
                Ok(Waited::Line(reply)) => {
                    let reply = serde_json::from_slice(&reply);
                    return reply
                        .map_err(|error| ExecuteError::RunnerDied(format!("unreadable answer: {error}")));
                }
                Ok(Waited::Nothing) => {}
                Ok(Waited::Gone) | Err(_) => return Err(self.died(interrupted)),
            }
            match cancelled_at {
                None if interrupted.load(Ordering::Relaxed) => {
                    cancelled_at = Some(Instant::now());
                    if !runner.send(format!("{CANCEL}\n").as_bytes()) {
                        return Err(self.died(interrupted));
                    }
                }
                Some(at) if RUNNER_LIMIT < at.elapsed() => {
                    self.runner = None;
                    return Err(ExecuteError::Interrupted);
                }
                _ => {}
            }
        }
    }

    /// The error of a runner found dead. An interrupt reaches a runner that is only just starting, too.
    fn died(&mut self, interrupted: &AtomicBool) -> ExecuteError {
        let why = self.bury();
        if interrupted.load(Ordering::Relaxed) {
            ExecuteError::Interrupted
        } else {
            ExecuteError::RunnerDied(why)
        }
    }

    /// Clears away a dead runner and what it left running; says how it died.
    fn bury(&mut self) -> String {
        let Some(mut runner) = self.runner.take() else { return "it is gone".into() };
        runner.process.kill().ok();
        let status = runner.process.wait();
        kill_session(runner.process.id());
        let told = tail(&runner.session.path().join("runner-stderr")).unwrap_or_default();
        let told = String::from_utf8_lossy(&told).trim().to_owned();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let why = if told.is_empty() { status } else { format!("{status}: {told}") };
        self.died = Some(why.clone());
        why
    }
}

impl Runner {
    #[allow(clippy::disallowed_methods, reason = "the one place that starts the runner")]
    fn start(program: &Path, parent: &Path) -> Result<Self, ExecuteError> {
        let prepare = |error: std::io::Error| ExecuteError::Prepare(error.to_string());
        let session = tempfile::Builder::new().prefix(SESSION_PREFIX).tempdir_in(parent).map_err(prepare)?;
        let told = fs::File::create(session.path().join("runner-stderr")).map_err(prepare)?;
        let mut process = Command::new(program)
            .arg(RUNNER_ARGUMENT)
            .arg(session.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(told.into_file())
            .spawn()
            .map_err(|error| ExecuteError::RunnerDied(format!("{}: {error}", program.display())))?;
        let input = process.stdin.take();
        let output = process.stdout.take().expect("the standard output is piped a few lines above");
        let replies = Replies::new(output);
        Ok(Self { process, input, replies, session })
    }

    /// Whether the line went out.
    fn send(&mut self, line: &[u8]) -> bool {
        self.input.as_mut().is_some_and(|input| input.write_all(line).and_then(|()| input.flush()).is_ok())
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // The end of its input makes it kill what it runs, remove its files, and end.
        self.input = None;
        let asked = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) {
            if RUNNER_LIMIT < asked.elapsed() {
                self.process.kill().ok();
                self.process.wait().ok();
                kill_session(self.process.id());
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The files of one run; always the same paths.
struct RunFiles {
    stdout: PathBuf,
    stderr: PathBuf,
    scratch: Option<PathBuf>,
}

impl RunFiles {
    fn prepare(session: &Path, wants_scratch: bool) -> Result<Self, ExecuteError> {
        let scratch = wants_scratch.then(|| session.join("scratch"));
        if let Some(scratch) = &scratch {
            remove_tree(scratch);
            fs::create_dir(scratch).map_err(|error| ExecuteError::Prepare(error.to_string()))?;
        }
        Ok(Self { stdout: session.join("stdout"), stderr: session.join("stderr"), scratch })
    }

    fn start(&self, spec: &CommandSpec) -> Start {
        let mut env = spec.env.clone();
        if let (Some(variable), Some(scratch)) = (spec.scratch_variable, &self.scratch) {
            env.retain(|(name, _)| name != variable);
            env.push((variable.into(), scratch.into()));
        }
        Start {
            program: spec.program.clone(),
            args: spec.args.iter().map(|arg| self.with_scratch(arg)).collect(),
            env,
            cwd: spec.cwd.clone(),
            stdin: spec.stdin.clone(),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
            timeout: spec.timeout,
            count: false,
        }
    }

    /// The argument with the scratch directory in place of [`SCRATCH`].
    fn with_scratch(&self, arg: &OsStr) -> OsString {
        let rest = arg.to_str().and_then(|arg| arg.strip_prefix(SCRATCH));
        match (&self.scratch, rest) {
            (Some(scratch), Some(rest)) => {
                let mut path = scratch.clone().into_os_string();
                path.push(rest);
                path
            }
            _ => arg.to_owned(),
        }
    }

    fn read_back(&self, spec: &CommandSpec, finished: &Finished) -> Result<RunOutput, ExecuteError> {
        let stdout = match spec.capture_stdout {
            true => whole(&self.stdout, "standard output")?,
            false => tail(&self.stdout)?,
        };
        let mut files = Vec::new();
        if let Some(scratch) = &self.scratch {
            collect(scratch, scratch, spec.collect, &mut files)?;
            files.sort_by(|a, b| a.path.cmp(&b.path));
        }
        Ok(RunOutput {
            outcome: finished.ending.into(),
            wall_ns: finished.wall_ns,
            user_ns: finished.user_ns,
            system_ns: finished.system_ns,
            peak_rss_bytes: finished.peak_rss_bytes,
            peak_rss_floor_bytes: finished.peak_rss_floor_bytes,
            involuntary_switches: finished.involuntary_switches,
            stdout,
            stderr: tail(&self.stderr)?,
            files,
        })
    }

    fn clear(&self) {
        self.scratch.as_deref().map(remove_tree);
        // Not only truncated by the next run: a big output must not stay on the disk while another program is measured.
        std::fs::remove_file(&self.stdout).ok();
        std::fs::remove_file(&self.stderr).ok();
    }
}

/// Files below `directory` that are named. Links are not followed: they may lead anywhere.
fn collect(
    root: &Path,
    directory: &Path,
    names: &[&str],
    files: &mut Vec<CollectedFile>,
) -> Result<(), ExecuteError> {
    if names.is_empty() {
        return Ok(());
    }
    let failed =
        |error: std::io::Error| ExecuteError::ReadBack { path: directory.into(), reason: error.to_string() };
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        if kind.is_dir() {
            collect(root, &path, names, files)?;
        } else if kind.is_file() && is_named(&path, names) {
            let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
            let bytes = whole(&path, &relative.display().to_string())?;
            files.push(CollectedFile { path: relative, bytes });
        }
    }
    Ok(())
}

/// Whether a file is one of those named: by the end of its path, by its extension for `*.csv`, or by the beginning of its
/// name for `name.*`.
fn is_named(path: &Path, names: &[&str]) -> bool {
    let is = |name: &&str| match (name.strip_prefix("*."), name.strip_suffix('*')) {
        (Some(extension), _) => path.extension().is_some_and(|own| own == extension),
        (None, Some(start)) => {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(start.as_bytes()))
        }
        (None, None) => path.ends_with(name),
    };
    names.iter().any(is)
}

fn whole(path: &Path, what: &str) -> Result<Vec<u8>, ExecuteError> {
    let failed =
        |error: std::io::Error| ExecuteError::ReadBack { path: path.into(), reason: error.to_string() };
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if READ_LIMIT_BYTES < bytes {
        return Err(ExecuteError::TooLarge { what: what.into(), bytes, limit: READ_LIMIT_BYTES });
    }
    std::fs::read(path).map_err(failed)
}

fn tail(path: &Path) -> Result<Vec<u8>, ExecuteError> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| ExecuteError::ReadBack { path: path.into(), reason: error.to_string() })
}

/// Removes a directory a program wrote to. Directories it made read-only are opened first.
fn remove_tree(path: &Path) {
    if std::fs::remove_dir_all(path).is_ok() || !path.exists() {
        return;
    }
    open_tree(path);
    std::fs::remove_dir_all(path).ok();
}

fn open_tree(directory: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700)).ok();
    }
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_tree(&entry.path());
        }
    }
}
