//! The adapter that takes a whole program as one benchmark.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_benchgate::harness::{
    Executable, ExitOutcome, HarnessKind, ResolvedLaunch, RunOutput, Selection, contract::stderr_tail,
};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::ErrorKind;

const PROCESS: HarnessKind = HarnessKind::Process;

fn output(outcome: ExitOutcome) -> RunOutput {
    RunOutput {
        outcome,
        wall_ns: 20_000_000,
        user_ns: 25_000_000,
        system_ns: 5_000_000,
        peak_rss_bytes: 9 << 20,
        peak_rss_floor_bytes: 1 << 20,
        involuntary_switches: 3,
        stdout: Vec::new(),
        stderr: b"warming\nthread 'main' panicked at x.rs\n".to_vec(),
        files: Vec::new(),
    }
}

fn launch(exit_codes: &[i32]) -> ResolvedLaunch {
    ResolvedLaunch {
        args: vec!["--input".into(), "big.json".into()],
        env: vec![("N".into(), "2".into())],
        cwd: PathBuf::from("/slot/crate/sub"),
        stdin: Some(PathBuf::from("/slot/crate/in.txt")),
        exit_codes: exit_codes.to_vec(),
        facts: Default::default(),
    }
}

fn executable(kind: TargetKind) -> Executable {
    Executable {
        kind,
        path: PathBuf::from("/slot/target/release/deps/whole-1"),
        package_root: PathBuf::from("/slot/crate"),
        env: vec![("N".into(), "1".into())],
        runner: Vec::new(),
    }
}

#[test]
fn process_has_one_benchmark_and_is_never_asked_to_list() {
    assert_eq!(PROCESS.list_command(&executable(TargetKind::Bench), &launch(&[0])), None);
}

#[test]
fn process_starts_a_bench_as_cargo_does_and_a_bin_with_the_users_arguments_alone() {
    let selection = Selection::One("whole");
    let command =
        |kind| PROCESS.run_command(&executable(kind), &launch(&[0]), &selection, Duration::from_secs(3));
    let bench = command(TargetKind::Bench);
    assert_eq!(bench.program, Path::new("/slot/target/release/deps/whole-1"));
    assert_eq!(bench.args, ["--bench", "--input", "big.json"]);
    assert_eq!(bench.env, [(OsString::from("N"), OsString::from("2"))], "the launch wins over the build");
    assert_eq!(bench.cwd, Path::new("/slot/crate/sub"));
    assert_eq!(bench.stdin.as_deref(), Some(Path::new("/slot/crate/in.txt")));
    assert_eq!(bench.timeout, Duration::from_secs(3));
    assert!(bench.scratch_variable.is_none() && !bench.capture_stdout);
    assert_eq!(command(TargetKind::Bin).args, ["--input", "big.json"]);
    assert_eq!(command(TargetKind::Example).args, ["--input", "big.json"]);
}

#[test]
fn process_measures_wall_cpu_and_memory_of_one_start() {
    let run = output(ExitOutcome::Code(0));
    let measured = PROCESS.parse_run(&Selection::One("whole"), &launch(&[0]), &run).unwrap();
    assert_eq!(measured.len(), 1);
    assert_eq!(measured[0].id, "whole");
    let values = [
        (Metric::Latency, 20e6),
        (Metric::CpuTotal, 30e6),
        (Metric::CpuUser, 25e6),
        (Metric::CpuSystem, 5e6),
        (Metric::CpuUtilization, 150.0),
        (Metric::PeakRss, 9.0 * 1024.0 * 1024.0),
    ];
    assert_eq!(
        measured[0].values.iter().map(|(metric, value)| (metric.clone(), value)).collect::<Vec<_>>(),
        values
    );
}

#[test]
fn process_leaves_out_a_peak_rss_of_0_and_never_divides_by_0() {
    let mut run = output(ExitOutcome::Code(0));
    run.peak_rss_bytes = 0;
    run.wall_ns = 0;
    let measured = PROCESS.parse_run(&Selection::One("whole"), &launch(&[0]), &run).unwrap();
    assert_eq!(measured[0].values.get(&Metric::PeakRss), None);
    assert!(measured[0].values.iter().all(|(_, value)| value.is_finite()));
}

#[test]
fn process_counts_as_success_only_the_exit_codes_of_the_suite() {
    let parse = |outcome, codes: &[i32]| {
        PROCESS
            .parse_run(&Selection::One("whole"), &launch(codes), &output(outcome))
            .map_err(|error| error.kind)
    };
    assert!(parse(ExitOutcome::Code(3), &[0, 3]).is_ok());
    assert_eq!(parse(ExitOutcome::Code(0), &[3]), Err(ErrorKind::ExitCode));
    assert_eq!(parse(ExitOutcome::Signal(11), &[0]), Err(ErrorKind::ExitCode));
    assert_eq!(parse(ExitOutcome::TimedOut, &[0]), Err(ErrorKind::Timeout));
}

#[test]
fn process_failure_carries_the_end_of_standard_error() {
    let run = output(ExitOutcome::Code(101));
    let error = PROCESS.parse_run(&Selection::One("whole"), &launch(&[0, 3]), &run).unwrap_err();
    assert!(error.message.contains("code 101") && error.message.contains("0, 3"), "{error}");
    assert_eq!(stderr_tail(&run.stderr).as_deref(), Some("warming\nthread 'main' panicked at x.rs"));
}

#[test]
fn standard_error_is_kept_to_its_last_20_lines_and_2_kib_of_text() {
    let lines: String = (0..100).map(|line| format!("line {line}\n")).collect();
    let tail = stderr_tail(lines.as_bytes()).unwrap();
    assert_eq!(tail.lines().count(), 20);
    assert!(tail.starts_with("line 80") && tail.ends_with("line 99"));
    let crab = format!("x{}", "🦀".repeat(1000));
    let tail = stderr_tail(format!("{crab}yz").as_bytes()).unwrap();
    assert!(tail.len() <= 2048 && tail.starts_with('🦀'), "{}", tail.len());
    assert_eq!(stderr_tail(b" \n\n"), None);
}
