//! A slot for two revisions of a fixture crate, with an environment of its own.
#![allow(dead_code, unreachable_pub, reason = "each test program takes a part of it")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use cargo_benchgate::build::{
    BuildError, BuildPlace, Built, BuiltTarget, CargoSettings, Diagnostics, TimesKept, Toolchain, TreeFile,
    Workspace, build_targets, cargo_metadata, restore_times,
};
use cargo_benchgate::suite::identity::{TargetId, TargetKind};

pub struct Slot {
    _guard: tempfile::TempDir,
    pub root: PathBuf,
    pub settings: CargoSettings,
}

impl Slot {
    pub fn new() -> Self {
        let guard = tempfile::tempdir().expect("a temporary directory");
        let root = guard.path().canonicalize().expect("it exists");
        let env = environment(&root);
        let toolchain = Toolchain::resolve(&env, None, &root).expect("the tests run by a toolchain");
        let settings = CargoSettings { offline: true, quiet: true, ..CargoSettings::new(toolchain, env) };
        Self { _guard: guard, root, settings }
    }

    /// Checks the fixture out anew as the tree of this revision; its target directory stays.
    pub fn check_out(&self, fixture: &str, revision: &str) {
        let tree = self.root.join(revision).join("tree");
        if tree.exists() {
            fs_err::remove_dir_all(&tree).expect("own directory");
        }
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crates").join(fixture);
        copy(&from, &tree);
    }

    pub fn write(&self, revision: &str, path: &str, text: &str) {
        let file = self.root.join(revision).join("tree").join(path);
        fs_err::create_dir_all(file.parent().expect("a file has a parent")).expect("writable");
        fs_err::write(file, text).expect("writable");
    }

    /// Points the fixed path at this revision.
    pub fn place(&self, revision: &str) -> BuildPlace {
        let live = self.root.join("live");
        let _ = fs_err::remove_file(&live);
        std::os::unix::fs::symlink(revision, &live).expect("writable");
        let own = self.root.join(revision);
        BuildPlace {
            revision: revision.to_owned(),
            live_tree: live.join("tree"),
            live_target: live.join("target"),
            tree: own.join("tree"),
            target: own.join("target"),
            workspace: "".into(),
        }
    }

    /// The revision's workspace, read behind the fixed path.
    pub fn workspace(&self, revision: &str) -> Workspace {
        let place = self.place(revision);
        cargo_metadata(&self.settings, &place.live_tree.join("Cargo.toml"), &place.live_tree)
            .expect("it is a workspace")
    }

    pub fn messages(&self) -> String {
        fs_err::read_to_string(self.root.join("messages")).unwrap_or_default()
    }

    pub fn build(&self, revision: &str, targets: &[TargetId]) -> Result<Built, BuildError> {
        let place = self.place(revision);
        let diagnostics = Diagnostics::File(self.root.join("messages"));
        let stop = AtomicBool::new(false);
        let workspace =
            cargo_metadata(&self.settings, &place.live_tree.join("Cargo.toml"), &place.live_tree)?;
        build_targets(&self.settings, &place, &workspace, targets, &diagnostics, &stop)
    }

    /// Sets the file times as a real run does, with file contents in place of blobs.
    pub fn restore(&self, revision: &str) -> TimesKept {
        let place = self.place(revision);
        let mut files = Vec::new();
        list(&place.tree, Path::new(""), &mut files);
        restore_times(&place.tree, &files, &place.target).expect("times can be set")
    }

    /// Restores times, builds one bench, and returns it with the numbers of compiled and of fresh units.
    pub fn rebuild(&self, revision: &str, target: &TargetId) -> (BuiltTarget, usize, usize) {
        self.restore(revision);
        let mut built = self.build(revision, std::slice::from_ref(target)).expect("it builds");
        let target = built.targets.remove(target).expect("it was asked for").expect("it builds");
        (target, built.compiled, built.fresh)
    }
}

pub fn bench(package: &str, target: &str) -> TargetId {
    TargetId { package: package.to_owned(), kind: TargetKind::Bench, target: target.to_owned() }
}

/// Starts a built target as the runner will.
pub fn start(target: &BuiltTarget, arguments: &[&str]) -> Output {
    let executable = &target.executable;
    let mut command = Command::new(&executable.path);
    command
        .args(arguments)
        .env_clear()
        .envs(executable.env.iter().cloned())
        .current_dir(&executable.package_root);
    command.output().expect("it was just built")
}

pub fn stdout(target: &BuiltTarget) -> String {
    String::from_utf8(start(target, &["--bench"]).stdout).expect("fixtures print text")
}

pub fn lines(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn environment(root: &Path) -> Vec<(OsString, OsString)> {
    let home = std::env::var_os("HOME").expect("the tests run with a home directory");
    let rustup = std::env::var_os("RUSTUP_HOME").unwrap_or_else(|| Path::new(&home).join(".rustup").into());
    let mut env = vec![
        (OsString::from("HOME"), root.join("home").into_os_string()),
        ("CARGO_HOME".into(), root.join("home/.cargo").into()),
        ("RUSTUP_HOME".into(), rustup),
    ];
    for name in ["PATH", "CARGO", "RUSTUP_TOOLCHAIN"] {
        env.extend(std::env::var_os(name).map(|value| (name.into(), value)));
    }
    env
}

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).expect("writable");
    for entry in fs_err::read_dir(from).expect("the fixture is there") {
        let entry = entry.expect("readable");
        let name = entry.file_name();
        if entry.file_type().expect("readable").is_dir() {
            copy(&entry.path(), &to.join(name));
        } else {
            let name = if name == "Cargo.toml.fixture" { "Cargo.toml".into() } else { name };
            fs_err::copy(entry.path(), to.join(name)).expect("writable");
        }
    }
}

fn list(tree: &Path, relative: &Path, files: &mut Vec<TreeFile>) {
    for entry in fs_err::read_dir(tree.join(relative)).expect("readable") {
        let entry = entry.expect("readable");
        let path = relative.join(entry.file_name());
        if entry.file_type().expect("readable").is_dir() {
            list(tree, &path, files);
        } else if path != Path::new("Cargo.lock") {
            let text = fs_err::read_to_string(entry.path()).expect("fixtures are text");
            files.push(TreeFile { path, blob: text });
        }
    }
}
