//! The driver over scripted runs: exact samples, dropped rounds, limits of time, interrupts. No processes, no clock.
#![allow(clippy::unwrap_used)] // A helper of a test fails by panicking, as the test does.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cargo_benchgate::harness::HarnessKind;
use cargo_benchgate::harness::contract::{CollectedFile, Executable, ExitOutcome, ResolvedLaunch, RunOutput};
use cargo_benchgate::measure::scripted::output;
use cargo_benchgate::measure::{
    ExecuteError, MeasurePlan, Measured, MeasuredBenchmark, Observer, Part, PlannedBenchmark, Progress,
    ScriptedExecutor, SidePlan, StartProblem, StopAtMinimum, StopRule, UnitPlan, WorkPlan, measure,
};
use cargo_benchgate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::suite::settings::{SampleCount, Sampling};
use cargo_benchgate::verdict::evidence::{ErrorKind, Stage, StoppedBecause, UnitRun};

const BASE: usize = 0;
const HEAD: usize = 1;
const MS: u64 = 1_000_000;

fn side(revision: usize, name: &str) -> SidePlan {
    SidePlan {
        revision,
        executable: Executable {
            path: format!("/live/{name}").into(),
            kind: TargetKind::Bench,
            package_root: "/live".into(),
            env: Vec::new(),
            runner: Vec::new(),
        },
        launch: ResolvedLaunch {
            args: Vec::new(),
            env: Vec::new(),
            cwd: "/live".into(),
            stdin: None,
            exit_codes: vec![0],
            facts: Default::default(),
        },
        workdir: None,
        prepare: Vec::new(),
        work: None,
    }
}

/// A whole program, compared between base and head.
fn benchmark(name: &str, samples: SampleCount) -> PlannedBenchmark {
    let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: name.into() };
    PlannedBenchmark {
        identity: BenchmarkIdentity { target, variant: String::new(), id: name.into() },
        harness: HarnessKind::Process,
        sampling: Sampling { warmup: 0, samples, min_time_ns: 0, timeout_ns: 60_000 * MS },
        min_samples: 2,
        head_alone_until: 0,
        sides: vec![Some(side(BASE, name)), Some(side(HEAD, name))],
        unit: UnitPlan::default(),
    }
}

fn plan(benchmarks: Vec<PlannedBenchmark>) -> MeasurePlan {
    MeasurePlan { seed: 1, stage: Stage::Screen, first_sequence: 0, max_time: None, benchmarks }
}

fn run(plan: &MeasurePlan, executor: &mut ScriptedExecutor) -> Measured {
    measure(plan, executor, &StopAtMinimum, &mut (), &AtomicBool::new(false))
}

fn latencies(runs: &[UnitRun]) -> Vec<f64> {
    runs.iter().map(|run| run.values.get(&Metric::Latency).unwrap()).collect()
}

fn rounds(runs: &[UnitRun]) -> Vec<u32> {
    runs.iter().map(|run| run.round.unwrap()).collect()
}

fn sequences(runs: &[UnitRun]) -> Vec<u64> {
    runs.iter().map(|run| run.sequence.unwrap()).collect()
}

fn counts(measured: &MeasuredBenchmark) -> Vec<usize> {
    measured.sides.iter().map(Vec::len).collect()
}

fn failure() -> Result<RunOutput, ExecuteError> {
    Ok(RunOutput { outcome: ExitOutcome::Code(3), stderr: b"thread panicked\n".to_vec(), ..output(MS) })
}

#[derive(Default)]
struct Heard {
    short: Vec<(Duration, Duration)>,
    progress: Vec<Progress>,
}

impl Observer for Heard {
    fn round_finished(&mut self, progress: &Progress) {
        self.progress.push(progress.clone());
    }

    fn time_is_short(&mut self, needed: Duration, available: Duration) {
        self.short.push((needed, available));
    }
}

#[test]
fn a_fixed_count_gives_exactly_so_many_samples_in_palindromes() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "a", |run| Ok(output(100 + run as u64)));
    executor.on(HEAD, "a", |run| Ok(output(200 + run as u64)));
    let measured = run(&plan(vec![benchmark("a", SampleCount::Fixed(6))]), &mut executor);

    let a = &measured.benchmarks[0];
    assert_eq!(latencies(&a.sides[BASE]), [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]);
    assert_eq!(latencies(&a.sides[HEAD]), [200.0, 201.0, 202.0, 203.0, 204.0, 205.0]);
    assert_eq!(rounds(&a.sides[BASE]), [0, 0, 1, 1, 2, 2]);
    assert_eq!(rounds(&a.sides[HEAD]), [0, 0, 1, 1, 2, 2]);
    assert_eq!((a.stopped_because, &a.error), (Some(StoppedBecause::FixedSamples), &None));
    let order = executor.order("a");
    for round in order.chunks(4) {
        assert!(matches!(round, [0, 1, 1, 0] | [1, 0, 0, 1]), "{order:?}");
    }
    // The sequence numbers say in which order it was.
    let mut told: Vec<_> = sequences(&a.sides[BASE]).into_iter().map(|at| (at, BASE)).collect();
    told.extend(sequences(&a.sides[HEAD]).into_iter().map(|at| (at, HEAD)));
    told.sort_unstable();
    assert_eq!(told.iter().map(|&(_, side)| side).collect::<Vec<_>>(), order);
    assert_eq!((told[0].0, measured.next_sequence), (0, 12));
}

#[test]
fn sequence_numbers_go_on_from_the_first_one_of_the_plan() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[1]).on_wall_ns(HEAD, "a", &[1]);
    let mut plan = plan(vec![benchmark("a", SampleCount::Fixed(2))]);
    plan.first_sequence = 1000;
    plan.stage = Stage::Confirm;
    let measured = run(&plan, &mut executor);
    let all: Vec<_> = measured.benchmarks[0].sides.concat();
    let mut numbers = sequences(&all);
    numbers.sort_unstable();
    assert_eq!(numbers, [1000, 1001, 1002, 1003]);
    assert_eq!(measured.next_sequence, 1004);
    assert!(all.iter().all(|run| run.stage == Stage::Confirm));
}

#[test]
fn every_healthy_benchmark_runs_in_every_round() {
    let mut executor = ScriptedExecutor::default();
    let names = ["a", "b", "c", "d"];
    for name in names {
        executor.on_wall_ns(BASE, name, &[1]).on_wall_ns(HEAD, name, &[1]);
    }
    let benchmarks = names.map(|name| benchmark(name, SampleCount::Fixed(20))).to_vec();
    run(&plan(benchmarks), &mut executor);
    let programs: Vec<String> =
        executor.calls.iter().map(|call| call.command.program.display().to_string()).collect();
    let mut orders = std::collections::BTreeSet::new();
    for round in programs.chunks(16) {
        // Four runs of one, then four of another: the pairs of a round are neighbours.
        let order: Vec<&String> = round.chunks(4).map(|row| &row[0]).collect();
        assert!(round.chunks(4).all(|row| row.iter().all(|name| *name == row[0])));
        assert_eq!(order.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
        orders.insert(order);
    }
    assert!(4 < orders.len(), "the order of benchmarks is drawn anew in each round");
}

#[test]
fn another_benchmark_changes_nothing_in_the_order_of_the_first() {
    let order = |names: &[&str]| {
        let mut executor = ScriptedExecutor::default();
        for name in names {
            executor.on_wall_ns(BASE, name, &[1]).on_wall_ns(HEAD, name, &[1]);
        }
        // One that fails at once, and drops out.
        let mut benchmarks = vec![benchmark("broken", SampleCount::Fixed(40))];
        benchmarks.extend(names.iter().map(|name| benchmark(name, SampleCount::Fixed(40))));
        run(&plan(benchmarks), &mut executor);
        executor.order("a")
    };
    assert_eq!(order(&["a"]), order(&["x", "a", "y"]));
}

#[test]
fn warm_up_runs_are_interleaved_and_thrown_away() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "a", |run| Ok(output(run as u64)));
    executor.on(HEAD, "a", |run| Ok(output(run as u64)));
    let mut a = benchmark("a", SampleCount::Fixed(2));
    a.sampling.warmup = 3;
    let measured = run(&plan(vec![a]), &mut executor);
    assert_eq!(latencies(&measured.benchmarks[0].sides[BASE]), [3.0, 4.0]);
    assert_eq!(rounds(&measured.benchmarks[0].sides[HEAD]), [0, 0]);
    assert_eq!(measured.next_sequence, 4);
    let order = executor.order("a");
    // A palindrome, half of one, then the kept round.
    assert_eq!(order.len(), 4 + 2 + 4);
    assert!(order[..4].iter().eq(order[..4].iter().rev()));
    assert_ne!(order[4], order[5]);
}

#[test]
fn an_adaptive_count_stops_when_the_rule_says_so() {
    struct AtTen;
    impl StopRule for AtTen {
        fn stop(&self, benchmark: usize, runs: &[Vec<UnitRun>]) -> Option<StoppedBecause> {
            assert_eq!(benchmark, 0);
            assert!((8..=12).contains(&runs[HEAD].len()), "asked with {}", runs[HEAD].len());
            assert_eq!(runs[BASE].len(), runs[HEAD].len());
            (runs[BASE].len() == 10).then_some(StoppedBecause::Settled)
        }
    }
    let measured = |max| {
        let mut executor = ScriptedExecutor::default();
        executor.on_wall_ns(BASE, "a", &[1]).on_wall_ns(HEAD, "a", &[1]);
        let plan = plan(vec![benchmark("a", SampleCount::Adaptive { min: 8, max })]);
        measure(&plan, &mut executor, &AtTen, &mut (), &AtomicBool::new(false)).benchmarks.remove(0)
    };
    assert_eq!(counts(&measured(12)), [10, 10]);
    assert_eq!(measured(12).stopped_because, Some(StoppedBecause::Settled));
    // At the cap the rule is heard first: what is settled there is settled.
    assert_eq!(measured(10).stopped_because, Some(StoppedBecause::Settled));
    assert_eq!(counts(&measured(8)), [8, 8]);
    assert_eq!(measured(8).stopped_because, Some(StoppedBecause::MaxSamples));
}

#[test]
fn a_least_number_below_five_is_enough_where_time_is_not_the_reason() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[1]).on_wall_ns(HEAD, "a", &[1]);
    let plan = plan(vec![benchmark("a", SampleCount::Adaptive { min: 2, max: 60 })]);
    let measured = run(&plan, &mut executor);
    assert_eq!(counts(&measured.benchmarks[0]), [2, 2]);
    assert_eq!(measured.benchmarks[0].stopped_because, Some(StoppedBecause::MinReached));
}

#[test]
fn an_adaptive_count_goes_on_for_min_time_of_every_revision() {
    let mut executor = ScriptedExecutor::default();
    // Head is twice as fast: it is the one that needs 20 runs for 100 ms.
    executor.on_wall_ns(BASE, "a", &[10 * MS]).on_wall_ns(HEAD, "a", &[5 * MS]);
    let mut a = benchmark("a", SampleCount::Adaptive { min: 4, max: 60 });
    a.sampling.min_time_ns = 100 * MS;
    let measured = run(&plan(vec![a]), &mut executor);
    assert_eq!(counts(&measured.benchmarks[0]), [20, 20]);
    assert_eq!(measured.benchmarks[0].stopped_because, Some(StoppedBecause::MinReached));
}

#[test]
fn a_failed_run_drops_the_round_on_both_sides() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "a", |run| Ok(output(100 + run as u64)));
    executor.on(HEAD, "a", |run| if run == 3 { failure() } else { Ok(output(200 + run as u64)) });
    let measured = run(&plan(vec![benchmark("a", SampleCount::Fixed(6))]), &mut executor);
    let a = &measured.benchmarks[0];
    assert_eq!((counts(a), &a.error), (vec![6, 6], &None));
    assert_eq!(a.stopped_because, Some(StoppedBecause::FixedSamples));
    assert_eq!(rounds(&a.sides[BASE]), [0, 0, 2, 2, 3, 3]);
    assert_eq!(rounds(&a.sides[HEAD]), [0, 0, 2, 2, 3, 3]);
    let head = latencies(&a.sides[HEAD]);
    assert!(!head.contains(&202.0) && !head.contains(&203.0), "{head:?}");
    assert_eq!(a.failures.len(), 1);
    assert_eq!(a.failures[0].kind, ErrorKind::ExitCode);
    assert_eq!(a.failures[0].stderr.as_deref(), Some("thread panicked"));
    assert!(a.failures[0].message.starts_with("a, head: "), "{}", a.failures[0].message);
}

#[test]
fn three_failures_in_all_make_an_error_and_the_others_go_on() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "bad", |run| if run == 2 { failure() } else { Ok(output(1)) });
    executor.on(HEAD, "bad", |run| {
        let timed_out = RunOutput { outcome: ExitOutcome::TimedOut, ..output(60_000 * MS) };
        if run == 5 || run == 8 { Ok(timed_out) } else { Ok(output(1)) }
    });
    executor.on_wall_ns(BASE, "good", &[1]).on_wall_ns(HEAD, "good", &[1]);
    let count = SampleCount::Fixed(20);
    let measured = run(&plan(vec![benchmark("bad", count), benchmark("good", count)]), &mut executor);
    let [bad, good] = &measured.benchmarks[..] else { panic!() };
    assert_eq!(bad.stopped_because, Some(StoppedBecause::Error));
    assert_eq!(bad.failures.len(), 3);
    let error = bad.error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert_eq!((counts(good), &good.error), (vec![20, 20], &None));
}

#[test]
fn a_program_that_never_starts_fails_three_times_and_no_more() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "a", |_| Ok(output(1)));
    executor.on(HEAD, "a", |_| Err(StartProblem::NoProgram { program: "/live/a".into() }.into()));
    let measured = run(&plan(vec![benchmark("a", SampleCount::Fixed(20))]), &mut executor);
    let a = &measured.benchmarks[0];
    let error = a.error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::StartFailed);
    assert_eq!(error.message, "a, head: the program /live/a does not exist");
    assert_eq!(counts(a), [0, 0]);
    assert_eq!(executor.order("a").iter().filter(|&&revision| revision == HEAD).count(), 3);
}

#[test]
fn a_side_that_is_not_measured_leaves_the_other_alone() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(7, "new", &[5]);
    let mut new = benchmark("new", SampleCount::Adaptive { min: 6, max: 60 });
    new.sides = vec![None, Some(side(7, "new"))];
    let mut nothing = benchmark("nothing", SampleCount::Fixed(2));
    nothing.sides = vec![None, None];
    let measured = run(&plan(vec![new, nothing]), &mut executor);
    assert_eq!(counts(&measured.benchmarks[0]), [0, 6]);
    assert_eq!(rounds(&measured.benchmarks[0].sides[1]), [0, 0, 1, 1, 2, 2]);
    assert_eq!(measured.benchmarks[0].stopped_because, Some(StoppedBecause::MinReached));
    assert_eq!(measured.benchmarks[1].stopped_because, None);
}

#[test]
fn three_revisions_run_twice_a_round_each() {
    let mut executor = ScriptedExecutor::default();
    let mut a = benchmark("a", SampleCount::Fixed(4));
    a.sides.push(Some(side(2, "a")));
    for revision in 0..3 {
        executor.on_wall_ns(revision, "a", &[1]);
    }
    let measured = run(&plan(vec![a]), &mut executor);
    assert_eq!(counts(&measured.benchmarks[0]), [4, 4, 4]);
    for round in executor.order("a").chunks(6) {
        assert!(round.iter().eq(round.iter().rev()));
    }
}

#[test]
fn a_run_records_switches_work_and_the_floor_of_its_memory() {
    let mut executor = ScriptedExecutor::default();
    for revision in [BASE, HEAD] {
        executor.on(revision, "a", |_| Ok(RunOutput { involuntary_switches: 17, ..output(1) }));
    }
    executor.file(BASE, "/live/input", 1000).file(HEAD, "/live/input", 2000);
    let mut a = benchmark("a", SampleCount::Fixed(2));
    for side in a.sides.iter_mut().flatten() {
        side.work = Some(WorkPlan::File("/live/input".into()));
    }
    let mut b = benchmark("b", SampleCount::Fixed(2));
    executor.on_wall_ns(BASE, "b", &[1]).on_wall_ns(HEAD, "b", &[1]);
    b.sides[HEAD].as_mut().unwrap().work = Some(WorkPlan::Value(2.5));
    let measured = run(&plan(vec![a, b]), &mut executor);
    let sides = &measured.benchmarks[0].sides;
    for (side, work) in [(BASE, 1000.0), (HEAD, 2000.0)] {
        let run = &sides[side][0];
        assert_eq!(run.work, Some(work));
        assert_eq!(run.context_switches, Some(17));
        assert_eq!(run.peak_rss_floor, Some(f64::from(2 << 20)));
        assert_eq!(run.values.get(&Metric::PeakRss), Some(f64::from(8 << 20)));
    }
    let sides = &measured.benchmarks[1].sides;
    assert_eq!((sides[BASE][0].work, sides[HEAD][0].work), (None, Some(2.5)));
}

#[test]
fn a_work_file_that_is_missing_in_base_says_so() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[1]).on_wall_ns(HEAD, "a", &[1]).file(HEAD, "/live/input", 5);
    let mut a = benchmark("a", SampleCount::Fixed(4));
    for side in a.sides.iter_mut().flatten() {
        side.work = Some(WorkPlan::File("/live/input".into()));
    }
    let measured = run(&plan(vec![a]), &mut executor);
    let error = measured.benchmarks[0].error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::MetricFailed);
    assert!(
        error.message.starts_with("a, base: ") && error.message.contains("/live/input"),
        "{}",
        error.message
    );
}

#[test]
fn max_time_ends_what_has_enough_samples() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[100 * MS]).on_wall_ns(HEAD, "a", &[100 * MS]);
    let mut plan = plan(vec![benchmark("a", SampleCount::Fixed(60))]);
    plan.benchmarks[0].min_samples = 8;
    // Rounds of 400 ms: five are 2 s, a sixth would end at 2.4 s.
    plan.max_time = Some(Duration::from_millis(2300));
    let mut heard = Heard::default();
    let never = AtomicBool::new(false);
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut heard, &never);
    let a = &measured.benchmarks[0];
    assert_eq!((counts(a), &a.error), (vec![10, 10], &None));
    assert_eq!(a.stopped_because, Some(StoppedBecause::MaxTime));
    assert_eq!(measured.elapsed, Duration::from_secs(2));
    assert!(heard.short.is_empty());
}

#[test]
fn too_little_time_is_said_after_the_first_round_with_the_time_needed() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[100 * MS]).on_wall_ns(HEAD, "a", &[100 * MS]);
    let mut plan = plan(vec![benchmark("a", SampleCount::Adaptive { min: 20, max: 60 })]);
    plan.max_time = Some(Duration::from_secs(1));
    let mut heard = Heard::default();
    let never = AtomicBool::new(false);
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut heard, &never);
    // Ten rounds of 400 ms.
    assert_eq!(heard.short, [(Duration::from_secs(4), Duration::from_secs(1))]);
    assert_eq!(heard.progress[0].least_left, Duration::from_millis(3600));
    let a = &measured.benchmarks[0];
    let error = a.error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::NotMeasured);
    assert_eq!(a.stopped_because, Some(StoppedBecause::MaxTime));
    // What was measured is kept.
    assert_eq!(counts(a), [4, 4]);
    assert!(error.message.contains("4 of the 20 samples"), "{}", error.message);
}

#[test]
fn fewer_than_five_samples_are_never_a_measurement_that_time_ended() {
    let counts_and_error = |max_time| {
        let mut executor = ScriptedExecutor::default();
        executor.on_wall_ns(BASE, "a", &[100 * MS]).on_wall_ns(HEAD, "a", &[100 * MS]);
        // min_samples is 2.
        let mut plan = plan(vec![benchmark("a", SampleCount::Fixed(60))]);
        plan.max_time = Some(Duration::from_millis(max_time));
        let measured = run(&plan, &mut executor).benchmarks.remove(0);
        (counts(&measured), measured.error.map(|error| error.kind))
    };
    assert_eq!(counts_and_error(1000), (vec![4, 4], Some(ErrorKind::NotMeasured)));
    assert_eq!(counts_and_error(1200), (vec![6, 6], None));
}

#[test]
fn when_time_is_short_the_cheapest_are_finished_rather_than_all_begun() {
    let mut executor = ScriptedExecutor::default();
    let names = ["a", "b", "c", "dear"];
    for name in names {
        let wall = if name == "dear" { 1000 * MS } else { 10 * MS };
        executor.on_wall_ns(BASE, name, &[wall]).on_wall_ns(HEAD, name, &[wall]);
    }
    let mut plan =
        plan(names.map(|name| benchmark(name, SampleCount::Adaptive { min: 20, max: 20 })).to_vec());
    // The first round takes 4.12 s; the cheap ones need 0.36 s each then, the dear one 36 s.
    plan.max_time = Some(Duration::from_secs(10));
    let mut heard = Heard::default();
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut heard, &AtomicBool::new(false));
    let errors: Vec<_> = measured
        .benchmarks
        .iter()
        .map(|benchmark| benchmark.error.as_ref().map(|error| error.kind))
        .collect();
    assert_eq!(errors, [None, None, None, Some(ErrorKind::NotMeasured)]);
    assert!(measured.benchmarks[..3].iter().all(|benchmark| counts(benchmark) == [20, 20]));
    assert_eq!(heard.short.len(), 1);
    // No time is burnt on what cannot be finished.
    assert!(measured.elapsed < Duration::from_secs(6), "{:?}", measured.elapsed);
}

#[test]
fn a_benchmark_set_aside_is_taken_up_when_the_others_settle_early() {
    let mut executor = ScriptedExecutor::default();
    for (name, wall) in [("a", 100 * MS), ("b", 110 * MS)] {
        // After its first round `a` turns out to run five times as fast.
        let later = if name == "a" { wall / 5 } else { wall };
        for revision in [BASE, HEAD] {
            executor.on(revision, name, move |run| Ok(output(if run < 2 { wall } else { later })));
        }
    }
    let adaptive = SampleCount::Adaptive { min: 20, max: 20 };
    let mut plan = plan(vec![benchmark("a", adaptive), benchmark("b", adaptive)]);
    plan.max_time = Some(Duration::from_secs(6));
    let mut heard = Heard::default();
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut heard, &AtomicBool::new(false));
    assert_eq!(heard.short.len(), 1);
    assert!(measured.benchmarks.iter().all(|benchmark| benchmark.error.is_none()), "{measured:?}");
}

#[test]
fn time_that_ends_in_the_first_round_leaves_everything_unmeasured_and_is_said() {
    let mut executor = ScriptedExecutor::default();
    for name in ["a", "b", "c"] {
        executor.on_wall_ns(BASE, name, &[100 * MS]).on_wall_ns(HEAD, name, &[100 * MS]);
    }
    let mut plan = plan(["a", "b", "c"].map(|name| benchmark(name, SampleCount::Fixed(10))).to_vec());
    plan.benchmarks.iter_mut().for_each(|benchmark| benchmark.min_samples = 10);
    plan.max_time = Some(Duration::from_millis(700));
    let mut heard = Heard::default();
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut heard, &AtomicBool::new(false));
    let kinds: Vec<_> =
        measured.benchmarks.iter().map(|benchmark| benchmark.error.as_ref().unwrap().kind).collect();
    assert_eq!(kinds, [ErrorKind::NotMeasured; 3]);
    assert_eq!(measured.elapsed, Duration::from_millis(700));
    let [(needed, available)] = heard.short[..] else { panic!("{:?}", heard.short) };
    assert_eq!(available, Duration::from_millis(700));
    // 0.7 s gone, one whole round of twelve begun: 4 rounds of one, 5 of the two others, 0.4 s each.
    assert_eq!(needed, Duration::from_millis(700 + 14 * 400));
}

#[test]
fn an_interrupt_keeps_the_whole_rounds() {
    let flag = Arc::new(AtomicBool::new(false));
    let mut executor = ScriptedExecutor::default();
    for name in ["a", "b"] {
        executor.on_wall_ns(BASE, name, &[1]).on_wall_ns(HEAD, name, &[1]);
    }
    let count = SampleCount::Fixed(60);
    // Two rounds of both, one of one of them, and two runs of the other.
    executor.interrupt_after = Some((22, flag.clone()));
    let plan = plan(vec![benchmark("a", count), benchmark("b", count)]);
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut (), &flag);
    assert!(measured.interrupted);
    let mut samples: Vec<_> = measured.benchmarks.iter().map(counts).collect();
    samples.sort();
    assert_eq!(samples, [[4, 4], [6, 6]]);
    for benchmark in &measured.benchmarks {
        assert_eq!(benchmark.stopped_because, Some(StoppedBecause::Interrupted));
        assert_eq!(benchmark.error, None);
    }
}

#[test]
fn an_interrupt_before_the_first_round_is_an_error_of_what_has_no_samples() {
    let mut executor = ScriptedExecutor::default();
    let plan = plan(vec![benchmark("a", SampleCount::Fixed(10))]);
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut (), &AtomicBool::new(true));
    assert!(measured.interrupted && executor.calls.is_empty());
    assert_eq!(measured.benchmarks[0].error.as_ref().unwrap().kind, ErrorKind::Interrupted);
}

#[test]
fn head_alone_is_measured_on_after_all_comparisons() {
    let mut executor = ScriptedExecutor::default();
    for name in ["a", "b"] {
        executor.on_wall_ns(BASE, name, &[1]).on_wall_ns(HEAD, name, &[1]);
    }
    let mut a = benchmark("a", SampleCount::Fixed(4));
    a.head_alone_until = 9;
    let b = benchmark("b", SampleCount::Fixed(8));
    let mut heard = Heard::default();
    let never = AtomicBool::new(false);
    let measured = measure(&plan(vec![a, b]), &mut executor, &StopAtMinimum, &mut heard, &never);
    let a = &measured.benchmarks[0];
    // Rounds hold two runs of head.
    assert_eq!(counts(a), [4, 10]);
    assert_eq!(rounds(&a.sides[HEAD]), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    assert_eq!(rounds(&a.sides[BASE]), [0, 0, 1, 1]);
    assert_eq!(a.stopped_because, Some(StoppedBecause::FixedSamples));
    let last_compared = measured.benchmarks[1].sides.concat().iter().filter_map(|run| run.sequence).max();
    assert!(last_compared < a.sides[HEAD][4].sequence);
    assert_eq!(heard.progress.iter().filter(|progress| progress.part == Part::HeadAlone).count(), 3);
}

#[test]
fn max_time_ends_head_alone_without_a_word_against_the_comparison() {
    let mut executor = ScriptedExecutor::default();
    executor.on_wall_ns(BASE, "a", &[100 * MS]).on_wall_ns(HEAD, "a", &[100 * MS]);
    let mut plan = plan(vec![benchmark("a", SampleCount::Fixed(6))]);
    plan.benchmarks[0].head_alone_until = 200;
    plan.max_time = Some(Duration::from_secs(2));
    let a = run(&plan, &mut executor).benchmarks.remove(0);
    assert_eq!((counts(&a), &a.error), (vec![6, 14], &None));
    assert_eq!(a.stopped_because, Some(StoppedBecause::FixedSamples));
}

#[test]
fn progress_counts_what_is_finished_and_what_failed() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "bad", |_| failure()).on(HEAD, "bad", |_| failure());
    executor.on_wall_ns(BASE, "a", &[MS]).on_wall_ns(HEAD, "a", &[MS]);
    let plan = plan(vec![benchmark("bad", SampleCount::Fixed(10)), benchmark("a", SampleCount::Fixed(10))]);
    let mut heard = Heard::default();
    measure(&plan, &mut executor, &StopAtMinimum, &mut heard, &AtomicBool::new(false));
    let told: Vec<_> = heard
        .progress
        .iter()
        .map(|progress| (progress.rounds, progress.finished, progress.failed, progress.benchmarks))
        .collect();
    assert_eq!(told, [(1, 0, 0, 2), (2, 0, 0, 2), (3, 1, 1, 2), (4, 1, 1, 2), (5, 2, 1, 2)]);
    assert_eq!(heard.progress[4].elapsed, Duration::from_millis(23));
}

#[test]
fn the_same_seed_measures_in_the_same_order() {
    let calls = |seed| {
        let mut executor = ScriptedExecutor::default();
        for name in ["a", "b"] {
            executor.on_wall_ns(BASE, name, &[1]).on_wall_ns(HEAD, name, &[1]);
        }
        let count = SampleCount::Fixed(30);
        let mut plan = plan(vec![benchmark("a", count), benchmark("b", count)]);
        plan.seed = seed;
        run(&plan, &mut executor);
        executor.calls
    };
    assert_eq!(calls(1), calls(1));
    assert_ne!(calls(1), calls(2));
}

/// A criterion run of one benchmark: `total_ns` for so many iterations.
fn criterion_run(id: &str, iterations: f64, total_ns: f64) -> RunOutput {
    let benchmark = serde_json::json!({ "title": id, "throughput": null });
    let sample = serde_json::json!({ "sampling_mode": "Flat", "iters": [iterations], "times": [total_ns] });
    let file = |name: &str, value: serde_json::Value| CollectedFile {
        path: format!("x/new/{name}").into(),
        bytes: value.to_string().into_bytes(),
    };
    let files = vec![file("benchmark.json", benchmark), file("sample.json", sample)];
    RunOutput { files, ..output(total_ns as u64) }
}

#[test]
fn one_benchmark_with_a_time_of_its_own_makes_its_whole_group_quick_and_no_other() {
    let mut executor = ScriptedExecutor::default();
    let ids = ["slow/a", "slow/b", "fast/a"];
    // What criterion is told to select by.
    for revision in [BASE, HEAD] {
        for id in ids {
            // Only the first, ordinary runs of the group are long.
            executor.on(revision, &format!("^{id}$"), move |_| {
                let total_ns = if id.starts_with("slow/") { 3e9 } else { 1e7 };
                Ok(criterion_run(id, 1e7, total_ns))
            });
        }
    }
    let planned = |id: &str| {
        let mut planned = benchmark("t", SampleCount::Fixed(2));
        planned.identity.id = id.into();
        planned.harness = HarnessKind::Criterion;
        planned.sampling.warmup = 1;
        planned
    };
    let measured = run(&plan(ids.map(planned).to_vec()), &mut executor);

    let quick: Vec<bool> = measured.benchmarks.iter().map(|it| it.quick).collect();
    assert_eq!(quick, [true, true, false]);
    let ordinary = |id: &str| {
        let wanted = format!("^{id}$");
        let of_id = executor.calls.iter().filter(|call| call.command.args.iter().any(|arg| *arg == *wanted));
        of_id.filter(|call| !call.command.args.iter().any(|arg| arg == "--quick")).count()
    };
    assert_eq!(ordinary("slow/a") + ordinary("slow/b"), 1, "the first warm-up run of the group tells it");
    assert_eq!(ordinary("fast/a"), 6);
}
