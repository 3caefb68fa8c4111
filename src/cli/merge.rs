//! `merge`: the shards of one run become one report with one verdict.

use std::path::PathBuf;

use clap::Args;

use super::options::OutputFlags;
use super::output::{Outputs, finish};
use super::saved::{context, read_report};
use crate::error::{Error, ExitCode};
use crate::report::assemble;
use crate::report::merge::merge as merge_shards;
use crate::report::model::{Report, RunWide};
use crate::summary;
use crate::ui::Ui;
use crate::verdict::evidence::Evidence;
use crate::verdict::outcome::Exit;
use crate::verdict::{self, RunJudgement};

/// Arguments of `merge`.
#[derive(Debug, Clone, Args)]
pub(super) struct MergeArgs {
    /// The reports of all shards, written by `--shard K/N --format json=PATH`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Turn exit status 1 into 0, nothing else, and say what would have failed
    #[arg(long)]
    no_fail: bool,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Joins the shards and judges all of them at once, so that corrections and the exit status are those of the whole run.
pub(super) fn merge(args: &MergeArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Outputs::parse(&args.output.format)?;
    let mut reports = Vec::new();
    for path in &args.files {
        reports.push(read_report(path)?);
    }
    // What a shard said of its own part is said again of the whole, so only what the judge did not say is kept.
    let mut unexplained = None;
    for report in &mut reports {
        let judged = judge_again(report);
        report.warnings.retain(|warning| !judged.warnings.contains(warning));
        let code = report.exit.without_no_fail.unwrap_or(report.exit.code);
        if judged.exit.code != code && unexplained.is_none() {
            unexplained = Some((report.suite.shard.as_ref().map_or(0, |it| it.index), report.exit.clone()));
        }
    }
    let (mut header, evidence) = merge_shards(reports).map_err(|error| {
        let file = error.place().and_then(|place| args.files.get(place));
        let file = file.map(|path| format!(" {}", path.display())).unwrap_or_default();
        Error::Usage(format!("failed to merge{file}: {error}"))
    })?;
    header.suite.no_fail = args.no_fail;
    let context = context(&header.suite, header.seed, header.started_at.clone(), &evidence);
    let mut judgement = verdict::judge_run(&evidence, &context);
    judgement.summary.overall = summary::overall(&evidence, &judgement.benchmarks, header.suite.summary);
    header.warnings.extend(judgement.warnings);
    let exit = with_unexplained(judgement.exit, unexplained);
    let merged = assemble(header, evidence, judgement.benchmarks, judgement.summary, exit);
    finish(&merged, &outputs, ui)
}

/// The judgement of one shard alone, as its run gave it, without `--no-fail`.
fn judge_again(report: &Report) -> RunJudgement {
    let evidence = Vec::<Evidence>::from(report);
    let suite = RunWide { no_fail: false, ..report.suite.clone() };
    verdict::judge_run(&evidence, &context(&suite, report.seed, report.started_at.clone(), &evidence))
}

/// A shard that ended otherwise than its samples say, as after a clean-up that failed, must not end up green.
fn with_unexplained(exit: Exit, unexplained: Option<(u32, Exit)>) -> Exit {
    match unexplained {
        Some((shard, of_shard)) if exit.code == 0 && of_shard.code != 0 => Exit {
            code: of_shard.code,
            because: Some(format!("shard {shard}: {}", of_shard.because.unwrap_or_default())),
            without_no_fail: None,
        },
        _ => exit,
    }
}
