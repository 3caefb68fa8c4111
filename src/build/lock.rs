//! Which Cargo.lock a revision is built with.

use std::path::Path;

use super::process::ask;
use super::{BuildError, BuildPlace, CargoSettings, cargo_metadata};

/// Where the lock file of a build comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOrigin {
    /// It is part of the revision.
    Committed,
    /// The revision has none: the given one was copied in, and cargo brought it in line with the manifests.
    Copied,
    /// The revision has none, nor was one given: cargo resolved it anew.
    Generated,
}

/// Makes sure that the revision has a lock file before it is built, so that both revisions can have the same versions.
/// A committed one is never touched. `fallback` is the lock file for a revision that has none.
///
/// Without `--locked`: cargo refuses a copied lock that has one package too many, and prunes it otherwise. Offline
/// first: a newer version on the registry must not come in on one side only.
pub fn prepare_lock(
    settings: &CargoSettings,
    place: &BuildPlace,
    manifest: &Path,
    fallback: Option<&Path>,
) -> Result<LockOrigin, BuildError> {
    let manifest = place.live_tree.join(manifest);
    let workspace = cargo_metadata(settings, &manifest, &place.live_tree)?;
    let lock = workspace.metadata.workspace_root.as_std_path().join("Cargo.lock");
    if lock.exists() {
        return Ok(LockOrigin::Committed);
    }
    let origin = match fallback {
        Some(fallback) => {
            fs_err::copy(fallback, &lock).map_err(BuildError::io("copy the lock file"))?;
            LockOrigin::Copied
        }
        None => LockOrigin::Generated,
    };
    // `update --workspace` settles the lock file without moving what is in it, and downloads no sources.
    let update = |settings: &CargoSettings| {
        let mut command = settings.cargo("update", &place.live_tree);
        command.args(["--workspace", "--quiet", "--manifest-path"]).arg(&manifest);
        ask(&mut command, "settle the lock file")
    };
    let offline = CargoSettings { offline: true, ..settings.clone() };
    match update(&offline) {
        Ok(_) => Ok(origin),
        Err(BuildError::Refused { .. }) if !(settings.offline || settings.frozen) => {
            update(settings).map(|_| origin)
        }
        Err(error) => Err(error),
    }
}
