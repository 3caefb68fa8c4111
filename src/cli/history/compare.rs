//! `history compare`: a report held against a baseline of the history and the window up to it.

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
use crate::history::compare::{ComparedRow, RowStatus, Until, compare_report};
use crate::history::facts::Facts;
use crate::history::render::compare as render;
use crate::history::status::{DEFAULT_PERCENT, DEFAULT_Z, Thresholds};
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

/// Compares and shows the rows.
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
    let until = until(args, &history, &report)?;
    let thresholds = Thresholds { z: args.threshold_z, percent: args.threshold };
    let rows = compare_report(&report, &view, until, thresholds, mode, args.all_metrics);
    outputs.write(ui, |format| match format {
        "json" => {
            let counts = render::counts(&rows);
            let rows: Vec<Value> = rows.iter().map(render::json).collect();
            pretty(&json!({ "schema_version": 1, "lookback": mode.as_str(), "counts": counts, "rows": rows }))
        }
        _ => render::text(&rows),
    })?;
    let failing: Vec<&ComparedRow> = rows.iter().filter(|row| fail_on.contains(&row.status)).collect();
    match failing.first() {
        None => Ok(ExitCode::Success),
        Some(first) => {
            let more =
                if 1 < failing.len() { format!(" and {} more", failing.len() - 1) } else { String::new() };
            ui.error(format!(
                "{} {}{more} (--fail-on)",
                crate::report::text::visible(&first.benchmark),
                first.status
            ));
            Ok(ExitCode::GateFailed)
        }
    }
}

/// Which commits may be the baseline.
fn until(args: &CompareArgs, history: &History, report: &Facts) -> Result<Until, Error> {
    let head = report.revisions.iter().rev().find(|revision| &*revision.name == "head");
    let head = head.or(report.revisions.last());
    let Some(repository) = &history.repository else {
        return Ok(match head.and_then(|head| head.committed_at) {
            Some(time) => Until::Before(time),
            None => Until::Newest,
        });
    };
    if let Some(spec) = &args.baseline {
        let commit = repository.resolve(spec)?;
        return depth_of(args, repository, &commit, 0);
    }
    let Some(head) = head.filter(|head| !head.commit.is_empty()) else { return Ok(Until::Newest) };
    let Ok(commit) = repository.resolve(&head.commit) else { return Ok(Until::Newest) };
    depth_of(args, repository, &commit, usize::from(!head.dirty))
}

/// The depth of a commit on the branch, or of where it left the branch; so many commits before it where it is on it.
fn depth_of(
    args: &CompareArgs,
    repository: &crate::revision::Repository,
    commit: &crate::revision::Commit,
    before: usize,
) -> Result<Until, Error> {
    let (name, tip) = match &args.common.branch {
        Some(branch) => (branch.clone(), repository.resolve(branch)?),
        None => repository.default_branch_tip()?,
    };
    let wanted = std::collections::HashSet::from([commit.id.as_str()]);
    let line = repository.branch_line(name.clone(), &tip, &wanted)?;
    if let Some(found) = line.commits.get(commit.id.as_str()) {
        return Ok(Until::Depth(found.depth + u32::try_from(before).unwrap_or(0)));
    }
    let left = repository.left_line(name, &tip, commit)?;
    Ok(left.map_or(Until::Newest, Until::Depth))
}
