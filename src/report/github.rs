//! What GitHub's workflows read: annotations, outputs of a step, its summary.

use super::escape::{clip, workflow_data, workflow_property};
use super::model::Report;
use super::overview::{self, State};
use super::rows::{Row, Weight, rows};
use super::text::visible;

/// GitHub shows ten annotations of a kind a step; the last of ours counts the others.
const MOST: usize = 10;
const LONGEST: usize = 400;

/// Workflow commands, a line each: errors for what fails, warnings for what is open.
pub fn annotations(report: &Report) -> String {
    let rows = rows(report);
    let of = |wanted: fn(Weight) -> bool| rows.iter().filter(|row| wanted(row.weight)).collect::<Vec<_>>();
    let mut lines = commands("error", &of(Weight::is_problem));
    lines.extend(commands(
        "warning",
        &of(|weight| matches!(weight, Weight::Unsure | Weight::NotGatedFailing)),
    ));
    // A failing status without a row that explains it: an interrupted run, or nothing measured.
    let told = rows.iter().any(|row| row.weight.is_problem());
    if let (false, true) = (told, report.exit.code != 0) {
        lines.insert(0, format!("::error title=benchgate::{}", workflow_data(&overview::headline(report))));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn commands(level: &str, rows: &[&Row<'_>]) -> Vec<String> {
    let shown = if rows.len() <= MOST { rows.len() } else { MOST - 1 };
    let mut lines: Vec<String> = rows[..shown]
        .iter()
        .map(|row| {
            let title = format!("{} {} {}", row.verdict, clip(&row.target, LONGEST), row.metric);
            let change = if row.change == super::quantity::NONE { "" } else { &row.change };
            let note = row.notes.first().map(|note| format!("; {note}")).unwrap_or_default();
            let message = format!("{change} {}{note}", row.reason);
            let message = clip(message.trim(), LONGEST);
            format!(
                "::{level} title={}::{}",
                workflow_property(title.trim_end_matches(" -")),
                workflow_data(&message)
            )
        })
        .collect();
    if shown < rows.len() {
        let more = rows.len() - shown;
        lines.push(format!(
            "::{level} title=benchgate::{more} more like these are in the summary and the reports"
        ));
    }
    lines
}

/// Outputs of the step, `name=value` a line.
pub fn outputs(report: &Report) -> String {
    let summary = &report.summary;
    let overall = summary.overall.first();
    let impact = overall.and_then(|overall| overall.impact.as_ref()).and_then(|impact| impact.time_percent);
    let values = [
        ("verdict", State::of(report).as_str().to_owned()),
        ("exit_code", report.exit.code.to_string()),
        ("headline", visible(&overview::headline(report))),
        ("benchmarks", summary.benchmarks.to_string()),
        ("regressions", summary.regression.to_string()),
        ("over_budget", summary.over_budget.to_string()),
        ("inconclusive", summary.inconclusive.to_string()),
        ("improved", summary.improved.to_string()),
        ("passed", summary.pass.to_string()),
        ("errors", summary.error.to_string()),
        ("not_measured", summary.metric_error.to_string()),
        ("label", overall.map(|overall| overall.label.to_string()).unwrap_or_default()),
        ("certainty", overall.map(|overall| overall.certainty.to_string()).unwrap_or_default()),
        ("impact_percent", impact.map(|impact| impact.to_string()).unwrap_or_default()),
    ];
    values.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}
