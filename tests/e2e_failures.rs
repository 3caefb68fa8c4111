//! Builds and benchmarks that fail: the run says which and how, exits 4 or 6, and measures the others all the same.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use repository::need_git;
use support::{Playground, QUICK, Ran, finish};

/// Two revisions of the crate `probe`, which differ.
fn two_revisions() -> Playground {
    let playground = Playground::probe();
    playground.step_ms(3);
    playground.repository.commit("second");
    playground
}

/// The variants of `tool` with their arguments.
fn variants(playground: &Playground, variants: &[(&str, &str)]) {
    let mut lines = String::new();
    for (name, args) in variants {
        lines.push_str(&format!(
            "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"{name}\"\n{args}\n"
        ));
    }
    playground.configure(&lines);
}

/// The rows of a report by variant.
fn row<'a>(report: &'a serde_json::Value, variant: &str) -> &'a serde_json::Value {
    let rows = report["benchmarks"].as_array().expect("a report has benchmarks");
    rows.iter().find(|row| row["variant"] == variant).expect("the variant has a row")
}

#[test]
fn bench_that_does_not_compile_in_head_is_shown_by_the_compiler_and_ends_with_4() {
    need_git!();
    let playground = two_revisions();
    playground.write("benches/tool.rs", "fn main() { let x: u32 = \"text\"; }\n");
    let ran = playground.quick(&[]);
    ran.ends(4, &["failed to build head", "cargo build"]).says("mismatched types");
}

#[test]
fn bench_that_does_not_compile_in_base_alone_names_base() {
    need_git!();
    let playground = Playground::probe();
    playground.write("benches/tool.rs", "fn main() { broken }\n");
    playground.repository.commit("broken");
    playground.write("benches/tool.rs", "fn main() {}\n");
    playground.repository.commit("mended");
    let (ran, report) = playground.report(&[]);
    ran.ends(4, &["1 benchmark failed: tool", "in base", "did not build"]).says("cannot find value `broken`");
    assert_eq!(report["benchmarks"][0]["error"]["kind"], "build_failed");
}

#[test]
fn one_target_that_does_not_compile_leaves_the_other_measured() {
    need_git!();
    let playground = two_revisions();
    playground.write("benches/other.rs", "fn main() { broken }\n");
    playground.configure("[[bench]]\nname = \"other\"\nharness = false");
    let (ran, report) = playground.report(&[]);
    ran.ends(4, &["1 benchmark failed: other", "did not build"]).says("cannot find value `broken`");
    let rows = report["benchmarks"].as_array().expect("it has benchmarks");
    let result =
        |target: &str| rows.iter().find(|row| row["target"] == target).expect("a row")["result"].clone();
    assert_eq!(result("other"), "error", "{ran}");
    // What the other comes to is not what this is about.
    assert!(
        ["pass", "improved", "inconclusive", "regression"].iter().any(|word| result("tool") == *word),
        "{ran}"
    );
}

#[test]
fn failing_programs_are_told_apart_and_cost_only_their_own_row() {
    need_git!();
    let playground = two_revisions();
    variants(
        &playground,
        &[
            ("fine", "args = [\"step\"]"),
            ("exits", "args = [\"complain\", \"no such fish\", \"exit\", \"3\"]"),
            ("dies", "args = [\"abort\"]"),
            ("hangs", "args = [\"hang\"]\ntimeout = \"40ms\""),
            ("allowed", "args = [\"step\", \"exit\", \"3\"]\nexit_codes = [0, 3]"),
            ("homeless", "args = []\ncwd = \"nowhere\""),
            ("mute", "args = []\nstdin = \"nowhere.txt\""),
        ],
    );
    let (ran, report) = playground.report(&[]);
    ran.ends(4, &["5 benchmarks failed"]);
    let message =
        |variant: &str| row(&report, variant)["error"]["message"].as_str().unwrap_or("no error").to_owned();
    let kind =
        |variant: &str| row(&report, variant)["error"]["kind"].as_str().unwrap_or("no error").to_owned();
    for (variant, kinds, part) in [
        ("exits", "exit_code", "exited with code 3"),
        ("dies", "exit_code", "SIGABRT"),
        ("hangs", "timeout", " ms; raise `timeout`"),
        ("homeless", "start_failed", "nowhere"),
        ("mute", "start_failed", "nowhere.txt"),
    ] {
        assert_eq!(kind(variant), kinds, "{variant}: {ran}");
        assert!(message(variant).contains(part), "{variant}: {} lacks {part}", message(variant));
    }
    assert_eq!(row(&report, "exits")["error"]["stderr"], "no such fish");
    for fine in ["fine", "allowed"] {
        assert_eq!(row(&report, fine)["error"], serde_json::Value::Null, "{fine}: {ran}");
        assert_eq!(row(&report, fine)["sides"][1]["runs"].as_array().map(Vec::len), Some(10), "{fine}");
    }
    ran.shows("no such fish").shows("--timeout");
}

#[test]
fn flag_sets_the_time_limit_of_a_unit_run() {
    need_git!();
    let playground = two_revisions();
    playground.configure("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nargs = [\"hang\"]");
    playground.quick(&["--timeout", "30ms"]).ends(4, &["1 benchmark failed: tool, ", " ms; raise `timeout`"]);
}

#[test]
fn libtest_bench_without_a_bench_function_is_an_error_that_says_what_to_do() {
    need_git!();
    let playground = Playground::probe();
    playground.write("Cargo.toml", support::PROBE_MANIFEST.replace("harness = false", ""));
    playground.write("benches/tool.rs", "#[test]\nfn nothing() {}\n");
    playground.repository.commit("libtest");
    let (ran, report) = playground.report(&["--base", "HEAD"]);
    ran.ends(6, &["tool", "lists no benchmark", "`#[bench]`", "harness = false"]);
    assert_eq!(report["benchmarks"][0]["error"]["kind"], "measured_nothing", "{ran}");
    assert!(!ran.stderr.contains("Measuring"), "there is nothing to measure: {ran}");
}

#[test]
fn harness_that_lists_nothing_measured_nothing() {
    need_git!();
    let playground = two_revisions();
    // What criterion 0.5 prints for an empty group: nothing.
    playground.configure("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nharness = \"criterion\"");
    let (ran, report) = playground.report(&[]);
    ran.ends(6, &["1 benchmark lacked a measurement", "lists no benchmark"]);
    assert_eq!(report["exit"]["code"], 6);
}

#[test]
fn metric_that_was_asked_for_and_not_measured_ends_with_6() {
    need_git!();
    let playground = two_revisions();
    playground
        .configure("[package.metadata.benchgate.metrics]\ninstructions = { max_percent = 1, gate = true }");
    // Where there are neither counters nor valgrind; with counters the count is there, as it should be.
    let ran: Ran = finish(
        playground
            .command_in(playground.root())
            .args(QUICK)
            .env("PATH", path_without(&playground, "valgrind")),
    );
    if ran.code == Some(0) && ran.stdout.contains("instructions") && !ran.stderr.contains("Counting") {
        println!("skipped: this machine has hardware counters");
        return;
    }
    ran.ends(6, &["instructions are not available because", "`valgrind`"]);
}

/// A directory with everything of the PATH but one program.
fn path_without(playground: &Playground, left_out: &str) -> std::path::PathBuf {
    let bin = playground.repository.beside("bin");
    std::fs::create_dir(&bin).expect("it is new");
    let path = std::env::var_os("PATH").expect("tests run with one");
    for directory in std::env::split_paths(&path) {
        for program in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            if program.file_name() != left_out {
                // The first of a name wins, as in the PATH.
                let _ = std::os::unix::fs::symlink(program.path(), bin.join(program.file_name()));
            }
        }
    }
    bin
}

#[test]
fn time_that_is_too_short_is_told_and_ends_with_6_unless_partial_results_are_allowed() {
    need_git!();
    let playground = two_revisions();
    variants(&playground, &[("one", "args = [\"sleep\", \"60\"]"), ("two", "args = [\"sleep\", \"61\"]")]);
    let flags = ["--preset", "fixed", "--warmup", "0", "--max-time", "1800ms", "--no-identity"];
    let ran = playground.run(&flags);
    ran.ends(6, &["1 benchmark lacked a measurement"]).says("max_time is too short");
    let manifest = std::fs::read_to_string(playground.root().join("Cargo.toml")).expect("it was written");
    playground
        .write("Cargo.toml", format!("{manifest}\n[package.metadata.benchgate]\nallow_partial = true\n"));
    playground.run(&flags).ends(0, &[]);
    let nothing =
        ["--preset", "fixed", "--warmup", "0", "--max-time", "1ms", "--allow-partial", "--no-identity"];
    let ran = playground.run(&nothing);
    ran.ends(6, &["nothing was measured: max_time of 1ms ended with 0 of"]).says("max_time is 1ms; some");
}

#[test]
fn base_that_does_not_build_ends_with_4_and_the_budgets_of_head_are_told() {
    need_git!();
    let playground = Playground::probe();
    let manifest = "[[bench]]\nname = \"other\"\nharness = false\n\
                    [[package.metadata.benchgate.bench]]\ntarget = \"other\"\nbudget.latency = { median = \"<= 1ns\" }";
    playground.configure(manifest);
    playground.write("benches/other.rs", "fn main() { broken }\n");
    playground.repository.commit("broken");
    playground.write("benches/other.rs", "fn main() {}\n");
    let (ran, report) = playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(4, &["1 benchmark failed: other", "did not build"]);
    let rows = report["benchmarks"].as_array().expect("it has benchmarks");
    let other = rows.iter().find(|row| row["target"] == "other").expect("it has a row");
    assert_eq!((&other["error"]["kind"], &other["result"]), (&"build_failed".into(), &"error".into()));
    assert_eq!(other["budgets"][0]["status"], "fail", "{ran}");
}

#[test]
fn target_that_the_snapshot_leaves_out_has_a_row_that_says_so() {
    need_git!();
    let playground = Playground::probe();
    playground.write(".gitignore", "/benches/local.rs\n");
    playground.repository.commit("ignores");
    playground.write("benches/local.rs", "fn main() {}\n");
    playground
        .quick(&["--base", "HEAD", "--bench", "local"])
        .ends(6, &["is not part of the snapshot", "snapshot_include"]);
}
