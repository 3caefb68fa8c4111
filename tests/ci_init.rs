//! `init` writes what it says and nothing else; the hook it installs stops a push for a regression alone.

mod ci_support;
#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use ci_support::{SHORT, playground};
use repository::{listing, make_executable, need_git};
use support::{Playground, Ran, finish};

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref())
        .unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

#[test]
fn init_alone_adds_a_table_of_comments_that_changes_nothing() {
    need_git!();
    let playground = Playground::probe();
    let manifest = read(playground.root().join("Cargo.toml"));
    let list = playground.run(&["list"]).stdout;
    let preview = playground.run(&["init", "--dry-run"]);
    preview.ends(0, &[]).shows("+[package.metadata.benchgate]").shows("--- ");
    assert_eq!(read(playground.root().join("Cargo.toml")), manifest, "a preview writes nothing");
    playground.run(&["init"]).ends(0, &[]).says("Wrote");
    let after = read(playground.root().join("Cargo.toml"));
    assert!(after.starts_with(&manifest) && after.contains("#target = \"tool\""));
    assert_eq!(playground.run(&["list"]).stdout, list, "every line is a comment");
    playground.run(&["init"]).ends(3, &["has [package.metadata.benchgate] already"]);
    playground.run(&["init", "--force"]).ends(3, &["already"]);
    assert_eq!(read(playground.root().join("Cargo.toml")), after);
}

#[test]
fn init_for_github_writes_two_workflows_once() {
    need_git!();
    let playground = Playground::probe();
    let before = listing(playground.root(), &[".git"]);
    playground.run(&["init", "--ci", "github", "--dry-run"]).ends(0, &[]).shows("+name: benchgate comment");
    assert_eq!(listing(playground.root(), &[".git"]), before);
    playground.run(&["init", "--ci", "github"]).ends(0, &[]);
    let workflow = playground.root().join(".github/workflows/benchgate.yml");
    let text = read(&workflow);
    assert!(text.contains("branches: [\"main\"]") && text.contains("run: cargo benchgate ci\n"), "{text}");
    let added = listing(playground.root(), &[".git"]).len() - before.len();
    assert_eq!(added, 2, "two files and no other");
    playground.run(&["init", "--ci", "github"]).ends(0, &[]).says("Unchanged");
    std::fs::write(&workflow, "mine").expect("it can be written");
    playground.run(&["init", "--ci", "github"]).ends(3, &["nothing is written", "benchgate.yml", "--force"]);
    assert_eq!(read(&workflow), "mine");
    playground.run(&["init", "--ci", "github", "--force"]).ends(0, &[]);
    assert_eq!(read(&workflow), text);
}

#[test]
fn init_for_a_crate_below_the_root_names_its_manifest() {
    need_git!();
    let playground = Playground::empty();
    playground.add_crate("probe", "crates/probe");
    playground.repository.commit("first");
    let below = playground.root().join("crates/probe");
    playground.run_in(&below, &["init", "--ci", "github"]).ends(0, &[]);
    let text = read(playground.root().join(".github/workflows/benchgate.yml"));
    assert!(text.contains("run: cargo benchgate ci --manifest-path crates/probe/Cargo.toml\n"), "{text}");
}

#[test]
fn init_for_gitlab_leaves_a_pipeline_that_is_there_alone_and_says_the_line_to_add() {
    need_git!();
    let playground = Playground::probe();
    playground.run(&["init", "--ci", "gitlab"]).ends(0, &[]);
    let pipeline = playground.root().join(".gitlab-ci.yml");
    assert_eq!(read(&pipeline), "include:\n  - local: .gitlab/benchgate.yml\n");
    let job = read(playground.root().join(".gitlab/benchgate.yml"));
    assert!(job.contains("GIT_DEPTH: \"0\"") && job.contains("cargo benchgate ci || status=$?\n"), "{job}");
    std::fs::write(&pipeline, "stages: [test]\n").expect("it can be written");
    let ran = playground.run(&["init", "--ci", "gitlab"]);
    ran.ends(0, &[])
        .says("include: [{ local: .gitlab/benchgate.yml }], or one more item where `include:` is there");
    assert_eq!(read(&pipeline), "stages: [test]\n");
}

/// A repository with a remote beside it, and the binary where its hook finds it.
struct Pushing {
    playground: Playground,
    programs: PathBuf,
}

impl Pushing {
    fn new() -> Self {
        let playground = playground();
        let remote = playground.repository.beside("remote.git");
        let path = remote.to_str().expect("made from text").to_owned();
        playground.repository.git(&["init", "-q", "--bare", "-b", "main", &path]);
        playground.repository.git(&["remote", "add", "origin", &path]);
        playground.repository.git(&["push", "-q", "origin", "main"]);
        let programs = playground.repository.beside("programs");
        std::fs::create_dir(&programs).expect("it is new");
        std::fs::copy(env!("CARGO_BIN_EXE_cargo-benchgate"), programs.join("cargo-benchgate"))
            .expect("it is built");
        Self { playground, programs }
    }

    /// Pushes with the user's surroundings, the hook included.
    fn push(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new("git");
        command.arg("push").args(args).current_dir(self.playground.root());
        self.playground.shield(&mut command);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([self.programs.clone()].into_iter().chain(std::env::split_paths(&path)));
        command.env("PATH", path.expect("no name has a colon")).envs(variables.iter().copied());
        finish(&mut command)
    }

    fn on_remote(&self, branch: &str) -> Option<String> {
        let remote = self.playground.repository.beside("remote.git");
        let args = ["rev-parse", "--verify", "-q", &format!("refs/heads/{branch}")];
        let output = self.playground.repository.try_git_in(&remote, &args);
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

#[test]
fn pre_push_hook_stops_a_regression_lets_all_else_go_on_and_can_be_removed() {
    need_git!();
    let pushing = Pushing::new();
    let playground = &pushing.playground;
    playground.run(&["init", "--hook", "pre-push"]).ends(0, &[]);
    let hook = playground.root().join(".git/hooks/pre-push");
    assert!(read(&hook).contains("cargo benchgate hook pre-push"));
    playground.run(&["init", "--hook", "pre-push"]).ends(0, &[]).says("Unchanged");

    // Two commits are pushed: what the remote has is the base, not the commit before the last.
    playground.step_ms(40);
    let slower = playground.repository.commit("slower");
    playground.write("notes.txt", "after it");
    playground.repository.commit("notes");
    let ran = pushing.push(&["origin", "main"], &[]);
    assert_ne!(ran.code, Some(0), "{ran}");
    ran.says("the push is stopped by a regression");
    assert_ne!(pushing.on_remote("main"), Some(slower));

    // What cannot be measured stops nothing; nor does a wish to skip, or a push without commits.
    playground.write("benches/tool.rs", "this is no Rust");
    let broken = playground.repository.commit("broken");
    let ran = pushing.push(&["origin", "main"], &[]);
    assert_eq!(ran.code, Some(0), "{ran}");
    ran.says("the push goes on");
    assert_eq!(pushing.on_remote("main"), Some(broken));
    let ran = pushing.push(&["origin", ":gone", "HEAD:refs/tags/v1"], &[("BENCHGATE_SKIP", "1")]);
    assert!(!ran.stderr.contains("Base"), "{ran}");
    let ran = pushing.push(&["origin", "HEAD:refs/tags/v2"], &[]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(!ran.stderr.contains("Base"), "a tag is not judged: {ran}");

    playground.run(&["init", "--remove-hook", "pre-push"]).ends(0, &[]).says("Removed");
    assert!(!hook.exists());
    playground.run(&["init", "--remove-hook", "pre-push"]).ends(0, &[]).says("there is no hook");
}

#[test]
fn hook_never_stops_a_push_for_what_it_could_not_tell_or_had_no_time_for() {
    need_git!();
    let pushing = Pushing::new();
    let playground = &pushing.playground;
    // Inconclusive fails everywhere else: three samples are too few for anything.
    let few =
        SHORT.replace("samples = 10", "max_samples = 20\nalso_fail_on = [\"inconclusive\", \"skipped\"]");
    playground.configure(&few);
    playground.step_ms(40);
    playground.repository.commit("slower");
    let null = "0000000000000000000000000000000000000000";
    let (local, remote) = (playground.repository.id("HEAD"), playground.repository.id("HEAD~1"));
    let hook = |list: &str, args: &[&str]| {
        let mut command = playground.command_in(playground.root());
        let file = playground.repository.beside("list.txt");
        std::fs::write(&file, list).expect("it can be written");
        let stdin = std::fs::File::open(&file).expect("it was just written");
        command.args(["hook", "pre-push"]).args(args).stdin(stdin);
        finish(&mut command)
    };
    let list = format!("refs/heads/main {local} refs/heads/main {remote}\n");
    hook(&list, &["--time-cap", "1ms"])
        .ends(0, &[])
        .says("the time cap of 1ms was reached; the push goes on");
    hook(&list, &["--max-time", "1ms", "--allow-partial"]).ends(0, &[]);
    // A remote commit that was never fetched is a push that git refuses itself.
    let unknown = format!("refs/heads/main {local} refs/heads/main {}\n", "12".repeat(20));
    hook(&unknown, &[]).ends(0, &[]).says("the push goes on");
    hook(&format!("(delete) {null} refs/heads/x {remote}\n"), &[]).ends(0, &[]).built_nothing();
    hook("", &[]).ends(0, &[]).built_nothing();
    hook(&list, &["--time-cap", "soon"]).ends(3, &["--time-cap soon"]);
}

#[test]
fn hook_of_another_kind_is_left_alone_and_the_line_to_add_is_said() {
    need_git!();
    let playground = Playground::probe();
    let hook = playground.root().join(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().expect("it has one")).expect("it can be made");
    std::fs::write(&hook, "#!/bin/sh\necho mine\n").expect("it can be written");
    make_executable(&hook);
    let ran = playground.run(&["init", "--hook", "pre-push"]);
    ran.ends(3, &["another pre-push hook", "cargo benchgate hook pre-push"]);
    playground.run(&["init", "--remove-hook", "pre-push"]).ends(0, &[]).says("left alone");
    assert_eq!(read(&hook), "#!/bin/sh\necho mine\n");
    std::fs::write(&hook, "#!/bin/sh\ncargo benchgate hook pre-push\n").expect("it can be written");
    playground.run(&["init", "--remove-hook", "pre-push"]).ends(3, &["by hand"]);
    // One of ours that was edited is somebody's work, too.
    std::fs::remove_file(&hook).expect("it is there");
    playground.run(&["init", "--hook", "pre-push"]).ends(0, &[]);
    std::fs::write(&hook, format!("{}echo more\n", read(&hook))).expect("it can be written");
    playground.run(&["init", "--hook", "pre-push"]).ends(3, &["was edited"]);
    playground.run(&["init", "--remove-hook", "pre-push"]).ends(3, &["was edited"]);
    playground.run(&["init", "--remove-hook", "pre-push", "--force"]).ends(0, &[]).says("Removed");
}

#[test]
fn hooks_path_of_the_repository_is_respected_and_a_shared_one_is_not_written_to() {
    need_git!();
    let playground = Playground::probe();
    playground.repository.git(&["config", "core.hooksPath", ".githooks"]);
    playground.run(&["init", "--hook", "pre-push"]).ends(0, &[]);
    assert!(playground.root().join(".githooks/pre-push").is_file());
    assert!(!playground.root().join(".git/hooks/pre-push").exists());
    playground.run(&["init", "--remove-hook", "pre-push"]).ends(0, &[]).says("Removed");
    let shared = playground.repository.beside("shared");
    playground.repository.git(&["config", "core.hooksPath", shared.to_str().expect("made from text")]);
    let ran = playground.run(&["init", "--hook", "pre-push"]);
    ran.ends(3, &["lies outside this repository", "cargo benchgate hook pre-push"]);
    assert!(!shared.exists());
}

#[test]
fn completions_are_made_for_every_shell_and_bash_takes_them() {
    need_git!();
    let playground = Playground::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        playground.run(&["completions", shell]).ends(0, &[]).shows("cargo-benchgate");
    }
    playground.run(&["completions", "tcsh"]).ends(3, &["tcsh"]);
    let script = playground.repository.beside("completions.bash");
    std::fs::write(&script, playground.run(&["completions", "bash"]).stdout).expect("it can be written");
    match Command::new("bash").arg("-n").arg(&script).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => println!("skipped in part: bash is not installed"),
    }
}

#[test]
fn doctor_says_a_line_a_check_and_fails_only_for_what_is_needed() {
    need_git!();
    let playground = Playground::probe();
    let ran = playground.run(&["doctor"]);
    ran.ends(0, &[]);
    for name in
        ["cargo", "toolchain", "git", "repository", "cache", "slots", "valgrind", "perf", "governor", "load"]
    {
        assert!(ran.stdout.lines().any(|line| line.split_whitespace().nth(1) == Some(name)), "{name}: {ran}");
    }
    let mut command = playground.command_in(playground.root());
    command.arg("doctor").env("PATH", playground.repository.beside("nothing")).env_remove("CARGO");
    finish(&mut command).ends(4, &["missing and needed: cargo"]).shows("missing  cargo");
    let file = playground.repository.beside("a-file");
    std::fs::write(&file, "").expect("it can be written");
    let outside = playground.repository.beside("home");
    let mut command = playground.command_in(&outside);
    command.arg("doctor");
    finish(&mut command).ends(0, &[]).shows("warn     repository");
}
