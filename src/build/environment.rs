//! The environment a program is started with: what `cargo bench` would set, on both sides alike.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cargo_metadata::{BuildScript, Package};

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
    /// The environment to start from.
    pub parent: &'a [(OsString, OsString)],
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

/// The whole environment, sorted by name.
pub(super) fn environment(inputs: &Inputs<'_>) -> Vec<(OsString, OsString)> {
    let kept = inputs.parent.iter().filter(|(name, _)| !is_scrubbed(name)).cloned();
    let inherited: BTreeMap<OsString, OsString> = kept.collect();

    let mut set: BTreeMap<OsString, OsString> = BTreeMap::new();
    set.insert(LIBRARY_PATH.into(), library_path(inputs, inherited.get(OsStr::new(LIBRARY_PATH))));
    if let Some(script) = inputs.build_script {
        set.insert("OUT_DIR".into(), script.out_dir.as_std_path().into());
        set.extend(script.env.iter().map(|(name, value)| (name.into(), value.into())));
    }
    set.insert("CARGO".into(), inputs.cargo.into());
    for (name, path) in inputs.programs {
        set.insert(format!("CARGO_BIN_EXE_{name}").into(), path.into());
    }
    set.extend(package_variables(inputs.package, inputs.rust_version));

    for (name, entry) in inputs.config {
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

fn is_scrubbed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    SCRUBBED.contains(&name) || SCRUBBED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn package_variables(package: &Package, rust_version: &str) -> Vec<(OsString, OsString)> {
    let version = &package.version;
    let manifest = package.manifest_path.as_std_path();
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
    ];
    let mut variables: Vec<(OsString, OsString)> =
        texts.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    variables.push(("CARGO_MANIFEST_DIR".into(), manifest.parent().unwrap_or(manifest).into()));
    variables.push(("CARGO_MANIFEST_PATH".into(), manifest.into()));
    variables
}

/// Cargo's order: search paths of build scripts inside the output, the output, its dependencies, the toolchain, what
/// was inherited.
fn library_path(inputs: &Inputs<'_>, inherited: Option<&OsString>) -> OsString {
    let mut paths: Vec<PathBuf> =
        inputs.native.iter().filter(|path| path.starts_with(inputs.output)).cloned().collect();
    paths.push(inputs.output.to_owned());
    paths.push(inputs.output.join("deps"));
    paths.push(inputs.libraries.to_owned());
    let inherited: Vec<PathBuf> =
        inherited.map(|text| std::env::split_paths(text).collect()).unwrap_or_default();
    if inherited.starts_with(&paths) {
        paths = inherited;
    } else if cfg!(target_os = "macos") && inherited.is_empty() {
        // Setting the variable turns off the loader's own default, so cargo spells it out.
        let home = inputs.parent.iter().find(|(name, _)| name == "HOME");
        paths.extend(home.map(|(_, home)| Path::new(home).join("lib")));
        paths.extend(["/usr/local/lib", "/usr/lib"].map(PathBuf::from));
    } else {
        paths.extend(inherited);
    }
    // A path with the list's separator in it cannot be listed; cargo itself refuses to build in such a place.
    std::env::join_paths(&paths).unwrap_or_default()
}
