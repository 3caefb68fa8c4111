//! Laws that hold for any samples.

mod verdict_support;

use cargo_benchgate::stats::law::ChangeLaw;
use cargo_benchgate::stats::median_law::MedianLaw;
use cargo_benchgate::stats::quantile::sorted;
use cargo_benchgate::stats::ratio_law::RatioLaw;
use cargo_benchgate::suite::metric::{Better, Metric};
use cargo_benchgate::suite::settings::{JudgeSettings, Method, MetricSettings, Pairing};
use cargo_benchgate::verdict::outcome::{Comparison, Verdict};
use proptest::prelude::*;
use verdict_support::{fixed, judge_one, latency, metric, settled};

fn row(limits: MetricSettings, base: &[f64], head: &[f64]) -> Comparison {
    judged(&fixed(), limits, base, head)
}

fn judged(judge: &JudgeSettings, limits: MetricSettings, base: &[f64], head: &[f64]) -> Comparison {
    let judged = judge_one(latency(judge.clone(), limits, base, head));
    judged.benchmarks[0]
        .comparisons
        .iter()
        .find(|row| row.metric == Metric::Latency)
        .expect("latency is compared")
        .clone()
}

fn side() -> impl Strategy<Value = Vec<f64>> {
    // Whole numbers of a coarse timer: ties are common.
    proptest::collection::vec((80_u32..160).prop_map(f64::from), 10..24)
}

fn close(left: Option<f64>, right: Option<f64>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => (left - right).abs() <= 1e-9 * left.abs().max(1.0),
        (left, right) => left == right,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_independent_samples_does_not_matter(base in side(), head in side()) {
        let forward = row(metric(5.0), &base, &head);
        let backward = row(
            metric(5.0),
            &base.iter().rev().copied().collect::<Vec<_>>(),
            &head.iter().rev().copied().collect::<Vec<_>>(),
        );
        if base.len() == head.len() {
            prop_assert_eq!(forward.probability_regression, backward.probability_regression);
            prop_assert_eq!((forward.verdict, forward.reason), (backward.verdict, backward.reason));
        }
    }

    #[test]
    fn a_common_factor_changes_neither_the_change_nor_the_verdict(base in side(), power in -20_i32..20) {
        let head: Vec<f64> = base.iter().map(|value| value * 1.07).collect();
        let factor = 2.0_f64.powi(power);
        let scale = |values: &[f64]| values.iter().map(|value| value * factor).collect::<Vec<_>>();
        let (plain, scaled) = (row(metric(5.0), &base, &head), row(metric(5.0), &scale(&base), &scale(&head)));
        prop_assert_eq!((plain.verdict, plain.reason), (scaled.verdict, scaled.reason));
        prop_assert!(close(plain.change_percent, scaled.change_percent));
        prop_assert!(close(plain.probability_regression, scaled.probability_regression));
        prop_assert!(close(plain.ci_low_percent, scaled.ci_low_percent));
        prop_assert!(close(plain.ci_high_percent, scaled.ci_high_percent));
    }

    #[test]
    fn equal_sides_are_never_a_regression_nor_an_improvement(values in side(), max_percent in 0.1_f64..50.0) {
        let got = row(metric(max_percent), &values, &values);
        prop_assert!(matches!(got.verdict, Verdict::Pass | Verdict::Inconclusive));
        prop_assert_eq!(got.change_percent, Some(0.0));
    }

    #[test]
    fn a_higher_is_better_metric_mirrors_the_probabilities(base in side(), head in side()) {
        let lower = row(metric(5.0), &base, &head);
        let higher = row(MetricSettings { better: Better::Higher, ..metric(5.0) }, &base, &head);
        prop_assert!(close(lower.probability_regression, higher.probability_improvement));
        prop_assert!(close(lower.probability_improvement, higher.probability_regression));
        prop_assert_eq!(lower.ci_low_percent, higher.ci_low_percent);
    }

    #[test]
    fn the_interval_holds_the_wanted_probability(base in side(), head in side()) {
        let got = row(metric(5.0), &base, &head);
        let (low, high) = (got.ci_low_percent.unwrap(), got.ci_high_percent.unwrap());
        prop_assert!(low <= high);
        // P(change beyond the end) read back through max_percent is at most the tail.
        if 0.1 < high {
            let beyond = row(metric(high + 1e-6), &base, &head);
            prop_assert!(beyond.probability_regression.unwrap() <= 0.025 + 1e-9);
        }
        if 0.1 < low {
            let beyond = row(metric(low - 1e-6), &base, &head);
            prop_assert!(0.975 - 1e-9 <= beyond.probability_regression.unwrap());
        }
    }

    #[test]
    fn a_quantile_of_the_exact_law_is_the_one_found_by_sorting_every_quotient(
        base in side(), head in side(), p in 0.0_f64..=1.0,
    ) {
        let (base, head) = (sorted(&base), sorted(&head));
        let mut all = Vec::new();
        for &(base, base_weight) in MedianLaw::pruned(&base).points() {
            for &(head, head_weight) in MedianLaw::pruned(&head).points() {
                all.push((head / base, base_weight * head_weight));
            }
        }
        all.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut sum = 0.0;
        let mut reached = all.last().expect("there are medians").0;
        let mut next = reached;
        for (index, (ratio, weight)) in all.iter().enumerate() {
            sum += weight;
            if p <= sum {
                (reached, next) = (*ratio, all[(index + 1).min(all.len() - 1)].0);
                break;
            }
        }
        let got = RatioLaw::of_medians(&base, &head).expect("base is positive").quantile(p);
        // The sums differ by rounding, which may move it by one quotient where `p` is one of the sums.
        let previous = all.iter().rev().find(|(ratio, _)| *ratio < reached).map_or(reached, |quotient| quotient.0);
        prop_assert!([previous, reached, next].contains(&got), "{} {} {} {}", got, previous, reached, next);
    }

    #[test]
    fn swapping_the_sides_mirrors_the_law_in_logarithms(pairs in pairs(), max_percent in 1.0_f64..40.0) {
        let (base, head): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        // change > t of (a, b) is change < -t / (1 + t) of (b, a).
        let mirrored = 100.0 * max_percent / (100.0 + max_percent);
        for pairing in [Pairing::Independent, Pairing::Paired] {
            for method in Method::ALL {
                let judge = JudgeSettings { pairing, method: *method, ..fixed() };
                let forward = judged(&judge, metric(max_percent), &base, &head);
                let backward = judged(&judge, metric(mirrored), &head, &base);
                prop_assert!(
                    close(forward.probability_regression, backward.probability_improvement),
                    "{:?} {:?}: {:?} {:?}", pairing, method, forward, backward
                );
            }
        }
    }

    #[test]
    fn a_common_factor_on_both_members_of_a_pair_changes_nothing(
        pairs in pairs(), powers in proptest::collection::vec(-3_i32..4, 30),
    ) {
        for judge in [fixed(), settled()] {
            for method in Method::ALL {
                let judge = JudgeSettings { pairing: Pairing::Paired, max_cv: 0.0, method: *method, ..judge.clone() };
                let (base, head): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
                let factor = |(index, value): (usize, &f64)| value * 2.0_f64.powi(powers[index]);
                let moved = |side: &[f64]| side.iter().enumerate().map(factor).collect::<Vec<_>>();
                let plain = judged(&judge, metric(5.0), &base, &head);
                let scaled = judged(&judge, metric(5.0), &moved(&base), &moved(&head));
                prop_assert_eq!((plain.verdict, plain.reason), (scaled.verdict, scaled.reason));
                prop_assert!(close(plain.probability_regression, scaled.probability_regression));
                prop_assert!(close(plain.change_percent, scaled.change_percent));
            }
        }
    }

    #[test]
    fn any_finite_samples_get_a_verdict_without_a_number_that_is_not_finite(
        base in wild(), head in wild(),
    ) {
        for method in Method::ALL {
            for pairing in Pairing::ALL {
                for judge in [fixed(), settled()] {
                    let judge = JudgeSettings { method: *method, pairing: *pairing, ..judge };
                    let got = judged(&judge, metric(5.0), &base, &head);
                    let numbers = serde_json::to_value(&got).expect("a comparison is a table");
                    let read: Result<Comparison, _> = serde_json::from_value(numbers);
                    prop_assert_eq!(read.expect("it reads back"), got);
                }
            }
        }
    }
}

/// Pairs on a coarse grid, so that ties are common.
fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let value = || (80_u32..160).prop_map(f64::from);
    proptest::collection::vec((value(), value()), 10..24)
}

/// Anything finite, from the smallest to the largest.
fn wild() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        Just(0.0),
        Just(1.0),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
        proptest::num::f64::POSITIVE | proptest::num::f64::NORMAL,
    ];
    proptest::collection::vec(value, 12)
}
