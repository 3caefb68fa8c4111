//! `history rekey`: a series goes on under another name.

use clap::Args;

use super::open::now;
use super::{Common, History};
use crate::error::{Error, ExitCode};
use crate::history::key::SeriesKey;
use crate::history::rekey::{Named, Part, Rekey, Rekeys, part_of};
use crate::history::render::counted;
use crate::report::text::{shell_word, visible};
use crate::suite::metric::Metric;
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
    // A key without metric stands for a benchmark that failed; one without results was renamed away, or lost its reports.
    let measured = loaded.index.measured();
    let all = loaded.index.keys.iter().zip(&measured).filter(|(key, _)| !key.metric.is_empty());
    let keys: Vec<&SeriesKey> = all.clone().filter(|(_, measured)| **measured).map(|(key, _)| key).collect();
    let about: Vec<&SeriesKey> = keys.iter().copied().filter(|key| event.is_about(key)).collect();
    let one = Rekeys::new(std::slice::from_ref(&event));
    if about.is_empty() {
        let before = all.map(|(key, _)| key).filter(|key| event.is_about(key));
        let moved_by = |key: &SeriesKey| loaded.rekeys.events().iter().find(|earlier| earlier.is_about(key));
        return Err(Error::Usage(match before.clone().find_map(moved_by) {
            Some(earlier) => renamed_before(&event, earlier),
            None => nobody(&event, keys),
        }));
    }
    if about.iter().all(|key| one.of(key) == **key) {
        return Err(Error::Usage(format!("`{}` changes no name", event.words())));
    }
    if let Some(key) = about.iter().find(|key| between_built_in(&event, key)) {
        return Err(Error::Usage(format!(
            "`{}` would call one built-in metric another: results of `{}` are measured in a way of their own",
            event.words(),
            key.metric
        )));
    }
    let is_new = !keys.iter().any(|key| event.to.iter().all(|named| part_of(key, named.part) == named.text));
    let count = about.len();
    let (index, apart) = one.index(loaded.index);
    let known =
        loaded.rekeys.events().iter().find(|earlier| earlier.from == event.from && earlier.to == event.to);
    if let Some(earlier) = known.filter(|_| index.measured() == measured) {
        return Err(Error::Usage(renamed_before(&event, earlier)));
    }
    if 0 < apart {
        ui.warn(format!(
            "{} with results of more than one series of the new name; there each keeps its own name",
            counted(apart, "report")
        ));
    }
    history.store.add_rekey(&event)?;
    ui.status("Renamed", format!("{} ({count} series)", event.words()));
    if is_new {
        ui.note(format!(
            "no series was called {} before; if that is no name of now, take it back: {}",
            listed(&event.to),
            undo(&event)
        ));
    }
    Ok(ExitCode::Success)
}

/// Why nothing is left to rename: an earlier renaming did it.
fn renamed_before(event: &Rekey, earlier: &Rekey) -> String {
    match earlier.from == event.from && earlier.to == event.to {
        true => format!("`{}` is in effect already; `{}` takes it back", event.words(), undo(earlier)),
        false => format!(
            "`{}` changes no name: the renaming `{}` moved these series already; take it back first: {}",
            event.words(),
            earlier.words(),
            undo(earlier)
        ),
    }
}

/// The command that takes a renaming back.
fn undo(event: &Rekey) -> String {
    let flags = |flag: &str, named: &[Named]| -> String {
        named.iter().map(|it| format!(" {flag} {}", shell_word(&it.to_string()))).collect()
    };
    let words = flags("--from", &event.from) + &flags("--to", &event.to);
    visible(&format!("cargo benchgate history rekey --undo{words} --reason '…'"))
}

/// Whether the results of a built-in metric would be taken for those of another one.
fn between_built_in(event: &Rekey, key: &SeriesKey) -> bool {
    let is_built_in = |name: &str| Metric::BUILT_IN.iter().any(|metric| metric.name() == name);
    let to = event.to.iter().find(|named| named.part == Part::Metric);
    to.is_some_and(|to| to.text != key.metric && is_built_in(&to.text) && is_built_in(&key.metric))
}

fn listed(named: &[Named]) -> String {
    named.iter().map(Named::to_string).collect::<Vec<_>>().join(" ")
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
