//! Cliff's delta: how much more often head is above base than below, over all pairs of samples.

/// The counts behind the delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dominance {
    /// Pairs with head above base.
    pub more: u64,
    /// Pairs with head below base.
    pub less: u64,
    /// All pairs.
    pub pairs: u64,
}

impl Dominance {
    /// Counts over two ascending samples.
    pub fn of(base_sorted: &[f64], head_sorted: &[f64]) -> Self {
        let (mut below, mut up_to) = (0, 0);
        let (mut more, mut less) = (0, 0);
        for &head in head_sorted {
            while below < base_sorted.len() && base_sorted[below] < head {
                below += 1;
            }
            while up_to < base_sorted.len() && base_sorted[up_to] <= head {
                up_to += 1;
            }
            more += below as u64;
            less += (base_sorted.len() - up_to) as u64;
        }
        Self { more, less, pairs: base_sorted.len() as u64 * head_sorted.len() as u64 }
    }

    /// The delta, -1 to 1; `None` without pairs.
    pub fn delta(&self) -> Option<f64> {
        (0 < self.pairs).then(|| (self.more as f64 - self.less as f64) / self.pairs as f64)
    }
}
