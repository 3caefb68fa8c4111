//! Which revisions are compared.

use std::fmt::Write as _;

use super::{Command, Context, HeadRequest};
use crate::error::Error;
use crate::report::model::Revision;
use crate::revision::{Commit, Content, DefaultBase, HeadChoice};
use crate::suite::Suite;
use crate::ui::{self, Ui};

/// The revisions of a run. `base` is `None` when head is measured alone.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) base: Option<Side>,
    pub(super) head: Side,
    /// Why there is no base although one was wanted.
    pub(super) everything_is_new: Option<String>,
    /// Whether both sides hold the same files.
    pub(super) same: bool,
}

/// One chosen revision.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) name: &'static str,
    pub(super) spec: String,
    pub(super) commit: Commit,
    pub(super) content: Content,
    pub(super) dirty: bool,
    pub(super) because: Option<String>,
}

impl Side {
    pub(super) fn report(&self) -> Revision {
        Revision {
            name: self.name.to_owned(),
            spec: self.spec.clone(),
            commit: Some(self.commit.id.as_str().to_owned()),
            subject: Some(self.commit.subject.clone()),
            dirty: self.dirty,
            chosen_because: self.because.clone(),
        }
    }

    /// How messages call it, such as `base (4f2a91c)`.
    pub(super) fn label(&self) -> String {
        let dirty = if self.dirty { ", with uncommitted changes" } else { "" };
        format!("{} ({}{dirty})", self.name, self.commit.id.short())
    }
}

/// Chooses the revisions: flags, then the suite, then the repository.
pub(super) fn choose(context: &Context<'_>, suite: &Suite) -> Result<Chosen, Error> {
    let repository = &context.repository;
    let (head, choice) = match &context.request.head {
        HeadRequest::WorkingTree if repository.has_work_tree() => {
            let commit = repository.head()?;
            let content =
                Content::WorkingTree { head: commit.clone(), include: suite.run.snapshot_include.clone() };
            let dirty = repository.is_dirty()?;
            let spec = "worktree".to_owned();
            (Side { name: "head", spec, commit, content, dirty, because: None }, HeadChoice::WorkingTree)
        }
        HeadRequest::WorkingTree => {
            return Err(Error::Usage(
                "the repository is bare, so there is no working tree to measure; name a revision with --head"
                    .to_owned(),
            ));
        }
        HeadRequest::Revision(spec) => {
            let commit = repository.resolve(spec)?;
            let content = Content::Commit(commit.clone());
            let side = Side {
                name: "head",
                spec: spec.clone(),
                commit: commit.clone(),
                content,
                dirty: false,
                because: None,
            };
            (side, HeadChoice::Commit(commit))
        }
    };
    let mut chosen = Chosen { base: None, head, everything_is_new: None, same: false };
    if context.request.command == Command::Run {
        return Ok(chosen);
    }
    let wanted = context.request.base.clone().or_else(|| suite.run.base.clone());
    let (spec, commit, because) = match wanted {
        Some(spec) => (spec.clone(), repository.resolve(&spec)?, None),
        None => match repository.default_base(&choice, &context.environment.ci)? {
            DefaultBase::Chosen(base) => (base.spec, base.commit, Some(base.because)),
            DefaultBase::EverythingIsNew { because } => {
                chosen.everything_is_new = Some(because);
                return Ok(chosen);
            }
        },
    };
    chosen.same = repository.is_same(&commit, &choice)?;
    let content = Content::Commit(commit.clone());
    chosen.base = Some(Side { name: "base", spec, commit, content, dirty: false, because });
    Ok(chosen)
}

/// Says what was chosen, and why.
pub(super) fn announce(chosen: &Chosen, ui: &Ui) {
    for side in chosen.base.iter().chain([&chosen.head]) {
        let mut line = format!("{} {} {}", side.spec, side.commit.id.short(), quoted(&side.commit.subject));
        if side.dirty {
            line.push_str(" with uncommitted changes");
        }
        if let Some(because) = &side.because {
            let _ = write!(line, ": {because}");
        }
        let verb = if side.name == "base" { "Base" } else { "Head" };
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

fn quoted(subject: &str) -> String {
    format!("({})", crate::report::text::visible(subject))
}

/// What `--dry-run` prints on stdout.
pub(super) fn show_plan(chosen: &Chosen, suite: &Suite, context: &Context<'_>) -> Result<(), Error> {
    let mut text = String::new();
    for side in chosen.base.iter().chain([&chosen.head]) {
        let _ = writeln!(text, "build {} from {}, profile {}:", side.label(), side.spec, suite.run.profile);
        for target in suite.targets() {
            let _ = writeln!(text, "  {}", target.id);
        }
    }
    let sides = if chosen.base.is_some() { "base and head interleaved" } else { "head alone" };
    let _ = writeln!(text, "measure {sides}, seed {}:", context.seed);
    ui::print(text.as_bytes())
        .map_err(|error| Error::Execution(format!("failed to write the plan to stdout: {error}")))?;
    ui::print(crate::cli::list::render(suite).as_bytes())
        .map_err(|error| Error::Execution(format!("failed to write the plan to stdout: {error}")))
}
