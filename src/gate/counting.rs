//! How instructions are counted for each benchmark that asks for them, or why they cannot be.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use super::benchmarks::Benchmarks;
use super::phase::Placed;
use super::tools;
use crate::harness::callgrind::Way;
use crate::measure::{Counting, Executor, PlannedBenchmark, UnitPlan};
use crate::stats::quantile::{median, sorted};
use crate::suite::metric::Metric;
use crate::suite::settings::BenchmarkSettings;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence, Stage};

/// Chooses the way of every planned benchmark that asks for instructions. `path` is the PATH in which valgrind is looked
/// for.
pub(super) fn choose(found: &mut Benchmarks, executor: &mut dyn Executor, path: Option<&str>) {
    // Asked for once, and only where the answer matters.
    let mut hardware: Option<Result<(), String>> = None;
    let has_valgrind = path.is_some_and(|path| tools::find("valgrind", OsStr::new(path)).is_some());
    for (place, planned) in &mut found.planned {
        if !is_asked_for(&found.evidence[*place].settings) {
            continue;
        }
        let way = Way::of(planned.harness);
        let counters = match way {
            Way::Whole => hardware.get_or_insert_with(|| executor.hardware_counters()).clone(),
            Way::Own => continue,
            _ => Err("the processor cannot tell a function from its harness".to_owned()),
        };
        match (counters, refusal(way, planned, has_valgrind)) {
            (Ok(()), _) => planned.unit.counting = Counting::Hardware,
            (Err(_), None) => drop(found.counted.insert(*place)),
            (Err(counters), Some(refusal)) => {
                let because = if way == Way::Whole { format!("{counters}, and {refusal}") } else { refusal };
                found.not_counted.push((*place, because));
            }
        }
    }
}

/// Whether the suite or a flag names instructions.
fn is_asked_for(settings: &BenchmarkSettings) -> bool {
    settings.metrics.get(&Metric::Instructions).is_some_and(|metric| metric.asked_for)
        || settings.budgets.iter().any(|budget| budget.metric == Metric::Instructions)
}

/// Why callgrind cannot count a benchmark.
fn refusal(way: Way, planned: &PlannedBenchmark, has_valgrind: bool) -> Option<String> {
    let harness = planned.harness;
    if way == Way::Never {
        return Some(format!(
            "nothing in the harness {harness} shows which instructions are the benchmark's own; a metric such as \
             `latency` can gate it"
        ));
    }
    if planned.sides.iter().flatten().any(|side| !side.executable.runner.is_empty()) {
        return Some(
            "the program is started by a `runner` of cargo's configuration, which would be counted"
                .to_owned(),
        );
    }
    let missing =
        "no directory of PATH holds `valgrind`; install it (`apt install valgrind`), or leave the metric out";
    (!has_valgrind).then(|| missing.to_owned())
}

/// The counting runs of the benchmarks at these places of the evidence, but of those that failed.
pub(super) fn plans(planned: &[Placed], evidence: &[Evidence], counted: &BTreeSet<usize>) -> Vec<Placed> {
    let chosen =
        planned.iter().filter(|(place, _)| counted.contains(place) && evidence[*place].error.is_none());
    let plan = |(place, benchmark): &Placed| {
        let mut benchmark = benchmark.clone();
        let latency_ns = evidence[*place]
            .sides
            .first()
            .and_then(|side| median(&sorted(&side.samples(&Metric::Latency, Stage::Screen))));
        benchmark.unit = UnitPlan { counting: Counting::Callgrind { latency_ns }, ..UnitPlan::default() };
        benchmark.sampling.warmup = 0;
        benchmark.head_alone_until = 0;
        (*place, benchmark)
    };
    chosen.map(plan).collect()
}

/// Says on the rows that asked for instructions why there are none. An error of the times says more.
pub(super) fn explain(evidence: &mut [Evidence], not_counted: &[(usize, String)]) {
    for (place, because) in not_counted {
        let evidence = &mut evidence[*place];
        let message =
            format!("{}: instructions are not available because {because}", evidence.identity.label());
        let error = BenchmarkError { kind: ErrorKind::MetricFailed, message, stderr: None };
        evidence.error.get_or_insert(error);
    }
}
