//! The report for people: problems first, a reason in numbers on every row, then the counts and the exit status.

use anstyle::{AnsiColor, Style};

use crate::summary::Place;
use crate::verdict::outcome::{Comparison, PairingUsed};

use super::model::Report;
use super::rows::{self, Source, Weight};
use super::text::{visible, without_middle, wrap};
use super::{overview, wording};

mod plot;
mod table;

use table::{Row, Table};

/// So many rows that say nothing new are shown before the rest is counted.
const QUIET_ROWS: usize = 20;

/// A longer name has its middle left out; the other formats hold all of it.
const LONGEST_NAME: usize = 800;

/// How the report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether to colour. Nothing is said by colour alone.
    pub color: bool,
    /// Columns of the terminal; `None` where there is none, as in a log or a file.
    pub width: Option<usize>,
    /// Every row, however many say nothing new, and below each compared one its interval and both sides as plots.
    pub verbose: bool,
}

fn style(weight: Weight) -> Style {
    match weight {
        Weight::Broken | Weight::Failing => AnsiColor::Red.on_default().bold(),
        Weight::Unsure | Weight::NotGatedFailing => AnsiColor::Yellow.on_default(),
        Weight::Better => AnsiColor::Green.on_default(),
        Weight::Fine => Style::new(),
        Weight::NotGatedUnsure | Weight::Skipped | Weight::Absent => Style::new().dimmed(),
    }
}

/// The report as text that ends with a line end. Text of benchmarks and programs cannot drive the terminal.
pub fn terminal(report: &Report, options: Options) -> String {
    let mut rows = rows::rows(report);
    let folded = if options.verbose { 0 } else { fold(&mut rows) };
    let mut text = String::new();
    if rows.is_empty() {
        text.push_str("no benchmarks\n");
    } else {
        if options.verbose {
            for row in &mut rows {
                if let Source::Comparison(comparison) = row.source {
                    row.notes.extend(plot::lines(row.benchmark, comparison, options.width));
                }
            }
        }
        let rows = rows.into_iter().map(cells).collect();
        text.push_str(&Table { rows }.render(options.color, options.width));
    }
    if 0 < folded {
        text.push_str(&format!(
            "... and {folded} more rows without a change to report (--verbose shows all)\n"
        ));
    }
    text.push('\n');
    footer(report, options, &mut text);
    text
}

/// Takes out the quiet rows beyond the first few, and says how many. What is worse, better, or open always stays.
fn fold(rows: &mut Vec<rows::Row<'_>>) -> usize {
    let before = rows.len();
    let mut quiet = 0;
    rows.retain(|row| {
        quiet += usize::from(is_quiet(row));
        !is_quiet(row) || quiet <= QUIET_ROWS
    });
    before - rows.len()
}

fn is_quiet(row: &rows::Row<'_>) -> bool {
    matches!(row.weight, Weight::Fine | Weight::Absent | Weight::Skipped)
}

fn cells(row: rows::Row<'_>) -> Row {
    Row {
        style: style(row.weight),
        target: without_middle(&row.target, LONGEST_NAME),
        metric: without_middle(&row.metric, LONGEST_NAME),
        base: row.base,
        head: row.head,
        change: row.change,
        verdict: row.verdict,
        reason: row.reason,
        notes: row.notes,
    }
}

fn footer(report: &Report, options: Options, text: &mut String) {
    let mut paragraph = |prefix: &str, style: Style, body: &str| {
        let indent = prefix.len();
        let columns = options.width.map(|width| width.saturating_sub(indent).max(20));
        for (at, line) in wrap(body, columns).iter().enumerate() {
            match (at, options.color) {
                (0, true) => text.push_str(&format!("{style}{prefix}{style:#}{line}\n")),
                (0, false) => text.push_str(&format!("{prefix}{line}\n")),
                _ => text.push_str(&format!("{:indent$}{line}\n", "")),
            }
        }
    };
    let plain = Style::new();
    let in_pairs = |it: &Comparison| it.pairing == Some(PairingUsed::Paired);
    if report.benchmarks.iter().flat_map(|benchmark| &benchmark.comparisons).any(in_pairs) {
        paragraph(
            "",
            plain,
            "in pairs: the machine moved both sides together, so the change is the median of the pairs' own ratios, not HEAD / BASE",
        );
    }
    if let Some(hint) = wording::placement(report) {
        paragraph("", plain, hint);
    }
    let advice = wording::advice(report);
    if !advice.is_empty() {
        paragraph("", plain, "ways out of inconclusive:");
        advice.iter().for_each(|way| paragraph("  - ", plain, way));
    }
    for warning in &report.warnings {
        paragraph("warning: ", AnsiColor::Yellow.on_default().bold(), &visible(warning));
    }
    for revision in &report.revisions {
        paragraph("", plain, &wording::revision(revision));
    }
    for line in overview::lines_with_bars(report, Place::Notice) {
        let text = line.trim_start();
        paragraph(&line[..line.len() - text.len()], plain, text);
    }
    for line in wording::counts(report) {
        paragraph("", plain, &line);
    }
    paragraph("", plain, &format!("seed {}", report.seed));
    let style = match report.exit.code {
        0 => AnsiColor::Green.on_default().bold(),
        _ => AnsiColor::Red.on_default().bold(),
    };
    // One line whatever the width: the last line can be searched for.
    let exit = wording::exit(report);
    match options.color {
        true => text.push_str(&format!("{style}{exit}{style:#}\n")),
        false => text.push_str(&format!("{exit}\n")),
    }
}
