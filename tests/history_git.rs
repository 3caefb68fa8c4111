//! Histories of a repository: the order of its commits, other branches, and the way to another clone.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "history_support/mod.rs"]
mod history_support;
#[path = "common/repository.rs"]
mod repository;

use std::path::Path;

use history_support::{Ran, Side, head_report, history, minute, report, scattered};
use repository::{TestRepository, need_git};
use serde_json::Value;

/// Stores a report in the default place of a repository.
fn add(repository: &TestRepository, cwd: &Path, report: &Value) {
    let path = repository.beside("report.json");
    std::fs::write(&path, report.to_string()).unwrap();
    history(cwd, &["add", path.to_str().unwrap()]).ok();
}

fn record(repository: &TestRepository, number: usize, commit: &str, value: f64) {
    add(repository, repository.root(), &head_report(&minute(number), commit, value));
}

fn run(repository: &TestRepository, arguments: &[&str]) -> Ran {
    history(repository.root(), arguments)
}

fn commits(repository: &TestRepository) -> Vec<String> {
    let shown = run(repository, &["show", "t/b", "--format", "json"]).ok().json();
    shown["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["commit"].as_str().unwrap().to_owned())
        .collect()
}

/// A repository with so many commits on main, each recorded.
fn recorded(count: usize) -> (TestRepository, Vec<String>) {
    let repository = TestRepository::empty();
    let mut ids = Vec::new();
    for (number, value) in scattered(count, 1000.0).into_iter().enumerate() {
        repository.write("file", number.to_string());
        ids.push(repository.commit(&format!("change {number}")));
        record(&repository, number, &ids[number], value);
    }
    (repository, ids)
}

#[test]
fn default_place_is_the_common_git_directory_of_all_worktrees() {
    need_git!();
    let (repository, ids) = recorded(2);
    assert!(repository.root().join(".git/benchgate/history/reports").is_dir());
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    let linked = repository.beside("linked");
    repository.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap(), "HEAD"]);
    let shown = history(&linked, &["show", "t/b", "--format", "json"]).ok().json();
    assert_eq!(shown["points"].as_array().unwrap().len(), ids.len());
}

#[test]
fn commits_are_in_first_parent_order_whatever_their_clocks_and_run_times_say() {
    need_git!();
    let repository = TestRepository::empty();
    let mut ids = Vec::new();
    // A clock that went back, two commits of one second, and a clock of the far future.
    for (number, date) in
        ["2026-03-01", "2025-01-01", "2025-01-01", "2037-01-01", "2026-01-01"].iter().enumerate()
    {
        repository.write("file", number.to_string());
        repository.git(&["add", "-A"]);
        let date = format!("{date}T00:00:00+00:00");
        let message = format!("change {number}");
        let config = [
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.com",
            "commit",
            "-q",
            "-m",
            &message,
            "--date",
            &date,
        ];
        let output = std::process::Command::new("git")
            .args(config)
            .current_dir(repository.root())
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success());
        ids.push(repository.id("HEAD"));
    }
    for number in [3, 0, 4, 2, 1] {
        record(&repository, 10 - number, &ids[number], 1000.0 + number as f64);
    }
    assert_eq!(commits(&repository), ids);
}

#[test]
fn other_branches_and_rewritten_commits_are_left_out_and_said() {
    need_git!();
    let (repository, ids) = recorded(4);
    repository.git(&["checkout", "-q", "-b", "topic"]);
    repository.write("file", "topic");
    let topic = repository.commit("on a topic");
    record(&repository, 20, &topic, 1.0);
    assert_eq!(commits(&repository), ids);
    // The last commit of main is rewritten.
    repository.git(&["checkout", "-q", "main"]);
    repository.write("file", "amended");
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-q", "--amend", "-m", "change 3, again"]);
    let amended = repository.id("HEAD");
    record(&repository, 21, &amended, 1000.0);
    let left = [&ids[..3], &[amended]].concat();
    assert_eq!(commits(&repository), left);
    let text = run(&repository, &["status"]).ok().stdout;
    assert!(
        text.contains("left out 2 results of commits that are not on the first-parent line of main"),
        "{text}"
    );
    let of_topic = run(&repository, &["show", "t/b", "--branch", "topic", "--format", "json"]).ok().json();
    assert_eq!(of_topic["points"].as_array().unwrap().len(), 5);
}

#[test]
fn merged_commits_are_not_on_the_line_and_the_merge_is() {
    need_git!();
    let (repository, ids) = recorded(2);
    repository.git(&["checkout", "-q", "-b", "topic"]);
    repository.write("other", "x");
    let topic = repository.commit("on a topic");
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    let merge = repository.id("HEAD");
    record(&repository, 10, &topic, 1.0);
    record(&repository, 11, &merge, 1000.0);
    assert_eq!(commits(&repository), [&ids[..], &[merge]].concat());
}

#[test]
fn base_of_a_pull_request_is_a_result_of_its_own_commit() {
    need_git!();
    let (repository, ids) = recorded(3);
    repository.git(&["checkout", "-q", "-b", "topic"]);
    repository.write("file", "topic");
    let topic = repository.commit("on a topic");
    let sides = [
        Side { name: "base", commit: &ids[2], dirty: false, values: &[1000.0] },
        Side { name: "head", commit: &topic, dirty: false, values: &[1500.0] },
    ];
    add(&repository, repository.root(), &report(&minute(30), &sides));
    assert_eq!(commits(&repository), [&ids[..], &[ids[2].clone()]].concat());
}

#[test]
fn step_names_the_commits_between_and_the_bisect_command() {
    need_git!();
    let repository = TestRepository::empty();
    let mut ids = Vec::new();
    for number in 0..30 {
        repository.write("file", number.to_string());
        ids.push(repository.commit(&format!("change {number}")));
    }
    for number in (0..30).step_by(3) {
        let level = if number < 15 { 1000.0 } else { 1300.0 };
        record(&repository, number, &ids[number], level * scattered(30, 1.0)[number]);
    }
    let text = run(&repository, &["show", "t/b"]).ok().stdout;
    assert!(text.contains("2 commits lie between the two that were measured"), "{text}");
    let command =
        format!("cargo benchgate bisect t/b {} {} -p p --metric latency", &ids[12][..10], &ids[15][..10]);
    assert!(text.contains(&format!("{command}\n")), "{text}");
    // A smaller change must be looked for by name; what got better, or is a variant, bisect cannot follow.
    let bisect = |more: &[&str]| {
        let shown = run(&repository, &[&["show", "t/b", "--format", "json"], more].concat()).ok().json();
        shown["change_points"][0]["bisect"].clone()
    };
    assert_eq!(bisect(&["--min-change", "3%"]), format!("{command} --threshold 3%"));
    // Commits from before a renaming do not know the name of now.
    let rekey = ["rekey", "--from", "id=b", "--to", "id=renamed", "--reason", "moved"];
    run(&repository, &rekey).ok();
    let renamed = run(&repository, &["show", "t/renamed"]).ok().stdout;
    assert!(renamed.contains("worse:") && !renamed.contains("benchgate bisect"), "{renamed}");
    run(&repository, &[&rekey[..], &["--undo"]].concat()).ok();
    // A mark on a commit in between counts from the first measured one on.
    run(&repository, &["mark", "t/b", &ids[13], "--reason", "accepted"]).ok();
    let shown = run(&repository, &["show", "t/b", "--format", "json"]).ok().json();
    assert_eq!(shown["points"][5]["mark"], true);
    assert_eq!(shown["points"][4]["mark"], false);
}

#[test]
fn status_of_a_history_that_nobody_pulled_or_of_a_shallow_clone_is_not_green() {
    need_git!();
    let (repository, _) = recorded(3);
    let url = format!("file://{}", repository.root().display());
    let clone = repository.beside("shallow");
    repository.git(&["clone", "-q", "--depth", "1", &url, clone.to_str().unwrap()]);
    let status = || history(&clone, &["status", "--fail-on", "regressed"]);
    let last = |ran: &Ran| ran.stderr.lines().last().unwrap().to_owned();
    let missing = status();
    assert_eq!(missing.code, 6, "{}", missing.stderr);
    assert!(last(&missing).contains("history pull REMOTE"), "{}", missing.stderr);
    // The newest commit, the one that the clone has, is not measured.
    repository.write("file", "new");
    repository.commit("not measured");
    repository.git_in(&clone, &["fetch", "-q", "--depth", "1", "origin", "main"]);
    repository.git_in(&clone, &["reset", "-q", "--hard", "FETCH_HEAD"]);
    let copied = clone.join(".git/benchgate");
    std::fs::create_dir_all(&copied).unwrap();
    std::fs::rename(repository.root().join(".git/benchgate/history"), copied.join("history")).unwrap();
    let cut = status();
    assert_eq!(cut.code, 6, "{}", cut.stderr);
    assert!(last(&cut).contains("not on the first-parent line"), "{}", cut.stderr);
}

#[test]
fn status_of_a_clone_whose_cut_leaves_results_out_may_not_pass() {
    need_git!();
    let (repository, _) = recorded(14);
    let url = format!("file://{}", repository.root().display());
    let clone = repository.beside("cut");
    repository.git(&["clone", "-q", "--depth", "3", &url, clone.to_str().unwrap()]);
    let place = repository.root().join(".git/benchgate/history");
    let status =
        |more: &[&str]| history(&clone, &[&["status", "--history", place.to_str().unwrap()], more].concat());
    let cut = status(&["--fail-on", "regressed"]);
    assert_eq!(cut.code, 6, "{}", cut.stderr);
    assert!(cut.stderr.lines().last().unwrap().contains("git fetch --unshallow"), "{}", cut.stderr);
    assert_eq!(status(&["--fail-on", "insufficient"]).code, 1);
    let unknown = run(&repository, &["explain", "t/b", "nosuch"]);
    assert_eq!(unknown.code, 3);
    assert!(unknown.stderr.contains("unknown revision nosuch"), "{}", unknown.stderr);
    status(&[]).ok();
    repository.git_in(&clone, &["fetch", "-q", "--unshallow"]);
    status(&["--fail-on", "regressed"]).ok();
}

#[test]
fn imported_result_of_another_branch_is_left_out_and_of_a_commit_nobody_knows_it_is_not() {
    need_git!();
    let (repository, _) = recorded(2);
    repository.git(&["checkout", "-q", "-b", "topic"]);
    repository.write("file", "topic");
    let topic = repository.commit("on a topic");
    repository.git(&["checkout", "-q", "main"]);
    let table = repository.beside("table.csv");
    let text = format!(
        "commit,timestamp,benchmark,metric,unit,value\n{topic},1,x,latency,ns,1\nother,2,x,latency,ns,2\n"
    );
    std::fs::write(&table, text).unwrap();
    run(&repository, &["import", table.to_str().unwrap()]).ok();
    let shown = run(&repository, &["show", "x", "--format", "json"]).ok().json();
    assert_eq!(shown["points"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&shown["points"][0]["commit"], &shown["left_out"]["off_branch"]),
        (&"other".into(), &1.into())
    );
}

#[test]
fn mark_means_the_name_of_the_history_before_a_tag_of_that_name_and_series_that_there_are() {
    need_git!();
    let (repository, ids) = recorded(2);
    let table = repository.beside("table.csv");
    std::fs::write(&table, "commit,timestamp,benchmark,metric,unit,value\nv1,1,x,latency,ns,1\n").unwrap();
    run(&repository, &["import", table.to_str().unwrap()]).ok();
    repository.git(&["tag", "v1", &ids[0]]);
    repository.git(&["tag", "v2", &ids[1]]);
    let marked = |commit: &str, more: &[&str]| {
        let mut all = vec!["mark", "*", commit, "--reason", "accepted"];
        all.extend(more);
        run(&repository, &all)
    };
    assert!(marked("v1", &[]).ok().stderr.contains("at v1 (2 series)"));
    assert!(marked("v2", &[]).ok().stderr.contains(&ids[1]));
    let refused = marked("v2", &["--metric", "latancy"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("--metric latancy"), "{}", refused.stderr);
}

#[test]
fn history_pushed_from_one_clone_and_pulled_in_another_gives_the_same_bytes() {
    need_git!();
    let (repository, ids) = recorded(14);
    let remote = repository.beside("remote.git");
    repository.git(&["init", "-q", "--bare", "-b", "main", remote.to_str().unwrap()]);
    let url = format!("file://{}", remote.display());
    repository.git(&["push", "-q", &url, "main"]);
    run(&repository, &["mark", "t/b", &ids[5], "--reason", "accepted"]).ok();
    let pushed = run(&repository, &["push", &url]).ok();
    assert!(pushed.stderr.contains("15 files"), "{}", pushed.stderr);
    let clone = repository.beside("clone");
    repository.git(&["clone", "-q", &url, clone.to_str().unwrap()]);
    history(&clone, &["pull", "origin"]).ok();
    for format in ["terminal", "json"] {
        let ours = run(&repository, &["status", "--branch", "main", "--format", format]).ok().stdout;
        let theirs = history(&clone, &["status", "--branch", "main", "--format", format]).ok().stdout;
        assert_eq!(ours, theirs);
        let ours = run(&repository, &["show", "t/b", "--branch", "main", "--format", format]).ok().stdout;
        let theirs = history(&clone, &["show", "t/b", "--branch", "main", "--format", format]).ok().stdout;
        assert_eq!(ours, theirs);
    }
    // Nothing but the ref of the history is touched.
    assert_eq!(repository.git_in(&clone, &["status", "--porcelain"]), "");
    let refs = repository.git_in(&remote, &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/benchgate/history\nrefs/heads/main");
}

#[test]
fn pushes_of_two_clones_are_united_and_pushing_again_moves_nothing() {
    need_git!();
    let (repository, ids) = recorded(3);
    let remote = repository.beside("remote.git");
    repository.git(&["init", "-q", "--bare", "-b", "main", remote.to_str().unwrap()]);
    let url = format!("file://{}", remote.display());
    repository.git(&["push", "-q", &url, "main"]);
    let clone = repository.beside("clone");
    repository.git(&["clone", "-q", &url, clone.to_str().unwrap()]);
    add(&repository, &clone, &head_report(&minute(60), &ids[1], 1001.0));
    run(&repository, &["push", &url]).ok();
    history(&clone, &["push", "origin"]).ok();
    assert!(run(&repository, &["push", &url]).ok().stderr.contains("0 files"));
    run(&repository, &["pull", &url]).ok();
    history(&clone, &["pull", "origin"]).ok();
    let count = |cwd: &Path| {
        history(cwd, &["show", "t/b", "--branch", "main", "--format", "json"]).ok().json()["points"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((count(repository.root()), count(&clone)), (4, 4));
}

#[test]
fn remote_without_a_history_and_remote_that_is_not_there() {
    need_git!();
    let (repository, _) = recorded(1);
    let remote = repository.beside("remote.git");
    repository.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    let url = format!("file://{}", remote.display());
    assert!(run(&repository, &["pull", &url]).ok().stderr.contains("0 files"));
    let missing = run(&repository, &["push", "file:///no/such/remote"]);
    assert_eq!(missing.code, 4);
    assert!(
        missing.stderr.contains("failed to list the history of file:///no/such/remote"),
        "{}",
        missing.stderr
    );
}

#[test]
fn files_on_the_ref_that_are_no_history_are_left_out_and_none_leaves_the_store() {
    need_git!();
    let (repository, _) = recorded(1);
    let remote = repository.beside("remote.git");
    repository.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    let url = format!("file://{}", remote.display());
    repository.git(&["checkout", "-q", "--orphan", "foreign"]);
    repository.write("README.md", "no history\n");
    repository.write("reports/2026-01/20260101T000000Z-none-0123456789abcdef.json", "{}");
    repository.write("reports/.hidden/x.json", "{}");
    repository.commit("foreign files");
    repository.git(&["push", "-q", &url, "foreign:refs/benchgate/history"]);
    repository.git(&["checkout", "-q", "main"]);
    let pulled = run(&repository, &["pull", &url]).ok();
    assert!(pulled.stderr.contains("0 files"), "{}", pulled.stderr);
    assert!(pulled.stderr.contains("README.md: it is no file of a history"), "{}", pulled.stderr);
    assert!(pulled.stderr.contains("its content is not what its name says"), "{}", pulled.stderr);
}

#[test]
fn report_is_compared_with_the_closest_earlier_commit_that_has_a_result() {
    need_git!();
    let (repository, ids) = recorded(14);
    let compared = |report: &Value, more: &[&str]| {
        let path = repository.beside("contender.json");
        std::fs::write(&path, report.to_string()).unwrap();
        let mut all = vec!["compare", path.to_str().unwrap(), "--format", "json"];
        all.extend(more);
        run(&repository, &all)
    };
    let row = |ran: &Ran| ran.json()["rows"][0].clone();
    // Two more commits of main that nobody measured, and a push to it.
    repository.write("file", "x");
    repository.commit("not measured");
    repository.write("file", "y");
    let pushed = repository.commit("pushed");
    let ran = compared(&head_report(&minute(70), &pushed, 1300.0), &[]);
    assert_eq!(ran.code, 1);
    assert_eq!(row(&ran)["baseline"]["commit"], ids[13]);
    assert_eq!(row(&ran)["status"], "regressed");
    assert_eq!(row(&ran)["analysis"]["lookback_z_score"]["baseline_z_threshold"], 3.0);
    assert_eq!(row(&ran)["analysis"]["pairwise"]["percent_threshold"], 5.0);
    // A commit that is measured itself is compared with the one before it.
    let ran = compared(&head_report(&minute(71), &ids[12], 1000.0), &[]);
    assert_eq!((ran.code, row(&ran)["baseline"]["commit"].as_str()), (0, Some(ids[11].as_str())));
    assert_eq!(row(&ran)["status"], "stable");
    // Its own results are a baseline where it is named, and of a tree that has more than its commit.
    let again = head_report(&minute(71), &ids[12], 1000.0);
    assert_eq!(row(&compared(&again, &["--baseline", &ids[12]]))["baseline"]["commit"], ids[12]);
    let mut dirty = again;
    dirty["revisions"][0]["dirty"] = true.into();
    assert_eq!(row(&compared(&dirty, &[]))["baseline"]["commit"], ids[12]);
    // A commit that the repository does not know stands where its time is.
    let ran = compared(&head_report(&minute(75), &"f".repeat(40), 1000.0), &[]);
    assert!(ran.stderr.contains("does not know commit ffffffffff"), "{}", ran.stderr);
    // A topic branch that left main earlier, and its merge as a pull request has it.
    repository.git(&["checkout", "-q", "-b", "topic", &ids[10]]);
    repository.write("other", "x");
    let topic = repository.commit("on a topic");
    let ran = compared(&head_report(&minute(72), &topic, 700.0), &[]);
    assert_eq!(row(&ran)["baseline"]["commit"], ids[10]);
    assert_eq!(row(&ran)["status"], "improved");
    repository.git(&["checkout", "-q", "--detach", &ids[13]]);
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", &topic]);
    let merge = repository.id("HEAD");
    let ran = compared(&head_report(&minute(73), &merge, 1000.0), &[]);
    assert_eq!(row(&ran)["baseline"]["commit"], ids[13]);
    // Each push of the branch is held against the same commit, whatever was pushed before; a branch may be named.
    repository.git(&["checkout", "-q", "topic"]);
    record(&repository, 80, &topic, 700.0);
    repository.write("other", "y");
    let second = repository.commit("on the topic again");
    let ran = compared(&head_report(&minute(81), &second, 700.0), &[]);
    assert_eq!(
        (row(&ran)["baseline"]["commit"].as_str(), row(&ran)["status"].as_str()),
        (Some(&*ids[10]), Some("improved"))
    );
    let ran = compared(&head_report(&minute(81), &second, 700.0), &["--baseline", "main"]);
    assert_eq!(row(&ran)["baseline"]["commit"], ids[13]);
    // Thresholds can be moved, the baseline named, and what fails chosen.
    let slower = head_report(&minute(74), &pushed, 1300.0);
    let ran = compared(&slower, &["--threshold-z", "1000"]);
    assert_eq!(row(&ran)["status"], "stable");
    let ran = compared(&slower, &["--baseline", &ids[5], "--fail-on", "improved"]);
    assert_eq!((ran.code, row(&ran)["status"].as_str()), (0, Some("insufficient")), "{}", ran.stdout);
    assert_eq!(compared(&slower, &["--threshold", "0"]).code, 3);
    // Another machine, and a benchmark nobody measured.
    let mut other = slower.clone();
    other["machine"]["logical_cpus"] = 64.into();
    assert_eq!(row(&compared(&other, &[]))["status"], "not_comparable");
    let mut new = slower;
    new["benchmarks"][0]["id"] = "new".into();
    assert_eq!(row(&compared(&new, &[]))["status"], "missing_baseline");
    let mut failed = new;
    failed["benchmarks"][0]["error"] =
        serde_json::json!({ "kind": "exit_code", "message": "it ended with 1" });
    let ran = compared(&failed, &[]);
    assert_eq!((ran.code, row(&ran)["status"].as_str()), (1, Some("errored")));
}
