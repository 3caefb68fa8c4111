//! Verdicts, results and exit statuses against expected values that were worked out outside Rust
//! (`fixtures/golden/verdict`).
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking; exact answers are part of the contract"
)]

mod verdict_support;

use cargo_benchgate::error::ExitCode;
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::settings::{
    Aggregation, JudgeSettings, MetricSettings, Operator, Resamples, Statistic,
};
use cargo_benchgate::verdict::evidence::{Evidence, Presence};
use cargo_benchgate::verdict::outcome::{
    BenchResult, BudgetOutcome, BudgetStatus, Comparison, Exit, Reason, Summary, Verdict,
};
use cargo_benchgate::verdict::{RunContext, exit, judge_run, result};
use serde_json::{Map, Value};
use verdict_support::{budget, evidence, fixed, judge_one, latency, loose, metric, runs, settings, side};

fn section(name: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/golden/verdict/cases.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all[name].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// 1e-9 relative, 1e-9 absolute near 0; null is null.
fn same(got: Option<f64>, want: &Value, what: &str) {
    match (got, want.as_f64()) {
        (None, None) => assert!(want.is_null(), "{what}: want {want}"),
        (Some(got), Some(want)) => {
            assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "{what}: got {got}, want {want}");
        }
        (got, _) => panic!("{what}: got {got:?}, want {want}"),
    }
}

fn reason(word: &Value) -> Option<Reason> {
    let word = word.as_str().unwrap_or("");
    (!word.is_empty()).then(|| Reason::from_word(word).unwrap())
}

fn verdict(word: &Value) -> Verdict {
    Verdict::from_word(word.as_str().unwrap()).unwrap()
}

fn judge_of(case: &Value, resamples: Resamples) -> (JudgeSettings, MetricSettings) {
    let given = &case["settings"];
    let number = |key: &str| given[key].as_f64().unwrap();
    let judge = JudgeSettings {
        statistic: Statistic::from_word(given["statistic"].as_str().unwrap()).unwrap(),
        confidence: number("confidence"),
        min_samples: number("min_samples") as u32,
        max_cv: number("max_cv"),
        resamples,
        ..fixed()
    };
    let limits = MetricSettings {
        better: if given["higher_is_better"].as_bool().unwrap() { Better::Higher } else { Better::Lower },
        min_difference: number("min_difference"),
        ..metric(number("max_percent"))
    };
    (judge, limits)
}

fn classify(case: &Value, resamples: Resamples, seed: u64) -> Comparison {
    let (judge, limits) = judge_of(case, resamples);
    let (base, head) = (numbers(&case["base"]), numbers(&case["head"]));
    // Unequal sides have no rounds.
    let made =
        |values: &[f64]| if base.len() == head.len() { runs(&OWN, values) } else { loose(&OWN, values) };
    let sides = vec![side("base", made(&base)), side("head", made(&head))];
    let evidence = evidence("one", settings(judge, [(OWN, limits)]), sides);
    let judged = judge_run(&[evidence], &RunContext { seed, ..RunContext::default() });
    let [comparison] = &judged.benchmarks[0].comparisons[..] else { panic!("{}: {judged:?}", case["id"]) };
    comparison.clone()
}

const OWN: Metric = Metric::CpuTotal;

#[test]
fn golden_classifier_cases_get_their_verdict_reason_and_numbers_from_the_exact_law() {
    for case in section("classifier") {
        let (name, want) = (case["id"].as_str().unwrap(), &case["expect"]);
        if numbers(&case["base"]).is_empty() || numbers(&case["head"]).is_empty() {
            continue; // A side that has the metric nowhere is "not measured" to a run; the next test has the row.
        }
        let got = classify(&case, Resamples::Exact, 7);
        assert_eq!(got.verdict, verdict(&want["verdict"]), "{name}: {got:?}");
        assert_eq!(got.reason, reason(&want["reason"]), "{name}");
        same(got.base, &want["base_value"], &format!("{name} base"));
        same(got.head, &want["head_value"], &format!("{name} head"));
        same(got.difference, &want["difference"], &format!("{name} difference"));
        same(got.change_percent, &want["change_percent"], &format!("{name} change"));
        same(got.base_dispersion, &want["base_dispersion"], &format!("{name} base dispersion"));
        same(got.head_dispersion, &want["head_dispersion"], &format!("{name} head dispersion"));
        // The mean has no closed form: its 2000 resamples are allowed 0.05.
        let slack = if got.statistic == Statistic::Mean { 0.05 } else { 1e-9 };
        for (field, got) in [
            ("p_regression_exact", got.probability_regression),
            ("p_improvement_exact", got.probability_improvement),
        ] {
            if let Some(want) = want.get(field).and_then(Value::as_f64) {
                assert!((got.unwrap() - want).abs() <= slack, "{name} {field}: got {got:?}, want {want}");
            }
        }
    }
}

#[test]
fn golden_classifier_cases_get_the_same_verdict_from_2000_random_resamples() {
    for case in section("classifier") {
        let (name, want) = (case["id"].as_str().unwrap(), &case["expect"]);
        if numbers(&case["base"]).is_empty() || numbers(&case["head"]).is_empty() {
            continue;
        }
        for seed in 0..3 {
            let got = classify(&case, Resamples::MonteCarlo(2000), seed);
            assert_eq!(
                (got.verdict, got.reason),
                (verdict(&want["verdict"]), reason(&want["reason"])),
                "{name}"
            );
            for (field, got) in [
                ("p_regression_exact", got.probability_regression),
                ("p_improvement_exact", got.probability_improvement),
            ] {
                if let Some(want) = want.get(field).and_then(Value::as_f64) {
                    assert!((got.unwrap() - want).abs() <= 0.05, "{name} {field}: got {got:?}, want {want}");
                }
            }
        }
    }
}

#[test]
fn golden_classifier_cases_without_samples_are_inconclusive_with_no_numbers() {
    let mut seen = 0;
    for case in section("classifier") {
        let (base, head) = (numbers(&case["base"]), numbers(&case["head"]));
        if !base.is_empty() && !head.is_empty() {
            continue;
        }
        seen += 1;
        let (name, want) = (case["id"].as_str().unwrap(), &case["expect"]);
        assert_eq!(
            (want["verdict"].as_str(), want["reason"].as_str()),
            (Some("inconclusive"), Some("no_samples"))
        );
        // The metric exists on both sides, but no round has it on both.
        let (judge, limits) = judge_of(&case, Resamples::Exact);
        let in_other_rounds = runs(&OWN, &[1.0, 1.0]).into_iter().map(|mut run| {
            run.round = run.round.map(|round| round + 100);
            run
        });
        let or_elsewhere = |values: &[f64]| {
            if values.is_empty() { in_other_rounds.clone().collect() } else { runs(&OWN, values) }
        };
        let sides = vec![side("base", or_elsewhere(&base)), side("head", or_elsewhere(&head))];
        let judged = judge_one(evidence("one", settings(judge, [(OWN, limits)]), sides));
        let got = &judged.benchmarks[0].comparisons[0];
        assert_eq!((got.verdict, got.reason), (Verdict::Inconclusive, Some(Reason::NoSamples)), "{name}");
        assert_eq!((got.base, got.head, got.change_percent), (None, None, None), "{name}");
    }
    assert_eq!(seen, 2);
}

#[test]
fn golden_throughput_rows_mirror_latency() {
    for case in section("throughput") {
        let (name, want) = (case["id"].as_str().unwrap(), &case["expect"]);
        let limits = metric(case["latency_max_percent"].as_f64().unwrap());
        let mut evidence =
            latency(fixed(), limits, &numbers(&case["latency_ns_base"]), &numbers(&case["latency_ns_head"]));
        for (side, key) in evidence.sides.iter_mut().zip(["work_base", "work_head"]) {
            for (index, run) in side.runs.iter_mut().enumerate() {
                let varying = 500.0 + 50.0 * index as f64;
                run.work = Some(case[key].as_f64().unwrap_or(varying));
            }
        }
        let judged = judge_one(evidence);
        let [latency, got] = &judged.benchmarks[0].comparisons[..] else { panic!("{name}: {judged:?}") };
        same(latency.change_percent, &want["latency_change_percent"], &format!("{name} latency change"));
        assert_eq!(got.verdict, verdict(&want["verdict"]), "{name}");
        assert_eq!(got.reason, reason(&want["reason"]), "{name}");
        same(got.base, &want["base"], &format!("{name} base"));
        same(got.head, &want["head"], &format!("{name} head"));
        let change = if got.verdict == Verdict::Skipped { Some(0.0) } else { got.change_percent };
        same(change, &want["change_percent"], &format!("{name} change"));
        same(Some(got.max_percent), &want["max_percent"], &format!("{name} max_percent"));
        assert_eq!((got.gate, got.min_difference, got.unit.clone()), (false, 0.0, Unit::PerSecond), "{name}");
        assert_eq!(got.derived_from, Some(Metric::Latency), "{name}");
        assert_eq!(
            judged.summary.not_gated,
            cargo_benchgate::verdict::outcome::NotGated::default(),
            "{name}"
        );
        assert_eq!(judged.summary.skipped, 0, "{name}");
    }
}

#[test]
fn golden_throughput_is_skipped_when_work_varies_alike_on_both_sides() {
    let mut evidence = latency(fixed(), metric(10.0), &[1e9; 10], &[1e9; 10]);
    for side in &mut evidence.sides {
        side.runs.iter_mut().enumerate().for_each(|(index, run)| run.work = Some(500.0 + index as f64));
    }
    let judged = judge_one(evidence);
    let got = &judged.benchmarks[0].comparisons[1];
    assert_eq!((got.verdict, got.reason), (Verdict::Skipped, Some(Reason::WorkDiffers)));
    assert_eq!(judged.benchmarks[0].result, BenchResult::Pass);
}

fn peak_rss(case: &Value) -> Evidence {
    let count = case["runs"].as_u64().unwrap() as usize;
    let made = |value: &str, floor: &str| {
        let values = vec![case[value].as_f64().unwrap(); count];
        let mut runs = runs(&Metric::PeakRss, &values);
        runs.iter_mut().for_each(|run| run.peak_rss_floor = case[floor].as_f64());
        runs
    };
    let limits = MetricSettings { unit: Unit::Bytes, ..metric(10.0) };
    let sides =
        vec![side("base", made("base_bytes", "base_floor")), side("head", made("head_bytes", "head_floor"))];
    evidence("one", settings(fixed(), [(Metric::PeakRss, limits)]), sides)
}

#[test]
fn golden_peak_rss_at_the_floor_is_judged_only_where_the_floor_allows_it() {
    for case in section("peak_rss_floor") {
        let name = case["id"].as_str().unwrap();
        let judged = judge_one(peak_rss(&case));
        let got = &judged.benchmarks[0].comparisons[0];
        assert_eq!(got.verdict, verdict(&case["verdict"]), "{name}");
        assert_eq!(got.reason, reason(&case["reason"]), "{name}");
        same(got.base, &case["compared_base"], &format!("{name} base"));
        same(got.head, &case["compared_head"], &format!("{name} head"));
        same(got.change_percent, &case["compared_change_percent"], &format!("{name} change"));
    }
}

#[test]
fn golden_rss_budget_at_the_floor_passes_only_as_an_upper_bound_that_the_floor_satisfies() {
    let floor = 5_242_880.0;
    for (operator, limit, status, exit) in [
        (Operator::LessOrEqual, 6e6, BudgetStatus::Pass, 0),
        (Operator::LessOrEqual, floor, BudgetStatus::Pass, 0),
        (Operator::Less, floor, BudgetStatus::Skipped, 6),
        (Operator::LessOrEqual, 5e6, BudgetStatus::Skipped, 6),
        (Operator::GreaterOrEqual, 1e6, BudgetStatus::Skipped, 6),
    ] {
        let mut evidence = peak_rss(&section("peak_rss_floor")[3]);
        evidence.settings.budgets = vec![budget(Metric::PeakRss, Aggregation::Max, operator, limit)];
        let judged = judge_one(evidence);
        assert_eq!(judged.benchmarks[0].budgets[0].status, status, "{operator} {limit}");
        assert_eq!(judged.exit.code, exit, "{operator} {limit}");
    }
}

/// A judged comparison with that verdict.
fn comparison(name: &str, verdict: Verdict, gate: bool, derived: bool) -> Comparison {
    let judged = judge_one(latency(fixed(), metric(10.0), &[1.0; 10], &[1.0; 10]));
    let mut comparison = judged.benchmarks[0].comparisons[0].clone();
    comparison.metric = Metric::from_name(name);
    (comparison.verdict, comparison.gate) = (verdict, gate);
    comparison.derived_from = derived.then_some(Metric::Latency);
    comparison
}

fn budget_outcome(word: &str) -> BudgetOutcome {
    let mut evidence = latency(fixed(), metric(10.0), &[1.0; 10], &[1.0; 10]);
    evidence.settings.budgets =
        vec![budget(Metric::Latency, Aggregation::Median, Operator::LessOrEqual, 2.0)];
    let mut outcome = judge_one(evidence).benchmarks[0].budgets[0].clone();
    (outcome.status, outcome.reason) = match word {
        "pass" => (BudgetStatus::Pass, None),
        "fail" => (BudgetStatus::Fail, None),
        "no_data" => (BudgetStatus::NoData, Some(Reason::NoSamples)),
        "skipped_unsupported_policy_skip" => (BudgetStatus::Skipped, Some(Reason::NotMeasured)),
        "skipped_unassessable" => (BudgetStatus::Skipped, Some(Reason::AtFloor)),
        other => panic!("a new budget status: {other}"),
    };
    outcome
}

#[test]
fn golden_results_of_benchmarks_and_their_exit_statuses_follow_from_the_verdicts() {
    for case in section("command_result") {
        let name = case["id"].as_str().unwrap();
        let metrics: &Map<String, Value> = case["metrics"].as_object().unwrap();
        let comparisons: Vec<Comparison> = metrics
            .iter()
            .map(|(metric, pair)| {
                let derived = pair[1].as_str() == Some("derived");
                comparison(metric, verdict(&pair[0]), pair[1].as_bool().unwrap_or(false), derived)
            })
            .collect();
        let budgets: Vec<BudgetOutcome> = case["budgets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| budget_outcome(word.as_str().unwrap()))
            .collect();
        let worst = match case.get("execution_error") {
            Some(Value::Bool(true)) => BenchResult::Error,
            _ => result::worst(&comparisons, &budgets),
        };
        assert_eq!(worst.as_str(), case["result"].as_str().unwrap(), "{name}");
        let mut summary = Summary::default();
        result::count(&mut summary, Presence::Compared, worst, &comparisons, &budgets);
        let context = |words: &[&str]| RunContext {
            also_fail_on: words.iter().map(|word| (*word).to_owned()).collect(),
            ..RunContext::default()
        };
        assert_eq!(exit::code(&summary, &context(&[])) as u64, case["exit"].as_u64().unwrap(), "{name}");
        if let Some(strict) = case.get("exit_fail_on_inconclusive") {
            let code = exit::code(&summary, &context(&["inconclusive"]));
            assert_eq!(code as u64, strict.as_u64().unwrap(), "{name} with fail_on_inconclusive");
        }
        if let Some(skipped) = case.get("skipped") {
            assert_eq!(summary.skipped as u64, skipped.as_u64().unwrap(), "{name} skipped");
        }
        if let Some(count) = case.get("summary_regression") {
            assert_eq!(summary.regression as u64, count.as_u64().unwrap(), "{name} regressions");
        }
        if let Some(counts) = case.get("not_gated") {
            let got = serde_json::to_value(&summary.not_gated).unwrap();
            for (word, count) in counts.as_object().unwrap() {
                assert_eq!(&got[word], count, "{name} not gated {word}");
            }
        }
    }
}

#[test]
fn golden_exit_statuses_follow_from_the_counts() {
    for case in section("exit_status") {
        let count = |word: &str| case["counts"].get(word).and_then(Value::as_u64).unwrap_or(0) as usize;
        let flag = |word: &str| case.get(word).and_then(Value::as_bool).unwrap_or(false);
        let summary = Summary {
            pass: count("pass"),
            improved: count("improved"),
            inconclusive: count("inconclusive"),
            over_budget: count("over_budget"),
            regression: count("regression"),
            metric_error: count("metric_error"),
            error: count("error"),
            ..Summary::default()
        };
        let context = RunContext {
            interrupted: flag("interrupted"),
            also_fail_on: if flag("fail_on_inconclusive") { vec!["inconclusive".into()] } else { Vec::new() },
            ..RunContext::default()
        };
        let code = exit::code(&summary, &context);
        let mut exit = Exit { code: code as u8, because: None, without_no_fail: None };
        if flag("cleanup_failed") {
            exit = exit.after_failed_cleanup("a worktree is in use");
        }
        assert_eq!(u64::from(exit.code), case["exit"].as_u64().unwrap(), "{case}");
    }
}

#[test]
fn golden_budgets_hold_as_written() {
    for case in section("budget") {
        let word = case["aggregation"].as_str().unwrap();
        let aggregation = match word {
            "min" => Aggregation::Min,
            "max" => Aggregation::Max,
            "mean" => Aggregation::Mean,
            "median" => Aggregation::Median,
            percentile => Aggregation::Percentile(percentile[1..].parse().unwrap()),
        };
        let operator = Operator::from_word(case["operator"].as_str().unwrap()).unwrap();
        let head = numbers(&case["samples"]);
        let mut evidence = latency(fixed(), metric(10.0), &head, &head);
        evidence.settings.budgets =
            vec![budget(Metric::Latency, aggregation, operator, case["limit"].as_f64().unwrap())];
        let judged = judge_one(evidence);
        let got = &judged.benchmarks[0].budgets[0];
        assert_eq!(got.status.as_str(), case["status"].as_str().unwrap(), "{case}");
        same(got.actual, &case["actual"], word);
        let over = got.status == BudgetStatus::Fail;
        assert_eq!(judged.benchmarks[0].result == BenchResult::OverBudget, over, "{case}");
        assert_eq!(judged.exit.code, if over { ExitCode::GateFailed as u8 } else { 0 }, "{case}");
    }
}

#[test]
fn golden_descriptions_of_samples_are_reproduced() {
    use cargo_benchgate::stats::{describe, quantile};
    for case in section("statistics") {
        let data = numbers(&case["samples"]);
        let sorted = quantile::sorted(&data);
        let want = |field: &str| &case[field];
        same(describe::mean(&data), want("mean"), "mean");
        same(quantile::median(&sorted), want("median"), "median");
        same(Some(describe::standard_deviation(&data).unwrap_or(0.0)), want("stddev"), "stddev");
        same(Some(describe::cv(&data)), want("cv"), "cv");
        same(Some(describe::robust_cv(&sorted)), want("robust_cv"), "robust_cv");
        for (field, p) in [("p25", 0.25), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            same(quantile::quantile(&sorted, p), want(field), field);
        }
        let judged = judge_one(latency(fixed(), metric(10.0), &data, &data));
        let got = &judged.benchmarks[0].statistics[0][&Metric::Latency];
        same(Some(got.min), want("min"), "min");
        same(Some(got.max), want("max"), "max");
        assert_eq!(got.count as u64, case["count"].as_u64().unwrap());
        same(got.percentiles.get("p95").copied(), want("p95"), "p95");
    }
}
