//! tango-bench 0.9: two programs in lock-step where that is possible, else one alone.
//!
//! tango times blocks of 10 ms, long enough for any other work on the machine to fall into one. In lock-step both
//! programs take each block at the same time, so what disturbs one disturbs both, and their ratio is what is kept.

use std::ffi::OsString;
use std::path::Path;

use crate::suite::metric::Metric;
use crate::verdict::evidence::{ErrorKind, Values};

use super::contract::{
    CollectedFile, CommandSpec, Executable, HarnessError, Measurement, ResolvedLaunch, RunBudget, RunOutput,
    SCRATCH, Selection,
};
use super::ending;

/// Listing runs the bench's own code up to its benchmarks, which may prepare data.
const LIST_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(60);
/// How long a run measures, in seconds: about 20 blocks. In lock-step tango looks at its clock every 50 ms.
const TIME: &str = "0.2";
/// The same of a run whose result is thrown away.
const SHORT_TIME: &str = "0.05";
/// The dump of a lock-step run takes its name from the benchmark's; a longer one cannot be made.
const LONGEST_FILE_NAME: usize = 255;

pub(super) fn list_command(executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
    CommandSpec { timeout: LIST_TIMEOUT, ..command(executable, launch, ["list".into(), "--bench".into()]) }
}

/// tango prints one name a line and nothing that marks it, so a line the bench itself prints there looks like one.
pub(super) fn parse_list(output: &RunOutput) -> Result<Vec<String>, HarnessError> {
    ending::check(output, &[0]).map_err(|error| {
        HarnessError::new(error.kind, format!("listing the tango benchmarks failed: {error}"))
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut ids: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if !ids.iter().any(|known| known == line) {
            ids.push(line.to_owned());
        }
    }
    Ok(ids)
}

/// The run of one program alone.
pub(super) fn run_command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    selection: &Selection<'_>,
    budget: RunBudget,
) -> CommandSpec {
    let mut args: Vec<OsString> = vec!["solo".into(), "--bench".into(), time(budget)];
    if let Selection::One(id) = selection {
        args.push(filter(id));
    }
    CommandSpec { timeout: budget.timeout, ..command(executable, launch, args) }
}

/// The run of head with base beside it. `None` where the dump it is read from could not be made.
pub(super) fn lockstep_command(
    head: &Executable,
    base: &Executable,
    launch: &ResolvedLaunch,
    id: &str,
    budget: RunBudget,
) -> Option<CommandSpec> {
    if LONGEST_FILE_NAME < dump_name(id).len() {
        return None;
    }
    let args = [
        "compare".into(),
        "--bench".into(),
        time(budget),
        filter(id),
        "--dump".into(),
        SCRATCH.into(),
        base.path.clone().into_os_string(),
    ];
    Some(CommandSpec {
        timeout: budget.timeout,
        scratch_variable: Some("BENCHGATE_SCRATCH"),
        collect: &["*.csv"],
        ..command(head, launch, args)
    })
}

fn command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    args: impl IntoIterator<Item = OsString>,
) -> CommandSpec {
    super::command(executable, launch, std::iter::once("--color=never".into()).chain(args), LIST_TIMEOUT)
}

fn time(budget: RunBudget) -> OsString {
    let thrown_away = budget.latency_hint_ns == Some(f64::INFINITY);
    format!("--time={}", if thrown_away { SHORT_TIME } else { TIME }).into()
}

/// The glob that matches just this id, as one word: an id may begin with a dash.
fn filter(id: &str) -> OsString {
    let mut glob = String::from("--filter=");
    for character in id.chars() {
        // A `!` negates at the start only, a `,` and a `}` mean something within braces only; escaped they are
        // themselves everywhere.
        if r"\*?[]{},!".contains(character) {
            glob.push('\\');
        }
        glob.push(character);
    }
    glob.into()
}

/// The file that tango dumps a benchmark's samples to.
fn dump_name(id: &str) -> String {
    format!("{}.csv", id.replace('/', "-"))
}

/// What a run of one program alone measured: the mean over its blocks, the only thing tango tells of the middle.
pub(super) fn parse_run(
    selection: &Selection<'_>,
    launch: &ResolvedLaunch,
    output: &RunOutput,
) -> Result<Vec<Measurement>, HarnessError> {
    ending::check(output, &launch.exit_codes)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found: Vec<Measurement> = Vec::new();
    for (name, mean) in text.lines().filter_map(solo_line) {
        let id = match selection {
            // The name is padded with spaces, so those at its end are not told.
            Selection::One(id) if id.trim_end() == name => *id,
            Selection::One(_) => continue,
            Selection::All => name,
        };
        if found.iter().any(|measurement| measurement.id == id) {
            return Err(ambiguous(id));
        }
        let latency = mean.map_err(|why| {
            let message = format!(
                "tango's result for `{id}` cannot be read: {why}; tango-bench 0.9 is known to work, so check \
                 its version"
            );
            HarnessError::new(ErrorKind::Output, message)
        })?;
        found.push(measurement(id, latency));
    }
    match selection {
        _ if !found.is_empty() => Ok(found),
        Selection::One(id) => Err(measured_nothing(id)),
        Selection::All => {
            let message = "the program exited with success and measured no benchmark; check that its \
                           `tango_benchmarks!` names them";
            Err(HarnessError::new(ErrorKind::MeasuredNothing, message))
        }
    }
}

/// Name and mean of a line `NAME  [ min ... mean ... max ]  stddev: x`; `None` for a line of another shape. ns.
fn solo_line(line: &str) -> Option<(&str, Result<f64, String>)> {
    let (head, _) = line.rsplit_once(" ]  stddev: ")?;
    let (name, estimates) = head.rsplit_once("  [ ")?;
    let mut estimates = estimates.split(" ... ");
    let (_, mean, _) = (estimates.next()?, estimates.next()?, estimates.next()?);
    Some((name.trim_end(), human_time(mean.trim())))
}

/// A time such as `24.3 ns`. ns.
fn human_time(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not a time");
    let (number, unit) = text.split_once(' ').ok_or_else(wrong)?;
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(wrong()),
    };
    let time = number * factor;
    if time.is_finite() && 0.0 <= time { Ok(time) } else { Err(wrong()) }
}

/// What a lock-step run measured, base and head.
pub(super) fn parse_lockstep(id: &str, output: &RunOutput) -> Result<[Measurement; 2], HarnessError> {
    let file = output.files.iter().find(|file| file.path == Path::new(&dump_name(id)));
    // Status 1 also says that tango itself sees a slowdown; when tango failed, there is no dump.
    let accepted: &[i32] = if file.is_some() { &[0, 1] } else { &[0] };
    ending::check(output, accepted)
        .map_err(|error| HarnessError::new(error.kind, failed_together(&error)))?;
    let file = file.ok_or_else(|| measured_nothing(id))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let results = text.lines().map(|line| line.trim_end_matches('*'));
    if 1 < results.filter(|line| line.ends_with('%') && line.contains(" ... ")).count() {
        return Err(ambiguous(id));
    }
    let samples = samples(file)?;
    let [base, head] = pair(&samples);
    Ok([measurement(id, base), measurement(id, head)])
}

fn failed_together(error: &HarnessError) -> String {
    format!(
        "the lock-step run failed: {error}; tango talks to both programs over their standard output, so a bench must not \
         print there: use `eprintln!`"
    )
}

/// Time of an iteration in base and in head, of samples taken at the same time. ns.
type Block = (f64, f64);

/// The rows of a dump: total time of base, of head, and the number of iterations.
fn samples(file: &CollectedFile) -> Result<Vec<Block>, HarnessError> {
    let text = String::from_utf8_lossy(&file.bytes);
    let unreadable = |why: String| {
        let message = format!(
            "tango's dump {} is not of the shape that tango-bench 0.9 writes: {why}; check the tango-bench version of the \
             bench",
            file.path.display()
        );
        HarnessError::new(ErrorKind::Output, message)
    };
    let mut samples = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let cells: Vec<f64> = line.split(',').map_while(|cell| cell.trim().parse().ok()).collect();
        match cells[..] {
            [base, head, iterations]
                if cells.iter().all(|cell| cell.is_finite() && 0.0 <= *cell) && 1.0 <= iterations =>
            {
                samples.push((base / iterations, head / iterations));
            }
            _ => return Err(unreadable(format!("`{line}` is not two times and a number of iterations"))),
        }
    }
    if samples.is_empty() { Err(unreadable("it holds no samples".to_owned())) } else { Ok(samples) }
}

/// One value for each side, from at least one sample: their ratio is the median of the samples' ratios, and their
/// geometric mean that of the two medians, so neither side is preferred.
fn pair(samples: &[Block]) -> [f64; 2] {
    let base = median(samples.iter().map(|&(base, _)| base).collect());
    let head = median(samples.iter().map(|&(_, head)| head).collect());
    let logs: Vec<f64> = samples
        .iter()
        .filter(|&&(base, head)| 0.0 < base && 0.0 < head)
        .map(|&(base, head)| (head / base).ln())
        .collect();
    if logs.is_empty() || base <= 0.0 || head <= 0.0 {
        return [base, head];
    }
    let middle = (base * head).sqrt();
    let half = (median(logs) / 2.0).exp();
    [middle / half, middle * half]
}

/// The median of at least one number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => values[middle - 1] + (values[middle] - values[middle - 1]) / 2.0,
    }
}

fn measurement(id: &str, latency_ns: f64) -> Measurement {
    Measurement {
        id: id.to_owned(),
        values: Values::from_iter([(Metric::Latency, latency_ns)]),
        overlong: false,
        stated_work: None,
    }
}

fn measured_nothing(id: &str) -> HarnessError {
    let message = format!(
        "the program exited with success and measured nothing for `{id}`; tango lists one name a line, so a line that the \
         bench prints while its benchmarks are made looks like one: use `eprintln!` there"
    );
    HarnessError::new(ErrorKind::MeasuredNothing, message)
}

fn ambiguous(id: &str) -> HarnessError {
    let message = format!(
        "the program has more than one benchmark named `{id}`, and tango selects by name; give them different names"
    );
    HarnessError::new(ErrorKind::Output, message)
}
