//! What a bisect came to: its model, its JSON and its text.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::decide::{Finding, LOOK_ERROR};
use crate::error::ExitCode;
use crate::report::text::{shell_word, visible};
use crate::revision::Commit;
use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::Metric;
use crate::verdict::outcome::Verdict;

/// A whole bisect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BisectReport {
    /// The version of the schema.
    pub schema_version: u32,
    /// `bisect`.
    pub command: String,
    /// The benchmark.
    pub benchmark: Option<BenchmarkIdentity>,
    /// The metric.
    pub metric: Option<Metric>,
    /// The change from good to bad below which there is nothing to find, in per cent.
    pub threshold_percent: f64,
    /// The good end.
    pub good: NamedCommit,
    /// The bad end.
    pub bad: NamedCommit,
    /// Commits after the good end, up to and including the bad one.
    pub commits: usize,
    /// The change from good to bad.
    pub effect: Option<Change>,
    /// The probes, in the order they were made.
    pub probes: Vec<Probe>,
    /// The chance that at least one of them turned the wrong way, at the most.
    pub wrong_turn_at_most: f64,
    /// The answer.
    pub answer: Answer,
    /// The same of the side branches of a merge that is the answer and was opened, in the order they were walked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<BisectReport>,
}

/// A commit for people and machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCommit {
    /// Full id.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
}

impl From<&Commit> for NamedCommit {
    fn from(commit: &Commit) -> Self {
        Self { commit: commit.id.as_str().to_owned(), subject: commit.subject.clone() }
    }
}

/// A judged change between two commits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The verdict.
    pub verdict: Verdict,
    /// In per cent of the earlier one; `None` from 0.
    pub percent: Option<f64>,
    /// Ends of its interval.
    pub ci_low_percent: Option<f64>,
    /// Ends of its interval.
    pub ci_high_percent: Option<f64>,
}

/// One probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The commit.
    #[serde(flatten)]
    pub commit: NamedCommit,
    /// How many commits of the line after the good end it is.
    #[serde(default)]
    pub place: usize,
    /// The metric it was told by.
    #[serde(default)]
    pub metric: Option<Metric>,
    /// What it said.
    #[serde(flatten)]
    pub finding: Finding,
    /// Its change against the good end, in per cent.
    pub change_percent: Option<f64>,
    /// Where it lies: 0 at the good end, 1 at the bad end.
    pub share: Option<f64>,
    /// Rounds of its last look.
    pub rounds: usize,
    /// How often it was looked at: each time with twice the rounds.
    pub looks: u32,
}

/// What a bisect came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer {
    /// One commit.
    Found {
        /// The first one that is like the bad end.
        first: NamedCommit,
        /// The commit before it.
        parent: NamedCommit,
        /// The change from its parent to it, measured once more.
        step: Option<Change>,
        /// Whether that step is at least half of the whole effect: yes, no, or not told.
        confirmed: Option<bool>,
        /// Why that could not be measured, or why it cannot be this commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// For a merge: the ends of what it brought in.
        merged: Vec<[NamedCommit; 2]>,
    },
    /// Several commits, none of which could be told apart.
    Between {
        /// The last one known to be fast.
        after: NamedCommit,
        /// Those it may be, the last of them known to be slow.
        candidates: Vec<NamedCommit>,
    },
    /// Bad is not slower than good by the threshold.
    NothingToFind {
        /// Why, for people.
        why: String,
    },
    /// The ends could not be told apart, or not be measured.
    Undecided {
        /// Why, and what to try.
        why: String,
    },
}

impl Answer {
    /// The exit status: 0 found, 3 nothing to find, 4 not told.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Found { .. } => ExitCode::Success,
            Self::NothingToFind { .. } => ExitCode::Usage,
            Self::Between { .. } | Self::Undecided { .. } => ExitCode::Execution,
        }
    }
}

/// The chance of at least one wrong turn in these probes, at the most (Bonferroni over all looks).
pub fn wrong_turn_at_most(probes: &[Probe]) -> f64 {
    probes.iter().map(|probe| f64::from(probe.looks) * LOOK_ERROR).sum::<f64>().min(1.0)
}

/// The report as JSON.
pub fn json(report: &BisectReport) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("every field has a form in JSON");
    text.push('\n');
    text
}

/// The report for people: the answer last, where the eye is.
pub fn terminal(report: &BisectReport) -> String {
    let mut text = String::new();
    let what = report.benchmark.as_ref().map_or_else(String::new, |benchmark| visible(&benchmark.label()));
    let metric =
        report.metric.as_ref().map_or_else(String::new, |metric| format!(", {}", visible(metric.name())));
    let _ = writeln!(
        text,
        "{what}{metric}: {} to {}, {}",
        named(&report.good),
        named(&report.bad),
        plural(report.commits, "commit")
    );
    if let Some(effect) = &report.effect {
        let _ = writeln!(text, "whole change: {}", change(effect));
    }
    for probe in &report.probes {
        let _ = writeln!(text, "  {}", probe_line(probe));
    }
    if !report.probes.is_empty() {
        let _ = writeln!(
            text,
            "chance of a wrong turn in {}: at most {:.1} %",
            plural(report.probes.len(), "probe"),
            report.wrong_turn_at_most * 100.0
        );
    }
    text.push('\n');
    answer(report, &mut text);
    for inner in &report.opened {
        let _ = writeln!(text, "\ninside the merge:\n");
        text.push_str(&terminal(inner));
    }
    text
}

/// One probe in a line.
pub fn probe_line(probe: &Probe) -> String {
    let percent =
        probe.change_percent.map(|percent| format!(", {percent:+.1} % against good")).unwrap_or_default();
    match &probe.finding {
        Finding::Fast => format!("fast       {}{percent}", named(&probe.commit)),
        Finding::Slow => format!("slow       {}{percent}", named(&probe.commit)),
        Finding::Undecided => {
            format!("undecided  {}{percent}, {} rounds", named(&probe.commit), probe.rounds)
        }
        Finding::Skipped { why } => format!("skipped    {}: {}", named(&probe.commit), first_line(why)),
    }
}

fn answer(report: &BisectReport, text: &mut String) {
    match &report.answer {
        Answer::Found { first, parent, step, confirmed, why, merged } => {
            if let Some(step) = step {
                let _ = writeln!(
                    text,
                    "its own change, measured against {}: {}",
                    short(&parent.commit),
                    change(step)
                );
            }
            if let Some(why) = why {
                let _ =
                    writeln!(text, "not confirmed against {}: {}", short(&parent.commit), first_line(why));
            }
            if *confirmed == Some(false) && step.is_some() {
                let _ = writeln!(
                    text,
                    "that is less than half of the whole change, so it is spread over several commits; the largest steps seen:"
                );
                for line in largest_steps(report) {
                    let _ = writeln!(text, "  {line}");
                }
            }
            if confirmed.is_none() && step.is_some() {
                let _ = writeln!(
                    text,
                    "whether that is at least half of the whole change could not be told; a quieter machine, or more --samples, would"
                );
            }
            for [from, to] in merged.iter().filter(|_| report.opened.is_empty()) {
                let _ = writeln!(
                    text,
                    "it is a merge; to look into what it brought in: cargo benchgate bisect {} {} {}",
                    asked(report),
                    short(&from.commit),
                    short(&to.commit)
                );
            }
            let _ = writeln!(text, "first slow commit: {} {}", first.commit, visible(&first.subject));
        }
        Answer::Between { after, candidates } => {
            let _ = writeln!(
                text,
                "the first slow commit is one of these after {}; none between could be told:",
                named(after)
            );
            for candidate in candidates {
                let _ = writeln!(text, "  {} {}", candidate.commit, visible(&candidate.subject));
            }
        }
        Answer::NothingToFind { why } | Answer::Undecided { why } => {
            let _ = writeln!(text, "{}", visible(why));
        }
    }
}

/// The largest steps between neighbouring measured commits, the largest first.
fn largest_steps(report: &BisectReport) -> Vec<String> {
    let whole = report.effect.as_ref().and_then(|effect| effect.percent);
    let mut probes: Vec<&Probe> = report.probes.iter().collect();
    probes.sort_by_key(|probe| probe.place);
    let probed = probes.into_iter().filter_map(|probe| Some((probe.change_percent?, &probe.commit)));
    let ends = [Some((0.0, &report.good)), whole.map(|whole| (whole, &report.bad))];
    let points: Vec<(f64, &NamedCommit)> = ends[0].into_iter().chain(probed).chain(ends[1]).collect();
    // Worse is up, or down where more is better.
    let direction = if whole.is_some_and(|whole| whole < 0.0) { -1.0 } else { 1.0 };
    let mut steps: Vec<(f64, String)> = points
        .windows(2)
        .map(|pair| {
            let step = pair[1].0 - pair[0].0;
            (
                step,
                format!(
                    "{step:+.1} points from {} to {}",
                    short(&pair[0].1.commit),
                    short(&pair[1].1.commit)
                ),
            )
        })
        .collect();
    steps.sort_by(|one, other| (direction * other.0).total_cmp(&(direction * one.0)));
    steps.into_iter().take(3).map(|(_, line)| line).collect()
}

/// The benchmark and the metric as a command takes them, in full so that they name no other.
fn asked(report: &BisectReport) -> String {
    let benchmark = match &report.benchmark {
        None => "BENCH".to_owned(),
        Some(BenchmarkIdentity { target, id, .. }) if *id == target.target => {
            format!("-p {} {}", shell_word(&target.package), shell_word(id))
        }
        Some(BenchmarkIdentity { target, id, .. }) => {
            format!("-p {} {}", shell_word(&target.package), shell_word(&format!("{}/{id}", target.target)))
        }
    };
    let metric = report.metric.as_ref();
    visible(
        &metric.map_or(benchmark.clone(), |metric| {
            format!("--metric {} {benchmark}", shell_word(metric.name()))
        }),
    )
}

fn change(change: &Change) -> String {
    let percent = change.percent.map_or_else(|| "from 0".to_owned(), |percent| format!("{percent:+.1} %"));
    match (change.ci_low_percent, change.ci_high_percent) {
        (Some(low), Some(high)) => format!("{percent} [{low:+.1}, {high:+.1}], {}", change.verdict.as_str()),
        _ => format!("{percent}, {}", change.verdict.as_str()),
    }
}

fn named(commit: &NamedCommit) -> String {
    format!("{} ({})", short(&commit.commit), visible(&commit.subject))
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

fn first_line(text: &str) -> String {
    visible(text.lines().next().unwrap_or_default())
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
