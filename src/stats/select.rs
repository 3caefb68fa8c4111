//! The k-th smallest of many derived values, without making them: by bisection over the floats themselves.

/// The smallest f64 `t` with `count_at_most(t) >= k`, for finite bounds with the answer in `[low, high]`.
/// `count_at_most` must not fall. Exact: the bisection ends at neighbouring floats.
pub(super) fn kth_smallest(k: u64, low: f64, high: f64, count_at_most: impl Fn(f64) -> u64) -> f64 {
    let (mut below, mut at) = (ordinal(low) - 1, ordinal(high));
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if count_at_most(from_ordinal(middle)) < k {
            below = middle;
        } else {
            at = middle;
        }
    }
    from_ordinal(at)
}

/// Whole numbers in the order of the floats; 0 and -0 are one.
fn ordinal(value: f64) -> i128 {
    let bits = i128::from(value.to_bits() & !(1 << 63));
    if value.is_sign_negative() { -bits } else { bits }
}

fn from_ordinal(ordinal: i128) -> f64 {
    let magnitude = f64::from_bits(ordinal.unsigned_abs() as u64);
    if ordinal < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::kth_smallest;

    #[test]
    fn the_kth_smallest_is_one_of_the_values_exactly() {
        let values = [-3.5, -1e-300, 0.0, 0.1 + 0.2, 7.0, 7.0, 1e300];
        for (index, value) in values.iter().enumerate() {
            let count = |t: f64| values.iter().filter(|&&value| value <= t).count() as u64;
            assert_eq!(kth_smallest(index as u64 + 1, -3.5, 1e300, count).to_bits(), value.to_bits());
        }
    }
}
