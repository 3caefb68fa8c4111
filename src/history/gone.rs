//! Which series are no longer measured: a benchmark that was removed, a metric that was turned off, a machine that was
//! retired. Their last status is a matter of the past.

use std::collections::{BTreeMap, BTreeSet};

use super::key::SeriesKey;
use super::lookback::WINDOW;
use super::series::{Series, View};
use crate::suite::identity::BenchmarkIdentity;

/// A benchmark is gone that has nothing at any of so many of the newest commits at which its machine measured its
/// package. Runs with filters, and nights at which it failed, must not let it go.
const GONE_COMMITS: usize = 10;

type Place = (i64, i64);

/// Which series of the view are gone: those of a benchmark that neither has a result, nor failed, nor was the base's own
/// program at any of the newest [`GONE_COMMITS`] commits at which its machine measured its package; and those without any
/// of that among the newest [`WINDOW`] commits of all machines. Foreign data come as they come: they let nothing go.
pub(super) fn gone(view: &View) -> Vec<bool> {
    let mut measured = Measured::default();
    for series in &view.series {
        // Older commits decide nothing.
        let mut last = None;
        let mut commits = 0;
        for point in series.points.iter().rev().filter(|point| !point.imported) {
            commits += usize::from(last.replace(point.place) != Some(point.place));
            if WINDOW < commits {
                break;
            }
            measured.note(&series.key, point.place);
        }
    }
    // A benchmark that fails, or whose program is that of the base, is there.
    for (key, place) in &view.without_number {
        raise(&mut measured.benchmarks, key, *place);
        raise(&mut measured.without_number, key, *place);
    }
    let of_all = oldest_of_newest(&measured.all, WINDOW);
    let is_gone = |series: &Series| {
        let key = &series.key;
        let commits = measured.packages.get(&package(key));
        let of_package = commits.and_then(|commits| oldest_of_newest(commits, GONE_COMMITS));
        let name = (key.machine.as_str(), &key.benchmark);
        let benchmark = measured.benchmarks.get(&name).copied();
        let without_number = measured.without_number.get(&name).copied();
        let newest = without_number.max(Some(series.newest().place));
        of_all.is_some_and(|oldest| newest < Some(oldest))
            || of_package.is_some_and(|oldest| benchmark.is_some_and(|newest| newest < oldest))
    };
    view.series.iter().map(is_gone).collect()
}

/// The commits at which something was measured here.
#[derive(Default)]
struct Measured<'a> {
    all: BTreeSet<Place>,
    /// By machine and package.
    packages: BTreeMap<(&'a str, &'a str), BTreeSet<Place>>,
    /// The newest one, by machine and benchmark.
    benchmarks: BTreeMap<(&'a str, &'a BenchmarkIdentity), Place>,
    /// The newest one at which it was there and has no number.
    without_number: BTreeMap<(&'a str, &'a BenchmarkIdentity), Place>,
}

impl<'a> Measured<'a> {
    fn note(&mut self, key: &'a SeriesKey, place: Place) {
        self.all.insert(place);
        self.packages.entry(package(key)).or_default().insert(place);
        raise(&mut self.benchmarks, key, place);
    }
}

fn raise<'a>(
    newest: &mut BTreeMap<(&'a str, &'a BenchmarkIdentity), Place>,
    key: &'a SeriesKey,
    place: Place,
) {
    let newest = newest.entry((&key.machine, &key.benchmark)).or_insert(place);
    *newest = place.max(*newest);
}

fn package(key: &SeriesKey) -> (&str, &str) {
    (&key.machine, &key.benchmark.target.package)
}

/// The oldest of so many of the newest; `None` where there are fewer.
fn oldest_of_newest(commits: &BTreeSet<Place>, count: usize) -> Option<Place> {
    commits.iter().rev().nth(count.checked_sub(1)?).copied()
}
