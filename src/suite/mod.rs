//! The suite: the benchgate tables of Cargo.toml, turned into a validated, fully resolved [`Suite`].

pub mod identity;
pub mod launch;
pub mod metric;
pub mod settings;
