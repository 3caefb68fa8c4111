//! A report held against the history: each result against a baseline and the window up to it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::course::LookbackMode;
use super::facts::{Facts, PointFacts};
use super::key::SeriesKey;
use super::lookback::Row;
use super::overview::{course, is_counted};
use super::render::counted;
use super::series::{Point, Series, View};
use super::status::{Compared, MIN_EARLIER, Status, Thresholds, clears_share, compare};
use crate::suite::metric::Better;
use crate::suite::settings::word_enum;

word_enum! {
    /// What a row says; the order is that of display.
    RowStatus {
        /// Worse than its history and its baseline.
        Regressed = "regressed",
        /// The benchmark failed.
        Errored = "errored",
        /// There is a history, but of another machine, unit or build.
        NotComparable = "not_comparable",
        /// No result of the series at or before the baseline.
        MissingBaseline = "missing_baseline",
        /// Better than its history and its baseline.
        Improved = "improved",
        /// The history cannot say.
        Insufficient = "insufficient",
        /// Within the thresholds.
        Stable = "stable",
    }
}

impl RowStatus {
    /// Whether there was something to compare with.
    pub fn is_compared(self) -> bool {
        !matches!(self, Self::Errored | Self::NotComparable | Self::MissingBaseline)
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRow {
    /// The word.
    pub status: RowStatus,
    /// The benchmark.
    pub benchmark: String,
    /// The metric; empty for a benchmark that failed.
    pub metric: String,
    /// The key, where there is a result.
    pub key: Option<SeriesKey>,
    /// The contender's best unit run.
    pub contender: Option<f64>,
    /// The baseline: commit and best unit run.
    pub baseline: Option<(String, f64)>,
    /// Results up to the baseline.
    pub earlier: usize,
    /// The numbers.
    pub compared: Option<Compared>,
    /// Why it is not a plain word.
    pub reason: String,
}

/// Which commits may be a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// So many first-parent steps from the tip of the branch and older; commits that the repository does not know up to
    /// that time, in seconds since 1970.
    Depth {
        /// The steps.
        depth: u32,
        /// The time.
        time: i64,
    },
    /// Commits of up to that time, in seconds since 1970.
    Time(i64),
    /// Any.
    Newest,
}

/// How a report is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Which commits may be the baseline.
    pub until: Until,
    /// Whether results of head's own commit may be, too: head has changes that are not committed, or a baseline was named.
    pub own_commit: bool,
    /// What must be crossed.
    pub thresholds: Thresholds,
    /// How the history is looked at.
    pub mode: LookbackMode,
    /// All metrics, not only those that gate.
    pub all_metrics: bool,
}

impl Until {
    fn allows(self, point: &Point) -> bool {
        match self {
            Self::Depth { depth, time } => match point.depth {
                Some(at) => depth <= at,
                None => point.committed_at <= time,
            },
            Self::Time(time) => point.committed_at <= time,
            Self::Newest => true,
        }
    }
}

/// Compares the `head` of a report.
pub fn compare_report(report: &Facts, view: &View, rules: Rules) -> Vec<ComparedRow> {
    let head = report.revisions.iter().position(|revision| &*revision.name == "head");
    let head = head.unwrap_or(report.revisions.len().saturating_sub(1));
    let own =
        report.revisions.get(head).map(|revision| revision.commit.clone()).filter(|_| !rules.own_commit);
    let known: HashMap<&SeriesKey, &Series> =
        view.series.iter().map(|series| (&series.key, series)).collect();
    let mut rows: Vec<ComparedRow> = report
        .points
        .iter()
        .filter(|point| usize::from(point.revision) == head && (rules.all_metrics || point.gate))
        .map(|point| row(point, own.as_deref(), report, view, &known, rules))
        .collect();
    rows.extend(report.errored.iter().map(|key| ComparedRow {
        status: RowStatus::Errored,
        benchmark: key.label(),
        metric: String::new(),
        key: None,
        contender: None,
        baseline: None,
        earlier: 0,
        compared: None,
        reason: "the benchmark failed or was interrupted".to_owned(),
    }));
    rows.sort_by_key(|row| row.status);
    rows
}

fn row(
    point: &PointFacts,
    own: Option<&str>,
    report: &Facts,
    view: &View,
    known: &HashMap<&SeriesKey, &Series>,
    rules: Rules,
) -> ComparedRow {
    let mut row = ComparedRow {
        status: RowStatus::MissingBaseline,
        benchmark: point.key.label(),
        metric: point.key.metric.clone(),
        key: Some(point.key.clone()),
        contender: Some(point.best),
        baseline: None,
        earlier: 0,
        compared: None,
        reason: "no result of this series at or before the baseline".to_owned(),
    };
    let Some(series) = known.get(&point.key) else {
        let near = view.series.iter().find(|series| {
            series.key.benchmark == point.key.benchmark && series.key.metric == point.key.metric
        });
        if let Some(near) = near {
            row.status = RowStatus::NotComparable;
            row.reason = difference(&near.key, &point.key);
        }
        return row;
    };
    // The contender's own run may be in the history already; it is no part of what it is held against.
    let is_own = |it: &Point| it.result_time == report.result_time || own == Some(&*it.commit);
    let until_baseline: Vec<Point> =
        series.points.iter().filter(|it| !is_own(it) && rules.until.allows(it)).cloned().collect();
    let Some(baseline) = until_baseline.last().cloned() else { return row };
    let history = series.with_points(until_baseline);
    let rows = course(&history, rules.mode).rows;
    row.earlier = rows.len();
    row.baseline = Some((baseline.commit.to_string(), baseline.best));
    let compared = compare(&rows, baseline.best, point.best, point.better, point.floors, rules.thresholds);
    row.compared = Some(compared);
    let (status, reason) = judge(&rows, &compared, point, baseline.best, rules.mode);
    row.status = status;
    row.reason = reason;
    row
}

fn judge(
    rows: &[Row],
    compared: &Compared,
    point: &PointFacts,
    baseline: f64,
    mode: LookbackMode,
) -> (RowStatus, String) {
    if mode == LookbackMode::Steps {
        // A count that never changed is judged by itself: any change beyond the floors is one.
        let flat = compared.distribution.sd.is_none_or(|sd| sd == 0.0);
        if flat && is_counted(&point.key) {
            let mean = compared.distribution.mean.unwrap_or(baseline);
            let within = point.floors.judge(mean, point.best).within_tolerance;
            let counts = clears_share(point.best, baseline) && clears_share(point.best, mean) && !within;
            let worse = (point.best < mean) == (point.better == Better::Higher);
            let status = match (counts, worse) {
                (false, _) => RowStatus::Stable,
                (true, true) => RowStatus::Regressed,
                (true, false) => RowStatus::Improved,
            };
            return (status, "exact rule: the history has no spread".to_owned());
        }
        if rows.len() < MIN_EARLIER {
            let reason =
                format!("{} up to the baseline, {MIN_EARLIER} needed", counted(rows.len(), "result"));
            return (RowStatus::Insufficient, reason);
        }
    }
    let Some(lookback) = compared.lookback else {
        return (RowStatus::Insufficient, "the history has no spread to judge by".to_owned());
    };
    let numbers = format!(
        "z {:+.1} (limit {}), {:+.1} sd from the baseline (limit {})",
        lookback.z_score, lookback.z_threshold, lookback.baseline_z_score, lookback.baseline_z_threshold
    );
    match compared.status {
        Status::Regressed => (RowStatus::Regressed, numbers),
        Status::Improved => (RowStatus::Improved, numbers),
        _ => {
            let held_back = match () {
                () if lookback.z_score.abs() <= lookback.z_threshold => "",
                () if lookback.baseline_z_score.abs() < lookback.baseline_z_threshold => {
                    "; the baseline is off in the same way"
                }
                () if !lookback.clears_two_percent => "; within 2 % of the baseline",
                () if lookback.tolerance.within_tolerance => "; within the practical tolerance",
                () => "",
            };
            (RowStatus::Stable, format!("{numbers}{held_back}"))
        }
    }
}

fn difference(known: &SeriesKey, own: &SeriesKey) -> String {
    let parts = [
        ("machine", &known.machine, &own.machine),
        ("unit", &known.unit, &own.unit),
        ("profile", &known.profile, &own.profile),
        ("features", &known.features, &own.features),
        ("target", &known.triple, &own.triple),
    ];
    let differing: Vec<String> = parts
        .into_iter()
        .filter(|(_, known, own)| known != own)
        .map(|(what, known, own)| format!("{what} {known:?}, here {own:?}"))
        .collect();
    format!("the history is of another build or machine: {}", differing.join("; "))
}
