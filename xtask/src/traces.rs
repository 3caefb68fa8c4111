//! `cargo xtask traces`: the golden timing traces as samples for `judge`, and what the judges make of windows of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_benchgate::report::samples_csv::{SamplesFile, read_samples_csv};
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::settings::{
    BenchmarkSettings, Correction, JudgeSettings, MetricSettings, Preset, SampleCount, Sampling, Stop,
};
use cargo_benchgate::verdict::evidence::{Evidence, Side};
use cargo_benchgate::verdict::outcome::{Comparison, Verdict};
use cargo_benchgate::verdict::{RunContext, judge_run};

/// The traces.
const TRACES: [&str; 4] = ["cpu5", "cpu50", "mem5", "mem50"];

/// The revision that plays base, and those that play head.
const BASE: &str = "A";
const HEADS: [&str; 4] = ["A2", "B5", "B10", "B20"];

/// Columns of a trace, and the metric each is.
const METRICS: [(&str, &str, &str); 3] =
    [("wall_ns", "latency", "ns"), ("cpu_ns", "cpu_total", "ns"), ("maxrss_bytes", "peak_rss", "bytes")];

/// Windows of a trace: window k begins at run 4k of each side.
const WINDOWS: usize = 86;

/// Points of per cent by which a share may differ from the published one.
const MARGIN: f64 = 3.0;

/// What was published of preset `fixed` in windows of 30 runs, per cent of 86: A2 called at 2 % and passed at 10 %, B5
/// called at 2 %, B10 at 5 %, B20 at 10 %. Part 8 of the note on the verdict engine; of wall and of CPU time.
const PUBLISHED: [[[f64; 5]; 2]; 4] = [
    [[0.0, 84.0, 13.0, 12.0, 28.0], [0.0, 100.0, 86.0, 98.0, 100.0]],
    [[0.0, 78.0, 52.0, 67.0, 72.0], [0.0, 100.0, 100.0, 100.0, 100.0]],
    [[0.0, 57.0, 7.0, 13.0, 34.0], [0.0, 81.0, 9.0, 19.0, 44.0]],
    [[0.0, 24.0, 15.0, 33.0, 43.0], [0.0, 91.0, 79.0, 90.0, 100.0]],
];

/// A column of the table: the copy or the slower program, the limit in per cent, the verdict counted.
const COLUMNS: [(&str, f64, Verdict); 5] = [
    ("A2", 2.0, Verdict::Regression),
    ("A2", 10.0, Verdict::Pass),
    ("B5", 2.0, Verdict::Regression),
    ("B10", 5.0, Verdict::Regression),
    ("B20", 10.0, Verdict::Regression),
];

/// Columns whose figures must be as published.
const HELD: [usize; 2] = [1, 4];

/// Writes each trace as a table of samples into the directory, where one is given; prints what the judges say.
pub(crate) fn run(directory: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let source = golden();
    let mut converted = Vec::new();
    for name in TRACES {
        let text = fs::read_to_string(source.join(name).with_extension("csv"))?;
        converted.push((name, samples(name, &text)?));
    }
    if let Some(directory) = directory {
        fs::create_dir_all(directory)?;
        for (name, csv) in &converted {
            let path = directory.join(name).with_extension("csv");
            fs::write(&path, csv)?;
            println!("wrote {}", path.display());
        }
    }
    let (table, off) = table(&converted)?;
    println!("{table}");
    if off.is_empty() { Ok(()) } else { Err(format!("not as published: {}", off.join("; ")).into()) }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/golden/traces")
}

/// A trace as a table of samples: one benchmark for each revision that A is compared with.
fn samples(name: &str, trace: &str) -> Result<String, String> {
    let mut lines = trace.lines();
    let heading: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let place = |column: &str| {
        heading.iter().position(|it| *it == column).ok_or(format!("trace {name} has no column {column}"))
    };
    let (round, order, revision) = (place("round")?, place("order")?, place("revision")?);
    let metrics = METRICS.iter().map(|(column, metric, unit)| Ok((place(column)?, *metric, *unit)));
    let metrics: Vec<(usize, &str, &str)> = metrics.collect::<Result<_, String>>()?;
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    if let Some(short) = rows.iter().position(|row| row.len() != heading.len()) {
        return Err(format!("trace {name}: line {} has another number of cells than the heading", short + 2));
    }
    let in_round = rows.iter().filter(|row| row[round] == "0").count();
    let mut csv =
        "package,kind,target,variant,benchmark,revision,stage,round,sequence,metric,unit,value\n".to_owned();
    for head in HEADS {
        for row in &rows {
            let side = match row[revision] {
                BASE => "base",
                it if it == head => "head",
                _ => continue,
            };
            let number = |cell: &str| {
                cell.parse::<usize>().map_err(|_| format!("trace {name}: `{cell}` is no number"))
            };
            let sequence = number(row[round])? * in_round + number(row[order])?;
            for (column, metric, unit) in &metrics {
                writeln!(
                    csv,
                    "traces,bin,{name},,{head},{side},screen,{},{sequence},{metric},{unit},{}",
                    row[round], row[*column]
                )
                .expect("writing into a string cannot fail");
            }
        }
    }
    Ok(csv)
}

/// A judge of the table.
struct Judge {
    settings: JudgeSettings,
    /// Runs a side it may use of a window.
    window: usize,
}

fn judges() -> [Judge; 2] {
    let default = JudgeSettings { correction: Correction::None, ..judge_of(Preset::Default) };
    [Judge { settings: judge_of(Preset::Fixed), window: 30 }, Judge { settings: default, window: 60 }]
}

/// The table in Markdown, and the figures that are off.
fn table(converted: &[(&str, String)]) -> Result<(String, Vec<String>), Box<dyn Error>> {
    let mut text = "| trace, metric | A2 at 2 %: called | A2 at 10 %: passed | B5 at 2 %: called | B10 at 5 %: called | \
                    B20 at 10 %: called |\n|---|---|---|---|---|---|\n"
        .to_owned();
    let mut off = Vec::new();
    for (trace, (name, csv)) in converted.iter().enumerate() {
        let file = read_samples_csv(csv.as_bytes())?;
        for (place, metric) in [Metric::Latency, Metric::CpuTotal].into_iter().enumerate() {
            write!(text, "| {name} {metric} |")?;
            for (column, (head, limit, wanted)) in COLUMNS.into_iter().enumerate() {
                let [fixed, default] =
                    judges().map(|judge| share(&judge, &file, head, &metric, limit, wanted));
                let published = PUBLISHED[trace][place][column];
                write!(text, " {:.0} ({published}) / {:.0} ({:.1}) |", fixed.0, default.0, default.1)?;
                if HELD.contains(&column) && MARGIN < (fixed.0 - published).abs() {
                    off.push(format!("{name} {metric} {head} at {limit} %: {:.1}, not {published}", fixed.0));
                }
            }
            text.push('\n');
        }
    }
    text.push_str("\nPer cent of 86 windows: preset fixed (published) / default judge before confirmation (mean runs a side)");
    Ok((text, off))
}

/// The share of windows with the verdict, in per cent, and the mean number of runs a side.
fn share(
    judge: &Judge,
    file: &SamplesFile,
    head: &str,
    metric: &Metric,
    limit: f64,
    wanted: Verdict,
) -> (f64, f64) {
    let whole = whole(judge, file, head, metric, limit);
    let evidence: Vec<Evidence> = (0..WINDOWS).map(|k| window(&whole, 4 * k, judge.window)).collect();
    let judged = judge_run(&evidence, &RunContext::default());
    let comparisons: Vec<&Comparison> = judged.benchmarks.iter().map(|it| &it.comparisons[0]).collect();
    let hits = comparisons.iter().filter(|it| it.verdict == wanted).count();
    let runs: usize = comparisons.iter().map(|it| it.samples[0]).sum();
    (100.0 * hits as f64 / WINDOWS as f64, runs as f64 / WINDOWS as f64)
}

/// All runs of A and of one other revision, with one gated metric.
fn whole(judge: &Judge, file: &SamplesFile, head: &str, metric: &Metric, limit: f64) -> Evidence {
    let limits = MetricSettings {
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        max_percent: limit,
        min_difference: 0.0,
        gate: true,
        asked_for: true,
    };
    let most = judge.window as u32;
    let samples = match judge.settings.stop {
        Stop::Settled => SampleCount::Adaptive { min: judge.settings.min_samples, max: most },
        Stop::Fixed | Stop::Precision => SampleCount::Fixed(most),
    };
    let settings = BenchmarkSettings {
        sampling: Sampling { warmup: 0, samples, min_time_ns: 0, timeout_ns: 60_000_000_000 },
        judge: judge.settings.clone(),
        metrics: BTreeMap::from([(metric.clone(), limits)]),
        budgets: Vec::new(),
        compare: true,
        group: None,
        tolerances: BTreeMap::new(),
    };
    let own = |it: &Evidence| it.identity.id == head;
    let all = file.clone().into_evidence(|_| settings.clone());
    all.into_iter().find(own).expect("every head is in the file")
}

/// So many runs of each side from one on.
fn window(whole: &Evidence, first: usize, count: usize) -> Evidence {
    let cut = |side: &Side| Side {
        runs: side.runs[first..(first + count).min(side.runs.len())].to_vec(),
        ..side.clone()
    };
    Evidence { sides: whole.sides.iter().map(cut).collect(), ..whole.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> SamplesFile {
        let trace =
            fs::read_to_string(golden().join(name).with_extension("csv")).expect("the trace is there");
        let csv = samples(name, &trace).expect("the trace can be converted");
        read_samples_csv(csv.as_bytes()).expect("judge reads what was written")
    }

    #[test]
    fn a_converted_trace_holds_every_run_with_its_round_and_all_three_metrics() {
        let file = file("cpu5");
        assert!(file.has_rounds());
        assert_eq!(file.revisions, ["base", "head"]);
        let ids: Vec<&str> = file.benchmarks.iter().map(|it| it.identity.id.as_str()).collect();
        assert_eq!(ids, HEADS);
        for benchmark in &file.benchmarks {
            for side in &benchmark.sides {
                assert_eq!(side.runs.len(), 400);
                assert!(side.runs.iter().all(|run| run.values.iter().count() == 3));
            }
        }
        // The first run of A2 in the trace is the first of all.
        let first = &file.benchmarks[0].sides[1].runs[0];
        assert_eq!((first.round, first.sequence), (Some(0), Some(0)));
        assert_eq!(first.values.get(&Metric::Latency), Some(7_138_650.0));
    }

    #[test]
    fn the_copy_is_no_regression_over_a_whole_trace_at_2_nor_at_10_percent() {
        for name in TRACES {
            let file = file(name);
            for judge in judges() {
                for metric in [Metric::Latency, Metric::CpuTotal] {
                    for limit in [2.0, 10.0] {
                        let whole = whole(&judge, &file, "A2", &metric, limit);
                        let judged = judge_run(&[whole], &RunContext::default());
                        let verdict = judged.benchmarks[0].comparisons[0].verdict;
                        assert_ne!(
                            verdict,
                            Verdict::Regression,
                            "{name} {metric} {limit} {:?}",
                            judge.settings.preset
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_slower_program_is_a_regression_over_a_whole_trace() {
        let file = file("cpu50");
        for judge in judges() {
            let whole = whole(&judge, &file, "B20", &Metric::CpuTotal, 10.0);
            let judged = judge_run(&[whole], &RunContext::default());
            assert_eq!(judged.benchmarks[0].comparisons[0].verdict, Verdict::Regression);
        }
    }

    #[test]
    fn a_trace_that_lacks_a_column_or_a_cell_is_refused() {
        assert!(
            samples("x", "round,order,revision,wall_ns,cpu_ns\n")
                .expect_err("a column is missing")
                .contains("maxrss")
        );
        let short = "round,order,revision,wall_ns,cpu_ns,maxrss_bytes\n0,0,A,1,2\n";
        assert!(samples("x", short).expect_err("a cell is missing").contains("line 2"));
    }
}
