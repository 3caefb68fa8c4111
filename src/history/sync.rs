//! A store and the history on a git ref, brought together: files are added on both sides, never changed, so nothing can
//! conflict.

use std::ffi::OsString;

use super::store::{FOLDERS, Store, is_whole};
use crate::error::Error;
use crate::revision::Repository;
use crate::revision::history_ref::{Pushed, RefFiles};

/// How often a push that was overtaken is tried.
const TRIES: usize = 5;

/// What was moved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moved {
    /// Files that were new to the other side.
    pub files: usize,
    /// Files that were left out: name and reason.
    pub left_out: Vec<(String, String)>,
}

/// Adds the files of a remote's history to the store.
///
/// # Errors
///
/// When git, the remote or the store fails.
pub fn pull(
    store: &Store,
    repository: &Repository,
    remote: &str,
    env: &[(OsString, OsString)],
) -> Result<Moved, Error> {
    let theirs = repository.fetch_history(remote, env)?;
    let moved = take_in(store, repository, &theirs)?;
    if let Some(commit) = theirs.commit {
        repository.set_history_ref(commit)?;
    }
    Ok(moved)
}

fn take_in(store: &Store, repository: &Repository, theirs: &RefFiles) -> Result<Moved, Error> {
    let mut moved = Moved::default();
    for (name, blob) in &theirs.files {
        if !is_ours(name) {
            moved.left_out.push((name.clone(), "it is no file of a history".to_owned()));
            continue;
        }
        // What is there and whole need not be read from git.
        if store.read(name).is_ok() {
            continue;
        }
        let bytes = repository.history_blob(*blob)?;
        if !is_whole(name, &bytes) {
            moved.left_out.push((name.clone(), "its content is not what its name says".to_owned()));
            continue;
        }
        store.put(name, &bytes)?;
        moved.files += 1;
    }
    Ok(moved)
}

/// Adds the files of the store to a remote's history.
///
/// # Errors
///
/// When git, the remote or the store fails, or others push all the time.
pub fn push(
    store: &Store,
    repository: &Repository,
    remote: &str,
    env: &[(OsString, OsString)],
    now: i64,
) -> Result<Moved, Error> {
    let mut own = Vec::new();
    for folder in FOLDERS {
        own.extend(store.list(folder)?);
    }
    for _ in 0..TRIES {
        let mut files = repository.fetch_history(remote, env)?;
        let mut moved = Moved::default();
        for listed in &own {
            if files.files.contains_key(&listed.name) {
                continue;
            }
            match store.read(&listed.name) {
                Ok(bytes) => {
                    files.files.insert(listed.name.clone(), repository.write_history_blob(&bytes)?);
                    moved.files += 1;
                }
                Err(why) => moved.left_out.push((listed.name.clone(), why)),
            }
        }
        if moved.files == 0 {
            return Ok(moved);
        }
        let commit = repository.commit_history(&files, now)?;
        match repository.push_history(remote, commit, env)? {
            Pushed::Done => {
                repository.set_history_ref(commit)?;
                return Ok(moved);
            }
            Pushed::Overtaken => {}
        }
    }
    Err(Error::Execution(format!(
        "failed to push the history to {remote}: others pushed in between {TRIES} times; try again"
    )))
}

/// Whether a path of the ref is a file of a store: no path leaves it.
fn is_ours(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let plain = |part: &&str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    parts.len() == 3 && FOLDERS.contains(&parts[0]) && parts.iter().all(plain) && parts[2].ends_with(".json")
}
