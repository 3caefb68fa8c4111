//! The file times cargo judges freshness by, made to follow the contents of a fresh checkout.
//!
//! Cargo believes a unit when none of its files is newer than the unit. A checkout makes all files new, so everything
//! would be built again; giving back old times by guess would let cargo keep the executable of another revision.
//! Therefore the target directory holds what was last shown to cargo: each file's blob and time. A file keeps its time
//! while its blob stays the same from one showing to the next, every other file gets the present. The record is
//! written before cargo runs: written after, a build that fails half-way has compiled contents that the record does
//! not know of, and going back to the old ones would find the half-way units fresh.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use filetime::FileTime;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::BuildError;
use super::artifact::hexadecimal;

/// The record's name in the target directory.
pub const TIMES_FILE: &str = "benchgate-times.json";

const VERSION: u32 = 1;

/// A checked-out file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Relative to the tree.
    pub path: PathBuf,
    /// What identifies its content; for a symbolic link, its text.
    pub blob: String,
}

/// How many entries kept their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimesKept {
    /// Files and directories that are as cargo last saw them.
    pub kept: usize,
    /// Those that got the present.
    pub renewed: usize,
}

/// The record, as stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    version: u32,
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Kind and blob of a file, or the digest of all below a directory.
    content: String,
    seconds: i64,
    nanoseconds: u32,
}

/// One file, link or directory on disk.
struct Node {
    path: PathBuf,
    /// `None`: the content is not known, so it is taken as changed.
    content: Option<String>,
    link: bool,
}

/// Sets the times of everything in `tree`, which holds `files` and possibly more, for a build in `target`.
/// Call it after each checkout, before cargo. Entries that `files` does not list always get the present.
pub fn restore_times(tree: &Path, files: &[TreeFile], target: &Path) -> Result<TimesKept, BuildError> {
    restore(tree, files, target).map_err(BuildError::io("set the times of a checkout"))
}

fn restore(tree: &Path, files: &[TreeFile], target: &Path) -> std::io::Result<TimesKept> {
    fs_err::create_dir_all(target)?;
    let blobs: BTreeMap<&Path, &str> =
        files.iter().map(|file| (file.path.as_path(), file.blob.as_str())).collect();
    let mut nodes = Vec::new();
    walk(tree, Path::new(""), &blobs, &mut nodes)?;
    let old = read(&target.join(TIMES_FILE));
    let same = |node: &Node| {
        let entry = old.entries.get(node.path.to_str()?)?;
        (node.content.as_ref() == Some(&entry.content))
            .then(|| FileTime::from_unix_time(entry.seconds, entry.nanoseconds))
    };
    let renamed = retargeted(tree, &nodes, &same)?;
    let attributes_changed =
        nodes.iter().any(|node| node.path.ends_with(".gitattributes") && same(node).is_none())
            || old
                .entries
                .keys()
                .any(|path| path.ends_with(".gitattributes") && !blobs.contains_key(Path::new(path)));

    let mut file = tempfile::NamedTempFile::new_in(target)?;
    let present = present(target, file.path())?;
    let mut kept = TimesKept::default();
    let mut record = Record { version: VERSION, entries: BTreeMap::new() };
    for node in &nodes {
        let hidden_change = attributes_changed || renamed.iter().any(|path| node.path.starts_with(path));
        let time = match same(node).filter(|_| !hidden_change) {
            Some(time) => {
                kept.kept += 1;
                time
            }
            None => {
                kept.renewed += 1;
                present
            }
        };
        filetime::set_symlink_file_times(tree.join(&node.path), time, time)?;
        if let (Some(path), Some(content)) = (node.path.to_str(), &node.content) {
            let entry = Entry {
                content: content.clone(),
                seconds: time.unix_seconds(),
                nanoseconds: time.nanoseconds(),
            };
            record.entries.insert(path.to_owned(), entry);
        }
    }
    serde_json::to_writer(&mut file, &record)?;
    file.flush()?;
    file.as_file().sync_data()?;
    file.persist(target.join(TIMES_FILE))?;
    Ok(kept)
}

/// Visits all below `relative`; returns the digest of its names and contents.
fn walk(
    tree: &Path,
    relative: &Path,
    blobs: &BTreeMap<&Path, &str>,
    nodes: &mut Vec<Node>,
) -> std::io::Result<String> {
    let mut entries = BTreeMap::new();
    for entry in fs_err::read_dir(tree.join(relative))? {
        let entry = entry?;
        entries.insert(entry.file_name(), entry.file_type()?);
    }
    let mut digest = Sha256::new();
    for (name, file_type) in entries {
        let path = relative.join(&name);
        if relative.as_os_str().is_empty() && name == ".git" {
            continue;
        }
        let (content, link) = if file_type.is_dir() {
            (Some(walk(tree, &path, blobs, nodes)?), false)
        } else {
            let kind = if file_type.is_symlink() { "link" } else { "file" };
            let content = blobs.get(path.as_path()).map(|blob| format!("{kind} {blob}"));
            if content.is_none() {
                nodes.push(Node { path: path.clone(), content: None, link: file_type.is_symlink() });
            }
            (content, file_type.is_symlink())
        };
        digest.update(name.as_encoded_bytes());
        digest.update([0]);
        // An unknown file is always new by itself; to its directory only its name matters.
        digest.update(content.as_deref().unwrap_or("unknown").as_bytes());
        digest.update([0]);
        if let (Some(content), false) = (content, file_type.is_dir()) {
            nodes.push(Node { path, content: Some(content), link });
        }
    }
    let digest = format!("tree {}", hexadecimal(&digest.finalize()));
    nodes.push(Node { path: relative.to_owned(), content: Some(digest.clone()), link: false });
    Ok(digest)
}

/// What changed links now point to: through the link, cargo sees the time of a file that itself did not change.
fn retargeted(
    tree: &Path,
    nodes: &[Node],
    same: &dyn Fn(&Node) -> Option<FileTime>,
) -> std::io::Result<BTreeSet<PathBuf>> {
    let tree = fs_err::canonicalize(tree)?;
    let changed = nodes.iter().filter(|node| node.link && same(node).is_none());
    let targets = changed.filter_map(|node| {
        // A link that leads nowhere, or out of the tree, shows nothing of ours.
        let target = fs_err::canonicalize(tree.join(&node.path)).ok()?;
        target.strip_prefix(&tree).ok().map(Path::to_owned)
    });
    Ok(targets.collect())
}

/// A torn or foreign record is no record: then everything gets the present, which is never wrong.
fn read(path: &Path) -> Record {
    let record = fs_err::read(path).ok().and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
    record.filter(|record| record.version == VERSION).unwrap_or_default()
}

/// The present as the file system's clock tells it (the one cargo's own stamps come from), later than anything cargo
/// has stamped here before, even if the clock was set back.
fn present(target: &Path, fresh_file: &Path) -> std::io::Result<FileTime> {
    let now = FileTime::from_last_modification_time(&fs_err::metadata(fresh_file)?);
    let newest = newest_stamp(target)?;
    if newest < now {
        return Ok(now);
    }
    let later = Duration::from_secs(1);
    Ok(FileTime::from_unix_time(newest.unix_seconds() + later.as_secs() as i64, newest.nanoseconds()))
}

/// The newest time below the directories in which cargo keeps fingerprints and the runs of build scripts.
fn newest_stamp(target: &Path) -> std::io::Result<FileTime> {
    let mut newest = FileTime::zero();
    let mut waiting = vec![(target.to_owned(), 0, false)];
    while let Some((directory, depth, stamps)) = waiting.pop() {
        for entry in fs_err::read_dir(directory)? {
            let entry = entry?;
            let file_type = entry.file_type()?;
            if file_type.is_dir() {
                let name = entry.file_name();
                let stamps = stamps || name == ".fingerprint" || name == "build";
                // `<triple>/<profile>/` above, `<package>/<hash>/fingerprint/` below; what scripts make is no stamp.
                if name != "out" && depth < 6 && (stamps || depth < 2) {
                    waiting.push((entry.path(), depth + 1, stamps));
                }
            } else if stamps && file_type.is_file() {
                newest = newest.max(FileTime::from_last_modification_time(&entry.metadata()?));
            }
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Checkout {
        directory: tempfile::TempDir,
    }

    impl Checkout {
        fn new() -> Self {
            Self { directory: tempfile::tempdir().expect("a temporary directory") }
        }

        fn tree(&self) -> PathBuf {
            self.directory.path().join("tree")
        }

        fn target(&self) -> PathBuf {
            self.directory.path().join("target")
        }

        /// A new checkout of these files, whose blobs are their contents.
        fn show(&self, files: &[(&str, &str)]) -> TimesKept {
            if self.tree().exists() {
                fs_err::remove_dir_all(self.tree()).expect("own directory");
            }
            let list = files.iter().map(|(path, text)| {
                let file = self.tree().join(path);
                fs_err::create_dir_all(file.parent().expect("a file has a parent")).expect("writable");
                match text.strip_prefix("-> ") {
                    #[cfg(unix)]
                    Some(target) => std::os::unix::fs::symlink(target, file).expect("writable"),
                    _ => fs_err::write(file, text).expect("writable"),
                }
                TreeFile { path: path.into(), blob: (*text).to_owned() }
            });
            let list: Vec<_> = list.collect();
            restore_times(&self.tree(), &list, &self.target()).expect("times can be set")
        }

        fn time(&self, path: &str) -> FileTime {
            let metadata = fs_err::symlink_metadata(self.tree().join(path)).expect("it is there");
            FileTime::from_last_modification_time(&metadata)
        }
    }

    #[test]
    fn the_same_files_keep_all_their_times() {
        let checkout = Checkout::new();
        let files = [("a.rs", "1"), ("data/deep/x", "2"), ("link", "-> a.rs")];
        assert_eq!(checkout.show(&files).kept, 0);
        let paths = ["", "a.rs", "data", "data/deep", "data/deep/x", "link"];
        let first = paths.map(|path| checkout.time(path));
        assert_eq!(checkout.show(&files), TimesKept { kept: 6, renewed: 0 });
        assert_eq!(paths.map(|path| checkout.time(path)), first);
    }

    #[test]
    fn a_changed_file_and_the_directories_above_it_are_new() {
        let checkout = Checkout::new();
        checkout.show(&[("a/x", "1"), ("a/y", "1"), ("b/z", "1")]);
        let before = ["a/x", "a/y", "b", "b/z"].map(|path| checkout.time(path));
        checkout.show(&[("a/x", "2"), ("a/y", "1"), ("b/z", "1")]);
        assert!(before[0] < checkout.time("a/x") && before[0] < checkout.time("a"));
        assert!(before[0] < checkout.time(""));
        assert_eq!(["a/y", "b", "b/z"].map(|path| checkout.time(path)), before[1..]);
    }

    #[test]
    fn a_removed_file_makes_its_directory_new() {
        let checkout = Checkout::new();
        checkout.show(&[("a/x", "1"), ("a/y", "1")]);
        let before = checkout.time("a");
        checkout.show(&[("a/x", "1")]);
        assert!(before < checkout.time("a"));
        assert_eq!(before, checkout.time("a/x"));
    }

    #[test]
    fn a_renamed_file_makes_its_directory_new() {
        let checkout = Checkout::new();
        checkout.show(&[("a/x", "1")]);
        let before = checkout.time("a");
        checkout.show(&[("a/y", "1")]);
        assert!(before < checkout.time("a"));
    }

    #[test]
    fn a_file_that_comes_back_to_an_older_content_is_new() {
        let checkout = Checkout::new();
        checkout.show(&[("a", "1")]);
        let first = checkout.time("a");
        checkout.show(&[("a", "2")]);
        let second = checkout.time("a");
        checkout.show(&[("a", "1")]);
        assert!(first < second && second < checkout.time("a"));
    }

    #[test]
    fn a_file_that_is_not_listed_is_always_new() {
        let checkout = Checkout::new();
        checkout.show(&[("a", "1")]);
        let file = checkout.tree().join("unlisted");
        fs_err::write(&file, "x").expect("writable");
        filetime::set_file_mtime(&file, FileTime::from_unix_time(1_000_000, 0)).expect("own file");
        let list = [TreeFile { path: "a".into(), blob: "1".to_owned() }];
        let kept = restore_times(&checkout.tree(), &list, &checkout.target()).expect("times can be set");
        assert_eq!(kept.kept, 1);
        assert!(checkout.time("a") < checkout.time("unlisted"));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_changed_link_points_to_is_new() {
        let checkout = Checkout::new();
        checkout.show(&[("one", "1"), ("two", "2"), ("link", "-> one")]);
        let before = checkout.time("one");
        checkout.show(&[("one", "1"), ("two", "2"), ("link", "-> two")]);
        assert_eq!(checkout.time("one"), before);
        assert!(before < checkout.time("two"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_a_file_with_the_same_bytes_is_new() {
        let checkout = Checkout::new();
        let list = [TreeFile { path: "a".into(), blob: "same".to_owned() }];
        checkout.show(&[("a", "same")]);
        let before = checkout.time("a");
        fs_err::remove_file(checkout.tree().join("a")).expect("own file");
        std::os::unix::fs::symlink("same", checkout.tree().join("a")).expect("writable");
        restore_times(&checkout.tree(), &list, &checkout.target()).expect("times can be set");
        assert!(before < checkout.time("a"));
    }

    #[test]
    fn changed_git_attributes_make_everything_new_since_they_change_contents_behind_the_blobs() {
        let checkout = Checkout::new();
        checkout.show(&[("a", "1"), (".gitattributes", "a eol=lf")]);
        assert_eq!(checkout.show(&[("a", "1"), (".gitattributes", "a eol=crlf")]).kept, 0);
        assert_eq!(checkout.show(&[("a", "1")]).kept, 0);
    }

    #[test]
    fn a_torn_record_is_no_record() {
        let checkout = Checkout::new();
        let files = [("a", "1")];
        checkout.show(&files);
        let record = checkout.target().join(TIMES_FILE);
        let bytes = fs_err::read(&record).expect("it was written");
        for torn in [&bytes[..bytes.len() / 2], b"", b"[]", b"{\"version\":2,\"entries\":{}}"] {
            fs_err::write(&record, torn).expect("writable");
            assert_eq!(checkout.show(&files).kept, 0);
            assert_eq!(checkout.show(&files).kept, 2);
        }
    }

    #[test]
    fn the_present_is_later_than_cargos_stamps_even_when_the_clock_was_set_back() {
        let checkout = Checkout::new();
        let stamp = checkout.target().join("release/.fingerprint/x-0123456789abcdef/dep-lib-x");
        fs_err::create_dir_all(stamp.parent().expect("a file has a parent")).expect("writable");
        fs_err::write(&stamp, "").expect("writable");
        let future = FileTime::from_unix_time(FileTime::now().unix_seconds() + 3600, 0);
        filetime::set_file_mtime(&stamp, future).expect("own file");
        checkout.show(&[("a", "1")]);
        assert!(future < checkout.time("a"));
    }
}
