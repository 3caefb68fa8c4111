//! The benchmarks of the built programs: which there are, how each stands in the revisions, how it is run.

use std::collections::BTreeSet;
use std::path::Path;

use super::Context;
use super::hooks::{Commands, Hooks, Owner};
use super::planning::{Against, Together, evidence};
use super::program::{Program, program};
use super::programs::Programs;
use crate::error::Error;
use crate::harness::HarnessKind;
use crate::measure::{Executor, PlannedBenchmark};
use crate::report::model::Shard;
use crate::revision::Slot;
use crate::suite::identity::TargetId;
use crate::suite::{Suite, TargetPlan, VariantPlan};
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence, Presence};

/// Everything the suite selects: what is known already, and what is to be measured for it.
#[derive(Debug, Default)]
pub(super) struct Benchmarks {
    /// One for each benchmark. Those that are planned have no runs yet.
    pub(super) evidence: Vec<Evidence>,
    /// With the place of its evidence.
    pub(super) planned: Vec<(usize, PlannedBenchmark)>,
    /// The ids of benchmarks that exist and that filters left out.
    pub(super) left_out: Vec<String>,
    /// What the reader should know of revisions beyond head.
    pub(super) notes: Vec<String>,
    /// Which part of the run these are, where they are one.
    pub(super) shard: Option<Shard>,
    /// The evidence whose instructions are counted in a phase of their own.
    pub(super) counted: BTreeSet<usize>,
    /// That whose instructions are asked for and cannot be counted, with the reason.
    pub(super) not_counted: Vec<(usize, String)>,
    /// The setups that the planned benchmarks need, with the places of their evidence.
    pub(super) setups: Vec<(usize, Owner, Commands)>,
    /// Errors of benchmarks that are measured all the same, for head's budgets.
    pub(super) errors: Vec<(usize, BenchmarkError)>,
    /// Whether the user ended it before all was found.
    pub(super) interrupted: bool,
}

/// Finds the harness of every program, lists its benchmarks, and plans the runs.
pub(super) struct Finder<'a, 'e> {
    pub(super) context: &'a Context<'a>,
    pub(super) suite: &'a Suite,
    pub(super) programs: &'a Programs,
    pub(super) head_tree: &'a Path,
    pub(super) live_tree: &'a Path,
    /// The number of the variant that is looked at, from 1.
    pub(super) variant: usize,
    pub(super) executor: &'e mut dyn Executor,
    pub(super) hooks: &'e mut Hooks,
    pub(super) slot: &'a Slot,
    /// The processes that measure several benchmarks; their numbers are their places here.
    pub(super) together: Vec<Together>,
    pub(super) found: Benchmarks,
    /// All ids of either side of each target that lists any.
    pub(super) listed: Vec<(TargetId, Vec<String>)>,
}

impl<'a> Finder<'a, '_> {
    /// Goes through all targets of the suite. Those that an interrupt leaves over have a row that says so.
    ///
    /// # Errors
    ///
    /// A configuration mistake that only shows with the harness known.
    pub(super) fn find(mut self) -> Result<Benchmarks, Error> {
        let suite = self.suite;
        let all =
            suite.targets().iter().flat_map(|target| target.variants.iter().map(move |it| (target, it)));
        for (target, variant) in all {
            self.variant += 1;
            self.found.interrupted |= self.context.environment.is_interrupted();
            if !self.found.interrupted {
                match self.find_in(target, variant) {
                    Err(Error::Interrupted) => self.found.interrupted = true,
                    outcome => outcome?,
                }
            }
            if self.found.interrupted {
                self.whole_target_fails(target, variant, interrupted());
            }
        }
        for target in &self.programs.removed {
            self.row(target, "", "auto", Presence::Removed, None, None);
        }
        self.found.notes.extend(self.suite.entries_without_benchmarks(&self.listed));
        Ok(self.found)
    }

    fn find_in(&mut self, target: &TargetPlan, variant: &VariantPlan) -> Result<(), Error> {
        let programs = self.programs;
        let head = program(programs.head(), programs.head, &target.id, &variant.launch);
        let base = programs.base().and_then(|side| program(side, 0, &target.id, &variant.launch));
        let (base, head) = match (base.transpose(), head.transpose()) {
            (Ok(base), Ok(head)) => (base, head),
            (Err(trouble), Ok(Some(head))) if trouble.kind == ErrorKind::Unsupported => {
                return self.not_comparable(target, variant, &head, &unreadable(&trouble));
            }
            (Err(trouble), Ok(Some(head))) if trouble.kind == ErrorKind::BuildFailed => {
                return self.base_is_unbuilt(target, variant, &head, *trouble);
            }
            // One error is enough to see; head's is the one the user can mend.
            (_, Err(trouble)) | (Err(trouble), _) => {
                self.whole_target_fails(target, variant, *trouble);
                return Ok(());
            }
        };
        if let Some(head) = &head
            && programs.base().is_some_and(|base| base.left_behind.contains(&target.id))
        {
            let note = format!(
                "its harness changed: the built-in one in base, {} in head, so there is nothing to compare with",
                head.harness
            );
            return self.not_comparable(target, variant, head, &note);
        }
        match (base, head) {
            (None, None) => {
                let message = format!(
                    "{} is not part of the snapshot (ignored by git?); see `snapshot_include`",
                    target.id
                );
                let trouble = BenchmarkError { kind: ErrorKind::MeasuredNothing, message, stderr: None };
                self.whole_target_fails(target, variant, trouble);
                Ok(())
            }
            // Head's suite lists it and head does not have it: the suite is that of another tree.
            (Some(base), None) => {
                self.row(&target.id, &variant.variant, base.harness.as_str(), Presence::Removed, None, None);
                Ok(())
            }
            (None, Some(head)) => self.listed(target, variant, None, head),
            (Some(base), Some(head)) if base.harness != head.harness => {
                let note = format!(
                    "its harness changed: {} in base, {} in head, so their numbers cannot be compared",
                    base.harness, head.harness
                );
                self.not_comparable(target, variant, &head, &note)
            }
            (Some(base), Some(head)) => self.listed(target, variant, Some(base), head),
        }
    }

    /// Lists both sides and plans every benchmark.
    fn listed(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        base: Option<Program<'_>>,
        head: Program<'_>,
    ) -> Result<(), Error> {
        let unchanged = base.is_some() && self.programs.is_unchanged(&target.id);
        let head_ids = self.ids(target, variant, &head);
        let ids = match &base {
            // The same program lists the same.
            Some(_) if unchanged => head_ids.clone(),
            Some(base) => self.ids(target, variant, base),
            None => Ok(Vec::new()),
        };
        let (base_ids, head_ids) = match (ids, head_ids) {
            (Ok(base_ids), Ok(head_ids)) => (base_ids, head_ids),
            (Err(trouble), Ok(_)) if trouble.kind == ErrorKind::Unsupported => {
                return self.not_comparable(target, variant, &head, &unreadable(&trouble));
            }
            (_, Err(trouble)) | (Err(trouble), _) => return self.list_failed(target, variant, *trouble),
        };
        if base_ids.is_empty() && head_ids.is_empty() {
            self.lists_nothing(target, variant, &head);
            return Ok(());
        }
        self.listed.push((target.id.clone(), base_ids.iter().chain(&head_ids).cloned().collect()));
        let further = match base {
            Some(_) => self.further(target, variant, head.harness)?,
            None => Vec::new(),
        };
        for id in &head_ids {
            let base = base.as_ref().filter(|_| base_ids.contains(id));
            let base = base.map_or(Against::Nothing, Against::Base);
            let further = further.iter().filter(|(_, ids)| ids.contains(id)).map(|(program, _)| program);
            self.plan(target, variant, id, base, Some(&head), &further.collect::<Vec<_>>())?;
        }
        for id in base_ids.iter().filter(|id| !head_ids.contains(id)) {
            let base = base.as_ref().map_or(Against::Nothing, Against::Base);
            self.plan(target, variant, id, base, None, &[])?;
        }
        Ok(())
    }

    /// Head cannot be compared with base: what of it was asked for is measured alone.
    fn not_comparable(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        head: &Program<'_>,
        note: &str,
    ) -> Result<(), Error> {
        let ids = match self.ids(target, variant, head) {
            Ok(ids) => ids,
            Err(trouble) => return self.list_failed(target, variant, *trouble),
        };
        if ids.is_empty() {
            self.lists_nothing(target, variant, head);
        }
        for id in &ids {
            self.plan(target, variant, id, Against::Incomparable(note), Some(head), &[])?;
        }
        Ok(())
    }

    /// Base does not build, which is an error whatever head does; its budgets are measured for the report.
    fn base_is_unbuilt(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        head: &Program<'_>,
        trouble: BenchmarkError,
    ) -> Result<(), Error> {
        let mut limited = Vec::new();
        let listed = self.ids(target, variant, head);
        if let Err(other) = &listed
            && other.kind == ErrorKind::Interrupted
        {
            return Err(Error::Interrupted);
        }
        for id in listed.unwrap_or_default() {
            let harness = head.harness.as_str();
            let resolved = self.suite.benchmark(&target.id, &variant.variant, &id, harness)?;
            if resolved.is_some_and(|resolved| !resolved.settings.budgets.is_empty()) {
                limited.push(id);
            }
        }
        if limited.is_empty() {
            self.whole_target_fails(target, variant, trouble);
            return Ok(());
        }
        for id in limited {
            self.plan(target, variant, &id, Against::Unbuilt(&trouble), Some(head), &[])?;
        }
        Ok(())
    }

    fn lists_nothing(&mut self, target: &TargetPlan, variant: &VariantPlan, head: &Program<'_>) {
        let message = format!(
            "{} lists no benchmark; {}, or take the target out with `--bench`",
            target.id,
            head.harness.without_benchmarks()
        );
        let trouble = BenchmarkError { kind: ErrorKind::MeasuredNothing, message, stderr: None };
        self.whole_target_fails(target, variant, trouble);
    }

    fn list_failed(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        trouble: BenchmarkError,
    ) -> Result<(), Error> {
        if trouble.kind == ErrorKind::Interrupted {
            return Err(Error::Interrupted);
        }
        self.whole_target_fails(target, variant, trouble);
        Ok(())
    }

    /// The programs of the revisions beyond head with the ids they list. One that cannot be measured is left out, with a
    /// note: base and head are still compared.
    fn further(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        harness: HarnessKind,
    ) -> Result<Vec<(Program<'a>, Vec<String>)>, Error> {
        let programs = self.programs;
        let mut further = Vec::new();
        for place in programs.further() {
            let side = &programs.sides[place];
            let found = match program(side, place, &target.id, &variant.launch) {
                None if side.left_behind.contains(&target.id) => {
                    Err(format!("{} of {} uses the built-in harness", target.id, side.name))
                }
                None => Err(format!("{} is not in {}", target.id, side.name)),
                Some(Err(trouble)) => Err(trouble.message),
                Some(Ok(program)) if program.harness != harness => {
                    Err(format!("{} of {} uses another harness, {}", target.id, side.name, program.harness))
                }
                Some(Ok(program)) => match self.ids(target, variant, &program) {
                    Ok(ids) => Ok((program, ids)),
                    Err(trouble) if trouble.kind == ErrorKind::Interrupted => return Err(Error::Interrupted),
                    Err(trouble) => Err(trouble.message),
                },
            };
            match found {
                Ok(found) => further.push(found),
                Err(note) => self.found.notes.push(format!("{note}; it is left out of this comparison")),
            }
        }
        Ok(further)
    }

    fn whole_target_fails(&mut self, target: &TargetPlan, variant: &VariantPlan, trouble: BenchmarkError) {
        let harness = variant.launch.harness.as_str();
        self.row(&target.id, &variant.variant, harness, Presence::Compared, None, Some(trouble));
    }

    /// One row for a whole target.
    fn row(
        &mut self,
        target: &TargetId,
        variant: &str,
        harness: &str,
        presence: Presence,
        note: Option<String>,
        error: Option<BenchmarkError>,
    ) {
        // The filters are about benchmarks; a target without a list stays visible whatever they say.
        let settings = self.suite.target_settings(target, variant);
        let mut evidence = evidence(target, variant, &target.target, harness, presence, settings);
        evidence.presence_note = note;
        evidence.error = error;
        self.found.evidence.push(evidence);
    }
}

/// Base's harness is one that cannot be measured. Nobody can mend a commit of the past, and the change that takes up a
/// better harness must be able to pass.
fn unreadable(trouble: &BenchmarkError) -> String {
    format!("base cannot be measured, so there is nothing to compare with: {}", trouble.message)
}

/// The error of what an interrupt left over.
pub(super) fn interrupted() -> BenchmarkError {
    let message = "interrupted before it was measured".to_owned();
    BenchmarkError { kind: ErrorKind::Interrupted, message, stderr: None }
}
