//! The suite of a request, as its working tree has it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::Environment;
use super::{Request, conclude};
use crate::build::{self, BuildError, CargoSettings, Toolchain, Workspace};
use crate::error::Error;
use crate::report::model::{self, Machine};
use crate::suite::Suite;
use crate::ui::Ui;

/// The suite of a request, for those who only look at it.
///
/// # Errors
///
/// When there is no workspace, its tables have mistakes, or nothing is selected.
pub fn suite(request: &Request, environment: &Environment, ui: &Ui) -> Result<Suite, Error> {
    let cargo = cargo_settings(request, environment, ui)?;
    let manifest = find_manifest(request.manifest_path.as_deref(), &environment.cwd)?;
    load_suite(request, &user_workspace(environment, &cargo, &manifest)?, &manifest)
}

/// What the results of a request must share with earlier ones to be compared with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The machine.
    pub machine: Machine,
    /// The profile, and the triple that is built for.
    pub toolchain: model::Toolchain,
    /// The features, as a report has them.
    pub features: Vec<String>,
}

/// Where and how a request would measure, by the suite of the working tree.
///
/// # Errors
///
/// As [`suite`], and when the compiler cannot be asked.
pub fn setting(request: &Request, environment: &Environment, ui: &Ui) -> Result<Setting, Error> {
    let suite = suite(request, environment, ui)?;
    let mut cargo = cargo_settings(request, environment, ui)?;
    cargo.profile.clone_from(&suite.run.profile);
    cargo.target.clone_from(&suite.run.target);
    let toolchain = build::toolchain_info(&cargo, &environment.cwd)?;
    Ok(Setting {
        machine: conclude::machine_of(environment),
        toolchain: conclude::toolchain_of(&cargo, &toolchain),
        features: conclude::feature_words(&suite),
    })
}

/// How cargo is called, before the suite's own choices are known.
pub(super) fn cargo_settings(
    request: &Request,
    environment: &Environment,
    ui: &Ui,
) -> Result<CargoSettings, Error> {
    let toolchain = Toolchain::resolve(&environment.variables, None, &environment.cwd)?;
    let mut settings = CargoSettings::new(toolchain, environment.variables.clone());
    settings.config = build::absolute_config(&request.cargo.config, &environment.cwd);
    settings.locked = request.cargo.locked;
    settings.offline = request.cargo.offline;
    settings.frozen = request.cargo.frozen;
    settings.guard = Some(environment.own_executable.clone());
    settings.stop = Arc::clone(&environment.interrupted);
    settings.quiet = ui.is_quiet();
    // One -v is for what this tool does; from the second on cargo tells of every unit as well.
    settings.verbosity = ui.verbosity().saturating_sub(1);
    settings.color = ui.forced_color().map(str::to_owned);
    Ok(settings)
}

/// The workspace as it stands in the user's tree: its suite is read before anything is checked out.
pub(super) fn user_workspace(
    environment: &Environment,
    cargo: &CargoSettings,
    manifest: &Path,
) -> Result<Workspace, Error> {
    user_workspace_at(cargo, manifest, &environment.cwd)
}

pub(super) fn user_workspace_at(
    cargo: &CargoSettings,
    manifest: &Path,
    cwd: &Path,
) -> Result<Workspace, Error> {
    build::cargo_metadata(cargo, manifest, cwd).map_err(|error| match error {
        // Cargo could not make sense of the user's manifests: nothing ran.
        BuildError::Refused { .. } => Error::Configuration(error.to_string()),
        error => error.into(),
    })
}

/// The suite of a workspace, with the selection and the flags of the request. `manifest` is that of the directory the
/// user stands in.
pub(super) fn load_suite(request: &Request, workspace: &Workspace, manifest: &Path) -> Result<Suite, Error> {
    let mut selection = request.selection.clone();
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    selection.current_package = workspace
        .metadata
        .packages
        .iter()
        .find(|package| canonical(package.manifest_path.as_std_path()) == canonical(manifest))
        .map(|package| package.name.to_string());
    Ok(Suite::load(&workspace.metadata, &selection, &request.overrides)?)
}

/// The Cargo.toml that was named, else the nearest one upwards.
///
/// # Errors
///
/// When there is none.
pub fn find_manifest(named: Option<&Path>, cwd: &Path) -> Result<PathBuf, Error> {
    if let Some(path) = named {
        let path = cwd.join(path);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(Error::Usage(format!("there is no manifest {}; check --manifest-path", path.display())))
        };
    }
    cwd.ancestors().map(|directory| directory.join("Cargo.toml")).find(|path| path.is_file()).ok_or_else(
        || {
            Error::Usage(format!(
                "there is no Cargo.toml in {} or above; run inside a crate, or name one with --manifest-path",
                cwd.display()
            ))
        },
    )
}
