//! Whole outputs of the writers, and what no text from a benchmark may do to them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;

use cargo_benchgate::report::csv::csv;
use cargo_benchgate::report::json::{json, read_json};
use cargo_benchgate::report::model::{Exit, Report};
use cargo_benchgate::report::terminal::{Options, terminal};
use cargo_benchgate::report::{ReadError, text, wording};
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::verdict::evidence::{Evidence, Stage};
use cargo_benchgate::verdict::outcome::{BenchResult, Comparison, Reason, Verdict};

use report_support::*;

const WIDE: Options = Options { color: false, width: None, verbose: false };

#[test]
fn terminal_shows_problems_first_with_a_reason_in_numbers_on_every_row() {
    assert_snapshot("terminal-wide.txt", &terminal(&whole(), WIDE));
}

#[test]
fn terminal_of_80_columns_puts_reasons_below_their_rows_and_cuts_nothing() {
    let narrow = terminal(&whole(), Options { color: false, width: Some(80), verbose: false });
    assert_snapshot("terminal-80.txt", &narrow);
}

#[test]
fn terminal_of_one_revision_shows_what_each_metric_took() {
    let mut report = whole();
    report.command = "run".into();
    report.revisions.remove(0);
    report.benchmarks.retain(|it| it.identity.id == "new one" || it.identity.id == "hang");
    assert_snapshot("terminal-run.txt", &terminal(&report, WIDE));
}

#[test]
fn terminal_of_120_columns_keeps_the_change_in_its_column() {
    let text = terminal(&whole(), Options { color: false, width: Some(120), verbose: false });
    assert!(text.starts_with("TARGET") && text.lines().next().unwrap().contains("CHANGE"));
    assert!(text.contains("REGRESSION\n    limit 10 %, P = 1.000, 30 + 30 samples\n"), "{text}");
    assert!(text.lines().all(|line| text::width(line) <= 120));
}

#[test]
fn terminal_colour_adds_styles_and_no_other_sign() {
    let plain = terminal(&whole(), WIDE);
    let colored = terminal(&whole(), Options { color: true, width: None, verbose: false });
    assert!(!plain.contains('\u{1b}'));
    assert!(colored.contains("\u{1b}[1m\u{1b}[31mREGRESSION"), "{colored}");
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
}

#[test]
fn terminal_ends_with_the_exit_status_on_one_line() {
    let last = |exit: Exit| {
        let report = Report { exit, ..whole() };
        let text = terminal(&report, Options { color: false, width: Some(40), verbose: false });
        assert!(text.ends_with('\n'));
        text.lines().next_back().unwrap().to_owned()
    };
    let because = || Some("parse/json/deep/10 latency +26.1 %".to_owned());
    let failed = last(Exit { code: 1, because: because(), without_no_fail: None });
    assert_eq!(failed, "gate failed (exit status 1): parse/json/deep/10 latency +26.1 %");
    // What a passed gate leaves open stands beside it.
    let passed = last(Exit { code: 0, because: None, without_no_fail: None });
    assert_eq!(passed, "gate passed (exit status 0), but 1 inconclusive, 1 regression not gated");
    let off = last(Exit { code: 0, because: because(), without_no_fail: Some(1) });
    assert!(off.contains("--no-fail") && off.contains("instead of 1"), "{off}");
    assert!(last(Exit { code: 6, because: None, without_no_fail: None }).contains("exit status 6"));
}

#[test]
fn terminal_never_shows_a_comparison_that_is_not_gated_as_a_plain_pass() {
    for &verdict in Verdict::ALL {
        let it = Comparison { gate: false, ..comparison(Metric::Latency, verdict, None) };
        let word = cargo_benchgate::report::wording::verdict(&it);
        assert!(word.ends_with("(not gated)") || verdict == Verdict::Skipped, "{word}");
    }
}

#[test]
fn every_verdict_and_reason_has_words_and_no_number_that_is_not_there() {
    let reasons = Reason::ALL.iter().map(|&reason| Some(reason)).chain([None]);
    for reason in reasons {
        for &verdict in Verdict::ALL {
            let full = comparison(Metric::PeakRss, verdict, reason);
            let empty = Comparison {
                base: None,
                head: None,
                difference: None,
                change_percent: None,
                ci_low_percent: None,
                ci_high_percent: None,
                probability_regression: None,
                probability_improvement: None,
                base_dispersion: None,
                head_dispersion: None,
                samples: [0, 0],
                pairing: None,
                stopped_because: None,
                ..full.clone()
            };
            for it in [full, empty] {
                let words = cargo_benchgate::report::wording::sentence(&it);
                assert!(!words.is_empty() && !words.contains("NaN") && !words.contains('\n'), "{words}");
            }
        }
    }
}

#[test]
fn ways_out_of_inconclusive_are_told_once_a_report() {
    let text = terminal(&whole(), WIDE);
    assert_eq!(text.matches("ways out of inconclusive").count(), 1);
    for way in
        ["max_samples", "max_percent", "min_difference", "cpu_total", "peak_rss", "confidence", "quieter"]
    {
        assert!(text.contains(way), "{way}");
    }
    let mut settled = whole();
    settled.benchmarks.retain(|it| it.result != BenchResult::Inconclusive);
    assert!(!terminal(&settled, WIDE).contains("ways out"));
}

#[test]
fn terminal_sorts_numbers_in_names_by_their_value() {
    let mut report = whole();
    report.benchmarks.iter_mut().for_each(|it| it.result = BenchResult::Pass);
    let text = terminal(&report, WIDE);
    assert!(text.find("json/deep/2").unwrap() < text.find("json/deep/10").unwrap());
}

#[test]
fn terminal_cannot_be_driven_by_text_from_a_benchmark() {
    let mut report = nasty();
    report.benchmarks[0].identity.id = "y".repeat(5000);
    report.warnings.push("\u{1b}]0;title\u{7}".into());
    for width in [None, Some(20), Some(80)] {
        let text = terminal(&report, Options { color: false, width, verbose: false });
        assert!(text.chars().all(|it| it == '\n' || !it.is_control()), "{text:?}");
        assert!(!text.contains('\u{202e}'));
        assert!(text.contains(&"x".repeat(300)), "a long name is not cut");
        assert!(text.lines().all(|line| line.chars().count() < 1000), "a name of thousands is");
        assert!(text.contains("🦀/café") && text.contains("\\u{1b}[31mred"));
    }
}

#[test]
fn terminal_columns_are_aligned_by_what_is_shown() {
    let text = terminal(&nasty(), WIDE);
    let starts: Vec<usize> =
        text.lines().filter_map(|line| line.find("REGRESSION").map(|at| text::width(&line[..at]))).collect();
    assert_eq!(starts.len(), nasty_ids().len());
    assert!(starts.iter().all(|&start| start == starts[0]), "{starts:?}");
}

#[test]
fn terminal_of_a_run_without_benchmarks_says_so() {
    let report = Report { benchmarks: Vec::new(), ..whole() };
    assert!(terminal(&report, WIDE).starts_with("no benchmarks\n"));
}

#[test]
fn csv_has_a_row_for_everything_that_was_selected() {
    assert_snapshot("report.csv", &csv(&whole()));
}

#[test]
fn csv_rows_have_one_width_and_no_cell_that_a_spreadsheet_computes() {
    let text = csv(&nasty());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let numbers = ["base", "head", "difference"];
    let heading = reader.headers().unwrap().clone();
    for record in reader.records() {
        let record = record.unwrap();
        assert_eq!(record.len(), heading.len());
        for (name, cell) in heading.iter().zip(&record) {
            let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let number = name.ends_with("percent") || numbers.contains(&name);
            assert!(!formula || number && cell.parse::<f64>().is_ok(), "{name}: {cell}");
            assert!(cell.chars().all(|it| !it.is_control()), "{name}: {cell:?}");
        }
    }
    assert_eq!(text.lines().count(), nasty_ids().len() + 1);
}

#[test]
fn json_has_the_whole_report() {
    assert_snapshot("report.json", &json(&whole()));
}

#[test]
fn json_read_and_written_again_is_the_same_bytes() {
    for report in [whole(), nasty()] {
        let text = json(&report);
        let read = read_json(text.as_bytes()).unwrap();
        assert_eq!(read, report);
        assert_eq!(json(&read), text);
    }
}

#[test]
fn json_never_holds_a_number_that_is_not_finite_and_still_reads_back() {
    let mut it = slower();
    it.change_percent = Some(f64::INFINITY);
    it.base_dispersion = Some(f64::NAN);
    let mut judged = judged(BenchResult::MetricError, vec![it], vec![]);
    let mut broken = statistics(5.0);
    broken.get_mut(&Metric::Latency).unwrap().max = f64::INFINITY;
    let mut narrow = statistics(6.0);
    narrow.get_mut(&Metric::Latency).unwrap().percentiles.insert("p99".into(), f64::NAN);
    judged.statistics = vec![broken, narrow];
    let sides = vec![side("base", &[1.0, f64::NAN]), side("head", &[f64::INFINITY, 2.0])];
    let evidence = evidence(identity("t", "odd"), sides);
    let exit = Exit { code: 6, because: None, without_no_fail: None };
    let report =
        cargo_benchgate::report::assemble(header(), vec![evidence], vec![judged], Default::default(), exit);
    let comparison = &report.benchmarks[0].comparisons[0];
    assert_eq!((comparison.change_percent, comparison.base_dispersion), (None, None));
    assert!(report.benchmarks[0].sides[0].statistics.is_empty());
    let text = json(&report);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let read = read_json(text.as_bytes()).unwrap();
    assert!(read.benchmarks[0].sides[0].runs[1].values.get(&Metric::Latency).unwrap().is_nan());
    assert_eq!(json(&read), text);
}

#[test]
fn json_of_a_later_minor_version_is_read_without_its_new_fields() {
    let mut value: serde_json::Value = serde_json::from_str(&json(&whole())).unwrap();
    value["new_top"] = serde_json::json!({ "a": [1] });
    value["benchmarks"][0]["new_field"] = serde_json::json!("x");
    value["benchmarks"][0]["settings"]["judge"]["new_key"] = serde_json::json!(1);
    assert_eq!(read_json(value.to_string().as_bytes()).unwrap(), whole());
}

#[test]
fn json_that_is_no_report_says_what_it_is_instead() {
    assert_eq!(read_json(b" \n").unwrap_err(), ReadError::Empty);
    assert_eq!(read_json(b"{\"a\": 1}").unwrap_err(), ReadError::NotAReport);
    assert_eq!(read_json(b"{\"schema_version\": 2, \"tool\": 7}").unwrap_err(), ReadError::TooNew(2));
    let torn = &json(&whole()).into_bytes()[..5000];
    assert!(matches!(read_json(torn), Err(ReadError::Json { line: 2.., .. })));
    let ReadError::Json { line, column, why } =
        read_json(b"{\"schema_version\": 1,\n \"tool\": 7}").unwrap_err()
    else {
        panic!("another error")
    };
    assert_eq!(line, 2);
    assert!(0 < column && !why.contains(" at line"), "{why}");
    for other in [b"[]".as_slice(), b"\xff\xfe", b"null", b"{\"schema_version\": -1}"] {
        assert!(read_json(other).is_err());
    }
    assert!(read_json(&[b"\xef\xbb\xbf", json(&whole()).as_bytes()].concat()).is_ok());
}

#[test]
fn report_gives_back_the_evidence_it_was_made_from() {
    let sides = vec![side("base", &[1.0, 2.0]), side("head", &[3.0, 4.0])];
    let mut made = evidence(identity("t", "x"), sides);
    made.presence_note = Some("note".into());
    let exit = Exit { code: 0, because: None, without_no_fail: None };
    let judged = vec![judged(BenchResult::Pass, vec![], vec![])];
    let report =
        cargo_benchgate::report::assemble(header(), vec![made.clone()], judged, Default::default(), exit);
    assert_eq!(Vec::<Evidence>::from(&report), [made]);
}

#[test]
fn a_confirmed_regression_shows_the_p_value_that_confirmed_it() {
    let mut confirmed = slower();
    confirmed.probability_regression = Some(0.931);
    confirmed.details.stage = Some(Stage::Confirm);
    confirmed.details.adjusted_p = Some(0.0042);
    let text = wording::reason(&confirmed);
    assert!(text.contains("confirmed, p = 0.004") && !text.contains("0.931"), "{text}");
    confirmed.details.adjusted_p = Some(1e-9);
    assert!(wording::reason(&confirmed).contains("p < 0.001"));
}

#[test]
fn ways_out_are_those_of_the_comparisons_that_may_fail_the_run() {
    let mut report = whole();
    let mut aside = report
        .benchmarks
        .iter()
        .flat_map(|benchmark| &benchmark.comparisons)
        .find(|it| it.samples_needed.is_some())
        .unwrap()
        .clone();
    let told = |report: &Report| wording::advice(report).join("\n");
    assert!(told(&report).contains("`--samples 140`"), "{}", told(&report));
    aside.gate = false;
    aside.samples_needed = Some(900);
    report.benchmarks[0].comparisons.push(aside);
    assert!(told(&report).contains("`--samples 140`"), "{}", told(&report));
}

#[test]
fn another_metric_is_advised_only_where_the_harness_measures_one() {
    let mut report = whole();
    assert!(
        !wording::advice(&report).iter().any(|way| way.contains("cpu_total")),
        "criterion times functions"
    );
    for benchmark in &mut report.benchmarks {
        benchmark.harness = "process".to_owned();
    }
    assert!(wording::advice(&report).iter().any(|way| way.contains("cpu_total")));
}
