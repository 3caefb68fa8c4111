//! Globs over benchmark ids.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde_json::Value;

use super::error::Invalid;
use super::reader::texts;

/// A set of globs, with the patterns as written. `*` also matches `/`, since ids are names rather than paths.
#[derive(Debug, Clone)]
pub(super) struct Globs {
    pub(super) patterns: Vec<String>,
    set: GlobSet,
}

impl Globs {
    /// Compiles the patterns; the error names the first one that is no glob.
    pub(super) fn new(patterns: &[String]) -> Result<Self, (String, Invalid)> {
        let mut builder = GlobSetBuilder::new();
        for pattern in patterns {
            builder.add(compile(pattern).map_err(|invalid| (pattern.clone(), invalid))?);
        }
        let set = builder
            .build()
            .map_err(|error| (patterns.join(", "), Invalid::new(format!("is too large a set: {error}"))))?;
        Ok(Self { patterns: patterns.to_vec(), set })
    }

    /// A list of globs in a table.
    pub(super) fn read(value: &Value) -> Result<Self, Invalid> {
        let patterns = texts(value)?;
        if patterns.iter().any(String::is_empty) {
            return Err(Invalid::with_help("holds an empty pattern", "leave it out, or write \"*\""));
        }
        Self::new(&patterns).map_err(|(pattern, invalid)| Invalid {
            problem: format!("{pattern:?} is not a valid glob: {}", invalid.problem),
            help: Some("`*`, `?`, `[a-z]` and `{a,b}` are special; a backslash takes that away".to_owned()),
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.set.is_match(text)
    }
}

fn compile(pattern: &str) -> Result<globset::Glob, Invalid> {
    GlobBuilder::new(pattern)
        .literal_separator(false)
        .backslash_escape(true)
        .build()
        .map_err(|error| Invalid::new(error.kind().to_string()))
}
