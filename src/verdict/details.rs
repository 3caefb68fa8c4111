//! The description beside a verdict. It decides nothing.

use crate::stats::cliffs_delta::Dominance;
use crate::stats::correlation::autocorrelation;
use crate::stats::describe::{IQR_OF_NORMAL, mean, robust_cv};
use crate::stats::fences::Fences;
use crate::stats::normal;
use crate::stats::quantile::{iqr, median, sorted};
use crate::suite::settings::Method;

use super::look::{Look, Question};
use super::outcome::{Details, EffectSize, Outliers, PairingUsed, Reason};
use super::samples::Samples;
use super::table::{Needed, degradation};

/// Describes the samples that gave a verdict, and how it was asked for.
pub(super) fn describe(question: &Question<'_>, samples: &Samples, seen: &Look) -> Details {
    let (base, head) = (sorted(&samples.base), sorted(&samples.head));
    let delta = Dominance::of(&base, &head).delta();
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let Needed { worse, not_worse, .. } = question.needed;
    let p = |pick: fn(&super::rank::PValues) -> f64| finite(seen.p_values.as_ref().map(pick));
    Details {
        method: Some(question.judge.method),
        stage: None,
        pass_confidence: (not_worse.total_cmp(&worse).is_ne()).then_some(not_worse),
        base_median: finite(median(&base)),
        head_median: finite(median(&head)),
        base_mean: finite(mean(&samples.base)),
        head_mean: finite(mean(&samples.head)),
        correlation: seen.correlation,
        pair_dispersion: finite(seen.pair_dispersion),
        p_regression: p(|p| p.regression),
        p_improvement: p(|p| p.improvement),
        p_pass: p(|p| p.pass),
        p_change: None,
        adjusted_p: None,
        effect: None,
        cliffs_delta: delta,
        cliffs_size: delta.map(EffectSize::of),
        base_outliers: outliers(&base),
        head_outliers: outliers(&head),
        base_robust_cv: finite(Some(robust_cv(&base))),
        head_robust_cv: finite(Some(robust_cv(&head))),
        base_autocorrelation: autocorrelation(&samples.base),
        head_autocorrelation: autocorrelation(&samples.head),
        base_context_switches: None,
        head_context_switches: None,
    }
}

fn outliers(sorted: &[f64]) -> Option<Outliers> {
    let Fences { low_severe, low_mild, high_mild, high_severe, .. } = Fences::of(sorted)?;
    Some(Outliers { low_severe, low_mild, high_mild, high_severe })
}

/// How many samples a side would likely settle an undecided comparison: the distance of the change to its limit against
/// the scatter, for a chance of 95 % to be told apart; half as many again as there are at the least. `None` where the change is at the limit, or far too many.
pub(super) fn samples_needed(question: &Question<'_>, samples: &Samples, seen: &Look) -> Option<u32> {
    /// The 95th percentile of the normal distribution.
    const POWER: f64 = 1.645;
    /// Nobody takes more; a larger figure would only look like advice.
    const MOST: f64 = 1e4;
    if seen.reason != Some(Reason::TooClose) {
        return None;
    }
    let ln = |percent: f64| (1.0 + percent / 100.0).ln();
    let limit = match question.metric.better {
        crate::suite::metric::Better::Lower => ln(question.metric.max_percent),
        crate::suite::metric::Better::Higher => ln(-question.metric.max_percent),
    };
    let change = seen.change_percent?;
    let beyond = question.metric.max_percent < degradation(question.metric.better, change);
    let level = if beyond { question.needed.worse } else { question.needed.not_worse };
    let scatter = scatter(samples, seen)?;
    // The median needs more samples than the Hodges-Lehmann estimate for the same standard error.
    let price = match question.judge.method {
        Method::Bootstrap => 1.2533,
        Method::Rank => 1.05,
    };
    let needed =
        ((normal::quantile(level) + POWER) * price * scatter / (limit - ln(change)).abs()).powi(2).ceil();
    // So many did not settle it, whatever the scatter of a few samples promises.
    let needed = needed.max((1.5 * samples.fewest() as f64).ceil());
    (needed.is_finite() && needed <= MOST).then_some(needed as u32)
}

/// The robust standard deviation of the log-ratio of one pair.
fn scatter(samples: &Samples, seen: &Look) -> Option<f64> {
    if seen.pairing == Some(PairingUsed::Paired) {
        return Some(seen.pair_dispersion? * std::f64::consts::SQRT_2);
    }
    let robust = |side: &[f64]| {
        let logs: Vec<f64> = side.iter().map(|value| value.ln()).collect();
        logs.iter()
            .all(|log| log.is_finite())
            .then(|| iqr(&sorted(&logs)))
            .flatten()
            .map(|iqr| iqr / IQR_OF_NORMAL)
    };
    Some(robust(&samples.base)?.hypot(robust(&samples.head)?))
}
