//! Numbers as people read them: the largest unit that keeps them at 1 or more, four significant digits.

use crate::suite::metric::Unit;

use super::text::visible;

/// What stands where there is no number.
pub const NONE: &str = "-";

const TIME: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const BYTES: [(f64, &str); 5] = [
    (1_099_511_627_776.0, "TiB"),
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1024.0, "KiB"),
    (1.0, "B"),
];
const COUNTS: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
/// Counts and rates stay plain below this: 3 k hides more than 3000 does.
const PLAIN_COUNTS_BELOW: f64 = 1e4;
/// From here on digits without an exponent would be a wall of zeros, and push all other columns away.
const MOST_PLAIN: f64 = 1e9;
const LEAST_PLAIN: f64 = 1e-9;

/// A value of a metric with its unit, such as `12.31 µs`; `-` for one that is not finite.
pub fn value(value: f64, unit: &Unit) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match unit {
        Unit::Nanoseconds => scaled(value, &TIME).to_string(),
        Unit::Bytes => scaled(value, &BYTES).to_string(),
        Unit::Count => count(value).to_string(),
        Unit::Percent => format!("{} %", digits(value)),
        Unit::PerSecond => {
            let Scaled { number, unit } = count(value);
            format!("{number} {unit}/s")
        }
        Unit::Own(name) if name.is_empty() => count(value).to_string(),
        Unit::Own(name) => format!("{} {}", count(value), visible(name)),
    }
}

/// The divisor and the name of the unit that [`value`] shows such a value in.
pub fn scale(value: f64, unit: &Unit) -> (f64, String) {
    let of = |units: &[(f64, &str)]| {
        let fits = units.iter().find(|(size, _)| 1.0 <= significant(value / size, 4).abs());
        let &(size, name) = fits.or(units.last()).expect("every table of units has one");
        (size, name.to_owned())
    };
    match unit {
        Unit::Nanoseconds => of(&TIME),
        Unit::Bytes => of(&BYTES),
        Unit::Count => (1.0, "counts".to_owned()),
        Unit::Percent => (1.0, "%".to_owned()),
        Unit::PerSecond => (1.0, "/s".to_owned()),
        Unit::Own(name) => (1.0, name.to_string()),
    }
}

/// Like [`value`], and `-` where there is none.
pub fn optional(number: Option<f64>, unit: &Unit) -> String {
    number.map_or_else(|| NONE.to_owned(), |number| value(number, unit))
}

/// A change in per cent with its sign, such as `+26.1 %`.
pub fn change(percent: f64) -> String {
    if !percent.is_finite() {
        return NONE.to_owned();
    }
    format!("{} %", signed(percent, decimals(percent)))
}

/// A change with the ends of its interval, such as `+26.1 % [24.9, 27.3]`, all with the same number of decimals.
pub fn change_with_interval(percent: f64, low: f64, high: f64) -> String {
    if !(percent.is_finite() && low.is_finite() && high.is_finite()) {
        return change(percent);
    }
    let places = [percent, low, high].map(decimals).into_iter().min().unwrap_or(1);
    let end = |number: f64| signed(number, places).trim_start_matches('+').to_owned();
    format!("{} % [{}, {}]", signed(percent, places), end(low), end(high))
}

/// A limit in per cent without needless zeros: `10 %`, `9.09 %`, `0.1 %`.
pub fn limit(percent: f64) -> String {
    format!("{} %", trimmed(percent, 2))
}

/// A ratio as per cent, for dispersions: 0.62 is `62 %`.
pub fn ratio(ratio: f64) -> String {
    limit(if ratio < 0.1 { ratio * 100.0 } else { (ratio * 100.0).round() })
}

/// A probability with three decimals; with four where it comes close to the one needed.
pub fn probability(probability: f64) -> String {
    format!("{probability:.3}")
}

/// A p-value; a small one is not shown as 0.
pub fn p_value(p: f64) -> String {
    if p < 0.0005 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// A probability and the one it needed, with enough decimals to tell them apart.
pub fn probability_of(probability: f64, needed: f64) -> (String, String) {
    let places = (2..=6).find(|&places| format!("{probability:.places$}") != format!("{needed:.places$}"));
    let places = places.unwrap_or(3).max(3);
    (format!("{probability:.places$}"), trimmed(needed, 6))
}

/// Without needless zeros, rounded to so many decimals at most.
fn trimmed(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn decimals(percent: f64) -> usize {
    match percent.abs() {
        small if small < 0.995 => 2,
        middle if middle < 999.95 => 1,
        _ => 0,
    }
}

/// With its sign; what rounds to 0 has none.
fn signed(number: f64, places: usize) -> String {
    if MOST_PLAIN <= number.abs() {
        return format!("{number:+.3e}");
    }
    let text = format!("{number:+.places$}");
    let is_zero = text.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'0' | b'.'));
    if is_zero { text[1..].to_owned() } else { text }
}

/// A number and the unit it was scaled to.
struct Scaled {
    number: String,
    unit: &'static str,
}

impl std::fmt::Display for Scaled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.number)?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

fn count(value: f64) -> Scaled {
    if significant(value, 4).abs() < PLAIN_COUNTS_BELOW {
        return Scaled { number: digits(value), unit: "" };
    }
    scaled(value, &COUNTS)
}

/// In the largest unit that keeps the rounded number at 1 or more, else in the smallest.
fn scaled(value: f64, units: &[(f64, &'static str)]) -> Scaled {
    let fits = units.iter().find(|(size, _)| 1.0 <= significant(value / size, 4).abs());
    let &(size, unit) = fits.or(units.last()).expect("every table of units has one");
    let number = value / size;
    Scaled { number: digits(number), unit }
}

/// Four significant digits; whole numbers of the smallest unit stay whole.
fn digits(number: f64) -> String {
    let rounded = significant(number, 4);
    if rounded == 0.0 {
        return "0".to_owned();
    }
    if !(LEAST_PLAIN..MOST_PLAIN).contains(&rounded.abs()) {
        return format!("{rounded:.3e}");
    }
    let magnitude = rounded.abs().log10().floor() as i32;
    let places = (3 - magnitude).clamp(0, 12) as usize;
    let is_whole = number.fract() == 0.0;
    format!("{rounded:.*}", if is_whole { 0 } else { places })
}

/// Rounded to so many significant digits, so that the unit is chosen by what will be shown (999.99 ns is 1 µs).
fn significant(number: f64, count: usize) -> f64 {
    format!("{number:.*e}", count - 1).parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_in_the_largest_unit_that_keeps_it_at_1() {
        let ns = |number| value(number, &Unit::Nanoseconds);
        assert_eq!(ns(0.0), "0 ns");
        assert_eq!(ns(0.53211), "0.5321 ns");
        assert_eq!(ns(6.0), "6 ns");
        assert_eq!(ns(10.237), "10.24 ns");
        assert_eq!(ns(999.94), "999.9 ns");
        assert_eq!(ns(999.96), "1.000 µs");
        assert_eq!(ns(3e9), "3 s");
        assert_eq!(ns(12_310.0), "12.31 µs");
        assert_eq!(ns(1.5e6), "1.500 ms");
        assert_eq!(ns(-1.5e9), "-1.500 s");
        assert_eq!(ns(7.2e12), "7200 s");
        assert_eq!(ns(f64::NAN), "-");
        assert_eq!(ns(1e307), "1.000e298 s");
        assert_eq!(ns(-2e-300), "-2.000e-300 ns");
        assert_eq!(value(512.0, &Unit::Bytes), "512 B");
        assert_eq!(value(1_048_576.0 * 7.25, &Unit::Bytes), "7.250 MiB");
        assert_eq!(value(1023.99, &Unit::Bytes), "1.000 KiB");
    }

    #[test]
    fn counts_and_rates_are_plain_up_to_four_digits() {
        assert_eq!(value(9999.0, &Unit::Count), "9999");
        assert_eq!(value(38_284.0, &Unit::Count), "38.28 k");
        assert_eq!(value(9_999.9, &Unit::PerSecond), "10.00 k/s");
        assert_eq!(value(3.5e6, &Unit::PerSecond), "3.500 M/s");
        assert_eq!(value(12.0, &Unit::PerSecond), "12 /s");
        assert_eq!(value(150.0, &Unit::Percent), "150 %");
        assert_eq!(value(12.5, &Unit::Own("tokens".into())), "12.50 tokens");
        assert_eq!(value(12.5, &Unit::Own("".into())), "12.50");
    }

    #[test]
    fn changes_have_signs_and_one_precision() {
        assert_eq!(change_with_interval(26.09, 24.91, 27.3), "+26.1 % [24.9, 27.3]");
        assert_eq!(change_with_interval(-0.04, -0.31, 0.2), "-0.04 % [-0.31, 0.20]");
        assert_eq!(change(-0.001), "0.00 %");
        assert_eq!(change(12_345.6), "+12346 %");
        assert_eq!(change(f64::INFINITY), "-");
        assert_eq!(change_with_interval(1e300, 4.0, 2e300), "+1.000e300 % [4, 2.000e300]");
        assert_eq!(limit(10.0), "10 %");
        assert_eq!(limit(9.090909), "9.09 %");
        assert_eq!(ratio(0.5), "50 %");
        assert_eq!(ratio(0.0312), "3.12 %");
    }

    #[test]
    fn a_probability_short_of_the_needed_one_never_looks_equal_to_it() {
        assert_eq!(probability_of(0.623, 0.95), ("0.623".to_owned(), "0.95".to_owned()));
        assert_eq!(probability_of(0.99779, 0.9978), ("0.99779".to_owned(), "0.9978".to_owned()));
    }
}
