//! The metrics: names, units, directions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a metric. Values are held in the base unit ([`Unit`]): nanoseconds, bytes, counts, percent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Wall time of one unit: an iteration where the harness times functions, the whole process otherwise. ns.
    Latency,
    /// Work units per second, derived from latency; never gates.
    Throughput,
    /// User plus system time of the process tree, by wait4. ns.
    CpuTotal,
    /// User time. ns.
    CpuUser,
    /// System time. ns.
    CpuSystem,
    /// `cpu_total / latency`, in percent of one CPU.
    CpuUtilization,
    /// Largest resident set of any single process of the tree. Bytes.
    PeakRss,
    /// Instructions retired.
    Instructions,
    /// Heap allocations per iteration.
    Allocations,
    /// Bytes allocated per iteration.
    AllocatedBytes,
    /// A metric of the user's own, declared in the suite.
    Own(Box<str>),
}

impl Metric {
    /// Every metric the tool itself knows, in the order reports show them.
    pub const BUILT_IN: [Self; 10] = [
        Self::Latency,
        Self::Throughput,
        Self::CpuTotal,
        Self::CpuUser,
        Self::CpuSystem,
        Self::CpuUtilization,
        Self::PeakRss,
        Self::Instructions,
        Self::Allocations,
        Self::AllocatedBytes,
    ];

    /// The metric of that name; any unknown name is one of the user's own.
    pub fn from_name(name: &str) -> Self {
        Self::BUILT_IN
            .into_iter()
            .find(|metric| metric.name() == name)
            .unwrap_or_else(|| Self::Own(name.into()))
    }

    /// The name in Cargo.toml, on the command line and in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::CpuTotal => "cpu_total",
            Self::CpuUser => "cpu_user",
            Self::CpuSystem => "cpu_system",
            Self::CpuUtilization => "cpu_utilization",
            Self::PeakRss => "peak_rss",
            Self::Instructions => "instructions",
            Self::Allocations => "allocations",
            Self::AllocatedBytes => "allocated_bytes",
            Self::Own(name) => name,
        }
    }

    /// The unit of a built-in metric; `None` for the user's own, whose unit the suite states.
    pub fn unit(&self) -> Option<Unit> {
        Some(match self {
            Self::Latency | Self::CpuTotal | Self::CpuUser | Self::CpuSystem => Unit::Nanoseconds,
            Self::Throughput => Unit::PerSecond,
            Self::CpuUtilization => Unit::Percent,
            Self::PeakRss | Self::AllocatedBytes => Unit::Bytes,
            Self::Instructions | Self::Allocations => Unit::Count,
            Self::Own(_) => return None,
        })
    }

    /// Whether base and head are compared on it. The others are reported, and may have budgets.
    pub fn is_comparable(&self) -> bool {
        !matches!(self, Self::CpuUser | Self::CpuSystem | Self::CpuUtilization)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Ok(Self::from_name(&name))
    }
}

/// What callgrind simulates beside the instructions, by the names of our metrics and of its events: reported by the
/// harnesses that run it, and compared where the suite declares one, with `unit = "count"`.
pub const CALLGRIND_METRICS: [(&str, &str); 5] = [
    ("estimated_cycles", "EstimatedCycles"),
    ("l1_hits", "L1hits"),
    ("ll_hits", "LLhits"),
    ("ram_hits", "RamHits"),
    ("total_read_write", "TotalRW"),
];

/// The unit values of a metric are held in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A plain count.
    Count,
    /// Per cent: 100 is one whole.
    Percent,
    /// Work units per second.
    PerSecond,
    /// A unit of the user's own, shown as written.
    Own(Box<str>),
}

impl Unit {
    /// The unit of that word.
    pub fn from_name(name: &str) -> Self {
        match name {
            "ns" => Self::Nanoseconds,
            "bytes" => Self::Bytes,
            "count" => Self::Count,
            "percent" => Self::Percent,
            "per_second" => Self::PerSecond,
            other => Self::Own(other.into()),
        }
    }

    /// The word reports use.
    pub fn name(&self) -> &str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::Count => "count",
            Self::Percent => "percent",
            Self::PerSecond => "per_second",
            Self::Own(name) => name,
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Ok(Self::from_name(&name))
    }
}

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better: times, memory, counts.
    Lower,
    /// More is better: rates.
    Higher,
}
