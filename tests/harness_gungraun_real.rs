//! gungraun and iai-callgrind at their pinned versions, measured and gated by the real command.
#![cfg(unix)]

#[path = "real_support/mod.rs"]
mod real;
#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use real::{comparison, edit, need, playground_with_crates, program, row};
use repository::{make_executable, need_git};
use support::Playground;

/// Counts that agree need no more.
const FEW: [&str; 8] = ["--base", "HEAD", "--warmup", "0", "--min-samples", "2", "--max-samples", "2"];

/// Where the bench finds its tools.
enum Tools {
    /// In the PATH of the test.
    All,
    /// The same without the runners.
    NoRunner,
    /// Neither the runners nor valgrind.
    None,
}

/// Runs the command and reads its report.
fn report(playground: &Playground, tools: &Tools) -> (support::Ran, serde_json::Value) {
    let path = playground.repository.beside("report.json");
    let _ = std::fs::remove_file(&path);
    let format = format!("json={}", path.display());
    // Only the bench gets another PATH: everything is built once.
    let bin = playground.repository.beside("bin");
    let _ = std::fs::remove_dir_all(&bin);
    let names = ["cat", "chmod", "mkdir", "tr", "sort", "grep", "rm"];
    std::fs::create_dir(&bin).expect("it was removed");
    for name in names {
        let found = program(name).expect("every Unix has it");
        std::os::unix::fs::symlink(found, bin.join(name)).expect("links can be made");
    }
    if matches!(tools, Tools::NoRunner) {
        // No link: some systems' valgrind is a script that looks beside itself.
        let real = program("valgrind").expect("it was looked for before");
        let script = bin.join("valgrind");
        std::fs::write(&script, format!("#!/bin/sh\nexec {:?} \"$@\"\n", real.display().to_string()))
            .expect("files can be written");
        make_executable(&script);
    }
    let entry = format!(
        "\n[[package.metadata.benchgate.bench]]\ntarget = \"counts\"\nenv = {{ PATH = {:?} }}\n",
        bin.display().to_string()
    );
    let manifest = std::fs::read_to_string(playground.root().join("Cargo.toml")).expect("the fixture has it");
    let manifest = manifest.split("\n[[package.metadata").next().expect("a text has a beginning").to_owned();
    playground.write("Cargo.toml", if matches!(tools, Tools::All) { manifest } else { manifest + &entry });
    let ran = playground.run(&[&FEW[..], &["--format", &format]].concat());
    let text = std::fs::read(&path).unwrap_or_else(|_| panic!("no report was written: {ran}"));
    (ran, serde_json::from_slice(&text).expect("a report is JSON"))
}

/// Two per cent more in one of two functions.
fn gate_names_the_planted_one(playground: &Playground, harness: &str, tools: &Tools) {
    let (ran, report) = report(playground, tools);
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
    assert_eq!(values["estimated_cycles"].is_number(), matches!(tools, Tools::All), "{values}");
}

/// The error says what is skipped, and why.
fn gate_holds_with_and_without_the_runner(harness: &str, version: &str) -> Result<(), String> {
    let runner = format!("{harness}-runner");
    program("valgrind")?;
    let playground = playground_with_crates(harness)?;
    edit(&playground, "src/lib.rs", "FIRST: u64 = 1000", "FIRST: u64 = 1020");
    gate_names_the_planted_one(&playground, harness, &Tools::NoRunner);
    let (ran, _) = report(&playground, &Tools::None);
    ran.ends(6, &[&format!("`cargo install {runner} --version {version}`, and valgrind")]);
    program(&runner).map_err(|why| format!("the part with the runner: {why}"))?;
    gate_names_the_planted_one(&playground, harness, &Tools::All);
    Ok(())
}

#[test]
fn two_per_cent_more_instructions_are_found_by_gungraun_with_and_without_its_runner() {
    need_git!();
    need!(gate_holds_with_and_without_the_runner("gungraun", "0.20.0"));
}

#[test]
fn two_per_cent_more_instructions_are_found_by_iai_callgrind_with_and_without_its_runner() {
    need_git!();
    need!(gate_holds_with_and_without_the_runner("iai-callgrind", "0.16.1"));
}
