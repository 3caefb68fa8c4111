//! Both revisions checked out and built.

use std::collections::BTreeSet;
use std::path::Path;

use super::Context;
use super::choice::{self, Chosen, Side};
use crate::build::{self, BuildPlace, Built, CargoSettings, Diagnostics, TreeFile, Workspace};
use crate::error::Error;
use crate::revision::{CheckedOutFile, Checkout, Slot};
use crate::suite::identity::{TargetId, TargetKind};
use crate::suite::{Selection, Suite};
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
    /// What advises the reader.
    pub(super) warnings: Vec<String>,
}

/// One revision's programs.
#[derive(Debug)]
pub(super) struct BuiltSide {
    pub(super) name: String,
    pub(super) built: Built,
    /// Targets that are not built because head moved them away from the built-in harness: on a stable toolchain they
    /// would not even compile.
    pub(super) left_behind: BTreeSet<TargetId>,
    checkout: Checkout,
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

/// What building needs beside the run's context.
pub(super) struct Builder<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) suite: &'a Suite,
    pub(super) cargo: &'a CargoSettings,
    pub(super) slot: &'a Slot,
    pub(super) targets: Vec<TargetId>,
    pub(super) warnings: Vec<String>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        suite: &'a Suite,
        cargo: &'a CargoSettings,
        slot: &'a Slot,
    ) -> Self {
        let targets = suite.targets().iter().map(|plan| plan.id.clone()).collect();
        Self { context, suite, cargo, slot, targets, warnings: Vec::new() }
    }

    /// Builds head from its checkout, then checks out and builds base and what is further asked for; then makes all
    /// worktrees look alike to git.
    pub(super) fn build(mut self, head_checkout: Checkout, chosen: &Chosen) -> Result<Programs, Error> {
        let context = self.context;
        let place = self.point(&chosen.head)?;
        // A lock file that git ignores is part of the user's tree all the same: all sides get its versions.
        let user_lock = context.repository.root().join(&context.manifest).with_file_name("Cargo.lock");
        self.prepare_lock(&place, &user_lock)?;
        let built = self.compile(&place, &head_checkout, &self.targets)?;
        let head_lock = place.tree.join(&context.manifest).with_file_name("Cargo.lock");
        let left_behind = BTreeSet::new();
        let head = BuiltSide { name: chosen.head.name.clone(), built, left_behind, checkout: head_checkout };

        let mut sides = Vec::new();
        let mut removed = Vec::new();
        if let Some(base) = &chosen.base {
            let (side, workspaces) = self.build_other(base, chosen, (&place, &head.built), &head_lock)?;
            removed = workspaces
                .map(|workspaces| workspaces.removed(self.suite, &context.request.selection))
                .unwrap_or_default();
            sides.push(side);
        }
        let head_place = sides.len();
        sides.push(head);
        for further in &chosen.further {
            sides.push(self.build_other(further, chosen, (&place, &sides[head_place].built), &head_lock)?.0);
        }
        // A command that asks git about its repository must cost the same on all sides.
        for side in &sides {
            side.checkout.refresh_index()?;
            let edited = side.checkout.edited_since(&context.environment.interrupted)?;
            if !edited.is_empty() {
                self.warnings.push(choice::edited_while_building(&edited));
            }
        }
        let notes: Vec<_> = sides.iter().map(|side| (&*side.name, &side.checkout.notes[..])).collect();
        self.warnings.extend(choice::notes_of_all(&notes));
        Ok(Programs { sides, head: head_place, removed, warnings: self.warnings })
    }

    /// Checks out and builds another revision than head, from head's dependencies and lock.
    fn build_other(
        &mut self,
        side: &Side,
        chosen: &Chosen,
        (head, built_head): (&BuildPlace, &Built),
        head_lock: &Path,
    ) -> Result<(BuiltSide, Option<Workspaces>), Error> {
        let context = self.context;
        let checkout = check_out(context, self.slot, side)?;
        let place = self.point(side)?;
        let name = side.name.clone();
        if !place.live_tree.join(&context.manifest).is_file() {
            let manifest = context.manifest.display();
            self.warnings.push(format!("{} has no {manifest}: everything is new against it", side.label()));
            let built = Built { missing: self.targets.clone(), ..Built::default() };
            return Ok((BuiltSide { name, built, left_behind: BTreeSet::new(), checkout }, None));
        }
        let workspaces =
            Workspaces::read(self.cargo, self.slot, &context.manifest, [&side.name, &chosen.head.name])?;
        let place = self.point(side).map(|_| place)?;
        if build::seed_target(&head.target, &place.target, &workspaces.members())? {
            context
                .ui
                .detail("Seeded", format!("the target directory of {} with head's dependencies", side.name));
        }
        self.prepare_lock(&place, head_lock)?;
        let left_behind = workspaces.left_behind(built_head)?;
        let targets: Vec<TargetId> =
            self.targets.iter().filter(|target| !left_behind.contains(target)).cloned().collect();
        let built = self.compile(&place, &checkout, &targets)?;
        Ok((BuiltSide { name, built, left_behind, checkout }, Some(workspaces)))
    }

    /// Flips the fixed path to a revision.
    fn point(&self, side: &Side) -> Result<BuildPlace, Error> {
        self.slot.point_at(&side.name).map_err(|error| failed_to_point(&error))?;
        Ok(BuildPlace {
            revision: side.label(),
            live_tree: self.slot.live_tree(),
            live_target: self.slot.live_target(),
            tree: self.slot.tree(&side.name),
            target: self.slot.target(&side.name),
        })
    }

    fn prepare_lock(&self, place: &BuildPlace, fallback: &Path) -> Result<(), Error> {
        let fallback = Some(fallback).filter(|lock| lock.is_file());
        build::prepare_lock(self.cargo, place, &self.context.manifest, fallback)?;
        Ok(())
    }

    fn compile(&self, place: &BuildPlace, checkout: &Checkout, targets: &[TargetId]) -> Result<Built, Error> {
        let ui = self.context.ui;
        ui.status("Building", &place.revision);
        let file = |file: &CheckedOutFile| TreeFile { path: file.path.clone(), blob: file.blob.clone() };
        let files: Vec<TreeFile> = checkout.files.iter().map(file).collect();
        build::restore_times(&place.tree, &files, &place.target)?;
        let built = build::build_targets(
            self.cargo,
            place,
            &self.context.manifest,
            targets,
            &Diagnostics::Inherit,
            &self.context.environment.interrupted,
        )?;
        for line in &built.text {
            ui.detail("Cargo", crate::report::text::visible(line));
        }
        Ok(built)
    }
}

/// Checks a revision out into its place in the slot.
pub(super) fn check_out(context: &Context<'_>, slot: &Slot, side: &Side) -> Result<Checkout, Error> {
    context.ui.detail("Checking out", format!("{} into {}", side.label(), slot.tree(&side.name).display()));
    let checkout = slot.checkout(&side.name, side.content.clone(), &context.environment.interrupted)?;
    // At once, too: they may say why the build is about to fail.
    for note in &checkout.notes {
        context.ui.note(format!("{}: {note}", side.name));
    }
    Ok(checkout)
}

/// What cargo says of both revisions' workspaces.
struct Workspaces {
    base: Workspace,
    head: Workspace,
}

impl Workspaces {
    fn read(cargo: &CargoSettings, slot: &Slot, manifest: &Path, names: [&str; 2]) -> Result<Self, Error> {
        let of = |name: &str| -> Result<Workspace, Error> {
            slot.point_at(name).map_err(|error| failed_to_point(&error))?;
            let tree = slot.live_tree();
            Ok(build::cargo_metadata(cargo, &tree.join(manifest), &tree)?)
        };
        Ok(Self { base: of(names[0])?, head: of(names[1])? })
    }

    /// The members of both: what a seeded target directory must not bring along.
    fn members(&self) -> BTreeSet<String> {
        self.base.path_packages().into_iter().chain(self.head.path_packages()).collect()
    }

    /// The targets that base leaves to the built-in harness and head, as it was built, does not. The fixed path has to
    /// lead to base.
    fn left_behind(&self, head: &Built) -> Result<BTreeSet<TargetId>, Error> {
        let mut left_behind = BTreeSet::new();
        for (target, built) in &head.targets {
            let moved_on = built.as_ref().is_ok_and(|built| built.uses_libtest == Some(false));
            let known = || self.base.targets().iter().any(|info| info.id == *target);
            if moved_on && known() && self.base.uses_libtest(target)? {
                left_behind.insert(target.clone());
            }
        }
        Ok(left_behind)
    }

    /// Bench targets of the selected packages that base has and head has not. A selection by target names what it wants,
    /// and `only_listed` as well.
    fn removed(&self, suite: &Suite, selection: &Selection) -> Vec<TargetId> {
        if !selection.benches.is_empty() || suite.run.only_listed {
            return Vec::new();
        }
        let packages: BTreeSet<&str> = suite.targets().iter().map(|plan| plan.id.package.as_str()).collect();
        let of_head: BTreeSet<TargetId> = self.head.targets().into_iter().map(|info| info.id).collect();
        self.base
            .targets()
            .into_iter()
            .map(|info| info.id)
            .filter(|id| {
                id.kind == TargetKind::Bench
                    && packages.contains(id.package.as_str())
                    && !of_head.contains(id)
            })
            .collect()
    }
}

pub(super) fn failed_to_point(error: &std::io::Error) -> Error {
    Error::Execution(format!(
        "failed to point the build slot at a revision: {error}; check that the cache directory can be written"
    ))
}
