//! What one table says of a benchmark, and how a table is laid over another.

use std::collections::BTreeMap;

use super::error::Place;
use super::launch::{HarnessChoice, Work};
use super::metric::{Better, Metric, Unit};
use super::settings::{
    Aggregation, Correction, Interval, Method, Operator, Pairing, Preset, Resamples, Statistic, Stop,
};
use super::tolerance::MetricKind;

/// A value with the place it was written at, for errors that only show when layers meet.
#[derive(Debug, Clone)]
pub(super) struct Set<T> {
    pub(super) value: T,
    pub(super) written: String,
    pub(super) place: Place,
}

/// What one level says of a benchmark; absent keys leave the level below as it is.
#[derive(Debug, Clone, Default)]
pub(super) struct BenchLayer {
    pub(super) warmup: Option<Set<u32>>,
    pub(super) samples: Option<Set<u32>>,
    pub(super) min_samples: Option<Set<u32>>,
    pub(super) max_samples: Option<Set<u32>>,
    pub(super) min_time_ns: Option<Set<u64>>,
    pub(super) timeout_ns: Option<Set<u64>>,
    pub(super) judge: JudgeLayer,
    pub(super) metrics: BTreeMap<Metric, MetricLayer>,
    /// `--max-percent`: for all gated comparisons.
    pub(super) max_percent: Option<Set<f64>>,
    pub(super) isolate: Option<Set<bool>>,
    pub(super) launch: LaunchLayer,
    pub(super) group: Option<Set<String>>,
    pub(super) compare: Option<Set<bool>>,
    pub(super) budgets: Vec<BudgetLayer>,
    pub(super) tolerances: BTreeMap<Metric, ToleranceLayer>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct JudgeLayer {
    pub(super) preset: Option<Set<Preset>>,
    pub(super) method: Option<Set<Method>>,
    pub(super) statistic: Option<Set<Statistic>>,
    pub(super) pairing: Option<Set<Pairing>>,
    pub(super) interval: Option<Set<Interval>>,
    pub(super) resamples: Option<Set<Resamples>>,
    pub(super) confidence: Option<Set<f64>>,
    pub(super) max_cv: Option<Set<f64>>,
    pub(super) stop: Option<Set<Stop>>,
    pub(super) correction: Option<Set<Correction>>,
    pub(super) target_ci: Option<Set<f64>>,
    pub(super) show_percent: Option<Set<f64>>,
}

/// What is said of one metric.
#[derive(Debug, Clone)]
pub(super) struct MetricLayer {
    pub(super) max_percent: Option<Set<f64>>,
    pub(super) min_difference: Option<Set<f64>>,
    pub(super) gate: Option<Set<bool>>,
    pub(super) unit: Option<Set<Unit>>,
    pub(super) better: Option<Set<Better>>,
    /// The table that names metrics, for errors.
    pub(super) named_in: Place,
    /// Named for just these benchmarks: by an entry with a target. Then a harness that cannot
    /// measure it is an error, while a whole package, or a flag, may name a metric that only some of its harnesses measure.
    pub(super) pointed: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct LaunchLayer {
    pub(super) harness: Option<Set<HarnessChoice>>,
    pub(super) args: Option<Set<Vec<String>>>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<Set<String>>,
    pub(super) stdin: Option<Set<String>>,
    pub(super) exit_codes: Option<Set<Vec<i32>>>,
    pub(super) work: Option<Set<Work>>,
    pub(super) setup: Option<Set<Vec<Vec<String>>>>,
    pub(super) prepare_each: Option<Set<Vec<Vec<String>>>>,
    pub(super) cleanup: Option<Set<Vec<Vec<String>>>>,
}

/// What is said of the practical tolerance of one metric.
#[derive(Debug, Clone)]
pub(super) struct ToleranceLayer {
    pub(super) metric_kind: Option<Set<MetricKind>>,
    pub(super) absolute: Option<Set<f64>>,
    pub(super) relative_percent: Option<Set<f64>>,
    /// The table that names metrics, for errors.
    pub(super) named_in: Place,
}

/// One budget; for a metric and an aggregation the later layer wins.
#[derive(Debug, Clone)]
pub(super) struct BudgetLayer {
    pub(super) metric: Metric,
    pub(super) aggregation: Aggregation,
    pub(super) operator: Operator,
    pub(super) limit: f64,
    /// The work unit of a rate, as written.
    pub(super) rate_unit: Option<String>,
    pub(super) written: String,
    pub(super) key: String,
    pub(super) place: Place,
    /// Of an entry with a target: a harness that cannot measure the metric is then an error.
    pub(super) pointed: bool,
}

impl BenchLayer {
    /// Lays another layer over this one: its keys win, tables are merged key by key, arrays are replaced.
    pub(super) fn lay(&mut self, over: &Self) {
        // A fixed and an adaptive number of samples exclude each other: the newer word retires the older one.
        if over.samples.is_some() {
            self.min_samples = None;
            self.max_samples = None;
        } else if over.min_samples.is_some() || over.max_samples.is_some() {
            self.samples = None;
        }
        replace(&mut self.warmup, &over.warmup);
        replace(&mut self.samples, &over.samples);
        replace(&mut self.min_samples, &over.min_samples);
        replace(&mut self.max_samples, &over.max_samples);
        replace(&mut self.min_time_ns, &over.min_time_ns);
        replace(&mut self.timeout_ns, &over.timeout_ns);
        replace(&mut self.max_percent, &over.max_percent);
        replace(&mut self.isolate, &over.isolate);
        replace(&mut self.group, &over.group);
        replace(&mut self.compare, &over.compare);
        self.judge.lay(&over.judge);
        self.launch.lay(&over.launch);
        for (metric, layer) in &over.metrics {
            match self.metrics.get_mut(metric) {
                Some(below) => below.lay(layer),
                None => {
                    self.metrics.insert(metric.clone(), layer.clone());
                }
            }
        }
        for (metric, layer) in &over.tolerances {
            let below = self.tolerances.entry(metric.clone()).or_insert_with(|| layer.clone());
            replace(&mut below.metric_kind, &layer.metric_kind);
            replace(&mut below.absolute, &layer.absolute);
            replace(&mut below.relative_percent, &layer.relative_percent);
        }
        for budget in &over.budgets {
            self.budgets
                .retain(|below| (&below.metric, below.aggregation) != (&budget.metric, budget.aggregation));
            self.budgets.push(budget.clone());
        }
    }

    /// Whether it says anything at all.
    pub(super) fn is_empty(&self) -> bool {
        // Kept honest by the test that every key of an entry but the choosing ones makes it false.
        let launch = &self.launch;
        let sampling = self.warmup.is_some()
            || self.samples.is_some()
            || self.min_samples.is_some()
            || self.max_samples.is_some()
            || self.min_time_ns.is_some()
            || self.timeout_ns.is_some()
            || self.isolate.is_some();
        let start = launch.harness.is_some()
            || launch.args.is_some()
            || !launch.env.is_empty()
            || launch.cwd.is_some()
            || launch.stdin.is_some()
            || launch.exit_codes.is_some()
            || launch.work.is_some()
            || launch.setup.is_some()
            || launch.prepare_each.is_some()
            || launch.cleanup.is_some();
        let judging = !self.metrics.is_empty() || !self.budgets.is_empty() || !self.judge.is_empty();
        !(sampling || start || judging || self.group.is_some() || self.compare.is_some())
    }
}

impl JudgeLayer {
    fn lay(&mut self, over: &Self) {
        if over.preset.is_some() {
            *self = Self::default();
        }
        // So do the keys that the newer word leaves without effect.
        if over.method.as_ref().is_some_and(|set| set.value == Method::Rank) {
            (self.interval, self.resamples) = (None, None);
        }
        match over.stop.as_ref().map(|set| set.value) {
            Some(Stop::Settled) => (self.confidence, self.target_ci) = (None, None),
            Some(Stop::Fixed) => self.target_ci = None,
            Some(Stop::Precision) | None => {}
        }
        let is_mean = over.statistic.as_ref().is_some_and(|set| set.value == Statistic::Mean);
        let is_exact = self.resamples.as_ref().is_some_and(|set| set.value == Resamples::Exact);
        if is_mean && is_exact {
            self.resamples = None;
        }
        replace(&mut self.preset, &over.preset);
        replace(&mut self.method, &over.method);
        replace(&mut self.statistic, &over.statistic);
        replace(&mut self.pairing, &over.pairing);
        replace(&mut self.interval, &over.interval);
        replace(&mut self.resamples, &over.resamples);
        replace(&mut self.confidence, &over.confidence);
        replace(&mut self.max_cv, &over.max_cv);
        replace(&mut self.stop, &over.stop);
        replace(&mut self.correction, &over.correction);
        replace(&mut self.target_ci, &over.target_ci);
        replace(&mut self.show_percent, &over.show_percent);
    }

    fn is_empty(&self) -> bool {
        self.preset.is_none()
            && self.method.is_none()
            && self.statistic.is_none()
            && self.pairing.is_none()
            && self.interval.is_none()
            && self.resamples.is_none()
            && self.confidence.is_none()
            && self.max_cv.is_none()
            && self.stop.is_none()
            && self.correction.is_none()
            && self.target_ci.is_none()
            && self.show_percent.is_none()
    }
}

impl MetricLayer {
    pub(super) fn named(named_in: Place, pointed: bool) -> Self {
        Self {
            max_percent: None,
            min_difference: None,
            gate: None,
            unit: None,
            better: None,
            named_in,
            pointed,
        }
    }

    fn lay(&mut self, over: &Self) {
        replace(&mut self.max_percent, &over.max_percent);
        replace(&mut self.min_difference, &over.min_difference);
        replace(&mut self.gate, &over.gate);
        replace(&mut self.unit, &over.unit);
        replace(&mut self.better, &over.better);
        self.pointed |= over.pointed;
    }
}

impl LaunchLayer {
    fn lay(&mut self, over: &Self) {
        replace(&mut self.harness, &over.harness);
        replace(&mut self.args, &over.args);
        replace(&mut self.cwd, &over.cwd);
        replace(&mut self.stdin, &over.stdin);
        replace(&mut self.exit_codes, &over.exit_codes);
        replace(&mut self.setup, &over.setup);
        replace(&mut self.prepare_each, &over.prepare_each);
        replace(&mut self.cleanup, &over.cleanup);
        // A file and a value exclude each other, so the work is one word, not a table to merge.
        replace(&mut self.work, &over.work);
        self.env.extend(over.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}

fn replace<T: Clone>(below: &mut Option<T>, over: &Option<T>) {
    if over.is_some() {
        below.clone_from(over);
    }
}
