//! Results of BenchDB and Conbench: one JSON object a result, a list of them, lines of them, or a page of the API.

use serde_json::Value;

use super::{Record, Records, timestamp};
use crate::history::tolerance::Policy;
use crate::suite::metric::{Better, Unit};

/// Whether a JSON value looks like such results.
pub fn is_it(value: &Value) -> bool {
    let one = match value {
        Value::Array(items) => items.first(),
        Value::Object(object) => {
            match ["data", "results", "benchmark_results"].iter().find_map(|key| object.get(*key)) {
                Some(Value::Array(items)) => items.first(),
                _ => Some(value),
            }
        }
        _ => None,
    };
    one.is_some_and(|one| {
        one.get("tags").is_some() && (one.get("stats").is_some() || one.get("error").is_some())
    })
}

/// The JSON values of a file: one document, or one a line.
///
/// # Errors
///
/// Where the text is no JSON.
pub fn documents(text: &str) -> Result<Vec<Value>, String> {
    serde_json::Deserializer::from_str(text)
        .into_iter::<Value>()
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

/// Reads results. `commit_time` knows the time of commits the source gives none for.
pub fn read(documents: &[Value], commit_time: &dyn Fn(&str) -> Option<i64>) -> Records {
    let mut records = Records::default();
    for document in documents {
        let list = match document {
            Value::Array(items) => items.as_slice(),
            Value::Object(object) => {
                match ["data", "results", "benchmark_results"].iter().find_map(|key| object.get(*key)) {
                    Some(Value::Array(items)) => items.as_slice(),
                    _ => std::slice::from_ref(document),
                }
            }
            _ => std::slice::from_ref(document),
        };
        for (number, result) in list.iter().enumerate() {
            match record(result, commit_time) {
                Ok(record) => records.records.push(record),
                Err(why) => {
                    let id =
                        result["id"].as_str().map_or_else(|| format!("result {}", number + 1), str::to_owned);
                    records.left_out.push(format!("{id}: {why}"));
                }
            }
        }
    }
    // The source's order is that of results, and results of one commit keep it.
    records
}

fn record(result: &Value, commit_time: &dyn Fn(&str) -> Option<i64>) -> Result<Record, String> {
    if !result["error"].is_null() {
        return Err("it holds an error".to_owned());
    }
    let commit =
        [&result["github"]["commit"], &result["commit"]["sha"], &result["commit_hash"], &result["commit"]]
            .into_iter()
            .find_map(Value::as_str)
            .filter(|commit| !commit.is_empty())
            .ok_or("it names no commit")?;
    if result["github"]["pr_number"].as_i64().is_some_and(|number| 0 < number) {
        return Err("it is of a pull request".to_owned());
    }
    let times = [&result["commit"]["timestamp"], &result["commit_timestamp"]];
    let stated = times.into_iter().find_map(Value::as_str).map(timestamp).transpose()?;
    let at = match stated.or_else(|| commit_time(commit)) {
        Some(at) => at,
        None => timestamp(result["timestamp"].as_str().ok_or("it has no timestamp")?)?,
    };
    let stats = &result["stats"];
    let data = stats["data"].as_array().ok_or("stats.data is missing")?;
    let values: Vec<f64> = data.iter().filter_map(number).filter(|value| value.is_finite()).collect();
    // A null among the iterations makes the result a failed one.
    if values.is_empty() || values.len() != data.len() {
        return Err("an iteration has no value".to_owned());
    }
    let unit = match stats["unit"].as_str().ok_or("stats.unit is missing")? {
        "b/s" => "B/s",
        unit => unit,
    };
    let tolerance = match result["optional_benchmark_info"].get("tolerance") {
        None => None,
        Some(policy) => {
            let policy = Policy::from_json(policy)?;
            policy.resolve(&Unit::from_name(unit))?;
            Some(policy)
        }
    };
    Ok(Record {
        commit: commit.to_owned(),
        timestamp: at,
        benchmark: case(&result["tags"])?,
        metric: "value".to_owned(),
        unit: unit.to_owned(),
        better: Some(better(result, unit)?),
        values,
        mark: result["change_annotations"]["begins_distribution_change"].as_bool() == Some(true),
        machine: machine(result),
        tolerance,
    })
}

/// The direction: of the units that BenchDB knows, else the one the result states. A guess would judge backwards.
fn better(result: &Value, unit: &str) -> Result<Better, String> {
    let stated =
        [&result["less_is_better"], &result["stats"]["less_is_better"]].into_iter().find_map(Value::as_bool);
    match (unit, stated) {
        ("B/s" | "i/s", _) | (_, Some(false)) => Ok(Better::Higher),
        ("s" | "ns" | "B", _) | (_, Some(true)) => Ok(Better::Lower),
        (unit, None) => Err(format!(
            "nothing says whether {unit} is better lower or higher; a CSV with a column `better` does"
        )),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// The name with its further tags, in a stable order: what BenchDB calls a case.
fn case(tags: &Value) -> Result<String, String> {
    let tags = tags.as_object().ok_or("tags are missing")?;
    let name = tags.get("name").and_then(Value::as_str).ok_or("tags.name is missing")?;
    let mut further: Vec<String> = tags
        .iter()
        .filter(|(key, value)| *key != "name" && *key != "id" && !value.is_null())
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        })
        .collect();
    further.sort_unstable();
    Ok(if further.is_empty() { name.to_owned() } else { format!("{name} {}", further.join(" ")) })
}

fn machine(result: &Value) -> Option<String> {
    [&result["machine_info"]["name"], &result["cluster_info"]["name"], &result["hardware"]["name"]]
        .into_iter()
        .find_map(Value::as_str)
        .map(str::to_owned)
}
