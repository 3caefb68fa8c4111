//! What a revision's workspace holds, as `cargo metadata --no-deps` says.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::camino::Utf8PathBuf;
use cargo_metadata::{Metadata, MetadataCommand, Package};

use super::process::{ask, display};
use super::{BuildError, CargoSettings};
use crate::suite::identity::{TargetId, TargetKind};

/// The crates whose presence among the dependencies hints at a harness.
const HARNESS_CRATES: &[&str] = &[
    "criterion",
    "codspeed-criterion-compat",
    "divan",
    "codspeed-divan-compat",
    "gungraun",
    "iai-callgrind",
    "iai",
    "tango-bench",
    "bencher",
    "codspeed-bencher-compat",
];

/// The members of a workspace, with their targets and metadata tables.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Cargo's answer; its packages are the members.
    pub metadata: Metadata,
    /// The same answer as cargo gave it, since parsing pads `rust-version`.
    raw: serde_json::Value,
}

/// A target that could be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetInfo {
    /// Package, kind, name.
    pub id: TargetId,
    /// The features without which cargo refuses to build it.
    pub required_features: Vec<String>,
    /// Its first source file.
    pub source: Utf8PathBuf,
}

/// Asks cargo for the workspace of `manifest`. Never resolves, so it needs no network and writes no Cargo.lock.
pub fn cargo_metadata(
    settings: &CargoSettings,
    manifest: &Path,
    cwd: &Path,
) -> Result<Workspace, BuildError> {
    let mut command = settings.cargo("metadata", cwd);
    command.args(["--no-deps", "--format-version", "1", "--manifest-path"]).arg(manifest);
    let answer = ask(&mut command, "read the workspace")?;
    let unreadable = |reason: String| BuildError::Answer { command: display(&command), reason };
    let text = String::from_utf8(answer).map_err(|error| unreadable(error.to_string()))?;
    let metadata = MetadataCommand::parse(&text).map_err(|error| unreadable(error.to_string()))?;
    let raw = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    Ok(Workspace { metadata, raw })
}

impl Workspace {
    /// All bench targets, programs and examples of all members, sorted.
    pub fn targets(&self) -> Vec<TargetInfo> {
        let mut targets = Vec::new();
        for package in &self.metadata.packages {
            for target in &package.targets {
                let kind = match () {
                    () if target.is_bench() => TargetKind::Bench,
                    () if target.is_bin() => TargetKind::Bin,
                    () if target.is_example() && target.crate_types.iter().all(is_program) => {
                        TargetKind::Example
                    }
                    () => continue,
                };
                targets.push(TargetInfo {
                    id: TargetId { package: package.name.to_string(), kind, target: target.name.clone() },
                    required_features: target.required_features.clone(),
                    source: target.src_path.clone(),
                });
            }
        }
        targets.sort_by(|a, b| a.id.cmp(&b.id));
        targets
    }

    /// Whether the member's manifest leaves a bench target to the built-in harness.
    ///
    /// # Errors
    /// When the manifest cannot be read any more.
    pub fn uses_libtest(&self, target: &TargetId) -> Result<bool, BuildError> {
        if target.kind != TargetKind::Bench {
            return Ok(false);
        }
        let package = self.package(&target.package);
        package.map_or(Ok(false), |package| uses_libtest(package.manifest_path.as_std_path(), &target.target))
    }

    /// The member of that name.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.metadata.packages.iter().find(|package| package.name.as_str() == name)
    }

    /// The names of all members and of what they take from a path: packages whose sources are the revision's.
    pub fn path_packages(&self) -> BTreeSet<String> {
        let packages = &self.metadata.packages;
        let dependencies = packages.iter().flat_map(|package| &package.dependencies);
        let taken = dependencies.filter(|dependency| dependency.path.is_some());
        let taken = taken.map(|dependency| dependency.name.clone());
        packages.iter().map(|package| package.name.to_string()).chain(taken).collect()
    }

    /// The member's `rust-version` as its manifest says it, empty when it does not.
    pub(super) fn rust_version(&self, package: &Package) -> &str {
        let packages = self.raw["packages"].as_array().map_or(&[][..], Vec::as_slice);
        let found = packages.iter().find(|raw| raw["id"].as_str() == Some(package.id.repr.as_str()));
        found.and_then(|raw| raw["rust_version"].as_str()).unwrap_or("")
    }
}

/// Whether the manifest leaves the bench target to libtest: true unless a `[[bench]]` says `harness = false`.
/// `cargo metadata` does not tell.
pub(super) fn uses_libtest(manifest: &Path, bench: &str) -> Result<bool, BuildError> {
    let text = fs_err::read_to_string(manifest).map_err(BuildError::io("read a manifest"))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| BuildError::configuration(manifest, error.message()))?;
    let benches = table.get("bench").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let entry = benches.iter().find(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(bench));
    Ok(entry.and_then(|entry| entry.get("harness")).and_then(toml::Value::as_bool).unwrap_or(true))
}

/// The harness crates among the package's own dependencies, by their real names or by those they are renamed to.
pub(super) fn harness_crates(package: &Package) -> Vec<&'static str> {
    let depends = |name: &&str| {
        package.dependencies.iter().any(|dependency| {
            (dependency.name == *name || dependency.rename.as_deref() == Some(*name))
                && dependency.kind != cargo_metadata::DependencyKind::Build
        })
    };
    HARNESS_CRATES.iter().copied().filter(depends).collect()
}

/// The known harness crate of that name.
pub(super) fn harness_crate(name: &str) -> Option<&'static str> {
    HARNESS_CRATES.iter().copied().find(|known| *known == name)
}

/// The required features that the user's selection leaves off.
pub(super) fn missing_features(
    settings: &CargoSettings,
    package: &Package,
    required: &[String],
) -> BTreeSet<String> {
    if settings.all_features {
        return BTreeSet::new();
    }
    let mut waiting: Vec<String> = Vec::new();
    if !settings.no_default_features {
        waiting.push("default".to_owned());
    }
    for feature in settings.features.iter().flat_map(|text| text.split([',', ' '])) {
        let own = feature.strip_prefix(package.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        waiting.push(own.unwrap_or(feature).to_owned());
    }
    let mut enabled = BTreeSet::new();
    while let Some(feature) = waiting.pop() {
        if let Some(implied) = package.features.get(&feature) {
            waiting.extend(implied.iter().filter(|name| !enabled.contains(*name)).cloned());
        }
        enabled.insert(feature);
    }
    required.iter().filter(|feature| !enabled.contains(*feature)).cloned().collect()
}

fn is_program(crate_type: &cargo_metadata::CrateType) -> bool {
    *crate_type == cargo_metadata::CrateType::Bin
}
