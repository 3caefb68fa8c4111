//! The tables that are printed, as lines and as Markdown.

use std::fmt::Write;

use super::Simulated;
use super::check::{Outcome, Quantity, Row, Target};
use super::families::FamilyRow;
use super::family::{Family, Guard};

/// Marks a figure that is not as published.
pub(crate) const OFF: &str = "OFF";

/// What a row is, in words.
pub(crate) fn name(row: &Row) -> String {
    let cell = &row.cell;
    let slow =
        cell.slow_runs.map(|slow| format!(" slow {}+{}", slow.counts[0], slow.counts[1])).unwrap_or_default();
    format!(
        "{:<12} {:<22} {:<14} n {:<3} tol {:<2} {:>+3} %{slow}",
        row.id,
        row.rule,
        cell.noise.as_str(),
        cell.count,
        cell.tolerance,
        (cell.delta * 100.0).round(),
    )
}

/// A row with its figures.
pub(crate) fn line(simulated: &Simulated) -> String {
    format!("{}  T {:<5}{}", name(&simulated.row), simulated.tally.trials, figures(&simulated.outcomes))
}

/// What a row of whole runs is, in words.
pub(crate) fn family_name(family: Family, guard: Guard) -> String {
    format!("{:<12} {:<22} m {:<3} tol {:<2}", "6 many", guard.as_str(), family.benchmarks, family.tolerance)
}

/// A row of whole runs with its figures.
pub(crate) fn family_line(row: &FamilyRow) -> String {
    let [any, large, small] = row.alarms.shares();
    format!(
        "{}  T {:<5} any false {any:.1} %, +15 found {large:.0} %, +5 found {small:.0} %, {:.1} runs a side;{}",
        family_name(row.family, row.guard),
        row.alarms.runs,
        row.alarms.runs_a_side(row.family.benchmarks),
        figures(&row.outcomes)
    )
}

fn figures(outcomes: &[Outcome]) -> String {
    outcomes.iter().map(|outcome| format!("  {}", figure(outcome))).collect()
}

/// `regression 14.2 (published 14.2 +-2.1)`.
fn figure(outcome: &Outcome) -> String {
    let Outcome { check, seen, allowed, off } = outcome;
    let published = match check.target {
        Target::Is { value, .. } | Target::Within { value, .. } => format!("{value} +-{allowed:.1}"),
        Target::AtMost { value, .. } => format!("<= {value} +{allowed:.1}"),
        Target::AtLeast { value, .. } => format!(">= {value} -{allowed:.1}"),
        Target::Between { low, high } => format!("{low} to {high}"),
    };
    let off = if *off { format!(" {OFF}") } else { String::new() };
    format!("{} {seen:.1} (published {published}){off}", check.quantity.as_str())
}

/// The tables of docs/METHODOLOGY.md.
pub(crate) fn markdown(rows: &[Simulated], families: &[FamilyRow]) -> String {
    let of = |ids: &[&str]| -> Vec<&Simulated> {
        rows.iter().filter(|it| ids.iter().any(|id| it.row.id.starts_with(id))).collect()
    };
    let mut text = String::new();
    operating(&mut text, &of(&["12 operating"]));
    at_the_limit(&mut text, &of(&["12 levels", "5 boundary"]));
    one_look(&mut text, &of(&["12 one look"]));
    list(&mut text, "Single figures", &of(&["9.", "12 timer", "12 mean"]));
    list(&mut text, "Preset `fixed`", &of(&["S2", "S3"]));
    many(&mut text, families);
    text
}

/// Writing into a string cannot fail.
macro_rules! put {
    ($text:expr, $($arg:tt)*) => { writeln!($text, $($arg)*).expect("writing into a string cannot fail") };
}

fn share(count: u64, all: u64) -> String {
    format!("{:.1}", 100.0 * count as f64 / all as f64)
}

/// One line for each noise and rule, one column for each change: regression % / pass % / mean n.
fn operating(text: &mut String, rows: &[&Simulated]) {
    if rows.is_empty() {
        return;
    }
    put!(text, "### Operating characteristics\n\nLimit 10 %, {} trials a cell.\n", rows[0].tally.trials);
    let first = rows.chunk_by(same_line).next().into_iter().flatten();
    let changes: Vec<String> =
        first.map(|it| format!("{:+} %", (it.row.cell.delta * 100.0).round())).collect();
    put!(text, "| noise | rule | {} |\n|---|---|{}", changes.join(" | "), "---|".repeat(changes.len()));
    for line in rows.chunk_by(same_line) {
        let cell = |it: &&Simulated| {
            let tally = &it.tally;
            let (regression, pass) = (share(tally.regression, tally.trials), share(tally.pass, tally.trials));
            format!("{regression} / {pass} / {:.1}", tally.mean_runs())
        };
        let cells: Vec<String> = line.iter().map(cell).collect();
        put!(text, "| {} | {} | {} |", line[0].row.cell.noise.as_str(), line[0].row.rule, cells.join(" | "));
    }
    put!(text, "");
}

fn same_line(left: &&Simulated, right: &&Simulated) -> bool {
    left.row.rule == right.row.rule && left.row.cell.noise == right.row.cell.noise
}

/// The errors when the change is exactly what is accepted.
fn at_the_limit(text: &mut String, rows: &[&Simulated]) {
    if rows.is_empty() {
        return;
    }
    put!(text, "### At the limit itself\n");
    put!(text, "| noise | rule | trials | regression % | pass % |\n|---|---|---|---|---|");
    for it in rows {
        let tally = &it.tally;
        let share = |count: u64| format!("{:.2}", 100.0 * count as f64 / tally.trials as f64);
        put!(
            text,
            "| {} | {} | {} | {} | {} |",
            it.row.cell.noise.as_str(),
            it.row.rule,
            tally.trials,
            share(tally.regression),
            share(tally.pass)
        );
    }
    put!(text, "");
}

/// One look: a line for each noise and number of samples.
fn one_look(text: &mut String, rows: &[&Simulated]) {
    if rows.is_empty() {
        return;
    }
    let (trials, count) = (rows[0].tally.trials, |it: &&&Simulated| (it.row.cell.noise, it.row.cell.count));
    put!(
        text,
        "### One look\n\n`smooth .95` at a limit of 10 %; the last column `smooth .99` at 0 %. {trials} trials a cell, in per cent.\n"
    );
    put!(
        text,
        "| noise | n | inconclusive at 0 % | +12 % | +15 % | +20 % | inconclusive at +20 % | unchanged, called at 0 % |"
    );
    put!(text, "|---|---|---|---|---|---|---|---|");
    for line in rows.chunk_by(|left, right| count(&left) == count(&right)) {
        let figures: Vec<String> = line
            .iter()
            .flat_map(|it| it.outcomes.iter())
            .map(|outcome| format!("{:.1}", outcome.seen))
            .collect();
        let cell = &line[0].row.cell;
        put!(text, "| {} | {} | {} |", cell.noise.as_str(), cell.count, figures.join(" | "));
    }
    put!(text, "");
}

/// One figure a line.
fn list(text: &mut String, heading: &str, rows: &[&Simulated]) {
    if rows.is_empty() {
        return;
    }
    put!(text, "### {heading}\n");
    put!(text, "| row | rule | noise | n | limit % | change % | trials | figure | seen | published |");
    put!(text, "|---|---|---|---|---|---|---|---|---|---|");
    for it in rows {
        let cell = &it.row.cell;
        let noise = match cell.slow_runs {
            Some(slow) => {
                format!("{}, {} + {} runs slow", cell.noise.as_str(), slow.counts[0], slow.counts[1])
            }
            None => cell.noise.as_str().to_owned(),
        };
        for outcome in &it.outcomes {
            let unit = if outcome.check.quantity == Quantity::MeanRuns { "" } else { " %" };
            put!(
                text,
                "| {} | {} | {noise} | {} | {} | {:+} | {} | {} | {:.1}{unit} | {}{unit} |",
                it.row.id,
                it.row.rule,
                cell.count,
                cell.tolerance,
                (cell.delta * 100.0).round(),
                it.tally.trials,
                outcome.check.quantity.as_str(),
                outcome.seen,
                published(outcome.check.target)
            );
        }
    }
    put!(text, "");
}

fn published(target: Target) -> String {
    match target {
        Target::Is { value, .. } | Target::Within { value, .. } => value.to_string(),
        Target::AtMost { value, .. } => format!("at most {value}"),
        Target::AtLeast { value, .. } => format!("at least {value}"),
        Target::Between { low, high } => format!("{low} to {high}"),
    }
}

/// Any false alarm, +15 found, +5 found, of whole runs.
fn many(text: &mut String, families: &[FamilyRow]) {
    if families.is_empty() {
        return;
    }
    put!(text, "### Many benchmarks\n");
    put!(
        text,
        "| rule | benchmarks | limit % | runs | any false regression | +15 found | +5 found | unit runs a side | published |"
    );
    put!(text, "|---|---|---|---|---|---|---|---|---|");
    for row in families {
        let [any, large, small] = row.alarms.shares();
        let found = |share: f64, all: u64| if all == 0 { String::new() } else { format!("{share:.0} %") };
        let figures: Vec<String> = row
            .outcomes
            .iter()
            .filter(|outcome| matches!(outcome.check.target, Target::Is { .. }))
            .map(|outcome| outcome.check.target.value().to_string())
            .collect();
        put!(
            text,
            "| {} | {} | {} | {} | {any:.1} % | {} | {} | {:.1} | {} |",
            row.guard.as_str(),
            row.family.benchmarks,
            row.family.tolerance,
            row.alarms.runs,
            found(large, row.alarms.large[0]),
            found(small, row.alarms.small[0]),
            row.alarms.runs_a_side(row.family.benchmarks),
            figures.join(" / ")
        );
    }
}
