//! The exact law of head* / base* for two medians that are resampled independently.

use super::law::ChangeLaw;
use super::median_law::MedianLaw;

/// So few candidate ratios are sorted to find a quantile; more are narrowed down first.
const FEW: usize = 256;

/// Room for the rounding of a sum of probabilities when a quantile is looked up.
const SUM_SLACK: f64 = 1e-13;

/// The law of the ratio of two independent discrete laws. Never holds a base value of 0 or below.
#[derive(Debug, Clone)]
pub struct RatioLaw {
    /// Ascending and positive.
    base: Vec<(f64, f64)>,
    /// Ascending.
    head: Vec<(f64, f64)>,
    /// `head_sum[k]`: probability of the first k points of head.
    head_sum: Vec<f64>,
    /// Probability that base is 0 or below, so that there is no ratio.
    undefined: f64,
}

/// What lies at or below a ratio.
struct Part {
    probability: f64,
    pairs: usize,
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
        Some(Self {
            base: base[first..].to_vec(),
            head_sum: head_sum.collect(),
            head: head.to_vec(),
            undefined,
        })
    }

    /// The probability that base is 0 or below.
    pub fn undefined(&self) -> f64 {
        self.undefined
    }

    /// The probability of exactly this ratio, as the double quotient of two possible medians.
    pub fn equal(&self, ratio: f64) -> f64 {
        (self.part(ratio, true).probability - self.part(ratio, false).probability).max(0.0)
    }

    /// Whether every resample gives one and the same ratio.
    pub fn is_degenerate(&self) -> bool {
        self.base.len() == 1 && self.head.len() == 1
    }

    /// The part of the law below `ratio`, or at and below it.
    fn part(&self, ratio: f64, with_equal: bool) -> Part {
        let mut part = Part { probability: 0.0, pairs: 0 };
        self.for_each_base(ratio, with_equal, |base, count| {
            part.probability += self.base[base].1 * self.head_sum[count];
            part.pairs += count;
        });
        part
    }

    /// Calls with each index of base and the number of head's points whose quotient with it is below `ratio` (or at it).
    fn for_each_base(&self, ratio: f64, with_equal: bool, mut each: impl FnMut(usize, usize)) {
        let mut count = 0;
        for (index, &(base, _)) in self.base.iter().enumerate() {
            let taken = |&(head, _): &(f64, f64)| is_below(head, base, ratio, with_equal);
            if 0.0 < ratio {
                // The larger base, the more of head lies below: one merge of the two.
                while count < self.head.len() && taken(&self.head[count]) {
                    count += 1;
                }
            } else {
                count = self.head.partition_point(taken);
            }
            each(index, count);
        }
    }

    /// The quotients in (low, high], ascending, with their probabilities.
    fn between(&self, low: f64, high: f64) -> Vec<(f64, f64)> {
        let mut starts = vec![0; self.base.len()];
        self.for_each_base(low, true, |index, count| starts[index] = count);
        let mut found = Vec::new();
        self.for_each_base(high, true, |index, count| {
            let (base, base_weight) = self.base[index];
            let range = starts[index]..count.max(starts[index]);
            found.extend(self.head[range].iter().map(|&(head, weight)| (head / base, base_weight * weight)));
        });
        found.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
        found
    }
}

/// Whether the double quotient `head / base` is below `ratio` (or at it), base positive. Divides only where the
/// product cannot tell: ties must be those of the quotient, and a division costs more than all the rest.
fn is_below(head: f64, base: f64, ratio: f64, with_equal: bool) -> bool {
    let product = ratio * base;
    let margin = product.abs() * (4.0 * f64::EPSILON);
    if head < product - margin {
        true
    } else if product + margin < head {
        false
    } else if with_equal {
        head / base <= ratio
    } else {
        head / base < ratio
    }
}

impl ChangeLaw for RatioLaw {
    fn above(&self, ratio: f64) -> f64 {
        (1.0 - self.undefined - self.part(ratio, true).probability).clamp(0.0, 1.0)
    }

    fn at_least(&self, ratio: f64) -> f64 {
        (1.0 - self.part(ratio, false).probability).clamp(0.0, 1.0)
    }

    fn below(&self, ratio: f64) -> f64 {
        self.part(ratio, false).probability.min(1.0)
    }

    /// The smallest ratio whose probability reaches `p`.
    fn quantile(&self, p: f64) -> f64 {
        let wanted = (p * (1.0 - self.undefined) - SUM_SLACK).max(f64::MIN_POSITIVE);
        let bases = [self.base[0].0, self.base[self.base.len() - 1].0];
        let heads = [self.head[0].0, self.head[self.head.len() - 1].0];
        let ends = bases.map(|base| heads.map(|head| head / base));
        let mut low = ends.as_flattened().iter().copied().fold(f64::INFINITY, f64::min).next_down();
        let mut high = ends.as_flattened().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut below = Part { probability: 0.0, pairs: 0 };
        let mut up_to = self.part(high, true).pairs;
        // Narrow (low, high] down with probability(low) < wanted <= probability(high), then sort what is left in it.
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if up_to - below.pairs <= FEW || middle <= low || high <= middle {
                break;
            }
            let part = self.part(middle, true);
            if part.probability < wanted {
                (low, below) = (middle, part);
            } else {
                (high, up_to) = (middle, part.pairs);
            }
        }
        if up_to.saturating_sub(below.pairs) > 1_000_000 {
            return high;
        }
        let mut sum = below.probability;
        for (ratio, weight) in self.between(low, high) {
            sum += weight;
            if wanted <= sum {
                return ratio;
            }
        }
        high
    }
}
