//! The ids of files by what is on disk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use gix::objs::Kind;

use super::error::RevisionError;

/// The blob id of each file's bytes as they are on disk, no filter applied; of a link, of its target. Files that are
/// gone are left out.
pub(super) fn ids(
    root: &Path,
    paths: &[PathBuf],
    hash: gix::hash::Kind,
    interrupt: &AtomicBool,
) -> Result<Vec<(PathBuf, gix::ObjectId)>, RevisionError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = paths.len().div_ceil(threads).max(1);
    let parts: Vec<Result<Vec<_>, RevisionError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = paths
            .chunks(chunk)
            .map(|paths| scope.spawn(move || ids_of_part(root, paths, hash, interrupt)))
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("hashing does not panic")).collect()
    });
    let mut all = Vec::with_capacity(paths.len());
    for part in parts {
        all.extend(part?);
    }
    Ok(all)
}

fn ids_of_part(
    root: &Path,
    paths: &[PathBuf],
    hash: gix::hash::Kind,
    interrupt: &AtomicBool,
) -> Result<Vec<(PathBuf, gix::ObjectId)>, RevisionError> {
    let mut part = Vec::with_capacity(paths.len());
    for path in paths {
        if interrupt.load(Ordering::Relaxed) {
            return Err(RevisionError::Interrupted);
        }
        if let Some(id) = id(&root.join(path), hash, interrupt)? {
            part.push((path.clone(), id));
        }
    }
    Ok(part)
}

fn id(
    path: &Path,
    hash: gix::hash::Kind,
    interrupt: &AtomicBool,
) -> Result<Option<gix::ObjectId>, RevisionError> {
    let doing = || format!("hash {}", path.display());
    let Ok(metadata) = path.symlink_metadata() else { return Ok(None) };
    let id = if metadata.is_symlink() {
        let target = fs_err::read_link(path).map_err(RevisionError::io(doing()))?;
        gix::objs::compute_hash(hash, Kind::Blob, target.as_os_str().as_encoded_bytes())
    } else if metadata.is_file() {
        let mut file = fs_err::File::open(path).map_err(RevisionError::io(doing()))?;
        let mut progress = gix::progress::Discard;
        gix::objs::compute_stream_hash(hash, Kind::Blob, &mut file, metadata.len(), &mut progress, interrupt)
    } else {
        return Ok(None);
    };
    id.map(Some).map_err(RevisionError::git(doing()))
}
