//! A checkout as GitHub's runner makes it: the clone, the variables, the event file.
#![allow(dead_code, unreachable_pub, reason = "each test program takes a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Playground;

/// Settings that make a run short; the probe sleeps, so no load on the machine hides its steps.
pub const SHORT: &str =
    "[package.metadata.benchgate]\nsamples = 10\nwarmup = 0\njudge = { preset = \"fixed\", max_cv = 0 }";

/// A playground whose crate is quick to measure, committed once on `main`.
pub fn playground() -> Playground {
    let playground = Playground::empty();
    playground.add_crate("probe", "");
    playground.configure(SHORT);
    playground.repository.commit("first");
    playground
}

/// Commits a slower crate on a branch, and merges it into `main` the way GitHub makes the merge of a pull request: on no
/// branch. Gives the ids of base, head and merge.
pub fn pull_request(playground: &Playground, step_ms: u64) -> [String; 3] {
    let repository = &playground.repository;
    repository.git(&["checkout", "-q", "-b", "change"]);
    playground.step_ms(step_ms);
    let head = repository.commit("the change");
    repository.git(&["checkout", "-q", "main"]);
    playground.write("other.txt", "what main got meanwhile");
    let base = repository.commit("meanwhile");
    repository.git(&["checkout", "-q", "--detach"]);
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge of the pull request", "change"]);
    let merge = repository.id("HEAD");
    repository.git(&["update-ref", "refs/pull/7/merge", "HEAD"]);
    repository.git(&["checkout", "-q", "main"]);
    [base, head, merge]
}

/// What GitHub says of a run.
pub struct Event<'a> {
    pub name: &'a str,
    pub reference: &'a str,
    /// The commit it runs for.
    pub sha: &'a str,
    /// The target of a pull request.
    pub base_ref: &'a str,
    /// What stands in its file.
    pub file: String,
}

impl<'a> Event<'a> {
    /// The merge of a pull request from the branch `change` of this repository into main.
    pub fn pull_request(base: &str, head: &str, merge: &'a str, repository: &str) -> Self {
        let values =
            [("BASE", base), ("HEAD", head), ("HEAD_BRANCH", "change"), ("HEAD_REPOSITORY", repository)];
        let file = event_file("pull_request.json", &values);
        Self { name: "pull_request", reference: "refs/pull/7/merge", sha: merge, base_ref: "main", file }
    }
}

/// A fixture with its `@NAME@`s filled in.
pub fn event_file(name: &str, values: &[(&str, &str)]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ci").join(name);
    let mut text = std::fs::read_to_string(path).expect("the fixture is there");
    for (key, value) in values {
        text = text.replace(&format!("@{key}@"), value);
    }
    assert!(!text.contains('@'), "{text}");
    text
}

/// Clones as GitHub's checkout does with `fetch-depth: 0`: every branch, no `origin/HEAD`, the commit of the run.
pub fn check_out(playground: &Playground, name: &str, event: &Event<'_>) -> PathBuf {
    let clone = playground.repository.beside(name);
    std::fs::create_dir(&clone).expect("it is new");
    let git = |args: &[&str]| playground.repository.git_in(&clone, args);
    let url = format!("file://{}", playground.root().display());
    git(&["init", "-q", "-b", "unborn"]);
    git(&["remote", "add", "origin", &url]);
    let commit = format!("+{}:refs/remotes/run/checkout", event.reference);
    git(&["fetch", "-q", "--prune", "origin", "+refs/heads/*:refs/remotes/origin/*", &commit]);
    match event.reference.strip_prefix("refs/heads/") {
        Some(branch) => {
            git(&["checkout", "-q", "--force", "-B", branch, &format!("refs/remotes/origin/{branch}")])
        }
        None => git(&["checkout", "-q", "--force", "refs/remotes/run/checkout"]),
    };
    assert_eq!(git(&["rev-parse", "HEAD"]), event.sha);
    clone
}

/// The files GitHub gives a step.
pub struct StepFiles {
    pub summary: PathBuf,
    pub output: PathBuf,
    event: PathBuf,
}

impl StepFiles {
    pub fn new(directory: &Path, event: &Event<'_>) -> Self {
        std::fs::create_dir_all(directory).expect("it can be made");
        let files = Self {
            summary: directory.join("summary.md"),
            output: directory.join("output.txt"),
            event: directory.join("event.json"),
        };
        std::fs::write(&files.event, &event.file).expect("it can be written");
        std::fs::write(&files.summary, "").expect("it can be written");
        std::fs::write(&files.output, "").expect("it can be written");
        files
    }

    /// Sets the documented variables. No token and no secret is among them, as for a fork.
    pub fn set(&self, command: &mut Command, event: &Event<'_>, workspace: &Path) {
        command
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", event.name)
            .env("GITHUB_EVENT_PATH", &self.event)
            .env("GITHUB_REF", event.reference)
            .env("GITHUB_SHA", event.sha)
            .env("GITHUB_BASE_REF", event.base_ref)
            .env("GITHUB_REPOSITORY", "owner/probe")
            .env("GITHUB_WORKSPACE", workspace)
            .env("GITHUB_STEP_SUMMARY", &self.summary)
            .env("GITHUB_OUTPUT", &self.output)
            .env("RUNNER_OS", "Linux");
    }
}

/// The formats this build writes, as it lists them itself.
pub fn formats(playground: &Playground) -> Vec<String> {
    let ran = playground.run(&["compare", "--format", "none-of-them"]);
    let list = ran.stderr.rsplit("formats are ").next().unwrap_or_default().trim();
    list.split(", ").map(str::to_owned).collect()
}
