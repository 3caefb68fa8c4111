//! What the slots of all repositories take on disk, and their removal.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::RevisionError;
use super::repository::Repository;
use super::slot::{BUILDS, OWNER_FILE, lock_path, slot_directories, try_lock};
use super::{remove, sweep};

/// A slot on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotUsage {
    /// Its directory.
    pub path: PathBuf,
    /// The git directory of the repository it belongs to.
    pub repository: PathBuf,
    /// The sizes of its files in bytes, files with several names counted once.
    pub bytes: u64,
    /// Whether a run holds it now.
    pub in_use: bool,
    /// The executables kept in it for later runs, the last used first.
    pub builds: Vec<KeptBuild>,
}

/// The executables of one build, kept for later runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptBuild {
    /// Its directory.
    pub path: PathBuf,
    /// The sizes of its files in bytes.
    pub bytes: u64,
    /// When it was last used.
    pub used_at: SystemTime,
}

/// What a clean-up did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The slots that were removed, with their sizes before.
    pub removed: Vec<SlotUsage>,
    /// The slots that were left, because runs hold them.
    pub in_use: Vec<SlotUsage>,
}

/// The slots below a cache root; none when it does not exist.
pub fn list(cache_root: &Path) -> Result<Vec<SlotUsage>, RevisionError> {
    let doing = || RevisionError::io("list the build slots");
    let mut all = Vec::new();
    for (slot, repository) in slots(cache_root).map_err(doing())? {
        let in_use = try_lock(&slot).map_err(doing())?.is_none();
        all.push(usage(slot, repository, in_use));
    }
    Ok(all)
}

/// Removes every slot no run holds, with the worktrees registered in it.
pub fn clean(cache_root: &Path) -> Result<Cleaned, RevisionError> {
    let doing = || RevisionError::io("remove the build slots");
    let mut cleaned = Cleaned::default();
    for (slot, repository) in slots(cache_root).map_err(doing())? {
        let Some(_lock) = try_lock(&slot).map_err(doing())? else {
            cleaned.in_use.push(usage(slot, repository, true));
            continue;
        };
        let usage = usage(slot.clone(), repository, false);
        // A repository that is gone took its registrations along.
        if let Ok(repository) = Repository::open_common_dir(&usage.repository) {
            sweep::slot(&repository, &slot, sweep::Kept::Remove)?;
        }
        remove::directory(&slot).map_err(doing())?;
        let _ = std::fs::remove_file(lock_path(&slot));
        cleaned.removed.push(usage);
    }
    for (directory, _) in repositories(cache_root).map_err(doing())? {
        remove_if_unused(&directory);
    }
    Ok(cleaned)
}

/// Removes the least recently used kept builds of all slots until they take no more than `limit_bytes` together. Those
/// `in_use` stay, and those in slots that other runs hold. `own` is where this run keeps its builds.
pub fn trim(
    cache_root: &Path,
    limit_bytes: u64,
    own: &Path,
    in_use: &[PathBuf],
) -> Result<(), RevisionError> {
    let doing = || RevisionError::io("remove kept executables");
    let mut all = Vec::new();
    for (slot, _) in slots(cache_root).map_err(doing())? {
        all.extend(kept_builds(&slot).into_iter().map(|build| (slot.clone(), build)));
    }
    // What a run that was killed while it kept something left behind.
    for entry in own.read_dir().into_iter().flatten().flatten() {
        if is_partial(&entry.path()) {
            remove::directory(&entry.path()).map_err(doing())?;
        }
    }
    let mut bytes: u64 = all.iter().map(|(_, build)| build.bytes).sum();
    all.sort_by_key(|(_, build)| build.used_at);
    for (slot, build) in all {
        if bytes <= limit_bytes {
            break;
        }
        if in_use.contains(&build.path) {
            continue;
        }
        let is_own = build.path.starts_with(own);
        let lock = if is_own { None } else { try_lock(&slot).map_err(doing())? };
        if is_own || lock.is_some() {
            remove::directory(&build.path).map_err(doing())?;
            bytes = bytes.saturating_sub(build.bytes);
        }
    }
    Ok(())
}

/// The builds kept in a slot, the last used first.
fn kept_builds(slot: &Path) -> Vec<KeptBuild> {
    let Ok(entries) = slot.join(BUILDS).read_dir() else { return Vec::new() };
    let directories =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir() && !is_partial(path));
    let mut builds: Vec<KeptBuild> = directories
        .map(|path| {
            // Using a build touches its record, the one file in its directory.
            let files = path.read_dir().into_iter().flatten().flatten();
            let times = files.filter_map(|file| file.metadata().ok()?.modified().ok());
            let used_at = times.max().unwrap_or(SystemTime::UNIX_EPOCH);
            KeptBuild { bytes: size_of(&path), used_at, path }
        })
        .collect();
    builds.sort_by_key(|build| std::cmp::Reverse(build.used_at));
    builds
}

fn is_partial(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"partial-"))
}

/// The bytes of all files below a directory, files with several names counted once, links not followed.
pub fn size_of(directory: &Path) -> u64 {
    let mut seen = HashSet::new();
    size(directory, &mut seen)
}

fn usage(path: PathBuf, repository: PathBuf, in_use: bool) -> SlotUsage {
    let bytes = size_of(&path);
    SlotUsage { builds: kept_builds(&path), path, repository, bytes, in_use }
}

fn slots(cache_root: &Path) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    let mut all = Vec::new();
    for (directory, repository) in repositories(cache_root)? {
        all.extend(slot_directories(&directory)?.into_iter().map(|slot| (slot, repository.clone())));
    }
    Ok(all)
}

/// The directories below a cache root that hold slots, and the repositories they belong to.
fn repositories(cache_root: &Path) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    // Registrations hold resolved paths.
    let cache_root = match cache_root.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut all = Vec::new();
    for entry in fs_err::read_dir(cache_root)? {
        let directory = entry?.path();
        if let Ok(owner) = std::fs::read(directory.join(OWNER_FILE)) {
            all.push((directory, path_from_bytes(owner)));
        }
    }
    all.sort();
    Ok(all)
}

/// Removes a repository's directory when nothing but our own small files is in it.
fn remove_if_unused(directory: &Path) {
    let Ok(entries) = directory.read_dir() else { return };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    if names.iter().all(|name| name == OWNER_FILE || name == "worktrees.lock") {
        for name in names {
            let _ = std::fs::remove_file(directory.join(name));
        }
        let _ = std::fs::remove_dir(directory);
    }
}

#[cfg(unix)]
fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

fn size(path: &Path, seen: &mut HashSet<(u64, u64)>) -> u64 {
    let Ok(metadata) = path.symlink_metadata() else { return 0 };
    if !metadata.is_dir() {
        return if is_first_name(&metadata, seen) { metadata.len() } else { 0 };
    }
    let Ok(entries) = path.read_dir() else { return 0 };
    entries.flatten().map(|entry| size(&entry.path(), seen)).sum()
}

#[cfg(unix)]
fn is_first_name(metadata: &std::fs::Metadata, seen: &mut HashSet<(u64, u64)>) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() < 2 || seen.insert((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn is_first_name(_metadata: &std::fs::Metadata, _seen: &mut HashSet<(u64, u64)>) -> bool {
    true
}
