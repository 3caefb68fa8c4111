//! How a program of a revision is made ready, started, and asked which benchmarks it holds.

use std::path::Path;
use std::time::Duration;

use super::benchmarks::Finder;
use super::hooks::{self, Commands, Owner};
use super::launch::{self, Places};
use super::program::{Program, Trouble};
use super::tools;
use crate::harness::contract::{CommandSpec, Executable, ResolvedLaunch};
use crate::harness::{DeclaredMetric, Facts, HarnessKind, Tools};
use crate::measure::WorkPlan;
use crate::suite::launch::Launch;
use crate::suite::settings::BenchmarkSettings;
use crate::suite::{TargetPlan, VariantPlan};
use crate::verdict::evidence::{BenchmarkError, ErrorKind};

impl Finder<'_, '_> {
    /// The ids a program lists; a whole program is one benchmark, named as its target.
    pub(super) fn ids(
        &mut self,
        target: &TargetPlan,
        variant: &VariantPlan,
        program: &Program<'_>,
    ) -> Result<Vec<String>, Trouble> {
        let fail = |kind, message: String, stderr| Box::new(BenchmarkError { kind, message, stderr });
        let settings = self.suite.target_settings(&target.id, &variant.variant);
        let launch = self
            .resolve(&variant.launch, program, &settings)
            .map_err(|message| fail(ErrorKind::StartFailed, message, None))?;
        let Some(mut command) = program.harness.list_command(&program.built.executable, &launch.0) else {
            return Ok(vec![target.id.target.clone()]);
        };
        // What the benches read as they start may be what the setup makes.
        let (owner, commands) = self.hooks_of(target, variant, &variant.launch, program)?;
        self.hooks.begin(self.executor, owner, &commands)?;
        if program.harness == HarnessKind::Lines {
            // Its list is the output of a unit run.
            command.timeout = Duration::from_nanos(settings.sampling.timeout_ns);
        }
        let ids = self.list(target, program, &command)?;
        let ignored = match program.harness.list_ignored_command(&program.built.executable, &launch.0) {
            Some(command) if !ids.is_empty() => self.list(target, program, &command)?,
            _ => Vec::new(),
        };
        Ok(ids.into_iter().filter(|id| !ignored.contains(id)).collect())
    }

    /// The ids that one list command prints.
    fn list(
        &mut self,
        target: &TargetPlan,
        program: &Program<'_>,
        command: &CommandSpec,
    ) -> Result<Vec<String>, Trouble> {
        let fail = |kind, message: String, stderr| Box::new(BenchmarkError { kind, message, stderr });
        let output = self.executor.execute(program.revision, command).map_err(|error| {
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

    /// Fills in a launch for a program; the error is a line for the benchmark's row.
    pub(super) fn resolve(
        &self,
        launch: &Launch,
        program: &Program<'_>,
        settings: &BenchmarkSettings,
    ) -> Result<(ResolvedLaunch, Option<WorkPlan>), String> {
        let (mut launch, work) = self
            .with_places(program, |executable, places| launch::resolve(launch, executable, places))
            .map_err(|error| error.to_string())?;
        let executable = &program.built.executable;
        launch.facts = Facts {
            metrics: if program.harness == HarnessKind::Lines { declared(settings) } else { Vec::new() },
            tools: match program.harness.runner_name() {
                Some(runner) => tools::look_up(runner, executable.env.iter().chain(&launch.env)),
                None => Tools::default(),
            },
        };
        Ok((launch, work))
    }

    fn with_places<T>(&self, program: &Program<'_>, fill: impl FnOnce(&Executable, &Places<'_>) -> T) -> T {
        // Setups and lists may look into it; unit runs find it as they are to.
        let _ = fs_err::create_dir_all(self.slot.work(Some(program.place), self.variant));
        let root = &program.built.executable.package_root;
        let package = root.strip_prefix(self.live_tree).unwrap_or(Path::new(""));
        let environment = self.context.environment;
        let places = Places {
            // Without a component for the package at the root itself, which would leave a slash at the end.
            head_root: self.head_tree.join(package).components().collect(),
            work_directory: &self.slot.work(None, self.variant),
            variable: &|name| environment.variable(name).map(str::to_owned),
        };
        fill(&program.built.executable, &places)
    }

    /// The hooks of a program's revision, with whose they are.
    pub(super) fn hooks_of(
        &self,
        target: &TargetPlan,
        variant: &VariantPlan,
        launch: &Launch,
        program: &Program<'_>,
    ) -> Result<(Owner, Commands), Trouble> {
        let timeout = Duration::from_nanos(variant.timeout_ns);
        let commands = self
            .with_places(program, |executable, places| hooks::resolve(launch, executable, places, timeout))
            .map_err(|error| {
                let message = error.to_string();
                Box::new(BenchmarkError { kind: ErrorKind::StartFailed, message, stderr: None })
            })?;
        let owner = Owner {
            target: target.id.clone(),
            variant: variant.variant.clone(),
            revision: program.revision,
            side: program.name.to_owned(),
        };
        Ok((owner, commands))
    }
}

/// The metrics of the user's own that the suite declares for a benchmark.
fn declared(settings: &BenchmarkSettings) -> Vec<DeclaredMetric> {
    let own = settings.metrics.iter().filter(|(metric, _)| metric.unit().is_none());
    own.map(|(metric, settings)| DeclaredMetric {
        metric: metric.clone(),
        unit: settings.unit.clone(),
        better: settings.better,
    })
    .collect()
}
