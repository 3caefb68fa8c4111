//! `compare` (the default) and `run`: one measuring run.

use std::path::PathBuf;

use clap::Args;

use super::history::History;
use super::options::{
    BenchmarkSelection, BuildFlags, JudgeFlags, ManifestFlags, MeasuringFlags, OutputFlags, PackageSelection,
};
use super::output::{Outputs, conclude};
use super::shard::ShardFlags;
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{self, Command, HeadRequest, Outcome, Request};
use crate::report::model::Report;
use crate::suite::Overrides;
use crate::ui::Ui;

/// Arguments of `compare`.
#[derive(Debug, Clone, Args)]
pub(super) struct CompareArgs {
    /// Revision to compare against; default: the merge base with the default branch
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Revision to judge: a revision, or `worktree` for the working tree with its uncommitted files
    #[arg(long, value_name = "REV", default_value = "worktree")]
    head: String,
    /// One more revision to compare with the base (repeatable)
    #[arg(long = "ref", value_name = "REV")]
    further: Vec<String>,
    /// Exit as `git bisect run` reads it: 0 good, 1 bad, 125 cannot be told
    #[arg(long, conflicts_with_all = ["no_fail", "dry_run"])]
    bisect_run: bool,
    #[command(flatten)]
    shard: ShardFlags,
    #[command(flatten)]
    history: RecordFlags,
    #[command(flatten)]
    run: RunArgs,
}

/// Arguments of `run`.
#[derive(Debug, Clone, Args)]
pub(super) struct HeadArgs {
    /// Revision to measure: a revision, or `worktree` for the working tree with its uncommitted files
    #[arg(long, value_name = "REV", default_value = "worktree")]
    head: String,
    #[command(flatten)]
    shard: ShardFlags,
    #[command(flatten)]
    history: RecordFlags,
    #[command(flatten)]
    run: RunArgs,
}

/// What a run has to do with the history.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "History")]
pub(super) struct RecordFlags {
    /// Store the report in the history once it is written
    #[arg(long)]
    record: bool,
    /// The directory of the history; default: `benchgate/history` in the repository's git directory
    #[arg(long = "history", value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Arguments of every verb that measures.
#[derive(Debug, Clone, Args)]
pub(super) struct RunArgs {
    /// Show what would be done, and stop
    #[arg(long)]
    dry_run: bool,
    /// Leave worktrees in place and say where they are
    #[arg(long)]
    keep: bool,
    /// Build the base again, though its executables are kept from an earlier run, and keep nothing
    #[arg(long)]
    no_cache: bool,
    /// Measure programs that are identical on both sides, too
    #[arg(long)]
    no_identity: bool,
    #[command(flatten)]
    suite: SuiteArgs,
}

/// Arguments of every verb that resolves the suite.
#[derive(Debug, Clone, Args)]
pub(super) struct SuiteArgs {
    #[command(flatten)]
    packages: PackageSelection,
    #[command(flatten)]
    benchmarks: BenchmarkSelection,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    manifest: ManifestFlags,
    #[command(flatten)]
    measuring: MeasuringFlags,
    #[command(flatten)]
    judge: JudgeFlags,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

impl CompareArgs {
    pub(super) fn output(&self) -> &OutputFlags {
        self.run.output()
    }
}

impl HeadArgs {
    pub(super) fn output(&self) -> &OutputFlags {
        self.run.output()
    }
}

impl RunArgs {
    pub(super) fn output(&self) -> &OutputFlags {
        &self.suite.output
    }

    pub(super) fn request(&self, command: Command, head: HeadRequest) -> Result<Request, Error> {
        Ok(Request {
            keep: self.keep,
            dry_run: self.dry_run,
            build_cache: !self.no_cache,
            identity: !self.no_identity,
            ..self.suite.request(command, head)?
        })
    }
}

impl SuiteArgs {
    pub(super) fn request(&self, command: Command, head: HeadRequest) -> Result<Request, Error> {
        Ok(Request {
            command,
            base: None,
            head,
            further: Vec::new(),
            suite_of: None,
            manifest_path: self.manifest.manifest_path.clone(),
            selection: self.packages.selection(&self.benchmarks),
            overrides: Overrides {
                head_only: command == Command::Run,
                ..super::options::overrides(Some(&self.measuring), &self.judge, Some(&self.build))?
            },
            cargo: self.manifest.cargo_flags(),
            cache: self.build.target_dir.clone(),
            seed: self.measuring.seed,
            no_fail: self.judge.no_fail,
            keep: false,
            dry_run: false,
            ci: None,
            shard: None,
            build_cache: true,
            identity: true,
            repeats: 1,
        })
    }
}

/// Base against head.
pub(super) fn compare(args: &CompareArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let request = Request {
        base: args.base.clone(),
        further: args.further.clone(),
        suite_of: None,
        shard: args.shard.request()?,
        ..args.run.request(Command::Compare, HeadRequest::from_flag(&args.head))?
    };
    let Some(report) = measure(&args.run, &args.history, &request, ui)? else { return Ok(ExitCode::Success) };
    match super::git_bisect::untold(&report) {
        Some(why) if args.bisect_run => {
            ui.error(why);
            Ok(ExitCode::BisectSkip)
        }
        _ => conclude(&report, ui),
    }
}

/// Head alone.
pub(super) fn run(args: &HeadArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let request = Request {
        shard: args.shard.request()?,
        ..args.run.request(Command::Run, HeadRequest::from_flag(&args.head))?
    };
    match measure(&args.run, &args.history, &request, ui)? {
        None => Ok(ExitCode::Success),
        Some(report) => conclude(&report, ui),
    }
}

fn measure(args: &RunArgs, flags: &RecordFlags, request: &Request, ui: &Ui) -> Result<Option<Report>, Error> {
    let outputs = Outputs::parse(&args.output().format)?;
    measured_into(&outputs, request, &Environment::of_this_process()?, flags, ui)
}

/// Runs the gate, writes the report, keeps it in the history where that is asked for, and says why it fails.
pub(super) fn measure_into(
    outputs: &Outputs,
    request: &Request,
    environment: &Environment,
    flags: &RecordFlags,
    ui: &Ui,
) -> Result<ExitCode, Error> {
    match measured_into(outputs, request, environment, flags, ui)? {
        None => Ok(ExitCode::Success),
        Some(report) => conclude(&report, ui),
    }
}

/// The report of a run, written and recorded; `None` where only the plan was shown.
fn measured_into(
    outputs: &Outputs,
    request: &Request,
    environment: &Environment,
    flags: &RecordFlags,
    ui: &Ui,
) -> Result<Option<Report>, Error> {
    // A place that cannot be found must not cost a measured result.
    let (directory, manifest) = (flags.directory.as_deref(), request.manifest_path.as_deref());
    let history = if flags.record { Some(History::find(directory, manifest)?) } else { None };
    let reports = match gate::run(request, environment, ui)? {
        Outcome::Planned(plan) => {
            super::list::show_plan(&plan)?;
            return Ok(None);
        }
        Outcome::Finished(reports) => reports,
    };
    let mut report =
        reports.into_iter().next().expect("one repeat was asked for, and an interrupted one is reported too");
    if request.command == Command::Compare {
        let remarks = super::history::witness(&report, directory, manifest, ui);
        report.warnings.extend(remarks);
    }
    // An output that cannot be written must not cost the record, nor the other way round.
    let written = outputs.write(&report, ui);
    let recorded = history.as_ref().map_or(Ok(()), |history| super::history::record(history, &report, ui));
    if let (Err(_), Err(error)) = (&written, &recorded) {
        ui.warn(error);
    }
    if let Err(error) = written.and(recorded) {
        // The error decides the status; what the run came to is said all the same.
        if let Some(because) = &report.exit.because {
            ui.note(because);
        }
        return Err(error);
    }
    Ok(Some(report))
}
