//! `history explain`: every condition with its number and its limit.

use clap::Args;

use super::open::mode;
use super::show::{LookbackFlag, OneSeries};
use super::{Common, History};
use crate::cli::answers::{Answers, pretty};
use crate::error::{Error, ExitCode};
use crate::history::explain::explain as explained;
use crate::history::overview::short;
use crate::history::render::explain as render;
use crate::history::series::Series;
use crate::report::text::{shell_word, visible};
use crate::ui::Ui;

/// Arguments of `history explain`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help("Write the explanation as terminal or json, to PATH or to stdout (repeatable)")))]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    series: OneSeries,
    /// The commit: a revision, or the name an import gave it
    #[arg(value_name = "COMMIT")]
    commit: String,
    #[command(flatten)]
    lookback: LookbackFlag,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Explains one result.
pub(super) fn explain(args: &ExplainArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Answers::parse(&args.common.output.format, &["terminal", "json"])?;
    let mode = mode(args.lookback.lookback.as_deref())?;
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let view = args.series.view(&loaded)?;
    let series = args.series.choose(&view)?;
    // A name that the series has is that commit, whatever the repository makes of it.
    let is_name = series.points.iter().any(|point| *point.commit == *args.commit);
    let repository = history.repository.as_ref().filter(|_| !is_name);
    let resolved = repository.and_then(|repository| repository.resolve(&args.commit).ok());
    let of = |series: &Series| {
        let of_resolved = resolved.as_ref().and_then(|commit| explained(series, commit.id.as_str(), mode));
        of_resolved.or_else(|| explained(series, &args.commit, mode))
    };
    let explanation = of(series).ok_or_else(|| {
        let has_it = |other: &&Series| other.key.metric == series.key.metric && of(other).is_some();
        let elsewhere = view.series.iter().find(has_it).map(|other| other.key.machine.as_str());
        Error::Usage(none(args, series, elsewhere, resolved.is_some() || repository.is_none()))
    })?;
    outputs.write(ui, |format| match format {
        "json" => pretty(&render::json(series, &explanation)),
        _ => render::text(series, &explanation),
    })?;
    Ok(ExitCode::Success)
}

/// Why there is nothing to explain. `elsewhere` is a machine that has it.
fn none(args: &ExplainArgs, series: &Series, elsewhere: Option<&str>, is_known: bool) -> String {
    let (label, newest) = (series.key.label(), short(&series.newest().commit));
    let machine = visible(&series.key.machine);
    match elsewhere.map(visible) {
        Some(other) if other != machine => format!(
            "{label} has no result of commit {} on {machine}; {other} has one: `--machine {}`",
            args.commit,
            shell_word(&other)
        ),
        _ if is_known => format!(
            "{label} has no result of commit {} on {machine}; its newest one is of {newest}",
            args.commit
        ),
        _ => format!(
            "unknown revision {}: it is neither in the repository nor in the history of {label}, whose newest result is of {newest}",
            args.commit
        ),
    }
}
