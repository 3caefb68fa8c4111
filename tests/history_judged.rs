//! What `history status` and `history compare` judge, what they leave out, and how they end when there is nothing to judge.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "history_support/mod.rs"]
mod history_support;

use history_support::{Plain, Side, head_report, minute, report, report_with, scattered, table};
use serde_json::{Value, json};

fn id(index: usize) -> String {
    format!("{index:040x}")
}

fn add(plain: &Plain, report: &Value) {
    plain.write("report.json", &report.to_string());
    plain.run(&["add", "report.json"]).ok();
}

fn status(plain: &Plain, more: &[&str]) -> Value {
    let mut all = vec!["status", "--format", "json"];
    all.extend(more);
    plain.run(&all).ok().json()
}

fn names(status: &Value, list: &str) -> Vec<String> {
    status[list].as_array().unwrap().iter().map(|it| it["benchmark"].as_str().unwrap().to_owned()).collect()
}

/// The report of head with the benchmark under another name.
fn named(at: usize, benchmark: &str, value: f64) -> Value {
    let mut report = head_report(&minute(at), &id(at), value);
    report["benchmarks"][0]["id"] = benchmark.into();
    report
}

/// The report with the same values as another metric in its place, or beside it.
fn with_instructions(mut report: Value, instead: bool) -> Value {
    let benchmark = &mut report["benchmarks"][0];
    let mut statistics = benchmark["sides"][0]["statistics"]["latency"].clone();
    statistics["unit"] = "count".into();
    benchmark["sides"][0]["statistics"]["instructions"] = statistics;
    let mut settings = benchmark["settings"]["metrics"]["latency"].clone();
    settings["unit"] = "count".into();
    benchmark["settings"]["metrics"]["instructions"] = settings;
    if instead {
        benchmark["sides"][0]["statistics"].as_object_mut().unwrap().remove("latency");
    }
    report
}

#[test]
fn runs_that_began_in_one_second_are_two_results_though_their_numbers_agree() {
    let plain = Plain::new();
    for seed in [1, 2] {
        let mut report = head_report(&minute(0), &format!("{:040x}", 7), 1000.0);
        report["seed"] = seed.into();
        plain.write("r.json", &report.to_string());
        plain.run(&["add", "r.json"]).ok();
    }
    assert_eq!(plain.show("t/b", &[])["points"].as_array().unwrap().len(), 2);
}

#[test]
fn status_that_may_fail_and_has_nothing_to_judge_ends_with_6_and_says_why() {
    let plain = Plain::of_table(&table(&scattered(3, 100.0)));
    for file in plain.files() {
        std::fs::write(file, "{").unwrap();
    }
    let ran = plain.run(&["status", "--fail-on", "regressed"]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let last = ran.stderr.lines().last().unwrap();
    assert!(last.contains("nothing was judged") && last.contains("torn"), "{last}");
    // Who does not ask for a failure gets the same words as a note.
    let ran = plain.run(&["status"]).ok();
    assert!(ran.stderr.contains("nothing was judged"), "{}", ran.stderr);
}

#[test]
fn metric_that_no_series_has_is_refused_with_the_nearest_one() {
    let plain = Plain::of_table(&table(&scattered(3, 100.0)));
    let ran = plain.run(&["status", "--metric", "latancy", "--fail-on", "regressed"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("did you mean `latency`?"), "{}", ran.stderr);
}

#[test]
fn comparison_of_nothing_ends_with_6_and_says_why() {
    let plain = Plain::of_table(&table(&scattered(12, 100.0)));
    let compare = |report: &Value, more: &[&str]| {
        plain.write("contender.json", &report.to_string());
        let mut all = vec!["compare", "contender.json"];
        all.extend(more);
        plain.run(&all)
    };
    let contender = head_report(&minute(1), &id(1), 100.0);
    let ran = compare(&contender, &[]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let last = ran.stderr.lines().last().unwrap();
    assert!(last.contains("nothing was compared") && last.contains("t/b missing_baseline"), "{last}");
    assert_eq!(compare(&contender, &["--fail-on", "missing_baseline"]).code, 1);
    let mut ungated = contender;
    ungated["benchmarks"][0]["settings"]["metrics"]["latency"]["gate"] = false.into();
    let ran = compare(&ungated, &[]);
    assert_eq!(ran.code, 6);
    assert!(ran.stderr.contains("--all-metrics"), "{}", ran.stderr);
}

#[test]
fn metric_that_is_measured_once_a_week_keeps_its_open_regression() {
    let plain = Plain::new();
    for index in 0..40 {
        let value = 1000.0 * scattered(40, 1.0)[index];
        let report = head_report(&minute(index), &id(index), value);
        add(&plain, &report);
        if index % 7 == 0 {
            // The counts rise at the fourth week.
            let count = if index < 21 { 5000.0 } else { 6000.0 };
            add(&plain, &with_instructions(head_report(&minute(1000 + index), &id(index), count), true));
        }
    }
    let got = status(&plain, &[])["benchmarks"][0].clone();
    assert_eq!((&got["status"], &got["metric"]), (&json!("regressed"), &json!("instructions")), "{got:#}");
    assert_eq!(got["series"].as_array().unwrap().len(), 2);
    assert_eq!(plain.run(&["status", "--fail-on", "regressed"]).code, 1);
}

#[test]
fn benchmark_that_was_removed_is_gone_after_ten_commits_and_fails_nothing() {
    let plain = Plain::new();
    for index in 0..20 {
        let value = if index < 15 { 1000.0 } else { 2000.0 } * scattered(20, 1.0)[index];
        add(&plain, &named(index, "old", value));
    }
    for index in 20..29 {
        add(&plain, &named(index, "new", 1000.0));
    }
    assert_eq!(plain.run(&["status", "--fail-on", "regressed"]).code, 1, "nine commits may be a filter");
    add(&plain, &named(29, "new", 1000.0));
    let got = status(&plain, &[]);
    assert_eq!(
        (names(&got, "benchmarks"), names(&got, "gone")),
        (vec!["t/new".into()], vec!["t/old".into()])
    );
    let ran = plain.run(&["status", "--fail-on", "regressed"]).ok();
    assert!(
        ran.stdout.contains("left out t/old latency") && ran.stdout.contains("no longer measured"),
        "{}",
        ran.stdout
    );
}

#[test]
fn benchmark_that_fails_is_not_gone() {
    let plain = Plain::new();
    for index in 0..20 {
        let value = if index < 15 { 1000.0 } else { 2000.0 } * scattered(20, 1.0)[index];
        add(&plain, &named(index, "old", value));
    }
    for index in 20..32 {
        let mut report = named(index, "new", 1000.0);
        let mut failed = named(index, "old", 1.0)["benchmarks"][0].clone();
        failed["error"] = json!({ "kind": "exit_code", "message": "it ended with 1" });
        report["benchmarks"].as_array_mut().unwrap().push(failed);
        add(&plain, &report);
    }
    assert!(names(&status(&plain, &[]), "gone").is_empty());
    assert_eq!(plain.run(&["status", "--fail-on", "regressed"]).code, 1);
}

#[test]
fn benchmark_whose_program_never_changes_is_not_gone() {
    let plain = Plain::new();
    for index in 0..20 {
        let value = if index < 15 { 1000.0 } else { 2000.0 } * scattered(20, 1.0)[index];
        add(&plain, &named(index, "old", value));
    }
    for index in 20..130 {
        let mut report = named(index, "new", 1000.0);
        let mut unchanged = named(index, "old", 1.0)["benchmarks"][0].clone();
        unchanged["presence"] = "unchanged".into();
        unchanged["sides"] = json!([]);
        report["benchmarks"].as_array_mut().unwrap().push(unchanged);
        let store = cargo_benchgate::history::store::Store::new(plain.store());
        store.add_report(report.to_string().as_bytes()).unwrap();
    }
    assert!(names(&status(&plain, &[]), "gone").is_empty());
    assert_eq!(status(&plain, &[])["left_out"]["errored"], 0);
    assert_eq!(plain.run(&["status", "--fail-on", "regressed"]).code, 1);
}

#[test]
fn machine_that_stopped_is_gone_after_a_window_of_commits() {
    let plain = Plain::new();
    let label = |label: &str| json!({ "machine": { "label": label } });
    let on = |machine: &str, index: usize, value: f64| {
        let commit = id(index);
        let side = [Side { name: "head", commit: &commit, dirty: false, values: &[value] }];
        report_with(&minute(index), &side, label(machine))
    };
    for index in 0..13 {
        add(
            &plain,
            &on("retired", index, if index < 11 { 1000.0 } else { 2000.0 } * scattered(13, 1.0)[index]),
        );
    }
    let store = cargo_benchgate::history::store::Store::new(plain.store());
    for index in 13..112 {
        store.add_report(on("new", index, 1000.0).to_string().as_bytes()).unwrap();
    }
    assert_eq!(plain.run(&["status", "--fail-on", "regressed"]).code, 1);
    add(&plain, &on("new", 112, 1000.0));
    let got = status(&plain, &[]);
    assert_eq!(got["gone"][0]["machine"], "retired");
    plain.run(&["status", "--fail-on", "regressed"]).ok();
}

#[test]
fn interrupted_benchmark_is_counted_and_enters_no_series() {
    let plain = Plain::new();
    add(&plain, &head_report(&minute(0), &id(0), 1000.0));
    let mut interrupted = head_report(&minute(1), &id(1), 1.0);
    interrupted["benchmarks"][0]["stopped_because"] = "interrupted".into();
    add(&plain, &interrupted);
    assert_eq!(plain.show("t/b", &[])["points"].as_array().unwrap().len(), 1);
    assert_eq!(status(&plain, &[])["left_out"]["errored"], 1);
    plain.write("contender.json", &interrupted.to_string());
    assert_eq!(plain.run(&["compare", "contender.json"]).code, 1);
}

#[test]
fn shards_of_one_run_are_two_runs_and_what_repeats_them_counts_once() {
    let plain = Plain::new();
    let (one, other) = (named(0, "one", 1000.0), named(0, "other", 900.0));
    add(&plain, &one);
    add(&plain, &other);
    let points = |name: &str| plain.show(name, &[])["points"].as_array().unwrap().len();
    assert_eq!((points("t/one"), points("t/other")), (1, 1));
    let mut merged = one;
    merged["benchmarks"].as_array_mut().unwrap().push(other["benchmarks"][0].clone());
    add(&plain, &merged);
    assert_eq!((points("t/one"), points("t/other")), (1, 1));
    assert_ne!(status(&plain, &[])["left_out"]["duplicates"], 0);
    // Shards of several machines have no machine in common.
    merged["machine"] = Value::Null;
    merged["suite"]["merged_shards"] = 2.into();
    plain.write("report.json", &merged.to_string());
    let refused = plain.run(&["add", "report.json"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("shards of several machines"), "{}", refused.stderr);
}

#[test]
fn baseline_without_a_repository_is_a_commit_of_the_history() {
    let plain = Plain::new();
    for (index, value) in scattered(14, 1000.0).into_iter().enumerate() {
        add(&plain, &head_report(&minute(index), &id(index), value));
    }
    let compare = |more: &[&str]| {
        plain.write("contender.json", &head_report(&minute(60), &id(60), 1000.0).to_string());
        let mut all = vec!["compare", "contender.json", "--format", "json"];
        all.extend(more);
        plain.run(&all)
    };
    let row = |more: &[&str]| compare(more).json()["rows"][0].clone();
    assert_eq!(row(&[])["baseline"]["commit"], id(13));
    let early = row(&["--baseline", &id(11)]);
    assert_eq!((&early["baseline"]["commit"], &early["results"]), (&json!(id(11)), &json!(12)));
    let refused = compare(&["--baseline", "v1"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("no result of that commit"), "{}", refused.stderr);
    // A report that does not say when its commit was made is held against the newest results, and that is said.
    let mut bare = report(&minute(60), &[Side { name: "head", commit: "", dirty: false, values: &[1000.0] }]);
    bare["revisions"][0]["commit"] = Value::Null;
    plain.write("bare.json", &bare.to_string());
    let ran = plain.run(&["compare", "bare.json"]).ok();
    assert!(ran.stderr.contains("names no commit of head"), "{}", ran.stderr);
}

/// A table of several benchmarks on several machines, a commit a second.
fn rows(series: &[(&str, &str, Vec<f64>)]) -> String {
    let mut text = "commit,timestamp,benchmark,metric,unit,value,machine\n".to_owned();
    for (benchmark, machine, values) in series {
        for (index, value) in values.iter().enumerate() {
            text.push_str(&format!("c{index},{index},{benchmark},latency,ns,{value},{machine}\n"));
        }
    }
    text
}

fn stepped(last: f64) -> Vec<f64> {
    let mut values = scattered(12, 100.0);
    values.extend([last, last]);
    values
}

#[test]
fn worst_of_improved_stable_and_insufficient_and_the_largest_change_of_equals_speak_for_a_benchmark() {
    let stable = scattered(14, 100.0);
    let few = scattered(3, 100.0);
    let plain = Plain::of_table(&rows(&[
        ("a", "one", stable.clone()),
        ("a", "two", stepped(50.0)),
        ("b", "one", few),
        ("b", "two", stable),
        ("c", "one", stepped(130.0)),
        ("c", "two", stepped(150.0)),
        ("c", "three", stepped(140.0)),
    ]));
    let got = status(&plain, &["--lookback", "plain"]);
    let of =
        |name: &str| got["benchmarks"].as_array().unwrap().iter().find(|it| it["benchmark"] == name).unwrap();
    assert_eq!((&of("a")["status"], &of("a")["change_machine"]), (&json!("improved"), &json!("two")));
    assert_eq!(of("b")["status"], "stable");
    assert_eq!((&of("c")["status"], &of("c")["change_machine"]), (&json!("regressed"), &json!("two")));
}

#[test]
fn steps_of_the_regressed_are_listed_before_those_of_the_stable() {
    let mut series: Vec<(String, Vec<f64>)> = Vec::new();
    for index in 0..11 {
        let mut values = scattered(14, 100.0);
        values.extend(scattered(14, 50.0));
        series.push((format!("stable{index}"), values));
    }
    let mut slow = scattered(14, 100.0);
    slow.extend(scattered(14, 200.0));
    series.push(("slow".to_owned(), slow));
    let series: Vec<(&str, &str, Vec<f64>)> =
        series.iter().map(|(name, values)| (name.as_str(), "m", values.clone())).collect();
    let text = Plain::of_table(&rows(&series)).run(&["status"]).ok().stdout;
    let listed = text.split_once("confirmed step").unwrap().1;
    assert!(listed.contains("  slow latency") && listed.contains("and 2 more"), "{text}");
}
