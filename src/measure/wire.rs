//! The lines that pass between the tool and its runner process: one JSON value a line.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::problem::StartProblem;
use super::process::{Finished, Start};

/// The line that kills the program that is running. It is answered by the reply to the run it ends, and ignored
/// when nothing runs.
pub(super) const CANCEL: &str = "\"cancel\"";

/// What the runner is asked for. Every run gets exactly one reply.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// Make one unit run.
    Run(Box<StartLine>),
    /// Say whether instructions can be counted.
    Counters,
    /// [`CANCEL`].
    Cancel,
}

/// What the runner answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The program ran and is gone.
    Finished(Finished),
    /// It did not start.
    NotStarted(StartProblem),
    /// It was killed on request.
    Cancelled,
    /// Whether instructions can be counted; the error says why not.
    Counters(Result<(), String>),
    /// Something of it could not be killed, or waiting failed.
    Failed(String),
}

/// Text of the system: UTF-8 as a string, anything else as its bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Text {
    Utf8(String),
    Bytes(Vec<u8>),
}

impl From<OsString> for Text {
    fn from(text: OsString) -> Self {
        match text.into_string() {
            Ok(text) => Self::Utf8(text),
            Err(text) => Self::Bytes(text.into_encoded_bytes()),
        }
    }
}

impl From<PathBuf> for Text {
    fn from(path: PathBuf) -> Self {
        path.into_os_string().into()
    }
}

impl From<Text> for OsString {
    fn from(text: Text) -> Self {
        match text {
            Text::Utf8(text) => text.into(),
            #[cfg(unix)]
            Text::Bytes(bytes) => std::os::unix::ffi::OsStringExt::from_vec(bytes),
            #[cfg(not(unix))]
            Text::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        }
    }
}

impl From<Text> for PathBuf {
    fn from(text: Text) -> Self {
        OsString::from(text).into()
    }
}

/// [`Start`] as it is written.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StartLine {
    program: Text,
    args: Vec<Text>,
    env: Vec<(Text, Text)>,
    cwd: Text,
    stdin: Option<Text>,
    stdout: Text,
    stderr: Text,
    timeout_ns: u64,
    count: bool,
}

impl From<Start> for StartLine {
    fn from(start: Start) -> Self {
        Self {
            program: start.program.into(),
            args: start.args.into_iter().map(Text::from).collect(),
            env: start.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: start.cwd.into(),
            stdin: start.stdin.map(Text::from),
            stdout: start.stdout.into(),
            stderr: start.stderr.into(),
            timeout_ns: u64::try_from(start.timeout.as_nanos()).unwrap_or(u64::MAX),
            count: start.count,
        }
    }
}

impl From<StartLine> for Start {
    fn from(line: StartLine) -> Self {
        Self {
            program: line.program.into(),
            args: line.args.into_iter().map(OsString::from).collect(),
            env: line.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: line.cwd.into(),
            stdin: line.stdin.map(PathBuf::from),
            stdout: line.stdout.into(),
            stderr: line.stderr.into(),
            timeout: std::time::Duration::from_nanos(line.timeout_ns),
            count: line.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cancel_line_is_the_json_of_a_cancel_request() {
        assert_eq!(serde_json::to_string(&Request::Cancel).unwrap(), CANCEL);
    }

    #[cfg(unix)]
    #[test]
    fn text_that_is_not_utf8_survives_the_wire_as_bytes() {
        let raw: OsString = std::os::unix::ffi::OsStringExt::from_vec(vec![b'a', 0xff, b'\n']);
        let line = serde_json::to_string(&Text::from(raw.clone())).unwrap();
        assert_eq!(line, "[97,255,10]");
        assert_eq!(OsString::from(serde_json::from_str::<Text>(&line).unwrap()), raw);
    }
}
