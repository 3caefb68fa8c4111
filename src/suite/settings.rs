//! The resolved settings of one benchmark: every key has its value, every unit is the base unit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::metric::{Better, Metric, Unit};
use super::tolerance::Policy;

/// Everything a benchmark is measured and judged by. Stored in the report, so `judge` can start from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkSettings {
    /// How often it is run.
    pub sampling: Sampling,
    /// How two sides are compared.
    pub judge: JudgeSettings,
    /// The settings of each metric that is compared, or declared by the user.
    pub metrics: BTreeMap<Metric, MetricSettings>,
    /// Absolute limits on head.
    pub budgets: Vec<Budget>,
    /// False: head alone is measured, for its budgets.
    pub compare: bool,
    /// The group it is summarised in; `None`: the part of the id before the first `/`.
    pub group: Option<String>,
    /// What is written of the practical tolerance of metrics, for the history; the rest has its defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tolerances: BTreeMap<Metric, Policy>,
}

/// How often a benchmark is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Unit runs a revision that are thrown away first.
    pub warmup: u32,
    /// Unit runs a revision that are kept.
    pub samples: SampleCount,
    /// Adaptive runs go on for at least this much measured wall time a revision. ns.
    pub min_time_ns: u64,
    /// The limit of one unit run. ns.
    pub timeout_ns: u64,
}

/// A fixed or an adaptive number of unit runs a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleCount {
    /// Exactly so many (even, since a round holds two of every revision).
    Fixed(u32),
    /// At least `min`, at most `max`; in between, the stop rule decides.
    Adaptive {
        /// Before this many nothing is judged.
        min: u32,
        /// Here measuring ends whatever the data say.
        max: u32,
    },
}

/// How two sides of samples are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeSettings {
    /// The preset the keys started from; empty when none was named.
    pub preset: Preset,
    /// Bootstrap or rank test.
    pub method: Method,
    /// The statistic that is compared.
    pub statistic: Statistic,
    /// Whether runs of one round are taken as pairs.
    pub pairing: Pairing,
    /// The form of the bootstrap interval.
    pub interval: Interval,
    /// How the bootstrap law is computed.
    pub resamples: Resamples,
    /// The probability a one-look verdict needs, 0.5 to 0.999.
    pub confidence: f64,
    /// Samples a side before anything is judged.
    pub min_samples: u32,
    /// Limit of the noise gate, a ratio; 0 turns it off.
    pub max_cv: f64,
    /// When measuring ends.
    pub stop: Stop,
    /// What guards against false alarms over many benchmarks.
    pub correction: Correction,
    /// Wanted half-width of the interval for `stop = "precision"`, a ratio (0.01 is 1 %).
    pub target_ci: f64,
    /// The smallest change in per cent that preset `effect` shows; other presets ignore it.
    pub show_percent: f64,
}

macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in the order help texts list them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in Cargo.toml, on the command line and in reports.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The value of that word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use word_enum;

word_enum! {
    /// A named set of all judge keys.
    Preset {
        /// The default judge.
        Default = "default",
        /// The ten-row table alone: fixed runs, independent bootstrap, one look, no correction.
        Fixed = "fixed",
        /// Two-sided Mann-Whitney with Holm, an interval that excludes 1, a threshold.
        Effect = "effect",
    }
}
word_enum! {
    /// The family of the test.
    Method {
        /// Bootstrap of the statistic.
        Bootstrap = "bootstrap",
        /// Signed-rank or Mann-Whitney, at the tolerance.
        Rank = "rank",
    }
}
word_enum! {
    /// The statistic that is compared.
    Statistic {
        /// The middle sample, or the average of the middle two.
        Median = "median",
        /// Sum over count.
        Mean = "mean",
    }
}
word_enum! {
    /// Whether the runs of one round are taken as pairs.
    Pairing {
        /// Pairs when the rounds correlate.
        Auto = "auto",
        /// Always pairs.
        Paired = "paired",
        /// Never pairs.
        Independent = "independent",
    }
}
word_enum! {
    /// The form of the bootstrap interval.
    Interval {
        /// Central percentiles of the law.
        Percentile = "percentile",
        /// Bias-corrected and accelerated.
        Bca = "bca",
    }
}
word_enum! {
    /// When measuring ends.
    Stop {
        /// At the first look where the verdict is settled.
        Settled = "settled",
        /// At the wanted number of samples.
        Fixed = "fixed",
        /// When every side's interval is narrow enough.
        Precision = "precision",
    }
}
word_enum! {
    /// What guards against false alarms over many benchmarks.
    Correction {
        /// Candidates are measured again and judged on the fresh data.
        Confirm = "confirm",
        /// Holm over all comparisons.
        Holm = "holm",
        /// Benjamini-Hochberg, for reports.
        Bh = "bh",
        /// None.
        None = "none",
    }
}

/// How the bootstrap law is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resamples {
    /// In closed form; the median only.
    Exact,
    /// By so many random resamples.
    MonteCarlo(u32),
}

/// The limits of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricSettings {
    /// The unit of its values.
    pub unit: Unit,
    /// Its direction.
    pub better: Better,
    /// Tolerated degradation in per cent, above 0 and at most 1000.
    pub max_percent: f64,
    /// Smallest absolute change that counts, in `unit`; 0 is off.
    pub min_difference: f64,
    /// Whether it may fail the run.
    pub gate: bool,
    /// Whether the suite or the command line names it: then it must be measured, or the result is metric_error.
    pub asked_for: bool,
}

/// An absolute limit on head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The metric.
    pub metric: Metric,
    /// What is taken of head's samples.
    pub aggregation: Aggregation,
    /// How it must stand to the limit.
    pub operator: Operator,
    /// The limit, in the metric's base unit.
    pub limit: f64,
    /// The limit as the user wrote it, for messages.
    pub written: String,
}

/// What a budget takes of head's samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Arithmetic mean.
    Mean,
    /// Median.
    Median,
    /// A percentile, above 0 and below 100.
    Percentile(f64),
}

/// Samples that a percentile's tail should hold.
const TAIL_SAMPLES: f64 = 10.0;

impl Aggregation {
    /// The samples it needs: for pN, ceil(10 / (1 - N/100)); 0 for all others.
    pub fn samples_needed(self) -> u32 {
        match self {
            // 100 - 99.9 is a little below 0.1 in binary: a whole number stays a whole number.
            Self::Percentile(percent) if percent < 100.0 => {
                (TAIL_SAMPLES * 100.0 / (100.0 - percent) - 1e-6).ceil() as u32
            }
            _ => 0,
        }
    }
}

word_enum! {
    /// How a budget's value must stand to its limit; as written, no epsilon.
    Operator {
        /// Strictly below.
        Less = "<",
        /// At most.
        LessOrEqual = "<=",
        /// Strictly above.
        Greater = ">",
        /// At least.
        GreaterOrEqual = ">=",
    }
}
