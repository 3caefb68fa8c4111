//! The status of every benchmark: of all machines and metrics the worst, with what decided it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::course::{Course, CourseRow, LookbackMode, Why, follow};
use super::key::SeriesKey;
use super::marks::Said;
use super::parallel::in_parallel;
use super::render::counted;
use super::series::{Point, Series, View};
use super::status::{MIN_EARLIER, Status, clears_share};
use crate::report::text::{shell_word, visible};
use crate::suite::metric::{Metric, Unit};

/// The status of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesStatus {
    /// Index into the view's series.
    pub series: usize,
    /// Its course.
    pub course: Course,
}

/// The status of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkStatus {
    /// The worst of its series.
    pub status: Status,
    /// The series that set it: among equals the one that moved most.
    pub worst: usize,
    /// All series that count: of each machine and metric those measured at the latest commit.
    pub series: Vec<SeriesStatus>,
}

/// The statuses of a view.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overview {
    /// Of each benchmark that is still measured: worst first, then by name.
    pub benchmarks: Vec<BenchmarkStatus>,
    /// Series that are no longer measured, as indices into the view's: they have no status.
    pub gone: Vec<usize>,
}

/// A step that begins a segment by itself, for the list of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundStep {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// The machine.
    pub machine: String,
    /// The first commit after it.
    pub commit: String,
    /// The last measured commit before it.
    pub after: Option<String>,
    /// The change, in per cent.
    pub change_percent: Option<f64>,
    /// Whether it is for the better.
    pub better: bool,
    /// The command that takes it back.
    #[serde(skip)]
    pub unmark: String,
}

/// The command that says something of a result's commit.
fn command(verb: &str, series: &Series, point: &Point) -> String {
    // Only a commit that the repository has is found by its first digits.
    let commit = if point.depth.is_some() { short(&point.commit) } else { point.commit.to_string() };
    let label = shell_word(&series.key.label());
    visible(&format!("cargo benchgate history {verb} {label} {} --reason '…'", shell_word(&commit)))
}

/// Whether the values of a series are counts, which are equal from run to run.
pub fn is_counted(key: &SeriesKey) -> bool {
    matches!(key.metric(), Metric::Instructions | Metric::Allocations | Metric::AllocatedBytes)
        || key.unit() == Unit::Count
}

/// The course of a series.
pub fn course(series: &Series, mode: LookbackMode) -> Course {
    let rows = series.rows(mode == LookbackMode::Steps);
    let input: Vec<CourseRow> = rows
        .into_iter()
        .zip(&series.points)
        .map(|(row, point)| CourseRow {
            row,
            accepted: point.said == Some(Said::Begins),
            no_step: point.said == Some(Said::BeginsNot),
        })
        .collect();
    follow(&input, series.better, is_counted(&series.key), mode)
}

/// The status of every benchmark of the view.
pub fn statuses(view: &View, mode: LookbackMode) -> Overview {
    let is_gone = super::gone::gone(view);
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, series) in view.series.iter().enumerate() {
        groups.entry(&series.key.benchmark).or_default().push(index);
    }
    let mut counting: Vec<Vec<usize>> = Vec::new();
    let mut gone: Vec<usize> = Vec::new();
    for members in groups.into_values() {
        // A metric that is measured once a week is no less current than one that is measured every night.
        let line = |index: usize| {
            let key = &view.series[index].key;
            (key.machine.as_str(), key.metric.as_str())
        };
        let mut latest: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
        for &index in &members {
            let place = view.series[index].newest().place;
            let slot = latest.entry(line(index)).or_insert(place);
            *slot = place.max(*slot);
        }
        let is_current =
            |index: &usize| latest.get(&line(*index)) == Some(&view.series[*index].newest().place);
        let (of_the_past, current): (Vec<usize>, Vec<usize>) =
            members.into_iter().filter(is_current).partition(|&index| is_gone[index]);
        gone.extend(of_the_past);
        if !current.is_empty() {
            counting.push(current);
        }
    }
    let wanted: Vec<usize> = counting.iter().flatten().copied().collect();
    let mut courses: BTreeMap<usize, Course> =
        in_parallel(&wanted, |&index| course(&view.series[index], mode))
            .into_iter()
            .zip(&wanted)
            .map(|(course, &index)| (index, course))
            .collect();
    let mut statuses: Vec<BenchmarkStatus> = counting
        .into_iter()
        .map(|members| {
            let series: Vec<SeriesStatus> = members
                .into_iter()
                .filter_map(|index| Some(SeriesStatus { series: index, course: courses.remove(&index)? }))
                .collect();
            let moved = |it: &SeriesStatus| it.course.change_percent.map_or(-1.0, f64::abs);
            let worst = series
                .iter()
                .enumerate()
                // The first of equals, so that the answer does not hang on the order of machines.
                .rev()
                .max_by(|(_, a), (_, b)| {
                    a.course.status.cmp(&b.course.status).then(moved(a).total_cmp(&moved(b)))
                })
                .map_or(0, |(index, _)| index);
            BenchmarkStatus { status: series[worst].course.status, worst, series }
        })
        .collect();
    let order = |status: Status| match status {
        Status::Regressed => 0,
        Status::Improved => 1,
        Status::Insufficient => 2,
        Status::Stable => 3,
    };
    statuses.sort_by_key(|it| order(it.status));
    Overview { benchmarks: statuses, gone }
}

impl BenchmarkStatus {
    /// The series that set the status.
    pub fn deciding(&self) -> &SeriesStatus {
        &self.series[self.worst]
    }
}

/// The steps that begin segments by themselves in a series.
pub fn found_steps(series: &Series, course: &Course) -> Vec<FoundStep> {
    course
        .steps
        .iter()
        .map(|step| {
            let position = series.points[step.index].position;
            let before = series.points[..step.index].iter().rev().find(|point| point.position != position);
            FoundStep {
                benchmark: series.key.label(),
                metric: series.key.metric.clone(),
                machine: series.key.machine.clone(),
                commit: series.points[step.index].commit.to_string(),
                after: before.map(|point| point.commit.to_string()),
                change_percent: super::status::move_percent(step.after, Some(step.before)),
                better: step.better,
                unmark: command("unmark", series, &series.points[step.index]),
            }
        })
        .collect()
}

/// What decided a status, in words and numbers.
pub fn reason(series: &Series, course: &Course) -> String {
    let short = |index: usize| short(&series.points[index].commit);
    let z = course.z.map(|z| format!(", z {z:+.1}")).unwrap_or_default();
    match course.why {
        Why::FewResults(earlier) => format!("{}, {MIN_EARLIER} needed", counted(earlier, "earlier result")),
        Why::NoSpread => "the history has no spread to judge by".to_owned(),
        Why::TwoResults => format!("the two newest results point the same way{z}"),
        Why::Exact => {
            let value = course.rows.last().map(|row| row.value);
            let moved = value.zip(course.mean).filter(|(value, mean)| value.total_cmp(mean).is_ne());
            match moved {
                None => "no change in a history without spread (exact rule)".to_owned(),
                Some((value, mean)) if clears_share(value, mean) => {
                    "the newest result is off, in a history without spread: a second one decides".to_owned()
                }
                Some(_) => "within 2 % of the mean, in a history without spread (exact rule)".to_owned(),
            }
        }
        Why::OpenSince(index) => {
            let exact = course.open.is_some_and(|open| open.sd.is_none_or(|sd| sd == 0.0));
            let rule = if exact { " (exact rule)" } else { "" };
            let is_back = |open: super::course::Open| open.is_back(series.newest().best, series.better);
            let next = match course.open.is_some_and(is_back) {
                true => "the newest result is back, a second one closes it".to_owned(),
                false => format!("`{}` accepts it", command("mark", series, &series.points[index])),
            };
            format!("open since {}{z}{rule}; {next}", short(index))
        }
        Why::ImprovedSince(index) => format!("confirmed step at {}", short(index)),
        Why::OneResult => {
            format!("the newest result is off{z}, and the one before it is not: a second one decides")
        }
        Why::SmallMove => format!("within 2 % of the mean{z}"),
        Why::Within => format!("within the threshold{z}"),
    }
}

/// A commit as people read it: the first digits of an id, another name in full.
pub fn short(commit: &str) -> String {
    let is_id = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { commit[..10].to_owned() } else { commit.to_owned() }
}
