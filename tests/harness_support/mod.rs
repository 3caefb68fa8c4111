//! What the tests of the harness adapters share: recorded outputs, a program that is never started.
#![allow(dead_code, unreachable_pub, reason = "each test program takes a part of it")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_benchgate::harness::{
    CommandSpec, Executable, ExitOutcome, Facts, HarnessError, HarnessKind, Measurement, ResolvedLaunch,
    RunBudget, RunOutput, Selection,
};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::ErrorKind;

/// A recorded output.
pub fn golden(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/harness").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What came of a process that printed this.
pub fn output(stdout: impl AsRef<[u8]>, stderr: impl AsRef<[u8]>, code: i32) -> RunOutput {
    RunOutput {
        outcome: ExitOutcome::Code(code),
        wall_ns: 15_000_000,
        user_ns: 10_000_000,
        system_ns: 2_000_000,
        peak_rss_bytes: 8 << 20,
        peak_rss_floor_bytes: 0,
        involuntary_switches: 0,
        stdout: stdout.as_ref().to_vec(),
        stderr: stderr.as_ref().to_vec(),
        files: Vec::new(),
    }
}

pub fn launch() -> ResolvedLaunch {
    ResolvedLaunch {
        args: Vec::new(),
        env: Vec::new(),
        cwd: PathBuf::from("/slot/crate"),
        stdin: None,
        exit_codes: vec![0],
        facts: Facts::default(),
    }
}

pub fn executable() -> Executable {
    Executable {
        kind: TargetKind::Bench,
        path: PathBuf::from("/slot/target/release/deps/toy-1"),
        package_root: PathBuf::from("/slot/crate"),
        env: vec![("PATH".into(), "/bin".into())],
        runner: Vec::new(),
    }
}

/// The arguments of the command that measures this.
pub fn run_args(harness: HarnessKind, selection: Selection<'_>, latency_hint_ns: Option<f64>) -> Vec<String> {
    let budget = RunBudget { timeout: Duration::from_secs(7), latency_hint_ns, quick: false };
    args(&harness.run_command(&executable(), &launch(), &selection, budget))
}

pub fn args(command: &CommandSpec) -> Vec<String> {
    command.args.iter().map(|arg| arg.to_str().expect("they are text").to_owned()).collect()
}

pub fn list(harness: HarnessKind, stdout: &str) -> Vec<String> {
    harness.parse_list(&output(stdout, "", 0)).unwrap_or_else(|error| panic!("{error}"))
}

pub fn all(harness: HarnessKind, stdout: &str) -> Vec<Measurement> {
    harness
        .parse_run(&Selection::All, &launch(), &output(stdout, "", 0))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The ids and latencies of everything an output holds.
pub fn latencies(harness: HarnessKind, stdout: &str) -> Vec<(String, f64)> {
    let measured = all(harness, stdout).into_iter();
    measured.map(|it| (it.id.clone(), it.values.get(&Metric::Latency).expect("each has one"))).collect()
}

pub fn one(harness: HarnessKind, id: &str, stdout: &str) -> Measurement {
    let measured = harness.parse_run(&Selection::One(id), &launch(), &output(stdout, "", 0));
    let [one] = &measured.unwrap_or_else(|error| panic!("{id}: {error}"))[..] else {
        panic!("exactly one is selected by {id}")
    };
    assert_eq!(one.id, id);
    one.clone()
}

pub fn latency(harness: HarnessKind, id: &str, stdout: &str) -> f64 {
    one(harness, id, stdout).values.get(&Metric::Latency).expect("it is always there")
}

/// Why an output gives nothing for an id.
pub fn failure(harness: HarnessKind, id: &str, output: &RunOutput) -> (ErrorKind, String) {
    told(harness.parse_run(&Selection::One(id), &launch(), output).expect_err("there is nothing to read"))
}

/// The parts of an error, whose message is always one line.
pub fn told(error: HarnessError) -> (ErrorKind, String) {
    assert!(!error.message.contains('\n') && !error.message.ends_with('.'), "{error}");
    (error.kind, error.message)
}

pub fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9 * right.abs(), "{left} is not {right}");
}
