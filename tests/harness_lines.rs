//! The line protocol: what a line says, and what is made of lines that are wrong.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test may panic; what is read from text is exact"
)]

#[path = "harness_support/mod.rs"]
mod support;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use cargo_benchgate::harness::{
    DeclaredMetric, Executable, ExitOutcome, Facts, HarnessKind, Measurement, ResolvedLaunch, RunOutput,
    Selection,
};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::verdict::evidence::ErrorKind;

const LINES: HarnessKind = HarnessKind::Lines;

fn output(stdout: &str) -> RunOutput {
    support::output(stdout, "", 0)
}

fn declared(name: &str, unit: &str, better: Better) -> DeclaredMetric {
    DeclaredMetric { metric: Metric::from_name(name), unit: Unit::from_name(unit), better }
}

fn launch() -> ResolvedLaunch {
    let metrics = vec![
        declared("tokens", "tokens", Better::Lower),
        declared("rate", "rows/s", Better::Higher),
        declared("build", "ns", Better::Lower),
        declared("share", "percent", Better::Lower),
    ];
    ResolvedLaunch {
        args: vec!["--input".into(), "big.json".into()],
        env: Vec::new(),
        cwd: PathBuf::from("/slot/crate"),
        stdin: None,
        exit_codes: vec![0],
        facts: Facts { metrics, ..Facts::default() },
    }
}

fn executable(kind: TargetKind) -> Executable {
    Executable {
        kind,
        path: PathBuf::from("/slot/target/release/deps/toy-1"),
        package_root: PathBuf::from("/slot/crate"),
        env: vec![("PATH".into(), "/bin".into())],
        runner: Vec::new(),
    }
}

fn all(stdout: &str) -> Vec<Measurement> {
    LINES.parse_run(&Selection::All, &launch(), &output(stdout)).unwrap()
}

/// The value of the only line of a run, in the base unit.
fn value(line: &str) -> f64 {
    let measured = all(line);
    let [measurement] = &measured[..] else { panic!("{measured:?}") };
    let mut values = measurement.values.iter();
    let (_, value) = values.next().unwrap();
    assert_eq!(values.next(), None);
    value
}

/// Why a line cannot be read.
fn why(line: &str) -> String {
    let error = LINES.parse_run(&Selection::All, &launch(), &output(line)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::MetricFailed, "{line}: {error}");
    assert!(!error.message.contains('\n'), "{error}");
    error.message
}

fn one(id: &str, stdout: &str) -> Result<Vec<Measurement>, (ErrorKind, String)> {
    LINES
        .parse_run(&Selection::One(id), &launch(), &output(stdout))
        .map_err(|error| (error.kind, error.message))
}

#[test]
fn lines_of_the_protocol_are_found_among_all_others_whatever_their_ends() {
    let stdout = "warming up\r\nbenchgate: parse latency 12 ns\r\nbenchgate is great\n  benchgate: x latency 1 ns\n\
                  benchgated: y latency 1 ns\nbenchgate:\tparse\tallocations   3 \t count\n\nbenchgate: render latency 7 us";
    let measured = all(stdout);
    let ids: Vec<&str> = measured.iter().map(|measurement| measurement.id.as_str()).collect();
    assert_eq!(ids, ["parse", "render"]);
    assert_eq!(measured[0].values.get(&Metric::Latency), Some(12.0));
    assert_eq!(measured[0].values.get(&Metric::Allocations), Some(3.0));
    assert_eq!(measured[1].values.get(&Metric::Latency), Some(7000.0));
}

#[test]
fn bytes_that_are_no_text_around_the_lines_change_nothing() {
    let mut run = output("");
    run.stdout = b"\xff\xfe\x00\nbenchgate: a latency 5 ns\n\xc3\n".to_vec();
    let measured = LINES.parse_run(&Selection::All, &launch(), &run).unwrap();
    assert_eq!(measured[0].values.get(&Metric::Latency), Some(5.0));
}

#[test]
fn every_unit_becomes_the_base_unit_of_its_metric() {
    for (unit, expected) in
        [("ns", 2.5), ("us", 2.5e3), ("µs", 2.5e3), ("μs", 2.5e3), ("ms", 2.5e6), ("s", 2.5e9), ("m", 1.5e11)]
    {
        assert_eq!(value(&format!("benchgate: a latency 2.5 {unit}")), expected, "{unit}");
        assert_eq!(value(&format!("benchgate: a build 2.5 {unit}")), expected, "{unit}");
    }
    for (unit, expected) in
        [("B", 3.0), ("bytes", 3.0), ("KiB", 3072.0), ("MiB", 3_145_728.0), ("KB", 3000.0), ("GB", 3e9)]
    {
        assert_eq!(value(&format!("benchgate: a peak_rss 3 {unit}")), expected, "{unit}");
        assert_eq!(value(&format!("benchgate: a allocated_bytes 3 {unit}")), expected, "{unit}");
    }
    assert_eq!(value("benchgate: a instructions 1e6 count"), 1e6);
    assert_eq!(value("benchgate: a cpu_total 1 ms"), 1e6);
    assert_eq!(value("benchgate: a tokens 12 tokens"), 12.0);
    assert_eq!(value("benchgate: a share 12 %"), 12.0);
}

#[test]
fn value_is_divided_by_the_iterations() {
    assert_eq!(value("benchgate: a latency 5 us iterations=1000"), 5.0);
    assert_eq!(value("benchgate: a allocations 1000 count iterations=1000"), 1.0);
    assert_eq!(value("benchgate: a rate 500 rows/s better=higher iterations=1"), 500.0);
    for wrong in ["0", "-3", "1.5", "", "many", "99999999999999999999999"] {
        assert!(
            why(&format!("benchgate: a latency 5 us iterations={wrong}")).contains("number of iterations")
        );
    }
}

#[test]
fn last_line_of_an_id_and_a_metric_counts() {
    let measured = all(
        "benchgate: a latency 1 ns\nbenchgate: b latency 2 ns\nbenchgate: a latency 3 ns\nbenchgate: a tokens 4 tokens\n",
    );
    assert_eq!(measured.len(), 2);
    assert_eq!(measured[0].values.get(&Metric::Latency), Some(3.0));
    assert_eq!(measured[0].values.get(&Metric::from_name("tokens")), Some(4.0));
}

#[test]
fn ids_hold_anything_in_quotes_and_all_but_spaces_without() {
    let long = "x".repeat(300);
    for (written, id) in [
        ("group/one", "group/one"),
        ("module::inner::case", "module::inner::case"),
        ("it's\"quoted\"", "it's\"quoted\""),
        ("C:\\dir", "C:\\dir"),
        ("\"with spaces  and\ttab\"", "with spaces  and\ttab"),
        (r#""say \"hi\" \\ bye""#, r#"say "hi" \ bye"#),
        ("\"🚀 größer\"", "🚀 größer"),
        (&long, &long),
    ] {
        let stdout = format!("benchgate: {written} latency 1 ns\n");
        assert_eq!(LINES.parse_list(&output(&stdout)).unwrap(), [id], "{written}");
        assert_eq!(one(id, &stdout).unwrap()[0].id, id, "{written}");
    }
}

#[test]
fn quoting_as_rust_prints_a_string_is_read_back() {
    for id in [
        "plain",
        "two words",
        "a \"b\" c",
        "back\\slash",
        "emoji 🚀",
        "größer/µs",
        "a::b<c>",
        "a\tb\r\n",
        "👩\u{200d}💻",
        "it's",
    ] {
        let stdout = format!("benchgate: {id:?} latency 1 ns\n");
        assert_eq!(LINES.parse_list(&output(&stdout)).unwrap(), [id]);
    }
}

#[test]
fn line_without_a_readable_id_is_an_error_of_the_whole_run() {
    for (line, part) in [
        ("benchgate:a latency 1 ns", "no space after"),
        ("benchgate: ", "id is empty"),
        ("benchgate: \"\" latency 1 ns", "id is empty"),
        ("benchgate: \"open latency 1 ns", "does not end"),
        ("benchgate: \"a\"latency 1 ns", "not followed by a space"),
        (r#"benchgate: "a\qb" latency 1 ns"#, "stands before"),
        (r#"benchgate: "a\u{12" latency 1 ns"#, "stands before"),
        (r#"benchgate: "a\u{d800}" latency 1 ns"#, "stands before"),
        (r#"benchgate: "a\u{fffffffffff}" latency 1 ns"#, "stands before"),
    ] {
        assert!(why(line).contains(part), "{line}: {}", why(line));
        let (kind, message) = one("other", &format!("benchgate: other latency 1 ns\n{line}\n")).unwrap_err();
        assert_eq!(kind, ErrorKind::MetricFailed, "{message}");
        assert_eq!(LINES.parse_list(&output(line)).unwrap_err().kind, ErrorKind::MetricFailed);
    }
}

#[test]
fn malformed_line_is_an_error_of_its_benchmark_that_shows_the_line_and_the_right_form() {
    for (line, part) in [
        ("benchgate: a latency", "not all there"),
        ("benchgate: a latency 1", "not all there"),
        ("benchgate: a latency one ns", "`one` is not a number"),
        ("benchgate: a latency 1,000 ns", "`1,000` is not a number"),
        ("benchgate: a latency NaN ns", "not a finite number"),
        ("benchgate: a latency inf ns", "not a finite number"),
        ("benchgate: a latency 1e999 ns", "not a finite number"),
        ("benchgate: a latency -1 ns", "never negative"),
        ("benchgate: a allocations -1 count", "never negative"),
        ("benchgate: a latency 1 ns loud", "`loud` is neither"),
        ("benchgate: a latency 1 ns better=faster", "`better=faster` is neither"),
        ("benchgate: a throughput 1 per_second", "cannot be reported"),
        ("benchgate: a cpu_user 1 ns", "cannot be reported"),
    ] {
        let message = why(line);
        assert!(message.contains(part), "{message}");
        assert!(message.contains(line), "{message}");
        assert!(message.contains("write `benchgate: ID METRIC VALUE UNIT`"), "{message}");
        // Another benchmark goes on.
        let stdout = format!("{line}\nbenchgate: b latency 2 ns\n");
        assert_eq!(one("b", &stdout).unwrap()[0].values.get(&Metric::Latency), Some(2.0));
        assert_eq!(one("a", &stdout).unwrap_err().0, ErrorKind::MetricFailed);
        assert_eq!(LINES.parse_list(&output(&stdout)).unwrap(), ["a", "b"]);
    }
    let colour = why("benchgate: a \u{1b}[31mred 1 x");
    assert!(
        colour.contains(r"\u{1b}[31mred` is not the name of a metric") && !colour.contains('\u{1b}'),
        "{colour}"
    );
    let long = why(&format!("benchgate: a latency {} ns", "9".repeat(2000)));
    assert!(long.len() < 700 && long.contains('…'), "{long}");
}

#[test]
fn unit_that_contradicts_the_declared_one_is_an_error_that_names_both() {
    for (line, part) in [
        (
            "benchgate: a latency 1 bytes",
            "`bytes` is not a unit of `latency`, which is in ns, us, µs, ms or s",
        ),
        ("benchgate: a peak_rss 1 ns", "`ns` is not a unit of `peak_rss`"),
        ("benchgate: a instructions 1 instr", "which is in `count`"),
        ("benchgate: a tokens 1 count", "`count` is not a unit of `tokens`, which is declared in `tokens`"),
        ("benchgate: a build 1 count", "which is declared in ns"),
    ] {
        assert!(why(line).contains(part), "{}", why(line));
    }
}

#[test]
fn direction_that_contradicts_the_declared_one_is_an_error() {
    assert_eq!(value("benchgate: a rate 3 rows/s better=higher"), 3.0);
    assert_eq!(value("benchgate: a latency 3 ns better=lower"), 3.0);
    assert!(
        why("benchgate: a rate 3 rows/s better=lower").contains("is declared in the suite, and better when")
    );
    assert!(
        why("benchgate: a latency 3 ns better=higher").contains("`latency` is built in, and better when")
    );
}

#[test]
fn undeclared_metric_is_kept_in_whatever_unit_and_may_be_negative() {
    assert_eq!(value("benchgate: a drift -2.5 widgets"), -2.5);
    assert_eq!(value("benchgate: a start 2 ms better=higher"), 2e6);
    assert_eq!(value("benchgate: a cache 2 KiB"), 2048.0);
    assert_eq!(value("benchgate: a zero -0.0 x"), 0.0);
}

#[test]
fn run_that_ends_well_without_a_line_has_measured_nothing() {
    for stdout in ["", "all fine\n", "Benchgate: a latency 1 ns\n"] {
        let error = LINES.parse_run(&Selection::All, &launch(), &output(stdout)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::MeasuredNothing);
        assert_eq!(LINES.parse_list(&output(stdout)).unwrap(), Vec::<String>::new());
    }
    let (kind, message) = one("b", "benchgate: a latency 1 ns\n").unwrap_err();
    assert_eq!(kind, ErrorKind::MeasuredNothing);
    assert!(message.contains("`b`"), "{message}");
}

#[test]
fn failed_run_says_how_it_ended_and_a_list_stands_where_its_lines_do() {
    let mut run = output("benchgate: a latency 1 ns\n");
    run.outcome = ExitOutcome::Code(3);
    let error = LINES.parse_run(&Selection::One("a"), &launch(), &run).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ExitCode);
    let accepted = ResolvedLaunch { exit_codes: vec![3], ..launch() };
    assert!(LINES.parse_run(&Selection::One("a"), &accepted, &run).is_ok());
    assert_eq!(LINES.parse_list(&run).unwrap(), ["a"]);
    run.stdout.clear();
    let error = LINES.parse_list(&run).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ExitCode);
    assert!(error.message.contains("exited with code 3"), "{error}");
}

#[test]
fn program_is_run_as_it_is_for_the_list_and_for_every_selection() {
    let bench = executable(TargetKind::Bench);
    let list = LINES.list_command(&bench, &launch()).unwrap();
    let expected: Vec<OsString> = ["--bench", "--input", "big.json"].map(OsString::from).to_vec();
    assert_eq!((&list.args, list.capture_stdout), (&expected, true));
    for selection in [Selection::One("a"), Selection::All] {
        let run = LINES.run_command(&bench, &launch(), &selection, Duration::from_secs(9));
        assert_eq!((&run.args, run.timeout), (&expected, Duration::from_secs(9)));
        assert_eq!((&run.env, &run.cwd), (&list.env, &list.cwd));
    }
    let bin = LINES.list_command(&executable(TargetKind::Bin), &launch()).unwrap();
    assert_eq!(bin.args, expected[1..]);
    assert!(LINES.runs_all());
}
