//! A suite's launch with every placeholder filled in for one revision.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::harness::contract::{Executable, Facts, ResolvedLaunch};
use crate::measure::WorkPlan;
use crate::suite::launch::{Launch, Work};
use crate::suite::placeholder::{Lookup, PlaceholderError, expand};

/// What the placeholders stand for.
pub(super) struct Places<'a> {
    /// The package's root in head: the same path for both revisions' runs.
    pub(super) head_root: PathBuf,
    /// A directory of the benchmark, by the path that all revisions share.
    pub(super) work_directory: &'a Path,
    /// The user's environment.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Fills in `launch` for a program, the adapter's facts aside. Relative paths are taken from the package's root, as `cargo bench` does.
///
/// # Errors
///
/// A variable that is not set.
pub(super) fn resolve(
    launch: &Launch,
    executable: &Executable,
    places: &Places<'_>,
) -> Result<(ResolvedLaunch, Option<WorkPlan>), PlaceholderError> {
    let root = executable.package_root.to_string_lossy();
    let head_root = places.head_root.to_string_lossy();
    let work_directory = places.work_directory.to_string_lossy();
    let lookup =
        Lookup { root: &root, head_root: &head_root, workdir: Some(&work_directory), env: places.variable };
    let text = |text: &String| expand(text, &lookup);
    let path = |text: &String| expand(text, &lookup).map(|text| executable.package_root.join(text));
    let mut env = Vec::with_capacity(launch.env.len());
    for (name, value) in &launch.env {
        env.push((OsString::from(name), OsString::from(text(value)?)));
    }
    let work = match &launch.work {
        None => None,
        Some(Work::Value { value, .. }) => Some(WorkPlan::Value(*value)),
        Some(Work::File(file)) => Some(WorkPlan::File(path(file)?)),
    };
    let resolved = ResolvedLaunch {
        args: launch.args.iter().map(|arg| text(arg).map(OsString::from)).collect::<Result<_, _>>()?,
        env,
        cwd: launch.cwd.as_ref().map_or_else(|| Ok(executable.package_root.clone()), path)?,
        stdin: launch.stdin.as_ref().map(path).transpose()?,
        exit_codes: launch.exit_codes.clone(),
        facts: Facts::default(),
    };
    Ok((resolved, work))
}
