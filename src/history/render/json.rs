//! JSON of statuses and series. A number that does not exist is null.

use serde_json::{Value, json};

use super::time;
use crate::history::change::{Changes, Joined};
use crate::history::course::{Course, LookbackMode};
use crate::history::lookback::{rolling, z_score};
use crate::history::overview::{Overview, SeriesStatus, found_steps, reason};
use crate::history::series::{LeftOut, Series, View};

/// The version of these schemas.
pub const SCHEMA_VERSION: u32 = 1;

/// What makes a series, as fields.
pub fn key(series: &Series) -> Value {
    let key = &series.key;
    json!({
        "benchmark": key.label(),
        "package": key.benchmark.target.package,
        "kind": key.benchmark.target.kind.as_str(),
        "target": key.benchmark.target.target,
        "variant": key.benchmark.variant,
        "id": key.benchmark.id,
        "metric": key.metric,
        "unit": key.unit,
        "better": series.better,
        "machine": key.machine,
        "profile": key.profile,
        "features": key.features,
        "target_triple": key.triple,
    })
}

/// What was left out.
pub fn left_out(left_out: &LeftOut) -> Value {
    let files: Vec<Value> =
        left_out.files.iter().map(|(name, why)| json!({ "file": name, "reason": why })).collect();
    json!({
        "dirty": left_out.dirty,
        "off_branch": left_out.off_branch,
        "no_commit": left_out.no_commit,
        "errored": left_out.errored,
        "duplicates": left_out.duplicates,
        "files": files,
    })
}

/// `history status`.
pub fn status(view: &View, overview: &Overview, mode: LookbackMode) -> Value {
    let benchmarks: Vec<Value> = overview
        .benchmarks
        .iter()
        .map(|it| {
            let deciding = it.deciding();
            let series = &view.series[deciding.series];
            let mut value = key(series);
            merge(&mut value, course(series, &deciding.course));
            value["change_machine"] = json!(series.key.machine);
            value["series"] = it.series.iter().map(|it| of_series(view, it)).collect();
            value
        })
        .collect();
    let gone: Vec<Value> = overview
        .gone
        .iter()
        .map(|&index| {
            let series = &view.series[index];
            let mut value = key(series);
            value["commit"] = json!(series.newest().commit.as_ref());
            value["value"] = json!(series.newest().best);
            value
        })
        .collect();
    json!({
        "schema_version": SCHEMA_VERSION,
        "lookback": mode.as_str(),
        "branch": view.branch,
        "reports": view.reports,
        "benchmarks": benchmarks,
        "gone": gone,
        "left_out": left_out(&view.left_out),
    })
}

fn of_series(view: &View, it: &SeriesStatus) -> Value {
    let series = &view.series[it.series];
    let mut value = key(series);
    merge(&mut value, course(series, &it.course));
    value
}

fn course(series: &Series, course: &Course) -> Value {
    json!({
        "status": course.status.as_str(),
        "reason": reason(series, course),
        "value": series.newest().best,
        "commit": series.newest().commit.as_ref(),
        "mean": course.mean,
        "z_score": course.z,
        "change_percent": course.change_percent,
        "open_since": course.open.map(|open| series.points[open.since].commit.to_string()),
        "steps": found_steps(series, course),
    })
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

/// `history show`: one series. `others` are the further series of the benchmark.
pub fn show(
    series: &Series,
    judged: &Course,
    changes: &Changes,
    mode: LookbackMode,
    others: &[&Series],
) -> Value {
    let mut value = json!({ "schema_version": SCHEMA_VERSION });
    merge(&mut value, key(series));
    merge(&mut value, course(series, judged));
    let stats = rolling(&judged.rows);
    let levels: std::collections::HashMap<usize, _> =
        changes.levels.iter().map(|level| (level.point, level)).collect();
    let points: Vec<Value> = series
        .points
        .iter()
        .zip(&stats)
        .enumerate()
        .map(|(index, (point, stats))| {
            let z =
                stats.mean_before.and_then(|mean| z_score(point.best, mean, stats.sd_before, series.better));
            let level = levels.get(&index);
            json!({
                "commit": point.commit.as_ref(),
                "timestamp": time(point.committed_at),
                "value": point.best,
                "median": point.median,
                "samples": point.samples,
                "rolling_mean": stats.mean_before,
                "rolling_sd": stats.sd_before,
                "residual": stats.residual,
                "z_score": z,
                "is_step": stats.is_step,
                "is_outlier": stats.is_outlier,
                "segment": stats.segment,
                "mark": point.said == Some(crate::history::marks::Said::Begins),
                "toolchain": point.rustc.as_ref(),
                "level": level.map(|level| level.level),
                "change_percent": level.and_then(|level| level.change_percent),
                "joined": level.map(|level| match level.joined {
                    Joined::First => "first",
                    Joined::Chained => "interleaved",
                    Joined::Sessions => "different_sessions",
                }),
            })
        })
        .collect();
    let commit = |level: usize| series.points[changes.levels[level].point].commit.to_string();
    let change_points: Vec<Value> = changes
        .changes
        .iter()
        .map(|change| {
            json!({
                "commit": commit(change.after),
                "after": commit(change.before),
                "index": change.after,
                "timestamp": time(series.points[changes.levels[change.after].point].committed_at),
                "from": change.from,
                "to": change.to,
                "change_percent": change.change_percent,
                "better": change.better,
                "provisional": change.provisional,
                "bisect": super::show::bisect_command(series, changes, change),
            })
        })
        .collect();
    value["lookback"] = json!(mode.as_str());
    value["points"] = points.into();
    value["change_points"] = change_points.into();
    value["change_point_method"] = json!({
        "method": changes.method.as_str(),
        "min_change_percent": changes.min_change * 100.0,
        "sigma": changes.sigma,
        "penalty": changes.penalty,
        "commits": changes.levels.len(),
        "spikes": changes.spikes.iter().map(|&spike| commit(spike)).collect::<Vec<_>>(),
        "not_positive": changes.not_positive,
        "older": changes.older,
    });
    value["drift_percent"] = json!(changes.drift_percent);
    value["other_series"] = others.iter().map(|other| key(other)).collect();
    value
}
