//! Starting one program, waiting for it, and leaving nothing of it behind.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::harness::contract::ExitOutcome;

use super::problem::StartProblem;

#[cfg(not(unix))]
mod portable;
mod replies;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use portable::{Host, kill_marked, kill_session, kill_tree, own_session, probe_counters};
pub(super) use replies::{Replies, Waited};
#[cfg(unix)]
pub(super) use unix::{Host, kill_marked, kill_session, kill_tree, own_session, probe_counters};

/// A program to start: complete, nothing is inherited.
#[derive(Debug)]
pub(super) struct Start {
    /// A path, or a name looked up in the PATH of `env`.
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
    /// `/dev/null` when absent.
    pub(super) stdin: Option<PathBuf>,
    /// Created or emptied.
    pub(super) stdout: PathBuf,
    /// Created or emptied.
    pub(super) stderr: PathBuf,
    pub(super) timeout: Duration,
    /// Whether its instructions are counted.
    pub(super) count: bool,
}

/// What is known of a program that ran.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) ending: Ending,
    pub(super) wall_ns: u64,
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
    /// 0 where the system does not tell.
    pub(super) peak_rss_bytes: u64,
    pub(super) peak_rss_floor_bytes: u64,
    pub(super) involuntary_switches: u64,
    /// User instructions of its whole tree; only when asked for, and counted all the time.
    #[serde(default)]
    pub(super) instructions: Option<u64>,
}

/// [`ExitOutcome`] as it is written.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl From<Ending> for ExitOutcome {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Code(code) => Self::Code(code),
            Ending::Signal(signal) => Self::Signal(signal),
            Ending::TimedOut => Self::TimedOut,
        }
    }
}

/// How a run ended for the runner.
#[derive(Debug)]
pub(super) enum Ended {
    /// By itself or at its time limit; its whole tree is gone.
    Finished(Finished),
    /// It was killed because the tool said so.
    Cancelled,
    /// It was killed because the tool is gone.
    ParentGone,
}

/// Why there is no [`Ended`].
#[derive(Debug)]
pub(super) enum RunProblem {
    /// The program did not start.
    Start(StartProblem),
    /// It started, but could not be waited for or cleared away.
    Host(String),
}

/// Takes the first whole line off, without its end.
#[cfg(unix)]
fn take_line(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = buffer.iter().position(|&byte| byte == b'\n')?;
    let mut line: Vec<u8> = buffer.drain(..=end).collect();
    line.pop();
    Some(line)
}

/// The command of a start, with its files open.
#[allow(clippy::disallowed_methods, reason = "the one place that starts benchmarks")]
fn command(start: &Start) -> Result<Command, RunProblem> {
    let stdin = match &start.stdin {
        None => Stdio::null(),
        Some(path) => std::fs::File::open(path).map(Stdio::from).map_err(|error| {
            RunProblem::Start(StartProblem::NoStdin {
                path: path.display().to_string(),
                reason: error.to_string(),
            })
        })?,
    };
    let program = resolve(start).map_err(RunProblem::Start)?;
    let create = |path: &Path| fs::File::create(path).map_err(|error| RunProblem::Host(error.to_string()));
    let mut command = Command::new(program);
    command
        .args(&start.args)
        .env_clear()
        .envs(start.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&start.cwd)
        .stdin(stdin)
        .stdout(create(&start.stdout)?.into_file())
        .stderr(create(&start.stderr)?.into_file());
    Ok(command)
}

/// The path of the program. The lookup in PATH is made here because std, left to do it with a PATH of the child's own,
/// gives up posix_spawn for fork.
fn resolve(start: &Start) -> Result<PathBuf, StartProblem> {
    let program = &start.program;
    let bare = matches!(program.components().collect::<Vec<_>>()[..], [Component::Normal(name)]
        if name == program.as_os_str());
    if !bare {
        return Ok(start.cwd.join(program));
    }
    let path = start.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = path.unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(|directory| start.cwd.join(directory).join(program))
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| StartProblem::NotInPath { program: program.display().to_string() })
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Why the system refused: it says "not found" alike for a missing program, directory and interpreter.
fn explain(start: &Start, command: &Command, error: &std::io::Error) -> StartProblem {
    let path = Path::new(command.get_program());
    let program = path.display().to_string();
    if !start.cwd.is_dir() {
        return StartProblem::NoWorkingDirectory { cwd: start.cwd.display().to_string() };
    }
    match error.kind() {
        std::io::ErrorKind::NotFound if path.exists() => StartProblem::NoInterpreter { program },
        std::io::ErrorKind::NotFound => StartProblem::NoProgram { program },
        std::io::ErrorKind::PermissionDenied => StartProblem::NotExecutable { program },
        _ => StartProblem::Other { program, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(program: &str, path: Option<&str>, cwd: &Path) -> Start {
        Start {
            program: program.into(),
            args: Vec::new(),
            env: path.map(|path| ("PATH".into(), path.into())).into_iter().collect(),
            cwd: cwd.into(),
            stdin: None,
            stdout: cwd.join("out"),
            stderr: cwd.join("err"),
            timeout: Duration::from_secs(1),
            count: false,
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_bare_name_is_looked_up_in_the_path_of_its_own_environment() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        for (directory, mode) in [("a", 0o644), ("b", 0o755)] {
            let file = home.path().join(directory).join("tool");
            fs::create_dir(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        // Entries may be relative: they count from the working directory. A file that cannot be executed is passed over.
        assert_eq!(resolve(&start("tool", Some("a:b"), home.path())).unwrap(), home.path().join("b/tool"));
        assert_eq!(
            resolve(&start("tool", Some("a"), home.path())),
            Err(StartProblem::NotInPath { program: "tool".into() })
        );
    }

    #[test]
    fn a_path_is_taken_from_the_working_directory_and_never_looked_up() {
        let cwd = Path::new("/somewhere");
        assert_eq!(resolve(&start("./tool", Some("/usr/bin"), cwd)).unwrap(), cwd.join("./tool"));
        assert_eq!(resolve(&start("/bin/true", None, cwd)).unwrap(), Path::new("/bin/true"));
    }
}
