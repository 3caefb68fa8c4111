//! `history explain`: each condition with its number and its limit.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{counted, optional, series_name, table, value};
use crate::history::course::Why;
use crate::history::explain::{Condition, Explanation};
use crate::history::overview::{reason, short};
use crate::history::series::Series;
use crate::report::quantity;
use crate::report::text::visible;

/// For people.
pub fn text(series: &Series, it: &Explanation) -> String {
    let unit = series.key.unit();
    let point = &series.points[it.point];
    let mut text = format!("{}, commit {}\n", series_name(&series.key), short(&visible(&point.commit)));
    if 1 < it.results {
        let _ = writeln!(
            text,
            "its commit has {} results: this is the newest, against the results before the commit",
            it.results
        );
    }
    text.push('\n');
    let _ = writeln!(
        text,
        "value (best of {}): {}",
        counted(point.samples as usize, "run"),
        value(point.best, &unit)
    );
    let _ = writeln!(
        text,
        "window before the commit: mean {}, sd {}, {}\n",
        optional(it.window.mean, &unit),
        optional(it.window.sd, &unit),
        counted(it.window_commits, "commit")
    );
    let rows: Vec<Vec<String>> = it.status.iter().chain(&it.baseline).map(row).collect();
    text.push_str(&table(&["HOLDS", "NUMBER", "LIMIT", "CONDITION"], &[true, false, false, true], &rows));
    if let Some(tolerance) = it.tolerance {
        let _ = writeln!(
            text,
            "\ntolerance ({}), asked by `history compare` only: moved by {}, smallest change that counts {}{}",
            tolerance.floors.metric_kind,
            value(tolerance.delta, &unit),
            value(tolerance.minimum_change, &unit),
            if tolerance.within_tolerance { "; held back" } else { "" }
        );
    }
    let _ =
        writeln!(text, "\nstatus as of this result: {} ({})", it.course.status, reason(series, &it.course));
    if let Some(mean) = it.course.mean {
        let z = it.course.z.map(|z| format!("z {z:+.1}, ")).unwrap_or_default();
        let _ = writeln!(
            text,
            "that is {z}{} against {}: {}",
            super::change(it.course.change_percent),
            against(series, it),
            value(mean, &unit)
        );
    }
    text
}

/// What the numbers of the status are against.
fn against(series: &Series, it: &Explanation) -> String {
    match it.course.why {
        Why::OpenSince(index) | Why::ImprovedSince(index) => {
            format!("the level before {}", short(&visible(&series.points[index].commit)))
        }
        _ if 1 < it.results => "the window with the other results of its commit".to_owned(),
        _ => "the window before the commit".to_owned(),
    }
}

fn row(condition: &Condition) -> Vec<String> {
    let number = |number: Option<f64>| number.map_or_else(|| quantity::NONE.to_owned(), significant);
    vec![
        match condition.holds {
            None => "no number".to_owned(),
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
        },
        number(condition.number),
        number(condition.limit),
        condition.asks.clone(),
    ]
}

/// Five significant digits, so that a number just beyond its limit does not look equal to it.
fn significant(number: f64) -> String {
    let rounded: f64 = format!("{number:.4e}").parse().unwrap_or(number);
    rounded.to_string()
}

/// For programs.
pub fn json(series: &Series, it: &Explanation) -> Value {
    let conditions = |conditions: &[Condition]| -> Vec<Value> {
        conditions
            .iter()
            .map(|it| json!({ "condition": it.asks, "number": it.number, "limit": it.limit, "holds": it.holds }))
            .collect()
    };
    let point = &series.points[it.point];
    let mut value = super::json::key(series);
    let more = json!({
        "schema_version": super::json::SCHEMA_VERSION,
        "commit": point.commit.as_ref(),
        "commit_results": it.results,
        "value": point.best,
        "samples": point.samples,
        "mean": it.window.mean,
        "sd": it.window.sd,
        "window_commits": it.window_commits,
        "conditions": conditions(&it.status),
        "baseline_conditions": conditions(&it.baseline),
        "tolerance": it.tolerance,
        "status": it.course.status.as_str(),
        "reason": reason(series, &it.course),
        "status_z_score": it.course.z,
        "status_mean": it.course.mean,
    });
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}
