//! `history rekey`: a series goes on under another name.

use clap::Args;

use super::open::now;
use super::{Common, History};
use crate::error::{Error, ExitCode};
use crate::history::key::SeriesKey;
use crate::history::rekey::{Named, Rekey, Rekeys, part_of};
use crate::report::text::visible;
use crate::ui::Ui;

/// Arguments of `history rekey`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)))]
pub(super) struct RekeyArgs {
    /// The series that are meant: those with all of these, such as package=old or id=parse (repeatable). Parts:
    /// package, kind, target, variant, id, metric, machine, profile, features, triple
    #[arg(long, required = true, value_name = "PART=TEXT")]
    from: Vec<String>,
    /// What these parts of theirs are called now (repeatable)
    #[arg(long, required = true, value_name = "PART=TEXT")]
    to: Vec<String>,
    /// Take back the renaming of these very words
    #[arg(long)]
    undo: bool,
    /// Why: kept with the renaming
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Adds the event. No report is changed; a renaming can be taken back.
pub(super) fn rekey(args: &RekeyArgs, ui: &Ui) -> Result<ExitCode, Error> {
    if args.reason.trim().is_empty() {
        return Err(Error::Usage("`--reason` is empty; say why, for those who read it later".to_owned()));
    }
    let event = Rekey {
        schema_version: 1,
        from: parse("--from", &args.from)?,
        to: parse("--to", &args.to)?,
        undo: args.undo,
        reason: args.reason.clone(),
        at: now(),
    };
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    if args.undo {
        let known = loaded.rekeys.events();
        if !known.iter().any(|it| it.from == event.from && it.to == event.to) {
            let words: Vec<String> = known.iter().map(|it| format!("`{}`", it.words())).collect();
            let there = if words.is_empty() { "there is none".to_owned() } else { words.join(", ") };
            return Err(Error::Usage(format!("no renaming `{}` is in effect: {there}", event.words())));
        }
        history.store.add_rekey(&event)?;
        ui.status("Undone", event.words());
        return Ok(ExitCode::Success);
    }
    // A key without metric stands for a benchmark that failed.
    let keys = loaded.index.keys.iter().filter(|key| !key.metric.is_empty());
    let about: Vec<&SeriesKey> = keys.clone().filter(|key| event.is_about(key)).collect();
    if about.is_empty() {
        return Err(Error::Usage(nobody(&event, keys.collect())));
    }
    if about.iter().all(|key| Rekeys::new(std::slice::from_ref(&event)).of(key) == **key) {
        return Err(Error::Usage(format!("`{}` changes no name", event.words())));
    }
    let count = about.len();
    let (_, apart) = Rekeys::new(std::slice::from_ref(&event)).index(loaded.index);
    if 0 < apart {
        ui.warn(format!(
            "{apart} reports hold results of more than one series of the new name; in them each keeps its own name"
        ));
    }
    history.store.add_rekey(&event)?;
    ui.status("Renamed", format!("{} ({count} series)", event.words()));
    Ok(ExitCode::Success)
}

fn parse(flag: &str, texts: &[String]) -> Result<Vec<Named>, Error> {
    let mut named: Vec<Named> = Vec::new();
    for text in texts {
        let one = Named::parse(text).map_err(|why| Error::Usage(format!("`{flag} {text}`: {why}")))?;
        if named.iter().any(|it| it.part == one.part) {
            return Err(Error::Usage(format!("`{flag}` names {} twice", one.part)));
        }
        named.push(one);
    }
    Ok(named)
}

/// Why no series is meant: with the texts that the first part nobody has could have been.
fn nobody(event: &Rekey, mut keys: Vec<&SeriesKey>) -> String {
    const SHOWN: usize = 8;
    for named in &event.from {
        let mut there: Vec<&str> = keys.iter().map(|key| part_of(key, named.part)).collect();
        keys.retain(|key| part_of(key, named.part) == named.text);
        if keys.is_empty() {
            there.sort_unstable();
            there.dedup();
            let more = there.len().saturating_sub(SHOWN);
            let shown: Vec<String> =
                there.iter().take(SHOWN).map(|text| format!("`{}`", visible(text))).collect();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            return match shown.is_empty() {
                true => "the history holds no results yet".to_owned(),
                false => format!("no series has {named}; there is {}{more}", shown.join(", ")),
            };
        }
    }
    "no series is meant".to_owned()
}
