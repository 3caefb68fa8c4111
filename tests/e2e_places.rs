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
fn cargo_configuration_of_a_workspace_in_a_sub_directory_is_read() {
    need_git!();
    let playground = nested_workspace();
    playground.write("code/.cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"told\"]\n");
    playground.write(
        "code/twin/src/lib.rs",
        "#[cfg(not(told))]\ncompile_error!(\"the configuration was not read\");\npub fn step() {}\n",
    );
    playground.repository.commit("told");
    let directory = playground.root().join("code/twin");
    playground
        .run_in(&directory, &[&["run"][..], &QUICK[..2], &["--samples=2", "--warmup=0"]].concat())
        .ends(0, &[]);
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
fn bare_repository_is_gated_between_commits_from_inside_it_and_by_git_dir() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(40);
    playground.repository.commit("slower");
    let bare = playground.repository.clone_to("bare", &["--bare"]);
    let before = playground.repository.git_in(&bare, &["worktree", "list"]);
    let args = [&QUICK[..], &["--base", "HEAD~1", "--head", "HEAD"]].concat();
    playground.run_in(&bare, &args).ends(1, &["1 regression: tool"]);
    let mut command = playground.command_in(&playground.repository.beside("home"));
    finish(command.args(&args).env("GIT_DIR", &bare)).ends(1, &["1 regression: tool"]);
    assert_eq!(playground.repository.git_in(&bare, &["worktree", "list"]), before);
    // Without a head there is nothing to take.
    playground.run_in(&bare, &QUICK).ends(3, &["is bare", "--head"]).built_nothing();
    playground
        .run_in(&bare, &[&args[..], &["--manifest-path", "nowhere/Cargo.toml"]].concat())
        .ends(3, &["has no nowhere/Cargo.toml"]);
}

#[test]
fn package_beside_the_repository_is_built_with_and_said_to_have_no_revisions() {
    need_git!();
    let playground = Playground::probe();
    let beside = playground.repository.beside("sibling");
    std::fs::create_dir_all(beside.join("src")).expect("a temporary directory");
    let manifest = "[package]\nname = \"sibling\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    std::fs::write(beside.join("Cargo.toml"), manifest).expect("a temporary file");
    std::fs::write(beside.join("src/lib.rs"), "pub fn nothing() {}\n").expect("a temporary file");
    playground.configure("[dependencies]\nsibling = { path = \"../sibling\" }");
    let lib = std::fs::read_to_string(playground.root().join("src/lib.rs")).expect("the fixture has it");
    playground.write("src/lib.rs", format!("{lib}\npub use sibling::nothing;\n"));
    playground.repository.commit("with a sibling");
    playground.step_ms(40);
    let (ran, report) = playground.report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: tool"]).says("lies outside of the repository, so it has no revisions");
    assert!(report["warnings"].to_string().contains("sibling"), "{}", report["warnings"]);
    // Nothing of it stays behind.
    let slots = std::fs::read_dir(playground.cache()).expect("there is a cache");
    let slot = slots.flatten().next().expect("one repository").path().join("slot-00/head");
    assert!(slot.join("target").exists() && !slot.join("sibling").exists());
    assert!(beside.join("src/lib.rs").exists(), "only the link was removed");
}

#[test]
fn cargo_configuration_above_the_repository_holds_for_both_sides() {
    need_git!();
    let playground = Playground::probe();
    let lib = std::fs::read_to_string(playground.root().join("src/lib.rs")).expect("the fixture has it");
    playground.write("src/lib.rs", format!("{lib}\n#[cfg(not(outer))] compile_error!(\"not outer\");\n"));
    playground.repository.commit("needs a flag");
    let clone = playground.repository.clone_to("outer/clone", &[]);
    let config = playground.repository.beside("outer/.cargo/config.toml");
    std::fs::create_dir_all(config.parent().expect("it has one")).expect("a temporary directory");
    std::fs::write(&config, "[build]\nrustflags = [\"--cfg\", \"outer\"]\n").expect("a temporary file");
    let args = [&QUICK[..], &["--base", "HEAD", "--max-percent", "1000"]].concat();
    let ran = playground.run_in(&clone, &args);
    ran.ends(0, &[]).says("lies above the repository; both sides are built with it");
    // Where the repository's own configuration says something else, the order of the two changes.
    std::fs::create_dir(clone.join(".cargo")).expect("a temporary directory");
    std::fs::write(clone.join(".cargo/config.toml"), "build.rustflags = [\"--cfg\", \"inner\"]\n")
        .expect("a temporary file");
    playground.run_in(&clone, &args).ends(0, &[]).says("sets build.rustflags, as the repository's own");
}

#[test]
fn submodule_is_part_of_both_sides_at_the_commit_of_each() {
    need_git!();
    let playground = Playground::empty();
    let library = repository::TestRepository::empty();
    library.write("lib.rs", "pub const STEP_MS: u64 = 4;\n");
    library.commit("fast");
    let url = library.root().to_str().expect("temporary paths are UTF-8");
    playground.add_crate("probe", "");
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "vendored"];
    playground.repository.git(&add);
    playground.write(
        "src/lib.rs",
        "#[path = \"../vendored/lib.rs\"] mod vendored;\npub fn step() { \
         std::thread::sleep(std::time::Duration::from_millis(vendored::STEP_MS)) }\n",
    );
    playground.repository.commit("first");
    let inside = playground.root().join("vendored");
    std::fs::write(inside.join("lib.rs"), "pub const STEP_MS: u64 = 40;\n").expect("writable");
    playground.repository.git_in(&inside, &["commit", "-q", "-am", "slow"]);
    playground.repository.commit("second");
    let before = playground.state();
    playground.quick(&["--base", "HEAD~1", "--head", "HEAD"]).ends(1, &["1 regression: tool"]);
    // Uncommitted work in the submodule is part of head.
    std::fs::write(inside.join("lib.rs"), "pub const STEP_MS: u64 = 4;\n").expect("writable");
    playground
        .quick(&["--base", "HEAD~1", "--max-percent", "300"])
        .ends(0, &[])
        .says("with uncommitted changes");
    std::fs::write(inside.join("lib.rs"), "pub const STEP_MS: u64 = 40;\n").expect("writable");
    assert_eq!(playground.state(), before);
}

#[test]
fn sparse_and_shallow_clones_and_those_without_files_are_gated_like_whole_ones() {
    need_git!();
    let playground = Playground::probe();
    playground.write("docs/big.txt", "not needed");
    playground.repository.commit("docs");
    playground.step_ms(40);
    playground.repository.commit("slower");
    playground.repository.git(&["config", "uploadpack.allowFilter", "true"]);
    let args = [&QUICK[..], &["--base", "HEAD~1"]].concat();

    let sparse = playground.repository.clone_to("sparse", &["--sparse"]);
    playground.repository.git_in(&sparse, &["sparse-checkout", "set", "src", "benches"]);
    playground.run_in(&sparse, &args).ends(1, &["1 regression: tool"]);

    let partial = playground.repository.clone_to("partial", &["--filter=blob:none"]);
    playground.run_in(&partial, &args).ends(1, &["1 regression: tool"]).says("git fetched them");

    let shallow = playground.repository.clone_to("shallow", &["--depth", "2"]);
    playground.run_in(&shallow, &args).ends(1, &["1 regression: tool"]);
    playground
        .run_in(&shallow, &[&QUICK[..], &["--base", "HEAD~2"]].concat())
        .ends(3, &["the clone is shallow (depth 2)", "fetch-depth: 0", "git fetch --unshallow"])
        .built_nothing();
}

#[test]
fn file_that_is_edited_during_the_builds_is_named_in_the_report() {
    need_git!();
    let playground = Playground::probe();
    playground.write("notes/plan.txt", "as committed");
    // The editor at work, as far as the run can tell: it writes while head is built.
    let file = playground.root().join("notes/plan.txt");
    playground.write(
        "build.rs",
        format!("fn main() {{ std::fs::write({file:?}, format!(\"{{:?}}\", std::time::SystemTime::now())).unwrap() }}\n"),
    );
    playground.repository.commit("busy");
    let (ran, report) = playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(0, &[]).shows("the working tree was edited while it was built: notes/plan.txt;");
    assert!(report["warnings"].to_string().contains("notes/plan.txt"), "{}", report["warnings"]);
    assert_eq!(report["revisions"][1]["dirty"], false, "what was measured is the commit");
}

#[test]
fn build_script_that_asks_git_gets_the_commit_it_is_built_at() {
    need_git!();
    let playground = Playground::probe();
    let told = playground.repository.beside("told");
    playground.write(
        "build.rs",
        format!(
            "use std::io::Write as _;\nfn main() {{\n    let git = std::process::Command::new(\"git\").args([\"rev-parse\", \"HEAD\"]).output();\n    \
             let mut file = std::fs::File::options().append(true).create(true).open({told:?}).unwrap();\n    \
             file.write_all(&git.unwrap().stdout).unwrap();\n}}\n"
        ),
    );
    let base = playground.repository.commit("asks git");
    playground.write("src/more.rs", "");
    let head = playground.repository.commit("more");
    playground.quick(&["--base", "HEAD~1", "--max-percent", "1000"]).ends(0, &[]);
    let told = std::fs::read_to_string(told).expect("it was built");
    let mut commits: Vec<&str> = told.lines().collect();
    commits.sort_unstable();
    commits.dedup();
    let mut wanted = [base.as_str(), head.as_str()];
    wanted.sort_unstable();
    assert_eq!(commits, wanted);
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
