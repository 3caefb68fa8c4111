//! The real harnesses, end to end: a crate with a planted slowdown in one of its functions fails the gate by its name.
//!
//! Each test needs the harness from the registry or its cache, and is skipped with a printed reason where it has none.
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use repository::{TestRepository, need_git};
use support::{Playground, QUICK, Ran};

const BASE_STEPS: &str = "STEPS: u64 = 100";
const HEAD_STEPS: &str = "STEPS: u64 = 1000";

/// A repository at a place of its own, and a cache that outlives the test: what does not change is built once.
struct Live {
    playground: Playground,
    cache: PathBuf,
    /// Another run of the tests waits.
    _lock: File,
}

impl Live {
    /// The repository of a fixture crate whose second commit makes a function slower; `None`, with a printed reason, where
    /// its dependencies cannot be had.
    fn slowed(fixture: &str) -> Option<Self> {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harness_live");
        std::fs::create_dir_all(&directory).expect("cargo's directory for tests is writable");
        let lock = File::create(directory.join(format!("{fixture}.lock"))).expect("it is writable");
        lock.lock().expect("the system has file locks");
        let repository = TestRepository::in_place(&directory, fixture);
        for shield in ["tmp", "home"] {
            std::fs::create_dir(repository.beside(shield)).expect("the directory is new");
        }
        let playground = Playground { repository };
        let live = Self { playground, cache: directory.join("cache"), _lock: lock };
        live.playground.add_crate(&format!("../crates/{fixture}"), "");
        if !live.fetch(&["--offline"]) && !live.fetch(&[]) {
            println!("skipped: the dependencies of {fixture} are neither in cargo's cache nor to be had");
            return None;
        }
        live.playground.repository.commit("first");
        live.change(&[(BASE_STEPS, HEAD_STEPS)]);
        live.playground.repository.commit("slower");
        Some(live)
    }

    /// Replaces text of the library.
    fn change(&self, changes: &[(&str, &str)]) {
        let path = self.playground.root().join("src/lib.rs");
        let mut text = std::fs::read_to_string(path).expect("the fixture has it");
        for (from, to) in changes {
            assert!(text.contains(from), "{from} is not in the fixture");
            text = text.replace(from, to);
        }
        self.playground.write("src/lib.rs", text);
    }

    /// Makes a Cargo.lock and gets what it names.
    fn fetch(&self, args: &[&str]) -> bool {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        self.playground.shield(&mut command);
        let root = self.playground.root();
        command.env("CARGO_NET_OFFLINE", "false").current_dir(root).arg("fetch").args(args);
        let output = command.output().expect("cargo runs the tests, so it can be started");
        println!("{}", String::from_utf8_lossy(&output.stderr));
        output.status.success()
    }

    /// Compares, by a named toolchain where there is one, and reads the report.
    fn report(&self, args: &[&str], toolchain: Option<&str>) -> (Ran, serde_json::Value) {
        let path = self.playground.repository.beside("report.json");
        let mut command = self.playground.command_in(self.playground.root());
        command.env("BENCHGATE_CACHE_DIR", &self.cache);
        if let Some(toolchain) = toolchain {
            command.env("RUSTUP_TOOLCHAIN", toolchain).env_remove("CARGO");
        }
        command.args(QUICK).arg("--format").arg(format!("json={}", path.display())).args(args);
        let ran = support::finish(&mut command);
        let text = std::fs::read(&path).unwrap_or_else(|_| panic!("no report was written: {ran}"));
        (ran, serde_json::from_slice(&text).expect("a report is JSON"))
    }
}

/// A comparison of the report, for the benchmark with this id.
fn verdict<'a>(report: &'a serde_json::Value, id: &str, metric: &str) -> &'a str {
    let benchmark =
        benchmarks(report).find(|it| it["id"] == id).unwrap_or_else(|| panic!("no {id} in {report:#}"));
    let comparisons = benchmark["comparisons"].as_array().expect("an array");
    let comparison = comparisons.iter().find(|it| it["metric"] == metric);
    comparison.and_then(|it| it["verdict"].as_str()).unwrap_or_else(|| panic!("no {metric} in {benchmark:#}"))
}

fn benchmarks(report: &serde_json::Value) -> impl Iterator<Item = &serde_json::Value> {
    report["benchmarks"].as_array().expect("an array").iter()
}

fn ids(report: &serde_json::Value) -> Vec<&str> {
    let mut ids: Vec<&str> = benchmarks(report).map(|it| it["id"].as_str().expect("text")).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn divan_slowdown_and_more_allocations_fail_the_gate_by_their_names() {
    need_git!();
    let Some(live) = Live::slowed("divan") else { return };
    live.change(&[
        ("ALLOCATED: usize = 100", "ALLOCATED: usize = 101"),
        ("BOXES: usize = 0", "BOXES: usize = 1"),
    ]);
    let (ran, report) = live.report(&["--base", "HEAD~1"], None);
    let slow = "slowed::x?y \"*\" 🦀";
    ran.ends(1, &["3 regressions"]);
    assert_eq!(ids(&report), ["allocating", "boxing", slow, "steady", "threads::t=1", "threads::t=2"]);
    assert_eq!(verdict(&report, slow, "latency"), "regression");
    assert_eq!(verdict(&report, "steady", "latency"), "pass");
    assert_eq!(verdict(&report, "allocating", "allocations"), "pass");
    assert_eq!(verdict(&report, "allocating", "allocated_bytes"), "regression");
    // divan prints nothing of no allocations, and beside one that allocates that is a count.
    assert_eq!(verdict(&report, "boxing", "allocations"), "regression");
    assert!(benchmarks(&report).all(|it| it["harness"] == "divan"));
}

#[test]
fn bencher_slowdown_fails_the_gate_by_its_name() {
    need_git!();
    let Some(live) = Live::slowed("bencher") else { return };
    let (ran, report) = live.report(&[], None);
    ran.ends(1, &["1 regression: speed/steady_slowed"]);
    assert_eq!(ids(&report), ["steady", "steady_slowed"]);
    assert_eq!(verdict(&report, "steady", "latency"), "pass");
    assert!(benchmarks(&report).all(|it| it["harness"] == "bencher"));
}

fn criterion(fixture: &str) {
    let Some(live) = Live::slowed(fixture) else { return };
    let (ran, report) = live.report(&[], None);
    let slow = "odd names/slowed, x?y \"*\" 🦀";
    ran.ends(1, &[&format!("1 regression: speed/{slow}")]);
    assert_eq!(ids(&report), [slow, "steady"]);
    assert_eq!(verdict(&report, slow, "latency"), "regression");
    assert_eq!(verdict(&report, "steady", "latency"), "pass");
}

#[test]
fn criterion_0_4_slowdown_fails_the_gate_by_its_name() {
    need_git!();
    criterion("criterion-0.4");
}

#[test]
fn criterion_0_8_slowdown_fails_the_gate_by_its_name() {
    need_git!();
    criterion("criterion-0.8");
}

#[test]
fn libtest_slowdown_fails_the_gate_by_its_name() {
    need_git!();
    let nightly = Command::new("rustup").args(["which", "--toolchain", "nightly", "cargo"]).output();
    if !nightly.is_ok_and(|output| output.status.success()) {
        println!("skipped: rustup has no nightly toolchain");
        return;
    }
    let Some(live) = Live::slowed("libtest") else { return };
    let (ran, report) = live.report(&[], Some("nightly"));
    ran.ends(1, &["1 regression: speed/inner::slowed"]);
    assert_eq!(ids(&report), ["inner::slowed", "steady"], "ignored ones are left out");
    assert_eq!(verdict(&report, "steady", "latency"), "pass");
}
