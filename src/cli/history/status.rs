//! `history status`: one line a benchmark.

use clap::Args;

use super::open::mode;
use super::show::LookbackFlag;
use super::{Common, History};
use crate::cli::answers::{Answers, pretty};
use crate::cli::options::one_of;
use crate::error::{Error, ExitCode};
use crate::history::overview::{Overview, statuses};
use crate::history::render;
use crate::history::series::View;
use crate::history::status::Status;
use crate::ui::Ui;

/// Arguments of `history status`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help("Write the statuses as terminal or json, to PATH or to stdout (repeatable)")))]
pub(super) struct StatusArgs {
    /// End with status 1 when a benchmark is: regressed, improved, insufficient (repeatable); with 6 when nothing was judged, or results are left out because the clone is shallow
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    fail_on: Vec<String>,
    /// Only this metric (repeatable); default: those that gate
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Only this machine (repeatable); default: all, of which the worst counts
    #[arg(long, value_name = "MACHINE")]
    machine: Vec<String>,
    #[command(flatten)]
    lookback: LookbackFlag,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Shows the statuses. 1 for a status that is to fail, 6 where one could fail and there is none, or the clone is too shallow to tell.
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
    loaded.know_metrics(&args.metric)?;
    loaded.know_machines(&args.machine)?;
    let gated = loaded.gated();
    let view = loaded.view(|number, key| {
        let is_metric = match args.metric.is_empty() {
            true => gated[number],
            false => args.metric.contains(&key.metric),
        };
        is_metric && (args.machine.is_empty() || args.machine.contains(&key.machine))
    });
    let overview = statuses(&view, mode);
    let statuses = &overview.benchmarks;
    outputs.write(ui, |format| match format {
        "json" => pretty(&render::json::status(&view, &overview, mode)),
        _ => render::status::text(&view, &overview),
    })?;
    if statuses.is_empty() {
        let why = nothing(&history, &view, &overview);
        if !fail_on.is_empty() {
            ui.error(format!("nothing was judged: {why} (--fail-on)"));
            return Ok(ExitCode::NotMeasured);
        }
        ui.note(format!("nothing was judged: {why}"));
    }
    let failing: Vec<String> = statuses
        .iter()
        .zip(render::status::benchmark_labels(&view, statuses))
        .filter(|(it, _)| fail_on.contains(&it.status))
        .map(|(it, label)| format!("{label} {}", it.status))
        .collect();
    match failing.len() {
        // What was cut away could be the very past that a newest result is off.
        0 if !fail_on.is_empty() && view.is_cut && 0 < view.left_out.off_branch => {
            ui.error(format!(
                "the clone is shallow, and {} left out because of it: `git fetch --unshallow` first (--fail-on)",
                match view.left_out.off_branch {
                    1 => "1 result is".to_owned(),
                    count => format!("{count} results are"),
                }
            ));
            Ok(ExitCode::NotMeasured)
        }
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

/// Why there is no status.
fn nothing(history: &History, view: &View, overview: &Overview) -> String {
    if !history.store.directory().is_dir() {
        return format!(
            "there is no history at {}; `history pull REMOTE` brings one, `cargo benchgate run --record` begins one",
            history.store.directory().display()
        );
    }
    let mut lines = render::status::gone(view, overview);
    lines.extend(render::left_out(&view.left_out, view.branch.as_deref(), view.is_cut));
    match lines.is_empty() {
        true => {
            "the history holds no results of what is asked for; `cargo benchgate run --record` stores some"
                .to_owned()
        }
        false => lines.join("; "),
    }
}
