//! One metric of one benchmark, base against another revision: from its runs to a comparison.

use sha2::{Digest, Sha256};

use crate::stats::quantile::{median, sorted};
use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::Metric;
use crate::suite::settings::MetricSettings;

use super::details;
use super::effect;
use super::evidence::{Evidence, Side, Stage, StoppedBecause, UnitRun};
use super::floor::AtFloor;
use super::look::Question;
use super::outcome::{Comparison, Details, Reason, Verdict};
use super::replay::{Decision, Replay};
use super::samples::Runs;
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

/// A comparison before the corrections that need all of the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) comparison: Comparison,
    /// Decided by counts, without any chance in it.
    pub(super) exact: bool,
    /// The sides that are at their floors.
    pub(super) at_floor: AtFloor,
    /// Whether the samples have rounds: without them nothing is corrected.
    pub(super) has_rounds: bool,
    /// The chance of a false regression at the limit, by the plan of the looks.
    pub(super) error: f64,
}

impl<'a> Opponents<'a> {
    /// The two sides numbered 0 and `head` of an evidence.
    pub(super) fn of(evidence: &'a Evidence, head: usize, seed: u64) -> Option<Self> {
        let base = evidence.sides.first()?;
        Some(Self { evidence, base, head: evidence.sides.get(head)?, seed })
    }

    /// All comparisons of the two sides but the derived one, in the order of the metrics.
    pub(super) fn compare(&self) -> Vec<Draft> {
        let runs = Runs::of(&self.base.runs, &self.head.runs, Stage::Screen);
        let comparable = self.evidence.settings.metrics.iter();
        let comparable =
            comparable.filter(|(metric, _)| metric.is_comparable() && **metric != Metric::Throughput);
        comparable.filter_map(|(metric, limits)| self.compare_metric(&runs, metric, limits)).collect()
    }

    /// The comparison of one metric; `None` where nobody asked for it and no side has it.
    fn compare_metric(&self, runs: &Runs<'a>, metric: &Metric, limits: &MetricSettings) -> Option<Draft> {
        let count = |side: &Side| side.runs.iter().filter(|run| run.values.get(metric).is_some()).count();
        let measured = [count(self.base), count(self.head)];
        if !limits.asked_for && measured == [0, 0] {
            return None;
        }
        let replay = Replay::of(&self.evidence.settings, runs, metric, limits, self.key(metric));
        let mut comparison = self.blank(metric, limits, replay.needed());
        comparison.samples = replay.samples().counts();
        let mut draft = Draft {
            comparison,
            exact: false,
            at_floor: AtFloor::default(),
            has_rounds: runs.has_rounds,
            error: replay.error(),
        };
        if measured.contains(&0) {
            draft.comparison.reason = Some(Reason::NotMeasured);
            draft.comparison.samples = measured;
        } else if !replay.samples().all_finite() {
            draft.comparison.reason = Some(Reason::NonFinite);
        } else {
            let decision = replay.decide();
            draft.exact = decision.exact;
            draft.at_floor = decision.at_floor;
            fill(&mut draft.comparison, &replay.question(true), &decision);
            draft.comparison.details.stage = Some(Stage::Screen);
            if draft.comparison.reason == Some(Reason::Noisy) {
                draft.comparison.details.base_context_switches = context_switches(&runs.base, metric);
                draft.comparison.details.head_context_switches = context_switches(&runs.head, metric);
            }
        }
        Some(draft)
    }

    /// A skipped comparison with its settings and no numbers.
    fn blank(&self, metric: &Metric, limits: &MetricSettings, needed: Needed) -> Comparison {
        let judge = &self.evidence.settings.judge;
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
            acceptance: None,
            details: Details::default(),
        }
    }

    /// The key of the random resamples of a metric.
    pub(super) fn key(&self, metric: &Metric) -> [u8; 32] {
        draw_key(self.seed, &self.evidence.identity, metric, &self.head.revision)
    }
}

/// The median of the involuntary context switches of the runs that have a metric: a sign that other work had the CPU.
fn context_switches(runs: &[&UnitRun], metric: &Metric) -> Option<f64> {
    let own = runs.iter().filter(|run| run.values.get(metric).is_some());
    let switches: Vec<f64> = own.filter_map(|run| Some(run.context_switches? as f64)).collect();
    median(&sorted(&switches))
}

/// Writes a decision into a comparison. A number that is not finite (1e300 over 1e-300) is a missing one.
pub(super) fn fill(comparison: &mut Comparison, question: &Question<'_>, decision: &Decision) {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let seen = &decision.look;
    comparison.verdict = seen.verdict;
    comparison.reason = seen.reason;
    comparison.base = finite(seen.base);
    comparison.head = finite(seen.head);
    comparison.difference = finite(seen.difference);
    comparison.change_percent = finite(seen.change_percent);
    comparison.ci_low_percent = finite(seen.interval_percent.map(|interval| interval[0]));
    comparison.ci_high_percent = finite(seen.interval_percent.map(|interval| interval[1]));
    comparison.probability_regression = finite(seen.claims.map(|claims| claims.worse));
    comparison.probability_improvement = finite(seen.claims.map(|claims| claims.better));
    comparison.base_dispersion = finite(seen.dispersions.map(|dispersions| dispersions[0]));
    comparison.head_dispersion = finite(seen.dispersions.map(|dispersions| dispersions[1]));
    comparison.pairing = seen.pairing;
    comparison.samples = decision.samples.counts();
    comparison.samples_needed = details::samples_needed(question, &decision.samples, seen);
    comparison.details = details::describe(question, &decision.samples, seen);
    comparison.details.p_change = effect::p_change(question, &decision.samples, seen);
    if decision.settled {
        comparison.stopped_because = Some(StoppedBecause::Settled);
    }
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
