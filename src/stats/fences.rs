//! Tukey's fences (1977): which points are outliers. They are counted, never dropped.

use super::quantile::quantile;

/// The fences of a sample with the number of points strictly beyond each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fences {
    /// `q1 - 3 iqr`, `q1 - 1.5 iqr`, `q3 + 1.5 iqr`, `q3 + 3 iqr`.
    pub fences: [f64; 4],
    /// Points below the outer low fence.
    pub low_severe: usize,
    /// Points between the two low fences.
    pub low_mild: usize,
    /// Points between the two high fences.
    pub high_mild: usize,
    /// Points above the outer high fence.
    pub high_severe: usize,
}

impl Fences {
    /// The fences of an ascending sample; `None` of nothing. A point on a fence is not beyond it.
    pub fn of(sorted: &[f64]) -> Option<Self> {
        let (q1, q3) = (quantile(sorted, 0.25)?, quantile(sorted, 0.75)?);
        let iqr = q3 - q1;
        let fences = [q1 - 3.0 * iqr, q1 - 1.5 * iqr, q3 + 1.5 * iqr, q3 + 3.0 * iqr];
        let below = |fence: f64| sorted.partition_point(|&value| value < fence);
        let above = |fence: f64| sorted.len() - sorted.partition_point(|&value| value <= fence);
        let (low_severe, high_severe) = (below(fences[0]), above(fences[3]));
        Some(Self {
            fences,
            low_severe,
            low_mild: below(fences[1]) - low_severe,
            high_mild: above(fences[2]) - high_severe,
            high_severe,
        })
    }
}
