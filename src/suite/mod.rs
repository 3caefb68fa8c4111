//! The suite: the benchgate tables of Cargo.toml, turned into a validated, fully resolved [`Suite`].

mod check;
pub mod docs;
pub mod error;
mod filter;
pub(crate) mod harnesses;
pub mod identity;
pub mod keys;
pub mod launch;
mod layers;
pub mod list;
pub mod manifest;
pub mod metric;
pub mod overrides;
pub mod placeholder;
mod plan;
pub mod presets;
pub mod quantity;
mod read;
mod read_budget;
mod read_launch;
mod reader;
pub mod rejudge;
mod resolve;
pub mod run_wide;
mod select;
pub mod settings;
pub mod tolerance;

pub use error::{LoadError, SelectionError, SuiteError, SuiteErrors};
pub use manifest::declared_harness;
pub use overrides::Overrides;
pub use plan::{ResolvedBenchmark, Suite, TargetPlan, VariantPlan};
pub use presets::DEFAULT_PRESET;
pub use run_wide::{AlsoFailOn, RunWideSettings};
pub use select::Selection;
