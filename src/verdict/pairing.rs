//! Whether two sides are taken as pairs.

use crate::stats::correlation::{is_correlated, spearman};
use crate::stats::describe::IQR_OF_NORMAL;
use crate::stats::quantile::iqr;
use crate::suite::settings::{JudgeSettings, Pairing};

use super::samples::Samples;

/// The choice for one look.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    /// Ascending ln(head / base) of the pairs; `None`: each side on its own.
    pub(super) logs: Option<Vec<f64>>,
    /// Spearman's correlation of the pairs, where it was looked at.
    pub(super) correlation: Option<f64>,
}

impl Chosen {
    /// Chooses: pairs where there are any, all of positive values, and the setting (or their correlation) says so.
    pub(super) fn of(judge: &JudgeSettings, samples: &Samples) -> Self {
        let independent = |correlation| Self { logs: None, correlation };
        let positive = samples.pairs.iter().all(|&(base, head)| 0.0 < base && 0.0 < head);
        if judge.pairing == Pairing::Independent || samples.pairs.is_empty() || !positive {
            return independent(None);
        }
        let correlation = spearman(&samples.pairs);
        let paired = match judge.pairing {
            Pairing::Paired => true,
            _ => correlation.is_some_and(|correlation| is_correlated(correlation, samples.pairs.len())),
        };
        if !paired {
            return independent(correlation);
        }
        // ln(head) - ln(base) has no overflow where head / base would have one.
        let mut logs: Vec<f64> = samples.pairs.iter().map(|&(base, head)| ln_ratio(base, head)).collect();
        logs.sort_unstable_by(f64::total_cmp);
        Self { logs: Some(logs), correlation }
    }

    /// The scatter of the pairs as the share of one side: IQR / 1.349 / sqrt 2, a ratio.
    pub(super) fn dispersion(&self) -> Option<f64> {
        Some(iqr(self.logs.as_ref()?)? / IQR_OF_NORMAL / std::f64::consts::SQRT_2)
    }
}

/// ln(head / base) of two positive numbers.
fn ln_ratio(base: f64, head: f64) -> f64 {
    let ratio = head / base;
    if ratio.is_normal() { ratio.ln() } else { head.ln() - base.ln() }
}
