//! The driver over real programs behind a fixed path.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // A helper of a test fails by panicking, as the test does.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use cargo_benchgate::harness::HarnessKind;
use cargo_benchgate::harness::contract::{Executable, ResolvedLaunch};
use cargo_benchgate::measure::{
    LiveExecutor, MeasurePlan, PlannedBenchmark, RunnerClient, SidePlan, StopAtMinimum, UnitPlan, WorkPlan,
    measure,
};
use cargo_benchgate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::suite::settings::{SampleCount, Sampling};
use cargo_benchgate::verdict::evidence::{ErrorKind, Stage};

fn side(home: &Path, revision: usize, name: &str) -> SidePlan {
    let live = home.join("live");
    SidePlan {
        revision,
        executable: Executable {
            path: live.join(name),
            kind: TargetKind::Bench,
            package_root: live.clone(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("LOG".into(), home.join("log").into())],
            runner: Vec::new(),
        },
        launch: ResolvedLaunch {
            args: Vec::new(),
            env: Vec::new(),
            cwd: live.clone(),
            stdin: None,
            exit_codes: vec![0],
            facts: Default::default(),
        },
        work: Some(WorkPlan::File(live.join("input"))),
        workdir: None,
        prepare: Vec::new(),
    }
}

fn benchmark(home: &Path, name: &str) -> PlannedBenchmark {
    let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: name.into() };
    PlannedBenchmark {
        identity: BenchmarkIdentity { target, variant: String::new(), id: name.into() },
        harness: HarnessKind::Process,
        sampling: Sampling {
            warmup: 1,
            samples: SampleCount::Fixed(4),
            min_time_ns: 0,
            timeout_ns: 50_000_000_000,
        },
        min_samples: 2,
        head_alone_until: 0,
        sides: vec![Some(side(home, 0, name)), Some(side(home, 1, name))],
        unit: UnitPlan::default(),
    }
}

#[test]
fn every_unit_run_runs_the_program_and_reads_the_files_of_its_revision() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    std::fs::create_dir(path("runs")).unwrap();
    for (revision, input) in [("base", "12"), ("head", "12345")] {
        std::fs::create_dir(path(revision)).unwrap();
        std::fs::write(path(revision).join("input"), input).unwrap();
        let exit = if revision == "head" { 9 } else { 0 };
        for (name, exit) in [("good", 0), ("broken", exit)] {
            let program = path(revision).join(name);
            let script = format!("#!/bin/sh\necho {name} {revision} $(cat input) >>\"$LOG\"\nexit {exit}\n");
            std::fs::write(&program, script).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let benchmarks = vec![benchmark(home.path(), "good"), benchmark(home.path(), "broken")];
    let plan = MeasurePlan { seed: 3, stage: Stage::Screen, first_sequence: 0, max_time: None, benchmarks };
    let never = AtomicBool::new(false);
    let client = RunnerClient::new(env!("CARGO_BIN_EXE_cargo-benchgate"), path("runs"));
    let flip = |revision: usize| {
        std::fs::remove_file(path("live")).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        symlink(["base", "head"][revision], path("live"))
    };
    let mut executor = LiveExecutor::new(client, flip, &never);
    let measured = measure(&plan, &mut executor, &StopAtMinimum, &mut (), &never);

    let [good, broken] = &measured.benchmarks[..] else { panic!("{measured:?}") };
    assert_eq!(good.error, None);
    for (side, work) in [(0, 2.0), (1, 5.0)] {
        assert_eq!(good.sides[side].len(), 4);
        for run in &good.sides[side] {
            assert_eq!(run.work, Some(work));
            assert!(0.0 < run.values.get(&Metric::Latency).unwrap());
            assert!(0.0 < run.values.get(&Metric::PeakRss).unwrap());
            assert!(run.values.get(&Metric::CpuTotal).is_some());
        }
    }
    assert_eq!(broken.error.as_ref().unwrap().kind, ErrorKind::ExitCode);

    // The programs say the same of the order as the samples do, after one warm-up run a revision.
    let log = std::fs::read_to_string(path("log")).unwrap();
    let ran: Vec<&str> = log.lines().filter(|line| line.starts_with("good")).skip(2).collect();
    let mut told: Vec<(u64, &str)> = Vec::new();
    for (side, line) in [(0, "good base 12"), (1, "good head 12345")] {
        told.extend(good.sides[side].iter().map(|run| (run.sequence.unwrap(), line)));
    }
    told.sort_unstable();
    assert_eq!(told.iter().map(|&(_, line)| line).collect::<Vec<_>>(), ran);
    // Broken head failed in warm-up and in two rounds, and was left alone then.
    assert_eq!(log.lines().filter(|line| line.starts_with("broken head")).count(), 3);

    drop(executor);
    assert_eq!(std::fs::read_dir(path("runs")).unwrap().count(), 0);
}
