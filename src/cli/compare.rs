//! `compare` (the default) and `run`: one measuring run.

use std::path::PathBuf;

use clap::Args;

use super::history::History;
use super::options::{
    BenchmarkSelection, BuildFlags, JudgeFlags, ManifestFlags, MeasuringFlags, OutputFlags, PackageSelection,
};
use super::output::Outputs;
use super::shard::ShardFlags;
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{self, Command, HeadRequest, Outcome, Request};
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
    #[arg(long)]
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
    let measured =
        args.run.request(Command::Compare, HeadRequest::from_flag(&args.head)).and_then(|request| {
            let (base, further, shard) = (args.base.clone(), args.further.clone(), args.shard.request()?);
            measure(&args.run, &args.history, &Request { base, further, shard, ..request }, ui)
        });
    if args.bisect_run { Ok(for_git_bisect(measured, ui)) } else { measured }
}

/// The statuses `git bisect run` knows; any other would be taken for a bad commit.
fn for_git_bisect(measured: Result<ExitCode, Error>, ui: &Ui) -> ExitCode {
    match measured {
        Ok(code @ (ExitCode::Success | ExitCode::GateFailed)) => code,
        Ok(_) => ExitCode::BisectSkip,
        Err(error) => {
            ui.error(&error);
            ExitCode::BisectSkip
        }
    }
}

/// Head alone.
pub(super) fn run(args: &HeadArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let request = Request {
        shard: args.shard.request()?,
        ..args.run.request(Command::Run, HeadRequest::from_flag(&args.head))?
    };
    measure(&args.run, &args.history, &request, ui)
}

fn measure(args: &RunArgs, flags: &RecordFlags, request: &Request, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Outputs::parse(&args.output().format)?;
    measure_into(&outputs, request, &Environment::of_this_process()?, flags, ui)
}

/// Runs the gate, writes the report, and keeps it in the history where that is asked for.
pub(super) fn measure_into(
    outputs: &Outputs,
    request: &Request,
    environment: &Environment,
    flags: &RecordFlags,
    ui: &Ui,
) -> Result<ExitCode, Error> {
    // A place that cannot be found must not cost a measured result.
    let history = if flags.record { Some(History::find(flags.directory.as_deref())?) } else { None };
    match gate::run(request, environment, ui)? {
        Outcome::Planned => Ok(ExitCode::Success),
        Outcome::Finished(reports) => {
            let mut report = reports
                .into_iter()
                .next()
                .expect("one repeat was asked for, and an interrupted one is reported too");
            if request.command == Command::Compare {
                let remarks = super::history::witness(&report, flags.directory.as_deref(), ui);
                report.warnings.extend(remarks);
            }
            let code = super::output::finish(&report, outputs, ui)?;
            if let Some(history) = &history {
                super::history::record(history, &report, ui)?;
            }
            Ok(code)
        }
    }
}
