//! The store of reports: what enters a series, what is left out and said, and files that are not what they should be.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "history_support/mod.rs"]
mod history_support;

use std::path::Path;

use cargo_benchgate::history::index::Index;
use cargo_benchgate::history::store::Store;
use history_support::{Plain, Side, head_report, minute, report, report_with, scattered};
use serde_json::{Value, json};

/// A history with a clean report of each of so many commits.
fn filled(count: usize) -> Plain {
    let plain = Plain::new();
    for (index, value) in scattered(count, 1000.0).into_iter().enumerate() {
        add(&plain, &head_report(&minute(index), &id(index), value));
    }
    plain
}

fn add(plain: &Plain, report: &Value) {
    plain.write("report.json", &report.to_string());
    plain.run(&["add", "report.json"]).ok();
}

fn id(index: usize) -> String {
    format!("{index:040x}")
}

fn status(plain: &Plain) -> Value {
    plain.run(&["status", "--format", "json"]).ok().json()
}

fn values(plain: &Plain) -> usize {
    plain.show("t/b", &[])["points"].as_array().unwrap().len()
}

#[test]
fn value_of_a_report_is_its_best_run_and_the_median_for_change_points() {
    let plain = Plain::new();
    add(&plain, &head_report(&minute(0), &id(0), 1000.0));
    let point = plain.show("t/b", &[])["points"][0].clone();
    assert_eq!((point["value"].as_f64(), point["median"].as_f64()), (Some(1000.0), Some(1010.0)));
    assert_eq!(point["commit"], id(0));
}

#[test]
fn both_sides_of_a_comparison_enter_under_their_own_commits() {
    let plain = Plain::new();
    for index in 1..4 {
        let sides = [
            Side { name: "base", commit: &id(index - 1), dirty: false, values: &[100.0, 101.0] },
            Side { name: "head", commit: &id(index), dirty: false, values: &[110.0, 111.1] },
        ];
        add(&plain, &report(&minute(index), &sides));
    }
    let shown = plain.show("t/b", &[]);
    let commits: Vec<&str> =
        shown["points"].as_array().unwrap().iter().map(|point| point["commit"].as_str().unwrap()).collect();
    assert_eq!(commits.len(), 6);
    let chained =
        shown["points"].as_array().unwrap().iter().filter(|point| point["joined"] == "interleaved").count();
    assert_eq!(chained, 3, "{shown:#}");
}

#[test]
fn dirty_trees_missing_commits_and_failed_benchmarks_are_kept_left_out_and_counted() {
    let plain = filled(3);
    let dirty = [Side { name: "head", commit: &id(9), dirty: true, values: &[1.0] }];
    add(&plain, &report(&minute(10), &dirty));
    let none = json!({ "revisions": [{ "name": "head", "spec": "x", "commit": null, "subject": null, "dirty": false,
                                       "chosen_because": null }] });
    let clean = [Side { name: "head", commit: "", dirty: false, values: &[1.0] }];
    add(&plain, &report_with(&minute(11), &clean, none));
    let mut failed = head_report(&minute(12), &id(10), 5.0);
    failed["benchmarks"][0]["error"] = json!({ "kind": "exit_code", "message": "it ended with 1" });
    add(&plain, &failed);
    assert_eq!(values(&plain), 3);
    let left_out = status(&plain)["left_out"].clone();
    assert_eq!(
        (&left_out["dirty"], &left_out["no_commit"], &left_out["errored"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let text = plain.run(&["status"]).ok().stdout;
    assert!(text.contains("left out 1 result of trees with uncommitted files"), "{text}");
    assert_eq!(plain.run(&["list"]).ok().stdout.matches("head ").count(), 6);
}

#[test]
fn two_files_of_one_run_count_once_and_are_said() {
    let plain = filled(3);
    // The same run judged again: other bytes, the same measurement.
    let mut again = head_report(&minute(1), &id(1), 999.0);
    again["command"] = json!("judge");
    again["warnings"] = json!(["judged again"]);
    add(&plain, &again);
    assert_eq!(values(&plain), 3);
    assert_eq!(status(&plain)["left_out"]["duplicates"], 1);
    // The very same bytes are one file.
    add(&plain, &again);
    assert_eq!(plain.files().len(), 4);
}

#[test]
fn torn_and_foreign_files_are_left_out_by_name_and_a_whole_copy_heals() {
    let plain = filled(4);
    assert_eq!(values(&plain), 4);
    let victim = plain.files()[2].clone();
    let whole = std::fs::read(&victim).unwrap();
    std::fs::write(&victim, &whole[..whole.len() / 2]).unwrap();
    std::fs::write(victim.with_file_name("notes.json"), "{}").unwrap();
    std::fs::write(victim.with_file_name(".hidden"), "x").unwrap();
    assert_eq!(values(&plain), 3);
    let text = plain.run(&["status"]).ok().stdout;
    assert_eq!(text.matches("the file is torn or was changed").count(), 2, "{text}");
    // Half a file of the right length is noticed too, once the file is read again.
    std::fs::write(&victim, vec![b' '; whole.len()]).unwrap();
    assert_eq!(values(&plain), 3);
    std::fs::write(&victim, &whole).unwrap();
    assert_eq!(values(&plain), 4);
}

#[test]
fn adding_a_report_again_replaces_a_torn_copy_of_it() {
    let plain = filled(1);
    let victim = plain.files()[0].clone();
    std::fs::write(&victim, "").unwrap();
    add(&plain, &head_report(&minute(0), &id(0), scattered(1, 1000.0)[0]));
    assert_eq!(values(&plain), 1);
}

#[test]
fn what_is_no_report_is_refused_and_nothing_of_the_call_is_stored() {
    let plain = Plain::new();
    plain.write("good.json", &head_report(&minute(0), &id(0), 1.0).to_string());
    for (text, words) in [
        ("", "it is empty"),
        ("{}", "schema_version"),
        ("{\"schema_version\": 99}", "reads up to 1"),
        ("{\"schema_version\": 1}", "missing field"),
        ("not json", "line 1"),
    ] {
        plain.write("bad.json", text);
        let refused = plain.run(&["add", "good.json", "bad.json"]);
        assert_eq!(refused.code, 3, "{text}");
        assert!(refused.stderr.contains(words), "{text}: {}", refused.stderr);
    }
    assert!(plain.files().is_empty());
}

#[test]
fn damaged_or_missing_index_changes_no_answer() {
    let plain = filled(12);
    let fresh = status(&plain);
    let index = plain.store().join("cache/index");
    let good = std::fs::read(&index).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for bytes in [Vec::new(), b"rubbish".to_vec(), good[..good.len() - 1].to_vec(), flipped] {
        std::fs::write(&index, bytes).unwrap();
        assert_eq!(status(&plain), fresh);
    }
    std::fs::remove_dir_all(plain.store().join("cache")).unwrap();
    assert_eq!(status(&plain), fresh);
    // A file where the cache's folder should be: the index cannot be written.
    std::fs::remove_dir_all(plain.store().join("cache")).unwrap();
    std::fs::write(plain.store().join("cache"), "in the way").unwrap();
    assert_eq!(status(&plain), fresh);
}

#[test]
fn index_from_its_cache_equals_the_one_read_from_all_files() {
    let plain = filled(18);
    // A benchmark that failed, and one that is the base's own program.
    for (index, over) in [
        json!({ "error": { "kind": "exit_code", "message": "it ended with 1" } }),
        json!({ "presence": "unchanged", "sides": [] }),
    ]
    .into_iter()
    .enumerate()
    {
        let mut report = head_report(&minute(60 + index), &id(60 + index), 1.0);
        report["benchmarks"][0].as_object_mut().unwrap().extend(over.as_object().unwrap().clone());
        add(&plain, &report);
    }
    let store = Store::new(plain.store());
    let read = Index::load(&store).unwrap();
    let cached = Index::load(&store).unwrap();
    assert_eq!(read, cached);
    // New files are read, removed ones dropped.
    std::fs::remove_file(&plain.files()[3]).unwrap();
    add(&plain, &head_report(&minute(99), &id(99), 1.0));
    let updated = Index::load(&store).unwrap();
    std::fs::remove_dir_all(plain.store().join("cache")).unwrap();
    let fresh = Index::load(&store).unwrap();
    assert_eq!(updated.reports.len(), 20);
    let files = |index: &Index| index.reports.iter().map(|report| report.file.clone()).collect::<Vec<_>>();
    assert_eq!(files(&updated), files(&fresh));
}

#[test]
fn stores_merge_by_copying_files() {
    let (one, two) = (filled(15), filled(6));
    add(&two, &head_report(&minute(50), &id(50), 1000.0));
    let copy = |from: &Path, to: &Path| {
        for file in history_support::files_below(&from.join("reports")) {
            let target = to.join(file.strip_prefix(from).unwrap());
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(&file, target).unwrap();
        }
    };
    copy(&two.store(), &one.store());
    copy(&one.store(), &two.store());
    assert_eq!(values(&one), 16);
    assert_eq!(status(&one), status(&two));
}

#[test]
fn other_machine_profile_or_features_make_another_series_and_the_worst_machine_wins() {
    let plain = Plain::new();
    for index in 0..30 {
        let slow = if index < 25 { 1000.0 } else { 1200.0 };
        let value = scattered(30, 1.0)[index];
        let at = |label: &str, values: &[f64]| {
            let sides = [Side { name: "head", commit: &id(index), dirty: false, values }];
            add(&plain, &report_with(&minute(index), &sides, json!({ "machine": { "label": label } })));
        };
        at("quiet", &[1000.0 * value]);
        at("slowing", &[slow * value]);
    }
    let got = status(&plain)["benchmarks"][0].clone();
    assert_eq!((&got["status"], &got["change_machine"]), (&json!("regressed"), &json!("slowing")));
    assert_eq!(got["series"].as_array().unwrap().len(), 2);
    // Features are part of the key: a series of its own on the quiet machine begins.
    let sides = [Side { name: "head", commit: &id(40), dirty: false, values: &[5.0] }];
    let over = json!({ "machine": { "label": "quiet" }, "suite": { "features": ["simd"] } });
    add(&plain, &report_with(&minute(40), &sides, over));
    let got = status(&plain)["benchmarks"][0].clone();
    let of_quiet: Vec<&Value> =
        got["series"].as_array().unwrap().iter().filter(|series| series["machine"] == "quiet").collect();
    // Only the series measured at the machine's latest commit counts.
    assert_eq!(of_quiet.len(), 1);
    assert_eq!(of_quiet[0]["features"], "simd");
}

#[test]
fn benchmarks_of_one_label_are_told_apart_where_one_is_named_and_where_they_are_exported() {
    let plain = Plain::new();
    for index in 0..2 {
        let mut report = head_report(&minute(index), &id(index), 1000.0);
        let mut other = report["benchmarks"][0].clone();
        other["package"] = json!("q");
        report["benchmarks"].as_array_mut().unwrap().push(other);
        add(&plain, &report);
        let sides = [Side { name: "head", commit: &id(index), dirty: false, values: &[900.0] }];
        add(&plain, &report_with(&minute(60 + index), &sides, json!({ "suite": { "features": ["simd"] } })));
    }
    let refused = plain.run(&["show", "t/b"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("`p:t/b` and `q:t/b`"), "{}", refused.stderr);
    assert_eq!(plain.show("q:t/b", &[])["points"].as_array().unwrap().len(), 2);
    let exported = plain.run(&["export"]).ok().stdout;
    let again = Plain::of_table(&exported);
    assert_eq!(again.run(&["export"]).ok().stdout, exported);
    assert_eq!(exported.lines().count(), 7);
    assert!(exported.contains(",q:t/b,"), "{exported}");
    assert!(exported.contains("\"p:t/b (bench, simd, x86_64-unknown-linux-gnu)\""), "{exported}");
}

#[test]
fn new_toolchain_begins_a_segment_and_the_plain_lookback_does_not_mind() {
    let plain = Plain::new();
    for (index, value) in scattered(30, 1000.0).into_iter().enumerate() {
        let rustc = if index < 20 { "rustc 1.90.0" } else { "rustc 1.91.0" };
        let mut report =
            head_report(&minute(index), &id(index), if index < 20 { value } else { value * 0.8 });
        report["toolchain"]["rustc"] = json!(rustc);
        add(&plain, &report);
    }
    let segment = |mode: &str| plain.show("t/b", &["--lookback", mode])["points"][29]["segment"].clone();
    assert_eq!((segment("steps"), segment("plain")), (json!(1), json!(0)));
    assert!(plain.run(&["show", "t/b"]).ok().stdout.contains("other toolchain"));
}
