//! Measuring: the order of the unit runs, the small process that makes them, and the driver that collects samples.

pub mod client;
mod count;
pub mod executor;
mod group;
pub mod hook;
mod limits;
pub mod plan;
pub mod problem;
mod process;
pub mod progress;
pub mod run;
pub mod runner;
pub mod schedule;
pub mod scripted;
mod state;
mod time;
mod unit;
mod wire;

pub use client::RunnerClient;
pub use count::count;
pub use executor::{Executor, LiveExecutor};
pub use hook::{HookFailure, run as run_hook};
pub use plan::{Counting, MeasurePlan, PlannedBenchmark, SidePlan, UnitPlan, WorkPlan};
pub use problem::{ExecuteError, StartProblem};
pub use progress::{Observer, Part, Progress};
pub use run::{Measured, MeasuredBenchmark, StopAtMinimum, StopRule, measure};
pub use runner::runner_main;
pub use scripted::ScriptedExecutor;

/// Kills a child process that was not waited for yet, with everything it started.
pub(crate) fn kill_tree(child: &std::process::Child) {
    process::kill_tree(child.id());
}

/// The same, by its number.
pub(crate) fn kill_tree_of(child: u32) {
    process::kill_tree(child);
}

/// The variable that marks what is started for a slot, so that [`kill_leftovers`] finds it.
const SLOT_VARIABLE: &str = "BENCHGATE_SLOT";

/// A variable for the environment of what is started for a slot and does not notice by itself that we are gone: cargo,
/// git.
pub(crate) fn leftover_mark(slot: &std::path::Path) -> (&'static str, std::ffi::OsString) {
    let mut value = std::ffi::OsString::from(format!("{} ", process::own_session()));
    value.push(slot);
    (SLOT_VARIABLE, value)
}

/// Kills what a killed run left running for a slot. Nobody else may be working in it. What has taken a session of its
/// own, as daemons do that serve other builds too, is left alone. Only Linux tells other processes' environments.
pub(crate) fn kill_leftovers(slot: &std::path::Path) {
    process::kill_marked(SLOT_VARIABLE, slot);
}
