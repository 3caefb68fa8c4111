//! The files of a kept build: which there are to keep, and how they are laid out again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::super::BuildPlace;
use super::super::artifact::sha256_of;
use super::{KeptTarget, Record};

/// What build scripts generated beyond this is not kept, nor are the executables that go with it. Bytes.
const ENTRY_LIMIT: u64 = 1 << 30;

/// What the targets need when they run, relative to the target directory.
pub(super) struct Needed {
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) directories: BTreeSet<PathBuf>,
    pub(super) links: BTreeMap<PathBuf, PathBuf>,
}

/// `None`: something lies elsewhere, has a name that is no text, is no file that can be copied, or it is too large.
pub(super) fn needed(targets: &[KeptTarget], place: &BuildPlace) -> std::io::Result<Option<Needed>> {
    let mut files = BTreeSet::new();
    let mut directories = BTreeSet::new();
    let mut links = BTreeMap::new();
    for target in targets {
        let paths = target.programs.values().chain(target.libraries.values()).chain([&target.path]);
        for path in paths {
            let Ok(relative) = path.strip_prefix(&place.live_target) else { return Ok(None) };
            files.insert(relative.to_owned());
        }
        for path in target.generated.values() {
            let Ok(relative) = path.strip_prefix(&place.live_target) else { return Ok(None) };
            directories.insert(relative.to_owned());
        }
    }
    let mut bytes = 0;
    let mut waiting: Vec<PathBuf> = directories.iter().cloned().collect();
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = place.target.join(&directory).read_dir() else { continue };
        for entry in entries {
            let entry = entry?;
            let relative = directory.join(entry.file_name());
            if relative.to_str().is_none() {
                return Ok(None);
            }
            let metadata = entry.path().symlink_metadata()?;
            if metadata.is_dir() {
                directories.insert(relative.clone());
                waiting.push(relative);
            } else if metadata.is_file() {
                bytes += metadata.len();
                files.insert(relative);
            } else if metadata.is_symlink() && cfg!(unix) {
                let leads_to = fs_err::read_link(entry.path())?;
                if leads_to.to_str().is_none() {
                    return Ok(None);
                }
                links.insert(relative, leads_to);
            } else {
                return Ok(None);
            }
            if ENTRY_LIMIT < bytes {
                return Ok(None);
            }
        }
    }
    Ok(Some(Needed { files, directories, links }))
}

pub(super) fn was_changed(relative: &Path) -> String {
    format!("{} was changed", relative.display())
}

/// Puts the files of an entry into an empty target directory, and checks each; of the `programs`, which the caller reads
/// as a whole, only whether they may be run.
pub(super) fn lay_out(
    record: &Record,
    entry: &Path,
    target: &Path,
    programs: &BTreeSet<PathBuf>,
) -> std::io::Result<()> {
    if target.symlink_metadata().is_ok() {
        fs_err::remove_dir_all(target)?;
    }
    let is_inside = |path: &&PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    if let Some(path) = record
        .files
        .keys()
        .chain(&record.directories)
        .chain(record.links.keys())
        .find(|path| !is_inside(path))
    {
        return Err(std::io::Error::other(format!("{} leads out of it", path.display())));
    }
    for relative in &record.directories {
        fs_err::create_dir_all(target.join(relative))?;
    }
    for (relative, file) in &record.files {
        let to = target.join(relative);
        copy(&entry.join("target").join(relative), &to)?;
        let is_whole = programs.contains(relative) || sha256_of(&to)? == file.sha256;
        if !is_whole || is_executable(&to) != file.executable {
            return Err(std::io::Error::other(was_changed(relative)));
        }
    }
    // Last, so that nothing is written through one.
    for (relative, leads_to) in &record.links {
        link(leads_to, &target.join(relative))?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(leads_to: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(leads_to, at)
}

#[cfg(not(unix))]
fn link(_: &Path, at: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other(format!("{} is a link, and none is made here", at.display())))
}

pub(super) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs_err::create_dir_all(to.parent().expect("it lies in a target directory"))?;
    fs_err::copy(from, to).map(drop)
}

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(_path: &Path) -> bool {
    false
}
