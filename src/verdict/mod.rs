//! Judgement: from samples and settings to verdicts, results and the exit status. Pure functions.

pub mod evidence;
pub mod outcome;
