//! Marks: where a new distribution begins because someone says so, and what takes that back. Append-only.

use globset::Glob;
use serde::{Deserialize, Serialize};

use super::key::SeriesKey;
use crate::suite::settings::word_enum;

word_enum! {
    /// What an event does.
    Action {
        /// A new distribution begins at the commit: the change is accepted.
        Mark = "mark",
        /// Neither a mark nor a step found by itself begins one there.
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
    /// Whether it is about a series.
    pub fn is_about(&self, key: &SeriesKey) -> bool {
        self.metric.as_ref().is_none_or(|metric| *metric == key.metric)
            && self.machine.as_ref().is_none_or(|machine| *machine == key.machine)
            && matches(&self.benchmark, key)
    }

    /// What it says of its commit.
    pub fn says(&self) -> Said {
        match self.action {
            Action::Mark => Said::Begins,
            Action::Unmark => Said::BeginsNot,
        }
    }
}

/// Whether a name or glob means the benchmark of a series: by its label, its id, or `package:label`.
pub fn matches(pattern: &str, key: &SeriesKey) -> bool {
    let label = key.label();
    let qualified = format!("{}:{label}", key.benchmark.target.package);
    let names = [label.as_str(), key.benchmark.id.as_str(), qualified.as_str()];
    // A name that is written in full is that name, whatever a glob would make of its letters.
    names.contains(&pattern)
        || Glob::new(pattern).is_ok_and(|glob| {
            let glob = glob.compile_matcher();
            glob.is_match(&label) || glob.is_match(&qualified)
        })
}
