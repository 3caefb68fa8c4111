//! The bench harnesses: which command measures a benchmark, and what its output says. Pure functions.

pub mod contract;
