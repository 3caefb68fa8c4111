//! Wilcoxon's signed-rank test: two-sided against "no difference", one-sided at a tolerance, and the Hodges-Lehmann
//! centre that belongs to it.

use super::normal;
use super::ranks::Ranks;
use super::select::kth_smallest;

/// Up to so many differences the sign-flip law is exact, beyond it normal with continuity.
const EXACT_LIMIT: usize = 200;

/// The test of differences against 0, zeros dropped before ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedRank {
    /// Differences that are not 0.
    pub count: usize,
    /// Sum of the midranks of the positive ones.
    pub w_plus: f64,
    /// Sum of the midranks of the negative ones.
    pub w_minus: f64,
    ranks: Ranks,
}

impl SignedRank {
    /// Ranks the differences by size.
    pub fn of(differences: &[f64]) -> Self {
        let kept: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
        let ranks = Ranks::of(&kept.iter().map(|difference| difference.abs()).collect::<Vec<_>>(), 0.0);
        let sum = |positive: bool| {
            let of_sign =
                kept.iter().zip(&ranks.doubled).filter(|(difference, _)| (0.0 < **difference) == positive);
            of_sign.map(|(_, rank)| *rank).sum::<u64>() as f64 / 2.0
        };
        Self { count: kept.len(), w_plus: sum(true), w_minus: sum(false), ranks }
    }

    /// The share of the sign patterns that lie at least as far from the middle; valid with ties; 1 if nothing is left.
    pub fn p_exact(&self) -> f64 {
        if self.count == 0 {
            return 1.0;
        }
        let smaller = (2.0 * self.w_plus.min(self.w_minus)).round() as u64;
        (2.0 * flips_at_most(&self.ranks.doubled, smaller)).min(1.0)
    }

    /// The two-sided p of the normal law with the variance of the ties, with or without continuity.
    pub fn p_asymptotic(&self, continuity: bool) -> f64 {
        if self.count == 0 {
            return 1.0;
        }
        let n = self.count as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - self.ranks.tie_term / 48.0;
        let distance = (self.w_plus - n * (n + 1.0) / 4.0).abs() - if continuity { 0.5 } else { 0.0 };
        (2.0 * normal::upper_tail(distance / variance.sqrt())).min(1.0)
    }
}

/// P(sum of the ranks of the positive signs <= the one seen), for differences from a centre that should be positive:
/// small when they are mostly below 0. Zeros are ranked, then dropped (Pratt). Values closer than `slack` are ties.
pub fn p_positive_at_most(differences: &[f64], slack: f64) -> f64 {
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    let ranks = Ranks::of(&sizes, slack);
    let mut kept = Vec::with_capacity(sizes.len());
    let mut seen = 0;
    for (&difference, &rank) in differences.iter().zip(&ranks.doubled) {
        if difference.abs() <= slack {
            continue;
        }
        kept.push(rank);
        if 0.0 < difference {
            seen += rank;
        }
    }
    if kept.is_empty() { 1.0 } else { flips_at_most(&kept, seen) }
}

/// P(T <= sum) where every doubled rank counts with probability one half.
fn flips_at_most(doubled: &[u64], sum: u64) -> f64 {
    let total: u64 = doubled.iter().sum();
    if total <= sum {
        return 1.0;
    }
    if EXACT_LIMIT < doubled.len() { flips_asymptotic(doubled, sum) } else { flips_exact(doubled, sum) }
}

/// [`flips_at_most`] of the normal law, with continuity.
fn flips_asymptotic(doubled: &[u64], sum: u64) -> f64 {
    let total: u64 = doubled.iter().sum();
    let variance: f64 = doubled.iter().map(|&rank| (rank as f64).powi(2)).sum::<f64>() / 4.0;
    // One step of the doubled ranks is 2, so half a step is 1.
    normal::cdf((sum as f64 + 1.0 - total as f64 / 2.0) / variance.sqrt())
}

/// [`flips_at_most`] by counting, for a sum below the total.
fn flips_exact(doubled: &[u64], sum: u64) -> f64 {
    let total: u64 = doubled.iter().sum();
    // Only sums up to the one seen are needed, and the smaller tail has all its digits.
    let (wanted, upper) = if 2 * sum <= total { (sum, false) } else { (total - sum - 1, true) };
    let mut law = vec![0.0; wanted as usize + 1];
    law[0] = 1.0;
    for &rank in doubled {
        let rank = rank as usize;
        for at in (0..law.len()).rev() {
            let with = if rank <= at { law[at - rank] } else { 0.0 };
            law[at] = (law[at] + with) / 2.0;
        }
    }
    let tail: f64 = law.iter().sum();
    if upper { 1.0 - tail } else { tail.min(1.0) }
}

/// P(T <= t) of n differences without ties or zeros, T the sum of the positive ranks.
pub fn null_at_most(n: usize, t: u64) -> f64 {
    flips_at_most(&(1..=n as u64).map(|rank| 2 * rank).collect::<Vec<_>>(), 2 * t + 1)
}

/// The k-th smallest (1-based) of the averages `(d_i + d_j) / 2`, i <= j, of an ascending sample.
pub fn kth_average(sorted: &[f64], k: u64) -> f64 {
    let count = |t: f64| {
        // For growing i the partners that stay below t can only become fewer.
        let mut up_to = sorted.len();
        let mut count = 0;
        for (index, &low) in sorted.iter().enumerate() {
            while index < up_to && t < f64::midpoint(low, sorted[up_to - 1]) {
                up_to -= 1;
            }
            if up_to <= index {
                break;
            }
            count += (up_to - index) as u64;
        }
        count
    };
    kth_smallest(k, sorted[0], sorted[sorted.len() - 1], count)
}

/// The Hodges-Lehmann centre: the median of the averages of an ascending, non-empty sample.
pub fn centre(sorted: &[f64]) -> f64 {
    let averages = averages(sorted.len());
    let high = kth_average(sorted, averages / 2 + 1);
    if averages % 2 == 1 { high } else { f64::midpoint(kth_average(sorted, averages / 2), high) }
}

/// The bounds of the centre, each one-sided at `level`; `None` while n is too small for it. With k the largest whole
/// number with P(T <= k) <= level, the ends are the (k + 1)-th smallest and largest average.
pub fn centre_bounds(sorted: &[f64], level: f64) -> Option<[f64; 2]> {
    let averages = averages(sorted.len());
    if sorted.is_empty() || level < null_at_most(sorted.len(), 0) {
        return None;
    }
    let (mut low, mut high) = (0, averages);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if null_at_most(sorted.len(), middle) <= level {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some([kth_average(sorted, low + 1), kth_average(sorted, averages - low)])
}

fn averages(n: usize) -> u64 {
    n as u64 * (n as u64 + 1) / 2
}

#[cfg(test)]
mod tests {
    use super::{flips_asymptotic, flips_exact};

    #[test]
    fn the_normal_law_takes_over_where_it_is_as_good_as_the_exact_one() {
        let doubled: Vec<u64> = (1..=220).map(|rank| 2 * rank).collect();
        let total: u64 = doubled.iter().sum();
        // The continuity alone is 2e-4 in the middle.
        for (share, slack) in [(0.4, 1.2e-4), (0.48, 4e-4), (0.5, 5e-6), (0.6, 1.2e-4)] {
            let sum = (total as f64 * share / 2.0) as u64 * 2;
            let (exact, normal) = (flips_exact(&doubled, sum), flips_asymptotic(&doubled, sum));
            assert!((exact - normal).abs() < slack, "{share}: {exact} {normal}");
        }
    }
}
