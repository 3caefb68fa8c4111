//! The built programs of a run, and how those of head stand to those of base.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::build::{self, Built, Comparability, Likeness, Located, TreeFile};
use crate::error::Error;
use crate::report::model::{DependencyChange, RevisionBuild};
use crate::revision::{CheckedOutFile, Checkout, Slot};
use crate::suite::identity::TargetId;
use crate::suite::launch::{Hooks, Launch, Work};
use crate::ui::Ui;

/// The built programs of a run. Dropping it removes the worktrees.
#[derive(Debug)]
pub(super) struct Programs {
    /// In the order of the report: base where there is one, head, further revisions.
    pub(super) sides: Vec<BuiltSide>,
    /// The place of head among them.
    pub(super) head: usize,
    /// Bench targets that only base has.
    pub(super) removed: Vec<TargetId>,
    /// How each was built.
    pub(super) builds: Vec<RevisionBuild>,
    /// How the dependencies of base and head differ.
    pub(super) dependency_changes: Vec<DependencyChange>,
    /// What advises the reader.
    pub(super) warnings: Vec<String>,
    /// How head's programs compare with base's; empty when that is not wanted.
    pub(super) compared: BTreeMap<TargetId, Comparability>,
    /// Changed files that count only where something names them.
    pub(super) named_files: Vec<PathBuf>,
}

/// One revision's programs.
#[derive(Debug)]
pub(super) struct BuiltSide {
    pub(super) name: String,
    /// The directory in the slot that the fixed path leads to when it is run.
    pub(super) place: String,
    /// By head's names of the targets.
    pub(super) built: Built,
    /// Targets that are not built because head moved them away from the built-in harness: on a stable toolchain they
    /// would not even compile.
    pub(super) left_behind: BTreeSet<TargetId>,
    pub(super) checkout: Checkout,
}

impl Programs {
    pub(super) fn head(&self) -> &BuiltSide {
        &self.sides[self.head]
    }

    /// Base, where there is one: it is always the first.
    pub(super) fn base(&self) -> Option<&BuiltSide> {
        (0 < self.head).then(|| &self.sides[0])
    }

    /// The places of the revisions beyond head.
    pub(super) fn further(&self) -> std::ops::Range<usize> {
        self.head + 1..self.sides.len()
    }

    /// Whether base and head run the same program on the same inputs, so that there is nothing to measure. With further
    /// revisions everything is measured.
    pub(super) fn is_unchanged(&self, target: &TargetId) -> bool {
        self.further().is_empty()
            && self
                .compared
                .get(target)
                .is_some_and(|it| it.likeness == Likeness::Same && it.changed_input.is_none())
    }

    /// Whether a launch names a file that changed and that counts only then, or a directory above one.
    pub(super) fn names_a_change(&self, launch: &Launch) -> bool {
        // Hooks may build or make anything from any file.
        if launch.hooks != Hooks::default() && !self.named_files.is_empty() {
            return true;
        }
        let file = match &launch.work {
            Some(Work::File(file)) => Some(file),
            Some(Work::Value { .. }) | None => None,
        };
        let places = launch.cwd.iter().chain(&launch.stdin).chain(file);
        let words = launch.args.iter().chain(launch.env.values()).chain(places);
        words.into_iter().any(|word| build::names_any(word, &self.named_files))
    }

    /// What a reader of a change of this target should know: the code is the same on both sides.
    pub(super) fn code_note(&self, target: &TargetId) -> Option<String> {
        let compared = self.compared.get(target)?;
        match (compared.likeness, &compared.changed_input) {
            (Likeness::Same, Some(input)) => Some(format!(
                "the programs of both sides are identical; measured since {input}"
            )),
            (Likeness::Same, None) => {
                Some("the programs of both sides are identical, so a difference in time is noise".to_owned())
            }
            (Likeness::SameCode, _) => Some(
                "the machine code of both sides is identical and only data differ, so a difference in time is most likely noise"
                    .to_owned(),
            ),
            (Likeness::Different, _) => None,
        }
    }

    /// Makes all worktrees look alike to git: a command that asks git about its repository must cost the same on all
    /// sides.
    pub(super) fn settle(&self) -> Result<(), Error> {
        for side in &self.sides {
            side.checkout.refresh_index()?;
        }
        Ok(())
    }

    /// Compares head's programs with base's.
    pub(super) fn compare(&mut self, slot: &Slot, ui: &Ui) -> Result<(), Error> {
        let Some(base) = self.base() else { return Ok(()) };
        let head = self.head();
        let changed = build::changed_files(&tree_files(&base.checkout), &tree_files(&head.checkout));
        let mut compared = BTreeMap::new();
        for (target, program) in &head.built.targets {
            let (Ok(program), Some(Ok(other))) = (program, base.built.targets.get(target)) else { continue };
            let live_target = slot.live_target();
            let places = [base, head].map(|side| slot.target(&side.place));
            let located = |built, place| Located { built, live_target: &live_target, target: place };
            let found = build::compare(located(other, &places[0]), located(program, &places[1]), &changed)?;
            if let (Likeness::Same, Some(input)) = (found.likeness, &found.changed_input) {
                ui.detail("Identical", format!("{target}, measured all the same: {input}"));
            }
            compared.insert(target.clone(), found);
        }
        self.named_files = build::named_files(&changed);
        self.compared = compared;
        Ok(())
    }

    /// Removes the worktrees, or says where they are. What goes wrong is told as text.
    pub(super) fn finish(self, keep: bool, ui: &Ui) -> Result<(), String> {
        let mut failure = Ok(());
        for side in self.sides {
            if keep {
                match side.checkout.keep() {
                    Ok(path) => ui.status("Kept", format!("{} in {}", side.name, path.display())),
                    Err(error) => failure = Err(error.to_string()),
                }
            } else if let Err(error) = side.checkout.remove() {
                failure = Err(error.to_string());
            }
        }
        failure
    }
}

/// The files of a checkout, as the build room knows them.
pub(super) fn tree_files(checkout: &Checkout) -> Vec<TreeFile> {
    let file = |file: &CheckedOutFile| TreeFile { path: file.path.clone(), blob: file.blob.clone() };
    checkout.files.iter().map(file).collect()
}
