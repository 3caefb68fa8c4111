//! Our own line protocol: any program reports named metrics on its standard output, one to a line.
//!
//! `benchgate: ID METRIC VALUE UNIT [better=higher|lower] [iterations=N]`. All other lines are the program's own.

use std::str::CharIndices;
use std::time::Duration;

use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::quantity::unit_factor;
use crate::verdict::evidence::{ErrorKind, Values};

use super::contract::{
    CommandSpec, DeclaredMetric, Executable, HarnessError, Measurement, ResolvedLaunch, RunBudget, RunOutput,
    Selection,
};
use super::ending;

/// What a line of the protocol begins with.
const PREFIX: &str = "benchgate:";
const SHAPE: &str = "write `benchgate: ID METRIC VALUE UNIT`, then `iterations=N` or `better=higher` if need be; an id with \
                     spaces goes in double quotes";
/// The list is the output of one whole run, so it may take as long as one. Callers that know better lower it.
const LIST_TIMEOUT: Duration = Duration::from_secs(600);

pub(super) fn list_command(executable: &Executable, launch: &ResolvedLaunch) -> CommandSpec {
    run_command(executable, launch, RunBudget::from(LIST_TIMEOUT))
}

/// The program knows no selection: every run of it measures all it has.
pub(super) fn run_command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    budget: RunBudget,
) -> CommandSpec {
    CommandSpec { capture_stdout: true, ..super::process::run_command(executable, launch, budget) }
}

/// The ids a whole run printed. Only ids are looked at: what is wrong with a value is an error of its benchmark alone.
pub(super) fn parse_list(output: &RunOutput) -> Result<Vec<String>, HarnessError> {
    let mut ids: Vec<String> = Vec::new();
    for line in protocol_lines(&output.stdout) {
        let (id, _) = split_id(&line).map_err(|why| malformed(&line, &why))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    // Which exit codes are a success is the launch's to say, and is checked of every unit run.
    if ids.is_empty() {
        ending::check(output, &[0]).map_err(|error| {
            HarnessError::new(error.kind, format!("listing by a run of the program failed: {error}"))
        })?;
    }
    Ok(ids)
}

pub(super) fn parse_run(
    selection: &Selection<'_>,
    launch: &ResolvedLaunch,
    output: &RunOutput,
) -> Result<Vec<Measurement>, HarnessError> {
    let mut found: Vec<Measurement> = Vec::new();
    for line in protocol_lines(&output.stdout) {
        let (id, rest) = split_id(&line).map_err(|why| malformed(&line, &why))?;
        if matches!(selection, Selection::One(one) if *one != id) {
            continue;
        }
        let (metric, value) = reading(rest, &launch.facts.metrics).map_err(|why| malformed(&line, &why))?;
        let place = found.iter().position(|measurement| measurement.id == id).unwrap_or_else(|| {
            found.push(Measurement { id, values: Values::default(), overlong: false, stated_work: None });
            found.len() - 1
        });
        // The last line of an id and a metric is the one that counts.
        found[place].values.set(metric, value);
    }
    match selection {
        _ if !found.is_empty() => Ok(found),
        Selection::One(id) => Err(HarnessError::new(
            ErrorKind::MeasuredNothing,
            format!(
                "the program exited with success and printed no `benchgate:` line for `{id}`; an id that changes from run to \
                 run makes this"
            ),
        )),
        Selection::All => Err(HarnessError::new(
            ErrorKind::MeasuredNothing,
            format!("the program exited with success and printed no `benchgate:` line at all; {SHAPE}"),
        )),
    }
}

/// The lines of the protocol, without their ends. Bytes that are no text become replacement characters.
fn protocol_lines(stdout: &[u8]) -> impl Iterator<Item = String> {
    stdout
        .split(|&byte| byte == b'\n')
        .filter(|line| line.starts_with(PREFIX.as_bytes()))
        .map(|line| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}

/// The id of a line, and what stands behind it.
fn split_id(line: &str) -> Result<(String, &str), String> {
    let text = line.strip_prefix(PREFIX).unwrap_or(line);
    if !text.starts_with([' ', '\t']) {
        return Err("there is no space after `benchgate:`".to_owned());
    }
    let text = text.trim_start_matches([' ', '\t']);
    let (id, rest) = match text.strip_prefix('"') {
        None => {
            let end = text.find([' ', '\t']).unwrap_or(text.len());
            (text[..end].to_owned(), &text[end..])
        }
        Some(quoted) => unquote(quoted)?,
    };
    match id.is_empty() {
        true => Err("the id is empty".to_owned()),
        false => Ok((id, rest)),
    }
}

/// The text up to the closing quote.
fn unquote(quoted: &str) -> Result<(String, &str), String> {
    let mut id = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                let rest = &quoted[at + 1..];
                if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
                    return Err("the quoted id is not followed by a space".to_owned());
                }
                return Ok((id, rest));
            }
            '\\' => id.push(escape(&mut characters)?),
            other => id.push(other),
        }
    }
    Err("the quoted id does not end".to_owned())
}

/// The character of an escape, of which the backslash is read: those that Rust's `{:?}` prints.
fn escape(characters: &mut CharIndices<'_>) -> Result<char, String> {
    let wrong = || r#"in a quoted id, `\` stands before `"`, `\`, `n`, `r`, `t` or `u{…}` only"#.to_owned();
    let mut next = || characters.next().map(|(_, character)| character).ok_or_else(wrong);
    Ok(match next()? {
        escaped @ ('"' | '\\' | '\'') => escaped,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        'u' if next()? == '{' => {
            let mut code: u32 = 0;
            loop {
                match next()? {
                    '}' => break,
                    digit => {
                        let digit = digit.to_digit(16).ok_or_else(wrong)?;
                        code = code
                            .checked_mul(16)
                            .and_then(|code| code.checked_add(digit))
                            .ok_or_else(wrong)?;
                    }
                }
            }
            char::from_u32(code).ok_or_else(wrong)?
        }
        _ => return Err(wrong()),
    })
}

/// Metric, value and unit, in the base unit and for one iteration.
fn reading(text: &str, declared: &[DeclaredMetric]) -> Result<(Metric, f64), String> {
    let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty());
    let (Some(name), Some(number), Some(unit)) = (words.next(), words.next(), words.next()) else {
        return Err("metric, value and unit are not all there".to_owned());
    };
    let options = Options::parse(words)?;
    if name.chars().any(char::is_control) {
        return Err(format!("`{name}` is not the name of a metric"));
    }
    let metric = Metric::from_name(name);
    if !metric.is_comparable() || metric == Metric::Throughput {
        return Err(format!("`{name}` is derived or measured by benchgate itself, and cannot be reported"));
    }
    let value: f64 = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
    if !value.is_finite() {
        return Err(format!("`{number}` is not a finite number"));
    }
    let declared = declared.iter().find(|declared| declared.metric == metric);
    let (expected, better) = match (metric.unit(), declared) {
        (Some(unit), _) => (Some(unit), Some(Better::Lower)),
        (None, Some(declared)) => (Some(declared.unit.clone()), Some(declared.better)),
        (None, None) => (None, None),
    };
    if value.is_sign_negative() && value != 0.0 && metric.unit().is_some() {
        return Err(format!("`{name}` is never negative"));
    }
    if let (Some(stated), Some(better)) = (options.better, better)
        && stated != better
    {
        let direction = if better == Better::Lower { "lower" } else { "higher" };
        let whose = if metric.unit().is_some() { "is built in" } else { "is declared in the suite" };
        return Err(format!("`{name}` {whose}, and better when it is {direction}"));
    }
    let factor = factor(&metric, unit, expected.as_ref())?;
    Ok((metric, value * factor / options.iterations))
}

/// What a value in that unit is multiplied by to be in the base unit.
fn factor(metric: &Metric, word: &str, expected: Option<&Unit>) -> Result<f64, String> {
    let Some(expected) = expected else {
        // Nobody says what it is in, so what looks like a time or a size is taken for one.
        let families = [Unit::Nanoseconds, Unit::Bytes];
        return Ok(families.iter().find_map(|unit| unit_factor(word, unit)).unwrap_or(1.0));
    };
    unit_factor(word, expected).ok_or_else(|| {
        let right = match expected {
            Unit::Nanoseconds => "ns, us, µs, ms or s".to_owned(),
            Unit::Bytes => "bytes, KiB, MiB, GiB, KB, MB or GB".to_owned(),
            other => format!("`{}`", other.name()),
        };
        let whose = if metric.unit().is_some() { "is" } else { "is declared" };
        format!("`{word}` is not a unit of `{metric}`, which {whose} in {right}")
    })
}

/// What may stand behind the unit.
struct Options {
    better: Option<Better>,
    /// Above 0.
    iterations: f64,
}

impl Options {
    fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut options = Self { better: None, iterations: 1.0 };
        for word in words {
            match word.split_once('=') {
                Some(("better", "lower")) => options.better = Some(Better::Lower),
                Some(("better", "higher")) => options.better = Some(Better::Higher),
                Some(("better", other)) => {
                    return Err(format!("`better={other}` is neither `better=lower` nor `better=higher`"));
                }
                Some(("iterations", count)) => {
                    let count = count.parse::<u64>().ok().filter(|count| 0 < *count);
                    let count = count.ok_or_else(|| format!("`{word}` is not a number of iterations"))?;
                    options.iterations = count as f64;
                }
                _ => return Err(format!("`{word}` is neither `iterations=N` nor `better=…`")),
            }
        }
        Ok(options)
    }
}

/// A long line is cut, so that a report stays readable.
fn malformed(line: &str, why: &str) -> HarnessError {
    let message = format!("the line `{}` cannot be read: {}; {SHAPE}", cut(line), cut(why));
    HarnessError::new(ErrorKind::MetricFailed, message)
}

fn cut(text: &str) -> String {
    const SHOWN: usize = 200;
    let mut characters = text.chars();
    let mut shown = String::new();
    for character in characters.by_ref().take(SHOWN) {
        // What a program prints must not move the cursor of the reader's terminal.
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}
