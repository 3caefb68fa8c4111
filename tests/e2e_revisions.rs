//! More than two revisions, a revision against itself, and head's own suite.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use repository::need_git;
use support::{Playground, QUICK};

#[test]
fn every_further_revision_is_compared_with_the_first() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(40);
    playground.repository.commit("slower");
    playground.write("notes.txt", "nothing that counts");
    playground.repository.commit("notes");
    // Ten times as slow is far above this limit, and what load does to a sleep far below.
    let (ran, report) = playground.report(&[
        "--base",
        "HEAD~2",
        "--head",
        "HEAD~2",
        "--ref",
        "HEAD~1",
        "--ref",
        "HEAD",
        "--max-percent",
        "400",
    ]);
    ran.ends(1, &["1 regression: tool"]);
    let of = |head: &str| {
        let all = report["benchmarks"][0]["comparisons"].as_array().expect("an array");
        let found = all.iter().find(|it| it["head_revision"] == head && it["metric"] == "latency");
        found.expect("it is compared")["verdict"].clone()
    };
    assert_eq!([of("ref1"), of("ref2")], ["regression", "regression"]);
    assert_ne!(of("head"), "regression");
    assert_eq!(report["revisions"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["benchmarks"][0]["sides"].as_array().map(Vec::len), Some(4));
}

#[test]
fn revision_against_itself_is_summed_up_and_each_repeat_can_be_judged_again() {
    need_git!();
    let playground = Playground::probe();
    let path = playground.repository.beside("aa.json");
    let format = format!("json={}", path.display());
    // The limit is far above what any load on the machine does to a sleep.
    let ran = playground
        .run(&[&["aa", "--times", "2", "--max-percent", "1000", "--format", &format], &QUICK[..]].concat());
    ran.ends(0, &[]);
    let text = std::fs::read_to_string(&path).expect("it was written");
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!((&report["summary"]["repeats"], &report["summary"]["false_alarms"]), (&2.into(), &0.into()));
    let rows = report["summary"]["rows"].as_array().expect("an array");
    let latency = rows.iter().find(|row| row["metric"] == "latency").expect("latency is compared");
    assert_eq!(latency["verdicts"]["pass"], 2);
    let repeats = report["repeats"].as_array().expect("an array");
    assert_ne!(repeats[0]["seed"], repeats[1]["seed"]);
    let one = playground.repository.beside("one.json");
    std::fs::write(&one, repeats[0].to_string()).expect("a temporary file");
    playground.run(&["judge", one.to_str().expect("made from text")]).ends(0, &[]);
}

#[test]
fn repeats_that_fail_for_a_budget_fail_aa_and_are_no_false_alarms() {
    need_git!();
    let playground = Playground::probe();
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nbudget.latency = { max = \"<= 1us\" }\n",
    );
    let args = ["aa", "--times", "2", "--max-percent", "1000"];
    let ran = playground.run(&[&args[..], &QUICK[..]].concat());
    ran.ends(1, &["2 of 2 repeats failed, 0 of them by a false alarm", "over budget"]);
    playground.run(&[&args[..], &["--no-fail"], &QUICK[..]].concat()).ends(0, &[]);
}

#[test]
fn formats_that_aa_has_no_form_in_are_refused_before_the_build() {
    need_git!();
    let playground = Playground::probe();
    playground.run(&["aa", "--format", "csv"]).ends(3, &["`aa` writes", "json"]);
}

#[test]
fn suite_of_a_named_head_is_that_of_its_commit() {
    need_git!();
    let playground = Playground::probe();
    playground.configure("[package.metadata.benchgate.metrics]\nlatency = { max_percent = 1000 }");
    playground.step_ms(40);
    playground.repository.commit("slower, and accepted");
    // The working tree asks for something else, and is not what is judged.
    playground.configure("[package.metadata.benchgate.metrics]\nlatency = { max_percent = 1 }");
    let (ran, report) = playground.report(&["--base", "HEAD~1", "--head", "HEAD"]);
    assert_eq!(report["benchmarks"][0]["comparisons"][0]["max_percent"], 1000.0);
    assert_ne!(ran.code, Some(2));
}

#[test]
fn base_of_the_built_in_harness_is_not_built_and_not_compared() {
    need_git!();
    let playground = Playground::probe();
    let bench = std::fs::read(playground.root().join("benches/tool.rs")).expect("the fixture has it");
    playground.write(
        "Cargo.toml",
        "[package]\nname = \"probe\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[[bench]]\nname = \"tool\"\n",
    );
    // Compiles on no toolchain, as `#![feature(test)]` does not on a stable one.
    playground.write("benches/tool.rs", "compile_error!(\"only on nightly\");\n");
    playground.repository.commit("benches of the built-in harness");
    playground.configure("");
    playground.write("benches/tool.rs", bench);
    playground.repository.commit("benches of our own");
    let ran = playground.quick(&["--base", "HEAD~1"]);
    // It is the only target, and a run that measured nothing is never green.
    ran.ends(6, &["nothing was measured"])
        .shows("its harness changed: the built-in one in base, process in head");
    assert!(!ran.stderr.contains("only on nightly"), "{}", ran.stderr);

    // What is asked of head alone is measured all the same.
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nbudget.latency = { median = \"<= 1ns\" }",
    );
    let (ran, report) = playground.report(&["--base", "HEAD~1"]);
    ran.ends(1, &["budget"]);
    assert_eq!(report["benchmarks"][0]["presence"], "not_comparable");
    assert_eq!(report["benchmarks"][0]["sides"][0]["runs"].as_array().map(Vec::len), Some(10));
}
