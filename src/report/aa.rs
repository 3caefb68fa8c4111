//! The report of a revision measured against itself.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::assemble::identity_order;
use super::model::Report;
use super::text::{pad_left, pad_right, visible, width, wrap};
use super::{quantity, wording};
use crate::verdict::aa::{AaRow, AaSummary};

/// All repeats with what they come to. The reports keep every raw sample, so each can be judged again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AaReport {
    /// The version of the schema.
    pub schema_version: u32,
    /// `aa`.
    pub command: String,
    /// What the repeats come to.
    pub summary: AaSummary,
    /// One report a repeat.
    pub repeats: Vec<Report>,
}

/// The whole as JSON.
pub fn json(report: &AaReport) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("every field has a form in JSON");
    text.push('\n');
    text
}

const HEADINGS: [&str; 9] = [
    "TARGET",
    "METRIC",
    "PASS",
    "FALSE ALARMS",
    "IMPROVED",
    "INCONCLUSIVE",
    "NOISE FLOOR",
    "HOLDS",
    "SAMPLES",
];

/// The whole as a table for people.
pub fn terminal(report: &AaReport, columns: Option<usize>) -> String {
    let summary = &report.summary;
    let mut rows: Vec<&AaRow> = summary.rows.iter().collect();
    rows.sort_by(|a, b| identity_order(&a.identity, &b.identity));
    let cells: Vec<[String; 9]> = rows.into_iter().map(cells).collect();
    let mut text = String::new();
    if !cells.is_empty() {
        let widths: Vec<usize> = (0..HEADINGS.len())
            .map(|column| {
                let widest = cells.iter().map(|row| width(&row[column])).max().unwrap_or(0);
                widest.max(width(HEADINGS[column]))
            })
            .collect();
        let mut line = |row: &[String; 9]| {
            let padded: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(
                    |(column, (cell, &width))| {
                        if column < 2 { pad_right(cell, width) } else { pad_left(cell, width) }
                    },
                )
                .collect();
            let _ = writeln!(text, "{}", padded.join("  ").trim_end());
        };
        line(&HEADINGS.map(str::to_owned));
        for row in &cells {
            line(row);
        }
        text.push('\n');
    }
    let bound = format!("{:.1} %", summary.false_alarms_at_most * 100.0);
    let _ = writeln!(
        text,
        "{} repeats of one revision against itself: {} with a false alarm (rate at most {bound}, 95 % confidence)",
        summary.repeats, summary.false_alarms
    );
    text.push_str(
        "NOISE FLOOR: 95 % of the changes seen were smaller. HOLDS: the smallest max_percent at which every repeat passes.\n",
    );
    let first = report.repeats.first();
    for revision in first.into_iter().flat_map(|report| &report.revisions) {
        let _ = writeln!(text, "{}", wording::revision(revision));
    }
    if let Some(first) = first {
        let _ =
            writeln!(text, "seeds {} to {}", first.seed, report.repeats.last().map_or(0, |last| last.seed));
    }
    for warning in first.into_iter().flat_map(|report| &report.warnings) {
        let _ = writeln!(text, "warning: {}", visible(warning));
    }
    for advice in &summary.advice {
        for line in wrap(&visible(advice), columns) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn cells(row: &AaRow) -> [String; 9] {
    let gate = if row.gate { "" } else { " (not gated)" };
    let verdicts = row.verdicts;
    let percent = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), quantity::limit);
    [
        visible(&row.identity.label()),
        format!("{}{gate}", visible(row.metric.name())),
        verdicts.pass.to_string(),
        verdicts.regression.to_string(),
        verdicts.improved.to_string(),
        verdicts.inconclusive.to_string(),
        percent(row.noise_floor_percent),
        percent(row.smallest_max_percent),
        row.most_samples.to_string(),
    ]
}
