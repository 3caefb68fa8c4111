//! Starting cargo: its answer read as it comes, its end on the stop flag.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::{BuildError, CargoSettings};

/// How often the stop flag is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long the guard may take to end cargo.
const GUARD_TIME: Duration = Duration::from_secs(1);

/// Where cargo's progress and the compiler's messages go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Diagnostics {
    /// To our own standard error, with cargo's colours.
    Inherit,
    /// To the end of this file.
    File(PathBuf),
}

/// A program with this environment and nothing else of ours, in `cwd`.
#[allow(clippy::disallowed_methods, reason = "the one place that starts what builds need")]
pub(super) fn command(program: impl AsRef<OsStr>, env: &[(OsString, OsString)], cwd: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(env.iter().cloned()).current_dir(cwd);
    command
}

/// Runs a short question and returns its standard output.
pub(super) fn ask(command: &mut Command, action: &'static str) -> Result<Vec<u8>, BuildError> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| BuildError::Start { command: display(command), source })?;
    answer(command, action, output)
}

/// The same of a question that may take long, since it may go out to a registry: below the guard, and ended by the stop
/// flag.
pub(super) fn ask_long(
    settings: &CargoSettings,
    command: &Command,
    action: &'static str,
) -> Result<Vec<u8>, BuildError> {
    let guard = settings.guard.as_deref();
    let mut child = guarded(command, guard)
        .stdin(if guard.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| BuildError::Start { command: display(command), source })?;
    let held = child.stdin.take();
    let stdout = child.stdout.take().map(read_apart);
    let stderr = child.stderr.take().map(read_apart);
    let status = loop {
        match child.try_wait().map_err(BuildError::io("wait for cargo"))? {
            Some(status) => break status,
            None if settings.stop.load(Ordering::SeqCst) => {
                end(&mut child, held);
                return Err(BuildError::Interrupted);
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let bytes = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    answer(command, action, Output { status, stdout: bytes(stdout), stderr: bytes(stderr) })
}

/// Reads to the end beside what else goes on, so that a full pipe stops nobody.
fn read_apart(mut source: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read is missing in a message.
        let _ = source.read_to_end(&mut bytes);
        bytes
    })
}

fn answer(command: &Command, action: &'static str, output: Output) -> Result<Vec<u8>, BuildError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    if ended_by_user(output.status) {
        return Err(BuildError::Interrupted);
    }
    Err(BuildError::Refused {
        action,
        command: display(command),
        exit: output.status.to_string(),
        stderr: String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
    })
}

/// Runs a build, below the `guard` where there is one; `line` gets every line of its standard output as it comes.
pub(super) fn run(
    command: &Command,
    guard: Option<&Path>,
    diagnostics: &Diagnostics,
    stop: &AtomicBool,
    mut line: impl FnMut(&str),
) -> Result<ExitStatus, BuildError> {
    let stderr = match diagnostics {
        Diagnostics::Inherit => Stdio::inherit(),
        Diagnostics::File(path) => fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map(|file| Stdio::from(file.into_parts().0))
            .map_err(BuildError::io("open the file for cargo's messages"))?,
    };
    if stop.load(Ordering::SeqCst) {
        return Err(BuildError::Interrupted);
    }
    let mut child = guarded(command, guard)
        .stdin(if guard.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .map_err(|source| BuildError::Start { command: display(command), source })?;
    // Open as long as we are there: its end tells the guard that we are not.
    let mut held = child.stdin.take();
    let stdout = child.stdout.take().expect("standard output was asked for as a pipe");
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        // Bytes, not `lines()`: one line that is not UTF-8 must not end the reading.
        for bytes in BufReader::new(stdout).split(b'\n') {
            let Ok(bytes) = bytes else { break };
            if sender.send(bytes).is_err() {
                break;
            }
        }
    });
    loop {
        match lines.recv_timeout(TICK) {
            Ok(bytes) => line(String::from_utf8_lossy(&bytes).trim_end_matches('\r')),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if stop.load(Ordering::SeqCst) {
            end(&mut child, held.take());
            return Err(BuildError::Interrupted);
        }
    }
    // A closed standard output is not yet the end: the flag is heeded until cargo is reaped.
    let status = loop {
        match child.try_wait().map_err(BuildError::io("wait for cargo"))? {
            Some(status) => break status,
            None if stop.load(Ordering::SeqCst) => {
                end(&mut child, held.take());
                return Err(BuildError::Interrupted);
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    if ended_by_user(status) || stop.load(Ordering::SeqCst) {
        return Err(BuildError::Interrupted);
    }
    Ok(status)
}

/// The same command as the guard's.
#[allow(clippy::disallowed_methods, reason = "the other half of the one place that starts what builds need")]
fn guarded(command: &Command, guard: Option<&Path>) -> Command {
    let mut whole = Command::new(guard.map_or(command.get_program(), Path::as_os_str));
    if guard.is_some() {
        whole.arg(super::guard::GUARD_ARGUMENT).arg(command.get_program());
    }
    // All of a build's environment was set by hand, so this is the whole of it.
    whole.args(command.get_args()).env_clear();
    whole.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(directory) = command.get_current_dir() {
        whole.current_dir(directory);
    }
    whole
}

/// The command as the user could paste it, without its environment.
pub(super) fn display(command: &Command) -> String {
    let mut text = crate::report::text::shell_word(&command.get_program().to_string_lossy());
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&crate::report::text::shell_word(&argument.to_string_lossy()));
    }
    text
}

/// Ends cargo with its compilers and build scripts. Only the terminal's Ctrl-C reaches them by itself; a signal to us
/// alone, as CI systems send it, does not.
fn end(child: &mut Child, held: Option<ChildStdin>) {
    // Where no process is known but the guard, only it can reach cargo.
    if !cfg!(target_os = "linux") && held.is_some() {
        drop(held);
        let started = Instant::now();
        while started.elapsed() < GUARD_TIME && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
    }
    crate::measure::kill_tree(child);
    // Nothing is left to do when either fails: the process is gone.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
fn ended_by_user(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    matches!(status.signal(), Some(libc::SIGINT | libc::SIGTERM | libc::SIGHUP))
}

#[cfg(not(unix))]
fn ended_by_user(_: ExitStatus) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_a_shell_takes_it() {
        let mut command = Command::new("cargo");
        command.args(["build", "--config", "env.A=\"it's\"", ""]);
        assert_eq!(display(&command), r#"cargo build --config 'env.A="it'\''s"' ''"#);
    }

    #[cfg(unix)]
    #[test]
    fn a_set_stop_flag_ends_a_long_question_and_its_answer_is_read_whole() {
        let toolchain = crate::build::Toolchain { cargo: "cargo".into(), rustup_toolchain: None };
        let settings = CargoSettings::new(toolchain, Vec::new());
        let shell = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]).env("PATH", std::env::var_os("PATH").expect("tests run with one"));
            command
        };
        let told = ask_long(&settings, &shell("head -c 200000 /dev/zero; echo no >&2"), "ask");
        assert_eq!(told.expect("it ends well").len(), 200_000);
        let refused = ask_long(&settings, &shell("echo no >&2; exit 3"), "ask").expect_err("it does not");
        assert!(matches!(&refused, BuildError::Refused { stderr, .. } if stderr == "no"), "{refused}");
        settings.stop.store(true, Ordering::SeqCst);
        let stopped = ask_long(&settings, &shell("exec sleep 60"), "ask");
        assert!(matches!(stopped, Err(BuildError::Interrupted)), "{stopped:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_set_stop_flag_ends_a_program_that_does_not_end_by_itself() {
        let stop = AtomicBool::new(false);
        let mut command = Command::new("sh");
        command.args(["-c", "echo started; exec sleep 60"]);
        let started = Instant::now();
        command.env("PATH", std::env::var_os("PATH").expect("tests run with one"));
        let outcome = run(&command, None, &Diagnostics::Inherit, &stop, |line| {
            assert_eq!(line, "started");
            stop.store(true, Ordering::SeqCst);
        });
        assert!(matches!(outcome, Err(BuildError::Interrupted)), "{outcome:?}");
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
