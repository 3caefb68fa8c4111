//! Known slowdowns: which `accept` entry holds for a regression, and what of the entries the reader should know.

use crate::suite::accept::{Accept, Accepts};

use super::correction::Drafted;
use super::outcome::{AcceptStatus, Acceptance, Comparison, Verdict};
use super::run::RunContext;
use super::table::{EPSILON_PERCENT, degradation};

/// Settles for each gated regression whether an entry accepts it, and gives the warnings about the entries.
pub(super) fn apply(drafted: &mut [Drafted<'_>], context: &RunContext) -> Vec<String> {
    if context.accept.is_empty() {
        return Vec::new();
    }
    let accepts = Accepts::new(&context.accept);
    let mut concerned = vec![false; context.accept.len()];
    for Drafted { evidence, heads } in drafted {
        for metric in evidence.settings.metrics.keys() {
            for (place, _) in accepts.about(&evidence.identity, metric) {
                concerned[place] = true;
            }
        }
        for comparison in heads.iter_mut().flatten().map(|draft| &mut draft.comparison) {
            if comparison.gate && comparison.verdict == Verdict::Regression {
                let about = accepts.about(&evidence.identity, &comparison.metric).map(|(_, entry)| entry);
                comparison.acceptance = best(about, comparison, context.started_at.as_deref());
            }
        }
    }
    warnings(&concerned, context)
}

/// The entry that helps most: one that accepts, else one whose ceiling is too low, else one that has ended.
fn best<'a>(
    entries: impl Iterator<Item = &'a Accept>,
    comparison: &Comparison,
    started_at: Option<&str>,
) -> Option<Acceptance> {
    let outcome = |entry: &Accept| Acceptance {
        status: status(entry, comparison, started_at),
        up_to_percent: entry.up_to_percent,
        reason: entry.reason.clone(),
        until: entry.until.clone(),
    };
    entries.map(outcome).min_by_key(|acceptance| acceptance.status)
}

fn status(entry: &Accept, comparison: &Comparison, started_at: Option<&str>) -> AcceptStatus {
    if !entry.holds_at(started_at) {
        return AcceptStatus::Expired;
    }
    let worse = comparison.change_percent.map(|change| degradation(comparison.better, change));
    match worse {
        Some(worse) if worse <= entry.up_to_percent + EPSILON_PERCENT => AcceptStatus::Accepted,
        // From 0 to more there is no percentage that a ceiling could be held against.
        _ => AcceptStatus::BeyondCeiling,
    }
}

fn warnings(concerned: &[bool], context: &RunContext) -> Vec<String> {
    let started_at = context.started_at.as_deref();
    let mut warnings = Vec::new();
    for (entry, concerned) in context.accept.iter().zip(concerned) {
        let name = format!("accept entry for {} of {}", entry.metric, entry.bench);
        if !concerned && !context.shard {
            warnings.push(format!(
                "{name} is about no benchmark of this run that compares that metric; `bench` is a glob over labels as the \
                 report shows them: mend it, or take the entry out"
            ));
        }
        if *concerned && !entry.holds_at(started_at) {
            let why = match started_at {
                Some(_) => format!("ended on {}", entry.until),
                None => format!("ends on {}, and the samples do not say when they were taken", entry.until),
            };
            warnings.push(format!("{name} {why}, so it accepts nothing here; renew it, or take it out"));
        }
    }
    warnings
}
