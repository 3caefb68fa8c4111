//! The adapter of gungraun and iai-callgrind against recorded outputs of gungraun 0.20 and iai-callgrind 0.16.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test may panic; what is read from text is exact"
)]

#[path = "harness_support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_benchgate::harness::{
    CollectedFile, Executable, Facts, HarnessKind, Measurement, ResolvedLaunch, RunOutput, Selection, Tools,
};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::ErrorKind;

const GUNGRAUN: HarnessKind = HarnessKind::Gungraun;
const IAI: HarnessKind = HarnessKind::IaiCallgrind;

fn read(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/harness").join(path)).unwrap()
}

fn output(stdout: &[u8], stderr: &[u8], code: i32) -> RunOutput {
    RunOutput { wall_ns: 1_000_000_000, ..support::output(stdout, stderr, code) }
}

fn with_files(files: &[(&str, &[u8])], code: i32) -> RunOutput {
    let file = |&(path, bytes): &(&str, &[u8])| CollectedFile { path: path.into(), bytes: bytes.to_vec() };
    RunOutput { files: files.iter().map(file).collect(), ..output(b"", b"", code) }
}

fn launch(runner: Option<&str>, valgrind: Option<&str>) -> ResolvedLaunch {
    let tools = Tools { runner: runner.map(PathBuf::from), valgrind: valgrind.map(PathBuf::from) };
    ResolvedLaunch {
        args: Vec::new(),
        env: Vec::new(),
        cwd: PathBuf::from("/slot/crate"),
        stdin: None,
        exit_codes: vec![0],
        facts: Facts { tools, ..Facts::default() },
    }
}

fn with_runner() -> ResolvedLaunch {
    launch(Some("/bin/gungraun-runner"), Some("/usr/bin/valgrind"))
}

fn executable() -> Executable {
    Executable {
        kind: TargetKind::Bench,
        path: PathBuf::from("/slot/target/release/deps/toy-1"),
        package_root: PathBuf::from("/slot/crate"),
        env: vec![("PATH".into(), "/bin".into())],
        runner: Vec::new(),
    }
}

fn one(harness: HarnessKind, id: &str, run: &RunOutput) -> Result<Measurement, (ErrorKind, String)> {
    match harness.parse_run(&Selection::One(id), &with_runner(), run) {
        Ok(mut measured) => {
            assert_eq!((measured.len(), measured[0].id.as_str()), (1, id));
            Ok(measured.remove(0))
        }
        Err(error) => {
            assert!(!error.message.contains('\n'), "{error}");
            Err((error.kind, error.message))
        }
    }
}

fn instructions(measurement: &Measurement) -> f64 {
    measurement.values.get(&Metric::Instructions).unwrap()
}

fn own(measurement: &Measurement, name: &str) -> Option<f64> {
    measurement.values.get(&Metric::from_name(name))
}

const FACTS: &[u8] = b"0.20.0\n--lib-bench\nbgun\n";

#[test]
fn golden_lists_give_the_lines_that_end_in_benchmark() {
    let ids = GUNGRAUN.parse_list(&output(
        &read("gungraun-0.20/list.txt"),
        &read("gungraun-0.20/list.stderr.txt"),
        0,
    ));
    let expected = ["bgun::grp::bench_mid::small", "bgun::grp::bench_mid::big", "bgun::grp::bench_hashed"];
    assert_eq!(ids.unwrap(), expected);
    let ids = IAI.parse_list(&output(&read("iai-callgrind-0.16/list.txt"), b"", 0)).unwrap();
    let expected =
        ["counts::grp::mid::small", "counts::grp::mid::big", "counts::grp::fixed", "counts::other::fixed"];
    assert_eq!(ids, expected);
}

#[test]
fn golden_summary_gives_the_instructions_and_the_simulated_figures() {
    let summary = read("gungraun-0.20/summary.json");
    let run = with_files(&[("bgun/grp/bench_mid.small/summary.json", &summary)], 0);
    let measured = one(GUNGRAUN, "bgun::grp::bench_mid::small", &run).unwrap();
    assert_eq!(instructions(&measured), 7612.0);
    assert_eq!(own(&measured, "estimated_cycles"), Some(7787.0));
    assert_eq!(own(&measured, "l1_hits"), Some(7612.0));
    assert_eq!(own(&measured, "ll_hits"), Some(0.0));
    assert_eq!(own(&measured, "ram_hits"), Some(5.0));
    assert_eq!(own(&measured, "total_read_write"), Some(7617.0));
    assert_eq!(measured.values.iter().count(), 6);
}

#[test]
fn golden_summary_of_a_second_run_gives_the_new_values() {
    let summary = read("gungraun-0.20/summary-second-run-hashed.json");
    let run = with_files(&[("bgun/grp/bench_hashed/summary.json", &summary)], 0);
    assert_eq!(instructions(&one(GUNGRAUN, "bgun::grp::bench_hashed", &run).unwrap()), 429_878.0);
    let summary = read("iai-callgrind-0.16/summary-second-run.json");
    let run = with_files(&[("counts/grp/fixed/summary.json", &summary)], 0);
    assert_eq!(instructions(&one(IAI, "counts::grp::fixed", &run).unwrap()), 4515.0);
}

#[test]
fn golden_summary_of_iai_callgrind_is_read_as_well() {
    let summary = read("iai-callgrind-0.16/summary.json");
    let run = with_files(&[("counts/grp/mid.big/summary.json", &summary)], 0);
    let measured = one(IAI, "counts::grp::mid::big", &run).unwrap();
    assert_eq!(instructions(&measured), 9015.0);
    assert_eq!(own(&measured, "estimated_cycles"), Some(11_063.0));
}

#[test]
fn golden_texts_of_runs_are_not_read_for_numbers() {
    for name in ["run.stdout.txt", "run2-against-old.stdout.txt"] {
        let run = output(&read(&format!("gungraun-0.20/{name}")), &read("gungraun-0.20/run.stderr.txt"), 0);
        assert_eq!(one(GUNGRAUN, "bgun::grp::bench_hashed", &run).unwrap_err().0, ErrorKind::MeasuredNothing);
        assert_eq!(GUNGRAUN.parse_list(&run).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn golden_profiles_without_the_runner_tell_count_and_id() {
    let big = read("gungraun-0.20/callgrind-out-direct-run.txt");
    let run = with_files(&[("facts", FACTS), ("0.0.1.callgrind", &big)], 0);
    let measured = one(GUNGRAUN, "bgun::grp::bench_mid::big", &run).unwrap();
    assert_eq!(instructions(&measured), 76_012.0);
    assert_eq!(measured.values.iter().count(), 1);

    let element = read("gungraun-0.20/callgrind-out-direct-element.txt");
    let facts: &[u8] = b"0.20.0\n--lib-bench\ncounts\n";
    let run = with_files(&[("facts", facts), ("1.0.0.2.callgrind", &element)], 0);
    let measured = one(GUNGRAUN, "counts::other::each::many_2", &run).unwrap();
    assert_eq!(instructions(&measured), 285.0);

    let big = read("iai-callgrind-0.16/callgrind-out-direct-run.txt");
    let facts: &[u8] = b"0.16.1\n--lib-bench\ncounts\n";
    let run = with_files(&[("facts", facts), ("grp.0.1.callgrind", &big)], 0);
    assert_eq!(instructions(&one(IAI, "counts::grp::mid::big", &run).unwrap()), 9015.0);
    assert_eq!(IAI.parse_list(&run).unwrap(), ["counts::grp::mid::big"]);
}

#[test]
fn all_benchmarks_of_a_run_are_told_at_once() {
    let (small, hashed) =
        (read("gungraun-0.20/summary.json"), read("gungraun-0.20/summary-second-run-hashed.json"));
    let run = with_files(&[("a/summary.json", &small), ("b/summary.json", &hashed)], 0);
    let all = GUNGRAUN.parse_run(&Selection::All, &with_runner(), &run).unwrap();
    assert_eq!(all.iter().map(instructions).collect::<Vec<_>>(), [7612.0, 429_878.0]);
    let nothing = GUNGRAUN.parse_run(&Selection::All, &with_runner(), &output(b"", b"", 0)).unwrap_err();
    assert_eq!(nothing.kind, ErrorKind::MeasuredNothing);
}

#[test]
fn limits_of_the_bench_itself_are_not_ours() {
    let summary = read("gungraun-0.20/summary.json");
    let files: &[(&str, &[u8])] = &[("a/summary.json", &summary)];
    assert!(one(GUNGRAUN, "bgun::grp::bench_mid::small", &with_files(files, 3)).is_ok());
    let failed = one(GUNGRAUN, "bgun::grp::bench_mid::small", &with_files(files, 1)).unwrap_err();
    assert_eq!(failed.0, ErrorKind::ExitCode);
    assert_eq!(one(GUNGRAUN, "a", &output(b"", b"", 3)).unwrap_err().0, ErrorKind::ExitCode);
}

#[test]
fn summary_of_another_shape_is_an_error_that_names_the_file_and_the_versions() {
    let cases: [(&str, ErrorKind, &str); 7] = [
        ("", ErrorKind::Output, "EOF"),
        ("{}", ErrorKind::Output, "names no `module_path`"),
        (r#"{"module_path": "a", "id": 3, "profiles": []}"#, ErrorKind::Output, "its `id` is no text"),
        (r#"{"module_path": "a", "id": null}"#, ErrorKind::Output, "has no `profiles`"),
        (
            r#"{"module_path": "a", "profiles": [{"tool": "DHAT", "data": {"total": {"metrics": {}}}}]}"#,
            ErrorKind::MetricFailed,
            "its tool is DHAT",
        ),
        (
            r#"{"module_path": "a", "profiles": [{"data": {"total": {"metrics": {"Ir": {"values": {"new": "x"}}}}}}]}"#,
            ErrorKind::Output,
            "`Ir` is not a number",
        ),
        (
            r#"{"module_path": "a", "profiles": [{"data": {"total": {"metrics": {"Ir": {"values": {"new": -7}}}}}}]}"#,
            ErrorKind::Output,
            "`Ir` is -7",
        ),
    ];
    for (text, kind, part) in cases {
        let run = with_files(&[("x/summary.json", text.as_bytes())], 0);
        let (actual, message) = one(GUNGRAUN, "a", &run).unwrap_err();
        assert_eq!(actual, kind, "{message}");
        assert!(message.contains(part), "{message}");
    }
    let (_, message) = one(IAI, "a", &with_files(&[("x/summary.json", b"[]")], 0)).unwrap_err();
    assert!(message.contains("iai-callgrind-runner's x/summary.json"), "{message}");
}

#[test]
fn missing_tools_are_named_with_the_version_to_install() {
    // The program says its version to whatever stands in for the runner.
    for run in [with_files(&[("facts", FACTS)], 0)] {
        let list = GUNGRAUN.parse_list(&run).unwrap_err();
        let (kind, message) = one(GUNGRAUN, "a", &run).unwrap_err();
        for (kind, message) in [(list.kind, list.message), (kind, message)] {
            assert_eq!(kind, ErrorKind::Unsupported);
            assert!(
                message.contains("`cargo install gungraun-runner --version 0.20.0`, and valgrind"),
                "{message}"
            );
        }
    }
    let alone = "gungraun: Error: …\nIs gungraun-runner installed and gungraun-runner in your $PATH?.\n";
    let error = GUNGRAUN.parse_list(&output(b"", alone.as_bytes(), 1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("cargo install gungraun-runner --version"), "{error}");
}

#[test]
fn runner_of_another_version_is_named_with_the_right_one() {
    let older =
        "gungraun_runner: Error: gungraun-runner (0.19.1) is older than gungraun (0.20.0). Please update";
    let error = GUNGRAUN.parse_list(&output(b"", older.as_bytes(), 1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("`cargo install gungraun-runner --version 0.20.0`"), "{error}");
    let newer =
        "iai-callgrind-runner (0.16.1) is newer than iai-callgrind (0.14.0). Please update iai-callgrind";
    let error = IAI.parse_list(&output(b"", newer.as_bytes(), 1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("newer than the iai-callgrind of the bench"), "{error}");
    // Any other failure keeps its kind.
    let error = GUNGRAUN.parse_list(&output(b"", b"panicked", 101)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ExitCode);
}

#[test]
fn runner_runs_in_a_home_of_its_own_and_gets_the_id_where_it_can_select() {
    let command = GUNGRAUN.run_command(
        &executable(),
        &with_runner(),
        &Selection::One("b::g::f::x"),
        Duration::from_secs(9),
    );
    assert_eq!(command.args, ["--bench", "--save-summary=json", "b::g::f::x"]);
    assert_eq!(command.scratch_variable, Some("GUNGRAUN_HOME"));
    assert!(command.env.contains(&("GUNGRAUN_COLOR".into(), "never".into())));
    assert_eq!(command.timeout, Duration::from_secs(9));

    let command =
        IAI.run_command(&executable(), &with_runner(), &Selection::One("b::g::f::x"), Duration::from_secs(9));
    assert_eq!(command.args, ["--bench", "--save-summary=json"]);
    assert_eq!(command.scratch_variable, Some("IAI_CALLGRIND_HOME"));
    assert!(IAI.runs_all() && !GUNGRAUN.runs_all());

    let list = GUNGRAUN.list_command(&executable(), &with_runner()).unwrap();
    assert_eq!(list.args, ["--bench", "--list"]);
}

#[test]
fn without_the_runner_valgrind_is_started_by_a_script_that_knows_the_wanted_case() {
    let launch = launch(None, Some("/usr/bin/valgrind"));
    let words = |harness: HarnessKind, selection: Selection<'_>| -> Vec<String> {
        let command = harness.run_command(&executable(), &launch, &selection, Duration::from_secs(9));
        assert_eq!(command.program, Path::new("/bin/sh"));
        assert!(command.scratch_variable.is_some());
        command.args[3..].iter().map(|word| word.to_str().unwrap().to_owned()).collect()
    };
    let program = "/slot/target/release/deps/toy-1";
    assert_eq!(
        words(GUNGRAUN, Selection::One("b::g::f::x")),
        [
            "gungraun",
            "/usr/bin/valgrind",
            "*::__gungraun_wrapper_mod::*",
            "b::g::__run",
            "b::f::__run_x",
            program
        ]
    );
    assert_eq!(words(GUNGRAUN, Selection::One("b::g::f"))[3..5], ["b::g::__run", "b::f::__run_wrapper"]);
    assert_eq!(words(IAI, Selection::One("b::g::f::x"))[3..5], ["b::g::__run", "b::f::x"]);
    assert_eq!(words(IAI, Selection::All)[3..5], ["", ""]);
    assert_eq!(words(IAI, Selection::One("odd"))[3..5], ["", ""]);
    let list = GUNGRAUN.list_command(&executable(), &launch).unwrap();
    assert_eq!(list.program, Path::new("/bin/sh"));
}

#[test]
fn profile_of_another_shape_is_an_error_and_one_that_counts_nothing_is_no_benchmark() {
    let broken = with_files(&[("facts", FACTS), ("0.0.0.callgrind", b"events: Ir\n")], 0);
    assert_eq!(one(GUNGRAUN, "a", &broken).unwrap_err().0, ErrorKind::Output);
    let nameless = with_files(&[("facts", FACTS), ("0.0.0.callgrind", b"events: Ir\nsummary: 5\n")], 0);
    let (kind, message) = one(GUNGRAUN, "a", &nameless).unwrap_err();
    assert_eq!(kind, ErrorKind::Output);
    assert!(message.contains("no function in it tells its benchmark"), "{message}");
    let zero = with_files(&[("facts", FACTS), ("0.0.0.callgrind", b"events: Ir\nsummary: 0\n")], 0);
    let (kind, message) = one(GUNGRAUN, "a", &zero).unwrap_err();
    assert_eq!(kind, ErrorKind::MetricFailed);
    assert!(message.contains("strip = false"), "{message}");
    // Other events may stand before the instructions.
    let profile = b"events: Dr Ir Dw\nsummary: 1 20 3\nfn=(1) bgun::grp::__run\ncfn=(2)\ncalls=1 0\nfn=(2) bgun::f::__run_wrapper\n";
    let run = with_files(&[("facts", FACTS), ("0.0.0.callgrind", profile)], 0);
    assert_eq!(instructions(&one(GUNGRAUN, "bgun::grp::f", &run).unwrap()), 20.0);
}
