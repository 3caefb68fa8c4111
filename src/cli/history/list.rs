//! `history list`: what is stored.

use clap::Args;
use serde_json::{Value, json};

use super::{Common, History};
use crate::cli::answers::{Answers, pretty};
use crate::error::{Error, ExitCode};
use crate::history::index::IndexedReport;
use crate::history::overview::short;
use crate::history::render::counted;
use crate::report::text::visible;
use crate::ui::Ui;

/// Arguments of `history list`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help("Write the list as terminal or json, to PATH or to stdout")))]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) common: Common,
}

/// Lists reports and marks.
pub(super) fn list(args: &ListArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Answers::parse(&args.common.output.format, &["terminal", "json"])?;
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let bytes: u64 = loaded.index.reports.iter().map(|report| report.file.size).sum();
    outputs.write(ui, |format| {
        if format == "json" {
            let reports: Vec<Value> = loaded.index.reports.iter().map(as_json).collect();
            return pretty(&json!({
                "schema_version": 1,
                "directory": history.store.directory(),
                "reports": reports,
                "rekeys": loaded.rekeys.events(),
                "marks": loaded.marks.iter().map(|mark| json!({ "file": mark.file, "event": mark.event })).collect::<Vec<_>>(),
                "machines": loaded.index.machines,
            }));
        }
        let mut text = String::new();
        for report in &loaded.index.reports {
            text.push_str(&line(report));
        }
        for mark in &loaded.marks {
            let event = &mark.event;
            let metric = event.metric.iter().map(|metric| format!(" --metric {}", visible(metric)));
            let machine = event.machine.iter().map(|machine| format!(" --machine {}", visible(machine)));
            let narrowed: String = metric.chain(machine).collect();
            text.push_str(&format!(
                "{} {} {} {}{narrowed}: {}\n",
                event.at,
                event.action,
                short(&visible(&event.commit)),
                visible(&event.benchmark),
                visible(&event.reason)
            ));
        }
        for event in loaded.rekeys.events() {
            let words = visible(&event.words());
            text.push_str(&format!("{} rekey {words}: {}\n", event.at, visible(&event.reason)));
        }
        for (machine, description) in &loaded.index.machines {
            text.push_str(&format!("machine {}: {}\n", visible(machine), visible(description)));
        }
        text.push_str(&format!(
            "{}, {}, {} in {}\n",
            counted(loaded.index.reports.len(), "report"),
            counted(loaded.marks.len(), "mark"),
            crate::report::quantity::value(bytes as f64, &crate::suite::metric::Unit::Bytes),
            history.store.directory().display()
        ));
        text
    })?;
    Ok(ExitCode::Success)
}

fn time(nanoseconds: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(nanoseconds))
        .ok()
        .and_then(|time| time.round(jiff::Unit::Second).ok())
        .map_or_else(|| "-".to_owned(), |time| time.to_string())
}

fn line(report: &IndexedReport) -> String {
    match &report.content {
        Err(why) => format!("cannot be used: {}: {}\n", visible(&report.file.name), visible(why)),
        Ok(run) => {
            let revisions: Vec<String> = run
                .revisions
                .iter()
                .map(|it| {
                    let dirty = if it.dirty { " (uncommitted changes)" } else { "" };
                    format!("{} {}{dirty}", visible(&it.name), short(&visible(&it.commit)))
                })
                .collect();
            format!(
                "{}  {}  {}, {}{}\n",
                time(run.result_time),
                revisions.join(", "),
                visible(&run.machine),
                counted(run.points.len(), "value"),
                if run.imported { ", imported" } else { "" }
            )
        }
    }
}

fn as_json(report: &IndexedReport) -> Value {
    match &report.content {
        Err(why) => json!({ "file": report.file.name, "error": why }),
        Ok(run) => json!({
            "file": report.file.name,
            "measured_at": time(run.result_time),
            "imported": run.imported,
            "machine": run.machine.as_ref(),
            "toolchain": run.rustc.as_ref(),
            "revisions": run.revisions.iter().map(|it| json!({
                "name": it.name.as_ref(), "commit": it.commit.as_ref(), "dirty": it.dirty,
            })).collect::<Vec<_>>(),
            "values": run.points.len(),
            "errored": run.errored.len(),
        }),
    }
}
