//! Preset `effect`: significant over the whole run, an interval that excludes no change, and a change large enough.
//!
//! A two-sided Mann-Whitney test against no change, Holm over all comparisons of the run, the interval of the ratio. A
//! change is shown from `show_percent`, and fails from `max_percent`.

use crate::stats::mann_whitney::MannWhitney;
use crate::stats::multiple::{benjamini_hochberg, holm};
use crate::suite::settings::{Correction, Preset};

use super::correction::{Drafted, counts, family};
use super::look::{Look, Question};
use super::outcome::{Comparison, EffectSeen, Reason, Verdict};
use super::samples::Samples;
use super::table::degradation;

/// The two-sided p-value of a comparison that the rows before the probabilities let through; `None` otherwise: what they
/// decided, and what exact counts decided, stands.
pub(super) fn p_change(question: &Question<'_>, samples: &Samples, seen: &Look) -> Option<f64> {
    let open = matches!(seen.reason, None | Some(Reason::TooClose)) && seen.verdict != Verdict::Skipped;
    if question.judge.preset != Preset::Effect || !open {
        return None;
    }
    Some(MannWhitney::of(&samples.base, &samples.head)?.p())
}

/// Gives the comparisons of this preset their verdicts.
pub(super) fn apply(drafted: &mut [Drafted<'_>]) {
    for correction in Correction::ALL {
        let is_member = |judge: &crate::suite::settings::JudgeSettings| {
            judge.preset == Preset::Effect && judge.correction == *correction
        };
        let gated: Vec<f64> = family(drafted, is_member)
            .iter()
            .map(|(draft, _)| draft.comparison.details.p_change.unwrap_or(1.0))
            .collect();
        let mut adjusted = match correction {
            Correction::Holm => holm(&gated),
            Correction::Bh => benjamini_hochberg(&gated),
            Correction::Confirm | Correction::None => gated,
        }
        .into_iter();
        // The same order as above: the family is a part of all drafts.
        let members = drafted.iter_mut().filter(|drafted| is_member(&drafted.evidence.settings.judge));
        for drafted in members {
            let show = drafted.evidence.settings.judge.show_percent;
            for draft in drafted.heads.iter_mut().flatten() {
                let own = draft.comparison.details.p_change;
                let p = if counts(draft) { adjusted.next() } else { own };
                if let (Some(p), Some(_)) = (p, own) {
                    conclude(&mut draft.comparison, p, show);
                }
                // Also of what the first rows decided.
                draft.at_floor.keep_verdict(&mut draft.comparison);
            }
        }
    }
}

fn conclude(comparison: &mut Comparison, p: f64, show_percent: f64) {
    comparison.details.adjusted_p = Some(p);
    comparison.samples_needed = None;
    let change = comparison.change_percent.map(|change| degradation(comparison.better, change));
    let ends = comparison.ci_low_percent.zip(comparison.ci_high_percent);
    let excludes_none = ends.is_some_and(|(low, high)| 0.0 < low || high < 0.0);
    let significant = p < 1.0 - comparison.confidence && excludes_none;
    let worse = change.filter(|_| significant).unwrap_or(0.0);
    comparison.details.effect = Some(if significant && show_percent <= worse {
        EffectSeen::Slower
    } else if significant && worse <= -show_percent {
        EffectSeen::Faster
    } else {
        EffectSeen::NoChange
    });
    (comparison.verdict, comparison.reason) = if significant && comparison.max_percent <= worse {
        (Verdict::Regression, None)
    } else if comparison.details.effect == Some(EffectSeen::Faster) {
        (Verdict::Improved, None)
    } else {
        (Verdict::Pass, None)
    };
}
