//! What can be wrong with a suite or a selection, as values that name the place.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// Where a key stands: a table of a manifest, or the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The manifest, relative to the workspace root where it lies below it; `command line` for flags.
    pub manifest: Arc<str>,
    /// The dotted path of the table, entries counted from 0; empty for the command line.
    pub table: Arc<str>,
}

impl Place {
    /// The place of a table in a manifest.
    pub fn table(manifest: &str, table: &str) -> Self {
        Self { manifest: manifest.into(), table: table.into() }
    }

    /// The command line.
    pub fn command_line() -> Self {
        Self::table("command line", "")
    }

    /// Whether this is the command line.
    pub fn is_command_line(&self) -> bool {
        self.table.is_empty()
    }

    /// The table below this one.
    pub fn child(&self, key: &str) -> Self {
        Self { manifest: Arc::clone(&self.manifest), table: self.path_of(key).into() }
    }

    /// The entry of an array of tables below this one, from 0.
    pub fn element(&self, key: &str, index: usize) -> Self {
        self.child(&format!("{key}[{index}]"))
    }

    fn path_of(&self, key: &str) -> String {
        if self.is_command_line() {
            return key.to_owned();
        }
        // A key with a dot is quoted in TOML: bare, it would name a table in a table.
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '[' | ']');
        if key.chars().all(plain) {
            format!("{}.{key}", self.table)
        } else {
            format!("{}.{key:?}", self.table)
        }
    }
}

/// One mistake in a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteError {
    /// Where it stands.
    pub place: Place,
    /// The key, or the flag.
    pub key: String,
    /// The value as it was written; `None` for a key that is missing or unknown.
    pub value: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub help: Option<String>,
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place.manifest, self.place.path_of(&self.key))?;
        if let Some(value) = &self.value {
            let between = if self.place.is_command_line() { " " } else { " = " };
            write!(f, "{between}{value}")?;
        }
        write!(f, ": {}", self.problem)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SuiteError {}

/// All mistakes of a suite, in the order they stand; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteErrors(pub Vec<SuiteError>);

impl fmt::Display for SuiteErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_usage() { "command line" } else { "benchgate configuration" };
        match &self.0[..] {
            [error] => {
                return write!(f, "{}{error}", if self.is_usage() { "" } else { "bad configuration: " });
            }
            errors => write!(f, "the {what} has {} errors:", errors.len())?,
        }
        for error in &self.0 {
            write!(f, "\n  {error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SuiteErrors {}

impl SuiteErrors {
    /// Whether flags alone are at fault, which is bad usage and no bad configuration.
    fn is_usage(&self) -> bool {
        self.0.iter().all(|error| error.place.is_command_line())
    }
}

/// Why nothing, or not what was asked for, is selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// A `--package` or `--exclude` pattern that no workspace member matches.
    #[error("no package of the workspace matches `{pattern}`{}", suggestion(.nearest.as_deref(), .known))]
    NoSuchPackage {
        /// The pattern.
        pattern: String,
        /// The member whose name is nearest.
        nearest: Option<String>,
        /// All members.
        known: Vec<String>,
    },
    /// `--exclude` without `--workspace`.
    #[error("--exclude only works together with --workspace; add --workspace, or choose packages with -p")]
    ExcludeWithoutWorkspace,
    /// `--exclude` left no package.
    #[error("--exclude leaves no package of the workspace; exclude fewer than {}", .known.join(", "))]
    AllExcluded {
        /// All members.
        known: Vec<String>,
    },
    /// The selected packages hold no bench target.
    #[error("{} no bench target{}", no_targets_in(.packages), found_elsewhere(.elsewhere))]
    NoTargets {
        /// The selected packages.
        packages: Vec<String>,
        /// Members that hold bench targets.
        elsewhere: Vec<String>,
    },
    /// A `--bench` pattern that no selected target matches.
    #[error("no bench target of the selected packages matches `{pattern}`{}", suggestion(.nearest.as_deref(), .known))]
    NoSuchTarget {
        /// The pattern.
        pattern: String,
        /// The target whose name is nearest.
        nearest: Option<String>,
        /// All targets of the selected packages.
        known: Vec<String>,
    },
    /// `only_listed = true`, and no entry lists a selected target.
    #[error(
        "`only_listed = true` and no [[bench]] entry lists a target of the selected packages; targets there are {}",
        .known.join(", ")
    )]
    NothingListed {
        /// All bench targets of the selected packages.
        known: Vec<String>,
    },
    /// A pattern on the command line that is no glob.
    #[error("{flag} {pattern:?} is not a valid pattern: {reason}")]
    BadPattern {
        /// The flag.
        flag: String,
        /// The pattern.
        pattern: String,
        /// Why it is none.
        reason: String,
    },
}

const SHOWN: usize = 12;

fn suggestion(nearest: Option<&str>, known: &[String]) -> String {
    match (nearest, known) {
        (Some(nearest), _) => format!("; did you mean `{nearest}`?"),
        (None, []) => String::new(),
        (None, known) if known.len() <= SHOWN => format!("; there is {}", known.join(", ")),
        (None, known) => format!("; there is {}, … ({} in all)", known[..SHOWN].join(", "), known.len()),
    }
}

fn no_targets_in(packages: &[String]) -> String {
    match packages {
        [package] => format!("package {package} has"),
        packages => format!("packages {} have", packages.join(", ")),
    }
}

fn found_elsewhere(packages: &[String]) -> String {
    if packages.is_empty() {
        return "; add a [[bench]] to Cargo.toml, or name a bin or example in a \
                [[package.metadata.benchgate.bench]] entry"
            .to_owned();
    }
    format!("; choose with -p from {}, or use --workspace", packages.join(", "))
}

/// Why a suite could not be loaded: the two have exit statuses of their own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Bad configuration.
    #[error(transparent)]
    Configuration(#[from] SuiteErrors),
    /// Nothing, or not what was asked for, is selected.
    #[error(transparent)]
    Selection(#[from] SelectionError),
}

impl From<LoadError> for crate::error::Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Configuration(errors) => errors.into(),
            LoadError::Selection(error) => error.into(),
        }
    }
}

impl From<SuiteErrors> for crate::error::Error {
    fn from(errors: SuiteErrors) -> Self {
        if errors.is_usage() {
            Self::Usage(errors.to_string())
        } else {
            Self::Configuration(errors.to_string())
        }
    }
}

impl From<SelectionError> for crate::error::Error {
    fn from(error: SelectionError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// A value that cannot be, and what would be right. The place is added by the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Invalid {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), help: None }
    }

    /// What is wrong, with what to write instead.
    pub fn with_help(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self { problem: problem.into(), help: Some(help.into()) }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Invalid {}

/// The errors and notes collected while a suite is read.
#[derive(Debug, Default)]
pub(super) struct Sink {
    pub(super) errors: Vec<SuiteError>,
    pub(super) notes: Vec<String>,
}

impl Sink {
    /// Adds an error once: the same layer is resolved for many targets.
    pub(super) fn error(&mut self, place: &Place, key: &str, value: Option<String>, invalid: Invalid) {
        let error = SuiteError {
            place: place.clone(),
            key: key.to_owned(),
            value,
            problem: invalid.problem,
            help: invalid.help,
        };
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Adds a note once.
    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(super) fn finish(self) -> Result<Vec<String>, SuiteErrors> {
        if self.errors.is_empty() { Ok(self.notes) } else { Err(SuiteErrors(self.errors)) }
    }
}

/// A metadata value as the user wrote it in TOML, near enough.
pub(super) fn as_written(value: &Value) -> String {
    match value {
        // cargo turns TOML's nan and inf into JSON's null, and TOML itself has no null.
        Value::Null => "nan or inf".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(as_written).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            if let Some(Value::String(date)) = table.get("$__toml_private_datetime") {
                return date.clone();
            }
            if table.is_empty() {
                return "{}".to_owned();
            }
            let items: Vec<_> =
                table.iter().map(|(key, value)| format!("{key} = {}", as_written(value))).collect();
            format!("{{ {} }}", items.join(", "))
        }
        other => other.to_string(),
    }
}
