//! Ignored files the user wants in the snapshot, found by glob.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::error::RevisionError;

/// The files below `root` that match a pattern, relative to it, and a note for every pattern that matches none. A
/// pattern that names a directory takes all of its files.
pub(super) fn files(
    root: &Path,
    patterns: &[String],
) -> Result<(BTreeSet<PathBuf>, Vec<String>), RevisionError> {
    let mut found = BTreeSet::new();
    let mut notes = Vec::new();
    for pattern in patterns {
        let set = compile(pattern)?;
        let mut matches = Vec::new();
        let start = literal_prefix(pattern);
        // What lies behind a link has a path of its own, or lies outside of the repository.
        let linked =
            start.ancestors().skip(1).any(|above| root.join(above).is_symlink() && above != Path::new(""));
        let walked = if linked { Ok(()) } else { walk(root, &start, &set, &mut matches) };
        walked.map_err(RevisionError::io(format!("look for files matching snapshot_include '{pattern}'")))?;
        if matches.is_empty() {
            notes.push(format!("snapshot_include '{pattern}' matches no file"));
        }
        found.extend(matches);
    }
    Ok((found, notes))
}

fn compile(pattern: &str) -> Result<GlobSet, RevisionError> {
    let bad = |reason: String| RevisionError::BadPattern { pattern: pattern.to_owned(), reason };
    let path = Path::new(pattern);
    if pattern.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(bad("it must be a path below the repository's root, without '.' or '..'".to_owned()));
    }
    let mut builder = GlobSetBuilder::new();
    let pattern = pattern.trim_end_matches('/');
    for pattern in [pattern.to_owned(), format!("{pattern}/**")] {
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        builder.add(glob.map_err(|error| bad(error.kind().to_string()))?);
    }
    builder.build().map_err(|error| bad(error.kind().to_string()))
}

/// The leading directories without a wildcard: nothing else needs a walk.
fn literal_prefix(pattern: &str) -> PathBuf {
    Path::new(pattern)
        .components()
        .take_while(|part| !part.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[{\\".contains(byte)))
        .collect()
}

/// Walks without following links, past git directories and nested repositories.
fn walk(root: &Path, relative: &Path, set: &GlobSet, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let path = root.join(relative);
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if metadata.is_file() || metadata.is_symlink() {
        if set.is_match(relative) {
            found.push(relative.to_owned());
        }
        return Ok(());
    }
    if !metadata.is_dir() || (relative != Path::new("") && path.join(".git").exists()) {
        return Ok(());
    }
    for entry in fs_err::read_dir(&path)? {
        let name = entry?.file_name();
        if name != ".git" {
            walk(root, &relative.join(name), set, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_that_may_match_are_walked() {
        assert_eq!(literal_prefix("data/big/*.json"), Path::new("data/big"));
        assert_eq!(literal_prefix("data/big.json"), Path::new("data/big.json"));
        assert_eq!(literal_prefix("**/x"), Path::new(""));
    }

    #[test]
    fn a_pattern_names_files_or_whole_directories() {
        let set = compile("data").unwrap();
        assert!(set.is_match("data/deep/a.bin") && !set.is_match("database/a.bin"));
        let set = compile("data/*.bin").unwrap();
        assert!(set.is_match("data/a.bin") && !set.is_match("data/deep/a.bin"));
    }

    #[test]
    fn a_pattern_that_leaves_the_repository_is_an_error() {
        for pattern in ["", "/etc/passwd", "../x", "a/../../x", "[a"] {
            assert!(compile(pattern).unwrap_err().is_usage(), "{pattern}");
        }
    }
}
