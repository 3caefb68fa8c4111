//! The runner's `summary.json`, in the shapes of gungraun 0.20 (version 7) and iai-callgrind 0.16 (version 6).

use serde_json::Value;

use crate::suite::metric::{CALLGRIND_METRICS, Metric};
use crate::verdict::evidence::{ErrorKind, Values};

use super::super::contract::{CollectedFile, HarnessError, Measurement};
use super::Family;

/// The instructions of one benchmark, and what else the runner makes of the profile.
pub(super) fn measurement(family: &Family, file: &CollectedFile) -> Result<Measurement, HarnessError> {
    let unreadable = |why: &str| {
        let message = format!(
            "{name}-runner's {path} cannot be read: {why}; gungraun 0.20 and iai-callgrind 0.16 are known to work, so check \
             the version of {name}",
            name = family.name,
            path = file.path.display(),
        );
        HarnessError::new(ErrorKind::Output, message)
    };
    let summary: Value =
        serde_json::from_slice(&file.bytes).map_err(|error| unreadable(&error.to_string()))?;
    let Some(module_path) = summary["module_path"].as_str() else {
        return Err(unreadable("it names no `module_path`"));
    };
    let id = match &summary["id"] {
        Value::Null => module_path.to_owned(),
        Value::String(id) => format!("{module_path}::{id}"),
        _ => return Err(unreadable("its `id` is no text")),
    };
    let profiles = summary["profiles"].as_array().ok_or_else(|| unreadable("it has no `profiles`"))?;
    let events = profiles.iter().find_map(|profile| Some(Events::of(profile)).filter(|it| it.has("Ir")));
    let Some(events) = events else {
        let tools: Vec<&str> = profiles.iter().filter_map(|profile| profile["tool"].as_str()).collect();
        let message = format!(
            "benchmark `{id}` has no instruction count: its tool is {}, and only callgrind and cachegrind count",
            if tools.is_empty() { "unknown".to_owned() } else { tools.join(", ") }
        );
        return Err(HarnessError::new(ErrorKind::MetricFailed, message));
    };
    let mut values = Values::default();
    let counted = CALLGRIND_METRICS.iter().map(|&(metric, event)| (Metric::from_name(metric), event));
    for (metric, event) in std::iter::once((Metric::Instructions, "Ir")).chain(counted) {
        match events.get(event) {
            Some(value) if value.is_finite() && 0.0 <= value => values.set(metric, value),
            Some(value) => return Err(unreadable(&format!("`{event}` is {value}"))),
            None if event == "Ir" => return Err(unreadable("`Ir` is not a number")),
            None => {}
        }
    }
    Ok(super::measurement(id, values))
}

/// The event counts of one tool, summed over all parts of the program.
struct Events<'a> {
    table: &'a Value,
}

impl<'a> Events<'a> {
    fn of(profile: &'a Value) -> Self {
        let new = &profile["data"]["total"]["metrics"];
        if new.is_object() {
            return Self { table: new };
        }
        // One key, the name of the tool.
        let old = &profile["summaries"]["total"]["summary"];
        let tool = old.as_object().and_then(|old| old.values().next());
        Self { table: tool.unwrap_or(&Value::Null) }
    }

    fn has(&self, event: &str) -> bool {
        self.table[event].is_object()
    }

    /// The count of this run; one of an earlier run stands beside it where the output directory is not fresh.
    fn get(&self, event: &str) -> Option<f64> {
        let event = &self.table[event];
        if let Some(value) = event["values"]["new"].as_f64() {
            return Some(value);
        }
        let metrics = &event["metrics"];
        let value = [&metrics["Left"], &metrics["Both"][0]].into_iter().find(|value| value.is_object())?;
        value["Int"].as_f64().or_else(|| value["Float"].as_f64())
    }
}
