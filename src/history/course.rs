//! The course of a series: steps that were confirmed begin a segment, and a regression stays open until it is back or
//! accepted. Beyond seed document 1, whose window swallows a step within some results and is blind for two hundred more.

use super::lookback::{Row, WINDOW, z_score};
use super::status::{Judged, MIN_EARLIER, STATUS_Z, Status, clears_share, status};
use crate::suite::metric::Better;

pub use crate::suite::run_wide::LookbackMode;

/// What the results from a step on must weigh together: the sum of their z-scores over the root of their number. One
/// result may be odd; five standard deviations of the mean of several are not.
pub const STEP_WEIGHT: f64 = 5.0;
/// What one result weighs at the most, so that a wild one confirms nothing with a mild one beside it. Simulated: of 1000
/// results with exponential scatter 0.4 make a false step, without this limit 1.6; with normal scatter under 0.1. A step of
/// five standard deviations is confirmed by its second result (median), one of three by its fourth.
pub const MOST_WEIGHT: f64 = 3.6;

/// One row with what else is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CourseRow {
    /// The result.
    pub row: Row,
    /// Someone accepted its level.
    pub accepted: bool,
    /// No step may begin here: someone took it back.
    pub no_step: bool,
}

/// A step that was found and confirmed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The first row after it.
    pub index: usize,
    /// The row that confirmed it.
    pub confirmed_at: usize,
    /// The mean before.
    pub before: f64,
    /// The mean of the rows that confirmed it.
    pub after: f64,
    /// Whether it is for the better.
    pub better: bool,
}

/// A regression that nobody accepted and that is not back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// The first row of it.
    pub since: usize,
    /// The mean before.
    pub level: f64,
    /// The spread before; `None` for the exact rule.
    pub sd: Option<f64>,
}

impl Open {
    /// Whether a value is back at the level before, within its spread or 2 % of it.
    pub fn is_back(&self, value: f64, better: Better) -> bool {
        let slack = self.sd.map_or(0.0, |sd| STATUS_Z * sd).max(super::status::MIN_SHARE * self.level.abs());
        let worse = if better == Better::Lower { value - self.level } else { self.level - value };
        worse <= slack
    }
}

/// The course of a whole series.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// The rows, with the confirmed steps among what begins a distribution.
    pub rows: Vec<Row>,
    /// The confirmed steps, oldest first.
    pub steps: Vec<Step>,
    /// The open regression.
    pub open: Option<Open>,
    /// The status.
    pub status: Status,
    /// Why, for people.
    pub why: Why,
    /// The move of the newest row from the mean it is held against, in per cent, positive where the value rose.
    pub change_percent: Option<f64>,
    /// The distance of the newest row in standard deviations, positive for better.
    pub z: Option<f64>,
    /// What the newest row is held against.
    pub mean: Option<f64>,
}

/// What decided a status.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// So many earlier results where [`MIN_EARLIER`] are needed.
    FewResults(usize),
    /// The history has no spread, and the rule for that does not hold here.
    NoSpread,
    /// The two newest results point the same way.
    TwoResults,
    /// A metric without spread changed.
    Exact,
    /// A regression is open since that row.
    OpenSince(usize),
    /// A step for the better was confirmed at that row and is recent.
    ImprovedSince(usize),
    /// The newest result is beyond the threshold, and the one before does not point the same way.
    OneResult,
    /// The newest result is off by more than noise, and by no more than 2 % of the mean.
    SmallMove,
    /// Nothing of that.
    Within,
}

/// A candidate for a step: consecutive rows on one side, scored against the level before the first of them.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: usize,
    first_rank: usize,
    level: f64,
    sd: Option<f64>,
    side: i8,
    count: usize,
    z_sum: f64,
    value_sum: f64,
}

/// Follows a series whose rows are in order. `counted` says that the metric is a count, equal from run to run.
pub fn follow(input: &[CourseRow], better: Better, counted: bool, mode: LookbackMode) -> Course {
    let rows: Vec<Row> = input.iter().map(|it| it.row).collect();
    match mode {
        LookbackMode::Plain => plain(rows, better),
        LookbackMode::Steps => with_steps(input, rows, better, counted),
    }
}

fn plain(rows: Vec<Row>, better: Better) -> Course {
    let judged = status(&rows, better);
    let (status, why) = match judged {
        None => (Status::Insufficient, Why::FewResults(0)),
        Some(it) if it.status != Status::Insufficient => {
            (it.status, if it.status == Status::Stable { why_stable(&it) } else { Why::TwoResults })
        }
        Some(it) if it.latest.earlier < MIN_EARLIER => (it.status, Why::FewResults(it.latest.earlier)),
        Some(it) => (it.status, Why::NoSpread),
    };
    Course {
        rows,
        steps: Vec::new(),
        open: None,
        status,
        why,
        change_percent: judged.and_then(|it| it.change_percent),
        z: judged.and_then(|it| it.latest.z),
        mean: judged.and_then(|it| it.latest.mean),
    }
}

/// Why the newest row is not called.
fn why_stable(judged: &Judged) -> Why {
    match judged.latest.z {
        _ if judged.latest.side != 0 => Why::OneResult,
        Some(z) if STATUS_Z < z.abs() && MIN_EARLIER <= judged.latest.earlier => Why::SmallMove,
        _ => Why::Within,
    }
}

/// What is known of the rows gone through.
struct Walk {
    /// Values of the kept rows.
    values: Vec<f64>,
    /// Their residuals.
    residuals: Vec<f64>,
    /// Where each distinct position begins among them.
    ranks: Vec<usize>,
    /// The rank the segment begins at.
    segment: usize,
}

impl Walk {
    /// Mean and spread before the rank that begins at the end of what is known.
    fn before(&self, rank: usize) -> (Option<f64>, Option<f64>) {
        let end = self.ranks.get(rank).copied().unwrap_or(self.values.len());
        let oldest = rank.saturating_sub(WINDOW);
        let from = self.ranks.get(oldest.max(self.segment)).copied().unwrap_or(end);
        let spread_from = self.ranks.get(oldest).copied().unwrap_or(end);
        (
            super::lookback::mean(&self.values[from.min(end)..end]),
            super::lookback::standard_deviation(&self.residuals[spread_from.min(end)..end]),
        )
    }

    /// Forgets everything from a rank on, so that it can be gone through again in a segment of its own.
    fn rewind(&mut self, rank: usize) {
        let end = self.ranks[rank];
        self.values.truncate(end);
        self.residuals.truncate(end);
        self.ranks.truncate(rank);
        self.segment = rank;
    }
}

fn with_steps(input: &[CourseRow], mut rows: Vec<Row>, better: Better, counted: bool) -> Course {
    let outliers = super::lookback::outliers(&rows);
    let sign = |value: f64, level: f64| -> i8 {
        match (value < level) == (better == Better::Lower) {
            true => 1,
            false => -1,
        }
    };
    let mut walk = Walk { values: Vec::new(), residuals: Vec::new(), ranks: Vec::new(), segment: 0 };
    let mut steps: Vec<Step> = Vec::new();
    let mut open: Option<Open> = None;
    let mut back = 0;
    let mut run: Option<Run> = None;
    let mut last_side: Option<i8> = None;
    // The row each rank begins at, to go back to.
    let mut row_of_rank: Vec<usize> = Vec::new();
    let mut index = 0;
    let mut began = vec![false; rows.len()];
    while index < rows.len() {
        let position = rows[index].position;
        let end = index + rows[index..].iter().take_while(|row| row.position == position).count();
        let members: Vec<usize> = (index..end).filter(|&row| !outliers[row]).collect();
        let marked = input[index..end].iter().any(|it| it.row.begins);
        let accepted = input[index..end].iter().any(|it| it.accepted);
        let rank = walk.ranks.len();
        if accepted {
            open = None;
        }
        if marked {
            run = None;
            last_side = None;
            walk.segment = rank;
        }
        if members.is_empty() {
            index = end;
            continue;
        }
        let (mean, sd) = walk.before(rank);
        walk.ranks.push(walk.values.len());
        row_of_rank.push(index);
        let mut confirmed = None;
        for &row in &members {
            let value = rows[row].value;
            walk.values.push(value);
            walk.residuals.push(value - mean.unwrap_or(value));
            // Open regressions are held against the level they left.
            if let Some(it) = open {
                back = if it.is_back(value, better) { back + 1 } else { 0 };
                if 2 <= back || (counted && 1 <= back) {
                    open = None;
                }
            }
            let Some(level) = mean else {
                run = None;
                last_side = None;
                continue;
            };
            let earlier = row;
            // The side by the seed's rules, for the status that was true then.
            let z = z_score(value, level, sd, better);
            let flat = sd.is_none_or(|sd| sd == 0.0) && (counted || MIN_EARLIER <= earlier && sd.is_some());
            let side = match z {
                Some(z) if MIN_EARLIER <= earlier && STATUS_Z < z.abs() && clears_share(value, level) => {
                    sign(value, level)
                }
                None if flat && clears_share(value, level) => sign(value, level),
                _ => 0,
            };
            let twice = last_side == Some(side) || (counted && flat);
            if side == -1 && twice && open.is_none() {
                let (since, level, sd) = match run.filter(|run| run.side == -1) {
                    Some(run) => (run.first, run.level, run.sd),
                    None => (row, level, sd),
                };
                open = Some(Open { since, level, sd });
                back = 0;
            }
            last_side = Some(side);
            // The run of rows on one side of the level before the first of them.
            let continued = run.and_then(|mut run| {
                let z = z_score(value, run.level, run.sd, better);
                let exact = run.sd.is_none_or(|sd| sd == 0.0);
                let holds = clears_share(value, run.level)
                    && sign(value, run.level) == run.side
                    && (exact || z.is_some_and(|z| STATUS_Z < z.abs()));
                run.count += 1;
                run.z_sum += z.unwrap_or(0.0).abs().min(MOST_WEIGHT);
                run.value_sum += value;
                holds.then_some(run)
            });
            run = continued.or_else(|| {
                (side != 0).then(|| Run {
                    first: row,
                    first_rank: rank,
                    level,
                    sd,
                    side,
                    count: 1,
                    z_sum: z.unwrap_or(0.0).abs().min(MOST_WEIGHT),
                    value_sum: value,
                })
            });
            if let Some(it) = run {
                let exact = it.sd.is_none_or(|sd| sd == 0.0);
                let weight = if exact { f64::INFINITY } else { it.z_sum / (it.count as f64).sqrt() };
                let enough = if exact && counted { 1 } else { 2 };
                let taken_back = input[it.first].no_step;
                if enough <= it.count && STEP_WEIGHT <= weight && !taken_back {
                    confirmed = Some((it, row));
                    break;
                }
            }
        }
        match confirmed {
            Some((it, row)) => {
                steps.push(Step {
                    index: it.first,
                    confirmed_at: row,
                    before: it.level,
                    after: it.value_sum / it.count as f64,
                    better: it.side == 1,
                });
                if it.side == -1 && open.is_none() {
                    open = Some(Open { since: it.first, level: it.level, sd: it.sd });
                    back = 0;
                }
                // Gone through again from the step on, in a segment of its own.
                let from = row_of_rank[it.first_rank];
                row_of_rank.truncate(it.first_rank);
                walk.rewind(it.first_rank);
                began[from] = true;
                index = again(&mut walk, &mut row_of_rank, &rows, &outliers, from, end);
                run = None;
                last_side = None;
            }
            None => index = end,
        }
    }
    for (row, began) in rows.iter_mut().zip(&began) {
        row.begins |= *began;
    }
    conclude(rows, steps, open, better, counted)
}

/// Takes the rows of a confirmed step into their own segment; nothing is judged among them.
fn again(
    walk: &mut Walk,
    row_of_rank: &mut Vec<usize>,
    rows: &[Row],
    outliers: &[bool],
    from: usize,
    end: usize,
) -> usize {
    let mut index = from;
    while index < end {
        let position = rows[index].position;
        let next = index + rows[index..].iter().take_while(|row| row.position == position).count();
        let members: Vec<usize> = (index..next).filter(|&row| !outliers[row]).collect();
        if !members.is_empty() {
            let (mean, _) = walk.before(walk.ranks.len());
            walk.ranks.push(walk.values.len());
            row_of_rank.push(index);
            for row in members {
                walk.values.push(rows[row].value);
                walk.residuals.push(rows[row].value - mean.unwrap_or(rows[row].value));
            }
        }
        index = next;
    }
    end
}

fn conclude(rows: Vec<Row>, steps: Vec<Step>, open: Option<Open>, better: Better, counted: bool) -> Course {
    let judged = status(&rows, better);
    let mut course = Course {
        change_percent: judged.and_then(|it| it.change_percent),
        z: judged.and_then(|it| it.latest.z),
        mean: judged.and_then(|it| it.latest.mean),
        rows,
        steps,
        open,
        status: Status::Stable,
        why: Why::Within,
    };
    let Some(judged) = judged else {
        (course.status, course.why) = (Status::Insufficient, Why::FewResults(0));
        return course;
    };
    let value = course.rows[course.rows.len() - 1].value;
    let held_against = |course: &mut Course, level: f64, sd: Option<f64>| {
        course.mean = Some(level);
        course.change_percent = super::status::move_percent(value, Some(level));
        course.z = z_score(value, level, sd, better);
    };
    if let Some(open) = course.open {
        (course.status, course.why) = (Status::Regressed, Why::OpenSince(open.since));
        held_against(&mut course, open.level, open.sd);
        return course;
    }
    let newest_step = course.steps.last().copied();
    let recent = newest_step.filter(|step| step.better && course.rows.len() - step.index < MIN_EARLIER);
    let flat = judged.latest.z.is_none();
    let earlier = judged.latest.earlier;
    (course.status, course.why) = match judged.status {
        Status::Regressed | Status::Improved => (judged.status, Why::TwoResults),
        _ if recent.is_some() => {
            let step = recent.expect("it was just looked at");
            held_against(&mut course, step.before, None);
            (Status::Improved, Why::ImprovedSince(step.index))
        }
        Status::Stable => (Status::Stable, why_stable(&judged)),
        Status::Insufficient if counted && 1 <= earlier && flat => (Status::Stable, Why::Exact),
        Status::Insufficient if earlier < MIN_EARLIER => (Status::Insufficient, Why::FewResults(earlier)),
        Status::Insufficient if judged.latest.sd == Some(0.0) => (Status::Stable, Why::Exact),
        Status::Insufficient => (Status::Insufficient, Why::NoSpread),
    };
    course
}

#[cfg(test)]
mod tests;
