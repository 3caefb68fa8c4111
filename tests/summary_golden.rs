//! Magnitudes, labels, certainty, groups and impact against expected values that were worked out outside Rust
//! (`fixtures/golden/summary`, rule set `seed`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use cargo_benchgate::summary::{
    Certainty, Change, Direction, Emphasis, Label, Magnitude, Place, certainty_by_count,
    certainty_by_magnitude, impact, label,
};
use serde_json::Value;

const MIN_CHANGE: f64 = 0.2;

fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/summary").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap()
}

/// The changes of a case: its lists hold sizes, and those that are too small vote for nothing.
fn changes(case: &Value) -> Vec<Change> {
    let of = |key: &str, direction| {
        list(case, key)
            .iter()
            .filter_map(|size| Magnitude::of(size.as_f64().unwrap(), MIN_CHANGE))
            .map(move |magnitude| Change { direction, magnitude })
            .collect::<Vec<_>>()
    };
    [of("regressions_pct", Direction::Regression), of("improvements_pct", Direction::Improvement)].concat()
}

#[test]
fn golden_magnitudes_have_their_class_on_every_edge() {
    let file = golden("magnitudes.json");
    let cases = list(&file, "magnitudes");
    assert!(30 <= cases.len());
    for case in cases {
        let change = case["change_pct"].as_f64().unwrap();
        let class = Magnitude::of(change, MIN_CHANGE).map(Magnitude::as_str);
        assert_eq!(class, case["seed"].as_str(), "{change}");
    }
}

#[test]
fn golden_labels_have_their_certainty_by_count_and_by_magnitude() {
    let file = golden("labels.json");
    let cases = list(&file, "labels");
    assert_eq!(cases.len(), 50);
    for case in cases {
        let (name, seed) = (&case["name"], &case["seed"]);
        let changes = changes(case);
        assert_eq!(changes.len() as u64, seed["significant"].as_u64().unwrap(), "{name}");
        assert_eq!(label(&changes).as_str(), seed["label"].as_str().unwrap(), "{name}");
        let by_count = certainty_by_count(&changes).as_str();
        assert!(list(seed, "confidence_count").iter().any(|it| it == by_count), "{name}: {by_count}");
        let by_magnitude = certainty_by_magnitude(&changes).as_str();
        assert_eq!(by_magnitude, seed["confidence_magnitude"].as_str().unwrap(), "{name}");
    }
}

#[test]
fn golden_groups_have_labels_of_their_own_and_one_over_all() {
    let file = golden("labels.json");
    let cases = list(&file, "groups");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let mut all = Vec::new();
        for (name, group) in case["groups"].as_object().unwrap() {
            let changes = changes(group);
            assert_eq!(label(&changes).as_str(), group["label"].as_str().unwrap(), "{} {name}", case["name"]);
            all.extend(changes);
        }
        assert_eq!(label(&all).as_str(), case["overall"].as_str().unwrap(), "{}", case["name"]);
    }
}

#[test]
fn golden_places_show_the_certainties_they_are_for() {
    let file = golden("labels.json");
    for case in list(&file, "shown_where") {
        let (place, emphasis) = match case["place"].as_str().unwrap() {
            "pull request comment" => (Place::Notice, Emphasis::Highlighted),
            "published report" => (Place::Published, Emphasis::Highlighted),
            "heuristic-tuning triage" => (Place::Triage, Emphasis::Highlighted),
            "comparison page, highlighted" => (Place::Report, Emphasis::Highlighted),
            "comparison page, greyed" => (Place::Report, Emphasis::Greyed),
            other => panic!("an unknown place: {other}"),
        };
        let shown = Certainty::ALL.iter().filter(|&&certainty| place.emphasis(certainty) == emphasis);
        let shown: Vec<&str> = shown.map(|certainty| certainty.as_str()).collect();
        assert_eq!(shown, *list(case, "levels"), "{}", case["place"]);
    }
}

#[test]
fn golden_impacts_follow_the_worst_the_best_or_the_geometric_mean() {
    let file = golden("codspeed.json");
    let cases = list(&file, "cases");
    assert_eq!(cases.len(), 30);
    for case in cases {
        let name = &case["name"];
        let threshold = case["threshold"].as_f64().unwrap();
        let mut impacts: Vec<Option<f64>> = list(case, "impacts").iter().map(Value::as_f64).collect();
        if let Some(base) = case["base_time"].as_array() {
            let times = base.iter().zip(list(case, "head_time"));
            let of_times: Vec<Option<f64>> = times
                .map(|(base, head)| impact::of_times(base.as_f64().unwrap(), head.as_f64().unwrap()))
                .collect();
            assert_eq!(of_times.len(), impacts.len(), "{name}");
            for (ours, theirs) in of_times.iter().zip(&impacts) {
                let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
                assert!(ours.as_ref().zip(theirs.as_ref()).map_or(ours == theirs, near), "{name}");
            }
            let excluded: Vec<usize> = (0..impacts.len()).filter(|&at| of_times[at].is_none()).collect();
            assert_eq!(serde_json::json!(excluded), case["excluded"], "{name}");
            impacts = of_times;
        }
        let impacts: Vec<f64> = impacts.into_iter().flatten().collect();
        match impact::of_run(&impacts, &impacts, threshold) {
            None => assert_eq!((&case["rule"], &case["seed"]), (&"none".into(), &Value::Null), "{name}"),
            Some((rule, value)) => {
                let word = match case["rule"].as_str().unwrap() {
                    "min" => "worst_regression",
                    "max" => "best_improvement",
                    "geomean" => "geometric_mean",
                    other => other,
                };
                assert_eq!(rule.as_str(), word, "{name}");
                assert!((value - case["seed"].as_f64().unwrap()).abs() < 1e-9, "{name}: {value}");
            }
        }
    }
}

#[test]
fn golden_exponent_of_the_geometric_mean_is_one_over_n() {
    let file = golden("codspeed.json");
    let value = impact::geometric_mean(&[0.1, 0.3, -0.2]).unwrap();
    for case in list(&file, "exponent_check") {
        let is_ours = (value - case["value"].as_f64().unwrap()).abs() < 1e-9;
        assert_eq!(is_ours, case["exponent"] == "1/n");
    }
}

#[test]
fn label_of_changes_does_not_depend_on_their_order_and_turns_with_their_signs() {
    let file = golden("labels.json");
    for case in list(&file, "labels") {
        let forward = changes(case);
        let turned: Vec<Change> = forward
            .iter()
            .rev()
            .map(|change| Change {
                direction: match change.direction {
                    Direction::Regression => Direction::Improvement,
                    Direction::Improvement => Direction::Regression,
                },
                ..*change
            })
            .collect();
        let expected = match label(&forward) {
            Label::Regression => Label::Improvement,
            Label::Improvement => Label::Regression,
            other => other,
        };
        assert_eq!(label(&turned), expected, "{}", case["name"]);
    }
}
