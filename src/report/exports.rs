//! What other services read of a run: Bencher's metric format, and the JSON of github-action-benchmark.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::suite::identity::labels;
use crate::suite::metric::{Better, Metric};

use super::escape::clip;
use super::model::{Benchmark, Report, ReportSide, Statistics};
use super::text::visible;
use super::{quantity, wording};

/// Bencher takes names of at most 1024 characters, and measures of 64.
const LONGEST_NAME: usize = 900;
const LONGEST_MEASURE: usize = 64;

/// Bencher Metric Format: for each benchmark what head took, as the median with the smallest and the largest sample.
pub fn bencher(report: &Report) -> String {
    let mut all = Map::new();
    for (label, _, side) in heads(report) {
        let measures: Map<String, Value> = side
            .statistics
            .iter()
            .map(|(metric, it)| {
                let numbers = json!({ "value": it.median, "lower_value": it.min, "upper_value": it.max });
                (slug(metric), numbers)
            })
            .collect();
        if !measures.is_empty() {
            all.insert(label, Value::Object(measures));
        }
    }
    pretty(&all)
}

/// The JSON of github-action-benchmark, for its tool `customSmallerIsBetter`: what head took, for each metric of which less
/// is better.
pub fn action_benchmark(report: &Report) -> String {
    #[derive(Serialize)]
    struct Entry {
        name: String,
        unit: String,
        value: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<String>,
        extra: String,
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (label, benchmark, side) in heads(report) {
        for (metric, it) in &side.statistics {
            if is_better_when_higher(benchmark, metric) {
                continue;
            }
            entries.push(Entry {
                name: format!("{label} {}", visible(metric.name())),
                unit: visible(it.unit.name()),
                value: it.median,
                range: it.standard_deviation.map(|deviation| format!("± {deviation}")),
                extra: extra(it),
            });
        }
    }
    pretty(&entries)
}

fn extra(it: &Statistics) -> String {
    format!("{}; {}", wording::spread(it), quantity::value(it.median, &it.unit))
}

fn is_better_when_higher(benchmark: &Benchmark, metric: &Metric) -> bool {
    let declared = benchmark.settings.metrics.get(metric).map(|metric| metric.better);
    *metric == Metric::Throughput || declared == Some(Better::Higher)
}

/// The side of each benchmark that is head, with a name that no other has.
fn heads(report: &Report) -> Vec<(String, &Benchmark, &ReportSide)> {
    let labels = labels(report.benchmarks.iter().map(|benchmark| &benchmark.identity));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let named = report.benchmarks.iter().zip(labels).filter_map(|(benchmark, label)| {
        let is_head = |side: &&ReportSide| side.revision == "head";
        let alone = || benchmark.sides.last().filter(|side| side.revision != "base");
        let side = benchmark.sides.iter().find(is_head).or_else(alone)?;
        let label = clip(&visible(&label), LONGEST_NAME);
        let count = seen.entry(label.clone()).or_default();
        *count += 1;
        let label = if *count == 1 { label } else { format!("{label} ({count})") };
        Some((label, benchmark, side))
    });
    named.collect()
}

/// A metric's name as Bencher spells measures: `peak-rss`.
fn slug(metric: &Metric) -> String {
    let words = visible(metric.name()).to_lowercase();
    let words: String = words.chars().map(|it| if it.is_alphanumeric() { it } else { '-' }).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(LONGEST_MEASURE).collect();
    if slug.is_empty() { "metric".to_owned() } else { slug }
}

fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("keys are text and numbers are finite");
    text.push('\n');
    text
}
