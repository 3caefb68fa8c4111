//! What a Cargo.lock says: whether it fits the manifests, and how two of them differ.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::Package;
use cargo_metadata::semver::{Version, VersionReq};
use serde::Deserialize;

/// A parsed Cargo.lock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockFile {
    packages: Vec<Locked>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// One package from a registry or a git repository whose version differs between two lock files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyChange {
    /// Its name.
    pub name: String,
    /// Its version in the first, with the commit for one from git; `None`: it is not there.
    pub base: Option<String>,
    /// Its version in the second; `None`: it is not there.
    pub head: Option<String>,
}

impl std::fmt::Display for DependencyChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.base, &self.head) {
            (Some(base), Some(head)) => write!(f, "{} {base} -> {head}", self.name),
            (None, Some(head)) => write!(f, "+{} {head}", self.name),
            (Some(base), None) => write!(f, "-{} {base}", self.name),
            (None, None) => f.write_str(&self.name),
        }
    }
}

impl LockFile {
    /// Parses one. `None`: it is no lock file this tool can read.
    pub fn parse(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Whole {
            #[serde(default)]
            package: Vec<Locked>,
        }
        let whole: Whole = toml::from_str(text).ok()?;
        Some(Self { packages: whole.package })
    }

    /// Whether cargo would leave it as it is for a workspace of these members: every member and every dependency of one
    /// is in it, in a version that is asked for, and nothing else is. What manifests outside the workspace say is not
    /// looked at.
    pub fn fits(&self, members: &[Package]) -> bool {
        let member = |package: &Package| {
            let locked = self.packages.iter().find(|locked| {
                locked.source.is_none()
                    && locked.name == package.name.as_str()
                    && locked.version == package.version.to_string()
            });
            let Some(locked) = locked else { return false };
            let taken: Vec<&Locked> =
                locked.dependencies.iter().filter_map(|dependency| self.find(dependency)).collect();
            package.dependencies.iter().all(|wanted| {
                taken.iter().any(|locked| {
                    locked.name == wanted.name
                        && (wanted.req == VersionReq::STAR
                            || Version::parse(&locked.version)
                                .is_ok_and(|version| wanted.req.matches(&version)))
                })
            })
        };
        let names: BTreeSet<&str> = members.iter().map(|package| package.name.as_str()).collect();
        members.iter().all(member) && self.reachable(&names).len() == self.packages.len()
    }

    /// What of it comes from elsewhere, as text: equal where two lock files choose the same versions, whatever the
    /// versions of the workspace's own packages are.
    pub fn foreign(&self) -> String {
        let foreign = self.packages.iter().filter(|locked| locked.source.is_some());
        let lines: BTreeSet<String> =
            foreign.map(|locked| format!("{} {}\n", locked.name, locked.label())).collect();
        lines.into_iter().collect()
    }

    /// The packages that can be reached from those of these names.
    fn reachable(&self, names: &BTreeSet<&str>) -> Vec<&Locked> {
        let is_start = |locked: &&Locked| locked.source.is_none() && names.contains(locked.name.as_str());
        let mut waiting: Vec<&Locked> = self.packages.iter().filter(is_start).collect();
        let mut seen: Vec<&Locked> = Vec::new();
        while let Some(locked) = waiting.pop() {
            if !seen.iter().any(|known| std::ptr::eq(*known, locked)) {
                seen.push(locked);
                waiting.extend(locked.dependencies.iter().filter_map(|dependency| self.find(dependency)));
            }
        }
        seen
    }

    /// The package of a dependency's line: `name`, `name version` or `name version (source)`, as long as needed.
    fn find(&self, dependency: &str) -> Option<&Locked> {
        let mut words = dependency.splitn(3, ' ');
        let (name, version, source) = (words.next()?, words.next(), words.next());
        self.packages.iter().find(|locked| {
            locked.name == name
                && version.is_none_or(|version| locked.version == version)
                && source.is_none_or(|source| {
                    // The line does not tell the commit of a git source.
                    let wanted = source.trim_start_matches('(').trim_end_matches(')');
                    locked.source.as_deref().and_then(|source| source.split('#').next()) == Some(wanted)
                })
        })
    }
}

impl Locked {
    /// The version, with the commit where it is from git.
    fn label(&self) -> String {
        let commit = self.source.as_deref().filter(|source| source.starts_with("git+"));
        match commit.and_then(|source| source.rsplit_once('#')) {
            Some((_, commit)) => format!("{} ({})", self.version, commit.get(..10).unwrap_or(commit)),
            None => self.version.clone(),
        }
    }
}

/// What differs between two lock files among the packages that these ones, by name, depend on, directly or not. The
/// workspace's own packages are no dependencies.
pub fn dependency_changes(
    base: &LockFile,
    head: &LockFile,
    base_packages: &BTreeSet<&str>,
    head_packages: &BTreeSet<&str>,
) -> Vec<DependencyChange> {
    let versions = |lock: &LockFile, packages: &BTreeSet<&str>| {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for locked in lock.reachable(packages).into_iter().filter(|locked| locked.source.is_some()) {
            all.entry(locked.name.clone()).or_default().insert(locked.label());
        }
        all
    };
    let (base, head) = (versions(base, base_packages), versions(head, head_packages));
    let names: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    let mut changes = Vec::new();
    for name in names {
        let none = BTreeSet::new();
        let (before, after) = (base.get(name).unwrap_or(&none), head.get(name).unwrap_or(&none));
        let gone: Vec<&String> = before.difference(after).collect();
        let come: Vec<&String> = after.difference(before).collect();
        // A version that goes and one that comes are one change; what is left over on one side came or went.
        for place in 0..gone.len().max(come.len()) {
            changes.push(DependencyChange {
                name: name.clone(),
                base: gone.get(place).map(|version| (*version).clone()),
                head: come.get(place).map(|version| (*version).clone()),
            });
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn lock(packages: &[(&str, &str, &str, &[&str])]) -> LockFile {
        let mut text = "version = 4\n".to_owned();
        for (name, version, source, dependencies) in packages {
            text.push_str(&format!("[[package]]\nname = {name:?}\nversion = {version:?}\n"));
            if !source.is_empty() {
                text.push_str(&format!("source = {source:?}\n"));
            }
            text.push_str(&format!("dependencies = {dependencies:?}\n"));
        }
        LockFile::parse(&text).expect("it is a lock file")
    }

    fn changes(base: &LockFile, head: &LockFile) -> Vec<String> {
        let own = BTreeSet::from(["own"]);
        dependency_changes(base, head, &own, &own).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn changed_new_and_removed_dependencies_are_told_by_name_and_version() {
        let base = lock(&[
            ("own", "0.1.0", "", &["serde_json", "bar"]),
            ("serde_json", "1.0.1", REGISTRY, &[]),
            ("bar", "0.2.0", REGISTRY, &[]),
        ]);
        let head = lock(&[
            ("own", "0.2.0", "", &["serde_json", "foo"]),
            ("serde_json", "1.0.5", REGISTRY, &[]),
            ("foo", "3.0.0", REGISTRY, &[]),
        ]);
        assert_eq!(changes(&base, &head), ["-bar 0.2.0", "+foo 3.0.0", "serde_json 1.0.1 -> 1.0.5"]);
        assert!(changes(&base, &base).is_empty());
    }

    #[test]
    fn what_the_package_does_not_depend_on_is_not_told() {
        let base = lock(&[("own", "0.1.0", "", &[]), ("other", "1.0.0", REGISTRY, &[])]);
        let head = lock(&[("own", "0.1.0", "", &[]), ("other", "2.0.0", REGISTRY, &[])]);
        assert!(changes(&base, &head).is_empty());
    }

    #[test]
    fn two_versions_of_one_package_are_told_apart_and_followed_by_their_own_lines() {
        let base = lock(&[
            ("own", "0.1.0", "", &["a 1.0.0"]),
            ("a", "1.0.0", REGISTRY, &[]),
            ("a", "2.0.0", REGISTRY, &[]),
        ]);
        let head = lock(&[
            ("own", "0.1.0", "", &["a 1.0.0", "a 2.0.0"]),
            ("a", "1.0.0", REGISTRY, &[]),
            ("a", "2.0.0", REGISTRY, &[]),
        ]);
        assert_eq!(changes(&base, &head), ["+a 2.0.0"]);
    }

    #[test]
    fn a_moved_git_commit_is_a_change_of_equal_versions() {
        let of = |commit: &str| {
            lock(&[
                ("own", "0.1.0", "", &["g"]),
                ("g", "1.0.0", &format!("git+https://example.com/g#{commit}"), &[]),
            ])
        };
        let (base, head) = (of("0123456789abcdef"), of("fedcba9876543210"));
        assert_eq!(changes(&base, &head), ["g 1.0.0 (0123456789) -> 1.0.0 (fedcba9876)"]);
    }

    #[test]
    fn a_dependency_from_git_is_found_by_its_whole_line() {
        let source = "git+https://example.com/g?branch=main";
        let whole = format!("g 1.0.0 ({source})");
        let of = |version: &str| {
            lock(&[
                ("own", "0.1.0", "", &[&whole]),
                ("g", "1.0.0", REGISTRY, &[]),
                ("g", "1.0.0", &format!("{source}#{version}"), &[]),
            ])
        };
        assert_eq!(
            changes(&of("0123456789a"), &of("fedcba98765")),
            ["g 1.0.0 (0123456789) -> 1.0.0 (fedcba9876)"]
        );
    }

    #[test]
    fn the_foreign_part_does_not_change_with_the_version_of_a_member() {
        let of = |version: &str| lock(&[("own", version, "", &["a"]), ("a", "1.0.0", REGISTRY, &[])]);
        assert_eq!(of("0.1.0").foreign(), of("0.2.0").foreign());
        assert_ne!(of("0.1.0").foreign(), LockFile::default().foreign());
    }

    #[test]
    fn text_that_is_no_lock_file_is_none() {
        assert_eq!(LockFile::parse("[[package]]\nname = 1"), None);
        assert_eq!(LockFile::parse("<<<<<<< conflict"), None);
    }
}
