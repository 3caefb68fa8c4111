//! The line of commits that bisect walks, beside what git lists.

#[path = "common/repository.rs"]
mod repository;

use cargo_benchgate::revision::{Repository, RevisionError};
use repository::{TestRepository, need_git};

/// A history with a side branch that was merged, and one before it that was not.
fn history() -> TestRepository {
    let repository = TestRepository::new();
    let commit = |name: &str| {
        repository.write(name, name);
        repository.commit(name)
    };
    commit("one");
    repository.git(&["tag", "good"]);
    repository.git(&["checkout", "-q", "-b", "side"]);
    commit("side one");
    repository.git(&["tag", "inside"]);
    commit("side two");
    repository.git(&["checkout", "-q", "main"]);
    commit("two");
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge side", "side"]);
    commit("three");
    repository.git(&["checkout", "-q", "-b", "other", "good"]);
    commit("other");
    repository.git(&["checkout", "-q", "main"]);
    repository
}

fn ids(repository: &TestRepository, good: &str, bad: &str) -> Result<Vec<String>, RevisionError> {
    let gix = Repository::discover(repository.root()).expect("it is one");
    let line = gix.line(&gix.resolve(good)?, &gix.resolve(bad)?)?;
    Ok(line.iter().map(|it| it.commit.id.as_str().to_owned()).collect())
}

#[test]
fn the_line_holds_the_descendants_of_good_that_git_lists_along_first_parents() {
    need_git!();
    let repository = history();
    for (good, bad) in
        [("good", "main"), ("inside", "main"), ("good", "side"), ("main~1", "main"), ("main", "main")]
    {
        let range = format!("{good}..{bad}");
        // With both flags at once git gives nothing where good came in by a merge.
        let descendants = repository.git(&["rev-list", "--ancestry-path", &range]);
        let first_parents = repository.git(&["rev-list", "--first-parent", "--reverse", bad]);
        let on_line = first_parents.lines().filter(|id| descendants.contains(id)).map(str::to_owned);
        let wanted: Vec<String> =
            std::iter::once(repository.id(&format!("{good}^{{commit}}"))).chain(on_line).collect();
        assert_eq!(ids(&repository, good, bad).expect("a line"), wanted, "{range}");
    }
}

#[test]
fn a_merge_knows_what_it_brought_in_and_where_that_parted() {
    need_git!();
    let repository = history();
    let gix = Repository::discover(repository.root()).expect("it is one");
    let line = gix
        .line(&gix.resolve("good").expect("it is there"), &gix.resolve("main").expect("it is there"))
        .expect("a line");
    let merges: Vec<_> = line.iter().filter(|it| !it.merged.is_empty()).collect();
    let [merge] = merges.as_slice() else { panic!("one merge, not {}", merges.len()) };
    assert_eq!(merge.merged[0].as_str(), repository.id("side"));
    let parent = gix.resolve("main~2").expect("it is there");
    let fork = gix
        .common_ancestor(&parent.id, &merge.merged[0])
        .expect("history can be read")
        .expect("they have one");
    assert_eq!(fork.id.as_str(), repository.id("good^{commit}"));
}

#[test]
fn ends_that_are_not_on_one_line_are_refused_as_usage() {
    need_git!();
    let repository = history();
    for (good, bad) in [("other", "main"), ("main", "good")] {
        let error = ids(&repository, good, bad).expect_err("there is no line");
        assert!(matches!(error, RevisionError::NotAnAncestor { .. }), "{error}");
        assert!(error.is_usage());
    }
}

#[test]
fn a_shallow_clone_is_told_to_fetch() {
    need_git!();
    let repository = history();
    let clone = repository.clone_to("shallow", &["--depth", "2"]);
    let gix = Repository::discover(&clone).expect("it is one");
    let (shallowest, head) =
        (gix.resolve("HEAD~1").expect("it is there"), gix.resolve("HEAD").expect("it is there"));
    assert_eq!(gix.line(&shallowest, &head).expect("both are there").len(), 2);
    let error = gix.line(&head, &shallowest).expect_err("history ends before");
    assert!(matches!(error, RevisionError::Shallow { .. }), "{error}");
}
