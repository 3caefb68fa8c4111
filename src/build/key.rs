//! What decides the bytes of a build, as one short name.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::artifact::hexadecimal;
use super::config::CargoConfig;
use super::{BuildError, CargoSettings, LockFile, ToolchainInfo};
use crate::suite::identity::TargetId;

/// Changed whenever entries of an older version must not be used.
const FORMAT: &str = "1";

/// The name of a kept build: equal where cargo would build the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildKey(String);

impl BuildKey {
    /// The name in full: 32 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a key is made of.
#[derive(Debug, Clone, Copy)]
pub struct KeyParts<'a> {
    /// The id of the commit's tree, which names the contents of all files and of all submodules.
    pub tree: &'a str,
    /// The workspace's manifest in it.
    pub manifest: &'a Path,
    /// The lock file the revision gets because it has none of its own.
    pub lock: Option<&'a str>,
    /// The targets of head that are asked for.
    pub targets: &'a [TargetId],
    /// Head's profile, where it is used for all revisions.
    pub profile: Option<&'a str>,
    /// What builds.
    pub toolchain: &'a ToolchainInfo,
    /// The directory the fixed path lies in.
    pub slot: &'a Path,
}

/// Variables that change what is compiled, beside those that start with a word of [`PREFIXES`]. What single build
/// scripts look at is kept with each build.
const VARIABLES: &[&str] = &[
    "AR",
    "ARFLAGS",
    "AS",
    "CC",
    "CFLAGS",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CPP",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "CXXSTDLIB",
    "C_INCLUDE_PATH",
    "LD",
    "LDFLAGS",
    "LIBRARY_PATH",
    "LIBCLANG_PATH",
    "MACOSX_DEPLOYMENT_TARGET",
    "NM",
    "RANLIB",
    "SDKROOT",
    "SOURCE_DATE_EPOCH",
    "STRIP",
];
const PREFIXES: &[&str] = &[
    "AR_",
    "BINDGEN_",
    "CARGO_",
    "CC_",
    "CFLAGS_",
    "CMAKE",
    "CXXFLAGS_",
    "CXX_",
    "HOST_",
    "LLVM_",
    "NIX_",
    "PKG_CONFIG",
    "RANLIB_",
    "RUSTC",
    "RUSTFLAGS",
    "TARGET_",
];
/// Of those, variables that change nothing of it.
const IRRELEVANT: &[&str] =
    &["CARGO_HOME", "CARGO_INCREMENTAL", "CARGO_MAKEFLAGS", "CARGO_BUILD_JOBS", "CARGO_TARGET_DIR"];
const IRRELEVANT_PREFIXES: &[&str] = &[
    "CARGO_BIN_",
    "CARGO_HTTP_",
    "CARGO_LOG",
    "CARGO_MANIFEST_",
    "CARGO_NET_",
    "CARGO_PKG_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_TERM_",
    "CARGO_BENCHGATE",
];

/// Names a build.
///
/// # Errors
/// When cargo's configuration cannot be read.
pub fn build_key(settings: &CargoSettings, parts: &KeyParts<'_>) -> Result<BuildKey, BuildError> {
    let mut digest = Sha256::new();
    // Every part has a name and a length, so no two lists of parts run together.
    let mut add = |name: &str, value: &[u8]| {
        digest.update(format!("{name} {}\n", value.len()));
        digest.update(value);
    };
    add("format", FORMAT.as_bytes());
    add("tool", env!("CARGO_PKG_VERSION").as_bytes());
    add("tree", parts.tree.as_bytes());
    add("manifest", parts.manifest.as_os_str().as_encoded_bytes());
    if let Some(lock) = parts.lock {
        // The versions of the workspace's own packages are in the tree.
        let foreign = LockFile::parse(lock).map_or_else(|| lock.to_owned(), |lock| lock.foreign());
        add("lock", foreign.as_bytes());
    }
    for target in parts.targets {
        add("target", target.to_string().as_bytes());
    }
    add("profile of head", parts.profile.unwrap_or_default().as_bytes());
    add("rustc", parts.toolchain.rustc.as_bytes());
    add("cargo", parts.toolchain.cargo.as_bytes());
    add("cargo's path", settings.toolchain.cargo.as_os_str().as_encoded_bytes());
    add("toolchain", settings.toolchain.rustup_toolchain.clone().unwrap_or_default().as_encoded_bytes());
    add("slot", parts.slot.as_os_str().as_encoded_bytes());
    add("profile", settings.profile.as_bytes());
    add("symbols", &[u8::from(settings.symbols)]);
    for feature in &settings.features {
        add("feature", feature.as_bytes());
    }
    add("features", format!("{} {}", settings.all_features, settings.no_default_features).as_bytes());
    add("triple", settings.target.clone().unwrap_or_default().as_bytes());
    for argument in &settings.config {
        add("config", argument.as_bytes());
    }
    // What lies in the checkout is part of the tree; it need not be there yet.
    for (file, text) in CargoConfig::load(settings, parts.slot)?.sources() {
        add("configuration", file.as_os_str().as_encoded_bytes());
        add("says", text.as_bytes());
    }
    let mut variables: Vec<_> =
        settings.env.iter().filter(|(name, _)| name.to_str().is_some_and(is_relevant)).collect();
    variables.sort();
    for (name, value) in variables {
        add("variable", name.as_encoded_bytes());
        add("value", value.as_encoded_bytes());
    }
    Ok(BuildKey(hexadecimal(&digest.finalize()[..16])))
}

fn is_relevant(name: &str) -> bool {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    (VARIABLES.contains(&name) || begins(PREFIXES))
        && !IRRELEVANT.contains(&name)
        && !begins(IRRELEVANT_PREFIXES)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::build::Toolchain;
    use crate::suite::identity::TargetKind;

    struct Case {
        settings: CargoSettings,
        tree: String,
        lock: Option<String>,
        rustc: String,
        slot: PathBuf,
        target: String,
    }

    fn case(home: &Path) -> Case {
        let toolchain = Toolchain { cargo: PathBuf::from("cargo"), rustup_toolchain: None };
        let env = vec![("CARGO_HOME".into(), home.into()), ("HOME".into(), home.into())];
        Case {
            settings: CargoSettings::new(toolchain, env),
            tree: "t".to_owned(),
            lock: None,
            rustc: "rustc 1.90".to_owned(),
            slot: home.join("slot-00"),
            target: "b".to_owned(),
        }
    }

    fn key(case: &Case) -> BuildKey {
        let toolchain = ToolchainInfo {
            rustc: case.rustc.clone(),
            cargo: "cargo 1".to_owned(),
            host: "h".to_owned(),
            target: "h".to_owned(),
        };
        let target =
            TargetId { package: "p".to_owned(), kind: TargetKind::Bench, target: case.target.clone() };
        let parts = KeyParts {
            tree: &case.tree,
            manifest: Path::new("Cargo.toml"),
            lock: case.lock.as_deref(),
            targets: &[target],
            profile: None,
            toolchain: &toolchain,
            slot: &case.slot,
        };
        build_key(&case.settings, &parts).expect("the configuration can be read")
    }

    #[test]
    fn everything_that_decides_the_bytes_of_a_build_changes_its_name() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let plain = key(&case(home.path()));
        assert_eq!(plain, key(&case(home.path())));
        assert_eq!(plain.as_str().len(), 32);
        type Change = (&'static str, fn(&mut Case));
        let changes: [Change; 13] = [
            ("symbols", |case| case.settings.symbols = true),
            ("tree", |case| case.tree.push('x')),
            ("lock", |case| case.lock = Some(String::new())),
            ("rustc", |case| case.rustc.push('1')),
            ("slot", |case| case.slot.push("x")),
            ("target", |case| case.target.push('x')),
            ("profile", |case| case.settings.profile.push('x')),
            ("feature", |case| case.settings.features.push("x".to_owned())),
            ("all features", |case| case.settings.all_features = true),
            ("config", |case| case.settings.config.push("build.jobs=1".to_owned())),
            ("flags", |case| case.settings.env.push(("RUSTFLAGS".into(), "-C x".into()))),
            ("c flags", |case| case.settings.env.push(("CFLAGS_x86_64".into(), "-O1".into()))),
            ("profile variable", |case| {
                case.settings.env.push(("CARGO_PROFILE_BENCH_LTO".into(), "fat".into()))
            }),
        ];
        for (what, change) in changes {
            let mut other = case(home.path());
            change(&mut other);
            assert_ne!(plain, key(&other), "{what}");
        }
    }

    #[test]
    fn a_configuration_file_above_the_checkout_changes_the_name() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let plain = key(&case(home.path()));
        fs_err::write(home.path().join("config.toml"), "[build]\nrustflags = ['-Cx']").expect("writable");
        assert_ne!(plain, key(&case(home.path())));
    }

    #[test]
    fn the_look_of_cargos_messages_does_not_change_the_name() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let mut other = case(home.path());
        for name in ["CARGO_TERM_COLOR", "PWD", "CARGO_PKG_NAME", "RUST_BACKTRACE", "CARGO_NET_OFFLINE"] {
            other.settings.env.push((name.into(), "x".into()));
        }
        assert_eq!(key(&case(home.path())), key(&other));
    }
}
