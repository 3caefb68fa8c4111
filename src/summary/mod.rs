//! What a whole run comes to: a label, its magnitude and certainty, its groups, its impact. It never decides the exit status.

pub mod change;
pub mod impact;
mod label;
mod model;
mod overall;
mod shift;

pub use change::{Change, Direction, Magnitude, significant};
pub use label::{Certainty, Emphasis, Label, Place, certainty_by_count, certainty_by_magnitude, label};
pub use model::{Flagged, GroupSummary, Impact, ImpactRule, Overall, Shift, SummarySettings, Worst};
pub use overall::overall;
