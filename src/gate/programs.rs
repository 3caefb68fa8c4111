//! Both revisions checked out and built.

use std::collections::BTreeSet;
use std::path::Path;

use super::Context;
use super::choice::{Chosen, Side};
use crate::build::{self, BuildPlace, Built, CargoSettings, Diagnostics, TreeFile, Workspace};
use crate::error::Error;
use crate::revision::{Checkout, Slot};
use crate::suite::identity::{TargetId, TargetKind};
use crate::suite::{Selection, Suite};
use crate::ui::Ui;

/// The built programs of a run. Dropping it removes the worktrees.
#[derive(Debug)]
pub(super) struct Programs {
    /// Base first, where there is one; head last.
    pub(super) sides: Vec<BuiltSide>,
    /// Bench targets that only base has.
    pub(super) removed: Vec<TargetId>,
    /// What advises the reader.
    pub(super) warnings: Vec<String>,
}

/// One revision's programs.
#[derive(Debug)]
pub(super) struct BuiltSide {
    pub(super) name: &'static str,
    pub(super) built: Built,
    checkout: Checkout,
}

impl Programs {
    pub(super) fn head(&self) -> &BuiltSide {
        self.sides.last().expect("head is always built")
    }

    pub(super) fn base(&self) -> Option<&BuiltSide> {
        (1 < self.sides.len()).then(|| &self.sides[0])
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

/// Checks out and builds head, then base; then makes both worktrees look alike to git.
pub(super) fn build(
    context: &Context<'_>,
    suite: &Suite,
    cargo: &CargoSettings,
    slot: &Slot,
    chosen: &Chosen,
) -> Result<Programs, Error> {
    let targets: Vec<TargetId> = suite.targets().iter().map(|plan| plan.id.clone()).collect();
    let mut programs = Programs { sides: Vec::new(), removed: Vec::new(), warnings: Vec::new() };
    // A lock file that git ignores is part of the user's tree all the same: both sides get its versions.
    let user_lock = context.repository.root().join(&context.manifest).with_file_name("Cargo.lock");
    let head = check_out(context, slot, &chosen.head)?;
    let head_place = place(slot, &chosen.head);
    slot.point_at(chosen.head.name).map_err(|error| failed_to_point(&error))?;
    build::prepare_lock(
        cargo,
        &head_place,
        &context.manifest,
        Some(user_lock.as_path()).filter(|lock| lock.is_file()),
    )?;
    let built_head = compile(context, cargo, &head_place, &head, &targets)?;
    if !built_head.missing.is_empty() {
        // Only with `--head REV`: the suite was read in the user's tree.
        let names: Vec<String> = built_head.missing.iter().map(ToString::to_string).collect();
        programs.warnings.push(format!(
            "{} does not have {}; left out",
            chosen.head.label(),
            names.join(", ")
        ));
    }
    let mut sides = vec![BuiltSide { name: chosen.head.name, built: built_head, checkout: head }];

    if let Some(base) = &chosen.base {
        let checkout = check_out(context, slot, base)?;
        let base_place = place(slot, base);
        slot.point_at(base.name).map_err(|error| failed_to_point(&error))?;
        if base_place.live_tree.join(&context.manifest).is_file() {
            let workspaces = Workspaces::read(cargo, slot, &context.manifest, chosen)?;
            programs.removed = workspaces.removed(suite, &context.request.selection);
            slot.point_at(base.name).map_err(|error| failed_to_point(&error))?;
            if build::seed_target(&head_place.target, &base_place.target, &workspaces.members())? {
                context.ui.detail("Seeded", "the base's target directory with the dependencies of head");
            }
            let head_lock = head_place.tree.join(&context.manifest).with_file_name("Cargo.lock");
            build::prepare_lock(
                cargo,
                &base_place,
                &context.manifest,
                Some(head_lock.as_path()).filter(|lock| lock.is_file()),
            )?;
            let built = compile(context, cargo, &base_place, &checkout, &targets)?;
            sides.insert(0, BuiltSide { name: base.name, built, checkout });
        } else {
            let warning = format!(
                "{} has no {}: everything is new in head, and only budgets are checked",
                base.label(),
                context.manifest.display()
            );
            context.ui.warn(&warning);
            programs.warnings.push(warning);
            let built = Built { missing: targets, ..Built::default() };
            sides.insert(0, BuiltSide { name: base.name, built, checkout });
        }
    }
    // A command that asks git about its repository must cost the same on both sides.
    for side in &sides {
        side.checkout.refresh_index()?;
    }
    for side in &sides {
        for note in &side.checkout.notes {
            context.ui.note(note);
            programs.warnings.push(note.clone());
        }
    }
    programs.sides = sides;
    Ok(programs)
}

fn check_out(context: &Context<'_>, slot: &Slot, side: &Side) -> Result<Checkout, Error> {
    context.ui.detail("Checking out", format!("{} into {}", side.label(), slot.tree(side.name).display()));
    Ok(slot.checkout(side.name, side.content.clone(), &context.environment.interrupted)?)
}

fn place(slot: &Slot, side: &Side) -> BuildPlace {
    BuildPlace {
        revision: side.label(),
        live_tree: slot.live_tree(),
        live_target: slot.live_target(),
        tree: slot.tree(side.name),
        target: slot.target(side.name),
    }
}

fn compile(
    context: &Context<'_>,
    cargo: &CargoSettings,
    place: &BuildPlace,
    checkout: &Checkout,
    targets: &[TargetId],
) -> Result<Built, Error> {
    context.ui.status("Building", &place.revision);
    let files: Vec<TreeFile> = checkout
        .files
        .iter()
        .map(|file| TreeFile { path: file.path.clone(), blob: file.blob.clone() })
        .collect();
    build::restore_times(&place.tree, &files, &place.target)?;
    let built = build::build_targets(
        cargo,
        place,
        &context.manifest,
        targets,
        &Diagnostics::Inherit,
        &context.environment.interrupted,
    )?;
    for line in &built.text {
        context.ui.detail("Cargo", crate::report::text::visible(line));
    }
    Ok(built)
}

/// What cargo says of both revisions' workspaces.
struct Workspaces {
    base: Workspace,
    head: Workspace,
}

impl Workspaces {
    fn read(cargo: &CargoSettings, slot: &Slot, manifest: &Path, chosen: &Chosen) -> Result<Self, Error> {
        let of = |name: &str| -> Result<Workspace, Error> {
            slot.point_at(name).map_err(|error| failed_to_point(&error))?;
            let tree = slot.live_tree();
            Ok(build::cargo_metadata(cargo, &tree.join(manifest), &tree)?)
        };
        let base = chosen.base.as_ref().expect("read only where there is a base").name;
        Ok(Self { base: of(base)?, head: of(chosen.head.name)? })
    }

    /// The members of both: what a seeded target directory must not bring along.
    fn members(&self) -> BTreeSet<String> {
        self.base.path_packages().into_iter().chain(self.head.path_packages()).collect()
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
