//! Instructions by callgrind, of a real criterion bench that nobody changed for it: what is found, and what is exact.

#![allow(clippy::print_stdout, reason = "a skipped test says why")]

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::process::Command;

use repository::need_git;
use serde_json::Value;
use support::{Playground, finish};

/// Few and short timed runs: the counts are the matter here.
const FEW: [&str; 6] =
    ["--min-samples=2", "--max-samples=2", "--warmup=0", "--stop=fixed", "--correction=none", "--max-cv=0"];

/// The comparisons of instructions by the benchmark's id.
fn instructions<'a>(report: &'a Value, id: &str) -> &'a Value {
    let benchmarks = report["benchmarks"].as_array().expect("an array");
    let benchmark = benchmarks.iter().find(|it| it["id"] == id).expect("it was measured");
    let comparisons = benchmark["comparisons"].as_array().expect("an array");
    comparisons.iter().find(|it| it["metric"] == "instructions").unwrap_or_else(|| panic!("{benchmark:#}"))
}

/// Valgrind and the crates, or the reason why the test cannot run.
fn missing(playground: &Playground) -> Option<String> {
    let valgrind = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join("valgrind").is_file())
    });
    if !valgrind {
        return Some("valgrind is not installed".to_owned());
    }
    let mut fetch = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    playground.shield(&mut fetch);
    fetch.env_remove("CARGO_NET_OFFLINE").arg("fetch").current_dir(playground.root());
    let fetched = finish(&mut fetch);
    (fetched.code != Some(0)).then(|| format!("the crates cannot be had: {}", fetched.stderr.trim_end()))
}

#[test]
fn a_planted_change_is_found_by_one_count_a_side_and_what_is_the_same_is_exactly_so() {
    need_git!();
    let playground = Playground::empty();
    playground.add_crate("criterion", "");
    if let Some(reason) = missing(&playground) {
        println!("skipped: {reason}");
        return;
    }
    playground.write(".gitignore", "target\n");
    let steps = |count: u64| {
        let path = playground.root().join("src/lib.rs");
        let text = std::fs::read_to_string(path).expect("it was written before");
        let start = text.find("STEPS: u64 = ").expect("the fixture has it") + "STEPS: u64 = ".len();
        let end = start + text[start..].find(';').expect("the fixture has it");
        playground.write("src/lib.rs", format!("{}{count}{}", &text[..start], &text[end..]));
    };
    let manifest =
        std::fs::read_to_string(playground.root().join("Cargo.toml")).expect("it was written before");
    let limits = |max_percent: &str| {
        playground.write(
            "Cargo.toml",
            format!(
                "{manifest}\n[profile.release]\nstrip = true\n[package.metadata.benchgate.metrics]\n\
                 latency = {{ gate = false }}\ninstructions = {{ {max_percent} }}\n"
            ),
        );
    };
    limits("");
    playground.repository.commit("first");
    let report = playground.repository.beside("report.json");
    let run = |args: &[&str]| {
        let format = format!("json={}", report.display());
        let ran =
            playground.run(&[&FEW[..], &["--base=HEAD", "--seed=7", "--format", &format], args].concat());
        let text = std::fs::read(&report).unwrap_or_else(|_| panic!("no report was written: {ran}"));
        (ran, serde_json::from_slice::<Value>(&text).expect("a report is JSON"))
    };

    // 2 % at the default limit of 1 %: one count of head, two of base. The profile strips, and symbols are there all the same.
    steps(5100);
    let (ran, two) = run(&[]);
    ran.ends(1, &["1 regression: sums/planted"]).shows("exact count");
    let planted = instructions(&two, "planted");
    assert_eq!((&planted["verdict"], &planted["reason"]), (&"regression".into(), &"exact".into()), "{ran}");
    assert_eq!(planted["samples"], serde_json::json!([2, 1]));
    let change = planted["change_percent"].as_f64().expect("it was compared");
    assert!((1.9..2.05).contains(&change), "{change}");
    let steady = instructions(&two, "steady");
    assert_eq!((&steady["verdict"], &steady["change_percent"]), (&"pass".into(), &0.0.into()), "{ran}");
    // Random hash seeds: not exact, so it is counted as often as any other metric is measured.
    let hashed = instructions(&two, "hashed");
    assert_ne!(hashed["reason"], "exact", "{hashed:#}");
    assert_eq!(hashed["samples"], serde_json::json!([2, 2]), "{hashed:#}");
    assert!(hashed["change_percent"].as_f64().expect("it was compared").abs() < 2.0, "{hashed:#}");

    // The saved report says the same again.
    let judged = playground.run(&["judge", report.to_str().expect("a plain path"), "--format", "json"]);
    let judged: Value = serde_json::from_str(&judged.stdout).expect("a report is JSON");
    assert_eq!(judged["benchmarks"], two["benchmarks"]);

    // 0.2 % at a limit of 0.1 %, and nothing at all against itself.
    steps(5010);
    limits("max_percent = 0.1");
    let only = ["--filter=planted", "--filter=steady"];
    let (ran, small) = run(&only);
    ran.ends(1, &["1 regression: sums/planted"]);
    let change = instructions(&small, "planted")["change_percent"].as_f64().expect("it was compared");
    assert!((0.15..0.25).contains(&change), "{change}");
    playground.repository.commit("second");
    let (ran, same) = run(&only);
    ran.ends(0, &[]);
    for id in ["planted", "steady"] {
        assert_eq!(instructions(&same, id)["change_percent"], 0.0, "{ran}");
    }

    // One benchmark alone, with counts that a flag asks for, and a budget on them.
    limits("max_percent = 0.1");
    playground.write(
        "Cargo.toml",
        format!("{manifest}\n[[package.metadata.benchgate.bench]]\ntarget = \"sums\"\nbudget.instructions.max = \"<= 100\"\n"),
    );
    let ran = playground.run(&[
        "run",
        "--filter=steady",
        "--warmup=0",
        "--min-samples=2",
        "--max-samples=2",
        "--metric=instructions",
    ]);
    ran.ends(1, &["over budget: sums/steady"]);

    // One process for all benchmarks, of which text after `--` selects two: their samples come out of the same runs.
    let together = "[package.metadata.benchgate]\nisolate = false\n";
    playground.write("Cargo.toml", format!("{manifest}\n{together}"));
    let (ran, report) = run(&["--max-percent=1000", "--", "plan", "teady"]);
    ran.ends(0, &[]);
    let places = |at: usize| -> Vec<Value> {
        let sides = report["benchmarks"][at]["sides"].as_array().expect("an array").iter();
        let runs = sides.flat_map(|side| side["runs"].as_array().expect("an array"));
        runs.map(|run| run["sequence"].clone()).collect()
    };
    assert_eq!(report["benchmarks"].as_array().map(Vec::len), Some(2), "{ran}");
    assert_eq!((places(0), places(0).len()), (places(1), 4));
    // Two benchmarks of one process must have been measured apart: one takes seven times as long.
    let latency = |at: usize| report["benchmarks"][at]["comparisons"][0]["base"].as_f64().expect("a number");
    assert!(2.0 * latency(1) < latency(0), "{ran}");
    let ran = playground.run(&["--base=HEAD", "--", "--save-baseline", "x"]);
    ran.ends(3, &["--save-baseline", "only text that ids contain"]);
}
