//! What revision names mean, and which base is chosen when none is named.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "common/repository.rs"]
mod repository;

use std::path::Path;

use cargo_benchgate::error::ExitCode;
use cargo_benchgate::revision::{BaseChoice, CiHints, DefaultBase, HeadChoice, Repository, RevisionError};

use crate::repository::{TestRepository, need_git};

fn discover(path: &Path) -> Repository {
    Repository::discover(path).expect("there is a repository")
}

fn chosen(repository: &Repository, ci: &CiHints) -> BaseChoice {
    match repository.default_base(&HeadChoice::WorkingTree, ci).expect("a base is chosen") {
        DefaultBase::Chosen(choice) => choice,
        DefaultBase::EverythingIsNew { because } => panic!("no base: {because}"),
    }
}

#[test]
fn every_kind_of_name_resolves_to_the_commit_git_names() {
    need_git!();
    let made = TestRepository::new();
    for name in ["two", "three", "four"] {
        made.write(name, name);
        made.commit(&format!("add {name}"));
    }
    made.git(&["tag", "light", "HEAD~1"]);
    made.git(&["tag", "-a", "-m", "a release", "v1.0", "HEAD~2"]);
    made.git(&["tag", "-a", "-m", "a tag of a tag", "v1.0-again", "v1.0"]);
    made.git(&["branch", "feature/x", "HEAD~3"]);
    let repository = discover(made.root());
    let abbreviated = made.id("HEAD~1")[..9].to_owned();
    let specs = [
        "HEAD",
        "@",
        "main",
        "refs/heads/main",
        "heads/main",
        "HEAD~2",
        "HEAD^",
        "main^^",
        "light",
        "v1.0",
        "v1.0~1",
        "v1.0^{commit}",
        "v1.0-again",
        "tags/v1.0",
        "feature/x",
        "HEAD@{1}",
        ":/add two",
        abbreviated.as_str(),
    ];
    for spec in specs {
        let commit = repository.resolve(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert_eq!(commit.id.as_str(), made.id(&format!("{}^{{commit}}", made.id(spec))), "{spec}");
        assert_eq!(commit.tree, made.id(&format!("{}^{{tree}}", made.id(spec))), "{spec}");
    }
    let commit = repository.resolve("HEAD~2").unwrap();
    assert_eq!(commit.subject, "add two");
    assert_eq!(commit.committed_at.to_string(), "2026-01-01T00:01:00Z");
}

#[test]
fn names_that_are_no_single_commit_are_usage_errors_that_say_why() {
    need_git!();
    let made = TestRepository::new();
    made.write("two", "two");
    made.commit("two");
    let repository = discover(made.root());
    let cases = [
        ("", "empty"),
        (" ", "empty"),
        ("--upload-pack=x", "starts with '-'"),
        ("-", "starts with '-'"),
        ("a\nb", "control character"),
        ("a\0b", "control character"),
        ("HEAD~1..HEAD", "range"),
        ("HEAD:README.md", "blob, not a commit"),
        ("HEAD^{tree}", "tree, not a commit"),
        ("HEAD~7", "has 1 ancestors"),
        ("HEAD^2", "has 1 parents"),
        ("nowhere", "no branch, tag or commit has that name"),
        ("0123456789012345678901234567890123456789", "0123456789"),
        ("a b", "'a b'"),
        ("ä~ö", "'ä~ö'"),
    ];
    for (spec, part) in cases {
        let error = repository.resolve(spec).expect_err(spec);
        assert!(error.is_usage(), "{spec:?}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(part), "{spec:?}: {text}");
        assert!(!text.contains('\n') && !text.contains('\0'), "{spec:?}: {text}");
        assert_eq!(cargo_benchgate::error::Error::from(error).exit_code(), ExitCode::Usage);
    }
}

#[test]
fn an_unknown_name_brings_the_names_near_it() {
    need_git!();
    let made = TestRepository::new();
    made.git(&["branch", "feature/parser"]);
    made.git(&["tag", "v1.2.0"]);
    let repository = discover(made.root());
    for (spec, near) in [
        ("mian", "'main'"),
        ("feature/parsr", "'feature/parser'"),
        ("v1.2", "'v1.2.0'"),
        ("Main~2", "'main'"),
    ] {
        let text = repository.resolve(spec).unwrap_err().to_string();
        assert!(text.contains(&format!("did you mean {near}?")), "{spec}: {text}");
    }
    let text = repository.resolve("completely-else").unwrap_err().to_string();
    assert!(!text.contains("did you mean"), "{text}");
}

#[test]
fn a_branch_that_is_only_here_or_only_at_the_remote_is_pointed_out() {
    need_git!();
    let made = TestRepository::new();
    made.git(&["branch", "topic"]);
    let clone = made.clone_to("clone", &[]);
    made.git_in(&clone, &["branch", "mine"]);
    let repository = discover(&clone);
    let text = repository.resolve("topic").unwrap_err().to_string();
    assert!(text.contains("did you mean 'origin/topic'?"), "{text}");
    let text = repository.resolve("origin/mine").unwrap_err().to_string();
    assert!(text.contains("the local 'mine' exists") && text.contains("git fetch origin mine"), "{text}");
    assert_eq!(repository.resolve("origin").unwrap().id.as_str(), made.id("main"));
    assert_eq!(repository.resolve("@{u}").unwrap().id.as_str(), made.id("main"));
}

#[test]
fn a_shallow_clone_is_named_with_the_line_that_fetches_the_rest() {
    need_git!();
    let made = TestRepository::new();
    for name in ["two", "three"] {
        made.write(name, name);
        made.commit(name);
    }
    made.git(&["branch", "other", "HEAD~1"]);
    let clone = made.clone_to("shallow", &["--depth", "2"]);
    let repository = discover(&clone);
    assert!(repository.resolve("HEAD~1").is_ok());
    for (spec, fetch) in [
        ("origin/other", "'git fetch --unshallow origin other:refs/remotes/origin/other'"),
        ("HEAD~2", "'git fetch --unshallow --tags'"),
    ] {
        let error = repository.resolve(spec).unwrap_err();
        assert!(error.is_usage());
        let text = error.to_string();
        assert!(text.contains(&format!("'{spec}' is not in this clone")), "{text}");
        assert!(text.contains("shallow (depth 2)") && text.contains("fetch-depth: 0"), "{text}");
        assert!(text.contains(fetch) && text.contains("GIT_DEPTH: 0"), "{text}");
    }
    // The line that is shown works.
    made.git_in(&clone, &["fetch", "-q", "--unshallow", "origin", "other:refs/remotes/origin/other"]);
    assert_eq!(discover(&clone).resolve("origin/other").unwrap().id.as_str(), made.id("other"));
}

#[test]
fn no_repository_and_no_commits_are_usage_errors() {
    need_git!();
    let empty = tempfile::tempdir().unwrap();
    let error = Repository::discover(empty.path()).unwrap_err();
    assert!(matches!(error, RevisionError::NoRepository { .. }) && error.is_usage(), "{error}");
    let made = TestRepository::empty();
    let repository = discover(made.root());
    for error in [
        repository.head().unwrap_err(),
        repository.resolve("HEAD").unwrap_err(),
        repository.resolve("main").unwrap_err(),
        repository.is_dirty().unwrap_err(),
        repository.default_base(&HeadChoice::WorkingTree, &CiHints::default()).unwrap_err(),
    ] {
        assert!(matches!(error, RevisionError::NoCommits { .. }) && error.is_usage(), "{error}");
    }
}

#[test]
fn the_repository_is_found_from_a_subdirectory_a_linked_worktree_and_a_bare_one() {
    need_git!();
    let made = TestRepository::new();
    made.write("deep/er/file", "x");
    let deep = made.root().join("deep/er");
    let repository = discover(&deep);
    assert_eq!(repository.root(), made.root());
    assert_eq!(repository.common_dir(), made.root().join(".git"));
    assert_eq!(repository.relative(&deep.join("../er/new")).as_deref(), Some(Path::new("deep/er/new")));
    assert_eq!(repository.relative(made.root()).as_deref(), Some(Path::new("")));
    assert_eq!(repository.relative(&made.beside("else")), None);

    let linked = made.beside("linked");
    made.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let repository = discover(&linked);
    assert_eq!(repository.root(), linked);
    assert_eq!(repository.common_dir(), made.root().join(".git"));
    assert_eq!(repository.head_branch().unwrap().as_deref(), Some("side"));

    let bare = made.clone_to("bare.git", &["--bare"]);
    let repository = discover(&bare);
    assert!(!repository.has_work_tree());
    assert_eq!(repository.root(), bare);
    assert_eq!(repository.resolve("main").unwrap().id.as_str(), made.id("main"));
    assert!(matches!(repository.is_dirty().unwrap_err(), RevisionError::NoWorkTree { .. }));
}

#[test]
fn staged_modified_deleted_and_untracked_files_are_dirty_and_ignored_ones_are_not() {
    need_git!();
    let made = TestRepository::new();
    made.write(".gitignore", "ignored\n");
    made.write("sub/file", "x");
    made.commit("files");
    // Untracked files count whatever the user likes to see.
    made.git(&["config", "status.showUntrackedFiles", "no"]);
    let is_dirty = || discover(&made.root().join("sub")).is_dirty().unwrap();
    assert!(!is_dirty());
    made.write("ignored", "x");
    assert!(!is_dirty());
    made.write("new", "x");
    assert!(is_dirty());
    made.git(&["add", "new"]);
    assert!(is_dirty());
    made.git(&["rm", "-q", "-f", "new"]);
    assert!(!is_dirty());
    made.write("README.md", "changed\n");
    assert!(is_dirty());
    made.git(&["checkout", "-q", "README.md"]);
    std::fs::remove_file(made.root().join("README.md")).unwrap();
    assert!(is_dirty());
}

/// main: one - two; feature, from one: a - b.
fn with_feature() -> (TestRepository, String) {
    let made = TestRepository::new();
    let fork = made.id("HEAD");
    made.git(&["checkout", "-q", "-b", "feature"]);
    for name in ["a", "b"] {
        made.write(name, name);
        made.commit(name);
    }
    made.git(&["checkout", "-q", "main"]);
    made.write("two", "two");
    made.commit("two");
    (made, fork)
}

#[test]
fn on_the_default_branch_the_base_is_the_commit_before() {
    need_git!();
    let (made, fork) = with_feature();
    let repository = discover(made.root());
    let base = chosen(&repository, &CiHints::default());
    assert_eq!((base.commit.id.as_str(), base.spec.as_str()), (fork.as_str(), "HEAD~1"));
    assert!(base.because.contains("default branch 'main'"), "{}", base.because);
}

#[test]
fn on_another_branch_the_base_is_the_merge_base_with_the_default_branch() {
    need_git!();
    let (made, fork) = with_feature();
    made.git(&["checkout", "-q", "feature"]);
    let repository = discover(made.root());
    let base = chosen(&repository, &CiHints::default());
    assert_eq!(base.commit.id.as_str(), fork);
    assert_eq!(base.commit.id.as_str(), made.git(&["merge-base", "HEAD", "main"]));
    assert_eq!(base.spec, "merge-base(HEAD, main)");
    // The default branch of the remote wins, and a branch of the same name there is no base.
    made.git(&["checkout", "-q", "-b", "trunk", "main"]);
    made.write("three", "three");
    let three = made.commit("three");
    let clone = made.clone_to("clone", &[]);
    made.git_in(&clone, &["checkout", "-q", "-b", "topic"]);
    made.git_in(&clone, &["commit", "-q", "--allow-empty", "-m", "topic"]);
    made.git_in(&clone, &["push", "-q", "-u", "origin", "topic"]);
    let base = chosen(&discover(&clone), &CiHints::default());
    assert_eq!(base.commit.id.as_str(), three);
    assert_eq!(base.spec, "merge-base(HEAD, origin/trunk)");
    // On the default branch, named so by the remote only.
    made.git_in(&clone, &["checkout", "-q", "trunk"]);
    assert_eq!(chosen(&discover(&clone), &CiHints::default()).spec, "HEAD~1");
}

#[test]
fn an_upstream_of_another_name_is_the_branch_to_compare_with() {
    need_git!();
    let (made, _) = with_feature();
    let feature = made.id("feature");
    made.git(&["checkout", "-q", "--track", "-b", "stacked", "feature"]);
    made.commit("on top");
    let base = chosen(&discover(made.root()), &CiHints::default());
    assert_eq!(base.commit.id.as_str(), feature);
    assert!(base.because.contains("upstream branch feature"), "{}", base.because);
}

#[test]
fn a_fresh_branch_is_compared_with_its_own_commit_and_that_is_flagged_when_clean() {
    need_git!();
    let (made, _) = with_feature();
    made.git(&["checkout", "-q", "-b", "fresh"]);
    let repository = discover(made.root());
    let base = chosen(&repository, &CiHints::default());
    assert_eq!(base.commit.id.as_str(), made.id("HEAD"));
    assert!(repository.is_same(&base.commit, &HeadChoice::WorkingTree).unwrap());
    made.write("new", "x");
    assert!(!repository.is_same(&base.commit, &HeadChoice::WorkingTree).unwrap());
    let head = HeadChoice::Commit(repository.head().unwrap());
    assert!(repository.is_same(&base.commit, &head).unwrap());
}

#[test]
fn a_detached_head_on_the_default_branch_is_compared_with_the_commit_before() {
    need_git!();
    let (made, fork) = with_feature();
    made.git(&["checkout", "-q", "--detach", "main"]);
    let base = chosen(&discover(made.root()), &CiHints::default());
    assert_eq!((base.commit.id.as_str(), base.spec.as_str()), (fork.as_str(), "HEAD~1"));
    // With changes that are not committed, these alone are judged.
    made.write("new.rs", "changed");
    let base = chosen(&discover(made.root()), &CiHints::default());
    assert_eq!(base.spec, "HEAD");
    assert_eq!(base.commit.id.as_str(), made.git(&["rev-parse", "HEAD"]).trim());
}

#[test]
fn a_named_head_gets_its_own_base() {
    need_git!();
    let (made, fork) = with_feature();
    let repository = discover(made.root());
    let head = repository.resolve("feature").unwrap();
    let base = match repository.default_base(&HeadChoice::Commit(head), &CiHints::default()).unwrap() {
        DefaultBase::Chosen(base) => base,
        other => panic!("{other:?}"),
    };
    assert_eq!(base.commit.id.as_str(), fork);
    assert!(base.because.contains("merge base"), "{}", base.because);
}

#[test]
fn a_pull_requests_merge_checkout_is_compared_with_its_first_parent() {
    need_git!();
    let (made, _) = with_feature();
    let main = made.id("main");
    made.git(&["checkout", "-q", "--detach", "main"]);
    made.git(&["merge", "-q", "--no-ff", "-m", "merge", "feature"]);
    let repository = discover(made.root());
    let ci = CiHints { pull_request_merge: true, ..CiHints::default() };
    let base = chosen(&repository, &ci);
    assert_eq!((base.commit.id.as_str(), base.spec.as_str()), (main.as_str(), "HEAD^1"));
    // A checkout of the pull request's own branch is no merge: the merge base it is.
    made.git(&["checkout", "-q", "feature"]);
    assert!(chosen(&discover(made.root()), &ci).spec.starts_with("merge-base"));
}

#[test]
fn after_a_push_the_base_is_the_commit_before_it_unless_that_is_of_no_use() {
    need_git!();
    let (made, fork) = with_feature();
    made.git(&["checkout", "-q", "feature"]);
    let before = made.id("feature~1");
    let repository = discover(made.root());
    let push = |before: &str| CiHints { push_before: Some(before.to_owned()), ..CiHints::default() };
    let base = chosen(&repository, &push(&before));
    assert_eq!((base.commit.id.as_str(), base.spec.as_str()), (before.as_str(), before.as_str()));
    for useless in ["0".repeat(40), "1".repeat(40), made.id("HEAD")] {
        let base = chosen(&repository, &push(&useless));
        assert_eq!(base.commit.id.as_str(), fork, "{useless}");
        assert!(base.because.contains("before the push"), "{}", base.because);
    }
    let error = repository.default_base(&HeadChoice::WorkingTree, &push("main")).unwrap_err();
    assert!(error.is_usage(), "{error}");
}

#[test]
fn a_root_commit_has_no_base_and_everything_is_new() {
    need_git!();
    let made = TestRepository::new();
    let base = discover(made.root()).default_base(&HeadChoice::WorkingTree, &CiHints::default()).unwrap();
    assert!(matches!(base, DefaultBase::EverythingIsNew { .. }), "{base:?}");
}

#[test]
fn uncommitted_changes_on_the_default_branch_are_compared_with_head() {
    need_git!();
    let made = TestRepository::new();
    made.write("new.rs", "changed");
    let base = discover(made.root()).default_base(&HeadChoice::WorkingTree, &CiHints::default()).unwrap();
    let DefaultBase::Chosen(base) = base else { panic!("{base:?}") };
    assert_eq!(base.spec, "HEAD");
    assert_eq!(base.commit.id.as_str(), made.git(&["rev-parse", "HEAD"]).trim());
}

#[test]
fn without_common_history_or_a_default_branch_no_base_is_guessed() {
    need_git!();
    let made = TestRepository::new();
    made.git(&["checkout", "-q", "--orphan", "island"]);
    made.commit("island");
    let base = |made: &TestRepository| {
        discover(made.root()).default_base(&HeadChoice::WorkingTree, &CiHints::default())
    };
    let error = base(&made).unwrap_err();
    assert!(
        matches!(error, RevisionError::NoBase { .. }) && error.to_string().contains("no common history"),
        "{error}"
    );
    made.git(&["branch", "-m", "main", "other"]);
    let error = base(&made).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("--base"), "{error}");
    // One branch alone is the default one, whatever its name.
    made.git(&["branch", "-D", "-q", "other"]);
    made.commit("second");
    assert!(matches!(base(&made).unwrap(), DefaultBase::Chosen(base) if base.spec == "HEAD~1"));
}

#[test]
fn a_merge_base_in_a_shallow_clone_is_refused_unless_it_is_certain() {
    need_git!();
    let (made, fork) = with_feature();
    let clone = made.clone_to("shallow", &["--depth", "2", "--no-single-branch", "-b", "feature"]);
    let error = discover(&clone).default_base(&HeadChoice::WorkingTree, &CiHints::default()).unwrap_err();
    assert!(matches!(error, RevisionError::Shallow { .. }) && error.is_usage(), "{error}");
    // One more commit and both ways to the fork are whole, though it is itself where history ends.
    let clone = made.clone_to("deeper", &["--depth", "3", "--no-single-branch", "-b", "feature"]);
    assert_eq!(chosen(&discover(&clone), &CiHints::default()).commit.id.as_str(), fork);
    // The commit before HEAD is behind the end.
    let clone = made.clone_to("flat", &["--depth", "1", "-b", "main"]);
    let error = discover(&clone).default_base(&HeadChoice::WorkingTree, &CiHints::default()).unwrap_err();
    assert!(error.to_string().contains("base HEAD~1 is not in this clone"), "{error}");
    assert!(error.to_string().contains("depth 1"), "{error}");
}
