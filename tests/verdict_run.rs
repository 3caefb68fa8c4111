//! The judgement of whole runs: results, counts, exit statuses and the reasons given for them.

mod verdict_support;

use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::suite::settings::{Aggregation, MetricSettings, Operator, SampleCount};
use cargo_benchgate::verdict::budget::samples_needed;
use cargo_benchgate::verdict::evidence::{
    BenchmarkError, ErrorKind, Evidence, Presence, Side, StoppedBecause,
};
use cargo_benchgate::verdict::outcome::{BenchResult, BudgetStatus, Reason, Verdict};
use cargo_benchgate::verdict::stop::stop;
use cargo_benchgate::verdict::{RunContext, judge_run};
use verdict_support::{budget, evidence, fixed, judge_one, latency, loose, metric, runs, settings, side};

const SAME: [f64; 10] = [100.0; 10];
const SLOWER: [f64; 10] = [130.0; 10];

fn named(id: &str, base: &[f64], head: &[f64]) -> Evidence {
    let mut evidence = latency(fixed(), metric(10.0), base, head);
    evidence.identity.id = id.into();
    evidence
}

fn failed(kind: ErrorKind) -> Evidence {
    let mut evidence = named("broken", &SAME, &SAME);
    evidence.error = Some(BenchmarkError { kind, message: "it broke\nand how".into(), stderr: None });
    evidence
}

fn presence(presence: Presence) -> Evidence {
    let mut evidence = named("one", &[], &SAME);
    evidence.presence = presence;
    evidence.sides.remove(0);
    evidence
}

#[test]
fn a_regression_fails_the_run_and_the_exit_line_names_the_first_three() {
    let evidence: Vec<Evidence> = ["a", "b", "c", "d", "e"].map(|id| named(id, &SAME, &SLOWER)).into();
    let judged = judge_run(&evidence, &RunContext::default());
    assert_eq!(judged.exit.code, 1);
    assert_eq!(judged.exit.because.unwrap(), "5 regressions: speed/a, speed/b, speed/c and 2 more");
    assert_eq!(judged.summary.regression, 5);
}

#[test]
fn no_fail_turns_1_into_0_and_records_it_but_leaves_4_and_6_alone() {
    let context = RunContext { no_fail: true, ..RunContext::default() };
    let exit = judge_run(&[named("a", &SAME, &SLOWER)], &context).exit;
    assert_eq!((exit.code, exit.without_no_fail), (0, Some(1)));
    assert!(exit.because.unwrap().starts_with("1 regression: speed/a"));
    for (kind, code) in [(ErrorKind::ExitCode, 4), (ErrorKind::MeasuredNothing, 6)] {
        let exit = judge_run(&[failed(kind)], &context).exit;
        assert_eq!((exit.code, exit.without_no_fail), (code, None));
    }
}

#[test]
fn an_error_outranks_everything_and_its_message_is_in_the_exit_line() {
    let evidence = [failed(ErrorKind::Timeout), named("a", &SAME, &SLOWER), failed(ErrorKind::MetricFailed)];
    let judged = judge_run(&evidence, &RunContext::default());
    assert_eq!(judged.exit.code, 4);
    assert_eq!(
        judged.exit.because.unwrap(),
        "1 benchmark failed: speed/broken: it broke; also 1 regression: speed/a"
    );
    assert!(judged.benchmarks[0].comparisons.is_empty(), "partial samples are never a verdict");
    assert_eq!(judged.benchmarks[2].result, BenchResult::MetricError);
}

#[test]
fn an_interrupted_run_ends_with_4_whatever_it_has() {
    let context = RunContext { interrupted: true, no_fail: true, ..RunContext::default() };
    let exit = judge_run(&[named("a", &SAME, &SAME)], &context).exit;
    assert_eq!(exit.code, 4);
    assert!(exit.because.unwrap().contains("interrupted"));
}

#[test]
fn what_is_left_at_max_time_ends_with_6_unless_partial_runs_are_allowed() {
    let partial = RunContext { allow_partial: true, ..RunContext::default() };
    let evidence = [named("a", &SAME, &SAME), failed(ErrorKind::NotMeasured)];
    assert_eq!(judge_run(&evidence, &RunContext::default()).exit.code, 6);
    let judged = judge_run(&evidence, &partial);
    assert_eq!((judged.exit.code, judged.benchmarks[1].result), (0, BenchResult::Inconclusive));
}

#[test]
fn a_budget_without_a_single_sample_is_no_pass() {
    let mut evidence = named("a", &SAME, &SAME);
    evidence.settings.budgets = vec![budget(Metric::CpuTotal, Aggregation::Max, Operator::LessOrEqual, 1e9)];
    let judged = judge_run(&[evidence], &RunContext::default());
    let outcome = &judged.benchmarks[0].budgets[0];
    assert_eq!((outcome.status, outcome.actual), (BudgetStatus::NoData, None));
    assert_eq!((judged.benchmarks[0].result, judged.exit.code), (BenchResult::MetricError, 6));
}

#[test]
fn a_budget_of_what_may_be_left_out_is_checked_only_on_what_was_measured() {
    let partial = RunContext { allow_partial: true, ..RunContext::default() };
    let mut left_out = failed(ErrorKind::NotMeasured);
    left_out.settings.budgets = vec![budget(Metric::Latency, Aggregation::Max, Operator::Less, 50.0)];
    let over = judge_run(&[left_out.clone()], &partial);
    assert_eq!((over.exit.code, over.benchmarks[0].budgets[0].status), (1, BudgetStatus::Fail));
    left_out.sides.iter_mut().for_each(|side| side.runs.clear());
    let nothing = judge_run(&[named("a", &SAME, &SAME), left_out.clone()], &partial);
    assert_eq!((nothing.exit.code, nothing.benchmarks[1].budgets.len()), (0, 0));
    let refused = judge_run(&[named("a", &SAME, &SAME), left_out], &RunContext::default());
    assert_eq!(refused.exit.code, 6);
}

#[test]
fn a_run_that_measured_nothing_is_never_green() {
    assert_eq!(judge_run(&[], &RunContext::default()).exit.code, 6);
    let mut removed = presence(Presence::Removed);
    removed.sides.clear();
    let exit = judge_run(&[removed], &RunContext { allow_partial: true, ..RunContext::default() }).exit;
    assert_eq!(exit.code, 6);
    assert!(exit.because.unwrap().contains("nothing was measured"));
    let empty = judge_one(named("a", &[], &[]));
    assert_eq!((empty.exit.code, empty.benchmarks[0].result), (6, BenchResult::MetricError));
}

#[test]
fn a_metric_that_was_asked_for_and_not_measured_on_both_sides_is_a_metric_error() {
    for measured in [None, Some(0), Some(1)] {
        let mut evidence = named("a", &SAME, &SAME);
        let asked = MetricSettings { asked_for: true, ..metric(10.0) };
        evidence.settings.metrics.insert(Metric::CpuTotal, asked);
        if let Some(index) = measured {
            evidence.sides[index].runs.iter_mut().for_each(|run| run.values.set(Metric::CpuTotal, 1.0));
        }
        let judged = judge_one(evidence);
        let cpu = judged.benchmarks[0].comparisons.iter().find(|row| row.metric == Metric::CpuTotal).unwrap();
        assert_eq!((cpu.verdict, cpu.reason), (Verdict::Skipped, Some(Reason::NotMeasured)));
        assert_eq!((judged.benchmarks[0].result, judged.exit.code), (BenchResult::MetricError, 6));
        assert_eq!(judged.summary.skipped, 1);
    }
}

/// With values of a metric that is gated and that nobody asked for, on the sides named.
fn gated(name: Metric, on: [bool; 2]) -> Evidence {
    let mut evidence = named("a", &SAME, &SAME);
    evidence.settings.metrics.insert(name.clone(), metric(10.0));
    for (side, on) in evidence.sides.iter_mut().zip(on) {
        let runs = side.runs.iter_mut().filter(|_| on);
        runs.for_each(|run| run.values.set(name.clone(), 7.0));
    }
    evidence
}

#[test]
fn a_gated_metric_that_head_no_longer_reports_is_a_metric_error() {
    let dropped = judge_one(gated(Metric::Allocations, [true, false]));
    assert_eq!((dropped.benchmarks[0].result, dropped.exit.code), (BenchResult::MetricError, 6));
    assert!(dropped.exit.because.unwrap().contains("`allocations` was not measured in head"));
    // New in head, or not gated, it is only not compared.
    assert_eq!(judge_one(gated(Metric::Allocations, [false, true])).exit.code, 0);
    let mut aside = gated(Metric::CpuTotal, [true, false]);
    aside.settings.metrics.get_mut(&Metric::CpuTotal).unwrap().gate = false;
    assert_eq!(judge_one(aside).exit.code, 0);
    // criterion tells the CPU time of slow functions only, and head may have become a fast one.
    assert_eq!(judge_one(gated(Metric::CpuTotal, [true, false])).exit.code, 0);
    // Also where the rounds of the two sides have nothing in common.
    let mut apart = gated(Metric::Allocations, [true, false]);
    apart.sides[0].runs.iter_mut().for_each(|run| run.round = run.round.map(|round| round + 100));
    assert_eq!(judge_one(apart).exit.code, 6);
}

#[test]
fn a_metric_that_was_asked_for_must_be_measured_also_where_nothing_is_compared() {
    let asked = |evidence: &Evidence| {
        let mut evidence = evidence.clone();
        let limits = MetricSettings { asked_for: true, ..metric(10.0) };
        evidence.settings.metrics.insert(Metric::CpuTotal, limits);
        evidence
    };
    let mut alone = named("run", &SAME, &SAME);
    alone.sides.remove(0);
    let mut budgets_only = named("budgets", &SAME, &SAME);
    budgets_only.settings.compare = false;
    for evidence in [presence(Presence::New), alone, budgets_only] {
        assert_eq!(judge_one(evidence.clone()).exit.code, 0);
        let mut evidence = asked(&evidence);
        let judged = judge_one(evidence.clone());
        assert_eq!((judged.benchmarks[0].result, judged.exit.code), (BenchResult::MetricError, 6));
        assert!(judged.exit.because.unwrap().contains("`cpu_total` was asked for and not measured"));
        let runs = evidence.sides.iter_mut().flat_map(|side| &mut side.runs);
        runs.for_each(|run| run.values.set(Metric::CpuTotal, 1.0));
        assert_eq!(judge_one(evidence).exit.code, 0);
    }
    // What is not measured at all has nothing to lack.
    for absent in [Presence::Removed, Presence::Unchanged, Presence::NotComparable] {
        let judged = judge_run(&[named("b", &SAME, &SAME), asked(&presence(absent))], &RunContext::default());
        assert_eq!(judged.exit.code, 0, "{absent}");
    }
}

#[test]
fn a_metric_nobody_asked_for_that_no_side_has_is_not_shown() {
    let mut evidence = named("a", &SAME, &SAME);
    evidence.settings.metrics.insert(Metric::Instructions, metric(1.0));
    let judged = judge_one(evidence);
    assert_eq!(judged.benchmarks[0].comparisons.len(), 1);
    assert_eq!(judged.exit.code, 0);
}

#[test]
fn a_value_that_is_not_finite_is_a_metric_error_with_no_numbers() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut head = SAME;
        head[3] = value;
        let judged = judge_one(named("a", &SAME, &head));
        let got = &judged.benchmarks[0].comparisons[0];
        assert_eq!((got.verdict, got.reason, got.head), (Verdict::Skipped, Some(Reason::NonFinite), None));
        assert_eq!(judged.exit.code, 6);
    }
}

#[test]
fn metrics_that_are_only_reported_are_described_but_not_compared() {
    let mut evidence = named("a", &SAME, &SAME);
    evidence.settings.metrics.insert(Metric::CpuUtilization, metric(10.0));
    for side in &mut evidence.sides {
        side.runs.iter_mut().for_each(|run| run.values.set(Metric::CpuUtilization, 99.0));
    }
    let judged = judge_one(evidence);
    assert_eq!(judged.benchmarks[0].comparisons.len(), 1);
    assert!(judged.benchmarks[0].statistics[1].contains_key(&Metric::CpuUtilization));
}

#[test]
fn only_compared_benchmarks_have_comparisons_but_budgets_of_head_always_count() {
    for (kind, status) in [(Presence::New, 1), (Presence::Unchanged, 1), (Presence::NotComparable, 1)] {
        let mut evidence = presence(kind);
        evidence.settings.budgets = vec![budget(Metric::Latency, Aggregation::Mean, Operator::Less, 50.0)];
        let judged = judge_one(evidence);
        assert!(judged.benchmarks[0].comparisons.is_empty());
        assert_eq!(judged.benchmarks[0].budgets[0].status, BudgetStatus::Fail);
        assert_eq!(judged.exit.code, status, "{kind}");
        assert!(judged.exit.because.unwrap().contains("over budget: speed/one"));
    }
}

#[test]
fn also_fail_on_turns_the_named_things_into_exit_1() {
    let noisy: Vec<f64> = (0..10).map(|index| if index < 5 { 100.0 } else { 1000.0 }).collect();
    let mut skipped = named("skipped", &SAME, &SAME);
    skipped.settings.metrics.insert(Metric::CpuTotal, metric(10.0));
    skipped.sides[1].runs[0].values.set(Metric::CpuTotal, 1.0);
    let mut removed = presence(Presence::Removed);
    removed.sides.clear();
    let evidence = [named("noisy", &noisy, &noisy), skipped, removed];
    assert_eq!(judge_run(&evidence, &RunContext::default()).exit.code, 0);
    for (word, label) in
        [("inconclusive", "speed/noisy"), ("skipped", "speed/skipped"), ("removed", "speed/one")]
    {
        let context = RunContext { also_fail_on: vec![word.into()], ..RunContext::default() };
        let exit = judge_run(&evidence, &context).exit;
        assert_eq!(exit.code, 1, "{word}");
        assert_eq!(exit.because.unwrap(), format!("1 {word}, named in also_fail_on: {label}"));
    }
}

#[test]
fn every_further_revision_is_compared_with_the_first() {
    let mut evidence = named("a", &SAME, &SAME);
    evidence.sides.push(side("other", runs(&Metric::Latency, &SLOWER)));
    let judged = judge_one(evidence);
    let rows: Vec<_> = judged.benchmarks[0]
        .comparisons
        .iter()
        .map(|row| (row.base_revision.as_str(), row.head_revision.as_str(), row.verdict))
        .collect();
    assert_eq!(rows, [("base", "head", Verdict::Pass), ("base", "other", Verdict::Regression)]);
}

#[test]
fn runs_of_head_alone_count_for_budgets_but_not_for_the_comparison() {
    let mut evidence = named("a", &SAME, &SAME);
    let mut alone = runs(&Metric::Latency, &[500.0; 30]);
    alone.iter_mut().for_each(|run| run.round = run.round.map(|round| round + 100));
    evidence.sides[1].runs.extend(alone);
    evidence.settings.budgets = vec![budget(Metric::Latency, Aggregation::Max, Operator::Less, 200.0)];
    let judged = judge_one(evidence);
    let row = &judged.benchmarks[0].comparisons[0];
    assert_eq!((row.verdict, row.samples), (Verdict::Pass, [10, 10]));
    assert_eq!(judged.benchmarks[0].budgets[0].samples, 40);
    assert_eq!(judged.benchmarks[0].result, BenchResult::OverBudget);
}

#[test]
fn rounds_that_one_side_took_no_part_in_are_not_compared() {
    let mut evidence = named("a", &SAME, &SAME);
    let mut alone = runs(&Metric::Latency, &[500.0; 30]);
    alone.iter_mut().for_each(|run| run.round = run.round.map(|round| round + 100));
    evidence.sides[0].runs.extend(alone);
    let row = &judge_one(evidence).benchmarks[0].comparisons[0];
    assert_eq!((row.verdict, row.samples, row.base), (Verdict::Pass, [10, 10], Some(100.0)));
}

#[test]
fn throughput_has_no_row_where_the_latency_may_be_0() {
    let head = [0.0, 0.0, 0.0, 0.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0];
    let mut evidence = named("a", &SAME, &head);
    evidence.sides.iter_mut().flat_map(|side| &mut side.runs).for_each(|run| run.work = Some(5.0));
    let rows = judge_one(evidence).benchmarks[0].comparisons.clone();
    assert!(rows[0].ci_low_percent.unwrap() <= -100.0);
    assert_eq!((rows[1].verdict, rows[1].reason), (Verdict::Skipped, Some(Reason::NonPositiveLatency)));
    assert_eq!((rows[1].base, rows[1].ci_low_percent), (None, None));
}

#[test]
fn a_percentile_budget_says_when_its_tail_holds_too_few_samples() {
    for (percent, needed) in [(50.0, 20), (90.0, 100), (95.0, 200), (99.0, 1000), (99.9, 10_000)] {
        let budget = budget(Metric::Latency, Aggregation::Percentile(percent), Operator::LessOrEqual, 200.0);
        assert_eq!(samples_needed(std::slice::from_ref(&budget)), needed, "p{percent}");
        for (count, few) in [(needed - 1, true), (needed, false)] {
            let head = vec![100.0; count as usize];
            let mut evidence = presence(Presence::New);
            evidence.sides[0].runs = runs(&Metric::Latency, &head);
            evidence.settings.budgets = vec![budget.clone()];
            let judged = judge_one(evidence);
            assert_eq!(judged.benchmarks[0].budgets[0].few_tail_samples, few, "p{percent} of {count}");
        }
    }
    assert_eq!(samples_needed(&[budget(Metric::Latency, Aggregation::Max, Operator::Less, 1.0)]), 0);
}

#[test]
fn a_throughput_row_describes_rates_and_not_the_times_they_come_from() {
    let mut evidence = named("a", &[1e9; 10], &[2e9; 10]);
    evidence.sides.iter_mut().flat_map(|side| &mut side.runs).for_each(|run| run.work = Some(100.0));
    let judged = judge_one(evidence);
    let [latency, rate] = &judged.benchmarks[0].comparisons[..] else { panic!("latency and its rate") };
    assert_eq!(
        (rate.base, rate.details.base_median, rate.details.head_median),
        (Some(100.0), Some(100.0), Some(50.0))
    );
    assert_eq!(
        (rate.details.base_mean, rate.details.head_outliers, rate.details.base_robust_cv),
        (None, None, None)
    );
    assert_eq!(rate.details.cliffs_delta, latency.details.cliffs_delta.map(|delta| -delta));
    assert_eq!((rate.details.method, rate.details.stage), (latency.details.method, latency.details.stage));
}

#[test]
fn a_throughput_budget_is_checked_on_the_rate_of_each_run() {
    let mut evidence = named("a", &[2e9; 10], &[2e9; 10]);
    evidence.sides.iter_mut().flat_map(|side| &mut side.runs).for_each(|run| run.work = Some(100.0));
    evidence.settings.budgets =
        vec![budget(Metric::Throughput, Aggregation::Min, Operator::GreaterOrEqual, 51.0)];
    let judged = judge_one(evidence);
    assert_eq!(judged.benchmarks[0].budgets[0].actual, Some(50.0));
    assert_eq!(judged.exit.code, 1);
}

#[test]
fn the_group_is_the_suites_or_the_first_part_of_the_id() {
    let group = |id: &str, group: Option<&str>| {
        let mut evidence = named(id, &SAME, &SAME);
        evidence.settings.group = group.map(Into::into);
        judge_one(evidence).benchmarks[0].group.clone()
    };
    assert_eq!(group("json/parse/big", None), "json");
    assert_eq!(group("parse", None), "parse");
    assert_eq!(group("json/parse", Some("all")), "all");
}

#[test]
fn the_same_evidence_and_context_give_the_same_judgement_and_another_seed_other_draws() {
    let mut judge = fixed();
    judge.statistic = cargo_benchgate::suite::settings::Statistic::Mean;
    let values: Vec<f64> = (0..12).map(|index| 100.0 + 7.0 * f64::from(index)).collect();
    let evidence = [latency(judge, metric(10.0), &values, &values)];
    let with = |seed| judge_run(&evidence, &RunContext { seed, ..RunContext::default() });
    assert_eq!(with(1), with(1));
    let probability = |seed| with(seed).benchmarks[0].comparisons[0].probability_regression.unwrap();
    assert_ne!(probability(1).to_bits(), probability(2).to_bits());
}

#[test]
fn a_fixed_count_stops_exactly_there() {
    let mut settings = settings(fixed(), [(Metric::Latency, metric(10.0))]);
    settings.sampling.samples = SampleCount::Fixed(6);
    let sides = |count| {
        vec![
            side("base", runs(&Metric::Latency, &vec![1.0; count])),
            side("head", runs(&Metric::Latency, &vec![1.0; count])),
        ]
    };
    assert_eq!(stop(&settings, &sides(4)), None);
    assert_eq!(stop(&settings, &sides(6)), Some(StoppedBecause::FixedSamples));
}

#[test]
fn an_adaptive_count_goes_on_to_min_samples_and_min_time_but_not_past_max_samples() {
    let mut settings = settings(fixed(), [(Metric::Latency, metric(10.0))]);
    settings.sampling.samples = SampleCount::Adaptive { min: 4, max: 8 };
    settings.sampling.min_time_ns = 60;
    let sides = |count| {
        vec![
            side("base", runs(&Metric::Latency, &vec![10.0; count])),
            side("head", runs(&Metric::Latency, &vec![20.0; count])),
        ]
    };
    assert_eq!(stop(&settings, &sides(2)), None);
    assert_eq!(stop(&settings, &sides(4)), None, "base has only 40 of 60 ns");
    assert_eq!(stop(&settings, &sides(6)), Some(StoppedBecause::MinReached));
    settings.sampling.min_time_ns = 1_000;
    assert_eq!(stop(&settings, &sides(8)), Some(StoppedBecause::MaxSamples));
    assert_eq!(stop::<Side>(&settings, &[]), None);
}

#[test]
fn extreme_samples_get_a_verdict_or_a_reason_and_never_a_number_that_is_not_finite() {
    let ascending: Vec<f64> = (0..10).map(f64::from).collect();
    let samples: [&[f64]; 9] = [
        &[1e-300; 10],
        &[1e300; 10],
        &[f64::MAX; 10],
        &[f64::MIN_POSITIVE; 10],
        &[-1.0; 10],
        &[0.0; 10],
        &[1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0],
        &[1.0],
        &ascending,
    ];
    for statistic in cargo_benchgate::suite::settings::Statistic::ALL {
        for base in samples {
            for head in samples {
                let judge =
                    cargo_benchgate::suite::settings::JudgeSettings { statistic: *statistic, ..fixed() };
                let sides = vec![
                    side("base", loose(&Metric::Latency, base)),
                    side("head", loose(&Metric::Latency, head)),
                ];
                let judged =
                    judge_one(evidence("one", settings(judge, [(Metric::Latency, metric(10.0))]), sides));
                let text = serde_json::to_string(&judged.benchmarks[0].comparisons).unwrap();
                let row = &judged.benchmarks[0].comparisons[0];
                for number in [
                    row.base,
                    row.head,
                    row.difference,
                    row.change_percent,
                    row.ci_low_percent,
                    row.ci_high_percent,
                ] {
                    assert!(number.is_none_or(f64::is_finite), "{text}");
                }
            }
        }
    }
}
