//! Change points against expected values that were computed outside Rust (`fixtures/golden/stats`).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cargo_benchgate::stats::change_points::{Binary, binary_segmentation, optimal_partition, penalty, sigma};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let path = format!("{}/fixtures/golden/stats/changepoints.json", env!("CARGO_MANIFEST_DIR"));
    let value: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    value["cases"].as_array().unwrap().clone()
}

fn logs(case: &Value) -> Vec<f64> {
    case["medians"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap().ln()).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|index| index.as_u64().unwrap() as usize).collect()
}

fn close(got: f64, want: f64, relative: f64, absolute: f64, what: &str) {
    assert!(
        (got - want).abs() <= (relative * want.abs()).max(absolute),
        "{what}: got {got:e}, want {want:e}"
    );
}

#[test]
fn golden_binary_segmentation_is_reproduced_with_its_trace() {
    let cases = cases();
    assert_eq!(cases.len(), 20);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let logs = logs(&case);
        let min_change = case["min_change"].as_f64().unwrap();
        close(sigma(&logs), case["sigma"].as_f64().unwrap(), 1e-9, 0.0, name);
        close(penalty(sigma(&logs), logs.len()), case["penalty"].as_f64().unwrap(), 1e-9, 0.0, name);
        let found = binary_segmentation(&logs, Binary::new(min_change));
        assert_eq!(found.changes, indices(&case["changes"]), "{name}");
        // In flat segments all gains are rounding noise.
        if !matches!(name, "constant" | "exact_levels") {
            let want = case["trace"].as_array().unwrap();
            assert_eq!(found.trace.len(), want.len(), "{name}");
            for (got, want) in found.trace.iter().zip(want) {
                let index = |field: &str| want[field].as_u64().unwrap() as usize;
                assert_eq!((got.lo, got.hi, got.split), (index("lo"), index("hi"), index("split")), "{name}");
                close(got.gain, want["gain"].as_f64().unwrap(), 1e-7, 1e-15, name);
                close(got.ratio, want["ratio"].as_f64().unwrap(), 1e-9, 0.0, name);
                assert_eq!(got.accepted, want["accepted"].as_bool().unwrap(), "{name}");
            }
        }
        let local = Binary { local_penalty: true, ..Binary::new(min_change) };
        assert_eq!(binary_segmentation(&logs, local).changes, indices(&case["changes_segment_n"]), "{name}");
        let pairs = Binary { min_size: 2, ..Binary::new(min_change) };
        assert_eq!(binary_segmentation(&logs, pairs).changes, indices(&case["changes_min_size_2"]), "{name}");
    }
}

#[test]
fn golden_word_freq_flags_commit_4_and_only_it_by_both_methods() {
    let case = cases().into_iter().find(|case| case["name"] == "word_freq").unwrap();
    assert_eq!(binary_segmentation(&logs(&case), Binary::new(0.05)).changes, [3]);
    assert_eq!(optimal_partition(&logs(&case), 0.05).changes, [3]);
}

#[test]
fn golden_short_bump_is_hidden_from_binary_segmentation_and_found_by_the_optimal_partition() {
    let case = cases().into_iter().find(|case| case["name"] == "short_bump_hidden").unwrap();
    assert!(binary_segmentation(&logs(&case), Binary::new(0.05)).changes.is_empty());
    assert_eq!(optimal_partition(&logs(&case), 0.05).changes, [20, 23]);
}

#[test]
fn golden_series_without_a_change_get_none_by_the_optimal_partition() {
    for case in cases() {
        let name = case["name"].as_str().unwrap();
        let found = optimal_partition(&logs(&case), case["min_change"].as_f64().unwrap()).changes;
        match name {
            "empty" | "length_1" | "constant" | "noise_only" | "one_spike" | "below_min_change" => {
                assert!(found.is_empty(), "{name}: {found:?}");
            }
            "step_up" | "step_down" => assert_eq!(found, [20], "{name}"),
            "exact_levels" => assert_eq!(found, [6], "{name}"),
            "staircase" | "bump_and_back" => assert_eq!(found, [15, 25], "{name}"),
            "last_point" => assert_eq!(found, [12], "{name}"),
            _ => {}
        }
    }
}
