//! The workflows that `init --ci github` writes, run step by step in clones made as GitHub's checkout makes them. Steps that
//! install something are stubbed; what others do is GitHub's own work, and is checked as far as the files say it.

#![allow(clippy::print_stdout, reason = "what is skipped is said")]

mod ci_support;
#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use ci_support::{Event, StepFiles, check_out, event_file, formats, playground, pull_request};
use repository::{make_executable, need_git};
use serde_json::Value;
use support::{Playground, Ran, finish};

/// A step of a job, as far as it is run here.
#[derive(Debug, Default, Clone)]
struct Step {
    name: String,
    uses: Option<String>,
    condition: Option<String>,
    run: Option<String>,
    /// Everything it says, for checks.
    text: String,
}

/// The steps of a workflow with one job. Reads the YAML our templates are written in, and no other.
fn steps(workflow: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = workflow.lines().skip_while(|line| line.trim() != "steps:").skip(1).peekable();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let entry = line.trim_start();
        if entry.is_empty() || entry.starts_with('#') {
            continue;
        }
        assert!(6 <= indent, "the steps are the end of the file: {line}");
        let entry = match entry.strip_prefix("- ") {
            Some(first) => {
                steps.push(Step::default());
                first
            }
            None => entry,
        };
        let step = steps.last_mut().expect("a list begins with an entry");
        step.text.push_str(line);
        step.text.push('\n');
        // What lies deeper is what an action is given.
        let Some((key, value)) = entry.split_once(':').filter(|_| indent <= 8) else { continue };
        let value = value.split(" #").next().unwrap_or_default().trim();
        match key {
            "name" => step.name = value.to_owned(),
            "uses" => step.uses = Some(value.to_owned()),
            "if" => step.condition = Some(value.to_owned()),
            "run" if value == "|" => {
                let mut script = String::new();
                while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with("          "))
                {
                    script.push_str(line.get(10..).unwrap_or_default());
                    script.push('\n');
                }
                step.run = Some(script);
            }
            "run" => step.run = Some(value.to_owned()),
            _ => {}
        }
    }
    steps
}

/// What came of a job.
struct Job {
    /// Each step that ran, with its status; those of GitHub have 0.
    ran: Vec<(String, i32)>,
    log: String,
}

impl Job {
    fn status(&self, step: &str) -> i32 {
        let found = self.ran.iter().find(|(name, _)| name == step);
        found.unwrap_or_else(|| panic!("{step} did not run: {:?}\n{}", self.ran, self.log)).1
    }
}

/// A machine with the tool on its PATH, and installers that only say what they were asked for.
struct Runner<'a> {
    playground: &'a Playground,
    programs: PathBuf,
    installed: PathBuf,
    stubs: PathBuf,
}

impl<'a> Runner<'a> {
    fn new(playground: &'a Playground) -> Self {
        let place = |name: &str| playground.repository.beside(name);
        let (programs, installed, stubs) = (place("programs"), place("installed.txt"), place("stubs.sh"));
        std::fs::create_dir(&programs).expect("it is new");
        std::fs::copy(env!("CARGO_BIN_EXE_cargo-benchgate"), programs.join("cargo-benchgate"))
            .expect("it is built");
        let log = installed.display();
        // Functions of the shell alone: the programs that the tool itself starts are the real ones.
        let functions = format!(
            "rustup() {{ echo \"rustup $*\" >> '{log}'; }}\n\
             cargo() {{ if [ \"$1\" = install ]; then echo \"cargo $*\" >> '{log}'; else command cargo \"$@\"; fi; }}\n"
        );
        std::fs::write(&stubs, functions).expect("it can be written");
        Self { playground, programs, installed, stubs }
    }

    /// Runs a script as GitHub runs a step without a shell of its own: `bash -e`.
    fn bash(&self, directory: &Path, script: &str, set: impl FnOnce(&mut Command)) -> Ran {
        let file = self.playground.repository.beside("step.sh");
        std::fs::write(&file, script).expect("it can be written");
        let mut command = Command::new("bash");
        command.arg("-e").arg(&file).current_dir(directory);
        self.playground.shield(&mut command);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([self.programs.clone()].into_iter().chain(std::env::split_paths(&path)));
        command.env("PATH", path.expect("no name has a colon")).env("BASH_ENV", &self.stubs);
        set(&mut command);
        finish(&mut command)
    }

    /// Runs the steps of the workflow in a clone, as GitHub does: after a failed one only those that ask for it.
    fn job(&self, clone: &Path, event: &Event<'_>, files: &StepFiles) -> Job {
        let workflow =
            std::fs::read_to_string(clone.join(".github/workflows/benchgate.yml")).expect("it is committed");
        let mut job = Job { ran: Vec::new(), log: String::new() };
        let mut failed = false;
        for step in steps(&workflow) {
            let always = match step.condition.as_deref() {
                None => false,
                Some("${{ !cancelled() }}") => true,
                Some(other) => panic!("a condition this test does not know: {other}"),
            };
            if failed && !always {
                continue;
            }
            let status = match &step.run {
                None => 0,
                Some(script) => {
                    assert!(!script.contains("${{"), "nothing of the event is put into a script: {script}");
                    let ran = self.bash(clone, script, |command| files.set(command, event, clone));
                    job.log.push_str(&ran.to_string());
                    ran.code.unwrap_or(-1)
                }
            };
            failed |= status != 0;
            job.ran.push((step.name, status));
        }
        job
    }
}

fn has_bash() -> bool {
    Command::new("bash").arg("--version").output().is_ok_and(|output| output.status.success())
}

macro_rules! need_bash {
    () => {
        need_git!();
        if !has_bash() {
            println!("skipped: bash is not installed");
            return;
        }
    };
}

/// A repository that has its workflows.
fn with_workflows() -> Playground {
    let playground = playground();
    playground.run(&["init", "--ci", "github"]).ends(0, &[]);
    playground.repository.commit("gate the benchmarks");
    playground
}

/// Checks the files that a run must leave, and gives the report.
fn check_files(playground: &Playground, clone: &Path, files: &StepFiles, failed: bool) -> Value {
    let formats = formats(playground);
    let writes = |format: &str| formats.iter().any(|known| known == format);
    let directory = clone.join("benchgate-report");
    for (format, file) in
        [("json", "report.json"), ("markdown", "comment.md"), ("html", "report.html"), ("junit", "junit.xml")]
    {
        if writes(format) {
            let bytes = std::fs::read(directory.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(!bytes.is_empty(), "{file}");
        } else {
            println!("skipped in part: this build writes no {format}");
        }
    }
    if writes("markdown") {
        let comment = std::fs::read_to_string(directory.join("comment.md")).expect("it was just read");
        assert!(
            comment.contains("<!-- benchgate:start -->"),
            "the second workflow finds its comment by this: {comment}"
        );
        assert!(comment.len() <= 65_536, "GitHub takes no longer one");
    }
    if writes("github") {
        let summary = std::fs::read_to_string(&files.summary).expect("GitHub made it");
        let output = std::fs::read_to_string(&files.output).expect("GitHub made it");
        assert!(summary.contains("tool"), "{summary}");
        let code = format!("exit_code={}\n", i32::from(failed));
        assert!(output.contains(&code), "{output}");
    }
    let bytes = std::fs::read(directory.join("report.json")).expect("it is always written");
    serde_json::from_slice(&bytes).expect("a report is JSON")
}

#[test]
fn workflows_pin_their_actions_ask_for_the_least_rights_and_fetch_the_base() {
    need_git!();
    let playground = with_workflows();
    let read = |name: &str| {
        std::fs::read_to_string(playground.root().join(".github/workflows").join(name))
            .expect("it is written")
    };
    let (measuring, commenting) = (read("benchgate.yml"), read("benchgate-comment.yml"));
    let steps_of = [steps(&measuring), steps(&commenting)];
    for step in steps_of.iter().flatten() {
        if let Some(action) = &step.uses {
            let version =
                action.strip_prefix("actions/").and_then(|name| name.split_once("@v")).map(|(_, it)| it);
            assert!(
                version.is_some_and(|it| it.parse::<u32>().is_ok()),
                "{action}: GitHub's own, by its major version"
            );
        }
        assert!(step.uses.is_some() != step.run.is_some(), "{step:?}");
    }
    let check_out = &steps_of[0][0];
    assert!(
        check_out.text.contains("fetch-depth: 0") && check_out.text.contains("persist-credentials: false")
    );
    assert!(measuring.contains("permissions:\n  contents: read\n") && !measuring.contains("write"));
    assert!(!measuring.contains("secrets.") && !measuring.contains("pull_request_target"));
    let order: Vec<&str> = steps_of[0].iter().map(|step| step.name.as_str()).collect();
    let at =
        |name: &str| order.iter().position(|it| *it == name).unwrap_or_else(|| panic!("{name}: {order:?}"));
    assert!(at("Cache crates and the builds of base") < at("Compare with the base"));
    assert_eq!(at("Keep the report"), order.len() - 1);
    let install = steps_of[0][at("Install cargo-benchgate")].run.as_deref();
    assert!(install.is_some_and(|run| run.starts_with("cargo install cargo-benchgate --locked --version ")));
    // The second one may write, so it runs nothing of the change and builds nothing.
    assert!(commenting.contains("workflows: [benchgate]") && !commenting.contains("checkout"));
    assert!(commenting.contains("permissions: {}\n") && commenting.contains("pull-requests: write"));
}

#[test]
fn pull_request_with_a_slowdown_fails_the_job_after_the_report_is_kept() {
    need_bash!();
    let playground = with_workflows();
    let runner = Runner::new(&playground);
    let [base, head, merge] = pull_request(&playground, 40);
    let event = Event::pull_request(&base, &head, &merge, "owner/probe");
    let clone = check_out(&playground, "clone", &event);
    let files = StepFiles::new(&playground.repository.beside("runner"), &event);
    let job = runner.job(&clone, &event, &files);
    assert_eq!(job.status("Compare with the base"), 1, "{}", job.log);
    assert_eq!(job.status("Keep the report"), 0, "it is kept whatever the status");
    let report = check_files(&playground, &clone, &files, true);
    assert_eq!((&report["revisions"][0]["commit"], &report["exit"]["code"]), (&base.into(), &1.into()));
    let installed = std::fs::read_to_string(&runner.installed).expect("the stubs write it");
    assert!(
        installed.contains("rustup toolchain install stable")
            && installed.contains("cargo install cargo-benchgate")
    );
}

#[test]
fn pull_request_of_a_fork_needs_no_secret_and_passes_where_nothing_got_slower() {
    need_bash!();
    let playground = with_workflows();
    let runner = Runner::new(&playground);
    let [base, head, merge] = pull_request(&playground, 4);
    let event = Event::pull_request(&base, &head, &merge, "stranger/probe");
    let clone = check_out(&playground, "clone", &event);
    let files = StepFiles::new(&playground.repository.beside("runner"), &event);
    let job = runner.job(&clone, &event, &files);
    assert_eq!(job.status("Compare with the base"), 0, "{}", job.log);
    let report = check_files(&playground, &clone, &files, false);
    assert_eq!(report["revisions"][0]["commit"], *base);
}

#[test]
fn push_and_merge_group_are_compared_with_what_was_there_before_them() {
    need_bash!();
    let playground = with_workflows();
    let runner = Runner::new(&playground);
    let base = playground.repository.id("HEAD");
    playground.write("notes.txt", "one");
    playground.repository.commit("one");
    playground.write("notes.txt", "two");
    let head = playground.repository.commit("two");
    let push = event_file("push.json", &[("BEFORE", &base), ("HEAD", &head)]);
    let group = event_file("merge_group.json", &[("BASE", &base), ("HEAD", &head)]);
    let queue = format!("refs/heads/gh-readonly-queue/main/pr-7-{base}");
    playground.repository.git(&["update-ref", &queue, &head]);
    for (name, reference, file) in [("push", "refs/heads/main", push), ("merge_group", queue.as_str(), group)]
    {
        let event = Event { name, reference, sha: &head, base_ref: "", file };
        let clone = check_out(&playground, name, &event);
        let files = StepFiles::new(&playground.repository.beside(&format!("{name}-runner")), &event);
        let job = runner.job(&clone, &event, &files);
        assert_eq!(job.status("Compare with the base"), 0, "{name}: {}", job.log);
        let report = check_files(&playground, &clone, &files, false);
        assert_eq!(report["revisions"][0]["commit"], *base, "{name}");
    }
}

#[test]
fn failing_build_fails_the_job_with_its_own_status() {
    need_bash!();
    let playground = with_workflows();
    let runner = Runner::new(&playground);
    let base = playground.repository.id("HEAD");
    playground.write("benches/tool.rs", "this is no Rust");
    let head = playground.repository.commit("broken");
    let file = event_file("push.json", &[("BEFORE", &base), ("HEAD", &head)]);
    let event = Event { name: "push", reference: "refs/heads/main", sha: &head, base_ref: "", file };
    let clone = check_out(&playground, "clone", &event);
    let files = StepFiles::new(&playground.repository.beside("runner"), &event);
    let job = runner.job(&clone, &event, &files);
    assert_eq!(job.status("Compare with the base"), 4, "{}", job.log);
}

/// Runs the step that posts, with a `gh` that tells what it was asked.
fn post(runner: &Runner<'_>, number: &str, comment: &str, body: Option<&str>) -> (Ran, String) {
    let place = runner.playground.repository.beside("comment-job");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(place.join("benchgate-report")).expect("it can be made");
    if let Some(body) = body {
        std::fs::write(place.join("benchgate-report/comment.md"), body).expect("it can be written");
    }
    let asked = place.join("asked.txt");
    let gh = runner.programs.join("gh");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> '{}'\ncase \"$*\" in\n  *\" repos/owner/probe/pulls \"*) echo '{number}' ;;\n  \
         *--paginate*) printf '%s' '{comment}' ;;\nesac\n",
        asked.display()
    );
    std::fs::write(&gh, script).expect("it can be written");
    make_executable(&gh);
    let workflow = runner.playground.root().join(".github/workflows/benchgate-comment.yml");
    let steps = steps(&std::fs::read_to_string(workflow).expect("it is written"));
    let step = steps.iter().find(|step| step.name == "Post or replace the comment").expect("it has one");
    let script = step.run.as_deref().expect("it is a script");
    assert!(!script.contains("${{"), "a branch's name is no part of the script: {script}");
    let ran = runner.bash(&place, script, |command| {
        command
            .env("GH_TOKEN", "token")
            .env("REPOSITORY", "owner/probe")
            .env("HEAD_OWNER", "stranger")
            .env("HEAD_BRANCH", "a'branch $(touch broken) `touch broken`")
            .env("HEAD_SHA", "c0ffee");
    });
    assert!(!place.join("broken").exists(), "a branch's name was run");
    (ran, std::fs::read_to_string(&asked).unwrap_or_default())
}

#[test]
fn comment_is_posted_once_and_replaced_afterwards_on_the_pull_request_github_names() {
    need_bash!();
    let playground = with_workflows();
    let runner = Runner::new(&playground);
    let body = Some("<!-- benchgate:start -->\nfine\n<!-- benchgate:end -->\n");

    let (ran, asked) = post(&runner, "7", "", body);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(asked.contains("-f head=stranger:a'branch $(touch broken)"), "{asked}");
    assert!(
        asked.contains(
            "--method POST repos/owner/probe/issues/7/comments -F body=@benchgate-report/comment.md"
        ),
        "{asked}"
    );

    let (ran, asked) = post(&runner, "7", "4711\n4712\n", body);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(asked.contains("--method PATCH repos/owner/probe/issues/comments/4711 -F body=@"), "{asked}");
    assert!(!asked.contains("POST"), "{asked}");

    let (ran, asked) = post(&runner, "", "", body);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(!asked.contains("POST") && !asked.contains("PATCH"), "no pull request has that commit: {asked}");

    let (ran, asked) = post(&runner, "7", "", None);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(asked.is_empty(), "a run without a report has no comment: {asked}");
}

#[test]
fn job_for_gitlab_keeps_the_status_and_gives_the_cache_back() {
    need_bash!();
    let playground = playground();
    playground.run(&["init", "--ci", "gitlab"]).ends(0, &[]);
    let base = playground.repository.commit("gate the benchmarks");
    let runner = Runner::new(&playground);
    let job =
        std::fs::read_to_string(playground.root().join(".gitlab/benchgate.yml")).expect("it is written");
    let place = playground.repository.beside("of-the-job").display().to_string();
    let job = job.replace("/tmp/benchgate", &place);
    let section = |name: &str| -> String {
        let lines = job.lines().skip_while(|line| line.trim() != format!("{name}:")).skip(1);
        let lines = lines
            .take_while(|line| line.starts_with("    "))
            .filter(|line| !line.trim_start().starts_with('#'));
        lines
            .map(|line| format!("{}\n", line.trim_start().trim_start_matches("- ").trim_start_matches('|')))
            .collect()
    };
    for (step_ms, status) in [(4, 0), (40, 1)] {
        playground.step_ms(step_ms);
        let head = playground.repository.commit("the change");
        let script = format!("{}{}", section("before_script"), section("script"));
        let ran = runner.bash(playground.root(), &script, |command| {
            command
                .env("CI", "true")
                .env("GITLAB_CI", "true")
                .env("CI_PIPELINE_SOURCE", "merge_request_event")
                .env("CI_COMMIT_SHA", &head)
                .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base)
                .env("BENCHGATE_CACHE_DIR", format!("{place}/cache"));
        });
        assert_eq!(ran.code, Some(status), "{ran}");
        assert!(playground.root().join(".benchgate-cache/cache").is_dir(), "the next job finds it: {ran}");
        assert!(playground.root().join("benchgate-report/report.json").is_file(), "{ran}");
    }
}
