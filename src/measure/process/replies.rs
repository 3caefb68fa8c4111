//! Lines from the runner, waited for no longer than asked.

use std::io;
use std::process::ChildStdout;
use std::time::Duration;

/// What came.
#[derive(Debug)]
pub(in super::super) enum Waited {
    /// A line.
    Line(Vec<u8>),
    /// Nothing yet.
    Nothing,
    /// The end: the runner is gone.
    Gone,
}

/// Without a thread in between: its waking would cost every unit run some time, and a signal would not be noticed at once.
#[cfg(unix)]
#[derive(Debug)]
pub(in super::super) struct Replies {
    output: ChildStdout,
    buffer: Vec<u8>,
}

#[cfg(unix)]
impl Replies {
    pub(in super::super) fn new(output: ChildStdout) -> Self {
        Self { output, buffer: Vec::new() }
    }

    /// Waits for a line; a signal may end the wait early.
    pub(in super::super) fn wait(&mut self, time: Duration) -> io::Result<Waited> {
        use std::io::Read;
        loop {
            if let Some(line) = super::take_line(&mut self.buffer) {
                return Ok(Waited::Line(line));
            }
            if !super::unix::is_readable(&self.output, time)? {
                return Ok(Waited::Nothing);
            }
            let mut chunk = [0; 4096];
            match self.output.read(&mut chunk)? {
                0 => return Ok(Waited::Gone),
                length => self.buffer.extend_from_slice(&chunk[..length]),
            }
        }
    }
}

/// By a thread, which ends with the runner.
#[cfg(not(unix))]
#[derive(Debug)]
pub(in super::super) struct Replies {
    lines: std::sync::mpsc::Receiver<Vec<u8>>,
}

#[cfg(not(unix))]
impl Replies {
    pub(in super::super) fn new(output: ChildStdout) -> Self {
        use std::io::BufRead;
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in io::BufReader::new(output).split(b'\n') {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { lines }
    }

    /// Waits for a line.
    pub(in super::super) fn wait(&mut self, time: Duration) -> io::Result<Waited> {
        use std::sync::mpsc::RecvTimeoutError;
        Ok(match self.lines.recv_timeout(time) {
            Ok(line) => Waited::Line(line),
            Err(RecvTimeoutError::Timeout) => Waited::Nothing,
            Err(RecvTimeoutError::Disconnected) => Waited::Gone,
        })
    }
}
