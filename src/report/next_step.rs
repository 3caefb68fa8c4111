//! What to do next about a run: one sentence, and the command to type.

use crate::suite::identity::TargetKind;
use crate::suite::settings::SampleCount;
use crate::verdict::evidence::ErrorKind;
use crate::verdict::outcome::{BenchResult, BudgetStatus, Verdict};

use super::escape::{glob, shell_word};
use super::model::{Benchmark, Report, Revision};
use super::rows::{Row, Source};
use super::samples_csv::SAMPLES;
use super::wording;

/// So many benchmarks are named in a command; of more, their targets are.
const MOST_FILTERS: usize = 3;

/// So many times twice the usual samples are more than anybody will wait for.
const OUT_OF_REACH: u32 = 5;

/// What to do, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// What the command is for. No markup, and no text from outside.
    pub what: String,
    /// The command, as it can be pasted into a POSIX shell.
    pub command: String,
}

/// The next step; `None` of a run that leaves nothing to do, and of samples from elsewhere, which no command of ours made.
pub fn next_step(report: &Report, rows: &[Row<'_>]) -> Option<NextStep> {
    if report.benchmarks.iter().any(|benchmark| benchmark.harness == SAMPLES) {
        return None;
    }
    let of = |result| report.benchmarks.iter().filter(|it| it.result == result).collect::<Vec<_>>();
    let broken = of(BenchResult::Error);
    if let Some(first) = broken.first() {
        return Some(after_error(report, first, &broken));
    }
    let missing = of(BenchResult::MetricError);
    if !missing.is_empty() {
        let what = "measure again, and see every command and its output";
        return Some(step(report, what, &missing, &["-vv".to_owned()]));
    }
    let failing: Vec<&Benchmark> =
        report.benchmarks.iter().filter(|it| it.result == BenchResult::Regression).collect();
    if !failing.is_empty() {
        let what = "measure the slower benchmarks again, and see their samples as plots";
        return Some(step(report, what, &failing, &["--verbose".to_owned()]));
    }
    let over: Vec<&Benchmark> = report
        .benchmarks
        .iter()
        .filter(|it| it.budgets.iter().any(|budget| budget.status == BudgetStatus::Fail))
        .collect();
    if !over.is_empty() {
        let what = "measure what is over budget again, and see its samples";
        return Some(step(report, what, &over, &["--verbose".to_owned()]));
    }
    let mut unsure: Vec<&Benchmark> = Vec::new();
    let is_open = |row: &&Row<'_>| match row.source {
        Source::Comparison(it) => it.gate && it.derived_from.is_none() && it.verdict == Verdict::Inconclusive,
        _ => false,
    };
    for row in rows.iter().filter(is_open) {
        if !unsure.iter().any(|known| std::ptr::eq(*known, row.benchmark)) {
            unsure.push(row.benchmark);
        }
    }
    (!unsure.is_empty()).then(|| match more_samples(&unsure) {
        Some(samples) => {
            let what = "take more samples of what stayed inconclusive (other ways out are listed below)";
            // A fixed number: the settled rule has no looks beyond its last one, and refuses to go there.
            step(report, what, &unsure, &["--samples".to_owned(), samples.to_string()])
        }
        None => {
            let what = "more samples will not settle this: see which limits this machine can hold, or use a quieter one";
            let command = command("aa", &unsure, Vec::new(), &[]);
            NextStep { what: what.to_owned(), command }
        }
    })
}

/// Twice the samples, or what would settle all; `None` where that is out of reach.
fn more_samples(unsure: &[&Benchmark]) -> Option<u32> {
    let needed = unsure.iter().flat_map(|it| &it.comparisons).filter_map(|it| it.samples_needed).max();
    let most = unsure.iter().map(|it| match it.settings.sampling.samples {
        SampleCount::Fixed(count) | SampleCount::Adaptive { max: count, .. } => count,
    });
    let doubled = most.max().unwrap_or(60).saturating_mul(2);
    let wanted = needed.unwrap_or(doubled).max(doubled);
    // A round holds two runs of every revision.
    let even = wanted.checked_next_multiple_of(2)?;
    (even <= doubled.saturating_mul(OUT_OF_REACH)).then_some(even)
}

fn after_error(report: &Report, first: &Benchmark, broken: &[&Benchmark]) -> NextStep {
    let kind = first.error.as_ref().map(|error| error.kind);
    if kind == Some(ErrorKind::BuildFailed) {
        let mut words = vec!["cargo".to_owned(), "bench".to_owned(), "--no-run".to_owned()];
        words.extend(package(first).into_iter().flatten());
        if first.identity.target.kind == TargetKind::Bench {
            words.extend(flag("--bench", &first.identity.target.target).into_iter().flatten());
        }
        return NextStep { what: "make it build".to_owned(), command: words.join(" ") };
    }
    step(report, "run what failed again, and see every command and its output", broken, &["-vv".to_owned()])
}

/// The same comparison of some benchmarks alone.
fn step(report: &Report, what: &str, benchmarks: &[&Benchmark], more: &[String]) -> NextStep {
    let mut revisions = Vec::new();
    for (name, default) in [("base", ""), ("head", "worktree")] {
        let revision = report.revisions.iter().find(|revision| revision.name == name);
        if let Some(word) = revision.and_then(spec).filter(|word| word != default) {
            revisions.extend(flag(&format!("--{name}"), &word).into_iter().flatten());
        }
    }
    let verb = if wording::is_alone(report) { "run" } else { "" };
    NextStep { what: what.to_owned(), command: command(verb, benchmarks, revisions, more) }
}

/// The command of a verb on some benchmarks.
fn command(verb: &str, benchmarks: &[&Benchmark], revisions: Vec<String>, more: &[String]) -> String {
    let mut words = vec!["cargo".to_owned(), "benchgate".to_owned()];
    words.extend(Some(verb.to_owned()).filter(|verb| !verb.is_empty()));
    words.extend(revisions);
    let mut named: Vec<Vec<String>> = Vec::new();
    let mut push = |flag: Option<Vec<String>>| match flag {
        Some(flag) if !named.contains(&flag) => named.push(flag),
        _ => {}
    };
    benchmarks.iter().for_each(|it| push(package(it)));
    let benches = benchmarks.iter().filter(|it| it.identity.target.kind == TargetKind::Bench);
    // A program of another kind is not selected by its target's name.
    if benches.clone().count() == benchmarks.len() {
        benches.for_each(|it| push(flag("--bench", &glob(&it.identity.target.target))));
    }
    let filters: Vec<_> = benchmarks.iter().map(|it| flag("--filter", &glob(&it.identity.id))).collect();
    if filters.len() <= MOST_FILTERS && filters.iter().all(Option::is_some) {
        filters.into_iter().for_each(push);
    }
    words.extend(named.into_iter().flatten());
    words.extend_from_slice(more);
    words.join(" ")
}

/// How to name a revision so that it is this one again: its commit, where nothing uncommitted is part of it.
fn spec(revision: &Revision) -> Option<String> {
    let commit = revision.commit.as_ref().filter(|_| !revision.dirty);
    Some(commit.map_or_else(|| revision.spec.clone(), |commit| commit.chars().take(12).collect()))
}

fn package(benchmark: &Benchmark) -> Option<Vec<String>> {
    flag("-p", &benchmark.identity.target.package)
}

/// A flag with its value; `None` where that cannot be written.
fn flag(name: &str, value: &str) -> Option<Vec<String>> {
    Some(vec![name.to_owned(), shell_word(value)?])
}
