//! Tails of the binomial distribution, good in the far tail as well.

use statrs::function::factorial::ln_binomial;

/// P(Bin(n, p) >= m). Sums the smaller tail from its largest term outwards, so no digits are lost to `1 - x`.
pub fn at_least(n: usize, p: f64, m: usize) -> f64 {
    if m == 0 {
        return 1.0;
    }
    if n < m || p <= 0.0 {
        return 0.0;
    }
    if 1.0 <= p {
        return 1.0;
    }
    if n as f64 * p < m as f64 { upper(n, p, m) } else { 1.0 - upper(n, 1.0 - p, n + 1 - m) }
}

/// The sum from `m` upwards, for `m` at or above the mean less one term.
fn upper(n: usize, p: f64, m: usize) -> f64 {
    if n < m {
        return 0.0;
    }
    let odds = p / (1.0 - p);
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in m..n {
        term *= (n - k) as f64 / (k + 1) as f64 * odds;
        sum += term;
        if term < sum * 1e-18 {
            break;
        }
    }
    let first = ln_binomial(n as u64, m as u64) + m as f64 * p.ln() + (n - m) as f64 * (-p).ln_1p();
    (first.exp() * sum).min(1.0)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "exact answers are part of the contract")]
mod tests {
    use super::at_least;

    #[test]
    fn tails_agree_with_plain_sums() {
        // (n, p, m, value) worked out as exact fractions.
        for (n, p, m, value) in [
            (10, 0.5, 5, 638.0 / 1024.0),
            (10, 0.5, 10, 1.0 / 1024.0),
            (3, 0.25, 1, 1.0 - 27.0 / 64.0),
            (4, 0.75, 4, 81.0 / 256.0),
            (1, 0.3, 1, 0.3),
        ] {
            assert!((at_least(n, p, m) - value).abs() < 1e-14, "n {n} p {p} m {m}");
        }
    }

    #[test]
    fn the_two_tails_add_up_to_one_for_any_size() {
        for n in [1, 2, 9, 30, 61, 1000, 100_000] {
            for p in [1e-9, 0.01, 0.3, 0.5, 0.77, 1.0 - 1e-9] {
                for m in [1, n / 3 + 1, n / 2 + 1, n] {
                    let both = at_least(n, p, m) + at_least(n, 1.0 - p, n + 1 - m);
                    assert!((both - 1.0).abs() < 1e-11, "n {n} p {p} m {m}: {both}");
                }
            }
        }
    }

    #[test]
    fn certain_and_impossible_events_have_probability_one_and_zero() {
        assert_eq!(at_least(5, 0.2, 0), 1.0);
        assert_eq!(at_least(5, 0.2, 6), 0.0);
        assert_eq!(at_least(5, 0.0, 1), 0.0);
        assert_eq!(at_least(5, 1.0, 5), 1.0);
    }
}
