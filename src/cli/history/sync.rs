//! `history push` and `history pull`: a history shared on a git ref.

use std::ffi::OsString;

use clap::Args;

use super::{Common, History};
use crate::error::{Error, ExitCode};
use crate::history::render::counted;
use crate::history::sync::{self, Moved};
use crate::revision::Repository;
use crate::revision::history_ref::HISTORY_REF;
use crate::ui::Ui;

/// Arguments of `history push` and `history pull`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)))]
pub(super) struct SyncArgs {
    /// The remote's name or URL
    #[arg(value_name = "REMOTE")]
    remote: String,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Our files to the remote.
pub(super) fn push(args: &SyncArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let history = History::existing(&args.common)?;
    let now = jiff::Timestamp::now().as_second();
    let moved = sync::push(&history.store, repository(&history)?, &args.remote, &environment(), now)?;
    say("Pushed", "to", &moved, args, ui);
    Ok(ExitCode::Success)
}

/// The remote's files to us.
pub(super) fn pull(args: &SyncArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let history = History::find(args.common.history.as_deref(), None)?;
    let moved = sync::pull(&history.store, repository(&history)?, &args.remote, &environment())?;
    say("Pulled", "from", &moved, args, ui);
    Ok(ExitCode::Success)
}

fn repository(history: &History) -> Result<&Repository, Error> {
    history
        .repository
        .as_ref()
        .ok_or_else(|| Error::Usage("no git repository here; a history travels on a ref of one".to_owned()))
}

/// What is set, for git's credentials and proxies.
fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

fn say(verb: &str, direction: &str, moved: &Moved, args: &SyncArgs, ui: &Ui) {
    for (name, why) in &moved.left_out {
        ui.warn(format!("left out {name}: {why}"));
    }
    ui.status(verb, format!("{} {direction} {} ({HISTORY_REF})", counted(moved.files, "file"), args.remote));
}
