//! What only shows over all runs of the benchmarks that time functions: allocations that are none, times that are none.

use std::collections::BTreeSet;

use crate::harness::HarnessKind;
use crate::suite::CRITERION_MEASUREMENT;
use crate::suite::metric::Metric;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence, Side, UnitRun};

/// No iteration that does anything is faster, ns.
const LEAST_WORK_NS: f64 = 0.1;

/// Completes the evidence, and gives what is to be told of it.
pub(super) fn complete(evidence: &mut [Evidence]) -> Option<String> {
    count_no_allocations(evidence);
    refuse_unknown_units(evidence);
    optimised_away(evidence)
}

/// A criterion bench can measure anything, and its files do not say in which unit.
fn refuse_unknown_units(evidence: &mut [Evidence]) {
    let own = Metric::Own(CRITERION_MEASUREMENT.into());
    for evidence in evidence {
        let has_value = |side: &Side| side.runs.iter().any(|run| run.values.get(&own).is_some());
        if evidence.error.is_some()
            || evidence.harness != HarnessKind::Criterion.as_str()
            || evidence.settings.metrics.contains_key(&own)
            || !evidence.sides.iter().any(has_value)
        {
            continue;
        }
        let message = format!(
            "{} does not measure wall time but something of the bench's own, whose unit criterion's files do not tell; state it in \
             the target's `[[package.metadata.benchgate.bench]]` entry, as in `metrics.{CRITERION_MEASUREMENT} = {{ unit = \"cycles\", \
             better = \"lower\" }}`, or leave the benchmark out with `skip`",
            evidence.identity.label()
        );
        evidence.error = Some(BenchmarkError { kind: ErrorKind::Unsupported, message, stderr: None });
    }
}

/// divan prints nothing of a function that allocates nothing, as of all functions where its allocator is not in use.
/// Beside one of the same program that does allocate, nothing is a count of 0. That is said where somebody asked for
/// counts or another side has one: most functions of most benches allocate nothing.
fn count_no_allocations(evidence: &mut [Evidence]) {
    let is_divan = |evidence: &Evidence| evidence.harness == HarnessKind::Divan.as_str();
    let program =
        |evidence: &Evidence, side: &Side| (evidence.identity.target.clone(), side.revision.clone());
    let counted: BTreeSet<_> = evidence
        .iter()
        .filter(|it| is_divan(it))
        .flat_map(|it| it.sides.iter().map(move |side| (it, side)))
        .filter(|(_, side)| side.runs.iter().any(|run| run.values.get(&Metric::Allocations).is_some()))
        .map(|(it, side)| program(it, side))
        .collect();
    let is_wanted = |it: &Evidence| {
        [Metric::Allocations, Metric::AllocatedBytes].iter().any(|metric| {
            it.settings.metrics.get(metric).is_some_and(|limits| limits.asked_for)
                || it.sides.iter().any(|side| side.runs.iter().any(|run| run.values.get(metric).is_some()))
        })
    };
    for evidence in evidence.iter_mut().filter(|it| is_divan(it) && is_wanted(it)) {
        for place in 0..evidence.sides.len() {
            if !counted.contains(&program(evidence, &evidence.sides[place])) {
                continue;
            }
            // Runs that only count instructions tell nothing of allocations.
            let timed = |run: &&mut UnitRun| run.values.get(&Metric::Latency).is_some();
            for run in evidence.sides[place].runs.iter_mut().filter(timed) {
                for metric in [Metric::Allocations, Metric::AllocatedBytes] {
                    if run.values.get(&metric).is_none() {
                        run.values.set(metric, 0.0);
                    }
                }
            }
        }
    }
}

/// Takes the gate from times that no work takes.
fn optimised_away(evidence: &mut [Evidence]) -> Option<String> {
    let mut labels = Vec::new();
    for evidence in evidence.iter_mut().filter(|it| it.harness != HarnessKind::Process.as_str()) {
        let does_nothing = |side: &Side| {
            let mut times: Vec<f64> =
                side.runs.iter().filter_map(|run| run.values.get(&Metric::Latency)).collect();
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).is_some_and(|&median| median < LEAST_WORK_NS)
        };
        if evidence.sides.iter().any(does_nothing)
            && let Some(latency) = evidence.settings.metrics.get_mut(&Metric::Latency)
        {
            latency.gate = false;
            labels.push(evidence.identity.label());
        }
    }
    let (first, rest) = labels.split_first()?;
    let subject = match rest.len() {
        0 => format!("{first} takes"),
        more => format!("{first} and {more} more take"),
    };
    Some(format!(
        "{subject} less than {LEAST_WORK_NS} ns an iteration, so the compiler has optimised the work away; the time is shown and \
         not gated; pass the inputs and the result through `std::hint::black_box`"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
    use crate::suite::metric::Unit;
    use crate::suite::rejudge::settings_for_samples;
    use crate::suite::settings::MetricSettings;
    use crate::verdict::evidence::{Presence, Stage, UnitRun, Values};

    /// A benchmark with one run a side, of this time and these allocations.
    fn measured(harness: &str, id: &str, sides: [(f64, Option<f64>); 2]) -> Evidence {
        let side = |revision: &str, (latency, allocations): (f64, Option<f64>)| {
            let mut values = Values::from_iter([(Metric::Latency, latency)]);
            if let Some(count) = allocations {
                values.set(Metric::Allocations, count);
                values.set(Metric::AllocatedBytes, 8.0 * count);
            }
            let run = UnitRun {
                stage: Stage::Screen,
                round: Some(0),
                sequence: Some(0),
                context_switches: None,
                work: None,
                peak_rss_floor: None,
                wall_ns: None,
                values,
            };
            Side { revision: revision.to_owned(), executable_sha256: None, runs: vec![run] }
        };
        let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() };
        Evidence {
            identity: BenchmarkIdentity { target, variant: String::new(), id: id.to_owned() },
            harness: harness.to_owned(),
            presence: Presence::Compared,
            presence_note: None,
            settings: settings_for_samples(&BTreeMap::from([(Metric::Latency, Unit::Nanoseconds)])),
            sides: vec![side("base", sides[0]), side("head", sides[1])],
            stopped_because: None,
            error: None,
        }
    }

    fn allocations(evidence: &Evidence) -> Vec<Option<f64>> {
        evidence.sides.iter().map(|side| side.runs[0].values.get(&Metric::Allocations)).collect()
    }

    fn gated(evidence: &Evidence) -> bool {
        evidence.settings.metrics[&Metric::Latency].gate
    }

    #[test]
    fn nothing_said_of_allocations_is_none_of_them_where_the_program_counts_them() {
        let counting = || measured("divan", "a", [(5.0, Some(3.0)), (5.0, Some(3.0))]);
        let mut evidence = [
            counting(),
            measured("divan", "b", [(5.0, None), (5.0, Some(2.0))]),
            measured("divan", "c", [(5.0, None), (5.0, None)]),
        ];
        complete(&mut evidence);
        assert_eq!(allocations(&evidence[1]), [Some(0.0), Some(2.0)]);
        assert_eq!(allocations(&evidence[2]), [None, None], "nobody asks");
        let limits = evidence[2].settings.metrics[&Metric::Latency].clone();
        evidence[2]
            .settings
            .metrics
            .insert(Metric::Allocations, MetricSettings { asked_for: true, ..limits });
        complete(&mut evidence);
        assert_eq!(allocations(&evidence[2]), [Some(0.0), Some(0.0)]);
    }

    #[test]
    fn a_program_that_never_allocated_may_not_count_at_all() {
        let mut evidence = [measured("divan", "a", [(5.0, Some(3.0)), (5.0, None)])];
        complete(&mut evidence);
        assert_eq!(allocations(&evidence[0]), [Some(3.0), None]);
        let mut other = [measured("criterion", "a", [(5.0, None), (5.0, None)])];
        complete(&mut other);
        assert_eq!(allocations(&other[0]), [None, None]);
    }

    #[test]
    fn a_measurement_without_a_stated_unit_is_refused_with_the_key_that_states_it() {
        let own = Metric::Own(CRITERION_MEASUREMENT.into());
        let cycles = || {
            let mut evidence = measured("criterion", "cycles", [(5.0, None), (5.0, None)]);
            for side in &mut evidence.sides {
                side.runs[0].values = Values::from_iter([(own.clone(), 120.0)]);
            }
            evidence
        };
        let mut stated = cycles();
        let limits = stated.settings.metrics[&Metric::Latency].clone();
        stated.settings.metrics.insert(own.clone(), limits);
        let mut evidence = [cycles(), stated];
        complete(&mut evidence);
        let error = evidence[0].error.as_ref().expect("it is refused");
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.message.contains("metrics.measurement = { unit = "), "{}", error.message);
        assert_eq!(evidence[1].error, None);
    }

    #[test]
    fn a_time_that_no_work_takes_is_told_and_loses_its_gate_whichever_side_it_is_on() {
        let mut evidence = [
            measured("criterion", "real", [(0.3, None), (0.3, None)]),
            measured("criterion", "gone", [(5.0, None), (0.004, None)]),
            measured("divan", "never", [(0.0, None), (0.0, None)]),
            measured("process", "t", [(0.01, None), (0.01, None)]),
        ];
        let told = complete(&mut evidence).expect("two are told");
        assert!(told.starts_with("t/gone and 1 more take less than 0.1 ns"), "{told}");
        assert_eq!(evidence.each_ref().map(gated), [true, false, false, true]);
        assert_eq!(complete(&mut evidence[..1]), None);
    }
}
