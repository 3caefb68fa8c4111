//! What costs nothing: programs that did not change, and a base that was built before.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use repository::need_git;
use serde_json::Value;
use support::{AS_USUAL, Playground, Ran};

/// The crate `probe` with a README, in a second commit.
fn with_readme() -> Playground {
    let playground = Playground::probe();
    playground.write("README.md", "words\n");
    playground.repository.commit("second");
    playground
}

fn presence(report: &Value) -> &Value {
    &report["benchmarks"][0]["presence"]
}

#[track_caller]
fn is_unchanged(ran: &Ran, report: &Value) {
    ran.ends(0, &[]).shows("unchanged");
    assert_eq!(presence(report), "unchanged", "{ran}");
    assert_eq!(report["benchmarks"][0]["comparisons"], Value::Array(Vec::new()));
    assert!(!ran.stderr.contains("Measuring"), "{ran}");
}

#[test]
fn changes_that_touch_no_code_are_unchanged_and_the_base_is_built_once() {
    need_git!();
    let playground = Playground::probe();
    playground.write("README.md", "words\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    is_unchanged(&ran, &report);
    ran.says("Building base");
    assert_eq!(report["builds"][1]["from_cache"], false);

    let code = std::fs::read_to_string(playground.root().join("src/lib.rs")).expect("the fixture has it");
    playground.write(
        "src/lib.rs",
        format!("// A comment.\n{code}\n/// Not used.\npub fn unused() -> u8 {{ 1 }}\n"),
    );
    let manifest = std::fs::read_to_string(playground.root().join("Cargo.toml")).expect("the fixture has it");
    playground.write("Cargo.toml", manifest.replace("0.1.0", "0.2.0"));
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    is_unchanged(&ran, &report);
    ran.says("Kept base (");
    assert!(!ran.stderr.contains("Building base"), "{ran}");
    let base = report["builds"].as_array().and_then(|all| all.iter().find(|it| it["revision"] == "base"));
    assert_eq!(base.expect("it is told")["from_cache"], true);
}

#[test]
fn head_of_yesterday_is_not_built_again_as_the_base_of_today() {
    need_git!();
    let playground = with_readme();
    playground.run(&[&AS_USUAL[..], &["--base", "HEAD~1", "--head", "HEAD"]].concat()).ends(0, &[]);
    playground.step_ms(40);
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: tool"]).says("Kept base (");
    assert_eq!(presence(&report), "compared");
    // The kept program is base's, and runs: its times are not head's.
    assert!(!ran.stderr.contains("Building base"), "{ran}");
}

#[test]
fn equal_programs_with_a_changed_data_file_are_measured() {
    need_git!();
    let playground = Playground::probe();
    playground.write("data/input.json", "{}\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000", "-v"]);
    ran.ends(0, &[]).says("data/input.json differs, and may be read");
    assert_eq!(presence(&report), "compared");
    let note = report["benchmarks"][0]["presence_note"].as_str().expect("it says why");
    assert!(note.contains("identical") && note.contains("data/input.json"), "{note}");
}

#[test]
fn a_different_program_is_never_unchanged() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(5);
    let (_, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    assert_eq!(presence(&report), "compared");
}

#[test]
fn identical_programs_are_measured_when_that_is_asked_for_and_a_regression_says_that_the_code_is_the_same() {
    need_git!();
    let playground = Playground::probe();
    // The program reads a file that only head has: the same code, and slower.
    playground.write(
        "benches/tool.rs",
        "fn main() { let slow = std::path::Path::new(\"input\").exists(); \
         std::thread::sleep(std::time::Duration::from_millis(if slow { 60 } else { 5 })) }\n",
    );
    playground.repository.commit("second");
    playground.write("input", "x");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: tool"]).shows("identical; measured since input differs");
    assert_eq!(presence(&report), "compared");
}

#[test]
fn no_identity_measures_identical_programs() {
    need_git!();
    let playground = Playground::probe();
    playground.write("README.md", "words\n");
    let (ran, report) = playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    assert_eq!(presence(&report), "compared", "{ran}");
    assert!(ran.stderr.contains("Measuring"), "{ran}");
}

#[test]
fn a_file_that_the_arguments_name_is_an_input_whatever_it_is_called() {
    need_git!();
    let playground = Playground::probe();
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nstdin = \"README.md\"\nargs = [\"step\"]\n",
    );
    playground.write("README.md", "words\n");
    playground.repository.commit("second");
    playground.write("README.md", "more words\n");
    let (_, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    assert_eq!(presence(&report), "compared");
}

#[test]
fn budgets_of_an_unchanged_benchmark_are_measured_on_head() {
    need_git!();
    let playground = Playground::probe();
    let entry =
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nbudget.latency = { median = \"<= 1ms\" }\n";
    playground.configure(entry);
    playground.repository.commit("second");
    playground.write("README.md", "words\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["budget"]).shows("unchanged");
    assert_eq!(presence(&report), "unchanged");
    let sides = report["benchmarks"][0]["sides"].as_array().expect("an array");
    assert_eq!(sides.len(), 1);
    assert_eq!(sides[0]["revision"], "head");
    assert_eq!(sides[0]["runs"].as_array().map(Vec::len), Some(10));
}

#[test]
fn a_revision_against_itself_is_measured_although_the_programs_are_identical() {
    need_git!();
    let playground = Playground::probe();
    let (ran, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.says("against itself");
    assert_eq!(presence(&report), "compared");
}

/// The directories of kept builds.
fn entries(playground: &Playground) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![playground.cache()];
    while let Some(directory) = waiting.pop() {
        for entry in directory.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if path.join("record.json").exists() => found.push(path),
                true if path.file_name().is_none_or(|name| name != "target" && name != "tree") => {
                    waiting.push(path)
                }
                _ => {}
            }
        }
    }
    found
}

/// A file of an entry that is an executable of the bench.
fn executable(entry: &Path) -> PathBuf {
    let deps = entry.join("target/release/deps");
    let mut files = deps.read_dir().expect("executables are kept").flatten();
    files
        .find(|file| file.file_name().to_string_lossy().starts_with("tool-"))
        .expect("the bench is kept")
        .path()
}

#[test]
fn an_entry_that_was_tampered_with_is_built_again_with_a_warning() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(40);
    playground.usual_report(&["--base", "HEAD"]).0.ends(1, &["1 regression"]);
    let [entry] = &entries(&playground)[..] else { panic!("{:?}", entries(&playground)) };
    // A program that always succeeds at once would be a wonderful base.
    std::fs::write(executable(entry), "#!/bin/sh\nexit 0\n").expect("writable");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression"]).says("cannot be used").says("Building base");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("was changed") && warnings.contains("built again"), "{warnings}");
    playground.usual_report(&["--base", "HEAD"]).0.says("Kept base (");
}

#[test]
fn no_cache_builds_base_again_and_keeps_nothing() {
    need_git!();
    let playground = Playground::probe();
    playground.write("README.md", "words\n");
    for _ in 0..2 {
        playground.usual_report(&["--base", "HEAD", "--no-cache"]).0.ends(0, &[]).says("Building base");
    }
    assert!(entries(&playground).is_empty());
}

#[test]
fn kept_builds_are_listed_and_removed_and_a_limit_of_nothing_keeps_none() {
    need_git!();
    let playground = Playground::probe();
    playground.write("README.md", "words\n");
    let run = |limit: &str| {
        let mut command = playground.command_in(playground.root());
        command.env("BENCHGATE_CACHE_SIZE", limit).args(AS_USUAL).args(["--base", "HEAD"]);
        support::finish(&mut command)
    };
    run("0").ends(0, &[]);
    assert!(entries(&playground).is_empty());
    // What is in use stays, however small the limit.
    run("1B").ends(0, &[]).says("Building base");
    assert_eq!(entries(&playground).len(), 1);
    playground.run(&["cache", "list"]).ends(0, &[]).shows("executables of").shows("first [tool]");
    playground.run(&["cache", "clean"]).ends(0, &[]);
    assert!(entries(&playground).is_empty());
    run("plenty").ends(3, &["BENCHGATE_CACHE_SIZE", "plenty"]);
}

#[test]
fn the_least_recently_used_builds_go_first() {
    need_git!();
    let playground = Playground::probe();
    for number in 0..3 {
        playground.write("src/lib.rs", format!("pub fn step() {{ println!(\"{number}\") }}\n"));
        playground.repository.commit("one more");
    }
    playground.usual_report(&["--base", "HEAD~1", "--max-percent", "1000"]);
    playground.usual_report(&["--base", "HEAD~2", "--max-percent", "1000"]);
    let before = entries(&playground);
    assert_eq!(before.len(), 3, "HEAD, and two bases");
    let mut command = playground.command_in(playground.root());
    command.env("BENCHGATE_CACHE_SIZE", "1B").args(AS_USUAL).args([
        "--base",
        "HEAD~2",
        "--max-percent",
        "1000",
    ]);
    support::finish(&mut command).says("Kept base (");
    assert_eq!(entries(&playground).len(), 2, "HEAD and its base are in use");
}

#[test]
fn two_runs_at_once_keep_their_builds_apart() {
    need_git!();
    let playground = Playground::probe();
    playground.write("README.md", "words\n");
    let start = || {
        let mut command = playground.command_in(playground.root());
        command.args(AS_USUAL).args(["--base", "HEAD"]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().expect("it can be started")
    };
    let both = [start(), start()];
    for child in both {
        support::wait(child).ends(0, &[]).shows("unchanged");
    }
    playground.run(&["cache", "list"]).ends(0, &[]);
}

/// Adds an entry for the bench of the crate `probe`.
fn with_entry(playground: &Playground, lines: &str) {
    playground.configure(&format!("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\n{lines}"));
}

#[test]
fn a_source_that_the_suite_names_counts_as_data() {
    need_git!();
    let playground = Playground::probe();
    playground.write("src/input.rs", "3");
    with_entry(&playground, "stdin = \"src/input.rs\"\nargs = [\"step\"]");
    playground.repository.commit("second");
    playground.write("src/input.rs", "300");
    let (_, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    assert_eq!(presence(&report), "compared");
}

#[test]
fn what_hooks_make_of_any_changed_file_is_measured() {
    need_git!();
    let playground = Playground::probe();
    playground.write("tools/make.rs", "3");
    with_entry(&playground, "setup = [[\"true\"]]");
    playground.repository.commit("second");
    playground.write("tools/make.rs", "300");
    let (_, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    assert_eq!(presence(&report), "compared");
}

#[test]
fn a_dot_file_counts_where_the_program_knows_its_name() {
    need_git!();
    let playground = Playground::probe();
    playground.write(
        "benches/tool.rs",
        "fn main() {\n    let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/.tuning\");\n    \
         assert!(std::fs::read_to_string(path).is_ok());\n}\n",
    );
    playground.write(".tuning", "3");
    playground.write(".editorconfig", "3");
    playground.repository.commit("second");
    playground.write(".editorconfig", "300");
    let (ran, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    is_unchanged(&ran, &report);
    playground.write(".tuning", "300");
    let (_, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    assert_eq!(presence(&report), "compared");
}

#[test]
fn a_directory_that_a_launch_names_has_its_files_for_inputs() {
    need_git!();
    let playground = Playground::probe();
    let entry = |name: &str, keys: &str| {
        format!("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"{name}\"\n{keys}\n")
    };
    playground.configure(
        &[
            entry("argument", "args = [\"complain\", \"${root}/docs\"]"),
            entry("cwd", "cwd = \"docs\""),
            entry("neither", "args = [\"complain\", \"documents\"]"),
        ]
        .concat(),
    );
    playground.write("docs/guide.md", "words\n");
    playground.repository.commit("second");
    playground.write("docs/guide.md", "more words\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
    let rows = report["benchmarks"].as_array().expect("an array");
    let presences: Vec<_> =
        rows.iter().map(|row| (row["variant"].clone(), row["presence"].clone())).collect();
    let expected = [("argument", "compared"), ("cwd", "compared"), ("neither", "unchanged")];
    assert_eq!(presences, expected.map(|(variant, presence)| (variant.into(), presence.into())), "{ran}");
}

/// A bench that answers as one of tango does, and says which program it is: its time is `step`.
fn tango_bench(playground: &Playground, step: u32) {
    playground.write(
        "benches/tool.rs",
        format!(
            "const STEP: u32 = {step};\n\
             fn main() {{\n    let args: Vec<String> = std::env::args().collect();\n    \
             let has = |word: &str| args.iter().any(|arg| arg == word);\n    \
             if has(\"list\") {{ return println!(\"step\"); }}\n    \
             if has(\"which\") {{ return print!(\"{{STEP}}\"); }}\n    \
             let at = args.iter().position(|arg| arg == \"--dump\").expect(\"it runs in lock-step\");\n    \
             let base = std::process::Command::new(&args[at + 2]).arg(\"which\").output().unwrap();\n    \
             let base = String::from_utf8(base.stdout).unwrap();\n    \
             std::fs::write(format!(\"{{}}/step.csv\", args[at + 1]), format!(\"{{base}},{{STEP}},1\\n\")).unwrap();\n}}\n"
        ),
    );
}

#[test]
fn lock_step_runs_the_kept_base_and_not_an_older_one() {
    need_git!();
    let playground = Playground::probe();
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nharness = \"tango\"\nisolate = true",
    );
    for step in [1000, 2000] {
        tango_bench(&playground, step);
        playground.repository.commit("a step");
    }
    let args = ["--max-percent", "1000", "--base"];
    let (ran, report) = playground.usual_report(&[&args[..], &["HEAD~1", "--head", "HEAD"]].concat());
    ran.ends(0, &[]).says("Building base");
    assert_eq!(latencies(&report), [1000, 2000]);
    tango_bench(&playground, 3000);
    let (ran, report) = playground.usual_report(&[&args[..], &["HEAD"]].concat());
    ran.ends(0, &[]).says("Kept base (");
    assert_eq!(latencies(&report), [2000, 3000]);
}

/// What base and head took, in whole nanoseconds.
fn latencies(report: &Value) -> [u64; 2] {
    ["base", "head"].map(|side| {
        let value = &report["benchmarks"][0]["comparisons"][0][side];
        value.as_f64().expect("it was measured").round() as u64
    })
}

#[test]
fn what_is_built_without_the_content_of_all_files_is_not_kept() {
    need_git!();
    let playground = Playground::probe();
    playground.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    playground.write("input.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
    playground.repository.commit("a pointer");
    for _ in 0..2 {
        let (ran, _) = playground.usual_report(&["--base", "HEAD", "--max-percent", "1000"]);
        ran.ends(0, &[]).says("Building base");
    }
}

#[test]
fn a_kept_build_that_could_not_be_used_is_replaced() {
    need_git!();
    let playground = Playground::probe();
    playground.write("build.rs", "fn main() { println!(\"cargo:rerun-if-env-changed=E2E_WATCHED\") }\n");
    playground.repository.commit("with a build script");
    // A head that is its commit would be kept itself.
    playground.write("README.md", "words\n");
    let run = |value: &str| {
        let mut command = playground.command_in(playground.root());
        command.args(AS_USUAL).args(["--base", "HEAD", "--max-percent", "1000"]).env("E2E_WATCHED", value);
        support::finish(&mut command)
    };
    for (value, how) in [("1", "Building base"), ("2", "Building base"), ("2", "Kept base (")] {
        run(value).says(how);
    }
}

#[test]
fn executables_that_cannot_be_kept_cost_a_warning_and_no_result() {
    need_git!();
    let playground = Playground::probe();
    playground.write("README.md", "words\n");
    playground.run(&[&AS_USUAL[..], &["--base", "HEAD"]].concat()).ends(0, &[]);
    let kept = entries(&playground);
    std::fs::remove_dir_all(&kept[0]).expect("base was kept");
    std::fs::write(&kept[0], "in the way").expect("it is gone");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[]).shows("are not kept for later runs");
    assert_eq!(presence(&report), "unchanged");
}
