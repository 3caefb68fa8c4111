//! cargo benchgate: did this change make the benchmarks slower?
//!
//! The library behind the `cargo-benchgate` binary. The way of one run, and what each module must not know, is in
//! ARCHITECTURE.md.

// The bans of clippy.toml hold for what is shipped; tests may start processes and look at the environment.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bisect;
pub mod build;
pub mod cli;
pub mod error;
pub mod gate;
pub mod harness;
pub mod history;
pub mod machine;
pub mod measure;
pub mod report;
pub mod revision;
pub mod stats;
pub mod suite;
pub mod summary;
pub mod ui;
pub mod verdict;
