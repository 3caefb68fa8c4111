//! The guard: a copy of ourselves between us and cargo, which ends cargo when we are gone.
//!
//! A run that is killed (SIGKILL) cannot end its cargo any more, and a cargo that goes on holds the lock of the target
//! directory: the next run would wait for it, and share the machine with its compilers. The guard's standard input is
//! a pipe whose other end we hold; the system closes it when we die, however that happens.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first argument that turns the program into the guard.
pub const GUARD_ARGUMENT: &str = "__guard";

/// Runs the program named by the arguments behind [`GUARD_ARGUMENT`] and gives its exit status. It ends by the signal
/// the program ended by, and kills the program with all it started when standard input ends.
pub fn guard_main() -> i32 {
    let mut arguments = std::env::args_os().skip(2);
    let Some(program) = arguments.next() else {
        writeln!(io::stderr(), "`{GUARD_ARGUMENT}` is internal: cargo benchgate starts it itself").ok();
        return 3;
    };
    match guard(program, arguments) {
        Ok(status) => status,
        Err(error) => {
            writeln!(io::stderr(), "failed to start cargo: {error}").ok();
            127
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the environment is already the one cargo is to have")]
fn guard(program: OsString, arguments: impl Iterator<Item = OsString>) -> io::Result<i32> {
    // The terminal's Ctrl-C reaches cargo too, and cargo decides when it is through.
    for signal in signals() {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut child = Command::new(program).args(arguments).stdin(Stdio::null()).spawn()?;
    let id = child.id();
    let ending = Arc::new(AtomicBool::new(false));
    let is_ending = Arc::clone(&ending);
    std::thread::spawn(move || {
        let status = child.wait();
        // Cargo is the first to die of its tree; the rest is still to be killed.
        while is_ending.load(Ordering::SeqCst) {
            std::thread::park();
        }
        std::process::exit(status.map_or(127, end_alike));
    });
    let mut byte = [0];
    loop {
        match io::stdin().lock().read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(1) => {}
            _ => break,
        }
    }
    ending.store(true, Ordering::SeqCst);
    crate::measure::kill_tree_of(id);
    Ok(1)
}

#[cfg(unix)]
fn signals() -> [i32; 3] {
    [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
}

#[cfg(not(unix))]
fn signals() -> [i32; 0] {
    []
}

/// The exit code of a program that ended by itself; ends as it did where it was ended by a signal.
fn end_alike(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        signal_hook::low_level::emulate_default_handler(signal).ok();
        return 128 + signal;
    }
    status.code().unwrap_or(127)
}
