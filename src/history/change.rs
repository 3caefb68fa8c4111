//! Change points of a series, on interleaved ratios where there are any, and its drift from first to last.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::series::{Point, Series};
use crate::stats::change_points::{
    Binary, SIGMA_FLOOR, binary_segmentation, levels, optimal_partition, penalty, sigma,
};
use crate::suite::metric::Better;
use crate::suite::settings::word_enum;

/// The smallest change between segments by default, a ratio.
pub const MIN_CHANGE: f64 = 0.05;
/// Below so many commits the optimal partition cuts nothing.
pub const FEW: usize = 5;
/// More commits than this are not cut at once: the newest of them are.
pub const MOST: usize = 20_000;

word_enum! {
    /// How change points are found.
    Method {
        /// The exact partition of least squared error.
        Optimal = "optimal",
        /// Binary segmentation, as seed document 3 has it.
        Binary = "binary",
    }
}

impl Method {
    /// Below so many commits it cuts nothing.
    pub fn fewest(self) -> usize {
        match self {
            Self::Optimal => FEW,
            Self::Binary => 2,
        }
    }
}

/// How the level of a commit is joined to that of the commit before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The first one.
    First,
    /// By a ratio measured interleaved: drift of the machine between sessions cancels.
    Chained,
    /// By the medians of different sessions.
    Sessions,
}

/// The newest measurement of one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitLevel {
    /// Index into the points of the series.
    pub point: usize,
    /// The median.
    pub median: f64,
    /// The median carried along the chain; the first one's unit.
    pub level: f64,
    /// How it was joined.
    pub joined: Joined,
    /// The change to the commit before, in per cent.
    pub change_percent: Option<f64>,
}

/// A change of level.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangePoint {
    /// The last commit before, as an index into the levels.
    pub before: usize,
    /// The first commit after.
    pub after: usize,
    /// Geometric mean of the segment after over that of the one before, minus 1, in per cent.
    pub change_percent: f64,
    /// Geometric mean before.
    pub from: f64,
    /// Geometric mean after.
    pub to: f64,
    /// Whether it is for the better.
    pub better: bool,
    /// It rests on the newest commit alone, which a second measurement may take back.
    pub provisional: bool,
}

/// What was found in a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// The method.
    pub method: Method,
    /// The smallest change, a ratio.
    pub min_change: f64,
    /// The noise of one point, a ratio.
    pub sigma: f64,
    /// The penalty.
    pub penalty: f64,
    /// The commits, oldest first.
    pub levels: Vec<CommitLevel>,
    /// The changes, oldest first.
    pub changes: Vec<ChangePoint>,
    /// Commits that jump away and are followed by a jump back.
    pub spikes: Vec<usize>,
    /// Last segment against the first, in per cent; `None` with one segment.
    pub drift_percent: Option<f64>,
    /// Results of 0 or below, which have no logarithm.
    pub not_positive: usize,
    /// Older commits that were left aside.
    pub older: usize,
}

/// The change points of a series. `ratios` knows the interleaved ratios of a result to other commits; binary segmentation
/// is that of seed document 3 and takes the medians as they are.
pub fn changes(
    series: &Series,
    ratios: impl Fn(&Point) -> Vec<(Arc<str>, f64)>,
    method: Method,
    min_change: f64,
) -> Changes {
    let mut levels = match method {
        Method::Optimal => commit_levels(&series.points, ratios),
        Method::Binary => commit_levels(&series.points, |_| Vec::new()),
    };
    let not_positive = newest_per_commit(&series.points).len() - levels.len();
    let older = levels.len().saturating_sub(MOST);
    levels.drain(..older);
    let logs: Vec<f64> = levels.iter().map(|level| level.level.ln()).collect();
    let sigma = sigma(&logs);
    let (cuts, spikes) = match method {
        _ if logs.len() < method.fewest() => (Vec::new(), Vec::new()),
        Method::Binary => (binary_segmentation(&logs, Binary::new(min_change)).changes, Vec::new()),
        Method::Optimal => {
            let found = optimal_partition(&logs, min_change);
            (found.changes, found.spikes)
        }
    };
    let geometric = without_spikes(&logs, &cuts, &spikes);
    let changes: Vec<ChangePoint> = cuts
        .iter()
        .zip(geometric.windows(2))
        .map(|(&after, pair)| {
            let before =
                (0..after).rev().find(|index| spikes.binary_search(index).is_err()).unwrap_or(after - 1);
            ChangePoint {
                before,
                after,
                change_percent: (pair[1] / pair[0] - 1.0) * 100.0,
                from: pair[0],
                to: pair[1],
                better: (pair[1] < pair[0]) == (series.better == Better::Lower),
                provisional: after + 1 == logs.len(),
            }
        })
        .collect();
    // One result, the newest, is no level yet.
    let provisional = changes.last().is_some_and(|change| change.provisional);
    let drift_percent = match geometric[..geometric.len() - usize::from(provisional)] {
        [first, .., last] => Some((last / first - 1.0) * 100.0),
        _ => None,
    };
    Changes {
        method,
        min_change,
        sigma: if logs.len() < 2 { SIGMA_FLOOR } else { sigma },
        penalty: penalty(sigma, logs.len()),
        levels,
        changes,
        spikes,
        drift_percent,
        not_positive,
        older,
    }
}

/// The geometric mean of each segment, spikes left out.
fn without_spikes(logs: &[f64], cuts: &[usize], spikes: &[usize]) -> Vec<f64> {
    let kept: Vec<usize> = (0..logs.len()).filter(|index| spikes.binary_search(index).is_err()).collect();
    let values: Vec<f64> = kept.iter().map(|&index| logs[index]).collect();
    let cuts: Vec<usize> = cuts.iter().map(|cut| kept.partition_point(|index| index < cut)).collect();
    levels(&values, &cuts)
}

/// The newest result of each commit, in the order of commits.
fn newest_per_commit(points: &[Point]) -> Vec<usize> {
    let mut newest: HashMap<&str, usize> = HashMap::new();
    for (index, point) in points.iter().enumerate() {
        // The points of one commit are in the order of their results.
        newest.insert(&point.commit, index);
    }
    let mut newest: Vec<usize> = newest.into_values().collect();
    newest.sort_unstable();
    newest
}

/// The level of each commit, carried from one to the next.
fn commit_levels(points: &[Point], ratios: impl Fn(&Point) -> Vec<(Arc<str>, f64)>) -> Vec<CommitLevel> {
    let mut levels: Vec<CommitLevel> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    let mut of_commit: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, point) in points.iter().enumerate() {
        of_commit.entry(&point.commit).or_default().push(index);
    }
    for index in newest_per_commit(points) {
        let point = &points[index];
        if !(point.median.is_finite() && 0.0 < point.median) {
            continue;
        }
        let (level, joined) = match levels.last() {
            None => (point.median, Joined::First),
            Some(before) => {
                // The nearest commit before that was measured in one run with this one; of several such runs the newest,
                // which is the last of equals.
                let chained = of_commit[&*point.commit]
                    .iter()
                    .flat_map(|&own| ratios(&points[own]))
                    .filter_map(|(other, ratio)| place.get(&*other).map(|&at| (at, ratio)))
                    .max_by_key(|(at, _)| *at);
                match chained {
                    Some((at, ratio)) => (levels[at].level * ratio, Joined::Chained),
                    // Without a chain the level is the median to the last digit.
                    None if before.level.total_cmp(&before.median).is_eq() => {
                        (point.median, Joined::Sessions)
                    }
                    None => (before.level * (point.median / before.median), Joined::Sessions),
                }
            }
        };
        let change_percent = levels.last().map(|before| (level / before.level - 1.0) * 100.0);
        place.insert(&point.commit, levels.len());
        levels.push(CommitLevel { point: index, median: point.median, level, joined, change_percent });
    }
    levels
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::history::key::SeriesKey;
    use crate::history::tolerance::{Floors, MetricKind};
    use crate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};

    fn changes(series: &Series, method: Method, min_change: f64) -> Changes {
        super::changes(series, |_| Vec::new(), method, min_change)
    }

    fn series(points: Vec<Point>) -> Series {
        let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() };
        Series {
            key: SeriesKey {
                benchmark: BenchmarkIdentity { target, variant: String::new(), id: "t".into() },
                metric: "latency".into(),
                unit: "ns".into(),
                machine: "m".into(),
                profile: "bench".into(),
                features: String::new(),
                triple: "x".into(),
            },
            better: Better::Lower,
            gate: true,
            floors: Floors { metric_kind: MetricKind::Microbenchmark, absolute: 0.0, relative_percent: 0.0 },
            is_renamed: false,
            points,
        }
    }

    fn point(commit: usize, session: i64, median: f64) -> Point {
        Point {
            commit: format!("c{commit}").as_str().into(),
            committed_at: commit as i64,
            position: commit as i64,
            place: (commit as i64, 0),
            depth: None,
            result_time: session,
            best: median,
            median,
            samples: 8,
            report: 0,
            revision: 0,
            rustc: "".into(),
            said: None,
            marks: 0,
            reason: None,
            imported: false,
            other_toolchain: false,
        }
    }

    #[test]
    fn machine_that_changes_speed_between_sessions_makes_no_change_point_on_a_chain() {
        // Every run measures a commit and the one before; in odd sessions the machine is 20 % slower.
        let mut points = Vec::new();
        for commit in 1..30 {
            let speed = if commit % 2 == 1 { 120.0 } else { 100.0 };
            let step = |commit: usize| if commit < 20 { 1.0 } else { 1.1 };
            let (base, head) = (speed * step(commit - 1), speed * step(commit));
            points.push(point(commit - 1, commit as i64, base));
            points.push(point(commit, commit as i64, head));
        }
        points.sort_by_key(|point| (point.position, point.result_time));
        // The other result of the same session.
        let all = points.clone();
        let ratios = |point: &Point| -> Vec<(Arc<str>, f64)> {
            all.iter()
                .filter(|other| other.result_time == point.result_time && other.commit != point.commit)
                .map(|other| (other.commit.clone(), point.median / other.median))
                .collect()
        };
        let found = super::changes(&series(points), ratios, Method::Optimal, MIN_CHANGE);
        assert!(found.levels[1..].iter().all(|level| level.joined == Joined::Chained));
        let at: Vec<usize> = found.changes.iter().map(|change| change.after).collect();
        assert_eq!(at, [20]);
        // Binary segmentation takes the medians of the sessions.
        let plain = super::changes(&series(all.clone()), ratios, Method::Binary, MIN_CHANGE);
        assert!(plain.levels.iter().all(|level| level.level.total_cmp(&level.median).is_eq()));
        assert!((found.changes[0].change_percent - 10.0).abs() < 1e-9);
        assert!((found.drift_percent.expect("there are two segments") - 10.0).abs() < 1e-9);
    }

    #[test]
    fn commits_without_a_run_in_common_are_joined_by_their_medians() {
        let points = (0..6).map(|commit| point(commit, commit as i64, 100.0 + commit as f64)).collect();
        let found = changes(&series(points), Method::Optimal, MIN_CHANGE);
        assert!(found.levels[1..].iter().all(|level| level.joined == Joined::Sessions));
        assert!(found.levels.iter().all(|level| (level.level - level.median).abs() < 1e-9));
    }

    #[test]
    fn newest_result_of_a_commit_counts_and_the_newest_commit_is_provisional() {
        let mut points: Vec<Point> = (0..8).map(|commit| point(commit, 1, 100.0)).collect();
        points.push(point(8, 1, 100.0));
        points.push(point(8, 2, 130.0));
        let found = changes(&series(points), Method::Optimal, MIN_CHANGE);
        assert_eq!(found.levels.len(), 9);
        let [change] = &found.changes[..] else { panic!("{:?}", found.changes) };
        assert_eq!((change.before, change.after, change.provisional, change.better), (7, 8, true, false));
        assert_eq!(found.drift_percent, None, "a provisional level is no drift");
    }

    #[test]
    fn values_of_zero_and_below_are_left_out_and_counted() {
        let values = [100.0, 0.0, -1.0, 100.0, f64::NAN, 100.0, 100.0, 100.0];
        let points = values.iter().enumerate().map(|(commit, value)| point(commit, 1, *value)).collect();
        let found = changes(&series(points), Method::Optimal, MIN_CHANGE);
        assert_eq!((found.levels.len(), found.not_positive), (5, 3));
        assert!(changes(&series(vec![point(0, 1, 0.0)]), Method::Binary, MIN_CHANGE).levels.is_empty());
    }
    #[test]
    fn series_of_100_000_commits_is_cut_by_its_newest_ones() {
        let level = |commit: usize| if commit < 90_000 { 100.0 } else { 110.0 };
        let points = (0..100_000).map(|commit| point(commit, 1, level(commit))).collect();
        let found = changes(&series(points), Method::Binary, MIN_CHANGE);
        assert_eq!((found.older, found.levels.len()), (100_000 - MOST, MOST));
        let at: Vec<usize> = found.changes.iter().map(|change| change.after).collect();
        assert_eq!(at, [MOST - 10_000]);
    }
}
