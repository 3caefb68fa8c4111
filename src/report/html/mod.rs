//! The report as one page: no network, no other file; readable without its script, which adds plots, sorting and filters.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::suite::metric::Better;
use crate::summary::{Emphasis, Impact, Label, Overall, Place};
use crate::verdict::outcome::Comparison;

use super::escape::html as escape;
use super::model::Report;
use super::next_step::next_step;
use super::overview::{self, State};
use super::rows::{Row, Source, rows};
use super::{quantity, wording};

mod data;

use data::Item;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The columns: heading, whether it holds numbers.
const COLUMNS: [(&str, bool); 7] = [
    ("Verdict", false),
    ("Benchmark", false),
    ("Metric", false),
    ("Base", true),
    ("Head", true),
    ("Change", true),
    ("Why", false),
];

/// The filter of verdicts: what it says, and the kinds of rows it lets through.
const KINDS: [(&str, &str); 5] = [
    ("All rows", ""),
    ("What fails or broke", "broken failing"),
    ("What is open", "unsure aside aside-unsure"),
    ("What got better", "better"),
    ("What is fine", "fine skipped absent"),
];

/// The whole page.
pub fn html(report: &Report) -> String {
    let rows = rows(report);
    let headline = overview::headline(report);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src \
         'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <title>benchgate: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        base64(&Sha256::digest(SCRIPT)),
        escape(&headline)
    );
    push_head(report, &rows, &headline, &mut page);
    push_filters(&rows, &mut page);
    let mut items = Vec::new();
    push_table(&rows, &mut items, &mut page);
    push_about(report, &mut page);
    let data = serde_json::to_string(&items).expect("keys are text and numbers are finite");
    // Inside a script only `<` could end it; what JSON leaves as it is may not.
    let data = data.replace('<', "\\u003c");
    let _ = write!(
        page,
        "</main>\n<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    );
    page
}

fn push_head(report: &Report, rows: &[Row<'_>], headline: &str, page: &mut String) {
    let class = match State::of(report) {
        State::Failed => "failed",
        State::Undecided => "undecided",
        State::NotEnforced | State::PassedOpen => "open",
        State::Passed => "passed",
    };
    let _ = writeln!(page, "<header class=\"headline {class}\">\n<h1>{}</h1>", escape(headline));
    for line in wording::counts(report) {
        let _ = writeln!(page, "<p class=\"dim\">{}</p>", escape(&line));
    }
    page.push_str("</header>\n");
    let lines = overview::lines(report, Place::Report);
    if !lines.is_empty() {
        let is_quiet = |it: &Overall| Place::Report.emphasis(it.certainty) == Emphasis::Greyed;
        let quiet = if report.summary.overall.iter().all(is_quiet) { " class=\"quiet\"" } else { "" };
        let _ = writeln!(page, "<ul{quiet}>");
        for line in lines {
            let _ = writeln!(page, "<li>{}</li>", escape(line.trim_start()));
        }
        page.push_str("</ul>\n");
    }
    let impacts = report.summary.overall.iter().filter_map(|overall| overall.impact.as_ref());
    impacts.filter(|impact| 1 < impact.benchmarks).for_each(|impact| push_gauge(impact, page));
    report.summary.overall.iter().for_each(|overall| push_groups(overall, page));
    if let Some(next) = next_step(report, rows) {
        let _ = writeln!(
            page,
            "<p><strong>Next:</strong> {}</p>\n<pre><code>{}</code></pre>",
            escape(&next.what),
            escape(&next.command)
        );
    }
}

/// The impact on a bar from half the time to twice the time, on a logarithmic scale.
fn push_gauge(impact: &Impact, page: &mut String) {
    const HALF: f64 = 110.0;
    const MIDDLE: f64 = 150.0;
    let end = MIDDLE + impact.gauge * HALF;
    let class = if 0.0 < impact.gauge { "slower" } else { "faster" };
    let _ = writeln!(
        page,
        "<svg class=\"gauge\" width=\"300\" height=\"38\" viewBox=\"0 0 300 38\" role=\"img\" aria-label=\"{}\"><rect \
         class=\"scale\" x=\"{:.1}\" y=\"8\" width=\"{:.1}\" height=\"6\"/><rect class=\"{class}\" x=\"{:.1}\" y=\"5\" \
         width=\"{:.1}\" height=\"12\"/><line class=\"axis\" x1=\"{MIDDLE}\" x2=\"{MIDDLE}\" y1=\"2\" y2=\"20\"/><text \
         x=\"{:.1}\" y=\"34\" text-anchor=\"middle\">half the time</text><text x=\"{:.1}\" y=\"34\" \
         text-anchor=\"middle\">twice the time</text></svg>",
        escape(&overview::impact(impact)),
        MIDDLE - HALF,
        2.0 * HALF,
        end.min(MIDDLE),
        (end - MIDDLE).abs().max(1.0),
        MIDDLE - HALF + 5.0,
        MIDDLE + HALF - 5.0
    );
}

fn push_groups(overall: &Overall, page: &mut String) {
    if overall.groups.len() < 2 {
        return;
    }
    let _ = writeln!(
        page,
        "<details><summary>{} groups of {}</summary>\n<ul>",
        overall.groups.len(),
        escape(&overall.revision)
    );
    for group in &overall.groups {
        let label = match group.label {
            Label::Unchanged => "no significant change".to_owned(),
            label => format!("{} {label}", group.certainty),
        };
        let quiet = if group.label == Label::Unchanged { " class=\"quiet\"" } else { "" };
        let _ = writeln!(
            page,
            "<li{quiet}><code>{}</code>: {label}; {} worse and {} better of {}</li>",
            escape(&group.group),
            group.flagged.regressions,
            group.flagged.improvements,
            group.rows
        );
    }
    page.push_str("</ul></details>\n");
}

fn push_filters(rows: &[Row<'_>], page: &mut String) {
    let mut groups: Vec<&str> = rows.iter().map(|row| row.benchmark.group.as_str()).collect();
    groups.sort_by(|a, b| super::text::natural_order(a, b));
    groups.dedup();
    page.push_str(
        "<div class=\"filters\" hidden role=\"search\" aria-label=\"Filter rows\">\n\
         <label>Benchmark or metric <input id=\"text\" type=\"search\" autocomplete=\"off\"></label>\n\
         <label>Verdict <select id=\"kind\">",
    );
    for (name, kinds) in KINDS {
        let _ = write!(page, "<option value=\"{kinds}\">{name}</option>");
    }
    page.push_str(
        "</select></label>\n<label>Group <select id=\"group\"><option value=\"\">All groups</option>",
    );
    for group in groups {
        // The sign in front tells the empty group from no choice.
        let _ = write!(page, "<option value=\"={0}\">{0}</option>", escape(group));
    }
    page.push_str("</select></label>\n<span id=\"shown\" aria-live=\"polite\"></span>\n</div>\n");
}

fn push_table(rows: &[Row<'_>], items: &mut Vec<Item>, page: &mut String) {
    page.push_str("<table id=\"rows\">\n<caption hidden>All rows</caption>\n<thead><tr>");
    for (name, is_number) in COLUMNS {
        let class = match (name, is_number) {
            ("Change", _) => " class=\"number change\"",
            (_, true) => " class=\"number\"",
            _ => "",
        };
        let _ = write!(page, "<th scope=\"col\"{class}><button type=\"button\">{name}</button></th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (index, row) in rows.iter().enumerate() {
        push_row(index, row, items, page);
    }
    page.push_str("</tbody>\n</table>\n<noscript><p>Plots, sorting and filters need JavaScript; all rows are above.</p></noscript>\n");
}

fn push_row(index: usize, row: &Row<'_>, items: &mut Vec<Item>, page: &mut String) {
    let comparison = match row.source {
        Source::Comparison(comparison) => Some(comparison),
        _ => None,
    };
    let item = comparison.map(|comparison| Item::of(row, comparison)).filter(Item::shows_anything);
    let kind = row.weight.as_str();
    let _ = write!(
        page,
        "<tr class=\"{kind}\" data-kind=\"{kind}\" data-group=\"{}\"",
        escape(&row.benchmark.group)
    );
    if item.is_some() {
        let _ = write!(page, " data-item=\"{}\"", items.len());
    }
    let _ = write!(page, "><td class=\"verdict\">{}</td>", escape(&row.verdict));
    let name = escape(&row.target);
    let _ = match item.is_some() {
        true => write!(
            page,
            "<td class=\"name\"><button type=\"button\" aria-expanded=\"false\" aria-controls=\"d{index}\">{name}</button></td>"
        ),
        false => write!(page, "<td class=\"name\"><span>{name}</span></td>"),
    };
    let _ = write!(page, "<td class=\"metric\"{}>{}</td>", label("metric", &row.metric), escape(&row.metric));
    let (base, head, change) = match row.source {
        Source::Comparison(it) => (it.base, it.head, it.change_percent),
        Source::Budget(it) => (None, it.actual, None),
        Source::Measured(it) => (None, Some(it.median), None),
        _ => (None, None, None),
    };
    number("number", "base", base, &row.base, "", page);
    number("number", "head", head, &row.head, "", page);
    let mini = comparison.and_then(mini).unwrap_or_default();
    number("change", "change", change, &row.change, &mini, page);
    let _ = write!(page, "<td class=\"why\">{}", escape(&row.reason));
    if let [first, ..] = row.notes.as_slice() {
        let _ = write!(page, "<details><summary>{}</summary><pre>", escape(first));
        for note in &row.notes {
            let _ = writeln!(page, "{}", escape(note));
        }
        page.push_str("</pre></details>");
    }
    page.push_str("</td></tr>\n");
    items.extend(item);
}

/// Says on a narrow page what a cell is; an empty one is left out there.
fn label(name: &str, text: &str) -> String {
    if text == quantity::NONE { String::new() } else { format!(" data-label=\"{name}\"") }
}

/// A cell with the exact number beside the one that is read.
fn number(class: &str, name: &str, value: Option<f64>, text: &str, after: &str, page: &mut String) {
    let empty = if text == quantity::NONE { " empty" } else { "" };
    let exact = value.map(|value| value.to_string()).unwrap_or_default();
    let _ = write!(
        page,
        "<td class=\"{class}{empty}\"{} data-value=\"{exact}\">{}{after}</td>",
        label(name, text),
        escape(text)
    );
}

/// The interval as a strip from twice the limit better to twice the limit worse: 0 and the limit are at one place in all rows.
fn mini(comparison: &Comparison) -> Option<String> {
    const HALF: f64 = 50.0;
    let change = comparison.change_percent?;
    let (low, high) = comparison.ci_low_percent.zip(comparison.ci_high_percent).unwrap_or((change, change));
    let x = |percent: f64| HALF + (percent / comparison.max_percent).clamp(-2.0, 2.0) * (HALF - 4.0) / 2.0;
    let limit = match comparison.better {
        Better::Lower => comparison.max_percent,
        Better::Higher => -comparison.max_percent,
    };
    Some(format!(
        "<svg class=\"mini\" width=\"100\" height=\"14\" viewBox=\"0 0 100 14\" aria-hidden=\"true\"><line class=\"zero\" \
         x1=\"50\" x2=\"50\" y1=\"0\" y2=\"14\"/><line class=\"limit\" x1=\"{0:.0}\" x2=\"{0:.0}\" y1=\"0\" y2=\"14\"/><rect \
         class=\"bar\" x=\"{1:.1}\" y=\"4\" width=\"{2:.1}\" height=\"6\"/><circle class=\"point\" cx=\"{3:.1}\" cy=\"7\" \
         r=\"2.5\"/></svg>",
        x(limit),
        x(low),
        (x(high) - x(low)).max(1.0),
        x(change)
    ))
}

fn push_about(report: &Report, page: &mut String) {
    page.push_str("<h2>About this run</h2>\n<ul>\n");
    let mut item = |line: &str| {
        let _ = writeln!(page, "<li>{}</li>", escape(line));
    };
    report.revisions.iter().for_each(|revision| item(&wording::revision(revision)));
    wording::environment(report).iter().for_each(|line| item(line));
    wording::advice(report).iter().for_each(|way| item(&format!("a way out of inconclusive: {way}")));
    report.warnings.iter().for_each(|warning| item(&format!("warning: {warning}")));
    item(&format!("seed {}; exit status {}", report.seed, report.exit.code));
    for time in [("started", &report.started_at), ("finished", &report.finished_at)] {
        if let (name, Some(time)) = time {
            item(&format!("{name} {time}"));
        }
    }
    page.push_str("</ul>\n");
}

/// Base64 with padding, as a content security policy spells a hash.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_to_four_letters() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
    }

    #[test]
    fn script_cannot_end_its_own_element() {
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    }
}
