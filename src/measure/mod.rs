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
