//! `history status`: one line a benchmark.

use std::fmt::Write as _;

use super::{change, left_out, optional, series_name, table, value};
use crate::history::key::SeriesKey;
use crate::history::overview::{BenchmarkStatus, Overview, found_steps, reason, short};
use crate::history::series::View;
use crate::history::status::Status;
use crate::report::text::visible;
use crate::suite::identity::{BenchmarkIdentity, labels};

/// Steps that are listed.
const SHOWN_STEPS: usize = 10;
/// Series that are no longer measured and are listed.
const SHOWN_GONE: usize = 10;

/// The labels of the benchmarks, told apart.
pub fn benchmark_labels(view: &View, statuses: &[BenchmarkStatus]) -> Vec<String> {
    let identities: Vec<&BenchmarkIdentity> =
        statuses.iter().map(|it| &view.series[it.series[0].series].key.benchmark).collect();
    labels(identities.into_iter()).iter().map(|label| visible(label)).collect()
}

/// The table, the counts, the steps found, and what was left out.
pub fn text(view: &View, overview: &Overview) -> String {
    let statuses = &overview.benchmarks[..];
    let mut text = String::new();
    if statuses.is_empty() {
        text.push_str("no results\n");
    } else {
        let rows: Vec<Vec<String>> = statuses
            .iter()
            .zip(benchmark_labels(view, statuses))
            .map(|(it, label)| row(view, it, label))
            .collect();
        let heading = ["STATUS", "BENCHMARK", "METRIC", "NEWEST", "MEAN", "CHANGE", "MACHINE", "REASON"];
        let left = [true, true, true, false, false, false, true, true];
        text.push_str(&table(&heading, &left, &rows));
    }
    text.push('\n');
    text.push_str(&counts(statuses));
    let steps: Vec<_> = statuses
        .iter()
        .flat_map(|it| &it.series)
        .flat_map(|it| found_steps(&view.series[it.series], &it.course).into_iter().rev())
        .collect();
    if !steps.is_empty() {
        let _ = writeln!(
            text,
            "{} confirmed step{} began a segment; the command behind each takes it back:",
            steps.len(),
            if steps.len() == 1 { "" } else { "s" }
        );
        // The benchmarks come worst first, and so do their steps; those of one the newest first.
        for step in steps.iter().take(SHOWN_STEPS) {
            let _ = writeln!(
                text,
                "  {} {} {} at {}: {}",
                visible(&step.benchmark),
                visible(&step.metric),
                change(step.change_percent),
                short(&visible(&step.commit)),
                step.unmark
            );
        }
        if SHOWN_STEPS < steps.len() {
            let _ = writeln!(text, "  and {} more", steps.len() - SHOWN_STEPS);
        }
    }
    for line in gone(view, overview) {
        text.push_str(&line);
        text.push('\n');
    }
    for line in left_out(&view.left_out, view.branch.as_deref(), view.is_cut) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The series that are no longer measured, a line each.
pub fn gone(view: &View, overview: &Overview) -> Vec<String> {
    let line = |&index: &usize| {
        let series = &view.series[index];
        format!(
            "left out {}: it is no longer measured, its newest result is of {}",
            series_name(&series.key),
            short(&visible(&series.newest().commit))
        )
    };
    let mut lines: Vec<String> = overview.gone.iter().take(SHOWN_GONE).map(line).collect();
    if SHOWN_GONE < overview.gone.len() {
        lines.push(format!("and {} more that are no longer measured", overview.gone.len() - SHOWN_GONE));
    }
    lines
}

/// How many benchmarks have which status.
pub fn counts(statuses: &[BenchmarkStatus]) -> String {
    let count = |status: Status| statuses.iter().filter(|it| it.status == status).count();
    let plural = if statuses.len() == 1 { "" } else { "s" };
    format!(
        "{} benchmark{plural}: {} regressed, {} improved, {} stable, {} insufficient\n",
        statuses.len(),
        count(Status::Regressed),
        count(Status::Improved),
        count(Status::Stable),
        count(Status::Insufficient)
    )
}

fn row(view: &View, it: &BenchmarkStatus, label: String) -> Vec<String> {
    let deciding = it.deciding();
    let series = &view.series[deciding.series];
    let unit = series.key.unit();
    let mut why = reason(series, &deciding.course);
    let same = it.series.iter().filter(|other| other.course.status == it.status).count();
    if 1 < it.series.len() {
        why.push_str(&format!("; {same} of {} series", it.series.len()));
    }
    vec![
        if it.status == Status::Regressed { "REGRESSED".to_owned() } else { it.status.to_string() },
        label,
        visible(&series.key.metric),
        value(series.newest().best, &unit),
        optional(deciding.course.mean, &unit),
        change(deciding.course.change_percent),
        machine(&series.key),
        why,
    ]
}

fn machine(key: &SeriesKey) -> String {
    visible(&key.machine)
}
