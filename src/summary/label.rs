//! From the changes of a run, or of a group, to one label, with how much it is to be believed.

use serde::{Deserialize, Serialize};

use crate::suite::settings::word_enum;

use super::change::{Change, Direction, Magnitude};

word_enum! {
    /// What a set of changes is as a whole.
    Label {
        /// Nothing changed that counts.
        Unchanged = "none",
        /// Better.
        Improvement = "improvement",
        /// Worse.
        Regression = "regression",
        /// Both.
        Mixed = "mixed",
    }
}

word_enum! {
    /// How interesting a label is.
    Certainty {
        /// Few or small changes.
        Maybe = "maybe",
        /// Some.
        Probably = "probably",
        /// Many, or large ones.
        Definitely = "definitely",
    }
}

/// Changes of one kind and magnitude.
#[derive(Default)]
struct Counts {
    small: usize,
    medium: usize,
    large: usize,
    very_large: usize,
}

impl Counts {
    fn of<'a>(changes: impl Iterator<Item = &'a Change>) -> Self {
        let mut counts = Self::default();
        for change in changes {
            *match change.magnitude {
                Magnitude::Small => &mut counts.small,
                Magnitude::Medium => &mut counts.medium,
                Magnitude::Large => &mut counts.large,
                Magnitude::VeryLarge => &mut counts.very_large,
            } += 1;
        }
        counts
    }

    fn all(&self) -> usize {
        self.small + self.medium_or_more()
    }

    fn medium_or_more(&self) -> usize {
        self.medium + self.large + self.very_large
    }
}

/// The label of the changes. One kind alone is that kind; medium or more on both sides is mixed; where one side has medium
/// or more, the other mixes from 15 % of all changes; where all are small, one kind must have 90 %.
pub fn label(changes: &[Change]) -> Label {
    let of = |direction| Counts::of(changes.iter().filter(|change| change.direction == direction));
    let (worse, better) = (of(Direction::Regression), of(Direction::Improvement));
    let total = changes.len();
    // Integers: a ratio of floats would miss 15 % of 20.
    let unless_15_percent =
        |minor: &Counts, kind| if 15 * total <= 100 * minor.all() { Label::Mixed } else { kind };
    match (worse.all(), better.all()) {
        (0, 0) => Label::Unchanged,
        (_, 0) => Label::Regression,
        (0, _) => Label::Improvement,
        _ => match (0 < worse.medium_or_more(), 0 < better.medium_or_more()) {
            (true, true) => Label::Mixed,
            (true, false) => unless_15_percent(&better, Label::Regression),
            (false, true) => unless_15_percent(&worse, Label::Improvement),
            (false, false) if 9 * total <= 10 * worse.all() => Label::Regression,
            (false, false) if 9 * total <= 10 * better.all() => Label::Improvement,
            (false, false) => Label::Mixed,
        },
    }
}

/// The certainty by how many rows changed: up to 3, up to 5, more.
pub fn certainty_by_count(changes: &[Change]) -> Certainty {
    match changes.len() {
        0..=3 => Certainty::Maybe,
        4..=5 => Certainty::Probably,
        _ => Certainty::Definitely,
    }
}

/// The certainty by how much they changed: the one that is shown.
pub fn certainty_by_magnitude(changes: &[Change]) -> Certainty {
    let Counts { small, medium, large, very_large } = Counts::of(changes.iter());
    if 0 < very_large || 4 < medium + 2 * large {
        Certainty::Definitely
    } else if 1 < medium || 0 < large || 10 < 2 * medium + small {
        Certainty::Probably
    } else {
        Certainty::Maybe
    }
}

/// Where a label may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The terminal and a comment on a change: short notices.
    Notice,
    /// A published report for readers of many runs.
    Published,
    /// A look through runs to tune the rules.
    Triage,
    /// The whole report of the run, as HTML or JSON.
    Report,
}

/// How a label is shown there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// As what the reader came for.
    Highlighted,
    /// Present, and held back.
    Greyed,
    /// Not at all.
    Hidden,
}

impl Place {
    /// How a label of that certainty is shown here.
    pub fn emphasis(self, certainty: Certainty) -> Emphasis {
        match (self, certainty) {
            (Self::Notice, Certainty::Maybe) => Emphasis::Hidden,
            (Self::Published, Certainty::Maybe | Certainty::Probably) => Emphasis::Hidden,
            (Self::Triage, Certainty::Probably | Certainty::Definitely) => Emphasis::Hidden,
            (Self::Report, Certainty::Maybe) => Emphasis::Greyed,
            _ => Emphasis::Highlighted,
        }
    }
}
