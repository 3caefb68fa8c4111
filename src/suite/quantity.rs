//! Durations, sizes, percentages, rates: strict text to numbers in base units, the way back too.

use super::error::Invalid;
use super::metric::Unit;

const TIME_UNITS: [(&str, u128); 8] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    // The Greek letter looks the same as the micro sign.
    ("μs", 1_000),
    ("ns", 1),
];

const SIZE_UNITS: [(&str, u128); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

const TIME_HELP: &str = "units are ns, us, ms, s, m, h, as in \"500ms\" or \"1m30s\"";
const SIZE_HELP: &str = "units are B, KB, MB, GB, TB and KiB, MiB, GiB, TiB, as in \"4MiB\"";

/// A duration such as `500ms` or `1m30s`, in nanoseconds: units from large to small, a fraction in the last part only,
/// in all a whole number of nanoseconds.
pub fn parse_duration(text: &str) -> Result<u64, Invalid> {
    check_start(text, "a duration", TIME_HELP, &["s", "ms"])?;
    let mut total: u128 = 0;
    let mut smallest = u128::MAX;
    let mut fraction_seen = false;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, unit_text, behind) = split_part(rest);
        let factor = factor_of(unit_text, &TIME_UNITS).ok_or_else(|| {
            Invalid::with_help(format!("`{unit_text}` is not a unit of time"), time_hint(unit_text))
        })?;
        if number.is_empty() || fraction_seen {
            return Err(Invalid::with_help("is not a duration", TIME_HELP));
        }
        if smallest <= factor {
            return Err(Invalid::with_help(
                "its units do not go from large to small, each once",
                "write it like \"1h2m3s\"",
            ));
        }
        fraction_seen = number.contains('.');
        smallest = factor;
        total = total.saturating_add(scale(number, factor, "nanoseconds", "1ns is the smallest step")?);
        rest = behind;
    }
    u64::try_from(total).map_err(|_| Invalid::new("is more nanoseconds than can be held"))
}

/// A size such as `64KB` or `1.5MiB`, in bytes: one number, one unit, in all a whole number of bytes.
pub fn parse_size(text: &str) -> Result<u64, Invalid> {
    check_start(text, "a size", SIZE_HELP, &["KiB"])?;
    let (number, unit_text, behind) = split_part(text);
    let factor = factor_of(unit_text, &SIZE_UNITS).ok_or_else(|| {
        let right = SIZE_UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit_text));
        let help = match right {
            Some((name, _)) => format!("did you mean `{name}`? {SIZE_HELP}"),
            None => SIZE_HELP.to_owned(),
        };
        Invalid::with_help(format!("`{unit_text}` is not a unit of size"), help)
    })?;
    if number.is_empty() || !behind.is_empty() {
        return Err(Invalid::with_help("is not a size", SIZE_HELP));
    }
    let bytes = scale(number, factor, "bytes", "1B is the smallest step")?;
    u64::try_from(bytes).map_err(|_| Invalid::new("is more bytes than can be held"))
}

/// A percentage such as `10%`, as 10.
pub fn parse_percent(text: &str) -> Result<f64, Invalid> {
    let number = text
        .strip_suffix('%')
        .ok_or_else(|| Invalid::with_help("has no percent sign", "write it like \"10%\""))?;
    parse_decimal(number).map_err(|_| Invalid::with_help("is not a percentage", "write it like \"10%\""))
}

/// A plain number without sign or exponent, such as `12` or `0.5`.
pub fn parse_decimal(text: &str) -> Result<f64, Invalid> {
    let wrong = || Invalid::with_help("is not a plain number", "write it like 12 or 0.5");
    if !is_decimal(text) {
        return Err(wrong());
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wrong)
}

/// A whole count such as `1200`.
pub fn parse_count(text: &str) -> Result<f64, Invalid> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Invalid::with_help("is not a whole number", "write a count like 1200"));
    }
    parse_decimal(text)
}

/// A rate: a number of work units per second.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// Work units a second; bytes a second where the unit is a size.
    pub per_second: f64,
    /// The work unit as written (`bytes` for sizes); `None` for a bare `1000/s`.
    pub unit: Option<String>,
}

/// A rate such as `1000/s`, `200 MB/s` or `1000 operations/s`.
pub fn parse_rate(text: &str) -> Result<Rate, Invalid> {
    const HELP: &str = "write it like \"1000/s\", \"200MB/s\" or \"1000 operations/s\"";
    let wrong = || Invalid::with_help("is not a rate", HELP);
    let amount =
        text.strip_suffix("/s").ok_or_else(|| Invalid::with_help("is not a rate per second", HELP))?;
    let end = amount.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(amount.len());
    let number = parse_decimal(&amount[..end]).map_err(|_| wrong())?;
    let unit = amount[end..].trim();
    if unit.is_empty() {
        return Ok(Rate { per_second: number, unit: None });
    }
    if unit.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(wrong());
    }
    match factor_of(unit, &SIZE_UNITS) {
        // Every size factor is far below 2^53.
        Some(factor) => Ok(Rate { per_second: number * factor as f64, unit: Some("bytes".to_owned()) }),
        None => Ok(Rate { per_second: number, unit: Some(unit.to_owned()) }),
    }
}

/// An amount of that unit, in its base unit. Rates lose their work unit; see [`parse_rate`].
pub fn parse_amount(text: &str, unit: &Unit) -> Result<f64, Invalid> {
    match unit {
        Unit::Nanoseconds => parse_duration(text).map(|ns| ns as f64),
        Unit::Bytes => parse_size(text).map(|bytes| bytes as f64),
        Unit::Count => parse_count(text),
        Unit::Percent => match text.strip_suffix('%') {
            Some(_) => parse_percent(text),
            None => parse_decimal(text),
        },
        Unit::PerSecond => parse_rate(text).map(|rate| rate.per_second),
        Unit::Own(_) => parse_decimal(text),
    }
}

/// What an amount in the unit of that word is multiplied by to be in the base unit; `None` for a word that is not one
/// of its units.
pub(crate) fn unit_factor(word: &str, unit: &Unit) -> Option<f64> {
    // Every factor is far below 2^53.
    match unit {
        Unit::Nanoseconds => factor_of(word, &TIME_UNITS).map(|factor| factor as f64),
        Unit::Bytes if matches!(word, "bytes" | "byte") => Some(1.0),
        Unit::Bytes => factor_of(word, &SIZE_UNITS).map(|factor| factor as f64),
        Unit::Percent if word == "%" => Some(1.0),
        Unit::PerSecond if word == "/s" => Some(1.0),
        other => (other.name() == word).then_some(1.0),
    }
}

/// A duration in the form [`parse_duration`] reads, exactly.
pub fn format_duration(ns: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    if ns == 0 {
        return "0s".to_owned();
    }
    if ns < SECOND {
        return fraction(ns, &[("ms", 1_000_000), ("us", 1_000), ("ns", 1)]);
    }
    let (minutes, below) = (ns / (60 * SECOND), ns % (60 * SECOND));
    let mut text = String::new();
    if 60 <= minutes {
        text.push_str(&format!("{}h", minutes / 60));
    }
    if !minutes.is_multiple_of(60) {
        text.push_str(&format!("{}m", minutes % 60));
    }
    if below != 0 {
        text.push_str(&fraction(below, &[("s", SECOND), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)]));
    }
    text
}

/// A size in the form [`parse_size`] reads, exactly.
pub fn format_size(bytes: u64) -> String {
    let divides = |&(_, factor): &(&str, u128)| 0 < bytes && u128::from(bytes).is_multiple_of(factor);
    let shortest = SIZE_UNITS
        .iter()
        .filter(|unit| divides(unit))
        .map(|(name, factor)| format!("{}{name}", u128::from(bytes) / factor))
        .min_by_key(String::len);
    shortest.unwrap_or_else(|| format!("{bytes}B"))
}

/// An amount in its base unit, in the form [`parse_amount`] reads where the number allows it.
pub fn format_amount(amount: f64, unit: &Unit) -> String {
    // Limits come from whole numbers below 2^64; what is no such number is shown in the base unit as it is.
    let whole = amount.fract().abs() <= 0.0 && (0.0..9e15).contains(&amount);
    match unit {
        Unit::Nanoseconds if whole => format_duration(amount as u64),
        Unit::Bytes if whole => format_size(amount as u64),
        Unit::Nanoseconds => format!("{amount}ns"),
        Unit::Bytes => format!("{amount}B"),
        Unit::Count => format!("{amount}"),
        Unit::Percent => format!("{amount}%"),
        Unit::PerSecond => format!("{amount}/s"),
        Unit::Own(name) => format!("{amount} {name}"),
    }
}

/// The first unit in which the amount has at most three decimals and a whole part; the last unit otherwise.
fn fraction(amount: u64, units: &[(&str, u64)]) -> String {
    for &(name, factor) in units {
        if factor <= amount && (amount % factor).is_multiple_of((factor / 1_000).max(1)) {
            let decimals = amount % factor / (factor / 1_000).max(1);
            let text = format!("{}.{decimals:03}", amount / factor);
            return format!("{}{name}", text.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    format!("{amount}ns")
}

fn is_decimal(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(part)
}

fn check_start(text: &str, what: &str, help: &str, example_units: &[&str]) -> Result<(), Invalid> {
    if text.is_empty() {
        return Err(Invalid::with_help(format!("is empty, not {what}"), help));
    }
    if text.starts_with('-') {
        return Err(Invalid::with_help("is negative", help));
    }
    if is_decimal(text) {
        let examples: Vec<String> = example_units.iter().map(|unit| format!("\"{text}{unit}\"")).collect();
        return Err(Invalid::with_help(
            "is a bare number without a unit",
            format!("write it like {}; {help}", examples.join(" or ")),
        ));
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Invalid::with_help(format!("is not {what}"), help));
    }
    if text.contains(char::is_whitespace) {
        let tight: String = text.split_whitespace().collect();
        return Err(Invalid::with_help("has a space in it", format!("write \"{tight}\"")));
    }
    Ok(())
}

/// The number, the unit behind it, the rest.
fn split_part(text: &str) -> (&str, &str, &str) {
    let number_char = |c: char| c.is_ascii_digit() || c == '.';
    let unit_at = text.find(|c| !number_char(c)).unwrap_or(text.len());
    let (number, behind) = text.split_at(unit_at);
    let end = behind.find(number_char).unwrap_or(behind.len());
    let (unit, rest) = behind.split_at(end);
    (number, unit, rest)
}

fn factor_of(unit: &str, units: &[(&str, u128)]) -> Option<u128> {
    units.iter().find(|(name, _)| *name == unit).map(|&(_, factor)| factor)
}

fn time_hint(unit: &str) -> String {
    let right = match unit.to_ascii_lowercase().as_str() {
        "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hour" | "hours" | "hr" => "h",
        "msec" | "millis" => "ms",
        "usec" | "micros" => "us",
        "nsec" | "nanos" => "ns",
        lower => match TIME_UNITS.iter().find(|(name, _)| *name == lower) {
            Some((name, _)) => name,
            None => return TIME_HELP.to_owned(),
        },
    };
    format!("did you mean `{right}`? {TIME_HELP}")
}

/// `number * factor`, exactly; an error when that is not whole.
fn scale(number: &str, factor: u128, base: &str, smallest: &str) -> Result<u128, Invalid> {
    let not_whole = || Invalid::with_help(format!("is not a whole number of {base}"), smallest);
    if !is_decimal(number) {
        return Err(Invalid::new(format!("`{number}` is not a number")));
    }
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let part = part.trim_end_matches('0');
    let too_large = || Invalid::new(format!("is more {base} than can be held"));
    let whole = whole.parse::<u128>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(too_large)?;
    if part.is_empty() {
        return Ok(whole);
    }
    // Fifteen decimals are more than the largest unit has in base units.
    if 15 < part.len() {
        return Err(not_whole());
    }
    let power = 10_u128.pow(part.len() as u32);
    let scaled = part.parse::<u128>().map_err(|_| not_whole())? * factor;
    if !scaled.is_multiple_of(power) {
        return Err(not_whole());
    }
    whole.checked_add(scaled / power).ok_or_else(too_large)
}
