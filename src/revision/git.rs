//! The git program, for the few things gix cannot do: submodules, and the missing files of partial clones.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::error::RevisionError;

/// The variables that tell git where it works. A git hook sets them; whoever is started from here works elsewhere.
/// Those that carry configuration, such as credentials, are not among them.
pub const LOCATION_VARIABLES: [&str; 14] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// How often the stop flag is looked at.
const TICK: Duration = Duration::from_millis(5);

/// A call of the git program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Git<'a> {
    /// Where it runs.
    pub(super) directory: &'a Path,
    /// What it is needed for, for messages: `check out submodule 'x'`.
    pub(super) doing: &'a str,
    /// Kills it once it is set.
    pub(super) interrupt: &'a AtomicBool,
    /// The slot it works for: the next run ends what a killed run left running there.
    pub(super) slot: &'a Path,
}

impl Git<'_> {
    /// Runs git and gives its standard output.
    pub(super) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, RevisionError> {
        self.run_with(arguments, &[])
    }

    /// Runs git with something to read.
    pub(super) fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
    ) -> Result<Vec<u8>, RevisionError> {
        let mut command = command(self.directory, arguments, self.slot);
        let mut child = command.spawn().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => RevisionError::NoGitProgram { doing: self.doing.to_owned() },
            _ => RevisionError::Io { doing: format!("start git to {}", self.doing), source },
        })?;
        let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (status, output, complaint) = thread::scope(|scope| {
            // Each stream has a thread of its own: git must never wait for us.
            scope.spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(input)));
            let output = scope.spawn(move || read(stdout));
            let complaint = scope.spawn(move || read(stderr));
            let status = self.wait(&mut child);
            (status, output.join().unwrap_or_default(), complaint.join().unwrap_or_default())
        });
        let Some(status) = status? else { return Err(RevisionError::Interrupted) };
        if status.success() {
            return Ok(output);
        }
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(RevisionError::Interrupted);
        }
        let complaint = String::from_utf8_lossy(&complaint);
        let said: Vec<&str> = complaint.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let reason = if said.is_empty() { format!("git ended with {status}") } else { said.join("; ") };
        Err(RevisionError::Git { doing: self.doing.to_owned(), reason })
    }

    /// The end of the process; `None` when it was killed for an interrupt.
    fn wait(&self, child: &mut Child) -> Result<Option<std::process::ExitStatus>, RevisionError> {
        loop {
            let ended =
                child.try_wait().map_err(RevisionError::io(format!("wait for git to {}", self.doing)))?;
            if ended.is_some() {
                return Ok(ended);
            }
            if self.interrupt.load(Ordering::Relaxed) {
                crate::measure::kill_tree(child);
                // It is gone already when either fails.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            thread::sleep(TICK);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place that starts git")]
fn command<A: AsRef<OsStr>>(directory: &Path, arguments: &[A], slot: &Path) -> Command {
    let mut command = Command::new("git");
    for variable in LOCATION_VARIABLES {
        command.env_remove(variable);
    }
    let (marker, value) = crate::measure::leftover_mark(slot);
    command
        // The user's hooks are about the user's own work.
        .args(["-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false", "-c", "gc.auto=0"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .env(marker, value)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn read(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What could be read is what there is to show.
    let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
    bytes
}
