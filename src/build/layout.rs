//! What a revision's workspace holds, small enough to be kept, and which of its targets are those of another revision.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{BuildError, Workspace};
use crate::suite::identity::{TargetId, TargetKind};

/// A workspace's packages and targets. Paths are relative to its root, `/` between the parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The members.
    pub packages: Vec<PackageLayout>,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageLayout {
    /// Its name.
    pub name: String,
    /// Its manifest.
    pub manifest: String,
    /// Its features, those of optional dependencies among them.
    pub features: BTreeSet<String>,
    /// The names of its dependencies as its code knows them.
    pub dependencies: BTreeSet<String>,
    /// Its bench targets, programs and examples.
    pub targets: Vec<TargetLayout>,
}

/// One target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetLayout {
    /// Its kind.
    pub kind: TargetKind,
    /// Its name.
    pub name: String,
    /// Its first source file.
    pub source: String,
    /// Whether it is a bench target that the manifest leaves to the built-in harness.
    pub uses_libtest: bool,
}

/// How head's targets are found in another revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matching {
    /// The other revision's name of each target of head that it has.
    pub others: BTreeMap<TargetId, TargetId>,
    /// What was found under another name, in words.
    pub notes: Vec<String>,
}

impl Layout {
    /// The layout of a workspace.
    ///
    /// # Errors
    /// When a manifest cannot be read any more.
    pub fn of(workspace: &Workspace) -> Result<Self, BuildError> {
        let root = workspace.metadata.workspace_root.as_std_path();
        let relative = |path: &Path| {
            let path = path.strip_prefix(root).unwrap_or(path);
            path.to_string_lossy().replace('\\', "/")
        };
        let mut known: BTreeMap<String, Vec<TargetLayout>> = BTreeMap::new();
        for info in workspace.targets() {
            known.entry(info.id.package.clone()).or_default().push(TargetLayout {
                uses_libtest: workspace.uses_libtest(&info.id)?,
                source: relative(info.source.as_std_path()),
                kind: info.id.kind,
                name: info.id.target,
            });
        }
        let packages = workspace.metadata.packages.iter().map(|package| PackageLayout {
            name: package.name.to_string(),
            manifest: relative(package.manifest_path.as_std_path()),
            features: package.features.keys().cloned().collect(),
            dependencies: package
                .dependencies
                .iter()
                .map(|dependency| dependency.rename.clone().unwrap_or_else(|| dependency.name.clone()))
                .collect(),
            targets: known.remove(package.name.as_str()).unwrap_or_default(),
        });
        Ok(Self { packages: packages.collect() })
    }

    /// A target, by its name.
    pub fn target(&self, id: &TargetId) -> Option<&TargetLayout> {
        let package = self.packages.iter().find(|package| package.name == id.package)?;
        package.targets.iter().find(|target| target.kind == id.kind && target.name == id.target)
    }

    /// All targets.
    pub fn targets(&self) -> impl Iterator<Item = TargetId> {
        self.packages.iter().flat_map(|package| {
            package.targets.iter().map(|target| TargetId {
                package: package.name.clone(),
                kind: target.kind,
                target: target.name.clone(),
            })
        })
    }

    /// Finds targets of this layout, head's, in another one: a package by its name, else by its manifest; a target of it
    /// by its name, else by its source file. A name that both have is never taken for another one.
    pub fn matching<'a>(&self, targets: impl Iterator<Item = &'a TargetId>, other: &Self) -> Matching {
        let mut matching = Matching::default();
        for id in targets {
            let Some(package) = self.packages.iter().find(|package| package.name == id.package) else {
                continue;
            };
            let by_name = other.packages.iter().find(|candidate| candidate.name == package.name);
            let by_manifest = || {
                other.packages.iter().find(|candidate| {
                    candidate.manifest == package.manifest
                        && !self.packages.iter().any(|own| own.name == candidate.name)
                })
            };
            let Some(found) = by_name.or_else(by_manifest) else { continue };
            let Some(own) = self.target(id) else { continue };
            let of_kind = || found.targets.iter().filter(|candidate| candidate.kind == id.kind);
            let directory = |manifest: &str| manifest.strip_suffix("Cargo.toml").unwrap_or("").to_owned();
            let inside = |target: &TargetLayout, package: &PackageLayout| {
                let directory = directory(&package.manifest);
                target.source.strip_prefix(&directory).unwrap_or(&target.source).to_owned()
            };
            let by_source = || {
                of_kind().find(|candidate| {
                    inside(candidate, found) == inside(own, package)
                        && !package
                            .targets
                            .iter()
                            .any(|own| own.kind == id.kind && own.name == candidate.name)
                })
            };
            let by_name = of_kind().find(|candidate| candidate.name == id.target);
            let Some(target) = by_name.or_else(by_source) else { continue };
            let other = TargetId { package: found.name.clone(), kind: id.kind, target: target.name.clone() };
            if other != *id {
                matching.notes.push(format!("{id} is compared with {other}, its former name"));
            }
            matching.others.insert(id.clone(), other);
        }
        matching
    }

    /// The features among `features`, as written on the command line, that none of the `packages` has.
    pub fn unknown_features(&self, features: &[String], packages: &BTreeSet<String>) -> Vec<String> {
        let of = |name: &str| self.packages.iter().find(|package| package.name == name);
        let chosen: Vec<&PackageLayout> = packages.iter().filter_map(|name| of(name)).collect();
        let knows = |package: &PackageLayout, feature: &str| match feature.split_once('/') {
            Some((dependency, _)) => package.dependencies.contains(dependency.trim_end_matches('?')),
            None => package.features.contains(feature) || feature == "default",
        };
        let is_known = |feature: &str| {
            let own = feature.split_once('/').and_then(|(name, rest)| Some((of(name)?, rest)));
            own.is_some_and(|(package, rest)| knows(package, rest))
                || chosen.iter().any(|package| knows(package, feature))
        };
        let words = features.iter().flat_map(|text| text.split([',', ' '])).filter(|word| !word.is_empty());
        words.filter(|word| !is_known(word)).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, manifest: &str, benches: &[(&str, &str)]) -> PackageLayout {
        let directory = manifest.strip_suffix("Cargo.toml").expect("a manifest");
        PackageLayout {
            name: name.to_owned(),
            manifest: manifest.to_owned(),
            features: BTreeSet::from(["fast".to_owned()]),
            dependencies: BTreeSet::from(["serde".to_owned()]),
            targets: benches
                .iter()
                .map(|(name, file)| TargetLayout {
                    kind: TargetKind::Bench,
                    name: (*name).to_owned(),
                    source: format!("{directory}benches/{file}.rs"),
                    uses_libtest: false,
                })
                .collect(),
        }
    }

    fn bench(package: &str, target: &str) -> TargetId {
        TargetId { package: package.to_owned(), kind: TargetKind::Bench, target: target.to_owned() }
    }

    fn matched(head: Vec<PackageLayout>, base: Vec<PackageLayout>, id: &TargetId) -> Option<TargetId> {
        let (head, base) = (Layout { packages: head }, Layout { packages: base });
        head.matching([id].into_iter(), &base).others.remove(id)
    }

    #[test]
    fn a_moved_package_is_found_by_its_name() {
        let (head, base) =
            (package("a", "crates/a/Cargo.toml", &[("b", "b")]), package("a", "a/Cargo.toml", &[("b", "b")]));
        assert_eq!(matched(vec![head], vec![base], &bench("a", "b")), Some(bench("a", "b")));
    }

    #[test]
    fn a_renamed_package_is_found_by_its_manifest_and_that_is_said() {
        let head = Layout { packages: vec![package("new", "a/Cargo.toml", &[("b", "b")])] };
        let base = Layout { packages: vec![package("old", "a/Cargo.toml", &[("b", "b")])] };
        let id = bench("new", "b");
        let matching = head.matching([&id].into_iter(), &base);
        assert_eq!(matching.others[&id], bench("old", "b"));
        assert_eq!(
            matching.notes,
            ["bench b of package new is compared with bench b of package old, its former name"]
        );
    }

    #[test]
    fn a_package_that_head_still_has_is_not_taken_for_another_one_at_its_old_place() {
        let head = vec![
            package("new", "a/Cargo.toml", &[("b", "b")]),
            package("old", "c/Cargo.toml", &[("b", "b")]),
        ];
        let base = vec![package("old", "a/Cargo.toml", &[("b", "b")])];
        assert_eq!(matched(head, base, &bench("new", "b")), None);
    }

    #[test]
    fn a_renamed_target_is_found_by_its_source() {
        let head = vec![package("a", "a/Cargo.toml", &[("fast", "speed")])];
        let base = vec![package("a", "Cargo.toml", &[("speed", "speed")])];
        assert_eq!(matched(head, base, &bench("a", "fast")), Some(bench("a", "speed")));
    }

    #[test]
    fn a_new_target_has_no_match() {
        let head = vec![package("a", "a/Cargo.toml", &[("one", "one"), ("two", "two")])];
        let base = vec![package("a", "a/Cargo.toml", &[("one", "one")])];
        assert_eq!(matched(head, base, &bench("a", "two")), None);
    }

    #[test]
    fn features_that_a_revision_does_not_have_are_named_in_all_of_cargos_spellings() {
        let layout =
            Layout { packages: vec![package("a", "a/Cargo.toml", &[]), package("b", "b/Cargo.toml", &[])] };
        let unknown = |features: &[&str]| {
            let features: Vec<String> = features.iter().map(|it| (*it).to_owned()).collect();
            layout.unknown_features(&features, &BTreeSet::from(["a".to_owned()]))
        };
        assert!(unknown(&["fast", "a/fast b/fast", "serde/derive,default", "serde?/std"]).is_empty());
        assert_eq!(unknown(&["fast,slow", "a/slow", "none/x"]), ["slow", "a/slow", "none/x"]);
    }
}
