//! Several benchmarks from one process, and both revisions in one: rounds, failures, what settles. No processes, no clock.
#![allow(clippy::unwrap_used)] // A helper of a test fails by panicking, as the test does.

use std::sync::atomic::AtomicBool;

use cargo_benchgate::harness::HarnessKind;
use cargo_benchgate::harness::contract::{
    CollectedFile, CommandSpec, Executable, ExitOutcome, Facts, ResolvedLaunch, RunOutput,
};
use cargo_benchgate::measure::scripted::output;
use cargo_benchgate::measure::{
    Counting, MeasurePlan, Measured, PlannedBenchmark, ScriptedExecutor, SidePlan, StopAtMinimum, StopRule,
    UnitPlan, count, measure,
};
use cargo_benchgate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::suite::settings::{SampleCount, Sampling};
use cargo_benchgate::verdict::evidence::{ErrorKind, Stage, StoppedBecause, UnitRun};

const BASE: usize = 0;
const HEAD: usize = 1;
const MS: u64 = 1_000_000;

fn side(revision: usize) -> SidePlan {
    SidePlan {
        revision,
        executable: Executable {
            path: "/live/sums".into(),
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
            facts: Facts::default(),
        },
        work: None,
        workdir: None,
        prepare: Vec::new(),
    }
}

/// A criterion benchmark of one target.
fn benchmark(id: &str, samples: SampleCount, unit: UnitPlan) -> PlannedBenchmark {
    let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: "sums".into() };
    PlannedBenchmark {
        identity: BenchmarkIdentity { target, variant: String::new(), id: id.into() },
        harness: HarnessKind::Criterion,
        sampling: Sampling { warmup: 0, samples, min_time_ns: 0, timeout_ns: 60_000 * MS },
        min_samples: 2,
        head_alone_until: 0,
        sides: vec![Some(side(BASE)), Some(side(HEAD))],
        unit,
    }
}

fn together() -> UnitPlan {
    UnitPlan { together: Some(0), ..UnitPlan::default() }
}

fn plan(benchmarks: Vec<PlannedBenchmark>) -> MeasurePlan {
    MeasurePlan { seed: 1, stage: Stage::Screen, first_sequence: 0, max_time: None, benchmarks }
}

fn run(plan: &MeasurePlan, executor: &mut ScriptedExecutor, stop: &dyn StopRule) -> Measured {
    measure(plan, executor, stop, &mut (), &AtomicBool::new(false))
}

/// What criterion leaves of these benchmarks, each with its latency in ns.
fn criterion(benchmarks: &[(&str, f64)]) -> RunOutput {
    let file = |path: String, text: String| CollectedFile { path: path.into(), bytes: text.into_bytes() };
    let files = benchmarks.iter().enumerate().flat_map(|(at, (id, latency))| {
        let benchmark = format!(r#"{{"title":"{id}","throughput":null}}"#);
        let sample = format!(r#"{{"sampling_mode":"Linear","iters":[10.0],"times":[{}]}}"#, latency * 10.0);
        [file(format!("{at}/new/benchmark.json"), benchmark), file(format!("{at}/new/sample.json"), sample)]
    });
    RunOutput { files: files.collect(), ..output(MS) }
}

fn latencies(runs: &[UnitRun]) -> Vec<f64> {
    runs.iter().map(|run| run.values.get(&Metric::Latency).unwrap()).collect()
}

fn selects(command: &CommandSpec, id: &str) -> bool {
    command.args.iter().any(|argument| argument.to_string_lossy().contains(id))
}

#[test]
fn one_process_a_side_and_run_gives_a_sample_of_every_benchmark() {
    let mut executor = ScriptedExecutor::default();
    for revision in [BASE, HEAD] {
        executor.on(revision, "sums", move |run| {
            let ns = 100.0 * (revision + 1) as f64 + run as f64;
            Ok(criterion(&[("a", ns), ("b", ns + 50.0), ("not selected", 1.0)]))
        });
    }
    let plan = plan(["a", "b"].map(|id| benchmark(id, SampleCount::Fixed(4), together())).to_vec());
    let measured = run(&plan, &mut executor, &StopAtMinimum);
    assert_eq!(executor.calls.len(), 8, "two rounds of four, not of eight");
    assert!(executor.calls.iter().all(|call| !selects(&call.command, "--exact")));
    for round in executor.order("sums").chunks(4) {
        assert!(matches!(round, [0, 1, 1, 0] | [1, 0, 0, 1]));
    }
    let [a, b] = &measured.benchmarks[..] else { panic!("{measured:?}") };
    assert_eq!(latencies(&a.sides[BASE]), [100.0, 101.0, 102.0, 103.0]);
    assert_eq!(latencies(&b.sides[HEAD]), [250.0, 251.0, 252.0, 253.0]);
    let places = |runs: &[UnitRun]| runs.iter().map(|run| (run.round, run.sequence)).collect::<Vec<_>>();
    assert_eq!(places(&a.sides[BASE]), places(&b.sides[BASE]));
}

#[test]
fn a_process_that_fails_drops_the_round_of_all_its_benchmarks() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "sums", |_| Ok(criterion(&[("a", 1.0), ("b", 1.0)])));
    executor.on(HEAD, "sums", |run| match run {
        1 => Ok(RunOutput { outcome: ExitOutcome::Code(101), ..output(MS) }),
        _ => Ok(criterion(&[("a", 1.0), ("b", 1.0)])),
    });
    let plan = plan(["a", "b"].map(|id| benchmark(id, SampleCount::Fixed(4), together())).to_vec());
    let measured = run(&plan, &mut executor, &StopAtMinimum);
    for benchmark in &measured.benchmarks {
        assert_eq!((benchmark.failures.len(), &benchmark.error), (1, &None));
        let rounds: Vec<_> = benchmark.sides[BASE].iter().map(|run| run.round.unwrap()).collect();
        assert_eq!(rounds, [1, 1, 2, 2]);
        assert_eq!(benchmark.sides[HEAD].len(), 4);
    }
    assert!(measured.benchmarks[1].failures[0].message.starts_with("sums/b, head: "));
}

#[test]
fn a_benchmark_that_is_missing_in_an_output_loses_its_own_round_alone() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "sums", |_| Ok(criterion(&[("a", 1.0), ("b", 1.0)])));
    executor.on(HEAD, "sums", |_| Ok(criterion(&[("a", 1.0)])));
    let plan = plan(["a", "b"].map(|id| benchmark(id, SampleCount::Fixed(6), together())).to_vec());
    let measured = run(&plan, &mut executor, &StopAtMinimum);
    assert_eq!(measured.benchmarks[0].sides[HEAD].len(), 6);
    let missing = &measured.benchmarks[1];
    assert_eq!(missing.error.as_ref().map(|error| error.kind), Some(ErrorKind::MeasuredNothing));
    assert!(missing.sides.iter().all(Vec::is_empty));
}

#[test]
fn a_line_that_cannot_be_read_is_the_error_of_its_own_benchmark_alone() {
    let mut executor = ScriptedExecutor::default();
    let lines = |b: &str| RunOutput {
        stdout: format!("benchgate: a latency 5 ns\nbenchgate: b latency {b} ns\n").into_bytes(),
        ..output(MS)
    };
    executor.on(BASE, "sums", move |_| Ok(lines("7")));
    executor.on(HEAD, "sums", move |_| Ok(lines("much")));
    let of_lines = |id| PlannedBenchmark {
        harness: HarnessKind::Lines,
        ..benchmark(id, SampleCount::Fixed(6), together())
    };
    let measured = run(&plan(["a", "b"].map(of_lines).to_vec()), &mut executor, &StopAtMinimum);
    assert_eq!(measured.benchmarks[0].error, None);
    assert_eq!(measured.benchmarks[0].sides[HEAD].len(), 6);
    let wrong = measured.benchmarks[1].error.as_ref().expect("its line cannot be read");
    assert_eq!(wrong.kind, ErrorKind::MetricFailed);
    assert!(wrong.message.contains("`much` is not a number"), "{}", wrong.message);
}

/// Stops the first benchmark at 2 samples, the second at 6.
struct Uneven;

impl StopRule for Uneven {
    fn stop(&self, benchmark: usize, runs: &[Vec<UnitRun>]) -> Option<StoppedBecause> {
        ([2, 6][benchmark] <= runs[0].len()).then_some(StoppedBecause::Settled)
    }
}

#[test]
fn what_is_settled_keeps_no_more_samples_while_the_others_go_on() {
    let mut executor = ScriptedExecutor::default();
    for revision in [BASE, HEAD] {
        executor.on(revision, "sums", |_| Ok(criterion(&[("a", 1.0), ("b", 1.0)])));
    }
    let samples = SampleCount::Adaptive { min: 2, max: 20 };
    let plan = plan(["a", "b"].map(|id| benchmark(id, samples, together())).to_vec());
    let measured = run(&plan, &mut executor, &Uneven);
    let counts = |place: usize| measured.benchmarks[place].sides.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!((counts(0), counts(1)), (vec![2, 2], vec![6, 6]));
    assert_eq!(executor.calls.len(), 12);
}

fn counting(id: &str) -> PlannedBenchmark {
    let unit = UnitPlan { counting: Counting::Callgrind { latency_ns: Some(10.0) }, ..UnitPlan::default() };
    benchmark(id, SampleCount::Adaptive { min: 4, max: 8 }, unit)
}

fn callgrind(instructions: u64) -> RunOutput {
    let text =
        format!("version: 1\nevents: Ir\nsummary: {instructions}\n\nfn=(1) x\n0 1\ntotals: {instructions}\n");
    let file = CollectedFile { path: "callgrind.out.17".into(), bytes: text.into_bytes() };
    RunOutput { files: vec![file], ..output(MS) }
}

fn counts(measured: &Measured) -> [Vec<f64>; 2] {
    let of = |side: usize| {
        let runs = measured.benchmarks[0].sides[side].iter();
        runs.map(|run| run.values.get(&Metric::Instructions).unwrap()).collect()
    };
    [of(BASE), of(HEAD)]
}

#[test]
fn counts_that_agree_take_one_run_of_head_and_two_of_base() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "valgrind", |_| Ok(callgrind(1000))).on(HEAD, "valgrind", |_| Ok(callgrind(1020)));
    let plan = plan(vec![counting("a")]);
    let measured = count(&plan, &mut executor, &StopAtMinimum, &mut (), &AtomicBool::new(false));
    assert_eq!(counts(&measured), [vec![1000.0, 1000.0], vec![1020.0]]);
    assert_eq!(measured.benchmarks[0].error, None);
    let command = &executor.calls[0].command;
    let has = |argument: &str| command.args.iter().any(|it| it == argument);
    assert!(has("--test") && !has("--bench") && has("/live/sums"), "{command:?}");
    assert!(has("--callgrind-out-file=%q{CRITERION_HOME}/callgrind.out.%p"), "{command:?}");
    assert!(has("--toggle-collect=*criterion::bencher::*Bencher*::iter"), "{command:?}");
}

#[test]
fn counts_that_differ_are_thrown_away_and_taken_in_rounds() {
    let mut executor = ScriptedExecutor::default();
    executor.on(BASE, "valgrind", |run| Ok(callgrind(1000 + run as u64)));
    executor.on(HEAD, "valgrind", |run| Ok(callgrind(2000 + run as u64)));
    let plan = plan(vec![counting("a")]);
    let measured = count(&plan, &mut executor, &StopAtMinimum, &mut (), &AtomicBool::new(false));
    assert_eq!(
        counts(&measured),
        [vec![1002.0, 1003.0, 1004.0, 1005.0], vec![2001.0, 2002.0, 2003.0, 2004.0]]
    );
    for round in executor.order("valgrind")[3..].chunks(4) {
        assert!(matches!(round, [0, 1, 1, 0] | [1, 0, 0, 1]));
    }
}

#[test]
fn what_cannot_be_counted_is_tried_once_and_says_why() {
    for (output, words) in [
        (callgrind(0), "met none of the harness's functions"),
        (output(MS), "callgrind wrote no file"),
        (
            RunOutput { outcome: ExitOutcome::Signal(4), ..output(MS) },
            "under callgrind the benchmark was killed",
        ),
    ] {
        let mut executor = ScriptedExecutor::default();
        for revision in [BASE, HEAD] {
            let output = output.clone();
            executor.on(revision, "valgrind", move |_| Ok(output.clone()));
        }
        let plan = plan(vec![counting("a")]);
        let measured = count(&plan, &mut executor, &StopAtMinimum, &mut (), &AtomicBool::new(false));
        let error = measured.benchmarks[0].error.as_ref().unwrap();
        assert_eq!(error.kind, ErrorKind::MetricFailed);
        assert!(error.message.contains(words), "{error:?}");
        assert_eq!(executor.calls.len(), 1);
    }
}

/// A tango benchmark whose programs have paths of their own.
fn in_lockstep(samples: SampleCount) -> PlannedBenchmark {
    let own = |name: &str| Executable { path: format!("/{name}/sums").into(), ..side(BASE).executable };
    let unit = UnitPlan { lockstep: Some(Box::new([own("base"), own("head")])), ..UnitPlan::default() };
    PlannedBenchmark { harness: HarnessKind::Tango, ..benchmark("tiny", samples, unit) }
}

/// A dump of ten blocks of 100 iterations.
fn dump(compared_ns: f64, comparing_ns: f64) -> RunOutput {
    let text = format!("{},{},100\n", compared_ns * 100.0, comparing_ns * 100.0).repeat(10);
    let file = CollectedFile { path: "tiny.csv".into(), bytes: text.into_bytes() };
    RunOutput { files: vec![file], ..output(MS) }
}

#[test]
fn in_lock_step_two_processes_in_the_two_orders_are_the_four_runs_of_a_round() {
    let mut executor = ScriptedExecutor::default();
    // The revision that is live is that of the program that compares itself with the other.
    executor.on(BASE, "/head/sums", |run| Ok(dump(20.0 + run as f64, 10.0 + run as f64)));
    executor.on(HEAD, "/base/sums", |run| Ok(dump(10.0 + run as f64, 20.0 + run as f64)));
    let measured = run(&plan(vec![in_lockstep(SampleCount::Fixed(4))]), &mut executor, &StopAtMinimum);
    let it = &measured.benchmarks[0];
    assert_eq!((it.failures.len(), executor.calls.len(), measured.next_sequence), (0, 4, 4));
    for side in [BASE, HEAD] {
        let all = latencies(&it.sides[side]);
        assert_eq!(all.len(), 4);
        let first = [10.0, 20.0][side];
        assert!(all.iter().all(|&ns| (first..first + 2.0).contains(&ns)), "{side}: {all:?}");
    }
    let places = |side: usize| it.sides[side].iter().map(|run| (run.round, run.sequence)).collect::<Vec<_>>();
    assert_eq!(places(BASE), places(HEAD));
    // Each round has both orders.
    let leaders: Vec<usize> = executor.calls.iter().map(|call| call.revision).collect();
    assert!(leaders.chunks(2).all(|round| round == [BASE, HEAD] || round == [HEAD, BASE]), "{leaders:?}");
}

#[test]
fn programs_that_cannot_run_in_lock_step_are_run_one_after_the_other() {
    let mut executor = ScriptedExecutor::default();
    for (revision, other) in [(BASE, "/head/sums"), (HEAD, "/base/sums")] {
        executor.on(revision, other, |_| Ok(RunOutput { outcome: ExitOutcome::Code(101), ..output(MS) }));
        executor.on(revision, "sums", |_| {
            let stdout = b"tiny                                              [  1.0 ns ...   1.1 ns ...   1.2 ns ]  stddev:   0.1 ns\n";
            Ok(RunOutput { stdout: stdout.to_vec(), ..output(MS) })
        });
    }
    let measured = run(&plan(vec![in_lockstep(SampleCount::Fixed(4))]), &mut executor, &StopAtMinimum);
    let it = &measured.benchmarks[0];
    assert_eq!(it.failures.len(), 1);
    assert!(it.failures[0].message.contains("lock-step run failed"), "{:?}", it.failures);
    let compares = |command: &CommandSpec| command.args.iter().any(|argument| argument == "compare");
    assert_eq!(executor.calls.iter().filter(|call| compares(&call.command)).count(), 1);
    assert!(executor.calls[1..].iter().all(|call| call.command.program.starts_with("/live")));
}
