//! Why a saved report or a file of samples could not be read.

use super::model::SCHEMA_VERSION;

/// Why a file is not a report or not a table of samples. The caller knows, and says, the path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file is empty.
    #[error(
        "it is empty; `--format json=PATH` and `--format samples-csv=PATH` write files that can be judged"
    )]
    Empty,
    /// The file could not be read to its end.
    #[error("{0}")]
    Io(String),
    /// Not JSON, or JSON of another shape.
    #[error("line {line}, column {column}: {why}; it must be a report written by `--format json`, unchanged")]
    Json {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the parser says.
        why: String,
    },
    /// A JSON file without `schema_version`.
    #[error(
        "it is JSON but no benchgate report: `schema_version` is missing; write one with `--format json=PATH`"
    )]
    NotAReport,
    /// A report of a later version.
    #[error(
        "it has schema_version {0} and this cargo-benchgate reads up to {SCHEMA_VERSION}; update cargo-benchgate"
    )]
    TooNew(u32),
    /// A table without columns that are needed.
    #[error(
        "line 1: column{} {} missing; samples need at least benchmark,revision,metric,value",
        if .0.len() == 1 { "" } else { "s" },
        .0.join(", ")
    )]
    MissingColumns(Vec<&'static str>),
    /// A cell of a table that does not fit its column.
    #[error("line {line}, column `{column}`: {why}")]
    Cell {
        /// From 1, counting the heading.
        line: u64,
        /// The column's name.
        column: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// A line that is no row of the table.
    #[error("line {line}: {why}")]
    Row {
        /// From 1, counting the heading.
        line: u64,
        /// What is wrong and what would be right.
        why: String,
    },
    /// A table with a heading and nothing below it.
    #[error("it has a heading and no samples")]
    NoSamples,
}
