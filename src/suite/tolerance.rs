//! The practical tolerance: the smallest change of a metric that anyone would act on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::metric::{Metric, Unit};
use super::settings::word_enum;

const MIB: f64 = 1024.0 * 1024.0;

word_enum! {
    /// What kind of quantity a metric is, for its default floors.
    MetricKind {
        /// The run time of a whole program: 30 ms.
        Duration = "duration",
        /// The run time of a function: no floor.
        Microbenchmark = "microbenchmark",
        /// Largest resident memory: 8 MiB and 5 %.
        MemoryPeak = "memory_peak",
        /// Memory in use: 8 MiB and 5 %.
        HeapLive = "heap_live",
        /// Memory asked for: no floor.
        Allocation = "allocation",
        /// Anything else: no floor.
        Unspecified = "unspecified",
    }
}

/// What is written of a tolerance: in the suite, or in an imported result.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The kind; `None`: by unit and metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric_kind: Option<MetricKind>,
    /// The absolute floor, in the unit of the metric; `None`: by kind. 0 turns it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absolute: Option<f64>,
    /// The relative floor in per cent of the reference; `None`: by kind. 0 turns it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_percent: Option<f64>,
}

/// The floors in effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Floors {
    /// The kind.
    pub metric_kind: MetricKind,
    /// The absolute floor, in the unit of the metric.
    pub absolute: f64,
    /// The relative floor, in per cent of the reference.
    pub relative_percent: f64,
}

/// A change held against the floors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// The floors in effect.
    #[serde(flatten)]
    pub floors: Floors,
    /// What the value is compared with.
    pub reference: f64,
    /// Value minus reference; not flipped for the direction.
    pub delta: f64,
    /// The larger of the two floors.
    pub minimum_change: f64,
    /// Whether the change is no larger than that.
    pub within_tolerance: bool,
}

impl Policy {
    /// The policy of a JSON value: an object of known fields, or null for none.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self::default()),
            Value::Object(_) => serde_json::from_value(value.clone()).map_err(|error| error.to_string()),
            _ => Err("a tolerance is a table of metric_kind, absolute and relative_percent".to_owned()),
        }
    }

    /// The floors in effect for values of that unit.
    ///
    /// # Errors
    ///
    /// A kind that does not go with the unit, and a floor that is negative or not finite.
    pub fn resolve(&self, unit: &Unit) -> Result<Floors, String> {
        let family = Family::of(unit);
        let kind = self.metric_kind.unwrap_or(match family {
            Family::Seconds | Family::Nanoseconds => MetricKind::Duration,
            Family::Bytes | Family::Other => MetricKind::Unspecified,
        });
        let is_time = matches!(family, Family::Seconds | Family::Nanoseconds);
        let fits = match kind {
            MetricKind::Duration | MetricKind::Microbenchmark => is_time,
            MetricKind::MemoryPeak | MetricKind::HeapLive | MetricKind::Allocation => family == Family::Bytes,
            MetricKind::Unspecified => true,
        };
        if !fits {
            let of = if matches!(kind, MetricKind::Duration | MetricKind::Microbenchmark) {
                "times"
            } else {
                "bytes"
            };
            return Err(format!("the kind `{kind}` is for {of}, and the unit is {}", unit.name()));
        }
        let (absolute, relative_percent) = match kind {
            MetricKind::Duration if family == Family::Seconds => (0.03, 0.0),
            MetricKind::Duration => (30_000_000.0, 0.0),
            MetricKind::MemoryPeak | MetricKind::HeapLive => (8.0 * MIB, 5.0),
            MetricKind::Microbenchmark | MetricKind::Allocation | MetricKind::Unspecified => (0.0, 0.0),
        };
        let floors = Floors {
            metric_kind: kind,
            absolute: self.absolute.unwrap_or(absolute),
            relative_percent: self.relative_percent.unwrap_or(relative_percent),
        };
        match [floors.absolute, floors.relative_percent]
            .iter()
            .all(|floor| floor.is_finite() && 0.0 <= *floor)
        {
            true => Ok(floors),
            false => Err("a floor is a finite number of 0 or more".to_owned()),
        }
    }
}

/// The kind of a metric where nothing is said: a function's latency is a microbenchmark, a whole program's a duration.
pub fn default_kind(metric: &Metric, unit: &Unit, whole_program: bool) -> MetricKind {
    let is_time = matches!(Family::of(unit), Family::Seconds | Family::Nanoseconds);
    match metric {
        Metric::PeakRss if Family::of(unit) == Family::Bytes => MetricKind::MemoryPeak,
        Metric::AllocatedBytes if Family::of(unit) == Family::Bytes => MetricKind::Allocation,
        _ if is_time && whole_program => MetricKind::Duration,
        _ if is_time => MetricKind::Microbenchmark,
        _ => MetricKind::Unspecified,
    }
}

impl Floors {
    /// A value against a reference. A change exactly at the floor is within it.
    pub fn judge(self, reference: f64, value: f64) -> Tolerance {
        let minimum_change = self.absolute.max(reference.abs() * (self.relative_percent / 100.0));
        let delta = value - reference;
        Tolerance {
            floors: self,
            reference,
            delta,
            minimum_change,
            within_tolerance: delta.abs() <= minimum_change,
        }
    }
}

/// Units as far as floors tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Seconds,
    Nanoseconds,
    Bytes,
    Other,
}

impl Family {
    fn of(unit: &Unit) -> Self {
        match unit {
            Unit::Nanoseconds => Self::Nanoseconds,
            Unit::Bytes => Self::Bytes,
            Unit::Own(name) => match &**name {
                "s" => Self::Seconds,
                "ns" => Self::Nanoseconds,
                "B" => Self::Bytes,
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }
}
