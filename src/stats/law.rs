//! What every law of a ratio head / base can be asked.

/// The distribution that the ratio of two statistics (or the typical ratio of pairs) has over resamples.
pub trait ChangeLaw {
    /// P(ratio > `ratio`).
    fn above(&self, ratio: f64) -> f64;
    /// P(ratio >= `ratio`), with the mass of resamples that have no ratio.
    fn at_least(&self, ratio: f64) -> f64;
    /// P(ratio < `ratio`).
    fn below(&self, ratio: f64) -> f64 {
        1.0 - self.at_least(ratio)
    }
    /// P(ratio <= `ratio`), with the mass of resamples that have no ratio.
    fn at_most(&self, ratio: f64) -> f64 {
        1.0 - self.above(ratio)
    }
    /// The ratio at probability `p` of the law.
    fn quantile(&self, p: f64) -> f64;
}
