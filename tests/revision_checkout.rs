//! Checkouts: equal to what git would make, equal to the working tree, and nothing of the user's is touched.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "common/repository.rs"]
mod repository;

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use cargo_benchgate::revision::{Checkout, Content, Repository, RevisionError, Slot, SlotRoot};

use crate::repository::{Listing, TestRepository, differing, listing, make_executable, need_git};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn slot(made: &TestRepository) -> (Repository, Slot) {
    let repository = Repository::discover(made.root()).expect("there is a repository");
    let slot = SlotRoot::new(&made.beside("cache"), &repository)
        .and_then(|root| root.acquire())
        .expect("a slot is free");
    (repository, slot)
}

fn snapshot(repository: &Repository, slot: &Slot, include: &[&str]) -> Checkout {
    let include = include.iter().map(|pattern| (*pattern).to_owned()).collect();
    let content = Content::WorkingTree { head: repository.head().unwrap(), include };
    slot.checkout("head", content, &GO_ON).expect("the working tree can be checked out")
}

fn blobs(checkout: &Checkout) -> BTreeMap<&Path, &str> {
    checkout.files.iter().map(|file| (file.path.as_path(), file.blob.as_str())).collect()
}

/// Everything of the user's: the git directory but for `worktrees`, and the working tree, with the times of files.
fn everything(made: &TestRepository) -> (Listing, Listing, BTreeMap<PathBuf, SystemTime>) {
    let git = listing(&made.root().join(".git"), &["worktrees"]);
    let tree = listing(made.root(), &[".git"]);
    let times = git.keys().map(|path| Path::new(".git").join(path)).chain(tree.keys().cloned());
    let times = times.map(|path| {
        let modified = made.root().join(&path).symlink_metadata().unwrap().modified().unwrap();
        (path, modified)
    });
    let times = times.collect();
    (git, tree, times)
}

/// One of each: executable, link, line endings by attribute, a directory, a name with spaces, an empty file.
fn varied() -> TestRepository {
    let made = TestRepository::new();
    made.write(".gitattributes", "*.bat text eol=crlf\n*.bin binary\n");
    made.write("run.sh", "#!/bin/sh\n");
    make_executable(&made.root().join("run.sh"));
    made.write("win.bat", "one\r\ntwo\r\n");
    made.write("data/raw.bin", b"\x00\r\n\xff");
    made.write("src/a b/ü.rs", "fn main() {}\n");
    made.write("empty", "");
    symlink("data/raw.bin", made.root().join("link")).unwrap();
    symlink("/nowhere/at all", made.root().join("dangling")).unwrap();
    made.write(".gitignore", "ignored*\n/target\n");
    made.commit("one of each");
    made
}

#[test]
fn a_checkout_equals_what_git_worktree_add_makes() {
    need_git!();
    let made = varied();
    let by_git = made.beside("by-git");
    made.git(&["worktree", "add", "-q", "--detach", by_git.to_str().unwrap(), "HEAD"]);
    let (repository, slot) = slot(&made);
    let head = repository.head().unwrap();
    let checkout = slot.checkout("base", Content::Commit(head.clone()), &GO_ON).unwrap();
    assert_eq!(checkout.path, slot.tree("base"));
    let (ours, theirs) = (listing(&checkout.path, &[".git"]), listing(&by_git, &[".git"]));
    assert_eq!(differing(&ours, &theirs), Vec::<PathBuf>::new());
    assert_eq!(ours.len(), 10);
    assert!(!checkout.dirty && checkout.notes.is_empty(), "{:?}", checkout.notes);
    let files: Vec<&Path> = checkout.files.iter().map(|file| file.path.as_path()).collect();
    assert_eq!(files, ours.keys().map(PathBuf::as_path).collect::<Vec<_>>());
    // It is a real worktree: detached at the commit, locked with a reason, clean, whole.
    assert_eq!(made.git_in(&checkout.path, &["rev-parse", "HEAD"]), head.id.as_str());
    assert_eq!(made.git_in(&checkout.path, &["status", "--porcelain"]), "");
    let list = made.git(&["worktree", "list", "--porcelain"]);
    assert!(list.contains("locked cargo-benchgate pid="), "{list}");
    made.git(&["worktree", "prune"]);
    made.git(&["fsck", "--strict"]);
    checkout.remove().unwrap();
}

#[test]
fn blob_ids_are_those_of_the_bytes_on_disk() {
    need_git!();
    let made = varied();
    let (repository, slot) = slot(&made);
    made.write("new.bat", "x\r\n");
    let checkout = snapshot(&repository, &slot, &[]);
    for (path, blob) in blobs(&checkout) {
        let file = checkout.path.join(path);
        if !file.is_symlink() {
            let path = file.to_str().unwrap();
            assert_eq!(made.git(&["hash-object", "--no-filters", path]), blob, "{path}");
        }
    }
    let plain = TestRepository::new();
    plain.git(&["config", "--unset", "core.attributesFile"]);
    let (repository, slot) = self::slot(&plain);
    let checkout = slot.checkout("base", Content::Commit(repository.head().unwrap()), &GO_ON).unwrap();
    assert_eq!(blobs(&checkout)[Path::new("README.md")], plain.id("HEAD:README.md"));
}

#[test]
fn nothing_of_the_users_is_touched_and_nothing_is_left() {
    need_git!();
    let made = varied();
    // The key that makes gix raise the format version in the shared config, unless it is overridden.
    made.git(&["config", "worktree.useRelativePaths", "true"]);
    made.write("README.md", "changed\n");
    made.write("staged", "x");
    made.git(&["add", "staged"]);
    made.write("untracked", "x");
    // Times equal to the index's: a comparison that wrote the index back would show.
    let before = everything(&made);
    let (repository, slot) = slot(&made);
    {
        let base = repository.resolve("HEAD~1").unwrap();
        let base = slot.checkout("base", Content::Commit(base), &GO_ON).unwrap();
        let head = snapshot(&repository, &slot, &["ignored*"]);
        head.refresh_index().unwrap();
        base.refresh_index().unwrap();
        assert!(repository.is_dirty().unwrap());
        assert_eq!(everything(&made), before);
        assert_eq!(made.root().join(".git/worktrees").read_dir().unwrap().count(), 2);
        base.remove().unwrap();
    }
    assert_eq!(everything(&made), before);
    assert!(!made.root().join(".git/worktrees").exists());
    assert!(!slot.tree("base").exists() && !slot.tree("head").exists());
    // Worktrees of the user's stay.
    let own = made.beside("own");
    made.git(&["worktree", "add", "-q", "--detach", own.to_str().unwrap()]);
    let own_before = listing(&made.root().join(".git/worktrees"), &[]);
    drop(snapshot(&repository, &slot, &[]));
    assert_eq!(listing(&made.root().join(".git/worktrees"), &[]), own_before);
}

#[test]
fn a_snapshot_equals_the_working_tree() {
    need_git!();
    let made = varied();
    made.write("kept/inner", "x");
    made.write("becomes-file/inner", "x");
    made.write("becomes-directory", "x");
    made.write("becomes-link", "x");
    made.write("cached", "x");
    symlink("data", made.root().join("becomes-real")).unwrap();
    made.commit("more");
    let root = made.root();
    // Modified, staged, both, only the mode.
    made.write("README.md", "modified\n");
    made.write("empty", "staged");
    made.git(&["add", "empty"]);
    made.write("src/a b/ü.rs", "staged");
    made.git(&["add", "src"]);
    made.write("src/a b/ü.rs", "and modified");
    make_executable(&root.join("data/raw.bin"));
    std::fs::set_permissions(root.join("run.sh"), std::fs::Permissions::from_mode(0o644)).unwrap();
    // Deleted with and without staging, with the directory that is empty then.
    made.git(&["rm", "-q", "win.bat"]);
    std::fs::remove_dir_all(root.join("kept")).unwrap();
    // Untracked, also in new directories, as links, with line endings of its own.
    made.write("new/deep/file.rs", "new");
    made.write("new.bat", "one\ntwo\n");
    make_executable(&root.join("new/deep/file.rs"));
    symlink("deep", root.join("new/link-to-directory")).unwrap();
    made.write("intended", "x");
    made.git(&["add", "-N", "intended"]);
    // Types that change.
    std::fs::remove_dir_all(root.join("becomes-file")).unwrap();
    made.write("becomes-file", "now a file");
    std::fs::remove_file(root.join("becomes-directory")).unwrap();
    made.write("becomes-directory/inner", "now a directory");
    std::fs::remove_file(root.join("becomes-link")).unwrap();
    symlink("README.md", root.join("becomes-link")).unwrap();
    std::fs::remove_file(root.join("becomes-real")).unwrap();
    made.write("becomes-real/raw.bin", "not through the link");
    // Taken out of the index but still there: untracked.
    made.git(&["rm", "-q", "--cached", "cached"]);
    // Renamed.
    made.git(&["mv", "link", "renamed-link"]);

    let (repository, slot) = slot(&made);
    let checkout = snapshot(&repository, &slot, &[]);
    let (ours, theirs) = (listing(&checkout.path, &[".git"]), listing(root, &[".git"]));
    assert_eq!(differing(&ours, &theirs), Vec::<PathBuf>::new());
    assert!(!checkout.path.join("kept").exists());
    assert!(checkout.dirty && checkout.notes.is_empty(), "{:?}", checkout.notes);
    let files: Vec<&Path> = checkout.files.iter().map(|file| file.path.as_path()).collect();
    assert_eq!(files, ours.keys().map(PathBuf::as_path).collect::<Vec<_>>());
    assert!(!made.git_in(&checkout.path, &["status", "--porcelain"]).is_empty());
}

#[test]
fn a_clean_working_tree_makes_a_clean_checkout() {
    need_git!();
    let made = varied();
    made.write("ignored-file", "x");
    made.write("target/debug/x", "x");
    let (repository, slot) = slot(&made);
    let checkout = snapshot(&repository, &slot, &[]);
    assert!(!checkout.dirty);
    assert!(!checkout.path.join("ignored-file").exists() && !checkout.path.join("target").exists());
}

#[test]
fn a_snapshot_is_whole_from_a_subdirectory_and_in_a_linked_worktree() {
    need_git!();
    let made = varied();
    let linked = made.beside("linked");
    made.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    std::fs::write(linked.join("README.md"), "in the linked one").unwrap();
    std::fs::write(linked.join("new"), "x").unwrap();
    let repository = Repository::discover(&linked.join("src/a b")).unwrap();
    let slot = SlotRoot::new(&made.beside("cache"), &repository).unwrap().acquire().unwrap();
    let checkout = snapshot(&repository, &slot, &[]);
    assert_eq!(
        differing(&listing(&checkout.path, &[".git"]), &listing(&linked, &[".git"])),
        Vec::<PathBuf>::new()
    );
    checkout.remove().unwrap();
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_bare_repository_checks_out_commits_only() {
    need_git!();
    let made = varied();
    let bare = made.clone_to("bare.git", &["--bare"]);
    let repository = Repository::discover(&bare).unwrap();
    let slot = SlotRoot::new(&made.beside("cache"), &repository).unwrap().acquire().unwrap();
    let head = repository.head().unwrap();
    let checkout = slot.checkout("base", Content::Commit(head.clone()), &GO_ON).unwrap();
    assert!(checkout.path.join("src/a b/ü.rs").exists());
    let error =
        slot.checkout("head", Content::WorkingTree { head, include: Vec::new() }, &GO_ON).unwrap_err();
    assert!(matches!(error, RevisionError::NoWorkTree { .. }) && error.is_usage(), "{error}");
    checkout.remove().unwrap();
    assert!(!bare.join("worktrees").exists());
}

#[test]
fn ignored_files_come_along_when_they_are_named() {
    need_git!();
    let made = varied();
    made.write("ignored-data/deep/a.json", "{}");
    std::fs::create_dir(made.beside("outside")).unwrap();
    std::fs::write(made.beside("outside/a.json"), "{}").unwrap();
    symlink(made.beside("outside"), made.root().join("out")).unwrap();
    made.commit("a link out of the repository");
    made.write("ignored-other", "x");
    made.write("target/x", "x");
    let (repository, slot) = slot(&made);
    let checkout =
        snapshot(&repository, &slot, &["ignored-data", "target/*.json", "out/a.json", "README.md"]);
    assert!(checkout.path.join("ignored-data/deep/a.json").exists());
    assert!(!checkout.path.join("ignored-other").exists());
    assert!(blobs(&checkout).contains_key(Path::new("ignored-data/deep/a.json")));
    assert!(!checkout.dirty, "they are inputs, no change");
    assert!(checkout.path.join("out").is_symlink());
    let notes =
        ["snapshot_include 'target/*.json' matches no file", "snapshot_include 'out/a.json' matches no file"];
    assert_eq!(checkout.notes, notes);
    let content = Content::WorkingTree { head: repository.head().unwrap(), include: vec!["../x".to_owned()] };
    assert!(slot.checkout("other", content, &GO_ON).unwrap_err().is_usage());
}

#[test]
fn nested_repositories_are_left_out_and_said() {
    need_git!();
    let made = TestRepository::new();
    made.git(&["init", "-q", "nested"]);
    made.write("nested/file", "x");
    let (repository, slot) = slot(&made);
    let checkout = snapshot(&repository, &slot, &[]);
    assert!(!checkout.path.join("nested").exists());
    let notes = checkout.notes.join("\n");
    assert!(notes.contains("'nested' is a repository of its own"), "{notes}");
    assert!(!checkout.dirty, "{notes}");
    checkout.remove().unwrap();
}

#[test]
fn a_target_directory_that_is_not_ignored_is_no_part_of_the_working_tree() {
    need_git!();
    let made = TestRepository::new();
    made.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# made by cargo\n");
    made.write("target/debug/big", "x");
    let (repository, slot) = slot(&made);
    assert!(!repository.is_dirty().unwrap());
    let checkout = snapshot(&repository, &slot, &[]);
    assert!(!checkout.path.join("target").exists() && !checkout.dirty);
    assert_eq!(checkout.notes, ["'target' is tagged as a cache and is left out"]);
    made.write("target/CACHEDIR.TAG", "something else");
    assert!(repository.is_dirty().unwrap());
    checkout.remove().unwrap();
    assert!(snapshot(&repository, &slot, &[]).path.join("target/debug/big").exists());
}

#[test]
fn a_sparse_working_tree_makes_a_sparse_checkout() {
    need_git!();
    let made = TestRepository::new();
    made.git(&["config", "--unset", "core.attributesFile"]);
    made.write("src/file", "x");
    made.write("data/file", "x");
    made.commit("two directories");
    made.git(&["sparse-checkout", "set", "src"]);
    assert!(!made.root().join("data").exists());
    made.write("src/new", "x");
    let (repository, slot) = slot(&made);
    let checkout = snapshot(&repository, &slot, &[]);
    let (ours, theirs) = (listing(&checkout.path, &[".git"]), listing(made.root(), &[".git"]));
    assert_eq!(differing(&ours, &theirs), Vec::<PathBuf>::new());
    let files: Vec<&Path> = checkout.files.iter().map(|file| file.path.as_path()).collect();
    assert_eq!(files, ours.keys().map(PathBuf::as_path).collect::<Vec<_>>());
}

#[test]
fn removal_copes_with_whatever_a_build_leaves() {
    need_git!();
    let made = varied();
    let (repository, slot) = slot(&made);
    let head = repository.head().unwrap();
    for spoil in [
        (|tree: &Path| {
            std::fs::create_dir_all(tree.join("target/a/b")).unwrap();
            std::fs::write(tree.join("target/a/b/file"), "x").unwrap();
            std::fs::set_permissions(tree.join("target/a/b"), std::fs::Permissions::from_mode(0o555))
                .unwrap();
            std::fs::set_permissions(tree.join("target/a"), std::fs::Permissions::from_mode(0o000)).unwrap();
        }) as fn(&Path),
        |tree| std::fs::remove_file(tree.join(".git")).unwrap(),
        |tree| std::fs::remove_dir_all(tree).unwrap(),
        |tree| {
            // A link out of the tree: what it points to stays.
            std::fs::write(tree.join("../../outside"), "x").unwrap();
            symlink("../../../outside", tree.join("src/out")).unwrap();
            symlink(tree.parent().unwrap(), tree.join("src/up")).unwrap();
        },
    ] {
        let checkout = slot.checkout("base", Content::Commit(head.clone()), &GO_ON).unwrap();
        spoil(&checkout.path);
        checkout.remove().unwrap();
        assert!(!slot.tree("base").exists());
        assert!(!made.root().join(".git/worktrees").exists());
    }
    assert!(slot.directory().join("outside").exists());
}

#[test]
fn status_is_clean_without_reading_files_after_a_refresh() {
    need_git!();
    let made = varied();
    let (repository, slot) = slot(&made);
    let checkout = slot.checkout("base", Content::Commit(repository.head().unwrap()), &GO_ON).unwrap();
    let old = SystemTime::now() - Duration::from_secs(1_000_000);
    for file in &checkout.files {
        let path = checkout.path.join(&file.path);
        if !path.is_symlink() {
            std::fs::File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
        }
    }
    // A change of equal length is no less a change for it.
    std::fs::write(checkout.path.join("README.md"), "HELLO\n").unwrap();
    checkout.refresh_index().unwrap();
    // `diff-files` compares times and sizes only, and lists what it would have to read.
    let stale = made.git_in(&checkout.path, &["diff-files", "--name-only"]);
    assert_eq!(stale, "README.md");
    assert_eq!(made.git_in(&checkout.path, &["status", "--porcelain"]), " M README.md");
    let index = PathBuf::from(made.git_in(&checkout.path, &["rev-parse", "--git-path", "index"]));
    let second = |path: &Path| {
        path.metadata().unwrap().modified().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
    };
    assert!(second(&checkout.path.join("README.md")) < second(&index), "the second is over");
}

#[test]
fn an_interrupt_leaves_nothing() {
    need_git!();
    let made = varied();
    let (repository, slot) = slot(&made);
    let stop = AtomicBool::new(true);
    let head = repository.head().unwrap();
    made.write("new", "x");
    for content in [Content::Commit(head.clone()), Content::WorkingTree { head, include: Vec::new() }] {
        let error = slot.checkout("base", content, &stop).unwrap_err();
        assert!(matches!(error, RevisionError::Interrupted) && !error.is_usage(), "{error}");
    }
    assert!(!slot.tree("base").exists() && !made.root().join(".git/worktrees").exists());
}

#[test]
fn a_kept_checkout_stays_until_its_slot_is_used_again() {
    need_git!();
    let made = varied();
    let repository = Repository::discover(made.root()).unwrap();
    let root = SlotRoot::new(&made.beside("cache"), &repository).unwrap();
    let slot = root.acquire().unwrap();
    let kept = snapshot(&repository, &slot, &[]).keep().unwrap();
    drop(slot);
    root.sweep().unwrap();
    assert!(kept.join("README.md").exists());
    assert_eq!(made.git_in(&kept, &["status", "--porcelain"]), "");
    root.acquire().unwrap();
    assert!(!kept.exists() && !made.root().join(".git/worktrees").exists());
}

#[test]
fn names_that_are_no_revisions_are_refused() {
    need_git!();
    let made = TestRepository::new();
    let (repository, slot) = slot(&made);
    for name in ["", "live", "..", "a/b", ".hidden", "a b"] {
        let content = Content::Commit(repository.head().unwrap());
        assert!(
            matches!(slot.checkout(name, content, &GO_ON), Err(RevisionError::BadRevisionName { .. })),
            "{name}"
        );
        assert!(slot.point_at(name).is_err(), "{name}");
    }
}
