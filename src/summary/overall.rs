//! From all comparisons of a run to its summary.

use crate::suite::identity::labels;
use crate::suite::metric::{Better, Metric, Unit};
use crate::verdict::Judged;
use crate::verdict::evidence::Evidence;
use crate::verdict::outcome::{Comparison, Reason, Verdict};

use super::change::{Change, Direction, significant, threshold};
use super::label::{Certainty, Label, certainty_by_count, certainty_by_magnitude, label};
use super::model::{Flagged, GroupSummary, Overall, SummarySettings, Worst};
use super::{impact, shift};

/// One comparison that may vote.
struct Row<'a> {
    benchmark: usize,
    group: &'a str,
    comparison: &'a Comparison,
    change: Option<Change>,
    /// The chance of its interval to exclude 0 when nothing changed.
    error: f64,
}

/// The summary of each revision that was compared with base, `head` first; empty where nothing was compared. `evidence` and
/// `judged` are in one order.
pub fn overall(evidence: &[Evidence], judged: &[Judged], settings: SummarySettings) -> Vec<Overall> {
    let labels = labels(evidence.iter().map(|evidence| &evidence.identity));
    let mut revisions: Vec<&str> = Vec::new();
    for comparison in judged.iter().flat_map(|judged| &judged.comparisons) {
        if !revisions.contains(&comparison.head_revision.as_str()) {
            revisions.push(&comparison.head_revision);
        }
    }
    revisions.sort_by_key(|name| *name != "head");
    let of = |revision: &&str| of_revision(revision, evidence, judged, &labels, settings);
    revisions.iter().filter_map(of).collect()
}

fn of_revision(
    revision: &str,
    evidence: &[Evidence],
    judged: &[Judged],
    labels: &[String],
    settings: SummarySettings,
) -> Option<Overall> {
    let all = || {
        judged.iter().enumerate().flat_map(|(benchmark, judged)| {
            let own = judged.comparisons.iter().filter(|it| {
                it.head_revision == revision && it.derived_from.is_none() && it.verdict != Verdict::Skipped
            });
            own.map(move |comparison| (benchmark, judged.group.as_str(), comparison))
        })
    };
    let any_gated = all().any(|(_, _, comparison)| comparison.gate);
    let mut rows: Vec<Row<'_>> = all()
        .filter(|(_, _, comparison)| comparison.gate || !any_gated)
        .map(|(benchmark, group, comparison)| Row {
            benchmark,
            group,
            comparison,
            change: significant(comparison, settings.min_change_percent),
            error: error(&evidence[benchmark], comparison),
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    // In one order, so that the same rows give the same sum however they are listed.
    let mut errors: Vec<f64> = rows.iter().map(|row| row.error).collect();
    errors.sort_by(f64::total_cmp);
    let expected_by_chance: f64 = errors.iter().sum();
    let by_chance = take_the_vote_of_chance(&mut rows, expected_by_chance);
    let rows = rows;
    let changes: Vec<Change> = rows.iter().filter_map(|row| row.change).collect();
    let whole = label(&changes);
    let flagged = flagged(&changes);
    let doubled = |row: &&Row<'_>| {
        let needed = 2.0 * threshold(row.comparison, settings.min_change_percent);
        row.change.is_some() && row.comparison.change_percent.is_none_or(|change| needed <= change.abs())
    };
    let named = |row: &Row<'_>| Worst {
        benchmark: labels[row.benchmark].clone(),
        metric: row.comparison.metric.clone(),
        change_percent: row.comparison.change_percent,
    };
    Some(Overall {
        revision: revision.to_owned(),
        label: whole,
        mostly: mostly(whole, flagged),
        certainty: certainty(&rows, &changes, expected_by_chance),
        certainty_by_count: certainty_by_count(&changes),
        label_by_significance: match (0 < flagged.regressions, 0 < flagged.improvements) {
            (false, false) => Label::Unchanged,
            (true, false) => Label::Regression,
            (false, true) => Label::Improvement,
            (true, true) => Label::Mixed,
        },
        rows: rows.len(),
        flagged,
        by_chance,
        expected_by_chance,
        noteworthy: rows.iter().filter(doubled).count(),
        magnitude: changes.iter().map(|change| change.magnitude).max(),
        worst: extreme(&rows, Direction::Regression, labels).map(named),
        best: extreme(&rows, Direction::Improvement, labels).map(named),
        groups: groups(&rows, whole),
        shift: shift::shift(&times(&rows), settings.min_change_percent),
        impact: impact_of(&rows, all(), settings),
    })
}

fn error(evidence: &Evidence, comparison: &Comparison) -> f64 {
    match comparison.reason {
        Some(Reason::Exact | Reason::FromZero) => 0.0,
        _ if comparison.ci_low_percent.is_none() => 0.0,
        _ => 1.0 - evidence.settings.judge.confidence,
    }
}

fn flagged(changes: &[Change]) -> Flagged {
    let of = |direction| changes.iter().filter(|change| change.direction == direction).count();
    Flagged { regressions: of(Direction::Regression), improvements: of(Direction::Improvement) }
}

/// The kind that at least two thirds of a mixed set are of.
fn mostly(label: Label, flagged: Flagged) -> Option<Direction> {
    let Flagged { regressions, improvements } = flagged;
    match label {
        Label::Mixed if 2 * improvements <= regressions => Some(Direction::Regression),
        Label::Mixed if 2 * regressions <= improvements => Some(Direction::Improvement),
        _ => None,
    }
}

/// Whether the gate itself is sure of the row's change.
fn is_decided(row: &Row<'_>) -> bool {
    matches!(row.comparison.verdict, Verdict::Regression | Verdict::Improved)
}

/// Where the gate is sure of some changes, and the others are no more than chance makes, only the sure ones vote. Gives the
/// number of those that lost their vote.
fn take_the_vote_of_chance(rows: &mut [Row<'_>], expected: f64) -> usize {
    let changed = |row: &&mut Row<'_>| row.change.is_some();
    let (decided, open): (Vec<_>, Vec<_>) = rows.iter_mut().filter(changed).partition(|row| is_decided(row));
    if decided.is_empty() || expected < open.len() as f64 {
        return 0;
    }
    let count = open.len();
    open.into_iter().for_each(|row| row.change = None);
    count
}

/// By magnitude. As many changes as chance makes are a maybe, unless the gate is sure of one; changes that the gate cannot
/// tell are probable at most; changes that are all of one group and one kind are no chance, and at least probable.
fn certainty(rows: &[Row<'_>], changes: &[Change], expected: f64) -> Certainty {
    let changed = || rows.iter().filter(|row| row.change.is_some());
    if changes.len() as f64 <= expected && !changed().any(is_decided) {
        return Certainty::Maybe;
    }
    let untold = changed().all(|row| row.comparison.verdict == Verdict::Inconclusive);
    let certainty = match certainty_by_magnitude(changes) {
        Certainty::Definitely if untold => Certainty::Probably,
        certainty => certainty,
    };
    let first = changed().next().map(|row| row.group);
    let concentrated = 3 <= changes.len()
        && changes.iter().all(|change| change.direction == changes[0].direction)
        && changed().all(|row| Some(row.group) == first)
        && rows.iter().any(|row| Some(row.group) != first);
    if concentrated { certainty.max(Certainty::Probably) } else { certainty }
}

/// The row that changed most; of equals the first by name.
fn extreme<'a, 'b>(rows: &'a [Row<'b>], direction: Direction, labels: &[String]) -> Option<&'a Row<'b>> {
    let size = |row: &Row<'_>| row.comparison.change_percent.map_or(f64::INFINITY, f64::abs);
    let by_name = |a: &Row<'_>, b: &Row<'_>| {
        labels[a.benchmark]
            .cmp(&labels[b.benchmark])
            .then_with(|| a.comparison.metric.cmp(&b.comparison.metric))
    };
    let of_kind = rows.iter().filter(|row| row.change.is_some_and(|change| change.direction == direction));
    of_kind.max_by(|a, b| size(a).total_cmp(&size(b)).then_with(|| by_name(b, a)))
}

fn groups(rows: &[Row<'_>], whole: Label) -> Vec<GroupSummary> {
    let mut by_group: std::collections::BTreeMap<&str, Vec<&Row<'_>>> = std::collections::BTreeMap::new();
    for row in rows {
        by_group.entry(row.group).or_default().push(row);
    }
    let summarise = |(group, rows): (&str, Vec<&Row<'_>>)| {
        let changes: Vec<Change> = rows.iter().filter_map(|row| row.change).collect();
        let (label, flagged) = (label(&changes), flagged(&changes));
        GroupSummary {
            group: group.to_owned(),
            label,
            mostly: mostly(label, flagged),
            certainty: certainty_by_magnitude(&changes),
            rows: rows.len(),
            flagged,
            disagrees: label != whole && label != Label::Unchanged,
        }
    };
    by_group.into_iter().map(summarise).collect()
}

/// The changes of time as ln(head / base).
fn times(rows: &[Row<'_>]) -> Vec<f64> {
    let of_time = rows.iter().filter(|row| row.comparison.unit == Unit::Nanoseconds);
    let logs = of_time.filter_map(|row| Some((row.comparison.change_percent? / 100.0).ln_1p()));
    logs.filter(|log| log.is_finite()).collect()
}

/// Each benchmark counts once: by its latency, else by the first row that votes. Only a row that changed, and
/// that the gate could tell, may stand for the run alone; the mean is over all.
fn impact_of<'a>(
    rows: &[Row<'a>],
    all: impl Iterator<Item = (usize, &'a str, &'a Comparison)>,
    settings: SummarySettings,
) -> Option<super::Impact> {
    let mut of_benchmark: std::collections::BTreeMap<usize, &Comparison> = std::collections::BTreeMap::new();
    for row in rows {
        of_benchmark.entry(row.benchmark).or_insert(row.comparison);
    }
    for (benchmark, _, comparison) in all.filter(|(_, _, it)| it.metric == Metric::Latency) {
        of_benchmark.insert(benchmark, comparison);
    }
    let (mut sure, mut every, mut excluded) = (Vec::new(), Vec::new(), 0);
    for comparison in of_benchmark.into_values() {
        let Some(speed) = speed_impact(comparison) else {
            excluded += 1;
            continue;
        };
        every.push(speed);
        let told = comparison.verdict != Verdict::Inconclusive;
        if told && significant(comparison, settings.min_change_percent).is_some() {
            sure.push(speed);
        }
    }
    impact::report(&sure, &every, excluded, settings.impact_percent / 100.0)
}

/// The comparison as a change of speed: what it costs, turned over.
fn speed_impact(comparison: &Comparison) -> Option<f64> {
    let ratio = comparison.change_percent? / 100.0;
    let impact = match comparison.better {
        Better::Lower => impact::of_times(1.0, 1.0 + ratio),
        Better::Higher => impact::of_times(1.0 + ratio, 1.0),
    };
    impact.filter(|impact| impact.is_finite())
}
