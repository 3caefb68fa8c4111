//! The past of benchmarks: a store of reports, the series in it, and what they say of the newest result.

pub mod change;
pub mod compare;
pub mod course;
pub mod explain;
pub mod facts;
mod gone;
pub mod import;
pub mod index;
pub mod key;
pub mod lookback;
pub mod marks;
pub mod overview;
mod parallel;
mod places;
pub mod prune;
pub mod rekey;
pub mod render;
pub mod select;
pub mod series;
pub mod status;
pub mod store;
pub mod sync;
pub mod witness;

pub use crate::suite::tolerance;
