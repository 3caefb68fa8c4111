//! Laws that hold for any samples.

mod verdict_support;

use cargo_benchgate::suite::metric::{Better, Metric};
use cargo_benchgate::suite::settings::MetricSettings;
use cargo_benchgate::verdict::outcome::{Comparison, Verdict};
use proptest::prelude::*;
use verdict_support::{fixed, judge_one, latency, metric};

fn row(limits: MetricSettings, base: &[f64], head: &[f64]) -> Comparison {
    let judged = judge_one(latency(fixed(), limits, base, head));
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
}
