//! `history show`: one series as a table, with its change points and its drift.

use std::fmt::Write as _;

use super::{change, day, optional, series_name, table, value};
use crate::history::change::{ChangePoint, Changes, FEW, Joined};
use crate::history::course::Course;
use crate::history::lookback::{rolling, z_score};
use crate::history::marks::Said;
use crate::history::overview::{reason, short};
use crate::history::series::Series;
use crate::report::quantity;
use crate::report::text::{shell_word, visible};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The command that looks for the commit of a change.
pub fn bisect_command(series: &Series, changes: &Changes, change: &ChangePoint) -> String {
    let commit = |level: usize| short(&series.points[changes.levels[level].point].commit);
    format!(
        "cargo benchgate bisect {} {} {}",
        shell_word(&series.key.label()),
        commit(change.before),
        commit(change.after)
    )
}

/// The series for people: the newest `limit` results, 0 for all.
pub fn text(
    series: &Series,
    course: &Course,
    changes: &Changes,
    limit: usize,
    width: Option<usize>,
) -> String {
    let unit = series.key.unit();
    let mut text = format!("{}\n", series_name(&series.key));
    let _ = writeln!(text, "{}", sparkline(series, width.unwrap_or(80).clamp(20, 120)));
    let _ = writeln!(text, "{}: {}\n", course.status, reason(series, course));
    let stats = rolling(&course.rows);
    let levels: std::collections::HashMap<usize, _> =
        changes.levels.iter().map(|level| (level.point, level)).collect();
    let skipped = if limit == 0 { 0 } else { series.points.len().saturating_sub(limit) };
    let rows: Vec<Vec<String>> = series
        .points
        .iter()
        .zip(&stats)
        .enumerate()
        .skip(skipped)
        .map(|(index, (point, stats))| {
            let z =
                stats.mean_before.and_then(|mean| z_score(point.best, mean, stats.sd_before, series.better));
            let mut notes: Vec<String> = Vec::new();
            let mut note = |holds: bool, word: &str| {
                if holds {
                    notes.push(word.to_owned());
                }
            };
            let begins = index != 0 && stats.segment != self::segment(&course.rows, index - 1);
            let step = course.steps.iter().any(|step| series.points[step.index].position == point.position);
            note(point.said == Some(Said::Begins), "mark");
            note(begins && step, "step, new segment");
            note(point.other_toolchain, "other toolchain");
            note(stats.is_step && !step, "jump");
            note(stats.is_outlier, "outlier");
            let found = changes.changes.iter().find(|change| changes.levels[change.after].point == index);
            if let Some(found) = found {
                let provisional = if found.provisional { ", provisional" } else { "" };
                notes.push(format!("change point {}{provisional}", quantity::change(found.change_percent)));
            }
            vec![
                short(&visible(&point.commit)),
                day(point.committed_at),
                value(point.best, &unit),
                value(point.median, &unit),
                change(levels.get(&index).and_then(|level| level.change_percent)),
                optional(stats.mean_before, &unit),
                optional(stats.sd_before, &unit),
                z.map_or_else(|| quantity::NONE.to_owned(), |z| format!("{z:+.1}")),
                point.samples.to_string(),
                stats.segment.to_string(),
                notes.join("; "),
            ]
        })
        .collect();
    let heading =
        ["COMMIT", "DATE", "BEST", "MEDIAN", "CHANGE", "MEAN", "SD", "Z", "RUNS", "SEGMENT", "NOTES"];
    let left = [true, true, false, false, false, false, false, false, false, false, true];
    text.push_str(&table(&heading, &left, &rows));
    if 0 < skipped {
        let _ = writeln!(text, "{skipped} older results are not shown; --limit 0 shows all");
    }
    text.push('\n');
    text.push_str(&changes_text(series, changes));
    text
}

/// The segment of a row, counted as the lookback does.
fn segment(rows: &[crate::history::lookback::Row], index: usize) -> usize {
    rows.iter().filter(|row| row.begins && row.position <= rows[index].position).count()
}

/// The change points, the drift, and what they rest on.
fn changes_text(series: &Series, changes: &Changes) -> String {
    let unit = series.key.unit();
    let mut text = String::new();
    let n = changes.levels.len();
    let chained = changes.levels.iter().filter(|level| level.joined == Joined::Chained).count();
    if n < FEW {
        let _ = writeln!(text, "{n} commits are too few for change points; {FEW} are needed");
    }
    for found in &changes.changes {
        let provisional = if found.provisional { " (provisional: the newest commit alone)" } else { "" };
        let _ = writeln!(
            text,
            "{}: {} -> {}, {} at {}{provisional}",
            if found.better { "better" } else { "worse" },
            value(found.from, &unit),
            value(found.to, &unit),
            quantity::change(found.change_percent),
            short(&visible(&series.points[changes.levels[found.after].point].commit)),
        );
        let before = series.points[changes.levels[found.before].point].depth;
        let after = series.points[changes.levels[found.after].point].depth;
        if let (Some(before), Some(after)) = (before, after)
            && after + 1 < before
        {
            let _ = writeln!(text, "  {} commits lie between the two that were measured", before - after - 1);
        }
        let _ = writeln!(text, "  {}", visible(&bisect_command(series, changes, found)));
    }
    if changes.changes.is_empty() && FEW <= n {
        let _ =
            writeln!(text, "no change of level of at least {}", quantity::limit(changes.min_change * 100.0));
    }
    if let Some(drift) = changes.drift_percent {
        let _ = writeln!(text, "drift from the first segment to the last: {}", quantity::change(drift));
    }
    let _ = writeln!(
        text,
        "{} over {n} commits: noise {} a result, smallest change {}, {chained} joined by interleaved ratios, {} by different sessions",
        changes.method,
        quantity::limit(changes.sigma * 100.0),
        quantity::limit(changes.min_change * 100.0),
        n.saturating_sub(chained + 1)
    );
    if 0 < changes.not_positive {
        let _ = writeln!(
            text,
            "{} results of 0 or below have no ratio and are left out here",
            changes.not_positive
        );
    }
    if 0 < changes.older {
        let _ = writeln!(text, "{} older commits are left aside here", changes.older);
    }
    text
}

/// The newest values as a line of bars, at most so many; several values a bar where there are more.
pub fn sparkline(series: &Series, columns: usize) -> String {
    let values: Vec<f64> =
        series.points.iter().map(|point| point.best).filter(|value| value.is_finite()).collect();
    let values = &values[values.len().saturating_sub(columns)..];
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values
        .iter()
        .map(|value| {
            let share = if low < high { (value - low) / (high - low) } else { 0.0 };
            BARS[((share * 7.0).round() as usize).min(7)]
        })
        .collect()
}
