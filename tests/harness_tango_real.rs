//! tango at its pinned version: alone by the real command, in lock-step by the adapter's own commands.

#[path = "real_support/mod.rs"]
mod real;
#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cargo_benchgate::harness::{CommandSpec, Executable, HarnessKind, ResolvedLaunch, RunOutput, Selection};
use cargo_benchgate::measure::RunnerClient;
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::Metric;
use real::{comparison, edit, need, playground_with_crates, row};
use repository::need_git;
use support::Playground;

const TANGO: HarnessKind = HarnessKind::Tango;
const ODD_ID: &str = "!second [a] {b,c} *?\\ \"d\" 🚀";

#[test]
fn planted_slowdown_in_one_of_two_tango_benchmarks_is_named_alone() {
    need_git!();
    let playground = need!(playground_with_crates("tango"));
    edit(&playground, "src/lib.rs", "FIRST: u64 = 2000", "FIRST: u64 = 40000");
    // On a loaded machine tango's mean of 10 ms blocks may be off by several times, but not by that much.
    let (ran, report) = playground.report(&["--base", "HEAD", "--max-percent", "500"]);
    ran.ends(1, &["1 regression: speed/steps/first"]);
    assert_eq!(comparison(row(&report, "steps/first"), "latency")["verdict"], "regression");
    assert_eq!(comparison(row(&report, ODD_ID), "latency")["verdict"], "pass");
    assert_eq!(row(&report, ODD_ID)["harness"], "tango");
}

#[test]
fn lockstep_of_two_builds_tells_the_planted_ratio() {
    let playground = need!(playground_with_crates("tango"));
    let base = build(&playground, "base");
    edit(&playground, "src/lib.rs", "FIRST: u64 = 2000", "FIRST: u64 = 80000");
    let head = build(&playground, "head");
    let launch = ResolvedLaunch {
        args: Vec::new(),
        env: Vec::new(),
        cwd: playground.root().to_owned(),
        stdin: None,
        exit_codes: vec![0],
        facts: Default::default(),
    };
    let mut client = RunnerClient::new(env!("CARGO_BIN_EXE_cargo-benchgate"), playground.temporary());
    let mut run = |command: &CommandSpec| -> RunOutput {
        client.execute(command, &AtomicBool::new(false)).expect("it can be run")
    };
    let list = run(&TANGO.list_command(&head, &launch).expect("tango lists"));
    assert_eq!(TANGO.parse_list(&list).expect("it is a list"), ["steps/first", ODD_ID]);
    // Forty times the work is told whatever else the machine does; how much of it, and of what did not change, is not.
    for (id, least) in [("steps/first", 2.0), (ODD_ID, 0.0)] {
        let selection = Selection::One(id);
        // The median of three, since tango's blocks are long enough for anything to fall into one.
        let mut ratios: Vec<f64> = (0..3)
            .map(|_| {
                let command = TANGO
                    .lockstep_command(&head, &base, &launch, &selection, Duration::from_secs(60))
                    .expect("the name is short");
                let output = run(&command);
                let sides = TANGO.parse_lockstep(&selection, &launch, &output).expect("both are measured");
                let [base, head] = sides.map(|side| side.values.get(&Metric::Latency).expect("a latency"));
                head / base
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        assert!(least < ratios[1] && ratios[1].is_finite(), "{id}: {ratios:?}");
    }
}

/// Builds the bench into a target directory of its own.
fn build(playground: &Playground, side: &str) -> Executable {
    let mut command = Command::new("cargo");
    playground.shield(&mut command);
    // The dependencies are built once for both.
    let target = playground.repository.beside("target");
    let output = command
        .current_dir(playground.root())
        .args(["bench", "--no-run", "--quiet", "--bench", "speed", "--message-format=json", "--target-dir"])
        .arg(&target)
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let built = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "speed")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("the bench was built");
    let path = playground.repository.beside(side);
    std::fs::copy(&built, &path).expect("files can be copied");
    executable(&path, playground.root())
}

fn executable(path: &Path, root: &Path) -> Executable {
    Executable {
        kind: TargetKind::Bench,
        path: path.to_owned(),
        package_root: root.to_owned(),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
        runner: Vec::new(),
    }
}
