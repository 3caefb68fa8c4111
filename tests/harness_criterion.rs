//! The criterion adapter against recorded outputs of criterion 0.4, 0.5 and 0.8.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "harness_support/mod.rs"]
mod support;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cargo_benchgate::harness::{
    CollectedFile, Executable, ExitOutcome, HarnessKind, RunBudget, RunOutput, Selection,
};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::ErrorKind;
use support::launch;

const CRITERION: HarnessKind = HarnessKind::Criterion;

const IDS: [&str; 9] = [
    "tiny",
    "mid 10us",
    "hashed",
    "grp/alloc/v/100",
    "grp/100",
    "grp/alloc/v/1000",
    "grp/1000",
    "slow/10ms",
    "batched",
];

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/harness").join(path)
}

fn read(path: &str) -> Vec<u8> {
    fs::read(golden(path)).unwrap()
}

fn output(stdout: &[u8], stderr: &[u8], code: i32) -> RunOutput {
    support::output(stdout, stderr, code)
}

fn executable() -> Executable {
    Executable {
        kind: TargetKind::Bench,
        path: PathBuf::from("/slot/target/release/deps/toy-1"),
        package_root: PathBuf::from("/slot/crate"),
        env: vec![("PATH".into(), "/bin".into()), ("CARGO_PKG_NAME".into(), "toy".into())],
        runner: Vec::new(),
    }
}

/// Every file below a recorded output directory, as the driver collects them: by name, in any order.
fn collect(home: &Path, names: &[&str]) -> Vec<CollectedFile> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(home, &mut found);
    found.retain(|path| names.iter().any(|name| path.ends_with(name)));
    let file = |path: PathBuf| CollectedFile {
        bytes: fs::read(&path).unwrap(),
        path: path.strip_prefix(home).unwrap().to_owned(),
    };
    found.into_iter().map(file).collect()
}

fn home(path: &str) -> Vec<CollectedFile> {
    let command = CRITERION.run_command(&executable(), &launch(), &Selection::All, Duration::from_secs(1));
    collect(&golden(path), command.collect)
}

/// A benchmark's two files in `<directory>/new`.
fn files(directory: &str, full_id: &str, sample: &str) -> Vec<CollectedFile> {
    let benchmark = serde_json::json!({
        "group_id": full_id, "function_id": null, "value_str": null, "throughput": null,
        "full_id": full_id, "directory_name": directory, "title": full_id,
    });
    let file = |name: &str, bytes: Vec<u8>| CollectedFile {
        path: Path::new(directory).join("new").join(name),
        bytes,
    };
    vec![file("benchmark.json", benchmark.to_string().into_bytes()), file("sample.json", sample.into())]
}

fn latency(id: &str, files: Vec<CollectedFile>) -> f64 {
    let mut run = output(b"", b"", 0);
    run.files = files;
    let measured = CRITERION.parse_run(&Selection::One(id), &launch(), &run).unwrap();
    assert_eq!(measured.len(), 1);
    assert_eq!(measured[0].id, id);
    assert_eq!(measured[0].values.iter().count(), 1, "only time per iteration is read from criterion");
    measured[0].values.get(&Metric::Latency).unwrap()
}

fn failure(id: &str, run: &RunOutput) -> (ErrorKind, String) {
    let error = CRITERION.parse_run(&Selection::One(id), &launch(), run).unwrap_err();
    assert!(!error.message.contains('\n'), "{error}");
    (error.kind, error.message)
}

/// criterion's own median of the same samples, from estimates.json.
fn recorded_median(version: &str, id: &str) -> f64 {
    let directory = match id.strip_prefix("grp/alloc/v/") {
        Some(rest) => format!("grp/alloc_v/{rest}"),
        None => id.to_owned(),
    };
    let path = format!("criterion-{version}/home/{directory}/new/estimates.json");
    let estimates: serde_json::Value = serde_json::from_slice(&read(&path)).unwrap();
    estimates["median"]["point_estimate"].as_f64().unwrap()
}

fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9 * right.abs(), "{left} is not {right}");
}

#[test]
fn criterion_lists_its_ids_in_order_in_every_recorded_shape() {
    let shapes = [
        "criterion-0.4/list.txt",
        "criterion-0.5/list-terse.txt",
        "criterion-0.5/list-pretty.txt",
        "criterion-0.8/list-terse.txt",
        "criterion-0.8/list-pretty.txt",
    ];
    for shape in shapes {
        assert_eq!(CRITERION.parse_list(&output(&read(shape), b"", 0)).unwrap(), IDS, "{shape}");
    }
}

#[test]
fn criterion_list_ignores_what_the_bench_itself_prints_and_keeps_odd_ids_whole() {
    let stdout = b"loading: corpus\nodd: id / ?*: benchmark\n\xff\xfe: benchmark\nsize: 3 benchmarks\n\
                   \xc3\xa9\xf0\x9f\xa6\x80: benchmark\nodd: id / ?*: benchmark\n: benchmark? no";
    let ids = CRITERION.parse_list(&output(stdout, b"", 0)).unwrap();
    assert_eq!(ids, ["odd: id / ?*", "é🦀"]);
}

#[test]
fn criterion_list_of_version_0_4_is_told_from_what_a_newer_bench_prints() {
    let newer = b"loading: bench\ntiny: benchmark\n";
    assert_eq!(CRITERION.parse_list(&output(newer, b"", 0)).unwrap(), ["tiny"]);
    let older = b"loading: bench line\ntiny: bench\n\nodd: x?y: bench\n";
    assert_eq!(CRITERION.parse_list(&output(older, b"", 0)).unwrap(), ["tiny", "odd: x?y"]);
}

#[test]
fn criterion_0_3_is_refused_with_the_version_to_take() {
    let stderr =
        b"error: Found argument '--quick' which wasn't expected, or isn't valid in this context\n\nUSAGE:\n";
    let error = CRITERION.parse_list(&output(b"", stderr, 1)).unwrap_err();
    assert!(error.message.contains("version 0.4 or later"), "{error}");
    // A base like this is not comparable; the change that updates criterion must be able to pass.
    assert_eq!(error.kind, ErrorKind::Unsupported);
    let refused = output(b"", &read("criterion-0.4/list-format-terse.stderr.txt"), 2);
    assert_eq!(CRITERION.parse_list(&refused).unwrap_err().kind, ErrorKind::ExitCode);
}

#[test]
fn criterion_list_that_fails_says_how_it_ended() {
    let error = CRITERION.parse_list(&output(b"", b"", 101)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ExitCode);
    assert!(error.message.contains("code 101"), "{error}");
    let mut hung = output(b"", b"", 0);
    hung.outcome = ExitOutcome::TimedOut;
    assert_eq!(CRITERION.parse_list(&hung).unwrap_err().kind, ErrorKind::Timeout);
}

#[test]
fn criterion_sample_is_the_median_of_times_over_iterations_in_every_recorded_run() {
    for version in ["0.5", "0.8"] {
        let mut run = output(&read(&format!("criterion-{version}/run-all.stdout.txt")), b"", 0);
        run.files = home(&format!("criterion-{version}/home"));
        let all = CRITERION.parse_run(&Selection::All, &launch(), &run).unwrap();
        let mut ids: Vec<&str> = all.iter().map(|it| it.id.as_str()).collect();
        let mut expected = IDS;
        ids.sort_unstable();
        expected.sort_unstable();
        assert_eq!(ids, expected, "{version}");
        for id in IDS {
            let one = latency(id, run.files.clone());
            let of_all = all.iter().find(|it| it.id == id).unwrap().values.get(&Metric::Latency);
            assert_eq!(Some(one), of_all);
            assert_close(one, recorded_median(version, id));
        }
    }
}

#[test]
fn criterion_median_of_an_odd_number_of_samples_is_the_middle_one() {
    let sample = r#"{"iters":[1.0,2.0,4.0],"times":[9.0,2.0,20.0]}"#;
    assert_close(latency("x", files("x", "x", sample)), 5.0);
}

#[test]
fn criterion_median_ignores_the_preempted_samples_that_move_mean_and_slope() {
    let value = latency("tiny", home("criterion-0.8/home"));
    assert!((10.0..10.3).contains(&value), "{value}");
}

#[test]
fn criterion_flat_mode_is_read_like_linear_mode() {
    // Twenty samples of one iteration each; the middle two are 21.719961 and 25.306933 ms.
    let value = latency("slow/10ms", home("criterion-0.5/home"));
    assert_close(value, (21_719_961.0 + 25_306_933.0) / 2.0);
}

#[test]
fn criterion_ids_come_from_the_file_and_not_from_the_directory() {
    let files = home("criterion-0.5/odd-names");
    assert_eq!(files.len(), 4, "`base` holds copies of `new`");
    assert!(0.0 < latency("fixed/x y?z:*", files));
}

#[test]
fn criterion_files_of_version_0_4_have_the_same_shape() {
    assert_close(
        latency("grp/alloc/v/100", home("criterion-0.4/home")),
        recorded_median("0.4", "grp/alloc/v/100"),
    );
    // Its text says that this is a time.
    let mut run =
        output(&read("criterion-0.4/run-one.stdout.txt"), &read("criterion-0.4/run-one.stderr.txt"), 0);
    run.files = home("criterion-0.4/home");
    let measured = CRITERION.parse_run(&Selection::All, &launch(), &run).unwrap();
    assert!(measured.len() == 1 && measured[0].values.get(&Metric::Latency).is_some());
}

#[test]
fn criterion_ids_of_any_characters_survive_the_round_trip() {
    let long = "x".repeat(300);
    for id in ["a \"b\" \\ /", "line\nend", "\u{1b}[31mred", "🦀 café", "$(rm)'\"", long.as_str()] {
        let value =
            latency(id, files("anything", id, r#"{"sampling_mode":"Flat","iters":[2.0],"times":[7.0]}"#));
        assert_close(value, 3.5);
    }
}

#[test]
fn criterion_directories_that_collide_are_told_apart_by_their_ids() {
    let mut both = files("a_b", "a?b", r#"{"iters":[1.0],"times":[5.0]}"#);
    both.extend(files("a_b_2", "a*b", r#"{"iters":[1.0],"times":[9.0]}"#));
    assert_close(latency("a?b", both.clone()), 5.0);
    assert_close(latency("a*b", both), 9.0);
}

#[test]
fn criterion_ids_are_selected_by_a_pattern_that_every_version_takes() {
    let filter = |id: &str| {
        let command =
            CRITERION.run_command(&executable(), &launch(), &Selection::One(id), Duration::from_secs(1));
        let words: Vec<String> = command.args.iter().map(|arg| arg.to_str().unwrap().to_owned()).collect();
        let end = words.iter().position(|word| word == "--noplot").unwrap();
        words[1..end].join(" ")
    };
    let start = format!("a.b/{}", "x".repeat(96));
    assert_eq!(filter("tiny"), "^tiny$");
    assert_eq!(filter("fixed/x y?z:*"), r"^fixed/x y\?z:\*$");
    assert_eq!(filter("a \"b\" \\ 🦀"), "^a \"b\" \\\\ 🦀$");
    assert_eq!(filter("sum..."), r"^sum\.\.\.$");
    assert_eq!(filter("run #x"), r"^run \#x$");
    assert_eq!(filter(""), "^$");
    assert_eq!(filter("-1"), r"^\-1$");
    assert_eq!(filter("run #2"), r"^(run|run \#2)$");
    assert_eq!(filter(&format!("{start}...")), format!("^{}", start.replace('.', r"\.")));
    assert_eq!(filter(&format!("{start}... #3")), format!("^{}", start.replace('.', r"\.")));
}

#[test]
fn criterion_titles_tell_benchmarks_apart_that_one_pattern_ran() {
    let titled = |directory: &str, title: &str, time: &str| {
        let mut files = files(directory, "same", &format!(r#"{{"iters":[1.0],"times":[{time}]}}"#));
        let text = String::from_utf8(files[0].bytes.clone()).unwrap();
        files[0].bytes = text.replace(r#""title":"same""#, &format!(r#""title":"{title}""#)).into_bytes();
        files
    };
    let both = [titled("same", "same", "5.0"), titled("same_2", "same #2", "9.0")].concat();
    assert_close(latency("same", both.clone()), 5.0);
    assert_close(latency("same #2", both.clone()), 9.0);
    let mut run = output(b"", b"", 0);
    run.files = both;
    let all = CRITERION.parse_run(&Selection::All, &launch(), &run).unwrap();
    assert_eq!(all.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["same", "same #2"]);
}

#[test]
fn criterion_run_that_measured_nothing_is_an_error_although_it_exits_0() {
    for version in ["0.5", "0.8"] {
        let stdout = read(&format!("criterion-{version}/nomatch.stdout.txt"));
        let stderr = read(&format!("criterion-{version}/nomatch.stderr.txt"));
        let run = output(&stdout, &stderr, 0);
        assert_eq!(failure("gone", &run).0, ErrorKind::MeasuredNothing);
        let all = CRITERION.parse_run(&Selection::All, &launch(), &run).unwrap_err();
        assert_eq!(all.kind, ErrorKind::MeasuredNothing);
    }
    let test_mode = output(&read("criterion-0.8/test-mode.stdout.txt"), b"", 0);
    assert_eq!(failure("tiny", &test_mode).0, ErrorKind::MeasuredNothing);
}

#[test]
fn criterion_files_that_do_not_parse_name_the_file_and_what_to_check() {
    let shapes = [
        "{",
        "[]",
        r#"{"iters":[1.0]}"#,
        r#"{"iters":[1.0,2.0],"times":[3.0]}"#,
        r#"{"iters":[],"times":[]}"#,
        r#"{"iters":[0.0],"times":[3.0]}"#,
        r#"{"iters":[1.0],"times":[-3.0]}"#,
        r#"{"iters":[1.0],"times":[null]}"#,
    ];
    for shape in shapes {
        let mut run = output(b"", b"", 0);
        run.files = files("x", "x", shape);
        let (kind, message) = failure("x", &run);
        assert_eq!(kind, ErrorKind::Output, "{shape}");
        assert!(message.contains("x/new/sample.json") && message.contains("criterion version"), "{message}");
    }
    let mut run = output(b"", b"", 0);
    run.files = files("x", "x", "{}");
    run.files.pop();
    assert_eq!(failure("x", &run).0, ErrorKind::Output);
}

#[test]
fn criterion_measurement_in_another_unit_than_time_is_no_latency() {
    let sample = r#"{"iters":[1.0],"times":[5.0]}"#;
    let texts = [
        "cycles                  time:   [120.00 cycles 121.00 cycles 122.00 cycles]\n",
        "cycles\n                        time:   [120.00 cycles 121.00 cycles 122.00 cycles]\n",
        "cycles  time:   [1.2 CPU cycles 1.3 CPU cycles 1.4 CPU cycles]\n",
    ];
    for text in texts {
        let mut run = output(text.as_bytes(), b"", 0);
        run.files = files("cycles", "cycles", sample);
        let measured = CRITERION.parse_run(&Selection::One("cycles"), &launch(), &run).unwrap();
        let values: Vec<(&Metric, f64)> = measured[0].values.iter().collect();
        assert_eq!(values, [(&Metric::Own("measurement".into()), 5.0)], "{text}");
    }
    let printed = b"my own time: [1 apples 2 apples 3 apples]\ncycles  time:   [1.0 us 1.1 us 1.2 us]\n";
    let mut run = output(printed, b"", 0);
    run.files = files("cycles", "cycles", sample);
    let measured = CRITERION.parse_run(&Selection::One("cycles"), &launch(), &run).unwrap();
    assert_eq!(measured[0].values.get(&Metric::Latency), Some(5.0));
}

#[test]
fn criterion_run_that_fails_is_an_error_even_with_files() {
    let mut run = output(b"", b"", 101);
    run.files = home("criterion-0.8/home");
    assert_eq!(failure("tiny", &run).0, ErrorKind::ExitCode);
    run.outcome = ExitOutcome::Signal(9);
    assert!(failure("tiny", &run).1.contains("SIGKILL"));
}

#[test]
fn criterion_commands_have_the_measured_flags_and_a_fresh_home() {
    let mut launch = launch();
    launch.args = vec!["--color=never".into()];
    launch.env = vec![("PATH".into(), "/usr/bin".into()), ("MODE".into(), "fast".into())];
    let mut executable = executable();
    executable.runner = vec!["taskset".into(), "1".into()];
    let timeout = Duration::from_secs(7);
    let run = CRITERION.run_command(&executable, &launch, &Selection::One("grp/alloc/v/100"), timeout);
    let words = "1 /slot/target/release/deps/toy-1 --bench ^grp/alloc/v/100$ --noplot \
                 --sample-size 50 --warm-up-time 0.001 --measurement-time 0.01 --nresamples 10 --color=never";
    assert_eq!(run.program, Path::new("taskset"));
    assert_eq!(run.args, words.split_whitespace().map(OsString::from).collect::<Vec<_>>());
    assert_eq!(run.scratch_variable, Some("CRITERION_HOME"));
    assert_eq!(run.timeout, timeout);
    let env: Vec<(OsString, OsString)> = [("PATH", "/usr/bin"), ("CARGO_PKG_NAME", "toy"), ("MODE", "fast")]
        .map(|(k, v)| (k.into(), v.into()))
        .into();
    assert_eq!(run.env, env);

    let list = CRITERION.list_command(&executable, &launch).unwrap();
    assert_eq!(list.args[1..5], ["/slot/target/release/deps/toy-1", "--bench", "--list", "--quick"]);
    assert_eq!(list.scratch_variable, Some("CRITERION_HOME"), "without it criterion starts cargo");
    assert!(list.capture_stdout && list.collect.is_empty());
}

#[test]
fn criterion_takes_fewer_samples_of_a_slow_function_but_never_fewer_than_10() {
    let samples = |latency_hint_ns: Option<f64>| {
        let budget = RunBudget { timeout: Duration::from_secs(1), latency_hint_ns, quick: false };
        let command = CRITERION.run_command(&executable(), &launch(), &Selection::One("x"), budget);
        let at = command.args.iter().position(|arg| arg == "--sample-size").unwrap();
        command.args[at + 1].to_str().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(samples(None), 50);
    assert_eq!(samples(Some(6.0)), 50);
    assert_eq!(samples(Some(1e6)), 50);
    assert_eq!(samples(Some(2e6)), 25);
    assert_eq!(samples(Some(10e6)), 10);
    assert_eq!(samples(Some(f64::NAN)), 50);
    assert_eq!(samples(Some(0.0)), 50);
    let cheapest = RunBudget::cheapest(Duration::from_secs(1));
    assert_eq!(samples(cheapest.latency_hint_ns), 10);
}

#[test]
fn criterion_is_told_to_be_quick_only_where_its_own_times_lose() {
    let args = |quick: bool| {
        let budget = RunBudget { timeout: Duration::from_secs(1), latency_hint_ns: None, quick };
        CRITERION.run_command(&executable(), &launch(), &Selection::One("x"), budget).args
    };
    let has = |quick: bool, flag: &str| args(quick).contains(&OsString::from(flag));
    assert!(has(true, "--quick") && !has(false, "--quick"));
    assert!(!has(true, "--sample-size") && has(false, "--sample-size"), "criterion refuses both together");
}

#[test]
fn a_run_is_overlong_when_it_took_long_for_a_fast_function() {
    let overlong = |iterations: f64, total_ns: f64| {
        let sample = format!(r#"{{"sampling_mode":"Flat","iters":[{iterations}],"times":[{total_ns}]}}"#);
        let mut run = output(b"", b"", 0);
        run.files = files("x", "x", &sample);
        CRITERION.parse_run(&Selection::One("x"), &launch(), &run).unwrap()[0].overlong
    };
    assert!(overlong(1e7, 3e9), "three seconds of 300 ns each");
    assert!(!overlong(1e5, 3e7), "as short as asked for");
    assert!(!overlong(10.0, 3e9), "a function of 300 ms cannot be shorter");
}

#[test]
fn the_throughput_a_bench_states_is_read_in_its_own_words() {
    let stated = |throughput: serde_json::Value| {
        let mut run = output(b"", b"", 0);
        run.files = files("x", "x", r#"{"sampling_mode":"Flat","iters":[1],"times":[9]}"#);
        let mut benchmark: serde_json::Value = serde_json::from_slice(&run.files[0].bytes).unwrap();
        benchmark["throughput"] = throughput;
        run.files[0].bytes = benchmark.to_string().into_bytes();
        CRITERION.parse_run(&Selection::One("x"), &launch(), &run).unwrap().remove(0).stated_work
    };
    assert_eq!(stated(serde_json::json!({"Bytes": 800})).as_deref(), Some("800 bytes"));
    assert_eq!(stated(serde_json::json!({"BytesDecimal": 800})).as_deref(), Some("800 bytes"));
    assert_eq!(stated(serde_json::json!({"Elements": 3})).as_deref(), Some("3 elements"));
    assert_eq!(stated(serde_json::Value::Null), None);
}
