//! What differs between base and head in how they are built, in words.

use std::collections::BTreeSet;
use std::path::Path;

use crate::build::{self, LockFile, LockOrigin, SettingChange};
use crate::report::model::DependencyChange;
use crate::suite::ProfileFrom;

/// How many changes one warning names.
const SHOWN: usize = 8;

/// The word of the report for where a lock file came from.
pub(super) fn lock_word(origin: LockOrigin) -> &'static str {
    match origin {
        LockOrigin::Committed => "committed",
        LockOrigin::Updated => "updated",
        LockOrigin::Copied => "copied",
        LockOrigin::Generated => "generated",
    }
}

/// The packages from elsewhere whose versions differ; each side is its lock file with the packages that are measured.
pub(super) fn dependency_changes(
    (base, base_packages): (&str, &BTreeSet<&str>),
    (head, head_packages): (&str, &BTreeSet<&str>),
) -> Vec<DependencyChange> {
    let (Some(base), Some(head)) = (LockFile::parse(base), LockFile::parse(head)) else { return Vec::new() };
    let changes = build::dependency_changes(&base, &head, base_packages, head_packages);
    let change =
        |it: build::DependencyChange| DependencyChange { name: it.name, base: it.base, head: it.head };
    changes.into_iter().map(change).collect()
}

pub(super) fn of_dependencies(changes: &[DependencyChange]) -> Option<String> {
    let text = |it: &DependencyChange| {
        let (name, base, head) = (it.name.clone(), it.base.clone(), it.head.clone());
        build::DependencyChange { name, base, head }.to_string()
    };
    let all: Vec<String> = changes.iter().map(text).collect();
    some(&all).map(|some| {
        format!("dependencies differ between base and head, which is part of what is compared: {some}")
    })
}

pub(super) fn of_settings(changes: &[SettingChange], profile_from: ProfileFrom) -> Vec<String> {
    let (profile, other): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| change.key.starts_with("profile."));
    let texts = |changes: Vec<&SettingChange>| changes.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut warnings = Vec::new();
    if let (Some(some), ProfileFrom::Each) = (some(&texts(profile)), profile_from) {
        warnings.push(format!(
            "{some}: the comparison includes that; `profile_from = \"head\"` builds both with head's profile"
        ));
    }
    if let Some(some) = some(&texts(other)) {
        warnings.push(format!("{some}: the comparison includes that"));
    }
    warnings
}

/// What the toolchain files from `directory`, relative to both trees, up to their roots say differently.
pub(super) fn of_toolchain_files(base: &Path, head: &Path, directory: &Path, rustc: &str) -> Option<String> {
    let read = |tree: &Path| {
        let places = directory.ancestors().flat_map(|directory| {
            ["rust-toolchain", "rust-toolchain.toml"].map(|name| tree.join(directory).join(name))
        });
        places.map(|path| std::fs::read_to_string(path).ok()).find(Option::is_some).flatten()
    };
    let (base, head) = (read(base), read(head));
    (base != head).then(|| {
        format!("base and head name different toolchains in their rust-toolchain files; both are built with {rustc}")
    })
}

/// The first few, and how many more there are.
fn some(all: &[String]) -> Option<String> {
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    match all.len() {
        0 => None,
        few if few <= SHOWN => Some(shown),
        many => Some(format!("{shown}; and {} more", many - SHOWN)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_changes_is_cut_and_counted() {
        let change = |number: usize| DependencyChange {
            name: format!("d{number}"),
            base: Some("1".to_owned()),
            head: Some("2".to_owned()),
        };
        let all: Vec<_> = (0..10).map(change).collect();
        let text = of_dependencies(&all).expect("they differ");
        assert!(
            text.contains(": d0 1 -> 2; d1 1 -> 2;") && text.ends_with("d7 1 -> 2; and 2 more"),
            "{text}"
        );
        assert_eq!(of_dependencies(&[]), None);
    }

    #[test]
    fn profiles_are_no_warning_once_heads_is_used_for_both() {
        let change =
            |key: &str| SettingChange { key: key.to_owned(), base: None, head: Some("true".to_owned()) };
        let changes = [change("profile.release.lto"), change("patch.crates-io.a.path")];
        let warnings = of_settings(&changes, ProfileFrom::Each);
        assert_eq!(warnings.len(), 2);
        assert!(
            warnings[0].starts_with("profile.release.lto is not set in base and true in head: "),
            "{warnings:?}"
        );
        assert_eq!(of_settings(&changes, ProfileFrom::Head).len(), 1);
    }

    #[test]
    fn toolchain_files_are_found_above_the_workspace() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (base, head) = (directory.path().join("base"), directory.path().join("head"));
        for tree in [&base, &head] {
            std::fs::create_dir_all(tree.join("rust")).expect("writable");
        }
        let differs = || of_toolchain_files(&base, &head, Path::new("rust"), "rustc 1.90");
        assert_eq!(differs(), None);
        std::fs::write(base.join("rust-toolchain"), "1.80").expect("writable");
        assert!(differs().is_some_and(|text| text.ends_with("built with rustc 1.90")));
        std::fs::write(head.join("rust-toolchain"), "1.80").expect("writable");
        assert_eq!(differs(), None);
    }
}
