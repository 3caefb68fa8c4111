//! Pairs, ranks and the description beside a verdict.

mod verdict_support;

use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::suite::settings::{
    Interval, JudgeSettings, Method, MetricSettings, Pairing, Resamples, Statistic,
};
use cargo_benchgate::verdict::outcome::{Comparison, EffectSize, PairingUsed, Reason, Verdict};
use verdict_support::{fixed, judge_one, latency, metric, scattered, settled};

fn row(judge: &JudgeSettings, base: &[f64], head: &[f64]) -> Comparison {
    judge_one(latency(judge.clone(), metric(10.0), base, head)).benchmarks[0].comparisons[0].clone()
}

/// A machine that gets slower while it measures, by a common factor for both members of a pair.
fn drifting(values: &[f64]) -> Vec<f64> {
    let last = (values.len() - 1) as f64;
    values.iter().enumerate().map(|(index, value)| value * (1.0 + index as f64 / last)).collect()
}

#[test]
fn worked_vectors_are_reproduced_through_the_judge() {
    let base: Vec<f64> = (0..10).map(|index| 100.0 + f64::from(index)).collect();
    let head: Vec<f64> = (0..10).map(|index| 108.0 + 2.0 * f64::from(index)).collect();
    let probability = |judge: JudgeSettings| row(&judge, &base, &head).probability_regression.unwrap();
    let close = |got: f64, want: f64| assert!((got - want).abs() < 1e-7, "{got} {want}");
    close(probability(fixed()), 0.734462967);
    close(probability(JudgeSettings { pairing: Pairing::Auto, ..fixed() }), 0.923618506);
    let rank = |pairing| JudgeSettings { method: Method::Rank, pairing, ..fixed() };
    let auto = row(&rank(Pairing::Auto), &base, &head);
    close(auto.details.p_regression.unwrap(), 0.0322265625);
    close(auto.details.p_pass.unwrap(), 0.9755859375);
    close(auto.change_percent.unwrap(), 11.8914629);
    close(auto.details.correlation.unwrap(), 1.0);
    assert_eq!(auto.pairing, Some(PairingUsed::Paired));
    let sides = row(&rank(Pairing::Independent), &base, &head);
    close(sides.details.p_regression.unwrap(), 0.240625474);
    close(sides.change_percent.unwrap(), 11.9632967);
}

#[test]
fn pairs_see_through_a_drift_that_blinds_the_two_sides_on_their_own() {
    let (base, head) = (drifting(&scattered(100.0, 3.0, 30, 0)), drifting(&scattered(120.0, 3.0, 30, 1)));
    let alone = row(&fixed(), &base, &head);
    assert_eq!(alone.verdict, Verdict::Inconclusive);
    for method in Method::ALL {
        let judge = JudgeSettings { pairing: Pairing::Auto, method: *method, ..fixed() };
        let got = row(&judge, &base, &head);
        assert_eq!((got.verdict, got.pairing), (Verdict::Regression, Some(PairingUsed::Paired)), "{method}");
        assert!((got.change_percent.unwrap() - 20.0).abs() < 2.0);
        assert!(got.details.pair_dispersion.unwrap() < 0.05 && 0.1 < got.base_dispersion.unwrap());
    }
}

#[test]
fn the_noise_gate_sees_the_scatter_of_the_pairs_not_the_drift_of_the_sides() {
    let growing = |values: &[f64]| -> Vec<f64> {
        values.iter().enumerate().map(|(index, value)| value * 1.1_f64.powi(index as i32)).collect()
    };
    let (base, head) = (growing(&scattered(100.0, 3.0, 30, 0)), growing(&scattered(130.0, 3.0, 30, 1)));
    let got = row(&JudgeSettings { pairing: Pairing::Auto, ..fixed() }, &base, &head);
    assert!(0.5 < got.base_dispersion.unwrap(), "{got:?}");
    assert_eq!(got.verdict, Verdict::Regression);
    assert_eq!(row(&fixed(), &base, &head).reason, Some(Reason::Noisy));
}

#[test]
fn without_correlation_auto_takes_the_sides_on_their_own_and_gives_the_same_numbers() {
    let (base, head) = (scattered(100.0, 5.0, 30, 0), scattered(104.0, 5.0, 30, 9));
    let auto = row(&JudgeSettings { pairing: Pairing::Auto, ..fixed() }, &base, &head);
    let independent = row(&fixed(), &base, &head);
    assert_eq!(auto.pairing, Some(PairingUsed::Independent));
    assert!(auto.details.correlation.unwrap().abs() < 0.3, "{:?}", auto.details.correlation);
    assert_eq!(auto.probability_regression, independent.probability_regression);
    assert_eq!(auto.ci_low_percent, independent.ci_low_percent);
}

#[test]
fn one_value_that_is_not_positive_forces_the_sides_apart_and_leaves_ranks_without_logarithms() {
    let mut base = scattered(100.0, 2.0, 20, 0);
    let head = scattered(130.0, 2.0, 20, 1);
    base[3] = -1.0;
    let paired = JudgeSettings { pairing: Pairing::Paired, max_cv: 0.0, ..fixed() };
    let judged = judge_one(latency(paired.clone(), metric(10.0), &base, &head));
    let got = &judged.benchmarks[0].comparisons[0];
    assert_eq!((got.verdict, got.pairing), (Verdict::Regression, Some(PairingUsed::Independent)));
    assert!(judged.warnings[0].contains("paired"), "{:?}", judged.warnings);
    let rank = row(&JudgeSettings { method: Method::Rank, ..paired }, &base, &head);
    assert_eq!((rank.verdict, rank.reason), (Verdict::Inconclusive, Some(Reason::NonPositive)));
}

#[test]
fn every_judge_finds_a_clear_slowdown_and_passes_none() {
    let base = scattered(100.0, 3.0, 24, 0);
    for method in Method::ALL {
        for statistic in Statistic::ALL {
            for pairing in Pairing::ALL {
                for interval in Interval::ALL {
                    for resamples in [Resamples::Exact, Resamples::MonteCarlo(2000)] {
                        let judge = JudgeSettings {
                            method: *method,
                            statistic: *statistic,
                            pairing: *pairing,
                            interval: *interval,
                            resamples,
                            ..fixed()
                        };
                        let slower = row(&judge, &base, &scattered(130.0, 3.0, 24, 1));
                        assert_eq!(slower.verdict, Verdict::Regression, "{judge:?}");
                        let (low, high) = (slower.ci_low_percent.unwrap(), slower.ci_high_percent.unwrap());
                        assert!(
                            24.0 < low && low < 30.5 && 29.5 < high && high < 36.0,
                            "{judge:?}: {low} {high}"
                        );
                        let same = row(&judge, &base, &scattered(100.0, 3.0, 24, 1));
                        assert_eq!(same.verdict, Verdict::Pass, "{judge:?}");
                        let faster = row(&judge, &base, &scattered(70.0, 3.0, 24, 1));
                        assert_eq!(faster.verdict, Verdict::Improved, "{judge:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_description_counts_outliers_without_dropping_them() {
    let mut base = scattered(100.0, 3.0, 20, 0);
    (base[4], base[9]) = (1_000.0, 108.0);
    let got = row(&fixed(), &base, &scattered(150.0, 3.0, 20, 1));
    let details = &got.details;
    assert_eq!(details.base_outliers.unwrap().high_severe, 1);
    assert_eq!(details.head_outliers.unwrap(), Default::default());
    assert!(140.0 < details.base_mean.unwrap(), "the outlier is in the mean");
    assert!(details.base_median.unwrap() < 103.0);
    assert_eq!((details.cliffs_delta, details.cliffs_size), (Some(0.9), Some(EffectSize::Large)));
    assert!(details.base_robust_cv.unwrap() < 0.05);
}

#[test]
fn a_drift_shows_in_the_autocorrelation() {
    let still = row(&fixed(), &scattered(100.0, 3.0, 30, 0), &scattered(100.0, 3.0, 30, 1)).details;
    let moving = drifting(&scattered(100.0, 3.0, 30, 0));
    let drift = row(&JudgeSettings { max_cv: 0.0, ..fixed() }, &moving, &moving).details;
    assert!(still.base_autocorrelation.unwrap() < 0.2 && 0.7 < drift.base_autocorrelation.unwrap());
}

#[test]
fn constant_and_two_valued_samples_get_a_verdict_from_every_judge() {
    let two_valued: Vec<f64> = (0..20).map(|index| if index % 3 == 0 { 100.0 } else { 105.0 }).collect();
    for judge in [fixed(), settled()] {
        for method in Method::ALL {
            for pairing in Pairing::ALL {
                let judge = JudgeSettings { method: *method, pairing: *pairing, ..judge.clone() };
                for (base, head, want) in [
                    (vec![100.0; 20], vec![100.0; 20], Verdict::Pass),
                    (vec![100.0; 20], vec![130.0; 20], Verdict::Regression),
                    (two_valued.clone(), two_valued.clone(), Verdict::Pass),
                    (two_valued.clone(), vec![150.0; 20], Verdict::Regression),
                ] {
                    let got = row(&judge, &base, &head);
                    assert_eq!(got.verdict, want, "{judge:?}: {got:?}");
                }
            }
        }
    }
}

#[test]
fn a_hundred_thousand_samples_are_judged() {
    let (base, head) = (scattered(100.0, 5.0, 100_000, 0), scattered(125.0, 5.0, 100_000, 1));
    for method in Method::ALL {
        for pairing in [Pairing::Paired, Pairing::Independent] {
            let judge = JudgeSettings { method: *method, pairing, ..fixed() };
            let got = row(&judge, &base, &head);
            assert_eq!((got.verdict, got.samples), (Verdict::Regression, [100_000; 2]));
            assert!((got.change_percent.unwrap() - 25.0).abs() < 0.2);
        }
    }
    assert_eq!(Metric::Latency.name(), "latency");
}

#[test]
fn what_min_difference_is_held_against_is_the_difference_of_the_change_that_is_shown() {
    // The rounds drift by 40 %, head is 2 % slower in each pair but the last ones, which lie far away from the median.
    let base = drifting(&[100.0; 30]);
    let head: Vec<f64> =
        base.iter().enumerate().map(|(run, value)| value * if run % 3 == 0 { 1.3 } else { 1.02 }).collect();
    let judge = JudgeSettings { pairing: Pairing::Paired, ..fixed() };
    let limits = MetricSettings { min_difference: 1000.0, ..metric(1.0) };
    let judged = judge_one(latency(judge, limits, &base, &head));
    let row = &judged.benchmarks[0].comparisons[0];
    assert_eq!(row.reason, Some(Reason::BelowMinDifference));
    let compared = row.compared_difference().unwrap();
    assert!((compared - row.base.unwrap() * row.change_percent.unwrap() / 100.0).abs() < 1e-9);
    assert!(1.0 < (compared - row.difference.unwrap()).abs(), "{compared} {:?}", row.difference);
    let said = cargo_benchgate::report::wording::reason(row);
    assert!(said.contains(&format!("difference {compared:.3} ns")), "{said}");
    let independent = judge_one(latency(fixed(), metric(1.0), &base, &head));
    let row = &independent.benchmarks[0].comparisons[0];
    assert_eq!(row.compared_difference(), row.difference);
}
