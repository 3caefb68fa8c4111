//! The bootstrap judge: the law of the change, the claims it supports, its interval.

use crate::stats::bca::{Bca, Convention, leave_one_out_means, leave_one_out_medians};
use crate::stats::describe::mean;
use crate::stats::draws::{Draws, Taken};
use crate::stats::law::ChangeLaw;
use crate::stats::pair_law::SmoothLaw;
use crate::stats::quantile::median;
use crate::stats::ratio_law::RatioLaw;
use crate::suite::metric::Better;
use crate::suite::presets::MEAN_RESAMPLES;
use crate::suite::settings::{Interval, Resamples, Statistic};

use super::look::{Question, thresholds};
use super::pairing::Chosen;
use super::samples::Samples;
use super::table::{Claims, EPSILON_PERCENT};

/// The exact law has no comparison when base is 0 or below with more than this probability: 2 000 random resamples
/// would meet one in half of the cases.
const UNDEFINED_LIMIT: f64 = std::f64::consts::LN_2 / 2_000.0;

/// The law of the change with the estimate it belongs to.
pub(super) struct Bootstrap<'a> {
    question: &'a Question<'a>,
    samples: &'a Samples,
    sorted: [&'a [f64]; 2],
    logs: Option<&'a [f64]>,
    law: Option<Box<dyn ChangeLaw>>,
    /// The observed head / base.
    pub(super) ratio: f64,
}

impl<'a> Bootstrap<'a> {
    /// The law for sides with a positive base statistic. `statistics`: those of base and head.
    pub(super) fn of(
        question: &'a Question<'a>,
        samples: &'a Samples,
        sorted: [&'a [f64]; 2],
        statistics: [f64; 2],
        chosen: &'a Chosen,
    ) -> Self {
        let logs = chosen.logs.as_deref();
        let ratio = match (logs, question.judge.statistic) {
            (Some(logs), Statistic::Median) => median(logs).unwrap_or(0.0).exp(),
            (Some(_), Statistic::Mean) => ratio_of_means(&samples.pairs, None),
            (None, _) => statistics[1] / statistics[0],
        };
        let mut made = Self { question, samples, sorted, logs, law: None, ratio };
        made.law = made.law();
        made
    }

    /// `None` where a resample of base can be 0 or below.
    fn law(&self) -> Option<Box<dyn ChangeLaw>> {
        let Question { judge, key, .. } = *self.question;
        let count = match (judge.statistic, judge.resamples) {
            (_, Resamples::MonteCarlo(count)) => Some(count),
            (Statistic::Mean, Resamples::Exact) => Some(MEAN_RESAMPLES),
            (Statistic::Median, Resamples::Exact) => None,
        };
        let boxed = |draws: Draws| Box::new(draws) as Box<dyn ChangeLaw>;
        match (count, self.logs, judge.statistic) {
            (None, Some(logs), _) => Some(Box::new(SmoothLaw::of(logs.to_vec())?)),
            (None, None, _) => {
                let law = RatioLaw::of_medians(self.sorted[0], self.sorted[1])?;
                (law.undefined() <= UNDEFINED_LIMIT).then(|| Box::new(law) as Box<dyn ChangeLaw>)
            }
            (Some(count), Some(logs), Statistic::Median) => {
                let ratios: Vec<(f64, f64)> = logs.iter().map(|log| (1.0, log.exp())).collect();
                Draws::paired(&ratios, Taken::Median, count, key).map(boxed)
            }
            (Some(count), Some(_), Statistic::Mean) => {
                Draws::paired(&self.samples.pairs, Taken::Mean, count, key).map(boxed)
            }
            (Some(count), None, statistic) => {
                let taken = match statistic {
                    Statistic::Median => Taken::Median,
                    Statistic::Mean => Taken::Mean,
                };
                Draws::independent(&self.samples.base, &self.samples.head, taken, count, key).map(boxed)
            }
        }
    }

    /// What the law makes of a tolerance in per cent.
    pub(super) fn claims(&self, percent: f64) -> Option<Claims> {
        let law = self.law.as_deref()?;
        let (worse_at, better_at) = thresholds(self.question.metric, percent + EPSILON_PERCENT);
        let (worse, better) = match self.question.metric.better {
            Better::Lower => (law.above(worse_at), law.below(better_at)),
            Better::Higher => (law.below(worse_at), law.above(better_at)),
        };
        if !self.question.ties_argue_against {
            return Some(Claims { worse, better, not_worse: 1.0 - worse });
        }
        // With a coarse timer much of the law lies exactly at the tolerance. It argues for neither side: not for a
        // regression (above), and not for a pass either.
        let (pass_at, _) = thresholds(self.question.metric, percent - EPSILON_PERCENT);
        let not_worse = match self.question.metric.better {
            Better::Lower => law.below(pass_at),
            Better::Higher => law.above(pass_at),
        };
        Some(Claims { worse, better, not_worse })
    }

    /// The central interval of head / base at the judge's confidence.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        let law = self.law.as_deref()?;
        let confidence = self.question.judge.confidence;
        if self.question.judge.interval == Interval::Bca {
            let groups = self.leave_one_out();
            let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
            let below = law.below(self.ratio);
            let equal = law.at_most(self.ratio) - below;
            if let Some(bca) = Bca::of(below, equal, &groups, confidence, Convention::StrictPooled) {
                return Some(bca.interval(law));
            }
        }
        let tail = (1.0 - confidence) / 2.0;
        Some([tail, 1.0 - tail].map(|p| law.quantile(p)))
    }

    /// The ratio with each sample (or pair) left out in turn.
    fn leave_one_out(&self) -> Vec<Vec<f64>> {
        let Samples { base, head, pairs } = self.samples;
        match (self.logs, self.question.judge.statistic) {
            (Some(logs), Statistic::Median) => {
                vec![leave_one_out_medians(logs).into_iter().map(f64::exp).collect()]
            }
            (Some(_), Statistic::Mean) => {
                vec![(0..pairs.len()).map(|left_out| ratio_of_means(pairs, Some(left_out))).collect()]
            }
            (None, statistic) => {
                let (without_base, without_head) = match statistic {
                    Statistic::Median => {
                        (leave_one_out_medians(self.sorted[0]), leave_one_out_medians(self.sorted[1]))
                    }
                    Statistic::Mean => (leave_one_out_means(base), leave_one_out_means(head)),
                };
                let whole = |values: &[f64], sorted: &[f64]| match statistic {
                    Statistic::Median => median(sorted),
                    Statistic::Mean => mean(values),
                };
                let (Some(base), Some(head)) = (whole(base, self.sorted[0]), whole(head, self.sorted[1]))
                else {
                    return Vec::new();
                };
                vec![
                    without_base.into_iter().map(|left| head / left).collect(),
                    without_head.into_iter().map(|left| left / base).collect(),
                ]
            }
        }
    }
}

/// mean(head) / mean(base) of pairs, without the one left out.
fn ratio_of_means(pairs: &[(f64, f64)], left_out: Option<usize>) -> f64 {
    let kept =
        || pairs.iter().enumerate().filter(|(index, _)| Some(*index) != left_out).map(|(_, pair)| pair);
    let (base, head): (Vec<f64>, Vec<f64>) = kept().copied().unzip();
    match (mean(&base), mean(&head)) {
        (Some(base), Some(head)) => head / base,
        _ => f64::NAN,
    }
}
