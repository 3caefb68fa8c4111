//! The built-in `#[bench]` functions of nightly toolchains, read from the test program's JSON lines or its text.

use std::time::Duration;

use serde::Deserialize;

use crate::suite::metric::Metric;
use crate::verdict::evidence::{ErrorKind, Values};

use super::contract::{
    CommandSpec, Executable, HarnessError, Measurement, ResolvedLaunch, RunBudget, RunOutput, Selection,
};
use super::ending;

/// The test program only prints names.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// Test programs ask for it before they accept the JSON format, where the toolchain that built them was not a nightly
/// one but was told to act as one. Without it they would print text, which has fewer digits.
const BOOTSTRAP: &str = "RUSTC_BOOTSTRAP";

pub(super) fn list_command(executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
    let args = ["--bench", "--list", "--format", "terse"].map(Into::into);
    super::command(executable, launch, args, LIST_TIMEOUT)
}

/// Of `#[ignore]` ones: the plain list has them too, unmarked.
pub(super) fn list_ignored_command(executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
    let args = ["--bench", "--list", "--ignored", "--format", "terse"].map(Into::into);
    super::command(executable, launch, args, LIST_TIMEOUT)
}

/// There is no knob for the time it takes: 0.3 to 3 s for a function of nanoseconds, 300 iterations at the least.
pub(super) fn run_command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    selection: &Selection<'_>,
    budget: RunBudget,
) -> CommandSpec {
    let mut args = vec!["--bench".into()];
    if let Selection::One(id) = selection {
        args.extend(["--exact".into(), (*id).into()]);
    }
    args.extend(["-Z", "unstable-options", "--format", "json"].map(Into::into));
    let mut command = super::command(executable, launch, args, budget.timeout);
    if !command.env.iter().any(|(name, _)| name == BOOTSTRAP) {
        command.env.push((BOOTSTRAP.into(), "1".into()));
    }
    command
}

pub(super) fn parse_list(output: &RunOutput) -> Result<Vec<String>, HarnessError> {
    ending::check(output, &[0]).map_err(|error| {
        HarnessError::new(error.kind, format!("listing the `#[bench]` functions failed: {error}"))
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut ids: Vec<String> = Vec::new();
    for id in text.lines().filter_map(|line| line.strip_suffix(": benchmark")) {
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    Ok(ids)
}

pub(super) fn parse_run(
    selection: &Selection<'_>,
    output: &RunOutput,
) -> Result<Vec<Measurement>, HarnessError> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut measured = events(&stdout)?;
    if measured.is_empty() {
        measured = text(&stdout, "libtest")?;
    }
    selected(measured, selection)
}

/// One line of the JSON format, as far as it is used.
#[derive(Deserialize)]
struct Event {
    name: String,
    /// ns.
    median: f64,
}

/// The measured benchmarks of the JSON format. Text that a benchmark itself prints may stand before an event's line.
fn events(stdout: &str) -> Result<Vec<Measurement>, HarnessError> {
    const START: &str = r#"{ "type": "bench","#;
    let mut measured = Vec::new();
    for line in stdout.lines() {
        let Some(at) = line.find(START) else { continue };
        let event: Event = serde_json::from_str(&line[at..])
            .map_err(|error| unreadable("libtest", &line[at..], &error.to_string()))?;
        let latency = Some(event.median).filter(|median| median.is_finite() && 0.0 <= *median);
        let latency = latency.ok_or_else(|| unreadable("libtest", &line[at..], "its median is no time"))?;
        measured.push(measurement(event.name, latency));
    }
    Ok(measured)
}

/// The measured benchmarks of the text format: `test NAME ... bench:  1,234.56 ns/iter (+/- 7.89) = 12 MB/s`. What a
/// benchmark itself prints stands between the name and `bench:`, on lines of its own or not.
pub(super) fn text(stdout: &str, harness: &str) -> Result<Vec<Measurement>, HarnessError> {
    let mut measured: Vec<Measurement> = Vec::new();
    // The benchmark whose line was begun, and whether it has its figures.
    let mut running = None;
    for line in stdout.lines() {
        let started = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "));
        if let Some((name, rest)) = started
            // Before the one that runs has its figures, such a line is its own text.
            && !matches!(running, Some((_, false)))
            && !is_other_outcome(rest)
        {
            running = Some((name.trim_end(), false));
        }
        let figures = line.rsplit_once("bench: ").and_then(|(_, figures)| figures.split_once(" ns/iter"));
        let (Some((number, rest)), Some((name, has_figures))) = (figures, running) else { continue };
        let latency = number.trim().replace(',', "").parse::<f64>().ok();
        let latency = latency.filter(|latency| latency.is_finite() && 0.0 <= *latency);
        let Some(latency) = latency.filter(|_| rest.trim_start().starts_with("(+/-")) else {
            return Err(unreadable(harness, line, "its figures are no time"));
        };
        if has_figures {
            // The harness prints its line last, so an earlier one was the benchmark's own.
            measured.pop();
        }
        measured.push(measurement(name.to_owned(), latency));
        running = Some((name, true));
    }
    Ok(measured)
}

/// Whether the rest of a `test …` line says that nothing was measured.
fn is_other_outcome(rest: &str) -> bool {
    let rest = rest.trim();
    matches!(rest, "ok" | "ignored" | "FAILED") || rest.starts_with("ignored, ")
}

/// The selected ones of what was measured.
pub(super) fn selected(
    measured: Vec<Measurement>,
    selection: &Selection<'_>,
) -> Result<Vec<Measurement>, HarnessError> {
    let wanted: Vec<Measurement> = match selection {
        Selection::One(id) => measured.into_iter().filter(|it| it.id == *id).take(1).collect(),
        Selection::All => measured,
    };
    if !wanted.is_empty() {
        return Ok(wanted);
    }
    let of = match selection {
        Selection::One(id) => format!(" for `{id}`"),
        Selection::All => String::new(),
    };
    let message = format!(
        "the program exited with success and measured nothing{of}; run it by hand with `cargo bench` to see what it \
         prints"
    );
    Err(HarnessError::new(ErrorKind::MeasuredNothing, message))
}

fn measurement(id: String, latency: f64) -> Measurement {
    let values = Values::from_iter([(Metric::Latency, latency)]);
    Measurement { id, values, overlong: false, stated_work: None }
}

fn unreadable(harness: &str, line: &str, why: &str) -> HarnessError {
    let message = format!(
        "{harness} printed a line that is not of its known shape: {}: {why}; report it with the version of the toolchain or \
         crate that printed it",
        super::quoted(line)
    );
    HarnessError::new(ErrorKind::Output, message)
}
