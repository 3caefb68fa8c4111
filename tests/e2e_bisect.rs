//! Bisect with the real command on a small repository.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use repository::need_git;
use support::Playground;

/// A sleep that became a longer one, far beyond what load does to the start of a process.
const FAST_MS: u64 = 2;
const SLOW_MS: u64 = 60;
/// A quick bisect: the least a probe can be told by, and no noise gate.
const QUICK: [&str; 4] = ["--warmup=0", "--max-cv=0", "--samples=18", "--metric=latency"];

/// Nine commits: the fourth does not build, the sixth is slow, the eighth is a merge.
fn history() -> (Playground, Vec<String>) {
    let playground = Playground::probe();
    playground.step_ms(FAST_MS);
    let mut commits = vec![playground.repository.commit("fast")];
    for at in 1..9 {
        playground.write("notes.txt", format!("{at}"));
        match at {
            3 => playground.write("src/lib.rs", "this is not Rust"),
            4 => {
                playground.repository.git(&["checkout", "-q", &commits[2], "--", "src/lib.rs"]);
            }
            5 => playground.step_ms(SLOW_MS),
            7 => {
                playground.repository.git(&["checkout", "-q", "-b", "side"]);
                playground.write("side.txt", "merged");
                playground.repository.commit("side");
                playground.repository.git(&["checkout", "-q", "main"]);
                playground.repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
                commits.push(playground.repository.id("HEAD"));
                continue;
            }
            _ => {}
        }
        commits.push(playground.repository.commit(&format!("commit {at}")));
    }
    (playground, commits)
}

#[test]
fn the_slow_commit_is_named_beside_one_that_does_not_build_and_nothing_is_left_behind() {
    need_git!();
    let (playground, commits) = history();
    let before = playground.state();
    let path = playground.repository.beside("bisect.json");
    let format = format!("json={}", path.display());
    let ends = ["bisect", "tool", &commits[0], &commits[8], "--format", &format];
    let ran = playground.run(&[&ends[..], &QUICK[..]].concat());
    ran.ends(0, &[]).shows(&format!("first slow commit: {} commit 5", commits[5]));
    let text = std::fs::read_to_string(&path).expect("it was written");
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(report["answer"]["answer"], "found");
    assert_eq!(report["answer"]["first"]["commit"], commits[5].as_str());
    assert_eq!(report["answer"]["confirmed"], true);
    assert_eq!(report["commits"], 8);
    assert_eq!(playground.state(), before);
    assert!(
        !playground.root().join(".git/benchgate").join("bisect").exists(),
        "the log is gone once it is answered"
    );
    assert!(playground.temporary_files().is_empty());
}

#[test]
fn mistakes_are_told_before_anything_is_built() {
    need_git!();
    let (playground, commits) = history();
    playground
        .run(&["bisect", "tool", &commits[8], &commits[0]])
        .ends(3, &["is no ancestor of"])
        .built_nothing();
    playground.run(&["bisect", "tool", "main", "main"]).ends(3, &["same commit"]).built_nothing();
    playground.run(&["bisect", "tool", "nowhere", "main"]).ends(3, &["'nowhere'"]).built_nothing();
    playground
        .run(&["bisect", "tool", &commits[0], "main", "--samples", "4"])
        .ends(3, &["--samples 4"])
        .built_nothing();
    playground
        .run(&["bisect", "tool", &commits[0], "main", "--threshold", "-1"])
        .ends(3, &["--threshold"])
        .built_nothing();
    playground
        .run(&["bisect", "tool", &commits[0], "main", "--format", "csv"])
        .ends(3, &["terminal and json"])
        .built_nothing();
    playground
        .run(&["bisect", "tool", &commits[0], "main", "--dry-run"])
        .ends(0, &[])
        .built_nothing()
        .shows("(merge)");
}

#[test]
fn ends_that_are_equally_fast_have_nothing_to_find() {
    need_git!();
    let (playground, commits) = history();
    // The limit is far above what load does to a sleep.
    let args = ["bisect", "tool", &commits[0], &commits[2], "--threshold", "900%"];
    playground.run(&[&args[..], &QUICK[..]].concat()).ends(3, &["nothing to find"]);
}

#[test]
fn a_benchmark_that_is_not_there_is_an_error_that_names_those_that_are() {
    need_git!();
    let (playground, commits) = history();
    playground
        .run(&["bisect", "tol", &commits[0], &commits[2]])
        .ends(3, &["there is no benchmark `tol` among these", "tool"]);
    assert!(!playground.root().join(".git/benchgate/bisect").exists(), "an empty log is not kept");
}

#[test]
fn git_bisect_run_can_be_driven_by_the_statuses() {
    need_git!();
    let (playground, mut commits) = history();
    playground.step_ms(500);
    commits[5] = playground.repository.commit("very slow");
    let run = |base: &str, head: &str, more: &[&str]| {
        let args = [
            "compare",
            "--bisect-run",
            "--base",
            base,
            "--head",
            head,
            "--max-percent",
            "300",
            "--correction",
            "none",
        ];
        playground
            .run(&[&args[..], &["--samples=10", "--warmup=0", "--max-cv=0", "--preset=fixed"], more].concat())
            .code
    };
    assert_eq!(run(&commits[0], &commits[2], &[]), Some(0), "good");
    assert_eq!(run(&commits[0], &commits[5], &[]), Some(1), "bad");
    assert_eq!(run(&commits[0], &commits[3], &[]), Some(125), "does not build");
    assert_eq!(run(&commits[0], "nowhere", &[]), Some(125), "no such revision");
    assert_eq!(
        run(&commits[0], &commits[2], &["--no-such-flag"]),
        Some(125),
        "a typo must not be a bad commit"
    );
}

#[test]
fn a_merge_is_opened_when_asked_for() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(FAST_MS);
    let good = playground.repository.commit("fast");
    playground.repository.git(&["checkout", "-q", "-b", "side"]);
    playground.write("a.txt", "a");
    playground.repository.commit("side one");
    playground.step_ms(SLOW_MS);
    let culprit = playground.repository.commit("side two");
    playground.repository.git(&["checkout", "-q", "main"]);
    playground.write("b.txt", "b");
    playground.repository.commit("main one");
    playground.repository.git(&["merge", "-q", "--no-ff", "-m", "merge side", "side"]);
    let merge = playground.repository.id("HEAD");
    let args = ["bisect", "tool", &good, "main"];
    let closed = playground.run(&[&args[..], &QUICK[..]].concat());
    closed.ends(0, &[]).shows(&format!("first slow commit: {merge}")).shows("it is a merge");
    let path = playground.repository.beside("bisect.json");
    let formats = [
        "--format".to_owned(),
        "terminal".to_owned(),
        "--format".to_owned(),
        format!("json={}", path.display()),
    ];
    let formats: Vec<&str> = formats.iter().map(String::as_str).collect();
    let opened = playground.run(&[&args[..], &["--open-merges"], &QUICK[..], &formats[..]].concat());
    opened.ends(0, &[]).shows(&format!("first slow commit: {culprit}"));
    let text = std::fs::read_to_string(&path).expect("it was written");
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is one document");
    assert_eq!(report["answer"]["first"]["commit"], merge.as_str(), "the merge stays the answer of the line");
    assert_eq!(report["opened"][0]["answer"]["first"]["commit"], culprit.as_str());
}

#[test]
fn an_interrupted_bisect_goes_on_where_it_was() {
    need_git!();
    let (playground, commits) = history();
    let mut command = playground.command_in(playground.root());
    command.args(["bisect", "tool", &commits[0], &commits[8]]).args(QUICK);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("the command can be started");
    let log = playground.root().join(".git/benchgate/bisect");
    let lines = || {
        let files = std::fs::read_dir(&log).into_iter().flatten().flatten();
        let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.map(|text| text.lines().count()).max().unwrap_or(0)
    };
    support::wait_until("the first probe is in the log", || 2 <= lines());
    let id = i32::try_from(child.id()).expect("process ids are small");
    let killed = std::process::Command::new("kill").args(["-INT", &id.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    support::wait(child).ends(4, &["interrupted"]).says("the same command goes on from there");
    assert!(2 <= lines(), "the log was kept");
    let args = ["bisect", "tool", &commits[0], &commits[8]];
    let ran = playground.run(&[&args[..], &QUICK[..]].concat());
    ran.ends(0, &[]).says("Resuming").shows(&format!("first slow commit: {}", commits[5]));
}

const COUNTED: &str = "[package]\nname = \"counted\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[[bench]]\nname = \"tool\"\nharness = false\n\n\
    [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nharness = \"lines\"\nmetrics.steps = { unit = \"count\" }\n";

#[test]
fn counts_name_the_right_one_of_forty_commits_beside_an_unbuildable_one_and_a_merge() {
    need_git!();
    let seed = 20_261_130_u64;
    let place = 3 + usize::try_from((seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 33).expect("31 bits") % 35;
    println!("seed {seed}: the step is planted at commit {place} of 40");
    let playground = Playground::empty();
    playground.write("Cargo.toml", COUNTED);
    playground.write(
        "benches/tool.rs",
        "fn main() {\n    println!(\"benchgate: work steps {} count\", counted::STEPS);\n}\n",
    );
    let mut commits = Vec::new();
    for at in 0..=40 {
        let steps = if place <= at { 1100 } else { 1000 };
        let broken = if at == place + 1 { "this does not build" } else { "" };
        playground.write("src/lib.rs", format!("pub const STEPS: u32 = {steps};\n// {at}\n{broken}"));
        if at == place - 1 {
            playground.repository.commit("on main");
            playground.repository.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
            playground.write("side.txt", "side");
            playground.repository.commit("side");
            playground.repository.git(&["checkout", "-q", "main"]);
            playground.repository.git(&["merge", "-q", "--no-ff", "-m", "merge side", "side"]);
            commits.push(playground.repository.id("HEAD"));
        } else {
            commits.push(playground.repository.commit(&format!("commit {at}")));
        }
    }
    let ran = playground.run(&["bisect", "work", &commits[0], "main"]);
    ran.ends(0, &[]).shows(&format!("first slow commit: {} commit {place}", commits[place]));
    let built = ran.stderr.matches("Compiling counted").count();
    assert!(built <= 9, "{built} builds for 40 commits: {ran}");
}

/// A crate whose bench prints the counts of its benchmarks, so that no outcome hangs on a clock.
fn counting(counts: &[(&str, u32)]) -> Playground {
    let playground = Playground::empty();
    playground.write("Cargo.toml", COUNTED);
    playground.write("src/lib.rs", "");
    count(&playground, counts);
    playground
}

fn count(playground: &Playground, counts: &[(&str, u32)]) {
    let lines: String = counts
        .iter()
        .map(|(id, steps)| format!("    println!(\"benchgate: {id} steps {steps} count\");\n"))
        .collect();
    playground.write("benches/tool.rs", format!("fn main() {{\n{lines}}}\n"));
}

#[test]
fn git_bisect_run_skips_a_commit_that_lost_a_benchmark() {
    need_git!();
    let playground = counting(&[("work", 1000), ("other", 5)]);
    let good = playground.repository.commit("both");
    count(&playground, &[("work", 1000)]);
    let lost = playground.repository.commit("one is lost");
    count(&playground, &[("work", 1200)]);
    let slow = playground.repository.commit("slow");
    let run = |head: &str, more: &[&str]| {
        playground.run(&[&["compare", "--bisect-run", "--base", &good, "--head", head], more].concat())
    };
    run(&lost, &[]).ends(125, &["cannot be told: 1 removed"]);
    run(&lost, &["--also-fail-on", "removed"]).ends(125, &["cannot be told: 1 removed"]);
    run(&lost, &["--filter", "work"]).ends(0, &[]);
    run(&slow, &[]).ends(1, &["1 regression"]);
    run(&slow, &["--no-fail"]).ends(125, &["--no-fail"]);
}

#[test]
fn a_merge_that_holds_no_slow_commit_of_its_own_stays_the_answer() {
    need_git!();
    let playground = counting(&[("work", 1000)]);
    let good = playground.repository.commit("fast");
    playground.repository.git(&["checkout", "-q", "-b", "side"]);
    playground.write("side.txt", "side");
    playground.repository.commit("side");
    playground.repository.git(&["checkout", "-q", "main"]);
    playground.write("main.txt", "main");
    playground.repository.commit("main");
    playground.repository.git(&["merge", "-q", "--no-ff", "--no-commit", "side"]);
    count(&playground, &[("work", 1200)]);
    let merge = playground.repository.commit("merge that is slow itself");
    let ran = playground.run(&["bisect", "work", &good, "main", "--open-merges", "--format", "json"]);
    ran.ends(0, &[]).says("the answer is the merge");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("stdout is one document");
    assert_eq!(report["answer"]["first"]["commit"], merge.as_str());
    assert_eq!(report["opened"][0]["answer"]["answer"], "nothing_to_find");
    let text = playground.run(&["bisect", "work", &good, "main"]);
    text.ends(0, &[]).shows("cargo benchgate bisect --metric steps -p counted tool/work ");
    assert!(!playground.root().join(".git/benchgate/bisect").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn probes_are_kept_until_their_answer_is_written() {
    need_git!();
    let playground = counting(&[("work", 1000)]);
    let good = playground.repository.commit("fast");
    playground.write("notes.txt", "still fast");
    playground.repository.commit("still fast");
    count(&playground, &[("work", 1200)]);
    let slow = playground.repository.commit("slow");
    let args = ["bisect", "work", &good, "main"];
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut command = playground.command_in(playground.root());
    let child = command.args(args).stdout(full).stderr(std::process::Stdio::piped()).spawn();
    support::wait(child.expect("the command can be started")).ends(4, &["failed to write to stdout"]);
    let again = playground.run(&args);
    again.ends(0, &[]).says("Resuming").shows(&format!("first slow commit: {slow}"));
    assert!(!again.stderr.contains("Probing"), "the probe is known: {again}");
    assert!(!playground.root().join(".git/benchgate/bisect").exists());
}

#[test]
fn every_side_of_an_octopus_is_opened_until_the_commit_is_found() {
    need_git!();
    let playground = counting(&[("work", 1000)]);
    let good = playground.repository.commit("fast");
    for side in ["one", "two"] {
        playground.repository.git(&["checkout", "-q", "-b", side, "main"]);
        playground.write(&format!("{side}.txt"), side);
        playground.repository.commit(&format!("{side}, fast"));
    }
    count(&playground, &[("work", 1200)]);
    let culprit = playground.repository.commit("two, slow");
    playground.repository.git(&["checkout", "-q", "main"]);
    playground.repository.git(&["merge", "-q", "--no-ff", "-m", "octopus", "one", "two"]);
    let ran = playground.run(&["bisect", "work", &good, "main", "--open-merges", "--format", "json"]);
    ran.ends(0, &[]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("stdout is one document");
    assert_eq!(report["opened"][0]["answer"]["answer"], "nothing_to_find", "{ran}");
    assert_eq!(report["opened"][1]["answer"]["first"]["commit"], culprit.as_str(), "{ran}");
}

#[test]
fn the_suite_of_the_bad_end_measures_the_answer_from_before_it_was_written() {
    need_git!();
    let playground = counting(&[("work", 1000)]);
    playground.write("Cargo.toml", COUNTED.split("\n\n[[package").next().expect("it has a first part"));
    let good = playground.repository.commit("good");
    count(&playground, &[("work", 1200)]);
    let slow = playground.repository.commit("slow");
    playground.write("Cargo.toml", COUNTED);
    playground.repository.commit("the suite");
    let ran = playground.run(&["bisect", "work", &good, "main", "--metric", "steps"]);
    ran.ends(0, &[]).shows(&format!("first slow commit: {slow} slow"));
    assert!(!ran.stdout.contains("not confirmed"), "{ran}");
}
