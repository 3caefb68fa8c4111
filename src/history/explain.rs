//! Every condition of a status, with its number and its limit, as of one commit.

use super::course::{Course, LookbackMode, MOST_WEIGHT, STEP_WEIGHT};
use super::lookback::{Distribution, Row, SHIFT_SD, WINDOW, distribution, jump, rolling, z_score};
use super::overview::{course, is_counted};
use super::render::counted;
use super::series::Series;
use super::status::{BASELINE_Z, MIN_EARLIER, MIN_SHARE, STATUS_Z, Score, clears_share, score};
use super::tolerance::Tolerance;

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// What is asked, in words.
    pub asks: String,
    /// The number.
    pub number: Option<f64>,
    /// The limit it is held against.
    pub limit: Option<f64>,
    /// Whether it holds; `None` where there is no number.
    pub holds: Option<bool>,
}

/// Why a result has its status.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Index of the result among the points of the series.
    pub point: usize,
    /// The course as of this result.
    pub course: Course,
    /// Results of its commit up to this one.
    pub results: usize,
    /// The window before its commit, which it is held against.
    pub window: Distribution,
    /// Distinct commits in the window of the mean.
    pub window_commits: usize,
    /// The conditions of the status rule.
    pub status: Vec<Condition>,
    /// The conditions against the commit before as a baseline.
    pub baseline: Vec<Condition>,
    /// The practical tolerance, with the window's mean as reference.
    pub tolerance: Option<Tolerance>,
}

/// Explains the newest result of a commit against the results before its commit, as of that result: of the commit of that name, else of the only one whose id
/// begins so. `None` when the series has none of it.
pub fn explain(series: &Series, commit: &str, mode: LookbackMode) -> Option<Explanation> {
    let point = newest_of(series, commit)?;
    let until = series.with_points(series.points[..=point].to_vec());
    let course = course(&until, mode);
    // The rows before it, with the segments known then: a step that this very result confirms began only with it.
    let mut rows = course.rows.clone();
    if let Some(step) = course.steps.last().filter(|step| step.confirmed_at == point) {
        rows[step.index].begins = until.rows(mode == LookbackMode::Steps)[step.index].begins;
    }
    let (last, earlier) = rows.split_last()?;
    // Other results of the same commit are no past of it.
    let before = &rows[..rows.partition_point(|row| row.position < last.position)];
    let window = distribution(before);
    let latest = score(last.value, window, earlier.len(), series.better);
    let previous = earlier
        .split_last()
        .map(|(previous, before)| score(previous.value, distribution(before), before.len(), series.better));
    Some(Explanation {
        point,
        results: rows.len() - before.len(),
        window,
        window_commits: window_commits(before),
        status: status_conditions(&rows, latest, previous, series, mode),
        baseline: baseline_conditions(&until, window),
        tolerance: window.mean.map(|mean| series.floors.judge(mean, last.value)),
        course,
    })
}

/// The newest result of a commit.
fn newest_of(series: &Series, commit: &str) -> Option<usize> {
    let exact = series.points.iter().rposition(|point| *point.commit == *commit);
    exact.or_else(|| {
        // Fewer digits begin the ids of too many commits.
        const DIGITS: usize = 7;
        if commit.len() < DIGITS || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let is_meant = |index: &usize| series.points[*index].commit.starts_with(commit);
        let last = (0..series.points.len()).rev().find(is_meant)?;
        let of_another = |index: usize| series.points[index].commit != series.points[last].commit;
        let several = (0..last).filter(is_meant).any(of_another);
        (!several).then_some(last)
    })
}

/// Distinct commits of the newest segment, up to the length of a window.
fn window_commits(rows: &[Row]) -> usize {
    let stats = rolling(rows);
    let Some(segment) = stats.last().map(|stats| stats.segment) else { return 0 };
    let mut positions: Vec<i64> = rows
        .iter()
        .zip(&stats)
        .filter(|(_, stats)| stats.segment == segment && !stats.is_outlier)
        .map(|(row, _)| row.position)
        .collect();
    positions.dedup();
    positions.len().min(WINDOW)
}

fn status_conditions(
    rows: &[Row],
    latest: Score,
    previous: Option<Score>,
    series: &Series,
    mode: LookbackMode,
) -> Vec<Condition> {
    // The plain lookback is seed document 1 to the letter: no exact rule, and no steps.
    let with_steps = mode == LookbackMode::Steps;
    let is_exact = with_steps && is_counted(&series.key);
    let value = rows[rows.len() - 1].value;
    let needed = if is_exact { 1 } else { MIN_EARLIER };
    let share = |value: f64, mean: f64| 100.0 * (value - mean).abs() / mean.abs();
    let mut conditions = vec![
        Condition {
            asks: "earlier results are enough".to_owned(),
            number: Some(latest.earlier as f64),
            limit: Some(needed as f64),
            holds: Some(needed <= latest.earlier),
        },
        Condition {
            asks: "|z| (against the window before the commit) is above".to_owned(),
            number: latest.z,
            limit: Some(STATUS_Z),
            holds: latest.z.map(|z| STATUS_Z < z.abs()),
        },
        Condition {
            asks: "distance from the window's mean, in per cent of it, is above".to_owned(),
            number: latest.mean.filter(|&mean| mean != 0.0).map(|mean| share(value, mean)),
            limit: Some(100.0 * MIN_SHARE),
            holds: latest.mean.map(|mean| clears_share(value, mean)),
        },
    ];
    if with_steps && latest.sd == Some(0.0) || latest.sd.is_none() && is_exact {
        conditions.push(Condition {
            asks: "the history has no spread, so any change counts that is, in per cent, above (exact rule)"
                .to_owned(),
            number: latest.mean.filter(|&mean| mean != 0.0).map(|mean| share(value, mean)),
            limit: Some(100.0 * MIN_SHARE),
            holds: latest.mean.map(|mean| clears_share(value, mean)),
        });
    }
    if let Some(previous) = previous {
        conditions.push(Condition {
            asks: "the result before points the same way (its z, against the window before it)".to_owned(),
            number: previous.z,
            limit: Some(STATUS_Z),
            holds: Some(latest.side != 0 && previous.side == latest.side),
        });
    }
    let flags = rolling(rows);
    conditions.push(Condition {
        asks: "the change from the result before is a jump: standard deviations off the usual change, above"
            .to_owned(),
        number: jump(rows),
        limit: Some(SHIFT_SD),
        holds: flags.last().map(|flags| flags.is_step),
    });
    if !with_steps {
        return conditions;
    }
    let run: Vec<f64> = run_of(rows, &flags, series);
    conditions.push(Condition {
        asks: format!(
            "{} in a row beyond the threshold weigh at least (a step)",
            counted(run.len(), "result")
        ),
        number: (!run.is_empty()).then(|| run.iter().sum::<f64>() / (run.len() as f64).sqrt()),
        limit: Some(STEP_WEIGHT),
        holds: Some(2 <= run.len() && STEP_WEIGHT <= run.iter().sum::<f64>() / (run.len() as f64).sqrt()),
    });
    conditions
}

/// The z-scores of the newest rows that are beyond the threshold on the side of the newest.
fn run_of(rows: &[Row], flags: &[super::lookback::Rolling], series: &Series) -> Vec<f64> {
    let mut run = Vec::new();
    let mut side = None;
    for (row, stats) in rows.iter().zip(flags).rev() {
        let z = stats.mean_before.and_then(|mean| z_score(row.value, mean, stats.sd_before, series.better));
        match z {
            Some(z) if STATUS_Z < z.abs() && side.is_none_or(|better| better == (0.0 < z)) => {
                side = Some(0.0 < z);
                run.push(z.abs().min(MOST_WEIGHT));
            }
            _ => break,
        }
    }
    run
}

fn baseline_conditions(series: &Series, window: Distribution) -> Vec<Condition> {
    let newest = series.newest();
    let Some(baseline) = series.points.iter().rev().find(|point| point.position != newest.position) else {
        return Vec::new();
    };
    let z = z_score(newest.best, baseline.best, window.sd, series.better);
    let share = 100.0 * (newest.best - baseline.best).abs() / baseline.best.abs();
    vec![
        Condition {
            asks:
                "in `history compare`: standard deviations from the commit before, either way, are at least"
                    .to_owned(),
            number: z,
            limit: Some(BASELINE_Z),
            holds: z.map(|z| BASELINE_Z <= z.abs()),
        },
        Condition {
            asks: "in `history compare`: distance from the commit before, in per cent of it, is above"
                .to_owned(),
            number: (baseline.best != 0.0).then_some(share),
            limit: Some(100.0 * MIN_SHARE),
            holds: Some(clears_share(newest.best, baseline.best)),
        },
    ]
}
