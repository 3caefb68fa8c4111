//! Known slowdowns: what a suite may accept, and what that does to a run. And gains that are too good to be true.

mod suite_support;
mod verdict_support;

use cargo_benchgate::suite::Accept;
use cargo_benchgate::suite::metric::{Better, Metric};
use cargo_benchgate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence};
use cargo_benchgate::verdict::outcome::{AcceptStatus, BenchResult, Verdict};
use cargo_benchgate::verdict::{RunContext, RunJudgement, judge_run};
use suite_support::Project;
use verdict_support::{fixed, latency, metric};

const WHOLE: &str = "[[accept]]\nbench = \"parse/json/*\"\nmetric = \"latency\"\nup_to_percent = 20\n\
                     reason = \"checked arithmetic\"\nuntil = \"2027-01-31\"\n";

fn entry() -> Accept {
    Accept {
        package: None,
        bench: "speed/a".into(),
        metric: Metric::Latency,
        up_to_percent: 20.0,
        reason: "checked arithmetic".into(),
        until: "2027-01-31".into(),
    }
}

/// A benchmark whose head takes so many per cent more than base.
fn slower(id: &str, percent: f64) -> Evidence {
    let mut evidence = latency(fixed(), metric(10.0), &[100.0; 10], &[100.0 + percent; 10]);
    evidence.identity.id = id.into();
    evidence
}

fn judge_on(day: &str, accept: &[Accept], evidence: &[Evidence]) -> RunJudgement {
    let started_at = Some(format!("{day}T12:00:00Z"));
    judge_run(evidence, &RunContext { started_at, accept: accept.to_vec(), ..RunContext::default() })
}

fn status(judged: &RunJudgement) -> Option<AcceptStatus> {
    let comparison = &judged.benchmarks[0].comparisons[0];
    comparison.acceptance.as_ref().map(|acceptance| acceptance.status)
}

fn errors(table: &str) -> Vec<String> {
    Project::default().package("a", table, &["parse"]).errors()
}

#[test]
fn entries_of_the_workspace_and_of_packages_are_read_and_a_package_keeps_to_itself() {
    let project = Project::default().workspace(WHOLE).package(
        "a",
        &WHOLE.replace("\"2027-01-31\"", "2027-02-28").replace("= 20\n", "= \"5%\"\n"),
        &["parse"],
    );
    let accept = project.load().accept;
    let owners: Vec<_> = accept.iter().map(|entry| entry.package.as_deref()).collect();
    assert_eq!(owners, [None, Some("a")]);
    assert_eq!((accept[0].up_to_percent, accept[0].until.as_str()), (20.0, "2027-01-31"));
    assert_eq!((accept[1].up_to_percent, accept[1].until.as_str()), (5.0, "2027-02-28"), "TOML's own date");
}

#[test]
fn every_key_of_an_entry_is_needed() {
    for key in ["bench", "metric", "up_to_percent", "reason", "until"] {
        let line = WHOLE.lines().find(|line| line.starts_with(key)).expect("all are there");
        let errors = errors(&WHOLE.replace(line, ""));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains(&format!("accept[0].{key}: is missing")), "{errors:?}");
    }
}

#[test]
fn impossible_values_of_an_entry_are_configuration_errors() {
    for (written, instead, problem) in [
        ("\"latency\"", "\"latncy\"", "did you mean \"latency\"?"),
        ("\"latency\"", "\"throughput\"", "throughput follows latency"),
        ("\"latency\"", "\"cpu_user\"", "is reported and never compared"),
        ("= 20", "= 0", "out of range"),
        ("= 20", "= -3", "out of range"),
        ("\"2027-01-31\"", "\"2027-02-30\"", "is not a date"),
        ("\"2027-01-31\"", "\"31.1.2027\"", "is not a date"),
        ("\"2027-01-31\"", "\"2027-01-31T00:00:00\"", "is not a date"),
        ("\"2027-01-31\"", "20270131", "is not a date"),
        ("\"parse/json/*\"", "\"parse/[\"", "is not a valid glob"),
        ("\"checked arithmetic\"", "\"\"", "is empty"),
        ("reason =", "raeson =", "unknown key"),
    ] {
        let errors = errors(&WHOLE.replace(written, instead));
        assert!(errors.iter().any(|error| error.contains(problem)), "{instead}: {errors:?}");
    }
    assert!(errors("accept = 1")[0].contains("two brackets"));
    assert!(errors("accept = [1]")[0].contains("is not a table"));
}

#[test]
fn regression_within_the_ceiling_does_not_fail_and_keeps_its_verdict_and_its_numbers() {
    let judged = judge_on("2026-12-01", &[entry()], &[slower("a", 15.0)]);
    assert_eq!((judged.exit.code, judged.benchmarks[0].result), (0, BenchResult::Pass));
    assert_eq!(judged.benchmarks[0].comparisons[0].verdict, Verdict::Regression);
    assert_eq!(status(&judged), Some(AcceptStatus::Accepted));
    assert_eq!((judged.summary.accepted, judged.summary.regression), (1, 0));
    assert!(judged.warnings.is_empty(), "{:?}", judged.warnings);
    // Exactly at the ceiling is within it.
    assert_eq!(judge_on("2026-12-01", &[entry()], &[slower("a", 20.0)]).exit.code, 0);
}

#[test]
fn regression_beyond_the_ceiling_fails_again_and_says_so() {
    let judged = judge_on("2026-12-01", &[entry()], &[slower("a", 20.1)]);
    assert_eq!((judged.exit.code, status(&judged)), (1, Some(AcceptStatus::BeyondCeiling)));
}

#[test]
fn entry_holds_through_its_last_day_and_fails_again_after_it() {
    let last_day = judge_on("2027-01-31", &[entry()], &[slower("a", 15.0)]);
    assert_eq!(last_day.exit.code, 0);
    let after = judge_on("2027-02-01", &[entry()], &[slower("a", 15.0)]);
    assert_eq!((after.exit.code, status(&after)), (1, Some(AcceptStatus::Expired)));
    assert!(after.warnings.iter().any(|warning| warning.contains("ended on 2027-01-31")));
    let timeless =
        judge_run(&[slower("a", 15.0)], &RunContext { accept: vec![entry()], ..RunContext::default() });
    assert_eq!(timeless.exit.code, 1, "without a time nothing says that it still holds");
}

#[test]
fn entry_is_about_its_own_benchmark_metric_and_package_alone() {
    let evidence = [slower("a", 15.0), slower("b", 15.0)];
    let judged = judge_on("2026-12-01", &[entry()], &evidence);
    assert_eq!(judged.exit.because.as_deref(), Some("1 regression: speed/b"));
    for other in [
        Accept { metric: Metric::PeakRss, ..entry() },
        Accept { package: Some("another".into()), ..entry() },
        Accept { bench: "a".into(), ..entry() },
    ] {
        let judged = judge_on("2026-12-01", std::slice::from_ref(&other), &[slower("a", 15.0)]);
        assert_eq!(judged.exit.code, 1, "{other:?}");
        assert!(
            judged.warnings.iter().any(|it| it.contains("is about no benchmark of this run")),
            "{other:?}"
        );
    }
}

#[test]
fn several_entries_help_by_the_best_of_them() {
    let entries = [
        Accept { up_to_percent: 12.0, ..entry() },
        Accept { until: "2026-01-01".into(), ..entry() },
        Accept { bench: "speed/*".into(), up_to_percent: 16.0, ..entry() },
    ];
    assert_eq!(judge_on("2026-12-01", &entries, &[slower("a", 15.0)]).exit.code, 0);
    assert_eq!(
        status(&judge_on("2026-12-01", &entries[..2], &[slower("a", 15.0)])),
        Some(AcceptStatus::BeyondCeiling)
    );
}

#[test]
fn change_from_zero_has_no_percentage_a_ceiling_could_be_held_against() {
    let mut evidence = latency(fixed(), metric(10.0), &[], &[]);
    evidence.identity.id = "a".into();
    for (side, value) in evidence.sides.iter_mut().zip([0.0, 5.0]) {
        side.runs = verdict_support::runs(&Metric::Allocations, &[value; 10]);
    }
    let limits = evidence.settings.metrics.remove(&Metric::Latency).expect("it is there");
    evidence.settings.metrics.insert(Metric::Allocations, limits);
    let accept = Accept { metric: Metric::Allocations, up_to_percent: 1000.0, ..entry() };
    let judged = judge_on("2026-12-01", &[accept], &[evidence]);
    assert_eq!((judged.exit.code, status(&judged)), (1, Some(AcceptStatus::BeyondCeiling)));
}

#[test]
fn where_more_is_better_the_ceiling_is_on_the_loss() {
    let mut evidence = slower("a", -15.0);
    evidence.settings.metrics.values_mut().for_each(|metric| metric.better = Better::Higher);
    assert_eq!(judge_on("2026-12-01", &[entry()], std::slice::from_ref(&evidence)).exit.code, 0);
    assert_eq!(judge_on("2026-12-01", &[], &[evidence]).exit.code, 1);
}

#[test]
fn accepted_slowdown_hides_no_failure_of_another_kind() {
    let mut broken = slower("a", 15.0);
    broken.error =
        Some(BenchmarkError { kind: ErrorKind::ExitCode, message: "it broke".into(), stderr: None });
    assert_eq!(judge_on("2026-12-01", &[entry()], &[broken]).exit.code, 4);
    let inconclusive = latency(fixed(), metric(10.0), &[100.0; 3], &[115.0; 3]);
    let context = RunContext {
        started_at: Some("2026-12-01T00:00:00Z".into()),
        accept: vec![Accept { bench: "*".into(), ..entry() }],
        also_fail_on: vec!["inconclusive".into()],
        ..RunContext::default()
    };
    assert_eq!(judge_run(&[inconclusive], &context).exit.code, 1);
}

#[test]
fn shard_does_not_warn_of_entries_that_another_shard_may_need() {
    let context = RunContext {
        started_at: Some("2026-12-01T00:00:00Z".into()),
        accept: vec![Accept { bench: "speed/elsewhere".into(), ..entry() }],
        shard: true,
        ..RunContext::default()
    };
    assert!(judge_run(&[slower("b", 0.0)], &context).warnings.is_empty());
}

#[test]
fn gain_that_is_too_good_to_be_true_is_warned_of_and_fails_nothing() {
    let warned = |percent: f64| {
        let judged = judge_on("2026-12-01", &[], &[slower("a", percent)]);
        assert_eq!((judged.exit.code, judged.benchmarks[0].result), (0, BenchResult::Improved));
        judged.warnings.iter().any(|warning| warning.starts_with("speed/a: it became ten times better"))
    };
    assert!(warned(-97.0) && warned(-90.0));
    assert!(!warned(-80.0), "five times faster is good news");
}
