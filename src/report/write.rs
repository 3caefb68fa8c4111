//! Whole files or none: written beside their place, then moved there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::markdown;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[error("writing {} failed: {why}; {hint}", .path.display())]
pub struct WriteError {
    /// The path as the user gave it.
    pub path: PathBuf,
    why: String,
    hint: String,
}

/// Writes the bytes to the path so that no reader ever sees half of them: through a temporary file in the same
/// directory, flushed to the disk and renamed. An existing file keeps its permissions; a symbolic link stays one and
/// its target is written; a pipe or a device is written as it is.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_with(path, |file| file.write_all(bytes))
}

/// Like [`write_file`], for what need not be held in memory as a whole.
pub fn write_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let failed = |error: &io::Error| failure(path, error);
    match place(path)? {
        Place::Stream => {
            let mut file =
                std::fs::OpenOptions::new().write(true).open(path).map_err(|error| failed(&error))?;
            write(&mut file).and_then(|()| file.flush()).map_err(|error| failed(&error))
        }
        Place::File { real, directory, permissions } => {
            let mut file = temporary(&directory).map_err(|error| failed(&error))?;
            write(&mut file).map_err(|error| failed(&error))?;
            if let Some(permissions) = permissions {
                fs::set_permissions(file.path(), permissions).map_err(|error| failed(&error))?;
            }
            file.as_file().sync_all().map_err(|error| failed(&error))?;
            file.persist(&real).map_err(|error| failed(&error.error))?;
            // Makes the rename last too. Not every file system lets a directory be opened or synced.
            #[cfg(unix)]
            let _ = std::fs::File::open(&directory).and_then(|directory| directory.sync_all());
            Ok(())
        }
    }
}

/// Writes Markdown: where the file has a marked section that section alone is replaced, else the whole file is written.
pub fn write_section(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let mut section = Vec::new();
    write(&mut section).map_err(|error| failure(path, &error))?;
    let text = match marked(path)? {
        None => section,
        Some(file) => {
            let section = String::from_utf8_lossy(&section);
            markdown::replace_section(&file, &section)
                .map_or_else(|| section.into_owned().into_bytes(), String::into_bytes)
        }
    };
    write_file(path, &text)
}

/// Whether [`write_section`] would find its place.
pub fn check_section(path: &Path) -> Result<(), WriteError> {
    marked(path)?;
    check_writable(path)
}

/// The text of a file that has a marked section.
fn marked(path: &Path) -> Result<Option<String>, WriteError> {
    // What is no text, or not there, has no section; what cannot be written is told when it is.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let Some(file) = is_file.then(|| std::fs::read_to_string(path).ok()).flatten() else { return Ok(None) };
    match (file.find(markdown::START), markdown::replace_section(&file, "")) {
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Ok(Some(file)),
        (Some(_), None) => Err(WriteError {
            path: path.to_owned(),
            why: format!("it has `{}` and no `{}` behind it", markdown::START, markdown::END),
            hint: "write the second mark too, or take the first one out".to_owned(),
        }),
    }
}

/// Appends to a file that others append to, too.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(|error| failure(path, &error))
}

/// Whether [`write_file`] would find its place, for asking before an hour of measuring. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    match place(path)? {
        Place::Stream => Ok(()),
        Place::File { directory, .. } => {
            temporary(&directory).map(drop).map_err(|error| failure(path, &error))
        }
    }
}

/// Where the bytes go.
enum Place {
    /// A pipe, a terminal, a device: there is nothing to rename onto.
    Stream,
    /// A file, perhaps not there yet.
    File {
        /// The path with all links followed.
        real: PathBuf,
        /// Its directory.
        directory: PathBuf,
        /// Those of the file that is there.
        permissions: Option<std::fs::Permissions>,
    },
}

fn place(path: &Path) -> Result<Place, WriteError> {
    let wrong = |why: &str, hint: &str| WriteError {
        path: path.to_owned(),
        why: why.to_owned(),
        hint: hint.to_owned(),
    };
    let permissions = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(wrong("it is a directory", "name a file in it")),
        Ok(found) if !found.is_file() => return Ok(Place::Stream),
        Ok(found) if found.permissions().readonly() => {
            return Err(wrong("the file is read-only", "make it writable, or name another file"));
        }
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failure(path, &error)),
    };
    let real = follow(path).map_err(|error| failure(path, &error))?;
    if real.file_name().is_none() {
        return Err(wrong("it names no file", "name a file"));
    }
    let directory = match real.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if !directory.is_dir() {
        let hint = format!("create the directory {} first", directory.display());
        return Err(wrong("its directory does not exist", &hint));
    }
    Ok(Place::File { real, directory, permissions })
}

/// Follows the links at the end of a path, also those whose target does not exist yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    const DEEPEST: usize = 40;
    let mut real = path.to_owned();
    for _ in 0..DEEPEST {
        match std::fs::read_link(&real) {
            // Joining replaces the whole path when the link is absolute.
            Ok(target) => real = real.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(real),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn temporary(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".benchgate-").suffix(".tmp");
    // As any new file: what the user's umask leaves of it. Otherwise it would be readable by its owner alone.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

fn failure(path: &Path, error: &io::Error) -> WriteError {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => "make its directory writable, or name a file elsewhere",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or name a file elsewhere"
        }
        io::ErrorKind::ReadOnlyFilesystem => "name a file on a file system that can be written",
        io::ErrorKind::NotADirectory => "one part of the path before the last is not a directory",
        io::ErrorKind::InvalidFilename => "shorten the name",
        _ => "check the path, or name a file elsewhere",
    };
    let why = error.to_string();
    WriteError { path: path.to_owned(), why, hint: hint.to_owned() }
}
