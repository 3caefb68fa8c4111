//! Renamed series: `history rekey`, what it moves, what it leaves alone, and how it is taken back.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "history_support/mod.rs"]
mod history_support;

use history_support::{Plain, Side, head_report, history, minute, report, report_with, scattered, table};
use serde_json::{Value, json};

const REASON: [&str; 2] = ["--reason", "it was renamed"];

/// A table of two benchmarks, one after the other: `old` until it is renamed, `new` from then on.
fn renamed_on_the_way() -> Plain {
    let mut text = table(&scattered(14, 1000.0)).replace(",b,", ",old,");
    for (index, value) in [1200.0, 1201.0].iter().enumerate() {
        text.push_str(&format!("d{index},{},new,latency,ns,{value}\n", 1_800_000_000 + index));
    }
    Plain::of_table(&text)
}

fn statuses(plain: &Plain) -> Vec<(String, String)> {
    let all = plain.run(&["status", "--format", "json"]).ok().json();
    let text = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    all["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(it, "benchmark"), text(it, "status")))
        .collect()
}

fn rekey(plain: &Plain, arguments: &[&str]) -> history_support::Ran {
    let mut all = vec!["rekey"];
    all.extend(arguments);
    all.extend(REASON);
    plain.run(&all)
}

#[test]
fn renamed_benchmark_goes_on_under_its_new_name_and_is_judged_by_its_whole_past() {
    let plain = renamed_on_the_way();
    let before = plain.files();
    assert_eq!(statuses(&plain).len(), 2);
    let said = rekey(&plain, &["--from", "id=old", "--to", "id=new", "--to", "target=new"]).ok();
    assert!(said.stderr.contains("id=old to id=new target=new (1 series)"), "{}", said.stderr);
    assert_eq!(statuses(&plain), [("new".to_owned(), "regressed".to_owned())]);
    assert_eq!(plain.show("new", &[])["points"].as_array().unwrap().len(), 16);
    assert_eq!(plain.run(&["show", "old"]).code, 3);
    // Nothing was changed; one file was added.
    let after = plain.files();
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|path| after.contains(path)));
    let listed = plain.run(&["list"]).ok().stdout;
    assert!(listed.contains("rekey id=old to id=new target=new: it was renamed"), "{listed}");
}

#[test]
fn renaming_is_taken_back_by_its_own_words() {
    let plain = renamed_on_the_way();
    let separate = statuses(&plain);
    rekey(&plain, &["--from", "id=old", "--to", "id=new", "--to", "target=new"]).ok();
    let refused = rekey(&plain, &["--undo", "--from", "id=old", "--to", "id=other"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("`id=old to id=new target=new`"), "{}", refused.stderr);
    rekey(&plain, &["--undo", "--from", "id=old", "--to", "id=new", "--to", "target=new"]).ok();
    assert_eq!(statuses(&plain), separate);
}

#[test]
fn second_renaming_of_what_was_moved_is_refused_with_the_way_back() {
    let plain = renamed_on_the_way();
    let typo = rekey(&plain, &["--from", "id=old", "--to", "id=nwe", "--to", "target=new"]).ok();
    assert!(typo.stderr.contains("no series was called id=nwe target=new before"), "{}", typo.stderr);
    let files = plain.files();
    let way_back = "rekey --undo --from id=old --to id=nwe --to target=new --reason";
    for to in ["id=new", "id=nwe"] {
        let refused = rekey(&plain, &["--from", "id=old", "--to", to, "--to", "target=new"]);
        assert_eq!(refused.code, 3, "{}", refused.stderr);
        assert!(refused.stderr.contains(way_back), "{}", refused.stderr);
    }
    assert_eq!(plain.files(), files);
    rekey(&plain, &["--undo", "--from", "id=old", "--to", "id=nwe", "--to", "target=new"]).ok();
    let right = rekey(&plain, &["--from", "id=old", "--to", "id=new", "--to", "target=new"]).ok();
    assert!(!right.stderr.contains("note"), "{}", right.stderr);
    assert_eq!(statuses(&plain), [("new".to_owned(), "regressed".to_owned())]);
}

#[test]
fn renaming_there_and_back_and_there_again_is_one() {
    let plain = Plain::of_table(&table(&scattered(3, 1000.0)));
    let there = ["--from", "id=b", "--to", "id=c", "--to", "target=c"];
    let back = ["--from", "id=c", "--to", "id=b", "--to", "target=b"];
    rekey(&plain, &there).ok();
    rekey(&plain, &back).ok();
    rekey(&plain, &there).ok();
    assert_eq!(statuses(&plain)[0].0, "c");
}

#[test]
fn machine_that_got_a_label_keeps_its_past_and_a_report_of_the_old_name_is_compared_with_it() {
    let plain = Plain::new();
    let add = |report: &Value| {
        plain.write("r.json", &report.to_string());
        plain.run(&["add", "r.json"]).ok();
    };
    for (index, value) in scattered(14, 1000.0).into_iter().enumerate() {
        add(&head_report(&minute(index), &format!("{index:040x}"), value));
    }
    let listed = plain.run(&["list", "--format", "json"]).ok().json();
    let machine = listed["machines"].as_object().unwrap().keys().next().unwrap().clone();
    let labelled = json!({ "machine": { "label": "pool" } });
    for index in 20..22 {
        let commit = format!("{index:040x}");
        let side = [Side { name: "head", commit: &commit, dirty: false, values: &[1300.0] }];
        add(&report_with(&minute(index), &side, labelled.clone()));
    }
    rekey(&plain, &["--from", &format!("machine={machine}"), "--to", "machine=pool"]).ok();
    assert_eq!(statuses(&plain), [("t/b".to_owned(), "regressed".to_owned())]);
    // A report that was made before the label is of the same machine.
    let commit = format!("{:040x}", 40);
    let side = [Side { name: "head", commit: &commit, dirty: false, values: &[1300.0] }];
    plain.write("new.json", &report(&minute(40), &side).to_string());
    let compared = plain.run(&["compare", "new.json", "--format", "json"]);
    let rows = compared.json();
    assert_eq!(rows["rows"][0]["results"], 16, "{rows}");
}

#[test]
fn run_that_holds_both_names_keeps_them_apart_and_says_so() {
    let mut text = table(&scattered(3, 1000.0));
    text.push_str(table(&scattered(3, 500.0)).replace(",b,", ",a,").split_once('\n').unwrap().1);
    let plain = Plain::of_table(&text);
    // Each result of a table is a report of its own commit, so here both names are in one.
    let said = rekey(&plain, &["--from", "id=a", "--to", "id=b", "--to", "target=b"]).ok();
    let points = |name: &str| {
        let ran = plain.run(&["show", name, "--format", "json"]);
        if ran.code == 0 { ran.json()["points"].as_array().unwrap().len() } else { 0 }
    };
    let (a, b) = (points("a"), points("b"));
    assert_eq!(a + b, 6, "no result is lost");
    assert_eq!(a == 3, said.stderr.contains("there each keeps its own name"), "{}", said.stderr);
}

#[test]
fn words_that_mean_nothing_are_refused_with_what_there_is() {
    let plain = renamed_on_the_way();
    let refused = |arguments: &[&str], want: &str| {
        let ran = rekey(&plain, arguments);
        assert_eq!(ran.code, 3, "{arguments:?}");
        assert!(ran.stderr.contains(want), "{arguments:?}: {}", ran.stderr);
    };
    refused(&["--from", "id=gone", "--to", "id=x"], "no series has id=gone; there is `new`, `old`");
    refused(&["--from", "id=old", "--from", "metric=time", "--to", "id=x"], "no series has metric=time");
    refused(&["--from", "unit=ns", "--to", "id=x"], "`unit` is no part of a series' key");
    refused(&["--from", "id", "--to", "id=x"], "write PART=TEXT");
    refused(&["--from", "id=old", "--to", "id=old"], "changes no name");
    refused(&["--from", "id=old", "--to", "id=x", "--to", "id=y"], "names id twice");
    refused(&["--from", "id=old"], "--to");
    refused(&["--from", "metric=latency", "--to", "metric=instructions"], "one built-in metric another");
    let empty = plain.run(&["rekey", "--from", "id=old", "--to", "id=x", "--reason", " "]);
    assert!(empty.code == 3 && empty.stderr.contains("say why"), "{}", empty.stderr);
    assert_eq!(
        history(plain.path(), &["rekey", "--history", "H", "--from", "id=old", "--to", "id=x"]).code,
        3
    );
}

#[test]
fn marks_made_under_a_former_name_are_about_the_series_it_became() {
    let plain = Plain::of_table(&table(&[&scattered(14, 1000.0)[..], &scattered(6, 1300.0)[..]].concat()));
    let status = || statuses(&plain)[0].1.clone();
    assert_eq!(status(), "regressed");
    plain.run(&["mark", "b", "c14", "--machine", "unknown", "--reason", "accepted"]).ok();
    assert_eq!(status(), "stable");
    rekey(&plain, &["--from", "id=b", "--to", "id=then", "--to", "target=then"]).ok();
    assert_eq!(status(), "stable", "the mark moves with its results");
    // A mark under the name in between counts, too.
    plain.run(&["unmark", "then", "c14", "--reason", "it was not"]).ok();
    rekey(
        &plain,
        &["--from", "id=then", "--from", "machine=unknown", "--to", "id=now", "--to", "machine=pool"],
    )
    .ok();
    assert_eq!(status(), "regressed");
    let said = plain.run(&["mark", "b", "c14", "--reason", "accepted again"]).ok();
    assert!(said.stderr.contains("(1 series)"), "{}", said.stderr);
    assert_eq!(status(), "stable");
}
