//! How cargo is called: the flags the user chose, in cargo's own words.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Toolchain;

/// The user's choices for every cargo call; the same for all revisions.
#[derive(Debug, Clone)]
pub struct CargoSettings {
    /// The cargo and the toolchain of all revisions.
    pub toolchain: Toolchain,
    /// The environment cargo and, scrubbed, the benchmarks start from. Nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// `--profile`, mostly `bench`.
    pub profile: String,
    /// `--features`, each as written.
    pub features: Vec<String>,
    /// `--all-features`.
    pub all_features: bool,
    /// `--no-default-features`.
    pub no_default_features: bool,
    /// `--target`.
    pub target: Option<String>,
    /// Keep the names of functions in the executables, whatever the profile strips: what is counted is found by them.
    pub symbols: bool,
    /// `--config`, paths made absolute by [`absolute_config`].
    pub config: Vec<String>,
    /// `--locked`.
    pub locked: bool,
    /// `--offline`.
    pub offline: bool,
    /// `--frozen`.
    pub frozen: bool,
    /// `--quiet`.
    pub quiet: bool,
    /// How many `-v`.
    pub verbosity: u8,
    /// `--color`, as written.
    pub color: Option<String>,
    /// The host triple, where it is known already.
    pub host: Option<String>,
    /// Our own executable, which starts cargo in place of us and ends it when we are killed; see [`super::guard`].
    pub guard: Option<PathBuf>,
    /// Ends what may take long when it is set.
    pub stop: Arc<AtomicBool>,
}

impl CargoSettings {
    /// The settings of a plain `cargo bench` with this toolchain and environment.
    pub fn new(toolchain: Toolchain, env: Vec<(OsString, OsString)>) -> Self {
        Self {
            toolchain,
            env,
            profile: "bench".to_owned(),
            features: Vec::new(),
            all_features: false,
            no_default_features: false,
            target: None,
            symbols: false,
            config: Vec::new(),
            locked: false,
            offline: false,
            frozen: false,
            quiet: false,
            verbosity: 0,
            color: None,
            host: None,
            guard: None,
            stop: Arc::default(),
        }
    }

    /// `cargo VERB` with the complete environment and the flags every verb takes, in `cwd`.
    pub(super) fn cargo(&self, verb: &str, cwd: &Path) -> Command {
        let mut command = self.toolchain.command(&self.toolchain.cargo, &self.env, cwd);
        // Incremental artefacts depend on what was built before, so two builds of one source could differ.
        command.env("CARGO_INCREMENTAL", "0");
        command.arg(verb);
        if let Some(color) = &self.color {
            command.args(["--color", color]);
        }
        for (set, flag) in [(self.locked, "--locked"), (self.offline, "--offline"), (self.frozen, "--frozen")]
        {
            if set {
                command.arg(flag);
            }
        }
        for config in &self.config {
            command.args(["--config", config]);
        }
        command
    }

    /// A variable of [`CargoSettings::env`].
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        variable(&self.env, name)
    }
}

/// Makes the file paths among `--config` arguments absolute: cargo runs in the worktree, the user typed them elsewhere.
pub fn absolute_config(arguments: &[String], cwd: &Path) -> Vec<String> {
    let absolute = |argument: &String| {
        let path = cwd.join(argument);
        // Cargo's own rule: what exists as a file is a file, all else is KEY=VALUE.
        match (argument.is_empty(), path.is_file(), path.to_str()) {
            (false, true, Some(path)) => path.to_owned(),
            _ => argument.clone(),
        }
    };
    arguments.iter().map(absolute).collect()
}

/// A variable of an environment.
pub(super) fn variable<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
}
