//! The benchmarks of the built programs: which there are, how each stands in the revisions, how it is run.

use std::path::Path;

use super::Context;
use super::launch::{self, Places};
use super::programs::{BuiltSide, Programs};
use crate::build::{BuiltTarget, TargetFailure};
use crate::error::Error;
use crate::harness::{Detection, HarnessKind, detect};
use crate::measure::{Executor, PlannedBenchmark, SidePlan};
use crate::report::model::Shard;
use crate::suite::identity::{BenchmarkIdentity, TargetId};
use crate::suite::launch::Launch;
use crate::suite::settings::BenchmarkSettings;
use crate::suite::{Suite, TargetPlan, VariantPlan};
use crate::verdict::budget;
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence, Presence, Side};

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
}

/// Finds the harness of every program, lists its benchmarks, and plans the runs.
pub(super) struct Finder<'a, 'e> {
    pub(super) context: &'a Context<'a>,
    pub(super) suite: &'a Suite,
    pub(super) programs: &'a Programs,
    pub(super) head_tree: &'a Path,
    pub(super) live_tree: &'a Path,
    pub(super) work_directory: &'a Path,
    pub(super) executor: &'e mut dyn Executor,
    pub(super) found: Benchmarks,
}

/// A program of one revision with what measures it.
struct Program<'a> {
    /// The number the executor knows the revision by.
    revision: usize,
    name: &'a str,
    built: &'a BuiltTarget,
    harness: HarnessKind,
}

/// Why a program of one revision cannot be measured.
type Trouble = Box<BenchmarkError>;

impl<'a> Finder<'a, '_> {
    /// Goes through all targets of the suite.
    ///
    /// # Errors
    ///
    /// A configuration mistake that only shows with the harness known, or an interrupt.
    pub(super) fn find(mut self) -> Result<Benchmarks, Error> {
        for target in self.suite.targets() {
            for variant in &target.variants {
                if self.context.environment.is_interrupted() {
                    return Err(Error::Interrupted);
                }
                self.find_in(target, variant)?;
            }
        }
        for target in &self.programs.removed {
            self.row(target, "", "auto", Presence::Removed, None, None);
        }
        Ok(self.found)
    }

    fn find_in(&mut self, target: &TargetPlan, variant: &VariantPlan) -> Result<(), Error> {
        let programs = self.programs;
        let head = program(programs.head(), programs.head, &target.id, &variant.launch);
        let base = programs.base().and_then(|side| program(side, 0, &target.id, &variant.launch));
        let (base, head) = match (base.transpose(), head.transpose()) {
            (Ok(base), Ok(head)) => (base, head),
            (Err(trouble), Ok(Some(head))) if trouble.kind == ErrorKind::Unsupported => {
                self.base_is_unreadable(target, variant, &head, &trouble);
                return Ok(());
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
            let harness = head.harness.as_str();
            self.row(&target.id, &variant.variant, harness, Presence::NotComparable, Some(note), None);
            return Ok(());
        }
        match (base, head) {
            (None, None) => Ok(()),
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
                let harness = head.harness.as_str();
                self.row(&target.id, &variant.variant, harness, Presence::NotComparable, Some(note), None);
                Ok(())
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
        let ids = base.as_ref().map_or(Ok(Vec::new()), |base| self.ids(target, variant, base));
        let (base_ids, head_ids) = match (ids, self.ids(target, variant, &head)) {
            (Ok(base_ids), Ok(head_ids)) => (base_ids, head_ids),
            (Err(trouble), Ok(_)) if trouble.kind == ErrorKind::Unsupported => {
                self.base_is_unreadable(target, variant, &head, &trouble);
                return Ok(());
            }
            (_, Err(trouble)) | (Err(trouble), _) => {
                if trouble.kind == ErrorKind::Interrupted {
                    return Err(Error::Interrupted);
                }
                self.whole_target_fails(target, variant, *trouble);
                return Ok(());
            }
        };
        if base_ids.is_empty() && head_ids.is_empty() {
            let message = format!(
                "{} lists no benchmark; check that its `criterion_group!` names some, or take the target out with `--bench`",
                target.id
            );
            let trouble = BenchmarkError { kind: ErrorKind::MeasuredNothing, message, stderr: None };
            self.whole_target_fails(target, variant, trouble);
            return Ok(());
        }
        let further = match base {
            Some(_) => self.further(target, variant, head.harness)?,
            None => Vec::new(),
        };
        for id in &head_ids {
            let base = base.as_ref().filter(|_| base_ids.contains(id));
            let further = further.iter().filter(|(_, ids)| ids.contains(id)).map(|(program, _)| program);
            self.plan(target, variant, id, base, Some(&head), &further.collect::<Vec<_>>())?;
        }
        for id in base_ids.iter().filter(|id| !head_ids.contains(id)) {
            self.plan(target, variant, id, base.as_ref(), None, &[])?;
        }
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

    /// The ids a program lists; a whole program is one benchmark, named as its target.
    fn ids(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        program: &Program<'_>,
    ) -> Result<Vec<String>, Trouble> {
        let fail = |kind, message: String, stderr| Box::new(BenchmarkError { kind, message, stderr });
        let launch = self
            .resolve(&variant.launch, program)
            .map_err(|message| fail(ErrorKind::StartFailed, message, None))?;
        let Some(command) = program.harness.list_command(&program.built.executable, &launch.0) else {
            return Ok(vec![target.id.target.clone()]);
        };
        let output = self.executor.execute(program.revision, &command).map_err(|error| {
            fail(
                error.kind(),
                format!("failed to list the benchmarks of {} in {}: {error}", target.id, program.name),
                None,
            )
        })?;
        program.harness.parse_list(&output).map_err(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            let message = format!("in {}: {error}", program.name);
            fail(error.kind, message, Some(stderr).filter(|stderr| !stderr.is_empty()))
        })
    }

    /// Plans one benchmark that at least one side has.
    fn plan(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        id: &str,
        base: Option<&Program<'_>>,
        head: Option<&Program<'_>>,
        further: &[&Program<'_>],
    ) -> Result<(), Error> {
        let harness = head.or(base).expect("one side has it").harness;
        let Some(resolved) = self.suite.benchmark(&target.id, &variant.variant, id, harness.as_str())? else {
            self.found.left_out.push(id.to_owned());
            return Ok(());
        };
        let settings = resolved.settings;
        let presence = match (base, head) {
            (Some(_), Some(_)) => Presence::Compared,
            (Some(_), None) => Presence::Removed,
            // Without a base at all nothing is new: head is just measured.
            (None, _) if self.context.request.command != super::Command::Compare => Presence::Compared,
            (None, _) => Presence::New,
        };
        let mut evidence = evidence(&target.id, &variant.variant, id, harness.as_str(), presence, settings);
        // Of what is not compared, head alone is measured; a removed one has no head.
        let sides: Vec<(&str, &Program<'_>)> = match (base, head) {
            (Some(base), Some(head)) if evidence.settings.compare => [base, head]
                .into_iter()
                .chain(further.iter().copied())
                .map(|program| (program.name, program))
                .collect(),
            // A revision against itself: one program on both sides.
            (_, Some(head)) if self.context.request.command == super::Command::Aa => {
                vec![("base", head), ("head", head)]
            }
            (_, Some(head)) => vec![(head.name, head)],
            _ => Vec::new(),
        };
        let mut plans = Vec::new();
        for (name, program) in &sides {
            match self.resolve(&resolved.launch, program) {
                Ok((launch, work)) => plans.push(Some(SidePlan {
                    revision: program.revision,
                    executable: program.built.executable.clone(),
                    launch,
                    work,
                })),
                Err(message) => {
                    evidence.error =
                        Some(BenchmarkError { kind: ErrorKind::StartFailed, message, stderr: None });
                }
            }
            evidence.sides.push(Side {
                revision: (*name).to_owned(),
                executable_sha256: Some(program.built.artifact.sha256.clone()),
                runs: Vec::new(),
            });
        }
        if evidence.error.is_none() && !plans.is_empty() {
            let compared = 1 < plans.len();
            self.found.planned.push((
                self.found.evidence.len(),
                PlannedBenchmark {
                    identity: evidence.identity.clone(),
                    harness,
                    sampling: evidence.settings.sampling.clone(),
                    min_samples: if compared { evidence.settings.judge.min_samples } else { 1 },
                    head_alone_until: budget::samples_needed(&evidence.settings.budgets),
                    sides: plans,
                },
            ));
        }
        self.found.evidence.push(evidence);
        Ok(())
    }

    /// Fills in a launch for a program; the error is a line for the benchmark's row.
    fn resolve(
        &self,
        launch: &Launch,
        program: &Program<'_>,
    ) -> Result<(crate::harness::contract::ResolvedLaunch, Option<crate::measure::WorkPlan>), String> {
        let root = &program.built.executable.package_root;
        let package = root.strip_prefix(self.live_tree).unwrap_or(Path::new(""));
        let environment = self.context.environment;
        let places = Places {
            // Without a component for the package at the root itself, which would leave a slash at the end.
            head_root: self.head_tree.join(package).components().collect(),
            work_directory: self.work_directory,
            variable: &|name| environment.variable(name).map(str::to_owned),
        };
        launch::resolve(launch, &program.built.executable, &places).map_err(|error| error.to_string())
    }

    fn whole_target_fails(&mut self, target: &TargetPlan, variant: &VariantPlan, trouble: BenchmarkError) {
        let harness = variant.launch.harness.as_str();
        self.row(&target.id, &variant.variant, harness, Presence::Compared, None, Some(trouble));
    }

    /// Base's harness is one that cannot be measured. Nobody can mend a commit of the past, and the change that takes up
    /// a better harness must be able to pass.
    fn base_is_unreadable(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        head: &Program<'_>,
        trouble: &BenchmarkError,
    ) {
        let note =
            format!("base cannot be measured, so there is nothing to compare with: {}", trouble.message);
        let harness = head.harness.as_str();
        self.row(&target.id, &variant.variant, harness, Presence::NotComparable, Some(note), None);
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

/// A benchmark of which nothing is measured yet.
fn evidence(
    target: &TargetId,
    variant: &str,
    id: &str,
    harness: &str,
    presence: Presence,
    settings: BenchmarkSettings,
) -> Evidence {
    Evidence {
        identity: BenchmarkIdentity {
            target: target.clone(),
            variant: variant.to_owned(),
            id: id.to_owned(),
        },
        harness: harness.to_owned(),
        presence,
        presence_note: None,
        settings,
        sides: Vec::new(),
        stopped_because: None,
        error: None,
    }
}

/// A side's program of a target: `None` when the revision does not have the target.
fn program<'a>(
    side: &'a BuiltSide,
    revision: usize,
    target: &TargetId,
    launch: &Launch,
) -> Option<Result<Program<'a>, Trouble>> {
    let built = match side.built.targets.get(target)? {
        Ok(built) => built,
        Err(failure) => return Some(Err(build_failed(side, failure))),
    };
    let candidates: Vec<String> = built.harness_crates.iter().map(|name| (*name).to_owned()).collect();
    let detection =
        detect(launch.harness, built.uses_libtest.unwrap_or(false), &candidates, &built.artifact.markers);
    Some(match detection {
        Detection::Kind(harness) => Ok(Program { revision, name: &side.name, built, harness }),
        Detection::Unsupported { message, .. } => Err(Box::new(BenchmarkError {
            kind: ErrorKind::Unsupported,
            message: format!("{target} in {}: {message}", side.name),
            stderr: None,
        })),
    })
}

fn build_failed(side: &BuiltSide, failure: &TargetFailure) -> Trouble {
    Box::new(BenchmarkError {
        kind: ErrorKind::BuildFailed,
        message: format!(
            "in {}: {} did not build; cargo's messages are above\nthe command was `{}`, and ended with {}",
            side.name, failure.target, failure.command, failure.exit
        ),
        stderr: None,
    })
}
