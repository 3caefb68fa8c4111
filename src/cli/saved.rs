//! Saved reports: how they are read, and what they were judged by.

use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::judge::open_file;
use crate::error::Error;
use crate::report::json;
use crate::report::model::{Report, RunWide};
use crate::verdict::RunContext;
use crate::verdict::evidence::Evidence;

/// The report in a file the user named.
///
/// # Errors
///
/// A file that cannot be read or holds something else, with what that is where it is ours.
pub(super) fn read_report(path: &Path) -> Result<Report, Error> {
    read_report_from(path, open_file(path)?)
}

/// The same from a reader of that file, which may be a pipe that can be read once.
pub(super) fn read_report_from(path: &Path, reader: impl BufRead) -> Result<Report, Error> {
    json::read_from(reader).map_err(|error| {
        let why = other_document(path).map_or_else(|| error.to_string(), str::to_owned);
        Error::Usage(format!("failed to read {}: {why}", path.display()))
    })
}

/// What a file of ours that holds no report of one run is, and what can be done with it.
fn other_document(path: &Path) -> Option<&'static str> {
    #[derive(Deserialize)]
    struct Document {
        command: String,
    }
    if !path.is_file() {
        return None;
    }
    let document: Document = serde_json::from_reader(open_file(path).ok()?).ok()?;
    match document.command.as_str() {
        "aa" => Some(
            "it was written by `aa` and holds a whole report for each repeat; take one out and give that, as in \
             `jq '.repeats[0]' FILE > repeat.json`",
        ),
        "bisect" => {
            Some("it was written by `bisect`, whose answer is in it; it holds no samples to judge or render")
        }
        _ => None,
    }
}

/// What a run was judged by beside its samples.
pub(super) fn context(
    suite: &RunWide,
    seed: u64,
    started_at: Option<String>,
    evidence: &[Evidence],
) -> RunContext {
    RunContext {
        seed,
        started_at,
        also_fail_on: suite.also_fail_on.clone(),
        allow_partial: suite.allow_partial,
        no_fail: suite.no_fail,
        interrupted: evidence.iter().any(Evidence::was_interrupted),
        accept: suite.accept.clone(),
        shard: suite.shard.is_some(),
    }
}
