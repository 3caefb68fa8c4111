//! Executables kept between runs, so that a base that was built once is not built again.
//!
//! An entry is a small target directory: the executables and what they need when they run, at the paths they were built
//! at, with a record of how they are started. It is only ever used behind the same fixed path, in the same slot, whose
//! lock the run holds; so nobody else writes here. Every byte is checked against the record before it is used.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use filetime::FileTime;
use serde::{Deserialize, Serialize};

use super::artifact::{hexadecimal, sha256_of};
use super::environment::Recipe;
use super::key::BuildKey;
use super::metadata::harness_crate;
use super::watched::{watched_names, watched_now};
use super::{Artifact, BuildError, BuildPlace, Built, BuiltTarget, CargoSettings, Layout};
use crate::harness::contract::Executable;
use crate::suite::identity::TargetId;
use files::{Needed, copy, is_executable, lay_out, needed, was_changed};

/// The record's name in an entry. Its time is when the entry was last used.
pub const RECORD_FILE: &str = "record.json";

const VERSION: u32 = 2;

/// The kept executables of one slot.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
}

/// What was found for a key.
#[derive(Debug)]
pub enum Found {
    /// The revision, built: ready to be started behind the fixed path.
    Kept(Box<Kept>),
    /// There is no entry, or it was made for other targets.
    Nothing,
    /// There is an entry that cannot be used any more; it was removed.
    Damaged(String),
}

/// A kept build.
#[derive(Debug)]
pub struct Kept {
    /// The targets.
    pub built: Built,
    /// The revision's workspace.
    pub layout: Layout,
    /// The lock file it was built with.
    pub lock: String,
}

/// What is kept of a build beside its targets.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// How people know the revision: its commit and the first line of the message.
    pub label: &'a str,
    /// Its workspace.
    pub layout: &'a Layout,
    /// The lock file it was built with.
    pub lock: &'a str,
}

/// The record, as stored.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    label: String,
    /// Of all else in this record and of the files: a torn record must not pass for a whole one.
    digest: String,
    layout: Layout,
    lock: String,
    /// The variables that build scripts and compilers looked at, with digests of their values.
    watched: BTreeMap<String, Option<String>>,
    targets: Vec<KeptTarget>,
    /// Relative to the target directory.
    files: BTreeMap<PathBuf, KeptFile>,
    /// The same; a directory may be empty.
    directories: BTreeSet<PathBuf>,
    /// The same, with what the symbolic links say, which is kept as it is and never followed.
    links: BTreeMap<PathBuf, PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptFile {
    sha256: String,
    executable: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptTarget {
    id: TargetId,
    path: PathBuf,
    package_root: PathBuf,
    runner: Vec<String>,
    uses_libtest: Option<bool>,
    harness_crates: Vec<String>,
    features: Vec<String>,
    programs: BTreeMap<String, PathBuf>,
    libraries: BTreeMap<String, PathBuf>,
    generated: BTreeMap<String, PathBuf>,
    recipe: Recipe,
}

impl Store {
    /// The store in this directory, which need not exist. The caller holds the lock of the slot around it.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// The directory of an entry.
    pub fn entry(&self, key: &BuildKey) -> PathBuf {
        self.directory.join(key.as_str())
    }

    /// Looks an entry up and lays it out as the target directory of `place`, replacing what is there. `targets` are the
    /// targets that would be built.
    pub fn fetch(
        &self,
        key: &BuildKey,
        place: &BuildPlace,
        settings: &CargoSettings,
        targets: &dyn Fn(&Layout) -> BTreeSet<TargetId>,
    ) -> Result<Found, BuildError> {
        let entry = self.entry(key);
        if !entry.is_dir() {
            return Ok(Found::Nothing);
        }
        let record = match Record::read(&entry) {
            Ok(record) => record,
            Err(reason) => return self.damaged(&entry, reason),
        };
        let asked: BTreeSet<TargetId> = record.targets.iter().map(|target| target.id.clone()).collect();
        if targets(&record.layout) != asked || record.watched != watched_now(record.watched.keys(), settings)
        {
            return Ok(Found::Nothing);
        }
        // The programs are hashed when they are read for their harness; once is enough.
        let relative = |target: &KeptTarget| target.path.strip_prefix(&place.live_target).map(Path::to_owned);
        let programs: BTreeSet<PathBuf> = record.targets.iter().flat_map(relative).collect();
        if let Err(reason) = lay_out(&record, &entry, &place.target, &programs) {
            return self.damaged(&entry, reason.to_string());
        }
        let built = record.targets.iter().map(|target| {
            let artifact = Artifact::read(&target.path).map_err(|error| error.to_string())?;
            let kept =
                relative(target).ok().and_then(|relative| Some((record.files.get(&relative)?, relative)));
            match kept {
                Some((file, relative)) if file.sha256 != artifact.sha256 => Err(was_changed(&relative)),
                _ => Ok((target.id.clone(), Ok(target.restored(artifact, settings)))),
            }
        });
        match built.collect::<Result<_, String>>() {
            Ok(targets) => {
                // The least recently used go first.
                let _ = filetime::set_file_mtime(entry.join(RECORD_FILE), FileTime::now());
                let built = Built { targets, ..Built::default() };
                Ok(Found::Kept(Box::new(Kept { built, layout: record.layout, lock: record.lock })))
            }
            Err(reason) => self.damaged(&entry, reason),
        }
    }

    /// Keeps a build. `false`: it is not kept, since not all of it was built, lies in the target directory or has a name
    /// that is text, since it is too large, or since its key does not tell all of its sources.
    pub fn keep(
        &self,
        key: &BuildKey,
        place: &BuildPlace,
        settings: &CargoSettings,
        built: &Built,
        facts: Facts<'_>,
    ) -> Result<bool, BuildError> {
        let entry = self.entry(key);
        if built.has_foreign_sources {
            return Ok(false);
        }
        let Some(targets) = kept_targets(built) else { return Ok(false) };
        let io = || BuildError::io("keep executables");
        let Some(Needed { files, directories, links }) = needed(&targets, place).map_err(io())? else {
            return Ok(false);
        };
        let watched = watched_names(&place.target).map_err(io())?;
        let mut record = Record {
            version: VERSION,
            label: facts.label.to_owned(),
            digest: String::new(),
            layout: facts.layout.clone(),
            lock: facts.lock.to_owned(),
            watched: watched_now(watched.iter(), settings),
            targets,
            files: BTreeMap::new(),
            directories,
            links,
        };
        fs_err::create_dir_all(&self.directory).map_err(io())?;
        let partial = tempfile::Builder::new().prefix("partial-").tempdir_in(&self.directory).map_err(io())?;
        for relative in files {
            let (from, to) = (place.target.join(&relative), partial.path().join("target").join(&relative));
            copy(&from, &to).map_err(io())?;
            let file = KeptFile { sha256: sha256_of(&to).map_err(io())?, executable: is_executable(&to) };
            record.files.insert(relative, file);
        }
        record.digest = record.own_digest(&entry).map_err(BuildError::io("keep executables"))?;
        let mut file = fs_err::File::create(partial.path().join(RECORD_FILE)).map_err(io())?;
        serde_json::to_writer(&mut file, &record).map_err(std::io::Error::from).map_err(io())?;
        file.flush().map_err(io())?;
        drop(file);
        if entry.exists() {
            fs_err::remove_dir_all(&entry).map_err(io())?;
        }
        // What is there under its name is whole.
        fs_err::rename(partial.path(), &entry).map_err(io())?;
        let _ = partial.keep();
        Ok(true)
    }

    fn damaged(&self, entry: &Path, reason: String) -> Result<Found, BuildError> {
        fs_err::remove_dir_all(entry).map_err(BuildError::io("remove a damaged build"))?;
        Ok(Found::Damaged(reason))
    }
}

/// What an entry holds, for people; `None` where its record cannot be read.
pub fn describe(entry: &Path) -> Option<String> {
    let record = Record::read(entry).ok()?;
    let names: Vec<&str> = record.targets.iter().map(|target| target.id.target.as_str()).collect();
    Some(format!("{} [{}]", record.label, names.join(", ")))
}

impl Record {
    fn read(entry: &Path) -> Result<Self, String> {
        let bytes = fs_err::read(entry.join(RECORD_FILE)).map_err(|error| error.to_string())?;
        let record: Self =
            serde_json::from_slice(&bytes).map_err(|error| format!("its record is torn: {error}"))?;
        match record.own_digest(entry) {
            _ if record.version != VERSION => Err("another version made it".to_owned()),
            Ok(digest) if digest == record.digest => Ok(record),
            _ => Err("its record was changed".to_owned()),
        }
    }

    /// With the name of its entry, which is the key: an entry that was moved to another key's place is not that build.
    fn own_digest(&self, entry: &Path) -> std::io::Result<String> {
        use sha2::{Digest, Sha256};
        let text = serde_json::to_vec(&(
            (
                entry.file_name().map(|name| name.to_string_lossy()),
                self.version,
                &self.label,
                &self.layout,
                &self.lock,
            ),
            (&self.watched, &self.targets, &self.files, &self.directories, &self.links),
        ))?;
        Ok(hexadecimal(&Sha256::digest(text)))
    }
}

impl KeptTarget {
    fn restored(&self, artifact: Artifact, settings: &CargoSettings) -> BuiltTarget {
        BuiltTarget {
            executable: Executable {
                kind: self.id.kind,
                path: self.path.clone(),
                package_root: self.package_root.clone(),
                env: self.recipe.environment(&settings.env),
                runner: self.runner.iter().map(OsString::from).collect(),
            },
            artifact,
            uses_libtest: self.uses_libtest,
            harness_crates: self.harness_crates.iter().filter_map(|name| harness_crate(name)).collect(),
            features: self.features.clone(),
            programs: self.programs.clone(),
            libraries: self.libraries.clone(),
            generated: self.generated.clone(),
            recipe: self.recipe.clone(),
        }
    }
}

/// `None`: a target failed, or something is not text.
fn kept_targets(built: &Built) -> Option<Vec<KeptTarget>> {
    let one = |(id, built): (&TargetId, &Result<BuiltTarget, _>)| {
        let built = built.as_ref().ok()?;
        let executable = &built.executable;
        let paths = [&executable.path, &executable.package_root];
        let more = built.programs.values().chain(built.libraries.values()).chain(built.generated.values());
        if paths.into_iter().chain(more).any(|path| path.to_str().is_none()) {
            return None;
        }
        let runner = executable.runner.iter().map(|word| word.to_str().map(str::to_owned));
        Some(KeptTarget {
            id: id.clone(),
            path: executable.path.clone(),
            package_root: executable.package_root.clone(),
            runner: runner.collect::<Option<_>>()?,
            uses_libtest: built.uses_libtest,
            harness_crates: built.harness_crates.iter().map(|name| (*name).to_owned()).collect(),
            features: built.features.clone(),
            programs: built.programs.clone(),
            libraries: built.libraries.clone(),
            generated: built.generated.clone(),
            recipe: built.recipe.clone(),
        })
    };
    built.targets.iter().map(one).collect()
}
