//! The statistics against expected values that were computed outside Rust (`fixtures/golden/stats`).
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking; exact answers are part of the contract"
)]

use cargo_benchgate::stats::describe::{mad, mean, standard_deviation};
use cargo_benchgate::stats::fences::Fences;
use cargo_benchgate::stats::median_law::MedianLaw;
use cargo_benchgate::stats::quantile::{iqr, median, quantile, sorted};
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/golden/stats/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let cases = value["cases"].as_array().unwrap().clone();
    assert_eq!(cases.len() as u64, value["generator"]["count"].as_u64().unwrap(), "{file}");
    cases
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn close(got: f64, want: f64, relative: f64, absolute: f64, what: &str) {
    assert!(
        (got - want).abs() <= (relative * want.abs()).max(absolute),
        "{what}: got {got:e}, want {want:e}"
    );
}

#[test]
fn golden_quantiles_fences_and_moments_are_reproduced() {
    for case in cases("quantiles.json") {
        let name = case["name"].as_str().unwrap();
        let data = numbers(&case["data"]);
        let ascending = sorted(&data);
        let largest = data.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for (p, want) in numbers(&case["probs"]).into_iter().zip(numbers(&case["quantiles"])) {
            close(quantile(&ascending, p).unwrap(), want, 1e-12, 0.0, &format!("{name} p {p}"));
        }
        for (field, got) in [
            ("median", median(&ascending)),
            ("q1", quantile(&ascending, 0.25)),
            ("q3", quantile(&ascending, 0.75)),
            ("iqr", iqr(&ascending)),
            ("mean", mean(&data)),
        ] {
            close(
                got.unwrap(),
                case[field].as_f64().unwrap(),
                1e-12,
                1e-12 * largest,
                &format!("{name} {field}"),
            );
        }
        match (standard_deviation(&data), case["sd"].as_f64()) {
            (None, None) => {}
            (Some(got), Some(want)) => close(got, want, 1e-9, 0.0, &format!("{name} sd")),
            other => panic!("{name} sd: {other:?}"),
        }
        close(mad(&data).unwrap(), case["mad"].as_f64().unwrap(), 1e-9, 0.0, &format!("{name} mad"));
        let fences = Fences::of(&ascending).unwrap();
        for (got, want) in fences.fences.into_iter().zip(numbers(&case["fences"])) {
            close(got, want, 1e-9, 1e-12 * largest, &format!("{name} fence"));
        }
        for (field, got) in [
            ("low_severe", fences.low_severe),
            ("low_mild", fences.low_mild),
            ("high_mild", fences.high_mild),
            ("high_severe", fences.high_severe),
        ] {
            assert_eq!(got as u64, case[field].as_u64().unwrap(), "{name} {field}");
        }
    }
}

#[test]
fn golden_bootstrap_laws_of_the_median_are_reproduced() {
    for case in cases("exact_bootstrap_median.json") {
        let name = case["name"].as_str().unwrap();
        let law = MedianLaw::of(&sorted(&numbers(&case["data"])));
        let (support, probability) = (numbers(&case["support"]), numbers(&case["probability"]));
        let got: Vec<f64> = law.points().iter().map(|point| point.0).collect();
        assert_eq!(got, support, "{name} support");
        let (mut sum, mut want_sum) = (0.0, 0.0);
        for (&(value, got), want) in law.points().iter().zip(probability) {
            close(got, want, 0.0, 1e-12, &format!("{name} at {value}"));
            sum += got;
            want_sum += want;
            close(sum, want_sum, 0.0, 1e-11, &format!("{name} up to {value}"));
        }
        close(sum, 1.0, 0.0, 1e-11, &format!("{name} sum"));
    }
}
