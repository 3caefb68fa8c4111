//! What callgrind is asked and what its files say; the CPU time that a slow criterion benchmark shows.
#![allow(clippy::unwrap_used)] // A helper of a test fails by panicking, as the test does.

use std::path::PathBuf;
use std::time::Duration;

use cargo_benchgate::harness::callgrind::{Count, Way};
use cargo_benchgate::harness::{
    CollectedFile, Executable, ExitOutcome, Facts, HarnessKind, ResolvedLaunch, RunBudget, RunOutput,
    Selection,
};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::ErrorKind;

fn executable() -> Executable {
    Executable {
        kind: TargetKind::Bench,
        path: PathBuf::from("/slot/live/target/release/deps/toy-1"),
        package_root: PathBuf::from("/slot/live/tree"),
        env: vec![("PATH".into(), "/bin".into())],
        runner: Vec::new(),
    }
}

fn launch() -> ResolvedLaunch {
    ResolvedLaunch {
        args: vec!["--mine".into()],
        env: Vec::new(),
        cwd: PathBuf::from("/slot/live/tree"),
        stdin: None,
        exit_codes: vec![0],
        facts: Facts::default(),
    }
}

fn budget() -> RunBudget {
    RunBudget::from(Duration::from_secs(60))
}

fn output(files: &[&str]) -> RunOutput {
    let files = files.iter().enumerate().map(|(at, text)| CollectedFile {
        path: format!("callgrind.out.{at}").into(),
        bytes: text.as_bytes().to_vec(),
    });
    RunOutput {
        outcome: ExitOutcome::Code(0),
        wall_ns: 900_000_000,
        user_ns: 500_000_000,
        system_ns: 10_000_000,
        peak_rss_bytes: 80 << 20,
        peak_rss_floor_bytes: 0,
        involuntary_switches: 0,
        stdout: Vec::new(),
        stderr: Vec::new(),
        files: files.collect(),
    }
}

fn count(harness: HarnessKind) -> Count {
    Count::of(harness, &executable(), &launch(), "grp/one", budget()).unwrap()
}

#[test]
fn a_whole_program_is_counted_as_it_is_started_with_ten_times_its_limit() {
    let count = count(HarnessKind::Process);
    let [command] = count.commands() else { panic!("{count:?}") };
    let args: Vec<_> = command.args.iter().map(|arg| arg.to_str().unwrap()).collect();
    assert_eq!(command.program, PathBuf::from("valgrind"));
    assert_eq!(
        args,
        [
            "-q",
            "--command-line-only=yes",
            "--tool=callgrind",
            "--callgrind-out-file=%q{BENCHGATE_COUNT_DIR}/callgrind.out.%p",
            "--dump-line=no",
            "--",
            "/slot/live/target/release/deps/toy-1",
            "--bench",
            "--mine",
        ]
    );
    assert_eq!(command.timeout, Duration::from_secs(600));
    assert_eq!(command.scratch_variable, Some("BENCHGATE_COUNT_DIR"));
    // A program that forks leaves a file of every process.
    let both = output(&["events: Ir\nsummary: 1000\n", "events: Ir\nsummary: 30\ntotals: 30\n"]);
    assert_eq!(count.parse(&[both]).unwrap().to_bits(), 1030.0_f64.to_bits());
}

#[test]
fn nothing_is_counted_in_place_of_a_runner_or_of_a_harness_that_shows_no_function() {
    let emulated = Executable { runner: vec!["qemu".into()], ..executable() };
    assert_eq!(Count::of(HarnessKind::Process, &emulated, &launch(), "x", budget()), None);
    for &harness in HarnessKind::ALL {
        let counted = Count::of(harness, &executable(), &launch(), "x", budget()).is_some();
        assert_eq!(counted, !matches!(Way::of(harness), Way::Own | Way::Never), "{harness}");
    }
}

#[test]
fn files_without_a_count_of_instructions_are_errors_and_never_a_number() {
    let count = count(HarnessKind::Criterion);
    for file in
        ["", "summary: 12\n", "events: Dr\nsummary: 12\n", "events: Ir\nsummary: many\n", "events: Ir\n"]
    {
        let error = count.parse(&[output(&[file])]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::MetricFailed, "{file:?}");
        assert!(error.message.contains("no `summary:`"), "{error}");
    }
    let zero = count.parse(&[output(&["events: Ir\nsummary: 0\n"])]).unwrap_err();
    assert!(zero.message.contains("`grp/one`") && zero.message.contains("stripped"), "{zero}");
}

/// A criterion run whose process took 0.51 s of CPU time.
fn criterion(mode: &str, iters: &[f64], times: &[f64]) -> RunOutput {
    let file = |name: &str, text: String| CollectedFile {
        path: format!("slow/new/{name}").into(),
        bytes: text.into_bytes(),
    };
    let sample = format!(r#"{{"sampling_mode":"{mode}","iters":{iters:?},"times":{times:?}}}"#);
    let files = vec![
        file("benchmark.json", r#"{"title":"slow","throughput":null}"#.to_owned()),
        file("sample.json", sample),
    ];
    RunOutput { files, ..output(&[]) }
}

fn cpu_total(output: &RunOutput) -> Option<f64> {
    let measured = HarnessKind::Criterion.parse_run(&Selection::One("slow"), &launch(), output).unwrap();
    measured[0].values.get(&Metric::CpuTotal)
}

#[test]
fn a_slow_criterion_function_has_the_cpu_time_of_an_iteration_and_a_fast_one_has_none() {
    // Ten samples of one iteration and one to warm up.
    let slow = criterion("Flat", &[1.0; 10], &[45e6; 10]);
    assert_eq!(cpu_total(&slow), Some(510e6 / 11.0));
    assert_eq!(cpu_total(&criterion("Flat", &[1.0; 10], &[0.9e6; 10])), None, "less than a millisecond");
    assert_eq!(
        cpu_total(&criterion("Flat", &[2.0; 10], &[45e6; 10])),
        None,
        "how often it warmed up is unknown"
    );
    assert_eq!(cpu_total(&criterion("Linear", &[1.0; 10], &[45e6; 10])), None);
}
