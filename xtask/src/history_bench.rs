//! How fast a long history is read and judged.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use cargo_benchgate::history::lookback::{Row, rolling};
use cargo_benchgate::history::store::Store;
use cargo_benchgate::report::assemble::{Header, assemble};
use cargo_benchgate::report::json;
use cargo_benchgate::report::model::{Report, Revision};
use cargo_benchgate::verdict::evidence::Evidence;
use cargo_benchgate::verdict::{RunContext, judge_run};

use crate::bench::{comparison, median, noise, run_once};

const REPORTS: usize = 10_000;
const BENCHMARKS: usize = 50;
const POINTS: usize = 10_000;

/// Prints the figures.
pub(crate) fn run(binary: &Path) -> Result<(), Box<dyn Error>> {
    lookback();
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path().join("history"));
    let mut report = template();
    let mut bytes = 0;
    for number in 0..REPORTS {
        vary(&mut report, number);
        let text = json::json(&report);
        bytes += text.len();
        store.add_report(text.as_bytes())?;
    }
    println!(
        "history of {REPORTS} reports of {BENCHMARKS} benchmarks, {:.0} MB ({:.0} kB a report):",
        bytes as f64 / 1e6,
        bytes as f64 / REPORTS as f64 / 1e3
    );
    let (cold, cold_peak) = status(binary, folder.path())?;
    let warm: Result<Vec<(f64, f64)>, _> = (0..5).map(|_| status(binary, folder.path())).collect();
    let warm = warm?;
    println!(
        "  status, cold: {cold:.2} s, peak memory {:.0} MB   (wanted: under 10 s and 500 MB)",
        cold_peak / 1e6
    );
    println!(
        "  status, warm: {:.2} s, peak memory {:.0} MB, medians of 5   (wanted: under 1 s and 500 MB)",
        median(warm.iter().map(|it| it.0).collect()),
        median(warm.iter().map(|it| it.1).collect()) / 1e6
    );
    Ok(())
}

fn lookback() {
    let rows: Vec<Row> = (0..POINTS)
        .map(|index| Row {
            position: index as i64,
            result_time: index as i64,
            value: 1e6 * noise(index as u64, 7),
            begins: false,
        })
        .collect();
    let times = (0..20)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(rolling(std::hint::black_box(&rows)));
            started.elapsed().as_secs_f64()
        })
        .collect();
    println!("lookback of {POINTS} results: {:.1} ms   (wanted: under 50 ms)", median(times) * 1e3);
}

/// A judged report of 50 benchmarks, 8 runs a side.
fn template() -> Report {
    let mut evidence: Vec<Evidence> = (0..BENCHMARKS).map(comparison).collect();
    for side in evidence.iter_mut().flat_map(|it| &mut it.sides) {
        side.runs.truncate(8);
    }
    let judgement = judge_run(&evidence, &RunContext::default());
    let revision = |name: &str| Revision {
        name: name.to_owned(),
        spec: name.to_owned(),
        commit: None,
        subject: Some("a change".to_owned()),
        dirty: false,
        chosen_because: None,
        committed_at: None,
    };
    let header = Header {
        revisions: vec![revision("base"), revision("head")],
        machine: Some(cargo_benchgate::machine::read()),
        ..Header::bare("compare", 0)
    };
    assemble(header, evidence, judgement.benchmarks, judgement.summary, judgement.exit)
}

/// So many minutes after a fixed time.
fn minute(number: usize) -> String {
    format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + number / 1440, number / 60 % 24, number % 60)
}

/// The report of another minute: its commits, and values with noise of their own.
fn vary(report: &mut Report, number: usize) {
    report.started_at = Some(minute(number));
    for (index, revision) in report.revisions.iter_mut().enumerate() {
        let commit = number + index;
        revision.commit = Some(format!("{commit:040x}"));
        revision.committed_at = Some(minute(commit));
    }
    for (index, benchmark) in report.benchmarks.iter_mut().enumerate() {
        for side in &mut benchmark.sides {
            for statistics in side.statistics.values_mut() {
                let value = 1e6 * noise(index as u64, number as u64);
                statistics.min = value;
                statistics.median = value * 1.01;
            }
        }
    }
}

/// Seconds and peak memory in bytes of `history status`.
fn status(binary: &Path, folder: &Path) -> Result<(f64, f64), Box<dyn Error>> {
    run_once(binary, folder, ["history", "status", "--history", "history"].map(Into::into).to_vec())
}
