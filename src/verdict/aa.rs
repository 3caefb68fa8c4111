//! What repeated comparisons of a revision with itself say about a machine: false alarms, noise, the limits it can hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF};

use crate::stats::quantile::{quantile, sorted};
use crate::suite::identity::BenchmarkIdentity;
use crate::suite::metric::Metric;
use crate::suite::settings::Correction;

use super::evidence::Evidence;
use super::outcome::Verdict;
use super::run::{RunContext, RunJudgement, judge_run};

/// The limits that are tried, in per cent: what people write in a suite.
const LIMITS: [f64; 18] =
    [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0, 12.5, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 75.0, 100.0];

/// Confidence of the bound on a false-alarm rate, one-sided.
const BOUND_CONFIDENCE: f64 = 0.95;

/// One comparison over all repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AaRow {
    /// The benchmark.
    #[serde(flatten)]
    pub identity: BenchmarkIdentity,
    /// The metric.
    pub metric: Metric,
    /// Whether it may fail a run.
    pub gate: bool,
    /// The limit of the suite, in per cent.
    pub max_percent: f64,
    /// How often each verdict came.
    pub verdicts: VerdictCounts,
    /// Upper bound of the rate of false regressions, a ratio: 95 %, one-sided, Clopper and Pearson.
    pub false_regression_at_most: f64,
    /// The 95th percentile of the absolute change over the repeats, in per cent: what noise alone does here.
    pub noise_floor_percent: Option<f64>,
    /// The smallest `max_percent` of a fixed list at which every repeat passes with the samples taken; `None`: none does.
    pub smallest_max_percent: Option<f64>,
    /// The largest number of samples a side that any repeat took.
    pub most_samples: usize,
}

/// How often each verdict came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// Right.
    pub pass: usize,
    /// A false improvement.
    pub improved: usize,
    /// A false alarm.
    pub regression: usize,
    /// Undecided.
    pub inconclusive: usize,
    /// Not judged.
    pub skipped: usize,
}

impl VerdictCounts {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Pass => self.pass += 1,
            Verdict::Improved => self.improved += 1,
            Verdict::Regression => self.regression += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
            Verdict::Skipped => self.skipped += 1,
        }
    }

    /// The comparisons that were judged.
    pub fn judged(&self) -> usize {
        self.pass + self.improved + self.regression + self.inconclusive
    }
}

/// What the repeats come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AaSummary {
    /// Repeats.
    pub repeats: usize,
    /// Repeats whose gate would have failed.
    pub false_alarms: usize,
    /// Upper bound of their rate, a ratio: 95 %, one-sided, Clopper and Pearson.
    pub false_alarms_at_most: f64,
    /// The comparisons, in the order of the benchmarks.
    pub rows: Vec<AaRow>,
    /// What to change in the suite, or that nothing need be.
    pub advice: Vec<String>,
}

/// Sums up repeats of one comparison of a revision with itself. Every repeat holds the same benchmarks in one order.
pub fn summarise(repeats: &[Vec<Evidence>], judgements: &[RunJudgement], context: &RunContext) -> AaSummary {
    let mut rows: BTreeMap<(usize, Metric), (AaRow, Vec<f64>)> = BTreeMap::new();
    for (evidence, judgement) in repeats.iter().zip(judgements) {
        for (place, (evidence, judged)) in evidence.iter().zip(&judgement.benchmarks).enumerate() {
            for comparison in judged.comparisons.iter().filter(|comparison| comparison.derived_from.is_none())
            {
                let key = (place, comparison.metric.clone());
                let (row, changes) = rows.entry(key).or_insert_with(|| {
                    let row = AaRow {
                        identity: evidence.identity.clone(),
                        metric: comparison.metric.clone(),
                        gate: comparison.gate,
                        max_percent: comparison.max_percent,
                        verdicts: VerdictCounts::default(),
                        false_regression_at_most: 1.0,
                        noise_floor_percent: None,
                        smallest_max_percent: None,
                        most_samples: 0,
                    };
                    (row, Vec::new())
                });
                row.verdicts.count(comparison.verdict);
                row.most_samples = row.most_samples.max(comparison.samples[0].max(comparison.samples[1]));
                changes.extend(comparison.change_percent.map(f64::abs));
            }
        }
    }
    let smallest = smallest_limits(repeats, context);
    let rows: Vec<AaRow> = rows
        .into_iter()
        .map(|(key, (mut row, changes))| {
            row.false_regression_at_most = upper_bound(row.verdicts.regression, row.verdicts.judged());
            row.noise_floor_percent = quantile(&sorted(&changes), 0.95);
            row.smallest_max_percent = smallest.get(&key).copied();
            row
        })
        .collect();
    let false_alarms = judgements.iter().filter(|judgement| 0 < judgement.summary.regression).count();
    let mut summary = AaSummary {
        repeats: repeats.len(),
        false_alarms,
        false_alarms_at_most: upper_bound(false_alarms, repeats.len()),
        rows,
        advice: Vec::new(),
    };
    summary.advice = advice(&summary);
    summary
}

/// For each comparison the smallest limit at which every repeat passes. Only the first measurement counts: candidates for
/// failure at another limit were not measured again.
fn smallest_limits(repeats: &[Vec<Evidence>], context: &RunContext) -> BTreeMap<(usize, Metric), f64> {
    let mut smallest = BTreeMap::new();
    for limit in LIMITS {
        let mut passed: BTreeMap<(usize, Metric), usize> = BTreeMap::new();
        for repeat in repeats {
            let mut evidence = repeat.clone();
            for benchmark in &mut evidence {
                benchmark.settings.judge.correction = Correction::None;
                for metric in benchmark.settings.metrics.values_mut() {
                    metric.max_percent = limit;
                }
            }
            for (place, judged) in judge_run(&evidence, context).benchmarks.into_iter().enumerate() {
                for comparison in judged.comparisons.into_iter().filter(|it| it.verdict == Verdict::Pass) {
                    *passed.entry((place, comparison.metric)).or_default() += 1;
                }
            }
        }
        for (key, count) in passed {
            if count == repeats.len() {
                smallest.entry(key).or_insert(limit);
            }
        }
    }
    smallest
}

/// Upper end of the one-sided Clopper-Pearson interval for `hits` of `trials`: the rate at which so few hits would still
/// come with a chance of 5 % (Clopper & Pearson, Biometrika 26, 1934).
pub fn upper_bound(hits: usize, trials: usize) -> f64 {
    if trials <= hits {
        return 1.0;
    }
    Beta::new((hits + 1) as f64, (trials - hits) as f64)
        .map_or(1.0, |beta| beta.inverse_cdf(BOUND_CONFIDENCE))
}

fn advice(summary: &AaSummary) -> Vec<String> {
    let mut advice = Vec::new();
    let gated = || summary.rows.iter().filter(|row| row.gate && 0 < row.verdicts.judged());
    for row in gated() {
        let name = format!("{} {}", row.identity.label(), row.metric);
        let limit = row.max_percent;
        match row.smallest_max_percent {
            Some(smallest) if smallest <= limit => {}
            Some(smallest) => advice.push(format!(
                "{name}: this machine holds max_percent = {smallest} at best, the suite says {limit}; raise it, allow more samples, \
                 or gate another metric"
            )),
            None => advice.push(format!(
                "{name}: no max_percent up to 100 passes every repeat; give it more samples, more work in a run, or do not gate it \
                 on this machine"
            )),
        }
    }
    if 0 < summary.false_alarms {
        let alarming = gated().filter(|row| 0 < row.verdicts.regression);
        let names: Vec<String> =
            alarming.map(|row| format!("{} {}", row.identity.label(), row.metric)).collect();
        advice.push(format!(
            "{} of {} repeats raised a false alarm: {}; do not gate on this machine before that is mended",
            summary.false_alarms,
            summary.repeats,
            names.join(", ")
        ));
    }
    if advice.is_empty() {
        advice.push(format!(
            "every repeat passed within the limits of the suite; {} of them say that the rate of false alarms is below {:.0} % (95 % \
             confidence), more --times say more",
            summary.repeats,
            summary.false_alarms_at_most * 100.0
        ));
    }
    advice
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "limits are copied, never computed")]
mod tests {
    use super::super::evidence::{Presence, Side, Stage, UnitRun, Values};
    use super::*;
    use crate::suite::identity::{TargetId, TargetKind};
    use crate::suite::metric::Unit;
    use crate::suite::rejudge::settings_for_samples;

    fn repeat(base: f64, head: f64, spread: f64) -> Vec<Evidence> {
        let side = |revision: &str, centre: f64| Side {
            revision: revision.to_owned(),
            executable_sha256: None,
            runs: (0..30_u32)
                .map(|run| UnitRun {
                    stage: Stage::Screen,
                    round: Some(run / 2),
                    sequence: None,
                    context_switches: None,
                    work: None,
                    peak_rss_floor: None,
                    wall_ns: None,
                    values: Values::from_iter([(
                        Metric::Latency,
                        centre * (1.0 + spread * f64::from(run * 7 % 11) / 11.0),
                    )]),
                })
                .collect(),
        };
        vec![Evidence {
            identity: BenchmarkIdentity {
                target: TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() },
                variant: String::new(),
                id: "a".into(),
            },
            harness: "samples".into(),
            presence: Presence::Compared,
            presence_note: None,
            settings: settings_for_samples(&BTreeMap::from([(Metric::Latency, Unit::Nanoseconds)])),
            sides: vec![side("base", base), side("head", head)],
            stopped_because: None,
            error: None,
        }]
    }

    fn summary(repeats: &[Vec<Evidence>]) -> AaSummary {
        let context = RunContext::default();
        let judgements: Vec<RunJudgement> =
            repeats.iter().map(|evidence| judge_run(evidence, &context)).collect();
        summarise(repeats, &judgements, &context)
    }

    #[test]
    fn bound_of_no_alarm_in_n_is_the_exact_one() {
        assert!((upper_bound(0, 10) - (1.0 - 0.05_f64.powf(0.1))).abs() < 1e-9);
        assert_eq!(upper_bound(3, 3), 1.0);
        assert!(upper_bound(1, 10) < upper_bound(2, 10));
    }

    #[test]
    fn quiet_machine_holds_the_smallest_limit() {
        let summary = summary(&[repeat(100.0, 100.0, 0.0), repeat(100.0, 100.2, 0.0)]);
        let row = &summary.rows[0];
        assert_eq!((row.verdicts.pass, row.smallest_max_percent), (2, Some(0.5)));
        assert!((row.noise_floor_percent.expect("two changes") - 0.19).abs() < 0.001);
        assert!(summary.advice[0].contains("every repeat passed"), "{:?}", summary.advice);
    }

    #[test]
    fn offset_between_equal_sides_raises_the_smallest_limit() {
        let summary = summary(&[repeat(100.0, 100.0, 0.0), repeat(100.0, 111.0, 0.0)]);
        assert_eq!(summary.rows[0].smallest_max_percent, Some(12.5));
        assert!(
            summary.advice.iter().any(|line| line.contains("max_percent = 12.5 at best")),
            "{:?}",
            summary.advice
        );
    }
}
