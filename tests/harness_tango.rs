//! The tango adapter against recorded outputs of tango-bench 0.9.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "harness_support/mod.rs"]
mod support;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_benchgate::harness::{
    CollectedFile, CommandSpec, Executable, HarnessKind, Measurement, ResolvedLaunch, RunBudget, RunOutput,
    Selection,
};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::ErrorKind;

const TANGO: HarnessKind = HarnessKind::Tango;

fn read(name: &str) -> Vec<u8> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/harness/tango-0.9");
    std::fs::read(golden.join(name)).unwrap()
}

fn output(stdout: &[u8], code: i32) -> RunOutput {
    RunOutput { wall_ns: 300_000_000, ..support::output(stdout, "", code) }
}

fn with_dump(name: &str, dump: &[u8], code: i32) -> RunOutput {
    RunOutput { files: vec![CollectedFile { path: name.into(), bytes: dump.to_vec() }], ..output(b"", code) }
}

fn launch() -> ResolvedLaunch {
    ResolvedLaunch {
        args: vec!["-o".into()],
        env: Vec::new(),
        cwd: PathBuf::from("/slot/crate"),
        stdin: None,
        exit_codes: vec![0],
        facts: Default::default(),
    }
}

fn executable(side: &str) -> Executable {
    Executable {
        kind: TargetKind::Bench,
        path: format!("/slot/{side}/target/release/deps/toy-1").into(),
        package_root: PathBuf::from("/slot/crate"),
        env: vec![("PATH".into(), "/bin".into())],
        runner: Vec::new(),
    }
}

fn lockstep(id: &str) -> Option<CommandSpec> {
    TANGO.lockstep_command(
        &executable("head"),
        &executable("base"),
        &launch(),
        &Selection::One(id),
        Duration::from_secs(9),
    )
}

fn latency(measurement: &Measurement) -> f64 {
    assert_eq!(measurement.values.iter().count(), 1);
    measurement.values.get(&Metric::Latency).unwrap()
}

fn solo(id: &str, stdout: &str) -> Result<f64, (ErrorKind, String)> {
    match TANGO.parse_run(&Selection::One(id), &launch(), &output(stdout.as_bytes(), 0)) {
        Ok(measured) => {
            assert_eq!((measured.len(), measured[0].id.as_str()), (1, id));
            Ok(latency(&measured[0]))
        }
        Err(error) => Err((error.kind, error.message)),
    }
}

fn pair(id: &str, run: &RunOutput) -> Result<[f64; 2], (ErrorKind, String)> {
    match TANGO.parse_lockstep(&Selection::One(id), &launch(), run) {
        Ok(sides) => {
            assert_eq!([sides[0].id.as_str(), sides[1].id.as_str()], [id, id]);
            Ok([latency(&sides[0]), latency(&sides[1])])
        }
        Err(error) => Err((error.kind, error.message)),
    }
}

fn close(actual: f64, expected: f64) {
    assert!((actual / expected - 1.0).abs() < 1e-12, "{actual} is not {expected}");
}

#[test]
fn golden_list_gives_one_name_a_line() {
    for name in ["list.txt", "bench-flag.txt"] {
        let ids = TANGO.parse_list(&output(&read(name), 0)).unwrap();
        assert_eq!(ids, ["tiny", "mid_10us", "slow_10ms"], "{name}");
    }
}

#[test]
fn golden_refused_list_flag_is_an_error_and_no_list() {
    let mut run = output(b"", 2);
    run.stderr = read("list-flag.stderr.txt");
    let error = TANGO.parse_list(&run).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ExitCode);
    assert!(error.message.starts_with("listing the tango benchmarks failed"), "{error}");
}

#[test]
fn golden_solo_gives_the_mean_of_each_benchmark() {
    let text = String::from_utf8(read("solo.txt")).unwrap();
    assert_eq!(solo("tiny", &text), Ok(24.3));
    assert_eq!(solo("mid_10us", &text), Ok(27_300.0));
    assert_eq!(solo("slow_10ms", &text), Ok(28_000_000.0));
    let all = TANGO.parse_run(&Selection::All, &launch(), &output(text.as_bytes(), 0)).unwrap();
    let ids: Vec<&str> = all.iter().map(|measurement| measurement.id.as_str()).collect();
    assert_eq!(ids, ["tiny", "mid_10us", "slow_10ms"]);
}

#[test]
fn golden_dump_gives_a_pair_whose_ratio_is_the_median_of_the_rows() {
    let [base, head] = pair("tiny", &with_dump("tiny.csv", &read("dump-tiny.csv"), 0)).unwrap();
    let rows: [(f64, f64); 3] =
        [(3_264_329.0, 2_563_818.0), (3_470_423.0, 26_609_988.0), (3_186_082.0, 2_573_065.0)];
    let mut ratios = rows.map(|(base, head)| head / base);
    ratios.sort_by(f64::total_cmp);
    close(head / base, ratios[1]);
    // The level is that of the two medians.
    close(base * head, 3_264_329.0 / 322_580.0 * 2_573_065.0 / 322_580.0);
}

#[test]
fn golden_compare_text_holds_no_benchmark_twice() {
    let mut run = with_dump("tiny.csv", b"100,200,10\n", 0);
    run.stdout = read("compare.txt").split(|&byte| byte == b'\n').next().unwrap().to_vec();
    assert!(pair("tiny", &run).is_ok());
    run.stdout = [run.stdout.clone(), b"\n".to_vec(), run.stdout].concat();
    let (kind, message) = pair("tiny", &run).unwrap_err();
    assert_eq!(kind, ErrorKind::Output);
    assert!(message.contains("more than one benchmark named `tiny`"), "{message}");
}

#[test]
fn constant_slowdown_is_the_ratio_whatever_disturbed_both_sides() {
    let rows = [(10.0, 1.0), (90.0, 1.0), (11.0, 1.0), (400.0, 1.0), (10.5, 1.0)];
    let dump: String = rows.map(|(base, _)| format!("{},{},1000\n", base * 1e6, base * 1.25e6)).concat();
    let [base, head] = pair("a", &with_dump("a.csv", dump.as_bytes(), 0)).unwrap();
    close(head / base, 1.25);
    close(base, 11_000.0);
}

#[test]
fn sides_that_change_places_give_the_inverse_ratio() {
    let rows = [(31, 40), (30, 44), (35, 39), (33, 80), (90, 41), (30, 42)];
    let dump = |swap: bool| -> String {
        rows.iter()
            .map(|&(a, b)| if swap { format!("{b},{a},3\n") } else { format!("{a},{b},3\n") })
            .collect()
    };
    let [base, head] = pair("a", &with_dump("a.csv", dump(false).as_bytes(), 0)).unwrap();
    let [swapped_base, swapped_head] = pair("a", &with_dump("a.csv", dump(true).as_bytes(), 0)).unwrap();
    close(swapped_base, head);
    close(swapped_head, base);
}

#[test]
fn sample_of_no_time_at_all_leaves_the_plain_medians() {
    assert_eq!(pair("a", &with_dump("a.csv", b"0,0,10\n0,0,10\n", 0)), Ok([0.0, 0.0]));
    assert_eq!(pair("a", &with_dump("a.csv", b"0,5,10\n", 0)), Ok([0.0, 0.5]));
}

#[test]
fn status_1_beside_a_dump_is_tangos_own_opinion_and_without_one_a_failure() {
    let [base, head] = pair("a/b", &with_dump("a-b.csv", b"10,20,10\r\n", 1)).unwrap();
    close(base, 1.0);
    close(head, 2.0);
    let (kind, message) = pair("a/b", &output(b"", 1)).unwrap_err();
    assert_eq!(kind, ErrorKind::ExitCode);
    assert!(message.contains("must not print there"), "{message}");
    let (kind, _) = pair("a/b", &with_dump("a-b.csv", b"10,20,10\n", 101)).unwrap_err();
    assert_eq!(kind, ErrorKind::ExitCode);
    assert_eq!(
        pair("other", &with_dump("a-b.csv", b"10,20,10\n", 0)).unwrap_err().0,
        ErrorKind::MeasuredNothing
    );
}

#[test]
fn dump_of_another_shape_is_an_error_that_shows_the_row() {
    for dump in ["", "\n", "1,2\n", "1,2,3,4\n", "1,2,0\n", "-1,2,3\n", "NaN,2,3\n", "1,inf,3\n", "a,b,c\n"] {
        let (kind, message) = pair("a", &with_dump("a.csv", dump.as_bytes(), 0)).unwrap_err();
        assert_eq!(kind, ErrorKind::Output, "{dump:?}");
        assert!(message.contains("tango-bench 0.9"), "{message}");
    }
    let (_, message) = pair("a", &with_dump("a.csv", b"1,2,3\n1;2;3\n", 0)).unwrap_err();
    assert!(message.contains("`1;2;3`"), "{message}");
}

#[test]
fn lines_of_other_shapes_between_the_results_are_left_alone() {
    let line = "a [b] ... ]                                         [  1.0 ns ...   2.0 ns ...   3.0 ns ]  stddev:   0.1 ns";
    let text = format!("hello\r\n[ 1 ... 2 ]\n{line}\r\nbye stddev: 3\n ]  stddev: x\n");
    assert_eq!(solo("a [b] ... ]", &text), Ok(2.0));
    assert_eq!(solo("a", &text).unwrap_err().0, ErrorKind::MeasuredNothing);
    let zero = "a  [     0 ns ...     0 ns ...     0 ns ]  stddev:     0 ns";
    assert_eq!(solo("a", zero), Ok(0.0));
    let second = "a  [    1.0 s ...    1.5 s ...    2.0 s ]  stddev:     0 ns";
    assert_eq!(solo("a", second), Ok(1.5e9));
}

#[test]
fn result_that_is_no_time_is_an_error_of_its_benchmark() {
    for mean in ["2.0 lightyears", "fast", "NaN ns", "-2.0 ns", "inf s"] {
        let text = format!(
            "a  [ 1.0 ns ... {mean} ... 3.0 ns ]  stddev: 0.1 ns\nb  [ 1.0 ns ... 2.0 ns ... 3.0 ns ]  stddev: 0.1 ns"
        );
        let (kind, message) = solo("a", &text).unwrap_err();
        assert_eq!(kind, ErrorKind::Output);
        assert!(message.contains(mean), "{message}");
        assert_eq!(solo("b", &text), Ok(2.0));
    }
}

#[test]
fn two_benchmarks_of_one_name_are_refused_since_tango_selects_by_name() {
    let line = "a  [ 1.0 ns ... 2.0 ns ... 3.0 ns ]  stddev: 0.1 ns\n";
    let (kind, message) = solo("a", &line.repeat(2)).unwrap_err();
    assert_eq!(kind, ErrorKind::Output);
    assert!(message.contains("different names"), "{message}");
    assert_eq!(TANGO.parse_list(&output(b"a\nb\na\n", 0)).unwrap(), ["a", "b"]);
}

#[test]
fn run_that_measured_nothing_is_an_error_even_with_status_0() {
    assert_eq!(solo("gone", "").unwrap_err().0, ErrorKind::MeasuredNothing);
    let error = TANGO.parse_run(&Selection::All, &launch(), &output(b"", 0)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::MeasuredNothing);
}

#[test]
fn filter_takes_every_character_of_an_id_as_itself() {
    for (id, filter) in [
        ("steps/small", "--filter=steps/small"),
        ("-dash", "--filter=-dash"),
        ("!a*b?c[d]{e,f}\\", r"--filter=\!a\*b\?c\[d\]\{e\,f\}\\"),
        ("say \"hi\" 🚀", "--filter=say \"hi\" 🚀"),
    ] {
        let command =
            TANGO.run_command(&executable("head"), &launch(), &Selection::One(id), Duration::from_secs(9));
        let args: [OsString; 6] =
            ["--color=never", "solo", "--bench", "--time=0.2", filter, "-o"].map(OsString::from);
        assert_eq!(command.args, args);
        assert_eq!((command.timeout, command.capture_stdout), (Duration::from_secs(9), true));
    }
    let all = TANGO.run_command(
        &executable("head"),
        &launch(),
        &Selection::All,
        RunBudget::cheapest(Duration::from_secs(9)),
    );
    assert_eq!(all.args, ["--color=never", "solo", "--bench", "--time=0.05", "-o"].map(OsString::from));
}

#[test]
fn lockstep_starts_head_with_base_beside_it_and_dumps_into_a_fresh_directory() {
    let command = lockstep("a/b").unwrap();
    assert_eq!(command.program, Path::new("/slot/head/target/release/deps/toy-1"));
    let args: Vec<&str> = command.args.iter().map(|arg| arg.to_str().unwrap()).collect();
    assert_eq!(
        args,
        [
            "--color=never",
            "compare",
            "--bench",
            "--time=0.2",
            "--filter=a/b",
            "--dump",
            "{scratch}",
            "/slot/base/target/release/deps/toy-1",
            "-o"
        ]
    );
    assert_eq!(command.collect, ["*.csv"]);
    assert!(command.scratch_variable.is_some());
}

#[test]
fn lockstep_is_not_possible_where_the_dump_would_have_too_long_a_name() {
    assert!(lockstep(&"x".repeat(251)).is_some());
    assert!(lockstep(&"x".repeat(252)).is_none());
    let all = TANGO.lockstep_command(
        &executable("head"),
        &executable("base"),
        &launch(),
        &Selection::All,
        Duration::from_secs(9),
    );
    assert!(all.is_none());
    // Alone, the same benchmark is measured all the same.
    let id = "x".repeat(300);
    let text = format!("{id}  [ 1.0 ns ... 2.0 ns ... 3.0 ns ]  stddev: 0.1 ns");
    assert_eq!(solo(&id, &text), Ok(2.0));
}
