//! criterion 0.4 to 0.8: short runs into a fresh output directory, read from its JSON files.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::suite::metric::Metric;
use crate::verdict::evidence::{ErrorKind, Values};

use super::contract::{
    CollectedFile, CommandSpec, Executable, HarnessError, Measurement, ResolvedLaunch, RunBudget, RunOutput,
    Selection,
};

/// Listing runs the benches' own setup code, so it may take a while; a program that ignores `--list` takes longer.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// criterion's own output directory. Without it criterion spawns `cargo metadata`, and compares with what it finds.
const HOME: &str = "CRITERION_HOME";

/// Samples inside one run: many and short, so that the median ignores the few that were preempted.
const SAMPLES: f64 = 50.0;
/// criterion refuses fewer.
const FEWEST_SAMPLES: f64 = 10.0;
/// A benchmark whose samples add up to this, and to far more than so many iterations, was not given the times above.
const OVERLONG_NS: f64 = 0.5e9;
const OVERLONG_ITERATIONS: f64 = 4.0 * SAMPLES;
/// A sample is one iteration at least, so 50 samples of a slow function would cost 50 times its latency; from 1 ms on
/// their number falls, to keep the run at about this long.
const SLOW_RUN_NS: f64 = 50e6;

pub(super) fn list_command(executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
    // Without `--format terse`, which 0.4 refuses: the only difference is blank lines. A list does nothing with `--quick`,
    // but 0.3 refuses it, as it would refuse the times of the runs.
    let args = ["--bench", "--list", "--quick"].map(OsString::from);
    command(executable, launch, args, LIST_TIMEOUT, &[])
}

pub(super) fn run_command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    selection: &Selection<'_>,
    budget: RunBudget,
) -> CommandSpec {
    let mut args: Vec<OsString> = vec!["--bench".into()];
    if let Selection::One(id) = selection {
        args.push(pattern(id).into());
    }
    let samples = samples_inside(budget.latency_hint_ns).to_string();
    args.push("--noplot".into());
    if budget.quick {
        // The times below lose to those that a group sets in the bench's code; this does not. It always takes two
        // samples, and refuses to be asked for more.
        args.push("--quick".into());
    } else {
        args.extend(["--sample-size", &samples].map(OsString::from));
    }
    let flags = ["--warm-up-time", "0.001", "--measurement-time", "0.01", "--nresamples", "10"];
    args.extend(flags.map(OsString::from));
    command(executable, launch, args, budget.timeout, &["benchmark.json", "sample.json"])
}

/// The regular expression that selects a benchmark by its listed id. There is `--exact` only since 0.5.
///
/// criterion lists titles: longer ids are cut after 100 bytes and get `...`, and a second benchmark of one id gets
/// ` #2`; its filters match the whole id. Such a pattern may run a few benchmarks more; the title then tells which
/// one is meant.
pub(super) fn pattern(title: &str) -> String {
    const SHORTEST_CUT: usize = 96;
    let (name, numbered) = match title.rsplit_once(" #") {
        Some((name, number)) if number.parse::<u32>().is_ok() => (name, true),
        _ => (title, false),
    };
    if let Some(start) = name.strip_suffix("...").filter(|start| SHORTEST_CUT <= start.len()) {
        return format!("^{}", super::escape(start));
    }
    match numbered {
        true => format!("^({}|{})$", super::escape(name), super::escape(title)),
        false => format!("^{}$", super::escape(title)),
    }
}

/// The sample size asked of criterion, 10 to 50.
fn samples_inside(latency_hint_ns: Option<f64>) -> u32 {
    let wanted = latency_hint_ns.map_or(SAMPLES, |latency| SLOW_RUN_NS / latency);
    // A hint that is no time at all (NaN) says nothing.
    let wanted = if wanted.is_nan() { SAMPLES } else { wanted };
    wanted.clamp(FEWEST_SAMPLES, SAMPLES) as u32
}

fn command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    args: impl IntoIterator<Item = OsString>,
    timeout: Duration,
    collect: &'static [&'static str],
) -> CommandSpec {
    CommandSpec { scratch_variable: Some(HOME), collect, ..super::command(executable, launch, args, timeout) }
}

pub(super) fn parse_list(output: &RunOutput) -> Result<Vec<String>, HarnessError> {
    super::ending::check(output, &[0]).map_err(|error| {
        if String::from_utf8_lossy(&output.stderr).contains("'--quick' which wasn't expected") {
            let message = "the bench uses criterion 0.3 or older, whose runs take whole seconds at the least and are not \
                           measured; set criterion to version 0.4 or later in Cargo.toml, which mostly needs no other change";
            return HarnessError::new(ErrorKind::Unsupported, message);
        }
        let message = format!(
            "listing the criterion benchmarks failed: {error}; a main of the bench's own has to pass its arguments on to \
             criterion, as `criterion_main!` does"
        );
        HarnessError::new(error.kind, message)
    })?;
    // From 0.5 on it says `: benchmark`, before that `: bench`. A program holds one of them; lines of the other shape
    // are its own.
    let newer = ids_before(": benchmark", &output.stdout);
    Ok(if newer.is_empty() { ids_before(": bench", &output.stdout) } else { newer })
}

/// What stands before the suffix, of every line that has it, each once.
fn ids_before(suffix: &str, stdout: &[u8]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    // The benches' setup code runs during the list and may print anything, so only whole lines of the shape count.
    for line in stdout.split(|&byte| byte == b'\n') {
        let Some(id) = std::str::from_utf8(line).ok().and_then(|line| line.strip_suffix(suffix)) else {
            continue;
        };
        // criterion tells equal ids apart by itself, so a line that is there twice was printed by the bench.
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// What `benchmark.json` says of a benchmark, as far as it is used.
#[derive(Deserialize)]
struct BenchmarkFile {
    /// The id that criterion lists. The `full_id` is the same but for long ids and ids that are there twice.
    title: String,
    /// The work of one iteration, where the bench states it: `{"Bytes": 800}`.
    throughput: Option<serde_json::Value>,
}

/// What `sample.json` says: `times[i]` is the total of `iters[i]` iterations, in ns unless the bench measures
/// something of its own.
#[derive(Deserialize)]
struct SampleFile {
    /// `Linear`, or `Flat` for slow functions: then all samples have the same number of iterations.
    #[serde(default)]
    sampling_mode: String,
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// One benchmark of a run, with the place its numbers come from.
struct Found<'a> {
    benchmark: BenchmarkFile,
    sample: &'a CollectedFile,
}

pub(super) fn parse_run(
    selection: &Selection<'_>,
    output: &RunOutput,
) -> Result<Vec<Measurement>, HarnessError> {
    let found = benchmarks(&output.files)?;
    match selection {
        Selection::One(id) => {
            let Some(one) = found.iter().find(|it| it.benchmark.title == *id) else {
                return Err(measured_nothing(id));
            };
            Ok(vec![measurement(one, output, found.len() == 1)?])
        }
        Selection::All if found.is_empty() => {
            let message = "the program exited with success and measured no benchmark; check that its \
                           `criterion_group!` names them and that its main is `criterion_main!`";
            Err(HarnessError::new(ErrorKind::MeasuredNothing, message))
        }
        Selection::All => found.iter().map(|one| measurement(one, output, found.len() == 1)).collect(),
    }
}

/// The benchmarks that left files, by the `new` directories. `base` holds copies, and a directory's name is not the
/// id: it is cut and has characters replaced.
fn benchmarks(files: &[CollectedFile]) -> Result<Vec<Found<'_>>, HarnessError> {
    let mut found = Vec::new();
    for file in files {
        let Some(directory) = new_directory(file, "benchmark.json") else { continue };
        let benchmark: BenchmarkFile = parse(file)?;
        let sample = files.iter().find(|it| new_directory(it, "sample.json") == Some(directory));
        let Some(sample) = sample else {
            let message = format!(
                "criterion wrote {} but no sample.json beside it, for benchmark `{}`; run the bench by hand, and \
                 report the criterion version if it works there",
                file.path.display(),
                benchmark.title
            );
            return Err(HarnessError::new(ErrorKind::Output, message));
        };
        found.push(Found { benchmark, sample });
    }
    Ok(found)
}

/// The `…/new` directory of a file with this name, if it lies in one.
fn new_directory<'a>(file: &'a CollectedFile, name: &str) -> Option<&'a Path> {
    let directory = file.path.parent()?;
    (file.path.file_name()? == name && directory.file_name()? == "new").then_some(directory)
}

fn parse<T: for<'de> Deserialize<'de>>(file: &CollectedFile) -> Result<T, HarnessError> {
    serde_json::from_slice(&file.bytes).map_err(|error| unreadable(file, &error.to_string()))
}

fn unreadable(file: &CollectedFile, why: &str) -> HarnessError {
    let message = format!(
        "criterion's file {} is not of the shape that criterion 0.4 to 0.8 writes: {why}; check the criterion \
         version of the bench, and report it if it is one of these",
        file.path.display()
    );
    HarnessError::new(ErrorKind::Output, message)
}

fn measurement(found: &Found<'_>, output: &RunOutput, alone: bool) -> Result<Measurement, HarnessError> {
    let id = &found.benchmark.title;
    let sample: SampleFile = parse(found.sample)?;
    let value = median_iteration(&sample).map_err(|why| unreadable(found.sample, &why))?;
    let is_time = !has_foreign_unit(&found.benchmark, &output.stdout);
    let metric =
        if is_time { Metric::Latency } else { Metric::Own(crate::suite::CRITERION_MEASUREMENT.into()) };
    let mut values = Values::from_iter([(metric, value)]);
    if let Some(cpu) = cpu_of_iteration(&sample, value, output).filter(|_| is_time && alone) {
        values.set(Metric::CpuTotal, cpu);
    }
    Ok(Measurement {
        id: id.clone(),
        values,
        overlong: is_time && is_overlong(&sample, value),
        stated_work: found.benchmark.throughput.as_ref().and_then(stated_work),
    })
}

/// CPU time of one iteration, where that of the process says it: one iteration a sample and one to warm up, each long
/// enough that start and analysis, some milliseconds in all, are a small part. The number of iterations then does not
/// depend on the time they take, so both revisions do the same.
fn cpu_of_iteration(sample: &SampleFile, latency: f64, output: &RunOutput) -> Option<f64> {
    const SLOW_NS: f64 = 1e6;
    let single = sample.iters.iter().all(|&iterations| (iterations - 1.0).abs() < 0.5);
    let comparable = sample.sampling_mode == "Flat" && single && SLOW_NS <= latency;
    let cpu_ns = (output.user_ns + output.system_ns) as f64;
    (comparable && 0.0 < cpu_ns).then(|| cpu_ns / (sample.iters.len() as f64 + 1.0))
}

/// Whether the bench's own code set the measuring time. A slow function alone makes long runs too, but of few iterations.
fn is_overlong(sample: &SampleFile, latency: f64) -> bool {
    let total: f64 = sample.times.iter().sum();
    OVERLONG_NS <= total && OVERLONG_ITERATIONS * latency <= total
}

/// The throughput of a benchmark in words: `800 bytes`.
fn stated_work(throughput: &serde_json::Value) -> Option<String> {
    let words: Vec<String> = throughput
        .as_object()?
        .iter()
        .map(|(unit, amount)| match unit.as_str() {
            "BytesDecimal" => format!("{amount} bytes"),
            unit => format!("{amount} {}", unit.to_lowercase()),
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The median of times / iterations: the only one of criterion's estimates that a preempted sample does not move.
fn median_iteration(sample: &SampleFile) -> Result<f64, String> {
    if sample.iters.len() != sample.times.len() {
        return Err(format!("{} `iters` for {} `times`", sample.iters.len(), sample.times.len()));
    }
    let mut latencies = Vec::with_capacity(sample.times.len());
    for (at, (&iterations, &time)) in sample.iters.iter().zip(&sample.times).enumerate() {
        if !(1.0 <= iterations && iterations.is_finite() && 0.0 <= time && time.is_finite()) {
            return Err(format!("sample {at} has {iterations} iterations in {time} ns"));
        }
        latencies.push(time / iterations);
    }
    latencies.sort_by(f64::total_cmp);
    let middle = latencies.len() / 2;
    match latencies.len() {
        0 => Err("it holds no samples".to_owned()),
        count if count % 2 == 1 => Ok(latencies[middle]),
        _ => Ok(latencies[middle - 1] + (latencies[middle] - latencies[middle - 1]) / 2.0),
    }
}

/// Whether a benchmark measures something else than wall time, as far as criterion's text shows it: the files are the
/// same for every measurement.
fn has_foreign_unit(benchmark: &BenchmarkFile, stdout: &[u8]) -> bool {
    const TIMES: [&str; 6] = ["ps", "ns", "µs", "us", "ms", "s"];
    let text = String::from_utf8_lossy(stdout);
    let mut before = "";
    for line in text.lines() {
        let (head, estimate) = line.rsplit_once("time:").unwrap_or((line, ""));
        // The estimate stands behind the title, or alone on the next line when the title is long.
        let title = if head.trim().is_empty() { before.trim() } else { head.trim() };
        before = line;
        if title != benchmark.title.trim() {
            continue;
        }
        let Some(inner) = estimate.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
            continue;
        };
        let (numbers, units): (Vec<&str>, Vec<&str>) =
            inner.split_whitespace().partition(|word| word.parse::<f64>().is_ok());
        if numbers.len() == 3 && units.iter().any(|unit| !TIMES.contains(unit)) {
            return true;
        }
    }
    false
}

fn measured_nothing(id: &str) -> HarnessError {
    let message = format!(
        "the program exited with success and measured nothing for `{id}`; run it by hand with `cargo bench -- '{}'`: an \
         id that changes from run to run, or text printed without a line end while listing, makes this",
        pattern(id)
    );
    HarnessError::new(ErrorKind::MeasuredNothing, message)
}
