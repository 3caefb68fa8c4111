//! One metric of one benchmark, base against another revision: from its runs to a comparison.

use sha2::{Digest, Sha256};

use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::Metric;
use crate::suite::settings::{BenchmarkSettings, MetricSettings};

use super::evidence::{Evidence, Side, Stage};
use super::floor;
use super::look::{Look, Question, look};
use super::outcome::{Comparison, Details, Reason, Verdict};
use super::samples::{Runs, Samples};
use super::table::Needed;

/// The name of the head revision, which the random draws do not name.
const HEAD: &str = "head";

/// Two sides of a benchmark.
#[derive(Clone, Copy)]
pub(super) struct Opponents<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) base: &'a Side,
    pub(super) head: &'a Side,
    pub(super) seed: u64,
}

impl<'a> Opponents<'a> {
    /// All comparisons of the two sides but the derived one, in the order of the metrics.
    pub(super) fn compare(&self) -> Vec<Comparison> {
        let runs = Runs::of(self.base, self.head, Stage::Screen);
        let comparable = self
            .evidence
            .settings
            .metrics
            .iter()
            .filter(|(metric, _)| metric.is_comparable() && **metric != Metric::Throughput);
        comparable.filter_map(|(metric, limits)| self.compare_metric(&runs, metric, limits)).collect()
    }

    /// The comparison of one metric; `None` where nobody asked for it and no side has it.
    fn compare_metric(
        &self,
        runs: &Runs<'a>,
        metric: &Metric,
        limits: &MetricSettings,
    ) -> Option<Comparison> {
        let samples = runs.samples(metric);
        let has = |side: &Side| side.runs.iter().any(|run| run.values.get(metric).is_some());
        let measured = [has(self.base), has(self.head)];
        if !limits.asked_for && measured == [false, false] {
            return None;
        }
        let judge = &self.evidence.settings.judge;
        let needed = Needed::all(judge.confidence);
        let mut comparison = self.blank(metric, limits, needed);
        comparison.samples = samples.counts();
        if measured != [true, true] {
            comparison.reason = Some(Reason::NotMeasured);
            return Some(comparison);
        }
        if !samples.all_finite() {
            comparison.reason = Some(Reason::NonFinite);
            return Some(comparison);
        }
        let question = Question { judge, metric: limits, needed, key: self.key(metric) };
        let judged = |samples: &Samples| look(&question, samples);
        let seen = match metric {
            Metric::PeakRss => floor::look(runs, samples, judge.statistic, judged),
            _ => judged(&samples),
        };
        fill(&mut comparison, seen);
        Some(comparison)
    }

    /// A skipped comparison with its settings and no numbers.
    fn blank(&self, metric: &Metric, limits: &MetricSettings, needed: Needed) -> Comparison {
        let BenchmarkSettings { judge, .. } = &self.evidence.settings;
        Comparison {
            base_revision: self.base.revision.clone(),
            head_revision: self.head.revision.clone(),
            metric: metric.clone(),
            unit: limits.unit.clone(),
            better: limits.better,
            statistic: judge.statistic,
            base: None,
            head: None,
            difference: None,
            change_percent: None,
            ci_low_percent: None,
            ci_high_percent: None,
            probability_regression: None,
            probability_improvement: None,
            max_percent: limits.max_percent,
            min_difference: limits.min_difference,
            confidence: needed.worse,
            max_cv: judge.max_cv,
            base_dispersion: None,
            head_dispersion: None,
            gate: limits.gate,
            verdict: Verdict::Skipped,
            reason: None,
            samples: [0, 0],
            min_samples: judge.min_samples,
            pairing: None,
            stopped_because: self.evidence.stopped_because,
            derived_from: None,
            samples_needed: None,
            details: Details::default(),
        }
    }

    fn key(&self, metric: &Metric) -> [u8; 32] {
        draw_key(self.seed, &self.evidence.identity, metric, &self.head.revision)
    }
}

/// Writes what a look saw into a comparison. A number that is not finite (1e300 over 1e-300) is a missing one.
fn fill(comparison: &mut Comparison, seen: Look) {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    comparison.verdict = seen.verdict;
    comparison.reason = seen.reason;
    comparison.base = finite(seen.base);
    comparison.head = finite(seen.head);
    comparison.difference = finite(seen.difference);
    comparison.change_percent = finite(seen.change_percent);
    comparison.ci_low_percent = finite(seen.interval_percent.map(|interval| interval[0]));
    comparison.ci_high_percent = finite(seen.interval_percent.map(|interval| interval[1]));
    comparison.probability_regression = finite(seen.probability_regression);
    comparison.probability_improvement = finite(seen.probability_improvement);
    comparison.base_dispersion = finite(seen.dispersions.map(|dispersions| dispersions[0]));
    comparison.head_dispersion = finite(seen.dispersions.map(|dispersions| dispersions[1]));
    comparison.pairing = seen.pairing;
}

/// The key of the random resamples of one comparison: other benchmarks and filters never change it.
fn draw_key(seed: u64, identity: &BenchmarkIdentity, metric: &Metric, head_revision: &str) -> [u8; 32] {
    let target = &identity.target;
    let names = [&target.package, target.kind.as_str(), &target.target, &identity.variant, &identity.id];
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for name in names {
        hash.update(name.as_bytes());
        hash.update([0]);
    }
    hash.update(metric.name().as_bytes());
    if head_revision != HEAD {
        hash.update([0]);
        hash.update(head_revision.as_bytes());
    }
    hash.finalize().into()
}
