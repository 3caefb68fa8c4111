//! What gix finds is what the git program finds: base, range, and every file of a checkout with its mode.
#![cfg(unix)]

#[path = "common/repository.rs"]
mod repository;

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::sync::atomic::AtomicBool;

use cargo_benchgate::revision::{CiHints, Content, DefaultBase, HeadChoice, Repository, SlotRoot};
use repository::{TestRepository, differing, listing, make_executable, need_git};

/// Attributes, links, executable bits, line endings, odd names; a branch that was merged, and one that was not.
fn history() -> TestRepository {
    let made = TestRepository::new();
    made.write(
        ".gitattributes",
        "*.bat text eol=crlf\n*.txt text\n*.bin -text\n*.sh text eol=lf\nsecret export-ignore\n",
    );
    made.write("run.sh", "#!/bin/sh\necho one\n");
    make_executable(&made.root().join("run.sh"));
    made.write("win.bat", "one\r\ntwo\r\n");
    made.write("plain.txt", "one\ntwo\n");
    made.write("raw.bin", b"\x00\r\n\xff");
    made.write("src/a b/\u{fc}.rs", "fn main() {}\n");
    made.write("-dash", "dash\n");
    made.write("secret", "s\n");
    symlink("src/a b", made.root().join("link")).expect("links can be made");
    symlink("nowhere", made.root().join("dangling")).expect("links can be made");
    made.commit("second");
    made.git(&["checkout", "-q", "-b", "topic"]);
    made.write("topic.txt", "1\n");
    made.commit("topic 1");
    std::fs::remove_file(made.root().join("link")).expect("it is there");
    made.write("link/now-a-directory", "x\n");
    made.commit("topic 2");
    made.git(&["checkout", "-q", "main"]);
    made.write("main.txt", "1\n");
    made.commit("main 1");
    made.git(&["tag", "-a", "v1.0", "-m", "tag"]);
    made.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    made.git(&["checkout", "-q", "-b", "feature"]);
    made.write("feature.txt", "1\n");
    made.commit("feature 1");
    made.git(&["checkout", "-q", "main"]);
    made.write("main.txt", "2\n");
    made.commit("main 2");
    made.git(&["checkout", "-q", "feature"]);
    made.write("feature.txt", "2\n");
    made.commit("feature 2");
    made
}

#[test]
fn base_is_the_one_git_merge_base_gives() {
    need_git!();
    let made = history();
    let repository = Repository::discover(made.root()).expect("it is one");
    for head in ["feature", "feature~1", "topic"] {
        made.git(&["checkout", "-q", head]);
        let chosen =
            repository.default_base(&HeadChoice::WorkingTree, &CiHints::default()).expect("there is one");
        let DefaultBase::Chosen(base) = chosen else { panic!("{chosen:?}") };
        let expected = made.git(&["merge-base", head, "main"]);
        // A commit of main itself is compared with the one before it.
        let expected =
            if expected == made.id(head) && head != "topic" { made.id("HEAD~1") } else { expected };
        assert_eq!(base.commit.id.as_str(), expected, "{head}: {}", base.because);
    }
}

#[test]
fn range_is_the_one_git_rev_list_gives() {
    need_git!();
    let made = history();
    let repository = Repository::discover(made.root()).expect("it is one");
    let commit = |spec: &str| repository.resolve(spec).expect("it is there");
    let pairs = [
        ("v1.0", "main"),
        ("main~3", "main"),
        ("topic~2", "feature"),
        ("topic", "v1.0"),
        ("main", "main"),
        ("main", "topic"),
    ];
    for (good, bad) in pairs {
        for first_parent in [false, true] {
            let found =
                repository.commits_between(&commit(good), &commit(bad), first_parent).expect("it is read");
            let range = format!("{good}..{bad}");
            let mut words = vec!["rev-list", "--reverse", "--topo-order", "--ancestry-path", &range];
            if first_parent {
                words.insert(1, "--first-parent");
            }
            let expected = made.git(&words);
            let mut ids: Vec<&str> = found.iter().map(|commit| commit.id.as_str()).collect();
            let mut expected: Vec<&str> = expected.lines().collect();
            // git leaves the order of unrelated commits open.
            for pair in found.windows(2) {
                let later = made.try_git_in(
                    made.root(),
                    &["merge-base", "--is-ancestor", pair[1].id.as_str(), pair[0].id.as_str()],
                );
                assert!(!later.status.success(), "{range}: a child came before its parent");
            }
            ids.sort_unstable();
            expected.sort_unstable();
            assert_eq!(ids, expected, "{range}, first parent {first_parent}");
        }
    }
}

#[test]
fn checkout_has_the_modes_contents_and_ids_that_git_worktree_add_and_ls_files_give() {
    need_git!();
    let made = history();
    let repository = Repository::discover(made.root()).expect("it is one");
    let slot = SlotRoot::new(&made.beside("cache"), &repository)
        .and_then(|root| root.acquire())
        .expect("one is free");
    for (number, setting) in ["false", "input", "true"].iter().enumerate() {
        // Line endings by setting, on top of those by attribute.
        made.git(&["config", "core.autocrlf", setting]);
        let repository = Repository::discover(made.root()).expect("it is one");
        for spec in ["feature", "topic", "main~3"] {
            let content = Content::Commit(repository.resolve(spec).expect("it is there"));
            let ours =
                slot.checkout("base", content, &AtomicBool::new(false)).expect("it can be checked out");
            let name = format!("theirs-{number}-{}", spec.replace('~', "-"));
            let theirs = made.beside(&name);
            made.git(&["worktree", "add", "-q", "--detach", theirs.to_str().expect("UTF-8"), spec]);
            let (a, b) = (listing(&ours.path, &[".git"]), listing(&theirs, &[".git"]));
            assert_eq!(differing(&a, &b), Vec::<std::path::PathBuf>::new(), "{spec}, autocrlf {setting}");
            let modes = |directory| -> BTreeMap<String, String> {
                let listed = made.git_in(directory, &["ls-files", "-s", "-z"]);
                let entries = listed.split('\0').filter_map(|line| line.split_once('\t'));
                entries.map(|(mode, path)| (path.to_owned(), mode.to_owned())).collect()
            };
            assert_eq!(modes(&ours.path), modes(&theirs), "{spec}");
            assert_eq!(made.git_in(&ours.path, &["status", "--porcelain"]), "", "{spec}, autocrlf {setting}");
            assert_eq!(ours.files.len(), a.len());
            ours.remove().expect("it can be removed");
        }
    }
}
