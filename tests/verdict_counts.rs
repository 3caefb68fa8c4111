//! Counts beside times: runs that only count leave the verdicts on times alone; noise is told with its context switches.

mod verdict_support;

use cargo_benchgate::report::terminal::{Options, terminal};
use cargo_benchgate::report::{Header, assemble};
use cargo_benchgate::suite::metric::{Metric, Unit};
use cargo_benchgate::suite::settings::MetricSettings;
use cargo_benchgate::verdict::evidence::{Evidence, StoppedBecause, UnitRun};
use cargo_benchgate::verdict::outcome::{Reason, Verdict};
use cargo_benchgate::verdict::stop::stop;
use cargo_benchgate::verdict::{RunContext, judge_run};
use verdict_support::{evidence, judge_one, metric, runs, scattered, settings, settled, side};

fn counted() -> MetricSettings {
    MetricSettings { unit: Unit::Count, asked_for: true, ..metric(1.0) }
}

/// Runs of work that take long, as callgrind makes them.
fn counts(round: u32, values: &[f64]) -> Vec<UnitRun> {
    let run = |run: UnitRun| UnitRun { round: Some(round), wall_ns: Some(5e9), ..run };
    runs(&Metric::Instructions, values).into_iter().map(run).collect()
}

/// Times with work and a wall time of 20 ms a run; counts after them where there are any.
fn measured(base: &[f64], head: &[f64], counted_runs: bool) -> Evidence {
    let timed = |values: &[f64]| -> Vec<UnitRun> {
        let run = |run: UnitRun| UnitRun { work: Some(1000.0), wall_ns: Some(2e7), ..run };
        runs(&Metric::Latency, values).into_iter().map(run).collect()
    };
    let (mut base_runs, mut head_runs) = (timed(base), timed(head));
    if counted_runs {
        base_runs.extend(counts(100, &[500.0, 500.0]));
        head_runs.extend(counts(100, &[510.0]));
    }
    let metrics = [(Metric::Latency, metric(10.0)), (Metric::Instructions, counted())];
    let mut settings = settings(settled(), metrics);
    settings.sampling.min_time_ns = 200_000_000;
    evidence("group/one", settings, vec![side("base", base_runs), side("head", head_runs)])
}

#[test]
fn runs_that_only_count_change_nothing_about_the_times_and_are_exact_themselves() {
    let (base, head) = (scattered(100.0, 3.0, 24, 1), scattered(103.0, 3.0, 24, 2));
    let plain = judge_one(measured(&base, &head, false));
    let with_counts = judge_one(measured(&base, &head, true));
    let row = |judged: &cargo_benchgate::verdict::RunJudgement, metric: &Metric| {
        let comparisons = judged.benchmarks[0].comparisons.iter();
        comparisons.clone().find(|it| it.metric == *metric).cloned().expect("it is compared")
    };
    for metric in [Metric::Latency, Metric::Throughput] {
        assert_eq!(row(&plain, &metric), row(&with_counts, &metric));
    }
    assert_eq!(row(&plain, &Metric::Latency).stopped_because, Some(StoppedBecause::Settled));
    // 200 ms of runs of 20 ms each: the look at 8 comes too early, that at 10 does not, whatever a count took.
    assert_eq!(row(&with_counts, &Metric::Latency).samples, [10, 10]);
    assert_eq!(row(&plain, &Metric::Instructions).reason, Some(Reason::NotMeasured));
    let exact = row(&with_counts, &Metric::Instructions);
    assert_eq!(
        (exact.verdict, exact.reason, exact.samples),
        (Verdict::Regression, Some(Reason::Exact), [2, 1])
    );
    assert!((exact.change_percent.expect("it was compared") - 2.0).abs() < 1e-9);
}

#[test]
fn measuring_of_times_ends_by_the_times_where_only_counts_are_gated() {
    let values = scattered(100.0, 1.0, 10, 3);
    let mut it = measured(&values, &values, false);
    it.settings.metrics.get_mut(&Metric::Latency).expect("it is there").gate = false;
    assert_eq!(stop(&it.settings, &it.sides), Some(StoppedBecause::Settled));
}

#[test]
fn a_noisy_row_tells_how_often_other_work_took_the_cpu() {
    let noisy = |switches: u64| -> Vec<UnitRun> {
        let values = scattered(300.0, 90.0, 60, switches);
        let run = |run: UnitRun| UnitRun { context_switches: Some(switches), ..run };
        runs(&Metric::Latency, &values).into_iter().map(run).collect()
    };
    let mut judge = settled();
    judge.max_cv = 0.05;
    let it = evidence(
        "one",
        settings(judge, [(Metric::Latency, metric(10.0))]),
        vec![side("base", noisy(71)), side("head", noisy(3))],
    );
    let judged = judge_run(std::slice::from_ref(&it), &RunContext::default());
    let comparison = &judged.benchmarks[0].comparisons[0];
    assert_eq!(comparison.reason, Some(Reason::Noisy));
    assert_eq!(comparison.details.base_context_switches, Some(71.0));
    assert_eq!(comparison.details.head_context_switches, Some(3.0));
    let header = Header::bare("compare", 7);
    let report = assemble(header, vec![it], judged.benchmarks, judged.summary, judged.exit);
    let text = terminal(&report, Options::default());
    assert!(text.contains("other work took the CPU 71 and 3 times a run"), "{text}");
}
