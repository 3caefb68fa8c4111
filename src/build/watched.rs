//! Which environment variables a build looked at, beside those that concern every build.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::CargoSettings;
use super::artifact::hexadecimal;

/// The variables that build scripts asked to be run again for, and those the compiler put into code, as cargo keeps
/// them: it judges freshness by the same.
pub(super) fn watched_names(target: &Path) -> std::io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut waiting = vec![(target.to_owned(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        for entry in fs_err::read_dir(&directory)? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            if entry.file_type()?.is_dir() {
                if depth < 5 && name != "out" && name != "incremental" {
                    waiting.push((path, depth + 1));
                }
            } else if name == "output" || name == "stdout" {
                let text = fs_err::read(&path)?;
                for line in String::from_utf8_lossy(&text).lines() {
                    let rest = line.strip_prefix("cargo::").or_else(|| line.strip_prefix("cargo:"));
                    names.extend(
                        rest.and_then(|rest| rest.strip_prefix("rerun-if-env-changed=")).map(str::to_owned),
                    );
                }
            } else if path.extension().is_some_and(|end| end == "d") {
                let text = fs_err::read(&path)?;
                let text = String::from_utf8_lossy(&text);
                let lines = text.lines().filter_map(|line| line.strip_prefix("# env-dep:"));
                names.extend(lines.map(|line| line.split('=').next().unwrap_or(line).to_owned()));
            }
        }
    }
    // Cargo sets these itself, from the manifest.
    names.retain(|name| {
        !name.starts_with("CARGO_PKG_") && !name.starts_with("CARGO_MANIFEST_") && name != "OUT_DIR"
    });
    Ok(names)
}

/// The variables with digests of their present values, for comparing and not for reading.
pub(super) fn watched_now<'a>(
    names: impl Iterator<Item = &'a String>,
    settings: &CargoSettings,
) -> BTreeMap<String, Option<String>> {
    names
        .map(|name| {
            let value = settings.variable(name);
            let digest = value.map(|value| hexadecimal(&Sha256::digest(value.as_encoded_bytes())));
            (name.clone(), digest)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_from_the_output_of_build_scripts_and_from_the_files_of_the_compiler() {
        let target = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let file = target.path().join(path);
            fs_err::create_dir_all(file.parent().expect("a file has a parent")).expect("writable");
            fs_err::write(file, text).expect("writable");
        };
        write(
            "release/build/a-0123456789abcdef/output",
            "cargo:rerun-if-env-changed=OLD\ncargo::rerun-if-env-changed=NEW\nword\n",
        );
        write("release/build/a-0123456789abcdef/out/output", "cargo:rerun-if-env-changed=GENERATED\n");
        write(
            "release/deps/a.d",
            "a: src/lib.rs\n\n# env-dep:BUILT_AT=1\n# env-dep:UNSET\n# env-dep:CARGO_PKG_NAME=a\n",
        );
        let names = watched_names(target.path()).expect("readable");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["BUILT_AT", "NEW", "OLD", "UNSET"]);
    }
}
