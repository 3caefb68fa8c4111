//! The report as JSON: what every other format, and every later judgement, can be made from.

use std::io;

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::model::{Report, SCHEMA_VERSION};
use super::read::ReadError;

/// What some editors write before a text.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The JSON Schema of a report.
pub const SCHEMA: &str = include_str!("../../docs/report.schema.json");

/// The report as indented JSON, a line a run, with a final line end. The same report gives the same bytes.
pub fn json(report: &Report) -> String {
    let mut bytes = Vec::new();
    write(report, &mut bytes).expect("the model has string keys only and no type whose serialising fails");
    String::from_utf8(bytes).expect("JSON of text is UTF-8")
}

/// The same bytes, written as they come.
///
/// # Errors
///
/// When the writer fails.
pub fn write(report: &Report, writer: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = io::BufWriter::new(writer);
    report.serialize(&mut serde_json::Serializer::with_formatter(&mut writer, Layout::default()))?;
    io::Write::write_all(&mut writer, b"\n")?;
    io::Write::flush(&mut writer)
}

/// A report from its JSON. Fields of later minor versions are ignored.
pub fn read_json(bytes: &[u8]) -> Result<Report, ReadError> {
    #[derive(Deserialize)]
    struct Versioned {
        schema_version: Option<u32>,
    }
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    // The version first: of a later schema, any other complaint would mislead.
    match serde_json::from_slice::<Versioned>(bytes).map_err(failure)?.schema_version {
        None | Some(0) => return Err(ReadError::NotAReport),
        Some(version) if SCHEMA_VERSION < version => return Err(ReadError::TooNew(version)),
        Some(_) => {}
    }
    serde_json::from_slice(bytes).map_err(failure)
}

/// A report from a reader of its JSON, without holding the text: a large report is then not in memory twice.
///
/// # Errors
///
/// As [`read_json`], and when the reader fails.
pub fn read_from(mut reader: impl io::BufRead) -> Result<Report, ReadError> {
    let failed = |error: io::Error| ReadError::Io(error.to_string());
    let start = reader.fill_buf().map_err(failed)?;
    let mark = if start.starts_with(MARK) { MARK.len() } else { 0 };
    match leading_version(&start[mark..]) {
        Some(version) if SCHEMA_VERSION < version => return Err(ReadError::TooNew(version)),
        Some(1..) => {
            reader.consume(mark);
            return serde_json::from_reader(reader).map_err(failure);
        }
        // Another order of fields, or no report: the whole text says which.
        _ => {}
    }
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(failed)?;
    read_json(&bytes)
}

/// The version, where it is the first field: so it stands in every report that was not edited.
fn leading_version(start: &[u8]) -> Option<u32> {
    let mut rest = start.trim_ascii_start();
    for sign in [b"{".as_slice(), b"\"schema_version\"", b":"] {
        rest = rest.strip_prefix(sign)?.trim_ascii_start();
    }
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

fn failure(error: serde_json::Error) -> ReadError {
    if error.is_io() {
        return ReadError::Io(error.to_string());
    }
    let (line, column) = (error.line(), error.column());
    let whole = error.to_string();
    // serde_json puts the place behind the message, and we have it in front.
    let why = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(why, _)| why).to_owned();
    ReadError::Json { line, column, why }
}
