//! The Mann-Whitney rank test (1947): two-sided against "no difference", one-sided at a tolerance, and the
//! Hodges-Lehmann shift (1963) that belongs to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use statrs::function::factorial::binomial;

use super::normal;
use super::ranks::Ranks;
use super::select::kth_smallest;

/// Up to this size of the larger sample the null law is exact, beyond it normal with continuity.
const EXACT_LIMIT: usize = 40;

/// Up to this size of the smaller sample, and without ties, the two-sided p is exact (the rule of scipy).
const TWO_SIDED_EXACT_LIMIT: usize = 8;

/// Up to so many values in all: the table grows with the cube of their number, and the normal law is as good from there.
const TWO_SIDED_EXACT_VALUES: usize = 300;

/// The two-sided test of two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct MannWhitney {
    /// U of the first sample, from midranks.
    pub u_x: f64,
    /// U of the second; the two add up to the number of pairs.
    pub u_y: f64,
    /// Whether a value occurs twice.
    pub ties: bool,
    sizes: [usize; 2],
    ranks: Ranks,
}

impl MannWhitney {
    /// Ranks two samples together; `None` when one is empty.
    pub fn of(x: &[f64], y: &[f64]) -> Option<Self> {
        if x.is_empty() || y.is_empty() {
            return None;
        }
        let pooled: Vec<f64> = x.iter().chain(y).copied().collect();
        let ranks = Ranks::of(&pooled, 0.0);
        let sum: u64 = ranks.doubled[..x.len()].iter().sum();
        let u_x = sum as f64 / 2.0 - (x.len() * (x.len() + 1)) as f64 / 2.0;
        let pairs = x.len() as f64 * y.len() as f64;
        Some(Self { u_x, u_y: pairs - u_x, ties: ranks.has_ties(), sizes: [x.len(), y.len()], ranks })
    }

    /// Whether all values are equal: then p is 1.
    pub fn is_constant(&self) -> bool {
        let n = self.ranks.doubled.len() as f64;
        self.ranks.tie_term >= n * n * n - n
    }

    /// Whether [`Self::p`] is the exact one.
    pub fn is_exact(&self) -> bool {
        self.sizes[0].min(self.sizes[1]) <= TWO_SIDED_EXACT_LIMIT
            && self.sizes[0] + self.sizes[1] <= TWO_SIDED_EXACT_VALUES
            && !self.ties
            && !self.is_constant()
    }

    /// The two-sided p: exact for small samples without ties, else normal with continuity.
    pub fn p(&self) -> f64 {
        if self.is_exact() { self.p_exact() } else { self.p_asymptotic(true) }
    }

    /// The two-sided p of the normal law with the variance of the ties, with or without continuity.
    pub fn p_asymptotic(&self, continuity: bool) -> f64 {
        let [n1, n2] = self.sizes.map(|size| size as f64);
        let n = n1 + n2;
        let variance = n1 * n2 / 12.0 * ((n + 1.0) - self.ranks.tie_term / (n * (n - 1.0)));
        if self.is_constant() || variance <= 0.0 {
            return 1.0;
        }
        let distance = self.u_x.max(self.u_y) - n1 * n2 / 2.0 - if continuity { 0.5 } else { 0.0 };
        (2.0 * normal::upper_tail(distance / variance.sqrt())).min(1.0)
    }

    /// The share of all splits of the midranks that lie at least as far from the middle; valid with ties. Takes time in
    /// the order of size times the cube of both sizes.
    pub fn p_exact(&self) -> f64 {
        let doubled = &self.ranks.doubled;
        // The smaller group needs the smaller table; its complement is as far from the middle.
        let (size, group) = if self.sizes[0] <= self.sizes[1] {
            (self.sizes[0], &doubled[..self.sizes[0]])
        } else {
            (self.sizes[1], &doubled[self.sizes[0]..])
        };
        let total: u64 = doubled.iter().sum();
        let width = total as usize + 1;
        let mut ways = vec![0.0_f64; (size + 1) * width];
        ways[0] = 1.0;
        for (seen, &rank) in doubled.iter().enumerate() {
            let rank = rank as usize;
            for taken in (1..=size.min(seen + 1)).rev() {
                let (before, after) = ways.split_at_mut(taken * width);
                let from = &before[(taken - 1) * width..];
                for sum in rank..width {
                    after[sum] += from[sum - rank];
                }
            }
        }
        let n = doubled.len() as i128;
        let distance = |sum: i128| (n * sum - size as i128 * i128::from(total)).abs();
        let seen = distance(group.iter().map(|&rank| i128::from(rank)).sum());
        let row = &ways[size * width..];
        let extreme: f64 = row
            .iter()
            .enumerate()
            .filter(|&(sum, _)| seen <= distance(sum as i128))
            .map(|(_, &ways)| ways)
            .sum();
        (extreme / binomial(n as u64, size as u64)).min(1.0)
    }
}

/// P(U <= u) of two samples without a difference, without ties: exact to 40 a side, then normal with continuity.
pub fn null_at_most(m: usize, k: usize, u: f64) -> f64 {
    if m == 0 || k == 0 {
        return 1.0;
    }
    let pairs = m as f64 * k as f64;
    if u < 0.0 {
        return 0.0;
    }
    if pairs <= u {
        return 1.0;
    }
    if m.max(k) <= EXACT_LIMIT {
        return null_law(m, k)[u.floor() as usize];
    }
    let deviation = (pairs * (m + k + 1) as f64 / 12.0).sqrt();
    normal::cdf((u.floor() + 0.5 - pairs / 2.0) / deviation)
}

/// P(U <= u) for every u of two sizes, from the store where it holds it.
fn null_law(m: usize, k: usize) -> Arc<[f64]> {
    type Laws = BTreeMap<(usize, usize), Arc<[f64]>>;
    static STORE: Mutex<Laws> = Mutex::new(BTreeMap::new());
    let store = || STORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = store().get(&(m, k)) {
        return Arc::clone(known);
    }
    // P(m,k,u) = m/(m+k) P(m-1,k,u-k) + k/(m+k) P(m,k-1,u): sums of positive terms, so small tails keep their digits.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; k + 1];
    for i in 1..=m {
        let mut next = vec![vec![1.0]];
        for j in 1..=k {
            let (take, leave) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            let mut law = vec![0.0; i * j + 1];
            for (u, p) in row[j].iter().enumerate() {
                law[u + j] += take * p;
            }
            for (u, p) in next[j - 1].iter().enumerate() {
                law[u] += leave * p;
            }
            next.push(law);
        }
        row = next;
    }
    let mut sum = 0.0;
    let law: Arc<[f64]> = row[k]
        .iter()
        .map(|p| {
            sum += p;
            sum
        })
        .collect();
    store().insert((m, k), Arc::clone(&law));
    law
}

/// Twice #{(i, j): head_j < ratio * base_i}, ties counted half. Both ascending, `ratio` positive; `slack` is relative.
pub fn doubled_u_below(base: &[f64], head: &[f64], ratio: f64, slack: f64) -> u64 {
    let (mut below, mut up_to) = (0, 0);
    let mut doubled = 0;
    for &base in base {
        let limit = base * ratio;
        let room = limit.abs() * slack;
        while below < head.len() && head[below] < limit - room {
            below += 1;
        }
        while up_to < head.len() && head[up_to] <= limit + room {
            up_to += 1;
        }
        doubled += (below + up_to) as u64;
    }
    doubled
}

/// The k-th smallest (1-based) of the differences `y_j - x_i`; both samples ascending, k from 1 to their number.
pub fn kth_difference(x: &[f64], y: &[f64], k: u64) -> f64 {
    let count = |t: f64| {
        let mut up_to = 0;
        let mut count = 0;
        for &x in x {
            while up_to < y.len() && y[up_to] - x <= t {
                up_to += 1;
            }
            count += up_to as u64;
        }
        count
    };
    kth_smallest(k, y[0] - x[x.len() - 1], y[y.len() - 1] - x[0], count)
}

/// The Hodges-Lehmann shift: the median of all differences `y_j - x_i`. Both samples ascending and not empty.
pub fn shift(x: &[f64], y: &[f64]) -> f64 {
    let pairs = x.len() as u64 * y.len() as u64;
    let high = kth_difference(x, y, pairs / 2 + 1);
    if pairs % 2 == 1 { high } else { f64::midpoint(kth_difference(x, y, pairs / 2), high) }
}

/// The largest k with P(U <= k) <= `level`; `None` when even P(U = 0) is larger.
pub fn critical(m: usize, k: usize, level: f64) -> Option<u64> {
    let pairs = m as u64 * k as u64;
    let (mut low, mut high) = (0, pairs);
    if level < null_at_most(m, k, 0.0) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if null_at_most(m, k, middle as f64) <= level {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// The bounds of the shift, each one-sided at `level`; infinite where the samples are too small for it.
pub fn shift_bounds(x: &[f64], y: &[f64], level: f64) -> [f64; 2] {
    let pairs = x.len() as u64 * y.len() as u64;
    match critical(x.len(), y.len(), level).filter(|k| *k < pairs) {
        Some(k) => [kth_difference(x, y, k + 1), kth_difference(x, y, pairs - k)],
        None => [f64::NEG_INFINITY, f64::INFINITY],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_law_is_asked_only_where_its_table_stays_small() {
        let against = |count: usize| {
            let few: Vec<f64> = (0..8).map(|at| at as f64 + 0.5).collect();
            let many: Vec<f64> = (0..count).map(|at| at as f64).collect();
            MannWhitney::of(&few, &many).expect("both have values")
        };
        assert!(against(100).is_exact() && !against(5000).is_exact());
        let (exact, normal) = (against(292).p(), against(293).p());
        assert!((exact - normal).abs() < 1e-4, "{exact} {normal}");
    }
}
