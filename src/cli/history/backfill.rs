//! `history backfill`: commits of the past, measured now.

use std::collections::BTreeSet;

use clap::Args;

use super::History;
use super::open::beside;
use crate::cli::compare::SuiteArgs;
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{self, Command, HeadRequest, Outcome, Request};
use crate::history::index::Index;
use crate::history::key::{SeriesKey, fingerprint};
use crate::history::rekey::Rekeys;
use crate::history::render::counted;
use crate::report::model::Report;
use crate::report::text::visible;
use crate::revision::{Commit, Repository};
use crate::ui::Ui;

/// Arguments of `history backfill`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct BackfillArgs {
    /// The commits: FROM..TO, along first parents; FROM itself is not measured, TO is HEAD where it is left out
    #[arg(value_name = "RANGE")]
    range: String,
    /// Measure every N-th commit only, the last one always
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Measure commits again that the history has results of
    #[arg(long)]
    again: bool,
    /// The directory of the history; default: `benchgate/history` in the repository's git directory
    #[arg(long, value_name = "DIR", help_heading = "History")]
    history: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub(super) suite: SuiteArgs,
}

/// Measures the commits from the oldest on and stores each report as it comes. The first is measured alone, each other
/// one interleaved with the one before it, so that a machine that drifts over the hours leaves no step in the history.
pub(super) fn backfill(args: &BackfillArgs, ui: &Ui) -> Result<ExitCode, Error> {
    if !args.suite.output.format.is_empty() {
        return Err(Error::Usage(
            "`history backfill` makes a report a commit and stores it; `history show` and `history export` show them".to_owned(),
        ));
    }
    let environment = Environment::of_this_process()?;
    let request = args.suite.request(Command::Run, HeadRequest::WorkingTree)?;
    let manifest = request.manifest_path.as_deref();
    let history = History::find(args.history.as_deref(), manifest)?;
    let repository = Repository::discover(&beside(manifest, &environment.cwd))?;
    let commits = commits(&repository, &args.range, args.every)?;
    // The newest one's suite measures them all, also those from before it was written.
    let request = Request { suite_of: commits.last().map(|it| it.id.as_str().to_owned()), ..request };
    let known = match args.again {
        true => BTreeSet::new(),
        false => known(&history, &request, &environment, ui)?,
    };
    let done = commits.iter().filter(|commit| known.contains(commit.id.as_str())).count();
    let open = commits.len() - done;
    let again = if 0 < done { "; --again measures them anew" } else { "" };
    ui.status(
        "Backfilling",
        format!("{}, {done} of them are in the history already{again}", counted(commits.len(), "commit")),
    );
    let (mut before, mut stored, mut skipped): (Option<&Commit>, usize, usize) = (None, 0, 0);
    for commit in &commits {
        if known.contains(commit.id.as_str()) {
            before = Some(commit);
            continue;
        }
        let subject = visible(&commit.subject);
        let place = stored + skipped + 1;
        ui.status("Commit", format!("{place} of {open}: {} ({subject})", commit.id.short()));
        let mut measured = measure(&request, before, commit, &environment, ui);
        // What was measured once need not build any more: the commit is then measured alone.
        if let (Err(Error::Execution(_)), Some(_)) = (&measured, before) {
            measured = measure(&request, None, commit, &environment, ui);
        }
        match measured {
            Ok(report) => {
                super::record(&history, &report, ui)?;
                stored += 1;
                before = Some(commit);
            }
            Err(Error::Interrupted) => {
                ui.note(format!("stored {}; the same command goes on from there", counted(stored, "report")));
                return Err(Error::Interrupted);
            }
            Err(error @ Error::Internal(_)) => return Err(error),
            Err(error) => {
                skipped += 1;
                let why = error.to_string();
                let why = why.lines().next().unwrap_or_default();
                ui.warn(format!("{} ({subject}) is skipped: {}", commit.id.short(), visible(why)));
            }
        }
    }
    let were = if done == 1 { "was" } else { "were" };
    ui.status(
        "Backfilled",
        format!("{}, {skipped} skipped, {done} {were} there before", counted(stored, "commit")),
    );
    // What is left of a range with results failed before, most likely: a second call must not tell it as news.
    if stored == 0 && done == 0 && 0 < open {
        return Err(Error::Execution(
            "none of the commits could be measured; the reasons are above".to_owned(),
        ));
    }
    Ok(ExitCode::Success)
}

/// The commits of a range, oldest first.
fn commits(repository: &Repository, range: &str, every: u32) -> Result<Vec<Commit>, Error> {
    let Some((from, to)) =
        range.split_once("..").filter(|(from, to)| !from.is_empty() && !to.starts_with('.'))
    else {
        return Err(Error::Usage(format!(
            "`{range}` is no range of commits; write FROM..TO, such as v1.0.0..main"
        )));
    };
    let to = if to.is_empty() { "HEAD" } else { to };
    let line = repository.line(&repository.resolve(from)?, &repository.resolve(to)?)?;
    let mut commits: Vec<Commit> = line.into_iter().skip(1).map(|it| it.commit).collect();
    if commits.is_empty() {
        return Err(Error::Usage(format!("the range {range} holds no commit")));
    }
    // Counted from the newest, which is always measured.
    let last = commits.len() - 1;
    let mut place = 0;
    commits.retain(|_| {
        place += 1;
        (last - (place - 1)).is_multiple_of(every as usize)
    });
    Ok(commits)
}

/// The commits that the history has results of that may stand in one series with those of this machine and these flags,
/// and that are of what is asked for.
fn known(
    history: &History,
    request: &Request,
    environment: &Environment,
    ui: &Ui,
) -> Result<BTreeSet<String>, Error> {
    let setting = gate::setting(request, environment, ui)?;
    let suite = match request.selection.is_narrowed() {
        true => Some(gate::suite(request, environment, ui)?),
        false => None,
    };
    let metrics = &request.overrides.metrics;
    let is_asked_for = |key: &SeriesKey| {
        let SeriesKey { benchmark, metric, .. } = key;
        suite.as_ref().is_none_or(|suite| suite.selects(&benchmark.target, &benchmark.id))
            && (metrics.is_empty() || metrics.contains(metric))
    };
    let (rekeys, _) = history.store.rekeys()?;
    let (index, _) = Rekeys::new(&rekeys).index(Index::load(&history.store)?);
    let machine = fingerprint(Some(&setting.machine));
    let features = setting.features.join(" ");
    let is_ours = |key: &SeriesKey| {
        is_asked_for(key)
            && key.machine == machine
            && key.profile == setting.toolchain.profile
            && key.triple == setting.toolchain.target
            && key.features == features
    };
    let ours: Vec<bool> = index.keys.iter().map(is_ours).collect();
    let runs = index.reports.iter().filter_map(|report| report.content.as_ref().ok());
    let heads = runs.filter(|run| !run.imported).flat_map(|run| {
        let points = run.points.iter().filter(|point| ours[point.key as usize]);
        let of_points: BTreeSet<u8> = points.map(|point| point.revision).collect();
        run.revisions
            .iter()
            .enumerate()
            .filter(move |(place, revision)| !revision.dirty && of_points.contains(&(*place as u8)))
            .map(|(_, revision)| revision.commit.to_string())
    });
    Ok(heads.collect())
}

fn measure(
    request: &Request,
    before: Option<&Commit>,
    commit: &Commit,
    environment: &Environment,
    ui: &Ui,
) -> Result<Report, Error> {
    let mut request = request.clone();
    request.head = HeadRequest::Revision(commit.id.as_str().to_owned());
    // A commit that changed nothing still has its value.
    request.identity = false;
    if let Some(before) = before {
        request.command = Command::Compare;
        request.base = Some(before.id.as_str().to_owned());
        request.overrides.head_only = false;
    }
    let report = match gate::run(&request, environment, ui)? {
        Outcome::Finished(mut reports) if !reports.is_empty() => reports.remove(0),
        _ => return Err(Error::Internal("a measuring run gave no report".to_owned())),
    };
    if report.was_interrupted() {
        return Err(Error::Interrupted);
    }
    let errors: Vec<&str> = report
        .benchmarks
        .iter()
        .filter_map(|it| it.error.as_ref())
        .map(|error| error.message.as_str())
        .collect();
    match errors.first() {
        Some(first) if errors.len() == report.benchmarks.len() => Err(Error::Execution((*first).to_owned())),
        _ => Ok(report),
    }
}

impl BackfillArgs {
    pub(super) fn output(&self) -> &crate::cli::options::OutputFlags {
        &self.suite.output
    }
}
