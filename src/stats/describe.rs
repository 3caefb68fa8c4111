//! The description of one sample: centre, spread, relative spread.

use super::quantile::{iqr, median, sorted};

/// The interquartile range of a normal distribution in standard deviations, as the noise gate rounds it.
pub const IQR_OF_NORMAL: f64 = 1.349;

/// The arithmetic mean, `None` of nothing. Sums that leave the range of f64 are taken of scaled values.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    Some(if sum.is_finite() { sum / n } else { values.iter().map(|value| value / n).sum() })
}

/// The sample standard deviation (n - 1); `None` below two samples.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let largest = values.iter().map(|value| (value - centre).abs()).fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        return Some(largest);
    }
    // Scaled, so that squares of 1e300 and of 1e-300 stay inside the range of f64.
    let squares: f64 = values.iter().map(|value| ((value - centre) / largest).powi(2)).sum();
    Some(largest * (squares / (values.len() - 1) as f64).sqrt())
}

/// Standard deviation over mean, a ratio; 0 below two samples or for a mean of 0 or below.
pub fn cv(values: &[f64]) -> f64 {
    match (mean(values), standard_deviation(values)) {
        (Some(mean), Some(deviation)) if 0.0 < mean => deviation / mean,
        _ => 0.0,
    }
}

/// Interquartile range / 1.349 / median of an ascending sample, a ratio; 0 below two samples or for a median of 0
/// or below.
pub fn robust_cv(sorted: &[f64]) -> f64 {
    match (median(sorted), iqr(sorted)) {
        (Some(median), Some(iqr)) if 0.0 < median && 2 <= sorted.len() => iqr / IQR_OF_NORMAL / median,
        _ => 0.0,
    }
}

/// Median of the distances to the median, not scaled.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(&sorted(values))?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&sorted(&distances))
}
