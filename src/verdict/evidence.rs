//! What was measured of one benchmark: the input of every judgement.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::Metric;
use crate::suite::settings::{BenchmarkSettings, word_enum};

word_enum! {
    /// Which part of the run a unit run belongs to.
    Stage {
        /// The first measurement.
        Screen = "screen",
        /// The fresh measurement of a candidate for failure.
        Confirm = "confirm",
    }
}

word_enum! {
    /// How a benchmark stands in the two revisions.
    Presence {
        /// Measured on both sides.
        Compared = "compared",
        /// The programs are identical: nothing to compare.
        Unchanged = "unchanged",
        /// Only in head.
        New = "new",
        /// Only in base.
        Removed = "removed",
        /// In both, but not measured in a way that can be compared.
        NotComparable = "not_comparable",
    }
}

/// The values of one unit run, one per metric.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values(Vec<(Metric, f64)>);

impl Values {
    /// The value of a metric.
    pub fn get(&self, metric: &Metric) -> Option<f64> {
        self.0.iter().find(|(name, _)| name == metric).map(|&(_, value)| value)
    }

    /// Sets a value; the last one of a metric wins.
    pub fn set(&mut self, metric: Metric, value: f64) {
        match self.0.iter_mut().find(|(name, _)| *name == metric) {
            Some(slot) => slot.1 = value,
            None => {
                // Most runs have one value, and there may be hundreds of thousands of runs.
                if self.0.is_empty() {
                    self.0.reserve_exact(1);
                }
                self.0.push((metric, value));
            }
        }
    }

    /// All of them, in the order they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&Metric, f64)> {
        self.0.iter().map(|(metric, value)| (metric, *value))
    }
}

impl FromIterator<(Metric, f64)> for Values {
    fn from_iter<I: IntoIterator<Item = (Metric, f64)>>(values: I) -> Self {
        let mut all = Self::default();
        for (metric, value) in values {
            all.set(metric, value);
        }
        all
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(metric, value)| (metric, value)))
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Values;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table from metric names to numbers")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
                let mut values = Values::default();
                // JSON has no word for a number that is not finite: it is written, and read, as null.
                while let Some((metric, value)) = map.next_entry::<Metric, Option<f64>>()? {
                    values.set(metric, value.unwrap_or(f64::NAN));
                }
                values.0.shrink_to_fit();
                Ok(values)
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// One process start of one revision for one benchmark: one sample per metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitRun {
    /// Which part of the run it belongs to.
    pub stage: Stage,
    /// The round, from 0; two runs of each revision share one. `None` in files without rounds.
    pub round: Option<u32>,
    /// Its place in the order of all unit runs, from 0. `None` in files without it.
    pub sequence: Option<u64>,
    /// Involuntary context switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// The work it did, when the suite states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<f64>,
    /// The floor of its peak RSS, in bytes, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_floor: Option<f64>,
    /// Wall time of its process in ns, where that is not its latency: what `min_time` counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<f64>,
    /// The values.
    pub values: Values,
}

impl UnitRun {
    /// Wall time of its process, as far as it is known. ns.
    pub fn wall(&self) -> Option<f64> {
        self.wall_ns.or_else(|| self.values.get(&Metric::Latency))
    }
}

/// One revision's runs of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// `base`, `head`, or the name given to a further revision.
    pub revision: String,
    /// SHA-256 of the executable, hex.
    pub executable_sha256: Option<String>,
    /// The kept unit runs, in the order they were made. Warm-up runs are not here.
    pub runs: Vec<UnitRun>,
}

impl Side {
    /// The samples of one metric at one stage, in the order they were made.
    pub fn samples(&self, metric: &Metric, stage: Stage) -> Vec<f64> {
        self.runs.iter().filter(|run| run.stage == stage).filter_map(|run| run.values.get(metric)).collect()
    }
}

word_enum! {
    /// Why measuring of a benchmark ended.
    StoppedBecause {
        /// The verdict was settled at a look.
        Settled = "settled",
        /// The fixed number of samples was reached.
        FixedSamples = "fixed_samples",
        /// `min_samples` and `min_time` were reached, where no rule asks for more.
        MinReached = "min_reached",
        /// The interval was narrow enough.
        Target = "target",
        /// `max_samples` was reached.
        MaxSamples = "max_samples",
        /// `max_time` was reached.
        MaxTime = "max_time",
        /// The user interrupted the run.
        Interrupted = "interrupted",
        /// It failed.
        Error = "error",
    }
}

/// Why a benchmark has no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// What was being done, to what, why it failed, what to try. One or a few lines.
    pub message: String,
    /// The tail of the program's standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

word_enum! {
    /// The kinds of failure of a benchmark.
    ErrorKind {
        /// Its target did not compile.
        BuildFailed = "build_failed",
        /// The program could not be started.
        StartFailed = "start_failed",
        /// An exit code that does not count as success, or a signal.
        ExitCode = "exit_code",
        /// It ran past its time limit.
        Timeout = "timeout",
        /// Its output did not parse.
        Output = "output",
        /// A hook failed.
        HookFailed = "hook_failed",
        /// Its harness cannot be measured: result metric_error.
        Unsupported = "unsupported",
        /// It exited with success and measured nothing: result metric_error.
        MeasuredNothing = "measured_nothing",
        /// `max_time` left no time for `min_samples`: result metric_error unless partial runs are allowed.
        NotMeasured = "not_measured",
        /// A metric that was asked for could not be read: result metric_error.
        MetricFailed = "metric_failed",
        /// Interrupted by the user.
        Interrupted = "interrupted",
    }
}

/// Everything known of one benchmark before it is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Its name.
    pub identity: BenchmarkIdentity,
    /// The harness that measures it, by its word.
    pub harness: String,
    /// How it stands in the revisions.
    pub presence: Presence,
    /// Why it is not comparable, where it is not.
    pub presence_note: Option<String>,
    /// What it is measured and judged by.
    pub settings: BenchmarkSettings,
    /// The sides: base first where there is one, then head, then further revisions. `new` has head alone.
    pub sides: Vec<Side>,
    /// Why measuring ended.
    pub stopped_because: Option<StoppedBecause>,
    /// Why it has no result, when it has none.
    pub error: Option<BenchmarkError>,
}

impl Evidence {
    /// Whether the user ended the run before all of it was measured.
    pub fn was_interrupted(&self) -> bool {
        is_interrupt(self.stopped_because, self.error.as_ref())
    }
}

/// Whether either of them is the user's interrupt.
pub(crate) fn is_interrupt(stopped_because: Option<StoppedBecause>, error: Option<&BenchmarkError>) -> bool {
    stopped_because == Some(StoppedBecause::Interrupted)
        || error.is_some_and(|error| error.kind == ErrorKind::Interrupted)
}
