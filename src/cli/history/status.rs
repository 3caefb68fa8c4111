//! `history status`: one line a benchmark.

use clap::Args;

use super::open::mode;
use super::show::LookbackFlag;
use super::{Common, History};
use crate::cli::answers::{Answers, pretty};
use crate::cli::options::one_of;
use crate::error::{Error, ExitCode};
use crate::history::overview::statuses;
use crate::history::render;
use crate::history::status::Status;
use crate::ui::Ui;

/// Arguments of `history status`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help("Write the statuses as terminal or json, to PATH or to stdout (repeatable)")))]
pub(super) struct StatusArgs {
    /// End with status 1 when a benchmark is: regressed, improved, insufficient (repeatable)
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    fail_on: Vec<String>,
    /// Only this metric (repeatable); default: those that gate
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    #[command(flatten)]
    lookback: LookbackFlag,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Shows the statuses.
pub(super) fn status(args: &StatusArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Answers::parse(&args.common.output.format, &["terminal", "json"])?;
    let mode = mode(args.lookback.lookback.as_deref())?;
    let fail_on: Vec<Status> = args
        .fail_on
        .iter()
        .map(|word| one_of("--fail-on", word, Status::ALL, Status::as_str))
        .collect::<Result<_, _>>()?;
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let gated = loaded.gated();
    let view = loaded.view(|number, key| match args.metric.is_empty() {
        true => gated[number],
        false => args.metric.contains(&key.metric),
    });
    let statuses = statuses(&view, mode);
    outputs.write(ui, |format| match format {
        "json" => pretty(&render::json::status(&view, &statuses, mode)),
        _ => render::status::text(&view, &statuses),
    })?;
    if statuses.is_empty() {
        ui.note("the history holds no results to judge; `cargo benchgate run --record` stores one");
    }
    let failing: Vec<String> = statuses
        .iter()
        .zip(render::status::benchmark_labels(&view, &statuses))
        .filter(|(it, _)| fail_on.contains(&it.status))
        .map(|(it, label)| format!("{label} {}", it.status))
        .collect();
    match failing.len() {
        0 => Ok(ExitCode::Success),
        count => {
            const SHOWN: usize = 5;
            let more = if SHOWN < count { format!(" and {} more", count - SHOWN) } else { String::new() };
            let shown: Vec<&str> = failing.iter().take(SHOWN).map(String::as_str).collect();
            ui.error(format!("{}{more} (--fail-on)", shown.join(", ")));
            Ok(ExitCode::GateFailed)
        }
    }
}
