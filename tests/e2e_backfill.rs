//! Commits of the past are measured for the history, with the real command.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use repository::need_git;
use support::{AS_USUAL, Playground, finish};

/// Five commits; the third does not build.
fn history() -> Playground {
    let playground = Playground::probe();
    for at in 1..5 {
        playground.write("notes.txt", format!("{at}"));
        match at {
            2 => playground.write("src/lib.rs", "this is not Rust"),
            3 => {
                playground.repository.git(&["checkout", "-q", "HEAD~2", "--", "src/lib.rs"]);
            }
            4 => playground.step_ms(80),
            _ => {}
        }
        playground.repository.commit(&format!("commit {at}"));
    }
    playground
}

#[test]
fn every_commit_that_builds_is_stored_once_and_the_next_call_goes_on_from_there() {
    need_git!();
    let playground = history();
    let before = playground.state();
    let backfill = |range: &str| playground.run(&[&["history", "backfill", range][..], &AS_USUAL].concat());
    backfill("HEAD~4..HEAD~1").ends(0, &[]).says("2 commits, 1 skipped").says("is skipped");
    backfill("HEAD~4..")
        .ends(0, &[])
        .says("2 of them are in the history already")
        .says("1 commit, 1 skipped");
    // All that can be measured is there.
    backfill("HEAD~4..").ends(0, &[]).says("0 commits, 1 skipped, 3 were there before");
    assert_eq!(playground.state(), before);
    let listed = playground.run(&["history", "list"]);
    listed.ends(0, &[]).shows("3 reports");
    // The call that went on measured its first commit in turn with the one before it.
    assert_eq!(listed.stdout.matches("base ").count(), 2, "{listed}");
    let csv = playground.run(&["history", "export", "--format", "csv"]);
    // A commit between two others was measured with each of them.
    let latency: Vec<(&str, f64)> = csv
        .stdout
        .lines()
        .filter(|line| line.contains(",latency,"))
        .filter_map(|line| Some((line.split(',').next()?, line.split(',').nth(5)?.parse().ok()?)))
        .collect();
    let mut commits: Vec<&str> = latency.iter().map(|(commit, _)| *commit).collect();
    commits.dedup();
    assert_eq!(commits.len(), 3, "{csv}");
    let (first, last) = (latency[0].1, latency[latency.len() - 1].1);
    assert!(2.0 * first < last, "the last commit sleeps twenty times as long: {latency:?}");
}

#[test]
fn results_of_elsewhere_do_not_stand_for_a_commit_and_a_range_without_any_of_ours_fails() {
    need_git!();
    let playground = history();
    let backfill = |range: &str| playground.run(&[&["history", "backfill", range][..], &AS_USUAL].concat());
    let id = playground.repository.id("HEAD~3");
    playground.write(
        "../table.csv",
        format!("commit,timestamp,benchmark,metric,unit,value\n{id},1,b,latency,ns,1\n"),
    );
    playground.run(&["history", "import", "../table.csv"]).ends(0, &[]);
    backfill("HEAD~4..HEAD~3").ends(0, &[]).says("0 of them are in the history already");
    backfill("HEAD~3..HEAD~2")
        .ends(4, &["none of the commits could be measured"])
        .says("0 commits, 1 skipped");
    backfill("HEAD~4..HEAD~2").ends(0, &[]).says("0 commits, 1 skipped, 1 was there before");
}

#[test]
fn commit_after_one_that_builds_no_longer_is_measured_alone() {
    need_git!();
    let playground = Playground::probe();
    let lib = std::fs::read_to_string(playground.root().join("src/lib.rs")).expect("the fixture has it");
    playground.write("src/lib.rs", format!("{lib}\npub const NEEDED: &str = env!(\"NEEDED\");\n"));
    playground.repository.commit("needs a variable");
    playground.write("src/lib.rs", lib);
    playground.repository.commit("needs none");
    let backfill = |range: &str, variable: Option<(&str, &str)>| {
        let mut command = playground.command_in(playground.root());
        command.args(["history", "backfill", range]).args(AS_USUAL).envs(variable);
        finish(&mut command)
    };
    backfill("HEAD~2..HEAD~1", Some(("NEEDED", "1"))).ends(0, &[]).says("1 commit, 0 skipped");
    playground.run(&["cache", "clean"]).ends(0, &[]);
    backfill("HEAD~2..HEAD", None).ends(0, &[]).says("1 commit, 0 skipped, 1 was there before");
}

#[test]
fn a_range_that_is_none_is_told_before_anything_is_built() {
    need_git!();
    let playground = history();
    playground.run(&["history", "backfill", "HEAD"]).ends(3, &["FROM..TO"]).built_nothing();
    playground.run(&["history", "backfill", "HEAD..HEAD"]).ends(3, &["holds no commit"]).built_nothing();
    playground.run(&["history", "backfill", "HEAD..HEAD~2"]).ends(3, &["no ancestor"]).built_nothing();
    playground
        .run(&["history", "backfill", "HEAD~2..HEAD", "--format", "json"])
        .ends(3, &["history show"])
        .built_nothing();
}
