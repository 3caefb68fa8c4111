//! Clones that do not hold everything, or hold more than one repository: submodules, partial clones, LFS, SHA-256.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "common/repository.rs"]
mod repository;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use cargo_benchgate::revision::{Checkout, Content, Repository, RevisionError, Slot, SlotRoot};
use repository::{TestRepository, differing, listing, need_git};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn slot(made: &TestRepository, root: &Path) -> (Repository, Slot) {
    let repository = Repository::discover(root).unwrap();
    let slot = SlotRoot::new(&made.beside("cache"), &repository).unwrap().acquire().unwrap();
    (repository, slot)
}

fn commit(repository: &Repository, slot: &Slot, name: &str, spec: &str) -> Result<Checkout, RevisionError> {
    slot.checkout(name, Content::Commit(repository.resolve(spec).unwrap()), &GO_ON)
}

fn worktree(repository: &Repository, slot: &Slot) -> Result<Checkout, RevisionError> {
    let head = repository.head().unwrap();
    slot.checkout("head", Content::WorkingTree { head, include: Vec::new() }, &GO_ON)
}

fn read(root: &Path, path: &str) -> String {
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What of the user's git directory must stay as it is, byte for byte.
fn state(made: &TestRepository, root: &Path) -> String {
    let git = |args: &[&str]| made.git_in(root, args);
    let bytes = |path: &str| std::fs::read(root.join(".git").join(path)).unwrap_or_default();
    format!(
        "{:?}\n{:?}\n{:?}\n{}\n{}\n{}",
        bytes("index"),
        bytes("config"),
        bytes("modules/sub/config"),
        git(&["--no-optional-locks", "status", "--porcelain"]),
        git(&["worktree", "list", "--porcelain"]),
        git(&["for-each-ref"]),
    )
}

/// A repository with a submodule `sub`, which has one of its own, `deep`: at two commits each. The remotes are gone.
struct Nested {
    made: TestRepository,
    sub: TestRepository,
}

fn with_submodules() -> Nested {
    let (made, sub, deep) = (TestRepository::new(), TestRepository::new(), TestRepository::new());
    let url = |repository: &TestRepository| repository.root().to_str().unwrap().to_owned();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    deep.write("deep.txt", "deep 1");
    deep.commit("deep 1");
    sub.write("sub.txt", "sub 1");
    sub.git(&[&add[..], &[&url(&deep), "deep"]].concat());
    sub.commit("sub 1");
    sub.git(&["tag", "-a", "v1", "-m", "tag"]);
    made.git(&[&add[..], &[&url(&sub), "sub"]].concat());
    made.git(&["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive"]);
    made.write("top.txt", "1");
    made.commit("first");
    let inside = made.root().join("sub");
    std::fs::write(inside.join("sub.txt"), "sub 2").unwrap();
    made.git_in(&inside, &["commit", "-q", "-am", "sub 2"]);
    made.commit("second");
    // Nothing may be asked of where they came from.
    for gone in [&sub, &deep] {
        std::fs::rename(gone.root().join(".git"), gone.root().join("moved")).unwrap();
    }
    Nested { made, sub }
}

#[test]
fn submodules_are_checked_out_at_the_commits_of_each_revision_without_any_remote() {
    need_git!();
    let Nested { made, .. } = with_submodules();
    let (repository, slot) = slot(&made, made.root());
    let before = state(&made, made.root());
    let base = commit(&repository, &slot, "base", "HEAD~1").unwrap();
    let head = worktree(&repository, &slot).unwrap();
    assert_eq!(read(&base.path, "sub/sub.txt"), "sub 1");
    assert_eq!(read(&head.path, "sub/sub.txt"), "sub 2");
    for checkout in [&base, &head] {
        assert_eq!(read(&checkout.path, "sub/deep/deep.txt"), "deep 1");
        assert!(!checkout.dirty, "{:?}", checkout.notes);
        assert!(checkout.notes.is_empty(), "{:?}", checkout.notes);
        let named = |path: &str| checkout.files.iter().any(|file| file.path == Path::new(path));
        assert!(named("sub/sub.txt") && named("sub/deep/deep.txt") && named("top.txt"));
        // For git it is an ordinary worktree with ordinary submodules.
        assert_eq!(made.git_in(&checkout.path, &["status", "--porcelain"]), "");
        let inside = checkout.path.join("sub");
        assert!(made.git_in(&inside, &["describe", "--tags"]).starts_with("v1"));
    }
    base.remove().unwrap();
    head.remove().unwrap();
    assert_eq!(state(&made, made.root()), before);
    assert!(!made.root().join(".git/worktrees").exists());
}

#[test]
fn snapshot_holds_submodules_as_they_are_in_the_working_tree() {
    need_git!();
    let Nested { made, .. } = with_submodules();
    let inside = made.root().join("sub");
    // Moved on without being staged, edited, and a new file deep down.
    made.git_in(&inside, &["checkout", "-q", "--detach", "HEAD~1"]);
    std::fs::write(inside.join("sub.txt"), "sub 1, edited").unwrap();
    std::fs::write(inside.join("deep/new.txt"), "new").unwrap();
    let before = state(&made, made.root());
    let (repository, slot) = slot(&made, made.root());
    let head = worktree(&repository, &slot).unwrap();
    assert!(head.dirty && repository.is_dirty().unwrap());
    assert_eq!(differing(&listing(&head.path, &[".git"]), &listing(made.root(), &[".git"])).len(), 2);
    let files = |path: &str| head.files.iter().any(|file| file.path == Path::new(path));
    assert!(files("sub/deep/new.txt"), "{:?}", head.files);
    assert_eq!(read(&head.path, "sub/sub.txt"), "sub 1, edited");
    // What is edited later on is noticed there, too.
    assert_eq!(head.edited_since(&GO_ON).unwrap(), Vec::<PathBuf>::new());
    std::fs::write(inside.join("sub.txt"), "sub 1, edited again").unwrap();
    assert_eq!(head.edited_since(&GO_ON).unwrap(), [Path::new("sub/sub.txt")]);
    std::fs::write(inside.join("sub.txt"), "sub 1, edited").unwrap();
    assert_eq!(head.edited_since(&GO_ON).unwrap(), Vec::<PathBuf>::new());
    drop(head);
    assert_eq!(state(&made, made.root()), before);
}

#[test]
fn submodule_that_is_only_staged_is_part_of_the_snapshot_and_one_that_is_taken_out_is_not() {
    need_git!();
    let Nested { made, .. } = with_submodules();
    let other = TestRepository::new();
    let url = other.root().to_str().unwrap();
    made.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "fresh"]);
    made.git(&["rm", "-q", "--cached", "sub"]);
    std::fs::rename(made.root().join("sub"), made.beside("sub-away")).unwrap();
    let (repository, slot) = slot(&made, made.root());
    let head = worktree(&repository, &slot).unwrap();
    assert!(head.dirty);
    assert_eq!(read(&head.path, "fresh/README.md"), "hello\n");
    assert!(!head.path.join("sub/sub.txt").exists());
}

#[test]
fn submodule_the_clone_does_not_have_stays_empty_and_is_named_with_the_line_that_fetches_it() {
    need_git!();
    let Nested { made, .. } = with_submodules();
    let clone = made.clone_to("plain", &[]);
    let (repository, slot) = slot(&made, &clone);
    let head = worktree(&repository, &slot).unwrap();
    assert_eq!(
        head.notes,
        [
            "submodule 'sub' is not in this clone and stays empty; 'git submodule update --init sub' fetches it"
        ]
    );
    assert!(!head.dirty && !head.whole);
}

#[test]
fn commit_of_a_submodule_that_was_never_fetched_is_an_error_with_the_fetch() {
    need_git!();
    let Nested { made, sub } = with_submodules();
    std::fs::rename(sub.root().join("moved"), sub.root().join(".git")).unwrap();
    sub.write("sub.txt", "sub 3");
    let id = sub.commit("sub 3");
    made.git(&["update-index", "--cacheinfo", &format!("160000,{id},sub")]);
    made.git(&["commit", "-q", "-m", "third"]);
    let (repository, slot) = slot(&made, made.root());
    let error = commit(&repository, &slot, "base", "HEAD").unwrap_err();
    assert!(matches!(error, RevisionError::SubmoduleCommit { .. }) && !error.is_usage(), "{error}");
    let text = error.to_string();
    assert!(text.contains(&format!("'git -C sub fetch origin {id}'")), "{text}");
    assert!(!made.root().join(".git/worktrees").exists() && !slot.tree("base").exists());
}

#[test]
fn shallow_submodule_is_checked_out_as_far_as_it_goes() {
    need_git!();
    let Nested { made, sub } = with_submodules();
    std::fs::rename(sub.root().join("moved"), sub.root().join(".git")).unwrap();
    sub.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let clone = made.clone_to("shallow", &[]);
    let inside = made.root().join("sub");
    made.git_in(&inside, &["push", "-q", "origin", "HEAD:refs/heads/later"]);
    let update = ["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--depth", "1"];
    let url = format!("file://{}", sub.root().display());
    made.git_in(&clone, &["config", "submodule.sub.url", &url]);
    made.git_in(&clone, &update);
    let (repository, slot) = slot(&made, &clone);
    let head = worktree(&repository, &slot).unwrap();
    assert_eq!(read(&head.path, "sub/sub.txt"), "sub 2");
    // The tip of its branch was fetched, too.
    assert_eq!(read(&commit(&repository, &slot, "base", "HEAD~1").unwrap().path, "sub/sub.txt"), "sub 1");
    let deep = "submodule 'sub/deep' is not in this clone and stays empty; 'git -C sub submodule update --init deep' fetches it";
    assert_eq!(head.notes, [deep]);
}

#[test]
fn what_a_partial_clone_lacks_is_fetched_and_told_and_named_when_it_cannot_be_had() {
    need_git!();
    let made = TestRepository::new();
    made.write("dir/a.txt", "a");
    made.write("dir/b.txt", "b");
    made.commit("second");
    made.write("dir/a.txt", "changed");
    made.write("dir/b.txt", "changed too");
    made.commit("third");
    made.git(&["config", "uploadpack.allowFilter", "true"]);
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let clone = made.clone_to(&format!("partial-{}", filter.len()), &[filter]);
        let (repository, slot) = slot(&made, &clone);
        let before = state(&made, &clone);
        // Where it came from cannot be reached.
        std::fs::rename(made.root().join(".git"), made.root().join("moved")).unwrap();
        let error = commit(&repository, &slot, "base", "HEAD~1").unwrap_err();
        std::fs::rename(made.root().join("moved"), made.root().join(".git")).unwrap();
        let text = error.to_string();
        assert!(matches!(error, RevisionError::PartialClone { .. }) && !error.is_usage(), "{text}");
        assert!(text.contains("'git fetch --refetch --no-filter'"), "{text}");
        assert!(!clone.join(".git/worktrees").exists() && !slot.tree("base").exists());

        let base = commit(&repository, &slot, "base", "HEAD~1").unwrap();
        assert_eq!(read(&base.path, "dir/a.txt"), "a");
        let notes = base.notes.join("\n");
        assert!(notes.contains("this partial clone lacked 2 files of commit"), "{notes}");
        base.remove().unwrap();
        assert_eq!(state(&made, &clone), before);
        // They are there now.
        assert!(commit(&repository, &slot, "base", "HEAD~1").unwrap().notes.is_empty());
    }
}

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
     oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

#[test]
fn lfs_pointers_are_named_with_what_to_do_and_content_is_not() {
    need_git!();
    let made = TestRepository::new();
    made.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    made.write("data/a.bin", POINTER);
    made.write("data/b.bin", POINTER);
    made.write("data/real.bin", "content");
    made.commit("second");
    let (repository, slot) = slot(&made, made.root());
    let base = commit(&repository, &slot, "base", "HEAD").unwrap();
    assert!(!base.whole);
    let notes = base.notes.join("\n");
    assert!(notes.contains(".bin' and 1 more file are Git LFS pointers, not the content"), "{notes}");
    assert!(notes.contains("'git lfs install' and 'git lfs fetch --all'"), "{notes}");
    base.remove().unwrap();
    // With a filter that knows the content, as LFS installs one, there is nothing to say.
    made.git(&["config", "filter.lfs.smudge", "sed s/.*/content/"]);
    let (repository, _) = (Repository::discover(made.root()).unwrap(), drop(slot));
    let slot = SlotRoot::new(&made.beside("cache"), &repository).unwrap().acquire().unwrap();
    let base = commit(&repository, &slot, "base", "HEAD").unwrap();
    assert!(base.notes.is_empty() && base.whole, "{:?}", base.notes);
    assert!(read(&base.path, "data/a.bin").starts_with("content"));
    base.remove().unwrap();
    // Where no attribute speaks of LFS, a file may look as it likes.
    made.write(".gitattributes", "");
    made.commit("third");
    assert!(commit(&repository, &slot, "base", "HEAD").unwrap().notes.is_empty());
}

#[test]
fn repository_with_sha256_ids_works_like_any_other() {
    need_git!();
    let made = TestRepository::new();
    let root = made.beside("sha256");
    let made_one = made.try_git_in(
        made.root(),
        &["init", "-q", "-b", "main", "--object-format=sha256", root.to_str().unwrap()],
    );
    if !made_one.status.success() {
        println!("skipped: this git makes no sha256 repositories");
        return;
    }
    std::fs::write(root.join("file"), "one").unwrap();
    made.git_in(&root, &["add", "-A"]);
    made.git_in(&root, &["commit", "-q", "-m", "first"]);
    std::fs::write(root.join("file"), "two").unwrap();
    made.git_in(&root, &["commit", "-q", "-am", "second"]);
    std::fs::write(root.join("file"), "three").unwrap();
    let (repository, slot) = slot(&made, &root);
    assert_eq!(repository.head().unwrap().id.as_str(), made.git_in(&root, &["rev-parse", "HEAD"]));
    let base = commit(&repository, &slot, "base", "HEAD~1").unwrap();
    let head = worktree(&repository, &slot).unwrap();
    assert_eq!((read(&base.path, "file"), read(&head.path, "file")), ("one".into(), "three".into()));
    assert_eq!(base.files[0].blob, made.git_in(&root, &["rev-parse", "HEAD~1:file"]));
    assert_eq!(made.git_in(&base.path, &["status", "--porcelain"]), "");
}

#[test]
fn wish_for_relative_worktree_paths_does_not_make_us_write_the_users_config() {
    need_git!();
    let made = TestRepository::new();
    made.git(&["config", "worktree.useRelativePaths", "true"]);
    let before = state(&made, made.root());
    let (repository, slot) = slot(&made, made.root());
    let base = commit(&repository, &slot, "base", "HEAD").unwrap();
    // Here git would refuse the repository, had the format been raised for a git that does not know it.
    assert_eq!(made.git_in(&base.path, &["status", "--porcelain"]), "");
    assert!(!made.git(&["config", "--list", "--local"]).contains("extensions.relativeworktrees"));
    base.remove().unwrap();
    assert_eq!(state(&made, made.root()), before);
}

#[test]
fn edits_after_the_copy_are_noticed_by_content_and_named() {
    need_git!();
    let made = TestRepository::new();
    made.write("a.txt", "1");
    made.write("b.txt", "1");
    made.commit("second");
    made.write("a.txt", "edited");
    made.write("new.txt", "new");
    let (repository, slot) = slot(&made, made.root());
    let head = worktree(&repository, &slot).unwrap();
    let edited = || head.edited_since(&GO_ON).unwrap();
    assert_eq!(edited(), Vec::<PathBuf>::new());
    // A commit of just this, or a new time, changes nothing that is measured.
    made.write("a.txt", "edited");
    made.commit("third");
    assert_eq!(edited(), Vec::<PathBuf>::new());
    made.write("a.txt", "edited again");
    made.write("b.txt", "2");
    std::fs::remove_file(made.root().join("new.txt")).unwrap();
    made.write("more.txt", "more");
    assert_eq!(edited(), ["a.txt", "b.txt", "more.txt", "new.txt"].map(Path::new));
    made.write("a.txt", "edited");
    made.write("b.txt", "1");
    made.write("new.txt", "new");
    std::fs::remove_file(made.root().join("more.txt")).unwrap();
    assert_eq!(edited(), Vec::<PathBuf>::new());
    // A commit is not the working tree.
    assert_eq!(
        commit(&repository, &slot, "base", "HEAD").unwrap().edited_since(&GO_ON).unwrap(),
        Vec::<PathBuf>::new()
    );
}
