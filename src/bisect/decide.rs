//! Which end of the line a commit is like, from samples of all three taken in the same rounds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stats::{binomial, quantile, signed_rank};
use crate::suite::metric::Metric;
use crate::verdict::evidence::UnitRun;

/// The error of one side of one decision: a wrong turn at one look of a probe.
pub const LOOK_ERROR: f64 = 0.005;

/// What a probe says of a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "finding")]
pub enum Finding {
    /// It is like the good end.
    Fast,
    /// It is like the bad end.
    Slow,
    /// More rounds would have to tell.
    Undecided,
    /// It could not be measured.
    Skipped {
        /// Why, for people.
        why: String,
    },
}

/// Where a commit lies between the ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaning {
    /// Whether it is nearer to one end than noise explains.
    pub finding: Finding,
    /// Rounds that all three took part in.
    pub rounds: usize,
    /// Its change against the good end, as a ratio of logs or, where a value is not positive, of differences: 0 at the good
    /// end, 1 at the bad end.
    pub share: Option<f64>,
    /// Its change against the good end, in per cent; `None` where a value is not positive.
    pub change_percent: Option<f64>,
}

/// Tells which end the middle is nearer to: the sign of `2 middle - good - bad`, on logarithms and round by round, is tested
/// by the signed-rank and the sign test (the smaller p doubled). Half of the whole effect is what decides, so that no
/// threshold is needed, and the level of the machine in a round cancels.
///
/// Values that are equal in all runs of a side, such as counts, decide without a test.
pub fn lean(metric: &Metric, good: &[UnitRun], middle: &[UnitRun], bad: &[UnitRun]) -> Leaning {
    let rounds = [good, middle, bad].map(|runs| by_round(metric, runs));
    let shared: Vec<[f64; 3]> = rounds[0]
        .iter()
        .filter_map(|(round, good)| Some([*good, *rounds[1].get(round)?, *rounds[2].get(round)?]))
        .collect();
    let positive = shared.iter().flatten().all(|value| 0.0 < *value);
    let scale = |value: f64| if positive { value.ln() } else { value };
    let scaled: Vec<[f64; 3]> = shared.iter().map(|round| round.map(scale)).collect();
    let column = |of: &dyn Fn(&[f64; 3]) -> f64| scaled.iter().map(of).collect::<Vec<f64>>();
    let whole = median(column(&|[good, _, bad]| bad - good));
    let part = median(column(&|[good, middle, _]| middle - good));
    let leaning = |finding| Leaning {
        finding,
        rounds: shared.len(),
        share: whole.zip(part).filter(|(whole, _)| *whole != 0.0).map(|(whole, part)| part / whole),
        change_percent: part.filter(|_| positive).map(|part| part.exp_m1() * 100.0),
    };
    let Some(direction) = whole.filter(|whole| *whole != 0.0).map(f64::signum) else {
        return leaning(Finding::Undecided);
    };
    // Above 0 it is nearer to the bad end, whichever way worse lies.
    let lean = column(&|[good, middle, bad]| direction * (2.0 * middle - good - bad));
    if is_exact(&scaled) {
        return leaning(match lean.first() {
            Some(lean) if 0.0 < *lean => Finding::Slow,
            Some(lean) if *lean < 0.0 => Finding::Fast,
            _ => Finding::Undecided,
        });
    }
    let mirrored: Vec<f64> = lean.iter().map(|lean| -lean).collect();
    leaning(match (p_above_zero(&lean) <= LOOK_ERROR, p_above_zero(&mirrored) <= LOOK_ERROR) {
        (true, false) => Finding::Slow,
        (false, true) => Finding::Fast,
        _ => Finding::Undecided,
    })
}

/// Small when the differences lie above 0.
fn p_above_zero(differences: &[f64]) -> f64 {
    let mirrored: Vec<f64> = differences.iter().map(|difference| -difference).collect();
    let ranks = signed_rank::p_positive_at_most(&mirrored, 0.0);
    let above = differences.iter().filter(|difference| 0.0 < **difference).count();
    let signs = binomial::at_least(differences.len(), 0.5, above);
    (2.0 * ranks.min(signs)).min(1.0)
}

/// Whether every side has one value in all rounds.
fn is_exact(rounds: &[[f64; 3]]) -> bool {
    rounds
        .windows(2)
        .all(|pair| pair[0].iter().zip(&pair[1]).all(|(one, other)| one.total_cmp(other).is_eq()))
}

/// The mean of a side's values in each round; a linear drift inside a palindrome cancels in it. A round with a value that
/// is not finite is left out.
fn by_round(metric: &Metric, runs: &[UnitRun]) -> BTreeMap<u32, f64> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in runs {
        if let (Some(round), Some(value)) = (run.round, run.values.get(metric)) {
            rounds.entry(round).or_default().push(value);
        }
    }
    rounds
        .into_iter()
        .map(|(round, values)| (round, values.iter().sum::<f64>() / values.len() as f64))
        .filter(|(_, mean)| mean.is_finite())
        .collect()
}

fn median(values: Vec<f64>) -> Option<f64> {
    quantile::median(&quantile::sorted(&values))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use crate::verdict::evidence::{Stage, Values};

    use super::*;

    fn runs(values: impl IntoIterator<Item = f64>) -> Vec<UnitRun> {
        let run = |(at, value): (usize, f64)| UnitRun {
            stage: Stage::Screen,
            round: Some(at as u32 / 2),
            sequence: None,
            context_switches: None,
            work: None,
            peak_rss_floor: None,
            wall_ns: None,
            values: Values::from_iter([(Metric::Latency, value)]),
        };
        values.into_iter().enumerate().map(run).collect()
    }

    /// Runs of a side: a level of the machine that all sides share, and noise of its own.
    fn noisy(seed: u64, side: u64, mean: f64, rounds: usize) -> Vec<UnitRun> {
        let unit = |rng: &mut ChaCha8Rng| rng.next_u64() as f64 / u64::MAX as f64 - 0.5;
        let mut level = ChaCha8Rng::seed_from_u64(seed);
        let mut own = ChaCha8Rng::seed_from_u64(seed ^ (side << 32) ^ 0x9e37);
        let values: Vec<f64> = (0..rounds)
            .flat_map(|_| {
                let level = 1.0 + 0.4 * unit(&mut level);
                [0, 1].map(|_| mean * level * (1.0 + 0.04 * unit(&mut own)))
            })
            .collect();
        runs(values)
    }

    fn finding(seed: u64, means: [f64; 3], rounds: usize) -> Finding {
        let [good, middle, bad] = [0, 1, 2].map(|side| noisy(seed, side as u64, means[side], rounds));
        lean(&Metric::Latency, &good, &middle, &bad).finding
    }

    #[test]
    fn a_commit_is_told_from_the_other_end_on_a_machine_that_drifts() {
        for seed in 0..50 {
            assert_eq!(finding(seed, [100.0, 100.0, 105.0], 20), Finding::Fast, "{seed}");
            assert_eq!(finding(seed, [100.0, 105.0, 105.0], 20), Finding::Slow, "{seed}");
        }
    }

    #[test]
    fn wrong_turns_are_as_rare_as_the_level_says() {
        // Exactly half way neither end is right: each may be called in LOOK_ERROR of the cases at the most.
        let wrong = |what: &Finding| {
            (0..2000).filter(|&seed| finding(seed, [100.0, 102.0, 104.04], 10) == *what).count()
        };
        for what in [Finding::Fast, Finding::Slow] {
            // 2000 * 0.005 is 10; four standard errors more are 23.
            assert!(wrong(&what) <= 23, "{what:?}: {}", wrong(&what));
        }
    }

    #[test]
    fn counts_decide_by_themselves() {
        let same = |value: f64| runs([value, value]);
        let of = |middle| lean(&Metric::Instructions, &count(100.0), &count(middle), &count(110.0)).finding;
        fn count(value: f64) -> Vec<UnitRun> {
            let mut runs = super::tests::runs([value, value]);
            runs.iter_mut().for_each(|run| run.values = Values::from_iter([(Metric::Instructions, value)]));
            runs
        }
        assert_eq!(of(101.0), Finding::Fast);
        assert_eq!(of(109.0), Finding::Slow);
        let nothing = lean(&Metric::Latency, &same(5.0), &same(5.0), &same(5.0));
        assert_eq!((nothing.finding, nothing.share), (Finding::Undecided, None));
    }

    #[test]
    fn a_count_that_was_nothing_is_compared_by_difference() {
        let leaning = lean(&Metric::Latency, &runs([0.0, 0.0]), &runs([1.0, 1.0]), &runs([10.0, 10.0]));
        assert_eq!((leaning.finding, leaning.change_percent), (Finding::Fast, None));
        assert_eq!(leaning.share, Some(0.1));
    }

    #[test]
    fn without_a_shared_round_nothing_is_told() {
        let leaning = lean(&Metric::Latency, &[], &runs([1.0, 1.0]), &runs([2.0, 2.0]));
        assert_eq!((leaning.finding, leaning.rounds), (Finding::Undecided, 0));
    }

    proptest! {
        #[test]
        fn mirroring_the_ends_mirrors_the_finding(seed: u64, middle in 99.0..106.0_f64) {
            let [good, between, bad] = [100.0, middle, 105.0].map(|mean| noisy(seed, mean as u64, mean, 8));
            let forwards = lean(&Metric::Latency, &good, &between, &bad).finding;
            let backwards = lean(&Metric::Latency, &bad, &between, &good).finding;
            let mirrored = match forwards {
                Finding::Fast => Finding::Slow,
                Finding::Slow => Finding::Fast,
                other => other,
            };
            prop_assert_eq!(backwards, mirrored);
        }
    }
}
