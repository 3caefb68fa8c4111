//! From the index to series: which results enter, in which order, and what was left out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::index::{Index, IndexedPoint, IndexedRun};
use super::key::SeriesKey;
use super::lookback::Row;
use super::marks::{About, Event, Mark, Said};
use super::places::{Place, Places, Standing};
use super::tolerance::Floors;
use crate::revision::BranchLine;
use crate::suite::metric::Better;

/// One series: results that may be compared with one another, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What makes them comparable.
    pub key: SeriesKey,
    /// The direction, by the newest result.
    pub better: Better,
    /// Whether the metric gates, by the newest result.
    pub gate: bool,
    /// The practical tolerance, by the newest result.
    pub floors: Floors,
    /// Whether older results were measured as another benchmark, metric or build, before a renaming.
    pub is_renamed: bool,
    /// The results.
    pub points: Vec<Point>,
}

/// One result of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The commit.
    pub commit: Arc<str>,
    /// The commit's time, in seconds since 1970.
    pub committed_at: i64,
    /// Its place among the commits of the history; equal for what is told apart by nothing but the result.
    pub position: i64,
    /// The same, comparable between series: larger is newer.
    pub place: (i64, i64),
    /// First-parent steps from the tip of the branch; `None` for a commit that is not in the repository.
    pub depth: Option<u32>,
    /// When it was measured. ns since 1970.
    pub result_time: i64,
    /// The best unit run.
    pub best: f64,
    /// The median of the unit runs.
    pub median: f64,
    /// Unit runs.
    pub samples: u32,
    /// The report, as an index into the index's.
    pub report: usize,
    /// The revision of that report, as an index into its revisions.
    pub revision: u8,
    /// The compiler.
    pub rustc: Arc<str>,
    /// What is said of its commit.
    pub said: Option<Said>,
    /// Why it was said.
    pub reason: Option<Arc<str>>,
    /// How many marks are in effect here. An unmark takes back the newest of them alone.
    pub marks: u32,
    /// Whether it was made from foreign data.
    pub imported: bool,
    /// Whether it was measured with another compiler than the result before.
    pub other_toolchain: bool,
}

/// What was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Results of trees with uncommitted files.
    pub dirty: usize,
    /// Results of commits that are not on the branch.
    pub off_branch: usize,
    /// Results without a commit.
    pub no_commit: usize,
    /// Benchmarks that failed or were interrupted.
    pub errored: usize,
    /// Reports of a run that another file reports too, and results of one report that another one repeats.
    pub duplicates: usize,
    /// Files that could not be used: name and reason.
    pub files: Vec<(String, String)>,
}

/// All series of a store.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// The series, by key.
    pub series: Vec<Series>,
    /// Benchmarks that are there and have no number, for they failed or are those of the base: the key of a series without
    /// metric, and the place of the commit.
    pub without_number: Vec<(SeriesKey, (i64, i64))>,
    /// What was left out of them.
    pub left_out: LeftOut,
    /// The branch whose commits count; `None` where there is no repository and commit times give the order.
    pub branch: Option<String>,
    /// Whether the branch's history ends early because the clone is shallow.
    pub is_cut: bool,
    /// Reports that were used.
    pub reports: usize,
}

/// The commits a line must be asked for.
pub fn wanted_commits<'a>(index: &'a Index, marks: &'a [Mark]) -> HashSet<&'a str> {
    let runs = index.reports.iter().filter_map(|report| report.content.as_ref().ok());
    let measured = runs.flat_map(|run| &run.revisions).map(|revision| &*revision.commit);
    measured
        .chain(marks.iter().map(|mark| mark.event.commit.as_str()))
        .filter(|commit| !commit.is_empty())
        .collect()
}

impl View {
    /// The series of an index. `keep` selects; `line` is the branch, `None` outside a repository.
    pub fn new(
        index: &Index,
        line: Option<&BranchLine>,
        marks: &[Mark],
        keep: impl Fn(usize, &SeriesKey) -> bool,
    ) -> Self {
        let mut view = Self {
            branch: line.map(|line| line.name.clone()),
            is_cut: line.is_some_and(|line| line.is_cut),
            ..Self::default()
        };
        let kept: Vec<bool> = index.keys.iter().enumerate().map(|(number, key)| keep(number, key)).collect();
        let places = Places::new(line);
        let mut by_key: Vec<Vec<Point>> = vec![Vec::new(); index.keys.len()];
        let mut runs = HashSet::new();
        let mut known: HashMap<SameResult, usize> = HashMap::new();
        let mut at_time: HashMap<i64, usize> = HashMap::new();
        for run in index.reports.iter().filter_map(|report| report.content.as_ref().ok()) {
            *at_time.entry(run.result_time).or_default() += 1;
        }
        let marks: Vec<About<'_>> = marks.iter().map(|mark| mark.event.about()).collect();
        for (number, report) in index.reports.iter().enumerate() {
            let run = match &report.content {
                Ok(run) => run,
                Err(why) => {
                    view.left_out.files.push((report.file.name.clone(), why.clone()));
                    continue;
                }
            };
            if !runs.insert(run.run) {
                view.left_out.duplicates += 1;
                continue;
            }
            view.reports += 1;
            view.left_out.errored += run.errored.len();
            let standing: Vec<Standing> =
                run.revisions.iter().map(|revision| places.standing(run, revision)).collect();
            let newest = standing.iter().filter_map(Standing::place).max();
            if let Some(place) = newest {
                let keys =
                    run.errored.iter().chain(&run.unmeasured).map(|&key| index.keys[key as usize].clone());
                view.without_number.extend(keys.map(|key| (key, place.in_all_series())));
            }
            let mut repeated = false;
            for point in &run.points {
                if !kept[point.key as usize] {
                    continue;
                }
                // A report that was made again with more in it, or joined from shards, repeats results of another file.
                let may_repeat = 1 < at_time[&run.result_time];
                if may_repeat && *known.entry(SameResult::new(run, point)).or_insert(number) != number {
                    repeated = true;
                    continue;
                }
                match standing[usize::from(point.revision)] {
                    Standing::Dirty => view.left_out.dirty += 1,
                    Standing::OffBranch => view.left_out.off_branch += 1,
                    Standing::NoCommit => view.left_out.no_commit += 1,
                    Standing::At(place) => {
                        by_key[point.key as usize].push(to_point(run, point, place, number));
                    }
                }
            }
            view.left_out.duplicates += usize::from(repeated);
        }
        view.series = by_key
            .into_iter()
            .enumerate()
            .filter(|(_, points)| !points.is_empty())
            .map(|(number, points)| series(index, number, points, &places, &marks))
            .collect();
        view.series.sort_by(|a, b| a.key.cmp(&b.key));
        view
    }
}

/// What two results have in common only when they are one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct SameResult {
    key: u32,
    commit: Arc<str>,
    result_time: i64,
    seed: u64,
    best: u64,
    median: u64,
    samples: u32,
}

impl SameResult {
    fn new(run: &IndexedRun, point: &IndexedPoint) -> Self {
        Self {
            key: point.key,
            commit: run.revisions[usize::from(point.revision)].commit.clone(),
            result_time: run.result_time,
            seed: run.seed,
            best: point.best.to_bits(),
            median: point.median.to_bits(),
            samples: point.samples,
        }
    }
}

fn to_point(run: &IndexedRun, point: &IndexedPoint, place: Place, report: usize) -> Point {
    Point {
        commit: run.revisions[usize::from(point.revision)].commit.clone(),
        committed_at: place.committed_at,
        position: 0,
        place: place.in_all_series(),
        depth: place.depth,
        result_time: run.result_time,
        best: point.best,
        median: point.median,
        samples: point.samples,
        report,
        revision: point.revision,
        rustc: run.rustc.clone(),
        said: None,
        reason: None,
        marks: 0,
        imported: run.imported,
        other_toolchain: false,
    }
}

/// The ratios of a result to the other commits of its report, as (commit, median here / median there): these were measured
/// in turn, so their ratios are free of drift. The series is named by its number among the keys of the index.
pub fn interleaved(index: &Index, number: u32, point: &Point) -> Vec<(Arc<str>, f64)> {
    let Ok(run) = &index.reports[point.report].content else { return Vec::new() };
    let sides = run.of_series(number);
    let Some(own) = sides.iter().find(|it| it.revision == point.revision) else { return Vec::new() };
    sides
        .iter()
        .map(|other| (&run.revisions[usize::from(other.revision)], own.median / other.median))
        .filter(|(other, ratio)| {
            !other.dirty
                && !other.commit.is_empty()
                && other.commit != point.commit
                && ratio.is_finite()
                && 0.0 < *ratio
        })
        .map(|(other, ratio)| (other.commit.clone(), ratio))
        .collect()
}

fn series(
    index: &Index,
    number: usize,
    mut points: Vec<Point>,
    places: &Places,
    marks: &[About<'_>],
) -> Series {
    let key = &index.keys[number];
    points.sort_by_key(|point| (point.place, point.result_time));
    // Commits of one second stay two where the line tells them apart.
    let mut position = 0;
    for later in 1..points.len() {
        position += i64::from(points[later].place != points[later - 1].place);
        points[later].position = position;
        points[later].other_toolchain = points[later].rustc != points[later - 1].rustc;
    }
    say(&mut points, places, marks.iter().filter(|mark| index.names(number).any(|name| mark.is(name))));
    let newest = points.last().expect("a series is made of the points it has");
    let run = index.reports[newest.report].content.as_ref().expect("a point comes from a run that was read");
    let newest = run
        .points
        .iter()
        .find(|point| point.key as usize == number && point.revision == newest.revision)
        .expect("a point comes from this run");
    let program = |key: &SeriesKey| {
        (key.benchmark.clone(), key.metric.clone(), key.profile.clone(), key.features.clone())
    };
    Series {
        key: key.clone(),
        better: newest.better,
        gate: newest.gate,
        floors: newest.floors,
        is_renamed: index.names(number).any(|name| program(name) != program(key)),
        points,
    }
}

/// Gives the results what the events, in their order, say of their commits. An unmark is the inverse of the mark before
/// it: what was said before that mark counts again. Without one it says that nothing begins there.
fn say<'a>(points: &mut [Point], places: &Places, events: impl Iterator<Item = &'a About<'a>>) {
    let mut said: BTreeMap<i64, Vec<&Event>> = BTreeMap::new();
    for event in events.map(|about| about.event) {
        let exact = points.iter().position(|point| *point.commit == *event.commit);
        // A commit that was not measured: the change shows at the first one after it that was.
        let after = || {
            let at = places.of(&event.commit)?;
            points.iter().position(|point| point.depth.is_some_and(|depth| Some(depth) <= at.depth))
        };
        let Some(at) = exact.or_else(after) else { continue };
        let there = said.entry(points[at].position).or_default();
        let takes_back = event.says() == Said::BeginsNot
            && there.last().is_some_and(|before| before.says() == Said::Begins);
        if takes_back {
            there.pop();
        } else {
            there.push(event);
        }
    }
    for point in points {
        let Some(there) = said.get(&point.position) else { continue };
        point.said = there.last().map(|event| event.says());
        point.reason = there.last().map(|event| event.reason.as_str().into());
        point.marks = there.iter().filter(|event| event.says() == Said::Begins).count() as u32;
    }
}

impl Series {
    /// The rows of the lookback. Without `segments` only marks begin a distribution; with them a changed toolchain does so
    /// too.
    pub fn rows(&self, segments: bool) -> Vec<Row> {
        // A mark moves its whole commit once, however many results that has.
        let mut begun = None;
        self.points
            .iter()
            .map(|point| {
                let marked =
                    point.said == Some(Said::Begins) && begun.replace(point.position) != Some(point.position);
                Row {
                    position: point.position,
                    result_time: point.result_time,
                    value: point.best,
                    begins: marked
                        || (segments && point.other_toolchain && point.said != Some(Said::BeginsNot)),
                }
            })
            .collect()
    }

    /// The same series with these results.
    pub fn with_points(&self, points: Vec<Point>) -> Self {
        Self {
            key: self.key.clone(),
            better: self.better,
            gate: self.gate,
            floors: self.floors,
            is_renamed: self.is_renamed,
            points,
        }
    }

    /// Where the newest result stands.
    pub fn newest(&self) -> &Point {
        self.points.last().expect("a series is made of the points it has")
    }
}
