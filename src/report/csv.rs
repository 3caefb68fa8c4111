//! The report as a table for spreadsheets: one row a comparison and one a budget, with all that decided them.

use crate::verdict::evidence::Presence;
use crate::verdict::outcome::{BudgetOutcome, Comparison};

use super::model::{Benchmark, Report};
use super::text::visible;
use super::wording;

/// The cells of a row that only some records fill.
const FIELDS: [&str; 40] = [
    "base_revision",
    "head_revision",
    "metric",
    "unit",
    "better",
    "statistic",
    "base",
    "head",
    "difference",
    "change_percent",
    "ci_low_percent",
    "ci_high_percent",
    "probability_regression",
    "probability_improvement",
    "max_percent",
    "min_difference",
    "confidence",
    "min_samples",
    "max_cv",
    "base_dispersion",
    "head_dispersion",
    "base_samples",
    "head_samples",
    "samples_needed",
    "pairing",
    "stopped_because",
    "derived_from",
    "gate",
    "verdict",
    "reason",
    "aggregation",
    "operator",
    "limit",
    "actual",
    "status",
    "few_tail_samples",
    "error_kind",
    "message",
    "seed",
    "acceptance",
];

/// Cells of every row, before [`FIELDS`].
const HEAD: [&str; 10] =
    ["record", "package", "kind", "target", "variant", "benchmark", "group", "harness", "presence", "result"];

/// One row a comparison, a budget, an error, and a benchmark that was not compared; nothing that was selected is left out.
pub fn csv(report: &Report) -> String {
    let heading = HEAD.iter().chain(&FIELDS).map(|&name| name.to_owned()).collect();
    let mut rows: Vec<Vec<String>> = vec![heading];
    for benchmark in &report.benchmarks {
        let first = rows.len();
        let mut push = |record: &str, fields: &[(&str, String)]| {
            let mut row = head(record, benchmark);
            row.extend(FIELDS.map(|name| {
                match name {
                    "seed" => report.seed.to_string(),
                    name => fields
                        .iter()
                        .find(|(it, _)| *it == name)
                        .map(|(_, cell)| cell.clone())
                        .unwrap_or_default(),
                }
            }));
            rows.push(row);
        };
        for it in &benchmark.comparisons {
            push("comparison", &comparison(it));
        }
        for it in &benchmark.budgets {
            push("budget", &budget(it));
        }
        if let Some(error) = &benchmark.error {
            let fields = [("error_kind", error.kind.to_string()), ("message", shown(&error.message))];
            push("error", &fields);
        }
        if benchmark.presence != Presence::Compared {
            let note = benchmark.presence_note.as_deref().map(shown).unwrap_or_default();
            push(benchmark.presence.as_str(), &[("message", note)]);
        }
        if rows.len() == first {
            rows.push(head("benchmark", benchmark));
            let padding =
                FIELDS.map(|name| if name == "seed" { report.seed.to_string() } else { String::new() });
            rows.last_mut().expect("pushed just above").extend(padding);
        }
    }
    table(rows)
}

fn head(record: &str, benchmark: &Benchmark) -> Vec<String> {
    let identity = &benchmark.identity;
    vec![
        record.to_owned(),
        shown(&identity.target.package),
        identity.target.kind.to_string(),
        shown(&identity.target.target),
        shown(&identity.variant),
        shown(&identity.id),
        shown(&benchmark.group),
        shown(&benchmark.harness),
        benchmark.presence.to_string(),
        benchmark.result.to_string(),
    ]
}

fn comparison(it: &Comparison) -> Vec<(&'static str, String)> {
    vec![
        ("base_revision", shown(&it.base_revision)),
        ("head_revision", shown(&it.head_revision)),
        ("metric", shown(it.metric.name())),
        ("unit", shown(it.unit.name())),
        ("better", wording::better(it.better).to_owned()),
        ("statistic", it.statistic.to_string()),
        ("base", number(it.base)),
        ("head", number(it.head)),
        ("difference", number(it.difference)),
        ("change_percent", number(it.change_percent)),
        ("ci_low_percent", number(it.ci_low_percent)),
        ("ci_high_percent", number(it.ci_high_percent)),
        ("probability_regression", number(it.probability_regression)),
        ("probability_improvement", number(it.probability_improvement)),
        ("max_percent", number(Some(it.max_percent))),
        ("min_difference", number(Some(it.min_difference))),
        ("confidence", number(Some(it.confidence))),
        ("min_samples", it.min_samples.to_string()),
        ("max_cv", number(Some(it.max_cv))),
        ("base_dispersion", number(it.base_dispersion)),
        ("head_dispersion", number(it.head_dispersion)),
        ("base_samples", it.samples[0].to_string()),
        ("head_samples", it.samples[1].to_string()),
        ("samples_needed", optional(it.samples_needed)),
        ("pairing", optional(it.pairing)),
        ("stopped_because", optional(it.stopped_because)),
        ("derived_from", it.derived_from.as_ref().map(|metric| shown(metric.name())).unwrap_or_default()),
        ("gate", it.gate.to_string()),
        ("verdict", it.verdict.to_string()),
        ("reason", optional(it.reason)),
        ("acceptance", optional(it.acceptance.as_ref().map(|acceptance| acceptance.status))),
    ]
}

fn budget(it: &BudgetOutcome) -> Vec<(&'static str, String)> {
    vec![
        ("head_revision", shown(&it.revision)),
        ("metric", shown(it.budget.metric.name())),
        ("unit", shown(it.unit.name())),
        ("head_samples", it.samples.to_string()),
        ("reason", optional(it.reason)),
        ("aggregation", wording::aggregation(it.budget.aggregation)),
        ("operator", it.budget.operator.to_string()),
        ("limit", number(Some(it.budget.limit))),
        ("actual", number(it.actual)),
        ("status", it.status.to_string()),
        ("few_tail_samples", it.few_tail_samples.to_string()),
    ]
}

/// Plain decimals, as exact as the number is; empty where there is none.
fn number(number: Option<f64>) -> String {
    number.filter(|number| number.is_finite()).map(|number| number.to_string()).unwrap_or_default()
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Text for people: control characters written out, formulas disarmed.
fn shown(text: &str) -> String {
    cell(&visible(text))
}

/// Text as a cell that no spreadsheet takes for a formula: a `'` stands before what could start one. [`text_of_cell`]
/// gives the text back.
pub(crate) fn cell(text: &str) -> String {
    if starts_formula(text) { format!("'{text}") } else { text.to_owned() }
}

/// The text of a cell that [`cell`] wrote.
pub(crate) fn text_of_cell(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| starts_formula(text)).unwrap_or(cell)
}

/// Whether a spreadsheet would compute it; also where that is quoted already, so that quoting can be undone.
fn starts_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    // The last would be a command to the runner of a workflow that shows the line.
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) || text.trim_start().starts_with("::")
}

/// Rows as CSV with line ends of one byte, written as they come: a large report has many.
pub(super) struct Table(csv::Writer<Vec<u8>>);

impl Table {
    pub(super) fn new() -> Self {
        Self(csv::WriterBuilder::new().from_writer(Vec::new()))
    }

    /// Adds a row; all have the cells of the first.
    pub(super) fn push<T: AsRef<[u8]>>(&mut self, row: impl IntoIterator<Item = T>) {
        self.0.write_record(row).expect("every row has the cells of the heading, and memory takes them");
    }

    pub(super) fn finish(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes what is left");
        String::from_utf8(bytes).expect("cells are UTF-8, and so are commas and quotes")
    }
}

/// All rows at once.
pub(crate) fn table(rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    rows.iter().for_each(|row| table.push(row));
    table.finish()
}
