//! The plan of each benchmark: its sides, how they are started, what its runs share with others.

use super::benchmarks::Finder;
use super::lockstep;
use super::program::Program;
use crate::error::Error;
use crate::harness::HarnessKind;
use crate::harness::contract::{CommandSpec, ResolvedLaunch};
use crate::measure::{PlannedBenchmark, SidePlan, UnitPlan};
use crate::suite::identity::{BenchmarkIdentity, TargetId};
use crate::suite::settings::{BenchmarkSettings, SampleCount};
use crate::suite::{TargetPlan, VariantPlan};
use crate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence, Presence, Side};
use crate::verdict::{budget, stop};

/// What benchmarks have in common that come out of one process.
#[derive(Debug, PartialEq)]
pub(super) struct Together {
    target: TargetId,
    variant: String,
    revisions: Vec<usize>,
    launches: Vec<ResolvedLaunch>,
    prepare: Vec<Vec<CommandSpec>>,
}

/// What a benchmark of head is held against.
#[derive(Clone, Copy)]
pub(super) enum Against<'p> {
    /// Base's program.
    Base(&'p Program<'p>),
    /// Base does not have it, or there is no base.
    Nothing,
    /// Base's cannot be compared, for this reason.
    Incomparable(&'p str),
    /// Base's did not build.
    Unbuilt(&'p BenchmarkError),
}

impl Finder<'_, '_> {
    /// Plans one benchmark that at least one side has.
    pub(super) fn plan(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        id: &str,
        against: Against<'_>,
        head: Option<&Program<'_>>,
        further: &[&Program<'_>],
    ) -> Result<(), Error> {
        let base = match against {
            Against::Base(base) => Some(base),
            _ => None,
        };
        let harness = head.or(base).expect("one side has it").harness;
        let Some(resolved) = self.suite.benchmark(&target.id, &variant.variant, id, harness.as_str())? else {
            self.found.left_out.push(id.to_owned());
            return Ok(());
        };
        let settings = resolved.settings;
        let unchanged = settings.compare
            && self.programs.is_unchanged(&target.id)
            && !self.programs.names_a_change(&resolved.launch);
        let presence = match (base, head) {
            (Some(_), Some(_)) if unchanged => Presence::Unchanged,
            (Some(_), Some(_)) => Presence::Compared,
            (Some(_), None) => Presence::Removed,
            _ if matches!(against, Against::Incomparable(_) | Against::Unbuilt(_)) => Presence::NotComparable,
            // Without a base at all nothing is new: head is just measured.
            (None, _) if self.context.request.command != super::Command::Compare => Presence::Compared,
            (None, _) => Presence::New,
        };
        let mut evidence = evidence(&target.id, &variant.variant, id, harness.as_str(), presence, settings);
        if presence == Presence::Compared && base.is_some() {
            evidence.presence_note = self.programs.code_note(&target.id);
        }
        match against {
            Against::Incomparable(note) => evidence.presence_note = Some(note.to_owned()),
            Against::Unbuilt(trouble) => {
                evidence.presence_note = Some("base did not build".to_owned());
                self.found.errors.push((self.found.evidence.len(), trouble.clone()));
            }
            Against::Base(_) | Against::Nothing => {}
        }
        // Of identical programs, and of those that cannot be compared, head alone is measured, and only for what was
        // asked of it.
        if is_idle(&evidence) {
            evidence.sides.extend(head.map(unmeasured));
            self.found.evidence.push(evidence);
            return Ok(());
        }
        // Of what is not compared, head alone is measured; a removed one has no head.
        let sides: Vec<(&str, &Program<'_>)> = match (base, head) {
            (Some(base), Some(head)) if evidence.settings.compare && presence == Presence::Compared => {
                [base, head]
                    .into_iter()
                    .chain(further.iter().copied())
                    .map(|program| (program.name, program))
                    .collect()
            }
            // A revision against itself: one program on both sides.
            (_, Some(head)) if self.context.request.command == super::Command::Aa => {
                vec![("base", head), ("head", head)]
            }
            (_, Some(head)) => vec![(head.name, head)],
            _ => Vec::new(),
        };
        let mut plans = Vec::new();
        for (name, program) in &sides {
            let prepare = match self.hooks_of(target, variant, &resolved.launch, program) {
                // Filters and shards are still to leave benchmarks out; no setup runs for those.
                Ok((owner, commands)) => {
                    let prepare = commands.prepare_each.clone();
                    self.found.setups.push((self.found.evidence.len(), owner, commands));
                    prepare
                }
                Err(trouble) => {
                    evidence.error = Some(*trouble);
                    Vec::new()
                }
            };
            match self.resolve(&resolved.launch, program, &evidence.settings) {
                Ok((launch, work)) => plans.push(Some(SidePlan {
                    revision: program.revision,
                    executable: program.built.executable.clone(),
                    launch,
                    work,
                    workdir: resolved.launch.empties_workdir().then(|| self.slot.work(None, self.variant)),
                    prepare,
                })),
                Err(message) => {
                    evidence.error =
                        Some(BenchmarkError { kind: ErrorKind::StartFailed, message, stderr: None });
                }
            }
            evidence.sides.push(Side { revision: (*name).to_owned(), ..unmeasured(program) });
        }
        if evidence.error.is_none() && !plans.is_empty() {
            let compared = 1 < plans.len();
            let mut sampling = evidence.settings.sampling.clone();
            let mut min_samples = if compared { evidence.settings.judge.min_samples } else { 1 };
            if harness.counts_alone() && stop::awaits_counts_alone(&evidence.settings) {
                // Nothing of a count gets warm, and where the runs of the first round agree there is no more to learn.
                sampling.warmup = 0;
                min_samples = min_samples.min(2);
                if let SampleCount::Adaptive { min, .. } = &mut sampling.samples {
                    *min = (*min).min(2);
                }
            }
            let programs: Vec<&Program<'_>> = sides.iter().map(|&(_, program)| program).collect();
            let unit = self.unit(&evidence.identity, resolved.launch.isolate, &programs, &plans);
            self.found.planned.push((
                self.found.evidence.len(),
                PlannedBenchmark {
                    identity: evidence.identity.clone(),
                    harness,
                    sampling,
                    min_samples,
                    head_alone_until: budget::samples_needed(&evidence.settings.budgets),
                    sides: plans,
                    unit,
                },
            ));
        }
        self.found.evidence.push(evidence);
        Ok(())
    }

    /// What the runs of a benchmark share: a process with the other benchmarks of its target, or one with both revisions.
    fn unit(
        &mut self,
        identity: &BenchmarkIdentity,
        isolate: bool,
        programs: &[&Program<'_>],
        plans: &[Option<SidePlan>],
    ) -> UnitPlan {
        let launches: Vec<ResolvedLaunch> = plans.iter().flatten().map(|plan| plan.launch.clone()).collect();
        let harness = programs[0].harness;
        if harness != HarnessKind::Process && (harness.runs_all() || !isolate) {
            let key = Together {
                target: identity.target.clone(),
                variant: identity.variant.clone(),
                revisions: programs.iter().map(|program| program.revision).collect(),
                launches,
                prepare: plans.iter().flatten().map(|plan| plan.prepare.clone()).collect(),
            };
            let known = self.together.iter().position(|known| *known == key);
            let number = known.unwrap_or_else(|| {
                self.together.push(key);
                self.together.len() - 1
            });
            return UnitPlan { together: Some(number), ..UnitPlan::default() };
        }
        let lockstep = match programs {
            [base, head] => lockstep::programs(self.slot, [base, head], &launches[0], &identity.id),
            _ => None,
        };
        UnitPlan { lockstep, ..UnitPlan::default() }
    }
}

/// Whether nothing is to be measured of a benchmark.
fn is_idle(evidence: &Evidence) -> bool {
    let settings = &evidence.settings;
    match evidence.presence {
        Presence::Unchanged => settings.budgets.is_empty(),
        Presence::NotComparable => {
            settings.compare
                && settings.budgets.is_empty()
                && !settings.metrics.values().any(|metric| metric.asked_for)
        }
        _ => false,
    }
}

/// A side that has no runs yet.
fn unmeasured(program: &Program<'_>) -> Side {
    Side {
        revision: program.name.to_owned(),
        executable_sha256: Some(program.built.artifact.sha256.clone()),
        runs: Vec::new(),
    }
}

/// A benchmark of which nothing is measured yet.
pub(super) fn evidence(
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
