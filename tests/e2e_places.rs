//! Where the command may be started, and what is around it: sub-directories, workspaces, worktrees, hooks.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::process::Command;

use repository::{make_executable, need_git};
use support::{PROBE_MANIFEST, Playground, QUICK, finish};

/// A workspace below the root of the repository, with the crates `probe` and `twin`, whose benches have one name.
fn nested_workspace() -> Playground {
    let playground = Playground::empty();
    playground.write("code/Cargo.toml", "[workspace]\nmembers = [\"probe\", \"twin\"]\nresolver = \"2\"\n");
    playground.add_crate("probe", "code/probe");
    playground.add_crate("probe", "code/twin");
    playground.write(
        "code/twin/Cargo.toml",
        PROBE_MANIFEST
            .replace("\"probe\"", "\"twin\"")
            .replace("[[bench]]", "[lib]\nname = \"probe\"\n\n[[bench]]"),
    );
    playground.repository.commit("first");
    playground.step_ms_in("code/probe", 40);
    playground.repository.commit("slower probe");
    playground
}

#[test]
fn workspace_in_a_sub_directory_is_gated_from_anywhere_in_it() {
    need_git!();
    let playground = nested_workspace();
    let root = playground.root().to_owned();
    let quick = |directory: &str, args: &[&str]| {
        playground.run_in(&root.join(directory), &[&QUICK[..], args].concat())
    };
    // From a package: that package. From the root: both, told apart by their package.
    quick("code/probe", &[]).ends(1, &["1 regression: "]);
    quick("code/probe/src", &["--no-fail"]).ends(0, &[]).says("1 regression: ");
    quick("code/twin", &["--max-percent", "1000"]).ends(0, &[]).shows("gate passed");
    let ran = quick("code", &["--max-percent", "300"]);
    ran.ends(1, &["1 regression: probe:tool"]).shows("twin:tool");
    quick("code", &["-p", "twin", "--max-percent", "1000"]).ends(0, &[]);
    quick("code/probe", &["--workspace", "--exclude", "probe", "--max-percent", "1000"]).ends(0, &[]);
    // The root of the repository has no manifest.
    quick("", &[]).ends(3, &["there is no Cargo.toml", "--manifest-path"]);
    quick("", &["--manifest-path", "code/probe/Cargo.toml"]).ends(1, &["1 regression: "]);
}

#[test]
fn linked_worktree_is_gated_as_the_tree_it_is() {
    need_git!();
    let playground = Playground::probe();
    let linked = playground.repository.beside("linked");
    let path = linked.to_str().expect("temporary paths are UTF-8");
    playground.repository.git(&["worktree", "add", "-q", "-b", "topic", path]);
    std::fs::write(
        linked.join("src/lib.rs"),
        "pub fn step() { std::thread::sleep(std::time::Duration::from_millis(40)) }\n",
    )
    .expect("writable");
    let before = playground.state();
    let ran = playground.run_in(&linked, &[&QUICK[..], &["--base", "main"]].concat());
    ran.ends(1, &["1 regression: tool"]).says("with uncommitted changes");
    assert_eq!(playground.state(), before);
}

#[test]
fn manifest_that_git_does_not_have_yet_is_all_new() {
    need_git!();
    let playground = Playground::empty();
    playground.write("README.md", "first\n");
    playground.repository.commit("first");
    playground.add_crate("probe", "");
    let (ran, report) = playground.report(&["--base", "HEAD"]);
    ran.ends(0, &[]).shows("has no Cargo.toml: everything is new");
    assert_eq!(report["benchmarks"][0]["presence"], "new");
    // Head by name does not have it either.
    playground
        .quick(&["--base", "HEAD", "--head", "HEAD"])
        .ends(3, &["head (", "has no Cargo.toml", "--head"]);
}

#[test]
fn root_commit_has_nothing_before_it() {
    need_git!();
    let playground = Playground::probe();
    let (ran, report) = playground.report(&[]);
    ran.ends(0, &[]).says("every benchmark is new");
    assert_eq!(report["benchmarks"][0]["presence"], "new");
}

#[test]
fn variables_of_a_git_hook_reach_neither_cargo_nor_the_benches_and_do_not_mislead_us() {
    need_git!();
    let playground = Playground::probe();
    let told = playground.repository.beside("told");
    playground.configure(&format!(
        "[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nargs = [\"tell\", \"{}\"]",
        told.display()
    ));
    // Cargo runs this while it builds.
    playground.write(
        "build.rs",
        "fn main() { for name in [\"GIT_DIR\", \"GIT_INDEX_FILE\", \"GIT_WORK_TREE\", \"GIT_PREFIX\"] { \
         assert!(std::env::var_os(name).is_none(), \"{name} is set\"); } }\n",
    );
    playground.repository.commit("second");
    let before = playground.state();
    let mut command = playground.command_in(playground.root());
    command.args(QUICK).args(["--max-percent", "1000", "--base", "HEAD~1"]);
    command.envs([
        ("GIT_DIR", ".git"),
        ("GIT_INDEX_FILE", ".git/index"),
        ("GIT_PREFIX", ""),
        ("GIT_WORK_TREE", "."),
    ]);
    finish(&mut command).ends(0, &[]);
    assert_eq!(playground.state(), before);
    let told = std::fs::read_to_string(told).expect("the bench has run");
    let leaked: Vec<&str> = told
        .lines()
        .filter(|line| {
            ["DIR", "INDEX_FILE", "PREFIX", "WORK_TREE"]
                .iter()
                .any(|name| line.starts_with(&format!("env GIT_{name}=")))
        })
        .collect();
    assert!(leaked.is_empty(), "{leaked:?}");
}

#[test]
fn hook_of_a_real_commit_and_push_can_run_the_gate() {
    need_git!();
    let playground = Playground::probe();
    let binary = env!("CARGO_BIN_EXE_cargo-benchgate");
    let hook =
        format!("#!/bin/sh\nexec '{binary}' {} --base HEAD --max-percent \"$LIMIT\" >&2\n", QUICK.join(" "));
    for name in ["pre-commit", "pre-push"] {
        playground.write(&format!(".git/hooks/{name}"), &hook);
        make_executable(&playground.root().join(".git/hooks").join(name));
    }
    playground.repository.git(&["init", "-q", "--bare", "../remote"]);
    let git = |limit: &str, args: &[&str]| {
        let mut command = Command::new("git");
        playground.shield(&mut command);
        let identity = ["-c", "user.name=A. Uthor", "-c", "user.email=author@example.com"];
        command.current_dir(playground.root()).env("LIMIT", limit).args(identity).args(args);
        finish(&mut command)
    };
    playground.step_ms(40);
    // `commit -a` works on an index of its own, which the hook is told of.
    let ran = git("100", &["commit", "-q", "-a", "-m", "slower"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    ran.says("1 regression: tool");
    let ran = git("1000", &["commit", "-q", "-a", "-m", "slower"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let ran = git("1000", &["push", "-q", "../remote", "main"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(playground.repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn command_works_through_cargo_and_by_its_own_name() {
    need_git!();
    let playground = Playground::probe();
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_cargo-benchgate"));
    let mut path = vec![binary.parent().expect("it is in a directory").to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").expect("the tests have a PATH")));
    let mut command = Command::new(std::env::var_os("CARGO").expect("cargo runs the tests"));
    playground.shield(&mut command);
    command.current_dir(playground.root()).env("PATH", std::env::join_paths(path).expect("joinable"));
    let by_cargo = finish(command.args(["benchgate", "list"]));
    let by_name = playground.run(&["list"]);
    assert_eq!((by_cargo.code, &by_cargo.stdout), (Some(0), &by_name.stdout), "{by_cargo}");
    by_name.ends(0, &[]).shows("probe bench tool");
}
