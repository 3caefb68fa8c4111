//! What `history explain`, `mark`, `unmark` and the commands that a status names say and do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "history_support/mod.rs"]
mod history_support;

use history_support::{Plain, head_report, minute, scattered, table};

#[test]
fn commands_that_a_status_names_can_be_typed() {
    let mut values = scattered(40, 100.0);
    values.extend(scattered(20, 120.0));
    let plain = Plain::of_table(&table(&values).replace(",b,", ",b c,"));
    let typed = |command: &str| {
        let words = command.strip_prefix("cargo benchgate history ").unwrap();
        let (verb, commit) = words.split_once(" 'b c' ").unwrap();
        plain.run(&[verb, "b c", commit.strip_suffix(" --reason '…'").unwrap(), "--reason", "so it is"]).ok();
    };
    let text = || plain.run(&["status"]).ok().stdout;
    let first = text();
    let step = first.lines().find(|line| line.contains(" at c40: ")).unwrap().split_once(": ").unwrap().1;
    let accept = first.split('`').find(|words| words.contains("history mark")).unwrap();
    typed(step);
    assert!(!text().contains("confirmed step"), "{}", text());
    typed(accept);
    assert!(text().contains("1 benchmark: 0 regressed"), "{}", text());
}

#[test]
fn explanation_says_what_its_numbers_are_of_and_against() {
    let mut values = scattered(40, 100.0);
    values.extend(scattered(2, 120.0));
    let plain = Plain::of_table(&table(&values));
    let text = plain.run(&["explain", "b", "c41"]).ok().stdout;
    let status = plain.run(&["status", "--format", "json"]).ok().json()["benchmarks"][0].clone();
    let z = format!("{:+.1}", status["z_score"].as_f64().unwrap());
    for words in [
        "window before the commit: mean",
        "|z| (against the window before the commit)",
        "asked by `history compare` only",
        &format!("z {z}, "),
        "against the level before c40",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let jump = plain.run(&["explain", "b", "c40", "--format", "json"]).ok().json();
    let jump = jump["conditions"].as_array().unwrap().iter().find(|it| {
        let asks = it["condition"].as_str().unwrap();
        asks.contains("is a jump: standard deviations")
    });
    let jump = jump.unwrap();
    assert!(jump["limit"] == 5.0 && 5.0 < jump["number"].as_f64().unwrap(), "{jump}");
}

#[test]
fn newest_result_of_a_commit_is_explained_against_those_before_the_commit() {
    let plain = Plain::new();
    let add = |minute_of: usize, commit: usize, value: f64| {
        let mut report = head_report(&minute(minute_of), &format!("{commit:040x}"), value);
        report["revisions"][0]["committed_at"] = minute(commit).into();
        plain.write("r.json", &report.to_string());
        plain.run(&["add", "r.json"]).ok();
    };
    for (index, value) in scattered(14, 1000.0).into_iter().enumerate() {
        add(index, index, value);
    }
    add(20, 14, 1300.0);
    add(30, 14, 1301.0);
    let commit = format!("{:040x}", 14);
    let explained = plain.run(&["explain", "t/b", &commit, "--format", "json"]).ok().json();
    assert_eq!((&explained["value"], &explained["commit_results"]), (&1301.0.into(), &2.into()));
    assert!(explained["mean"].as_f64().unwrap() < 1010.0, "{explained:#}");
    let text = plain.run(&["explain", "t/b", &commit]).ok().stdout;
    assert!(text.contains("its commit has 2 results: this is the newest"), "{text}");
}

#[test]
fn what_another_machine_has_is_told_with_the_flag_that_shows_it() {
    let mut text = "commit,timestamp,benchmark,metric,unit,value,machine\n".to_owned();
    for (index, value) in scattered(14, 100.0).iter().enumerate() {
        text.push_str(&format!("c{index},{index},b,latency,ns,{value},old\n"));
    }
    text.push_str("c14,14,b,latency,ns,200,pool\n");
    let plain = Plain::of_table(&text);
    let note = plain.run(&["show", "b"]).ok().stderr;
    assert!(note.contains("shown is latency on pool (1 result), for it was measured last"), "{note}");
    assert!(note.contains("latency on old (14 results)"), "{note}");
    let refused = plain.run(&["explain", "b", "c5"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("on pool; old has one: `--machine old`"), "{}", refused.stderr);
    plain.run(&["explain", "b", "c5", "--machine", "old"]).ok();
    let status = plain.run(&["status", "--machine", "old", "--format", "json"]).ok().json();
    assert_eq!(status["benchmarks"][0]["series"].as_array().unwrap().len(), 1);
    assert_eq!(status["benchmarks"][0]["machine"], "old");
    for (verb, flags) in [("status", &["--machine", "odl"][..]), ("show", &["b", "--machine", "odl"])] {
        let refused = plain.run(&[&[verb], flags].concat());
        assert!(refused.code == 3 && refused.stderr.contains("old, pool"), "{}", refused.stderr);
    }
    let refused = plain.run(&["explain", "b", "c14", "--metric", "nosuch"]);
    assert!(refused.code == 3 && refused.stderr.contains("`--metric nosuch`"), "{}", refused.stderr);
}

#[test]
fn explain_shows_every_condition_with_its_number_and_limit() {
    let mut values = scattered(40, 100.0);
    values.extend(scattered(2, 120.0));
    let plain = Plain::of_table(&table(&values));
    let explained = plain.run(&["explain", "b", "c41", "--format", "json"]).ok().json();
    let conditions = explained["conditions"].as_array().unwrap();
    let find = |words: &str| {
        conditions
            .iter()
            .find(|it| it["condition"].as_str().unwrap().contains(words))
            .unwrap_or_else(|| panic!("{words}"))
    };
    assert_eq!(find("earlier results")["number"], 41.0);
    assert_eq!(find("earlier results")["limit"], 10.0);
    assert_eq!(find("|z|")["limit"], 2.0);
    assert_eq!(find("|z|")["holds"], true);
    assert_eq!(find("per cent of it")["limit"], 2.0);
    assert_eq!(find("the result before")["holds"], true);
    assert_eq!(explained["status"], "regressed");
    assert_eq!(explained["baseline_conditions"][0]["limit"], 3.0);
    let first = plain.run(&["explain", "b", "c40", "--format", "json"]).ok().json();
    assert_eq!(first["status"], "stable", "one odd result is not a regression");
    let text = plain.run(&["explain", "b", "c41"]).ok().stdout;
    assert!(text.contains("HOLDS") && text.contains("LIMIT"), "{text}");
    assert_eq!(plain.run(&["explain", "b", "c77"]).code, 3);
}

#[test]
fn explain_takes_the_commit_of_that_name_before_one_that_begins_so() {
    let plain = Plain::of_table(&table(&scattered(20, 100.0)));
    let commit =
        |name: &str| plain.run(&["explain", "b", name, "--format", "json"]).ok().json()["commit"].clone();
    assert_eq!(commit("c1"), "c1");
    assert_eq!(plain.run(&["explain", "b", "c"]).code, 3, "a letter means no commit");
    let mut text = "commit,timestamp,benchmark,metric,unit,value\n".to_owned();
    for (index, commit) in ["abcdef0123", "abcdef0199", "abcdef9"].iter().enumerate() {
        text.push_str(&format!("{commit},{index},b,latency,ns,1\n"));
    }
    let plain = Plain::of_table(&text);
    let commit = |name: &str| plain.run(&["explain", "b", name, "--format", "json"]);
    assert_eq!(commit("abcdef01").code, 3, "two commits begin so");
    assert_eq!(commit("abcdef012").ok().json()["commit"], "abcdef0123");
}

#[test]
fn plain_lookback_explains_no_rule_that_it_does_not_have_and_counts_that_moved_are_not_called_unchanged() {
    let values = [vec![100.0; 14], vec![101.0]].concat();
    let plain = Plain::of_table(&table(&values).replace(",latency,ns,", ",instructions,count,"));
    let explained = |mode: &str| plain.run(&["explain", "b", "c14", "--lookback", mode]).ok().stdout;
    let (steps, seed) = (explained("steps"), explained("plain"));
    assert!(steps.contains("exact rule") && steps.contains("results in a row"), "{steps}");
    assert!(steps.contains("within 2 % of the mean, in a history without spread"), "{steps}");
    assert!(!seed.contains("exact rule") && !seed.contains("results in a row"), "{seed}");
    let plain = Plain::of_table(&table(&[vec![100.0; 14], vec![150.0]].concat()));
    let status = plain.run(&["status"]).ok().stdout;
    assert!(status.contains("a second one decides"), "{status}");
}

#[test]
fn unmark_takes_back_the_newest_mark_then_the_step_and_then_nothing() {
    let mut values = scattered(40, 100.0);
    values.extend(scattered(20, 120.0));
    let plain = Plain::of_table(&table(&values));
    let status = || plain.run(&["status", "--format", "json"]).ok().json()["benchmarks"][0].clone();
    let before = status();
    let say = |verb: &str, commit: &str| plain.run(&[verb, "b", commit, "--reason", "so it is"]);
    say("mark", "c40").ok();
    say("mark", "c50").ok();
    say("unmark", "c40").ok();
    say("unmark", "c50").ok();
    assert_eq!(status(), before);
    // Without a mark the step is taken back; a mark on top of that, and its end, change nothing of it.
    say("unmark", "c40").ok();
    let without = status();
    assert_eq!(without["steps"].as_array().unwrap().len(), 0);
    say("mark", "c40").ok();
    say("unmark", "c40").ok();
    assert_eq!(status(), without);
    let files = plain.files();
    let refused = say("unmark", "c40");
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("neither a mark nor a step"), "{}", refused.stderr);
    say("mark", "c50").ok();
    let refused = say("unmark", "c3");
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("there is a mark at c50"), "{}", refused.stderr);
    assert_eq!(plain.files().len(), files.len() + 1);
}

#[test]
fn mark_accepts_and_unmark_takes_back_and_no_file_is_ever_changed() {
    let mut values = scattered(40, 100.0);
    values.extend(scattered(20, 120.0));
    let plain = Plain::of_table(&table(&values));
    let status = || plain.run(&["status", "--format", "json"]).ok().json()["benchmarks"][0].clone();
    assert_eq!(status()["status"], "regressed");
    assert_eq!(status()["open_since"], "c40");
    let before = plain.files();
    plain.run(&["mark", "b", "c40", "--reason", "checked arithmetic"]).ok();
    assert_eq!(status()["status"], "stable");
    plain.run(&["unmark", "b", "c40", "--reason", "it was not that after all"]).ok();
    // All is as it was before the mark: the step begins a segment, and the regression is open again.
    assert_eq!(status()["status"], "regressed");
    assert_eq!(status()["steps"].as_array().unwrap().len(), 1);
    plain.run(&["mark", "*", "c40", "--reason", "all of them"]).ok();
    assert_eq!(status()["status"], "stable");
    let after = plain.files();
    assert_eq!(after.len(), before.len() + 3);
    assert!(before.iter().all(|file| after.contains(file)));
    let unknown = plain.run(&["mark", "b", "c99", "--reason", "x"]);
    assert_eq!(unknown.code, 3);
    assert_eq!(plain.run(&["mark", "b", "c40"]).code, 3, "a reason is needed");
    let listed = plain.run(&["list"]).ok().stdout;
    assert!(listed.contains("mark c40 b: checked arithmetic"), "{listed}");
}
