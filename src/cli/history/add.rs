//! `history add`: reports into the store.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;

use super::open::mode_of_the_suite;
use super::{Common, History};
use crate::cli::judge::read_file;
use crate::error::{Error, ExitCode};
use crate::history::facts::Facts;
use crate::history::key::SeriesKey;
use crate::history::store::Added;
use crate::history::witness::remarks;
use crate::report::json;
use crate::report::model::Report;
use crate::ui::Ui;

/// Arguments of `history add`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)))]
pub(super) struct AddArgs {
    /// Reports written by `--format json`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Adds every file, or none when one is no report.
pub(super) fn add(args: &AddArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let history = History::find(args.common.history.as_deref(), None)?;
    for path in &args.files {
        let bytes = read_file(path)?;
        json::read_json(&bytes)
            .map_err(|error| Error::Usage(format!("failed to read {}: {error}", path.display())))?;
    }
    for path in &args.files {
        let bytes = read_file(path)?;
        let added = history.store.add_report(&bytes).map_err(|error| match error {
            Error::Usage(why) => Error::Usage(format!("failed to read {}: {why}", path.display())),
            error => error,
        })?;
        say(&history, &added, ui);
    }
    Ok(ExitCode::Success)
}

/// Stores the report of a run.
pub(in crate::cli) fn record(history: &History, report: &Report, ui: &Ui) -> Result<(), Error> {
    let added = history.store.add_report(json::json(report).as_bytes())?;
    say(history, &added, ui);
    Ok(())
}

/// What the history knows of a report's base and head, where there is one. It adds words and never fails a run.
pub(in crate::cli) fn witness(
    report: &Report,
    directory: Option<&Path>,
    manifest: Option<&Path>,
    ui: &Ui,
) -> Vec<String> {
    let Ok(history) = History::find(directory, manifest) else { return Vec::new() };
    if !history.store.directory().is_dir() {
        return Vec::new();
    }
    let ask = || -> Result<Vec<String>, Error> {
        let facts = Facts::read(json::json(report).as_bytes()).map_err(Error::Internal)?;
        let mode = mode_of_the_suite(manifest)?;
        let loaded = history.load(None, ui)?;
        let facts = loaded.rekeys.facts(facts);
        let keys: HashSet<&SeriesKey> = facts.points.iter().map(|point| &point.key).collect();
        let view = loaded.view(|_, key| keys.contains(key));
        Ok(remarks(&facts, &view, mode))
    };
    ask().unwrap_or_else(|error| {
        ui.warn(format!("the history was not asked: {error}"));
        Vec::new()
    })
}

fn say(history: &History, added: &Added, ui: &Ui) {
    let path = history.store.directory().join(added.name());
    match added {
        Added::New(_) => ui.status("Recorded", path.display()),
        Added::Known(_) => ui.status("Known", path.display()),
    }
}
