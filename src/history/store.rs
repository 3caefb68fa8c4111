//! The store: a directory of immutable files, one a report, a mark or a renaming, each named by its content. Two stores are merged by
//! copying files; no file is ever changed, so there is nothing to lock and nothing to conflict.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::facts::{Facts, nanoseconds};
use super::key::hex;
use super::marks::{Event, Mark};
use super::rekey::Rekey;
use crate::error::Error;

/// Below the store: the reports, by month.
pub const REPORTS: &str = "reports";
/// Below the store: marks, and what takes them back.
pub const MARKS: &str = "marks";
/// Below the store: renamed series.
pub const REKEYS: &str = "rekeys";
/// Below the store: all that is kept for good, and moved between stores.
pub const FOLDERS: [&str; 3] = [REPORTS, MARKS, REKEYS];
/// Below the store: what can be deleted at any time.
const CACHE: &str = "cache";
/// Hexadecimal digits of the content's SHA-256 at the end of each file's name.
const DIGITS: usize = 16;

/// A history on disk. It need not exist yet: it is then empty.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
}

/// Events with their files, and what is wrong with files that hold none.
type Events<E> = (Vec<(String, E)>, Vec<String>);

/// What came of adding a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It was written.
    New(String),
    /// The same bytes were there already.
    Known(String),
}

impl Added {
    /// The file's name, relative to the store.
    pub fn name(&self) -> &str {
        match self {
            Self::New(name) | Self::Known(name) => name,
        }
    }

    /// Whether it was written.
    pub fn is_new(&self) -> bool {
        matches!(self, Self::New(_))
    }
}

/// A file of the store as the directory lists it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Listed {
    /// Relative to the store, with `/` between the parts.
    pub name: String,
    /// Bytes.
    pub size: u64,
}

impl Store {
    /// The store at that directory.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file of the index.
    pub(super) fn index_path(&self) -> PathBuf {
        self.directory.join(CACHE).join("index")
    }

    /// Adds a report's JSON, as it is.
    ///
    /// # Errors
    ///
    /// When the bytes are no report, or cannot be written.
    pub fn add_report(&self, bytes: &[u8]) -> Result<Added, Error> {
        let facts = Facts::read(bytes)
            .map_err(|why| Error::Usage(format!("not a report written by `--format json`: {why}")))?;
        self.add_checked(bytes, &facts)
    }

    /// Adds a report whose facts are known.
    pub(super) fn add_checked(&self, bytes: &[u8], facts: &Facts) -> Result<Added, Error> {
        let head = facts.revisions.last().map(|revision| &*revision.commit).unwrap_or_default();
        self.add(REPORTS, facts.result_time, head, bytes)
    }

    /// Adds a mark, or what takes one back.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn add_event(&self, event: &Event) -> Result<Added, Error> {
        let at = nanoseconds(&event.at).unwrap_or(0);
        self.add(MARKS, at, &event.commit, &lines(event))
    }

    /// Adds a renaming, or what takes one back.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn add_rekey(&self, event: &Rekey) -> Result<Added, Error> {
        let at = nanoseconds(&event.at).unwrap_or(0);
        self.add(REKEYS, at, "", &lines(event))
    }

    fn add(&self, folder: &str, time: i64, commit: &str, bytes: &[u8]) -> Result<Added, Error> {
        let name = file_name(folder, time, commit, bytes);
        self.put(&name, bytes)
    }

    /// Writes a file under its name, unless it is there.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> Result<Added, Error> {
        let path = self.directory.join(name);
        let failed = |error: io::Error| {
            Error::Execution(format!(
                "failed to write {name} to the history {}: {error}; check the directory, or name another one with --history",
                self.directory.display()
            ))
        };
        // A torn copy under the name of this very content is replaced by what the name promises.
        if fs::read(&path).is_ok_and(|found| found == bytes) {
            return Ok(Added::Known(name.to_owned()));
        }
        let parent = path.parent().expect("a name in the store has a folder");
        fs::create_dir_all(parent).map_err(failed)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(parent).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        #[cfg(unix)]
        {
            // Temporary files are for their owner alone; a history may be read by a team.
            use std::os::unix::fs::PermissionsExt as _;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed)?;
        }
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(Added::New(name.to_owned()))
    }

    /// All files of a folder, by name. Hidden files, and what is no file, do not count.
    ///
    /// # Errors
    ///
    /// When a directory that is there cannot be listed.
    pub fn list(&self, folder: &str) -> Result<Vec<Listed>, Error> {
        let mut listed = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            let entries = match fs::read_dir(self.directory.join(&folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(self.unreadable(&error)),
            };
            for entry in entries {
                let entry = entry.map_err(|error| self.unreadable(&error))?;
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
                if name.starts_with('.') {
                    continue;
                }
                let name = format!("{folder}/{name}");
                // A file that was pruned meanwhile is as good as not there.
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    open.push(name);
                } else if name.ends_with(".json") && (metadata.is_file() || metadata.is_symlink()) {
                    listed.push(Listed { name, size: metadata.len() });
                }
            }
        }
        listed.sort_unstable();
        Ok(listed)
    }

    fn unreadable(&self, error: &io::Error) -> Error {
        Error::Execution(format!("failed to list the history {}: {error}", self.directory.display()))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// Why they cannot be used: unreadable, or not those the name promises.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = fs::read(self.directory.join(name)).map_err(|error| error.to_string())?;
        match is_whole(name, &bytes) {
            true => Ok(bytes),
            false => Err("its content is not what its name says: the file is torn or was changed".to_owned()),
        }
    }

    /// The marks, oldest first, and what is wrong with files that hold none.
    ///
    /// # Errors
    ///
    /// When the directory cannot be listed.
    pub fn marks(&self) -> Result<(Vec<Mark>, Vec<String>), Error> {
        let (events, problems) = self.events(MARKS, |event: &Event| nanoseconds(&event.at))?;
        Ok((events.into_iter().map(|(file, event)| Mark { file, event }).collect(), problems))
    }

    /// The renamings, oldest first, and what is wrong with files that hold none.
    ///
    /// # Errors
    ///
    /// When the directory cannot be listed.
    pub fn rekeys(&self) -> Result<(Vec<Rekey>, Vec<String>), Error> {
        let (events, problems) = self.events(REKEYS, |event: &Rekey| nanoseconds(&event.at))?;
        Ok((events.into_iter().map(|(_, event)| event).collect(), problems))
    }

    /// The events of a folder with their files, in the order of their times.
    fn events<E: DeserializeOwned>(
        &self,
        folder: &str,
        at: impl Fn(&E) -> Option<i64>,
    ) -> Result<Events<E>, Error> {
        let mut events = Vec::new();
        let mut problems = Vec::new();
        for listed in self.list(folder)? {
            let event = self
                .read(&listed.name)
                .and_then(|bytes| serde_json::from_slice::<E>(&bytes).map_err(|error| error.to_string()));
            match event {
                Ok(event) => events.push((listed.name, event)),
                Err(why) => problems.push(format!("left out {}: {why}", listed.name)),
            }
        }
        events.sort_by(|(a_file, a), (b_file, b)| (at(a), a_file).cmp(&(at(b), b_file)));
        Ok((events, problems))
    }

    /// Removes files; one that is gone already is no failure.
    ///
    /// # Errors
    ///
    /// When a file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        match fs::remove_file(self.directory.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::Execution(format!(
                "failed to remove {name} from the history {}: {error}",
                self.directory.display()
            ))),
            _ => Ok(()),
        }
    }
}

/// An event as its file holds it.
fn lines(event: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(event).expect("an event has only texts in it");
    bytes.push(b'\n');
    bytes
}

/// `FOLDER/2026-01/20260131T120000Z-COMMIT-DIGEST.json`: people find a run by its time, and the digest checks the content.
fn file_name(folder: &str, time: i64, commit: &str, bytes: &[u8]) -> String {
    let time = jiff::Timestamp::from_nanosecond(i128::from(time)).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let plain = |c: &char| c.is_ascii_alphanumeric();
    let commit: String = commit.chars().filter(plain).take(12).collect();
    let commit = if commit.is_empty() { "none" } else { &commit };
    let digest = &hex(&Sha256::digest(bytes))[..DIGITS];
    format!("{folder}/{}/{}-{commit}-{digest}.json", time.strftime("%Y-%m"), time.strftime("%Y%m%dT%H%M%SZ"))
}

/// Whether the content is the one that the file's name promises.
pub(super) fn is_whole(name: &str, bytes: &[u8]) -> bool {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let digest = stem.rsplit('-').next().unwrap_or_default();
    digest.len() == DIGITS && hex(&Sha256::digest(bytes))[..DIGITS] == *digest
}
