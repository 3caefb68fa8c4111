//! The cargo calls of one revision: its lock file, then its targets.

use std::path::Path;

use super::builder::Builder;
use super::choice::Side;
use super::differences;
use super::programs::tree_files;
use crate::build::{
    self, BuildError, BuildPlace, Built, CargoSettings, Diagnostics, LockOrigin, TargetFailure, Workspace,
};
use crate::error::Error;
use crate::report::model::RevisionBuild;
use crate::revision::Checkout;
use crate::suite::identity::TargetId;

/// A revision whose workspace was read, ready for cargo.
pub(super) struct Ready<'b> {
    pub(super) place: &'b BuildPlace,
    pub(super) workspace: &'b Workspace,
    pub(super) settings: &'b CargoSettings,
    pub(super) checkout: &'b Checkout,
}

impl Builder<'_> {
    /// Gives a revision its lock file and builds it. One that is part of it is used as it is; where cargo refuses it all
    /// the same, it is brought in line.
    pub(super) fn lock_and_compile(
        &mut self,
        ready: &Ready<'_>,
        fallback: &Path,
        targets: &[TargetId],
        side: &Side,
    ) -> Result<Built, Error> {
        let fallback = Some(fallback).filter(|lock| lock.is_file());
        let mut origin = build::prepare_lock(ready.settings, ready.place, ready.workspace, fallback)?;
        let fits = [LockOrigin::Committed, LockOrigin::Copied].contains(&origin);
        let locked = fits && !ready.settings.locked && !ready.settings.frozen;
        let settings = CargoSettings { locked: ready.settings.locked || locked, ..ready.settings.clone() };
        let mut outcome = self.compile(&Ready { settings: &settings, ..*ready }, targets);
        if let Err(BuildError::Failed { started: false, .. }) = &outcome
            && locked
        {
            self.context.ui.note("trying again without `--locked`");
            build::settle_lock(ready.settings, ready.place, ready.workspace)?;
            if origin == LockOrigin::Committed {
                origin = LockOrigin::Updated;
            }
            outcome = self.compile(ready, targets);
        }
        if origin == LockOrigin::Updated {
            self.warnings.push(format!(
                "the Cargo.lock of {} does not fit its manifests; cargo brought it in line, so versions may differ from those \
                 its author had",
                side.label()
            ));
        }
        self.builds.push(RevisionBuild {
            revision: side.name.clone(),
            from_cache: false,
            lock: Some(differences::lock_word(origin).to_owned()),
        });
        let hint = self.nightly_hint(ready, targets, &outcome);
        match outcome {
            Ok(built) => {
                self.warnings.extend(hint);
                Ok(built)
            }
            // An error of each of their benchmarks: the report, and what is asked of head alone, are worth having all the same.
            Err(BuildError::Failed { command, exit, started: true, .. }) if side.name != "head" => {
                self.warnings.extend(hint);
                let failed = |target: &TargetId| TargetFailure {
                    target: target.clone(),
                    command: command.clone(),
                    exit: exit.clone(),
                };
                let targets = targets.iter().map(|target| (target.clone(), Err(failed(target)))).collect();
                Ok(Built { targets, ..Built::default() })
            }
            Err(error @ BuildError::Failed { .. }) => {
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                Err(Error::Execution(format!("{error}{hint}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn compile(&self, ready: &Ready<'_>, targets: &[TargetId]) -> Result<Built, BuildError> {
        let ui = self.context.ui;
        let place = ready.place;
        ui.status("Building", &place.revision);
        build::restore_times(&place.tree, &tree_files(ready.checkout), &place.target)?;
        let built = build::build_targets(
            ready.settings,
            place,
            ready.workspace,
            targets,
            &Diagnostics::Inherit,
            &self.context.environment.interrupted,
        )?;
        for line in &built.text {
            ui.detail("Cargo", crate::report::text::visible(line));
        }
        Ok(built)
    }

    /// What to try when benches of the built-in harness did not compile on a stable toolchain (error E0554).
    fn nightly_hint(
        &self,
        ready: &Ready<'_>,
        targets: &[TargetId],
        outcome: &Result<Built, BuildError>,
    ) -> Option<String> {
        let failed = |target: &TargetId| match outcome {
            Ok(built) => built.targets.get(target).is_some_and(Result::is_err),
            Err(BuildError::Failed { .. }) => true,
            Err(_) => false,
        };
        let is_stable = !self.toolchain.rustc.lines().next()?.contains("nightly");
        let asks = |target: &TargetId| {
            let infos = ready.workspace.targets();
            let source = infos.iter().find(|info| info.id == *target).map(|info| info.source.clone());
            source
                .and_then(|source| fs_err::read_to_string(source).ok())
                .is_some_and(|text| text.contains("feature("))
        };
        let target = targets.iter().find(|target| is_stable && failed(target) && asks(target))?;
        Some(format!(
            "{target} asks for unstable features (error E0554), as benches of the built-in harness do: set `toolchain = \"nightly\"` in \
             [package.metadata.benchgate], or run `cargo +nightly benchgate`"
        ))
    }
}
