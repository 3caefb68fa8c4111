//! A second target directory from a finished first one: the dependencies are kept, nothing of the workspace is believed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use filetime::FileTime;

use super::BuildError;

/// Directories that are large, or hold results, or may not be shared.
const SKIPPED: &[&str] = &["incremental", "criterion", "doc", "package", "benchgate"];

/// Copies the target directory `from` to `to`, without the fingerprints of `members` (of either revision, see
/// [`super::Workspace::path_packages`]). Does nothing when `to` exists. `false`: nothing was done.
///
/// The record of file times comes along: what holds for a checkout in `from` holds in its copy, and vendored
/// dependencies, whose times cargo does look at, stay fresh. Members are not left to it alone.
///
/// Files are copied, never linked: cargo rewrites some in place. The copy appears at once and whole, so one that was
/// killed is never used. The caller makes sure that nobody else seeds or builds there.
pub fn seed_target(from: &Path, to: &Path, members: &BTreeSet<String>) -> Result<bool, BuildError> {
    let failed = || BuildError::io("copy a target directory");
    if to.symlink_metadata().is_ok() || !from.is_dir() {
        return Ok(false);
    }
    let mut partial = to.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    if partial.symlink_metadata().is_ok() {
        fs_err::remove_dir_all(&partial).map_err(failed())?;
    }
    fs_err::create_dir_all(&partial).map_err(failed())?;
    let copied =
        copy(from, &partial, &|path| skipped(path, members)).and_then(|()| fs_err::rename(&partial, to));
    if copied.is_err() {
        // Half a copy is of no use; what matters is why it is half.
        let _ = fs_err::remove_dir_all(&partial);
    }
    copied.map(|()| true).map_err(failed())
}

/// The package of a fingerprint directory, `NAME-` with 16 hexadecimal digits behind: a plain prefix would take
/// `foo-bar` for `foo`.
fn package_of(directory: &str) -> Option<&str> {
    let (name, hash) = directory.rsplit_once('-')?;
    (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
}

fn skipped(relative: &Path, members: &BTreeSet<String>) -> bool {
    let name = relative.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let parent = relative.parent().unwrap_or(Path::new(""));
    let above = parent.file_name().and_then(OsStr::to_str).unwrap_or_default();
    match above {
        ".fingerprint" => package_of(name).is_none_or(|package| members.contains(package)),
        // Newer cargos keep all of a package, fingerprints too, in `build/NAME/HASH`.
        "build" => members.contains(name),
        "" => SKIPPED.contains(&name),
        _ => name == "incremental" && parent.components().count() <= 2,
    }
}

fn copy(from: &Path, to: &Path, skip: &dyn Fn(&Path) -> bool) -> std::io::Result<()> {
    fn level(from: &Path, to: &Path, relative: &Path, skip: &dyn Fn(&Path) -> bool) -> std::io::Result<()> {
        for entry in fs_err::read_dir(from.join(relative))? {
            let entry = entry?;
            let relative = relative.join(entry.file_name());
            if skip(&relative) {
                continue;
            }
            let target = to.join(&relative);
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                fs_err::create_dir(&target)?;
                level(from, to, &relative, skip)?;
            } else if metadata.is_symlink() {
                link(&fs_err::read_link(entry.path())?, &target)?;
            } else if metadata.is_file() {
                fs_err::copy(entry.path(), &target)?;
            } else {
                continue;
            }
            // Cargo compares the times of what it built with each other.
            let time = FileTime::from_last_modification_time(&metadata);
            filetime::set_symlink_file_times(&target, time, time)?;
        }
        Ok(())
    }
    level(from, to, Path::new(""), skip)
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(windows)]
fn link(original: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_file(original, link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::TIMES_FILE;

    fn write(path: &Path, text: &str) {
        fs_err::create_dir_all(path.parent().expect("a file has a parent")).expect("writable");
        fs_err::write(path, text).expect("writable");
    }

    #[test]
    fn only_the_fingerprints_of_members_stay_behind() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        for file in [
            "release/.fingerprint/own-0123456789abcdef/lib.json",
            "release/.fingerprint/own-extra-0123456789abcdef/lib.json",
            "x86_64-unknown-linux-gnu/release/.fingerprint/own-fedcba9876543210/lib.json",
            // The newer layout.
            "debug/build/own/0123456789abcdef/fingerprint/lib.json",
            "debug/build/own-extra/0123456789abcdef/fingerprint/lib.json",
            "release/deps/libown.rlib",
            "release/incremental/x",
            "criterion/x",
            "doc/x",
            "benchgate/own/p",
            TIMES_FILE,
        ] {
            write(&from.join(file), "x");
        }
        filetime::set_file_mtime(
            from.join("release/deps/libown.rlib"),
            FileTime::from_unix_time(1_000_000, 7),
        )
        .expect("own file");

        assert!(seed_target(&from, &to, &BTreeSet::from(["own".to_owned()])).expect("it can be copied"));

        let left = |path: &str| to.join(path).exists();
        assert!(left("release/.fingerprint/own-extra-0123456789abcdef/lib.json"));
        assert!(!left("release/.fingerprint/own-0123456789abcdef"));
        assert!(!left("x86_64-unknown-linux-gnu/release/.fingerprint/own-fedcba9876543210"));
        assert!(left("debug/build/own-extra/0123456789abcdef/fingerprint/lib.json"));
        assert!(!left("debug/build/own"));
        assert!(left(TIMES_FILE));
        for gone in ["release/incremental", "criterion", "doc", "benchgate"] {
            assert!(!left(gone), "{gone}");
        }
        let metadata = fs_err::metadata(to.join("release/deps/libown.rlib")).expect("it was copied");
        assert_eq!(FileTime::from_last_modification_time(&metadata), FileTime::from_unix_time(1_000_000, 7));
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(metadata.nlink(), 1);
        }
        let names = fs_err::read_dir(directory.path()).expect("readable").count();
        assert_eq!(names, 2, "no half copy is left");
    }

    #[test]
    fn a_target_directory_that_exists_is_left_alone() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        write(&from.join("release/deps/a"), "new");
        write(&to.join("release/deps/a"), "old");
        assert!(!seed_target(&from, &to, &BTreeSet::new()).expect("nothing to do"));
        assert_eq!(fs_err::read_to_string(to.join("release/deps/a")).expect("readable"), "old");
    }

    #[test]
    fn what_a_killed_copy_left_is_replaced() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        write(&from.join("release/deps/a"), "whole");
        write(&directory.path().join("to.partial/release/deps/torn"), "half");
        assert!(seed_target(&from, &to, &BTreeSet::new()).expect("it can be copied"));
        assert!(to.join("release/deps/a").exists() && !to.join("release/deps/torn").exists());
        assert!(!directory.path().join("to.partial").exists());
    }

    #[test]
    fn a_first_build_has_nothing_to_seed_from() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let done =
            seed_target(&directory.path().join("none"), &directory.path().join("to"), &BTreeSet::new());
        assert!(!done.expect("nothing to do"));
        assert!(!directory.path().join("to").exists());
    }
}
