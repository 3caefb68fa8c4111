//! Typed reading of one metadata table, every mistake collected.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::error::{Invalid, Place, Sink, as_written};
use super::keys::{self, Level, Table, nearest};
use super::layers::Set;
use super::quantity::{format_duration, parse_duration, parse_percent};
use super::ranges::SHOW_PERCENT;

type Parsed<T> = Result<T, Invalid>;

/// One table with its place.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    table: &'a Map<String, Value>,
    pub(super) place: Place,
}

impl<'a> Reader<'a> {
    /// The table at a place below `parent`; an error when it is none.
    pub(super) fn open(
        value: &'a Value,
        parent: &Place,
        key: &str,
        example: &str,
        sink: &mut Sink,
    ) -> Option<Self> {
        match value {
            Value::Object(table) if !table.contains_key("$__toml_private_datetime") => {
                Some(Self { table, place: parent.child(key) })
            }
            other => {
                let invalid = Invalid::with_help("is not a table", format!("write it like {example}"));
                sink.error(parent, key, Some(as_written(other)), invalid);
                None
            }
        }
    }

    /// The table of an array's element.
    pub(super) fn of_element(table: &'a Map<String, Value>, place: Place) -> Self {
        Self { table, place }
    }

    /// Complains of every key that cannot stand here.
    pub(super) fn check_keys(&self, table: Table, level: Level, sink: &mut Sink) {
        for (key, value) in self.table {
            if let Some(invalid) = keys::complaint(table, level, key) {
                sink.error(&self.place, key, Some(as_written(value)), invalid);
            }
        }
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a Value> {
        self.table.get(key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.table.iter()
    }

    /// The sub-table of that key.
    pub(super) fn child(&self, key: &str, example: &str, sink: &mut Sink) -> Option<Self> {
        Self::open(self.table.get(key)?, &self.place, key, example, sink)
    }

    /// The value of that key; `None` when it is absent or wrong.
    pub(super) fn read<T>(
        &self,
        key: &str,
        sink: &mut Sink,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Option<Set<T>> {
        let value = self.table.get(key)?;
        match parse(value) {
            Ok(parsed) => Some(Set { value: parsed, written: as_written(value), place: self.place.clone() }),
            Err(invalid) => {
                sink.error(&self.place, key, Some(as_written(value)), invalid);
                None
            }
        }
    }
}

/// A whole number of that range.
pub(super) fn whole(range: RangeInclusive<u32>) -> impl FnOnce(&Value) -> Parsed<u32> {
    move |value| {
        let (low, high) = (*range.start(), *range.end());
        let help = format!("write a whole number from {low} to {high}");
        match value {
            Value::Number(number) => match number.as_i64() {
                Some(n) => u32::try_from(n)
                    .ok()
                    .filter(|n| range.contains(n))
                    .ok_or_else(|| Invalid::with_help("is out of range", help)),
                None => Err(Invalid::with_help("is not a whole number", help)),
            },
            _ => Err(Invalid::with_help("is not a whole number", help)),
        }
    }
}

/// A number of that range.
pub(super) fn number(range: RangeInclusive<f64>) -> impl FnOnce(&Value) -> Parsed<f64> {
    move |value| {
        let help = format!("write a number from {} to {}", range.start(), range.end());
        match value.as_f64() {
            Some(n) if range.contains(&n) => Ok(n),
            Some(_) => Err(Invalid::with_help("is out of range", help)),
            None => Err(Invalid::with_help("is not a number", help)),
        }
    }
}

/// A percentage: a number or text like `10%`.
pub(super) fn percent(value: &Value) -> Parsed<f64> {
    const HELP: &str = "write it like 10 or \"10%\"";
    match value {
        Value::Number(number) => number.as_f64().ok_or_else(|| Invalid::with_help("is not a number", HELP)),
        Value::String(text) => {
            parse_percent(text).map_err(|invalid| Invalid::with_help(invalid.problem, HELP))
        }
        _ => Err(Invalid::with_help("is not a percentage", HELP)),
    }
}

/// Tolerated degradation in per cent.
pub(super) fn max_percent(value: &Value) -> Parsed<f64> {
    let percent = percent(value)?;
    check_max_percent(percent)
}

/// Above 0, at most 1000.
pub(super) fn check_max_percent(percent: f64) -> Parsed<f64> {
    if 0.0 < percent && percent <= 1000.0 {
        return Ok(percent);
    }
    Err(Invalid::with_help("is out of range", "write a percentage above 0 and at most 1000"))
}

/// A percentage from 0 to that.
pub(super) fn percent_up_to(most: f64) -> impl FnOnce(&Value) -> Parsed<f64> {
    move |value| {
        let percent = percent(value)?;
        if (0.0..=most).contains(&percent) {
            return Ok(percent);
        }
        Err(Invalid::with_help("is out of range", format!("write a percentage from 0 to {most}")))
    }
}

/// A percentage from 0 to 1000.
pub(super) fn show_percent(value: &Value) -> Parsed<f64> {
    let percent = percent(value)?;
    if SHOW_PERCENT.contains(&percent) {
        return Ok(percent);
    }
    Err(Invalid::with_help("is out of range", "write a percentage from 0 to 1000"))
}

/// Text like `1%`, as a ratio above 0 and at most 1.
pub(super) fn ratio(value: &Value) -> Parsed<f64> {
    const HELP: &str = "write it like \"1%\", above 0 and at most \"100%\"";
    let text = value.as_str().ok_or_else(|| Invalid::with_help("is not text with a percent sign", HELP))?;
    let percent = parse_percent(text).map_err(|invalid| Invalid::with_help(invalid.problem, HELP))?;
    if 0.0 < percent && percent <= 100.0 {
        return Ok(percent / 100.0);
    }
    Err(Invalid::with_help("is out of range", HELP))
}

/// A duration of that range, in ns.
pub(super) fn duration(range: RangeInclusive<u64>) -> impl FnOnce(&Value) -> Parsed<u64> {
    move |value| {
        let ns = match value {
            Value::String(text) => parse_duration(text)?,
            Value::Number(number) => {
                let plain = number.to_string();
                return Err(match parse_duration(&plain) {
                    Err(invalid) => invalid,
                    Ok(_) => Invalid::new("is a bare number without a unit"),
                });
            }
            _ => return Err(Invalid::with_help("is not a duration", "write it like \"500ms\" or \"1m30s\"")),
        };
        if range.contains(&ns) {
            return Ok(ns);
        }
        let (low, high) = (format_duration(*range.start()), format_duration(*range.end()));
        Err(Invalid::with_help("is out of range", format!("write a duration from {low} to {high}")))
    }
}

pub(super) fn boolean(value: &Value) -> Parsed<bool> {
    value
        .as_bool()
        .ok_or_else(|| Invalid::with_help("is not true or false", "write true or false without quotes"))
}

/// Text that is not empty and holds no control characters.
pub(super) fn text(value: &Value) -> Parsed<String> {
    let text = value.as_str().ok_or_else(|| Invalid::with_help("is not text", "write it in quotes"))?;
    if text.trim().is_empty() {
        return Err(Invalid::with_help("is empty", "write some text, or leave the key out"));
    }
    if text.chars().any(char::is_control) {
        return Err(Invalid::with_help("holds control characters", "leave these out"));
    }
    Ok(text.to_owned())
}

/// A list of text.
pub(super) fn texts(value: &Value) -> Parsed<Vec<String>> {
    const HELP: &str = "write it like [\"a\", \"b\"]";
    let items = value.as_array().ok_or_else(|| Invalid::with_help("is not a list", HELP))?;
    items
        .iter()
        .map(|item| {
            item.as_str().map(str::to_owned).ok_or_else(|| {
                Invalid::with_help(format!("holds {}, which is not text", as_written(item)), HELP)
            })
        })
        .collect()
}

/// One of the words.
pub(super) fn word<T: Copy>(
    all: &'static [T],
    as_str: fn(T) -> &'static str,
) -> impl FnOnce(&Value) -> Parsed<T> {
    move |value| one_of(value, all, as_str)
}

/// A list of such words.
pub(super) fn words<T: Copy>(
    all: &'static [T],
    as_str: fn(T) -> &'static str,
) -> impl FnOnce(&Value) -> Parsed<Vec<T>> {
    move |value| {
        let known: Vec<_> = all.iter().map(|&word| as_str(word)).collect();
        let help = || format!("write a list of {}", known.join(", "));
        let items = value.as_array().ok_or_else(|| Invalid::with_help("is not a list", help()))?;
        items.iter().map(|item| one_of(item, all, as_str)).collect()
    }
}

fn one_of<T: Copy>(value: &Value, all: &'static [T], as_str: fn(T) -> &'static str) -> Parsed<T> {
    let known: Vec<_> = all.iter().map(|&word| as_str(word)).collect();
    let Some(text) = value.as_str() else {
        let help = format!("write one of \"{}\"", known.join("\", \""));
        return Err(Invalid::with_help("is not text", help));
    };
    if let Some(&word) = all.iter().find(|&&word| as_str(word) == text) {
        return Ok(word);
    }
    let help = match nearest(text, &known) {
        Some(near) => format!("did you mean \"{near}\"? known are {}", known.join(", ")),
        None => format!("known are {}", known.join(", ")),
    };
    Err(Invalid::with_help(format!("{text:?} is not a known word"), help))
}
