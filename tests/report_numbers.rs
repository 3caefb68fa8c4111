//! Every number that Markdown, HTML and CSV show is the one in the JSON, as far as it is shown.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;

use std::collections::BTreeMap;

use cargo_benchgate::report::csv::csv;
use cargo_benchgate::report::html::html;
use cargo_benchgate::report::json::json;
use cargo_benchgate::report::markdown;
use cargo_benchgate::report::model::Report;
use serde_json::Value;

use report_support::generate::any_report;

const REPORTS: u64 = 200;

/// A number as shown, with half a unit of its last digit.
#[derive(Debug, Clone, Copy)]
struct Shown {
    value: f64,
    slack: f64,
}

impl Shown {
    fn parse(text: &str) -> Self {
        let value: f64 = text.parse().unwrap_or_else(|_| panic!("no number: {text:?}"));
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let whole = text.trim_start_matches(['-', '+']);
        // Four digits are exact for no larger number.
        let exponent = if decimals == 0 && 4 < whole.len() { whole.len() as i32 - 4 } else { 0 };
        Self { value, slack: 0.5 * 10f64.powi(exponent - decimals as i32) }
    }

    #[track_caller]
    fn is(self, exact: f64, what: &str) {
        let near = (self.value - exact).abs() <= self.slack * (1.0 + 1e-9) + exact.abs() * 1e-12;
        assert!(near, "{what}: shown {} for {exact}", self.value);
    }
}

/// `12.31 µs` in the base unit; `None` for `-`.
fn quantity(text: &str) -> Option<Shown> {
    if text == "-" {
        return None;
    }
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let factor = match unit {
        "ns" | "B" | "" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        own => match own.strip_suffix("tokens/s").map(str::trim) {
            Some("") => 1.0,
            Some("k") => 1e3,
            Some("M") => 1e6,
            Some("G") => 1e9,
            _ => panic!("an unknown unit: {text:?}"),
        },
    };
    let shown = Shown::parse(number);
    Some(Shown { value: shown.value * factor, slack: shown.slack * factor })
}

#[track_caller]
fn equal(shown: Option<Shown>, exact: &Value, what: &str) {
    match (shown, exact.as_f64()) {
        (None, None) => {}
        (Some(shown), Some(exact)) => shown.is(exact, what),
        other => panic!("{what}: {other:?}"),
    }
}

/// `+26.1 % [24.9, 27.3]` against the JSON.
#[track_caller]
fn change(text: &str, comparison: &Value, what: &str) {
    let numbers: Vec<&str> = text.split([' ', '%', '[', ']', ',']).filter(|part| !part.is_empty()).collect();
    let fields = ["change_percent", "ci_low_percent", "ci_high_percent"];
    match numbers.as_slice() {
        ["-"] => assert!(comparison["change_percent"].is_null(), "{what}: {text}"),
        numbers => {
            for (number, field) in numbers.iter().zip(fields) {
                equal(Some(Shown::parse(number)), &comparison[field], &format!("{what} {field}"));
            }
            let has_interval = comparison["ci_low_percent"].is_number();
            assert_eq!(numbers.len(), if has_interval { 3 } else { 1 }, "{what}: {text}");
        }
    }
}

/// The limit and the samples in the words of the reason.
#[track_caller]
fn reason(text: &str, comparison: &Value, what: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let next = |offset: usize| {
            let word = words.get(at + offset).unwrap_or_else(|| panic!("{what}: {text}"));
            word.trim_end_matches([',', ':'])
        };
        if *word == "limit" {
            equal(Some(Shown::parse(next(1))), &comparison["max_percent"], &format!("{what} limit"));
        }
        if *word == "+" {
            let counts = [words[at - 1], next(1)].map(|count| count.parse::<u64>().unwrap());
            assert_eq!(serde_json::json!(counts), comparison["samples"], "{what}: {text}");
        }
        if *word == "=" {
            let field = match (words[at - 1], comparison["verdict"].as_str().unwrap()) {
                ("P", "improved") => "probability_improvement",
                ("P" | "P(regression)", _) => "probability_regression",
                other => panic!("{what}: {other:?} in {text}"),
            };
            equal(Some(Shown::parse(next(1))), &comparison[field], &format!("{what} {field}"));
        }
    }
}

/// All comparisons of a report by benchmark and metric, from its JSON.
fn comparisons(report: &Report) -> BTreeMap<(String, String), Value> {
    let report: Value = serde_json::from_str(&json(report)).unwrap();
    let mut all = BTreeMap::new();
    for benchmark in report["benchmarks"].as_array().unwrap() {
        let name = format!("{}/{}", benchmark["target"].as_str().unwrap(), benchmark["id"].as_str().unwrap());
        for comparison in benchmark["comparisons"].as_array().unwrap() {
            let metric = comparison["metric"].as_str().unwrap().to_owned();
            assert!(all.insert((name.clone(), metric), comparison.clone()).is_none());
        }
    }
    all
}

fn unescaped(text: &str) -> String {
    let text = text.replace("\\_", "_").replace("\\[", "[").replace("\\]", "]");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#39;", "'")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

#[test]
fn markdown_shows_the_numbers_of_the_json() {
    let mut rows = 0;
    for seed in 0..REPORTS {
        let report = any_report(seed, 8);
        let mut all = comparisons(&report);
        let text = markdown::report(&report, usize::MAX);
        for line in
            text.lines().filter(|line| line.matches('|').count() == 8 && !line.starts_with("| verdict"))
        {
            let cells: Vec<String> = line.split('|').map(|cell| unescaped(cell.trim())).collect();
            let name = |cell: &str| cell.trim_matches('`').to_owned();
            let key = (name(&cells[2]), name(&cells[3]));
            let Some(comparison) = all.remove(&key) else { continue };
            let what = format!("report {seed}, {key:?}");
            equal(quantity(&cells[4]), &comparison["base"], &format!("{what} base"));
            equal(quantity(&cells[5]), &comparison["head"], &format!("{what} head"));
            change(&cells[6], &comparison, &what);
            reason(&cells[7], &comparison, &what);
            rows += 1;
        }
        assert!(all.is_empty(), "report {seed} lacks {:?}", all.keys());
    }
    assert!(REPORTS < rows, "{rows} rows");
}

#[test]
fn markdown_counts_and_impact_are_those_of_the_json() {
    let mut impacts = 0;
    for seed in 0..REPORTS {
        let report = any_report(seed, 8);
        let text = markdown::report(&report, usize::MAX);
        let summary: Value = serde_json::from_str(&json(&report)).unwrap();
        let summary = &summary["summary"];
        let counts = text.lines().find(|line| line.contains(" benchmark")).unwrap();
        let total = format!("{} benchmark", summary["benchmarks"]);
        assert!(text.contains(&total), "{counts}");
        let Some(line) = text.lines().find_map(|line| line.trim_start().strip_prefix("- impact ")) else {
            continue;
        };
        let shown = Shown::parse(line.split_whitespace().next().unwrap());
        equal(Some(shown), &summary["overall"][0]["impact"]["time_percent"], "impact");
        impacts += 1;
    }
    assert!(REPORTS / 2 < impacts, "{impacts} impacts");
}

#[test]
fn html_shows_the_numbers_of_the_json_and_holds_the_exact_ones() {
    for seed in 0..REPORTS {
        let report = any_report(seed, 8);
        let mut all = comparisons(&report);
        let page = html(&report);
        let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        let items: Vec<Value> = serde_json::from_str(data).unwrap();
        for row in page.split("<tr class=\"").skip(1) {
            let cells: Vec<&str> = row.split("<td").skip(1).collect();
            let text = |at: usize| {
                let inner = cells[at].split_once('>').unwrap().1;
                let inner = inner.trim_start_matches('<').trim_start_matches("span>");
                let inner = match inner.split_once("\">") {
                    Some((tag, rest)) if tag.starts_with("button") => rest,
                    _ => inner,
                };
                unescaped(inner.split('<').next().unwrap())
            };
            let exact = |at: usize| {
                let value = cells[at].split("data-value=\"").nth(1).unwrap().split('"').next().unwrap();
                value.parse::<f64>().ok()
            };
            let key = (text(1), text(2));
            let Some(comparison) = all.remove(&key) else { continue };
            let what = format!("report {seed}, {key:?}");
            for (at, field) in [(3, "base"), (4, "head"), (5, "change_percent")] {
                assert_eq!(exact(at), comparison[field].as_f64(), "{what} {field}");
            }
            equal(quantity(&text(3)), &comparison["base"], &format!("{what} base"));
            equal(quantity(&text(4)), &comparison["head"], &format!("{what} head"));
            change(&text(5), &comparison, &what);
            reason(&text(6), &comparison, &what);
            let Some((_, item)) = row.split('>').next().unwrap().split_once("data-item=\"") else { continue };
            let item = &items[item.split('"').next().unwrap().parse::<usize>().unwrap()];
            if let Some(change) = item["change"].as_array() {
                let fields = ["change_percent", "ci_low_percent", "ci_high_percent"];
                assert!(
                    change.iter().zip(fields).all(|(number, field)| *number == comparison[field]),
                    "{what}"
                );
            }
            assert_eq!(item["limit"].as_f64().map(f64::abs), comparison["max_percent"].as_f64(), "{what}");
        }
        assert!(all.is_empty(), "report {seed} lacks {:?}", all.keys());
    }
}

#[test]
fn html_plots_hold_every_finite_sample() {
    for seed in 0..REPORTS / 4 {
        let report = any_report(seed, 8);
        let page = html(&report);
        let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        let items: Vec<Value> = serde_json::from_str(data).unwrap();
        for item in &items {
            let title = item["title"].as_str().unwrap();
            let (benchmark, comparison) = report
                .benchmarks
                .iter()
                .flat_map(|benchmark| benchmark.comparisons.iter().map(move |it| (benchmark, it)))
                .find(|(benchmark, it)| format!("{} {}", benchmark.identity.label(), it.metric) == title)
                .unwrap();
            for (side, plotted) in benchmark.sides.iter().zip([&item["base"], &item["head"]]) {
                let values: Vec<f64> =
                    side.runs.iter().filter_map(|run| run.values.get(&comparison.metric)).collect();
                let shown: Vec<f64> =
                    plotted["values"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
                assert_eq!(values, shown, "{title}");
            }
        }
    }
}

#[test]
fn csv_holds_the_exact_numbers_of_the_json() {
    for seed in 0..REPORTS {
        let report = any_report(seed, 8);
        let mut all = comparisons(&report);
        let text = csv(&report);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().unwrap().clone();
        for record in reader.records() {
            let record = record.unwrap();
            let cell = |name: &str| &record[heading.iter().position(|it| it == name).unwrap()];
            if cell("record") != "comparison" {
                continue;
            }
            let key = (format!("{}/{}", cell("target"), cell("benchmark")), cell("metric").to_owned());
            let comparison = all.remove(&key).unwrap();
            for (name, value) in comparison.as_object().unwrap() {
                if value.is_number() && heading.iter().any(|it| it == name) {
                    assert_eq!(
                        cell(name).parse::<f64>().ok(),
                        value.as_f64(),
                        "report {seed}, {key:?} {name}"
                    );
                }
            }
            let samples = [cell("base_samples"), cell("head_samples")].map(|it| it.parse::<u64>().unwrap());
            assert_eq!(serde_json::json!(samples), comparison["samples"]);
        }
        assert!(all.is_empty(), "report {seed} lacks {:?}", all.keys());
    }
}
