//! Correlations: of the two sides of pairs, and of each value with the next.

use super::describe::mean;
use super::ranks::Ranks;

/// Spearman's rank correlation of pairs, ties at their middle. `None` for fewer than two pairs or a constant side.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let ranks = |side: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let values: Vec<f64> = pairs.iter().map(side).collect();
        Ranks::of(&values, 0.0).doubled.into_iter().map(|rank| rank as f64).collect()
    };
    pearson(&ranks(|pair| pair.0), &ranks(|pair| pair.1))
}

/// Whether pairs correlate: |r| beyond 1.645 standard errors, in either direction. Negative correlation matters as much,
/// since taking such sides as independent gives false alarms.
pub fn is_correlated(correlation: f64, pairs: usize) -> bool {
    const ONE_IN_TEN: f64 = 1.645;
    2 <= pairs && ONE_IN_TEN / ((pairs - 1) as f64).sqrt() < correlation.abs()
}

/// The correlation of each value with the next (lag 1). `None` below three values or for a constant sample.
pub fn autocorrelation(values: &[f64]) -> Option<f64> {
    let (centre, scale) = centred(values)?;
    let scaled: Vec<f64> = values.iter().map(|value| (value - centre) / scale).collect();
    let squares: f64 = scaled.iter().map(|value| value * value).sum();
    let products: f64 = scaled.windows(2).map(|pair| pair[0] * pair[1]).sum();
    (3 <= values.len()).then_some(products / squares).filter(|value| value.is_finite())
}

fn pearson(left: &[f64], right: &[f64]) -> Option<f64> {
    let (left_mean, left_scale) = centred(left)?;
    let (right_mean, right_scale) = centred(right)?;
    let (mut product, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let (x, y) = ((left - left_mean) / left_scale, (right - right_mean) / right_scale);
        product += x * y;
        left_square += x * x;
        right_square += y * y;
    }
    Some(product / (left_square * right_square).sqrt()).filter(|value| value.is_finite())
}

/// The mean and the largest distance to it; `None` where that is 0 or not finite.
fn centred(values: &[f64]) -> Option<(f64, f64)> {
    let centre = mean(values)?;
    let scale = values.iter().map(|value| (value - centre).abs()).fold(0.0, f64::max);
    (0.0 < scale && scale.is_finite()).then_some((centre, scale))
}
