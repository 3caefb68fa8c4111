//! Small git repositories for tests, made by the `git` program with fixed author, dates and default branch, untouched by
//! the user's configuration.
#![allow(dead_code, reason = "every test file uses a part of it")]
#![allow(unreachable_pub, reason = "it is included as a module of test crates")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Ends the test with a printed reason where the `git` program is missing.
#[allow(unused_macros, reason = "not every test file needs it")]
macro_rules! need_git {
    () => {
        if !crate::repository::git_is_there() {
            println!("skipped: the git program is not installed");
            return;
        }
    };
}
#[allow(unused_imports, reason = "not every test file needs it")]
pub(crate) use need_git;

/// Whether `git` can be run.
pub fn git_is_there() -> bool {
    Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A repository in a temporary directory, which also holds what tests put beside it.
pub struct TestRepository {
    temp: TempDir,
    root: PathBuf,
    commits: Cell<u32>,
}

impl TestRepository {
    /// An empty repository on branch `main`.
    pub fn empty() -> Self {
        Self::in_directory(
            TempDir::with_prefix("benchgate-test-").expect("a temporary directory can be made"),
        )
    }

    fn in_directory(temp: TempDir) -> Self {
        let temp_path = temp.path().canonicalize().expect("it was just made");
        let root = temp_path.join("repository");
        std::fs::create_dir(&root).expect("the temporary directory is writable");
        let repository = Self { temp, root, commits: Cell::new(0) };
        repository.git(&["init", "-q", "-b", "main"]);
        repository.shield();
        repository
    }

    /// An empty repository at `<directory>/<name>/repository`, a place that is the same every time. What is there goes
    /// before and after.
    pub fn in_place(directory: &Path, name: &str) -> Self {
        let path = directory.join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path).expect("what a killed test left can be removed");
        }
        let temp = tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(directory);
        Self::in_directory(temp.expect("the directory is writable"))
    }

    /// A repository with one commit, of a README.
    pub fn new() -> Self {
        let repository = Self::empty();
        repository.write("README.md", "hello\n");
        repository.commit("first");
        repository
    }

    /// A clone beside this repository, made with these arguments of `git clone`.
    pub fn clone_to(&self, name: &str, arguments: &[&str]) -> PathBuf {
        let target = self.beside(name);
        let url = format!("file://{}", self.root.display());
        let target_text = target.to_str().expect("the temporary path is UTF-8");
        let mut all = vec!["clone", "-q"];
        all.extend(arguments);
        all.extend([url.as_str(), target_text]);
        self.git_in(&self.root, &all);
        target
    }

    /// The root of the working tree; absolute, symbolic links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path beside the repository, in the same temporary directory.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().expect("it lives as long as this").join(name)
    }

    /// Writes a file, with the directories above it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("it lies below the root"))
            .expect("directories can be made");
        std::fs::write(path, content).expect("files can be written");
    }

    /// Commits everything and gives the full id. Every commit is one minute after the one before it.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.id("HEAD")
    }

    /// The full id of a revision, by git.
    pub fn id(&self, spec: &str) -> String {
        self.git(&["rev-parse", "--verify", "-q", spec])
    }

    /// Runs git in the root and gives its output without the last newline; the test fails when git does.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root, arguments)
    }

    /// Runs git in a directory, as [`Self::git`] does.
    pub fn git_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = self.try_git_in(directory, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?} failed: {errors}");
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// Runs git in a directory and gives what came of it.
    pub fn try_git_in(&self, directory: &Path, arguments: &[&str]) -> Output {
        let minute = self.commits.get();
        if arguments.first().is_some_and(|verb| matches!(*verb, "commit" | "merge" | "tag")) {
            self.commits.set(minute + 1);
        }
        let date = format!("2026-01-01T{:02}:{:02}:00+00:00", minute / 60, minute % 60);
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(directory)
            .env("HOME", self.temp.path())
            .env("XDG_CONFIG_HOME", self.temp.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .envs([("GIT_AUTHOR_NAME", "A. Uthor"), ("GIT_AUTHOR_EMAIL", "author@example.com")])
            .envs([("GIT_COMMITTER_NAME", "C. Ommitter"), ("GIT_COMMITTER_EMAIL", "committer@example.com")])
            .envs([("GIT_AUTHOR_DATE", &date), ("GIT_COMMITTER_DATE", &date)])
            .output()
            .expect("git can be run")
    }

    /// The library reads the configuration of whoever runs the tests; what matters there is set here again.
    fn shield(&self) {
        self.git(&["config", "core.autocrlf", "false"]);
        self.git(&["config", "core.excludesFile", "/dev/null"]);
        self.git(&["config", "core.attributesFile", "/dev/null"]);
    }
}

/// What a file is, byte for byte: its mode and its bytes, or where a link points.
pub type Listing = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Every file below a directory, but those below the top-level names to skip.
pub fn listing(directory: &Path, skip: &[&str]) -> Listing {
    let mut files = Listing::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(relative) = pending.pop() {
        for entry in std::fs::read_dir(directory.join(&relative)).expect("directories can be read") {
            let entry = entry.expect("directories can be read");
            let path = relative.join(entry.file_name());
            let metadata = entry.path().symlink_metadata().expect("it was just listed");
            if relative == Path::new("") && skip.iter().any(|name| entry.file_name() == *name) {
                continue;
            } else if metadata.is_dir() {
                pending.push(path);
            } else if metadata.is_symlink() {
                let target = std::fs::read_link(entry.path()).expect("links can be read");
                files.insert(path, (0, target.into_os_string().into_encoded_bytes()));
            } else {
                files
                    .insert(path, (mode(&metadata), std::fs::read(entry.path()).expect("files can be read")));
            }
        }
    }
    files
}

/// The paths of a listing that differ in another, or are in one only.
pub fn differing(one: &Listing, other: &Listing) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = one.keys().chain(other.keys()).cloned().collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| one.get(path) != other.get(path));
    paths
}

#[cfg(unix)]
fn mode(metadata: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_metadata: &std::fs::Metadata) -> u32 {
    0
}

/// Makes a file executable.
#[cfg(unix)]
pub fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("modes can be set");
}
