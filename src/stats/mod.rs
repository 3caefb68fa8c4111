//! Statistics: numbers to numbers. No I/O, no clock, no environment, no names of benchmarks.

pub mod bca;
pub mod binomial;
pub mod box_plot;
pub mod change_points;
pub mod cliffs_delta;
pub mod correlation;
pub mod describe;
pub mod draws;
pub mod fences;
pub mod law;
pub mod mann_whitney;
pub mod median_law;
pub mod multiple;
pub mod normal;
pub mod pair_law;
pub mod quantile;
pub mod ranks;
pub mod ratio_law;
pub mod signed_rank;

mod select;
