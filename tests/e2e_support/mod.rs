//! The real command on small repositories: an environment of its own, everything it leaves behind in sight.
#![allow(dead_code, unreachable_pub, reason = "each test program takes a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::repository::TestRepository;

/// A repository with a cache and a temporary directory of its own.
pub struct Playground {
    pub repository: TestRepository,
}

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Flags of a quick measurement with as many samples as the fixed judge needs. The noise gate is off: the tests plant
/// changes that no other work on the machine hides from a median, but it may well scatter single samples. Identical
/// programs are measured: most tests are about that.
pub const QUICK: [&str; 7] =
    ["--preset", "fixed", "--samples", "10", "--warmup=0", "--max-cv=0", "--no-identity"];

/// The same, but identical programs are left alone, as they are without any flag.
pub const AS_USUAL: [&str; 6] = ["--preset", "fixed", "--samples", "10", "--warmup=0", "--max-cv=0"];

impl Playground {
    /// A repository without anything.
    pub fn empty() -> Self {
        Self::around(TestRepository::empty())
    }

    /// The crate `probe`, committed once.
    pub fn probe() -> Self {
        let playground = Self::empty();
        playground.add_crate("probe", "");
        playground.repository.commit("first");
        playground
    }

    fn around(repository: TestRepository) -> Self {
        for directory in ["tmp", "home"] {
            std::fs::create_dir(repository.beside(directory)).expect("the directory is new");
        }
        Self { repository }
    }

    /// Copies a fixture crate into a directory of the repository.
    pub fn add_crate(&self, fixture: &str, place: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/e2e").join(fixture);
        copy(&from, &self.root().join(place));
    }

    pub fn root(&self) -> &Path {
        self.repository.root()
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.repository.write(path, content);
    }

    /// Adds lines to the manifest of the crate at the root.
    pub fn configure(&self, lines: &str) {
        self.write("Cargo.toml", format!("{PROBE_MANIFEST}\n{lines}\n"));
    }

    /// Sets how long the measured step takes.
    pub fn step_ms(&self, milliseconds: u64) {
        self.step_ms_in("", milliseconds);
    }

    /// The same for a crate elsewhere in the repository.
    pub fn step_ms_in(&self, place: &str, milliseconds: u64) {
        let path = Path::new(place).join("src/lib.rs");
        let path = path.to_str().expect("made from text");
        let text = std::fs::read_to_string(self.root().join(path)).expect("it was written before");
        let start = text.find("STEP_MS: u64 = ").expect("the fixture has it") + "STEP_MS: u64 = ".len();
        let end = start + text[start..].find(';').expect("the fixture has it");
        self.write(path, format!("{}{milliseconds}{}", &text[..start], &text[end..]));
    }

    pub fn cache(&self) -> PathBuf {
        self.repository.beside("cache")
    }

    pub fn temporary(&self) -> PathBuf {
        self.repository.beside("tmp")
    }

    /// The command, ready for arguments, in a directory.
    pub fn command_in(&self, directory: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-benchgate"));
        self.shield(&mut command);
        command.current_dir(directory);
        command
    }

    /// Takes the surroundings of the test away from a command.
    pub fn shield(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let is_foreign =
                ["GIT_", "CI", "GITHUB_", "CARGO_PKG_", "CARGO_BIN_", "CARGO_TERM_", "BENCHGATE_"]
                    .iter()
                    .any(|prefix| text.starts_with(prefix));
            if is_foreign
                || ["NO_COLOR", "COLUMNS", "CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR"].contains(&&*text)
            {
                command.env_remove(name);
            }
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if std::env::var_os(name).is_none() {
                command.env(name, home.join(directory));
            }
        }
        command
            .env("HOME", self.repository.beside("home"))
            .env("TMPDIR", self.temporary())
            .env("BENCHGATE_CACHE_DIR", self.cache())
            .env("CARGO_NET_OFFLINE", "true")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
    }

    /// Runs the command at the root of the repository.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_in(self.root(), args)
    }

    /// Runs the command with a quick measurement.
    pub fn quick(&self, args: &[&str]) -> Ran {
        self.run(&[&QUICK[..], args].concat())
    }

    /// Runs the command in a directory.
    pub fn run_in(&self, directory: &Path, args: &[&str]) -> Ran {
        let mut command = self.command_in(directory);
        command.args(args);
        finish(&mut command)
    }

    /// Runs a quick comparison and reads its report.
    pub fn report(&self, args: &[&str]) -> (Ran, serde_json::Value) {
        self.report_with(&QUICK, args)
    }

    /// Runs a quick comparison that leaves identical programs alone, and reads its report.
    pub fn usual_report(&self, args: &[&str]) -> (Ran, serde_json::Value) {
        self.report_with(&AS_USUAL, args)
    }

    fn report_with(&self, quick: &[&str], args: &[&str]) -> (Ran, serde_json::Value) {
        let path = self.repository.beside("report.json");
        let _ = std::fs::remove_file(&path);
        let format = format!("json={}", path.display());
        let ran = self.run(&[quick, &["--format", format.as_str()], args].concat());
        let text = std::fs::read(&path).unwrap_or_else(|_| panic!("no report was written: {ran:#?}"));
        (ran, serde_json::from_slice(&text).expect("a report is JSON"))
    }

    /// Everything of the repository that a run must leave alone, as git and as bytes.
    pub fn state(&self) -> String {
        let git = |args: &[&str]| self.repository.git(args);
        // Asking git for the status may rewrite the index: the bytes are read first.
        let bytes = |path: &str| std::fs::read(self.root().join(".git").join(path)).unwrap_or_default();
        let index: u64 = bytes("index").iter().fold(7, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte));
        format!(
            "{index:x}\n{}\n{}\n{}\n{}\n{}\n{}",
            String::from_utf8_lossy(&bytes("HEAD")),
            String::from_utf8_lossy(&bytes("config")),
            git(&["--no-optional-locks", "status", "--porcelain"]),
            git(&["worktree", "list", "--porcelain"]),
            git(&["for-each-ref"]),
            git(&["stash", "list"]),
        )
    }

    /// What lies in the temporary directory that every process was told to use.
    pub fn temporary_files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.temporary()).expect("it was made with the playground");
        entries.map(|entry| entry.expect("it can be listed").path()).collect()
    }
}

/// The manifest of the crate `probe`.
pub const PROBE_MANIFEST: &str = include_str!("../../fixtures/e2e/probe/Cargo.toml.fixture");

impl Ran {
    /// Asserts the exit status and what the last line on standard error says.
    #[track_caller]
    pub fn ends(&self, code: i32, because: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        let last = self.stderr.lines().last().unwrap_or_default();
        if code != 0 {
            assert!(last.starts_with("error: "), "the last line does not say why: {self}");
        }
        for part in because {
            assert!(last.contains(part), "{part:?} is not in the last line of {self}");
        }
        self
    }

    /// Asserts that standard error says this somewhere.
    #[track_caller]
    pub fn says(&self, part: &str) -> &Self {
        assert!(self.stderr.contains(part), "{part:?} is not said: {self}");
        self
    }

    /// Asserts that standard output says this somewhere.
    #[track_caller]
    pub fn shows(&self, part: &str) -> &Self {
        assert!(self.stdout.contains(part), "{part:?} is not shown: {self}");
        self
    }

    /// Asserts that nothing was built.
    #[track_caller]
    pub fn built_nothing(&self) -> &Self {
        assert!(!self.stderr.contains("Building") && !self.stderr.contains("Compiling"), "{self}");
        self
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "status {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// Runs a command to its end.
pub fn finish(command: &mut Command) -> Ran {
    let output = command.output().expect("the command can be started");
    ran(&output)
}

pub fn ran(output: &std::process::Output) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Waits until something holds; what it waits for is a process's doing, so the limit is wide.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a started command and gives what came of it; its output must be piped.
pub fn wait(child: Child) -> Ran {
    ran(&child.wait_with_output().expect("it can be waited for"))
}

/// The processes whose arguments or environment hold this text.
#[cfg(target_os = "linux")]
pub fn processes_with(marker: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("Linux has /proc");
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|entry| entry.file_name().to_string_lossy() != std::process::id().to_string())
        .filter_map(|entry| {
            let holds = |file: &str| {
                let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
                String::from_utf8_lossy(&bytes).contains(marker)
            };
            (holds("cmdline") || holds("environ"))
                .then(|| format!("{}: {}", entry.file_name().display(), command_line(&entry.path())))
        })
        .collect()
}

#[cfg(target_os = "linux")]
fn command_line(process: &Path) -> String {
    let bytes = std::fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("directories can be made");
    for entry in std::fs::read_dir(from).expect("the fixture is there") {
        let entry = entry.expect("the fixture is there");
        let name = entry.file_name();
        let name = name.to_str().expect("fixtures have plain names");
        let target = to.join(name.strip_suffix(".fixture").unwrap_or(name));
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("files can be copied");
        }
    }
}
