//! The lookback, the statuses, the comparisons and the tolerances against expected values that were computed outside Rust
//! (`fixtures/golden/history`).
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking; exact answers are part of the contract"
)]

use cargo_benchgate::history::lookback::{Distribution, Row, order, rolling, z_score};
use cargo_benchgate::history::status::{Score, Thresholds, compare, score, status};
use cargo_benchgate::history::tolerance::{Policy, Tolerance};
use cargo_benchgate::suite::metric::{Better, Unit};
use serde_json::Value;

fn read(file: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/golden/history/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn better(case: &Value) -> Better {
    match case["unit"].as_str().unwrap() {
        "B/s" | "i/s" => Better::Higher,
        _ => Better::Lower,
    }
}

fn unit(case: &Value) -> Unit {
    Unit::from_name(case["unit"].as_str().unwrap())
}

fn rows(points: &Value) -> (Vec<Row>, Vec<usize>) {
    let row = |point: &Value| Row {
        position: point["commit_time"].as_i64().unwrap(),
        result_time: point["result_time"].as_i64().unwrap(),
        value: point["value"].as_f64().unwrap(),
        begins: point["begins"].as_bool().unwrap(),
    };
    let rows: Vec<Row> = points.as_array().unwrap().iter().map(row).collect();
    let order = order(&rows);
    (order.iter().map(|&index| rows[index]).collect(), order)
}

/// Relative closeness, with an exact 0 staying an exact 0 and null staying null.
fn relative(got: Option<f64>, want: &Value, limit: f64, what: &str) {
    match (got, want.as_f64()) {
        (None, None) => {}
        (Some(got), Some(0.0)) => assert_eq!(got, 0.0, "{what}"),
        (Some(got), Some(want)) => {
            assert!((got - want).abs() <= limit * want.abs(), "{what}: got {got:e}, want {want:e}");
        }
        (got, want) => panic!("{what}: got {got:?}, want {want:?}"),
    }
}

fn score_like(got: Option<f64>, want: &Value, what: &str) {
    match (got, want.as_f64()) {
        (None, None) => {}
        (Some(got), Some(want)) => {
            assert!((got - want).abs() <= 1e-11 * want.abs().max(1.0), "{what}: got {got:e}, want {want:e}");
        }
        (got, want) => panic!("{what}: got {got:?}, want {want:?}"),
    }
}

#[test]
fn golden_rolling_statistics_and_flags_are_reproduced() {
    let mut count = 0;
    for case in read("series.json") {
        let name = case["name"].as_str().unwrap();
        let (rows, order) = rows(&case["points"]);
        for (place, got) in rolling(&rows).into_iter().enumerate() {
            let want = &case["points"][order[place]];
            let what = |field: &str| format!("{name}, row {place}, {field}");
            assert_eq!(got.segment as u64, want["segment"].as_u64().unwrap(), "{}", what("segment"));
            assert_eq!(got.is_step, want["is_step"].as_bool().unwrap(), "{}", what("is_step"));
            assert_eq!(got.is_outlier, want["is_outlier"].as_bool().unwrap(), "{}", what("is_outlier"));
            relative(got.mean_before, &want["mean_before"], 1e-14, &what("mean_before"));
            relative(got.mean_through, &want["mean_through"], 1e-14, &what("mean_through"));
            relative(got.sd_before, &want["sd_before"], 1e-12, &what("sd_before"));
            relative(got.sd_through, &want["sd_through"], 1e-12, &what("sd_through"));
            let value = rows[place].value;
            match (got.residual, want["residual"].as_f64()) {
                (None, None) => {}
                (Some(got), Some(want)) => {
                    assert!((got - want).abs() <= 1e-14 * value.abs(), "{}", what("residual"));
                }
                other => panic!("{}: {other:?}", what("residual")),
            }
            let z = got.mean_before.and_then(|mean| z_score(value, mean, got.sd_before, better(&case)));
            score_like(z, &want["z"], &what("z"));
            count += 1;
        }
    }
    assert_eq!(count, 1428);
}

fn check_score(got: Option<Score>, want: &Value, what: &str) {
    let Some(got) = got else {
        assert!(want.is_null(), "{what}");
        return;
    };
    assert_eq!(got.earlier as u64, want["earlier"].as_u64().unwrap(), "{what}");
    relative(got.mean, &want["mean"], 1e-12, &format!("{what} mean"));
    relative(got.sd, &want["sd"], 1e-12, &format!("{what} sd"));
    score_like(got.z, &want["z"], &format!("{what} z"));
    assert_eq!(i64::from(got.side), want["side"].as_i64().unwrap(), "{what} side");
}

#[test]
fn golden_statuses_are_reproduced() {
    let cases = read("series.json");
    assert_eq!(cases.len(), 33);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let (rows, _) = rows(&case["points"]);
        let got = status(&rows, better(&case)).unwrap();
        assert_eq!(got.status.as_str(), case["status"].as_str().unwrap(), "{name}");
        score_like(got.change_percent, &case["change_percent"], name);
        check_score(Some(got.latest), &case["latest"], &format!("{name}, latest"));
        check_score(got.previous, &case["previous"], &format!("{name}, previous"));
    }
}

fn check_tolerance(got: &Tolerance, want: &Value, what: &str) {
    assert_eq!(got.floors.metric_kind.as_str(), want["metric_kind"].as_str().unwrap(), "{what}");
    assert_eq!(got.floors.absolute, want["absolute"].as_f64().unwrap(), "{what}");
    assert_eq!(got.floors.relative_percent, want["relative_percent"].as_f64().unwrap(), "{what}");
    relative(Some(got.reference), &want["reference"], 1e-12, what);
    // A mean that is one bit off moves a small difference by more than that.
    let slack = 1e-14 * got.reference.abs();
    assert!((got.delta - want["delta"].as_f64().unwrap()).abs() <= slack, "{what} delta");
    relative(Some(got.minimum_change), &want["minimum_change"], 1e-12, what);
    assert_eq!(got.within_tolerance, want["within_tolerance"].as_bool().unwrap(), "{what}");
}

#[test]
fn golden_comparisons_are_reproduced() {
    let cases = read("comparisons.json");
    assert_eq!(cases.len(), 40);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let (history, _) = rows(&case["history"]);
        let floors = Policy::from_json(&case["tolerance"]).unwrap().resolve(&unit(&case)).unwrap();
        let number = |field: &str| case[field].as_f64().unwrap();
        let thresholds = Thresholds { z: number("z_threshold"), ..Thresholds::default() };
        let got =
            compare(&history, number("baseline"), number("contender"), better(&case), floors, thresholds);
        assert_eq!(got.status.as_str(), case["status"].as_str().unwrap(), "{name}");
        relative(got.distribution.mean, &case["mean"], 1e-12, name);
        relative(got.distribution.sd, &case["sd"], 1e-12, name);
        let want = &case["pairwise"];
        match got.pairwise {
            None => assert!(want.is_null(), "{name}"),
            Some(got) => {
                score_like(Some(got.percent_change), &want["percent_change"], name);
                assert_eq!(got.percent_threshold, want["percent_threshold"].as_f64().unwrap(), "{name}");
                assert_eq!(
                    got.regression_indicated,
                    want["regression_indicated"].as_bool().unwrap(),
                    "{name}"
                );
                assert_eq!(
                    got.improvement_indicated,
                    want["improvement_indicated"].as_bool().unwrap(),
                    "{name}"
                );
                check_tolerance(&got.tolerance, &want["tolerance"], name);
            }
        }
        let want = &case["lookback_z_score"];
        match got.lookback {
            None => assert!(want.is_null(), "{name}"),
            Some(got) => {
                score_like(Some(got.z_score), &want["z_score"], name);
                assert_eq!(got.z_threshold, want["z_threshold"].as_f64().unwrap(), "{name}");
                score_like(Some(got.baseline_z_score), &want["baseline_z_score"], name);
                assert_eq!(
                    got.baseline_z_threshold,
                    want["baseline_z_threshold"].as_f64().unwrap(),
                    "{name}"
                );
                assert_eq!(got.clears_two_percent, want["clears_two_percent"].as_bool().unwrap(), "{name}");
                assert_eq!(
                    got.regression_indicated,
                    want["regression_indicated"].as_bool().unwrap(),
                    "{name}"
                );
                assert_eq!(
                    got.improvement_indicated,
                    want["improvement_indicated"].as_bool().unwrap(),
                    "{name}"
                );
                check_tolerance(&got.tolerance, &want["tolerance"], name);
            }
        }
    }
}

#[test]
fn z_score_of_exactly_two_is_within_on_either_side() {
    let window = Distribution { mean: Some(100.0), sd: Some(10.0) };
    let side = |value: f64| score(value, window, 10, Better::Lower).side;
    assert_eq!((side(120.0), side(80.0)), (0, 0));
    assert_eq!((side(120.1), side(79.9)), (-1, 1));
}

#[test]
fn golden_tolerance_policies_are_resolved_or_refused() {
    let cases = read("tolerances.json");
    assert_eq!(cases.len(), 22);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let resolved = Policy::from_json(&case["policy"]).and_then(|policy| policy.resolve(&unit(&case)));
        match &case["resolved"] {
            Value::Null => assert!(resolved.is_err(), "{name}: {resolved:?}"),
            want => {
                let got = resolved.unwrap();
                assert_eq!(got.metric_kind.as_str(), want["metric_kind"].as_str().unwrap(), "{name}");
                assert_eq!(got.absolute, want["absolute"].as_f64().unwrap(), "{name}");
                assert_eq!(got.relative_percent, want["relative_percent"].as_f64().unwrap(), "{name}");
            }
        }
    }
}
