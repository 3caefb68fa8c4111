//! divan 0.1: short runs, read from the table it prints, which is all it offers.

use std::ffi::OsString;
use std::time::Duration;

use crate::suite::metric::Metric;
use crate::verdict::evidence::{ErrorKind, Values};

use super::contract::{
    CommandSpec, Executable, ExitOutcome, HarnessError, Measurement, ResolvedLaunch, RunBudget, RunOutput,
    Selection,
};
use super::ending;

mod table;

use table::{BadLine, Figures, Leaf};

/// Listing runs every benchmark once.
const LIST_TIMEOUT: Duration = Duration::from_secs(600);

/// Samples inside one run: many and short, so that the median ignores the few that were preempted.
const SAMPLES: &str = "200";
/// How long they may take, in s. It wins over their number, and over what the bench's code says.
const MEASURING: f64 = 0.05;
/// So many samples of a slow function are waited for, up to this many s.
const FEWEST_SAMPLES: f64 = 10.0;
const LONGEST_MEASURING: f64 = 0.5;
/// Threads are started for every sample, which costs more than most functions.
const MEASURING_THREADS: f64 = 0.2;
/// For a run whose figures are thrown away.
const SHORTEST_MEASURING: f64 = 0.01;

/// The command runs each benchmark once: `--list` leaves out value arguments and thread counts.
pub(super) fn list_command(executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
    let once = ["--sample-count", "1", "--sample-size", "1", "--min-time", "0"];
    let args = ["--bench", "--color", "never"].into_iter().chain(once).map(OsString::from);
    super::command(executable, launch, args, LIST_TIMEOUT)
}

pub(super) fn run_command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    selection: &Selection<'_>,
    budget: RunBudget,
) -> CommandSpec {
    let mut args: Vec<OsString> = ["--bench", "--color", "never"].map(OsString::from).into();
    let mut threads = None;
    if let Selection::One(id) = selection {
        args.push(pattern(id).into());
        threads = thread_leaf(id).map(|(_, threads)| threads);
        args.extend(threads.into_iter().flat_map(|threads| ["--threads".into(), threads.into()]));
    }
    let measuring = format!("{:.3}", measuring_time(budget.latency_hint_ns, threads.is_some()));
    args.extend(["--sample-count", SAMPLES, "--min-time", "0", "--max-time"].map(OsString::from));
    args.push(measuring.into());
    super::command(executable, launch, args, budget.timeout)
}

/// The time asked of divan for all samples together, in s.
fn measuring_time(latency_hint_ns: Option<f64>, threads: bool) -> f64 {
    let least = if threads { MEASURING_THREADS } else { MEASURING };
    match latency_hint_ns {
        Some(f64::INFINITY) => SHORTEST_MEASURING,
        Some(latency) if !latency.is_nan() => {
            (FEWEST_SAMPLES * latency / 1e9).clamp(least, LONGEST_MEASURING)
        }
        _ => least,
    }
}

/// The regular expression that selects a benchmark. Its path begins with the crate's name, which the id leaves out: a
/// program mostly has one, the bench target's own, and the reports name that already. With several, ids begin as
/// absolute paths do, with `::` and the crate.
///
/// A leaf for a number of threads cannot be selected, only the benchmark above it. Should it be a value argument that
/// looks like one, its own path matches.
fn pattern(id: &str) -> String {
    let (root, path) = match id.strip_prefix("::") {
        Some(path) => ("", path),
        None => ("[^:]+::", id),
    };
    match thread_leaf(path) {
        Some((parent, threads)) => format!("^{root}{}(::t={threads})?$", super::escape(parent)),
        None => format!("^{root}{}$", super::escape(path)),
    }
}

/// The benchmark and the number of threads of an id that ends in `::t=2`.
fn thread_leaf(id: &str) -> Option<(&str, &str)> {
    let (parent, threads) = id.rsplit_once("::t=")?;
    let is_number = !threads.is_empty() && threads.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !parent.is_empty()).then_some((parent, threads))
}

pub(super) fn parse_list(output: &RunOutput) -> Result<Vec<String>, HarnessError> {
    ending::check(output, &[0]).map_err(|error| {
        let message = match output.outcome {
            ExitOutcome::TimedOut => format!(
                "finding the divan benchmarks, which takes a run of each, took more than {} s; split the target into several",
                LIST_TIMEOUT.as_secs()
            ),
            _ => format!("finding the divan benchmarks, which takes a run of each, failed: {error}"),
        };
        HarnessError::new(error.kind, message)
    })?;
    let leaves = leaves(output)?;
    let several = is_of_several_crates(&leaves);
    let mut ids: Vec<String> = Vec::new();
    // Ignored ones are left out, as `cargo bench` does.
    for leaf in leaves.into_iter().filter(|leaf| leaf.figures.is_some()) {
        let id = if several { format!("::{}::{}", leaf.root, leaf.path) } else { leaf.path };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

pub(super) fn parse_run(
    selection: &Selection<'_>,
    output: &RunOutput,
) -> Result<Vec<Measurement>, HarnessError> {
    let leaves = leaves(output)?;
    let several = is_of_several_crates(&leaves);
    let measured: Vec<(Leaf, Figures)> =
        leaves.into_iter().filter_map(|leaf| leaf.figures.clone().map(|figures| (leaf, figures))).collect();
    match selection {
        Selection::One(id) => {
            // One number of threads has no row of its own.
            let wanted = [Some(*id), thread_leaf(id).map(|(parent, _)| parent)];
            let found = wanted.into_iter().flatten().find_map(|id| measured.iter().find(|it| it.0.is(id)));
            let Some((_, figures)) = found else {
                let message = format!(
                    "the program exited with success and measured nothing for `{id}`; run it by hand with `cargo bench -- '{}'`: \
                     a value argument that changes from run to run makes this",
                    pattern(id)
                );
                return Err(HarnessError::new(ErrorKind::MeasuredNothing, message));
            };
            Ok(vec![measurement((*id).to_owned(), figures)])
        }
        Selection::All if measured.is_empty() => {
            let message = "the program exited with success and measured no benchmark; check that its functions have \
                           `#[divan::bench]` and that its main calls `divan::main()`";
            Err(HarnessError::new(ErrorKind::MeasuredNothing, message))
        }
        Selection::All => Ok(measured
            .into_iter()
            .map(|(leaf, figures)| {
                let id = if several { format!("::{}::{}", leaf.root, leaf.path) } else { leaf.path };
                measurement(id, &figures)
            })
            .collect()),
    }
}

impl Leaf {
    /// Whether it has this id.
    fn is(&self, id: &str) -> bool {
        match id.strip_prefix("::") {
            Some(path) => path
                .strip_prefix(self.root.as_str())
                .and_then(|rest| rest.strip_prefix("::"))
                .is_some_and(|rest| rest == self.path),
            None => id == self.path,
        }
    }
}

fn leaves(output: &RunOutput) -> Result<Vec<Leaf>, HarnessError> {
    let text = String::from_utf8_lossy(&output.stdout);
    table::leaves(&text).map_err(|BadLine { line, why }| {
        let message = format!(
            "divan printed a line that is not of the shape that divan 0.1 prints: {}: {why}; check the divan version of the \
             bench, and report it if it is one of these",
            super::quoted(&line)
        );
        HarnessError::new(ErrorKind::Output, message)
    })
}

fn is_of_several_crates(leaves: &[Leaf]) -> bool {
    leaves.iter().any(|leaf| leaf.root != leaves[0].root)
}

fn measurement(id: String, figures: &Figures) -> Measurement {
    let mut values = Values::from_iter([(Metric::Latency, figures.latency)]);
    if let Some(allocated) = figures.allocated {
        values.set(Metric::Allocations, allocated.count);
        values.set(Metric::AllocatedBytes, allocated.size);
    }
    Measurement { id, values, overlong: false, stated_work: None }
}
