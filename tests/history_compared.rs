//! `history compare`: what its rows say for people and for programs, and what the practical tolerance of a suite does to them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "history_support/mod.rs"]
mod history_support;

use cargo_benchgate::history::compare::{Rules, Until, compare_report};
use cargo_benchgate::history::course::LookbackMode;
use cargo_benchgate::history::facts::Facts;
use cargo_benchgate::history::index::Index;
use cargo_benchgate::history::series::View;
use cargo_benchgate::history::status::Thresholds;
use cargo_benchgate::history::store::Store;
use cargo_benchgate::revision::BranchLine;
use history_support::{Plain, Ran, head_report, minute, scattered, table};
use serde_json::{Value, json};

fn id(index: usize) -> String {
    format!("{index:040x}")
}

/// A history of so many commits at about 1000.
fn history_of(count: usize) -> Plain {
    let plain = Plain::new();
    for (index, value) in scattered(count, 1000.0).into_iter().enumerate() {
        plain.write("report.json", &head_report(&minute(index), &id(index), value).to_string());
        plain.run(&["add", "report.json"]).ok();
    }
    plain
}

fn with_tolerance(value: f64, nanoseconds: f64) -> Value {
    let mut report = head_report(&minute(90), &id(90), value);
    report["benchmarks"][0]["settings"]["tolerances"] =
        json!({ "latency": { "metric_kind": "unspecified", "absolute": nanoseconds } });
    report
}

fn compare(plain: &Plain, report: &Value, more: &[&str]) -> Ran {
    plain.write("contender.json", &report.to_string());
    let mut all = vec!["compare", "contender.json"];
    all.extend(more);
    plain.run(&all)
}

fn row(plain: &Plain, report: &Value, more: &[&str]) -> Value {
    compare(plain, report, &[&["--format", "json"], more].concat()).json()["rows"][0].clone()
}

/// The names of an object's fields, sorted.
fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn json_names_the_thresholds_the_tool_the_report_and_every_number() {
    let plain = history_of(20);
    let all = compare(&plain, &head_report(&minute(90), &id(90), 1300.0), &["--format", "json"]).json();
    assert_eq!(
        all["thresholds"],
        json!({ "percent": 5.0, "z_score": 2.0, "baseline_z_score": 3.0, "baseline_percent": 2.0, "earlier_results": 10 })
    );
    assert_eq!((&all["lookback"], &all["tool"]["name"]), (&json!("steps"), &json!("cargo-benchgate")));
    assert_eq!(
        (&all["report"]["commit"], &all["report"]["started_at"]),
        (&json!(id(90)), &json!(minute(90)))
    );
    let analysis = &all["rows"][0]["analysis"];
    assert_eq!(
        fields(&analysis["lookback_z_score"]),
        [
            "baseline_z_score",
            "baseline_z_threshold",
            "clears_two_percent",
            "improvement_indicated",
            "regression_indicated",
            "tolerance",
            "z_score",
            "z_threshold"
        ]
    );
    assert_eq!(
        fields(&analysis["pairwise"]),
        ["improvement_indicated", "percent_change", "percent_threshold", "regression_indicated", "tolerance"]
    );
    for tolerance in [&analysis["pairwise"]["tolerance"], &analysis["lookback_z_score"]["tolerance"]] {
        assert_eq!(
            fields(tolerance),
            [
                "absolute",
                "delta",
                "metric_kind",
                "minimum_change",
                "reference",
                "relative_percent",
                "within_tolerance"
            ]
        );
    }
}

#[test]
fn tolerance_of_the_contender_holds_back_regressions_and_improvements_alike() {
    let plain = history_of(20);
    for (value, status) in [(1300.0, "regressed"), (700.0, "improved")] {
        assert_eq!(row(&plain, &with_tolerance(value, 1.0), &[])["status"], status);
        let held_back = row(&plain, &with_tolerance(value, 500.0), &[]);
        assert_eq!(held_back["status"], "stable");
        let reason = held_back["reason"].as_str().unwrap();
        assert!(reason.ends_with("within the practical tolerance"), "{reason}");
        assert_eq!(held_back["analysis"]["pairwise"]["tolerance"]["absolute"], 500.0);
    }
}

#[test]
fn tolerance_makes_no_other_series_and_changes_no_status_of_the_history() {
    let plain = history_of(14);
    for (index, value) in [1400.0, 1401.0].into_iter().enumerate() {
        let mut report = with_tolerance(value, 1e9);
        report["started_at"] = minute(50 + index).into();
        report["revisions"][0]["commit"] = id(50 + index).into();
        report["revisions"][0]["committed_at"] = minute(50 + index).into();
        plain.write("report.json", &report.to_string());
        plain.run(&["add", "report.json"]).ok();
    }
    let status = plain.run(&["status", "--format", "json"]).ok().json();
    let [benchmark] = &status["benchmarks"].as_array().unwrap()[..] else { panic!("{status:#}") };
    assert_eq!(
        (&benchmark["status"], benchmark["series"].as_array().unwrap().len()),
        (&json!("regressed"), 1)
    );
    assert_eq!(plain.show("t/b", &[])["points"].as_array().unwrap().len(), 16);
    let explained = plain.run(&["explain", "t/b", &id(51), "--format", "json"]).ok().json();
    assert_eq!(
        (&explained["status"], &explained["tolerance"]["absolute"]),
        (&json!("regressed"), &json!(1e9))
    );
}

#[test]
fn plain_lookback_judges_by_two_results_and_the_default_asks_for_ten() {
    let plain = history_of(3);
    let slow = head_report(&minute(90), &id(90), 1300.0);
    assert_eq!(row(&plain, &slow, &[])["status"], "insufficient");
    assert_eq!(row(&plain, &slow, &["--lookback", "plain"])["status"], "regressed");
}

#[test]
fn change_beyond_the_threshold_is_marked_and_decides_nothing() {
    let plain = history_of(3);
    let slow = head_report(&minute(90), &id(90), 1100.0);
    let marked = compare(&plain, &slow, &[]).ok().stdout;
    assert!(marked.contains(" % *") && marked.contains("more than 5 % (--threshold)"), "{marked}");
    let unmarked = compare(&plain, &slow, &["--threshold", "20"]).ok().stdout;
    assert!(!unmarked.contains('*'), "{unmarked}");
}

#[test]
fn imported_result_that_is_newer_than_the_baseline_is_none() {
    let plain = Plain::of_table(&table(&scattered(14, 100.0)));
    let view = View::new(
        &Index::load(&Store::new(plain.store())).unwrap(),
        Some(&BranchLine::default()),
        &[],
        |_, _| true,
    );
    let contender = Facts::read(&std::fs::read(&plain.files()[12]).unwrap()).unwrap();
    let time = view.series[0].points[11].committed_at;
    let rules = Rules {
        until: Until::Depth { depth: 0, time },
        own_commit: false,
        thresholds: Thresholds::default(),
        mode: LookbackMode::Steps,
        all_metrics: false,
    };
    let rows = compare_report(&contender, &view, rules);
    assert_eq!(rows[0].baseline.as_ref().unwrap().0, "c11");
    assert_eq!(rows[0].earlier, 12);
}
