//! `history import`: results of other tools.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Common, History};
use crate::cli::judge::read_file;
use crate::error::{Error, ExitCode};
use crate::history::import::{
    Records, benchdb, criterion, github_action, reports, settle_directions, table, timestamp,
};
use crate::history::index::Index;
use crate::history::render::counted;
use crate::report::json;
use crate::suite::keys::nearest;
use crate::ui::Ui;

const SOURCES: [&str; 5] = ["auto", "csv", "criterion", "benchdb", "github-action-benchmark"];

/// Arguments of `history import`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)))]
pub(super) struct ImportArgs {
    /// A CSV (commit,timestamp,benchmark,metric,unit,value[,mark][,machine][,better]), result JSON of BenchDB or Conbench, the data
    /// of github-action-benchmark, or a folder of criterion
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What it is: auto, csv, criterion, benchdb, github-action-benchmark
    #[arg(long, value_name = "SOURCE", default_value = "auto")]
    from: String,
    /// The machine the results are of, where the source does not say
    #[arg(long, value_name = "LABEL")]
    machine: Option<String>,
    /// The commit the results of a criterion folder are of [default: HEAD]
    #[arg(long, value_name = "REV")]
    commit: Option<String>,
    /// The time of that commit, where the repository does not know it: Unix seconds or RFC 3339
    #[arg(long, value_name = "TIME")]
    timestamp: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Reads everything, then stores everything.
pub(super) fn import(args: &ImportArgs, ui: &Ui) -> Result<ExitCode, Error> {
    if !SOURCES.contains(&args.from.as_str()) {
        let near =
            nearest(&args.from, SOURCES).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        return Err(Error::Usage(format!("`--from {}`: not one of {}{near}", args.from, SOURCES.join(", "))));
    }
    let history = History::find(args.common.history.as_deref(), None)?;
    let mut records = Records::default();
    for path in &args.paths {
        let read = read(path, args, &history)?;
        records.records.extend(read.records);
        records.left_out.extend(read.left_out.into_iter().map(|why| format!("{}: {why}", path.display())));
    }
    for why in &records.left_out {
        ui.warn(format!("left out {why}"));
    }
    if records.records.is_empty() {
        return Err(Error::Usage("nothing was found to import; check the path and --from".to_owned()));
    }
    let known = Index::load(&history.store)?.directions();
    settle_directions(&mut records.records, &known)
        .map_err(|why| Error::Usage(format!("failed to import: {why}; nothing was stored")))?;
    let imported = reports(&records.records, args.machine.as_deref());
    for note in &imported.notes {
        ui.note(note);
    }
    let mut new = 0;
    for report in &imported.reports {
        new += usize::from(history.store.add_report(json::json(report).as_bytes())?.is_new());
    }
    for event in &imported.events {
        history.store.add_event(event)?;
    }
    ui.status(
        "Imported",
        format!(
            "{} as {} ({} known), {}, into {}",
            counted(records.records.len(), "result"),
            counted(new, "new report"),
            imported.reports.len() - new,
            counted(imported.events.len(), "mark"),
            history.store.directory().display()
        ),
    );
    Ok(ExitCode::Success)
}

fn read(path: &Path, args: &ImportArgs, history: &History) -> Result<Records, Error> {
    let refuse = |why: String| Error::Usage(format!("failed to import {}: {why}", path.display()));
    let source = args.from.as_str();
    if source == "criterion" || (source == "auto" && path.is_dir()) {
        let (commit, time) = commit_and_time(args, history)?;
        let mut folders = Vec::new();
        folders_below(path, &mut folders).map_err(|error| refuse(error.to_string()))?;
        if folders.is_empty() {
            return Err(refuse(
                "no `new/benchmark.json` lies below it; name the `target/criterion` folder".to_owned(),
            ));
        }
        return Ok(criterion::records(&folders, &commit, time));
    }
    let bytes = read_file(path)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|error| refuse(format!("it is not UTF-8 text: {error}")))?;
    let text = text.trim_start_matches('\u{feff}');
    let is_json = text.trim_start().starts_with(['{', '[']);
    match source {
        "github-action-benchmark" => github_action::read(text).map_err(refuse),
        "benchdb" => from_benchdb(text, history).map_err(refuse),
        "csv" => table::read(&bytes).map_err(|error| refuse(error.to_string())),
        _ if github_action::is_it(text) => github_action::read(text).map_err(refuse),
        _ if is_json => {
            let documents = benchdb::documents(text).map_err(refuse)?;
            if !documents.iter().any(benchdb::is_it) {
                let hint = "it is JSON, but no result of BenchDB or Conbench and no data of github-action-benchmark; a report \
                            of our own goes into `history add`";
                return Err(refuse(hint.to_owned()));
            }
            from_benchdb(text, history).map_err(refuse)
        }
        _ => table::read(&bytes).map_err(|error| refuse(error.to_string())),
    }
}

fn from_benchdb(text: &str, history: &History) -> Result<Records, String> {
    let documents = benchdb::documents(text)?;
    let known = |commit: &str| {
        let commit = history.repository.as_ref()?.resolve(commit).ok()?;
        Some(commit.committed_at.as_second())
    };
    Ok(benchdb::read(&documents, &known))
}

fn commit_and_time(args: &ImportArgs, history: &History) -> Result<(String, i64), Error> {
    let stated = args
        .timestamp
        .as_deref()
        .map(timestamp)
        .transpose()
        .map_err(|why| Error::Usage(format!("`--timestamp`: {why}")))?;
    let spec = args.commit.as_deref();
    match &history.repository {
        Some(repository) => match repository.resolve(spec.unwrap_or("HEAD")) {
            Ok(commit) => {
                Ok((commit.id.as_str().to_owned(), stated.unwrap_or(commit.committed_at.as_second())))
            }
            Err(error) => match (spec, stated) {
                (Some(spec), Some(time)) => Ok((spec.to_owned(), time)),
                _ => Err(error.into()),
            },
        },
        None => match (spec, stated) {
            (Some(spec), Some(time)) => Ok((spec.to_owned(), time)),
            _ => Err(Error::Usage(
                "a criterion folder does not say its commit; name it with --commit and --timestamp"
                    .to_owned(),
            )),
        },
    }
}

/// The `new` directories below a folder that hold a `benchmark.json`.
fn folders_below(directory: &Path, found: &mut Vec<criterion::Folder>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = fs_err::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if !path.is_dir() || path.is_symlink() {
            continue;
        }
        let benchmark = path.join("benchmark.json");
        if path.file_name().is_some_and(|name| name == "new") && benchmark.is_file() {
            found.push(criterion::Folder {
                path: path.display().to_string(),
                benchmark: fs_err::read(benchmark)?,
                sample: fs_err::read(path.join("sample.json")).ok(),
                estimates: fs_err::read(path.join("estimates.json")).ok(),
            });
        } else {
            folders_below(&path, found)?;
        }
    }
    Ok(())
}
