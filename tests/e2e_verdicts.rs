//! What the command makes of a change: its exit status, its last line, and its report.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use repository::need_git;
use support::Playground;

/// Base sleeps 4 ms; head so long that no load on the machine can hide it.
fn slowdown() -> Playground {
    let playground = Playground::probe();
    playground.step_ms(40);
    playground.repository.commit("slower");
    playground
}

fn value<'a>(report: &'a serde_json::Value, pointer: &str) -> &'a serde_json::Value {
    report.pointer(pointer).unwrap_or_else(|| panic!("the report has no {pointer}"))
}

/// The comparison of a metric in the first row.
fn comparison<'a>(report: &'a serde_json::Value, metric: &str) -> &'a serde_json::Value {
    let all = value(report, "/benchmarks/0/comparisons").as_array().expect("an array");
    all.iter().find(|comparison| comparison["metric"] == metric).expect("the metric is compared")
}

#[test]
fn slowdown_ends_with_1_in_every_format_and_no_fail_takes_back_that_alone() {
    need_git!();
    let playground = slowdown();
    let csv = playground.repository.beside("report.csv");
    let samples = playground.repository.beside("samples.csv");
    let formats = [format!("csv={}", csv.display()), format!("samples-csv={}", samples.display())];
    let (ran, report) = playground.report(&["--format", &formats[0], "--format", &formats[1], "--seed", "7"]);
    ran.ends(1, &["1 regression: tool"]).shows("REGRESSION").shows("tool");
    assert_eq!(comparison(&report, "latency")["verdict"], "regression");
    assert!(comparison(&report, "latency")["change_percent"].as_f64().expect("a number") > 100.0);
    assert_eq!((value(&report, "/exit/code"), value(&report, "/seed")), (&1.into(), &7.into()));
    assert_eq!(value(&report, "/revisions/0/chosen_because"), "HEAD is on the default branch 'main' itself");
    for side in [0, 1] {
        assert_eq!(report["benchmarks"][0]["sides"][side]["runs"].as_array().map(Vec::len), Some(10));
    }
    let csv = std::fs::read_to_string(csv).expect("it was written");
    assert!(csv.contains("latency") && csv.contains("regression"), "{csv}");
    let samples = std::fs::read_to_string(samples).expect("it was written");
    assert_eq!(samples.lines().filter(|line| line.contains(",latency,")).count(), 20, "{samples}");

    let ran = playground.quick(&["--no-fail"]);
    ran.ends(0, &[]).says("1 regression: tool (exit status 1 turned into 0 by --no-fail)");
    // Other statuses stay.
    playground.quick(&["--no-fail", "--filter", "none"]).ends(3, &["the filters leave out"]);
}

#[test]
fn speed_up_is_an_improvement_and_ends_with_0() {
    need_git!();
    let playground = slowdown();
    let (ran, report) = playground.report(&["--base", "HEAD", "--head", "HEAD~1"]);
    ran.ends(0, &[]).shows("improved");
    assert_eq!(value(&report, "/benchmarks/0/result"), "improved");
    assert_eq!(value(&report, "/exit/code"), 0);
}

#[test]
fn slowdown_within_the_accepted_limit_passes() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(40);
    playground.repository.commit("slower");
    playground.step_ms(42);
    let ran = playground.quick(&["--base", "HEAD", "--max-percent", "400"]);
    ran.ends(0, &[]).shows("gate passed");
}

#[test]
fn uncommitted_change_is_what_head_is() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(40);
    let (ran, report) = playground.report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: tool"]).says("with uncommitted changes");
    assert_eq!(value(&report, "/revisions/1/dirty"), true);
    // The same tree, staged: still head and nobody else's.
    playground.repository.git(&["add", "-A"]);
    playground.quick(&["--base", "HEAD"]).ends(1, &["1 regression: tool"]);
    // Head by name is the commit alone.
    playground
        .quick(&["--base", "HEAD", "--head", "HEAD", "--max-percent", "900"])
        .ends(0, &[])
        .says("against itself");
}

#[test]
fn exceeded_budget_ends_with_1_and_is_checked_on_new_benchmarks_too() {
    need_git!();
    let playground = slowdown();
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nbudget.latency = { median = \"<= 1ms\", max = \"<= 1h\" }",
    );
    let (ran, report) = playground.report(&["--max-percent", "1000"]);
    ran.ends(1, &["1 over budget: tool"]).shows("is not <= 1 ms");
    assert_eq!(report["benchmarks"][0]["budgets"].as_array().map(Vec::len), Some(2));

    playground.quick(&["--max-percent", "1000", "--no-fail"]).ends(0, &[]).says("over budget: tool");
    let ran = playground.run(&["run", "--preset", "fixed", "--samples", "10", "--warmup", "0"]);
    ran.ends(1, &["1 over budget: tool"]);
    assert!(!ran.stderr.contains("Base"), "{ran}");

    // A target that base does not have: head alone is measured, its budgets count.
    playground
        .write("benches/fresh.rs", "fn main() { std::thread::sleep(std::time::Duration::from_millis(3)) }\n");
    playground.configure(
        "[[bench]]\nname = \"fresh\"\nharness = false\n[[package.metadata.benchgate.bench]]\ntarget = \"fresh\"\n\
         budget.latency = { median = \"<= 1ms\" }",
    );
    let (ran, report) = playground.report(&["--bench", "fresh"]);
    ran.ends(1, &["1 over budget: fresh"]);
    assert_eq!(value(&report, "/benchmarks/0/presence"), "new");
}

#[test]
fn removed_and_renamed_targets_are_rows_that_fail_only_when_asked_to() {
    need_git!();
    let playground = Playground::probe();
    playground.repository.git(&["mv", "benches/tool.rs", "benches/gadget.rs"]);
    playground.write("Cargo.toml", support::PROBE_MANIFEST.replace("tool", "gadget"));
    playground.repository.commit("renamed");
    let (ran, report) = playground.report(&[]);
    ran.ends(0, &[]).shows("removed").shows("new");
    let presence = |row: usize| report["benchmarks"][row]["presence"].clone();
    assert_eq!((presence(0), presence(1)), ("new".into(), "removed".into()), "{ran}");
    playground.quick(&["--also-fail-on", "removed"]).ends(1, &["1 removed, named in also_fail_on: tool"]);
}

#[test]
fn skipped_metrics_fail_only_when_asked_to() {
    need_git!();
    let playground = slowdown();
    playground.configure(
        "[package.metadata.benchgate.metrics]\nlatency = { max_percent = 10, gate = false }\n\
         peak_rss = { max_percent = 5, gate = true }\ncpu_total = { max_percent = 10, gate = false }",
    );
    // The programs are so small that their memory is the floor.
    playground.quick(&[]).ends(0, &[]).shows("skipped");
    playground.quick(&["--also-fail-on", "skipped"]).ends(1, &["1 skipped, named in also_fail_on: tool"]);
}

#[test]
fn inconclusive_fails_only_when_the_flag_or_the_suite_asks_for_it() {
    need_git!();
    let playground = Playground::probe();
    playground.write("notes.txt", "the same program\n");
    // No two sides of one program are as quiet as that.
    let flags = ["--preset", "fixed", "--samples", "10", "--warmup=0", "--max-cv=0.000001", "--base", "HEAD"];
    playground.run(&flags).ends(0, &[]).shows("inconclusive").shows("too noisy");
    let because = ["1 inconclusive, named in also_fail_on: tool"];
    playground.run(&[&flags[..], &["--also-fail-on", "inconclusive"]].concat()).ends(1, &because);
    playground.configure("[package.metadata.benchgate]\nalso_fail_on = [\"inconclusive\"]");
    playground.run(&flags).ends(1, &because);
}

#[test]
fn memory_and_cpu_time_gate_when_they_are_named() {
    need_git!();
    let playground = Playground::probe();
    playground.write("src/lib.rs", "pub const STEP_MS: u64 = 1;\npub fn step() { drop(std::hint::black_box(vec![1_u8; 8 << 20])); burn(2) }\nfn burn(ms: u128) { let start = std::time::Instant::now(); while start.elapsed().as_millis() < ms {} }\n");
    playground.repository.commit("small");
    let text = std::fs::read_to_string(playground.root().join("src/lib.rs")).expect("just written");
    playground.write("src/lib.rs", text.replace("8 << 20", "64 << 20").replace("burn(2)", "burn(60)"));
    playground.configure(
        "[package.metadata.benchgate.metrics]\nlatency = { max_percent = 10, gate = false }\n\
         peak_rss = { max_percent = 5, min_difference = \"1MiB\" }\ncpu_total = { max_percent = 15, min_difference = \"5ms\" }",
    );
    let (ran, report) = playground.report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: tool"]).shows("MiB");
    for metric in ["peak_rss", "cpu_total"] {
        assert_eq!(comparison(&report, metric)["verdict"], "regression", "{metric}: {ran}");
    }
    assert_eq!(comparison(&report, "latency")["gate"], false);
    // One metric alone, by flag.
    let (ran, report) = playground.report(&["--base", "HEAD", "--metric", "peak_rss"]);
    ran.ends(1, &["1 regression: tool"]);
    assert_eq!(comparison(&report, "peak_rss")["gate"], true);
}

#[test]
fn work_gives_a_throughput_row_that_mirrors_the_latency_and_never_gates() {
    need_git!();
    let playground = slowdown();
    playground.write("data.bin", [7; 4096]);
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"file\"\nwork = { file = \"data.bin\" }\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"count\"\nwork = { value = 1000, unit = \"operations\" }",
    );
    // Base has no such file: its throughput is unknown there, and that is said.
    let ran = playground.quick(&[]);
    ran.ends(6, &["tool [file], base: failed to read the size of the work file", "data.bin"]);
    playground.repository.commit("with data");
    playground.step_ms(80);
    let (ran, report) = playground.report(&["--base", "HEAD"]);
    assert_eq!(report["benchmarks"].as_array().map(Vec::len), Some(2), "{ran}");
    let throughput = comparison(&report, "throughput");
    assert_eq!(throughput["derived_from"], "latency", "{ran}");
    assert_eq!(throughput["gate"], false);
    assert!(throughput["change_percent"].as_f64().expect("a number") < 0.0, "{ran}");
    ran.shows("throughput");
}
