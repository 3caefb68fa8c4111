//! Which cargo and rustc build all revisions: found once, from where the user stands.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::config::CargoConfig;
use super::process::{self, ask};
use super::settings::variable;
use super::{BuildError, CargoSettings};

/// A cargo, with the name rustup knows its toolchain by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The toolchain's own cargo, not rustup's proxy, where rustup is installed.
    pub cargo: PathBuf,
    /// RUSTUP_TOOLCHAIN for every child, so that no revision's own rust-toolchain.toml takes another compiler.
    pub rustup_toolchain: Option<OsString>,
}

/// What built the executables, for reports and cache keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolchainInfo {
    /// The output of `rustc -vV`.
    pub rustc: String,
    /// The output of `cargo -V`.
    pub cargo: String,
    /// The host triple.
    pub host: String,
    /// The triple that is built for.
    pub target: String,
}

impl Toolchain {
    /// The toolchain called `requested`, else the one that is active in `cwd`.
    pub fn resolve(
        env: &[(OsString, OsString)],
        requested: Option<&str>,
        cwd: &Path,
    ) -> Result<Self, BuildError> {
        let rustup = |arguments: &[&str]| {
            let mut command = process::command("rustup", env, cwd);
            command.args(arguments);
            ask(&mut command, "find the toolchain").map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let cargo_of = |name: &str| {
            let path = rustup(&["which", "--toolchain", name, "cargo"])?;
            Ok::<_, BuildError>(PathBuf::from(path.trim_end()))
        };
        if let Some(name) = requested {
            let name = name.strip_prefix('+').unwrap_or(name);
            return Ok(Self { cargo: cargo_of(name)?, rustup_toolchain: Some(name.into()) });
        }
        // A cargo subcommand is told which cargo called it, and rustup's proxy tells both of the toolchain.
        let caller = variable(env, "CARGO").map(PathBuf::from);
        let name = match variable(env, "RUSTUP_TOOLCHAIN") {
            Some(name) => Some(name.to_owned()),
            None => match rustup(&["show", "active-toolchain"]) {
                Ok(answer) => answer.split_whitespace().next().map(OsString::from),
                // Toolchains that did not come by rustup are fine.
                Err(BuildError::Start { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        let cargo = match (caller, name.as_deref().and_then(OsStr::to_str)) {
            (Some(caller), _) => caller,
            (None, Some(name)) => match cargo_of(name) {
                Ok(cargo) => cargo,
                Err(BuildError::Start { .. }) => PathBuf::from("cargo"),
                Err(error) => return Err(error),
            },
            (None, None) => PathBuf::from("cargo"),
        };
        Ok(Self { cargo, rustup_toolchain: name })
    }

    /// A command of this toolchain, with a complete environment.
    pub(super) fn command(
        &self,
        program: impl AsRef<OsStr>,
        env: &[(OsString, OsString)],
        cwd: &Path,
    ) -> Command {
        let mut command = process::command(program, env, cwd);
        if let Some(name) = &self.rustup_toolchain {
            command.env("RUSTUP_TOOLCHAIN", name);
        }
        if self.cargo.is_absolute() {
            // Cargo believes this variable before its own path: an inherited one may be another toolchain's.
            command.env("CARGO", &self.cargo);
        }
        command
    }
}

/// The versions of what builds in `cwd`.
pub fn toolchain_info(settings: &CargoSettings, cwd: &Path) -> Result<ToolchainInfo, BuildError> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end().to_owned();
    let config = CargoConfig::load(settings, &cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()))?;
    let rustc = text(ask(rustc(settings, &config, cwd).arg("-vV"), "ask rustc for its version")?);
    let mut command = settings.toolchain.command(&settings.toolchain.cargo, &settings.env, cwd);
    let cargo = text(ask(command.arg("-V"), "ask cargo for its version")?);
    let host =
        rustc.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned).ok_or_else(|| {
            BuildError::Answer { command: "rustc -vV".to_owned(), reason: "no line `host:`".to_owned() }
        })?;
    let target = config.target(settings).unwrap_or_else(|| host.clone());
    Ok(ToolchainInfo { rustc, cargo, host, target })
}

/// What `PROGRAM --version` says, in one line.
pub fn version_of(program: &str, env: &[(OsString, OsString)], cwd: &Path) -> Result<String, BuildError> {
    let answer = ask(process::command(program, env, cwd).arg("--version"), "ask for its version")?;
    Ok(String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().trim().to_owned())
}

/// The compiler cargo will take, without arguments.
pub(super) fn rustc(settings: &CargoSettings, config: &CargoConfig, cwd: &Path) -> Command {
    settings.toolchain.command(config.rustc(settings), &settings.env, cwd)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// An environment with only this program in PATH.
    fn env(directory: &Path, rustup: Option<&str>) -> Vec<(OsString, OsString)> {
        if let Some(script) = rustup {
            let path = directory.join("rustup");
            fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writable");
            fs_err::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("own file");
        }
        vec![("PATH".into(), directory.into())]
    }

    const RUSTUP: &str = r#"case "$1" in
show) echo "active-toolchain-name (default)" ;;
which) if [ "$3" = gone ]; then echo "toolchain 'gone' is not installed" >&2; exit 1; fi; echo "/tools/$3/cargo" ;;
esac"#;

    fn resolve(
        requested: Option<&str>,
        rustup: Option<&str>,
        more: &[(&str, &str)],
    ) -> Result<Toolchain, BuildError> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut env = env(directory.path(), rustup);
        env.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
        Toolchain::resolve(&env, requested, directory.path())
    }

    fn toolchain(cargo: &str, name: Option<&str>) -> Toolchain {
        Toolchain { cargo: cargo.into(), rustup_toolchain: name.map(OsString::from) }
    }

    #[test]
    fn the_active_toolchain_is_pinned() {
        let expected = toolchain("/tools/active-toolchain-name/cargo", Some("active-toolchain-name"));
        assert_eq!(resolve(None, Some(RUSTUP), &[]).expect("rustup answers"), expected);
    }

    #[test]
    fn the_cargo_that_called_us_is_kept_with_its_toolchain() {
        let inherited = [("CARGO", "/caller/cargo"), ("RUSTUP_TOOLCHAIN", "callers")];
        let expected = toolchain("/caller/cargo", Some("callers"));
        assert_eq!(resolve(None, Some("exit 1"), &inherited).expect("rustup is not asked"), expected);
    }

    #[test]
    fn a_requested_toolchain_beats_the_one_that_called_us() {
        let inherited = [("CARGO", "/caller/cargo"), ("RUSTUP_TOOLCHAIN", "callers")];
        let expected = toolchain("/tools/nightly/cargo", Some("nightly"));
        assert_eq!(resolve(Some("+nightly"), Some(RUSTUP), &inherited).expect("rustup answers"), expected);
    }

    #[test]
    fn without_rustup_cargo_is_taken_from_the_path() {
        assert_eq!(resolve(None, None, &[]).expect("nothing is needed"), toolchain("cargo", None));
    }

    #[test]
    fn a_requested_toolchain_that_is_not_there_is_an_error_in_rustups_words() {
        let error = resolve(Some("gone"), Some(RUSTUP), &[]).expect_err("rustup refuses").to_string();
        assert!(error.contains("`rustup which --toolchain gone cargo`"), "{error}");
        assert!(error.ends_with("toolchain 'gone' is not installed"), "{error}");
    }
}
