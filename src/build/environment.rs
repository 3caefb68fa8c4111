//! The environment a program is started with: what `cargo bench` would set, on both sides alike.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cargo_metadata::{BuildScript, Package};
use serde::{Deserialize, Serialize};

use super::config::EnvEntry;

/// Knobs of harnesses, and of ours, that would change what is measured or where results go.
const SCRUBBED_PREFIXES: &[&str] =
    &["CRITERION_", "DIVAN_", "GUNGRAUN_", "IAI_CALLGRIND_", "RUST_TEST_", "BENCHGATE_"];
/// A backtrace costs time on every captured error, so it must not come from the user's shell.
const SCRUBBED: &[&str] = &["CARGO_CRITERION_PORT", "RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// The variable the dynamic loader of the host searches by.
const LIBRARY_PATH: &str = if cfg!(target_os = "macos") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else if cfg!(windows) {
    "PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// What the environment is made from; all paths already behind the fixed path.
pub(super) struct Inputs<'a> {
    /// Cargo itself.
    pub cargo: &'a Path,
    /// The package of the program.
    pub package: &'a Package,
    /// `rust-version` as written.
    pub rust_version: &'a str,
    /// What the package's build script said.
    pub build_script: Option<&'a BuildScript>,
    /// The programs of the package that were built with it; empty for programs themselves.
    pub programs: &'a BTreeMap<String, PathBuf>,
    /// Library search paths of all build scripts.
    pub native: &'a BTreeSet<PathBuf>,
    /// `<target>/release` or alike.
    pub output: &'a Path,
    /// Where the toolchain keeps the target's libraries.
    pub libraries: &'a Path,
    /// The `[env]` of the configuration.
    pub config: &'a BTreeMap<String, EnvEntry>,
}

/// What a build says of the environment, apart from what is inherited: that is another one on another day, and may
/// hold secrets, so it is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recipe {
    cargo: PathBuf,
    /// What cargo and the build script set.
    set: BTreeMap<String, String>,
    /// What the configuration sets, where the build has not.
    config: BTreeMap<String, EnvEntry>,
    /// Where dynamic libraries are looked for first.
    libraries: Vec<PathBuf>,
}

impl Recipe {
    pub(super) fn new(inputs: &Inputs<'_>) -> Self {
        let mut set = BTreeMap::new();
        if let Some(script) = inputs.build_script {
            set.insert("OUT_DIR".to_owned(), script.out_dir.to_string());
            set.extend(script.env.iter().cloned());
        }
        for (name, path) in inputs.programs {
            // Paths of cargo's messages are text.
            set.insert(format!("CARGO_BIN_EXE_{name}"), path.to_string_lossy().into_owned());
        }
        set.extend(package_variables(inputs.package, inputs.rust_version));
        // Cargo's order: search paths of build scripts inside the output, the output, its dependencies, the toolchain.
        let own = inputs.native.iter().filter(|path| path.starts_with(inputs.output));
        let mut libraries: Vec<PathBuf> = own.cloned().collect();
        libraries.extend([inputs.output.to_owned(), inputs.output.join("deps"), inputs.libraries.to_owned()]);
        Self { cargo: inputs.cargo.to_owned(), set, config: inputs.config.clone(), libraries }
    }

    /// The whole environment, sorted by name, on top of what is inherited.
    pub(super) fn environment(&self, parent: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let kept = parent.iter().filter(|(name, _)| !is_scrubbed(name)).cloned();
        let inherited: BTreeMap<OsString, OsString> = kept.collect();
        let mut set: BTreeMap<OsString, OsString> = BTreeMap::new();
        let libraries = self.library_path(parent, inherited.get(OsStr::new(LIBRARY_PATH)));
        set.insert(LIBRARY_PATH.into(), libraries);
        set.extend(self.set.iter().map(|(name, value)| (name.into(), value.into())));
        set.insert("CARGO".into(), self.cargo.clone().into());
        for (name, entry) in &self.config {
            let name = OsString::from(name);
            if set.contains_key(&name) || (!entry.force && inherited.contains_key(&name)) {
                continue;
            }
            set.insert(name, entry.value.clone());
        }
        let mut whole = inherited;
        whole.extend(set);
        whole.into_iter().collect()
    }

    /// The search path with what was inherited behind.
    fn library_path(&self, parent: &[(OsString, OsString)], inherited: Option<&OsString>) -> OsString {
        let mut paths = self.libraries.clone();
        let inherited: Vec<PathBuf> =
            inherited.map(|text| std::env::split_paths(text).collect()).unwrap_or_default();
        if inherited.starts_with(&paths) {
            paths = inherited;
        } else if cfg!(target_os = "macos") && inherited.is_empty() {
            // Setting the variable turns off the loader's own default, so cargo spells it out.
            let home = parent.iter().find(|(name, _)| name == "HOME");
            paths.extend(home.map(|(_, home)| Path::new(home).join("lib")));
            paths.extend(["/usr/local/lib", "/usr/lib"].map(PathBuf::from));
        } else {
            paths.extend(inherited);
        }
        // A path with the list's separator in it cannot be listed; cargo itself refuses to build in such a place.
        std::env::join_paths(&paths).unwrap_or_default()
    }

    /// A variable whose value differs in another recipe and that a program may look at: one that the configuration
    /// sets, or one whose name is in the programs. Where libraries lie is no matter, and what the build script
    /// generated is compared by itself.
    pub(super) fn difference(&self, other: &Self, is_named: &mut dyn FnMut(&str) -> bool) -> Option<String> {
        let names: BTreeSet<&String> = self.set.keys().chain(other.set.keys()).collect();
        let changed =
            |name: &&&String| name.as_str() != "OUT_DIR" && self.set.get(**name) != other.set.get(**name);
        if let Some(name) = names.iter().filter(changed).find(|name| is_named(name)) {
            return Some((**name).clone());
        }
        let names: BTreeSet<&String> = self.config.keys().chain(other.config.keys()).collect();
        names.into_iter().find(|name| self.config.get(*name) != other.config.get(*name)).cloned()
    }
}

fn is_scrubbed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    SCRUBBED.contains(&name) || SCRUBBED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn package_variables(package: &Package, rust_version: &str) -> Vec<(String, String)> {
    let version = &package.version;
    let manifest = &package.manifest_path;
    let path = |path: &Option<cargo_metadata::camino::Utf8PathBuf>| {
        path.as_ref().map(ToString::to_string).unwrap_or_default()
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let texts = [
        ("CARGO_PKG_VERSION_MAJOR", version.major.to_string()),
        ("CARGO_PKG_VERSION_MINOR", version.minor.to_string()),
        ("CARGO_PKG_VERSION_PATCH", version.patch.to_string()),
        ("CARGO_PKG_VERSION_PRE", version.pre.to_string()),
        ("CARGO_PKG_VERSION", version.to_string()),
        ("CARGO_PKG_NAME", package.name.to_string()),
        ("CARGO_PKG_AUTHORS", package.authors.join(":")),
        ("CARGO_PKG_DESCRIPTION", text(&package.description)),
        ("CARGO_PKG_HOMEPAGE", text(&package.homepage)),
        ("CARGO_PKG_REPOSITORY", text(&package.repository)),
        ("CARGO_PKG_LICENSE", text(&package.license)),
        ("CARGO_PKG_LICENSE_FILE", path(&package.license_file)),
        ("CARGO_PKG_README", path(&package.readme)),
        ("CARGO_PKG_RUST_VERSION", rust_version.to_owned()),
        ("CARGO_MANIFEST_DIR", manifest.parent().unwrap_or(manifest).to_string()),
        ("CARGO_MANIFEST_PATH", manifest.to_string()),
    ];
    texts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
