//! Change points of a series on a log scale: binary segmentation, and the exact optimal partition.
//!
//! Both look for mean shifts by squared error, with the penalty 2 sigma^2 ln n of seed document 3 and a smallest change in
//! per cent. Binary segmentation is greedy: it misses a short bump, whose best single split explains little. The optimal
//! partition (Auger and Lawrence 1989, pruned after Killick et al. 2012) weighs all partitions at once.

use super::quantile::{median, sorted};

/// The smallest noise that is assumed, a ratio: 0.5 %.
pub const SIGMA_FLOOR: f64 = 0.005;
/// From the median absolute deviation to the standard deviation of a normal law.
const MAD_TO_SIGMA: f64 = 1.4826;

/// The noise of one point, estimated from successive differences: 1.4826 times their median absolute deviation over the
/// root of 2, at least [`SIGMA_FLOOR`].
pub fn sigma(logs: &[f64]) -> f64 {
    let differences: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let Some(centre) = median(&sorted(&differences)) else { return SIGMA_FLOOR };
    let distances: Vec<f64> = differences.iter().map(|difference| (difference - centre).abs()).collect();
    let mad = median(&sorted(&distances)).unwrap_or(0.0);
    (MAD_TO_SIGMA * mad / std::f64::consts::SQRT_2).max(SIGMA_FLOOR)
}

/// The gain in squared error that a change must exceed: 2 sigma^2 ln n.
pub fn penalty(sigma: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { 2.0 * sigma * sigma * (n as f64).ln() }
}

/// A split that binary segmentation looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The segment, first point.
    pub lo: usize,
    /// The segment, one beyond its last point.
    pub hi: usize,
    /// The first point of the right part.
    pub split: usize,
    /// The reduction of squared error.
    pub gain: f64,
    /// Geometric mean of the right part over that of the left.
    pub ratio: f64,
    /// Whether it counts.
    pub accepted: bool,
}

/// What binary segmentation found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Segmentation {
    /// Index of the first point after each change, ascending.
    pub changes: Vec<usize>,
    /// Every split looked at, depth first, left before right.
    pub trace: Vec<Split>,
}

/// How binary segmentation may vary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binary {
    /// The smallest accepted |ratio - 1|.
    pub min_change: f64,
    /// Points a segment has at the least.
    pub min_size: usize,
    /// Whether the penalty takes the length of the segment in place of that of the series.
    pub local_penalty: bool,
}

impl Binary {
    /// The rule of seed document 3: segments down to one point, one penalty.
    pub fn new(min_change: f64) -> Self {
        Self { min_change, min_size: 1, local_penalty: false }
    }
}

/// Binary segmentation of the logarithms of medians.
pub fn binary_segmentation(logs: &[f64], rule: Binary) -> Segmentation {
    let sums = Sums::new(logs);
    let sigma = sigma(logs);
    let mut found = Segmentation::default();
    // A stack in place of recursion: a series may be cut at every point.
    let mut open = vec![(0, logs.len())];
    while let Some((lo, hi)) = open.pop() {
        let Some(best) = best_split(&sums, lo, hi, rule.min_size.max(1)) else { continue };
        let n = if rule.local_penalty { hi - lo } else { logs.len() };
        let ratio = (sums.mean(best.0, hi) - sums.mean(lo, best.0)).exp();
        let accepted = penalty(sigma, n) < best.1 && rule.min_change <= (ratio - 1.0).abs();
        found.trace.push(Split { lo, hi, split: best.0, gain: best.1, ratio, accepted });
        if accepted {
            found.changes.push(best.0);
            open.push((best.0, hi));
            open.push((lo, best.0));
        }
    }
    found.changes.sort_unstable();
    found
}

/// The first of the best splits of a segment, with its gain.
fn best_split(sums: &Sums, lo: usize, hi: usize, min_size: usize) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for split in lo + min_size..(hi + 1).saturating_sub(min_size) {
        let gain = sums.gain(lo, split, hi);
        if best.is_none_or(|(_, most)| most < gain) {
            best = Some((split, gain));
        }
    }
    best
}

/// What the optimal partition found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Index of the first point after each change, ascending.
    pub changes: Vec<usize>,
    /// Points that stand alone between two changes: they jump away and are followed by a jump back. They are part of no
    /// segment, and a change that only they would make is none.
    pub spikes: Vec<usize>,
}

/// The exact optimal partition: the changes that minimise squared error plus the penalty for each of them. Neighbours that
/// differ by less than `min_change` are merged, the closest first. A point that stands alone is a spike, set aside, and the
/// rest is cut again; so segments hold at least two points, but for the newest point, which may stand alone.
pub fn optimal_partition(logs: &[f64], min_change: f64) -> Partition {
    let penalty = penalty(sigma(logs), logs.len());
    let mut kept: Vec<usize> = (0..logs.len()).collect();
    loop {
        let values: Vec<f64> = kept.iter().map(|&index| logs[index]).collect();
        let sums = Sums::new(&values);
        let changes =
            merge_close(&sums, values.len(), cheapest_cuts(&sums, values.len(), penalty), min_change);
        let bounds: Vec<usize> =
            [0].into_iter().chain(changes.iter().copied()).chain([values.len()]).collect();
        let alone: Vec<usize> = bounds
            .windows(2)
            .filter(|pair| pair[1] - pair[0] == 1 && pair[1] < values.len())
            .map(|pair| pair[0])
            .collect();
        if alone.is_empty() {
            let changes = changes.into_iter().map(|change| kept[change]).collect();
            let spikes = (0..logs.len()).filter(|index| kept.binary_search(index).is_err()).collect();
            return Partition { changes, spikes };
        }
        let mut place = 0..kept.len();
        kept.retain(|_| place.next().is_some_and(|place| alone.binary_search(&place).is_err()));
    }
}

/// The cuts of the partition with the least squared error plus penalty, ascending.
fn cheapest_cuts(sums: &Sums, n: usize, penalty: f64) -> Vec<usize> {
    let mut cost = vec![f64::INFINITY; n + 1];
    let mut before = vec![0; n + 1];
    cost[0] = -penalty;
    // Where the last segment may begin; one that is beaten without a further penalty is beaten for good.
    let mut starts: Vec<usize> = Vec::new();
    for end in 1..=n {
        starts.push(end - 1);
        for &start in &starts {
            let total = cost[start] + sums.squared_error(start, end) + penalty;
            if total < cost[end] {
                (cost[end], before[end]) = (total, start);
            }
        }
        let least = cost[end];
        starts.retain(|&start| cost[start] + sums.squared_error(start, end) <= least);
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while 0 < end {
        end = before[end];
        if 0 < end {
            cuts.push(end);
        }
    }
    cuts.reverse();
    cuts
}

/// Merges the neighbours whose geometric means are closer than `min_change`, symmetrically on logs, the closest first.
fn merge_close(sums: &Sums, n: usize, mut changes: Vec<usize>, min_change: f64) -> Vec<usize> {
    let least = min_change.ln_1p();
    loop {
        let bounds: Vec<usize> = [0].into_iter().chain(changes.iter().copied()).chain([n]).collect();
        let closest = bounds
            .windows(3)
            .map(|three| (sums.mean(three[1], three[2]) - sums.mean(three[0], three[1])).abs())
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match closest {
            // A distance of exactly the least one is kept, whatever the last bits of the sums are.
            Some((index, distance)) if distance < least - 1e-12 => {
                changes.remove(index);
            }
            _ => return changes,
        }
    }
}

/// The geometric mean of each segment that these changes cut `logs` into.
pub fn levels(logs: &[f64], changes: &[usize]) -> Vec<f64> {
    let sums = Sums::new(logs);
    let bounds: Vec<usize> = [0].into_iter().chain(changes.iter().copied()).chain([logs.len()]).collect();
    bounds.windows(2).filter(|pair| pair[0] < pair[1]).map(|pair| sums.mean(pair[0], pair[1]).exp()).collect()
}

/// Running sums of the distances to the first value, so that squared errors of steady series keep their digits.
struct Sums {
    origin: f64,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(values: &[f64]) -> Self {
        let origin = values.first().copied().unwrap_or(0.0);
        let (mut sum, mut squares) = (vec![0.0], vec![0.0]);
        for value in values {
            let distance = value - origin;
            sum.push(sum.last().expect("it starts with one element") + distance);
            squares.push(squares.last().expect("it starts with one element") + distance * distance);
        }
        Self { origin, sum, squares }
    }

    fn mean(&self, lo: usize, hi: usize) -> f64 {
        self.origin + (self.sum[hi] - self.sum[lo]) / (hi - lo) as f64
    }

    fn squared_error(&self, lo: usize, hi: usize) -> f64 {
        let sum = self.sum[hi] - self.sum[lo];
        (self.squares[hi] - self.squares[lo] - sum * sum / (hi - lo) as f64).max(0.0)
    }

    /// The reduction of squared error by a split, without the cancellation of three squared errors.
    fn gain(&self, lo: usize, split: usize, hi: usize) -> f64 {
        let (left, right) = ((split - lo) as f64, (hi - split) as f64);
        let distance = self.mean(split, hi) - self.mean(lo, split);
        left * right / (left + right) * distance * distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| value.ln()).collect()
    }

    /// Noise without a generator: the golden angle's multiples are evenly spread and never repeat.
    fn noise(index: usize) -> f64 {
        (index as f64 * 0.618_033_988_749_895).fract() - 0.5
    }

    fn changes(values: &[f64]) -> Vec<usize> {
        optimal_partition(&logs(values), 0.05).changes
    }

    #[test]
    fn optimal_partition_finds_a_short_bump_that_binary_segmentation_misses() {
        let values: Vec<f64> = (0..43)
            .map(|index| if (20..23).contains(&index) { 1.08 } else { 1.0 } * (1.0 + 0.01 * noise(index)))
            .collect();
        assert_eq!(changes(&values), [20, 23]);
    }

    #[test]
    fn point_that_stands_alone_is_a_spike_unless_it_is_the_newest() {
        let mut values: Vec<f64> = (0..20).map(|index| 1.0 + 0.001 * noise(index)).collect();
        values[10] = 1.5;
        let found = optimal_partition(&logs(&values), 0.05);
        assert_eq!(found, Partition { changes: Vec::new(), spikes: vec![10] });
        values[10] = 1.0;
        values[19] = 1.5;
        assert_eq!(changes(&values), [19]);
    }

    #[test]
    fn spike_does_not_hide_the_step_behind_it() {
        let mut values: Vec<f64> =
            (0..30).map(|index| if index < 15 { 1.0 } else { 1.2 } + 0.001 * noise(index)).collect();
        values[10] = 3.0;
        let found = optimal_partition(&logs(&values), 0.05);
        assert_eq!(found, Partition { changes: vec![15], spikes: vec![10] });
    }

    #[test]
    fn optimal_partition_of_few_points_is_one_segment_or_a_provisional_change() {
        assert!(changes(&[]).is_empty());
        assert!(changes(&[1.0]).is_empty());
        assert!(changes(&[1.0, 1.01]).is_empty());
        assert_eq!(changes(&[1.0, 1.0, 1.2]), [2]);
    }

    #[test]
    fn pruned_cuts_cost_as_little_as_the_best_of_all_partitions() {
        for seed in 0..40 {
            let step = |index: usize| if noise(seed * 7 + index / 4) < 0.0 { 0.3 } else { 0.0 };
            let values: Vec<f64> =
                (0..12).map(|index| 1.0 + step(index) + 0.02 * noise(seed + index)).collect();
            let logs = logs(&values);
            let sums = Sums::new(&logs);
            let penalty = penalty(sigma(&logs), logs.len());
            let price = |cuts: &[usize]| {
                let bounds: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([12]).collect();
                let errors: f64 = bounds.windows(2).map(|pair| sums.squared_error(pair[0], pair[1])).sum();
                errors + penalty * cuts.len() as f64
            };
            let all = (0u32..1 << 11)
                .map(|bits| (1..12).filter(|cut| bits >> (cut - 1) & 1 == 1).collect::<Vec<usize>>());
            let least = all.map(|cuts| price(&cuts)).fold(f64::INFINITY, f64::min);
            let found = price(&cheapest_cuts(&sums, 12, penalty));
            assert!(found <= least + 1e-12, "seed {seed}: {found} against {least}");
        }
    }
}
