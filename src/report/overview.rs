//! The run in a few sentences: whether to worry, why, and what to do next.

use crate::summary::{
    Direction, Emphasis, Flagged, GroupSummary, Impact, ImpactRule, Label, Overall, Place, Shift, Worst,
};

use super::model::Report;
use super::rows::spec_of;
use super::text::visible;
use super::{quantity, wording};

/// What the first line says. The gate comes first: no label can stand above one that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The gate failed.
    Failed,
    /// It would have, and `--no-fail` was given.
    NotEnforced,
    /// Something broke, or was not measured.
    Undecided,
    /// Passed, and something was left open.
    PassedOpen,
    /// Passed.
    Passed,
}

impl State {
    /// How the run ended.
    pub fn of(report: &Report) -> Self {
        match (report.exit.code, report.exit.without_no_fail) {
            (0, Some(_)) => Self::NotEnforced,
            (0, None) if !wording::unsaid(report).is_empty() => Self::PassedOpen,
            (0, None) => Self::Passed,
            (1, _) => Self::Failed,
            _ => Self::Undecided,
        }
    }

    /// The word for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::NotEnforced => "not_enforced",
            Self::Undecided => "undecided",
            Self::PassedOpen | Self::Passed => "passed",
        }
    }
}

/// The run in one line: how the gate ended, and why.
pub fn headline(report: &Report) -> String {
    let exit = &report.exit;
    let because = exit.because.as_deref().map(visible);
    let because = |otherwise: &str| because.clone().unwrap_or_else(|| otherwise.to_owned());
    match State::of(report) {
        State::Failed => format!("gate failed: {}", because("exit status 1")),
        State::NotEnforced => {
            format!("gate not enforced (--no-fail), and would have failed: {}", because("see below"))
        }
        State::Undecided => format!("gate undecided (exit status {}): {}", exit.code, because("see below")),
        State::PassedOpen => format!("gate passed{}{}", within_limits(report), wording::unsaid(report)),
        State::Passed => {
            let counts = wording::counts(report);
            let counts = counts.first().map(String::as_str).unwrap_or_default();
            format!("gate passed{} ({counts})", within_limits(report))
        }
    }
}

/// That something got worse, though not by more than is accepted.
fn within_limits(report: &Report) -> &'static str {
    // What cannot be told may be beyond them.
    if 0 < report.summary.inconclusive {
        return "";
    }
    let shown = |it: &&Overall| Place::Notice.emphasis(it.certainty) == Emphasis::Highlighted;
    let worst = report.summary.overall.iter().filter(shown).find_map(|it| match it.label {
        Label::Regression => Some(", slower within the limits"),
        Label::Mixed => Some(", some slower and some faster within the limits"),
        _ => None,
    });
    worst.unwrap_or_default()
}

/// One line for each revision: the label with its certainty and the numbers behind it, as far as that place shows them;
/// then the groups that changed otherwise, and what all rows share.
pub fn lines(report: &Report, place: Place) -> Vec<String> {
    report
        .summary
        .overall
        .iter()
        .flat_map(|overall| of_revision(report, overall, place, |_| String::new()))
        .collect()
}

/// The same with a bar beside the impact, for places without pictures.
pub fn lines_with_bars(report: &Report, place: Place) -> Vec<String> {
    let bar = |impact: &Impact| format!("{} ", gauge(impact.gauge));
    report.summary.overall.iter().flat_map(|overall| of_revision(report, overall, place, bar)).collect()
}

fn of_revision(
    report: &Report,
    overall: &Overall,
    place: Place,
    bar: impl Fn(&Impact) -> String,
) -> Vec<String> {
    let several = 1 < report.summary.overall.len();
    let whose = match several {
        true => format!("overall @{}", visible(spec_of(report, &overall.revision))),
        false => "overall".to_owned(),
    };
    let mut lines = vec![format!("{whose}: {}", sentence(overall, place))];
    let shown = overall.groups.iter().filter(|group| group.disagrees);
    lines.extend(shown.map(|it| group(it, overall.label)));
    if let Some(only) = only_group(overall) {
        lines.push(format!("  all of them in group {}", visible(&only.group)));
    }
    lines.extend(overall.shift.as_ref().map(|it| format!("  {}", shift(it))));
    let impact = overall.impact.as_ref().filter(|impact| 1 < impact.benchmarks);
    lines.extend(impact.map(|it| format!("  {}{}", bar(it), self::impact(it))));
    lines
}

/// The label in words: `definitely slower: 17 of 40 rows worse, 3 better; worst parse latency +4.1 %`.
pub fn sentence(overall: &Overall, place: Place) -> String {
    let Overall { label, flagged, rows, .. } = overall;
    let chance = match (overall.expected_by_chance, overall.by_chance) {
        (few, _) if few < 0.5 => String::new(),
        (some, 0) => format!(", about {some:.0} expected by chance"),
        (some, more) => format!(", {more} more flagged and about {some:.0} expected by chance"),
    };
    let of_rows = if *rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    if *label == Label::Unchanged {
        return format!("no significant change in {of_rows}");
    }
    if place.emphasis(overall.certainty) == Emphasis::Hidden {
        return format!("no clear change ({} of {of_rows} flagged{chance})", flagged.all());
    }
    let kind = match (label, overall.mostly) {
        (Label::Mixed, Some(Direction::Regression)) => "mixed, mostly slower",
        (Label::Mixed, Some(Direction::Improvement)) => "mixed, mostly faster",
        (Label::Mixed, None) => "mixed",
        (Label::Regression, _) => "slower",
        _ => "faster",
    };
    let ends = [("worst", &overall.worst), ("best", &overall.best)];
    let ends = ends.into_iter().filter_map(|(word, end)| Some(format!("; {word} {}", row(end.as_ref()?))));
    let ends: String = ends.collect();
    format!("{} {kind}: {} of {of_rows}{chance}{ends}", overall.certainty, changed(*flagged))
}

fn changed(Flagged { regressions, improvements }: Flagged) -> String {
    match (regressions, improvements) {
        (worse, 0) => format!("{worse} worse"),
        (0, better) => format!("{better} better"),
        (worse, better) => format!("{worse} worse and {better} better"),
    }
}

fn row(end: &Worst) -> String {
    let change = end.change_percent.map_or_else(|| "from 0".to_owned(), quantity::change);
    format!("{} {} {change}", visible(&end.benchmark), visible(end.metric.name()))
}

fn group(group: &GroupSummary, whole: Label) -> String {
    let but = if whole == Label::Mixed { "" } else { "but " };
    let label = match group.label {
        Label::Unchanged => "no change",
        label => label.as_str(),
    };
    format!("  {but}group {}: {label}, {} of {}", visible(&group.group), changed(group.flagged), group.rows)
}

/// The one group of several that all changes are in.
fn only_group(overall: &Overall) -> Option<&GroupSummary> {
    let changed = overall.groups.iter().filter(|group| group.label != Label::Unchanged);
    let mut changed = changed.take(2);
    let only = changed.next().filter(|_| changed.next().is_none())?;
    (1 < overall.groups.len() && 1 < only.flagged.all()).then_some(only)
}

/// A change that all rows share, in words.
pub fn shift(shift: &Shift) -> String {
    let change = quantity::change_with_interval(shift.percent, shift.ci_low_percent, shift.ci_high_percent);
    format!(
        "{} of {} rows moved together by {change} of time: a change that all code shares (a dependency, the allocator, compiler \
         flags, layout), or the machine",
        shift.same_direction, shift.rows
    )
}

/// The impact of the run in words.
pub fn impact(impact: &Impact) -> String {
    let time = |percent: Option<f64>| percent.map_or_else(|| "without end".to_owned(), quantity::change);
    let rule = match impact.rule {
        ImpactRule::Worst => "the worst slowdown",
        ImpactRule::Best => "the best speed-up",
        ImpactRule::GeometricMean => "the geometric mean",
    };
    let mean = match impact.rule {
        ImpactRule::GeometricMean => String::new(),
        _ => format!("; geometric mean {}", time(impact.mean_time_percent)),
    };
    let excluded = match impact.excluded {
        0 => String::new(),
        some => format!(", {some} without a ratio left out"),
    };
    let count = impact.benchmarks;
    format!(
        "impact {} of time ({rule}{mean}, {count} benchmarks{excluded}; + is slower)",
        time(impact.time_percent)
    )
}

/// A bar from half the time to twice the time, on a logarithmic scale: `[----------|==>-------]`.
fn gauge(position: f64) -> String {
    const HALF: usize = 10;
    let steps = (position.abs() * HALF as f64).round() as usize;
    let steps = if position != 0.0 { steps.max(1) } else { 0 };
    let filled = |arrow: char, at_left: bool| -> String {
        let bar = |at: usize| match steps.checked_sub(at) {
            Some(0) => arrow,
            Some(_) => '=',
            None => '-',
        };
        let bar = (1..=HALF).map(bar);
        if at_left { bar.rev().collect() } else { bar.collect() }
    };
    let empty = "-".repeat(HALF);
    match 0.0 < position {
        true => format!("[{empty}|{}]", filled('>', false)),
        false => format!("[{}|{empty}]", filled('<', true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauge_points_to_the_side_of_the_change_and_never_leaves_the_bar() {
        assert_eq!(gauge(0.0), "[----------|----------]");
        assert_eq!(gauge(0.001), "[----------|>---------]");
        assert_eq!(gauge(0.3), "[----------|==>-------]");
        assert_eq!(gauge(-0.3), "[-------<==|----------]");
        assert_eq!(gauge(1.0), "[----------|=========>]");
        assert_eq!(gauge(-1.0), "[<=========|----------]");
    }
}
