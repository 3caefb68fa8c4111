//! `history mark` and `history unmark`: where a new distribution begins because someone says so.

use clap::Args;

use super::open::{Loaded, now};
use super::{Common, History};
use crate::error::{Error, ExitCode};
use crate::history::course::LookbackMode;
use crate::history::marks::{Action, Event, Mark, Pattern};
use crate::history::overview::{course, short};
use crate::history::select::named;
use crate::history::series::{Series, View};
use crate::report::text::visible;
use crate::ui::Ui;

/// Arguments of `history mark` and `history unmark`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)))]
pub(super) struct MarkArgs {
    /// The benchmark's label or id, or a glob over labels; `*` is all
    #[arg(value_name = "BENCH")]
    bench: String,
    /// The commit: a revision, or the name an import gave it
    #[arg(value_name = "COMMIT")]
    commit: String,
    /// Why: kept with the mark
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only this metric
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Only this machine
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Adds the event. No file is ever changed: an unmark takes back the newest mark on a commit, else the step found there.
pub(super) fn mark(args: &MarkArgs, begins: bool, ui: &Ui) -> Result<ExitCode, Error> {
    if args.reason.trim().is_empty() {
        return Err(Error::Usage("`--reason` is empty; say why, for those who read it later".to_owned()));
    }
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let meant = named(loaded.index.keys.iter(), &args.bench).map_err(Error::Usage)?;
    // The event holds a glob; a name in full must not become one.
    let name = Pattern::new(&args.bench);
    let benchmark = match meant.iter().all(|key| name.is_name_of(key)) {
        true => globset::escape(&args.bench),
        false => args.bench.clone(),
    };
    let known = |commit: &str| {
        let runs = loaded.index.reports.iter().filter_map(|report| report.content.as_ref().ok());
        runs.flat_map(|run| &run.revisions).any(|revision| *revision.commit == *commit)
    };
    let resolve = || history.repository.as_ref()?.resolve(&args.commit).ok();
    // A tag may have the name that an import gave a commit: what the history holds is meant.
    let commit = match known(&args.commit) {
        true => Some(args.commit.clone()),
        false => resolve().map(|commit| commit.id.as_str().to_owned()),
    };
    let commit = match commit {
        Some(commit) => commit,
        None => {
            return Err(Error::Usage(format!(
                "commit {} is neither in the repository nor in the history; check its name",
                args.commit
            )));
        }
    };
    let event = Event {
        schema_version: 1,
        action: if begins { Action::Mark } else { Action::Unmark },
        commit: commit.clone(),
        benchmark,
        metric: args.metric.clone(),
        machine: args.machine.clone(),
        reason: args.reason.clone(),
        at: now(),
    };
    let about = about(&event, &loaded);
    if about == 0 {
        let metric = args.metric.iter().map(|metric| format!(" --metric {metric}"));
        let machine = args.machine.iter().map(|machine| format!(" --machine {machine}"));
        let narrowed: String = metric.chain(machine).collect();
        return Err(Error::Usage(match narrowed.is_empty() {
            true => format!("`{}` has no result in the history", args.bench),
            false => format!("no series of `{0}` has{narrowed}; `history show {0}` names them", args.bench),
        }));
    }
    if !begins && !takes_back(&event, &loaded) {
        return Err(Error::Usage(format!(
            "nothing of `{}` begins at {}, so there is nothing to take back; {}",
            args.bench,
            short(&commit),
            there(&event, &loaded)
        )));
    }
    history.store.add_event(&event)?;
    let what = if begins { "Marked" } else { "Unmarked" };
    ui.status(what, format!("{} at {commit} ({about} series)", args.bench));
    Ok(ExitCode::Success)
}

/// Whether an unmark takes back a mark, or what begins a segment by itself, of any series.
fn takes_back(event: &Event, loaded: &Loaded) -> bool {
    let before = meant(event, &loaded.marks, loaded);
    let mark = Mark { file: String::new(), event: event.clone() };
    let with_it: Vec<Mark> = loaded.marks.iter().cloned().chain([mark]).collect();
    let after = meant(event, &with_it, loaded);
    let begins = |view: &View| -> Vec<Vec<(bool, u32)>> {
        let of = |series: &Series| {
            let rows = course(series, LookbackMode::Steps).rows;
            rows.iter().zip(&series.points).map(|(row, point)| (row.begins, point.marks)).collect()
        };
        view.series.iter().map(of).collect()
    };
    begins(&before) != begins(&after)
}

/// The series that an event is about, with these marks.
fn meant(event: &Event, marks: &[Mark], loaded: &Loaded) -> View {
    let about = event.about();
    let is_meant = |number: usize| loaded.index.names(number).any(|name| about.is(name));
    View::new(&loaded.index, loaded.line.as_ref(), marks, |number, _| is_meant(number))
}

/// Where something begins in the series that an event is about.
fn there(event: &Event, loaded: &Loaded) -> String {
    const SHOWN: usize = 8;
    let mut found: Vec<String> = Vec::new();
    for series in &meant(event, &loaded.marks, loaded).series {
        let course = course(series, LookbackMode::Steps);
        for (index, point) in series.points.iter().enumerate() {
            let what = match point.marks {
                0 if course.steps.iter().any(|step| step.index == index) => "a step",
                0 if course.rows[index].begins => "another toolchain",
                0 => continue,
                _ => "a mark",
            };
            found.push(format!("{what} at {}", short(&visible(&point.commit))));
        }
    }
    found.sort_unstable();
    found.dedup();
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    match (found.is_empty(), more) {
        (true, _) => "it has neither a mark nor a step".to_owned(),
        (_, 0) => format!("there is {}", found.join(", ")),
        (_, more) => format!("there is {} and {more} more", found.join(", ")),
    }
}

/// How many series with results an event is about.
fn about(event: &Event, loaded: &Loaded) -> usize {
    let about = event.about();
    let measured = loaded.index.measured();
    let is_meant =
        |&number: &usize| measured[number] && loaded.index.names(number).any(|name| about.is(name));
    (0..loaded.index.keys.len()).filter(is_meant).count()
}
