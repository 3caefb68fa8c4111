//! The report as Markdown for a comment or a step summary: the verdict, what fails and why, what to do; the rest folded.

use crate::summary::Place;

use super::escape::{clip, markdown, markdown_block, markdown_code};
use super::model::Report;
use super::next_step::next_step;
use super::overview::{self, State};
use super::rows::{Row, Weight, rows};
use super::{quantity, wording};

/// The largest text GitHub takes as a comment, in bytes; it counts characters, which are never more.
pub const LIMIT: usize = 65_536;

/// Where the section of a longer file begins.
pub const START: &str = "<!-- benchgate:start -->";
/// Where it ends.
pub const END: &str = "<!-- benchgate:end -->";

/// Longest text of one cell, or of one line of prose, in characters.
const LONGEST: usize = 400;
/// Most lines of one kind that are not rows: groups, warnings, lines of an error.
const MOST_LINES: usize = 20;
/// Most failures that are quoted with their output.
const MOST_ERRORS: usize = 5;

const TABLE: &str =
    "| verdict | benchmark | metric | base | head | change | why |\n|---|---|---|--:|--:|---|---|\n";

/// The report between its two marks, at most `limit` bytes (at least 20 000) long. What does not fit is counted.
pub fn report(report: &Report, limit: usize) -> String {
    let rows = rows(report);
    let mut head = format!("{START}\n### {} {}\n\n", icon(report), prose(&overview::headline(report)));
    push_overview(report, &mut head);
    let mut after_problems = String::new();
    push_errors(&rows, &mut after_problems);
    if let Some(next) = next_step(report, &rows) {
        after_problems.push_str(&format!("**Next:** {}\n\n", next.what));
        after_problems.push_str(&markdown_block("sh", &[clip(&next.command, 4 * LONGEST)]));
        after_problems.push('\n');
    }
    let tail = format!("{}{END}\n", about(report));
    let (problems, others): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
        rows.iter().partition(|row| row.weight.is_problem());
    let others = by_weight(others);
    let fixed = head.len() + after_problems.len() + tail.len() + 2 * TABLE.len() + 1000;
    let mut room = limit.saturating_sub(fixed);
    let mut text = head;
    let left_out = push_table(&problems, &mut room, &mut text);
    if 0 < left_out {
        text.push_str(&format!("{left_out} more rows like these do not fit here.\n\n"));
    }
    text.push_str(&after_problems);
    if !others.is_empty() {
        text.push_str(&format!("<details><summary>{}</summary>\n\n", counted(&others)));
        let left_out = push_table(&others, &mut room, &mut text);
        if 0 < left_out {
            text.push_str(&format!(
                "{left_out} more rows do not fit here; all are in the JSON and HTML reports.\n\n"
            ));
        }
        text.push_str("</details>\n\n");
    }
    text + &tail
}

/// A file with its marked section replaced by that of `section`; `None` where it has no mark, or one alone.
pub fn replace_section(file: &str, section: &str) -> Option<String> {
    let start = file.find(START)?;
    let end = start + file[start..].find(END)? + END.len();
    Some(format!("{}{}{}", &file[..start], section.trim_end(), &file[end..]))
}

fn icon(report: &Report) -> &'static str {
    match State::of(report) {
        State::Failed => "❌",
        State::Undecided => "❗",
        State::NotEnforced | State::PassedOpen => "⚠️",
        State::Passed => "✅",
    }
}

fn prose(text: &str) -> String {
    markdown(&clip(text, LONGEST))
}

fn push_overview(report: &Report, text: &mut String) {
    let lines = overview::lines(report, Place::Notice);
    for line in lines.iter().take(MOST_LINES) {
        let indent = if line.starts_with(' ') { "  " } else { "" };
        text.push_str(&format!("{indent}- {}\n", prose(line.trim_start())));
    }
    if let Some(more @ 1..) = lines.len().checked_sub(MOST_LINES) {
        text.push_str(&format!("- and {more} more lines like these\n"));
    }
    if !lines.is_empty() {
        text.push('\n');
    }
}

/// What failures say, in a block each.
fn push_errors(rows: &[Row<'_>], text: &mut String) {
    let errors = rows.iter().filter(|row| !row.notes.is_empty());
    for row in errors.clone().take(MOST_ERRORS) {
        let skipped = row.notes.len().saturating_sub(MOST_LINES);
        // The message comes first, and the end of the output says most.
        let kept = row.notes.iter().take(1).chain(row.notes.iter().skip(1 + skipped));
        let lines: Vec<String> = kept.map(|line| clip(line, LONGEST)).collect();
        text.push_str(&format!("{}:\n\n", code(&row.target)));
        text.push_str(&markdown_block("text", &lines));
        text.push('\n');
    }
    if let Some(more @ 1..) = errors.count().checked_sub(MOST_ERRORS) {
        text.push_str(&format!("Output of {more} more failures is in the JSON and HTML reports.\n\n"));
    }
}

/// Rows until the room is used up; how many are left out.
fn push_table(rows: &[&Row<'_>], room: &mut usize, text: &mut String) -> usize {
    if rows.is_empty() {
        return 0;
    }
    text.push_str(TABLE);
    let mut shown = 0;
    for row in rows {
        let line = line(row);
        if *room < line.len() {
            break;
        }
        *room -= line.len();
        text.push_str(&line);
        shown += 1;
    }
    text.push('\n');
    rows.len() - shown
}

fn line(row: &Row<'_>) -> String {
    let sign = match row.weight {
        Weight::Broken => "❗ ",
        Weight::Failing => "❌ ",
        Weight::Unsure | Weight::NotGatedFailing => "⚠️ ",
        Weight::Better => "🟢 ",
        _ => "",
    };
    let name = |cell: &str| if cell == quantity::NONE { cell.to_owned() } else { code(cell) };
    format!(
        "| {sign}{} | {} | {} | {} | {} | {} | {} |\n",
        prose(&row.verdict),
        name(&row.target),
        name(&row.metric),
        prose(&row.base),
        prose(&row.head),
        // Numbers only.
        row.change,
        prose(&row.reason)
    )
}

fn code(text: &str) -> String {
    markdown_code(&clip(text, LONGEST))
}

/// Open questions first, what is fine last, and the order of the report inside.
fn by_weight<'a, 'b>(mut rows: Vec<&'a Row<'b>>) -> Vec<&'a Row<'b>> {
    rows.sort_by_key(|row| match row.weight {
        Weight::Unsure => 0,
        Weight::NotGatedFailing => 1,
        Weight::Better => 2,
        Weight::NotGatedUnsure => 3,
        _ => 4,
    });
    rows
}

/// `38 other rows: 1 inconclusive, 2 improved, 35 pass`.
fn counted(rows: &[&Row<'_>]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        match counts.iter_mut().find(|(word, _)| *word == row.verdict) {
            Some((_, count)) => *count += 1,
            None => counts.push((&row.verdict, 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {}", prose(word))).collect();
    let all = if rows.len() == 1 { "1 row".to_owned() } else { format!("{} rows", rows.len()) };
    format!(
        "{all} that {} not fail the run: {}",
        if rows.len() == 1 { "does" } else { "do" },
        counts.join(", ")
    )
}

/// What was run, where, and what advises the reader; folded.
fn about(report: &Report) -> String {
    let mut text = String::from("<details><summary>About this run</summary>\n\n");
    let mut item = |line: &str| text.push_str(&format!("- {}\n", prose(line)));
    wording::counts(report).iter().for_each(|line| item(line));
    report.revisions.iter().take(MOST_LINES).for_each(|it| item(&wording::revision(it)));
    wording::environment(report).iter().for_each(|line| item(line));
    wording::advice(report).iter().for_each(|way| item(&format!("a way out of inconclusive: {way}")));
    for warning in report.warnings.iter().take(MOST_LINES) {
        item(&format!("warning: {warning}"));
    }
    if let Some(more @ 1..) = report.warnings.len().checked_sub(MOST_LINES) {
        item(&format!("and {more} more warnings"));
    }
    item(&format!("seed {}; exit status {}", report.seed, report.exit.code));
    text + "\n</details>\n"
}
