//! `history show`: one benchmark over time.

use std::collections::BTreeSet;

use clap::Args;

use super::open::{Loaded, mode};
use super::{Common, History};
use crate::cli::answers::{Answers, pretty};
use crate::cli::options::one_of;
use crate::error::{Error, ExitCode};
use crate::history::change::{Method, changes};
use crate::history::key::SeriesKey;
use crate::history::overview::course;
use crate::history::render::{counted, left_out, show as render, svg};
use crate::history::select::named;
use crate::history::series::{Point, Series, View, interleaved};
use crate::report::text::visible;
use crate::suite::identity::{BenchmarkIdentity, labels};
use crate::suite::metric::Metric;
use crate::suite::quantity::parse_percent;
use crate::ui::Ui;

/// Arguments of `history show`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.help("Write the series as terminal, json or svg, to PATH or to stdout (repeatable)")))]
pub(super) struct ShowArgs {
    #[command(flatten)]
    series: OneSeries,
    /// How change points are found: optimal (the exact partition) or binary (binary segmentation)
    #[arg(long, value_name = "METHOD", default_value = "optimal")]
    change_points: String,
    /// The smallest change of level
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    min_change: String,
    /// Results the table shows, the newest; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
    #[command(flatten)]
    lookback: LookbackFlag,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Which series of a benchmark.
#[derive(Debug, Clone, Args)]
pub(super) struct OneSeries {
    /// The benchmark's label or id, as `history status` shows it
    #[arg(value_name = "BENCH")]
    bench: String,
    /// The metric; default: latency, else the first one
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// The machine; default: the one that measured last
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
}

/// How a history is looked at.
#[derive(Debug, Clone, Args)]
pub(super) struct LookbackFlag {
    /// steps: confirmed steps and new toolchains begin a segment, regressions stay open; plain: only marks begin one
    /// [default: `history.lookback` of the suite, else steps]
    #[arg(long, value_name = "MODE", help_heading = "History")]
    pub(super) lookback: Option<String>,
}

/// Shows the series.
pub(super) fn show(args: &ShowArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Answers::parse(&args.common.output.format, &["terminal", "json", "svg"])?;
    let mode = mode(args.lookback.lookback.as_deref())?;
    let method = one_of("--change-points", &args.change_points, Method::ALL, Method::as_str)?;
    let min_change = min_change(&args.min_change)?;
    let history = History::existing(&args.common)?;
    let loaded = history.load(args.common.branch.as_deref(), ui)?;
    let view = args.series.view(&loaded)?;
    let chosen = args.series.choose(&view)?;
    let others: Vec<&Series> = view.series.iter().filter(|series| series.key != chosen.key).collect();
    let course = course(chosen, mode);
    let number =
        loaded.index.keys.iter().zip(0..).find(|(key, _)| **key == chosen.key).map(|(_, number)| number);
    let ratios =
        |point: &Point| number.map_or_else(Vec::new, |number| interleaved(&loaded.index, number, point));
    let changes = changes(chosen, ratios, method, min_change);
    outputs.write(ui, |format| match format {
        "json" => {
            let mut value = crate::history::render::json::show(chosen, &course, &changes, mode, &others);
            value["left_out"] = crate::history::render::json::left_out(&view.left_out);
            pretty(&value)
        }
        "svg" => svg::svg(chosen, &course, &changes),
        _ => {
            let mut text = render::text(chosen, &course, &changes, args.limit, ui.width());
            for line in left_out(&view.left_out, view.branch.as_deref(), view.is_cut) {
                text.push_str(&line);
                text.push('\n');
            }
            text
        }
    })?;
    if !others.is_empty() {
        let name = |series: &Series| {
            let results = counted(series.points.len(), "result");
            visible(&format!("{} on {} ({results})", series.key.metric, series.key.machine))
        };
        let names: Vec<String> = others.iter().map(|series| name(series)).collect();
        let has_more = |series: &&&Series| {
            series.key.metric == chosen.key.metric
                && series.key.machine != chosen.key.machine
                && chosen.points.len() < series.points.len()
        };
        let shown = match others.iter().find(has_more) {
            Some(_) if args.series.machine.is_none() => {
                format!("shown is {}, for it was measured last; ", name(chosen))
            }
            _ => String::new(),
        };
        ui.note(format!(
            "{shown}other series of it: {}; choose with --metric and --machine",
            names.join(", ")
        ));
    }
    Ok(ExitCode::Success)
}

/// A percentage with or without its sign, as a ratio.
fn min_change(text: &str) -> Result<f64, Error> {
    let with_sign = if text.ends_with('%') { text.to_owned() } else { format!("{text}%") };
    let percent = parse_percent(&with_sign).ok().filter(|percent| (0.0..=1000.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| {
        Error::Usage(format!("`--min-change {text}`: write a percentage from 0 to 1000, such as 5%"))
    })
}

impl OneSeries {
    /// The series of the benchmark.
    pub(super) fn view(&self, loaded: &Loaded) -> Result<View, Error> {
        let found = named(loaded.index.keys.iter(), &self.bench).map_err(Error::Usage)?;
        self.know("--metric", self.metric.as_deref(), found.iter().map(|key| key.metric.as_str()))?;
        self.know("--machine", self.machine.as_deref(), found.iter().map(|key| key.machine.as_str()))?;
        let wanted = |key: &SeriesKey| {
            found.contains(&key)
                && self.metric.as_ref().is_none_or(|metric| *metric == key.metric)
                && self.machine.as_ref().is_none_or(|machine| *machine == key.machine)
        };
        Ok(loaded.view(|_, key| wanted(key)))
    }

    /// Refuses a word of a flag that no series of the benchmark has.
    fn know<'a>(
        &self,
        flag: &str,
        word: Option<&str>,
        known: impl Iterator<Item = &'a str>,
    ) -> Result<(), Error> {
        let known: BTreeSet<&str> = known.filter(|known| !known.is_empty()).collect();
        match word.filter(|word| !known.contains(word)) {
            None => Ok(()),
            Some(word) => {
                let known: Vec<&str> = known.into_iter().collect();
                Err(Error::Usage(format!(
                    "`{flag} {word}`: no series of `{}` has it; there is {}",
                    self.bench,
                    visible(&known.join(", "))
                )))
            }
        }
    }

    /// The one that is meant: latency before other metrics, the newest result before older ones.
    pub(super) fn choose<'a>(&self, view: &'a View) -> Result<&'a Series, Error> {
        let mut benchmarks: Vec<&BenchmarkIdentity> =
            view.series.iter().map(|series| &series.key.benchmark).collect();
        benchmarks.dedup();
        if let [first, second, ..] = &labels(benchmarks.into_iter())[..] {
            return Err(Error::Usage(format!(
                "`{}` names several benchmarks, such as `{first}` and `{second}`; name one",
                self.bench
            )));
        }
        let rank = |series: &&Series| {
            let is_latency = series.key.metric() == Metric::Latency;
            (is_latency, series.gate, series.newest().place, series.newest().result_time)
        };
        view.series.iter().rev().max_by_key(rank).ok_or_else(|| {
            let left_out = left_out(&view.left_out, view.branch.as_deref(), view.is_cut);
            let because =
                if left_out.is_empty() { String::new() } else { format!(": {}", left_out.join("; ")) };
            Error::Usage(format!("no result of `{}` is in a series{because}", self.bench))
        })
    }
}
