//! What a run leaves behind: nothing but its cache and its reports, whatever ended it.
#![cfg(target_os = "linux")]

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use repository::need_git;
use support::{Playground, QUICK, Ran, processes_with, wait, wait_until};

/// A playground whose bench says that it runs and then goes on for long, in part out of its own process group.
struct Endless {
    playground: Playground,
    running: PathBuf,
    marker: String,
    before: String,
}

impl Endless {
    fn new(name: &str) -> Self {
        let playground = Playground::probe();
        let running = playground.repository.beside("running");
        let marker = format!("benchgate-e2e-{name}-{}", std::process::id());
        playground.configure(&format!(
            "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nargs = [\"escape\", \"300\", \"touch\", \"{}\", \"hang\"]\n\
             env = {{ E2E_MARKER = \"{marker}\" }}",
            running.display()
        ));
        playground.repository.commit("endless");
        // Uncommitted work is what must not get lost.
        playground.write("src/extra.rs", "// not yet committed\n");
        playground.write("staged.txt", "staged\n");
        playground.repository.git(&["add", "staged.txt"]);
        let before = playground.state();
        Self { playground, running, marker, before }
    }

    /// Starts a run and waits until its bench is at work.
    fn start(&self) -> Child {
        let _ = std::fs::remove_file(&self.running);
        let mut command = self.playground.command_in(self.playground.root());
        command.args(QUICK).args(["--base", "HEAD~1", "--timeout", "5m"]);
        command.arg("--format").arg(format!("json={}", self.report().display()));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        wait_until("the bench runs", || self.running.exists());
        child
    }

    fn report(&self) -> PathBuf {
        self.playground.repository.beside("report.json")
    }

    #[track_caller]
    fn assert_no_trace(&self, ran: &Ran) {
        assert_eq!(self.playground.state(), self.before, "{ran}");
        wait_until("every process of the run is gone", || processes_with(&self.marker).is_empty());
        assert_eq!(self.playground.temporary_files(), Vec::<PathBuf>::new());
        assert_only_slots(&self.playground);
    }

    /// Runs once more, to its end.
    fn run_through(&self) -> Ran {
        let manifest = self.playground.root().join("Cargo.toml");
        let endless = std::fs::read_to_string(&manifest).expect("it is there");
        std::fs::write(&manifest, support::PROBE_MANIFEST).expect("writable");
        let ran = self.playground.quick(&["--max-percent", "1000"]);
        std::fs::write(&manifest, endless).expect("writable");
        ran
    }
}

/// The cache holds what `cache list` shows: the target directories, kept executables, and small files of ours; no worktree.
#[track_caller]
fn assert_only_slots(playground: &Playground) {
    let mut left = Vec::new();
    let mut pending = vec![playground.cache()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).expect("it can be listed").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.as_str() {
                "target" | "builds" | "repository" | "worktrees.lock" | "slot-00.lock" | "slot-01.lock"
                | "live" => {}
                "base" | "kase" | "head" | "slot-00" | "slot-01" => pending.push(entry.path()),
                _ if directory == playground.cache() => pending.push(entry.path()),
                _ => left.push(entry.path()),
            }
        }
    }
    assert_eq!(left, Vec::<PathBuf>::new());
}

fn send(child: &Child, signal: &str) {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(status.expect("kill can be run").success());
}

#[test]
fn finished_run_leaves_nothing_but_its_cache() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(5);
    let before = playground.state();
    let ran = playground.quick(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(0, &[]);
    assert_eq!(playground.state(), before);
    assert_eq!(playground.temporary_files(), Vec::<PathBuf>::new());
    assert_only_slots(&playground);
    let git = playground.root().join(".git");
    playground.run(&["cache", "list"]).ends(0, &[]).shows(&git.display().to_string());
    playground.run(&["cache", "clean"]).ends(0, &[]).says("Removed");
    playground.run(&["cache", "list"]).ends(0, &[]).shows("0 B in");
    let left = std::fs::read_dir(playground.cache()).map_or(0, Iterator::count);
    assert_eq!(left, 0, "the cache is empty");
}

#[test]
fn interrupt_ends_with_4_a_report_and_no_trace() {
    need_git!();
    let endless = Endless::new("once");
    for signal in ["INT", "TERM", "HUP"] {
        let _ = std::fs::remove_file(endless.report());
        let child = endless.start();
        assert!(!processes_with(&endless.marker).is_empty(), "the marker can be seen");
        send(&child, signal);
        let ran = wait(child);
        ran.ends(4, &["interrupted"]);
        let report = std::fs::read(endless.report()).expect("the report is written all the same");
        let report: serde_json::Value = serde_json::from_slice(&report).expect("it is whole");
        assert_eq!(report["exit"]["code"], 4);
        endless.assert_no_trace(&ran);
    }
}

#[test]
fn second_interrupt_ends_at_once_and_the_next_run_clears_up() {
    need_git!();
    let endless = Endless::new("twice");
    let child = endless.start();
    send(&child, "INT");
    send(&child, "INT");
    let ran = wait(child);
    ran.ends(4, &["interrupted"]);
    wait_until("every process of the run is gone", || processes_with(&endless.marker).is_empty());
    let ran = endless.run_through();
    ran.ends(0, &[]);
    endless.assert_no_trace(&ran);
}

#[test]
fn interrupt_of_a_build_leaves_no_trace() {
    need_git!();
    let endless = Endless::new("build");
    let began = endless.playground.repository.beside("began");
    endless.playground.write(
        "build.rs",
        format!("fn main() {{ std::fs::write({began:?}, \"\").unwrap(); std::thread::sleep(std::time::Duration::from_secs(300)) }}\n"),
    );
    let before = endless.playground.state();
    let mut command = endless.playground.command_in(endless.playground.root());
    command.args(QUICK).env("E2E_MARKER", &endless.marker);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    wait_until("the build script runs", || began.exists());
    send(&child, "INT");
    let ran = wait(child);
    ran.ends(4, &["interrupted"]);
    assert_eq!(endless.playground.state(), before, "{ran}");
    wait_until("every process of the build is gone", || processes_with(&endless.marker).is_empty());
}

#[test]
fn killed_run_is_cleared_away_by_the_next_one() {
    need_git!();
    let endless = Endless::new("killed");
    let mut child = endless.start();
    child.kill().expect("it runs");
    child.wait().expect("it was started here");
    // Its runner notices, and takes the bench and what escaped from it along.
    wait_until("every process of the killed run is gone", || processes_with(&endless.marker).is_empty());
    let ran = endless.run_through();
    ran.ends(0, &[]);
    endless.assert_no_trace(&ran);
}

#[test]
fn failing_run_leaves_no_trace() {
    need_git!();
    let playground = Playground::probe();
    playground.configure("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nargs = [\"exit\", \"1\"]");
    let before = playground.state();
    playground.quick(&["--base", "HEAD"]).ends(4, &["exited with code 1"]);
    assert_eq!(playground.state(), before);
    playground.write("benches/tool.rs", "fn main() { broken }");
    let before = playground.state();
    playground.quick(&["--base", "HEAD"]).ends(4, &["failed to build head"]);
    assert_eq!(playground.state(), before);
    assert_eq!(playground.temporary_files(), Vec::<PathBuf>::new());
    assert_only_slots(&playground);
}

#[test]
fn two_runs_of_one_repository_at_once_both_succeed() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(5);
    let before = playground.state();
    let start = || {
        let mut command = playground.command_in(playground.root());
        command.args(QUICK).args(["--base", "HEAD", "--max-percent", "1000"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started")
    };
    let runs = [start(), start()].map(wait);
    for ran in &runs {
        ran.ends(0, &[]);
    }
    assert_eq!(playground.state(), before);
    assert_eq!(playground.temporary_files(), Vec::<PathBuf>::new());
    assert_only_slots(&playground);
}

#[test]
fn kept_worktrees_stay_until_the_slot_is_wanted() {
    need_git!();
    let playground = Playground::probe();
    let before = playground.state();
    let ran = playground.quick(&["--base", "HEAD", "--keep", "--max-percent", "1000"]);
    ran.ends(0, &[]).says("Kept head in").says("Kept base in");
    assert_ne!(playground.state(), before, "they are registered");
    playground.run(&["cache", "clean"]).ends(0, &[]);
    assert_eq!(playground.state(), before);
}
