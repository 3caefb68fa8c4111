//! Judgement: from samples and settings to verdicts, results and the exit status. Pure functions.

pub mod budget;
pub mod evidence;
pub mod exit;
pub mod outcome;
pub mod result;
pub mod stop;

mod comparison;
mod floor;
mod look;
mod run;
mod samples;
mod statistics;
mod table;
mod throughput;

pub use run::{Judged, RunContext, RunJudgement, judge_run};
