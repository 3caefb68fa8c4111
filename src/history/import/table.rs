//! The plain CSV `commit,timestamp,benchmark,metric,unit,value[,mark][,machine][,better]`.

use std::collections::BTreeMap;

use super::{Record, Records, timestamp};
use crate::history::marks::Said;
use crate::history::series::View;
use crate::report::csv::{cell, table, text_of_cell};
use crate::report::read::ReadError;
use crate::suite::identity::labels;

const NEEDED: [&str; 6] = ["commit", "timestamp", "benchmark", "metric", "unit", "value"];

/// Reads a table.
///
/// # Errors
///
/// The first line that is wrong. Nothing is taken from a table with a wrong line.
pub fn read(bytes: &[u8]) -> Result<Records, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(true).flexible(true).from_reader(bytes);
    let row_error = |error: &csv::Error| ReadError::Row {
        line: error.position().map_or(1, csv::Position::line),
        why: error.to_string(),
    };
    let heading = reader.headers().map_err(|error| row_error(&error))?.clone();
    let column = |name: &str| heading.iter().position(|cell| cell.trim().eq_ignore_ascii_case(name));
    let missing: Vec<&'static str> = NEEDED.into_iter().filter(|name| column(name).is_none()).collect();
    if !missing.is_empty() {
        return Err(ReadError::Row {
            line: 1,
            why: format!(
                "column{} {} missing; the table is commit,timestamp,benchmark,metric,unit,value[,mark][,machine][,better]",
                if missing.len() == 1 { "" } else { "s" },
                missing.join(", ")
            ),
        });
    }
    let places = NEEDED.map(|name| column(name).unwrap_or(usize::MAX));
    let (mark_at, machine_at, better_at) = (column("mark"), column("machine"), column("better"));
    let mut records = Records::default();
    let mut row = csv::StringRecord::new();
    while reader.read_record(&mut row).map_err(|error| row_error(&error))? {
        let line = row.position().map_or(0, csv::Position::line);
        if row.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let wrong = |column: &str, why: String| ReadError::Cell { line, column: column.to_owned(), why };
        let text = |which: usize| -> Result<&str, ReadError> {
            let text = row.get(places[which]).map(|cell| text_of_cell(cell.trim())).unwrap_or_default();
            match text.is_empty() {
                true => Err(wrong(NEEDED[which], "it is empty".to_owned())),
                false => Ok(text),
            }
        };
        let value: f64 = text(5)?
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| wrong("value", "write a finite number with a decimal point".to_owned()))?;
        let mark = match mark_at.and_then(|at| row.get(at)).map(str::trim).unwrap_or_default() {
            "" | "false" | "False" | "0" => false,
            "true" | "True" | "1" => true,
            _ => return Err(wrong("mark", "write true or false".to_owned())),
        };
        let better = match better_at.and_then(|at| row.get(at)).map(str::trim).unwrap_or_default() {
            "" => None,
            "lower" => Some(crate::suite::metric::Better::Lower),
            "higher" => Some(crate::suite::metric::Better::Higher),
            _ => return Err(wrong("better", "write lower or higher".to_owned())),
        };
        let machine = machine_at.and_then(|at| row.get(at)).map(|cell| text_of_cell(cell.trim()));
        records.records.push(Record {
            commit: text(0)?.to_owned(),
            timestamp: timestamp(text(1)?).map_err(|why| wrong("timestamp", why))?,
            benchmark: text(2)?.to_owned(),
            metric: text(3)?.to_owned(),
            unit: text(4)?.to_owned(),
            better,
            values: vec![value],
            mark,
            machine: machine.filter(|machine| !machine.is_empty()).map(str::to_owned),
            tolerance: None,
        });
    }
    match records.records.is_empty() {
        true => Err(ReadError::NoSamples),
        false => Ok(records),
    }
}

/// The series of a view as such a table, with their machines and directions: importing it gives as many series with the same
/// values. What the table has no column for is in the name, where it tells two series apart.
pub fn write(view: &View) -> String {
    let heading =
        ["commit", "timestamp", "benchmark", "metric", "unit", "value", "mark", "machine", "better"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (series, name) in view.series.iter().zip(names(view)) {
        let mut marked = None;
        for point in &series.points {
            let mark =
                point.said == Some(Said::Begins) && marked.replace(point.position) != Some(point.position);
            let better = match series.better {
                crate::suite::metric::Better::Lower => "lower",
                crate::suite::metric::Better::Higher => "higher",
            };
            rows.push(vec![
                cell(&point.commit),
                point.committed_at.to_string(),
                cell(&name),
                cell(&series.key.metric),
                cell(&series.key.unit),
                point.best.to_string(),
                mark.to_string(),
                cell(&series.key.machine),
                better.to_owned(),
            ]);
        }
    }
    table(rows)
}

/// The names of the series: the labels of their benchmarks, told apart, with profile, features and target behind them
/// where several series have all the rest in common.
fn names(view: &View) -> Vec<String> {
    let labels = labels(view.series.iter().map(|series| &series.key.benchmark));
    let columns = |index: usize| {
        let key = &view.series[index].key;
        (labels[index].as_str(), key.metric.as_str(), key.unit.as_str(), key.machine.as_str())
    };
    let mut count: BTreeMap<_, usize> = BTreeMap::new();
    for index in 0..labels.len() {
        *count.entry(columns(index)).or_default() += 1;
    }
    let name = |index: usize| {
        let key = &view.series[index].key;
        match count[&columns(index)] {
            1 => labels[index].clone(),
            _ => format!("{} ({}, {}, {})", labels[index], key.profile, key.features, key.triple),
        }
    };
    (0..labels.len()).map(name).collect()
}
