//! `history`: what past runs say of the newest result.

mod add;
mod backfill;
mod compare;
mod explain;
mod export;
mod import;
mod list;
mod mark;
mod open;
mod prune;
mod rekey;
mod show;
mod status;
mod sync;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::options::OutputFlags;
use crate::error::{Error, ExitCode};
use crate::ui::Ui;

pub(super) use add::{record, witness};
pub(super) use open::History;

/// Arguments of `history`.
#[derive(Debug, Clone, Args)]
pub(super) struct HistoryArgs {
    #[command(subcommand)]
    verb: HistoryVerb,
}

#[derive(Debug, Clone, Subcommand)]
enum HistoryVerb {
    /// Store reports that were written by --format json
    Add(add::AddArgs),
    /// List the stored reports
    List(list::ListArgs),
    /// Show one benchmark over time: values, rolling mean and spread, change points
    Show(show::ShowArgs),
    /// Judge the newest result of every benchmark against its own past, one line each
    Status(status::StatusArgs),
    /// Hold a report against the history: a baseline and the window up to it
    Compare(compare::CompareArgs),
    /// Say why a result has its status: every condition with its number and its limit
    Explain(explain::ExplainArgs),
    /// Accept a change: a new distribution begins at the commit
    Mark(mark::MarkArgs),
    /// Take back a mark, or a step that was found
    Unmark(mark::MarkArgs),
    /// Let a series go on under another name: a renamed benchmark, package or machine
    Rekey(rekey::RekeyArgs),
    /// Take in results of other tools: CSV, criterion, BenchDB or Conbench, github-action-benchmark
    Import(import::ImportArgs),
    /// Write the series as CSV
    Export(export::ExportArgs),
    /// Measure commits of the past, and store what comes of it
    Backfill(Box<backfill::BackfillArgs>),
    /// Remove stored reports by age, number or machine
    Prune(prune::PruneArgs),
    /// Add the stored files to the history of a git remote
    Push(sync::SyncArgs),
    /// Add the files of the history of a git remote
    Pull(sync::SyncArgs),
}

/// What every verb takes.
#[derive(Debug, Clone, Args)]
pub(super) struct Common {
    /// The directory of the history; default: `benchgate/history` in the repository's git directory
    #[arg(long, value_name = "DIR", help_heading = "History")]
    history: Option<PathBuf>,
    /// The branch whose commits count; default: the default branch
    #[arg(long, value_name = "REV", help_heading = "History")]
    branch: Option<String>,
    #[command(flatten)]
    output: OutputFlags,
}

impl HistoryArgs {
    pub(super) fn output(&self) -> &OutputFlags {
        let common = match &self.verb {
            HistoryVerb::Backfill(args) => return args.output(),
            HistoryVerb::Add(args) => &args.common,
            HistoryVerb::List(args) => &args.common,
            HistoryVerb::Show(args) => &args.common,
            HistoryVerb::Status(args) => &args.common,
            HistoryVerb::Compare(args) => &args.common,
            HistoryVerb::Explain(args) => &args.common,
            HistoryVerb::Mark(args) | HistoryVerb::Unmark(args) => &args.common,
            HistoryVerb::Rekey(args) => &args.common,
            HistoryVerb::Import(args) => &args.common,
            HistoryVerb::Export(args) => &args.common,
            HistoryVerb::Prune(args) => &args.common,
            HistoryVerb::Push(args) | HistoryVerb::Pull(args) => &args.common,
        };
        &common.output
    }
}

/// Runs the verb.
pub(super) fn history(args: &HistoryArgs, ui: &Ui) -> Result<ExitCode, Error> {
    match &args.verb {
        HistoryVerb::Add(args) => add::add(args, ui),
        HistoryVerb::Backfill(args) => backfill::backfill(args, ui),
        HistoryVerb::List(args) => list::list(args, ui),
        HistoryVerb::Show(args) => show::show(args, ui),
        HistoryVerb::Status(args) => status::status(args, ui),
        HistoryVerb::Compare(args) => compare::compare(args, ui),
        HistoryVerb::Explain(args) => explain::explain(args, ui),
        HistoryVerb::Mark(args) => mark::mark(args, true, ui),
        HistoryVerb::Unmark(args) => mark::mark(args, false, ui),
        HistoryVerb::Rekey(args) => rekey::rekey(args, ui),
        HistoryVerb::Import(args) => import::import(args, ui),
        HistoryVerb::Export(args) => export::export(args, ui),
        HistoryVerb::Prune(args) => prune::prune(args, ui),
        HistoryVerb::Push(args) => sync::push(args, ui),
        HistoryVerb::Pull(args) => sync::pull(args, ui),
    }
}
