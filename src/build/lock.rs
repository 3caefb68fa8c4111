//! Which Cargo.lock a revision is built with.

use std::path::{Path, PathBuf};

use super::process::ask_long;
use super::{BuildError, BuildPlace, CargoSettings, LockFile, Workspace};

/// Where the lock file of a build comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOrigin {
    /// It is part of the revision, and fits its manifests: it is built with `--locked`.
    Committed,
    /// It is part of the revision and does not fit: cargo brought it in line with the manifests.
    Updated,
    /// The revision has none: the given one was copied in, and brought in line with the manifests where it did not fit.
    Copied,
    /// The revision has none, nor was one given: cargo resolved it anew.
    Generated,
}

/// The lock file of a workspace.
pub fn lock_path(workspace: &Workspace) -> PathBuf {
    workspace.metadata.workspace_root.as_std_path().join("Cargo.lock")
}

/// Makes sure that the revision has a lock file that fits before it is built, so that both revisions can have the same
/// versions. One that is part of it is left alone where it fits. `fallback` is for a revision that has none.
///
/// A lock file that was copied or does not fit is settled without `--locked`: cargo refuses one that has a package too
/// many, and prunes it otherwise. Offline first: a newer version on the registry must not come in on one side only.
pub fn prepare_lock(
    settings: &CargoSettings,
    place: &BuildPlace,
    workspace: &Workspace,
    fallback: Option<&Path>,
) -> Result<LockOrigin, BuildError> {
    let lock = lock_path(workspace);
    let fits = || -> Result<bool, BuildError> {
        let text = fs_err::read_to_string(&lock).map_err(BuildError::io("read the lock file"))?;
        // One that cannot be read is cargo's to judge, and so is one the user wants unchanged.
        let fits = LockFile::parse(&text).is_none_or(|lock| lock.fits(&workspace.metadata.packages));
        Ok(fits || settings.locked || settings.frozen)
    };
    let origin = match fallback {
        _ if lock.exists() => match fits()? {
            true => return Ok(LockOrigin::Committed),
            false => LockOrigin::Updated,
        },
        Some(fallback) => {
            fs_err::copy(fallback, &lock).map_err(BuildError::io("copy the lock file"))?;
            if fits()? {
                return Ok(LockOrigin::Copied);
            }
            LockOrigin::Copied
        }
        None => LockOrigin::Generated,
    };
    settle_lock(settings, place, workspace)?;
    Ok(origin)
}

/// Lets cargo bring the lock file in line with the manifests, without moving what is in it. No sources are downloaded.
pub fn settle_lock(
    settings: &CargoSettings,
    place: &BuildPlace,
    workspace: &Workspace,
) -> Result<(), BuildError> {
    let manifest = workspace.metadata.workspace_root.as_std_path().join("Cargo.toml");
    let update = |settings: &CargoSettings| {
        let mut command = settings.cargo("update", &place.cwd());
        command.args(["--workspace", "--quiet", "--manifest-path"]).arg(&manifest);
        ask_long(settings, &command, "settle the lock file").map(drop)
    };
    let offline = CargoSettings { offline: true, ..settings.clone() };
    match update(&offline) {
        Err(BuildError::Refused { .. }) if !(settings.offline || settings.frozen) => update(settings),
        outcome => outcome,
    }
}
