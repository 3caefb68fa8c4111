//! The report as JUnit XML: a suite a bench target, a case a row, a failure what fails the run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape::html;
use super::model::Report;
use super::rows::{Row, Source, Weight, rows};
use super::{overview, quantity};

/// The whole document.
pub fn junit(report: &Report) -> String {
    let rows = rows(report);
    let mut suites: BTreeMap<String, Vec<&Row<'_>>> = BTreeMap::new();
    for row in &rows {
        let target = &row.benchmark.identity.target;
        let name = match target.package.as_str() {
            "" => target.target.clone(),
            package => format!("{package}.{}", target.target),
        };
        suites.entry(name).or_default().push(row);
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites name=\"benchgate\"{}>", counts(&rows.iter().collect::<Vec<_>>()));
    for (name, rows) in &suites {
        let _ = writeln!(text, "  <testsuite name=\"{}\"{}{}>", html(name), counts(rows), timestamp(report));
        rows.iter().for_each(|row| case(name, row, &mut text));
        text.push_str("  </testsuite>\n");
    }
    // A failing status that no row explains: an interrupted run, or nothing measured.
    if report.exit.code != 0 && !rows.iter().any(|row| row.weight.is_problem()) {
        let _ = writeln!(
            text,
            "  <testsuite name=\"benchgate\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n    <testcase \
             classname=\"benchgate\" name=\"run\">\n      <error type=\"run\" message=\"{}\"/>\n    </testcase>\n  \
             </testsuite>",
            html(&overview::headline(report))
        );
    }
    text + "</testsuites>\n"
}

fn counts(rows: &[&Row<'_>]) -> String {
    let of = |weights: &[Weight]| rows.iter().filter(|row| weights.contains(&row.weight)).count();
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        rows.len(),
        of(&[Weight::Failing]),
        of(&[Weight::Broken]),
        rows.iter().filter(|row| is_skipped(row)).count()
    )
}

fn timestamp(report: &Report) -> String {
    let at = report.started_at.as_ref().map(|at| at.trim_end_matches('Z'));
    at.map(|at| format!(" timestamp=\"{}\"", html(at))).unwrap_or_default()
}

/// What was not judged, and does not fail the run: no test passed there.
fn is_skipped(row: &Row<'_>) -> bool {
    let not_judged = matches!(row.weight, Weight::Skipped) || matches!(row.source, Source::Presence);
    not_judged && !row.weight.is_problem()
}

fn case(suite: &str, row: &Row<'_>, text: &mut String) {
    let metric = if row.metric == quantity::NONE { String::new() } else { format!(" {}", row.metric) };
    let name = html(&format!("{}{metric}", row.target));
    let _ = write!(text, "    <testcase classname=\"{}\" name=\"{name}\"", html(suite));
    let change = if row.change == quantity::NONE { "" } else { &row.change };
    let message = html(format!("{} {change} {}", row.verdict, row.reason).trim());
    let body = html_lines(&row.notes);
    let _ = match row.weight {
        Weight::Failing => writeln!(
            text,
            ">\n      <failure type=\"{}\" message=\"{message}\">{body}</failure>\n    </testcase>",
            html(&row.verdict)
        ),
        Weight::Broken => writeln!(
            text,
            ">\n      <error type=\"{}\" message=\"{message}\">{body}</error>\n    </testcase>",
            html(&row.verdict)
        ),
        _ if is_skipped(row) => writeln!(text, ">\n      <skipped message=\"{message}\"/>\n    </testcase>"),
        _ => writeln!(text, ">\n      <system-out>{message}</system-out>\n    </testcase>"),
    };
}

fn html_lines(lines: &[String]) -> String {
    lines.iter().map(|line| html(line)).collect::<Vec<_>>().join("\n")
}
