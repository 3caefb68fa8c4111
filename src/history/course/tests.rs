//! Tests of the course on small series.

use super::*;

/// Noise of about so much without a generator: the golden angle's multiples are evenly spread and never repeat.
fn noise(index: usize, share: f64) -> f64 {
    1.0 + share * 2.0 * ((index as f64 * 0.618_033_988_749_895).fract() - 0.5)
}

fn rows(values: &[f64]) -> Vec<CourseRow> {
    let row = |(index, &value): (usize, &f64)| CourseRow {
        row: Row { position: index as i64, result_time: index as i64, value, begins: false },
        accepted: false,
        no_step: false,
    };
    values.iter().enumerate().map(row).collect()
}

fn levels(levels: &[(usize, f64)], share: f64) -> Vec<f64> {
    let mut values = Vec::new();
    for &(count, level) in levels {
        for _ in 0..count {
            values.push(level * noise(values.len(), share));
        }
    }
    values
}

fn steps(values: &[f64]) -> Course {
    follow(&rows(values), Better::Lower, false, LookbackMode::Steps)
}

#[test]
fn steady_noise_has_no_step() {
    let course = steps(&levels(&[(300, 100.0)], 0.02));
    assert!(course.steps.is_empty(), "{:?}", course.steps);
    assert_eq!(course.status, Status::Stable);
}

#[test]
fn confirmed_step_begins_a_segment_and_stays_open_long_after_the_window_swallowed_it() {
    for after in [2, 30, 150, 400] {
        let course = steps(&levels(&[(40, 100.0), (after, 110.0)], 0.01));
        let found: Vec<usize> = course.steps.iter().map(|step| step.index).collect();
        assert_eq!(found, [40], "{after} results after the step");
        assert!(course.rows[40].begins);
        assert_eq!(course.status, Status::Regressed);
        assert_eq!(course.open.map(|open| open.since), Some(40));
        let change = course.change_percent.expect("there is a level before");
        assert!((8.0..12.0).contains(&change), "{change}");
    }
    // The seed's rules alone let it fade.
    let faded =
        follow(&rows(&levels(&[(40, 100.0), (150, 110.0)], 0.01)), Better::Lower, false, LookbackMode::Plain);
    assert_eq!(faded.status, Status::Stable);
}

#[test]
fn smaller_change_is_seen_soon_after_a_step() {
    // 10 % up, then 30 results later 4 % more: without a segment the step's own spread hides it.
    let values = levels(&[(40, 100.0), (30, 110.0), (3, 114.4)], 0.01);
    let found: Vec<usize> = steps(&values).steps.iter().map(|step| step.index).collect();
    assert_eq!(found, [40, 70]);
}

#[test]
fn open_regression_closes_when_two_results_are_back_and_not_by_one() {
    let one = steps(&levels(&[(40, 100.0), (20, 120.0), (1, 100.0)], 0.01));
    assert_eq!(one.status, Status::Regressed);
    let two = steps(&levels(&[(40, 100.0), (20, 120.0), (2, 100.0)], 0.01));
    assert_eq!(two.open, None);
    assert_ne!(two.status, Status::Regressed);
}

#[test]
fn regression_that_gets_half_better_stays_open() {
    let course = steps(&levels(&[(40, 100.0), (20, 120.0), (20, 110.0)], 0.01));
    assert_eq!(course.status, Status::Regressed);
    assert_eq!(course.open.map(|open| open.since), Some(40));
}

#[test]
fn mark_accepts_an_open_regression() {
    let mut input = rows(&levels(&[(40, 100.0), (30, 120.0)], 0.01));
    input[40].row.begins = true;
    input[40].accepted = true;
    let course = follow(&input, Better::Lower, false, LookbackMode::Steps);
    assert_eq!((course.status, course.open), (Status::Stable, None));
    assert!(course.steps.is_empty());
}

#[test]
fn step_that_was_taken_back_begins_no_segment() {
    let mut input = rows(&levels(&[(40, 100.0), (30, 120.0)], 0.01));
    input[40].no_step = true;
    let course = follow(&input, Better::Lower, false, LookbackMode::Steps);
    assert!(course.steps.iter().all(|step| step.index != 40));
    assert!(!course.rows[40].begins);
}

#[test]
fn single_odd_result_is_neither_a_step_nor_a_regression() {
    let mut values = levels(&[(40, 100.0)], 0.01);
    values[20] = 150.0;
    values.push(150.0);
    let course = steps(&values);
    assert!(course.steps.is_empty());
    assert_eq!((course.status, course.why), (Status::Stable, Why::OneResult));
}

#[test]
fn counts_without_spread_are_judged_from_the_second_result_on() {
    let counted = |values: &[f64]| follow(&rows(values), Better::Lower, true, LookbackMode::Steps).status;
    assert_eq!(counted(&[1000.0]), Status::Insufficient);
    assert_eq!(counted(&[1000.0, 1000.0]), Status::Stable);
    assert_eq!(counted(&[1000.0, 1050.0]), Status::Regressed);
    assert_eq!(counted(&[1000.0, 1000.0, 1000.0, 1019.0]), Status::Stable);
    assert_eq!(counted(&[1000.0, 1000.0, 1000.0, 950.0]), Status::Improved);
    assert_eq!(counted(&[1000.0, 1050.0, 1000.0]), Status::Improved);
}

#[test]
fn times_without_spread_need_two_results_beyond_the_limit() {
    let times = |values: &[f64]| follow(&rows(values), Better::Lower, false, LookbackMode::Steps).status;
    let flat = vec![3.0; 20];
    assert_eq!(times(&flat), Status::Stable);
    assert_eq!(times(&[flat.clone(), vec![4.0]].concat()), Status::Stable);
    assert_eq!(times(&[flat, vec![4.0, 4.0]].concat()), Status::Regressed);
    assert_eq!(times(&[3.0, 3.0, 4.0]), Status::Insufficient);
}

#[test]
fn higher_is_better_mirrors() {
    let values: Vec<f64> = levels(&[(40, 100.0), (10, 120.0)], 0.01);
    let course = follow(&rows(&values), Better::Higher, false, LookbackMode::Steps);
    assert_eq!(course.status, Status::Stable);
    assert!(course.steps[0].better);
    let values: Vec<f64> = levels(&[(40, 100.0), (3, 80.0)], 0.01);
    let course = follow(&rows(&values), Better::Higher, false, LookbackMode::Steps);
    assert_eq!(course.status, Status::Regressed);
}

#[test]
fn nothing_and_one_row_are_insufficient() {
    assert_eq!(steps(&[]).status, Status::Insufficient);
    assert_eq!(steps(&[1.0]).why, Why::FewResults(0));
}

#[test]
fn series_without_rest_and_series_of_100_000_results_come_to_an_end() {
    // A new level every three results: a step is confirmed again and again, and gone through again.
    let restless: Vec<f64> =
        (0..6000).map(|index| 100.0 * 1.3_f64.powi(index / 3 % 7) * noise(index as usize, 0.01)).collect();
    let course = steps(&restless);
    assert!(!course.steps.is_empty());
    assert!(course.steps.windows(2).all(|pair| pair[0].index < pair[1].index));
    let course = steps(&levels(&[(90_000, 100.0), (10_000, 110.0)], 0.01));
    assert_eq!(course.steps.iter().map(|step| step.index).collect::<Vec<_>>(), [90_000]);
    assert_eq!(course.status, Status::Regressed);
}
