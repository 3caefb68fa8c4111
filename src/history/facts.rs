//! What a history takes from a report: one number a benchmark, metric and revision, and what decides where it belongs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::key::{SeriesKey, describe, fingerprint};
use super::tolerance::{Floors, Policy, default_kind};
use crate::report::model::{Machine, Revision, RunWide, SCHEMA_VERSION, Toolchain};
use crate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use crate::suite::metric::{Better, Metric, Unit};
use crate::verdict::evidence::{Presence, StoppedBecause};

/// The `command` of reports that were made from foreign data.
pub const IMPORT: &str = "import";

/// What a history takes from one report.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Names the run: two reports of one run, such as a judged copy, have the same.
    pub run: [u8; 16],
    /// When it was measured. ns since 1970.
    pub result_time: i64,
    /// The seed it drew, which tells apart runs that began in one second.
    pub seed: u64,
    /// Whether it was made from foreign data, whose commits need not be known here.
    pub imported: bool,
    /// The fingerprint of the machine.
    pub machine: Arc<str>,
    /// What people recognise the machine by.
    pub machine_description: String,
    /// The compiler; a change begins a segment.
    pub rustc: Arc<str>,
    /// The revisions.
    pub revisions: Vec<RevisionFacts>,
    /// Benchmarks that failed or were interrupted, by the key of a series without metric: they are in no series.
    pub errored: Vec<SeriesKey>,
    /// Benchmarks without a number, since their programs are those of the base: keys like those of `errored`.
    pub unmeasured: Vec<SeriesKey>,
    /// The numbers.
    pub points: Vec<PointFacts>,
}

/// One revision of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionFacts {
    /// Its name in the report: `base`, `head`, ….
    pub name: Arc<str>,
    /// Its commit; empty outside git.
    pub commit: Arc<str>,
    /// Whether uncommitted files were part of it.
    pub dirty: bool,
    /// The committer's time, in seconds since 1970.
    pub committed_at: Option<i64>,
}

/// One metric of one benchmark at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct PointFacts {
    /// The series it belongs to.
    pub key: SeriesKey,
    /// Index into the revisions.
    pub revision: u8,
    /// The best unit run.
    pub best: f64,
    /// The median of the unit runs.
    pub median: f64,
    /// Unit runs.
    pub samples: u32,
    /// The direction.
    pub better: Better,
    /// Whether the metric gates.
    pub gate: bool,
    /// The practical tolerance.
    pub floors: Floors,
}

/// The report as far as a history needs it; everything else is skipped, not parsed.
#[derive(Deserialize)]
struct Slim<'a> {
    schema_version: Option<u32>,
    #[serde(borrow)]
    command: Cow<'a, str>,
    seed: u64,
    started_at: Option<String>,
    revisions: Vec<Revision>,
    machine: Option<Machine>,
    toolchain: Option<Toolchain>,
    suite: RunWide,
    benchmarks: Vec<SlimBenchmark<'a>>,
}

#[derive(Deserialize)]
struct SlimBenchmark<'a> {
    #[serde(borrow)]
    package: Cow<'a, str>,
    kind: TargetKind,
    #[serde(borrow)]
    target: Cow<'a, str>,
    #[serde(borrow)]
    variant: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    harness: Cow<'a, str>,
    sides: Vec<SlimSide<'a>>,
    settings: SlimSettings,
    #[serde(borrow, default)]
    presence: Cow<'a, str>,
    #[serde(borrow, default)]
    stopped_because: Option<Cow<'a, str>>,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct SlimSide<'a> {
    #[serde(borrow)]
    revision: Cow<'a, str>,
    statistics: BTreeMap<Metric, SlimStatistics>,
}

#[derive(Deserialize)]
struct SlimStatistics {
    unit: Unit,
    count: u32,
    min: f64,
    max: f64,
    median: f64,
}

#[derive(Deserialize)]
struct SlimSettings {
    metrics: BTreeMap<Metric, SlimMetric>,
    #[serde(default)]
    tolerances: BTreeMap<Metric, Policy>,
}

#[derive(Deserialize)]
struct SlimMetric {
    better: Better,
    gate: bool,
}

impl Facts {
    /// The facts of a report's JSON.
    ///
    /// # Errors
    ///
    /// Why it is no report, in words.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let slim: Slim<'_> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match slim.schema_version {
            None | Some(0) => return Err("it has no schema_version".to_owned()),
            Some(version) if SCHEMA_VERSION < version => {
                return Err(format!(
                    "it has schema_version {version} and this cargo-benchgate reads up to {SCHEMA_VERSION}"
                ));
            }
            Some(_) => {}
        }
        let imported = slim.command == IMPORT;
        if slim.machine.is_none() && slim.suite.merged_shards.is_some() {
            return Err("it joins shards of several machines, so its numbers are of none; take the reports of the shards".to_owned());
        }
        let machine = fingerprint(slim.machine.as_ref());
        let revisions: Vec<RevisionFacts> = slim
            .revisions
            .iter()
            .map(|revision| RevisionFacts {
                name: revision.name.as_str().into(),
                commit: revision.commit.as_deref().unwrap_or_default().into(),
                dirty: revision.dirty,
                committed_at: revision.committed_at.as_deref().and_then(seconds),
            })
            .collect();
        let result_time = slim.started_at.as_deref().and_then(nanoseconds).unwrap_or(0);
        let mut hash = Sha256::new();
        hash.update(slim.started_at.as_deref().unwrap_or_default().as_bytes());
        hash.update(slim.seed.to_le_bytes());
        hash.update(machine.as_bytes());
        for revision in &revisions {
            hash.update([0]);
            hash.update(revision.commit.as_bytes());
        }
        let (profile, triple, rustc) = match &slim.toolchain {
            Some(it) => (it.profile.clone(), it.target.clone(), it.rustc.clone()),
            None => Default::default(),
        };
        let features = slim.suite.features.join(" ");
        let names: Vec<&str> = slim.revisions.iter().map(|revision| revision.name.as_str()).collect();
        let mut points = Vec::new();
        let mut errored = Vec::new();
        let mut unmeasured = Vec::new();
        for benchmark in &slim.benchmarks {
            let identity = || BenchmarkIdentity {
                target: TargetId {
                    package: benchmark.package.clone().into_owned(),
                    kind: benchmark.kind,
                    target: benchmark.target.clone().into_owned(),
                },
                variant: benchmark.variant.clone().into_owned(),
                id: benchmark.id.clone().into_owned(),
            };
            let key = |metric: &str, unit: &str| SeriesKey {
                benchmark: identity(),
                metric: metric.to_owned(),
                unit: unit.to_owned(),
                machine: machine.clone(),
                profile: profile.clone(),
                features: features.clone(),
                triple: triple.clone(),
            };
            // The shards of a run, and what they are joined to, begin at one time and hold other benchmarks.
            for part in [&benchmark.package, &benchmark.target, &benchmark.variant, &benchmark.id] {
                hash.update(part.as_bytes());
                hash.update([0]);
            }
            // The samples of an interrupted benchmark are fewer than its settings ask for: their best is no best.
            let interrupted =
                benchmark.stopped_because.as_deref() == Some(StoppedBecause::Interrupted.as_str());
            if benchmark.error.is_some() || interrupted {
                errored.push(key("", ""));
                continue;
            }
            let known = points.len();
            for side in &benchmark.sides {
                let Some(revision) = names.iter().position(|name| *name == side.revision) else { continue };
                let Ok(revision) = u8::try_from(revision) else { continue };
                for (metric, statistics) in &side.statistics {
                    // What follows from another metric has no history of its own.
                    if !imported && (!metric.is_comparable() || *metric == Metric::Throughput) {
                        continue;
                    }
                    let settings = benchmark.settings.metrics.get(metric);
                    let better = settings.map_or(direction(metric), |it| it.better);
                    if imported || slim.started_at.is_none() {
                        // Nothing but the numbers tells apart the runs that foreign data is made into.
                        for part in [metric.name(), statistics.unit.name()] {
                            hash.update(part.as_bytes());
                            hash.update([0]);
                        }
                        for number in [statistics.min, statistics.median, statistics.max] {
                            hash.update(number.to_le_bytes());
                        }
                    }
                    points.push(PointFacts {
                        key: key(metric.name(), statistics.unit.name()),
                        revision,
                        best: if better == Better::Lower { statistics.min } else { statistics.max },
                        median: statistics.median,
                        samples: statistics.count,
                        better,
                        gate: settings.is_some_and(|it| it.gate),
                        floors: floors(
                            benchmark.settings.tolerances.get(metric).copied(),
                            metric,
                            &statistics.unit,
                            benchmark.harness == "process",
                        ),
                    });
                }
            }
            if points.len() == known && benchmark.presence != Presence::Removed.as_str() {
                unmeasured.push(key("", ""));
            }
        }
        let digest = hash.finalize();
        let mut run = [0; 16];
        run.copy_from_slice(&digest[..16]);
        Ok(Self {
            run,
            result_time,
            seed: slim.seed,
            imported,
            machine_description: describe(slim.machine.as_ref()),
            machine: machine.into(),
            rustc: rustc.into(),
            revisions,
            errored,
            unmeasured,
            points,
        })
    }
}

/// The floors of a metric. A stored policy that no longer resolves counts as none: it was checked when it was written.
fn floors(policy: Option<Policy>, metric: &Metric, unit: &Unit, whole_program: bool) -> Floors {
    let policy = policy.unwrap_or_default();
    let kind = policy.metric_kind.unwrap_or_else(|| default_kind(metric, unit, whole_program));
    let with_kind = Policy { metric_kind: Some(kind), ..policy };
    with_kind.resolve(unit).unwrap_or(Floors { metric_kind: kind, absolute: 0.0, relative_percent: 0.0 })
}

/// The direction of a metric nothing is said of.
fn direction(metric: &Metric) -> Better {
    if *metric == Metric::Throughput { Better::Higher } else { Better::Lower }
}

/// Nanoseconds since 1970 of an RFC 3339 time.
pub fn nanoseconds(text: &str) -> Option<i64> {
    let timestamp: jiff::Timestamp = text.parse().ok()?;
    i64::try_from(timestamp.as_nanosecond()).ok()
}

/// Seconds since 1970 of an RFC 3339 time.
pub fn seconds(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(|timestamp| timestamp.as_second())
}
