//! The suite table at the end of Cargo.toml, all of it comments: what is there stays byte for byte as it is.

use std::path::Path;

use super::change::Change;
use crate::error::Error;

/// The run-wide keys, `{table}` in front of the sub-tables; a line that begins with `#` and no space can be switched on.
const TEXT: &str = r##"
[{table}]
# Settings of `cargo benchgate`. None is needed: take the `#` away from a line to use it.
# All keys, with their defaults, are in docs/CONFIGURATION.md of cargo-benchgate.
#base = "{base}"                          # default: the commit this branch left the default branch at
#max_time = "10m"                       # limit of the whole measuring phase
#timeout = "1m"                         # limit of one run of a benchmark
#also_fail_on = ["inconclusive"]        # and "removed", "skipped"

# What may get worse, and by how much: a change fails beyond both limits only.
#[{table}.metrics]
#latency = { max_percent = 10, min_difference = "5ns" }

# Other settings for one target, or for some of its benchmarks.
#[[{table}.bench]]
{package}#target = "{target}"
#filter = ["*"]
#metrics.latency = { max_percent = 5 }
#budget.latency = { median = "<= 500ms" }

# A slowdown that is known and accepted for a while.
#[[{table}.accept]]
#bench = "{target}/*"
#metric = "latency"
#up_to_percent = 20
#reason = "checked arithmetic"
#until = "2027-12-31"
"##;

/// Cargo.toml with the table behind it.
///
/// # Errors
///
/// A manifest that cannot be read or is not TOML, one that has a benchgate table, and one that cannot take one at its end.
pub(super) fn insert(nearest: &Path, for_workspace: bool, default_branch: &str) -> Result<Change, Error> {
    let mut path = nearest.to_owned();
    let (mut text, mut manifest) = read(&path)?;
    if for_workspace && !manifest.contains_key("workspace") {
        let root = nearest.ancestors().skip(2).map(|directory| directory.join("Cargo.toml"));
        let with_workspace = root.filter(|path| path.is_file()).find_map(|path| {
            let read = read(&path).ok()?;
            read.1.contains_key("workspace").then_some((path, read))
        });
        (path, (text, manifest)) = with_workspace.ok_or_else(|| {
            Error::Usage(format!(
                "no Cargo.toml above {} has a [workspace]; leave --workspace out",
                nearest.display()
            ))
        })?;
    }
    // A table of the workspace holds for the package at its root as well, and run-wide keys have their place there.
    let owner = if manifest.contains_key("workspace") { "workspace" } else { "package" };
    if !manifest.contains_key(owner) {
        return Err(Error::Configuration(format!(
            "{} has neither a [package] nor a [workspace]",
            path.display()
        )));
    }
    for existing in ["package", "workspace"] {
        if has_table(&manifest, existing) {
            return Err(Error::Usage(format!(
                "{} has [{existing}.metadata.benchgate] already; nothing is written",
                path.display()
            )));
        }
    }
    let table = table(&manifest, owner, default_branch);
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { ending };
    let after = format!("{text}{gap}{}", table.replace('\n', ending));
    // A `metadata` written as an inline table, for one, cannot be added to at the end.
    let is_sound = after.parse::<toml::Table>().is_ok_and(|manifest| has_table(&manifest, owner));
    if !is_sound {
        return Err(Error::Usage(format!(
            "{} cannot take a table [{owner}.metadata.benchgate] at its end (its `metadata` may be an inline table); write it as a \
             table of its own first",
            path.display()
        )));
    }
    Ok(Change { path, after: Some(after), is_edit: true, is_executable: false })
}

fn read(path: &Path) -> Result<(String, toml::Table), Error> {
    let text = fs_err::read_to_string(path)
        .map_err(|error| Error::Usage(format!("failed to read the manifest: {error}")))?;
    let manifest = text
        .strip_prefix('\u{feff}')
        .unwrap_or(&text)
        .parse()
        .map_err(|error| Error::Configuration(format!("{} is not TOML: {error}", path.display())))?;
    Ok((text, manifest))
}

fn has_table(manifest: &toml::Table, owner: &str) -> bool {
    let metadata = manifest.get(owner).and_then(|owner| owner.get("metadata"));
    metadata.and_then(|metadata| metadata.get("benchgate")).is_some()
}

fn table(manifest: &toml::Table, owner: &str, base: &str) -> String {
    let bench = manifest.get("bench").and_then(|benches| benches.get(0));
    let target = bench.and_then(|bench| bench.get("name")).and_then(toml::Value::as_str);
    let package =
        manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let package = match owner {
        "workspace" => format!("#package = {:?}\n", package.unwrap_or("NAME")),
        _ => String::new(),
    };
    TEXT.replace("{table}", &format!("{owner}.metadata.benchgate"))
        .replace("{package}", &package)
        .replace("{target}", target.unwrap_or("NAME"))
        .replace("{base}", base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert_into(manifest: &str) -> Result<String, String> {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("Cargo.toml");
        fs_err::write(&path, manifest).expect("it can be written");
        insert(&path, false, "main")
            .map(|change| change.after.expect("it is no removal"))
            .map_err(|error| error.to_string())
    }

    const PACKAGE: &str = "[package]\nname = \"a\"   # odd   spacing\n\n[[bench]]\nname = \"parse\"\n";

    #[test]
    fn what_is_there_stays_byte_for_byte() {
        for manifest in
            [PACKAGE, PACKAGE.trim_end(), &PACKAGE.replace('\n', "\r\n"), &format!("\u{feff}{PACKAGE}")]
        {
            let after = insert_into(manifest).expect("it can be added to");
            assert!(after.starts_with(manifest));
            let added = &after[manifest.len()..];
            assert_eq!(manifest.contains('\r'), added.contains('\r'));
            assert!(added.contains("[package.metadata.benchgate]"));
        }
    }

    #[test]
    fn every_setting_is_a_comment_and_right_once_it_is_none() {
        for (manifest, owner) in
            [(PACKAGE.to_owned(), "package"), (format!("{PACKAGE}[workspace]\n"), "workspace")]
        {
            let after = insert_into(&manifest).expect("it can be added to");
            let parsed: toml::Table = after.parse().expect("it is TOML");
            assert_eq!(parsed[owner]["metadata"]["benchgate"].as_table().map(toml::Table::len), Some(0));
            let on: String = after
                .lines()
                .map(|line| match line.strip_prefix('#') {
                    Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
                    _ => format!("{line}\n"),
                })
                .collect();
            let parsed: toml::Table = on.parse().unwrap_or_else(|error| panic!("{on}: {error}"));
            let metadata = serde_json::to_value(&parsed[owner]["metadata"]).expect("TOML fits into JSON");
            let metadata = serde_json::json!({
                "packages": [{
                    "name": "a", "version": "0.1.0", "id": "path+file:///ws#a@0.1.0", "dependencies": [], "features": {},
                    "targets": [{ "name": "parse", "kind": ["bench"], "crate_types": ["bin"], "src_path": "/ws/benches/parse.rs" }],
                    "manifest_path": "/ws/Cargo.toml",
                    "metadata": if owner == "package" { metadata.clone() } else { serde_json::Value::Null },
                }],
                "workspace_members": ["path+file:///ws#a@0.1.0"], "resolve": null, "workspace_root": "/ws",
                "target_directory": "/ws/target", "version": 1,
                "metadata": if owner == "workspace" { metadata } else { serde_json::Value::Null },
            });
            let metadata = serde_json::from_value(metadata).expect("it is as cargo writes it");
            let suite = crate::suite::Suite::load(&metadata, &Default::default(), &Default::default());
            let suite = suite.unwrap_or_else(|error| panic!("{on}: {error}"));
            assert_eq!(suite.accept.len(), 1);
        }
    }

    #[test]
    fn manifest_with_a_table_or_without_a_place_for_one_is_left_alone() {
        for (manifest, told) in [
            (format!("{PACKAGE}[package.metadata.benchgate]\n"), "already"),
            (format!("{PACKAGE}[package.metadata]\nbenchgate.warmup = 1\n"), "already"),
            ("[package]\nname = \"a\"\nmetadata = { x = 1 }\n".to_owned(), "inline table"),
            ("[dependencies]\n".to_owned(), "neither a [package] nor a [workspace]"),
            ("[package\n".to_owned(), "is not TOML"),
        ] {
            let error = insert_into(&manifest).expect_err("it is refused");
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn table_of_a_member_goes_to_the_workspace_where_that_is_asked_for() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let member = place.path().join("crates/a/Cargo.toml");
        fs_err::create_dir_all(member.parent().expect("it has one")).expect("it can be made");
        fs_err::write(&member, PACKAGE).expect("it can be written");
        assert!(
            insert(&member, true, "main").expect_err("there is none").to_string().contains("[workspace]")
        );
        let root = place.path().join("Cargo.toml");
        fs_err::write(&root, "[workspace]\nmembers = [\"crates/*\"]\n").expect("it can be written");
        assert_eq!(insert(&member, true, "main").expect("it can be added to").path, root);
        assert_eq!(insert(&member, false, "main").expect("it can be added to").path, member);
    }
}
