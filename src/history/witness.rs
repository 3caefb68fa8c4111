//! The history as a second witness of a comparison: it adds reasons, and never decides.

use super::course::LookbackMode;
use super::facts::Facts;
use super::lookback::{distribution, z_score};
use super::overview::{course, short};
use super::series::{Point, Series, View};
use super::status::{BASELINE_Z, MIN_EARLIER, clears_share};
use crate::suite::metric::Better;

/// What the history knows of the base and the head of a report, one sentence a finding.
pub fn remarks(report: &Facts, view: &View) -> Vec<String> {
    let revision = |name: &str| report.revisions.iter().position(|revision| &*revision.name == name);
    let (Some(base), Some(head)) = (revision("base"), revision("head")) else { return Vec::new() };
    let base_commit = &report.revisions[base].commit;
    let mut remarks = Vec::new();
    for point in report.points.iter().filter(|point| usize::from(point.revision) == head && point.gate) {
        let of_base =
            report.points.iter().find(|other| other.key == point.key && usize::from(other.revision) == base);
        let (Some(of_base), Some(series)) = (of_base, view.series.iter().find(|it| it.key == point.key))
        else {
            continue;
        };
        // This very run may be in the history already.
        let points: Vec<Point> =
            series.points.iter().filter(|it| it.result_time != report.result_time).cloned().collect();
        let history = Series { points, ..series.clone() };
        remarks.extend(base_is_off(&history, base_commit, of_base.best));
        remarks.extend(already_there(
            &history,
            base_commit,
            of_base.best,
            point.best,
            view.branch.as_deref(),
        ));
    }
    remarks
}

/// Where the base's commit ends among the points; all of them when it was never measured.
fn through(history: &Series, commit: &str) -> usize {
    let last = history.points.iter().rposition(|point| *point.commit == *commit);
    last.map_or(history.points.len(), |last| last + 1)
}

fn base_is_off(history: &Series, commit: &str, base: f64) -> Option<String> {
    let rows = course(history, LookbackMode::Steps).rows;
    let rows = &rows[..through(history, commit)];
    if rows.len() < MIN_EARLIER {
        return None;
    }
    let window = distribution(rows);
    let mean = window.mean?;
    let z = z_score(base, mean, window.sd, history.better)?;
    (BASELINE_Z < z.abs() && clears_share(base, mean)).then(|| {
        let unit = history.key.unit();
        format!(
            "history: the base of {} {} is itself off its history: {} here, {} on average before ({:+.1} sd); the change to \
             it may be the base's",
            history.key.label(),
            history.key.metric,
            super::render::value(base, &unit),
            super::render::value(mean, &unit),
            z
        )
    })
}

fn already_there(
    history: &Series,
    commit: &str,
    base: f64,
    head: f64,
    branch: Option<&str>,
) -> Option<String> {
    let since = through(history, commit);
    let rows = course(history, LookbackMode::Steps).rows;
    let sd = distribution(&rows[..since]).sd.unwrap_or(0.0);
    let newer = &history.points[since..];
    let newest = newer.last()?;
    let worse = |value: f64| match history.better {
        Better::Lower => base < value && clears_share(value, base),
        Better::Higher => value < base && clears_share(value, base),
    };
    let near_head = |value: f64| (value - head).abs() <= (BASELINE_Z * sd).max(0.02 * head.abs());
    if !(worse(head) && worse(newest.best) && near_head(newest.best)) {
        return None;
    }
    let first = newer.iter().rev().take_while(|point| worse(point.best)).last()?;
    Some(format!(
        "history: {} {} is at this level on {} too, since {}: the slowdown may not be this change's",
        history.key.label(),
        history.key.metric,
        branch.unwrap_or("the branch"),
        short(&first.commit)
    ))
}
