//! Which revisions are compared.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{Command, Context, HeadRequest};
use crate::error::Error;
use crate::report::model::Revision;
use crate::revision::checkout::named;
use crate::revision::{CiHints, Commit, Content, DefaultBase, HeadChoice};
use crate::suite::Suite;
use crate::ui::Ui;

/// The revisions of a run. `base` is `None` when head is measured alone.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) base: Option<Side>,
    pub(super) head: Side,
    /// More revisions to compare with the first.
    pub(super) further: Vec<Side>,
    /// Why there is no base although one was wanted.
    pub(super) everything_is_new: Option<String>,
    /// Whether both sides hold the same files.
    pub(super) same: bool,
}

/// One chosen revision.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) name: String,
    pub(super) spec: String,
    pub(super) commit: Commit,
    pub(super) content: Content,
    pub(super) dirty: bool,
    pub(super) because: Option<String>,
}

impl Side {
    /// A commit under a name.
    pub(super) fn of_commit(name: &str, spec: &str, commit: Commit) -> Self {
        let content = Content::Commit(commit.clone());
        Self { name: name.to_owned(), spec: spec.to_owned(), commit, content, dirty: false, because: None }
    }

    pub(super) fn report(&self) -> Revision {
        Revision {
            name: self.name.clone(),
            spec: self.spec.clone(),
            commit: Some(self.commit.id.as_str().to_owned()),
            subject: Some(self.commit.subject.clone()),
            dirty: self.dirty,
            chosen_because: self.because.clone(),
            committed_at: Some(self.commit.committed_at.to_string()),
        }
    }

    /// How messages call it, such as `base (4f2a91c)`.
    pub(super) fn label(&self) -> String {
        let dirty = if self.dirty { ", with uncommitted changes" } else { "" };
        format!("{} ({}{dirty})", self.name, self.commit.id.short())
    }
}

/// The head that was asked for.
pub(super) fn head(context: &Context<'_>) -> Result<Side, Error> {
    let repository = &context.repository;
    let name = "head".to_owned();
    match &context.request.head {
        HeadRequest::WorkingTree if repository.has_work_tree() => {
            let commit = repository.head()?;
            // What else to include is in the suite, which is not read yet.
            let content = Content::WorkingTree { head: commit.clone(), include: Vec::new() };
            let dirty = repository.is_dirty()?;
            Ok(Side { name, spec: "worktree".to_owned(), commit, content, dirty, because: None })
        }
        HeadRequest::WorkingTree => Err(Error::Usage(
            "the repository is bare, so there is no working tree to measure; name a revision with --head"
                .to_owned(),
        )),
        HeadRequest::Revision(spec) => {
            let commit = repository.resolve(spec)?;
            Ok(Side::of_commit(&name, spec, commit))
        }
    }
}

/// Chooses the other revisions: flags, then the suite, then the repository.
pub(super) fn choose(context: &Context<'_>, suite: &Suite, mut head: Side) -> Result<Chosen, Error> {
    let repository = &context.repository;
    let choice = match &mut head.content {
        Content::WorkingTree { include, .. } => {
            include.clone_from(&suite.run.snapshot_include);
            HeadChoice::WorkingTree
        }
        Content::Commit(commit) => HeadChoice::Commit(commit.clone()),
    };
    let mut chosen = Chosen { base: None, head, further: Vec::new(), everything_is_new: None, same: false };
    if context.request.command != Command::Compare {
        return Ok(chosen);
    }
    for (number, spec) in context.request.further.iter().enumerate() {
        let commit = repository.resolve(spec)?;
        let content = Content::Commit(commit.clone());
        let name = format!("ref{}", number + 1);
        chosen.further.push(Side { name, spec: spec.clone(), commit, content, dirty: false, because: None });
    }
    let from_suite = suite.run.base.as_ref();
    let from_ci = match (&context.request.base, &context.request.ci) {
        (None, Some(ci)) => {
            super::ci::base(ci, repository, &chosen.head.commit, &choice, from_suite.is_some())?
        }
        _ => None,
    };
    let wanted = context.request.base.as_ref().or(from_suite.filter(|_| from_ci.is_none())).cloned();
    let (spec, commit, because) = match wanted {
        Some(spec) => (spec.clone(), repository.resolve(&spec)?, None),
        None => {
            match from_ci.map_or_else(|| repository.default_base(&choice, &hints(context, &chosen)), Ok)? {
                DefaultBase::Chosen(base) => (base.spec, base.commit, Some(base.because)),
                DefaultBase::EverythingIsNew { because } => {
                    chosen.everything_is_new = Some(because);
                    return Ok(chosen);
                }
            }
        }
    };
    chosen.same = repository.is_same(&commit, &choice)?;
    let content = Content::Commit(commit.clone());
    chosen.base = Some(Side { name: "base".to_owned(), spec, commit, content, dirty: false, because });
    Ok(chosen)
}

/// What the CI system says about the checkout, as far as it is true of this one.
fn hints(context: &Context<'_>, chosen: &Chosen) -> CiHints {
    let environment = context.environment;
    let mut hints = environment.ci.clone();
    // Another commit than GitHub's own merge may have two parents, too: that of a head which merged its target last.
    let merge = environment.variable("GITHUB_SHA").filter(|sha| !sha.is_empty());
    hints.pull_request_merge &= merge.is_none_or(|sha| sha == chosen.head.commit.id.as_str());
    hints
}

impl Chosen {
    /// All revisions, base first.
    pub(super) fn sides(&self) -> impl Iterator<Item = &Side> {
        self.base.iter().chain([&self.head]).chain(&self.further)
    }
}

/// Says what was chosen, and why.
pub(super) fn announce(chosen: &Chosen, ui: &Ui) {
    for side in chosen.sides() {
        let mut line = format!("{} {} {}", side.spec, side.commit.id.short(), quoted(&side.commit.subject));
        if side.dirty {
            line.push_str(" with uncommitted changes");
        }
        if let Some(because) = &side.because {
            let _ = write!(line, ": {because}");
        }
        let verb = match side.name.as_str() {
            "base" => "Base",
            "head" => "Head",
            _ => "Ref",
        };
        ui.status(verb, line);
    }
    if let Some(because) = &chosen.everything_is_new {
        ui.note(format!("{because}; every benchmark is new, and only budgets are checked"));
    }
    if chosen.same {
        ui.note(
            "base and head hold the same files, so this measures a revision against itself: every regression or improvement is \
             a false alarm of this machine",
        );
    }
}

/// The warning on files of the user's tree that changed between their copy and the end of the builds.
pub(super) fn edited_while_building(edited: &[PathBuf]) -> String {
    format!(
        "the working tree was edited while it was built: {}; what is measured is how it was when the run began, so run again \
         for the tree as it is now",
        crate::report::text::visible(&named(edited))
    )
}

/// The notes on all checkouts, in order: one that all have once, another with the name of its revision.
pub(super) fn notes_of_all(sides: &[(&str, &[String])]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (name, notes) in sides {
        for note in *notes {
            let shared = sides.iter().all(|(_, notes)| notes.contains(note));
            let text = if shared { note.clone() } else { format!("{name}: {note}") };
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all
}

fn quoted(subject: &str) -> String {
    format!("({})", crate::report::text::visible(subject))
}

/// What would be built and measured.
pub(super) fn steps(chosen: &Chosen, suite: &Suite, seed: u64) -> String {
    let mut text = String::new();
    for side in chosen.sides() {
        let _ = writeln!(text, "build {} from {}, profile {}:", side.label(), side.spec, suite.run.profile);
        for target in suite.targets() {
            let _ = writeln!(text, "  {}", target.id);
        }
    }
    let sides = if chosen.base.is_some() { "base and head interleaved" } else { "head alone" };
    let _ = writeln!(text, "measure {sides}, seed {seed}:");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_of_one_revision_alone_names_it() {
        let (both, one) = ("in both".to_owned(), "in one".to_owned());
        let head = [both.clone(), one];
        let sides = [("base", std::slice::from_ref(&both)), ("head", &head[..])];
        assert_eq!(notes_of_all(&sides), ["in both", "head: in one"]);
        assert_eq!(notes_of_all(&sides[..1]), ["in both"]);
    }

    #[test]
    fn first_edited_files_are_named_and_the_rest_counted() {
        let files: Vec<PathBuf> = (0..7).map(|number| format!("src/{number}.rs").into()).collect();
        let text = edited_while_building(&files);
        assert!(text.contains("src/4.rs and 2 more;") && !text.contains("5.rs"), "{text}");
    }
}
