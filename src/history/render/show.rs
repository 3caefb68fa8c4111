//! `history show`: one series as a table, with its change points and its drift.

use std::fmt::Write as _;

use super::{change, counted, day, optional, series_name, table, value};
use crate::history::change::{ChangePoint, Changes, Joined, MIN_CHANGE};
use crate::history::course::Course;
use crate::history::lookback::{rolling, z_score};
use crate::history::marks::Said;
use crate::history::overview::{reason, short};
use crate::history::series::Series;
use crate::report::quantity;
use crate::report::text::{shell_word, visible};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The command that looks for the commit of a change. `None` where there is nothing for it to find: a change for the better,
/// commits that are not of this repository, renamed series, whose old commits do not know the name of now, and variants, which
/// no filter can tell apart.
pub fn bisect_command(series: &Series, changes: &Changes, change: &ChangePoint) -> Option<String> {
    let identity = &series.key.benchmark;
    if change.better || series.is_renamed || !identity.variant.is_empty() {
        return None;
    }
    let commit = |level: usize| {
        let point = &series.points[changes.levels[level].point];
        point.depth.map(|_| short(&point.commit))
    };
    let (good, bad) = (commit(change.before)?, commit(change.after)?);
    let mut command = format!("cargo benchgate bisect {} {good} {bad}", shell_word(&identity.label()));
    let mut flag = |flag: &str, value: &str| command.push_str(&format!(" {flag} {}", shell_word(value)));
    // Foreign data have no package.
    if !identity.target.package.is_empty() {
        flag("-p", &identity.target.package);
    }
    flag("--metric", &series.key.metric);
    // Half of a change is beyond its noise; bisect looks for 5 % when nothing is said.
    let least = if changes.min_change == 0.0 {
        0.5 * change.change_percent.abs()
    } else {
        100.0 * changes.min_change
    };
    if least < 100.0 * MIN_CHANGE {
        flag("--threshold", &format!("{}%", (least * 100.0).round().max(1.0) / 100.0));
    }
    if !matches!(series.key.profile.as_str(), "" | "bench") {
        flag("--profile", &series.key.profile);
    }
    let (flags, features): (Vec<&str>, Vec<&str>) =
        series.key.features.split_whitespace().partition(|word| word.starts_with("--"));
    if !features.is_empty() {
        flag("--features", &features.join(","));
    }
    flags.iter().for_each(|flag| command.push_str(&format!(" {flag}")));
    Some(command)
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
    let all = rolling(&course.rows);
    let levels: std::collections::HashMap<usize, _> =
        changes.levels.iter().map(|level| (level.point, level)).collect();
    let skipped = if limit == 0 { 0 } else { series.points.len().saturating_sub(limit) };
    let rows: Vec<Vec<String>> = series
        .points
        .iter()
        .zip(&all)
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
            let begins = index != 0 && stats.segment != all[index - 1].segment;
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
        let _ = writeln!(text, "not shown: {}; --limit 0 shows all", counted(skipped, "older result"));
    }
    text.push('\n');
    text.push_str(&changes_text(series, changes));
    text
}

/// The change points, the drift, and what they rest on.
fn changes_text(series: &Series, changes: &Changes) -> String {
    let unit = series.key.unit();
    let mut text = String::new();
    let n = changes.levels.len();
    let chained = changes.levels.iter().filter(|level| level.joined == Joined::Chained).count();
    let few = changes.method.fewest();
    if n < few {
        let _ = writeln!(
            text,
            "{} {} too few for change points; {few} are needed",
            counted(n, "commit"),
            if n == 1 { "is" } else { "are" }
        );
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
            let between = (before - after - 1) as usize;
            let lie = if between == 1 { "lies" } else { "lie" };
            let _ =
                writeln!(text, "  {} {lie} between the two that were measured", counted(between, "commit"));
        }
        if let Some(command) = bisect_command(series, changes, found) {
            let _ = writeln!(text, "  {}", visible(&command));
        }
    }
    if changes.changes.is_empty() && few <= n {
        let _ =
            writeln!(text, "no change of level of at least {}", quantity::limit(changes.min_change * 100.0));
    }
    if let Some(drift) = changes.drift_percent {
        let _ = writeln!(text, "drift from the first segment to the last: {}", quantity::change(drift));
    }
    let _ = writeln!(
        text,
        "{} over {}: noise {} a result, smallest change {}, {chained} joined by interleaved ratios, {} by different sessions",
        changes.method,
        counted(n, "commit"),
        quantity::limit(changes.sigma * 100.0),
        quantity::limit(changes.min_change * 100.0),
        n.saturating_sub(chained + 1)
    );
    if 0 < changes.not_positive {
        let _ = writeln!(
            text,
            "left out here: {}, without a ratio",
            counted(changes.not_positive, "result of 0 or below")
        );
    }
    if 0 < changes.older {
        let _ = writeln!(text, "left aside here: {}", counted(changes.older, "older commit"));
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
