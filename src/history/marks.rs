//! Marks: where a new distribution begins because someone says so, and what takes that back. Append-only.

use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::key::SeriesKey;
use crate::suite::settings::word_enum;

word_enum! {
    /// What an event does.
    Action {
        /// A new distribution begins at the commit: the change is accepted.
        Mark = "mark",
        /// The newest mark there is taken back; without one, the step found by itself.
        Unmark = "unmark",
    }
}

/// One event: a file of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// 1.
    pub schema_version: u32,
    /// What it does.
    pub action: Action,
    /// The commit.
    pub commit: String,
    /// A glob over the labels of benchmarks.
    pub benchmark: String,
    /// The metric; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The machine; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Why.
    pub reason: String,
    /// When it was said, RFC 3339.
    pub at: String,
}

/// An event with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Relative to the store.
    pub file: String,
    /// The event.
    pub event: Event,
}

/// What the events say of one commit of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// A distribution begins.
    Begins,
    /// None begins.
    BeginsNot,
}

impl Event {
    /// What it is about.
    pub fn about(&self) -> About<'_> {
        About { event: self, pattern: Pattern::new(&self.benchmark) }
    }

    /// What it says of its commit.
    pub fn says(&self) -> Said {
        match self.action {
            Action::Mark => Said::Begins,
            Action::Unmark => Said::BeginsNot,
        }
    }
}

/// An event, ready to be held against many series.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// The event.
    pub event: &'a Event,
    pattern: Pattern<'a>,
}

impl About<'_> {
    /// Whether it is about the series of that key.
    pub fn is(&self, key: &SeriesKey) -> bool {
        self.event.metric.as_ref().is_none_or(|metric| *metric == key.metric)
            && self.event.machine.as_ref().is_none_or(|machine| *machine == key.machine)
            && self.pattern.matches(key)
    }
}

/// A name or glob that means benchmarks: by their label, their id, or `package:label`.
#[derive(Debug, Clone)]
pub struct Pattern<'a> {
    text: &'a str,
    glob: Option<GlobMatcher>,
}

impl<'a> Pattern<'a> {
    /// The pattern of that text.
    pub fn new(text: &'a str) -> Self {
        Self { text, glob: Glob::new(text).ok().map(|glob| glob.compile_matcher()) }
    }

    /// Whether it is a name of the benchmark of a series, written in full, whatever a glob would make of its letters.
    pub fn is_name_of(&self, key: &SeriesKey) -> bool {
        let label = key.label();
        self.text == key.benchmark.id
            || self.text == label
            || self.text.strip_prefix(&key.benchmark.target.package).and_then(|rest| rest.strip_prefix(':'))
                == Some(label.as_str())
    }

    /// Whether it means the benchmark of a series.
    pub fn matches(&self, key: &SeriesKey) -> bool {
        self.is_name_of(key)
            || self.glob.as_ref().is_some_and(|glob| {
                let label = key.label();
                glob.is_match(&label) || glob.is_match(format!("{}:{label}", key.benchmark.target.package))
            })
    }
}
