//! Levels for other looks or caps: so sure must each look be for an overall error of 1 % (regression) and 5 % (pass)
//! when the change is exactly what is accepted, under the worst noise.

use cargo_benchgate::suite::settings::{JudgeSettings, Method, Stop};
use cargo_benchgate::verdict::evidence::Evidence;
use cargo_benchgate::verdict::outcome::{Comparison, Verdict};
use cargo_benchgate::verdict::{RunContext, judge_run};

use super::noise::Noise;
use super::rule::Rule;
use super::simulate::{Cell, measure, on_all_cores};
use super::targets::OF_THE_LEVELS;

/// Overall chance of a false regression that is fitted.
const REGRESSION_ERROR: f64 = 0.01;

/// Overall chance of a false pass that is fitted.
const PASS_ERROR: f64 = 0.05;

/// Tolerance and true change, per cent.
const AT_THE_LIMIT: f64 = 10.0;

/// Each level is fitted in turn, given the other, so many times: they hardly depend on each other.
const TURNS: usize = 3;

/// How sure one look makes the two claims.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Claim {
    /// "Worse than accepted"; 0 where the observed change is not.
    pub(crate) regression: f64,
    /// "Not worse than accepted."
    pub(crate) pass: f64,
}

/// How sure each look must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Levels {
    pub(crate) regression: f64,
    pub(crate) pass: f64,
}

/// What the fit asks for.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) method: Method,
    /// Samples a side, ascending.
    pub(crate) looks: Vec<usize>,
    /// Sequences of each noise.
    pub(crate) trials: u64,
}

impl Fit {
    /// Fits, and returns the lines to print.
    pub(crate) fn run(&self) -> Vec<String> {
        let sequences: Vec<(Noise, Vec<Vec<Claim>>)> =
            OF_THE_LEVELS.into_iter().map(|noise| (noise, self.sequences(noise))).collect();
        let worst = |levels: Levels, verdict: Verdict| {
            sequences.iter().map(|(_, sequences)| error(sequences, levels, verdict)).fold(0.0, f64::max)
        };
        let mut levels = Levels { regression: 1.0 - REGRESSION_ERROR / 4.0, pass: 1.0 - PASS_ERROR / 4.0 };
        for _ in 0..TURNS {
            let tail = tail_for(REGRESSION_ERROR, |tail| {
                worst(Levels { regression: 1.0 - tail, ..levels }, Verdict::Regression)
            });
            levels.regression = 1.0 - tail;
            let tail =
                tail_for(PASS_ERROR, |tail| worst(Levels { pass: 1.0 - tail, ..levels }, Verdict::Pass));
            levels.pass = 1.0 - tail;
        }
        let mut lines = vec![format!(
            "{} with automatic pairing, looks {:?}: regression or improvement from {:.5}, pass from {:.5} ({:.5} left)",
            self.method,
            self.looks,
            levels.regression,
            levels.pass,
            1.0 - levels.pass
        )];
        lines.extend(sequences.iter().map(|(noise, sequences)| {
            let of = |verdict| 100.0 * error(sequences, levels, verdict);
            let (regression, pass) = (of(Verdict::Regression), of(Verdict::Pass));
            format!("  {:<15} regression {regression:.2} %, pass {pass:.2} %", noise.as_str())
        }));
        lines.push(format!(
            "fitted on {} sequences of each noise; measure the errors again on fresh ones before use",
            self.trials
        ));
        lines
    }

    fn cell(&self, noise: Noise) -> Cell {
        let rule = match self.method {
            Method::Bootstrap => Rule::Smooth,
            Method::Rank => Rule::Rank,
        };
        Cell {
            noise,
            count: self.looks.last().copied().unwrap_or(0),
            delta: AT_THE_LIMIT / 100.0,
            tolerance: AT_THE_LIMIT,
            judge: rule.judge(),
            slow_runs: None,
        }
    }

    /// The claims of every look, of every trial.
    fn sequences(&self, noise: Noise) -> Vec<Vec<Claim>> {
        let cell = self.cell(noise);
        let trials: Vec<u64> = (0..self.trials).collect();
        on_all_cores(&trials, |&trial| claims(&measure(&cell, noise as u64, trial), &self.looks))
    }
}

/// What each look makes of the first samples, asked one by one through the public judge.
pub(crate) fn claims(evidence: &Evidence, looks: &[usize]) -> Vec<Claim> {
    looks.iter().map(|&look| claim(&at_look(evidence, look))).collect()
}

/// One look at the first so many samples a side.
pub(crate) fn at_look(evidence: &Evidence, look: usize) -> Comparison {
    let mut seen = evidence.clone();
    seen.settings.judge = JudgeSettings { stop: Stop::Fixed, min_samples: 1, ..seen.settings.judge };
    seen.sides.iter_mut().for_each(|side| side.runs.truncate(look));
    judge_run(&[seen], &RunContext::default()).benchmarks.remove(0).comparisons.remove(0)
}

fn claim(comparison: &Comparison) -> Claim {
    let details = &comparison.details;
    let worse = comparison.probability_regression.unwrap_or(0.0);
    let beyond = comparison.change_percent.is_some_and(|change| comparison.max_percent < change);
    Claim {
        regression: if beyond { worse } else { 0.0 },
        // Of the rank tests the two p-values do not add up to 1; of a law without ties they do.
        pass: 1.0 - details.p_pass.unwrap_or(worse),
    }
}

/// The verdict of the first look that is sure enough, with its place; `None` if none is.
pub(crate) fn first_sure(claims: &[Claim], levels: Levels) -> Option<(Verdict, usize)> {
    claims.iter().enumerate().find_map(|(place, claim)| {
        if levels.regression <= claim.regression {
            Some((Verdict::Regression, place))
        } else if levels.pass <= claim.pass {
            Some((Verdict::Pass, place))
        } else {
            None
        }
    })
}

/// The share of sequences that end with a verdict.
fn error(sequences: &[Vec<Claim>], levels: Levels, verdict: Verdict) -> f64 {
    let ends = |claims: &&Vec<Claim>| first_sure(claims, levels).is_some_and(|(seen, _)| seen == verdict);
    sequences.iter().filter(ends).count() as f64 / sequences.len() as f64
}

/// The largest probability a look may leave that keeps the error, by bisection on a log scale.
fn tail_for(wanted: f64, error: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-6_f64, 0.5_f64);
    for _ in 0..30 {
        let middle = (low * high).sqrt();
        if error(middle) <= wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
