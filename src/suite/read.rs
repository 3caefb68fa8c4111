//! From metadata tables to layers.

use serde_json::Value;

use super::accept::{Written, read_accepts};
use super::error::{Invalid, Place, Sink, as_written};
use super::filter::Globs;
use super::identity::TargetKind;
use super::keys::{Level, Table};
use super::layers::{BenchLayer, JudgeLayer, MetricLayer, ToleranceLayer};
use super::metric::{Better, Metric, Unit};
use super::quantity::parse_amount;
use super::ranges;
use super::read_budget::read_budgets;
use super::read_launch::read_launch;
use super::reader::{
    Reader, boolean, duration, max_percent, number, percent_up_to, ratio, show_percent, text, texts, whole,
    word, words,
};
use super::run_wide::{AlsoFailOn, LookbackMode, ProfileFrom, RunLayer};
use super::settings::{Correction, Interval, Method, Pairing, Preset, Resamples, Statistic, Stop};
use super::tolerance::MetricKind;

/// What a `[workspace.metadata.benchgate]` or `[package.metadata.benchgate]` table says.
#[derive(Debug, Default)]
pub(super) struct TableLayer {
    pub(super) run: RunLayer,
    pub(super) bench: BenchLayer,
    pub(super) entries: Vec<Entry>,
    pub(super) accepts: Vec<Written>,
}

/// One `[[…bench]]` entry.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) place: Place,
    /// The package it is about.
    pub(super) package: String,
    /// The target; `None` is every bench target.
    pub(super) target: Option<String>,
    pub(super) kind: TargetKind,
    /// The variant it makes.
    pub(super) name: Option<String>,
    pub(super) filter: Option<Globs>,
    pub(super) skip: Option<Globs>,
    pub(super) layer: BenchLayer,
}

impl Entry {
    /// Whether it is about that benchmark of its target.
    pub(super) fn covers(&self, id: &str) -> bool {
        self.filter.as_ref().is_none_or(|globs| globs.is_match(id))
            && !self.skip.as_ref().is_some_and(|globs| globs.is_match(id))
    }

    /// Whether it is about all benchmarks of its target.
    pub(super) fn covers_all(&self) -> bool {
        self.filter.is_none() && self.skip.is_none()
    }
}

/// Reads the table of a package (`package` is its name) or of the workspace (`None`).
pub(super) fn read_table(
    metadata: &Value,
    manifest: &str,
    package: Option<&str>,
    sink: &mut Sink,
) -> TableLayer {
    let Some(value) = metadata.get("benchgate") else { return TableLayer::default() };
    let (parent, level) = match package {
        Some(_) => (Place::table(manifest, "package.metadata"), Level::Package),
        None => (Place::table(manifest, "workspace.metadata"), Level::Workspace),
    };
    let example = "[package.metadata.benchgate]";
    let Some(reader) = Reader::open(value, &parent, "benchgate", example, sink) else {
        return TableLayer::default();
    };
    reader.check_keys(Table::Root, level, sink);
    let mut layer = TableLayer {
        run: read_run(&reader, level, sink),
        bench: read_bench(&reader, level, false, sink),
        entries: Vec::new(),
        accepts: read_accepts(&reader, package, sink),
    };
    match reader.value("bench") {
        None => {}
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let place = reader.place.element("bench", index);
                match item {
                    Value::Object(table) => {
                        let reader = Reader::of_element(table, place);
                        layer.entries.extend(read_entry(&reader, package, sink));
                    }
                    other => {
                        let key = format!("bench[{index}]");
                        let invalid = Invalid::with_help("is not a table", "write entries as [[…bench]]");
                        sink.error(&reader.place, &key, Some(as_written(other)), invalid);
                    }
                }
            }
        }
        Some(other) => {
            let help = format!("write it with two brackets: [[{}.bench]]", reader.place.table);
            let invalid = Invalid::with_help("is not an array of tables", help);
            sink.error(&reader.place, "bench", Some(as_written(other)), invalid);
        }
    }
    layer
}

fn read_run(reader: &Reader<'_>, level: Level, sink: &mut Sink) -> RunLayer {
    let summary = reader.child("summary", "summary = { min_change = 0.2 }", sink);
    if let Some(summary) = &summary {
        summary.check_keys(Table::Summary, level, sink);
    }
    let mut of_summary = |key, most| summary.as_ref()?.read(key, sink, percent_up_to(most));
    let (min_change, impact_percent) = (of_summary("min_change", 100.0), of_summary("impact_percent", 50.0));
    let history = reader.child("history", "history = { lookback = \"plain\" }", sink);
    if let Some(history) = &history {
        history.check_keys(Table::History, level, sink);
    }
    RunLayer {
        min_change,
        impact_percent,
        base: reader.read("base", sink, text),
        max_time_ns: reader.read("max_time", sink, duration(ranges::MAX_TIME_NS)),
        also_fail_on: reader.read("also_fail_on", sink, words(AlsoFailOn::ALL, AlsoFailOn::as_str)),
        allow_partial: reader.read("allow_partial", sink, boolean),
        only_listed: reader.read("only_listed", sink, boolean),
        profile: reader.read("profile", sink, text),
        features: reader.read("features", sink, texts),
        target: reader.read("target", sink, text),
        snapshot_include: reader.read("snapshot_include", sink, snapshot_globs),
        toolchain: reader.read("toolchain", sink, text),
        profile_from: reader.read("profile_from", sink, word(ProfileFrom::ALL, ProfileFrom::as_str)),
        lookback: history.and_then(|history| {
            history.read("lookback", sink, word(LookbackMode::ALL, LookbackMode::as_str))
        }),
    }
}

fn snapshot_globs(value: &Value) -> Result<Vec<String>, Invalid> {
    let globs = Globs::read(value)?;
    let outside =
        |pattern: &&String| pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..");
    match globs.patterns.iter().find(outside) {
        Some(pattern) => Err(Invalid::with_help(
            format!("{pattern:?} leaves the repository"),
            "write it relative to the repository's root",
        )),
        None => Ok(globs.patterns),
    }
}

/// The keys for every benchmark, and those of an entry when it is one.
fn read_bench(reader: &Reader<'_>, level: Level, pointed: bool, sink: &mut Sink) -> BenchLayer {
    let layer = BenchLayer {
        warmup: reader.read("warmup", sink, whole(ranges::WARMUP)),
        samples: reader.read("samples", sink, whole(ranges::SAMPLES)),
        min_samples: reader.read("min_samples", sink, whole(ranges::SAMPLES)),
        max_samples: reader.read("max_samples", sink, whole(ranges::SAMPLES)),
        min_time_ns: reader.read("min_time", sink, duration(ranges::MIN_TIME_NS)),
        timeout_ns: reader.read("timeout", sink, duration(ranges::TIMEOUT_NS)),
        isolate: reader.read("isolate", sink, boolean),
        judge: read_judge(reader, level, sink),
        metrics: read_metrics(reader, level, pointed, sink),
        tolerances: read_tolerances(reader, level, sink),
        ..BenchLayer::default()
    };
    if let (Some(samples), true) =
        (&layer.samples, layer.min_samples.is_some() || layer.max_samples.is_some())
    {
        let invalid = Invalid::with_help(
            "stands beside `min_samples` or `max_samples`",
            "write either `samples` for a fixed number, or the other two",
        );
        sink.error(&samples.place, "samples", Some(samples.written.clone()), invalid);
    }
    layer
}

fn read_judge(reader: &Reader<'_>, level: Level, sink: &mut Sink) -> JudgeLayer {
    let Some(judge) = reader.child("judge", "judge = { stop = \"fixed\" }", sink) else {
        return JudgeLayer::default();
    };
    judge.check_keys(Table::Judge, level, sink);
    JudgeLayer {
        preset: judge.read("preset", sink, word(Preset::ALL, Preset::as_str)),
        method: judge.read("method", sink, word(Method::ALL, Method::as_str)),
        statistic: judge.read("statistic", sink, word(Statistic::ALL, Statistic::as_str)),
        pairing: judge.read("pairing", sink, word(Pairing::ALL, Pairing::as_str)),
        interval: judge.read("interval", sink, word(Interval::ALL, Interval::as_str)),
        resamples: judge.read("resamples", sink, resamples),
        confidence: judge.read("confidence", sink, number(ranges::CONFIDENCE)),
        max_cv: judge.read("max_cv", sink, number(ranges::MAX_CV)),
        stop: judge.read("stop", sink, word(Stop::ALL, Stop::as_str)),
        correction: judge.read("correction", sink, word(Correction::ALL, Correction::as_str)),
        target_ci: judge.read("target_ci", sink, ratio),
        show_percent: judge.read("show_percent", sink, show_percent),
    }
}

/// `exact` or a number of resamples.
pub(super) fn resamples(value: &Value) -> Result<Resamples, Invalid> {
    if value.as_str() == Some("exact") {
        return Ok(Resamples::Exact);
    }
    let help = "write \"exact\" or a whole number from 100 to 1000000";
    whole(ranges::RESAMPLES)(value)
        .map(Resamples::MonteCarlo)
        .map_err(|invalid| Invalid::with_help(invalid.problem, help))
}

fn read_metrics(
    reader: &Reader<'_>,
    level: Level,
    pointed: bool,
    sink: &mut Sink,
) -> std::collections::BTreeMap<Metric, MetricLayer> {
    let mut metrics = std::collections::BTreeMap::new();
    let Some(tables) = reader.child("metrics", "metrics.latency = { max_percent = 5 }", sink) else {
        return metrics;
    };
    for (name, value) in tables.iter() {
        let metric = Metric::from_name(name);
        if let Err(invalid) = check_metric(&metric) {
            sink.error(&tables.place, name, Some(as_written(value)), invalid);
            continue;
        }
        let example = format!("{name} = {{ max_percent = 5 }}");
        let Some(table) = Reader::open(value, &tables.place, name, &example, sink) else { continue };
        table.check_keys(Table::Metric, level, sink);
        let unit = metric.unit();
        let mut layer = MetricLayer::named(tables.place.clone(), pointed);
        layer.max_percent = table.read("max_percent", sink, max_percent);
        layer.min_difference =
            table.read("min_difference", sink, |value| min_difference(value, unit.as_ref()));
        layer.gate = table.read("gate", sink, boolean);
        layer.unit = table.read("unit", sink, |value| own_only(&metric, value).and_then(own_unit));
        layer.better = table.read("better", sink, |value| own_only(&metric, value).and_then(better));
        metrics.insert(metric, layer);
    }
    metrics
}

fn read_tolerances(
    reader: &Reader<'_>,
    level: Level,
    sink: &mut Sink,
) -> std::collections::BTreeMap<Metric, ToleranceLayer> {
    let mut tolerances = std::collections::BTreeMap::new();
    let example = "tolerance.peak_rss = { absolute = \"8MiB\", relative_percent = 5 }";
    let Some(tables) = reader.child("tolerance", example, sink) else {
        return tolerances;
    };
    for (name, value) in tables.iter() {
        let metric = Metric::from_name(name);
        if let Err(invalid) = check_metric(&metric) {
            sink.error(&tables.place, name, Some(as_written(value)), invalid);
            continue;
        }
        let example = format!("{name} = {{ relative_percent = 5 }}");
        let Some(table) = Reader::open(value, &tables.place, name, &example, sink) else { continue };
        table.check_keys(Table::Tolerance, level, sink);
        let unit = metric.unit();
        let layer = ToleranceLayer {
            metric_kind: table.read("metric_kind", sink, word(MetricKind::ALL, MetricKind::as_str)),
            absolute: table.read("absolute", sink, |value| min_difference(value, unit.as_ref())),
            relative_percent: table.read("relative_percent", sink, show_percent),
            named_in: tables.place.clone(),
        };
        tolerances.insert(metric, layer);
    }
    tolerances
}

/// Whether a metric can have limits of comparison.
pub(super) fn check_metric(metric: &Metric) -> Result<(), Invalid> {
    match metric {
        Metric::Throughput => Err(Invalid::with_help(
            "throughput follows latency and has no limits of its own",
            "set `metrics.latency`, or a `budget.throughput`",
        )),
        metric if !metric.is_comparable() => Err(Invalid::with_help(
            format!("{metric} is reported and never compared"),
            "set `metrics.cpu_total`, or a budget",
        )),
        Metric::Own(name) => {
            let good = |c: char| !c.is_control() && !c.is_whitespace();
            if name.is_empty() || !name.chars().all(good) {
                return Err(Invalid::with_help(
                    "is not the name of a metric",
                    "write it without spaces, like `tokens`",
                ));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn own_only<'a>(metric: &Metric, value: &'a Value) -> Result<&'a Value, Invalid> {
    match metric.unit() {
        None => Ok(value),
        Some(unit) => Err(Invalid::with_help(
            format!("{metric} is built in; its unit is {} and less is better", unit.name()),
            "leave the key out, or give a metric of your own another name",
        )),
    }
}

fn own_unit(value: &Value) -> Result<Unit, Invalid> {
    text(value).map(|name| Unit::from_name(&name))
}

fn better(value: &Value) -> Result<Better, Invalid> {
    const ALL: &[Better] = &[Better::Lower, Better::Higher];
    word(ALL, |better| match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    })(value)
}

/// `unit` is that of a built-in metric; limits of a metric of the user's own are plain numbers.
fn min_difference(value: &Value, unit: Option<&Unit>) -> Result<f64, Invalid> {
    let Some(unit) = unit else {
        return number(0.0..=f64::MAX)(value)
            .map_err(|invalid| Invalid::with_help(invalid.problem, "write a plain number of 0 or more"));
    };
    match value {
        Value::String(text) => parse_amount(text, unit),
        Value::Number(number) if number.as_f64().is_some_and(f64::is_finite) => {
            parse_amount(&number.to_string(), unit)
        }
        _ => Err(Invalid::with_help("is not an amount", format!("write it in {}", unit.name()))),
    }
}

fn read_entry(reader: &Reader<'_>, package: Option<&str>, sink: &mut Sink) -> Option<Entry> {
    reader.check_keys(Table::Entry, Level::Entry, sink);
    let place = reader.place.clone();
    let named = reader.read("package", sink, text);
    let owner = match (package, named) {
        (Some(package), Some(named)) if package != named.value => {
            let invalid = Invalid::with_help(
                format!("this is the table of package {package}"),
                "leave the key out, or move the entry to [[workspace.metadata.benchgate.bench]]",
            );
            sink.error(&place, "package", Some(named.written), invalid);
            return None;
        }
        (Some(package), _) => package.to_owned(),
        (None, Some(named)) => named.value,
        (None, None) => {
            if reader.value("package").is_none() {
                let invalid =
                    Invalid::with_help("is missing", "an entry of the workspace's table names its package");
                sink.error(&place, "package", None, invalid);
            }
            // The rest is read for its errors; the entry itself is about no package we know.
            String::new()
        }
    };
    let target = reader.read("target", sink, text).map(|set| set.value);
    let kind = reader
        .read("kind", sink, word(TargetKind::ALL, TargetKind::as_str))
        .map_or(TargetKind::Bench, |set| set.value);
    if target.is_none() && reader.value("target").is_none() && kind != TargetKind::Bench {
        let invalid = Invalid::with_help("is missing", format!("a {kind} is only measured when it is named"));
        sink.error(&place, "target", None, invalid);
    }
    let filter = reader.read("filter", sink, some_globs).map(|set| set.value);
    let skip = reader.read("skip", sink, Globs::read).map(|set| set.value);
    let pointed = target.is_some();
    let mut layer = read_bench(reader, Level::Entry, pointed, sink);
    layer.launch = read_launch(reader, sink);
    layer.group = reader.read("group", sink, text);
    layer.compare = reader.read("compare", sink, boolean);
    layer.budgets = read_budgets(reader, pointed, sink);
    let name = reader.read("name", sink, variant_name).map(|set| set.value);
    if owner.is_empty() {
        return None;
    }
    Some(Entry { place, package: owner, target, kind, name, filter, skip, layer })
}

/// Globs that match something: an entry about no benchmark at all is a mistake.
fn some_globs(value: &Value) -> Result<Globs, Invalid> {
    let globs = Globs::read(value)?;
    if globs.patterns.is_empty() {
        return Err(Invalid::with_help(
            "is an empty list, which no benchmark matches",
            "write [\"*\"], or leave the key out",
        ));
    }
    Ok(globs)
}

fn variant_name(value: &Value) -> Result<String, Invalid> {
    let name = text(value)?;
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.chars().all(good) {
        return Ok(name);
    }
    Err(Invalid::with_help("is not a name", "use letters, digits, `_`, `-` and `.`"))
}
