//! What builds in the user's tree take from outside of the repository: cargo's configuration above it, and packages beside
//! it. Worktrees lie elsewhere, so both have to be brought along.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::choice::Chosen;
use super::environment::Environment;
use super::{Context, Request};
use crate::error::Error;
use crate::revision::{Checkout, Repository, Slot};
use crate::ui::Ui;

/// What cargo is to be told with `--config` so that the configuration above the user's tree holds for the builds, too.
/// Tells what differs all the same.
pub(super) fn configs_of(
    repository: &Repository,
    request: &Request,
    environment: &Environment,
    ui: &Ui,
) -> Vec<String> {
    let cache = environment.cwd.join(request.cache.as_ref().unwrap_or(&environment.cache));
    let cache = canonical(&cache);
    let home = environment.variable("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(environment.variable("HOME")?).join(".cargo")));
    let home = home.map(|home| canonical(&home));
    let root = repository.root();
    for file in foreign_configs(root, &cache, home.as_deref()) {
        ui.warn(format!(
            "{} lies above the cache directory, so it holds for the builds here and not for those in your tree; name \
             another place with BENCHGATE_CACHE_DIR",
            file.display()
        ));
    }
    let outer = configs(root, &cache, home.as_deref());
    for file in &outer {
        let conflicts = conflicts(file, root);
        if conflicts.is_empty() {
            ui.note(format!("{} lies above the repository; both sides are built with it", file.display()));
        } else {
            ui.warn(format!(
                "{} above the repository sets {}, as the repository's own configuration does: in these builds the outer one \
                 wins, in your tree the inner one",
                file.display(),
                conflicts.join(", ")
            ));
        }
    }
    outer.iter().map(|file| file.to_string_lossy().into_owned()).collect()
}

/// Makes the packages beside the repository reachable from every worktree. Gives a note for each: they are not versioned.
pub(super) fn link_packages(
    context: &Context<'_>,
    slot: &Slot,
    chosen: &Chosen,
    head: &Checkout,
) -> Result<Vec<String>, Error> {
    let root = context.repository.root();
    let manifests: Vec<PathBuf> = head
        .files
        .iter()
        .filter(|file| file.path.file_name().is_some_and(|name| name == "Cargo.toml"))
        .map(|file| root.join(&file.path))
        .collect();
    let mut notes = Vec::new();
    for (package, relative) in packages(root, &manifests) {
        let mut linked = true;
        for side in chosen.sides().filter(|_| relative) {
            linked &= slot.link_outside(&side.name, &package).map_err(|error| {
                Error::Execution(format!("failed to link {} into the build slot: {error}", package.display()))
            })?;
        }
        let what = format!(
            "the package {} lies outside of the repository, so it has no revisions",
            package.display()
        );
        let note = match linked {
            true => format!("{what}: all sides are built with it as it is now"),
            false => format!(
                "{what}, and it is too far off to be built with from a worktree; take it into the repository, or name \
                              it by an absolute path"
            ),
        };
        context.ui.note(&note);
        notes.push(note);
    }
    Ok(notes)
}

/// The nearest thing to a canonical path of what need not exist yet.
fn canonical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// Cargo's configuration files above the repository, the farthest first: cargo finds them from the user's tree, and not
/// from a worktree. Those of cargo's home, and those above the worktrees as well, apply by themselves.
fn configs(root: &Path, worktrees: &Path, cargo_home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = root
        .ancestors()
        .skip(1)
        .filter(|directory| !worktrees.starts_with(directory))
        .map(|directory| directory.join(".cargo"))
        .filter(|directory| Some(directory.as_path()) != cargo_home)
        .filter_map(|directory| config_in(&directory))
        .collect();
    found.reverse();
    found
}

/// The configuration files that apply to builds in the worktrees and not to those in the user's tree.
fn foreign_configs(root: &Path, worktrees: &Path, cargo_home: Option<&Path>) -> Vec<PathBuf> {
    worktrees
        .ancestors()
        .filter(|directory| !root.starts_with(directory))
        .map(|directory| directory.join(".cargo"))
        .filter(|directory| Some(directory.as_path()) != cargo_home)
        .filter_map(|directory| config_in(&directory))
        .collect()
}

/// Keys that an outer file and one of the repository's own both set, such as `build.rustflags`. Passed on the command
/// line the outer one would win, where in the user's tree the inner one does.
fn conflicts(outer: &Path, root: &Path) -> Vec<String> {
    let Some(inner) = config_in(&root.join(".cargo")) else { return Vec::new() };
    let keys = |path: &Path| {
        let mut keys = BTreeSet::new();
        let table = std::fs::read_to_string(path).ok().and_then(|text| text.parse::<Table>().ok());
        collect_keys(&table.unwrap_or_default(), "", &mut keys);
        keys
    };
    keys(outer).intersection(&keys(&inner)).cloned().collect()
}

/// Cargo prefers the name without extension where both exist.
fn config_in(directory: &Path) -> Option<PathBuf> {
    ["config", "config.toml"].map(|name| directory.join(name)).into_iter().find(|file| file.is_file())
}

fn collect_keys(table: &Table, prefix: &str, keys: &mut BTreeSet<String>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) => collect_keys(inner, &key, keys),
            _ => drop(keys.insert(key)),
        }
    }
}

/// The directories of the packages outside of `root` that those in it need by path, and those in turn.
/// Each with whether a relative path leads there.
fn packages(root: &Path, manifests: &[PathBuf]) -> BTreeMap<PathBuf, bool> {
    let mut outside = BTreeMap::new();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    let mut pending: Vec<PathBuf> = manifests.to_vec();
    while let Some(manifest) = pending.pop() {
        if !seen.insert(manifest.clone()) {
            continue;
        }
        let table = std::fs::read_to_string(&manifest).ok().and_then(|text| text.parse::<Table>().ok());
        let directory = manifest.parent().unwrap_or(Path::new("/"));
        for path in table.iter().flat_map(needed_paths) {
            let package = lexical(&directory.join(&path));
            if !package.join("Cargo.toml").is_file() {
                continue;
            }
            pending.push(package.join("Cargo.toml"));
            if !package.starts_with(root) {
                *outside.entry(package).or_insert(false) |= Path::new(&path).is_relative();
            }
        }
    }
    outside
}

/// Every `path` in the dependency tables of a manifest, `[patch]` and `[workspace.dependencies]` included.
fn needed_paths(manifest: &Table) -> Vec<String> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let table = |table: &Table, key: &str| table.get(key).and_then(Value::as_table).cloned();
    let mut groups: Vec<Table> = KINDS.iter().filter_map(|kind| table(manifest, kind)).collect();
    for target in table(manifest, "target").unwrap_or_default().values().filter_map(Value::as_table) {
        groups.extend(KINDS.iter().filter_map(|kind| table(target, kind)));
    }
    groups.extend(table(manifest, "workspace").and_then(|it| table(&it, "dependencies")));
    groups.extend(table(manifest, "patch").unwrap_or_default().values().filter_map(Value::as_table).cloned());
    groups.extend(table(manifest, "replace"));
    let path = |value: &Value| value.get("path").and_then(Value::as_str).map(str::to_owned);
    groups.iter().flat_map(Table::values).filter_map(path).collect()
}

/// The path without `.` and `..`, as cargo takes it apart: by its text.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn configuration_above_the_repository_is_found_farthest_first_and_that_of_both_places_left_out() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let root = home.join("work/team/repository");
        let cache = home.join("cache/slot");
        for place in ["", "work", "work/team", "work/team/repository", "cache"] {
            write(&home.join(place).join(".cargo/config.toml"), "[build]\njobs = 1\n");
        }
        let found = configs(&root, &cache, None);
        let at = |place: &str| home.join(place).join(".cargo/config.toml");
        assert_eq!(found, [at("work"), at("work/team")]);
        assert_eq!(configs(&root, &cache, Some(&home.join("work/.cargo"))), [at("work/team")]);
        assert_eq!(foreign_configs(&root, &cache, None), [at("cache")]);
        assert_eq!(foreign_configs(&root, &cache, Some(&home.join("cache/.cargo"))), Vec::<PathBuf>::new());
    }

    #[test]
    fn keys_that_both_set_are_named_in_full() {
        let home = tempfile::tempdir().unwrap();
        let (outer, root) = (home.path().join(".cargo/config.toml"), home.path().join("repository"));
        write(&outer, "[build]\nrustflags = [\"-g\"]\njobs = 1\n[env]\nA = \"1\"");
        assert_eq!(conflicts(&outer, &root), Vec::<String>::new());
        write(&root.join(".cargo/config.toml"), "build.rustflags = [\"-O\"]\nenv.B = \"1\"");
        assert_eq!(conflicts(&outer, &root), ["build.rustflags"]);
    }

    #[test]
    fn packages_outside_are_found_through_all_tables_and_through_each_other() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let package = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n";
        let manifest = |place: &str, more: &str| {
            write(&home.join(place).join("Cargo.toml"), &format!("{package}{more}"));
        };
        manifest(
            "r",
            "[dependencies]\na = { path = \"../a\" }\ninner = { path = \"inner\" }\ngone = { path = \"../gone\" }\n\
             [target.'cfg(unix)'.build-dependencies]\nb = { path = \"../deep/b\" }\n\
             [patch.crates-io]\nc = { path = \"../c\" }\n[workspace.dependencies]\nd = { path = \"../d\" }\n",
        );
        manifest("r/inner", "[dev-dependencies]\ne = { path = \"../../e\" }");
        manifest("a", "[dependencies]\nf = { path = \"../f\" }\nback = { path = \"../a\" }");
        for name in ["deep/b", "c", "d", "e", "f"] {
            manifest(name, "");
        }
        let found = packages(&home.join("r"), &[home.join("r/Cargo.toml")]);
        let found: Vec<_> = found.keys().map(|path| path.strip_prefix(&home).unwrap()).collect();
        assert_eq!(found, ["a", "c", "d", "deep/b", "e", "f"].map(Path::new));
    }
}
