//! Removal of directories that hold whatever a build left in them.

use std::io;
use std::path::Path;

/// Removes a directory and everything in it; fine when it is not there. Directories without write permission, as some
/// tests and build scripts leave them, are made writable first. Symbolic links are never followed.
pub(super) fn directory(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path)?;
            fs_err::remove_dir_all(path)
        }
        Err(_) => fs_err::remove_dir_all(path),
        Ok(()) => Ok(()),
    }
}

fn make_writable(directory: &Path) -> io::Result<()> {
    let metadata = fs_err::symlink_metadata(directory)?;
    if !metadata.is_dir() {
        return Ok(());
    }
    allow_owner(directory, metadata.permissions())?;
    for entry in fs_err::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn allow_owner(path: &Path, mut permissions: std::fs::Permissions) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    permissions.set_mode(permissions.mode() | 0o700);
    fs_err::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn allow_owner(path: &Path, mut permissions: std::fs::Permissions) -> io::Result<()> {
    #[allow(
        clippy::permissions_set_readonly_false,
        reason = "outside Unix it is the attribute that is cleared"
    )]
    permissions.set_readonly(false);
    fs_err::set_permissions(path, permissions)
}
