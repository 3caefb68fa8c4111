//! Judgement: from samples and settings to verdicts, results and the exit status. Pure functions.

pub mod aa;
pub mod budget;
pub mod evidence;
pub mod exit;
pub mod levels;
pub mod outcome;
pub mod result;
pub mod stop;
pub mod warnings;

mod acceptance;
mod bootstrap;
mod comparison;
mod confirm;
mod correction;
mod details;
mod effect;
mod exact;
mod floor;
mod look;
mod pairing;
mod plan;
mod rank;
mod replay;
mod run;
mod samples;
mod statistics;
mod table;
mod throughput;

pub use confirm::{confirmation_candidates, confirmation_metrics};
pub use run::{Judged, RunContext, RunJudgement, judge_run};
