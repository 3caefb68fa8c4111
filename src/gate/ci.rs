//! The base of a run that a CI system started, from what that system says.

use crate::error::Error;
use crate::revision::{CiHints, Commit, DefaultBase, HeadChoice, Repository, RevisionError};

/// What a CI system says about the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CiBase {
    /// One commit.
    Named {
        /// A revision.
        spec: String,
        /// Why it is the base, for people.
        because: String,
    },
    /// The change of a pull or merge request.
    Change {
        /// The id of the commit that merges the change into its target, where the system makes one. Where it is checked out,
        /// its first parent is the base.
        merge: Option<String>,
        /// The target of the change, the best name first: head's merge base with it is the base otherwise.
        targets: Vec<String>,
    },
    /// A push.
    Push {
        /// The commit the branch was at before; all zeros for a new branch.
        before: String,
        /// The default branch, for when there was nothing before.
        default_branch: Option<String>,
    },
    /// Neither a change nor a push: what `compare` would take.
    Default {
        /// The default branch.
        default_branch: Option<String>,
    },
}

/// The base; `None`: the system says nothing that would come before the suite's own `base`.
pub(super) fn base(
    ci: &CiBase,
    repository: &Repository,
    head: &Commit,
    choice: &HeadChoice,
    suite_has_base: bool,
) -> Result<Option<DefaultBase>, Error> {
    let by_rule = |hints: CiHints| Ok(Some(repository.default_base(choice, &hints)?));
    match ci {
        CiBase::Named { spec, because } => {
            let commit = repository.resolve(spec).map_err(|error| not_there(because, &error))?;
            Ok(Some(DefaultBase::Chosen(crate::revision::BaseChoice {
                commit,
                spec: spec.clone(),
                because: because.clone(),
            })))
        }
        CiBase::Change { merge, targets } => {
            // A head branch that merged its target last has two parents, too: only the system's own merge will do.
            if merge.as_deref() == Some(head.id.as_str()) && repository.is_merge(&head.id)? {
                return by_rule(CiHints { pull_request_merge: true, ..CiHints::default() });
            }
            change(repository, head, targets).map(Some)
        }
        CiBase::Push { before, default_branch } => by_rule(CiHints {
            push_before: Some(before.clone()).filter(|before| before.bytes().any(|byte| byte != b'0')),
            default_branch: default_branch.clone(),
            ..CiHints::default()
        }),
        CiBase::Default { .. } if suite_has_base => Ok(None),
        CiBase::Default { default_branch } => {
            by_rule(CiHints { default_branch: default_branch.clone(), ..CiHints::default() })
        }
    }
}

/// The merge base with the first target that is in the clone.
fn change(repository: &Repository, head: &Commit, targets: &[String]) -> Result<DefaultBase, Error> {
    let mut failure = None;
    for target in targets {
        match repository.merge_base_with(head, target, "the target of the change,") {
            Ok(base) => return Ok(DefaultBase::Chosen(base)),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(match failure {
        Some(error) => not_there("the target of the change", &error),
        None => Error::Usage(
            "the CI system does not say what the change is to be merged into; name the base in BENCHGATE_BASE or with --base"
                .to_owned(),
        ),
    })
}

/// A commit the system names is mostly missing because the clone holds too little.
fn not_there(what: &str, error: &RevisionError) -> Error {
    Error::Usage(format!(
        "failed to find the base ({what}): {error}; a checkout with all of the history has it (`fetch-depth: 0` for GitHub's \
         checkout, GIT_DEPTH: \"0\" for GitLab)"
    ))
}
