//! The settled rule, its looks, and the other rules that end measuring.

mod verdict_support;

use cargo_benchgate::stats::quantile::{median, sorted};
use cargo_benchgate::suite::metric::{Metric, Unit};
use cargo_benchgate::suite::settings::{
    BenchmarkSettings, Correction, JudgeSettings, Method, MetricSettings, Pairing, Resamples, SampleCount,
    Statistic, Stop,
};
use cargo_benchgate::verdict::evidence::{Side, StoppedBecause};
use cargo_benchgate::verdict::levels::LOOKS;
use cargo_benchgate::verdict::outcome::{Comparison, PairingUsed, Reason, Verdict};
use cargo_benchgate::verdict::stop::stop;
use verdict_support::{
    evidence, fixed, judge_one, latency, loose, metric, runs, scattered, settings, settled, side,
};

fn row(judge: JudgeSettings, limits: MetricSettings, base: &[f64], head: &[f64]) -> Comparison {
    judge_one(latency(judge, limits, base, head)).benchmarks[0].comparisons[0].clone()
}

fn settled_settings() -> BenchmarkSettings {
    settings(settled(), [(Metric::Latency, metric(10.0))])
}

fn sides(base: &[f64], head: &[f64]) -> Vec<Side> {
    vec![side("base", runs(&Metric::Latency, base)), side("head", runs(&Metric::Latency, head))]
}

#[test]
fn an_unchanged_benchmark_settles_at_the_first_look() {
    let (base, head) = (scattered(100.0, 3.0, 60, 0), scattered(100.0, 3.0, 60, 1));
    let got = row(settled(), metric(10.0), &base, &head);
    assert_eq!((got.verdict, got.samples), (Verdict::Pass, [8, 8]));
    assert_eq!(got.stopped_because, Some(StoppedBecause::Settled));
    assert!(got.ci_low_percent.is_some(), "the look that decides shows its interval");
    assert_eq!((got.confidence, got.details.pass_confidence), (0.9978, Some(1.0 - 0.0135)));
}

#[test]
fn measuring_until_the_stop_rule_says_so_and_judging_all_of_it_agree() {
    for (change, turn) in [(1.0, 1), (1.04, 2), (1.09, 3), (1.13, 4), (1.16, 5), (1.3, 6), (0.8, 7)] {
        for percent in [2.0, 6.0, 15.0] {
            for method in Method::ALL {
                let judge = JudgeSettings { method: *method, ..settled() };
                let mut settings = settled_settings();
                settings.judge = judge.clone();
                let base = scattered(100.0, percent, 60, 0);
                let head = scattered(100.0 * change, percent, 60, turn);
                let mut count = 2;
                let because = loop {
                    if let Some(because) = stop(&settings, &sides(&base[..count], &head[..count])) {
                        break because;
                    }
                    count += 2;
                };
                let measured = row(judge.clone(), metric(10.0), &base[..count], &head[..count]);
                let whole = row(judge, metric(10.0), &base, &head);
                let what = format!("{change} {percent} {method}: {measured:?}");
                assert!(LOOKS.contains(&(count as u32)), "{what}");
                assert_eq!(measured.verdict, whole.verdict, "{what}");
                assert_eq!(measured.samples, whole.samples, "{what}");
                let decided = measured.verdict != Verdict::Inconclusive;
                assert_eq!(because == StoppedBecause::Settled, decided, "{what}");
                assert_eq!(because == StoppedBecause::MaxSamples, count == 60 && !decided, "{what}");
            }
        }
    }
}

#[test]
fn no_probability_decides_between_two_looks() {
    // 14 is no look: where 14 samples would be sure and 12 were not, it stays open.
    let once = JudgeSettings { stop: Stop::Fixed, confidence: 0.9978, ..settled() };
    let mut open = 0;
    for turn in 1..200 {
        let (base, head) = (scattered(100.0, 9.0, 14, 0), scattered(117.0, 9.0, 14, turn));
        let got = row(settled(), metric(10.0), &base, &head);
        if row(once.clone(), metric(10.0), &base, &head).verdict == Verdict::Regression
            && got.samples == [14, 14]
        {
            assert_eq!((got.verdict, got.reason), (Verdict::Inconclusive, Some(Reason::TooClose)));
            open += 1;
        }
    }
    assert!(0 < open);
}

#[test]
fn below_the_first_look_there_are_too_few_samples() {
    let got = row(settled(), metric(10.0), &[100.0; 6], &[200.0; 6]);
    assert_eq!((got.verdict, got.reason), (Verdict::Inconclusive, Some(Reason::FewSamples)));
    assert_eq!(stop(&settled_settings(), &sides(&[100.0; 6], &[200.0; 6])), None);
    assert_eq!(stop(&settled_settings(), &sides(&[100.0; 8], &[200.0; 8])), Some(StoppedBecause::Settled));
}

#[test]
fn a_change_that_lies_exactly_at_the_limit_is_neither_passed_nor_failed_by_looks() {
    let got = row(settled(), metric(10.0), &[100.0; 60], &[110.0; 60]);
    assert_eq!((got.verdict, got.reason), (Verdict::Inconclusive, Some(Reason::TooClose)));
    assert_eq!(row(fixed(), metric(10.0), &[100.0; 60], &[110.0; 60]).verdict, Verdict::Pass);
    let near = row(settled(), metric(10.0), &[1e9; 60], &[1_100_000_001.0; 60]);
    assert_eq!(near.verdict, Verdict::Regression, "one nanosecond in a second beyond it is beyond it");
}

#[test]
fn looks_before_min_time_do_not_count_but_the_last_always_does() {
    let (base, head) = (scattered(100.0, 3.0, 60, 0), scattered(100.0, 3.0, 60, 1));
    let judged = |min_time_ns| {
        let mut evidence = latency(settled(), metric(10.0), &base, &head);
        evidence.settings.sampling.min_time_ns = min_time_ns;
        let because = [8, 10, 12, 16, 20, 24, 30, 40, 50, 60].into_iter().find(|&count| {
            stop(&evidence.settings, &sides(&base[..count], &head[..count])) == Some(StoppedBecause::Settled)
        });
        (judge_one(evidence).benchmarks[0].comparisons[0].samples, because)
    };
    assert_eq!(judged(0), ([8, 8], Some(8)));
    assert_eq!(judged(1_900), ([20, 20], Some(20)));
    assert_eq!(judged(1_000_000), ([60, 60], Some(60)));
}

#[test]
fn every_gated_metric_must_settle_and_the_others_are_not_waited_for() {
    let (still, wild) = (scattered(100.0, 2.0, 60, 0), scattered(110.0, 30.0, 60, 1));
    for gate in [true, false] {
        let mut evidence = latency(settled(), metric(10.0), &still, &still);
        evidence.settings.metrics.insert(Metric::CpuTotal, MetricSettings { gate, ..metric(10.0) });
        for (side, values) in evidence.sides.iter_mut().zip([&still, &wild]) {
            side.runs
                .iter_mut()
                .zip(values)
                .for_each(|(run, value)| run.values.set(Metric::CpuTotal, *value));
        }
        let mut first = evidence.clone();
        first.sides.iter_mut().for_each(|side| side.runs.truncate(8));
        let want = if gate { None } else { Some(StoppedBecause::Settled) };
        assert_eq!(stop(&first.settings, &first.sides), want, "gate {gate}");
        let rows = judge_one(evidence).benchmarks[0].comparisons.clone();
        assert_eq!(rows[0].samples, [8, 8], "latency keeps the verdict of the look that settled it");
    }
}

#[test]
fn a_difference_that_may_still_exceed_min_difference_is_looked_at_again() {
    let limits = MetricSettings { min_difference: 16.0, ..metric(10.0) };
    let mut again = 0;
    for turn in 1..100 {
        let (base, head) = (scattered(100.0, 15.0, 60, 0), scattered(112.0, 15.0, 60, turn));
        let first = row(fixed_at(8), limits.clone(), &base[..8], &head[..8]);
        let looking = JudgeSettings { pairing: Pairing::Independent, ..settled() };
        let got = row(looking, limits.clone(), &base, &head);
        if first.reason == Some(Reason::BelowMinDifference) && got.reason == Some(Reason::BelowMinDifference)
        {
            again += usize::from(8 < got.samples[0]);
        }
    }
    assert!(0 < again, "small in the first eight is not yet small for good");
    // A sixteenth of the limit is sure at once, whatever it is in per cent.
    let small = row(settled(), limits, &scattered(1.0, 3.0, 60, 0), &scattered(2.0, 3.0, 60, 1));
    assert_eq!((small.reason, small.samples), (Some(Reason::BelowMinDifference), [8, 8]));
}

fn fixed_at(min_samples: u32) -> JudgeSettings {
    JudgeSettings { min_samples, ..fixed() }
}

#[test]
fn files_without_rounds_are_looked_at_once_and_that_is_said() {
    let judge = JudgeSettings { correction: Correction::Confirm, ..settled() };
    let values = [loose(&Metric::Latency, &[100.0; 9]), loose(&Metric::Latency, &[150.0; 9])];
    let [base, head] = values.map(|runs| side("", runs));
    let judged =
        judge_one(evidence("one", settings(judge, [(Metric::Latency, metric(10.0))]), vec![base, head]));
    let got = &judged.benchmarks[0].comparisons[0];
    assert_eq!((got.verdict, got.samples, got.confidence), (Verdict::Regression, [9, 9], 0.95));
    assert_eq!(got.pairing, Some(PairingUsed::Independent));
    assert!(judged.warnings[0].contains("no rounds"), "{:?}", judged.warnings);
}

#[test]
fn a_mean_and_random_resamples_run_a_fixed_count_and_that_is_said() {
    for judge in [
        JudgeSettings { statistic: Statistic::Mean, ..settled() },
        JudgeSettings { resamples: Resamples::MonteCarlo(2000), ..settled() },
    ] {
        let settings = settings(judge.clone(), [(Metric::Latency, metric(10.0))]);
        let made = scattered(100.0, 2.0, 60, 0);
        assert_eq!(stop(&settings, &sides(&made[..28], &made[..28])), None);
        assert_eq!(stop(&settings, &sides(&made[..30], &made[..30])), Some(StoppedBecause::FixedSamples));
        let judged = judge_one(latency(judge, metric(10.0), &made[..30], &made[..30]));
        assert_eq!(judged.benchmarks[0].comparisons[0].samples, [30, 30]);
        assert!(judged.warnings[0].contains("30 runs a side"), "{:?}", judged.warnings);
    }
}

#[test]
fn with_holm_a_regression_waits_for_the_last_look_and_a_pass_does_not() {
    let judge = JudgeSettings { correction: Correction::Holm, ..settled() };
    let (base, worse) = (scattered(100.0, 2.0, 60, 0), scattered(130.0, 2.0, 60, 1));
    let got = row(judge.clone(), metric(10.0), &base, &worse);
    assert_eq!((got.verdict, got.samples, got.confidence), (Verdict::Regression, [60, 60], 0.99));
    assert_eq!(row(judge, metric(10.0), &base, &scattered(100.0, 2.0, 60, 1)).samples, [8, 8]);
}

#[test]
fn precision_stops_when_the_interval_of_every_side_is_narrow_enough() {
    let judge = JudgeSettings { stop: Stop::Precision, target_ci: 0.01, ..settled() };
    let settings = settings(judge, [(Metric::Latency, metric(10.0))]);
    let (narrow, wide) = (scattered(100.0, 1.0, 60, 0), scattered(100.0, 20.0, 60, 1));
    assert_eq!(stop(&settings, &sides(&narrow[..6], &narrow[..6])), None, "before min_samples nothing stops");
    assert_eq!(stop(&settings, &sides(&narrow[..8], &narrow[..8])), Some(StoppedBecause::Target));
    assert_eq!(stop(&settings, &sides(&narrow[..8], &wide[..8])), None);
    assert_eq!(stop(&settings, &sides(&narrow, &wide)), Some(StoppedBecause::MaxSamples));
}

#[test]
fn max_samples_beyond_the_last_look_ends_there_and_that_is_said() {
    let mut evidence =
        latency(settled(), metric(10.0), &scattered(100.0, 30.0, 60, 0), &scattered(110.0, 30.0, 60, 1));
    evidence.settings.sampling.samples = SampleCount::Adaptive { min: 8, max: 100 };
    assert_eq!(stop(&evidence.settings, &evidence.sides), Some(StoppedBecause::MaxSamples));
    assert!(judge_one(evidence).warnings[0].contains("no look after 60"));
}

#[test]
fn an_undecided_comparison_says_how_many_samples_would_settle_it() {
    let judge = JudgeSettings { confidence: 0.99, ..fixed() };
    let needed = |percent: f64| {
        let (base, head) = (scattered(100.0, percent, 10, 0), scattered(112.0, percent, 10, 1));
        row(judge.clone(), metric(10.0), &base, &head)
    };
    let (narrow, wide) = (needed(8.0), needed(16.0));
    assert_eq!((narrow.reason, wide.reason), (Some(Reason::TooClose), Some(Reason::TooClose)));
    let (narrow, wide) = (narrow.samples_needed.unwrap(), wide.samples_needed.unwrap());
    assert!(10 < narrow && narrow < wide, "{narrow} {wide}");
    assert_eq!(row(fixed(), metric(10.0), &[100.0; 10], &[100.0; 10]).samples_needed, None);
}

#[test]
fn a_regression_needs_more_samples_than_a_pass_at_the_same_distance_from_the_limit() {
    let middle = median(&sorted(&scattered(1.0, 20.0, 60, 3))).unwrap();
    let needed = |distance: f64| {
        let head: Vec<f64> =
            scattered(1.0, 20.0, 60, 3).iter().map(|value| value / middle * 110.0 * distance.exp()).collect();
        row(settled(), metric(10.0), &[100.0; 60], &head).samples_needed.unwrap()
    };
    let (regression, pass) = (f64::from(needed(0.02)), f64::from(needed(-0.02)));
    // Normal quantiles of 0.9978 and 0.9865, each with that of 0.95 for the chance to see it.
    let ratio = ((2.848 + 1.645) / (2.212 + 1.645_f64)).powi(2);
    assert!((regression / pass / ratio - 1.0).abs() < 0.02, "{regression} {pass} {ratio}");
}

#[test]
fn counts_that_agree_are_decided_by_one_run_a_side() {
    let limits = MetricSettings { unit: Unit::Count, ..metric(1.0) };
    let judged = |base: &[f64], head: &[f64], limits: &MetricSettings| {
        let metric = Metric::Instructions;
        let sides = vec![side("base", runs(&metric, base)), side("head", runs(&metric, head))];
        let settings = settings(settled(), [(metric, limits.clone())]);
        let stopped = stop(&settings, &sides);
        let row = judge_one(evidence("one", settings, sides)).benchmarks[0].comparisons[0].clone();
        (row.verdict, row.reason, row.change_percent, stopped)
    };
    let settled = Some(StoppedBecause::Settled);
    assert_eq!(
        judged(&[1000.0], &[1011.0], &limits),
        (Verdict::Regression, Some(Reason::Exact), Some((1011.0 / 1000.0 - 1.0) * 100.0), settled)
    );
    assert_eq!(judged(&[1000.0], &[1010.0], &limits).0, Verdict::Pass);
    assert_eq!(judged(&[1000.0], &[980.0], &limits).0, Verdict::Improved);
    assert_eq!(judged(&[0.0], &[1.0], &limits), (Verdict::Regression, Some(Reason::FromZero), None, settled));
    assert_eq!(judged(&[0.0], &[0.0], &limits), (Verdict::Pass, Some(Reason::Exact), None, settled));
    let floor = MetricSettings { min_difference: 20.0, ..limits.clone() };
    assert_eq!(judged(&[1000.0], &[1011.0], &floor).1, Some(Reason::BelowMinDifference));
    assert_eq!(
        judged(&[1000.0, 1001.0], &[1011.0, 1011.0], &limits).1,
        Some(Reason::FewSamples),
        "these vary"
    );
}
