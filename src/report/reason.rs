//! Why a comparison has its verdict, said from the numbers that decided it.

use crate::suite::metric::Unit;
use crate::suite::settings::Statistic;
use crate::verdict::evidence::{Stage, StoppedBecause};
use crate::verdict::outcome::{AcceptStatus, Acceptance, Comparison, PairingUsed, Reason, Verdict};
use crate::verdict::result;

use super::quantity;
use super::text::visible;

/// The word of a verdict in tables. One that may not fail the run says so.
pub fn verdict(comparison: &Comparison) -> String {
    let word = match comparison.verdict {
        Verdict::Regression if comparison.gate => "REGRESSION",
        verdict => verdict.as_str(),
    };
    match comparison.verdict {
        Verdict::Skipped => word.to_owned(),
        _ if result::is_accepted(comparison) => format!("{} (accepted)", comparison.verdict),
        _ if comparison.gate => word.to_owned(),
        _ => format!("{word} (not gated)"),
    }
}

/// The change with its interval: `+26.1 % [24.9, 27.3]`; `-` where there is none.
pub fn change(comparison: &Comparison) -> String {
    match (comparison.change_percent, comparison.ci_low_percent, comparison.ci_high_percent) {
        (Some(change), Some(low), Some(high)) => quantity::change_with_interval(change, low, high),
        (Some(change), _, _) => quantity::change(change),
        _ => quantity::NONE.to_owned(),
    }
}

/// The whole of what decided, in one line: change, interval, limit, probability, samples.
pub fn sentence(comparison: &Comparison) -> String {
    match change(comparison) {
        none if none == quantity::NONE => reason(comparison),
        change => format!("{change}, {}", reason(comparison)),
    }
}

/// What decided beside the change: the limit, the probability, the samples, and the reason where there is one.
pub fn reason(it: &Comparison) -> String {
    let mut parts = vec![decided_by(it)];
    if it.verdict != Verdict::Skipped
        && it.reason != Some(Reason::FewSamples)
        && it.reason != Some(Reason::NoSamples)
    {
        parts.push(samples(it));
    }
    if let Some(metric) = &it.derived_from {
        parts.push(format!("from {}", visible(metric.name())));
    }
    parts.extend(it.acceptance.as_ref().map(acceptance));
    if it.verdict == Verdict::Inconclusive {
        parts.extend(stopped(it.stopped_because).map(str::to_owned));
        if let Some(needed) = it.samples_needed {
            parts.push(format!("about {needed} samples a side would settle it"));
        }
    }
    parts.join(", ")
}

/// What an `accept` entry makes of a regression.
fn acceptance(it: &Acceptance) -> String {
    let (ceiling, why) = (quantity::limit(it.up_to_percent), visible(&it.reason));
    match it.status {
        AcceptStatus::Accepted => format!("accepted up to {ceiling} until {}: {why}", it.until),
        AcceptStatus::BeyondCeiling => format!("beyond the {ceiling} accepted until {}: {why}", it.until),
        AcceptStatus::Expired => format!("no longer accepted: up to {ceiling} until {}: {why}", it.until),
    }
}

fn decided_by(it: &Comparison) -> String {
    let limit = limit(it);
    let [base, head] = it.samples;
    match it.reason {
        None => {
            let probability = match it.verdict {
                // The fresh samples were judged by their p-value; the bootstrap's probability may say less.
                Verdict::Regression if it.details.stage == Some(Stage::Confirm) => {
                    it.details.adjusted_p.map(|p| format!("confirmed, {}", quantity::p_value(p)))
                }
                Verdict::Regression => {
                    it.probability_regression.map(|p| format!("P = {}", quantity::probability(p)))
                }
                Verdict::Improved => {
                    it.probability_improvement.map(|p| format!("P = {}", quantity::probability(p)))
                }
                _ => {
                    it.probability_regression.map(|p| format!("P(regression) = {}", quantity::probability(p)))
                }
            };
            [Some(limit), probability].into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        Some(Reason::NoSamples) => {
            let side = match (base, head) {
                (0, 0) => "on either side",
                (0, _) => "of base",
                _ => "of head",
            };
            format!("no samples {side}")
        }
        Some(Reason::ZeroBase) => {
            let base = quantity::optional(it.base, &it.unit);
            format!("the {} of base is {base}, so there is no ratio", it.statistic)
        }
        Some(Reason::FewSamples) => format!("{base} + {head} samples, needs {} a side", it.min_samples),
        Some(Reason::Noisy) => {
            let spread = |dispersion: Option<f64>| dispersion.map_or("unknown".to_owned(), quantity::ratio);
            let switches = match (it.details.base_context_switches, it.details.head_context_switches) {
                (Some(base), Some(head)) if 0.0 < base.max(head) => format!(
                    "; other work took the CPU {} and {} times a run (median of involuntary context switches)",
                    quantity::value(base, &Unit::Count),
                    quantity::value(head, &Unit::Count)
                ),
                _ => String::new(),
            };
            format!(
                "too noisy: spread {} of base and {} of head, at most {} (max_cv) unless the sides are apart{switches}",
                spread(it.base_dispersion),
                spread(it.head_dispersion),
                quantity::ratio(it.max_cv)
            )
        }
        Some(Reason::ZeroBootstrapBase) => {
            format!("resamples of base have a {} of 0 or below, so there is no ratio", it.statistic)
        }
        Some(Reason::BelowMinDifference) => {
            let difference = quantity::optional(it.compared_difference().map(f64::abs), &it.unit);
            format!(
                "difference {difference} is below min_difference {}",
                quantity::value(it.min_difference, &it.unit)
            )
        }
        Some(Reason::TooClose) => match it.probability_regression {
            Some(p) => format!("too close to {limit}: {}", short_of(p, it.confidence)),
            None => format!("too close to {limit}"),
        },
        Some(Reason::AtFloor) => match it.verdict {
            Verdict::Skipped => "both sides are at the floor of what can be measured".to_owned(),
            _ => "one side is at the floor of what can be measured, so its true value may be less".to_owned(),
        },
        Some(Reason::WorkDiffers) => {
            "work differs between the sides or from run to run, so there is no rate".to_owned()
        }
        Some(Reason::NonPositiveLatency) => "latency is 0 or below, so there is no rate".to_owned(),
        Some(Reason::NotMeasured) => match it.samples {
            [0, 0] => "measured on neither side".to_owned(),
            [0, _] => "measured in head alone".to_owned(),
            [_, 0] => "measured in base, and no longer in head".to_owned(),
            _ => "not measured on both sides".to_owned(),
        },
        Some(Reason::Exact) => format!("exact count, {limit}"),
        Some(Reason::FromZero) => {
            format!("from 0 to {}, and no percentage allows that", quantity::optional(it.head, &it.unit))
        }
        Some(Reason::Unconfirmed) => {
            format!("looked like a regression, {limit}, and could not be measured again to confirm it")
        }
        Some(Reason::NotConfirmed) => {
            format!("looked like a regression, {limit}, and a fresh measurement did not confirm it")
        }
        Some(Reason::NonPositive) => "a value is 0 or below, so there is no ratio of the pairs".to_owned(),
        Some(Reason::Corrected) => {
            format!("{limit}, not sure enough after the correction for all comparisons of the run")
        }
        Some(Reason::NonFinite) => "a value is not a finite number".to_owned(),
    }
}

/// The probability that was not enough, with the one from which the run would have failed.
fn short_of(probability: f64, confidence: f64) -> String {
    let (probability, needed) = quantity::probability_of(probability, confidence);
    format!("P(regression) = {probability}, fails from {needed}")
}

/// What is accepted: `limit 10 %`, with the smallest difference that counts where there is one.
fn limit(it: &Comparison) -> String {
    let percent = quantity::limit(it.max_percent);
    if 0.0 < it.min_difference {
        return format!("limit {percent} and {}", quantity::value(it.min_difference, &it.unit));
    }
    format!("limit {percent}")
}

fn samples(it: &Comparison) -> String {
    let [base, head] = it.samples;
    let pairs = if it.pairing == Some(PairingUsed::Paired) { " in pairs" } else { "" };
    format!("{base} + {head} samples{pairs}")
}

fn stopped(because: Option<StoppedBecause>) -> Option<&'static str> {
    match because? {
        StoppedBecause::MaxSamples => Some("stopped at max_samples"),
        StoppedBecause::MaxTime => Some("stopped at max_time"),
        StoppedBecause::Interrupted => Some("interrupted"),
        _ => None,
    }
}

/// The metric of a comparison, with the statistic where it is not the median.
pub fn compared_metric(comparison: &Comparison) -> String {
    let name = visible(comparison.metric.name());
    match comparison.statistic {
        Statistic::Median => name,
        Statistic::Mean => format!("{name} (mean)"),
    }
}
