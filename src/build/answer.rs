//! What a cargo call said: its JSON messages, taken apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{Artifact, BuildScript, Message, PackageId};

use crate::suite::identity::{TargetId, TargetKind};

/// What one cargo call said.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// What was built, or was up to date.
    pub artifacts: Vec<Artifact>,
    /// The build scripts that ran, now or before.
    pub scripts: Vec<BuildScript>,
    /// Whether cargo came to the end of building, well or not.
    pub finished: bool,
}

impl Answer {
    /// Takes one line of cargo's standard output; what is no message goes to `text`.
    pub(super) fn take(&mut self, line: &str, text: &mut Vec<String>) {
        match serde_json::from_str(line) {
            Ok(Message::CompilerArtifact(artifact)) => self.artifacts.push(artifact),
            Ok(Message::BuildScriptExecuted(script)) => self.scripts.push(script),
            Ok(Message::BuildFinished(_)) => self.finished = true,
            // Diagnostics are rendered to standard error; kinds of messages still to come are not for us.
            Ok(_) => {}
            Err(_) if line.is_empty() => {}
            Err(_) => text.push(line.to_owned()),
        }
    }

    /// The program of a target. A library's and a program's own unit tests are executables too, of other kinds.
    pub(super) fn executable(&self, target: &TargetId, package: &PackageId) -> Option<&Artifact> {
        self.artifacts.iter().find(|artifact| {
            let found = &artifact.target;
            let kind = match target.kind {
                TargetKind::Bench => found.is_bench(),
                TargetKind::Bin => found.is_bin() && !artifact.profile.test,
                TargetKind::Example => found.is_example() && !artifact.profile.test,
            };
            kind && found.name == target.target
                && artifact.package_id == *package
                && artifact.executable.is_some()
        })
    }

    /// The programs of a package, by name.
    pub(super) fn programs(&self, package: &PackageId) -> BTreeMap<String, PathBuf> {
        let own = self.artifacts.iter().filter(|artifact| {
            artifact.package_id == *package && artifact.target.is_bin() && !artifact.profile.test
        });
        own.filter_map(|artifact| {
            Some((artifact.target.name.clone(), artifact.executable.as_ref()?.as_std_path().to_owned()))
        })
        .collect()
    }

    /// What the package's build script said. A package that also serves a build script or macro has a second run of
    /// its script; the one below `output` is the target's wherever cargo keeps the two apart.
    pub(super) fn script(&self, package: &PackageId, output: &Path) -> Option<&BuildScript> {
        let own = || self.scripts.iter().filter(|script| script.package_id == *package);
        own().rfind(|script| script.out_dir.as_std_path().starts_with(output)).or_else(|| own().next_back())
    }

    /// Whether a package with a path lies outside this tree.
    pub(super) fn has_foreign_sources(&self, tree: &Path) -> bool {
        self.artifacts.iter().any(|artifact| {
            artifact.package_id.repr.starts_with("path+")
                && !artifact.manifest_path.as_std_path().starts_with(tree)
        })
    }

    /// The dynamic libraries that were built: those of crates by the names of their targets, and the files that build
    /// scripts left where the loader looks.
    pub(super) fn libraries(&self, native: &BTreeSet<PathBuf>, target: &Path) -> BTreeMap<String, PathBuf> {
        let is_dynamic = |path: &Path| {
            path.extension().is_some_and(|end| ["so", "dylib", "dll"].iter().any(|known| end == *known))
        };
        let mut libraries = BTreeMap::new();
        for artifact in self.artifacts.iter().filter(|artifact| !artifact.target.is_proc_macro()) {
            for file in artifact.filenames.iter().filter(|file| is_dynamic(file.as_std_path())) {
                let name = format!("crate {}", artifact.target.name);
                libraries.insert(name, file.as_std_path().to_owned());
            }
        }
        for directory in native.iter().filter(|directory| directory.starts_with(target)) {
            let Ok(entries) = directory.read_dir() else { continue };
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_dynamic(path)) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                libraries.insert(format!("file {name}"), path);
            }
        }
        libraries
    }

    /// The directories that build scripts of packages with a path wrote to, by package without its version. Of a
    /// package with two runs, the one below `output`.
    pub(super) fn generated(&self, output: &Path) -> BTreeMap<String, PathBuf> {
        let own = self.scripts.iter().filter(|script| script.package_id.repr.starts_with("path+"));
        own.filter_map(|script| {
            let script = self.script(&script.package_id, output)?;
            let name =
                script.package_id.repr.rsplit_once('@').map_or(&*script.package_id.repr, |(name, _)| name);
            Some((name.to_owned(), script.out_dir.as_std_path().to_owned()))
        })
        .collect()
    }

    /// The library search paths of all build scripts.
    pub(super) fn native(&self) -> BTreeSet<PathBuf> {
        let paths = self.scripts.iter().flat_map(|script| &script.linked_paths);
        paths
            .map(|path| {
                let text = path.as_str();
                let kinds = ["native", "crate", "dependency", "framework", "all"];
                match text.split_once('=') {
                    Some((kind, path)) if kinds.contains(&kind) => PathBuf::from(path),
                    _ => PathBuf::from(text),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(name: &str) -> Answer {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/harness/cargo").join(name);
        let mut answer = Answer::default();
        let mut text = Vec::new();
        for line in fs_err::read_to_string(path).expect("the fixture is there").lines() {
            answer.take(line, &mut text);
        }
        assert_eq!(text, [""; 0]);
        answer
    }

    #[test]
    fn every_recorded_build_finishes_with_its_bench_executable() {
        for (name, bench) in
            [("crit08", "b08"), ("div", "bdiv"), ("libt", "blibt"), ("plain", "bplain"), ("tangoc", "btango")]
        {
            let answer = golden(&format!("bench-no-run-{name}.jsonl"));
            assert!(answer.finished, "{name}");
            let artifact = answer.artifacts.iter().find(|artifact| artifact.target.name == bench);
            let package = &artifact.expect("the bench was built").package_id;
            let target =
                TargetId { package: name.to_owned(), kind: TargetKind::Bench, target: bench.to_owned() };
            let found = answer.executable(&target, package).expect("the bench is found");
            assert!(
                found.executable.as_ref().expect("with its file").as_str().contains(&format!("/{bench}-"))
            );
            let library = TargetId { target: name.to_owned(), ..target };
            assert_eq!(answer.executable(&library, package), None, "the library's unit tests are no bench");
        }
    }

    #[test]
    fn lines_that_are_no_messages_are_kept_as_text() {
        let mut answer = Answer::default();
        let mut text = Vec::new();
        for line in ["note: something", "", "{\"reason\":\"build-finished\",\"success\":true}", "{torn"] {
            answer.take(line, &mut text);
        }
        assert_eq!(text, ["note: something", "{torn"]);
        assert!(answer.finished);
    }
}
