//! The standard normal distribution, good in the far tail.

use std::f64::consts::SQRT_2;

use statrs::function::erf::{erfc, erfc_inv};

/// P(Z <= x).
pub fn cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// P(Z > x), with all its digits however small.
pub fn upper_tail(x: f64) -> f64 {
    0.5 * erfc(x / SQRT_2)
}

/// The density at x.
pub fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The x with P(Z <= x) = p; infinite at 0 and 1.
pub fn quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if 1.0 <= p {
        return f64::INFINITY;
    }
    let x = -SQRT_2 * erfc_inv(2.0 * p);
    // One Newton step takes the last digits that the inverse leaves.
    let step = (cdf(x) - p) / density(x);
    if step.is_finite() { x - step } else { x }
}
