//! Bisect: which commit to try next, from what the probes before it said, and the loop that probes.

pub mod decide;
pub mod log;
pub mod report;
pub mod search;
pub mod walk;

pub use decide::{Finding, Leaning};
pub use report::{Answer, BisectReport, Probe};
pub use search::Search;
