//! The exact law of head* / base* for two medians that are resampled independently.

use std::f64::consts::FRAC_1_SQRT_2;

use super::law::ChangeLaw;
use super::median_law::MedianLaw;
use super::normal;

/// So few candidate ratios are gone through to find a quantile; more are narrowed down first.
const FEW: usize = 1_024;

/// So many candidates that cannot be told apart by halving are not gone through: they are one ratio but for rounding.
const TOO_MANY: usize = 1_000_000;

/// Room for the rounding of a sum of probabilities when a quantile is looked up.
const SUM_SLACK: f64 = 1e-13;

/// How far past its target the second look for a quantile aims, in normal scores.
const PAST: f64 = 0.03;

/// Points of head that are compared at once; as many infinite ones end the list.
const STRIDE: usize = 4;

/// The law of the ratio of two independent discrete laws. Never holds a base value of 0 or below.
#[derive(Debug, Clone)]
pub struct RatioLaw {
    /// Ascending and positive, with their probabilities.
    base: Vec<f64>,
    base_weight: Vec<f64>,
    /// Ascending, then [`STRIDE`] times infinity.
    head: Vec<f64>,
    head_weight: Vec<f64>,
    /// `head_sum[k]`: probability of the first k points of head.
    head_sum: Vec<f64>,
    /// Probability that base is 0 or below, so that there is no ratio.
    undefined: f64,
}

/// What lies at or below a ratio.
struct Part {
    probability: f64,
    /// Of all pairs of points.
    pairs: usize,
    /// For each point of base, how many of head's.
    counts: Vec<u32>,
}

impl RatioLaw {
    /// The law of the ratio of the medians of two ascending samples; `None` when a side is empty or base can have no
    /// positive median at all.
    pub fn of_medians(base: &[f64], head: &[f64]) -> Option<Self> {
        Self::new(MedianLaw::pruned(base).points(), MedianLaw::pruned(head).points())
    }

    /// The law of the ratio of two discrete laws, given as ascending (value, probability).
    pub fn new(base: &[(f64, f64)], head: &[(f64, f64)]) -> Option<Self> {
        let first = base.partition_point(|&(value, _)| value <= 0.0);
        let undefined = base[..first].iter().map(|&(_, weight)| weight).sum();
        if first == base.len() || head.is_empty() {
            return None;
        }
        let mut sum = 0.0;
        let head_sum = std::iter::once(0.0).chain(head.iter().map(|&(_, weight)| {
            sum += weight;
            sum
        }));
        let head_sum = head_sum.collect();
        let (base, base_weight) = base[first..].iter().copied().unzip();
        let (mut head, head_weight): (Vec<f64>, Vec<f64>) = head.iter().copied().unzip();
        head.extend([f64::INFINITY; STRIDE]);
        Some(Self { base, base_weight, head, head_weight, head_sum, undefined })
    }

    /// The probability that base is 0 or below.
    pub fn undefined(&self) -> f64 {
        self.undefined
    }

    /// The probability of exactly this ratio, as the double quotient of two possible medians.
    pub fn equal(&self, ratio: f64) -> f64 {
        (self.probability(ratio, true) - self.probability(ratio, false)).max(0.0)
    }

    /// Whether every resample gives one and the same ratio.
    pub fn is_degenerate(&self) -> bool {
        self.base.len() == 1 && self.head_weight.len() == 1
    }

    /// The probability of the part below `ratio`, or at and below it.
    fn probability(&self, ratio: f64, with_equal: bool) -> f64 {
        let mut probability = 0.0;
        self.for_each_base(ratio, with_equal, |base, count| {
            probability += self.base_weight[base] * self.head_sum[count];
        });
        probability
    }

    /// The part at and below `ratio`.
    fn part(&self, ratio: f64) -> Part {
        let mut part = Part { probability: 0.0, pairs: 0, counts: Vec::with_capacity(self.base.len()) };
        self.for_each_base(ratio, true, |base, count| {
            part.probability += self.base_weight[base] * self.head_sum[count];
            part.pairs += count;
            part.counts.push(count as u32);
        });
        part
    }

    /// Calls with each index of base and the number of head's points whose quotient with it is below `ratio` (or at it).
    fn for_each_base(&self, ratio: f64, with_equal: bool, mut each: impl FnMut(usize, usize)) {
        let points = self.head_weight.len();
        if ratio <= 0.0 || ratio.is_infinite() {
            for (index, &base) in self.base.iter().enumerate() {
                let taken = |&head: &f64| is_at_or_below(head / base, ratio, with_equal);
                each(index, self.head[..points].partition_point(taken));
            }
            return;
        }
        // The larger base, the more of head lies below: one merge of the two. Several points are compared at once, so
        // that the branch is nearly always the same.
        let mut count = 0;
        for (index, &base) in self.base.iter().enumerate() {
            let product = ratio * base;
            // The product tells but for rounding. Ties must be those of the quotient, and division is dear.
            let margin = product * (4.0 * f64::EPSILON);
            let (surely, perhaps) = (product - margin, product + margin);
            while let Some(window) = self.head[count..].first_chunk::<STRIDE>() {
                let below: usize = window.iter().map(|&head| usize::from(head < surely)).sum();
                count += below;
                if below < STRIDE {
                    break;
                }
            }
            while count < points
                && self.head[count] <= perhaps
                && is_at_or_below(self.head[count] / base, ratio, with_equal)
            {
                count += 1;
            }
            each(index, count);
        }
    }

    /// A ratio just below the smallest of the law, and the largest.
    fn ends(&self) -> [f64; 2] {
        let bases = [self.base[0], self.base[self.base.len() - 1]];
        let heads = [self.head[0], self.head[self.head_weight.len() - 1]];
        let ends = bases.map(|base| heads.map(|head| head / base));
        let ends = ends.as_flattened().iter().copied();
        [ends.clone().fold(f64::INFINITY, f64::min).next_down(), ends.fold(f64::NEG_INFINITY, f64::max)]
    }

    /// Where the quotient would reach a normal score if both sides spread alike.
    fn guess(&self, score: f64) -> f64 {
        let share = normal::cdf(score * FRAC_1_SQRT_2);
        let head = self.head_sum[1..].partition_point(|&sum| sum < share).min(self.head_weight.len() - 1);
        let mut left = 1.0 - share - self.undefined;
        let base = self.base_weight.iter().position(|&weight| {
            left -= weight;
            left <= 0.0
        });
        self.head[head] / self.base[base.unwrap_or(self.base.len() - 1)]
    }

    /// The quotients above one part and in another, in no order, with their probabilities.
    fn between(&self, below: &Part, up_to: &Part) -> Vec<(f64, f64)> {
        let mut found = Vec::with_capacity(up_to.pairs - below.pairs);
        for (index, (&base, &base_weight)) in self.base.iter().zip(&self.base_weight).enumerate() {
            let range = below.counts[index] as usize..up_to.counts[index] as usize;
            let heads = self.head[range.clone()].iter().zip(&self.head_weight[range]);
            found.extend(heads.map(|(&head, &weight)| (head / base, base_weight * weight)));
        }
        found
    }
}

fn is_at_or_below(quotient: f64, ratio: f64, with_equal: bool) -> bool {
    if with_equal { quotient <= ratio } else { quotient < ratio }
}

impl ChangeLaw for RatioLaw {
    fn above(&self, ratio: f64) -> f64 {
        (1.0 - self.undefined - self.probability(ratio, true)).clamp(0.0, 1.0)
    }

    fn at_least(&self, ratio: f64) -> f64 {
        (1.0 - self.probability(ratio, false)).clamp(0.0, 1.0)
    }

    fn below(&self, ratio: f64) -> f64 {
        self.probability(ratio, false).min(1.0)
    }

    /// The smallest ratio whose probability reaches `p`.
    fn quantile(&self, p: f64) -> f64 {
        let wanted = (p * (1.0 - self.undefined) - SUM_SLACK).max(f64::MIN_POSITIVE);
        let [mut low, mut high] = self.ends();
        let all = self.head_weight.len();
        // (low, high] holds the answer: probability(low) < wanted <= probability(high).
        let mut below = Part { probability: 0.0, pairs: 0, counts: vec![0; self.base.len()] };
        let mut up_to = Part {
            probability: 1.0,
            pairs: self.base.len() * all,
            counts: vec![all as u32; self.base.len()],
        };
        let target = score(wanted);
        let mut rose = false;
        for step in 0..300 {
            if up_to.pairs - below.pairs <= FEW {
                break;
            }
            let middle = match step {
                0 => self.guess(target),
                // The law has nearly the slope of the guess: this lands just past the target.
                1 => {
                    let slope = self.guess(target + 0.5) - self.guess(target - 0.5);
                    let (near, missing) = if rose {
                        (low, target - score(below.probability) + PAST)
                    } else {
                        (high, target - score(up_to.probability) - PAST)
                    };
                    near + missing * slope
                }
                _ => low + (high - low) * share(target, &below, &up_to, rose, step),
            };
            let middle = if low < middle && middle < high { middle } else { f64::midpoint(low, high) };
            if middle <= low || high <= middle {
                break;
            }
            let part = self.part(middle);
            rose = part.probability < wanted;
            if rose {
                (low, below) = (middle, part);
            } else {
                (high, up_to) = (middle, part);
            }
        }
        if TOO_MANY < up_to.pairs - below.pairs {
            return high;
        }
        let candidates = self.between(&below, &up_to);
        if candidates.is_empty() { high } else { reach(candidates, wanted - below.probability) }
    }
}

/// How far between the two ends the next look is taken. On the scale of normal scores the law is nearly a straight line,
/// so interpolating gets there in a few steps; aiming a little past the target moves the other end too, and halving now
/// and then makes sure of the end.
fn share(target: f64, below: &Part, up_to: &Part, rose: bool, step: u32) -> f64 {
    let (low, high) = (score(below.probability), score(up_to.probability));
    let share = ((target - low) / (high - low)).clamp(0.0, 1.0);
    if step % 8 == 7 || !share.is_finite() {
        return 0.5;
    }
    let past = 0.2 * share.min(1.0 - share).max(0.01);
    (if rose { share + past } else { share - past }).clamp(0.002, 0.998)
}

/// The normal score of a probability, kept finite at 0 and 1.
fn score(probability: f64) -> f64 {
    normal::quantile(probability.clamp(1e-16, 1.0 - 1e-16))
}

/// The smallest value at which the weights, in the order of the values, sum up to `wanted`; the largest if they never do.
fn reach(mut candidates: Vec<(f64, f64)>, mut wanted: f64) -> f64 {
    let mut rest = &mut candidates[..];
    while 1 < rest.len() {
        let middle = rest.len() / 2;
        rest.select_nth_unstable_by(middle, |left, right| left.0.total_cmp(&right.0));
        let lower: f64 = rest[..middle].iter().map(|candidate| candidate.1).sum();
        if wanted <= lower {
            rest = &mut rest[..middle];
        } else {
            wanted -= lower;
            rest = &mut rest[middle..];
            // The first one left is the smallest of them.
            if wanted <= rest[0].1 || rest.len() == 1 {
                return rest[0].0;
            }
            wanted -= rest[0].1;
            rest = &mut rest[1..];
        }
    }
    rest[0].0
}
