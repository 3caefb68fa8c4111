//! The data of github-action-benchmark: `data.js`, or the JSON inside it.

use serde::Deserialize;
use serde_json::Value;

use super::{Record, Records, timestamp};
use crate::suite::metric::Better;

const PREFIX: &str = "window.BENCHMARK_DATA";

#[derive(Deserialize)]
struct Data {
    entries: std::collections::BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    commit: Commit,
    date: Option<f64>,
    #[serde(default)]
    tool: String,
    benches: Vec<Bench>,
}

#[derive(Deserialize)]
struct Commit {
    id: String,
    timestamp: Option<String>,
}

#[derive(Deserialize)]
struct Bench {
    name: String,
    value: Value,
    unit: String,
}

/// Whether the text looks like that data.
pub fn is_it(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(PREFIX)
        || (text.starts_with('{') && text.contains("\"entries\"") && text.contains("\"benches\""))
}

/// Reads the data. Suites of several names become prefixes of the benchmarks' names.
///
/// # Errors
///
/// When it is of another shape.
pub fn read(text: &str) -> Result<Records, String> {
    let text = text.trim();
    let json = match text.strip_prefix(PREFIX) {
        Some(rest) => {
            rest.trim_start().strip_prefix('=').ok_or("there is no `=` behind window.BENCHMARK_DATA")?
        }
        None => text,
    };
    let json = json.trim().trim_end_matches(';');
    let data: Data = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let several = 1 < data.entries.len();
    let mut records = Records::default();
    for (suite, entries) in data.entries {
        for entry in entries {
            let at = entry.commit.timestamp.as_deref().map(timestamp).transpose().ok().flatten();
            let at = at.or(entry.date.filter(|date| date.is_finite()).map(|date| (date / 1000.0) as i64));
            let Some(at) = at else {
                records.left_out.push(format!("commit {}: it has no time", entry.commit.id));
                continue;
            };
            for bench in entry.benches {
                let number = match &bench.value {
                    Value::Number(number) => number.as_f64(),
                    Value::String(text) => text.trim().replace(',', "").parse().ok(),
                    _ => None,
                };
                let Some(value) = number.filter(|value| value.is_finite()) else {
                    records.left_out.push(format!("commit {}, {}: no number", entry.commit.id, bench.name));
                    continue;
                };
                // Some tools say it, whatever the unit looks like.
                let better = match entry.tool.as_str() {
                    "customBiggerIsBetter" => Some(Better::Higher),
                    "customSmallerIsBetter" => Some(Better::Lower),
                    _ => None,
                };
                // `cargo bench` prints nanoseconds an iteration: the latency of our own runs.
                let (metric, unit) = match bench.unit.as_str() {
                    "ns/iter" | "ns/op" | "ns" => ("latency", "ns"),
                    "" => ("value", "count"),
                    unit => ("value", unit),
                };
                records.records.push(Record {
                    commit: entry.commit.id.clone(),
                    timestamp: at,
                    benchmark: if several { format!("{suite}/{}", bench.name) } else { bench.name },
                    metric: metric.to_owned(),
                    unit: unit.to_owned(),
                    better,
                    values: vec![value],
                    mark: false,
                    machine: None,
                    tolerance: None,
                });
            }
        }
    }
    Ok(records)
}
