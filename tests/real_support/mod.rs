//! Fixture crates that need crates from a registry, or programs that may be absent.
#![allow(dead_code, unreachable_pub, reason = "each test program takes a part of it")]

use std::path::PathBuf;
use std::process::Command;

use crate::support::Playground;

/// Ends the test with a printed reason where something is missing.
#[allow(unused_macros, reason = "not every test file needs it")]
macro_rules! need {
    ($found:expr) => {
        match $found {
            Ok(found) => found,
            Err(why) => {
                println!("skipped: {why}");
                return;
            }
        }
    };
}
#[allow(unused_imports, reason = "not every test file needs it")]
pub(crate) use need;

/// A repository with a crate of `fixtures/crates`, committed once.
pub fn playground(fixture: &str) -> Playground {
    let playground = Playground::empty();
    playground.add_crate(&format!("../crates/{fixture}"), "");
    playground.repository.commit("first");
    playground
}

/// The same of a crate whose dependencies are there, or can be had; they are locked.
pub fn playground_with_crates(fixture: &str) -> Result<Playground, String> {
    let playground = Playground::empty();
    playground.add_crate(&format!("../crates/{fixture}"), "");
    let fetch = |offline: &str| {
        let mut command = Command::new("cargo");
        playground.shield(&mut command);
        command.current_dir(playground.root()).env("CARGO_NET_OFFLINE", offline).env("CARGO_NET_RETRY", "0");
        let output =
            command.arg("fetch").output().map_err(|error| format!("cargo cannot be run: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    fetch("true")
        .or_else(|_| fetch("false"))
        .map_err(|why| format!("the crates that `{fixture}` needs cannot be had: {why}"))?;
    playground.repository.commit("first");
    Ok(playground)
}

/// Replaces text in a file of the repository.
#[track_caller]
pub fn edit(playground: &Playground, path: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(playground.root().join(path)).expect("the fixture has the file");
    assert!(text.contains(from), "{path} does not hold {from:?}");
    playground.write(path, text.replace(from, to));
}

/// A program in the PATH.
pub fn program(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| format!("{name} is not installed"))
}

/// The rows of a report, by the benchmark's id.
#[track_caller]
pub fn row<'a>(report: &'a serde_json::Value, id: &str) -> &'a serde_json::Value {
    let rows = report["benchmarks"].as_array().expect("a report has benchmarks");
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id:?} in {rows:#?}"))
}

/// The comparison of a metric in a row.
#[track_caller]
pub fn comparison<'a>(row: &'a serde_json::Value, metric: &str) -> &'a serde_json::Value {
    let all = row["comparisons"].as_array().expect("a row has comparisons");
    all.iter().find(|one| one["metric"] == metric).unwrap_or_else(|| panic!("no {metric} in {all:#?}"))
}
