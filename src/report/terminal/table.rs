//! Aligned columns that fit the terminal without ever cutting a name or a reason.

use anstyle::Style;

use super::super::quantity;
use super::super::text::{pad_left, pad_right, width, wrap};

/// One row. Every cell is safe to show.
pub(super) struct Row {
    pub(super) style: Style,
    pub(super) target: String,
    pub(super) metric: String,
    pub(super) base: String,
    pub(super) head: String,
    pub(super) change: String,
    pub(super) verdict: String,
    pub(super) reason: String,
    /// Lines below it.
    pub(super) notes: Vec<String>,
}

/// A longer name has a line of its own, so that one long name does not push all other columns away.
const WIDEST_TARGET: usize = 48;
const GAP: &str = "  ";
const NOTE: &str = "    ";

pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

/// The widths of the columns before the reason.
struct Widths {
    target: usize,
    metric: usize,
    base: usize,
    head: usize,
    /// `None`: there is no such column.
    change: Option<usize>,
    verdict: usize,
}

impl Widths {
    fn before_reason(&self) -> usize {
        let cells = [self.target, self.metric, self.base, self.head, self.verdict];
        let change = self.change.map_or(0, |change| change + GAP.len());
        cells.iter().sum::<usize>() + cells.len() * GAP.len() + change
    }
}

impl Table {
    /// The table. Reasons stand in the last column where all of them fit, else below their rows; changes too, where
    /// even that is too wide.
    pub(super) fn render(mut self, color: bool, columns: Option<usize>) -> String {
        let mut widths = self.widths(columns);
        let widest_reason = self.rows.iter().map(|row| width(&row.reason)).max().unwrap_or(0);
        let fits = |wanted: usize| columns.is_none_or(|columns| wanted <= columns);
        let inline = fits(widths.before_reason() + widest_reason);
        if !inline && !fits(widths.before_reason() - GAP.len()) {
            widths.change = None;
            for row in &mut self.rows {
                if row.change != quantity::NONE {
                    row.reason = format!("{}, {}", row.change, row.reason);
                }
            }
        }
        let mut text = String::new();
        let heading = Row {
            style: Style::new().bold(),
            target: "TARGET".to_owned(),
            metric: "METRIC".to_owned(),
            base: "BASE".to_owned(),
            head: "HEAD".to_owned(),
            change: "CHANGE".to_owned(),
            verdict: "VERDICT".to_owned(),
            reason: if inline { "REASON".to_owned() } else { String::new() },
            notes: Vec::new(),
        };
        line(&heading, &widths, Emphasis::Row, inline, color, &mut text);
        for row in &self.rows {
            line(row, &widths, Emphasis::Verdict, inline, color, &mut text);
            let below = columns.map(|columns| columns.saturating_sub(NOTE.len()).max(20));
            let reason = (!inline && !row.reason.is_empty()).then_some(&row.reason);
            for note in reason.into_iter().chain(&row.notes) {
                for part in wrap(note, below) {
                    text.push_str(format!("{NOTE}{part}").trim_end());
                    text.push('\n');
                }
            }
        }
        text
    }

    fn widths(&self, columns: Option<usize>) -> Widths {
        let cap = columns.map_or(WIDEST_TARGET, |columns| (columns * 2 / 5).clamp(12, WIDEST_TARGET));
        let widest = |name: &str, cell: fn(&Row) -> &str| {
            self.rows.iter().map(|row| width(cell(row))).chain([width(name)]).max().unwrap_or(0)
        };
        let targets = self.rows.iter().map(|row| width(&row.target)).filter(|&width| width <= cap);
        Widths {
            target: targets.chain([width("TARGET")]).max().unwrap_or(0),
            metric: widest("METRIC", |row| &row.metric),
            base: widest("BASE", |row| &row.base),
            head: widest("HEAD", |row| &row.head),
            change: Some(widest("CHANGE", |row| &row.change)),
            verdict: widest("VERDICT", |row| &row.verdict),
        }
    }
}

/// What of a line is styled.
#[derive(PartialEq)]
enum Emphasis {
    Row,
    Verdict,
}

fn line(row: &Row, widths: &Widths, emphasis: Emphasis, inline: bool, color: bool, text: &mut String) {
    let mut target = row.target.as_str();
    if widths.target < width(target) {
        text.push_str(target);
        text.push('\n');
        target = "";
    }
    let styled = |cell: String, on: bool| match color && on {
        true => format!("{}{cell}{:#}", row.style, row.style),
        false => cell,
    };
    let mut verdict = pad_right(&row.verdict, widths.verdict);
    let mut reason = "";
    if inline && !row.reason.is_empty() {
        reason = &row.reason;
    } else {
        verdict.truncate(verdict.trim_end().len());
    }
    let mut cells = vec![
        pad_right(target, widths.target),
        pad_right(&row.metric, widths.metric),
        pad_left(&row.base, widths.base),
        pad_left(&row.head, widths.head),
    ];
    cells.extend(widths.change.map(|change| pad_right(&row.change, change)));
    cells.push(styled(verdict, emphasis == Emphasis::Verdict));
    let mut whole = cells.join(GAP);
    if !reason.is_empty() {
        whole.push_str(GAP);
        whole.push_str(reason);
    }
    text.push_str(&styled(whole, emphasis == Emphasis::Row));
    text.push('\n');
}
