//! How an entry says its program is started.

use serde_json::Value;

use super::error::{Invalid, Sink, as_written};
use super::keys::{Level, Table};
use super::launch::{HarnessChoice, Work};
use super::layers::{LaunchLayer, Set};
use super::placeholder;
use super::reader::{Reader, number, text, texts, word};

/// The launch keys of an entry.
pub(super) fn read_launch(reader: &Reader<'_>, sink: &mut Sink) -> LaunchLayer {
    let mut launch = LaunchLayer {
        harness: reader.read("harness", sink, word(HarnessChoice::ALL, HarnessChoice::as_str)),
        args: reader.read("args", sink, |value| texts(value).and_then(with_placeholders)),
        cwd: reader.read("cwd", sink, path),
        stdin: reader.read("stdin", sink, path),
        exit_codes: reader.read("exit_codes", sink, exit_codes),
        work: read_work(reader, sink),
        setup: reader.read("setup", sink, commands),
        prepare_each: reader.read("prepare_each", sink, commands),
        cleanup: reader.read("cleanup", sink, commands),
        ..LaunchLayer::default()
    };
    if let Some(env) = reader.child("env", "env = { NAME = \"value\" }", sink) {
        for (name, _) in env.iter() {
            if !placeholder::is_variable_name(name) {
                let invalid =
                    Invalid::with_help("is not the name of a variable", "use letters, digits and `_`");
                sink.error(&env.place, name, None, invalid);
                continue;
            }
            let value = env.read(name, sink, |value| {
                let text = value
                    .as_str()
                    .ok_or_else(|| Invalid::with_help("is not text", "write the value in quotes"))?;
                if text.contains('\0') {
                    return Err(Invalid::new("holds a NUL character"));
                }
                placeholders(text)
            });
            launch.env.extend(value.map(|set| (name.clone(), set.value)));
        }
    }
    launch
}

fn placeholders(text: &str) -> Result<String, Invalid> {
    match placeholder::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => Err(Invalid::new(error.to_string())),
    }
}

fn with_placeholders(texts: Vec<String>) -> Result<Vec<String>, Invalid> {
    for text in &texts {
        if text.contains('\0') {
            return Err(Invalid::new("holds a NUL character"));
        }
        placeholders(text)?;
    }
    Ok(texts)
}

/// Commands, each a program with its arguments.
fn commands(value: &Value) -> Result<Vec<Vec<String>>, Invalid> {
    const HELP: &str = "write a list of commands, each a list of words, like [[\"./gen-data\", \"--big\"]]; no shell is started";
    let items = value.as_array().ok_or_else(|| Invalid::with_help("is not a list", HELP))?;
    items
        .iter()
        .map(|item| {
            let words = texts(item).map_err(|_| {
                let problem = format!("holds {}, which is no list of words", as_written(item));
                Invalid::with_help(problem, HELP)
            })?;
            match words.first() {
                None => Err(Invalid::with_help("holds an empty command", HELP)),
                Some(program) if program.trim().is_empty() => {
                    Err(Invalid::with_help("holds a command without a program", HELP))
                }
                Some(_) => with_placeholders(words),
            }
        })
        .collect()
}

fn path(value: &Value) -> Result<String, Invalid> {
    let path = text(value).and_then(|path| placeholders(&path))?;
    if path.starts_with('~') {
        return Err(Invalid::with_help("starts with `~`, which only a shell expands", "write ${env:HOME}"));
    }
    Ok(path)
}

fn exit_codes(value: &Value) -> Result<Vec<i32>, Invalid> {
    const HELP: &str = "write it like [0, 2]";
    let items = value.as_array().ok_or_else(|| Invalid::with_help("is not a list", HELP))?;
    if items.is_empty() {
        return Err(Invalid::with_help("is empty: no run could succeed", HELP));
    }
    items
        .iter()
        .map(|item| {
            let code = item.as_i64().filter(|code| (0..=255).contains(code));
            code.and_then(|code| i32::try_from(code).ok()).ok_or_else(|| {
                let problem = format!("holds {}, which is no exit code from 0 to 255", as_written(item));
                Invalid::with_help(problem, HELP)
            })
        })
        .collect()
}

fn read_work(reader: &Reader<'_>, sink: &mut Sink) -> Option<Set<Work>> {
    const EXAMPLE: &str =
        "work = { file = \"input.json\" } or work = { value = 1000, unit = \"operations\" }";
    let table = reader.child("work", EXAMPLE, sink)?;
    table.check_keys(Table::Work, Level::Entry, sink);
    let file = table.read("file", sink, path);
    let value = table.read("value", sink, |value| {
        number(0.0..=f64::MAX)(value)
            .ok()
            .filter(|&value| 0.0 < value)
            .ok_or_else(|| Invalid::with_help("is not a number above 0", EXAMPLE))
    });
    let unit = table.read("unit", sink, work_unit);
    let written = reader.value("work").map(as_written);
    let given = |key: &str| table.value(key).is_some();
    if given("file") == given("value") {
        let problem =
            if given("file") { "has both `file` and `value`" } else { "has neither `file` nor `value`" };
        let invalid = Invalid::with_help(problem, format!("write {EXAMPLE}"));
        sink.error(&reader.place, "work", written, invalid);
        return None;
    }
    if given("file") && given("unit") {
        let invalid = Invalid::with_help("stands beside `file`, whose unit is bytes", "leave it out");
        sink.error(&table.place, "unit", table.value("unit").map(as_written), invalid);
        return None;
    }
    let work = match (file, value) {
        (Some(file), _) => Work::File(file.value),
        (None, Some(value)) => Work::Value {
            value: value.value,
            unit: unit.map_or_else(|| "operations".to_owned(), |unit| unit.value),
        },
        (None, None) => return None,
    };
    Some(Set { value: work, written: written.unwrap_or_default(), place: reader.place.clone() })
}

fn work_unit(value: &Value) -> Result<String, Invalid> {
    let unit = text(value)?;
    if unit.contains(char::is_whitespace) || unit.contains('/') {
        return Err(Invalid::with_help("is not one word", "write a unit like \"operations\""));
    }
    if super::quantity::parse_size(&format!("1{unit}")).is_ok() {
        return Err(Invalid::with_help("is a multiple of a unit", "write \"bytes\", and the value in bytes"));
    }
    Ok(unit)
}
