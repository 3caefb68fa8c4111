//! What a judgement says: verdicts, reasons and the numbers that decided.

use serde::{Deserialize, Serialize};

use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::settings::{Budget, Statistic, word_enum};

use super::evidence::StoppedBecause;

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
