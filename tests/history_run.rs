//! Runs and their history: `--record`, and what the history adds to a comparison.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "e2e_support/mod.rs"]
mod e2e_support;
#[path = "history_support/mod.rs"]
mod history_support;
#[path = "common/repository.rs"]
mod repository;

use cargo_benchgate::history::course::LookbackMode;
use cargo_benchgate::history::facts::Facts;
use cargo_benchgate::history::index::Index;
use cargo_benchgate::history::series::View;
use cargo_benchgate::history::store::Store;
use cargo_benchgate::history::witness::remarks;
use cargo_benchgate::revision::{BranchCommit, BranchLine};
use e2e_support::{Playground, QUICK};
use history_support::{Plain, Side, head_report, minute, report, scattered};
use repository::need_git;

fn id(index: usize) -> String {
    format!("{index:040x}")
}

/// What the history of these values, a commit each on the branch, says of a comparison of two values, the base at a
/// commit.
fn remarks_on(history: &[f64], base: (usize, f64), head: f64) -> Vec<String> {
    let plain = Plain::new();
    let store = Store::new(plain.store());
    let mut line = BranchLine { name: "main".to_owned(), ..BranchLine::default() };
    for (index, value) in history.iter().enumerate() {
        store.add_report(head_report(&minute(index), &id(index), *value).to_string().as_bytes()).unwrap();
        let depth = u32::try_from(history.len() - index).unwrap();
        line.commits.insert(id(index), BranchCommit { depth, committed_at: 60 * index as i64 });
    }
    let view = View::new(&Index::load(&store).unwrap(), Some(&line), &[], |_, _| true);
    let sides = [
        Side { name: "base", commit: &id(base.0), dirty: false, values: &[base.1] },
        Side { name: "head", commit: &id(9999), dirty: true, values: &[head] },
    ];
    let facts = Facts::read(report(&minute(900), &sides).to_string().as_bytes()).unwrap();
    remarks(&facts, &view, LookbackMode::Steps)
}

#[test]
fn base_within_its_history_gets_no_remark() {
    assert!(remarks_on(&scattered(30, 1000.0), (29, 1001.0), 1300.0).is_empty());
}

#[test]
fn base_that_is_itself_off_its_history_is_told() {
    let said = remarks_on(&scattered(30, 1000.0), (29, 900.0), 1000.0);
    let [said] = &said[..] else { panic!("{said:?}") };
    assert!(said.contains("the base of t/b latency is itself off its history"), "{said}");
    // Too short a history says nothing.
    assert!(remarks_on(&scattered(5, 1000.0), (4, 900.0), 1000.0).is_empty());
}

#[test]
fn result_of_head_itself_excuses_no_regression() {
    let plain = Plain::new();
    let store = Store::new(plain.store());
    let mut line = BranchLine { name: "main".to_owned(), ..BranchLine::default() };
    for (index, value) in [1000.0, 1300.0].into_iter().enumerate() {
        store.add_report(head_report(&minute(index), &id(index), value).to_string().as_bytes()).unwrap();
        let depth = u32::try_from(1 - index).unwrap();
        line.commits.insert(id(index), BranchCommit { depth, committed_at: 60 * index as i64 });
    }
    let view = View::new(&Index::load(&store).unwrap(), Some(&line), &[], |_, _| true);
    let of = |dirty: bool| {
        let sides = [
            Side { name: "base", commit: &id(0), dirty: false, values: &[1000.0] },
            Side { name: "head", commit: &id(1), dirty, values: &[1300.0] },
        ];
        let facts = Facts::read(report(&minute(900), &sides).to_string().as_bytes()).unwrap();
        remarks(&facts, &view, LookbackMode::Steps)
    };
    assert_eq!(of(false), Vec::<String>::new());
    assert_eq!(of(true).len(), 1, "a change on top of it may well be no slower than it");
}

#[test]
fn slowdown_that_the_branch_has_already_is_told() {
    let mut values = scattered(30, 1000.0);
    values.extend(scattered(4, 1200.0));
    let said = remarks_on(&values, (29, 1000.0), 1205.0);
    let [said] = &said[..] else { panic!("{said:?}") };
    assert!(said.contains("is at this level on main too") && said.contains(&id(30)[..10]), "{said}");
    // Head is slower than that level, or no slower than its base: nothing to add.
    assert!(remarks_on(&values, (29, 1000.0), 1500.0).is_empty());
    assert!(remarks_on(&values, (29, 1000.0), 1000.0).is_empty());
}

#[test]
fn base_that_was_never_measured_is_held_against_what_is_older_than_it() {
    // The branch got slower after the base; the base has no result of its own.
    let mut values = scattered(30, 1000.0);
    values.extend(scattered(30, 2000.0));
    let plain = Plain::new();
    let store = Store::new(plain.store());
    for (index, value) in values.iter().enumerate() {
        let at = minute(if index < 30 { index } else { 100 + index });
        store.add_report(head_report(&at, &id(index), *value).to_string().as_bytes()).unwrap();
    }
    let view = View::new(&Index::load(&store).unwrap(), None, &[], |_, _| true);
    let said = |base: f64, committed_at: Option<String>| {
        let sides = [
            Side { name: "base", commit: &id(7777), dirty: false, values: &[base] },
            Side { name: "head", commit: &id(9999), dirty: true, values: &[1000.0] },
        ];
        let mut report = report(&minute(900), &sides);
        report["revisions"][0]["committed_at"] = committed_at.into();
        let facts = Facts::read(report.to_string().as_bytes()).unwrap();
        remarks(&facts, &view, LookbackMode::Steps)
    };
    assert!(said(1000.0, Some(minute(50))).is_empty());
    assert_eq!(said(1500.0, Some(minute(50))).len(), 1);
    assert!(said(1000.0, None).is_empty(), "nothing tells where the base stands");
}

#[test]
fn run_is_recorded_in_the_repository_that_was_measured() {
    need_git!();
    let (here, there) = (Playground::empty(), Playground::probe());
    let manifest = there.root().join("Cargo.toml");
    let mut arguments = vec!["run", "--record", "--manifest-path", manifest.to_str().unwrap()];
    arguments.extend(QUICK);
    let ran = there.run_in(here.root(), &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(there.root().join(".git/benchgate/history/reports").is_dir(), "{}", ran.stderr);
    assert!(!here.root().join(".git/benchgate").exists());
}

#[test]
fn recorded_runs_are_in_the_history_and_a_run_that_is_not_recorded_leaves_none() {
    need_git!();
    let playground = Playground::probe();
    let store = playground.repository.root().join(".git/benchgate/history");
    let quick: Vec<&str> = QUICK.to_vec();
    let run = |more: &[&str]| {
        let mut arguments = vec!["run"];
        arguments.extend(more);
        arguments.extend(&quick);
        playground.run(&arguments)
    };
    let ran = run(&[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!store.exists());
    let ran = run(&["--record"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("Recorded"), "{}", ran.stderr);
    let files = history_support::files_below(&store.join("reports"));
    assert_eq!(files.len(), 1);
    let status =
        history_support::history(playground.repository.root(), &["status", "--format", "json"]).ok().json();
    let [benchmark] = &status["benchmarks"].as_array().unwrap()[..] else { panic!("{status:#}") };
    assert_eq!(benchmark["commit"], playground.repository.id("HEAD"));
    assert_eq!(benchmark["status"], "insufficient");
    // The recorded file is a report like any other.
    let judged = playground.run(&["judge", files[0].to_str().unwrap()]);
    assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    // A dirty tree is recorded, and enters no series.
    playground.repository.write("notes.txt", "not committed");
    let ran = run(&["--record", "--history", playground.repository.beside("elsewhere").to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let elsewhere = playground.repository.beside("elsewhere");
    let arguments = ["status", "--history", elsewhere.to_str().unwrap()];
    let status = history_support::history(playground.repository.root(), &arguments).ok().stdout;
    assert!(status.contains("result of trees with uncommitted files"), "{status}");
}
