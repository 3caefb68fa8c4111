//! gungraun and iai-callgrind at their pinned versions, measured and gated by the real command.
#![cfg(unix)]

#[path = "real_support/mod.rs"]
mod real;
#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use real::{comparison, edit, need, playground_with_crates, program, row};
use repository::need_git;
use support::{Playground, finish};

/// Counts that agree need no more.
const FEW: [&str; 8] = ["--base", "HEAD", "--warmup", "0", "--min-samples", "2", "--max-samples", "2"];

/// Runs the command and reads its report; without the runners in the PATH when `bare`.
fn report(playground: &Playground, bare: bool) -> (support::Ran, serde_json::Value) {
    let path = playground.repository.beside("report.json");
    let _ = std::fs::remove_file(&path);
    let mut command = playground.command_in(playground.root());
    command.args(FEW).arg("--format").arg(format!("json={}", path.display()));
    if bare {
        let all = std::env::var_os("PATH").unwrap_or_default();
        let without = |directory: &std::path::PathBuf| {
            !["gungraun-runner", "iai-callgrind-runner"].iter().any(|name| directory.join(name).exists())
        };
        let kept = std::env::split_paths(&all).filter(without);
        command.env("PATH", std::env::join_paths(kept).expect("they were split from a list"));
    }
    let ran = finish(&mut command);
    let text = std::fs::read(&path).unwrap_or_else(|_| panic!("no report was written: {ran}"));
    (ran, serde_json::from_slice(&text).expect("a report is JSON"))
}

/// Two per cent more in one of two functions.
fn gate_names_the_planted_one(harness: &str, bare: bool) {
    let playground = match playground_with_crates(harness) {
        Ok(playground) => playground,
        Err(why) => return println!("skipped: {why}"),
    };
    edit(&playground, "src/lib.rs", "FIRST: u64 = 1000", "FIRST: u64 = 1020");
    let (ran, report) = report(&playground, bare);
    ran.ends(1, &["2 regressions", "first::once", "first::twice"]);
    for id in ["counts::group::first::once", "counts::group::first::twice"] {
        let row = row(&report, id);
        assert_eq!(row["harness"], harness);
        let instructions = comparison(row, "instructions");
        assert_eq!(
            (&instructions["verdict"], &instructions["reason"]),
            (&"regression".into(), &"exact".into())
        );
        let change = instructions["change_percent"].as_f64().expect("a number");
        assert!((1.9..2.1).contains(&change), "{change}");
    }
    let second = comparison(row(&report, "counts::group::second"), "instructions");
    assert_eq!((&second["verdict"], &second["difference"]), (&"pass".into(), &0.0.into()));
    let values = &row(&report, "counts::group::second")["sides"][1]["runs"][0]["values"];
    assert_eq!(values["estimated_cycles"].is_number(), !bare, "{values}");
}

#[test]
fn two_per_cent_more_instructions_are_found_by_gungrauns_own_runner() {
    need_git!();
    need!(program("valgrind"));
    need!(program("gungraun-runner"));
    gate_names_the_planted_one("gungraun", false);
}

#[test]
fn two_per_cent_more_instructions_are_found_by_iai_callgrinds_own_runner() {
    need_git!();
    need!(program("valgrind"));
    need!(program("iai-callgrind-runner"));
    gate_names_the_planted_one("iai-callgrind", false);
}

#[test]
fn two_per_cent_more_instructions_are_found_without_gungrauns_runner() {
    need_git!();
    need!(program("valgrind"));
    gate_names_the_planted_one("gungraun", true);
}

#[test]
fn two_per_cent_more_instructions_are_found_without_iai_callgrinds_runner() {
    need_git!();
    need!(program("valgrind"));
    gate_names_the_planted_one("iai-callgrind", true);
}

#[test]
fn where_nothing_can_count_the_exact_version_to_install_is_named() {
    need_git!();
    let playground = need!(playground_with_crates("gungraun"));
    // The bench is started with a PATH that leads to neither.
    let bin = playground.repository.beside("bin");
    std::fs::create_dir(&bin).expect("it is new");
    for name in ["cat", "chmod", "mkdir"] {
        std::os::unix::fs::symlink(need!(program(name)), bin.join(name)).expect("links can be made");
    }
    let manifest = std::fs::read_to_string(playground.root().join("Cargo.toml")).expect("the fixture has it");
    let entry = format!(
        "[[package.metadata.benchgate.bench]]\ntarget = \"counts\"\nenv = {{ PATH = {:?} }}\n",
        bin.display().to_string()
    );
    playground.write("Cargo.toml", format!("{manifest}\n{entry}"));
    let (ran, _) = report(&playground, false);
    ran.ends(6, &["`cargo install gungraun-runner --version 0.20.0`, and valgrind"]);
}
