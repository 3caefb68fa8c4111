//! Statistics: numbers to numbers. No I/O, no clock, no environment, no names of benchmarks.

pub mod binomial;
pub mod describe;
pub mod draws;
pub mod fences;
pub mod law;
pub mod median_law;
pub mod quantile;
pub mod ratio_law;
