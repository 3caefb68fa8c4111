//! The files of a CI system.

use super::Place;
use super::change::Change;
use crate::error::Error;
use crate::report::text::shell_word;
use crate::ui::Ui;

const GITHUB: &str = include_str!("templates/github.yml");
const GITHUB_COMMENT: &str = include_str!("templates/github-comment.yml");
const GITLAB: &str = include_str!("templates/gitlab.yml");
const GITLAB_PATH: &str = ".gitlab/benchgate.yml";
const GITLAB_INCLUDE: &str = "include:\n  - local: .gitlab/benchgate.yml\n";

/// The workflow that measures, and the one that posts a comment.
pub(super) fn github(place: &Place) -> Vec<Change> {
    let workflows = place.root.join(".github/workflows");
    vec![
        Change::file(workflows.join("benchgate.yml"), filled(GITHUB, place)),
        Change::file(workflows.join("benchgate-comment.yml"), GITHUB_COMMENT.to_owned()),
    ]
}

/// The job, and the file that includes it where there is none yet; one that is there is never edited.
pub(super) fn gitlab(place: &Place, ui: &Ui) -> Result<Vec<Change>, Error> {
    let mut changes = vec![Change::file(place.root.join(GITLAB_PATH), filled(GITLAB, place))];
    let pipeline = place.root.join(".gitlab-ci.yml");
    match fs_err::read(&pipeline) {
        Ok(bytes) if String::from_utf8_lossy(&bytes).contains(GITLAB_PATH) => {}
        Ok(_) => ui.warn(format!(
            ".gitlab-ci.yml is there already and is left alone; add to it: include: [{{ local: {GITLAB_PATH} }}], or one more \
             item where `include:` is there"
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            changes.push(Change::file(pipeline, GITLAB_INCLUDE.to_owned()));
        }
        Err(error) => return Err(Error::Execution(format!("failed to read the pipeline: {error}"))),
    }
    Ok(changes)
}

fn filled(template: &str, place: &Place) -> String {
    let args = match place.below.as_os_str().is_empty() {
        true => String::new(),
        false => {
            format!(" --manifest-path {}", shell_word(&place.below.join("Cargo.toml").to_string_lossy()))
        }
    };
    template
        .replace("{VERSION}", env!("CARGO_PKG_VERSION"))
        .replace("{BRANCH}", &place.branch)
        .replace("{ARGS}", &args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_have_no_placeholder_left() {
        let place = Place { root: "/r".into(), below: "crates/a b".into(), branch: "trunk".into() };
        for text in [filled(GITHUB, &place), filled(GITLAB, &place)] {
            assert!(!text.contains("{VERSION}") && !text.contains("{BRANCH}") && !text.contains("{ARGS}"));
            assert!(text.contains("benchgate ci --manifest-path 'crates/a b/Cargo.toml'"), "{text}");
        }
        assert!(filled(GITHUB, &place).contains("branches: [\"trunk\"]"));
    }
}
