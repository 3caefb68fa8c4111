//! Order statistics: the R-7 quantile of Hyndman and Fan (1996) and the median.

/// The values in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The R-7 quantile of an ascending, non-empty sample: linear between the order statistics around `(n - 1) * p`.
/// `p` is clamped to 0 to 1; an empty sample gives `None`.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = last as f64 * p.clamp(0.0, 1.0);
    let low = (position.floor() as usize).min(last);
    let high = (low + 1).min(last);
    Some(sorted[low] + (position - low as f64) * (sorted[high] - sorted[low]))
}

/// The middle of an ascending sample, or the average of the middle two.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some(f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

/// Interquartile range of an ascending sample.
pub fn iqr(sorted: &[f64]) -> Option<f64> {
    Some(quantile(sorted, 0.75)? - quantile(sorted, 0.25)?)
}
