//! Checks revisions out and builds them, or takes what an earlier run built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::choice::{self, Chosen, Side};
use super::compiling::Ready;
use super::differences;
use super::programs::{BuiltSide, Programs};
use super::targets::{left_behind, named_as_in_head, removed_targets, wanted};
use super::{Command, Context};
use crate::build::{
    self, BuildKey, BuildManifest, BuildPlace, Built, CargoSettings, Facts, Found, KeyParts, Layout,
    Matching, Store, ToolchainInfo, Workspace,
};
use crate::error::Error;
use crate::report::model::RevisionBuild;
use crate::revision::{Checkout, Content, Slot, cache};
use crate::suite::identity::TargetId;
use crate::suite::{ProfileFrom, Suite};

/// What building needs beside the run's context.
pub(super) struct Builder<'a> {
    pub(super) context: &'a Context<'a>,
    suite: &'a Suite,
    cargo: &'a CargoSettings,
    slot: &'a Slot,
    pub(super) toolchain: &'a ToolchainInfo,
    store: Option<Store>,
    /// Names of what is in use now, which no clean-up may take.
    in_use: Vec<BuildKey>,
    targets: Vec<TargetId>,
    pub(super) warnings: Vec<String>,
    pub(super) builds: Vec<RevisionBuild>,
}

/// What is known of head once it is built.
struct Head {
    place: BuildPlace,
    layout: Layout,
    manifest: BuildManifest,
    built: Built,
    lock: Option<String>,
    lock_path: PathBuf,
}

/// Another revision, built.
struct Other {
    side: BuiltSide,
    /// Nothing where the revision has no such workspace.
    layout: Layout,
    matching: Matching,
    lock: Option<String>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        suite: &'a Suite,
        cargo: &'a CargoSettings,
        slot: &'a Slot,
        toolchain: &'a ToolchainInfo,
    ) -> Self {
        let kept = context.request.build_cache && 0 < context.environment.cache_limit_bytes;
        Self {
            context,
            suite,
            cargo,
            slot,
            toolchain,
            store: kept.then(|| Store::new(&slot.builds())),
            in_use: Vec::new(),
            targets: suite.targets().iter().map(|plan| plan.id.clone()).collect(),
            warnings: Vec::new(),
            builds: Vec::new(),
        }
    }

    /// Builds head from its checkout, then checks out and builds base and what is further asked for; then compares the
    /// programs. Head's workspace may be known already.
    pub(super) fn build(
        mut self,
        (head_checkout, workspace): (Checkout, Option<Workspace>),
        chosen: &Chosen,
    ) -> Result<Programs, Error> {
        let head = self.build_head(&head_checkout, workspace, &chosen.head)?;
        let mut sides = Vec::new();
        let mut removed = Vec::new();
        let mut dependency_changes = Vec::new();
        if let Some(base) = &chosen.base {
            let other = self.build_other(base, &head)?;
            removed = removed_targets(
                (&head.layout, &other.layout),
                &other.matching,
                self.suite,
                &self.context.request.selection,
            );
            self.warnings.extend(other.matching.notes.iter().cloned());
            dependency_changes = self.dependency_changes(&head, &other);
            self.warnings.extend(differences::of_dependencies(&dependency_changes));
            self.compare_settings(&head, &other)?;
            sides.push(other.side);
        }
        let place = sides.len();
        sides.push(BuiltSide {
            name: chosen.head.name.clone(),
            place: chosen.head.name.clone(),
            built: head.built.clone(),
            left_behind: BTreeSet::new(),
            checkout: head_checkout,
        });
        for further in &chosen.further {
            let other = self.build_other(further, &head)?;
            self.warnings.extend(other.matching.notes);
            sides.push(other.side);
        }
        for side in &sides {
            let edited = side.checkout.edited_since(&self.context.environment.interrupted)?;
            if !edited.is_empty() {
                self.warnings.push(choice::edited_while_building(&edited));
            }
        }
        let notes: Vec<_> = sides.iter().map(|side| (&*side.name, &side.checkout.notes[..])).collect();
        self.warnings.extend(choice::notes_of_all(&notes));
        self.trim();
        let mut programs = Programs {
            sides,
            head: place,
            removed,
            builds: self.builds,
            dependency_changes,
            warnings: self.warnings,
            compared: BTreeMap::new(),
            named_files: Vec::new(),
        };
        // A revision against itself is measured: that is what it is for.
        if self.context.request.identity && self.context.request.command == Command::Compare && !chosen.same {
            programs.compare(self.slot, self.context.ui)?;
        }
        Ok(programs)
    }

    fn build_head(
        &mut self,
        checkout: &Checkout,
        workspace: Option<Workspace>,
        side: &Side,
    ) -> Result<Head, Error> {
        let context = self.context;
        let place = self.point(side, &side.name)?;
        let workspace = match workspace {
            Some(workspace) => workspace,
            None => {
                build::cargo_metadata(self.cargo, &place.live_tree.join(&context.manifest), &place.cwd())?
            }
        };
        let layout = Layout::of(&workspace)?;
        // A lock file that git ignores is part of the user's tree all the same: all sides get its versions.
        let user_lock = context.repository.root().join(&context.manifest).with_file_name("Cargo.lock");
        let ready = Ready { place: &place, workspace: &workspace, settings: self.cargo, checkout };
        let built = self.lock_and_compile(&ready, &user_lock, &self.targets.clone(), side)?;
        let lock_path = place.tree.join(&context.manifest).with_file_name("Cargo.lock");
        let lock = fs_err::read_to_string(&lock_path).ok();
        let manifest = BuildManifest::read(&place.tree.join(&context.manifest))?;
        let head = Head { place, layout, manifest, built, lock, lock_path };
        // What is head today is base tomorrow.
        let as_committed = checkout.whole && !checkout.dirty && !takes_more_than_its_commit(&side.content);
        if as_committed && let Some(key) = self.key(side, head.lock.as_deref(), &head)? {
            self.in_use.push(key.clone());
            if self.store.as_ref().is_some_and(|store| !store.entry(&key).exists()) {
                self.keep(&key, side, &head.place, &head.built, &head.layout, head.lock.as_deref());
            }
        }
        Ok(head)
    }

    /// Checks out and builds another revision than head, with head's dependencies and lock where it has none; or takes
    /// what was kept of it.
    fn build_other(&mut self, side: &Side, head: &Head) -> Result<Other, Error> {
        let context = self.context;
        let key = self.key(side, head.lock.as_deref(), head)?;
        if let Some(key) = &key
            && let Some(other) = self.fetch(key, side, head)?
        {
            return Ok(other);
        }
        let checkout = check_out(context, self.slot, side, &side.name)?;
        let place = self.point(side, &side.name)?;
        let name = side.name.clone();
        if !place.live_tree.join(&context.manifest).is_file() {
            let manifest = context.manifest.display();
            self.warnings.push(format!("{} has no {manifest}: everything is new against it", side.label()));
            let built = Built { missing: self.targets.clone(), ..Built::default() };
            let side = BuiltSide { place: name.clone(), name, built, left_behind: BTreeSet::new(), checkout };
            let (layout, matching) = (Layout::default(), Matching::default());
            return Ok(Other { side, layout, matching, lock: None });
        }
        let workspace =
            build::cargo_metadata(self.cargo, &place.live_tree.join(&context.manifest), &place.cwd())?;
        let layout = Layout::of(&workspace)?;
        let matching = head.layout.matching(self.targets.iter(), &layout);
        let members = workspace.path_packages().into_iter().chain(head.path_packages()).collect();
        if build::seed_target(&head.place.target, &place.target, &members)? {
            context
                .ui
                .detail("Seeded", format!("the target directory of {} with head's dependencies", side.name));
        }
        let settings = self.settings_for(side, head, &layout, &matching, &place)?;
        let left_behind = left_behind(&head.built, &layout, &matching);
        let wanted = wanted(&matching, &left_behind);
        let ready = Ready { place: &place, workspace: &workspace, settings: &settings, checkout: &checkout };
        let built = self.lock_and_compile(&ready, &head.lock_path, &wanted, side)?;
        let lock = fs_err::read_to_string(build::lock_path(&workspace)).ok();
        if let Some(key) = &key
            && checkout.whole
        {
            // An entry that is there could not be used, so this takes its place.
            self.in_use.push(key.clone());
            self.keep(key, side, &place, &built, &layout, lock.as_deref());
        }
        let built = named_as_in_head(built, &matching, &self.targets, &left_behind);
        let side = BuiltSide { place: name.clone(), name, built, left_behind, checkout };
        Ok(Other { side, layout, matching, lock })
    }

    /// Takes a revision that an earlier run built, without a call of cargo.
    fn fetch(&mut self, key: &BuildKey, side: &Side, head: &Head) -> Result<Option<Other>, Error> {
        let Some(store) = self.store.clone() else { return Ok(None) };
        let ui = self.context.ui;
        let kept_name = place_of_kept(&side.name);
        let place = self.point(side, &kept_name)?;
        let targets = |layout: &Layout| -> BTreeSet<TargetId> {
            let matching = head.layout.matching(self.targets.iter(), layout);
            let left_behind = left_behind(&head.built, layout, &matching);
            wanted(&matching, &left_behind).into_iter().collect()
        };
        let kept = match store.fetch(key, &place, self.cargo, &targets)? {
            Found::Kept(kept) => kept,
            Found::Nothing => return Ok(None),
            Found::Damaged(reason) => {
                let warning = format!(
                    "the kept executables of {} cannot be used ({reason}); they were removed, and it is built again",
                    side.label()
                );
                ui.warn(&warning);
                self.warnings.push(warning);
                return Ok(None);
            }
        };
        let checkout = check_out(self.context, self.slot, side, &kept_name)?;
        ui.status("Kept", format!("{}, built by an earlier run", side.label()));
        self.in_use.push(key.clone());
        self.builds.push(RevisionBuild { revision: side.name.clone(), from_cache: true, lock: None });
        let matching = head.layout.matching(self.targets.iter(), &kept.layout);
        let left_behind = left_behind(&head.built, &kept.layout, &matching);
        let built = named_as_in_head(kept.built, &matching, &self.targets, &left_behind);
        let side = BuiltSide { name: side.name.clone(), place: kept_name, built, left_behind, checkout };
        Ok(Some(Other { side, layout: kept.layout, matching, lock: Some(kept.lock) }))
    }

    /// The name of a revision's build; `None` when nothing is kept, or it is no commit.
    fn key(&self, side: &Side, head_lock: Option<&str>, head: &Head) -> Result<Option<BuildKey>, Error> {
        if self.store.is_none() {
            return Ok(None);
        }
        let has_lock = self
            .context
            .repository
            .holds(&side.commit, &self.context.manifest.with_file_name("Cargo.lock"))?;
        let profile = (self.suite.run.profile_from == ProfileFrom::Head)
            .then(|| head.manifest.profile_text(&self.cargo.profile));
        let parts = KeyParts {
            tree: &side.commit.tree,
            manifest: &self.context.manifest,
            lock: head_lock.filter(|_| !has_lock),
            targets: &self.targets,
            profile: profile.as_deref(),
            toolchain: self.toolchain,
            slot: self.slot.directory(),
        };
        Ok(Some(build::build_key(self.cargo, &parts)?))
    }

    /// Keeps a build for later runs. A failure costs their time and no result of this one.
    fn keep(
        &mut self,
        key: &BuildKey,
        side: &Side,
        place: &BuildPlace,
        built: &Built,
        layout: &Layout,
        lock: Option<&str>,
    ) {
        let Some(store) = &self.store else { return };
        let label = format!("{} {}", side.commit.id.short(), side.commit.subject);
        let facts = Facts { label: &label, layout, lock: lock.unwrap_or_default() };
        match store.keep(key, place, self.cargo, built, facts) {
            Ok(true) => self.context.ui.detail("Keeping", format!("the executables of {}", side.label())),
            Ok(false) => {}
            Err(error) => self
                .warnings
                .push(format!("the executables of {} are not kept for later runs: {error}", side.label())),
        }
    }

    /// Removes the least recently used builds beyond the limit. A failure costs room on a disk and no result.
    fn trim(&mut self) {
        let environment = self.context.environment;
        let cache = self.context.request.cache.as_ref().unwrap_or(&environment.cache);
        let Some(store) = &self.store else { return };
        let in_use: Vec<PathBuf> = self.in_use.iter().map(|key| store.entry(key)).collect();
        if let Err(error) = cache::trim(cache, environment.cache_limit_bytes, &self.slot.builds(), &in_use) {
            self.warnings.push(format!("{error}; `cargo benchgate cache clean` removes everything"));
        }
    }

    /// The settings of another revision: without the features it does not have, with head's profile where that is
    /// wanted.
    fn settings_for(
        &mut self,
        side: &Side,
        head: &Head,
        layout: &Layout,
        matching: &Matching,
        place: &BuildPlace,
    ) -> Result<CargoSettings, Error> {
        let mut settings = self.cargo.clone();
        let packages: BTreeSet<String> = matching.others.values().map(|id| id.package.clone()).collect();
        let unknown = layout.unknown_features(&settings.features, &packages);
        if !unknown.is_empty() && !packages.is_empty() {
            let names = unknown.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            self.warnings
                .push(format!("{} does not have the feature {names} and is built without it", side.label()));
            let words = settings.features.iter().flat_map(|text| text.split([',', ' ']));
            let known = words.filter(|word| !word.is_empty() && !unknown.iter().any(|name| name == word));
            settings.features = known.map(str::to_owned).collect();
        }
        if self.suite.run.profile_from == ProfileFrom::Head {
            let own = BuildManifest::read(&place.tree.join(&self.context.manifest))?;
            let (arguments, stuck) = head.manifest.profile_arguments(&own, &settings.profile);
            settings.config.extend(arguments);
            if !stuck.is_empty() {
                self.warnings.push(format!(
                    "profile_from = \"head\": {} sets {}, which head does not, and that cannot be undone from outside",
                    side.label(),
                    stuck.join(", ")
                ));
            }
        }
        Ok(settings)
    }

    /// Flips the fixed path to a place in the slot.
    fn point(&self, side: &Side, place: &str) -> Result<BuildPlace, Error> {
        self.slot.point_at(place).map_err(|error| failed_to_point(&error))?;
        Ok(BuildPlace {
            revision: side.label(),
            live_tree: self.slot.live_tree(),
            live_target: self.slot.live_target(),
            tree: self.slot.tree(place),
            target: self.slot.target(place),
            workspace: self.context.manifest.parent().unwrap_or(Path::new("")).to_owned(),
        })
    }

    fn dependency_changes(&self, head: &Head, other: &Other) -> Vec<crate::report::model::DependencyChange> {
        let (Some(base_lock), Some(head_lock)) = (&other.lock, &head.lock) else { return Vec::new() };
        // Where base has none of the targets, all that head's need would seem to be new.
        if other.matching.others.is_empty() {
            return Vec::new();
        }
        let head_packages: BTreeSet<&str> = self.targets.iter().map(|id| id.package.as_str()).collect();
        let base_packages = other.matching.others.values().map(|id| id.package.as_str()).collect();
        differences::dependency_changes((base_lock, &base_packages), (head_lock, &head_packages))
    }

    /// Says what differs in how the two are built.
    fn compare_settings(&mut self, head: &Head, other: &Other) -> Result<(), Error> {
        let tree = self.slot.tree(&other.side.place);
        let manifest = tree.join(&self.context.manifest);
        if !manifest.is_file() {
            return Ok(());
        }
        let base = BuildManifest::read(&manifest)?;
        let changes = base.changes(&head.manifest, &self.cargo.profile);
        self.warnings.extend(differences::of_settings(&changes, self.suite.run.profile_from));
        let directory = self.context.manifest.parent().unwrap_or(Path::new(""));
        let rustc = self.toolchain.rustc.lines().next().unwrap_or_default();
        self.warnings.extend(differences::of_toolchain_files(&tree, &head.place.tree, directory, rustc));
        Ok(())
    }
}

impl Head {
    /// The names of head's own packages.
    fn path_packages(&self) -> BTreeSet<String> {
        self.layout.packages.iter().map(|package| package.name.clone()).collect()
    }
}

/// Checks a revision out into a place in the slot.
pub(super) fn check_out(
    context: &Context<'_>,
    slot: &Slot,
    side: &Side,
    place: &str,
) -> Result<Checkout, Error> {
    context.ui.detail("Checking out", format!("{} into {}", side.label(), slot.tree(place).display()));
    let checkout = slot.checkout(place, side.content.clone(), &context.environment.interrupted)?;
    // At once, too: they may say why the build is about to fail.
    for note in &checkout.notes {
        context.ui.note(format!("{}: {note}", side.name));
    }
    Ok(checkout)
}

/// Where a revision is checked out whose executables are kept ones: apart from the target directory that cargo works
/// in, and under a name as long as its own, so that no side has a longer path.
fn place_of_kept(name: &str) -> String {
    let mut place = name.to_owned();
    place.replace_range(..1, "k");
    place
}

/// Whether a snapshot holds ignored files, which no commit has.
fn takes_more_than_its_commit(content: &Content) -> bool {
    match content {
        Content::Commit(_) => false,
        Content::WorkingTree { include, .. } => !include.is_empty(),
    }
}

pub(super) fn failed_to_point(error: &std::io::Error) -> Error {
    Error::Execution(format!(
        "failed to point the build slot at a revision: {error}; check that the cache directory can be written"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_executables_have_a_place_of_their_own_with_a_name_of_the_same_length() {
        for name in ["base", "ref1", "ref12"] {
            let place = place_of_kept(name);
            assert_ne!(place, name);
            assert_eq!(place.len(), name.len());
        }
    }
}
