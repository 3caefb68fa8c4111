//! What the command says, where, and how: streams, colour, help, saved reports.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::process::{Command, Stdio};

use repository::need_git;
use support::{Playground, QUICK, finish};

const ESCAPE: char = '\u{1b}';

#[test]
fn results_go_to_stdout_and_all_else_to_stderr() {
    need_git!();
    let playground = Playground::probe();
    let ran = playground.quick(&["--base", "HEAD", "--format", "json", "--max-percent", "1000"]);
    ran.ends(0, &[]).says("Building").says("Measuring");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("stdout is the report alone");
    assert_eq!(report["schema_version"], 1);
    assert!(!ran.stderr.contains(ESCAPE), "no colour without a terminal: {ran}");

    let ran = playground.quick(&["--base", "HEAD", "-q", "--max-percent", "1000"]);
    ran.ends(0, &[]).shows("tool").shows("gate passed");
    assert!(ran.stderr.lines().all(|line| line.starts_with("warning")), "-q leaves warnings alone: {ran}");

    let ran = playground.quick(&["--base", "HEAD", "-v", "--max-percent", "1000"]);
    ran.ends(0, &[]).says("Checking out");
    assert!(!ran.stderr.contains("Fresh"), "cargo's own words come with the second -v: {ran}");
    playground.quick(&["--base", "HEAD", "-vv", "--max-percent", "1000"]).ends(0, &[]).says("Fresh");
}

#[test]
fn colour_is_where_it_was_asked_for() {
    need_git!();
    let playground = Playground::probe();
    let case = |args: &[&str], variables: &[(&str, &str)], coloured: bool| {
        let mut command = playground.command_in(playground.root());
        command.args(["--dry-run", "--base", "HEAD"]).args(args).envs(variables.iter().copied());
        let ran = finish(&mut command);
        ran.ends(0, &[]);
        assert_eq!(ran.stderr.contains(ESCAPE), coloured, "{args:?} {variables:?}: {ran}");
    };
    case(&[], &[], false);
    case(&["--color", "always"], &[], true);
    case(&["--color", "always"], &[("NO_COLOR", "1")], true);
    case(&[], &[("CARGO_TERM_COLOR", "always")], true);
    case(&[], &[("CLICOLOR_FORCE", "1")], true);
    case(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false);
    case(&["--color", "never"], &[("CARGO_TERM_COLOR", "always")], false);
    case(&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false);
    let ran = playground.quick(&["--base", "HEAD", "--color", "always", "--max-percent", "1000"]);
    assert!(ran.stdout.contains(ESCAPE), "the table is coloured: {ran}");
}

#[test]
fn dry_run_and_list_show_the_plan_and_build_nothing() {
    need_git!();
    let playground = Playground::probe();
    let ran = playground.run(&["--dry-run", "--base", "HEAD", "--seed", "5"]);
    ran.ends(0, &[])
        .built_nothing()
        .shows("build base (")
        .shows("build head (")
        .shows("probe")
        .shows("seed 5");
    assert!(!playground.cache().exists(), "nothing was made");
    playground.run(&["run", "--dry-run"]).ends(0, &[]).shows("head alone");
    playground.run(&["list"]).ends(0, &[]).built_nothing().shows("probe bench tool").shows("latency");
    playground.run(&["list", "--max-percent", "7"]).ends(0, &[]).shows("7 %");
}

#[test]
fn judging_a_saved_report_again_gives_the_same_bytes_and_other_settings_another_verdict() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(40);
    let (ran, _) = playground.report(&["--base", "HEAD", "--format", "samples-csv=samples.csv"]);
    ran.ends(1, &["1 regression: tool"]);
    let report = playground.repository.beside("report.json");
    let report = report.to_str().expect("temporary paths are UTF-8");
    let judged = playground.run(&["judge", report, "--format", "json=first.json"]);
    judged.ends(1, &["1 regression: tool"]).built_nothing();
    playground.run(&["judge", "first.json", "--format", "json=second.json"]).ends(1, &["1 regression: tool"]);
    playground.run(&["judge", report, "--format", "json=again.json"]).ends(1, &["1 regression: tool"]);
    let bytes = |name: &str| std::fs::read(playground.root().join(name)).expect("it was written");
    assert_eq!(bytes("first.json"), bytes("again.json"));
    assert_eq!(bytes("first.json"), bytes("second.json"));

    let ran = playground.run(&["judge", report, "--max-percent", "1000", "--metric", "latency"]);
    ran.ends(0, &[]).shows("limit 1000 %");
    playground.run(&["judge", report, "--no-fail"]).ends(0, &[]).says("--no-fail");
    let ran = playground.run(&["judge", "samples.csv", "--preset", "fixed", "--max-cv", "0"]);
    ran.ends(1, &["1 regression"]).shows("tool");
    playground.write("own.csv", "benchmark,revision,metric,value\nx,base,latency,1\nx,head,latency,9\n");
    playground
        .run(&["judge", "own.csv"])
        .ends(0, &[])
        .says("the samples do not say their rounds")
        .shows("inconclusive");
    playground.run(&["report", report, "--format", "csv"]).ends(0, &[]).shows("regression");
    playground.run(&["report", report]).ends(0, &[]).shows("REGRESSION");
    playground.write("broken.json", &bytes("first.json")[..200]);
    playground.run(&["report", "broken.json"]).ends(3, &["broken.json"]);
    playground.run(&["judge", "broken.json"]).ends(3, &["broken.json"]);
}

#[test]
fn reader_that_goes_away_is_no_failure_and_a_full_disk_is_one() {
    need_git!();
    let playground = Playground::probe();
    let mut command = playground.command_in(playground.root());
    let mut child =
        command.arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("startable");
    drop(child.stdout.take());
    let ran = support::wait(child);
    ran.ends(0, &[]);
    let shell = |redirection: &str| {
        let mut command = Command::new("sh");
        playground.shield(&mut command);
        command.current_dir(playground.root()).args([
            "-c",
            &format!(
                "exec '{}' {} --base HEAD --max-percent 1000 {redirection}",
                env!("CARGO_BIN_EXE_cargo-benchgate"),
                QUICK.join(" ")
            ),
        ]);
        finish(&mut command)
    };
    let closed = shell(">&-");
    closed.ends(0, &[]);
    let closed = shell(">&- 2>&- <&-");
    assert_eq!(closed.code, Some(0), "{closed}");
    if cfg!(target_os = "linux") {
        shell(">/dev/full").ends(4, &["failed to write the report to stdout"]);
    }
}

#[test]
fn help_is_short_with_h_and_whole_with_help() {
    let playground = Playground::empty();
    let short = playground.run(&["-h"]);
    let long = playground.run(&["--help"]);
    for ran in [&short, &long] {
        ran.ends(0, &[]);
        for part in ["Usage: cargo benchgate", "compare", "judge", "cache", "--base", "--no-fail"] {
            ran.shows(part);
        }
    }
    let headings = [
        "Package Selection:",
        "Benchmark Selection:",
        "Compilation Options:",
        "Manifest Options:",
        "Measuring:",
        "Judging:",
        "Output:",
    ];
    for heading in headings {
        long.shows(heading);
        short.shows(heading);
    }
    long.shows("Exit status").shows("temporary worktrees");
    assert!(short.stdout.len() < long.stdout.len());
    assert!(long.stdout.lines().all(|line| line.chars().count() <= 110), "lines fit a wide terminal");
    // What belongs to no group stands with the other options of the verb.
    let options = short.stdout.split("Package Selection:").next().expect("split gives one");
    assert!(options.contains("--dry-run") && options.contains("--keep"), "{short}");
    playground.run(&["--version"]).ends(0, &[]).shows(env!("CARGO_PKG_VERSION"));
    for verb in ["compare", "run", "judge", "report", "list", "cache"] {
        let ran = playground.run(&[verb, "--help"]);
        ran.ends(0, &[]).shows(&format!("Usage: cargo benchgate {verb}"));
    }
}

#[test]
fn narrow_terminals_are_asked_for_by_columns() {
    need_git!();
    let playground = Playground::probe();
    let (ran, _) = playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(0, &[]);
    let report = playground.repository.beside("report.json");
    let widest = |columns: &str| {
        let mut command = playground.command_in(playground.root());
        let ran = finish(command.env("COLUMNS", columns).arg("report").arg(&report));
        ran.ends(0, &[]);
        ran.stdout.lines().filter(|line| line.contains("latency")).map(|line| line.chars().count()).max()
    };
    assert!(widest("60") < widest("200"), "{:?} {:?}", widest("60"), widest("200"));
}

#[test]
fn an_id_with_a_line_end_is_no_command_to_the_runner_of_a_workflow() {
    need_git!();
    let playground = Playground::probe();
    playground.configure("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nharness = \"lines\"");
    let bench = |ns: u32| {
        format!(
            "fn main() {{\n    println!(\"benchgate: {{:?}} latency {ns} ns\", \"a\\n::error title=x::pwned\");\n}}\n"
        )
    };
    playground.write("benches/tool.rs", bench(100));
    playground.repository.commit("second");
    playground.write("benches/tool.rs", bench(900));
    let ran = playground.quick(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: tool/a"]);
    for line in ran.stderr.lines().chain(ran.stdout.lines()) {
        assert!(!line.trim_start().starts_with("::"), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn failing_run_is_recorded_before_its_last_line_says_why_and_also_when_an_output_is_lost() {
    need_git!();
    let playground = Playground::empty();
    playground.write(
        "Cargo.toml",
        "[package]\nname = \"counted\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[[bench]]\nname = \"tool\"\nharness = false\n\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nharness = \"lines\"\nmetrics.steps = { unit = \"count\" }\n",
    );
    playground.write("src/lib.rs", "");
    for steps in [1000, 1200] {
        let bench = format!("fn main() {{\n    println!(\"benchgate: work steps {steps} count\");\n}}\n");
        playground.write("benches/tool.rs", bench);
        playground.repository.commit("steps");
    }
    let recorded = |name: &str| {
        let reports = std::fs::read_dir(playground.repository.beside(name).join("reports"));
        reports.map_or(0, |entries| entries.count())
    };
    let directory = |name: &str| playground.repository.beside(name).display().to_string();
    let args = |name: &str| {
        ["--base", "HEAD~1", "--record", "--history", &directory(name)].map(str::to_owned).to_vec()
    };
    let mut command = playground.command_in(playground.root());
    finish(command.args(args("one"))).ends(1, &["1 regression"]).says("Recorded");
    assert_eq!(recorded("one"), 1);

    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut command = playground.command_in(playground.root());
    command.args(args("two")).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.stdout(full).spawn().expect("the command can be started");
    support::wait(child)
        .ends(4, &["failed to write the report to stdout"])
        .says("Recorded")
        .says("1 regression");
    assert_eq!(recorded("two"), 1);
}
