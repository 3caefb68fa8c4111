//! The history as a second witness of a comparison: it adds reasons, and never decides.

use std::collections::HashMap;

use super::course::LookbackMode;
use super::facts::{Facts, RevisionFacts};
use super::key::SeriesKey;
use super::lookback::{Distribution, distribution, z_score};
use super::overview::{course, short};
use super::series::{Point, Series, View};
use super::status::{BASELINE_Z, MIN_EARLIER, clears_share};
use crate::suite::metric::Better;

/// What the history knows of the base and the head of a report, one sentence a finding.
pub fn remarks(report: &Facts, view: &View, mode: LookbackMode) -> Vec<String> {
    let revision = |name: &str| report.revisions.iter().position(|revision| &*revision.name == name);
    let (Some(base), Some(head)) = (revision("base"), revision("head")) else { return Vec::new() };
    let of_base: HashMap<&SeriesKey, f64> = report
        .points
        .iter()
        .filter(|point| usize::from(point.revision) == base)
        .map(|point| (&point.key, point.best))
        .collect();
    let known: HashMap<&SeriesKey, &Series> =
        view.series.iter().map(|series| (&series.key, series)).collect();
    let mut remarks = Vec::new();
    for point in report.points.iter().filter(|point| usize::from(point.revision) == head && point.gate) {
        let (Some(&of_base), Some(series)) = (of_base.get(&point.key), known.get(&point.key)) else {
            continue;
        };
        // This very run may be in the history already, and other runs of head: its own results excuse nothing.
        let head = &report.revisions[head];
        let is_heads = |it: &Point| !head.dirty && it.commit == head.commit;
        let points: Vec<Point> = series
            .points
            .iter()
            .filter(|it| it.result_time != report.result_time && !is_heads(it))
            .cloned()
            .collect();
        let history = series.with_points(points);
        let Some(through) = through(&history, &report.revisions[base]) else { continue };
        let rows = course(&history, mode).rows;
        let window = distribution(&rows[..through]);
        if MIN_EARLIER <= through {
            remarks.extend(base_is_off(&history, window, of_base));
        }
        remarks.extend(already_there(&history, through, window, of_base, point.best, view.branch.as_deref()));
    }
    remarks
}

/// Where the base's commit ends among the points: by its own results, else by its time. `None` where neither tells.
fn through(history: &Series, base: &RevisionFacts) -> Option<usize> {
    let last = history.points.iter().rposition(|point| point.commit == base.commit);
    last.map(|last| last + 1).or_else(|| {
        let time = base.committed_at?;
        Some(history.points.partition_point(|point| point.place.0 <= time))
    })
}

fn base_is_off(history: &Series, window: Distribution, base: f64) -> Option<String> {
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
    through: usize,
    window: Distribution,
    base: f64,
    head: f64,
    branch: Option<&str>,
) -> Option<String> {
    let sd = window.sd.unwrap_or(0.0);
    let newer = &history.points[through..];
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
