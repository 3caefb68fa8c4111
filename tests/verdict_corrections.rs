//! What guards against false alarms over many comparisons: confirmation, Holm, Benjamini-Hochberg, preset `effect`.

mod verdict_support;

use cargo_benchgate::suite::metric::{Metric, Unit};
use cargo_benchgate::suite::settings::{
    Correction, JudgeSettings, Method, MetricSettings, Pairing, SampleCount,
};
use cargo_benchgate::verdict::evidence::{Evidence, Stage, UnitRun};
use cargo_benchgate::verdict::outcome::{Comparison, EffectSeen, Reason, Verdict};
use cargo_benchgate::verdict::warnings::before_measuring;
use cargo_benchgate::verdict::{RunContext, RunJudgement, confirmation_candidates, judge_run};
use verdict_support::{effect, evidence, fixed, latency, metric, scattered, settings, settled, side, staged};

fn confirming() -> JudgeSettings {
    JudgeSettings { correction: Correction::Confirm, ..settled() }
}

fn with_fresh(mut evidence: Evidence, base: &[f64], head: &[f64]) -> Evidence {
    for (side, values) in evidence.sides.iter_mut().zip([base, head]) {
        side.runs.extend(staged(Stage::Confirm, &Metric::Latency, values));
    }
    evidence
}

fn judged(evidence: &[Evidence]) -> RunJudgement {
    judge_run(evidence, &RunContext::default())
}

fn row(judgement: &RunJudgement, index: usize) -> &Comparison {
    &judgement.benchmarks[index].comparisons[0]
}

fn screened(change: f64) -> Evidence {
    latency(confirming(), metric(10.0), &scattered(100.0, 3.0, 20, 0), &scattered(100.0 * change, 3.0, 20, 1))
}

#[test]
fn candidates_are_the_benchmarks_with_a_gated_regression_and_only_with_that_correction() {
    let mut ungated = screened(1.3);
    ungated.settings.metrics.insert(Metric::Latency, MetricSettings { gate: false, ..metric(10.0) });
    let mut uncorrected = screened(1.3);
    uncorrected.settings.judge.correction = Correction::None;
    let evidence = [screened(1.0), screened(1.3), ungated, screened(0.7), uncorrected, screened(1.25)];
    assert_eq!(confirmation_candidates(&evidence, &RunContext::default()), [1, 5]);
}

#[test]
fn a_candidate_without_fresh_samples_is_inconclusive_and_does_not_fail_the_run() {
    let judgement = judged(&[screened(1.3)]);
    assert_eq!(
        (row(&judgement, 0).verdict, row(&judgement, 0).reason),
        (Verdict::Inconclusive, Some(Reason::Unconfirmed))
    );
    assert_eq!(judgement.exit.code, 0);
    let few = with_fresh(screened(1.3), &[100.0; 4], &[130.0; 4]);
    assert_eq!(row(&judged(&[few]), 0).reason, Some(Reason::Unconfirmed));
}

#[test]
fn a_candidate_is_judged_on_its_fresh_samples_alone() {
    let fresh = |change: f64| {
        let (base, head) = (scattered(200.0, 3.0, 30, 2), scattered(200.0 * change, 3.0, 30, 3));
        judged(&[with_fresh(screened(1.3), &base, &head)])
    };
    let confirmed = fresh(1.25);
    let got = row(&confirmed, 0);
    assert_eq!((got.verdict, got.reason, confirmed.exit.code), (Verdict::Regression, None, 1));
    assert_eq!((got.samples, got.details.stage, got.confidence), ([30, 30], Some(Stage::Confirm), 0.99));
    assert!((got.base.unwrap() - 200.0).abs() < 5.0, "the numbers are those of the fresh samples");
    assert!(got.ci_low_percent.unwrap() < 25.0 && 25.0 < got.ci_high_percent.unwrap());
    assert!(got.details.adjusted_p.unwrap() <= 0.01);
    let unchanged = fresh(1.0);
    assert_eq!(
        (row(&unchanged, 0).verdict, row(&unchanged, 0).reason),
        (Verdict::Pass, Some(Reason::NotConfirmed))
    );
    let between = fresh(1.101);
    let got = row(&between, 0);
    assert_eq!((got.verdict, got.reason), (Verdict::Inconclusive, Some(Reason::NotConfirmed)));
}

#[test]
fn a_few_preempted_fresh_runs_do_not_hide_a_plain_slowdown() {
    // 24 of 30 pairs are 24 % slower, in 6 base was preempted: the signed-rank test alone would say p = 0.08. The pairs
    // follow a machine that drifts by 60 %, so they are compared as pairs.
    let drift = |run: usize| 100.0 * (1.0 + 0.02 * run as f64);
    let preempted = |run: usize| run % 5 == 2;
    let base: Vec<f64> = (0..30).map(|run| drift(run) * if preempted(run) { 2.1 } else { 1.0 }).collect();
    let head = |change: f64| -> Vec<f64> {
        (0..30).map(|run| drift(run) * change * (1.0 + 0.002 * (run % 3) as f64)).collect()
    };
    let mut evidence = screened(1.3);
    evidence.settings.judge.pairing = Pairing::Paired;
    let judgement = judged(&[with_fresh(evidence.clone(), &base, &head(1.24))]);
    assert_eq!((row(&judgement, 0).verdict, row(&judgement, 0).reason), (Verdict::Regression, None));
    // Within the limit it stays unconfirmed, whatever was preempted.
    let judgement = judged(&[with_fresh(evidence, &base, &head(1.09))]);
    assert_ne!(row(&judgement, 0).verdict, Verdict::Regression);
}

#[test]
fn fresh_samples_of_a_benchmark_that_is_no_candidate_change_nothing() {
    let plain = judged(&[screened(1.0)]);
    let more = judged(&[with_fresh(screened(1.0), &[100.0; 30], &[200.0; 30])]);
    assert_eq!(row(&plain, 0), row(&more, 0));
}

/// Runs of one peak RSS and one floor, in bytes.
fn resident(stage: Stage, bytes: f64, count: usize) -> Vec<UnitRun> {
    let values = scattered(bytes, 0.5, count, 4);
    let runs = staged(stage, &Metric::PeakRss, &values).into_iter();
    runs.map(|run| UnitRun { peak_rss_floor: Some(FLOOR), ..run }).collect()
}

const MIB: f64 = 1_048_576.0;
const FLOOR: f64 = 5.0 * MIB;

fn peak_rss(judge: JudgeSettings, screened: [f64; 2], fresh: Option<[f64; 2]>) -> Evidence {
    let runs = |at: usize| {
        let mut runs = resident(Stage::Screen, screened[at] * MIB, 30);
        runs.extend(fresh.into_iter().flat_map(|fresh| resident(Stage::Confirm, fresh[at] * MIB, 30)));
        runs
    };
    let limits = MetricSettings { unit: Unit::Bytes, ..metric(10.0) };
    let settings = settings(judge, [(Metric::PeakRss, limits)]);
    evidence("whole", settings, vec![side("base", runs(0)), side("head", runs(1))])
}

#[test]
fn memory_that_grew_from_the_floor_is_confirmed_and_what_may_be_less_than_it_seems_is_not() {
    let confirmed = judged(&[peak_rss(confirming(), [3.0, 64.0], Some([3.0, 64.0]))]);
    let got = row(&confirmed, 0);
    assert_eq!((got.verdict, got.reason, confirmed.exit.code), (Verdict::Regression, None, 1));
    assert_eq!((got.base, got.details.stage), (Some(FLOOR), Some(Stage::Confirm)));
    for fresh in [[3.0, 5.1], [3.0, 5.5], [64.0, 3.0]] {
        let open = judged(&[peak_rss(confirming(), [3.0, 64.0], Some(fresh))]);
        let got = row(&open, 0);
        assert_eq!((got.verdict, got.reason), (Verdict::Inconclusive, Some(Reason::AtFloor)), "{fresh:?}");
    }
    let nothing = judged(&[peak_rss(confirming(), [3.0, 64.0], Some([3.0, 4.0]))]);
    assert_eq!((row(&nothing, 0).verdict, nothing.exit.code), (Verdict::Skipped, 0));
}

#[test]
fn preset_effect_respects_the_floor_of_memory() {
    let of = |values| {
        let judgement = judged(&[peak_rss(effect(), values, None)]);
        let got = row(&judgement, 0);
        (got.verdict, got.reason)
    };
    let open = (Verdict::Inconclusive, Some(Reason::AtFloor));
    assert_eq!(of([3.0, 64.0]), (Verdict::Regression, None));
    assert_eq!(of([3.0, 5.6]), (Verdict::Regression, None));
    assert_eq!(of([3.0, 5.2]), open);
    assert_eq!(of([64.0, 3.0]), (Verdict::Improved, None));
    assert_eq!(of([3.0, 4.0]), (Verdict::Skipped, Some(Reason::AtFloor)));
    assert_eq!(of([8.0, 8.0]), (Verdict::Pass, None));
}

#[test]
fn preset_effect_keeps_what_counts_decided() {
    let counted = |base: [f64; 2], head: [f64; 2]| {
        let runs = |values: &[f64]| staged(Stage::Screen, &Metric::Allocations, values);
        let limits = MetricSettings { unit: Unit::Count, ..metric(0.1) };
        let sides = vec![side("base", runs(&base)), side("head", runs(&head))];
        let judgement =
            judged(&[evidence("counts", settings(effect(), [(Metric::Allocations, limits)]), sides)]);
        let got = row(&judgement, 0);
        (got.verdict, got.reason, judgement.exit.code)
    };
    assert_eq!(counted([348.0; 2], [400.0; 2]), (Verdict::Regression, Some(Reason::Exact), 1));
    assert_eq!(counted([0.0; 2], [1.0; 2]), (Verdict::Regression, Some(Reason::FromZero), 1));
    assert_eq!(counted([348.0; 2], [348.0; 2]), (Verdict::Pass, Some(Reason::Exact), 0));
    // A median of base that resampling may turn to 0 has no ratio.
    let base: Vec<f64> = (0..12).map(|run| if run < 5 { 0.0 } else { 100.0 }).collect();
    assert_eq!(effect_row(&base, &[100.0; 12], 0).reason, Some(Reason::ZeroBootstrapBase));
}

#[test]
fn all_candidates_of_a_run_share_the_chance_of_a_false_alarm() {
    // One p-value near 0.002 is enough alone, and not among many.
    let (base, head) = (scattered(100.0, 6.0, 30, 2), scattered(112.0, 6.0, 30, 3));
    let marginal = with_fresh(screened(1.3), &base, &head);
    let alone = judged(std::slice::from_ref(&marginal));
    let p = row(&alone, 0).details.p_regression.unwrap();
    assert!(0.0002 < p && p < 0.01, "{p}");
    assert_eq!(row(&alone, 0).verdict, Verdict::Regression);
    let many = judged(&vec![marginal; 40]);
    assert_eq!(row(&many, 0).reason, Some(Reason::NotConfirmed));
    assert!(0.01 < row(&many, 0).details.adjusted_p.unwrap());
}

#[test]
fn further_revisions_belong_to_the_same_family() {
    let mut evidence = screened(1.3);
    let third = evidence.sides[1].runs.clone();
    evidence.sides.push(side("other", third));
    let evidence = with_fresh(evidence, &scattered(100.0, 3.0, 30, 2), &scattered(130.0, 3.0, 30, 3));
    let judgement = judged(&[evidence]);
    let rows = &judgement.benchmarks[0].comparisons;
    assert_eq!((rows[0].verdict, rows[1].reason), (Verdict::Regression, Some(Reason::Unconfirmed)));
    let (p, adjusted) = (rows[0].details.p_regression.unwrap(), rows[0].details.adjusted_p.unwrap());
    assert!((adjusted - 2.0 * p).abs() <= 1e-12, "two candidates: {adjusted} of {p}");
}

#[test]
fn holm_takes_back_a_regression_that_many_comparisons_would_give_by_chance() {
    let judge = |correction| JudgeSettings { correction, ..fixed() };
    let (base, head) = (scattered(100.0, 8.0, 20, 0), scattered(115.0, 8.0, 20, 1));
    let run = |correction, count: usize| {
        let mut evidence = vec![latency(judge(correction), metric(10.0), &base, &head)];
        let still = latency(judge(correction), metric(10.0), &base, &base);
        evidence.extend(std::iter::repeat_n(still, count));
        let judgement = judged(&evidence);
        (row(&judgement, 0).verdict, row(&judgement, 0).reason, row(&judgement, 0).details.adjusted_p)
    };
    let (verdict, _, adjusted) = run(Correction::Holm, 0);
    assert_eq!(verdict, Verdict::Regression);
    let p = adjusted.unwrap();
    assert!(0.001 < p && p <= 0.05, "{p}");
    let (verdict, reason, adjusted) = run(Correction::Holm, 60);
    assert_eq!((verdict, reason), (Verdict::Inconclusive, Some(Reason::Corrected)));
    assert!((adjusted.unwrap() - 61.0 * p).abs() < 1e-9, "{adjusted:?} {p}");
    let (verdict, reason, adjusted) = run(Correction::Bh, 60);
    assert_eq!((verdict, reason), (Verdict::Regression, None), "for the report alone");
    assert!(adjusted.unwrap() > p);
    assert_eq!(run(Correction::None, 60), (Verdict::Regression, None, None));
}

#[test]
fn the_summary_says_how_many_false_alarms_the_settings_let_through() {
    let run = |judge: JudgeSettings| {
        let values = scattered(100.0, 3.0, 20, 0);
        judged(&vec![latency(judge, metric(10.0), &values, &values); 10]).summary.expected_false_alarms
    };
    let close = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got} {want}");
    close(run(fixed()), 0.5);
    close(run(JudgeSettings { correction: Correction::Holm, ..fixed() }), 0.05);
    close(run(settled()), 0.1);
    close(run(confirming()), 0.01);
}

fn effect_row(base: &[f64], head: &[f64], beside: usize) -> Comparison {
    let mut evidence = vec![latency(effect(), metric(5.0), base, head)];
    evidence.extend(std::iter::repeat_n(latency(effect(), metric(5.0), base, base), beside));
    row(&judged(&evidence), 0).clone()
}

#[test]
fn preset_effect_needs_significance_over_the_run_an_interval_without_0_and_a_large_enough_change() {
    let base = scattered(100.0, 2.0, 20, 0);
    for (change, verdict, seen) in [
        (1.10, Verdict::Regression, EffectSeen::Slower),
        (1.035, Verdict::Pass, EffectSeen::Slower),
        (1.015, Verdict::Pass, EffectSeen::NoChange),
        (0.96, Verdict::Improved, EffectSeen::Faster),
        (0.985, Verdict::Pass, EffectSeen::NoChange),
    ] {
        let got = effect_row(&base, &scattered(100.0 * change, 2.0, 20, 1), 0);
        assert_eq!((got.verdict, got.details.effect), (verdict, Some(seen)), "{change}: {got:?}");
        assert!(got.details.p_change.unwrap() < 0.05, "all of them are significant");
    }
    // Significant alone, not among two hundred.
    let head = scattered(106.5, 12.0, 20, 1);
    let wide = scattered(100.0, 12.0, 20, 0);
    let alone = effect_row(&wide, &head, 0);
    assert_eq!(alone.verdict, Verdict::Regression, "{alone:?}");
    assert_eq!(effect_row(&wide, &head, 200).verdict, Verdict::Pass);
    assert_eq!(effect_row(&base[..6], &head[..6], 0).reason, Some(Reason::FewSamples));
}

#[test]
fn preset_effect_calls_nothing_whose_interval_holds_no_change() {
    let mut seen = 0;
    for turn in 1..300 {
        let got = effect_row(&scattered(100.0, 20.0, 14, 0), &scattered(109.0, 20.0, 14, turn), 0);
        if got.details.adjusted_p.unwrap() < 0.05 && got.ci_low_percent.unwrap() <= 0.0 {
            assert_eq!((got.verdict, got.details.effect), (Verdict::Pass, Some(EffectSeen::NoChange)));
            seen += 1;
        }
    }
    assert!(0 < seen, "the ranks are surer than the medians now and then");
}

#[test]
fn settings_that_can_never_decide_are_named_before_measuring() {
    let about = |judge: JudgeSettings, samples, max_percent: f64, count: usize| {
        let mut evidence = latency(judge, metric(max_percent), &[], &[]);
        evidence.settings.sampling.samples = samples;
        let all: Vec<_> = (0..count).map(|index| (format!("b{index}"), &evidence.settings)).collect();
        before_measuring(&all)
    };
    let rank = JudgeSettings {
        method: Method::Rank,
        pairing: cargo_benchgate::suite::settings::Pairing::Auto,
        ..fixed()
    };
    let fewest = about(rank.clone(), SampleCount::Fixed(4), 10.0, 1);
    assert!(fewest[0].contains("cannot decide anything"), "{fewest:?}");
    let holm = JudgeSettings { correction: Correction::Holm, ..rank.clone() };
    let many = about(holm.clone(), SampleCount::Fixed(10), 10.0, 60);
    assert!(many[0].contains("10 runs a side cannot confirm more than 51 of the 60"), "{many:?}");
    assert!(many[0].starts_with("b0, b1, b2 and 57 more: "), "{many:?}");
    assert!(about(holm, SampleCount::Fixed(10), 10.0, 51).is_empty());
    let layout = about(fixed(), SampleCount::Fixed(10), 1.0, 1);
    assert!(layout[0].contains("layout"), "{layout:?}");
    assert!(about(fixed(), SampleCount::Fixed(10), 2.0, 1).is_empty());
    let between = about(settled(), SampleCount::Adaptive { min: 13, max: 15 }, 10.0, 1);
    assert!(between[0].contains("no look of the settled rule"), "{between:?}");
}
