//! How fast and how small the tool itself is: every time is a ratio, or is measured beside its yardstick.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cargo_benchgate::harness::contract::{CommandSpec, ExitOutcome};
use cargo_benchgate::measure::RunnerClient;
use cargo_benchgate::report::assemble::{Header, assemble};
use cargo_benchgate::report::model::Report;
use cargo_benchgate::report::{csv, exports, github, html, json, junit, markdown, samples_csv, terminal};
use cargo_benchgate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use cargo_benchgate::suite::metric::{Metric, Unit};
use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::rejudge::settings_for_samples;
use cargo_benchgate::suite::settings::{Preset, Resamples};
use cargo_benchgate::summary::SummarySettings;
use cargo_benchgate::verdict::evidence::{Evidence, Presence, Side, Stage, UnitRun, Values};
use cargo_benchgate::verdict::{RunContext, judge_run};

use crate::bench_builds::builds;
use crate::demo::build_binary;

const COMPARISONS: usize = 10_000;
const SAMPLES: u32 = 30;
/// Comparisons of the report that is written in every format.
const WRITTEN: usize = 5_000;
/// scipy takes milliseconds a comparison, so it gets fewer.
const SCIPY_COMPARISONS: usize = 40;
const STARTS: usize = 400;

/// Runs all of it and prints a line a figure. The figures are for people: nothing here passes or fails.
///
/// # Errors
///
/// When a step cannot be run at all.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    if cfg!(debug_assertions) {
        return again_in_release();
    }
    let binary = build_binary(&["--release"])?;
    starts(&binary)?;
    help(&binary)?;
    judging(&binary)?;
    writing(&binary)?;
    builds(&binary)?;
    crate::history_bench::run(&binary)
}

/// A saved report rendered in every format by one command, beside the command that only reads it.
fn writing(binary: &Path) -> Result<(), Box<dyn Error>> {
    let evidence: Vec<Evidence> = (0..WRITTEN).map(comparison).collect();
    let report = judged(evidence);
    let text = json::json(&report);
    let started = Instant::now();
    let mut sizes = Vec::new();
    let mut written =
        |format: &'static str, text: String| sizes.push(format!("{format} {:.1}", text.len() as f64 / 1e6));
    written("json", json::json(&report));
    written("csv", csv::csv(&report));
    written("samples-csv", samples_csv::samples_csv(&report));
    written(
        "terminal",
        terminal::terminal(&report, terminal::Options { verbose: true, ..Default::default() }),
    );
    written("markdown", markdown::report(&report, markdown::LIMIT));
    written("github", github::annotations(&report));
    written("html", html::html(&report));
    written("junit", junit::junit(&report));
    written("bencher", exports::bencher(&report));
    written("github-action-benchmark", exports::action_benchmark(&report));
    let seconds = started.elapsed().as_secs_f64();
    println!("writing {WRITTEN} comparisons in all formats: {seconds:.2} s   (wanted: under 2 s)");
    println!("  MB: {}", sizes.join(", "));
    drop(report);
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("in.json");
    std::fs::write(&input, text)?;
    let formats = [
        "json",
        "csv",
        "samples-csv",
        "terminal",
        "markdown",
        "github",
        "html",
        "junit",
        "bencher",
        "github-action-benchmark",
    ];
    let mut args = vec!["report".into(), input.into_os_string()];
    for format in formats {
        args.extend(["--format".into(), format!("{format}={}", folder.path().join(format).display()).into()]);
    }
    let (seconds, peak) = run_once(binary, folder.path(), args)?;
    println!(
        "  `report` of their JSON to ten files: {seconds:.2} s, peak memory {:.0} MB   (wanted: under 2 s beyond reading, and 300 MB)",
        peak / 1e6
    );
    Ok(())
}

/// The report of a judgement.
fn judged(evidence: Vec<Evidence>) -> Report {
    let mut judgement = judge_run(&evidence, &RunContext::default());
    judgement.summary.overall =
        cargo_benchgate::summary::overall(&evidence, &judgement.benchmarks, SummarySettings::default());
    assemble(Header::bare("judge", 0), evidence, judgement.benchmarks, judgement.summary, judgement.exit)
}

fn again_in_release() -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"])
        .status()?;
    if status.success() { Ok(()) } else { Err("the release build of this verb failed".into()) }
}

/// A unit run of a program that does nothing, beside a bare loop of spawn and wait, one of each in turn.
fn starts(binary: &Path) -> Result<(), Box<dyn Error>> {
    let Some(program) = ["/bin/true", "/usr/bin/true"].into_iter().map(Path::new).find(|path| path.exists())
    else {
        println!("starts: skipped, there is no `true` on this machine");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let mut client = RunnerClient::new(binary, folder.path());
    let command = command(program, folder.path());
    let never = AtomicBool::new(false);
    let (mut recorded, mut whole, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let started = Instant::now();
        let output = client.execute(&command, &never)?;
        whole.push(started.elapsed().as_nanos() as f64);
        recorded.push(output.wall_ns as f64);
        let started = Instant::now();
        Command::new(program)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?
            .wait()?;
        bare.push(started.elapsed().as_nanos() as f64);
    }
    let [recorded, whole, bare] = [recorded, whole, bare].map(median);
    println!("start of `true`, medians of {STARTS} in turn:");
    println!("  recorded latency / bare spawn and wait: {:.3}   (wanted: 0.95 to 1.05)", recorded / bare);
    println!(
        "  wall time a unit run beyond the bare one: {:.3} ms   (wanted: at most 0.3 ms)",
        (whole - bare) / 1e6
    );
    Ok(())
}

fn help(binary: &Path) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..30 {
        let started = Instant::now();
        if !Command::new(binary).arg("--help").stdout(Stdio::null()).status()?.success() {
            return Err("`--help` failed".into());
        }
        times.push(started.elapsed().as_nanos() as f64);
    }
    println!("--help: {:.1} ms, median of 30   (wanted: under 30 ms)", median(times) / 1e6);
    Ok(())
}

/// Judging many comparisons, exact bootstrap with intervals, beside scipy's bootstrap of the same ratio.
fn judging(binary: &Path) -> Result<(), Box<dyn Error>> {
    let evidence: Vec<Evidence> = (0..COMPARISONS).map(comparison).collect();
    let context = RunContext::default();
    let started = Instant::now();
    let judgement = judge_run(&evidence, &context);
    let judged = started.elapsed().as_secs_f64();
    println!(
        "judging {COMPARISONS} comparisons of {SAMPLES} samples a side, exact, with intervals: {judged:.2} s   (wanted: under 1 s)"
    );

    let started = Instant::now();
    let report =
        assemble(Header::bare("judge", 0), evidence, judgement.benchmarks, judgement.summary, judgement.exit);
    let text = json::json(&report);
    let written = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let read = json::read_json(text.as_bytes())?;
    let read_time = started.elapsed().as_secs_f64();
    drop(report);
    println!(
        "  their JSON ({:.0} MB): written in {written:.2} s, read in {read_time:.2} s   (wanted: under 2 s more)",
        text.len() as f64 / 1e6
    );
    let (seconds, peak) = judge_file(binary, &text)?;
    println!(
        "  `judge` of that file to another one: {seconds:.2} s, peak memory {:.0} MB   (wanted: under 3 s and 300 MB)",
        peak / 1e6
    );
    match scipy(
        &read.benchmarks.iter().take(SCIPY_COMPARISONS).map(|it| it.sides.as_slice()).collect::<Vec<_>>(),
    )? {
        Some(seconds) => {
            let ours = judged / COMPARISONS as f64;
            println!(
                "  scipy.stats.bootstrap, 2000 resamples, percentile: {:.2} ms a comparison, {:.0} times ours",
                seconds * 1e3,
                seconds / ours
            );
        }
        None => println!("  scipy: skipped, python3 with scipy is not on this machine"),
    }
    Ok(())
}

/// Seconds and peak memory in bytes of the command on a saved report.
fn judge_file(binary: &Path, report: &str) -> Result<(f64, f64), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (input, output) = (folder.path().join("in.json"), folder.path().join("out.json"));
    std::fs::write(&input, report)?;
    let output = format!("json={}", output.display());
    run_once(binary, folder.path(), vec!["judge".into(), input.into(), "--format".into(), output.into()])
}

/// Seconds and peak memory in bytes of a command.
///
/// # Errors
///
/// When the command fails.
pub(crate) fn run_once(
    binary: &Path,
    directory: &Path,
    args: Vec<OsString>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let mut client = RunnerClient::new(binary, directory);
    let command = CommandSpec { args, ..command(binary, directory) };
    let finished = client.execute(&command, &AtomicBool::new(false))?;
    // 1 is a verdict, and as much work as 0; a command that failed took no time that means anything.
    if !matches!(finished.outcome, ExitOutcome::Code(0 | 1)) {
        let words = command.args.iter().map(|word| word.to_string_lossy());
        let why = String::from_utf8_lossy(&finished.stderr);
        return Err(format!("`{}` failed: {}", words.collect::<Vec<_>>().join(" "), why.trim()).into());
    }
    Ok((finished.wall_ns as f64 / 1e9, finished.peak_rss_bytes as f64))
}

/// A plain start of a program in a directory, with our own environment.
pub(crate) fn command(program: &Path, directory: &Path) -> CommandSpec {
    CommandSpec {
        program: program.to_owned(),
        args: Vec::new(),
        env: std::env::vars_os().collect(),
        cwd: directory.to_owned(),
        stdin: None,
        timeout: Duration::from_secs(60),
        scratch_variable: None,
        collect: &[],
        capture_stdout: false,
    }
}

/// Seconds a comparison that scipy takes for the interval of a ratio of medians.
fn scipy(sides: &[&[cargo_benchgate::report::model::ReportSide]]) -> Result<Option<f64>, Box<dyn Error>> {
    let mut script =
        String::from("import time\nimport numpy as np\nfrom scipy.stats import bootstrap\npairs = [\n");
    for sides in sides {
        let values = |side: usize| -> Vec<f64> {
            sides[side].runs.iter().filter_map(|run| run.values.get(&Metric::Latency)).collect()
        };
        writeln!(script, "({:?}, {:?}),", values(0), values(1))?;
    }
    script.push_str(
        "]\nratio = lambda a, b, axis: np.median(b, axis=axis) / np.median(a, axis=axis)\nrng = np.random.default_rng(0)\n\
         start = time.perf_counter()\nfor a, b in pairs:\n    bootstrap((a, b), ratio, n_resamples=2000, method='percentile', \
         vectorized=True, rng=rng)\nprint((time.perf_counter() - start) / len(pairs))\n",
    );
    let output = Command::new("python3").arg("-c").arg(script).stderr(Stdio::null()).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else { return Ok(None) };
    Ok(Some(String::from_utf8(output.stdout)?.trim().parse()?))
}

pub(crate) fn comparison(number: usize) -> Evidence {
    let side = |revision: &str, centre: f64, salt: u64| Side {
        revision: revision.to_owned(),
        executable_sha256: None,
        runs: (0..SAMPLES)
            .map(|run| UnitRun {
                stage: Stage::Screen,
                round: Some(run / 2),
                sequence: Some(u64::from(run)),
                context_switches: None,
                work: None,
                peak_rss_floor: None,
                wall_ns: None,
                values: Values::from_iter([(
                    Metric::Latency,
                    centre * noise(number as u64, salt + u64::from(run)),
                )]),
            })
            .collect(),
    };
    let mut settings = settings_for_samples(&[(Metric::Latency, Unit::Nanoseconds)].into());
    settings.judge = judge_of(Preset::Fixed);
    settings.judge.resamples = Resamples::Exact;
    let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() };
    Evidence {
        identity: BenchmarkIdentity { target, variant: String::new(), id: format!("b{number}") },
        harness: "samples".into(),
        presence: Presence::Compared,
        presence_note: None,
        settings,
        sides: vec![side("base", 1e6, 0), side("head", 1.02e6, 1000)],
        stopped_because: None,
        error: None,
    }
}

/// A factor around 1 without structure: a hash of its place.
pub(crate) fn noise(a: u64, b: u64) -> f64 {
    let mut hash = (a << 20 ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    1.0 + ((hash >> 40) as f64 / (1_u64 << 24) as f64 - 0.5) * 0.1
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
