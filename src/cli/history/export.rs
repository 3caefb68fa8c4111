//! `history export`: the series as CSV.

use std::collections::HashSet;

use clap::Args;

use super::{Common, History};
use crate::cli::answers::Answers;
use crate::error::{Error, ExitCode};
use crate::history::import::table;
use crate::history::select::named;
use crate::ui::Ui;

/// Arguments of `history export`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help("Write csv, to PATH or to stdout")))]
pub(super) struct ExportArgs {
    /// Only these benchmarks: labels, ids or globs; default: all
    #[arg(value_name = "BENCH")]
    benches: Vec<String>,
    /// Only this metric (repeatable); default: all
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Only this machine; default: all
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Writes what is in series. What is not, is said.
pub(super) fn export(args: &ExportArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Answers::asked_for(&args.common.output.format, &["csv"])?;
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let mut meant = HashSet::new();
    for bench in &args.benches {
        meant.extend(named(loaded.index.keys.iter(), bench).map_err(Error::Usage)?);
    }
    let view = loaded.view(|_, key| {
        (args.benches.is_empty() || meant.contains(key))
            && (args.metric.is_empty() || args.metric.contains(&key.metric))
            && args.machine.as_ref().is_none_or(|machine| *machine == key.machine)
    });
    outputs.write(ui, |_| table::write(&view))?;
    for line in crate::history::render::left_out(&view.left_out, view.branch.as_deref(), view.is_cut) {
        ui.note(line);
    }
    Ok(ExitCode::Success)
}
