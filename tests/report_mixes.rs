//! What a reader with ten seconds sees of ten kinds of runs: whole outputs, and what the first lines of each must say.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;
mod suite_support;

use cargo_benchgate::report::markdown::{self, LIMIT};
use cargo_benchgate::report::model::{Report, RunWide};
use cargo_benchgate::report::next_step::next_step;
use cargo_benchgate::report::rows::{Weight, rows};
use cargo_benchgate::report::terminal::{Options, terminal};
use cargo_benchgate::report::{Header, github, junit};
use cargo_benchgate::suite::metric::{Metric, Unit};
use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::settings::{Aggregation, Budget, MetricSettings, Operator, Preset};
use cargo_benchgate::suite::{Overrides, Selection};
use cargo_benchgate::verdict::RunContext;
use cargo_benchgate::verdict::evidence::{ErrorKind, Evidence, Presence, StoppedBecause};

use report_support::generate::{Draw, absent, benchmark, broken, judged_report, report_of};
use report_support::{assert_snapshot, header};
use suite_support::Project;

/// So many quiet benchmarks that did not change, in the groups `parse` and `emit`.
fn quiet(draw: &mut Draw, count: usize) -> Vec<Evidence> {
    let group = |at: usize| if at.is_multiple_of(2) { "parse" } else { "emit" };
    (0..count)
        .map(|at| benchmark(draw, "codec", &format!("{}/{at}", group(at)), 12_000.0, 1.0, 0.01))
        .collect()
}

/// Checks the outputs against their files. The first line of the Markdown below its mark, and the last of the terminal,
/// must hold what is wanted.
#[track_caller]
fn check(name: &str, report: &Report, headline: &str) {
    let markdown = markdown::report(report, LIMIT);
    assert_snapshot(&format!("mixes/{name}.md"), &markdown);
    let text = terminal(report, Options { width: Some(150), ..Options::default() });
    assert_snapshot(&format!("mixes/{name}.txt"), &text);
    let first = markdown.lines().nth(1).unwrap();
    assert!(first.contains(headline), "{first}");
    let last = text.lines().next_back().unwrap();
    assert!(last.contains(report.exit.because.as_deref().unwrap_or("gate passed")), "{last}");
}

#[test]
fn all_good_says_passed_and_nothing_to_do() {
    let report = judged_report(quiet(&mut Draw::new(1), 12));
    check("all-good", &report, "✅ gate passed (12 benchmarks: 12 passed)");
    assert!(!markdown::report(&report, LIMIT).contains("**Next:**"));
}

#[test]
fn one_regression_among_200_is_the_headline_and_the_only_open_row() {
    let mut draw = Draw::new(2);
    let mut all = quiet(&mut draw, 199);
    all.push(benchmark(&mut draw, "codec", "parse/deep", 48_000.0, 1.31, 0.01));
    let report = judged_report(all);
    check("one-of-200", &report, "❌ gate failed: 1 regression: codec/parse/deep");
    let markdown = markdown::report(&report, LIMIT);
    let open = markdown.split("<details>").next().unwrap();
    assert_eq!(open.matches("| `codec/").count(), 1, "{open}");
    assert!(open.contains("--filter parse/deep"));
}

#[test]
fn mixed_run_shows_both_sides_and_the_groups_that_disagree() {
    let mut draw = Draw::new(3);
    let mut all = quiet(&mut draw, 6);
    all.extend((0..4).map(|at| benchmark(&mut draw, "codec", &format!("emit/slow {at}"), 9e3, 1.04, 0.01)));
    all.extend((0..5).map(|at| benchmark(&mut draw, "codec", &format!("parse/fast {at}"), 9e3, 0.8, 0.01)));
    check("mixed", &judged_report(all), "✅ gate passed, some slower and some faster within the limits");
}

#[test]
fn all_inconclusive_is_no_pass_to_rely_on() {
    let mut draw = Draw::new(4);
    let all = (0..5).map(|at| benchmark(&mut draw, "noisy", &format!("case {at}"), 5e6, 1.1, 0.25)).collect();
    check("all-inconclusive", &judged_report(all), "⚠️ gate passed, but");
}

#[test]
fn new_only_says_that_nothing_was_compared() {
    let mut draw = Draw::new(5);
    let all = (0..3).map(|at| absent(&mut draw, "codec", &format!("new {at}"), Presence::New)).collect();
    check("new-only", &judged_report(all), "⚠️ gate passed, but nothing was compared");
}

#[test]
fn build_error_is_undecided_and_quotes_the_compiler() {
    let mut draw = Draw::new(6);
    let mut all = quiet(&mut draw, 3);
    let message = "building bench `index` of base failed; see the compiler's message below";
    let stderr = "error[E0308]: mismatched types\n --> benches/index.rs:12:9\n  |\n12 |     \"1\"\n  |     ^^^ expected `u32`, found `&str`";
    all.push(broken("index", "index", ErrorKind::BuildFailed, message, stderr));
    check("build-error", &judged_report(all), "❗ gate undecided (exit status 4): 1 benchmark failed");
}

#[test]
fn run_that_gates_nothing_says_so() {
    let mut slower = benchmark(&mut Draw::new(12), "codec", "parse", 12_000.0, 1.4, 0.01);
    slower.settings.metrics.values_mut().for_each(|limits| limits.gate = false);
    let report = judged_report(vec![slower]);
    let text = terminal(&report, Options { width: Some(150), ..Options::default() });
    assert!(
        text.contains("gate passed (exit status 0), but nothing is gated, 1 regression not gated"),
        "{text}"
    );
}

#[test]
fn both_limits_of_a_change_are_in_its_reason() {
    let text = |min_difference: f64| {
        let mut slower = benchmark(&mut Draw::new(13), "codec", "parse", 12_000.0, 1.4, 0.01);
        let limits = slower.settings.metrics.get_mut(&Metric::Latency).unwrap();
        limits.min_difference = min_difference;
        terminal(&judged_report(vec![slower]), Options { width: Some(200), ..Options::default() })
    };
    let (beyond, below) = (text(1000.0), text(1e6));
    assert!(beyond.contains("REGRESSION") && beyond.contains("limit 10 % and 1 µs"), "{beyond}");
    assert!(below.contains("pass") && below.contains("is below min_difference 1 ms"), "{below}");
}

#[test]
fn maybe_is_greyed_in_html_told_in_json_and_no_clear_change_elsewhere() {
    let mut draw = Draw::new(14);
    let mut all = quiet(&mut draw, 6);
    all.push(benchmark(&mut draw, "codec", "emit/one", 12_000.0, 1.006, 0.001));
    let report = judged_report(all);
    let markdown = markdown::report(&report, LIMIT);
    let text = terminal(&report, Options { width: Some(150), ..Options::default() });
    for short in [markdown, text] {
        assert!(short.contains("no clear change") && !short.contains("maybe"), "{short}");
    }
    let page = cargo_benchgate::report::html::html(&report);
    assert!(page.contains("<ul class=\"quiet\">") && page.contains("maybe"));
    assert!(cargo_benchgate::report::json::json(&report).contains("\"certainty\": \"maybe\""));
}

#[test]
fn over_budget_fails_without_a_regression() {
    let mut draw = Draw::new(7);
    let mut all = quiet(&mut draw, 4);
    all[0].settings.budgets.push(Budget {
        metric: Metric::Latency,
        aggregation: Aggregation::Median,
        operator: Operator::LessOrEqual,
        limit: 10_000.0,
        written: "<= 10us".into(),
    });
    check("over-budget", &judged_report(all), "❌ gate failed: 1 over budget: codec/parse/0");
}

#[test]
fn everything_slower_by_a_little_says_that_all_rows_moved_together() {
    let mut draw = Draw::new(8);
    let ids = (0..16).map(|at| format!("{}/{at}", ["parse", "emit"][at % 2]));
    let all = ids.map(|id| benchmark(&mut draw, "codec", &id, 7e5, 1.03, 0.004)).collect();
    check("shifted", &judged_report(all), "✅ gate passed, slower within the limits (16 benchmarks");
}

#[test]
fn regression_beside_a_crash_is_named_in_the_same_line() {
    let mut draw = Draw::new(9);
    let mut all = quiet(&mut draw, 2);
    all.push(benchmark(&mut draw, "codec", "parse/deep", 48_000.0, 2.5, 0.01));
    let message = "codec/parse/crash: the benchmark ended with exit code 101; run it alone to see why";
    all.push(broken(
        "codec",
        "parse/crash",
        ErrorKind::ExitCode,
        message,
        "thread 'main' panicked at benches/codec.rs:3",
    ));
    check("regression-and-crash", &judged_report(all), "also 1 regression: codec/parse/deep");
}

#[test]
fn gate_that_is_not_enforced_says_what_it_would_have_failed_on() {
    let mut draw = Draw::new(10);
    let mut all = quiet(&mut draw, 3);
    all.push(benchmark(&mut draw, "codec", "parse/deep", 48_000.0, 1.31, 0.01));
    let context = RunContext { seed: 42, no_fail: true, ..RunContext::default() };
    let header = Header { warnings: vec![], ..header() };
    let report = report_of(all, header, &context);
    check("no-fail", &report, "⚠️ gate not enforced (--no-fail), and would have failed: 1 regression");
}

#[test]
fn improved_run_with_what_was_removed_stays_green_and_says_so() {
    let mut draw = Draw::new(11);
    let mut all = quiet(&mut draw, 3);
    all.extend((0..4).map(|at| benchmark(&mut draw, "codec", &format!("parse/fast {at}"), 9e3, 0.6, 0.01)));
    all.push(absent(&mut draw, "codec", "parse/gone", Presence::Removed));
    check("improved", &judged_report(all), "✅ gate passed (8 benchmarks: 4 improved, 3 passed; 1 removed)");
}

/// A report by a suite that fails on these things too.
fn failing_on(words: &[&str], evidence: Vec<Evidence>) -> Report {
    let also_fail_on: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let suite = RunWide { also_fail_on: also_fail_on.clone(), ..RunWide::default() };
    let context = RunContext { seed: 42, also_fail_on, ..RunContext::default() };
    report_of(evidence, Header { suite, warnings: vec![], ..header() }, &context)
}

/// One that has, on the sides named, a gated metric that somebody may have asked for.
fn counted(asked_for: bool, on: [bool; 2]) -> Evidence {
    let mut made = benchmark(&mut Draw::new(1), "codec", "counted", 5e3, 1.0, 0.01);
    let limits =
        MetricSettings { asked_for, unit: Unit::Count, ..made.settings.metrics[&Metric::Latency].clone() };
    made.settings.metrics.insert(Metric::Allocations, limits);
    for (side, _) in made.sides.iter_mut().zip(on).filter(|(_, on)| *on) {
        side.runs.iter_mut().for_each(|run| run.values.set(Metric::Allocations, 7.0));
    }
    made
}

#[test]
fn what_fails_the_run_is_a_problem_in_every_format() {
    let mut draw = Draw::new(9);
    let noisy = benchmark(&mut draw, "codec", "noisy", 5e3, 1.05, 1.5);
    let mut not_finite = benchmark(&mut draw, "codec", "broken", 5e3, 1.0, 0.01);
    not_finite.sides[1].runs[0].values.set(Metric::Latency, f64::NAN);
    let mut new = counted(true, [false, false]);
    new.presence = Presence::New;
    new.sides.remove(0);
    let mut nothing = benchmark(&mut draw, "codec", "silent", 5e3, 1.0, 0.01);
    nothing.sides.iter_mut().for_each(|side| side.runs.clear());
    let removed = absent(&mut draw, "codec", "removed", Presence::Removed);
    let broken = [
        ("dropped", counted(false, [true, false])),
        ("asked for", counted(true, [false, true])),
        ("asked for of a new one", new),
        ("not finite", not_finite),
        ("no samples", nothing),
    ];
    let broken = broken.map(|(what, evidence)| (what, 6, Weight::Broken, vec![], evidence));
    let failing = [("inconclusive", noisy), ("removed", removed), ("skipped", counted(false, [false, true]))];
    let failing = failing.map(|(what, evidence)| (what, 1, Weight::Failing, vec![what], evidence));
    for (what, code, weight, words, evidence) in broken.into_iter().chain(failing) {
        let report =
            failing_on(&words, vec![benchmark(&mut draw, "codec", "fine", 5e3, 1.0, 0.01), evidence]);
        assert_eq!(report.exit.code, code, "{what}");
        let problems: Vec<Weight> =
            rows(&report).iter().map(|row| row.weight).filter(|weight| weight.is_problem()).collect();
        assert_eq!(problems, [weight], "{what}");
        let (element, counts) = match weight {
            Weight::Broken => ("<error type=", "failures=\"0\" errors=\"1\""),
            _ => ("<failure type=", "failures=\"1\" errors=\"0\""),
        };
        // That it is new as well is a row of its own.
        let skipped = usize::from(what.ends_with("a new one"));
        let counts = format!("{counts} skipped=\"{skipped}\"");
        let xml = junit::junit(&report);
        assert!(xml.contains(element) && xml.contains(&counts), "{what}: {xml}");
        assert!(github::annotations(&report).starts_with("::error title="), "{what}");
        if what == "dropped" {
            assert!(xml.contains("measured in base, and no longer in head"), "{xml}");
        }
        let text = markdown::report(&report, markdown::LIMIT);
        let (open, _) = text.split_once("<details>").unwrap();
        assert!(open.contains("| ❗ ") || open.contains("| ❌ "), "{what}: {open}");
    }
}

#[test]
fn what_may_be_left_out_is_open_and_no_error() {
    let mut left_out = broken("codec", "late", ErrorKind::NotMeasured, "max_time was reached", "");
    left_out.stopped_because = Some(StoppedBecause::MaxTime);
    let fine = benchmark(&mut Draw::new(3), "codec", "fine", 5e3, 1.0, 0.01);
    let suite = RunWide { allow_partial: true, ..RunWide::default() };
    let context = RunContext { seed: 42, allow_partial: true, ..RunContext::default() };
    let report = report_of(vec![fine, left_out], Header { suite, ..header() }, &context);
    let rows = rows(&report);
    assert_eq!(
        (report.exit.code, rows[0].weight, rows[0].verdict.as_str()),
        (0, Weight::Unsure, "NOT MEASURED")
    );
    assert!(!junit::junit(&report).contains("<error"));
}

/// The next step of a run, with what the command line makes of it.
#[track_caller]
fn parsed(report: &Report) -> (String, clap::ArgMatches) {
    let command = next_step(report, &rows(report)).unwrap().command;
    let words = command.split(' ').skip(2);
    let line = ["cargo-benchgate"].into_iter().chain(words);
    match cargo_benchgate::cli::command().try_get_matches_from(line) {
        Ok(taken) => (command, taken),
        Err(error) => panic!("{command}: {error}"),
    }
}

#[test]
fn next_step_is_a_command_that_the_tool_takes() {
    let mut draw = Draw::new(11);
    let mut open = benchmark(&mut draw, "codec", "one", 5e3, 1.09, 0.2);
    open.settings.judge = judge_of(Preset::Default);
    let (command, taken) = parsed(&failing_on(&[], vec![open.clone()]));
    let samples = *taken.get_one::<u32>("samples").unwrap();
    assert!(60 < samples && samples.is_multiple_of(2), "{command}");
    let flags = Overrides { samples: Some(samples), ..Overrides::default() };
    let project = Project::default().package("toy", "", &["codec"]);
    let loaded = project.load_with(&Selection::default(), &flags);
    loaded.unwrap_or_else(|error| panic!("{command}: {error}"));
    // Where the run fails on it, the same helps.
    assert_eq!(parsed(&failing_on(&["inconclusive"], vec![open.clone()])).0, command);

    let hopeless = benchmark(&mut draw, "codec", "noisy", 5e3, 1.1, 1.5);
    let slower = benchmark(&mut draw, "codec", "slow", 5e3, 1.5, 0.01);
    let crashed = broken("codec", "crash", ErrorKind::ExitCode, "it ended with exit code 101", "");
    for evidence in [hopeless, slower, crashed, counted(true, [false; 2])] {
        let (command, taken) = parsed(&failing_on(&[], vec![evidence]));
        let verb = command.contains(" aa ").then_some("aa");
        assert_eq!(taken.subcommand_name(), verb, "{command}");
    }

    // Samples from elsewhere are not made by any command of ours.
    open.harness = "samples".to_owned();
    let foreign = failing_on(&[], vec![open]);
    assert_eq!(next_step(&foreign, &rows(&foreign)), None);
}
