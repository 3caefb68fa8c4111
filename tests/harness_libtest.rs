//! The adapters of `#[bench]` functions and of the bencher crate against recorded outputs.

#[path = "harness_support/mod.rs"]
mod support;

use cargo_benchgate::harness::{ExitOutcome, HarnessKind, Selection};
use cargo_benchgate::verdict::evidence::ErrorKind;
use support::*;

const LIBTEST: HarnessKind = HarnessKind::Libtest;
const BENCHER: HarnessKind = HarnessKind::Bencher;

const IDS: [&str; 5] = ["m::alloc_bytes", "m::ign", "mid_10us", "slow_10ms", "tiny_fn"];

const CHATTY: &str = "\nrunning 2 tests\ntest a  ... bench:           4 ns/iter (+/- 6)\ntest ab ... chatty\n\
                      test zz ... says the benchmark\nbench:       2,986 ns/iter (+/- 3,794) = 2 MB/s\n\n\
                      test result: ok. 0 passed; 0 failed; 0 ignored; 2 measured\n\n";

#[test]
fn golden_libtest_lists_its_benchmarks_in_every_recorded_shape() {
    for shape in ["list-terse.txt", "list.txt"] {
        assert_eq!(list(LIBTEST, &golden(&format!("libtest/{shape}"))), IDS, "{shape}");
    }
    assert!(list(LIBTEST, &golden("libtest/list-empty-lib.txt")).is_empty());
}

#[test]
fn golden_libtest_takes_the_median_of_the_json_lines() {
    let tiny = golden("libtest/run-exact-tiny.json.txt");
    assert_close(latency(LIBTEST, "tiny_fn", &tiny), 23.247_157_184_258_693);
    let all = latencies(LIBTEST, &golden("libtest/run-skip-slow.json.txt"));
    let ids: Vec<&str> = all.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["m::alloc_bytes", "mid_10us", "tiny_fn"], "ignored ones and tests are not measured");
    assert_close(all[0].1, 3_415.074_726_277_372);
    assert_close(all[1].1, 27_244.743_577_981_65);
}

#[test]
fn golden_libtest_text_is_read_where_json_is_not_to_be_had() {
    assert_close(latency(LIBTEST, "tiny_fn", &golden("libtest/run-exact-tiny.txt")), 9.21);
    let all = latencies(LIBTEST, &golden("libtest/run-skip-slow.txt"));
    let expected = [("m::alloc_bytes", 3163.02), ("mid_10us", 37_087.13), ("tiny_fn", 33.69)];
    assert_eq!(all.len(), expected.len());
    for ((id, latency), (expected_id, expected)) in all.iter().zip(expected) {
        assert_eq!(id, expected_id);
        assert_close(*latency, expected);
    }
}

#[test]
fn golden_libtest_that_measured_nothing_is_an_error_although_it_exits_0() {
    let nothing = output(golden("libtest/nomatch.txt"), "", 0);
    let (kind, message) = failure(LIBTEST, "gone", &nothing);
    assert_eq!(kind, ErrorKind::MeasuredNothing);
    assert!(message.contains("`gone`"), "{message}");
    let other = output(golden("libtest/run-exact-tiny.json.txt"), "", 0);
    assert_eq!(failure(LIBTEST, "tiny", &other).0, ErrorKind::MeasuredNothing);
    let all = LIBTEST.parse_run(&Selection::All, &launch(), &nothing).expect_err("nothing was measured");
    assert_eq!(all.kind, ErrorKind::MeasuredNothing);
}

#[test]
fn libtest_finds_the_json_behind_text_without_a_line_end() {
    let line = r#"{ "type": "bench", "name": "m::\"q\"", "median": 12.5, "deviation": 0.5 }"#;
    assert_close(latency(LIBTEST, "m::\"q\"", &format!("a\nloading... {line}\n")), 12.5);
}

#[test]
fn libtest_line_that_does_not_parse_is_quoted_with_the_harness() {
    for line in [
        r#"{ "type": "bench", "name": "a" }"#,
        r#"{ "type": "bench", "name": "a", "median": "fast" }"#,
        r#"{ "type": "bench", "name": "a", "median": -3.0 }"#,
        r#"{ "type": "bench", "name": "#,
        "test a ... bench:   12x ns/iter (+/- 1)",
        "test a ... bench:   12 ns/iter +/- 1",
    ] {
        let (kind, message) = failure(LIBTEST, "a", &output(line, "", 0));
        assert_eq!(kind, ErrorKind::Output, "{line}");
        assert!(message.contains(line.trim_end()) && message.contains("libtest"), "{message}");
    }
    let long = format!("test a ... bench: {} ns/iter", "x".repeat(5000));
    assert!(failure(LIBTEST, "a", &output(&long, "", 0)).1.len() < 500, "a long line is cut");
}

#[test]
fn libtest_commands_select_exactly_and_ask_for_json() {
    let one = run_args(LIBTEST, Selection::One("m::ab"), None);
    assert_eq!(one, ["--bench", "--exact", "m::ab", "-Z", "unstable-options", "--format", "json"]);
    let all = run_args(LIBTEST, Selection::All, None);
    assert_eq!(all, ["--bench", "-Z", "unstable-options", "--format", "json"]);
    let command = LIBTEST.list_command(&executable(), &launch()).expect("it can list");
    assert_eq!(args(&command), ["--bench", "--list", "--format", "terse"]);
    let ignored = LIBTEST.list_ignored_command(&executable(), &launch()).expect("it can list these apart");
    assert!(args(&ignored).contains(&"--ignored".to_owned()));
}

#[test]
fn libtest_program_of_a_stable_toolchain_is_told_to_accept_json_unless_the_user_sets_it_himself() {
    let variable = |executable| {
        let budget = std::time::Duration::from_secs(1);
        let command = LIBTEST.run_command(&executable, &launch(), &Selection::All, budget);
        let mut values = command.env.into_iter().filter(|(name, _)| name == "RUSTC_BOOTSTRAP");
        let value = values.next().expect("it is set").1;
        assert!(values.next().is_none(), "only once");
        value
    };
    assert_eq!(variable(executable()), "1");
    let mut own = executable();
    own.env.push(("RUSTC_BOOTSTRAP".into(), "toy".into()));
    assert_eq!(variable(own), "toy");
}

#[test]
fn bencher_finds_its_benchmarks_by_a_run_and_reads_through_what_they_print() {
    assert_eq!(list(BENCHER, CHATTY), ["a", "ab"]);
    assert_close(latency(BENCHER, "a", CHATTY), 4.0);
    assert_close(latency(BENCHER, "ab", CHATTY), 2986.0);
    let no_line_end =
        "test a ... no line end bench:       1,234,567 ns/iter (+/- 1)\ntest result: ok. 1 measured\n";
    assert_close(latency(BENCHER, "a", no_line_end), 1_234_567.0);
    let own = "test a ... bench: 5 ns/iter (+/- 0)\nbench: 7 ns/iter (+/- 1)\ntest result: ok. 1 measured\n";
    assert_close(latency(BENCHER, "a", own), 7.0);
}

#[test]
fn golden_text_of_criterion_in_the_format_of_bencher_reads_with_and_without_commas() {
    for (version, mid) in [("0.5", 9646.0), ("0.8", 9308.0)] {
        let text = golden(&format!("criterion-{version}/run-all-bencher.stdout.txt"));
        let all = latencies(LIBTEST, &text);
        assert_eq!(all.len(), 9, "{version}");
        assert_close(latency(LIBTEST, "mid 10us", &text), mid);
    }
}

#[test]
fn bencher_commands_give_the_name_as_the_only_argument() {
    assert_eq!(run_args(BENCHER, Selection::One("ab"), None), ["--bench", "ab"]);
    assert_eq!(run_args(BENCHER, Selection::All, None), ["--bench"]);
    let command = BENCHER.list_command(&executable(), &launch()).expect("a run of all is its list");
    assert_eq!(args(&command), ["--bench"], "anything else would be taken for a name");
    assert!(BENCHER.list_ignored_command(&executable(), &launch()).is_none());
}

#[test]
fn bencher_output_that_is_none_names_the_way_out() {
    let (kind, message) = told(BENCHER.parse_list(&output("hello\n", "", 0)).expect_err("no bencher"));
    assert_eq!(kind, ErrorKind::Output);
    assert!(message.contains("harness = \"process\""), "{message}");
    let mut hung = output("", "", 0);
    hung.outcome = ExitOutcome::TimedOut;
    let (kind, message) = told(BENCHER.parse_list(&hung).expect_err("it took too long"));
    assert_eq!(kind, ErrorKind::Timeout);
    assert!(message.contains("split the target"), "{message}");
}
