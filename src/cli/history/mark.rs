//! `history mark` and `history unmark`: where a new distribution begins because someone says so.

use clap::Args;

use super::open::now;
use super::{Common, History};
use crate::error::{Error, ExitCode};
use crate::history::marks::{Action, Event};
use crate::history::select::named;
use crate::ui::Ui;

/// Arguments of `history mark` and `history unmark`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)))]
pub(super) struct MarkArgs {
    /// The benchmark's label or id, or a glob over labels; `*` is all
    #[arg(value_name = "BENCH")]
    bench: String,
    /// The commit: a revision, or the name an import gave it
    #[arg(value_name = "COMMIT")]
    commit: String,
    /// Why: kept with the mark
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only this metric
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Only this machine
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Adds the event. Nothing is ever changed: the newest word on a commit counts.
pub(super) fn mark(args: &MarkArgs, begins: bool, ui: &Ui) -> Result<ExitCode, Error> {
    if args.reason.trim().is_empty() {
        return Err(Error::Usage("`--reason` is empty; say why, for those who read it later".to_owned()));
    }
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let about = named(loaded.index.keys.iter(), &args.bench).map_err(Error::Usage)?.len();
    let known = |commit: &str| {
        let runs = loaded.index.reports.iter().filter_map(|report| report.content.as_ref().ok());
        runs.flat_map(|run| &run.revisions).any(|revision| *revision.commit == *commit)
    };
    let resolved = history.repository.as_ref().and_then(|repository| repository.resolve(&args.commit).ok());
    let commit = match resolved {
        Some(commit) => commit.id.as_str().to_owned(),
        None if known(&args.commit) => args.commit.clone(),
        None => {
            return Err(Error::Usage(format!(
                "commit {} is neither in the repository nor in the history; check its name",
                args.commit
            )));
        }
    };
    let event = Event {
        schema_version: 1,
        action: if begins { Action::Mark } else { Action::Unmark },
        commit: commit.clone(),
        benchmark: args.bench.clone(),
        metric: args.metric.clone(),
        machine: args.machine.clone(),
        reason: args.reason.clone(),
        at: now(),
    };
    history.store.add_event(&event)?;
    let what = if begins { "Marked" } else { "Unmarked" };
    ui.status(what, format!("{} at {commit} ({about} series)", args.bench));
    Ok(ExitCode::Success)
}
