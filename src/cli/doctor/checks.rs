//! What a check says.

/// How a check stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Known, and neither good nor bad; or not to be known here.
    Info,
    /// Numbers scatter more, or some metric cannot be had.
    Warn,
    /// Nothing can be measured without it.
    Missing,
}

impl Level {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => "-",
            Self::Warn => "warn",
            Self::Missing => "missing",
        }
    }
}

/// One line, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) level: Level,
    pub(super) found: String,
    pub(super) advice: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, level: Level::Ok, found: found.into(), advice: None }
    }

    pub(super) fn info(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, level: Level::Info, found: found.into(), advice: None }
    }

    pub(super) fn warn(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, level: Level::Warn, found: found.into(), advice: Some(advice.into()) }
    }

    pub(super) fn missing(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, level: Level::Missing, found: found.into(), advice: Some(advice.into()) }
    }
}
