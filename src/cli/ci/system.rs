//! What the environment of a CI system says: variables in, the base to compare with out.

use std::path::Path;

use serde_json::Value;

use crate::error::Error;
use crate::gate::ci::CiBase;

/// The CI system of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct System {
    /// What it is called, with the event it started the run for.
    pub(super) name: String,
    /// What it says about the base.
    pub(super) base: CiBase,
    /// Whether it reads GitHub's workflow commands.
    pub(super) is_github: bool,
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;
type ReadEvent<'a> = &'a dyn Fn(&Path) -> Result<Value, String>;

impl System {
    /// Finds the system by its variables. `read_event` gives the JSON of GitHub's event file.
    ///
    /// # Errors
    ///
    /// An event that must not be measured, or one that lacks what the base is found by.
    pub(super) fn of(variables: Variables<'_>, read_event: ReadEvent<'_>) -> Result<Self, Error> {
        let variable = |name: &str| variables(name).filter(|value| !value.is_empty());
        let named = variable("BENCHGATE_BASE")
            .map(|spec| CiBase::Named { spec, because: "BENCHGATE_BASE names it".to_owned() });
        let event = variable("GITHUB_EVENT_NAME");
        if let Some(event) = event.filter(|_| variable("GITHUB_ACTIONS").is_some_and(|set| set == "true")) {
            refuse_privileged(&event)?;
            let base = named.map_or_else(|| github(&event, &variable, read_event), Ok)?;
            return Ok(Self { name: format!("GitHub Actions, event {event}"), base, is_github: true });
        }
        if variable("GITLAB_CI").is_some_and(|set| set == "true") {
            let source = variable("CI_PIPELINE_SOURCE").unwrap_or_else(|| "unknown".to_owned());
            let base = named.unwrap_or_else(|| gitlab(&source, &variable));
            return Ok(Self { name: format!("GitLab CI, pipeline source {source}"), base, is_github: false });
        }
        let name = match &named {
            Some(_) => "a CI system of another kind",
            None => {
                "no CI system that is known, so the base is chosen as `compare` does; BENCHGATE_BASE names another"
            }
        };
        let base = named.unwrap_or(CiBase::Default { default_branch: None });
        Ok(Self { name: name.to_owned(), base, is_github: false })
    }
}

/// Events whose workflows hold secrets and a token that can write, while the code may be a stranger's.
fn refuse_privileged(event: &str) -> Result<(), Error> {
    if event != "pull_request_target" {
        return Ok(());
    }
    Err(Error::Usage(
        "refusing to run for the event pull_request_target: its workflows hold the repository's secrets and a token that can write, \
         and benchmarks are the code of the pull request, which may come from anyone; run on `pull_request`, and let a second \
         workflow post the comment (`cargo benchgate init --ci github` writes both)"
            .to_owned(),
    ))
}

fn github(
    event: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    read_event: ReadEvent<'_>,
) -> Result<CiBase, Error> {
    let told = match variable("GITHUB_EVENT_PATH") {
        Some(path) => read_event(Path::new(&path)),
        None => Err("GITHUB_EVENT_PATH is not set".to_owned()),
    };
    let text = |pointer: &str| {
        let value = told.as_ref().ok()?.pointer(pointer)?;
        value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let needed = |pointer: &str| {
        text(pointer).ok_or_else(|| {
            let why = told.as_ref().err().cloned().unwrap_or_else(|| format!("it holds no {pointer}"));
            Error::Usage(format!(
                "failed to find the base of the event {event} in GitHub's event file: {why}; name the base in BENCHGATE_BASE or \
                 with --base"
            ))
        })
    };
    let default_branch = text("/repository/default_branch");
    let reference = variable("GITHUB_REF").unwrap_or_default();
    let is_merge = reference.starts_with("refs/pull/") && reference.ends_with("/merge");
    match event {
        "merge_group" => Ok(CiBase::Named {
            spec: needed("/merge_group/base_sha")?,
            because: "the commit the merge group is built on".to_owned(),
        }),
        "push" => Ok(CiBase::Push { before: needed("/before")?, default_branch }),
        _ if event == "pull_request" || is_merge => {
            let branch = variable("GITHUB_BASE_REF").or_else(|| text("/pull_request/base/ref"));
            let targets = [branch.map(|name| format!("origin/{name}")), text("/pull_request/base/sha")];
            Ok(CiBase::Change {
                merge: variable("GITHUB_SHA").filter(|_| is_merge),
                targets: targets.into_iter().flatten().collect(),
            })
        }
        _ => Ok(CiBase::Default { default_branch }),
    }
}

fn gitlab(source: &str, variable: &dyn Fn(&str) -> Option<String>) -> CiBase {
    let default_branch = variable("CI_DEFAULT_BRANCH");
    if source == "merge_request_event" {
        let branch = variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME").map(|name| format!("origin/{name}"));
        let diff_base = variable("CI_MERGE_REQUEST_DIFF_BASE_SHA");
        let merges = variable("CI_MERGE_REQUEST_EVENT_TYPE")
            .is_some_and(|kind| matches!(kind.as_str(), "merged_result" | "merge_train"));
        // Of a merged result the diff's base may be older than the target, whose changes would be judged as well.
        if merges {
            let target = variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA");
            let targets = [target, branch, diff_base].into_iter().flatten().collect();
            return CiBase::Change { merge: variable("CI_COMMIT_SHA"), targets };
        }
        return match diff_base {
            Some(spec) => CiBase::Named { spec, because: "the base of the merge request's diff".to_owned() },
            None => CiBase::Change { merge: None, targets: branch.into_iter().collect() },
        };
    }
    match variable("CI_COMMIT_BEFORE_SHA") {
        Some(before) if source == "push" => CiBase::Push { before, default_branch },
        _ => CiBase::Default { default_branch },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn system(variables: &[(&str, &str)], event: Value) -> Result<System, Error> {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        System::of(&variable, &|_: &Path| Ok(event.clone()))
    }

    fn on_github(more: &[(&str, &str)], event: Value) -> Result<System, Error> {
        let common =
            [("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_PATH", "/event.json"), ("GITHUB_SHA", "c0ffee")];
        system(&[&common[..], more].concat(), event)
    }

    fn on_gitlab(more: &[(&str, &str)]) -> CiBase {
        let common = [("GITLAB_CI", "true"), ("CI_COMMIT_SHA", "c0ffee"), ("CI_DEFAULT_BRANCH", "trunk")];
        system(&[&common[..], more].concat(), Value::Null).expect("GitLab has no event that is refused").base
    }

    fn default(branch: &str) -> CiBase {
        CiBase::Default { default_branch: Some(branch.to_owned()) }
    }

    #[test]
    fn pull_request_takes_the_first_parent_of_githubs_merge_or_the_merge_base_with_its_target() {
        let event = json!({ "pull_request": { "base": { "sha": "ba5e", "ref": "next" } } });
        let variables = [
            ("GITHUB_EVENT_NAME", "pull_request"),
            ("GITHUB_REF", "refs/pull/7/merge"),
            ("GITHUB_BASE_REF", "next"),
        ];
        let expected = CiBase::Change {
            merge: Some("c0ffee".to_owned()),
            targets: vec!["origin/next".to_owned(), "ba5e".to_owned()],
        };
        let found = on_github(&variables, event).expect("it is measured");
        assert_eq!((found.base, found.is_github), (expected, true));
    }

    #[test]
    fn merge_group_takes_its_base_from_the_event_and_fails_without() {
        let group = [("GITHUB_EVENT_NAME", "merge_group")];
        let found = on_github(&group, json!({ "merge_group": { "base_sha": "ba5e" } })).expect("it is there");
        assert!(matches!(found.base, CiBase::Named { spec, .. } if spec == "ba5e"));
        let error = on_github(&group, json!({})).expect_err("there is no base").to_string();
        assert!(error.contains("/merge_group/base_sha") && error.contains("BENCHGATE_BASE"), "{error}");
    }

    #[test]
    fn push_takes_the_commit_before_and_a_schedule_the_default_rule() {
        let event = json!({ "before": "ba5e", "repository": { "default_branch": "trunk" } });
        let push = on_github(&[("GITHUB_EVENT_NAME", "push")], event.clone()).expect("it is measured");
        let default_branch = Some("trunk".to_owned());
        assert_eq!(push.base, CiBase::Push { before: "ba5e".to_owned(), default_branch });
        for word in ["schedule", "workflow_dispatch"] {
            let found = on_github(&[("GITHUB_EVENT_NAME", word)], event.clone()).expect("it is measured");
            assert_eq!(found.base, default("trunk"));
        }
    }

    #[test]
    fn pull_request_target_is_refused_whatever_base_is_named() {
        let variables = [("GITHUB_EVENT_NAME", "pull_request_target"), ("BENCHGATE_BASE", "main")];
        let error = on_github(&variables, json!({})).expect_err("it must not run").to_string();
        assert!(error.contains("secrets") && error.contains("init --ci github"), "{error}");
    }

    #[test]
    fn merge_request_takes_the_base_of_its_diff_and_a_merged_result_its_first_parent() {
        let request =
            [("CI_PIPELINE_SOURCE", "merge_request_event"), ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "ba5e")];
        assert!(matches!(on_gitlab(&request), CiBase::Named { spec, .. } if spec == "ba5e"));
        let merged = [
            ("CI_MERGE_REQUEST_EVENT_TYPE", "merged_result"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "7a26e7"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "trunk"),
        ];
        let expected = CiBase::Change {
            merge: Some("c0ffee".to_owned()),
            targets: vec!["7a26e7".to_owned(), "origin/trunk".to_owned(), "ba5e".to_owned()],
        };
        assert_eq!(on_gitlab(&[&request[..], &merged[..]].concat()), expected);
    }

    #[test]
    fn gitlab_push_takes_the_commit_before_and_other_pipelines_the_default_rule() {
        let before = |source| on_gitlab(&[("CI_PIPELINE_SOURCE", source), ("CI_COMMIT_BEFORE_SHA", "ba5e")]);
        assert!(matches!(before("push"), CiBase::Push { before, .. } if before == "ba5e"));
        assert_eq!(before("schedule"), default("trunk"));
    }

    #[test]
    fn benchgate_base_comes_before_all_systems_and_an_empty_one_counts_as_absent() {
        for more in [&[][..], &[("GITLAB_CI", "true"), ("CI_COMMIT_BEFORE_SHA", "c0ffee")][..]] {
            let found = system(&[&[("BENCHGATE_BASE", "v1")][..], more].concat(), Value::Null).expect("fine");
            assert!(matches!(found.base, CiBase::Named { spec, .. } if spec == "v1"));
        }
        let nothing = system(&[("BENCHGATE_BASE", "")], Value::Null).expect("fine");
        assert_eq!(nothing.base, CiBase::Default { default_branch: None });
        assert!(nothing.name.contains("no CI system"));
    }
}
