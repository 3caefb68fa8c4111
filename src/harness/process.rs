//! A whole program as one benchmark: wall time, CPU time, peak memory.

use crate::suite::identity::TargetKind;
use crate::suite::metric::Metric;
use crate::verdict::evidence::Values;

use super::contract::{
    CommandSpec, Executable, Measurement, ResolvedLaunch, RunBudget, RunOutput, Selection,
};

pub(super) fn run_command(
    executable: &Executable,
    launch: &ResolvedLaunch,
    budget: RunBudget,
) -> CommandSpec {
    // As `cargo bench` starts a bench with `harness = false`; a bin or an example gets the user's arguments alone.
    let flag = (executable.kind == TargetKind::Bench).then(|| "--bench".into());
    CommandSpec { capture_stdout: false, ..super::command(executable, launch, flag, budget.timeout) }
}

pub(super) fn measurement(selection: &Selection<'_>, output: &RunOutput) -> Measurement {
    let id = match selection {
        Selection::One(id) => (*id).to_owned(),
        Selection::All => String::new(),
    };
    let (user, system) = (output.user_ns as f64, output.system_ns as f64);
    // A wall time of 0 is a clock that did not tick; 1 ns keeps the utilization finite.
    let wall = output.wall_ns.max(1) as f64;
    let mut values = Values::default();
    values.set(Metric::Latency, wall);
    values.set(Metric::CpuTotal, user + system);
    values.set(Metric::CpuUser, user);
    values.set(Metric::CpuSystem, system);
    values.set(Metric::CpuUtilization, (user + system) / wall * 100.0);
    // No process has an empty resident set: 0 is a reading that failed, and missing is never written as 0.
    if 0 < output.peak_rss_bytes {
        values.set(Metric::PeakRss, output.peak_rss_bytes as f64);
    }
    Measurement { id, values, overlong: false, stated_work: None }
}
