//! What a history looks like: text for people, JSON, a plot. Values in, text out.

pub mod compare;
pub mod explain;
pub mod json;
pub mod show;
pub mod status;
pub mod svg;

use crate::report::quantity;
use crate::report::text::{pad_left, pad_right, visible, width};
use crate::suite::metric::Unit;

use super::key::SeriesKey;
use super::series::LeftOut;

/// `1 result of a run`, `2 results of a run`: the first word that is no `earlier` gets the plural.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 {
        return format!("1 {what}");
    }
    let (before, what) = match what.split_once(' ') {
        Some((before @ ("earlier" | "older" | "new"), what)) => (format!("{before} "), what),
        _ => (String::new(), what),
    };
    let (noun, rest) = what.split_at(what.find(' ').unwrap_or(what.len()));
    format!("{count} {before}{noun}s{rest}")
}

/// A value in a unit people read; foreign units of time and size are scaled like our own.
pub(super) fn value(number: f64, unit: &Unit) -> String {
    match unit {
        Unit::Own(name) => match &**name {
            "s" => quantity::value(number * 1e9, &Unit::Nanoseconds),
            "ms" => quantity::value(number * 1e6, &Unit::Nanoseconds),
            "us" | "µs" => quantity::value(number * 1e3, &Unit::Nanoseconds),
            "B" => quantity::value(number, &Unit::Bytes),
            "B/s" => format!("{}/s", quantity::value(number, &Unit::Bytes)),
            name => quantity::value(number, &Unit::Own(visible(name).into())),
        },
        unit => quantity::value(number, unit),
    }
}

pub(super) fn optional(number: Option<f64>, unit: &Unit) -> String {
    number.map_or_else(|| quantity::NONE.to_owned(), |number| value(number, unit))
}

pub(super) fn change(percent: Option<f64>) -> String {
    percent.map_or_else(|| quantity::NONE.to_owned(), quantity::change)
}

/// Aligned columns; `left` says which are text.
pub(super) fn table(heading: &[&str], left: &[bool], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            rows.iter().map(|row| width(&row[column])).chain([width(heading[column])]).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    let heading: Vec<String> = heading.iter().map(|&cell| cell.to_owned()).collect();
    for row in [&heading].into_iter().chain(rows) {
        let cells: Vec<String> =
            row.iter()
                .enumerate()
                .map(|(column, cell)| {
                    if left[column] {
                        pad_right(cell, widths[column])
                    } else {
                        pad_left(cell, widths[column])
                    }
                })
                .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The day of a commit.
pub(super) fn day(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds)
        .map_or_else(|_| "-".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// RFC 3339.
pub(super) fn time(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}

/// What was left out, a line each.
pub fn left_out(left_out: &LeftOut, branch: Option<&str>, is_cut: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |count: usize, what: &str| {
        if 0 < count {
            lines.push(format!("left out {}", counted(count, what)));
        }
    };
    say(left_out.dirty, "result of trees with uncommitted files");
    say(left_out.no_commit, "result without a commit");
    say(left_out.errored, "benchmark that failed or got interrupted");
    say(left_out.duplicates, "report of runs that another file reports too");
    let branch = visible(branch.unwrap_or("the branch"));
    say(left_out.off_branch, &format!("result of commits that are not on the first-parent line of {branch}"));
    if is_cut && 0 < left_out.off_branch {
        lines.push(
            "the clone is shallow, so older commits cannot be told from other branches' ones; `git fetch --unshallow` \
             brings them back"
                .to_owned(),
        );
    }
    for (name, why) in &left_out.files {
        lines.push(format!("left out {}: {}", visible(name), visible(why)));
    }
    lines
}

/// The machine's place in a series' name, where there are several.
pub(super) fn series_name(key: &SeriesKey) -> String {
    let mut name = format!("{} {}", visible(&key.label()), visible(&key.metric));
    name.push_str(&format!(" on {}", visible(&key.machine)));
    let context: Vec<String> = [&key.profile, &key.features, &key.triple]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| visible(text))
        .collect();
    if !context.is_empty() {
        name.push_str(&format!(" ({})", context.join(", ")));
    }
    name
}
