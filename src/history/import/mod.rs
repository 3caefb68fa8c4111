//! Foreign data made into reports: each commit's results become files like those of our own runs.

pub mod benchdb;
pub mod criterion;
pub mod github_action;
pub mod table;

use std::collections::{BTreeMap, HashMap};

use super::facts::IMPORT;
use super::marks::{Action, Event};
use super::tolerance::Policy;
use crate::report::model::{
    Benchmark, Exit, Machine, Report, ReportSide, Revision, RunWide, SCHEMA_VERSION, Statistics, Summary,
    Tool,
};
use crate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::rejudge::settings_for_samples;
use crate::suite::settings::MetricSettings;
use crate::verdict::evidence::{Presence, Stage, UnitRun, Values};
use crate::verdict::outcome::BenchResult;

/// One result from elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The commit, as the source names it.
    pub commit: String,
    /// The commit's time, in seconds since 1970.
    pub timestamp: i64,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// The unit, as the source names it.
    pub unit: String,
    /// The direction; `None`: by the unit.
    pub better: Option<Better>,
    /// The samples; never empty, all finite.
    pub values: Vec<f64>,
    /// Whether a distribution begins with its commit.
    pub mark: bool,
    /// The machine; `None`: not stated.
    pub machine: Option<String>,
    /// The practical tolerance.
    pub tolerance: Option<Policy>,
}

/// What was read of a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Records {
    /// The results, in the order of the source.
    pub records: Vec<Record>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
}

/// Reports and marks, ready to be stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// One report a commit, machine and repetition.
    pub reports: Vec<Report>,
    /// The marks.
    pub events: Vec<Event>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// What the results of one report share: commit, time, machine.
type Place<'a> = (&'a str, i64, Option<&'a str>);

/// The direction of a unit: rates are better higher, all else lower.
pub fn direction(unit: &str) -> Better {
    let rate = unit.ends_with("/s")
        || unit.ends_with("/sec")
        || matches!(unit, "per_second" | "ops" | "rps" | "hz" | "Hz");
    if rate { Better::Higher } else { Better::Lower }
}

/// The direction of a series, by benchmark, metric and unit.
pub type Directions = HashMap<(String, String, String), Better>;

/// Gives records that state no direction the one that others of their series state, here or in the history.
///
/// # Errors
///
/// Two directions of one series, in words.
pub fn settle_directions(records: &mut [Record], known: &Directions) -> Result<(), String> {
    let series = |it: &Record| (it.benchmark.clone(), it.metric.clone(), it.unit.clone());
    let mut directions = known.clone();
    let stated = records.iter().filter_map(|record| Some((record, record.better?)));
    for (record, better) in stated {
        let direction = *directions.entry(series(record)).or_insert(better);
        if direction != better {
            let word = |better| if better == Better::Lower { "lower" } else { "higher" };
            return Err(format!(
                "{} {} is better {} at {}, and better {} elsewhere in it or in the history",
                record.benchmark,
                record.metric,
                word(better),
                record.commit,
                word(direction)
            ));
        }
    }
    for record in records.iter_mut().filter(|record| record.better.is_none()) {
        record.better = directions.get(&series(record)).copied();
    }
    Ok(())
}

/// Reports of these records. The same records give the same bytes, so importing twice adds nothing.
pub fn reports(records: &[Record], machine: Option<&str>) -> Imported {
    let mut imported = Imported::default();
    let mut groups: Vec<(i64, u32, Vec<&Record>)> = Vec::new();
    let mut places: HashMap<(Place<'_>, u32), usize> = HashMap::new();
    let mut repetitions: HashMap<(Place<'_>, [&str; 3]), u32> = HashMap::new();
    let mut at_time: HashMap<i64, u32> = HashMap::new();
    let mut units: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for record in records {
        let machine = record.machine.as_deref().or(machine);
        let place = (record.commit.as_str(), record.timestamp, machine);
        // A second result of one commit is a repetition, in a report of its own.
        let repetition = repetitions
            .entry((place, [&record.benchmark, &record.metric, &record.unit]))
            .and_modify(|count| *count += 1)
            .or_insert(0);
        let group = *places.entry((place, *repetition)).or_insert_with(|| {
            // Results of one second keep their order by a nanosecond each.
            let ordinal = at_time.entry(record.timestamp).and_modify(|ordinal| *ordinal += 1).or_insert(0);
            groups.push((record.timestamp, *ordinal, Vec::new()));
            groups.len() - 1
        });
        groups[group].2.push(record);
        let known = units.entry((&record.benchmark, &record.metric)).or_default();
        if !known.contains(&record.unit.as_str()) {
            known.push(&record.unit);
        }
        if record.mark {
            imported.events.push(event(record, machine));
        }
    }
    for ((benchmark, metric), units) in units.iter().filter(|(_, units)| 1 < units.len()) {
        imported.notes.push(format!(
            "{benchmark} {metric} comes in several units ({}), and each is a series of its own",
            units.join(", ")
        ));
    }
    imported.events.dedup();
    imported.reports =
        groups.into_iter().map(|(time, ordinal, group)| report(time, ordinal, &group, machine)).collect();
    imported
}

fn event(record: &Record, machine: Option<&str>) -> Event {
    Event {
        schema_version: 1,
        action: Action::Mark,
        commit: record.commit.clone(),
        // A mark's benchmark is a glob, and this is a name.
        benchmark: globset::escape(&record.benchmark),
        metric: Some(record.metric.clone()),
        machine: machine.map(str::to_owned),
        reason: "imported: a distribution begins here".to_owned(),
        at: rfc3339(record.timestamp, 0),
    }
}

fn rfc3339(seconds: i64, nanoseconds: u32) -> String {
    jiff::Timestamp::new(seconds, i32::try_from(nanoseconds % 1_000_000_000).unwrap_or(0))
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_string()
}

fn report(time: i64, ordinal: u32, group: &[&Record], machine: Option<&str>) -> Report {
    let first = group[0];
    let mut by_benchmark: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in group {
        by_benchmark.entry(&record.benchmark).or_default().push(record);
    }
    let benchmarks: Vec<Benchmark> =
        by_benchmark.into_iter().flat_map(|(name, records)| benchmarks(name, &records)).collect();
    Report {
        schema_version: SCHEMA_VERSION,
        tool: Tool { name: "cargo-benchgate".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        command: IMPORT.to_owned(),
        seed: 0,
        started_at: Some(rfc3339(time, ordinal)),
        finished_at: None,
        revisions: vec![Revision {
            name: "head".to_owned(),
            spec: first.commit.clone(),
            commit: Some(first.commit.clone()),
            subject: None,
            dirty: false,
            chosen_because: None,
            committed_at: Some(rfc3339(time, 0)),
        }],
        machine: first.machine.as_deref().or(machine).map(named_machine),
        toolchain: None,
        suite: RunWide::default(),
        builds: Vec::new(),
        dependency_changes: Vec::new(),
        summary: Summary {
            benchmarks: benchmarks.len(),
            pass: benchmarks.len(),
            new: benchmarks.len(),
            ..Summary::default()
        },
        benchmarks,
        warnings: Vec::new(),
        exit: Exit { code: 0, because: None, without_no_fail: None },
    }
}

fn named_machine(label: &str) -> Machine {
    Machine {
        os: String::new(),
        arch: String::new(),
        cpu_model: None,
        logical_cpus: 0,
        governor: None,
        load_at_start: None,
        load_at_end: None,
        memory_bytes: None,
        label: Some(label.to_owned()),
    }
}

/// The metrics of one benchmark; those of a second unit are a benchmark entry of their own, since a side has one value a
/// metric.
fn benchmarks(name: &str, records: &[&Record]) -> Vec<Benchmark> {
    let mut layers: Vec<BTreeMap<Metric, &Record>> = Vec::new();
    for record in records {
        let metric = Metric::from_name(&record.metric);
        match layers.iter_mut().find(|layer| !layer.contains_key(&metric)) {
            Some(layer) => {
                layer.insert(metric, record);
            }
            None => layers.push(BTreeMap::from([(metric, *record)])),
        }
    }
    layers.into_iter().map(|layer| benchmark(name, &layer)).collect()
}

fn benchmark(name: &str, metrics: &BTreeMap<Metric, &Record>) -> Benchmark {
    let mut settings = settings_for_samples(&BTreeMap::new());
    let mut statistics = BTreeMap::new();
    let mut runs: Vec<Values> = Vec::new();
    for (metric, record) in metrics {
        let unit = Unit::from_name(&record.unit);
        let metric_settings = MetricSettings {
            unit: unit.clone(),
            better: record.better.unwrap_or(direction(&record.unit)),
            max_percent: crate::suite::harnesses::default_max_percent(metric),
            min_difference: 0.0,
            gate: true,
            asked_for: false,
        };
        if let Some(policy) = record.tolerance {
            settings.tolerances.insert(metric.clone(), policy);
        }
        settings.metrics.insert(metric.clone(), metric_settings);
        statistics.insert(metric.clone(), describe(&record.values, unit));
        for (index, &value) in record.values.iter().enumerate() {
            if runs.len() <= index {
                runs.push(Values::default());
            }
            runs[index].set(metric.clone(), value);
        }
    }
    let runs = runs
        .into_iter()
        .zip(0..)
        .map(|(values, sequence)| UnitRun {
            stage: Stage::Screen,
            round: None,
            sequence: Some(sequence),
            context_switches: None,
            work: None,
            peak_rss_floor: None,
            wall_ns: None,
            values,
        })
        .collect();
    Benchmark {
        identity: BenchmarkIdentity {
            target: TargetId { package: String::new(), kind: TargetKind::Bench, target: name.to_owned() },
            variant: String::new(),
            id: name.to_owned(),
        },
        group: name.split('/').next().unwrap_or(name).to_owned(),
        harness: IMPORT.to_owned(),
        presence: Presence::New,
        presence_note: None,
        result: BenchResult::Pass,
        sides: vec![ReportSide { revision: "head".to_owned(), executable_sha256: None, statistics, runs }],
        comparisons: Vec::new(),
        budgets: Vec::new(),
        stopped_because: None,
        settings,
        error: None,
    }
}

fn describe(values: &[f64], unit: Unit) -> Statistics {
    use crate::stats::{describe as of, quantile};
    let ascending = quantile::sorted(values);
    let (min, max) = (ascending[0], ascending[ascending.len() - 1]);
    Statistics {
        unit,
        count: values.len(),
        min,
        max,
        mean: of::mean(values).unwrap_or(min),
        median: quantile::median(&ascending).unwrap_or(min),
        standard_deviation: of::standard_deviation(values),
        cv: (1 < values.len()).then(|| of::cv(values)),
        robust_cv: (1 < values.len()).then(|| of::robust_cv(&ascending)),
        percentiles: BTreeMap::new(),
    }
}

/// Seconds since 1970 of a Unix time or an RFC 3339 time.
///
/// # Errors
///
/// What would be right.
pub fn timestamp(text: &str) -> Result<i64, String> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<i64>() {
        return match jiff::Timestamp::from_second(seconds) {
            Ok(_) => Ok(seconds),
            Err(_) => Err(format!("{seconds} is no time in seconds since 1970")),
        };
    }
    text.parse::<jiff::Timestamp>()
        .map(|time| time.as_second())
        .map_err(|_| "write Unix seconds, or RFC 3339 such as 2026-01-31T12:00:00Z".to_owned())
}
