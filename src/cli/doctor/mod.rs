//! `doctor`: whether everything that is needed is there, and what about the machine disturbs measurements.

mod checks;
mod machine;

use std::path::Path;

use clap::Args;

use super::options::OutputFlags;
use crate::build::{self, CargoSettings, Toolchain};
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::report::quantity;
use crate::report::text::visible;
use crate::revision::{Repository, cache};
use crate::suite::metric::Unit;
use crate::ui::{self, Ui};
use checks::{Check, Level};
use machine::System;

/// Arguments of `doctor`.
#[derive(Debug, Clone, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Prints a line a check. Nothing is changed; the status is 0 unless something that is needed is missing.
pub(super) fn doctor(ui: &Ui) -> Result<ExitCode, Error> {
    let environment = Environment::of_this_process()?;
    let mut checks = needed(&environment);
    let path: Vec<_> =
        environment.variable("PATH").map(std::env::split_paths).into_iter().flatten().collect();
    checks.extend(machine::tools(&path));
    checks.extend(
        System::read(Path::new("/")).checks(std::thread::available_parallelism().map_or(1, usize::from)),
    );
    let mut text = String::new();
    for check in &checks {
        text.push_str(&format!(
            "{:<7}  {:<11}  {}\n",
            check.level.as_str(),
            check.name,
            visible(&check.found)
        ));
        if let Some(advice) = &check.advice {
            text.push_str(&format!("{:<7}  {:<11}  {}\n", "", "", visible(advice)));
        }
    }
    ui::print(text.as_bytes())
        .map_err(|error| Error::Execution(format!("failed to write to stdout: {error}")))?;
    let missing: Vec<&str> =
        checks.iter().filter(|check| check.level == Level::Missing).map(|check| check.name).collect();
    if missing.is_empty() {
        return Ok(ExitCode::Success);
    }
    ui.error(format!("missing and needed: {}; see above what to do", missing.join(", ")));
    Ok(ExitCode::Execution)
}

/// What no run can do without, and the repository.
fn needed(environment: &Environment) -> Vec<Check> {
    let mut checks = Vec::new();
    match Toolchain::resolve(&environment.variables, None, &environment.cwd) {
        Err(error) => checks.push(Check::missing(
            "cargo",
            first_line(&error),
            "install Rust from rustup.rs, or put cargo on PATH",
        )),
        Ok(toolchain) => {
            let settings = CargoSettings::new(toolchain, environment.variables.clone());
            match build::toolchain_info(&settings, &environment.cwd) {
                Ok(info) => {
                    checks.push(Check::ok("cargo", info.cargo.clone()));
                    let rustc = info.rustc.lines().next().unwrap_or_default();
                    checks.push(Check::ok("toolchain", format!("{rustc}, host {}", info.host)));
                }
                Err(error) => checks.push(Check::missing(
                    "cargo",
                    first_line(&error),
                    "install Rust from rustup.rs, or put cargo and rustc on PATH",
                )),
            }
        }
    }
    checks.push(match build::version_of("git", &environment.variables, &environment.cwd) {
        Ok(version) => Check::ok("git", version),
        Err(_) => Check::warn(
            "git",
            "not on PATH".to_owned(),
            "needed only for submodules, partial clones, and pushing a history",
        ),
    });
    checks.push(repository(environment));
    checks.extend(cache(environment));
    checks
}

fn repository(environment: &Environment) -> Check {
    match Repository::discover(&environment.cwd) {
        Ok(repository) => match repository.head() {
            Ok(head) => {
                Check::ok("repository", format!("{} at {}", repository.root().display(), head.id.short()))
            }
            Err(error) => {
                Check::warn("repository", first_line(&error), "commit something: base and head are commits")
            }
        },
        Err(error) => {
            Check::warn("repository", first_line(&error), "run in the repository of the crate to measure it")
        }
    }
}

/// Whether builds can be kept, what those that are kept take, and who uses them.
fn cache(environment: &Environment) -> Vec<Check> {
    let directory = &environment.cache;
    // The nearest directory that exists tells whether the others can be made.
    let existing = directory.ancestors().find(|path| path.is_dir()).unwrap_or(directory);
    let writable = tempfile::Builder::new().prefix(".benchgate-doctor-").tempfile_in(existing);
    let cache_check = match (writable, cache::list(directory)) {
        (Err(error), _) => {
            return vec![Check::missing(
                "cache",
                format!("{} cannot be written: {error}", existing.display()),
                "make it writable, or name another directory in BENCHGATE_CACHE_DIR",
            )];
        }
        (Ok(_), Err(error)) => {
            return vec![Check::warn("cache", first_line(&error), "try `cargo benchgate cache clean`")];
        }
        (Ok(_), Ok(slots)) => slots,
    };
    let bytes: u64 = cache_check.iter().map(|slot| slot.bytes).sum();
    let size = quantity::value(bytes as f64, &Unit::Bytes);
    let in_use = cache_check.iter().filter(|slot| slot.in_use).count();
    let large = 20 * 1024 * 1024 * 1024;
    let found = format!("{}, {size}", directory.display());
    vec![
        match large < bytes {
            true => {
                Check::warn("cache", found, "`cargo benchgate cache clean` removes the builds that are kept")
            }
            false => Check::ok("cache", found),
        },
        match in_use {
            0 => Check::ok("slots", format!("{}, none in use", cache_check.len())),
            _ => Check::warn(
                "slots",
                format!("{}, {in_use} in use", cache_check.len()),
                "another run is going on: two at a time disturb each other's numbers",
            ),
        },
    ]
}

fn first_line(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
