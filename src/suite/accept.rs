//! `accept` entries: known slowdowns that do not fail the run, up to a ceiling and until a date.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{Invalid, Place, Sink, as_written};
use super::filter::Globs;
use super::identity::BenchmarkIdentity;
use super::keys::{Level, Table, nearest};
use super::metric::Metric;
use super::read::check_metric;
use super::reader::{Reader, max_percent, text};

/// One entry, as it stands in the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accept {
    /// The package whose table holds it; `None`: the workspace's table, which is about all packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The benchmarks: a glob over their labels, `target/id`.
    pub bench: String,
    /// The metric.
    pub metric: Metric,
    /// The largest degradation that is accepted, in per cent.
    pub up_to_percent: f64,
    /// Why it is accepted.
    pub reason: String,
    /// The last day it holds, UTC: `2027-01-31`.
    pub until: String,
}

impl Accept {
    /// Whether it holds for a run that began then (RFC 3339, UTC). Of a run without a time nothing can be told: it does
    /// not.
    pub fn holds_at(&self, started_at: Option<&str>) -> bool {
        // Both are written from the year down, so the order of the text is the order of the days.
        started_at.and_then(|time| time.get(..self.until.len())).is_some_and(|day| day <= self.until.as_str())
    }
}

/// Entries ready to be asked.
#[derive(Debug)]
pub struct Accepts<'a>(Vec<(&'a Accept, Option<Globs>)>);

impl<'a> Accepts<'a> {
    /// Compiles the globs. One that is none, as only a report written by hand can hold, is taken as a plain label.
    pub fn new(entries: &'a [Accept]) -> Self {
        let compile = |entry: &'a Accept| (entry, Globs::new(std::slice::from_ref(&entry.bench)).ok());
        Self(entries.iter().map(compile).collect())
    }

    /// The places and the entries that are about a metric of a benchmark.
    pub fn about(
        &self,
        identity: &BenchmarkIdentity,
        metric: &Metric,
    ) -> impl Iterator<Item = (usize, &'a Accept)> {
        let label = identity.label();
        self.0.iter().enumerate().filter_map(move |(place, (entry, globs))| {
            let same_package = entry.package.as_ref().is_none_or(|name| *name == identity.target.package);
            // A variant's brackets are a glob's own, so the label itself counts too.
            let same_bench =
                entry.bench == label || globs.as_ref().is_some_and(|globs| globs.is_match(&label));
            (same_package && same_bench && entry.metric == *metric).then_some((place, *entry))
        })
    }
}

/// An entry with its place, for checks that need all tables.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) accept: Accept,
    place: Place,
}

/// Reads the `accept` entries of a table; `package` is `None` for the workspace's.
pub(super) fn read_accepts(reader: &Reader<'_>, package: Option<&str>, sink: &mut Sink) -> Vec<Written> {
    let level = if package.is_some() { Level::Package } else { Level::Workspace };
    let items = match reader.value("accept") {
        None => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(other) => {
            let help = format!("write it with two brackets: [[{}.accept]]", reader.place.table);
            let invalid = Invalid::with_help("is not an array of tables", help);
            sink.error(&reader.place, "accept", Some(as_written(other)), invalid);
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = reader.place.element("accept", index);
        match item {
            Value::Object(table) => {
                let reader = Reader::of_element(table, place);
                reader.check_keys(Table::Accept, level, sink);
                entries.extend(read_accept(&reader, package, sink));
            }
            other => {
                let invalid = Invalid::with_help("is not a table", "write entries as [[…accept]]");
                sink.error(&reader.place, &format!("accept[{index}]"), Some(as_written(other)), invalid);
            }
        }
    }
    entries
}

fn read_accept(reader: &Reader<'_>, package: Option<&str>, sink: &mut Sink) -> Option<Written> {
    // An entry lets a slowdown through, so all of it must be said.
    for (key, help) in [
        ("bench", "a glob over labels such as \"parse/json/*\""),
        ("metric", "the metric that got worse, such as \"latency\""),
        ("up_to_percent", "the largest slowdown that is accepted, such as 20"),
        ("reason", "why it is accepted, for those who read the report"),
        ("until", "the last day it holds, such as \"2027-01-31\""),
    ] {
        if reader.value(key).is_none() {
            let invalid = Invalid::with_help("is missing", format!("write {help}"));
            sink.error(&reader.place, key, None, invalid);
        }
    }
    let bench = reader.read("bench", sink, bench);
    let metric = reader.read("metric", sink, metric);
    let up_to_percent = reader.read("up_to_percent", sink, max_percent);
    let reason = reader.read("reason", sink, text);
    let until = reader.read("until", sink, day);
    Some(Written {
        accept: Accept {
            package: package.map(str::to_owned),
            bench: bench?.value,
            metric: metric?.value,
            up_to_percent: up_to_percent?.value,
            reason: reason?.value,
            until: until?.value,
        },
        place: reader.place.clone(),
    })
}

/// Complains of metrics that no table declares.
pub(super) fn check_accepts(entries: &[Written], declared: &[String], sink: &mut Sink) {
    for Written { accept, place } in entries {
        let Metric::Own(name) = &accept.metric else { continue };
        if declared.iter().any(|known| **known == **name) {
            continue;
        }
        let known = Metric::BUILT_IN.iter().map(Metric::name).chain(declared.iter().map(String::as_str));
        let help = nearest(name, known).map_or_else(
            || "declare a metric of your own with metrics.NAME = { unit = \"…\" }".to_owned(),
            |near| format!("did you mean \"{near}\"?"),
        );
        let invalid = Invalid::with_help("is not a metric of this suite", help);
        sink.error(place, "metric", Some(format!("{:?}", &**name)), invalid);
    }
}

fn bench(value: &Value) -> Result<String, Invalid> {
    let pattern = text(value)?;
    match Globs::new(std::slice::from_ref(&pattern)) {
        Ok(_) => Ok(pattern),
        Err((_, invalid)) => Err(Invalid::with_help(
            format!("is not a valid glob: {}", invalid.problem),
            "`*`, `?`, `[a-z]` and `{a,b}` are special; a backslash takes that away",
        )),
    }
}

fn metric(value: &Value) -> Result<Metric, Invalid> {
    let metric = Metric::from_name(&text(value)?);
    check_metric(&metric)?;
    Ok(metric)
}

/// A day, as text or as TOML's own date.
fn day(value: &Value) -> Result<String, Invalid> {
    const HELP: &str = "write the last day it holds, like \"2027-01-31\"";
    let toml = value.get("$__toml_private_datetime").and_then(Value::as_str);
    let written = value.as_str().or(toml).ok_or_else(|| Invalid::with_help("is not a date", HELP))?;
    let plain = written.len() == "2027-01-31".len();
    match written.parse::<jiff::civil::Date>() {
        Ok(day) if plain => Ok(day.to_string()),
        _ => Err(Invalid::with_help("is not a date", HELP)),
    }
}
