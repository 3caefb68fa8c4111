//! Samples as a table: written, read back, and read from other tools.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;

use cargo_benchgate::report::ReadError;
use cargo_benchgate::report::samples_csv::{SampledBenchmark, SamplesFile, read_samples_csv, samples_csv};
use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::settings::{BenchmarkSettings, MetricSettings};
use cargo_benchgate::verdict::evidence::{Presence, Side, Stage, UnitRun};
use cargo_benchgate::verdict::outcome::Reason;
use cargo_benchgate::verdict::{RunContext, judge_run};

use report_support::*;

fn read(text: &str) -> SamplesFile {
    read_samples_csv(text.as_bytes()).unwrap()
}

fn refused(text: &str) -> String {
    read_samples_csv(text.as_bytes()).unwrap_err().to_string()
}

fn latencies(runs: &[UnitRun]) -> Vec<f64> {
    runs.iter().filter_map(|run| run.values.get(&Metric::Latency)).collect()
}

#[test]
fn samples_have_one_row_a_value_in_the_order_of_the_runs() {
    assert_snapshot("samples.csv", &samples_csv(&whole()));
}

#[test]
fn samples_written_and_read_again_are_the_same_for_any_id() {
    let report = nasty();
    let file = read(&samples_csv(&report));
    assert_eq!(file.revisions, ["base", "head"]);
    assert!(file.has_rounds());
    assert_eq!(file.benchmarks.len(), report.benchmarks.len());
    for (read, written) in file.benchmarks.iter().zip(&report.benchmarks) {
        assert_eq!(read.identity, written.identity);
        for (read, written) in read.sides.iter().zip(&written.sides) {
            assert_eq!(read.revision, written.revision);
            let bare = |run: &UnitRun| UnitRun { context_switches: None, ..run.clone() };
            assert_eq!(read.runs, written.runs.iter().map(bare).collect::<Vec<_>>());
        }
    }
}

#[test]
fn samples_need_only_four_columns() {
    let file = read("value,metric,revision,benchmark\n1.5,latency,old,f\n2,latency,new,f\n3,latency,old,f\n");
    assert_eq!(file.revisions, ["old", "new"]);
    assert!(!file.has_rounds());
    let [benchmark] = &file.benchmarks[..] else { panic!("one benchmark") };
    assert_eq!(benchmark.identity.label(), "f");
    assert_eq!(benchmark.identity.target.kind, TargetKind::Bench);
    assert_eq!(latencies(&benchmark.sides[0].runs), [1.5, 3.0]);
    let run = &benchmark.sides[0].runs[0];
    assert_eq!((run.stage, run.round, run.sequence), (Stage::Screen, None, None));
}

#[test]
fn samples_of_several_metrics_join_to_runs_by_sequence_or_else_by_their_order() {
    let by_order = "benchmark,revision,metric,value\nf,base,latency,1\nf,base,latency,2\nf,base,peak_rss,10\nf,base,peak_rss,20\n";
    let by_sequence = "benchmark,revision,metric,value,sequence\nf,base,peak_rss,20,7\nf,base,latency,1,3\nf,base,latency,2,7\nf,base,peak_rss,10,3\n";
    for text in [by_order, by_sequence] {
        let file = read(text);
        let runs = &file.benchmarks[0].sides[0].runs;
        assert_eq!(latencies(runs), [1.0, 2.0]);
        let rss: Vec<_> = runs.iter().map(|run| run.values.get(&Metric::PeakRss)).collect();
        assert_eq!(rss, [Some(10.0), Some(20.0)]);
    }
}

#[test]
fn samples_take_base_first_and_never_head_as_the_base() {
    let order = |revisions: &[&str]| {
        let rows: String = revisions.iter().map(|revision| format!("f,{revision},latency,1\n")).collect();
        let file = read(&format!("benchmark,revision,metric,value\n{rows}"));
        let sides: Vec<_> = file.benchmarks[0].sides.iter().map(|side| side.revision.clone()).collect();
        assert_eq!(sides, file.revisions);
        sides
    };
    assert_eq!(order(&["head", "base"]), ["base", "head"]);
    assert_eq!(order(&["v2", "head", "base"]), ["base", "head", "v2"]);
    assert_eq!(order(&["head", "main"]), ["main", "head"]);
    assert_eq!(order(&["b", "a"]), ["b", "a"]);
}

#[test]
fn samples_on_one_side_alone_are_new_or_removed() {
    let text = "benchmark,revision,metric,value\nboth,base,latency,1\nboth,head,latency,1\nold,base,latency,1\nnew,head,latency,1\n";
    let evidence = read(text).into_evidence(|_| settings());
    let presence: Vec<_> = evidence.iter().map(|it| (it.identity.id.as_str(), it.presence)).collect();
    assert_eq!(presence, [("both", Presence::Compared), ("old", Presence::Removed), ("new", Presence::New)]);
    let alone = read("benchmark,revision,metric,value\nf,head,latency,1\n").into_evidence(|_| settings());
    assert_eq!(alone[0].presence, Presence::New);
}

#[test]
fn samples_of_an_unknown_metric_are_the_users_own_with_the_unit_of_the_column() {
    let file = read(
        "benchmark,revision,metric,unit,value\nf,base,tokens,tokens,3\nf,base,latency,ns,3\nf,base,rows,,1\n",
    );
    let units = &file.benchmarks[0].units;
    assert_eq!(units[&Metric::from_name("tokens")], Unit::Own("tokens".into()));
    assert_eq!(units[&Metric::Latency], Unit::Nanoseconds);
    assert_eq!(units[&Metric::from_name("rows")], Unit::Own("".into()), "only what says so is a count");
}

#[test]
fn samples_of_a_metric_without_a_unit_are_no_exact_counts() {
    let judged = |unit: &str| {
        let table =
            format!("benchmark,revision,metric,unit,value\nf,base,rows,{unit},1\nf,head,rows,{unit},2\n");
        let evidence = read(&table).into_evidence(SampledBenchmark::settings);
        judge_run(&evidence, &RunContext::default()).benchmarks[0].comparisons[0].reason
    };
    assert_eq!(judged(""), Some(Reason::FewSamples));
    assert_eq!(judged("count"), Some(Reason::Exact));
}

#[test]
fn samples_keep_the_direction_their_column_says() {
    let table = |metric: &str, cells: [&str; 2]| {
        let [first, second] = cells;
        format!(
            "benchmark,revision,metric,value,better\nf,base,{metric},1,{first}\nf,head,{metric},2,{second}\n"
        )
    };
    let rate = Metric::from_name("rate");
    let better = |cells| {
        let file = read(&table("rate", cells));
        file.benchmarks[0].settings().metrics[&rate].better
    };
    assert_eq!(better(["", ""]), Better::Lower);
    assert_eq!(better(["higher", "higher"]), Better::Higher);
    assert_eq!(better(["", "higher"]), Better::Higher);
    assert!(refused(&table("rate", ["up", ""])).starts_with("line 2, column `better`: `up` is none of"));
    assert!(refused(&table("rate", ["higher", "lower"])).starts_with("line 3, column `better`"));
    assert!(
        refused(&table("latency", ["higher", ""])).starts_with("line 2, column `better`: less is better")
    );
    assert_eq!(read(&table("latency", ["lower", ""])).benchmarks.len(), 1);
}

#[test]
fn samples_written_by_a_run_get_the_verdict_of_its_report_where_more_is_better() {
    let rate = Metric::from_name("rate");
    let mut of_rate = evidence(identity("t", "f"), vec![]);
    let runs = |values: [f64; 10]| {
        let at = |(at, value): (u32, f64)| UnitRun {
            round: Some(at / 2),
            ..run(u64::from(at), &[(rate.clone(), value)])
        };
        (0..10).zip(values).map(at).collect()
    };
    let sides = [("base", [100.0; 10]), ("head", [70.0; 10])];
    of_rate.sides = sides
        .map(|(name, values)| Side { revision: name.into(), executable_sha256: None, runs: runs(values) })
        .into();
    let limits = MetricSettings {
        unit: Unit::Own("rows/s".into()),
        better: Better::Higher,
        max_percent: 10.0,
        min_difference: 0.0,
        gate: true,
        asked_for: true,
    };
    of_rate.settings.metrics = [(rate.clone(), limits)].into();
    let report = generate::judged_report(vec![of_rate.clone()]);
    let file = read(&samples_csv(&report));
    let again = file.into_evidence(|benchmark| BenchmarkSettings {
        metrics: benchmark.settings().metrics,
        ..of_rate.settings.clone()
    });
    let judged = judge_run(&again, &RunContext::default());
    assert_eq!(judged.benchmarks[0].comparisons[0].better, Better::Higher);
    assert_eq!(judged.benchmarks[0].comparisons[0].verdict, report.benchmarks[0].comparisons[0].verdict);
    assert_eq!((judged.exit.code, report.exit.code), (1, 1));
}

#[test]
fn samples_of_others_may_have_spaces_around_any_cell_and_call_base_and_head_in_capitals() {
    let file = read("benchmark,revision,metric,value\nf ,Base,latency,1\n f, HEAD ,latency,2\n");
    assert_eq!((file.revisions.clone(), file.assumed_base()), (vec!["base".into(), "head".into()], None));
    let evidence = file.into_evidence(SampledBenchmark::settings);
    assert_eq!((evidence.len(), evidence[0].presence), (1, Presence::Compared));
    let both = read("benchmark,revision,metric,value\nf,base,latency,1\nf,Base,latency,2\n");
    assert_eq!(both.revisions, ["base", "Base"]);
    let neither = read("benchmark,revision,metric,value\nf,new,latency,1\nf,old,latency,2\n");
    assert_eq!(neither.assumed_base(), Some("new"));
    assert_eq!(read("benchmark,revision,metric,value\nf,new,latency,1\n").assumed_base(), None);
}

#[test]
fn samples_that_cannot_be_read_name_line_and_column() {
    let head = "benchmark,revision,metric,value\n";
    assert_eq!(
        refused("benchmark,value\nf,1\n"),
        "line 1: columns revision, metric missing; samples need at least benchmark,revision,metric,value"
    );
    assert_eq!(
        refused(&format!("{head}f,base,latency,1\nf,base,latency,fast\n")),
        "line 3, column `value`: `fast` is not a number such as 12.5"
    );
    assert!(refused(&format!("{head}f,base,latency,\n")).starts_with("line 2, column `value`"));
    assert!(refused(&format!("{head}f,base,,1\n")).starts_with("line 2, column `metric`: it is empty"));
    assert!(
        refused(&format!("{head}f,base,latency\n")).starts_with("line 2: 3 cells where the heading has 4")
    );
    let more = "benchmark,revision,metric,value,unit,stage,round,sequence,kind\n";
    let cell = |cells: &str| refused(&format!("{more}f,base,latency,1,{cells}\n"));
    assert!(cell("ms,,,,").starts_with("line 2, column `unit`: values of latency are read in ns"));
    assert!(cell(",later,,,").starts_with("line 2, column `stage`"));
    assert!(cell(",,-1,,").starts_with("line 2, column `round`"));
    assert!(cell(",,5000000000,,").starts_with("line 2, column `round`"));
    assert!(cell(",,,1.5,").starts_with("line 2, column `sequence`"));
    assert!(cell(",,,,test").starts_with("line 2, column `kind`"));
    let twice = format!("{more}f,base,latency,1,,,0,4,\nf,base,latency,2,,,0,4,\n");
    assert_eq!(refused(&twice), "line 3: a second value of latency for the run with sequence 4");
    let units = "benchmark,revision,metric,value,unit\nf,base,t,1,a\nf,head,t,1,b\n";
    assert!(refused(units).starts_with("line 3, column `unit`"));
    assert_eq!(read_samples_csv(b"\n").unwrap_err(), ReadError::Empty);
    assert_eq!(read_samples_csv(head.as_bytes()).unwrap_err(), ReadError::NoSamples);
    assert_eq!(refused("benchmark,revision,metric,value\nf,base,latency,1\n\"torn").lines().count(), 1);
    let latin = [head.as_bytes(), b"caf\xe9,base,latency,1\n"].concat();
    assert_eq!(read_samples_csv(&latin).unwrap_err().to_string(), "line 2: it is not UTF-8 text");
}

#[test]
fn samples_of_an_empty_id_need_a_target() {
    let file = read("benchmark,target,revision,metric,value\n,t,base,latency,1\n");
    assert_eq!(file.benchmarks[0].identity.label(), "t/");
    assert!(
        refused("benchmark,revision,metric,value\n,base,latency,1\n")
            .starts_with("line 2, column `benchmark`")
    );
}

proptest::proptest! {
    #[test]
    fn samples_of_any_text_and_number_come_back(id in "\\PC*|[=+@'\\-\"\r\n,]{1,5}", values in proptest::collection::vec(proptest::num::f64::NORMAL, 1..6)) {
        let mut report = nasty();
        report.benchmarks.truncate(1);
        report.benchmarks[0].identity = identity(&format!("t{id}"), &id);
        let runs = values.iter().enumerate().map(|(at, &value)| run(at as u64, &[(Metric::Latency, value)]));
        report.benchmarks[0].sides[0].runs = runs.collect();
        let file = read(&samples_csv(&report));
        proptest::prop_assert_eq!(&file.benchmarks[0].identity, &report.benchmarks[0].identity);
        proptest::prop_assert_eq!(latencies(&file.benchmarks[0].sides[0].runs), values);
    }

    #[test]
    fn samples_of_any_bytes_are_read_or_refused_and_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _ = read_samples_csv(&bytes);
        let _ = read_samples_csv(&[b"benchmark,revision,metric,value\n", &bytes[..]].concat());
        let _ = cargo_benchgate::report::json::read_json(&bytes);
    }

    #[test]
    fn names_have_one_order(names in proptest::collection::vec("[a0-9/]{0,6}", 3)) {
        use std::cmp::Ordering;
        use cargo_benchgate::report::text::natural_order;
        let order = |a: usize, b: usize| natural_order(&names[a], &names[b]);
        proptest::prop_assert_eq!(order(0, 1), order(1, 0).reverse());
        proptest::prop_assert_eq!(order(0, 1) == Ordering::Equal, names[0] == names[1]);
        if order(0, 1) == Ordering::Less && order(1, 2) == Ordering::Less {
            proptest::prop_assert_eq!(order(0, 2), Ordering::Less);
        }
    }
}

#[test]
fn samples_with_windows_line_ends_and_a_byte_order_mark_are_read() {
    let text =
        "\u{feff}benchmark, revision ,metric,value\r\nf,base,latency, 1.5e3 \r\n\r\nf,head,latency,2\r\n";
    let file = read(text);
    assert_eq!(latencies(&file.benchmarks[0].sides[0].runs), [1500.0]);
    assert_eq!(file.revisions, ["base", "head"]);
}
