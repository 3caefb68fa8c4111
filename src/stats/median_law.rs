//! The exact bootstrap law of the median: the distribution over infinitely many resamples.
//!
//! Odd n (Maritz and Jarrett 1978, Efron 1979): `P(med* <= x_(i)) = P(Bin(n, i/n) >= (n+1)/2)`. Even n, m = n/2, i < j:
//! `P(x_(i), x_(j)) = C(n,m) [(i/n)^m - ((i-1)/n)^m] [((n-j+1)/n)^m - ((n-j)/n)^m]` with value `(x_(i) + x_(j)) / 2`; the
//! diagonal is the marginal of the m-th order statistic less its row. The weights depend on n alone and are kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use statrs::function::factorial::ln_binomial;

use super::binomial;

/// Weights below this are left out of [`MedianLaw::pruned`]: all of them together are below 1e-12.
const NEGLIGIBLE: f64 = 1e-16;

/// Above this size the two middle order statistics are taken one at a time with half the weight each, which is n
/// points instead of n²/2: there the two differ by less than one spacing of the sample.
const PAIRED_MIDDLE_LIMIT: usize = 4_000;

/// Weights of sizes up to this are kept for the next sample of that size.
const KEPT_LIMIT: usize = 1_000;

/// One median a resample can have: the 0-based order statistics it is the midpoint of, with its probability.
type Weight = (u32, u32, f64);

/// A discrete law: ascending distinct values with their probabilities.
#[derive(Debug, Clone, PartialEq)]
pub struct MedianLaw {
    points: Vec<(f64, f64)>,
}

impl MedianLaw {
    /// The whole law of an ascending sample, every possible median in it, however unlikely. Empty for no samples.
    pub fn of(sorted: &[f64]) -> Self {
        Self::weighted(sorted, &weights(sorted.len(), 0.0))
    }

    /// The law without its negligible points (together below 1e-12).
    pub fn pruned(sorted: &[f64]) -> Self {
        Self::weighted(sorted, &kept_weights(sorted.len()))
    }

    /// The points: value, probability; ascending by value.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The smallest value whose cumulative probability reaches `p`; `None` of nothing.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let mut sum = 0.0;
        let reaches = |point: &&(f64, f64)| {
            sum += point.1;
            p <= sum + 1e-12
        };
        self.points.iter().find(reaches).or(self.points.last()).map(|point| point.0)
    }

    fn weighted(sorted: &[f64], weights: &[Weight]) -> Self {
        let value = |low: u32, high: u32| f64::midpoint(sorted[low as usize], sorted[high as usize]);
        let mut points: Vec<(f64, f64)> =
            weights.iter().map(|&(low, high, weight)| (value(low, high), weight)).collect();
        sort_points(&mut points);
        points.dedup_by(|next, kept| {
            let same = next.0.total_cmp(&kept.0).is_eq();
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self { points }
    }
}

/// Sorts points by value. Up to some thousand of them by whole numbers that hold the leading bits of the value and the
/// place of the point, which is much faster; what only the last bits tell apart is put in order afterwards.
fn sort_points(points: &mut Vec<(f64, f64)>) {
    const PLACE_BITS: u32 = 12;
    let by_value = |left: &(f64, f64), right: &(f64, f64)| left.0.total_cmp(&right.0);
    if 1 << PLACE_BITS < points.len() {
        return points.sort_unstable_by(by_value);
    }
    let place_mask = (1_u64 << PLACE_BITS) - 1;
    let key = |(place, point): (usize, &(f64, f64))| {
        let bits = point.0.to_bits();
        // In the order of the numbers: negative ones turned round, below the positive ones.
        let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        ordered & !place_mask | place as u64
    };
    let mut keys: Vec<u64> = points.iter().enumerate().map(key).collect();
    keys.sort_unstable();
    *points = keys.iter().map(|key| points[(key & place_mask) as usize]).collect();
    if !points.is_sorted_by(|left, right| by_value(left, right).is_le()) {
        points.sort_by(by_value);
    }
}

/// The weights of a size without the negligible ones, from the store where it holds them.
fn kept_weights(n: usize) -> Arc<[Weight]> {
    static STORE: Mutex<BTreeMap<usize, Arc<[Weight]>>> = Mutex::new(BTreeMap::new());
    let store = || STORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = store().get(&n) {
        return Arc::clone(known);
    }
    let made: Arc<[Weight]> = weights(n, NEGLIGIBLE).into();
    if n <= KEPT_LIMIT {
        store().insert(n, Arc::clone(&made));
    }
    made
}

/// All weights of a size that are at least `least`.
fn weights(n: usize, least: f64) -> Vec<Weight> {
    match n {
        0 => Vec::new(),
        _ if n % 2 == 1 => marginal(n, n / 2 + 1, least),
        _ if PAIRED_MIDDLE_LIMIT < n => {
            let halves = [n / 2, n / 2 + 1].into_iter().flat_map(|rank| marginal(n, rank, least));
            halves.map(|(low, high, weight)| (low, high, weight / 2.0)).collect()
        }
        _ => middle_pair(n, least),
    }
}

/// The law of the order statistic of that 1-based rank.
fn marginal(n: usize, rank: usize, least: f64) -> Vec<Weight> {
    let mut below = 0.0;
    let mut all = Vec::new();
    for i in 1..=n {
        let up_to = binomial::at_least(n, i as f64 / n as f64, rank);
        // Both halves of the law are sums of small terms only when taken from their own tail.
        let weight = if up_to < 0.5 {
            up_to - below
        } else {
            let over = |i: usize| binomial::at_least(n, 1.0 - i as f64 / n as f64, n + 1 - rank);
            over(i - 1) - if i == n { 0.0 } else { over(i) }
        };
        below = up_to;
        // The difference of two numbers near 1e-16 may come out below 0.
        let weight = weight.max(0.0);
        if least <= weight {
            all.push((i as u32 - 1, i as u32 - 1, weight));
        }
    }
    all
}

/// The joint law of the two middle order statistics, n even.
fn middle_pair(n: usize, least: f64) -> Vec<Weight> {
    let (size, m) = (n as f64, (n / 2) as f64);
    let ln_ways = ln_binomial(n as u64, n as u64 / 2);
    // ln of (i/n)^m - ((i-1)/n)^m; of j the same at n - j + 1, by symmetry.
    let ln_step: Vec<f64> = (1..=n)
        .map(|i| {
            m * (i as f64 / size).ln()
                + if i == 1 { 0.0 } else { (-(m * (-1.0 / i as f64).ln_1p()).exp_m1()).ln() }
        })
        .collect();
    let single = marginal(n, n / 2, 0.0);
    let mut all = Vec::new();
    for i in 1..=n {
        let row =
            if i == n { 0.0 } else { (ln_ways + ln_step[i - 1] + m * ((n - i) as f64 / size).ln()).exp() };
        let diagonal = (single[i - 1].2 - row).max(0.0);
        if least <= diagonal {
            all.push((i as u32 - 1, i as u32 - 1, diagonal));
        }
        for j in i + 1..=n {
            let weight = (ln_ways + ln_step[i - 1] + ln_step[n - j]).exp();
            if weight < least {
                break; // They only fall from here.
            }
            all.push((i as u32 - 1, j as u32 - 1, weight));
        }
    }
    all
}
