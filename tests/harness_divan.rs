//! The divan adapter against recorded outputs.

#[path = "harness_support/mod.rs"]
mod support;

use cargo_benchgate::harness::{ExitOutcome, HarnessKind, Selection};
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::ErrorKind;
use support::*;

const DIVAN: HarnessKind = HarnessKind::Divan;

/// An output with names and prints that make reading hard.
const ODD: &str = include_str!("../fixtures/harness/divan-odd.txt");

fn recorded(name: &str) -> String {
    golden(&format!("divan-0.1/{name}"))
}

fn allocated(id: &str, text: &str) -> Option<(f64, f64)> {
    let values = one(DIVAN, id, text).values;
    values.get(&Metric::Allocations).zip(values.get(&Metric::AllocatedBytes))
}

#[test]
fn golden_divan_lists_value_arguments_and_threads_and_leaves_out_ignored_ones() {
    let expected = [
        "hashed_fn",
        "mid 10us",
        "slow_10ms",
        "tiny_fn",
        "grp::alloc_n::100",
        "grp::alloc_n::1000",
        "grp::thr::t=1",
        "grp::thr::t=2",
        "grp::arr::1",
        "grp::arr::8",
        "grp::collect::BTreeSet<u64>",
        "grp::collect::Vec<u64>",
    ];
    assert_eq!(list(DIVAN, &recorded("run-all.txt")), expected);
}

#[test]
fn golden_divan_takes_the_median_in_every_unit() {
    let all = recorded("run-all.txt");
    let expected = [
        ("hashed_fn", 77_200.0),
        ("mid 10us", 9334.0),
        ("slow_10ms", 27_410_000.0),
        ("tiny_fn", 9.376),
        ("grp::alloc_n::1000", 1682.0),
        ("grp::arr::1", 0.301),
        ("grp::collect::BTreeSet<u64>", 792.6),
    ];
    for (id, expected) in expected {
        assert_close(latency(DIVAN, id, &all), expected);
        assert_eq!(allocated(id, &all), None, "throughput is not taken for allocations");
    }
    assert_close(latency(DIVAN, "tiny_fn", &recorded("run-exact-tiny.txt")), 9.179);
    assert_close(latency(DIVAN, "grp::alloc_n::100", &recorded("run-exact-arg-throughput.txt")), 1393.0);
    assert_close(latency(DIVAN, "grp::thr::t=2", &recorded("run-threads.txt")), 1839.0);
    assert_eq!(latencies(DIVAN, &all).len(), 12);
}

#[test]
fn golden_divan_counts_new_blocks_and_growth_as_allocations() {
    let text = recorded("run-alloc.txt");
    assert_eq!(allocated("alloc_n::100", &text), Some((6.0, 1024.0)));
    assert_eq!(allocated("alloc_n::1000", &text), Some((9.0, 8192.0)));
    assert_eq!(allocated("noalloc", &text), None);
    assert_close(latency(DIVAN, "alloc_n::100", &text), 1300.0);
}

#[test]
fn golden_divan_that_measured_nothing_is_an_error_although_it_exits_0() {
    for text in ["nomatch.txt", "list-format-terse.stdout.txt", "test.txt", "list.txt", "list-alloc.txt"] {
        let run = output(recorded(text), "", 0);
        assert_eq!(failure(DIVAN, "tiny_fn", &run).0, ErrorKind::MeasuredNothing, "{text}");
        let all = DIVAN.parse_run(&Selection::All, &launch(), &run).expect_err("nothing was measured");
        assert_eq!(all.kind, ErrorKind::MeasuredNothing, "{text}");
    }
    assert!(list(DIVAN, &recorded("nomatch.txt")).is_empty());
}

#[test]
fn golden_divan_that_refuses_its_arguments_says_how_it_ended() {
    let refused = output("", recorded("list-format-terse.stderr.txt"), 2);
    let (kind, message) = told(DIVAN.parse_list(&refused).expect_err("it failed"));
    assert_eq!(kind, ErrorKind::ExitCode);
    assert!(message.contains("code 2"), "{message}");
}

#[test]
fn divan_names_of_any_characters_are_cut_at_the_column_of_the_figures() {
    let ids = list(DIVAN, ODD);
    for id in [
        "odd 🦀 name: (x) │ y",
        "args::",
        "args::a::b",
        "args::t=2",
        "args::with \"quote\"",
        "args::é🦀é",
        "argthr::2::t=3",
        "thr::t=2",
        "b_div::tiny",
        "module::b_div::x",
        "module::ty::BTreeSet<u8>",
        "module::tyargs::u16::2",
    ] {
        assert!(ids.iter().any(|it| it == id), "{id} is not in {ids:#?}");
    }
    assert_eq!(ids.len(), 31);
    assert!(!ids.iter().any(|id| id.contains("skipped")));
    assert_eq!(latencies(DIVAN, ODD).len(), ids.len());
    assert_close(latency(DIVAN, "args::é🦀é", ODD), 29.72);
    assert_close(latency(DIVAN, "odd 🦀 name: (x) │ y", ODD), 579.4);
}

#[test]
fn divan_figures_are_found_behind_what_the_benchmark_prints() {
    assert_close(latency(DIVAN, "printing", ODD), 1391.0);
    assert_close(latency(DIVAN, "printing_partial", ODD), 129.7);
    // Its text may look like anything.
    let noisy = "b  fastest  │ slowest  │ median   │ mean     │ samples │ iters\n\
                 ├─ a  ├─ x\n╰─ y │ z\n 1 │ 2 │ 3 │ 4 │ 5 │ 6\ntime 5 ns\n\
                 1 ns     │ 3 ns     │ 2 ns     │ 2.5 ns   │ 100     │ 100\n\
                 ╰─ b  7 ns     │ 9 ns     │ 8 ns     │ 8.5 ns   │ 100     │ 100\n";
    assert_close(latency(DIVAN, "b", noisy), 8.0);
}

#[test]
fn divan_allocations_are_per_iteration_and_have_any_unit_of_bytes() {
    assert_eq!(allocated("allocs::1500", ODD), Some((1501.0, 18_000.0)));
    assert_eq!(allocated("allocs::0", ODD), None);
    assert_eq!(allocated("longer", ODD), Some((1.0, 3000.0)));
    let binary = recorded("run-alloc.txt").replace("8.16 KB ", "7.5 KiB ").replace(" 32 B  ", " 1.5 MiB");
    assert_eq!(allocated("alloc_n::1000", &binary), Some((9.0, 7680.0 + 1_572_864.0)));
    // What is given back, or held at one time, is not allocated.
    let freed = recorded("run-alloc.txt")
        .replace("│  │        alloc: ", "│  │        dealloc:")
        .replace("grow: ", "shrink:");
    assert_eq!(allocated("alloc_n::100", &freed), Some((0.0, 0.0)));
}

#[test]
fn divan_name_longer_than_its_column_moves_the_column() {
    let text = "b     fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
                ├─ a  1 ns          │ 3 ns          │ 2 ns          │ 2 ns          │ 100     │ 100\n\
                ├─ a name of more  1 ns          │ 3 ns          │ 4 ns          │ 2 ns          │ 100     │ 100\n\
                ╰─ c               1 ns          │ 3 ns          │ 6 ns          │ 2 ns          │ 100     │ 100\n";
    let expected = [("a", 2.0), ("a name of more", 4.0), ("c", 6.0)].map(|(id, ns)| (id.to_owned(), ns));
    assert_eq!(latencies(DIVAN, text), expected);
}

#[test]
fn divan_selects_by_the_whole_path_below_any_crate() {
    let filter = |id: &str| run_args(DIVAN, Selection::One(id), None)[3..5].join(" ");
    assert_eq!(filter("tiny_fn"), "^[^:]+::tiny_fn$ --sample-count");
    assert_eq!(filter("grp::collect::Vec<u64>"), "^[^:]+::grp::collect::Vec<u64>$ --sample-count");
    assert_eq!(filter("mid 10us (*)"), r"^[^:]+::mid 10us \(\*\)$ --sample-count");
    assert_eq!(filter("::other::tiny"), "^other::tiny$ --sample-count");
    let args = run_args(DIVAN, Selection::One("grp::thr::1::t=2"), None);
    assert_eq!(args[3..6], ["^[^:]+::grp::thr::1(::t=2)?$", "--threads", "2"]);
    let long = "🦀".repeat(300);
    assert_eq!(filter(&long), format!("^[^:]+::{long}$ --sample-count"));
}

#[test]
fn divan_row_of_one_number_of_threads_has_no_name_of_its_own() {
    let text = recorded("run-exact-tiny.txt").replace("tiny_fn", "thr    ");
    assert_close(latency(DIVAN, "thr::t=2", &text), 9.179);
    assert_eq!(failure(DIVAN, "other::t=2", &output(&text, "", 0)).0, ErrorKind::MeasuredNothing);
}

#[test]
fn divan_benchmarks_of_several_crates_keep_the_crate_in_front() {
    let text = format!("{}\n{}", recorded("run-exact-tiny.txt"), recorded("run-alloc.txt"));
    let ids = list(DIVAN, &text);
    assert_eq!(
        ids,
        [
            "::bdiv::tiny_fn",
            "::bdivalloc::alloc_n::100",
            "::bdivalloc::alloc_n::1000",
            "::bdivalloc::noalloc"
        ]
    );
    for id in &ids {
        assert!(0.0 < latency(DIVAN, id, &text));
    }
    assert_close(latency(DIVAN, "::bdiv::tiny_fn", &recorded("run-exact-tiny.txt")), 9.179);
}

#[test]
fn divan_runs_are_short_and_as_long_for_every_revision() {
    let time = |id: &str, hint: Option<f64>| {
        let args = run_args(DIVAN, Selection::One(id), hint);
        let at = args.iter().position(|arg| arg == "--max-time").expect("it is always given");
        args[at + 1].clone()
    };
    assert_eq!(time("a", None), "0.050");
    assert_eq!(time("a", Some(6.0)), "0.050");
    assert_eq!(time("a", Some(20e6)), "0.200", "ten samples of a slow function");
    assert_eq!(time("a", Some(1e9)), "0.500");
    assert_eq!(time("a", Some(f64::NAN)), "0.050");
    assert_eq!(time("a", Some(f64::INFINITY)), "0.010", "its figures are thrown away");
    assert_eq!(time("a::t=2", Some(6.0)), "0.200");
    let command = DIVAN.list_command(&executable(), &launch()).expect("a run of each is its list");
    assert_eq!(
        args(&command).join(" "),
        "--bench --color never --sample-count 1 --sample-size 1 --min-time 0"
    );
}

#[test]
fn divan_line_that_does_not_parse_is_quoted_with_the_harness() {
    for (from, to) in [("9.334 µs", "9.334 eons"), ("9.31 µs ", "fast    "), ("12.04 µs", "12,x4 µs")] {
        let text = recorded("run-all.txt").replace(from, to);
        let (kind, message) = failure(DIVAN, "mid 10us", &output(&text, "", 0));
        assert_eq!(kind, ErrorKind::Output, "{to}");
        assert!(message.contains("├─ mid 10us") && message.contains("divan 0.1"), "{message}");
    }
    for (from, to) in [("8.16 KB ", "8.16 XB "), ("│ 8             │ 8 ", "│ 8             │ x ")] {
        let text = recorded("run-alloc.txt").replace(from, to);
        assert_eq!(failure(DIVAN, "alloc_n::1000", &output(&text, "", 0)).0, ErrorKind::Output, "{to}");
    }
}

#[test]
fn divan_list_that_takes_too_long_says_what_to_do() {
    let mut hung = output("", "", 0);
    hung.outcome = ExitOutcome::TimedOut;
    let (kind, message) = told(DIVAN.parse_list(&hung).expect_err("it took too long"));
    assert_eq!(kind, ErrorKind::Timeout);
    assert!(message.contains("split the target"), "{message}");
}

#[test]
fn divan_reads_any_mutilated_output_without_a_panic() {
    for name in ["run-all.txt", "run-alloc.txt", "run-threads.txt", "test.txt"] {
        let text = recorded(name);
        let characters: Vec<char> = text.chars().collect();
        for at in (0..characters.len()).step_by(7) {
            let mut cut = characters.clone();
            cut.remove(at);
            let cut: String = cut.into_iter().collect();
            let _ = DIVAN.parse_list(&output(&cut, "", 0));
            let head: String = characters[..at].iter().collect();
            let _ = DIVAN.parse_run(&Selection::All, &launch(), &output(&head, "", 0));
        }
    }
}
