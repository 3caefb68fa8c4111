//! What guards against false alarms over the many comparisons of a run.

use crate::stats::multiple::{benjamini_hochberg, holm};
use crate::suite::settings::{Correction, Preset};

use super::comparison::Draft;
use super::confirm;
use super::effect;
use super::evidence::Evidence;
use super::levels::CONFIRM_ERROR;
use super::outcome::{Comparison, Reason, Verdict};
use super::run::RunContext;

/// The drafts of one benchmark, side by side with what they came from.
pub(super) struct Drafted<'a> {
    pub(super) evidence: &'a Evidence,
    /// For each side but the first: its comparisons.
    pub(super) heads: Vec<Vec<Draft>>,
}

/// Applies the correction of each benchmark's judge. All comparisons of a run under the same correction are one family,
/// those of further revisions included; only gated ones can raise a false alarm, so only they belong to it.
pub(super) fn apply(drafted: &mut [Drafted<'_>], context: &RunContext) {
    effect::apply(drafted);
    for correction in [Correction::Holm, Correction::Bh] {
        let mut family =
            family(drafted, |judge| judge.correction == correction && judge.preset != Preset::Effect);
        let p: Vec<f64> = family.iter().map(|(draft, _)| p_of_regression(&draft.comparison)).collect();
        let adjusted = if correction == Correction::Holm { holm(&p) } else { benjamini_hochberg(&p) };
        for ((draft, error), adjusted) in family.iter_mut().zip(adjusted) {
            draft.comparison.details.adjusted_p = Some(adjusted);
            // A share of false ones among those called is for reports; it bounds nothing a gate could use.
            let holds = correction == Correction::Bh || adjusted <= *error + 1e-12;
            if draft.comparison.verdict == Verdict::Regression && !holds {
                draft.comparison.verdict = Verdict::Inconclusive;
                draft.comparison.reason = Some(Reason::Corrected);
            }
        }
    }
    confirm::apply(drafted, context);
}

/// The gated comparisons decided with chance in it, of benchmarks whose judge is of that kind, each with its error.
pub(super) fn family<'d>(
    drafted: &'d mut [Drafted<'_>],
    is_member: impl Fn(&crate::suite::settings::JudgeSettings) -> bool,
) -> Vec<(&'d mut Draft, f64)> {
    let members = drafted.iter_mut().filter(|drafted| is_member(&drafted.evidence.settings.judge));
    let drafts = members.flat_map(|drafted| drafted.heads.iter_mut().flatten());
    drafts
        .filter(|draft| counts(draft))
        .map(|draft| {
            let error = draft.error;
            (draft, error)
        })
        .collect()
}

/// Whether a draft belongs to a family.
pub(super) fn counts(draft: &Draft) -> bool {
    let Comparison { gate, verdict, .. } = draft.comparison;
    gate && draft.has_rounds && !draft.exact && verdict != Verdict::Skipped
}

/// The p-value of a regression: of the rank test, or what the bootstrap leaves. 1 where there is none.
fn p_of_regression(comparison: &Comparison) -> f64 {
    let of_law = || comparison.probability_regression.map(|probability| (1.0 - probability).max(0.0));
    comparison.details.p_regression.or_else(of_law).unwrap_or(1.0)
}

/// The false regressions to expect by chance if every gated comparison had changed by exactly what is accepted; code
/// that did not change gives far fewer. A correction bounds those of its whole family.
pub(super) fn expected_false_alarms(drafted: &[Drafted<'_>]) -> f64 {
    let mut single = 0.0;
    let (mut holm, mut confirm): (f64, f64) = (0.0, 0.0);
    for Drafted { evidence, heads } in drafted {
        for draft in heads.iter().flatten().filter(|draft| counts_or_loose(draft)) {
            match evidence.settings.judge.correction {
                Correction::Holm if draft.has_rounds => holm = holm.max(draft.error),
                Correction::Confirm if draft.has_rounds => confirm = confirm.max(CONFIRM_ERROR),
                _ => single += draft.error,
            }
        }
    }
    single + holm + confirm
}

/// As [`counts`], with the comparisons of files without rounds, which nothing corrects.
fn counts_or_loose(draft: &Draft) -> bool {
    draft.comparison.gate && !draft.exact && draft.comparison.verdict != Verdict::Skipped
}
