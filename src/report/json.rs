//! The report as JSON: what every other format, and every later judgement, can be made from.

use std::io;

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::model::{Report, SCHEMA_VERSION};
use super::read::ReadError;

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
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
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

fn failure(error: serde_json::Error) -> ReadError {
    let (line, column) = (error.line(), error.column());
    let whole = error.to_string();
    // serde_json puts the place behind the message, and we have it in front.
    let why = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(why, _)| why).to_owned();
    ReadError::Json { line, column, why }
}
