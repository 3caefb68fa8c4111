//! `history compare`: one row a result.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{counted, optional, table};
use crate::history::compare::{ComparedRow, RowStatus};
use crate::history::overview::short;
use crate::history::status::Pairwise;
use crate::report::quantity;
use crate::report::text::visible;
use crate::suite::metric::Unit;

/// For people: the counts first, since a table of rows that say nothing must not look green.
pub fn text(rows: &[ComparedRow]) -> String {
    let counts: Vec<String> = RowStatus::ALL
        .iter()
        .map(|status| (status, rows.iter().filter(|row| row.status == *status).count()))
        .filter(|(_, count)| 0 < *count)
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    let mut text = match counts.is_empty() {
        true => "nothing to compare\n".to_owned(),
        false => format!("{}: {}\n\n", counted(rows.len(), "row"), counts.join(", ")),
    };
    if rows.is_empty() {
        return text;
    }
    let cells: Vec<Vec<String>> = rows.iter().map(row).collect();
    let heading =
        ["STATUS", "BENCHMARK", "METRIC", "BASELINE", "CONTENDER", "CHANGE", "MEAN", "RESULTS", "REASON"];
    let left = [true, true, true, false, false, false, false, false, true];
    text.push_str(&table(&heading, &left, &cells));
    let mut beyond = rows.iter().filter_map(|row| Some((row, pairwise(row)?)));
    if let Some((_, it)) = beyond.find(|(row, _)| is_beyond(row)) {
        let _ = writeln!(
            text,
            "* differs from the baseline by more than {} (--threshold), which by itself decides nothing",
            quantity::limit(it.percent_threshold)
        );
    }
    text
}

fn pairwise(row: &ComparedRow) -> Option<Pairwise> {
    row.compared.and_then(|compared| compared.pairwise)
}

/// Whether the change to the baseline is beyond the threshold for it.
fn is_beyond(row: &ComparedRow) -> bool {
    pairwise(row).is_some_and(|it| it.regression_indicated || it.improvement_indicated)
}

fn row(row: &ComparedRow) -> Vec<String> {
    let unit = row.key.as_ref().map_or(Unit::Count, |key| key.unit());
    let baseline = row.baseline.as_ref();
    // The pairwise change is positive for better; people read the rise of the value.
    let change = baseline.zip(row.contender).and_then(|((_, baseline), contender)| {
        let mark = if is_beyond(row) { " *" } else { "" };
        (*baseline != 0.0)
            .then(|| format!("{}{mark}", quantity::change(100.0 * (contender - baseline) / baseline.abs())))
    });
    let at =
        baseline.map(|(commit, _)| format!("; baseline {}", short(&visible(commit)))).unwrap_or_default();
    vec![
        if row.status == RowStatus::Regressed { "REGRESSED".to_owned() } else { row.status.to_string() },
        visible(&row.benchmark),
        visible(&row.metric),
        optional(baseline.map(|(_, value)| *value), &unit),
        optional(row.contender, &unit),
        change.unwrap_or_else(|| quantity::NONE.to_owned()),
        optional(row.compared.and_then(|compared| compared.distribution.mean), &unit),
        row.earlier.to_string(),
        format!("{}{at}", visible(&row.reason)),
    ]
}

/// For programs.
pub fn json(row: &ComparedRow) -> Value {
    json!({
        "status": row.status.as_str(),
        "benchmark": row.benchmark,
        "metric": row.metric,
        "unit": row.key.as_ref().map(|key| key.unit.clone()),
        "machine": row.key.as_ref().map(|key| key.machine.clone()),
        "contender": row.contender,
        "baseline": row.baseline.as_ref().map(|(commit, value)| json!({ "commit": commit, "value": value })),
        "results": row.earlier,
        "mean": row.compared.and_then(|compared| compared.distribution.mean),
        "sd": row.compared.and_then(|compared| compared.distribution.sd),
        "analysis": {
            "pairwise": row.compared.and_then(|compared| compared.pairwise),
            "lookback_z_score": row.compared.and_then(|compared| compared.lookback),
        },
        "reason": row.reason,
    })
}

/// How many rows have each status.
pub fn counts(rows: &[ComparedRow]) -> Value {
    let counts = RowStatus::ALL
        .iter()
        .map(|status| {
            let count = rows.iter().filter(|row| row.status == *status).count();
            (status.as_str().to_owned(), Value::from(count))
        })
        .collect();
    Value::Object(counts)
}
