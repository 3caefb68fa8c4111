//! `ci` in the surroundings of CI systems, shards of one run, known slowdowns: the real binary on small repositories.

mod ci_support;
#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::path::Path;

use ci_support::{Event, SHORT, StepFiles, check_out, event_file, playground, pull_request};
use repository::need_git;
use serde_json::Value;
use support::{Playground, Ran, finish};

/// Runs `ci` in a directory with these variables.
fn ci(playground: &Playground, directory: &Path, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let mut command = playground.command_in(directory);
    command.args(["ci"]).args(args).envs(variables.iter().copied());
    finish(&mut command)
}

fn report(directory: &Path) -> Value {
    let path = directory.join("benchgate-report/report.json");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).expect("a report is JSON")
}

fn base_of(report: &Value) -> (&str, &str) {
    let base = &report["revisions"][0];
    (base["commit"].as_str().expect("it is a commit"), base["chosen_because"].as_str().unwrap_or_default())
}

fn on_github(playground: &Playground, directory: &Path, event: &Event<'_>, args: &[&str]) -> Ran {
    let files = StepFiles::new(&playground.repository.beside("runner"), event);
    let mut command = playground.command_in(directory);
    files.set(&mut command, event, directory);
    command.args(["ci"]).args(args);
    finish(&mut command)
}

#[test]
fn merge_of_a_pull_request_is_compared_with_its_first_parent_and_the_files_are_there_whatever_the_status() {
    need_git!();
    let playground = playground();
    let [base, head, merge] = pull_request(&playground, 40);
    let event = Event::pull_request(&base, &head, &merge, "owner/probe");
    let clone = check_out(&playground, "clone", &event);
    let before = playground.repository.git_in(&clone, &["status", "--porcelain"]);
    let ran = on_github(&playground, &clone, &event, &[]);
    ran.ends(1, &["1 regression: tool"]).says("GitHub Actions, event pull_request");
    let report = report(&clone);
    let (commit, because) = base_of(&report);
    assert_eq!(commit, base);
    assert!(because.contains("first parent"), "{because}");
    assert_eq!(report["revisions"][1]["commit"], *merge);
    assert_eq!(report["exit"]["code"], 1);
    let after = playground.repository.git_in(&clone, &["status", "--porcelain"]);
    assert_eq!(before, after, "the report is no change of the working tree");
}

#[test]
fn checkout_of_a_pull_requests_head_is_compared_with_its_merge_base_even_if_it_merged_main_last() {
    need_git!();
    let playground = playground();
    let fork_point = playground.repository.id("HEAD");
    let [base, _, merge] = pull_request(&playground, 5);
    // The head takes main in: it has two parents, and its first one is not where it left main.
    playground.repository.git(&["checkout", "-q", "change"]);
    playground.repository.git(&["merge", "-q", "--no-ff", "-m", "take main in", "main"]);
    let head = playground.repository.id("HEAD");
    let event = Event::pull_request(&base, &head, &merge, "a/fork");
    let clone = check_out(&playground, "clone", &event);
    playground.repository.git_in(&clone, &["checkout", "-q", &head]);
    let ran = on_github(&playground, &clone, &event, &["--dry-run"]);
    ran.ends(0, &[]);
    assert!(
        ran.stderr.contains("the merge base of HEAD with the target of the change, origin/main"),
        "{ran}"
    );
    assert!(ran.stderr.contains(&base[..10]), "main is what it took in last: {ran}");
    assert!(!ran.stdout.contains(&fork_point[..10]), "{ran}");
    assert!(!clone.join("benchgate-report").exists(), "a dry run leaves nothing");
}

#[test]
fn merge_group_is_compared_with_the_base_of_the_group() {
    need_git!();
    let playground = playground();
    let base = playground.repository.id("HEAD");
    playground.write("a.txt", "the first of the group");
    playground.repository.commit("one");
    playground.write("b.txt", "the second of the group");
    let head = playground.repository.commit("two");
    let file = event_file("merge_group.json", &[("BASE", &base), ("HEAD", &head)]);
    let event = Event { name: "merge_group", reference: "refs/heads/main", sha: &head, base_ref: "", file };
    let ran = on_github(&playground, playground.root(), &event, &["--dry-run"]);
    ran.ends(0, &[]).says("the commit the merge group is built on").says(&base[..10]);
}

#[test]
fn push_is_compared_with_the_commit_before_it_and_a_new_branch_by_the_default_rule() {
    need_git!();
    let playground = playground();
    let before = playground.repository.id("HEAD");
    for at in ["one", "two"] {
        playground.write("notes.txt", at);
        playground.repository.commit(at);
    }
    let head = playground.repository.id("HEAD");
    let push = |before: &str| {
        let file = event_file("push.json", &[("BEFORE", before), ("HEAD", &head)]);
        let event = Event { name: "push", reference: "refs/heads/main", sha: &head, base_ref: "", file };
        on_github(&playground, playground.root(), &event, &["--dry-run"])
    };
    push(&before).ends(0, &[]).says("the commit before this push").says(&before[..10]);
    push(&"0".repeat(40)).ends(0, &[]).says("HEAD is on the default branch");
}

#[test]
fn default_branch_of_another_name_is_known_from_the_event() {
    need_git!();
    let playground = playground();
    let fork_point = playground.repository.id("HEAD");
    playground.repository.git(&["branch", "-m", "main", "trunk"]);
    playground.repository.git(&["checkout", "-q", "-b", "change"]);
    playground.write("notes.txt", "on the branch");
    let head = playground.repository.commit("on the branch");
    let file = event_file("push.json", &[("BEFORE", &"0".repeat(40)), ("HEAD", &head)])
        .replace("\"default_branch\": \"main\"", "\"default_branch\": \"trunk\"");
    let event =
        Event { name: "workflow_dispatch", reference: "refs/heads/change", sha: &head, base_ref: "", file };
    let ran = on_github(&playground, playground.root(), &event, &["--dry-run"]);
    ran.ends(0, &[]).says("the merge base of HEAD with the default branch trunk").says(&fork_point[..10]);
}

#[test]
fn pull_request_target_is_refused_before_anything_runs() {
    need_git!();
    let playground = playground();
    let sha = playground.repository.id("HEAD");
    let event = Event {
        name: "pull_request_target",
        reference: "refs/heads/main",
        sha: &sha,
        base_ref: "main",
        file: "{}".to_owned(),
    };
    let ran = on_github(&playground, playground.root(), &event, &[]);
    ran.ends(3, &["refusing", "secrets", "cargo benchgate init --ci github"]).built_nothing();
    assert!(!playground.root().join("benchgate-report").exists());
}

#[test]
fn clone_without_the_base_names_the_fetch_and_the_depth() {
    need_git!();
    let playground = playground();
    let before = playground.repository.id("HEAD");
    playground.write("notes.txt", "more");
    let head = playground.repository.commit("more");
    let shallow = playground.repository.clone_to("shallow", &["--depth", "1"]);
    let file = event_file("merge_group.json", &[("BASE", &before), ("HEAD", &head)]);
    let event = Event { name: "merge_group", reference: "refs/heads/main", sha: &head, base_ref: "", file };
    let ran = on_github(&playground, &shallow, &event, &[]);
    ran.ends(3, &["git fetch --unshallow", "fetch-depth: 0"]).built_nothing();
}

#[test]
fn gitlab_merge_request_is_compared_with_the_base_of_its_diff() {
    need_git!();
    let playground = playground();
    let [_, head, _] = pull_request(&playground, 4);
    let diff_base = playground.repository.id("main~1");
    playground.repository.git(&["checkout", "-q", "--detach", &head]);
    let variables = [
        ("CI", "true"),
        ("GITLAB_CI", "true"),
        ("CI_PIPELINE_SOURCE", "merge_request_event"),
        ("CI_COMMIT_SHA", &head),
        ("CI_COMMIT_BEFORE_SHA", "0000000000000000000000000000000000000000"),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_MERGE_REQUEST_EVENT_TYPE", "detached"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &diff_base),
    ];
    let ran = ci(&playground, playground.root(), &variables, &["--dry-run"]);
    ran.ends(0, &[]).says("GitLab CI").says("the base of the merge request's diff").says(&diff_base[..10]);
}

#[test]
fn gitlab_merged_result_is_compared_with_its_first_parent() {
    need_git!();
    let playground = playground();
    let [base, _, merge] = pull_request(&playground, 4);
    let old = playground.repository.id("main~1");
    playground.repository.git(&["checkout", "-q", "--detach", &merge]);
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_PIPELINE_SOURCE", "merge_request_event"),
        ("CI_COMMIT_SHA", &merge),
        ("CI_MERGE_REQUEST_EVENT_TYPE", "merged_result"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &base),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &old),
    ];
    ci(&playground, playground.root(), &variables, &["--dry-run"]).ends(0, &[]).says(&base[..10]);
}

#[test]
fn benchgate_base_names_the_base_for_any_other_system_and_comes_before_the_suites() {
    need_git!();
    let playground = playground();
    playground.configure(&SHORT.replace("samples", "base = \"HEAD\"\nsamples"));
    let named = playground.repository.id("HEAD");
    playground.repository.commit("more");
    let ran = ci(&playground, playground.root(), &[("BENCHGATE_BASE", &named)], &["--dry-run"]);
    ran.ends(0, &[]).says("BENCHGATE_BASE names it").says(&named[..10]);
    // Without it, the suite's own.
    let ran = ci(&playground, playground.root(), &[], &["--dry-run"]);
    ran.ends(0, &[]).says("no CI system that is known").says("base and head hold the same files");
    let wrong = ci(&playground, playground.root(), &[("BENCHGATE_BASE", "nowhere")], &[]);
    wrong.ends(3, &["BENCHGATE_BASE names it", "no branch, tag or commit"]).built_nothing();
}

#[test]
fn outputs_go_to_the_named_directory_beside_those_that_were_asked_for() {
    need_git!();
    let playground = playground();
    playground.repository.commit("nothing changed");
    let csv = playground.repository.beside("own.csv");
    let flags = ["--output-dir", "out/deep", &format!("--format=csv={}", csv.display())];
    let ran = ci(&playground, playground.root(), &[("BENCHGATE_BASE", "HEAD~1")], &flags);
    ran.ends(0, &[]).shows("gate passed");
    assert!(csv.is_file() && playground.root().join("out/deep/report.json").is_file());
    assert!(ran.stderr.lines().all(|line| !line.contains('\r')), "plain lines: {ran}");
}

/// A crate with four targets, of which two get slower.
fn four_targets(step_ms: u64) -> Playground {
    let playground = Playground::empty();
    playground.add_crate("probe", "");
    let mut manifest = support::PROBE_MANIFEST.to_owned();
    let tool =
        std::fs::read_to_string(playground.root().join("benches/tool.rs")).expect("the fixture has it");
    for (name, slow) in [("b1", false), ("b2", true), ("b3", true)] {
        manifest.push_str(&format!("\n[[bench]]\nname = \"{name}\"\nharness = false\n"));
        let call = if slow { "probe::step()" } else { "std::thread::sleep(Duration::from_millis(4))" };
        playground.write(&format!("benches/{name}.rs"), tool.replacen("probe::step()", call, 1));
    }
    playground.write("Cargo.toml", format!("{manifest}\n{SHORT}\n"));
    playground.repository.commit("first");
    playground.step_ms(step_ms);
    playground.repository.commit("slower");
    playground
}

#[test]
fn shards_of_a_run_measure_each_benchmark_once_and_merge_into_its_one_verdict() {
    need_git!();
    let playground = four_targets(40);
    let file = |name: &str| playground.repository.beside(name).display().to_string();
    let shard = |part: &str, more: &[&str]| {
        let name = format!("shard{}.json", part.replace('/', "of"));
        let format = format!("--format=json={}", file(&name));
        let flags =
            ["--base", "HEAD~1", "--head", "HEAD", "--seed", "7", "--shard", part, &format, "--no-fail"];
        let ran = playground.run(&[&flags[..], more].concat());
        ran.ends(0, &[]);
        let text = std::fs::read(file(&name)).expect("it was written");
        serde_json::from_slice::<Value>(&text).expect("it is JSON")
    };
    let (one, two) = (shard("1/2", &[]), shard("2/2", &[]));
    let names = |report: &Value| -> Vec<String> {
        let all = report["benchmarks"].as_array().expect("an array");
        all.iter().map(|it| it["target"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(
        (names(&one), names(&two)),
        (vec!["b1".into(), "b3".into()], vec!["b2".into(), "tool".into()])
    );
    assert_eq!(one["suite"]["shard"]["index"], 1);
    assert_eq!(one["suite"]["shard"]["plan_sha256"], two["suite"]["shard"]["plan_sha256"]);

    let merged = file("merged.json");
    let ran = playground.run(&[
        "merge",
        &file("shard2of2.json"),
        &file("shard1of2.json"),
        &format!("--format=json={merged}"),
    ]);
    ran.ends(1, &["3 regressions: b2, b3, tool"]);
    let report: Value =
        serde_json::from_slice(&std::fs::read(&merged).expect("it was written")).expect("JSON");
    assert_eq!(report["suite"]["merged_shards"], 2);
    // The merged report is a report as any other: judged again it says the same.
    playground.run(&["judge", &merged]).ends(1, &["3 regressions: b2, b3, tool"]);
    playground.run(&["merge", &file("shard1of2.json")]).ends(3, &["shard 2 of 2 is missing"]);

    // By what they took: one slow benchmark weighs as much as many quick ones.
    let from = ["--shard-from", merged.as_str()];
    let (one, two) = (shard("1/3", &from), shard("2/3", &from));
    let three = shard("3/3", &from);
    let mut sizes = [names(&one).len(), names(&two).len(), names(&three).len()];
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 2], "three slow ones are on three machines, the quick one beside one of them");
    let slow = |report: &Value| names(report).iter().filter(|name| *name != "b1").count();
    assert_eq!([slow(&one), slow(&two), slow(&three)], [1, 1, 1]);
}

#[test]
fn shard_that_holds_nothing_is_green_and_one_that_cannot_be_is_refused() {
    need_git!();
    let playground = playground();
    playground.repository.commit("nothing changed");
    let ran = playground.quick(&["--base", "HEAD~1", "--shard", "2/2"]);
    ran.ends(0, &[]).says("there is nothing in shard 2/2: there is 1 benchmark in all");
    for shard in ["0/2", "3/2", "x", "1/0"] {
        playground.run(&["--shard", shard]).ends(3, &[]).built_nothing();
    }
    playground.run(&["--shard-from", "x.json"]).ends(3, &["--shard"]);
    playground
        .run(&["--shard", "1/2", "--shard-from", "absent.json"])
        .ends(3, &["absent.json"])
        .built_nothing();
}

#[test]
fn accepted_slowdown_passes_loudly_and_judging_the_report_again_agrees() {
    need_git!();
    let playground = playground();
    let accept = |until: &str, up_to: u32| {
        format!(
            "{SHORT}\n[[package.metadata.benchgate.accept]]\nbench = \"tool\"\nmetric = \"latency\"\n\
             up_to_percent = {up_to}\nreason = \"checked arithmetic\"\nuntil = \"{until}\"\n"
        )
    };
    // 4 ms to 40 ms is 900 % at the most: starting the program takes time of its own.
    playground.configure(&accept("2999-12-31", 1000));
    playground.step_ms(40);
    playground.repository.commit("slower");
    let json = playground.repository.beside("accepted.json").display().to_string();
    let flags = ["--base", "HEAD~1", "--head", "HEAD", "--format"];
    let ran = playground.run(&[&flags[..], &[&format!("json={json}")]].concat());
    ran.ends(0, &[])
        .shows("regression (accepted)")
        .shows("accepted up to 1000 % until 2999-12-31: checked arithmetic")
        .shows("1 regression accepted");
    playground.run(&["judge", &json]).ends(0, &[]).shows("regression (accepted)");

    playground.configure(&accept("2999-12-31", 20));
    playground.repository.commit("a lower ceiling");
    let ran = playground.run(&["--base", "HEAD~2", "--head", "HEAD"]);
    ran.ends(1, &["1 regression: tool"])
        .shows("beyond the 20 % accepted until 2999-12-31: checked arithmetic");

    playground.configure(&accept("2026-01-01", 1000));
    playground.repository.commit("an entry that has ended");
    let ran = playground.run(&["--base", "HEAD~3", "--head", "HEAD"]);
    ran.ends(1, &["1 regression: tool"])
        .shows("no longer accepted: up to 1000 % until 2026-01-01")
        .shows("ended on 2026-01-01");
}
