//! One row of a table of samples: its columns, and what may stand in each.

use super::super::csv::text_of_cell;
use super::super::read::ReadError;
use super::COLUMNS;
use crate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use crate::suite::metric::{Better, Metric, Unit};
use crate::verdict::evidence::Stage;

/// Where each column stands.
pub(super) struct Columns {
    places: [Option<usize>; COLUMNS.len()],
    /// Whether it is a table of ours, in which spaces around an id are a part of it.
    is_ours: bool,
}

impl Columns {
    pub(super) fn of(heading: &csv::StringRecord) -> Result<Self, ReadError> {
        let place = |name: &str| heading.iter().position(|it| it.trim() == name);
        let missing: Vec<&'static str> = ["benchmark", "revision", "metric", "value"]
            .into_iter()
            .filter(|name| place(name).is_none())
            .collect();
        if !missing.is_empty() {
            return Err(ReadError::MissingColumns(missing));
        }
        let is_ours = COLUMNS.iter().all(|name| heading.iter().any(|it| it == *name));
        Ok(Self { places: COLUMNS.map(place), is_ours })
    }

    pub(super) fn row(&self, record: &csv::StringRecord, line: u64) -> Result<Row, ReadError> {
        let get = |name: &str| {
            let at = COLUMNS.iter().position(|it| *it == name).and_then(|at| self.places[at]);
            at.and_then(|at| record.get(at)).unwrap_or("")
        };
        let wrong = |column: &str, why: String| ReadError::Cell { line, column: column.to_owned(), why };
        let text = |name: &str| {
            let cell = if self.is_ours { get(name) } else { get(name).trim() };
            text_of_cell(cell).to_owned()
        };
        let needed = |name: &str| match text_of_cell(get(name).trim()) {
            "" => Err(wrong(name, "it is empty".to_owned())),
            word => Ok(word.to_owned()),
        };
        let number = |name: &str| match get(name).trim() {
            "" => Ok(None),
            cell => cell.parse::<u64>().map(Some).map_err(|_| {
                wrong(
                    name,
                    format!("`{cell}` is not a whole number from 0; leave it empty if it is not known"),
                )
            }),
        };
        let kind = match get("kind").trim() {
            "" | "bench" => TargetKind::Bench,
            "bin" => TargetKind::Bin,
            "example" => TargetKind::Example,
            other => return Err(wrong("kind", format!("`{other}` is none of bench, bin, example"))),
        };
        let stage = match get("stage").trim() {
            "" => Stage::Screen,
            word => Stage::from_word(word)
                .ok_or_else(|| wrong("stage", format!("`{word}` is none of screen, confirm")))?,
        };
        let round = number("round")?.map(u32::try_from).transpose();
        let round = round.map_err(|_| wrong("round", format!("`{}` is too large", get("round"))))?;
        let value = get("value").trim();
        let value: f64 =
            value.parse().map_err(|_| wrong("value", format!("`{value}` is not a number such as 12.5")))?;
        let metric = Metric::from_name(&needed("metric")?);
        let unit = unit_of(&metric, text_of_cell(get("unit").trim())).map_err(|why| wrong("unit", why))?;
        let better = better_of(&metric, get("better").trim()).map_err(|why| wrong("better", why))?;
        // A harness may have an empty id; without a target either, there is no name at all.
        let (id, mut target) = (text("benchmark"), text("target"));
        if target.is_empty() {
            target = needed("benchmark").map(|_| id.clone())?;
        }
        let target = TargetId { package: text("package"), kind, target };
        Ok(Row {
            line,
            identity: BenchmarkIdentity { target, variant: text("variant"), id },
            revision: needed("revision")?,
            place: Place { stage, round, sequence: number("sequence")? },
            metric,
            unit,
            better,
            value,
        })
    }
}

fn unit_of(metric: &Metric, word: &str) -> Result<Unit, String> {
    match (metric.unit(), word) {
        (Some(unit), "") => Ok(unit),
        (Some(unit), word) if unit.name() == word => Ok(unit),
        (Some(unit), word) => {
            Err(format!("values of {metric} are read in {}, not in `{word}`; convert them", unit.name()))
        }
        // Only what says that it is a count is judged as one.
        (None, word) => Ok(Unit::from_name(word)),
    }
}

fn better_of(metric: &Metric, word: &str) -> Result<Option<Better>, String> {
    let better = match word {
        "" => return Ok(None),
        "lower" => Better::Lower,
        "higher" => Better::Higher,
        other => return Err(format!("`{other}` is none of lower, higher; leave it empty if less is better")),
    };
    match metric {
        Metric::Own(_) | Metric::Throughput => Ok(Some(better)),
        _ if better == Better::Lower => Ok(Some(better)),
        _ => Err(format!("less is better for {metric}; write lower, or leave it empty")),
    }
}

/// One row, checked on its own.
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) identity: BenchmarkIdentity,
    pub(super) revision: String,
    pub(super) place: Place,
    pub(super) metric: Metric,
    pub(super) unit: Unit,
    pub(super) better: Option<Better>,
    pub(super) value: f64,
}

/// What a row says of its unit run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) stage: Stage,
    pub(super) round: Option<u32>,
    pub(super) sequence: Option<u64>,
}
