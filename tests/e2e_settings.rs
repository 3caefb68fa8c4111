//! What the tables of Cargo.toml ask for reaches the programs.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use repository::need_git;
use support::{Playground, finish};

/// The distinct lines that the runs of one bench told.
fn told(playground: &Playground, name: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(playground.repository.beside(name)).expect("the bench has run");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn arguments_environment_directory_and_input_reach_the_program_with_their_placeholders_filled_in() {
    need_git!();
    let playground = Playground::probe();
    playground.write("data/input.txt", "of base");
    playground.repository.commit("with input");
    playground.write("data/input.txt", "of head");
    let out = playground.repository.beside("told");
    playground.configure(&format!(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\n\
         args = [\"tell\", \"{}\", \"${{root}}/a b\", \"${{head_root}}/c\", \"${{workdir}}/d\", \"${{env:E2E_GIVEN}}\"]\n\
         env = {{ E2E_SET = \"${{env:E2E_GIVEN}} and more\", E2E_ROOT = \"${{root}}\", E2E_HEAD = \"${{head_root}}\", \
         E2E_WORK = \"${{workdir}}\" }}\n\
         cwd = \"data\"\nstdin = \"data/input.txt\"",
        out.display()
    ));
    let mut command = playground.command_in(playground.root());
    command.args(support::QUICK).args(["--base", "HEAD", "--max-percent", "1000"]);
    let ran = finish(command.env("E2E_GIVEN", "$HOME `x`").env("E2E_INHERITED", "kept"));
    ran.ends(0, &[]);
    let told = told(&playground, "told");
    let one = |prefix: &str| {
        let lines: Vec<&str> = told.iter().filter_map(|line| line.strip_prefix(prefix)).collect();
        assert_eq!(lines.len(), 1, "{prefix} differs between runs: {lines:?}");
        lines[0].to_owned()
    };
    // Each revision reads its own file, behind one path.
    let inputs: Vec<&String> = told.iter().filter(|line| line.starts_with("stdin=")).collect();
    assert_eq!(inputs, ["stdin=of base", "stdin=of head"]);
    assert_eq!(one("env E2E_SET="), "$HOME `x` and more");
    assert_eq!(one("env E2E_INHERITED="), "kept");
    let root = one("env E2E_ROOT=");
    assert!(root.ends_with("/live/tree"), "{root}");
    assert!(one("env E2E_HEAD=").ends_with("/head/tree"));
    assert!(one("env CARGO_MANIFEST_DIR=").ends_with("/live/tree"));
    // A directory that is there while the run lasts, and goes with it.
    assert!(!std::path::Path::new(&one("env E2E_WORK=")).exists());
    for line in told.iter().filter(|line| line.starts_with("cwd=")) {
        assert!(line.ends_with("/tree/data"), "{line}");
    }
    assert!(told.iter().all(|line| !line.starts_with("env BENCHGATE_")), "our own variables stay away");
}

#[test]
fn arguments_reach_the_program_word_by_word() {
    need_git!();
    let playground = Playground::probe();
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nargs = [\"two words\", \"\", \"*\", \"--flag=\\\"x\\\"\", \"exit\", \"9\"]",
    );
    let ran = playground.quick(&["--base", "HEAD"]);
    ran.ends(4, &["exited with code 9"]).shows("word two words").shows("word *").shows("word --flag=\"x\"");
}

#[test]
fn unset_variable_of_a_placeholder_is_named() {
    need_git!();
    let playground = Playground::probe();
    playground
        .configure("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nargs = [\"${env:E2E_ABSENT}\"]");
    playground.quick(&["--base", "HEAD"]).ends(4, &["E2E_ABSENT"]);
}

#[test]
fn variants_are_rows_of_their_own_and_filters_choose_among_programs() {
    need_git!();
    let playground = Playground::probe();
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"small\"\nargs = [\"sleep\", \"1\"]\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"large\"\nargs = [\"sleep\", \"2\"]",
    );
    let (ran, report) = playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    let rows: Vec<&str> = report["benchmarks"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["variant"].as_str())
        .collect();
    assert_eq!(rows.len(), 2, "{ran}");
    ran.shows("tool [small]").shows("tool [large]");
    // Two entries of one name are one benchmark twice.
    playground.configure(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"small\"\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nname = \"small\"",
    );
    playground.run(&["list"]).ends(2, &["small"]);
}

#[test]
fn programs_and_examples_are_measured_when_they_are_named_and_only_listed_leaves_the_rest() {
    need_git!();
    let playground = Playground::probe();
    playground.write("src/main.rs", "fn main() { probe::step() }\n");
    playground.write("examples/show.rs", "fn main() { probe::step() }\n");
    playground.configure(
        "[package.metadata.benchgate]\nonly_listed = true\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"probe\"\nkind = \"bin\"\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"show\"\nkind = \"example\"",
    );
    playground.repository.commit("programs");
    let (ran, report) = playground.report(&["--base", "HEAD", "--head", "HEAD", "--max-percent", "1000"]);
    let mut kinds: Vec<(String, String)> = report["benchmarks"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            (
                row["kind"].as_str().unwrap_or_default().into(),
                row["result"].as_str().unwrap_or_default().into(),
            )
        })
        .collect();
    kinds.sort();
    let names: Vec<&str> = kinds.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(names, ["bin", "example"], "{ran}");
    assert!(kinds.iter().all(|(_, result)| result != "error"), "{ran}");
    playground.run(&["list"]).ends(0, &[]).shows("probe bin probe").shows("probe example show");
}

#[test]
fn ids_with_odd_characters_can_be_selected() {
    need_git!();
    let playground = Playground::probe();
    // A program that lists and runs as criterion does, as far as the listing goes.
    playground.write(
        "benches/tool.rs",
        "fn main() { for id in [\"a b/ü,\\\"x\\\"/[1]\", \"plain\"] { println!(\"{id}: benchmark\"); } }\n",
    );
    playground.configure("[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nharness = \"criterion\"");
    let (ran, report) = playground.report(&["--base", "HEAD~0", "--filter", "a b/*"]);
    let rows = report["benchmarks"].as_array().expect("rows");
    // It lists two and measures none: what is shown is that the filter chose one of them.
    assert_eq!(rows.len(), 1, "{ran}");
    assert_eq!(rows[0]["id"], "a b/ü,\"x\"/[1]", "{ran}");
}

#[test]
fn untracked_bench_file_is_part_of_head_and_an_ignored_input_only_when_included() {
    need_git!();
    let playground = Playground::probe();
    playground.write(".gitignore", "*.dat\n");
    playground.repository.commit("ignore data");
    playground.write(
        "benches/fresh.rs",
        "fn main() { assert!(std::path::Path::new(\"input.dat\").exists(), \"no input\") }\n",
    );
    playground.write("input.dat", "x");
    let manifest = "[[bench]]\nname = \"fresh\"\nharness = false\n";
    playground.configure(manifest);
    playground.quick(&["--bench", "fresh"]).ends(4, &["fresh", "exited with code 101"]).shows("no input");
    playground
        .configure(&format!("{manifest}[package.metadata.benchgate]\nsnapshot_include = [\"input.dat\"]"));
    playground.quick(&["--bench", "fresh"]).ends(0, &[]);
}

#[test]
fn budget_of_an_entry_that_matches_no_benchmark_is_warned_of() {
    need_git!();
    let playground = Playground::empty();
    playground.write(
        "Cargo.toml",
        "[package]\nname = \"counted\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[[bench]]\nname = \"tool\"\nharness = false\n\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nharness = \"lines\"\nmetrics.steps = { unit = \"count\" }\n\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nfilter = [\"wrok\"]\nbudget.steps = { max = \"<= 5\" }\n",
    );
    playground.write("src/lib.rs", "");
    playground
        .write("benches/tool.rs", "fn main() {\n    println!(\"benchgate: work steps 1000 count\");\n}\n");
    playground.repository.commit("first");
    let ran = playground.run(&["run"]);
    ran.ends(0, &[])
        .says("bench[1] is about none of the 1 benchmarks of its target")
        .says("did you mean \"work\"?");
}
