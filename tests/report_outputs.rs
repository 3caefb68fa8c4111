//! Where outputs go: files, marked sections, what a workflow names; and that a saved report renders as the run did.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;

use std::path::Path;
use std::process::{Command, Output};

use cargo_benchgate::report::markdown::{self, END, LIMIT, START};
use cargo_benchgate::report::model::Report;
use cargo_benchgate::report::terminal::{Options, terminal};
use cargo_benchgate::report::{csv, exports, github, html, json, junit, samples_csv};
use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::settings::Preset;
use cargo_benchgate::verdict::evidence::{BenchmarkError, ErrorKind};

use report_support::generate::{Draw, any_report, benchmark, judged_report};

/// A gate that failed on one of three benchmarks.
fn failed() -> Report {
    let mut draw = Draw::new(30);
    let factors = [1.0, 1.4, 1.0];
    let all = factors.iter().enumerate();
    judged_report(
        all.map(|(at, factor)| benchmark(&mut draw, "codec", &format!("case {at}"), 5e3, *factor, 0.01))
            .collect(),
    )
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-benchgate"));
    command.current_dir(folder).args(args);
    for variable in ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "COLUMNS", "NO_COLOR", "CARGO_TERM_COLOR"] {
        command.env_remove(variable);
    }
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A directory with a saved report, `in.json`.
fn saved(report: &Report) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.json"), json::json(report)).unwrap();
    folder
}

#[test]
fn saved_report_renders_in_every_format_as_the_run_itself_would() {
    for report in [failed(), any_report(7, 8), any_report(8, 8)] {
        let folder = saved(&report);
        let expected = [
            ("json", json::json(&report)),
            ("csv", csv::csv(&report)),
            ("samples-csv", samples_csv::samples_csv(&report)),
            ("terminal", terminal(&report, Options::default())),
            ("markdown", markdown::report(&report, LIMIT)),
            ("github", github::annotations(&report)),
            ("html", html::html(&report)),
            ("junit", junit::junit(&report)),
            ("bencher", exports::bencher(&report)),
            ("github-action-benchmark", exports::action_benchmark(&report)),
        ];
        let flags = expected.each_ref().map(|(format, _)| format!("--format={format}={format}.out"));
        let mut args = vec!["report", "in.json"];
        args.extend(flags.iter().map(String::as_str));
        let ran = run(folder.path(), &args);
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        for (format, expected) in &expected {
            let written = std::fs::read_to_string(folder.path().join(format!("{format}.out"))).unwrap();
            assert!(written == *expected, "{format}");
        }
        // Without a path the same goes to stdout.
        for (format, expected) in expected.iter().filter(|(format, _)| *format != "github") {
            let ran = run(folder.path(), &["report", "in.json", "--format", format]);
            assert!(text(&ran.stdout) == *expected, "{format}");
        }
    }
}

#[test]
fn judging_a_saved_report_again_agrees_with_it() {
    for seed in 0..6 {
        let report = any_report(seed, 8);
        let folder = saved(&report);
        let ran = run(folder.path(), &["judge", "in.json", "--format", "json"]);
        assert_eq!(ran.status.code(), Some(i32::from(report.exit.code)), "{}", text(&ran.stderr));
        let again = json::read_json(&ran.stdout).unwrap();
        let again = Report { command: report.command.clone(), ..again };
        assert!(
            again == report,
            "{:#?}\n{:#?}\n{:?}\n{:?}",
            again.summary,
            report.summary,
            again.exit,
            report.exit
        );
    }
}

#[test]
fn markdown_replaces_a_marked_section_in_place_and_nothing_else() {
    let folder = saved(&failed());
    let path = folder.path().join("PERFORMANCE.md");
    std::fs::write(&path, format!("# Ours\n\nbefore\n\n{START}\nold\n{END}\n\nafter\n")).unwrap();
    let render = || run(folder.path(), &["report", "in.json", "--format", "markdown=PERFORMANCE.md"]);
    assert_eq!(render().status.code(), Some(0));
    let once = std::fs::read_to_string(&path).unwrap();
    let section = markdown::report(&failed(), LIMIT);
    assert_eq!(once, format!("# Ours\n\nbefore\n\n{}\n\nafter\n", section.trim_end()));
    render();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), once, "a second time changes nothing");
    // A file of ours alone is the section, and is replaced as a whole.
    run(folder.path(), &["report", "in.json", "--format", "markdown=alone.md"]);
    run(folder.path(), &["report", "in.json", "--format", "markdown=alone.md"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("alone.md")).unwrap(), section);
}

#[test]
fn markdown_refuses_a_section_that_does_not_end_before_anything_is_done() {
    let folder = saved(&failed());
    let path = folder.path().join("half.md");
    let half = format!("{END}\nours\n{START}\nold\n");
    std::fs::write(&path, &half).unwrap();
    let ran =
        run(folder.path(), &["judge", "in.json", "--format", "markdown=half.md", "--format", "csv=x.csv"]);
    assert_eq!(ran.status.code(), Some(4));
    assert!(text(&ran.stderr).contains("benchgate:end"), "{}", text(&ran.stderr));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), half);
    assert!(!folder.path().join("x.csv").exists());
}

#[test]
fn github_writes_annotations_summary_and_outputs_and_keeps_the_status() {
    let report = failed();
    let folder = saved(&report);
    let [summary, outputs] = ["summary.md", "outputs"].map(|name| folder.path().join(name));
    std::fs::write(&summary, "# of another step\n").unwrap();
    let ran =
        command(folder.path(), &["judge", "in.json", "--format", "github", "--format", "json=out.json"])
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("GITHUB_OUTPUT", &outputs)
            .output()
            .unwrap();
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    let stdout = text(&ran.stdout);
    assert!(stdout.starts_with("TARGET"), "the table stays: {stdout}");
    let last = stdout.lines().next_back().unwrap();
    assert!(last.starts_with("::error title=REGRESSION codec/case 1 latency::+"), "{last}");
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(summary.starts_with("# of another step\n<!-- benchgate:start -->"), "appended: {summary}");
    assert!(summary.contains("❌ gate failed: 1 regression: codec/case 1"));
    let outputs = std::fs::read_to_string(outputs).unwrap();
    for line in ["verdict=failed", "exit_code=1", "regressions=1", "benchmarks=3", "label=regression"] {
        assert!(outputs.lines().any(|it| it == line), "{line}: {outputs}");
    }
    assert!(folder.path().join("out.json").exists());
}

#[test]
fn github_without_a_workflow_writes_annotations_alone() {
    let folder = saved(&failed());
    let ran = run(folder.path(), &["report", "in.json", "--format", "github"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(text(&ran.stdout).matches("::error").count(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing but in.json");
    let ran = run(folder.path(), &["report", "in.json", "--format", "github", "--format", "json"]);
    assert_eq!(ran.status.code(), Some(3), "JSON with lines of commands below it would be no JSON");
}

#[test]
fn step_summary_that_cannot_be_written_ends_with_4_after_all_else_is_written() {
    let folder = saved(&failed());
    let outputs = folder.path().join("outputs");
    let ran =
        command(folder.path(), &["judge", "in.json", "--format", "github", "--format", "json=out.json"])
            .env("GITHUB_STEP_SUMMARY", folder.path())
            .env("GITHUB_OUTPUT", &outputs)
            .output()
            .unwrap();
    assert_eq!(ran.status.code(), Some(4), "{}", text(&ran.stderr));
    let stderr = text(&ran.stderr);
    let last = stderr.lines().next_back().unwrap();
    assert!(last.starts_with("error: writing") && last.contains("GITHUB_STEP_SUMMARY"), "{last}");
    assert!(text(&ran.stdout).contains("::error title="));
    assert!(
        outputs.exists() && json::read_json(&std::fs::read(folder.path().join("out.json")).unwrap()).is_ok()
    );
}

#[test]
fn file_that_is_no_report_of_ours_is_refused_with_what_it_is() {
    let report = json::json(&failed());
    let cases = [
        (report.replacen("\"schema_version\": 1", "\"schema_version\": 2", 1), "update cargo-benchgate"),
        (report[..report.len() / 2].to_owned(), "line "),
        (report.replacen("\"schema_version\": 1,", "", 1), "schema_version"),
        ("{}".to_owned(), "schema_version"),
        (String::new(), "empty"),
        ("[1, 2]".to_owned(), "failed to read"),
    ];
    for (content, why) in cases {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.json"), content).unwrap();
        for verb in ["report", "judge"] {
            let ran = run(folder.path(), &[verb, "in.json"]);
            let stderr = text(&ran.stderr);
            assert_eq!(ran.status.code(), Some(3), "{stderr}");
            assert!(stderr.contains("in.json"), "{stderr}");
            assert!(stderr.contains(why) || verb == "judge", "{why}: {stderr}");
        }
    }
}

#[test]
fn report_reads_the_same_whatever_the_order_of_its_fields_or_a_mark_before_it() {
    let report = failed();
    let text = json::json(&report);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let turned: serde_json::Map<String, serde_json::Value> =
        value.as_object().unwrap().iter().rev().map(|(key, value)| (key.clone(), value.clone())).collect();
    let turned = serde_json::Value::Object(turned).to_string();
    assert!(!turned.starts_with("{\"schema_version\""));
    for text in [turned, format!("\u{feff}{text}"), format!("\n  {text}\n\n")] {
        assert_eq!(json::read_from(text.as_bytes()).unwrap(), report);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.json"), &text).unwrap();
        assert_eq!(run(folder.path(), &["judge", "in.json"]).status.code(), Some(1));
    }
    assert!(json::read_from(format!("{text}x").as_bytes()).is_err(), "nothing may follow");
}

#[test]
fn reading_from_a_stream_and_from_memory_refuse_alike() {
    let text = json::json(&failed());
    let texts = [
        String::new(),
        "{}".to_owned(),
        "{\"schema_version\": 7, \"tool\": 7}".to_owned(),
        "{\"schema_version\": 0}".to_owned(),
        "{\"schema_version\": 1".to_owned(),
        "{\"schema_version\": 1}".to_owned(),
        text[..text.len() / 3].to_owned(),
    ];
    for text in texts {
        let (stream, memory) = (json::read_from(text.as_bytes()), json::read_json(text.as_bytes()));
        assert_eq!(stream.unwrap_err(), memory.unwrap_err(), "{text:.40}");
    }
}

#[test]
fn verbose_terminal_shows_every_row_with_its_interval_and_both_sides_as_plots() {
    let mut draw = Draw::new(31);
    let all =
        (0..25).map(|at| benchmark(&mut draw, "codec", &format!("case {at}"), 5e3, 1.0, 0.01)).collect();
    let folder = saved(&judged_report(all));
    let short = text(&run(folder.path(), &["report", "in.json"]).stdout);
    assert!(short.contains("... and 5 more rows without a change to report"), "{short}");
    let ran =
        command(folder.path(), &["report", "in.json", "--verbose"]).env("COLUMNS", "100").output().unwrap();
    let long = text(&ran.stdout);
    assert_eq!(long.matches("codec/case").count(), 25, "{long}");
    for plot in ["    interval |", "    base     |", "    head     |"] {
        assert_eq!(long.matches(plot).count(), 25, "{long}");
    }
    assert!(long.lines().all(|line| line.chars().count() <= 100), "{long}");
}

#[test]
fn worst_status_of_several_files_is_that_of_all_and_its_reason_comes_last() {
    let folder = saved(&failed());
    let mut broken = failed();
    broken.benchmarks[0].error =
        Some(BenchmarkError { kind: ErrorKind::ExitCode, message: "it crashed".into(), stderr: None });
    std::fs::write(folder.path().join("broken.json"), json::json(&broken)).unwrap();
    for files in [["in.json", "broken.json"], ["broken.json", "in.json"]] {
        let ran = run(folder.path(), &[&["judge"], &files[..]].concat());
        let stderr = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(4), "{stderr}");
        assert!(
            stderr.lines().last().unwrap().starts_with("error: broken.json: 1 benchmark failed"),
            "{stderr}"
        );
        assert!(stderr.contains("in.json: 1 regression"), "{stderr}");
    }
}

#[test]
fn judging_again_with_other_limits_says_nothing_of_the_old_ones() {
    let folder = saved(&failed());
    let judged = |file: &str, percent: &str| {
        let ran = run(folder.path(), &["judge", file, "--format", "json", "--max-percent", percent]);
        json::read_json(&ran.stdout).unwrap()
    };
    let mut before = judged("in.json", "1");
    assert!(before.warnings.iter().any(|it| it.contains("gated at 1 %")), "{:?}", before.warnings);
    before.warnings.insert(0, "the machine was busy".to_owned());
    std::fs::write(folder.path().join("before.json"), json::json(&before)).unwrap();
    assert_eq!(judged("before.json", "7").warnings, ["the machine was busy"]);
}

#[test]
fn report_of_aa_or_of_a_bisect_is_named_as_such() {
    let report = json::json(&failed());
    let aa =
        format!("{{\"schema_version\": 1, \"command\": \"aa\", \"summary\": {{}}, \"repeats\": [{report}]}}");
    let bisect = "{\"schema_version\": 1, \"command\": \"bisect\", \"probes\": []}".to_owned();
    for (content, why) in [(aa, "jq '.repeats[0]'"), (bisect, "written by `bisect`")] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.json"), content).unwrap();
        for verb in ["report", "judge", "merge"] {
            let ran = run(folder.path(), &[verb, "in.json"]);
            let stderr = text(&ran.stderr);
            assert_eq!(ran.status.code(), Some(3), "{stderr}");
            assert!(stderr.contains(why), "{verb}: {stderr}");
        }
    }
}

#[test]
#[cfg(unix)]
fn report_is_read_once_from_a_pipe() {
    use std::io::Write;
    use std::process::Stdio;
    let folder = saved(&failed());
    let content = std::fs::read(folder.path().join("in.json")).unwrap();
    for (verb, code) in [("judge", 1), ("report", 0)] {
        let mut command = command(folder.path(), &[verb, "/dev/stdin"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&content).unwrap();
        drop(pipe);
        let ran = child.wait_with_output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{}", text(&ran.stderr));
    }
}

/// What `judge` makes of a table of samples: its status, and all it says.
fn judged_table(table: &str, flags: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.csv"), table).unwrap();
    let ran = run(folder.path(), &[&["judge", "own.csv"], flags].concat());
    (ran.status.code(), text(&ran.stdout) + &text(&ran.stderr))
}

#[test]
fn table_that_compares_nothing_ends_with_6_and_says_why() {
    let heading = "benchmark,revision,metric,round,value\n";
    for (rows, why) in [
        ("f,base,latency,0,1\n", "all samples are of revision `base`"),
        ("f,head,latency,0,1\ng,head,latency,0,1\n", "all samples are of revision `head`"),
        (
            "f,base,latency,0,1\ng,head,latency,0,1\n",
            "no benchmark has samples of one metric in two revisions",
        ),
        (
            "f,base,latency,0,1\nf,head,latency,4,1\n",
            "no round has samples of both sides (base has rounds 0 to 0, head has 4 to 4)",
        ),
    ] {
        let (code, said) = judged_table(&format!("{heading}{rows}"), &[]);
        assert!(code == Some(6) && said.contains("nothing was compared") && said.contains(why), "{said}");
    }
    let (code, said) = judged_table(&format!("{heading}f,base,latency,0,1\nf,head,latency,0,1\n"), &[]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn table_says_which_revision_is_taken_as_the_base_and_that_nothing_is_gated() {
    let heading = "benchmark,revision,metric,value\n";
    let (_, said) = judged_table(&format!("{heading}f,new,latency,1\nf,old,latency,1\n"), &[]);
    assert!(said.contains("no revision is called `base`, so new is taken as the base"), "{said}");
    let cpu = format!("{heading}f,base,cpu_total,1\nf,head,cpu_total,1\n");
    let (code, said) = judged_table(&cpu, &[]);
    assert!(said.contains("nothing in this file is gated") && code == Some(0), "{said}");
    assert!(!said.contains("--samples"), "no command of ours takes samples from elsewhere: {said}");
    let (_, said) = judged_table(&cpu, &["--metric", "cpu_total"]);
    assert!(!said.contains("nothing in this file is gated"), "{said}");
    let (code, said) = judged_table(&cpu, &["--metric", "latency"]);
    assert!(code != Some(0) && said.contains("was not measured of any benchmark"), "{said}");
    let counts = format!("{heading}f,base,allocations,348\nf,head,allocations,400\n");
    assert_eq!(judged_table(&counts, &[]).0, Some(1));
}

#[test]
fn saved_run_in_which_a_regression_was_not_measured_again_says_how_to_decide_it() {
    let mut draw = Draw::new(5);
    let mut slower = benchmark(&mut draw, "codec", "one", 5e3, 1.07, 0.01);
    slower.settings.judge = judge_of(Preset::Default);
    let folder = saved(&judged_report(vec![slower]));
    let judged = |more: &[&str]| {
        let ran = run(folder.path(), &[&["judge", "in.json", "--max-percent", "5"], more].concat());
        (ran.status.code(), text(&ran.stdout))
    };
    let (code, said) = judged(&[]);
    assert!(code == Some(0) && said.contains("`--correction holm`"), "{said}");
    assert!(!said.contains("take more samples"), "{said}");
    for correction in ["holm", "none"] {
        assert_eq!(judged(&["--correction", correction]).0, Some(1), "{correction}");
    }
}
