//! From the counts of a finished run to its exit status, with the line that says why.

use std::collections::BTreeSet;

use crate::error::ExitCode;

use super::evidence::{Evidence, Side, Stage};
use super::outcome::{BenchResult, Comparison, Exit, Summary};
use super::run::{Judged, RunContext};

/// So many benchmarks are named before "and n more".
const NAMED: usize = 3;

/// The exit status of a finished run, first that holds: 4 interrupted or an error, 6 something not measured, 1 a
/// regression, an exceeded budget or a thing named in `also_fail_on`, 0. `--no-fail` is not looked at.
pub fn code(summary: &Summary, context: &RunContext) -> ExitCode {
    if context.interrupted || 0 < summary.error {
        ExitCode::Execution
    } else if 0 < summary.metric_error {
        ExitCode::NotMeasured
    } else if 0 < summary.regression + summary.over_budget || also_failing(summary, context).next().is_some()
    {
        ExitCode::GateFailed
    } else {
        ExitCode::Success
    }
}

/// The counts that `also_fail_on` makes fail, with their words.
fn also_failing<'a>(
    summary: &'a Summary,
    context: &'a RunContext,
) -> impl Iterator<Item = (&'static str, usize)> + 'a {
    [("inconclusive", summary.inconclusive), ("removed", summary.removed), ("skipped", summary.gated_skipped)]
        .into_iter()
        .filter(|&(word, count)| 0 < count && context.also_fail_on.iter().any(|named| named == word))
}

/// One benchmark as the exit line sees it.
pub(super) struct Named {
    pub(super) label: String,
    pub(super) result: BenchResult,
    pub(super) removed: bool,
    pub(super) skipped: bool,
    /// Whether a gated comparison regressed, whatever the result.
    pub(super) regressed: bool,
    /// Whether a budget is exceeded, whatever the result.
    pub(super) over_budget: bool,
    /// Why it has no result.
    pub(super) error: Option<String>,
}

/// The exit status with its reason. `measured_nothing`: the run has no sample and no benchmark known to be unchanged,
/// which is never green.
pub(super) fn exit(summary: &Summary, context: &RunContext, names: &[Named], measured_nothing: bool) -> Exit {
    let code = match code(summary, context) {
        ExitCode::Success | ExitCode::GateFailed if measured_nothing => ExitCode::NotMeasured,
        code => code,
    };
    let because = because(code, summary, context, names, measured_nothing);
    if code == ExitCode::GateFailed && context.no_fail {
        return Exit { code: 0, because, without_no_fail: Some(code as u8) };
    }
    Exit { code: code as u8, because, without_no_fail: None }
}

fn because(
    code: ExitCode,
    summary: &Summary,
    context: &RunContext,
    names: &[Named],
    measured_nothing: bool,
) -> Option<String> {
    let with = |result: BenchResult| names.iter().filter(move |named| named.result == result);
    let labels = |result| listed(with(result).map(|named| named.label.as_str()));
    // Who failed, and why the first did. What was measured of one alone says its name itself.
    let failed = |result| {
        let first = with(result).find_map(|named| Some((named, named.error.as_ref()?.lines().next()?)));
        match first {
            None => labels(result),
            Some((named, message)) if with(result).count() == 1 && message.starts_with(&named.label) => {
                message.to_owned()
            }
            Some((_, message)) => format!("{}: {message}", labels(result)),
        }
    };
    match code {
        ExitCode::Success => None,
        ExitCode::Execution if context.interrupted => Some("interrupted before all was measured".to_owned()),
        ExitCode::Execution => Some(format!(
            "{} failed: {}{}",
            counted(summary.error, "benchmark"),
            failed(BenchResult::Error),
            also(names)
        )),
        ExitCode::NotMeasured if measured_nothing && summary.metric_error == 0 => {
            // Accepted as partial, an error is no longer one; it is still why there is nothing.
            let error = names.iter().find_map(|named| named.error.as_ref()?.lines().next());
            Some(format!("nothing was measured: {}", error.unwrap_or("no benchmark gave a sample in head")))
        }
        ExitCode::NotMeasured => Some(format!(
            "{} lacked a measurement that was asked for: {}{}",
            counted(summary.metric_error, "benchmark"),
            failed(BenchResult::MetricError),
            also(names)
        )),
        _ => {
            let mut parts = found(names);
            for (word, count) in also_failing(summary, context) {
                let concerned = names.iter().filter(|named| match word {
                    "removed" => named.removed,
                    "skipped" => named.skipped,
                    _ => named.result == BenchResult::Inconclusive,
                });
                let labels = listed(concerned.map(|named| named.label.as_str()));
                parts.push(format!("{count} {word}, named in also_fail_on: {labels}"));
            }
            Some(parts.join("; "))
        }
    }
}

/// The regressions and exceeded budgets, each with the benchmarks concerned.
fn found(names: &[Named]) -> Vec<String> {
    let mut parts = Vec::new();
    let of = |is: fn(&Named) -> bool| {
        let labels: Vec<&str> =
            names.iter().filter(|named| is(named)).map(|named| named.label.as_str()).collect();
        (labels.len(), listed(labels.into_iter()))
    };
    let (count, labels) = of(|named| named.regressed);
    if 0 < count {
        parts.push(format!("{}: {labels}", counted(count, "regression")));
    }
    let (count, labels) = of(|named| named.over_budget);
    if 0 < count {
        parts.push(format!("{count} over budget: {labels}"));
    }
    parts
}

/// What was found beside a status that has another cause: it must not hide a regression.
fn also(names: &[Named]) -> String {
    let found = found(names);
    if found.is_empty() { String::new() } else { format!("; also {}", found.join("; ")) }
}

impl Exit {
    /// The status after a clean-up that failed: 0 becomes 4, any other stays.
    pub fn after_failed_cleanup(self, why: &str) -> Self {
        if self.code != ExitCode::Success as u8 {
            return self;
        }
        Self { code: ExitCode::Execution as u8, because: Some(format!("cleaning up failed: {why}")), ..self }
    }
}

impl Exit {
    /// The status of samples that are there to be compared: 6 where not one comparison has samples of both sides.
    pub fn unless_compared(self, evidence: &[Evidence], judged: &[Judged]) -> Self {
        let is_compared = |it: &Comparison| it.derived_from.is_none() && !it.samples.contains(&0);
        let any = judged.iter().flat_map(|judged| &judged.comparisons).any(is_compared);
        if any || ![ExitCode::Success as u8, ExitCode::GateFailed as u8].contains(&self.code) {
            return self;
        }
        let because = format!("nothing was compared: {}", why_nothing_is_compared(evidence));
        Self { code: ExitCode::NotMeasured as u8, because: Some(because), without_no_fail: None }
    }
}

fn why_nothing_is_compared(evidence: &[Evidence]) -> String {
    let revisions: BTreeSet<&str> =
        evidence.iter().flat_map(|it| &it.sides).map(|side| side.revision.as_str()).collect();
    if let (Some(only), 1) = (revisions.first(), revisions.len()) {
        return format!("all samples are of revision `{only}`");
    }
    let rounds = |it: &Evidence| it.sides.windows(2).find_map(|sides| disjoint_rounds(&sides[0], &sides[1]));
    if let Some(rounds) = evidence.iter().find_map(rounds) {
        return rounds;
    }
    "no benchmark has samples of one metric in two revisions; its name must be the same in all of its rows"
        .to_owned()
}

/// That two sides have rounds, and none in common.
pub(super) fn disjoint_rounds(base: &Side, head: &Side) -> Option<String> {
    let rounds = |side: &Side| -> Option<BTreeSet<u32>> {
        let screened = side.runs.iter().filter(|run| run.stage == Stage::Screen);
        screened.map(|run| run.round).collect()
    };
    let (of_base, of_head) = (rounds(base)?, rounds(head)?);
    let [Some(base_ends), Some(head_ends)] = [&of_base, &of_head].map(|it| it.first().zip(it.last())) else {
        return None;
    };
    let ends = |(first, last): (&u32, &u32)| format!("{first} to {last}");
    of_base.is_disjoint(&of_head).then(|| {
        format!(
            "no round has samples of both sides ({} has rounds {}, {} has {}); samples that were taken together share a \
             round, and those that were not need no rounds",
            base.revision,
            ends(base_ends),
            head.revision,
            ends(head_ends)
        )
    })
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn listed<'a>(labels: impl Iterator<Item = &'a str>) -> String {
    let labels: Vec<&str> = labels.collect();
    let named = labels[..labels.len().min(NAMED)].join(", ");
    match labels.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
