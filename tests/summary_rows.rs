//! Which rows vote for the label of a run, and what stands in the report beside it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;
mod suite_support;

use cargo_benchgate::suite::metric::{Better, Metric};
use cargo_benchgate::summary::change::threshold;
use cargo_benchgate::summary::{
    Certainty, Direction, ImpactRule, Label, Magnitude, Overall, SummarySettings, impact, overall,
    significant,
};
use cargo_benchgate::verdict::outcome::{BenchResult, Comparison, Reason, Verdict};

use report_support::{comparison, evidence, identity, judged};

const MIN_CHANGE: f64 = 0.2;

/// A row of the gate's tolerance whose interval is the change ± the width.
fn row(change: f64, width: f64) -> Comparison {
    Comparison {
        change_percent: Some(change),
        ci_low_percent: Some(change - width),
        ci_high_percent: Some(change + width),
        difference: Some(change * 10.0),
        ..comparison(Metric::Latency, Verdict::Pass, None)
    }
}

/// One benchmark a row; the group is the part before the first `/`.
fn summed(rows: Vec<(&str, Comparison)>) -> Overall {
    all_summed(rows, SummarySettings::default()).remove(0)
}

fn all_summed(rows: Vec<(&str, Comparison)>, settings: SummarySettings) -> Vec<Overall> {
    let (evidence, judged): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .map(|(id, row)| {
            let mut judged = judged(BenchResult::Pass, vec![row], vec![]);
            judged.group = id.split('/').next().unwrap().to_owned();
            (evidence(identity("t", id), vec![]), judged)
        })
        .unzip();
    overall(&evidence, &judged, settings)
}

#[test]
fn row_is_significant_when_its_interval_excludes_0_and_its_change_is_large_enough() {
    let of =
        |change, width| significant(&row(change, width), MIN_CHANGE).map(|it| (it.direction, it.magnitude));
    assert_eq!(of(0.2, 0.1), Some((Direction::Regression, Magnitude::Small)));
    assert_eq!(of(-12.0, 1.0), Some((Direction::Improvement, Magnitude::VeryLarge)));
    assert_eq!(of(0.19, 0.01), None, "too small");
    assert_eq!(of(5.0, 5.0), None, "the interval touches 0");
    assert_eq!(of(0.0, 0.0), None);
}

#[test]
fn row_whose_samples_scatter_needs_ten_times_the_change() {
    let noisy = |change| Comparison { head_dispersion: Some(0.051), ..row(change, 0.1) };
    assert_eq!(threshold(&noisy(1.0), MIN_CHANGE), 2.0);
    assert!(significant(&noisy(1.9), MIN_CHANGE).is_none());
    assert!(significant(&noisy(2.0), MIN_CHANGE).is_some());
    let quiet = Comparison { head_dispersion: Some(0.05), base_dispersion: Some(0.05), ..row(1.9, 0.1) };
    assert!(significant(&quiet, MIN_CHANGE).is_some(), "5 % itself is not above it");
}

#[test]
fn row_below_min_difference_or_skipped_never_votes() {
    let small = Comparison { min_difference: 1e6, ..row(5.0, 1.0) };
    assert!(significant(&small, MIN_CHANGE).is_none());
    let skipped = Comparison { verdict: Verdict::Skipped, ..row(5.0, 1.0) };
    assert!(significant(&skipped, MIN_CHANGE).is_none());
}

#[test]
fn exact_count_needs_no_interval_and_from_zero_no_change() {
    let bare = |reason| Comparison {
        ci_low_percent: None,
        ci_high_percent: None,
        reason: Some(reason),
        ..row(0.4, 0.1)
    };
    assert_eq!(significant(&bare(Reason::Exact), MIN_CHANGE).unwrap().magnitude, Magnitude::Small);
    assert!(significant(&bare(Reason::FewSamples), MIN_CHANGE).is_none());
    let from_zero = Comparison { change_percent: None, ..bare(Reason::FromZero) };
    let change = significant(&from_zero, MIN_CHANGE).unwrap();
    assert_eq!((change.direction, change.magnitude), (Direction::Regression, Magnitude::VeryLarge));
    let higher = Comparison { better: Better::Higher, ..from_zero };
    assert_eq!(significant(&higher, MIN_CHANGE).unwrap().direction, Direction::Improvement);
}

#[test]
fn more_of_a_metric_where_more_is_better_is_an_improvement() {
    let higher = Comparison { better: Better::Higher, ..row(5.0, 1.0) };
    assert_eq!(significant(&higher, MIN_CHANGE).unwrap().direction, Direction::Improvement);
}

#[test]
fn gate_verdicts_have_no_vote_and_rows_that_are_not_gated_only_where_none_is() {
    let passes = summed(vec![("a", row(3.0, 1.0)), ("b", row(2.0, 1.0))]);
    assert_eq!(
        (passes.label, passes.flagged.regressions),
        (Label::Regression, 2),
        "both are a pass of the gate"
    );
    let open = |change| Comparison { gate: false, ..row(change, 1.0) };
    let beside = summed(vec![("a", row(0.1, 1.0)), ("b", open(9.0))]);
    assert_eq!((beside.label, beside.rows), (Label::Unchanged, 1));
    let alone = summed(vec![("a", open(9.0))]);
    assert_eq!((alone.label, alone.rows), (Label::Regression, 1));
}

#[test]
fn throughput_that_mirrors_latency_is_not_counted_twice() {
    let mirrored = Comparison { derived_from: Some(Metric::Latency), ..row(-3.0, 1.0) };
    let both = judged(BenchResult::Pass, vec![row(3.0, 1.0), mirrored], vec![]);
    let all = overall(&[evidence(identity("t", "a"), vec![])], &[both], SummarySettings::default());
    assert_eq!((all[0].rows, all[0].label), (1, Label::Regression));
}

#[test]
fn run_without_a_comparison_has_no_summary() {
    assert!(all_summed(vec![], SummarySettings::default()).is_empty());
    let nothing = judged(BenchResult::Pass, vec![], vec![]);
    assert!(
        overall(&[evidence(identity("t", "a"), vec![])], &[nothing], SummarySettings::default()).is_empty()
    );
}

#[test]
fn every_revision_has_a_summary_of_its_own_and_head_is_first() {
    let other = Comparison { head_revision: "v2".into(), ..row(-9.0, 1.0) };
    let both = judged(BenchResult::Pass, vec![other, row(9.0, 1.0)], vec![]);
    let all = overall(&[evidence(identity("t", "a"), vec![])], &[both], SummarySettings::default());
    let of: Vec<_> = all.iter().map(|it| (it.revision.as_str(), it.label)).collect();
    assert_eq!(of, [("head", Label::Regression), ("v2", Label::Improvement)]);
}

#[test]
fn as_many_flags_as_chance_makes_are_a_maybe_until_a_verdict_stands_behind_one() {
    let quiet = || (0..100).map(|_| ("g/quiet", row(0.1, 1.0)));
    let flag = row(8.0, 1.0);
    let few = summed(quiet().chain([("g/one", flag.clone())]).collect());
    // 101 rows at 95 % confidence: five are expected by chance.
    assert!((few.expected_by_chance - 5.05).abs() < 1e-9);
    assert_eq!((few.flagged.all(), few.certainty), (1, Certainty::Maybe));
    let decided = Comparison { verdict: Verdict::Regression, ..flag.clone() };
    let sure = summed(quiet().chain([("g/one", decided)]).collect());
    assert_eq!(sure.certainty, Certainty::Probably);
    let alone = summed(vec![("g/one", flag)]);
    assert_eq!(alone.certainty, Certainty::Probably, "one of one is more than chance makes");
}

#[test]
fn flags_that_chance_explains_have_no_vote_beside_one_the_gate_is_sure_of() {
    let mut rows: Vec<_> = (0..100).map(|_| ("g/quiet", row(0.1, 1.0))).collect();
    rows.extend((0..5).map(|_| ("g/flag", row(-0.4, 0.1))));
    rows.push(("g/slow", Comparison { verdict: Verdict::Regression, ..row(30.0, 1.0) }));
    let all = summed(rows.clone());
    assert_eq!((all.label, all.flagged.all(), all.by_chance), (Label::Regression, 1, 5));
    // 5.4 are expected of 108 rows; a sixth flag is more.
    rows.extend([("g/flag", row(-0.4, 0.1)), ("g/flag", row(-0.4, 0.1))]);
    let all = summed(rows);
    assert_eq!((all.flagged.all(), all.by_chance), (8, 0));
}

#[test]
fn change_that_the_gate_cannot_tell_is_never_definite() {
    let open = Comparison { verdict: Verdict::Inconclusive, ..row(15.0, 10.0) };
    let all = summed(vec![("a", open), ("b", row(0.1, 1.0))]);
    assert_eq!((all.label, all.certainty), (Label::Regression, Certainty::Probably));
    assert_eq!(all.impact.unwrap().rule, ImpactRule::GeometricMean);
}

#[test]
fn changes_that_are_all_of_one_group_are_at_least_probable() {
    let mut rows: Vec<_> = (0..3).map(|_| ("bad/x", row(0.5, 0.2))).collect();
    rows.extend((0..10).map(|_| ("good/x", row(0.0, 0.2))));
    let one = summed(rows.clone());
    assert_eq!((one.label, one.certainty), (Label::Regression, Certainty::Probably));
    rows.push(("good/y", row(0.5, 0.2)));
    assert_eq!(summed(rows).certainty, Certainty::Maybe);
}

#[test]
fn group_that_disagrees_with_the_whole_says_so() {
    let mut rows: Vec<_> = (0..30).map(|_| ("check/x", row(-0.5, 0.2))).collect();
    rows.extend([("opt/a", row(0.3, 0.1)), ("opt/b", row(0.5, 0.1)), ("quiet/c", row(0.0, 0.1))]);
    let all = summed(rows);
    assert_eq!(all.label, Label::Improvement);
    let groups: Vec<_> = all.groups.iter().map(|it| (it.group.as_str(), it.label, it.disagrees)).collect();
    let expected = [
        ("check", Label::Improvement, false),
        ("opt", Label::Regression, true),
        ("quiet", Label::Unchanged, false),
    ];
    assert_eq!(groups, expected);
}

#[test]
fn mixed_says_which_kind_is_more_apparent() {
    let mut rows: Vec<_> = (0..17).map(|_| ("a/x", row(2.0, 0.2))).collect();
    rows.extend((0..3).map(|_| ("a/y", row(-2.0, 0.2))));
    let all = summed(rows);
    assert_eq!((all.label, all.mostly), (Label::Mixed, Some(Direction::Regression)));
    let even = summed(vec![("a", row(2.0, 0.2)), ("b", row(-2.0, 0.2))]);
    assert_eq!((even.label, even.mostly), (Label::Mixed, None));
}

#[test]
fn shift_is_what_nearly_all_rows_share() {
    let together: Vec<_> = (0..20).map(|at| ("a/x", row(1.0 + f64::from(at) / 50.0, 0.1))).collect();
    let shift = summed(together.clone()).shift.unwrap();
    assert!((1.0..1.4).contains(&shift.percent) && shift.ci_low_percent < shift.percent);
    assert_eq!((shift.rows, shift.same_direction), (20, 20));
    let apart: Vec<_> = (0..20).map(|at| ("a/x", row(f64::from(at) - 10.0, 0.1))).collect();
    assert!(summed(apart).shift.is_none());
    let one_step: Vec<_> = (0..20).map(|at| ("a/x", row(if at == 0 { 30.0 } else { 0.0 }, 0.1))).collect();
    assert!(summed(one_step).shift.is_none());
    assert!(summed(together.into_iter().take(7).collect()).shift.is_none(), "seven rows are too few");
}

#[test]
fn impact_of_a_run_is_a_time_with_plus_for_slower_and_only_sure_rows_stand_for_it() {
    let slower = summed(vec![("a", row(25.0, 1.0)), ("b", row(0.0, 1.0))]).impact.unwrap();
    assert_eq!(slower.rule, ImpactRule::Worst);
    assert!((slower.time_percent.unwrap() - 25.0).abs() < 1e-9 && (slower.speed_impact + 0.2).abs() < 1e-9);
    // 10 % more time is 9.09 % less speed: within 10 %.
    let within = summed(vec![("a", row(10.0, 1.0))]).impact.unwrap();
    assert_eq!(within.rule, ImpactRule::GeometricMean);
    let noise = summed(vec![("a", row(25.0, 30.0)), ("b", row(0.0, 1.0))]).impact.unwrap();
    assert_eq!(noise.rule, ImpactRule::GeometricMean, "its interval holds 0");
    let faster = summed(vec![("a", row(-50.0, 1.0))]).impact.unwrap();
    assert_eq!(faster.rule, ImpactRule::Best);
    assert!((faster.gauge + 1.0).abs() < 1e-9, "half the time is the end of the bar");
    let odd = Comparison { change_percent: None, reason: Some(Reason::ZeroBase), ..row(0.0, 1.0) };
    let odd = summed(vec![("a", odd), ("b", row(1.0, 2.0))]).impact.unwrap();
    assert_eq!((odd.benchmarks, odd.excluded), (1, 1));
}

#[test]
fn gauge_is_as_far_for_twice_as_slow_as_for_twice_as_fast() {
    assert!((impact::gauge(-0.5) - 1.0).abs() < 1e-12 && (impact::gauge(1.0) + 1.0).abs() < 1e-12);
    assert!((impact::gauge(0.1) + impact::gauge(1.0 / 1.1 - 1.0)).abs() < 1e-12);
    assert_eq!((impact::gauge(0.0), impact::gauge(-1.0), impact::gauge(f64::INFINITY)), (0.0, 1.0, -1.0));
    assert_eq!(impact::as_time_percent(-1.0), None);
}

#[test]
fn primitive_label_is_kept_beside_the_weighed_one() {
    let mut rows: Vec<_> = (0..20).map(|_| ("a/x", row(2.0, 0.2))).collect();
    rows.push(("a/y", row(-0.3, 0.1)));
    let all = summed(rows);
    assert_eq!((all.label, all.label_by_significance), (Label::Regression, Label::Mixed));
    assert_eq!(all.noteworthy, 20, "0.3 % is below twice 0.2 %");
}

#[test]
fn suite_sets_the_smallest_change_and_the_impact() {
    let table = "summary = { min_change = \"1%\", impact_percent = 20 }";
    let suite = suite_support::Project::default().package("a", table, &["parse"]).load();
    assert_eq!(suite.run.summary, SummarySettings { min_change_percent: 1.0, impact_percent: 20.0 });
    let rows = || vec![("a", row(0.9, 0.1)), ("b", row(15.0, 1.0))];
    let wide = all_summed(rows(), suite.run.summary).remove(0);
    assert_eq!((wide.flagged.all(), wide.impact.unwrap().rule), (1, ImpactRule::GeometricMean));
    let usual = summed(rows());
    assert_eq!((usual.flagged.all(), usual.impact.unwrap().rule), (2, ImpactRule::Worst));
}
