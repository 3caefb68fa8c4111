//! Slots: one run at a time, one path for all revisions, and nothing left of runs that were killed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "common/repository.rs"]
mod repository;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use cargo_benchgate::revision::{Content, Repository, RevisionError, SlotRoot, cache};

use crate::repository::{TestRepository, listing, need_git};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Where the child of a test finds its repository.
const CHILD: &str = "BENCHGATE_TEST_CHILD";

fn open(made: &TestRepository) -> (Repository, SlotRoot) {
    let repository = Repository::discover(made.root()).expect("there is a repository");
    let root = SlotRoot::new(&made.beside("cache"), &repository).expect("the cache can be made");
    (repository, root)
}

/// This test program again, running one test of those that are children's, as on a machine where git knows no name.
fn child(test: &str, repository: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test has a program"));
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(CHILD, repository)
        .env("HOME", repository);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["USER", "LOGNAME", "EMAIL", "XDG_CONFIG_HOME", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        command.env_remove(name);
    }
    command
}

fn child_repository() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

#[test]
#[ignore = "the child of the tests about killed runs"]
fn child_ends_without_clean_up() {
    let Some(path) = child_repository() else { return };
    let repository = Repository::discover(&path).unwrap();
    let root = SlotRoot::new(&path.join("../cache"), &repository).unwrap();
    let slot = root.acquire().unwrap();
    let head = repository.head().unwrap();
    let _base = slot.checkout("base", Content::Commit(head.clone()), &GO_ON).unwrap();
    let _head = slot.checkout("head", Content::WorkingTree { head, include: Vec::new() }, &GO_ON).unwrap();
    slot.point_at("base").unwrap();
    std::fs::create_dir_all(slot.target("base")).unwrap();
    std::fs::write(slot.target("base").join("built"), "x").unwrap();
    std::process::exit(9);
}

#[test]
#[ignore = "the child of the test about the environment"]
fn child_prints_the_repository_it_finds() {
    if let Some(path) = child_repository() {
        println!("found: {}", Repository::discover(&path).unwrap().root().display());
    }
}

#[test]
#[ignore = "the child of the test about another user's repository"]
fn child_prints_why_it_refuses() {
    if let Some(path) = child_repository() {
        println!("refused: {}", Repository::discover(&path).unwrap_err());
    }
}

fn killed_run(made: &TestRepository) {
    let status = child("child_ends_without_clean_up", made.root()).output().expect("the child runs").status;
    assert_eq!(status.code(), Some(9));
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 3);
}

#[test]
fn what_a_killed_run_left_is_swept_when_its_slot_is_acquired() {
    need_git!();
    let made = TestRepository::new();
    made.write("new", "x");
    killed_run(&made);
    // git itself never takes them away, since they are locked.
    made.git(&["worktree", "prune"]);
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 3);
    let (_, root) = open(&made);
    let slot = root.acquire().unwrap();
    assert_eq!(slot.directory().file_name().unwrap(), "slot-00");
    assert!(!made.root().join(".git/worktrees").exists());
    assert!(!slot.tree("base").exists() && !slot.tree("head").exists());
    assert!(slot.directory().join("live").symlink_metadata().is_err());
    assert!(slot.target("base").join("built").exists(), "what was built is kept");
}

#[test]
fn killed_runs_of_other_slots_are_swept_too_and_running_ones_left_alone() {
    need_git!();
    let made = TestRepository::new();
    let (repository, root) = open(&made);
    let first = root.acquire().unwrap();
    let running = first.checkout("base", Content::Commit(repository.head().unwrap()), &GO_ON).unwrap();
    let status = child("child_ends_without_clean_up", made.root()).output().unwrap().status;
    assert_eq!(status.code(), Some(9));
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 4);
    root.sweep().unwrap();
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 2);
    assert!(running.path.join("README.md").exists());
    running.remove().unwrap();
    assert!(!made.root().join(".git/worktrees").exists());
}

#[test]
fn registrations_of_another_cache_are_swept_when_their_run_is_over() {
    need_git!();
    let made = TestRepository::new();
    let (repository, _) = open(&made);
    let elsewhere = SlotRoot::new(&made.beside("elsewhere"), &repository).unwrap();
    killed_run(&made);
    elsewhere.sweep().unwrap();
    assert!(!made.root().join(".git/worktrees").exists());
    let (_, root) = open(&made);
    let slot = root.acquire().unwrap();
    let running = slot.checkout("base", Content::Commit(repository.head().unwrap()), &GO_ON).unwrap();
    elsewhere.sweep().unwrap();
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 2);
    running.remove().unwrap();
}

#[test]
fn registrations_of_a_cache_that_was_deleted_are_swept() {
    need_git!();
    let made = TestRepository::new();
    killed_run(&made);
    std::fs::remove_dir_all(made.beside("cache")).unwrap();
    let (_, root) = open(&made);
    root.sweep().unwrap();
    assert!(!made.root().join(".git/worktrees").exists());
}

#[test]
fn a_run_killed_while_it_checked_out_is_swept() {
    need_git!();
    let made = TestRepository::new();
    let (_, root) = open(&made);
    let slot = root.acquire().unwrap();
    let tree = slot.tree("base");
    // As git or gix leave it: locked as initializing, no index, half of the files.
    std::fs::create_dir_all(&tree).unwrap();
    std::fs::write(tree.join("half"), "x").unwrap();
    let registration = made.root().join(".git/worktrees/tree");
    std::fs::create_dir_all(&registration).unwrap();
    std::fs::write(registration.join("locked"), "initializing\n").unwrap();
    std::fs::write(registration.join("gitdir"), format!("{}/.git\n", tree.display())).unwrap();
    std::fs::write(registration.join("commondir"), "../..\n").unwrap();
    drop(slot);
    let slot = root.acquire().unwrap();
    assert!(!slot.tree("base").exists());
    assert!(!made.root().join(".git/worktrees").exists());
}

#[test]
fn runs_at_the_same_time_get_slots_of_equal_length() {
    need_git!();
    let made = TestRepository::new();
    let (repository, root) = open(&made);
    let (_, same) = open(&made);
    let (first, second) = (root.acquire().unwrap(), same.acquire().unwrap());
    let (one, two) = (first.live_tree(), second.live_tree());
    assert_ne!(one, two);
    assert_eq!(one.as_os_str().len(), two.as_os_str().len());
    assert!(one.is_absolute() && !one.starts_with(repository.root()));
    // A checkout that outlives its slot still holds it.
    let checkout = first.checkout("base", Content::Commit(repository.head().unwrap()), &GO_ON).unwrap();
    drop(first);
    assert_eq!(root.acquire().unwrap().directory().file_name().unwrap(), "slot-02");
    drop(checkout);
    assert_eq!(root.acquire().unwrap().directory().file_name().unwrap(), "slot-00");
}

#[test]
fn both_revisions_live_behind_one_path() {
    need_git!();
    let made = TestRepository::new();
    let (repository, root) = open(&made);
    let slot = root.acquire().unwrap();
    let head = repository.head().unwrap();
    made.write("README.md", "changed\n");
    let _base = slot.checkout("base", Content::Commit(head.clone()), &GO_ON).unwrap();
    let _head = slot.checkout("head", Content::WorkingTree { head, include: Vec::new() }, &GO_ON).unwrap();
    for _ in 0..3 {
        for (revision, content) in [("base", "hello\n"), ("head", "changed\n")] {
            slot.point_at(revision).unwrap();
            assert_eq!(std::fs::read_to_string(slot.live_tree().join("README.md")).unwrap(), content);
            assert_eq!(
                slot.live_target().parent().unwrap().canonicalize().unwrap(),
                slot.tree(revision).parent().unwrap()
            );
        }
    }
    let links =
        slot.directory().read_dir().unwrap().flatten().filter(|entry| entry.path().is_symlink()).count();
    assert_eq!(links, 1, "no link but `live` is left");
}

#[test]
fn repositories_do_not_share_slots_and_worktrees_of_one_do() {
    need_git!();
    let (made, other) = (TestRepository::new(), TestRepository::new());
    let cache = made.beside("cache");
    let root_of = |path: &Path| SlotRoot::new(&cache, &Repository::discover(path).unwrap()).unwrap();
    let linked = made.beside("linked");
    made.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
    assert_eq!(root_of(made.root()).directory(), root_of(&linked).directory());
    assert_ne!(root_of(made.root()).directory(), root_of(other.root()).directory());
}

#[test]
fn a_cache_inside_the_repository_is_refused() {
    need_git!();
    let made = TestRepository::new();
    let repository = Repository::discover(made.root()).unwrap();
    let error = SlotRoot::new(&made.root().join("target/cache"), &repository).unwrap_err();
    assert!(matches!(error, RevisionError::CacheInsideRepository { .. }) && error.is_usage(), "{error}");
}

#[test]
fn cleaning_the_cache_removes_all_but_what_is_in_use() {
    need_git!();
    let made = TestRepository::new();
    let cache_root = made.beside("cache");
    assert_eq!(cache::list(&cache_root).unwrap(), []);
    killed_run(&made);
    let (repository, root) = open(&made);
    let first = root.acquire().unwrap();
    std::fs::create_dir_all(first.target("head")).unwrap();
    std::fs::write(first.target("head").join("large"), vec![0; 5000]).unwrap();
    std::fs::hard_link(first.target("head").join("large"), first.target("head").join("again")).unwrap();
    drop(first);
    let second = {
        let _first = root.acquire().unwrap();
        root.acquire().unwrap()
    };
    let checkout = second.checkout("base", Content::Commit(repository.head().unwrap()), &GO_ON).unwrap();

    let slots = cache::list(&cache_root).unwrap();
    let facts: Vec<(&str, bool)> =
        slots.iter().map(|slot| (slot.path.file_name().unwrap().to_str().unwrap(), slot.in_use)).collect();
    assert_eq!(facts, [("slot-00", false), ("slot-01", true)]);
    assert_eq!(slots[0].bytes, 5000 + "x".len() as u64);
    assert_eq!(slots[0].repository, made.root().join(".git"));

    let cleaned = cache::clean(&cache_root).unwrap();
    assert_eq!(cleaned.removed.len(), 1);
    assert_eq!(cleaned.in_use[0].path, second.directory());
    assert!(!slots[0].path.exists() && checkout.path.join("README.md").exists());

    drop((checkout, second));
    cache::clean(&cache_root).unwrap();
    assert!(listing(&cache_root, &[]).is_empty(), "{:?}", listing(&cache_root, &[]).keys());
    assert!(!made.root().join(".git/worktrees").exists());
    // And it can be used again, by the same handle too.
    assert_eq!(root.acquire().unwrap().directory().file_name().unwrap(), "slot-00");
}

#[test]
fn cleaning_unregisters_what_a_killed_run_left_and_copes_with_repositories_that_are_gone() {
    need_git!();
    let made = TestRepository::new();
    killed_run(&made);
    cache::clean(&made.beside("cache")).unwrap();
    assert!(!made.root().join(".git/worktrees").exists());
    killed_run(&made);
    std::fs::remove_dir_all(made.root()).unwrap();
    cache::clean(&made.beside("cache")).unwrap();
    assert!(listing(&made.beside("cache"), &[]).is_empty());
}

#[test]
fn git_dir_names_the_repository_wherever_the_run_starts() {
    need_git!();
    let made = TestRepository::new();
    let elsewhere = made.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = child("child_prints_the_repository_it_finds", &elsewhere);
    let output = command.env("GIT_DIR", made.root().join(".git")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(&format!("found: {}\n", made.root().display())), "{text}");
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_line_that_trusts_it() {
    need_git!();
    let made = TestRepository::new();
    // Only root may give a repository away; others cannot set this up.
    for path in [made.root().to_owned(), made.root().join(".git")] {
        if std::os::unix::fs::chown(path, Some(12345), None).is_err() {
            println!("skipped: ownership cannot be changed by this user");
            return;
        }
    }
    let mut command = child("child_prints_why_it_refuses", made.root());
    let output =
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = format!("'git config --global --add safe.directory {}'", made.root().display());
    assert!(text.contains("refused:") && text.contains(&line), "{text}");
}
