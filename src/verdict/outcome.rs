//! What a judgement says: verdicts, reasons and the numbers that decided.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::settings::{Budget, Method, Statistic, word_enum};

use super::evidence::{Stage, StoppedBecause};

word_enum! {
    /// The verdict of one comparison.
    Verdict {
        /// Not worse than accepted.
        Pass = "pass",
        /// Better by more than the tolerance.
        Improved = "improved",
        /// Worse by more than the tolerance, and not noise.
        Regression = "regression",
        /// The data cannot tell.
        Inconclusive = "inconclusive",
        /// Not judged, with a reason.
        Skipped = "skipped",
    }
}

word_enum! {
    /// The stable code beside a verdict. The text shown to users is made from it and the numbers.
    Reason {
        /// A side has no samples.
        NoSamples = "no_samples",
        /// The base statistic is 0 or below.
        ZeroBase = "zero_base",
        /// Fewer than `min_samples` on a side.
        FewSamples = "few_samples",
        /// Dispersion above `max_cv`, and the sides overlap.
        Noisy = "noisy",
        /// A bootstrap base statistic was 0 or below.
        ZeroBootstrapBase = "zero_bootstrap_base",
        /// The change is below `min_difference`.
        BelowMinDifference = "below_min_difference",
        /// Neither sure enough to fail nor to pass.
        TooClose = "too_close",
        /// The peak RSS is at the runner's own floor.
        AtFloor = "at_floor",
        /// Work differs between the sides or from run to run.
        WorkDiffers = "work_differs",
        /// A latency statistic is 0 or below, so there is no rate.
        NonPositiveLatency = "non_positive_latency",
        /// The metric was not measured on both sides.
        NotMeasured = "not_measured",
        /// Decided by the exact rule of counts.
        Exact = "exact",
        /// A count went from 0 to more.
        FromZero = "from_zero",
        /// A candidate for failure that could not be measured again.
        Unconfirmed = "unconfirmed",
        /// A candidate for failure that the fresh measurement did not confirm.
        NotConfirmed = "not_confirmed",
        /// A value is not finite.
        NonFinite = "non_finite",
        /// A value is 0 or below, where the test needs its logarithm.
        NonPositive = "non_positive",
        /// Sure, but no longer so after the correction for many comparisons.
        Corrected = "corrected",
    }
}

word_enum! {
    /// The result of a benchmark, in rising severity: the worst of its gated parts.
    BenchResult {
        /// Nothing to complain of; also unchanged, new and removed.
        Pass = "pass",
        /// Something got better.
        Improved = "improved",
        /// Something cannot be told.
        Inconclusive = "inconclusive",
        /// A budget is exceeded.
        OverBudget = "over_budget",
        /// A gated comparison got worse.
        Regression = "regression",
        /// Something that was asked for was not measured.
        MetricError = "metric_error",
        /// It failed to run.
        Error = "error",
    }
}

word_enum! {
    /// How the two sides were resampled.
    PairingUsed {
        /// As pairs.
        Paired = "paired",
        /// Each on its own.
        Independent = "independent",
    }
}

/// One metric of one benchmark, base against another revision. Missing numbers are `None`, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The revision compared against.
    pub base_revision: String,
    /// The revision judged.
    pub head_revision: String,
    /// The metric.
    pub metric: Metric,
    /// The unit of `base`, `head`, `difference`, `min_difference`.
    pub unit: Unit,
    /// The metric's direction.
    pub better: Better,
    /// The statistic compared.
    pub statistic: Statistic,
    /// The statistic of base.
    pub base: Option<f64>,
    /// The statistic of head.
    pub head: Option<f64>,
    /// head - base.
    pub difference: Option<f64>,
    /// (head / base - 1) * 100, or the paired estimate.
    pub change_percent: Option<f64>,
    /// Lower end of the central interval of the change.
    pub ci_low_percent: Option<f64>,
    /// Upper end.
    pub ci_high_percent: Option<f64>,
    /// Probability that the degradation exceeds `max_percent`.
    pub probability_regression: Option<f64>,
    /// Probability that the change is an improvement beyond `max_percent`.
    pub probability_improvement: Option<f64>,
    /// Tolerated degradation.
    pub max_percent: f64,
    /// Smallest absolute change that counts; 0 is off.
    pub min_difference: f64,
    /// The probability the verdict needed.
    pub confidence: f64,
    /// Limit of the noise gate.
    pub max_cv: f64,
    /// Dispersion the gate saw on base's side, a ratio.
    pub base_dispersion: Option<f64>,
    /// Dispersion the gate saw on head's side, a ratio.
    pub head_dispersion: Option<f64>,
    /// Whether it may fail the run.
    pub gate: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, where the verdict needs one.
    pub reason: Option<Reason>,
    /// Samples of base and head.
    pub samples: [usize; 2],
    /// Samples a side the verdict needed at least.
    pub min_samples: u32,
    /// How the sides were resampled; `None` where nothing was.
    pub pairing: Option<PairingUsed>,
    /// Why measuring ended.
    pub stopped_because: Option<StoppedBecause>,
    /// For throughput: `latency`.
    pub derived_from: Option<Metric>,
    /// For an inconclusive one: the samples a side that would likely settle it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_needed: Option<u32>,
    /// For a gated regression that an `accept` entry is about: what comes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Acceptance>,
    /// The description beside the verdict.
    #[serde(default)]
    pub details: Details,
}

impl Comparison {
    /// What is held against `min_difference`: where the change is an estimate of its own (of pairs, or by ranks), it is not
    /// the difference of the two statistics, but what that change is of base.
    pub fn compared_difference(&self) -> Option<f64> {
        let own_estimate =
            self.pairing == Some(PairingUsed::Paired) || self.details.method == Some(Method::Rank);
        match (self.base, self.change_percent) {
            (Some(base), Some(percent)) if own_estimate => Some(base * percent / 100.0),
            _ => self.difference,
        }
    }
}

/// What an `accept` entry makes of a gated regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Acceptance {
    /// Whether it keeps the run from failing.
    pub status: AcceptStatus,
    /// The ceiling. Per cent.
    pub up_to_percent: f64,
    /// Why the suite accepts it.
    pub reason: String,
    /// The last day it holds, UTC.
    pub until: String,
}

word_enum! {
    /// Whether an `accept` entry holds for a regression.
    AcceptStatus {
        /// Within the ceiling, and not after the last day: it does not fail the run.
        Accepted = "accepted",
        /// Worse than the ceiling: it fails the run.
        BeyondCeiling = "beyond_ceiling",
        /// The run began after the last day: it fails the run.
        Expired = "expired",
    }
}

/// The description beside a verdict: what was asked how, and what the samples look like. It decides nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The family of the test that gave the verdict.
    pub method: Option<Method>,
    /// The stage whose samples gave the verdict and the numbers.
    pub stage: Option<Stage>,
    /// The probability a pass needed, where it is not `confidence`.
    pub pass_confidence: Option<f64>,
    /// Median of base.
    pub base_median: Option<f64>,
    /// Median of head.
    pub head_median: Option<f64>,
    /// Mean of base.
    pub base_mean: Option<f64>,
    /// Mean of head.
    pub head_mean: Option<f64>,
    /// Spearman's rank correlation of the pairs, by which `pairing = "auto"` chose.
    pub correlation: Option<f64>,
    /// Scatter of the pairs' log-ratios as one side's share, IQR / 1.349 / sqrt 2; a ratio.
    pub pair_dispersion: Option<f64>,
    /// p-value against "not worse than accepted": small for a regression.
    pub p_regression: Option<f64>,
    /// p-value against "not better than accepted": small for an improvement.
    pub p_improvement: Option<f64>,
    /// p-value against "worse than accepted": small for a pass.
    pub p_pass: Option<f64>,
    /// Two-sided p-value against "no change" (preset `effect`).
    pub p_change: Option<f64>,
    /// The p-value the verdict used, adjusted for all comparisons of the run.
    pub adjusted_p: Option<f64>,
    /// Which way preset `effect` sees a change of at least `show_percent`.
    pub effect: Option<EffectSeen>,
    /// Cliff's delta: P(head > base) - P(head < base).
    pub cliffs_delta: Option<f64>,
    /// Its size in a word.
    pub cliffs_size: Option<EffectSize>,
    /// Tukey's outliers of base.
    pub base_outliers: Option<Outliers>,
    /// Tukey's outliers of head.
    pub head_outliers: Option<Outliers>,
    /// Interquartile range / 1.349 / median of base.
    pub base_robust_cv: Option<f64>,
    /// Interquartile range / 1.349 / median of head.
    pub head_robust_cv: Option<f64>,
    /// Correlation of each run of base with the next: far from 0 when the machine drifts.
    pub base_autocorrelation: Option<f64>,
    /// Correlation of each run of head with the next.
    pub head_autocorrelation: Option<f64>,
    /// Involuntary context switches of base's runs, their median; only where noise decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_context_switches: Option<f64>,
    /// Involuntary context switches of head's runs, their median; only where noise decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_context_switches: Option<f64>,
}

word_enum! {
    /// Cliff's delta in a word (Romano et al. 2006).
    EffectSize {
        /// Below 0.147.
        Negligible = "negligible",
        /// Below 0.33.
        Small = "small",
        /// Below 0.474.
        Medium = "medium",
        /// From 0.474.
        Large = "large",
    }
}

impl EffectSize {
    /// The word of a delta; on a threshold the larger one.
    pub fn of(delta: f64) -> Self {
        match delta.abs() {
            size if size < 0.147 => Self::Negligible,
            size if size < 0.33 => Self::Small,
            size if size < 0.474 => Self::Medium,
            _ => Self::Large,
        }
    }
}

word_enum! {
    /// What preset `effect` shows of a comparison.
    EffectSeen {
        /// Significant, and worse by at least `show_percent`.
        Slower = "slower",
        /// Significant, and better by at least `show_percent`.
        Faster = "faster",
        /// Anything else.
        NoChange = "no_change",
    }
}

/// Points beyond Tukey's fences: 1.5 interquartile ranges (mild), 3 (severe). They are kept in all numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outliers {
    /// Far too low.
    pub low_severe: usize,
    /// Too low.
    pub low_mild: usize,
    /// Too high.
    pub high_mild: usize,
    /// Far too high.
    pub high_severe: usize,
}

word_enum! {
    /// What came of a budget.
    BudgetStatus {
        /// Within the limit.
        Pass = "pass",
        /// Beyond the limit.
        Fail = "fail",
        /// The metric cannot be measured here, or the value is at the floor.
        Skipped = "skipped",
        /// There are no samples.
        NoData = "no_data",
    }
}

/// A budget with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetOutcome {
    /// The budget.
    #[serde(flatten)]
    pub budget: Budget,
    /// The revision it was checked on.
    pub revision: String,
    /// The unit of `limit` and `actual`.
    pub unit: Unit,
    /// The aggregated value.
    pub actual: Option<f64>,
    /// The answer.
    pub status: BudgetStatus,
    /// Why it is not a plain pass or fail.
    pub reason: Option<Reason>,
    /// Head samples it was taken from.
    pub samples: usize,
    /// Whether these are fewer than a percentile of that height needs.
    pub few_tail_samples: bool,
}

/// The description of one sample. All in the metric's base unit but the two ratios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The unit.
    pub unit: Unit,
    /// Samples.
    pub count: usize,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Sample standard deviation (n - 1); `None` for one sample.
    pub standard_deviation: Option<f64>,
    /// Standard deviation over mean.
    pub cv: Option<f64>,
    /// Interquartile range / 1.349 / median.
    pub robust_cv: Option<f64>,
    /// 90th, 95th, 99th percentile, and those a budget names, by name.
    pub percentiles: BTreeMap<String, f64>,
}

/// The counts of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// All benchmarks.
    pub benchmarks: usize,
    /// By result.
    pub pass: usize,
    /// By result.
    pub improved: usize,
    /// By result.
    pub inconclusive: usize,
    /// By result.
    pub over_budget: usize,
    /// By result.
    pub regression: usize,
    /// By result.
    pub metric_error: usize,
    /// By result.
    pub error: usize,
    /// Comparisons and budgets that were skipped.
    pub skipped: usize,
    /// Those of them that are gated, or budgets: what `also_fail_on = ["skipped"]` is about.
    #[serde(default)]
    pub gated_skipped: usize,
    /// Comparisons that are not gated, by verdict.
    pub not_gated: NotGated,
    /// Gated regressions that an `accept` entry keeps from failing the run.
    #[serde(default, skip_serializing_if = "is_none")]
    pub accepted: usize,
    /// By presence.
    pub unchanged: usize,
    /// By presence.
    pub new: usize,
    /// By presence.
    pub removed: usize,
    /// By presence.
    pub not_comparable: usize,
    /// The false regressions to expect by chance if every gated comparison had changed by exactly what is accepted;
    /// unchanged code gives far fewer.
    #[serde(default)]
    pub expected_false_alarms: f64,
    /// What the whole comes to, for each revision compared with base; `head` first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overall: Vec<crate::summary::Overall>,
}

/// Whether a count is left out of the JSON.
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Comparisons that may not fail the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NotGated {
    /// By verdict.
    pub pass: usize,
    /// By verdict.
    pub improved: usize,
    /// By verdict.
    pub inconclusive: usize,
    /// By verdict.
    pub regression: usize,
}

/// How the run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The status of the process.
    pub code: u8,
    /// Why, in one line, for every status but 0.
    pub because: Option<String>,
    /// What `--no-fail` turned into 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_no_fail: Option<u8>,
}
