//! `history compare`: a report held against a baseline of the history and the window up to it.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::open::mode;
use super::show::LookbackFlag;
use super::{Common, History};
use crate::cli::answers::{Answers, pretty};
use crate::cli::judge::read_file;
use crate::cli::options::one_of;
use crate::error::{Error, ExitCode};
use crate::history::compare::{ComparedRow, RowStatus, Rules, Until, compare_report};
use crate::history::facts::{Facts, RevisionFacts};
use crate::history::overview::short;
use crate::history::render::compare as render;
use crate::history::series::View;
use crate::history::status::{BASELINE_Z, DEFAULT_PERCENT, DEFAULT_Z, MIN_EARLIER, MIN_SHARE, Thresholds};
use crate::report::text::visible;
use crate::revision::{Commit, Repository};
use crate::ui::Ui;

/// Arguments of `history compare`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help("Write the rows as terminal or json, to PATH or to stdout (repeatable)")))]
pub(super) struct CompareArgs {
    /// A report written by `--format json`: its head is the contender
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The baseline is the newest stored result at or before this revision; default: where head left the branch, or the
    /// commit before head on the branch itself
    #[arg(long, value_name = "REV")]
    baseline: Option<String>,
    /// Pairwise change to the baseline that is pointed out, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = DEFAULT_PERCENT)]
    threshold: f64,
    /// z-score that must be crossed
    #[arg(long, value_name = "Z", default_value_t = DEFAULT_Z)]
    threshold_z: f64,
    /// End with status 1 when a row is one of these (repeatable)
    #[arg(long, value_name = "STATUS", value_delimiter = ',', default_value = "regressed,errored")]
    fail_on: Vec<String>,
    /// All metrics, not only those that gate
    #[arg(long)]
    all_metrics: bool,
    #[command(flatten)]
    lookback: LookbackFlag,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Compares and shows the rows. 1 for a row that is to fail, 6 where nothing could be compared.
pub(super) fn compare(args: &CompareArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Answers::parse(&args.common.output.format, &["terminal", "json"])?;
    let mode = mode(args.lookback.lookback.as_deref())?;
    for (flag, number) in [("--threshold", args.threshold), ("--threshold-z", args.threshold_z)] {
        if !(number.is_finite() && 0.0 < number) {
            return Err(Error::Usage(format!("`{flag} {number}`: write a number above 0")));
        }
    }
    let fail_on: Vec<RowStatus> = args
        .fail_on
        .iter()
        .map(|word| one_of("--fail-on", word, RowStatus::ALL, RowStatus::as_str))
        .collect::<Result<_, _>>()?;
    let bytes = read_file(&args.file)?;
    let report = Facts::read(&bytes)
        .map_err(|why| Error::Usage(format!("failed to read {}: {why}", args.file.display())))?;
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let report = loaded.rekeys.facts(report);
    let view = loaded.view(|_, _| true);
    let until = until(args, &history, &view, &report, ui)?;
    let thresholds = Thresholds { z: args.threshold_z, percent: args.threshold };
    let own_commit = args.baseline.is_some() || head(&report).is_some_and(|head| head.dirty);
    let rules = Rules { until, own_commit, thresholds, mode, all_metrics: args.all_metrics };
    let rows = compare_report(&report, &view, rules);
    outputs.write(ui, |format| match format {
        "json" => {
            let counts = render::counts(&rows);
            let rows: Vec<Value> = rows.iter().map(render::json).collect();
            let head = head(&report);
            let started_at = jiff::Timestamp::from_nanosecond(i128::from(report.result_time)).ok();
            pretty(&json!({
                "schema_version": 1,
                "tool": { "name": "cargo-benchgate", "version": env!("CARGO_PKG_VERSION") },
                "report": {
                    "commit": head.map(|head| head.commit.as_ref()),
                    "dirty": head.map(|head| head.dirty),
                    "started_at": started_at.map(|time| time.to_string()),
                    "machine": report.machine.as_ref(),
                },
                "lookback": mode.as_str(),
                "thresholds": {
                    "percent": thresholds.percent,
                    "z_score": thresholds.z,
                    "baseline_z_score": BASELINE_Z,
                    "baseline_percent": 100.0 * MIN_SHARE,
                    "earlier_results": MIN_EARLIER,
                },
                "counts": counts,
                "rows": rows,
            }))
        }
        _ => render::text(&rows),
    })?;
    let failing: Vec<&ComparedRow> = rows.iter().filter(|row| fail_on.contains(&row.status)).collect();
    match failing.first() {
        None if !rows.iter().any(|row| row.status.is_compared()) => {
            ui.error(format!("nothing was compared: {}", nothing(&history, &view, &rows)));
            Ok(ExitCode::NotMeasured)
        }
        None => Ok(ExitCode::Success),
        Some(first) => {
            let more =
                if 1 < failing.len() { format!(" and {} more", failing.len() - 1) } else { String::new() };
            ui.error(format!("{} {}{more} (--fail-on)", visible(&first.benchmark), first.status));
            Ok(ExitCode::GateFailed)
        }
    }
}

/// Why no row has a baseline that it can be compared with.
fn nothing(history: &History, view: &View, rows: &[ComparedRow]) -> String {
    if let Some(row) = rows.first() {
        return format!("{} {}: {}", visible(&row.benchmark), row.status, visible(&row.reason));
    }
    match view.series.is_empty() {
        true => format!("the history {} has no series", history.store.directory().display()),
        false => {
            "the report has no result of a metric that gates; --all-metrics takes the others, too".to_owned()
        }
    }
}

/// The revision that is compared.
fn head(report: &Facts) -> Option<&RevisionFacts> {
    report.revisions.iter().rev().find(|revision| &*revision.name == "head").or(report.revisions.last())
}

/// Which commits may be the baseline. Where that is a guess, it is said.
fn until(
    args: &CompareArgs,
    history: &History,
    view: &View,
    report: &Facts,
    ui: &Ui,
) -> Result<Until, Error> {
    if let Some(spec) = &args.baseline {
        return named(spec, args, history, view, ui);
    }
    let Some(head) = head(report).filter(|head| !head.commit.is_empty()) else {
        ui.note("the report names no commit of head, so the newest stored results are the baseline");
        return Ok(Until::Newest);
    };
    // A tree with changes that are not committed is later than its commit.
    let before = i64::from(!head.dirty);
    let commit = history.repository.as_ref().map(|repository| (repository, repository.resolve(&head.commit)));
    if let Some((repository, Ok(commit))) = commit {
        return at(args, repository, &commit, head.dirty, ui);
    }
    match head.committed_at {
        Some(time) => {
            if history.repository.is_some() {
                ui.note(format!(
                    "the repository does not know commit {}, so results of before its time are the baseline",
                    short(&visible(&head.commit))
                ));
            }
            Ok(Until::Time(time - before))
        }
        None => {
            ui.note(format!(
                "nothing says when commit {} was made, so the newest stored results are the baseline",
                short(&visible(&head.commit))
            ));
            Ok(Until::Newest)
        }
    }
}

/// The baseline that was named: a commit of the history, else a revision.
fn named(spec: &str, args: &CompareArgs, history: &History, view: &View, ui: &Ui) -> Result<Until, Error> {
    let mut points = view.series.iter().flat_map(|series| &series.points);
    if let Some(point) = points.find(|point| *point.commit == *spec && point.depth.is_none()) {
        return Ok(Until::Time(point.committed_at));
    }
    match &history.repository {
        Some(repository) => at(args, repository, &repository.resolve(spec)?, true, ui),
        None => Err(Error::Usage(format!(
            "`--baseline {spec}`: the history has no result of that commit, and there is no repository that knows it"
        ))),
    }
}

/// Up to a commit of the branch, or where it left the branch; on the branch the commit itself counts where it is asked for.
fn at(
    args: &CompareArgs,
    repository: &Repository,
    commit: &Commit,
    with_itself: bool,
    ui: &Ui,
) -> Result<Until, Error> {
    let (name, tip) = match &args.common.branch {
        Some(branch) => (branch.clone(), repository.resolve(branch)?),
        None => repository.default_branch_tip()?,
    };
    let wanted = HashSet::from([commit.id.as_str()]);
    let line = repository.branch_line(name.clone(), &tip, &wanted)?;
    if let Some(found) = line.commits.get(commit.id.as_str()) {
        let before = u32::from(!with_itself);
        return Ok(Until::Depth {
            depth: found.depth + before,
            time: found.committed_at - i64::from(before),
        });
    }
    let Some(depth) = repository.left_line(name.clone(), &tip, commit)? else {
        ui.note(format!(
            "commit {} and {} have no commit in common here, so the newest stored results are the baseline",
            commit.id.short(),
            visible(&name)
        ));
        return Ok(Until::Newest);
    };
    let left = repository.resolve(&format!("{}~{depth}", tip.id.as_str()))?;
    Ok(Until::Depth { depth, time: left.committed_at.as_second() })
}
