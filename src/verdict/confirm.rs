//! Candidates for failure are measured again in fresh rounds, and judged on the fresh samples alone.

use std::collections::BTreeSet;

use crate::stats::multiple::holm;
use crate::stats::quantile::sorted;
use crate::suite::metric::Metric;
use crate::suite::settings::{Correction, JudgeSettings, Pairing, Preset};

use super::comparison::{Draft, Opponents, fill};
use super::correction::Drafted;
use super::evidence::{Evidence, Stage};
use super::floor::{self, AtFloor};
use super::levels::{CONFIRM_ERROR, CONFIRM_PASS_ERROR, CONFIRM_SAMPLES};
use super::look::{Question, look};
use super::outcome::{Comparison, Reason, Verdict};
use super::pairing::Chosen;
use super::rank::{self, PValues};
use super::replay::Decision;
use super::run::{RunContext, draft};
use super::samples::Runs;
use super::table::{EPSILON_PERCENT, Needed, degradation};

/// No probability of the law decides about fresh samples: the p-value over all candidates does.
const BY_P_VALUE: Needed = Needed { worse: 2.0, better: 2.0, not_worse: 2.0 };

/// The benchmarks, by their place, that hold a candidate for failure: a gated regression that `correction = "confirm"`
/// wants measured again. Each gets [`CONFIRM_SAMPLES`] more runs a side, of stage `confirm`, without looks.
pub fn confirmation_candidates(evidence: &[Evidence], context: &RunContext) -> Vec<usize> {
    confirmation_metrics(evidence, context).into_iter().map(|(index, _)| index).collect()
}

/// The same, each with the metrics that are to be measured again.
pub fn confirmation_metrics(evidence: &[Evidence], context: &RunContext) -> Vec<(usize, BTreeSet<Metric>)> {
    let candidates = |evidence: &Evidence| -> BTreeSet<Metric> {
        let drafted = draft(evidence, context);
        let all = drafted.heads.iter().flatten().filter(|draft| is_candidate(evidence, draft));
        all.map(|draft| draft.comparison.metric.clone()).collect()
    };
    let of_all = evidence.iter().map(candidates).enumerate();
    of_all.filter(|(_, metrics)| !metrics.is_empty()).collect()
}

fn is_candidate(evidence: &Evidence, draft: &Draft) -> bool {
    let judge = &evidence.settings.judge;
    let Comparison { gate, verdict, .. } = draft.comparison;
    let chance = draft.has_rounds && !draft.exact;
    judge.correction == Correction::Confirm
        && judge.preset != Preset::Effect
        && gate
        && chance
        && verdict == Verdict::Regression
}

/// What the fresh samples of a candidate say before all candidates are known.
struct Fresh {
    comparison: Comparison,
    p_values: PValues,
    at_floor: AtFloor,
    /// Whether there are as many samples as wanted.
    complete: bool,
}

/// Gives every candidate its verdict from the fresh samples; without them it is inconclusive, also in a saved run that is
/// judged by other limits. Holm over the candidates would not do on the samples that made them candidates: its p-values have
/// to be fresh, and where measuring stopped at a look they are those of a chosen look, for which only the one level per look
/// is calibrated (reference 5, 6 and 12). Who wants a verdict all the same asks for another correction, by name.
pub(super) fn apply(drafted: &mut [Drafted<'_>], context: &RunContext) {
    let mut candidates: Vec<(&mut Draft, Option<Fresh>)> = Vec::new();
    for Drafted { evidence, heads } in drafted {
        for (index, drafts) in heads.iter_mut().enumerate() {
            for draft in drafts.iter_mut().filter(|draft| is_candidate(evidence, draft)) {
                let opponents = Opponents::of(evidence, index + 1, context.seed);
                let fresh = opponents.and_then(|opponents| fresh(&opponents, &draft.comparison));
                candidates.push((draft, fresh));
            }
        }
    }
    let p: Vec<f64> = candidates
        .iter()
        .map(|(_, fresh)| fresh.as_ref().map_or(1.0, |fresh| fresh.p_values.regression))
        .collect();
    for ((draft, fresh), adjusted) in candidates.into_iter().zip(holm(&p)) {
        match fresh {
            Some(fresh) => draft.comparison = conclude(fresh, adjusted),
            None => {
                draft.comparison.verdict = Verdict::Inconclusive;
                draft.comparison.reason = Some(Reason::Unconfirmed);
            }
        }
    }
}

/// Looks at the fresh samples of a candidate; `None` where there are too few to say anything.
fn fresh(opponents: &Opponents<'_>, screened: &Comparison) -> Option<Fresh> {
    let settings = &opponents.evidence.settings;
    let limits = settings.metrics.get(&screened.metric)?;
    let runs = Runs::of(&opponents.base.runs, &opponents.head.runs, Stage::Confirm);
    let samples = runs.samples(&screened.metric);
    if samples.fewest() < settings.judge.min_samples.max(1) as usize || !samples.all_finite() {
        return None;
    }
    let judge = JudgeSettings {
        pairing: if runs.has_rounds { settings.judge.pairing } else { Pairing::Independent },
        ..settings.judge.clone()
    };
    let question = Question {
        judge: &judge,
        metric: limits,
        needed: BY_P_VALUE,
        ties_argue_against: false,
        interval: true,
        key: opponents.key(&screened.metric),
    };
    let floors = match screened.metric {
        Metric::PeakRss => [floor::of(runs.base.iter().copied()), floor::of(runs.head.iter().copied())],
        _ => [0.0, 0.0],
    };
    let (samples, at_floor) = floor::raise(floors, samples, judge.statistic);
    let mut seen = look(&question, &samples);
    if at_floor.is_both() {
        seen = at_floor.keep(seen);
    }
    let chosen = Chosen::of(&judge, &samples);
    let (base, head) = (sorted(&samples.base), sorted(&samples.head));
    let p_values = rank::confirming(&question, [&base, &head], &chosen, limits.max_percent);
    let complete = CONFIRM_SAMPLES as usize <= samples.fewest();
    let mut comparison = screened.clone();
    fill(
        &mut comparison,
        &question,
        &Decision { look: seen, samples, at_floor, settled: false, exact: false },
    );
    comparison.confidence = 1.0 - CONFIRM_ERROR;
    comparison.samples_needed = None;
    comparison.stopped_because = screened.stopped_because;
    comparison.details.stage = Some(Stage::Confirm);
    comparison.details.pass_confidence = Some(1.0 - CONFIRM_PASS_ERROR);
    comparison.details.p_regression = Some(p_values.regression);
    comparison.details.p_improvement = Some(p_values.improvement);
    comparison.details.p_pass = Some(p_values.pass);
    Some(Fresh { comparison, p_values, at_floor, complete })
}

/// The verdict, once the p-value is adjusted for all candidates.
fn conclude(fresh: Fresh, adjusted: f64) -> Comparison {
    let Fresh { mut comparison, p_values, at_floor, complete } = fresh;
    comparison.details.adjusted_p = Some(adjusted);
    // What an earlier row decided (too noisy, below min_difference, …) stands.
    if comparison.reason == Some(Reason::TooClose) {
        let worse = comparison.change_percent.map(|change| degradation(comparison.better, change));
        let beyond = worse.is_some_and(|worse| comparison.max_percent + EPSILON_PERCENT < worse);
        (comparison.verdict, comparison.reason) = if beyond && adjusted <= CONFIRM_ERROR {
            (Verdict::Regression, None)
        } else if p_values.pass <= CONFIRM_PASS_ERROR {
            (Verdict::Pass, Some(Reason::NotConfirmed))
        } else {
            let reason = if complete { Reason::NotConfirmed } else { Reason::Unconfirmed };
            (Verdict::Inconclusive, Some(reason))
        };
    }
    at_floor.keep_verdict(&mut comparison);
    comparison
}
