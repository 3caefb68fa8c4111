//! Whole runs without a clock or a process: exact times in, verdicts and exit status out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::benchmarks::Benchmarks;
use super::conclude;
use super::measuring::{Measured, run_rounds};
use super::phase::Phase;
use crate::harness::HarnessKind;
use crate::harness::contract::{CollectedFile, Executable, ExitOutcome, ResolvedLaunch, RunOutput};
use crate::measure::scripted::output;
use crate::measure::{PlannedBenchmark, ScriptedExecutor, SidePlan, UnitPlan};
use crate::report::Header;
use crate::report::model::Report;
use crate::suite::Overrides;
use crate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::rejudge::{Sampled, settings_for_samples};
use crate::suite::settings::{MetricSettings, Preset, SampleCount};
use crate::ui::{Color, Ui};
use crate::verdict::evidence::{ErrorKind, Evidence, Presence, Side, StoppedBecause};
use crate::verdict::outcome::{BenchResult, Reason, Verdict};

const MS: u64 = 1_000_000;
const BASE: usize = 0;
const HEAD: usize = 1;

/// Benchmarks of whole programs, ten runs a side in the fixed judge.
fn found(names: &[&str]) -> Benchmarks {
    let mut found = Benchmarks::default();
    for name in names {
        let identity = BenchmarkIdentity {
            target: TargetId { package: "p".into(), kind: TargetKind::Bench, target: (*name).into() },
            variant: String::new(),
            id: (*name).into(),
        };
        let mut settings = settings_for_samples(&BTreeMap::from([(Metric::Latency, Unit::Nanoseconds)]));
        let fixed = Overrides { preset: Some(Preset::Fixed), ..Overrides::default() };
        let sampled = Sampled { settings: &mut settings, metrics: Default::default() };
        fixed.rejudge(&mut [sampled]).expect("the preset is one");
        settings.judge.min_samples = 10;
        settings.sampling.samples = SampleCount::Fixed(10);
        settings.sampling.timeout_ns = 60_000 * MS;
        let side = |revision| {
            Some(SidePlan {
                revision,
                executable: Executable {
                    kind: TargetKind::Bench,
                    path: PathBuf::from("/live/target").join(name),
                    runner: Vec::new(),
                    package_root: "/live/tree".into(),
                    env: Vec::new(),
                },
                launch: ResolvedLaunch {
                    args: Vec::new(),
                    env: Vec::new(),
                    cwd: "/live/tree".into(),
                    stdin: None,
                    exit_codes: vec![0],
                    facts: Default::default(),
                },
                work: None,
                workdir: None,
                prepare: Vec::new(),
            })
        };
        found.planned.push((
            found.evidence.len(),
            PlannedBenchmark {
                identity: identity.clone(),
                harness: HarnessKind::Process,
                sampling: settings.sampling.clone(),
                min_samples: 10,
                head_alone_until: 0,
                sides: vec![side(BASE), side(HEAD)],
                unit: UnitPlan::default(),
            },
        ));
        let sides = ["base", "head"].map(|revision| Side {
            revision: revision.into(),
            executable_sha256: None,
            runs: Vec::new(),
        });
        found.evidence.push(Evidence {
            identity,
            harness: "process".into(),
            presence: Presence::Compared,
            presence_note: None,
            settings,
            sides: sides.into(),
            stopped_because: None,
            error: None,
        });
    }
    found
}

/// The whole way from the rounds to the report.
fn run(found: &Benchmarks, executor: &mut ScriptedExecutor, interrupted: &AtomicBool) -> Report {
    let ui = Ui::new(Color::Never, None, true, 0);
    let phase = Phase::first(&ui, interrupted, 7, Some(Duration::from_secs(60)));
    let measured: Measured = run_rounds(phase, found, executor);
    let header = Header::bare("compare", 7);
    conclude::report(header, 7, measured, &Ok(()))
}

fn latencies(report: &Report, benchmark: usize, side: usize) -> Vec<f64> {
    let runs = &report.benchmarks[benchmark].sides[side].runs;
    runs.iter().filter_map(|run| run.values.get(&Metric::Latency)).collect()
}

#[test]
fn slowdown_of_a_quarter_fails_the_run_with_exact_numbers() {
    let mut executor = ScriptedExecutor::default();
    let base: Vec<u64> = (0..10).map(|run| 100 * MS + run).collect();
    let head: Vec<u64> = (0..10).map(|run| 125 * MS + run).collect();
    executor.on_wall_ns(BASE, "slow", &base).on_wall_ns(HEAD, "slow", &head);
    executor.on_wall_ns(BASE, "same", &base).on_wall_ns(HEAD, "same", &base);
    let report = run(&found(&["slow", "same"]), &mut executor, &AtomicBool::new(false));

    // The report's order is that of the names.
    let slow = &report.benchmarks[1].comparisons[0];
    assert_eq!((slow.verdict, report.benchmarks[1].result), (Verdict::Regression, BenchResult::Regression));
    // Medians of 100 ms + 0..9 ns and 125 ms + 0..9 ns.
    assert_eq!((slow.base, slow.head), (Some(100_000_004.5), Some(125_000_004.5)));
    assert_eq!(slow.difference, Some(25_000_000.0));
    let change = slow.change_percent.expect("it was compared");
    assert!((change - 24.999_998_875).abs() < 1e-9, "{change}");
    assert_eq!(slow.probability_regression, Some(1.0));
    assert_eq!(slow.stopped_because, Some(StoppedBecause::FixedSamples));
    assert_eq!(latencies(&report, 1, HEAD), head.iter().map(|&ns| ns as f64).collect::<Vec<_>>());

    let same = &report.benchmarks[0].comparisons[0];
    assert_eq!((same.verdict, same.change_percent), (Verdict::Pass, Some(0.0)));
    assert_eq!((report.exit.code, report.exit.because.as_deref()), (1, Some("1 regression: slow")));
    assert_eq!((report.summary.regression, report.summary.pass), (1, 1));
    // Two benchmarks, two sides, ten runs, and nothing else was started.
    assert_eq!(executor.calls.len(), 40);
}

#[test]
fn equal_times_pass_and_end_with_0() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[10 * MS]).on_wall_ns(HEAD, "a", &[10 * MS]);
    let report = run(&found(&["a"]), &mut executor, &AtomicBool::new(false));
    assert_eq!(report.benchmarks[0].result, BenchResult::Pass);
    assert_eq!((report.exit.code, report.exit.because), (0, None));
}

#[test]
fn head_alone_that_was_measured_lacks_nothing() {
    let mut found = found(&["a"]);
    found.planned[0].1.sides.remove(BASE);
    found.evidence[0].sides.remove(BASE);
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(HEAD, "a", &[10 * MS]);
    let report = run(&found, &mut executor, &AtomicBool::new(false));
    assert_eq!((latencies(&report, 0, 0), report.exit.code), (vec![10e6; 10], 0));
}

#[test]
fn program_that_keeps_failing_is_an_error_row_and_ends_with_4_though_another_regressed() {
    let mut executor = ScriptedExecutor::default();
    let failure = RunOutput {
        outcome: ExitOutcome::Code(101),
        stderr: b"thread 'main' panicked\n".to_vec(),
        ..output(MS)
    };
    executor.on_wall_ns(BASE, "broken", &[MS]);
    executor.on(HEAD, "broken", move |_| Ok(failure.clone()));
    executor.on_wall_ns(BASE, "slow", &[10 * MS]).on_wall_ns(HEAD, "slow", &[20 * MS]);
    let report = run(&found(&["broken", "slow"]), &mut executor, &AtomicBool::new(false));

    let error = report.benchmarks[0].error.as_ref().expect("it failed");
    assert_eq!((error.kind, error.stderr.as_deref()), (ErrorKind::ExitCode, Some("thread 'main' panicked")));
    assert_eq!(executor.order("broken").iter().filter(|&&side| side == HEAD).count(), 3, "three strikes");
    assert_eq!(report.benchmarks[1].result, BenchResult::Regression);
    assert_eq!(report.exit.code, 4);
    let because = report.exit.because.as_deref().expect("a failing status says why");
    assert!(
        because.starts_with("1 benchmark failed: broken, head: the benchmark exited with code 101"),
        "{because}"
    );
}

#[test]
fn interrupt_keeps_what_was_measured_and_ends_with_4() {
    let interrupted = Arc::new(AtomicBool::new(false));
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[10 * MS]).on_wall_ns(HEAD, "a", &[20 * MS]);
    executor.interrupt_after = Some((10, Arc::clone(&interrupted)));
    let report = run(&found(&["a"]), &mut executor, &interrupted);
    // Ten runs are two whole rounds and half of a third, which is dropped.
    assert_eq!(latencies(&report, 0, BASE), [10e6; 4]);
    assert_eq!(report.exit.code, 4);
    assert!(report.exit.because.as_deref().is_some_and(|because| because.starts_with("interrupted")));
}

#[test]
fn interrupt_before_all_was_found_measures_nothing_and_keeps_the_rows() {
    let mut found = found(&["a", "b"]);
    found.interrupted = true;
    let mut executor = ScriptedExecutor::default();
    let report = run(&found, &mut executor, &AtomicBool::new(false));
    let kinds: Vec<_> =
        report.benchmarks.iter().map(|it| it.error.as_ref().map(|error| error.kind)).collect();
    assert_eq!(kinds, [Some(ErrorKind::Interrupted); 2]);
    assert_eq!((report.exit.code, executor.calls.len()), (4, 0));
}

#[test]
fn few_scattered_samples_decide_nothing_and_say_so() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[10 * MS, 14 * MS]).on_wall_ns(HEAD, "a", &[12 * MS, 15 * MS]);
    let report = run(&found(&["a"]), &mut executor, &AtomicBool::new(false));
    let comparison = &report.benchmarks[0].comparisons[0];
    assert_eq!((comparison.verdict, comparison.reason), (Verdict::Inconclusive, Some(Reason::TooClose)));
    assert_eq!(report.exit.code, 0);
}

/// The same benchmark, with its instructions asked for.
fn counted(executor: &mut ScriptedExecutor) -> Benchmarks {
    let mut found = found(&["a"]);
    let limits = MetricSettings {
        unit: Unit::Count,
        better: Better::Lower,
        max_percent: 1.0,
        min_difference: 0.0,
        gate: true,
        asked_for: true,
    };
    found.evidence[0].settings.metrics.insert(Metric::Instructions, limits);
    found.counted.insert(0);
    executor.on_wall_ns(BASE, "a", &[10 * MS]).on_wall_ns(HEAD, "a", &[10 * MS]);
    found
}

fn callgrind(instructions: u64) -> RunOutput {
    let text = format!("events: Ir\nsummary: {instructions}\n");
    let file = CollectedFile { path: "callgrind.out.1".into(), bytes: text.into_bytes() };
    RunOutput { files: vec![file], ..output(MS) }
}

#[test]
fn counts_are_taken_after_the_times_and_one_of_head_fails_the_run() {
    let mut executor = ScriptedExecutor::default();
    let found = counted(&mut executor);
    executor.on(BASE, "valgrind", |_| Ok(callgrind(10_000))).on(HEAD, "valgrind", |_| Ok(callgrind(10_200)));
    let report = run(&found, &mut executor, &AtomicBool::new(false));
    let of = |metric: &Metric| report.benchmarks[0].comparisons.iter().find(|it| it.metric == *metric);
    let count = of(&Metric::Instructions).expect("it was asked for");
    assert_eq!(
        (count.verdict, count.reason, count.samples),
        (Verdict::Regression, Some(Reason::Exact), [2, 1])
    );
    assert_eq!(of(&Metric::Latency).map(|it| (it.verdict, it.samples)), Some((Verdict::Pass, [10, 10])));
    assert_eq!((report.exit.code, report.exit.because.as_deref()), (1, Some("1 regression: a")));
    // The counts have the last numbers, and a round that no time has.
    let last = &report.benchmarks[0].sides[HEAD].runs[10];
    assert_eq!(last.round, Some(5));
    assert!(last.sequence.is_some_and(|sequence| 20 <= sequence), "{last:?}");
    // Nothing is left to chance, so nothing is measured again.
    assert_eq!(executor.calls.len(), 20 + 3);
}

#[test]
fn a_count_that_fails_ends_with_6_and_leaves_the_times() {
    let mut executor = ScriptedExecutor::default();
    let found = counted(&mut executor);
    for revision in [BASE, HEAD] {
        executor
            .on(revision, "valgrind", |_| Ok(RunOutput { outcome: ExitOutcome::Signal(4), ..output(MS) }));
    }
    let report = run(&found, &mut executor, &AtomicBool::new(false));
    let error = report.benchmarks[0].error.as_ref().expect("it failed");
    assert_eq!(error.kind, ErrorKind::MetricFailed);
    assert!(error.message.contains("under callgrind the benchmark was killed by signal 4"), "{error:?}");
    assert_eq!(report.benchmarks[0].comparisons[0].verdict, Verdict::Pass);
    assert_eq!((report.benchmarks[0].result, report.exit.code), (BenchResult::MetricError, 6));
}

#[test]
fn what_nothing_can_count_ends_with_6_and_says_why() {
    let mut executor = ScriptedExecutor::default();
    let mut found = counted(&mut executor);
    found.counted.clear();
    found.not_counted.push((0, "no directory of PATH holds `valgrind`".to_owned()));
    let report = run(&found, &mut executor, &AtomicBool::new(false));
    assert_eq!(report.exit.code, 6);
    let because = report.exit.because.as_deref().expect("a failing status says why");
    assert!(because.contains("a: instructions are not available because no directory of PATH"), "{because}");
}
