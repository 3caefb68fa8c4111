//! Samples as a table: one row a value, written for other tools, read from them by `judge`.

use std::collections::{BTreeMap, HashMap};

use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::rejudge::settings_for_samples;
use crate::suite::settings::BenchmarkSettings;
use crate::verdict::evidence::{Evidence, Presence, Side, UnitRun, Values};

use super::csv::{Table, cell};
use super::model::Report;
use super::read::ReadError;
use super::wording;

mod row;

use row::{Columns, Place, Row};

/// What stands for the harness of samples that came as a table.
pub(super) const SAMPLES: &str = "samples";

const BASE: &str = "base";
const HEAD: &str = "head";

const COLUMNS: [&str; 13] = [
    "package",
    "kind",
    "target",
    "variant",
    "benchmark",
    "revision",
    "stage",
    "round",
    "sequence",
    "metric",
    "unit",
    "value",
    "better",
];

/// The raw samples of a report, in the order of its benchmarks, sides and runs.
pub fn samples_csv(report: &Report) -> String {
    let mut table = Table::new();
    table.push(COLUMNS);
    for benchmark in &report.benchmarks {
        let identity = &benchmark.identity;
        for side in &benchmark.sides {
            for run in &side.runs {
                for (metric, value) in run.values.iter() {
                    let limits = benchmark.settings.metrics.get(metric);
                    let unit = metric.unit().or_else(|| Some(limits?.unit.clone()));
                    table.push([
                        cell(&identity.target.package),
                        identity.target.kind.to_string(),
                        cell(&identity.target.target),
                        cell(&identity.variant),
                        cell(&identity.id),
                        cell(&side.revision),
                        run.stage.to_string(),
                        run.round.map(|round| round.to_string()).unwrap_or_default(),
                        run.sequence.map(|sequence| sequence.to_string()).unwrap_or_default(),
                        cell(metric.name()),
                        unit.map(|unit| cell(unit.name())).unwrap_or_default(),
                        value.to_string(),
                        limits.map(|limits| wording::better(limits.better).to_owned()).unwrap_or_default(),
                    ]);
                }
            }
        }
    }
    table.finish()
}

/// What a table of samples holds.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplesFile {
    /// The revisions of the whole file: `base` first, or else the one seen first that is not `head`.
    pub revisions: Vec<String>,
    /// The benchmarks, in the order they were first seen.
    pub benchmarks: Vec<SampledBenchmark>,
}

/// One benchmark of a table of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledBenchmark {
    /// Its name.
    pub identity: BenchmarkIdentity,
    /// Its revisions, in the order of the file's.
    pub sides: Vec<Side>,
    /// The unit of each metric it has.
    pub units: BTreeMap<Metric, Unit>,
    /// The direction of those of which the table says it.
    pub better: BTreeMap<Metric, Better>,
}

impl SampledBenchmark {
    /// The defaults for its metrics, each in its direction.
    pub fn settings(&self) -> BenchmarkSettings {
        let mut settings = settings_for_samples(&self.units);
        for (metric, better) in &self.better {
            if let Some(limits) = settings.metrics.get_mut(metric) {
                limits.better = *better;
            }
        }
        settings
    }
}

impl SamplesFile {
    /// Whether every sample says its round: without, runs cannot be taken as pairs nor looks be replayed.
    pub fn has_rounds(&self) -> bool {
        self.benchmarks.iter().flat_map(|it| &it.sides).flat_map(|it| &it.runs).all(|run| run.round.is_some())
    }

    /// The revision that the others are measured against although none is called `base`.
    pub fn assumed_base(&self) -> Option<&str> {
        self.revisions.first().map(String::as_str).filter(|name| 1 < self.revisions.len() && *name != BASE)
    }

    /// The evidence for a judgement, with the settings of each benchmark.
    pub fn into_evidence(
        self,
        mut settings: impl FnMut(&SampledBenchmark) -> BenchmarkSettings,
    ) -> Vec<Evidence> {
        let base = self.revisions.first().filter(|_| 1 < self.revisions.len());
        let evidence = |benchmark: SampledBenchmark| {
            let settings = settings(&benchmark);
            let has_base = benchmark.sides.iter().any(|side| Some(&side.revision) == base);
            let presence = match (has_base, benchmark.sides.len()) {
                (true, 1) => Presence::Removed,
                (true, _) => Presence::Compared,
                (false, _) => Presence::New,
            };
            Evidence {
                identity: benchmark.identity,
                harness: SAMPLES.to_owned(),
                presence,
                presence_note: None,
                settings,
                sides: benchmark.sides,
                stopped_because: None,
                error: None,
            }
        };
        self.benchmarks.into_iter().map(evidence).collect()
    }
}

/// Reads a table of samples. Only the columns benchmark, revision, metric and value are needed; a package is empty, a
/// kind `bench`, a target the benchmark's own name, a stage `screen` where nothing is said. Other columns are ignored.
pub fn read_samples_csv(bytes: &[u8]) -> Result<SamplesFile, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let heading = reader.headers().map_err(|error| unreadable(&error))?.clone();
    let columns = Columns::of(&heading)?;
    let mut collector = Collector::default();
    for record in reader.records() {
        let record = record.map_err(|error| unreadable(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != heading.len() {
            let why = format!("{} cells where the heading has {}", record.len(), heading.len());
            return Err(ReadError::Row { line, why });
        }
        collector.add(columns.row(&record, line)?)?;
    }
    collector.finish()
}

fn unreadable(error: &csv::Error) -> ReadError {
    let line = error.position().map_or(1, csv::Position::line);
    let why = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8 text".to_owned(),
        _ => error.to_string(),
    };
    ReadError::Row { line, why }
}

/// Rows gathered to runs, sides and benchmarks.
#[derive(Default)]
struct Collector {
    revisions: Vec<String>,
    benchmarks: Vec<SampledBenchmark>,
    by_identity: HashMap<BenchmarkIdentity, usize>,
    /// The runs at a place of a side, in the order they appeared.
    runs: HashMap<(usize, usize, Place), Vec<usize>>,
    /// How many values a metric has at a place.
    seen: HashMap<(usize, usize, Place, Metric), usize>,
}

impl Collector {
    fn add(&mut self, row: Row) -> Result<(), ReadError> {
        let revision = position_or_push(&mut self.revisions, row.revision);
        let at = *self.by_identity.entry(row.identity.clone()).or_insert_with(|| {
            self.benchmarks.push(SampledBenchmark {
                identity: row.identity,
                sides: Vec::new(),
                units: BTreeMap::new(),
                better: BTreeMap::new(),
            });
            self.benchmarks.len() - 1
        });
        let benchmark = &mut self.benchmarks[at];
        let unit = benchmark.units.entry(row.metric.clone()).or_insert_with(|| row.unit.clone());
        if *unit != row.unit {
            let why = format!("`{}` after `{}` for the same metric", row.unit.name(), unit.name());
            return Err(ReadError::Cell { line: row.line, column: "unit".to_owned(), why });
        }
        if let Some(better) = row.better {
            let known = *benchmark.better.entry(row.metric.clone()).or_insert(better);
            if known != better {
                let [now, before] = [better, known].map(wording::better);
                let why = format!("`{now}` after `{before}` for the same metric");
                return Err(ReadError::Cell { line: row.line, column: "better".to_owned(), why });
            }
        }
        let name = &self.revisions[revision];
        let side = match benchmark.sides.iter().position(|side| side.revision == *name) {
            Some(side) => side,
            None => {
                benchmark.sides.push(Side {
                    revision: name.clone(),
                    executable_sha256: None,
                    runs: Vec::new(),
                });
                benchmark.sides.len() - 1
            }
        };
        // The k-th value of a metric at a place belongs to the k-th run there. A sequence number names one run.
        let seen = self.seen.entry((at, side, row.place, row.metric.clone())).or_default();
        let nth = *seen;
        *seen += 1;
        if let (Some(sequence), 1..) = (row.place.sequence, nth) {
            let why = format!("a second value of {} for the run with sequence {sequence}", row.metric);
            return Err(ReadError::Row { line: row.line, why });
        }
        let here = self.runs.entry((at, side, row.place)).or_default();
        let runs = &mut benchmark.sides[side].runs;
        if here.len() == nth {
            here.push(runs.len());
            let Place { stage, round, sequence } = row.place;
            let values = Values::default();
            let run = UnitRun {
                stage,
                round,
                sequence,
                context_switches: None,
                work: None,
                peak_rss_floor: None,
                wall_ns: None,
                values,
            };
            runs.push(run);
        }
        runs[here[nth]].values.set(row.metric, row.value);
        Ok(())
    }

    fn finish(self) -> Result<SamplesFile, ReadError> {
        let Self { mut revisions, mut benchmarks, .. } = self;
        if benchmarks.is_empty() {
            return Err(ReadError::NoSamples);
        }
        for known in [BASE, HEAD] {
            rename(known, &mut revisions, &mut benchmarks);
        }
        // base, then head where there is a base; without one, head is never the revision others are measured against.
        let has_base = revisions.iter().any(|it| it == BASE);
        let rank = |name: &str| match name {
            BASE => 0,
            HEAD if has_base => 1,
            _ => 2,
        };
        revisions.sort_by_key(|name| rank(name));
        if !has_base && 1 < revisions.len() && revisions[0] == HEAD {
            revisions.swap(0, 1);
        }
        for benchmark in &mut benchmarks {
            benchmark.sides.sort_by_key(|side| revisions.iter().position(|name| *name == side.revision));
            // A table may be sorted by anything; runs are kept in the order they were made, where that is said.
            for side in &mut benchmark.sides {
                if side.runs.iter().all(|run| run.sequence.is_some()) {
                    side.runs.sort_by_key(|run| run.sequence);
                }
            }
        }
        Ok(SamplesFile { revisions, benchmarks })
    }
}

/// Gives a revision its known name where only its case differs (`Base`), and no other has that name.
fn rename(known: &str, revisions: &mut [String], benchmarks: &mut [SampledBenchmark]) {
    let mut alike = revisions.iter().enumerate().filter(|(_, name)| name.eq_ignore_ascii_case(known));
    let (Some((at, _)), None) = (alike.next(), alike.next()) else { return };
    let written = std::mem::replace(&mut revisions[at], known.to_owned());
    for side in benchmarks.iter_mut().flat_map(|benchmark| &mut benchmark.sides) {
        if side.revision == written {
            known.clone_into(&mut side.revision);
        }
    }
}

fn position_or_push(names: &mut Vec<String>, name: String) -> usize {
    names.iter().position(|it| *it == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}
