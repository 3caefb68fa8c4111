//! What a program reads beside its own bytes: whether it may differ between two revisions whose programs are the same.
//!
//! Any changed file of the repository counts, since nobody can tell what a benchmark opens, but for three kinds. Sources
//! are in the program already. Files that people and tools read, such as a README, a licence or the manifest, count as
//! soon as their name is in the program. What is below a dot directory at the root does not count.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::TreeFile;
use super::artifact::{sha256_of, words_in};
use super::identity::{Image, Likeness};
use super::{BuildError, BuiltTarget};

/// Directories whose Rust files are data: a parser's input, a corpus.
const DATA_DIRECTORIES: &[&str] = &[
    "assets",
    "corpora",
    "corpus",
    "data",
    "fixtures",
    "inputs",
    "resources",
    "samples",
    "test-data",
    "test_data",
    "testdata",
];

/// How the names of files begin that people read, whatever their extension.
const DOCUMENTS: &[&str] = &[
    "readme",
    "license",
    "licence",
    "copying",
    "copyright",
    "unlicense",
    "notice",
    "changelog",
    "changes",
    "history",
    "news",
    "releases",
    "release-notes",
    "release_notes",
    "authors",
    "contributors",
    "maintainers",
    "codeowners",
    "contributing",
    "code_of_conduct",
    "code-of-conduct",
    "security",
    "todo",
    "roadmap",
    "architecture",
];
const DOCUMENT_EXTENSIONS: &[&str] =
    &["", "md", "markdown", "txt", "adoc", "rst", "org", "html", "mit", "apache"];

/// Files that cargo and its tools read.
const TOOL_FILES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "rustfmt.toml",
    "clippy.toml",
    "deny.toml",
    "about.toml",
    "cliff.toml",
    "release.toml",
    "typos.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "codecov.yml",
    "appveyor.yml",
    "Justfile",
    "justfile",
    "Makefile",
    "taplo.toml",
    "renovate.json",
    "lefthook.yml",
    "committed.toml",
];

/// What a changed file can mean to a program that did not change with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It may be read.
    Data,
    /// It is read only by a program that knows its name.
    Named,
    /// It is not read.
    Nothing,
}

/// The files that differ between two checkouts, or are in one only.
pub fn changed_files(base: &[TreeFile], head: &[TreeFile]) -> Vec<PathBuf> {
    let map = |files: &[TreeFile]| -> BTreeMap<PathBuf, String> {
        files.iter().map(|file| (file.path.clone(), file.blob.clone())).collect()
    };
    let (base, head) = (map(base), map(head));
    let mut paths: Vec<PathBuf> = base.keys().chain(head.keys()).cloned().collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| base.get(path) != head.get(path));
    paths
}

/// The changed files that count only where somebody names them. A launch may name any file, sources too.
pub fn named_files(changed: &[PathBuf]) -> Vec<PathBuf> {
    changed.iter().filter(|path| role(path) != Role::Data).cloned().collect()
}

/// Whether a word of a launch names one of these files, or a directory that one of them is in.
pub fn names_any(word: &str, files: &[PathBuf]) -> bool {
    let between = |c: char| c.is_whitespace() || "/\\=,:;'\"".contains(c);
    let parts: Vec<&str> = word.split(between).collect();
    let is_part = |name: &OsStr| name.to_str().is_some_and(|name| parts.contains(&name));
    // A path that ends at the root, or leads upwards, has everything below it; a pattern may fit anything.
    let last = parts.iter().rev().find(|part| !part.is_empty());
    if last.is_some_and(|last| [".", "..", "${root}", "${head_root}"].contains(last)) || word.contains('*') {
        return !files.is_empty();
    }
    files.iter().any(|file| {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let directories = file.parent().into_iter().flat_map(Path::iter);
        (!name.is_empty() && word.contains(name)) || directories.into_iter().any(is_part)
    })
}

/// How the programs of one target compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparability {
    /// The programs.
    pub likeness: Likeness,
    /// Why the programs are measured although they are the same: the first thing they may read that changed.
    pub changed_input: Option<String>,
}

/// A built target, and where it lies when the fixed path leads elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Located<'a> {
    /// The target.
    pub built: &'a BuiltTarget,
    /// The target directory behind the fixed path.
    pub live_target: &'a Path,
    /// The target directory itself.
    pub target: &'a Path,
}

impl Located<'_> {
    fn path(&self, live: &Path) -> PathBuf {
        live.strip_prefix(self.live_target).map_or_else(|_| live.to_owned(), |path| self.target.join(path))
    }
}

/// Compares the programs of two revisions with all they may read. `changed` are the files that differ between the
/// revisions. What the suite starts them with is for the caller to look at; see [`named_files`].
pub fn compare(
    base: Located<'_>,
    head: Located<'_>,
    changed: &[PathBuf],
) -> Result<Comparability, BuildError> {
    let paths = [base, head].map(|side| side.path(&side.built.executable.path));
    let digests = [base, head].map(|side| side.built.artifact.sha256.as_str());
    let likeness = likeness(&paths[0], &paths[1], digests[0], digests[1])?;
    let changed_input = match likeness {
        Likeness::Same => changed_input(base, head, changed)?,
        Likeness::SameCode | Likeness::Different => None,
    };
    Ok(Comparability { likeness, changed_input })
}

fn likeness(base: &Path, head: &Path, base_digest: &str, head_digest: &str) -> Result<Likeness, BuildError> {
    if base_digest == head_digest {
        return Ok(Likeness::Same);
    }
    Ok(match (Image::of_file(base)?, Image::of_file(head)?) {
        (Some(base), Some(head)) => base.likeness(&head),
        _ => Likeness::Different,
    })
}

fn changed_input(
    base_side: Located<'_>,
    head_side: Located<'_>,
    changed: &[PathBuf],
) -> Result<Option<String>, BuildError> {
    let io = || BuildError::io("compare what programs read");
    let (base, head) = (base_side.built, head_side.built);
    if base.executable.package_root != head.executable.package_root {
        return Ok(Some("the package was moved".to_owned()));
    }
    if base.executable.runner != head.executable.runner {
        return Ok(Some("the configured runner differs".to_owned()));
    }
    if let Some(path) = changed.iter().find(|path| role(path) == Role::Data) {
        return Ok(Some(format!("{} differs, and may be read", path.display())));
    }
    // What the program starts or loads is compared as the program is.
    let mut partners = vec![base_side.path(&base.executable.path), head_side.path(&head.executable.path)];
    for (what, own, others) in
        [("program", &base.programs, &head.programs), ("library", &base.libraries, &head.libraries)]
    {
        if !own.keys().eq(others.keys()) {
            return Ok(Some(format!("another {what} is built with it")));
        }
        for (name, path) in own {
            let (path, other) = (base_side.path(path), head_side.path(&others[name]));
            let (digest, other_digest) = (sha256_of(&path).map_err(io())?, sha256_of(&other).map_err(io())?);
            if likeness(&path, &other, &digest, &other_digest)? != Likeness::Same {
                return Ok(Some(format!("the {what} `{name}` differs")));
            }
            partners.extend([path, other]);
        }
    }
    // The files are large and are read once for all of these words.
    let are_named = |words: &[&str]| -> Result<Vec<bool>, BuildError> {
        let mut named = vec![false; words.len()];
        for path in &partners {
            let found = words_in(path, words).map_err(io())?;
            named.iter_mut().zip(found).for_each(|(named, found)| *named |= found);
        }
        Ok(named)
    };
    let documents: Vec<&PathBuf> = changed.iter().filter(|path| role(path) == Role::Named).collect();
    let names = documents.iter().map(|path| path.file_name().and_then(OsStr::to_str).unwrap_or_default());
    let words: Vec<&str> = names.chain(["OUT_DIR", "/build/"]).collect();
    let named = are_named(&words)?;
    let (named, looks_at_generated) = named.split_at(documents.len());
    if let Some((path, _)) = documents.iter().zip(named).find(|(_, named)| **named) {
        return Ok(Some(format!("{} differs, and the program names it", path.display())));
    }
    let mut failure = None;
    let variable = base.recipe.difference(&head.recipe, &mut |name| {
        are_named(&[name]).map(|named| named[0]).unwrap_or_else(|error| {
            failure = Some(error);
            false
        })
    });
    if let Some(error) = failure {
        return Err(error);
    }
    if let Some(name) = variable {
        return Ok(Some(format!("the environment variable {name} differs, and may be read")));
    }
    if looks_at_generated.contains(&true) {
        return generated(base_side, head_side);
    }
    Ok(None)
}

/// Compares what build scripts generated, for programs that may look at it when they run.
fn generated(base_side: Located<'_>, head_side: Located<'_>) -> Result<Option<String>, BuildError> {
    let io = || BuildError::io("compare what build scripts generated");
    let (base, head) = (base_side.built, head_side.built);
    if !base.generated.keys().eq(head.generated.keys()) {
        return Ok(Some("other build scripts run".to_owned()));
    }
    for (package, directory) in &base.generated {
        let mut contents = [BTreeMap::new(), BTreeMap::new()];
        let directories = [base_side.path(directory), head_side.path(&head.generated[package])];
        for (contents, directory) in contents.iter_mut().zip(directories) {
            digests(&directory, Path::new(""), contents).map_err(io())?;
        }
        if contents[0] != contents[1] {
            let name = package.rsplit(['#', '/']).next().unwrap_or(package);
            return Ok(Some(format!("what the build script of {name} generated differs, and may be read")));
        }
    }
    Ok(None)
}

fn digests(root: &Path, relative: &Path, into: &mut BTreeMap<PathBuf, String>) -> std::io::Result<()> {
    for entry in fs_err::read_dir(root.join(relative))? {
        let entry = entry?;
        let path = relative.join(entry.file_name());
        let file_type = entry.file_type()?;
        if file_type.is_dir() {
            digests(root, &path, into)?;
        } else if file_type.is_file() {
            into.insert(path, sha256_of(&entry.path())?);
        } else {
            let target = fs_err::read_link(entry.path()).unwrap_or_default();
            into.insert(path, target.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn role(path: &Path) -> Role {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    let [directories @ .., name] = &parts[..] else { return Role::Data };
    let lower = name.to_lowercase();
    let (stem, extension) = lower.rsplit_once('.').unwrap_or((&lower, ""));
    if directories.first().is_some_and(|first| first.starts_with('.')) || name.starts_with('.') {
        // What `.cargo/config.toml` sets is compared by itself; the rest is for tools, unless a program knows it.
        return Role::Named;
    }
    let among_data = directories.iter().any(|part| DATA_DIRECTORIES.contains(&part.to_lowercase().as_str()));
    if among_data {
        return Role::Data;
    }
    if extension == "rs" {
        return Role::Nothing;
    }
    let beside_benches = directories.iter().any(|part| ["bench", "benches", "test", "tests"].contains(part));
    let is_document = DOCUMENT_EXTENSIONS.contains(&extension)
        && DOCUMENTS.iter().any(|known| {
            stem.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.']))
        });
    let is_prose = ["md", "markdown", "adoc", "rst"].contains(&extension);
    if !beside_benches && (is_document || is_prose || TOOL_FILES.contains(name)) {
        return Role::Named;
    }
    Role::Data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_what_tools_read_do_not_count() {
        for path in ["src/lib.rs", "tests/a.rs", "benches/b.rs"] {
            assert_eq!(role(Path::new(path)), Role::Nothing, "{path}");
        }
    }

    #[test]
    fn documents_and_manifests_count_where_they_are_named() {
        for path in [
            ".github/workflows/ci.yml",
            ".gitignore",
            "a/.env",
            "README.md",
            "crates/a/README",
            "LICENSE-MIT",
            "LICENSE.txt",
            "CHANGELOG.md",
            "Cargo.toml",
            "a/Cargo.toml",
            "Cargo.lock",
            "docs/CONTRIBUTING.md",
            "docs/guide.md",
        ] {
            assert_eq!(role(Path::new(path)), Role::Named, "{path}");
        }
    }

    #[test]
    fn everything_else_may_be_read() {
        for path in [
            "notes.txt",
            "benches/README.md",
            "tests/data/README.md",
            "data/in.json",
            "fixtures/parse.rs",
            "corpus/LICENSE",
            "readmes/a.dat",
            "src/table.bin",
            "historical.txt",
            "tests/spec.md",
        ] {
            assert_eq!(role(Path::new(path)), Role::Data, "{path}");
        }
    }

    #[test]
    fn a_word_names_a_file_and_every_directory_above_it() {
        let files = ["docs/guide.md", "crates/a/README.md"].map(PathBuf::from);
        for word in [
            "${root}/docs",
            "docs",
            "./docs/",
            "--from=docs",
            "--from=${head_root}/docs,x",
            "crates/a",
            "${root}",
            ".",
            "../..",
            "${env:HERE}/docs",
            "guide.md",
            "cat README.md",
            "cat *.md",
        ] {
            assert!(names_any(word, &files), "{word}");
            assert!(!names_any(word, &[]), "{word}");
        }
        for word in ["", "--documents", "doc", "docsx/y", "--release", "${workdir}", "1.5", "${env:docs}"] {
            assert!(!names_any(word, &files), "{word}");
        }
    }

    #[test]
    fn changed_files_are_those_of_other_content_and_those_of_one_side() {
        let files = |list: &[(&str, &str)]| -> Vec<TreeFile> {
            list.iter().map(|(path, blob)| TreeFile { path: path.into(), blob: (*blob).to_owned() }).collect()
        };
        let base = files(&[("a", "1"), ("b", "1"), ("gone", "1")]);
        let head = files(&[("a", "1"), ("b", "2"), ("come", "1")]);
        assert_eq!(changed_files(&base, &head), ["b", "come", "gone"].map(PathBuf::from));
    }
}
