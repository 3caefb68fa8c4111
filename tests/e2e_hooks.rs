//! The suite's hooks: setup, prepare_each and cleanup around the benchmarks, in each revision's own root.
#![cfg(unix)]

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use repository::{make_executable, need_git};
use support::{PROBE_MANIFEST, Playground, QUICK, finish, wait, wait_until};

/// A crate with a hook script that writes down what it is called for, and where.
struct Hooked {
    playground: Playground,
    log: PathBuf,
}

const SCRIPT: &str = "#!/bin/sh\necho \"$1 $(cat which)\" >> \"$LOG\"\n";

impl Hooked {
    /// `keys` are those of the entry; the script is `tools/hook`, and base and head have a file `which` each.
    fn new(keys: &str) -> Self {
        let playground = Playground::empty();
        playground.add_crate("probe", "");
        let log = playground.repository.beside("log");
        playground.write("tools/hook", SCRIPT);
        make_executable(&playground.root().join("tools/hook"));
        playground.write(
            "Cargo.toml",
            format!(
                "{PROBE_MANIFEST}\n[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nenv = {{ LOG = \"{}\" }}\n{keys}\n",
                log.display()
            ),
        );
        playground.write("which", "base");
        playground.repository.commit("first");
        playground.write("which", "head");
        Self { playground, log }
    }

    /// What the hooks wrote down.
    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn count(&self, line: &str) -> usize {
        self.log().iter().filter(|it| *it == line).count()
    }
}

#[test]
fn hooks_run_in_each_revision_once_around_all_and_before_every_unit_run() {
    need_git!();
    let hooked = Hooked::new(
        "setup = [[\"./tools/hook\", \"setup\"], [\"sh\", \"-c\", \"cp which made\"]]\n\
         prepare_each = [[\"${root}/tools/hook\", \"prepare\"]]\n\
         cleanup = [[\"tools/hook\", \"cleanup\"]]\n\
         args = [\"step\"]\nstdin = \"made\"",
    );
    let (ran, report) = hooked.playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(0, &[]);
    for side in ["base", "head"] {
        assert_eq!(hooked.count(&format!("setup {side}")), 1, "{:?}", hooked.log());
        assert_eq!(hooked.count(&format!("cleanup {side}")), 1, "{:?}", hooked.log());
        // Ten samples, and no warm-up.
        assert_eq!(hooked.count(&format!("prepare {side}")), 10, "{:?}", hooked.log());
    }
    let log = hooked.log();
    assert!(log[..2].iter().all(|line| line.starts_with("setup")), "{log:?}");
    assert!(log[log.len() - 2..].iter().all(|line| line.starts_with("cleanup")), "{log:?}");
    assert_eq!(report["benchmarks"][0]["sides"][1]["runs"].as_array().map(Vec::len), Some(10));
}

#[test]
fn time_of_hooks_is_not_measured() {
    need_git!();
    let hooked = Hooked::new("prepare_each = [[\"sleep\", \"0.3\"]]");
    let (ran, report) = hooked.playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    assert_ne!(ran.code, Some(4), "{ran}");
    // The step takes 4 ms; a quarter of a second would be the hook's.
    let median = report["benchmarks"][0]["comparisons"][0]["head"].as_f64().expect("it was measured");
    assert!(median < 250e6, "{median}");
}

#[test]
fn failing_setup_is_the_error_of_its_benchmark_and_cleanup_runs_all_the_same() {
    need_git!();
    let hooked = Hooked::new(
        "setup = [[\"sh\", \"-c\", \"echo no space left >&2; exit 7\"]]\ncleanup = [[\"./tools/hook\", \"cleanup\"]]",
    );
    let (ran, report) = hooked.playground.report(&["--base", "HEAD"]);
    ran.ends(4, &["setup of "]).shows("exited with code 7").shows("no space left");
    let error = &report["benchmarks"][0]["error"];
    assert_eq!(error["kind"], "hook_failed");
    assert_eq!((hooked.count("cleanup base"), hooked.count("cleanup head")), (1, 1), "{ran}");
}

#[test]
fn failing_prepare_each_ends_its_benchmark_at_once_and_a_failing_cleanup_keeps_the_samples() {
    need_git!();
    let hooked = Hooked::new(
        "prepare_each = [[\"sh\", \"-c\", \"./tools/hook prepare; exit 9\"]]\ncleanup = [[\"./tools/hook\", \"cleanup\"]]",
    );
    let (ran, report) = hooked.playground.report(&["--base", "HEAD"]);
    ran.ends(4, &["prepare_each of ", "exited with code 9"]);
    assert_eq!(report["benchmarks"][0]["error"]["kind"], "hook_failed");
    assert_eq!(hooked.count("prepare base") + hooked.count("prepare head"), 1);
    assert_eq!((hooked.count("cleanup base"), hooked.count("cleanup head")), (1, 1));

    let hooked = Hooked::new("cleanup = [[\"sh\", \"-c\", \"exit 5\"], [\"./tools/hook\", \"cleanup\"]]");
    let (ran, report) = hooked.playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(4, &["cleanup of ", "exited with code 5"]);
    assert_eq!(report["benchmarks"][0]["sides"][0]["runs"].as_array().map(Vec::len), Some(10));
    assert_eq!((hooked.count("cleanup base"), hooked.count("cleanup head")), (1, 1));
}

#[test]
fn hook_that_hangs_is_killed_at_the_time_limit() {
    need_git!();
    let hooked = Hooked::new("setup = [[\"sleep\", \"300\"]]\ntimeout = \"1s\"");
    let (ran, report) = hooked.playground.report(&["--base", "HEAD"]);
    ran.ends(4, &["ran past its limit of 1 s"]);
    assert_eq!(report["benchmarks"][0]["error"]["kind"], "hook_failed");
}

#[test]
fn hook_that_is_not_there_is_named() {
    need_git!();
    let hooked = Hooked::new("setup = [[\"./tools/missing\"]]");
    let (ran, _) = hooked.playground.report(&["--base", "HEAD"]);
    ran.ends(4, &["setup of ", "tools/missing", "does not exist"]);
}

#[test]
fn variants_have_hooks_of_their_own() {
    need_git!();
    let hooked = Hooked::new(
        "name = \"a\"\nsetup = [[\"./tools/hook\", \"setup-a\"]]\n\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"b\"",
    );
    let (ran, report) = hooked.playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(0, &[]);
    assert_eq!(report["benchmarks"].as_array().map(Vec::len), Some(2));
    assert_eq!((hooked.count("setup-a base"), hooked.count("setup-a head")), (1, 1));
}

#[test]
fn hooks_of_what_is_not_measured_do_not_run() {
    need_git!();
    let hooked =
        Hooked::new("setup = [[\"./tools/hook\", \"setup\"]]\ncleanup = [[\"./tools/hook\", \"cleanup\"]]");
    hooked.playground.quick(&["--base", "HEAD", "--shard", "2/2"]).ends(0, &[]);
    hooked.playground.quick(&["--base", "HEAD", "--skip", "tool"]).ends(3, &[]);
    assert_eq!(hooked.log(), Vec::<String>::new());
}

#[test]
fn interrupt_of_a_setup_ends_with_4_a_report_and_the_cleanup() {
    need_git!();
    let hooked = Hooked::new(
        "timeout = \"5m\"\n\
         setup = [[\"./tools/hook\", \"setup\"], [\"sleep\", \"300\"]]\n\
         cleanup = [[\"./tools/hook\", \"cleanup\"]]",
    );
    let playground = &hooked.playground;
    let report = playground.repository.beside("report.json");
    let mut command = playground.command_in(playground.root());
    command.args(QUICK).args(["--base", "HEAD", "--format", &format!("json={}", report.display())]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    wait_until("the setup runs", || hooked.count("setup base") == 1);
    let told = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
    assert!(told.expect("kill can be run").success());
    let ran = wait(child);
    ran.ends(4, &["interrupted"]);
    let report = std::fs::read(report).expect("the report is written all the same");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("it is whole");
    assert_eq!(report["benchmarks"][0]["error"]["kind"], "interrupted");
    assert_eq!((hooked.count("cleanup base"), hooked.count("cleanup head")), (1, 0), "{ran}");
}

#[test]
fn work_directory_is_each_revisions_own_and_empty_before_every_unit_run_but_for_what_a_setup_made() {
    need_git!();
    let hooked = Hooked::new(
        "args = [\"touch\", \"${workdir}/made\"]\n\
         prepare_each = [[\"sh\", \"-c\", \"echo found $(ls -A '${workdir}') >> \\\"$LOG\\\"\"]]",
    );
    let limit = ["--base", "HEAD", "--max-percent", "1000"];
    hooked.playground.quick(&limit).ends(0, &[]);
    assert_eq!(hooked.count("found"), 20, "{:?}", hooked.log());

    let hooked = Hooked::new(
        "args = [\"tell\", \"${env:TOLD}\"]\nstdin = \"${workdir}/input\"\n\
         setup = [[\"sh\", \"-c\", \"cp which '${workdir}/input'\"]]",
    );
    let told = hooked.playground.repository.beside("told");
    let mut command = hooked.playground.command_in(hooked.playground.root());
    finish(command.args(QUICK).args(limit).env("TOLD", &told)).ends(0, &[]);
    let told = std::fs::read_to_string(told).expect("the bench has run");
    let read = |side: &str| told.lines().filter(|line| *line == format!("stdin={side}")).count();
    assert_eq!((read("base"), read("head")), (10, 10), "{told}");
}
