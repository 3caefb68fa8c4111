//! Which harness measures which metric, by the facts of the harness alone.

use cargo_metadata::{DependencyKind, Package};

use super::launch::HarnessChoice;
use super::metric::{Better, CALLGRIND_METRICS, Metric};
use super::settings::MetricSettings;

/// The metric of criterion benchmarks that measure something else than wall time, once the suite declares it with a unit:
/// criterion's files do not tell the unit of their numbers.
pub(crate) const CRITERION_MEASUREMENT: &str = "measurement";

/// The metrics of a harness that are compared when nothing is said; those of all harnesses before it is known.
pub(super) fn default_metrics(harness: Option<HarnessChoice>) -> Vec<(Metric, MetricSettings)> {
    use Metric::{AllocatedBytes, Allocations, CpuTotal, Instructions, Latency, PeakRss};
    let names: &[Metric] = match harness {
        Some(HarnessChoice::Process) => &[Latency, CpuTotal, PeakRss],
        Some(HarnessChoice::Divan) => &[Latency, Allocations, AllocatedBytes],
        Some(HarnessChoice::Gungraun | HarnessChoice::IaiCallgrind) => &[Instructions],
        Some(HarnessChoice::Criterion) => &[Latency, CpuTotal],
        // A program may report any of them; what it does not is not shown.
        Some(HarnessChoice::Lines) => {
            &[Latency, CpuTotal, PeakRss, Instructions, Allocations, AllocatedBytes]
        }
        _ => &[Latency],
    };
    names
        .iter()
        .map(|metric| {
            let settings = MetricSettings {
                unit: metric.unit().expect("every metric of the list is built in"),
                better: Better::Lower,
                max_percent: default_max_percent(metric),
                min_difference: 0.0,
                gate: is_gated_unasked(metric),
                asked_for: false,
            };
            (metric.clone(), settings)
        })
        .collect()
}

/// Whether a metric may fail a run that does not name it: CPU time and memory of a program are shown from the start, and
/// fail a run only once named.
pub(crate) fn is_gated_unasked(metric: &Metric) -> bool {
    !matches!(metric, Metric::CpuTotal | Metric::PeakRss)
}

/// The tolerated degradation when nothing is said, in per cent.
pub(crate) fn default_max_percent(metric: &Metric) -> f64 {
    match metric {
        Metric::Instructions => 1.0,
        Metric::Allocations | Metric::AllocatedBytes => 0.1,
        _ => 10.0,
    }
}

/// Whether a harness can measure a metric at all. The memory of a process that holds a bench framework is the framework's
/// own, so only whole programs have it; instructions are counted by callgrind where functions of the harness show which
/// are the benchmark's.
pub(super) fn measures(harness: HarnessChoice, metric: &Metric) -> bool {
    match harness {
        HarnessChoice::Auto | HarnessChoice::Lines => true,
        HarnessChoice::Process => {
            !matches!(metric, Metric::Allocations | Metric::AllocatedBytes | Metric::Own(_))
        }
        HarnessChoice::Divan => {
            matches!(
                metric,
                Metric::Latency | Metric::Instructions | Metric::Allocations | Metric::AllocatedBytes
            )
        }
        HarnessChoice::Gungraun | HarnessChoice::IaiCallgrind => {
            let by_callgrind = |name| CALLGRIND_METRICS.iter().any(|(known, _)| *known == name);
            *metric == Metric::Instructions || matches!(metric, Metric::Own(name) if by_callgrind(&**name))
        }
        HarnessChoice::Criterion => {
            matches!(metric, Metric::Latency | Metric::CpuTotal | Metric::Instructions)
                || *metric == Metric::Own(CRITERION_MEASUREMENT.into())
        }
        HarnessChoice::Libtest => matches!(metric, Metric::Latency | Metric::Instructions),
        HarnessChoice::Bencher | HarnessChoice::Tango => *metric == Metric::Latency,
    }
}

/// Whether a harness measures a metric of some of its benchmarks only, so that its absence is no failure unless it was
/// named for just these: the CPU time of a function that takes less than a millisecond is lost in that of criterion.
pub(crate) fn measures_sometimes(harness: HarnessChoice, metric: &Metric) -> bool {
    harness == HarnessChoice::Criterion && *metric == Metric::CpuTotal
}

/// Whether one run gives a summary over many calls inside the process, which has no percentiles of single calls.
pub(super) fn is_in_process(harness: HarnessChoice) -> bool {
    !matches!(harness, HarnessChoice::Auto | HarnessChoice::Process | HarnessChoice::Lines)
}

/// The harnesses a package depends on, by the names of the crates or the names these are renamed to.
pub(super) fn candidates(package: &Package) -> Vec<HarnessChoice> {
    let mut found: Vec<_> = package
        .dependencies
        .iter()
        .filter(|dependency| matches!(dependency.kind, DependencyKind::Normal | DependencyKind::Development))
        .filter_map(|dependency| {
            by_crate(&dependency.name).or_else(|| dependency.rename.as_deref().and_then(by_crate))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn by_crate(name: &str) -> Option<HarnessChoice> {
    Some(match name.replace('_', "-").as_str() {
        "criterion" | "codspeed-criterion-compat" => HarnessChoice::Criterion,
        "divan" | "codspeed-divan-compat" => HarnessChoice::Divan,
        "bencher" | "codspeed-bencher-compat" => HarnessChoice::Bencher,
        "gungraun" => HarnessChoice::Gungraun,
        "iai-callgrind" => HarnessChoice::IaiCallgrind,
        "tango-bench" => HarnessChoice::Tango,
        _ => return None,
    })
}
