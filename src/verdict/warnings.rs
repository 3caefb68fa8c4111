//! Warnings that advise: about settings that cannot decide, and about samples that were judged otherwise than asked.

use std::collections::BTreeSet;

use crate::suite::identity::labels;
use crate::suite::launch::HarnessChoice;
use crate::suite::metric::{Metric, Unit};
use crate::suite::presets::MEAN_SAMPLES;
use crate::suite::settings::{
    BenchmarkSettings, Correction, Method, Pairing, Preset, Resamples, SampleCount, Statistic, Stop,
};

use super::evidence::{Evidence, Presence, Stage};
use super::levels::LOOKS;
use super::outcome::{Comparison, PairingUsed, Verdict};
use super::plan::{is_settled, looks};
use super::run::Judged;
use super::table::degradation;

/// Two builds of the same code can differ by that much in time, through the layout of the program alone. Per cent.
const LAYOUT_PERCENT: f64 = 2.0;

/// A gain from which on it is likelier that the work is gone than that it is done so much faster. Per cent.
const IMPLAUSIBLE_GAIN: f64 = 90.0;

/// So many benchmarks are named before "and n more".
const NAMED: usize = 3;

/// What can be said before anything is measured. `settings`: every benchmark that will be compared, with its label.
pub fn before_measuring(settings: &[(String, &BenchmarkSettings)]) -> Vec<String> {
    let mut notes = Notes::default();
    let comparisons: usize = settings.iter().map(|(_, settings)| gated(settings).count()).sum();
    for (label, settings) in settings.iter().filter(|(_, settings)| settings.compare) {
        for note in about(settings, comparisons) {
            notes.add(note, label);
        }
    }
    notes.into_lines()
}

/// What is said of a run that was judged, the notes on its settings included.
pub(super) fn of_run(evidence: &[Evidence], judged: &[Judged]) -> Vec<String> {
    let labels = labels(evidence.iter().map(|evidence| &evidence.identity));
    // What is said of limits is said of metrics that are there.
    let settings: Vec<(String, BenchmarkSettings)> = evidence
        .iter()
        .zip(judged)
        .zip(&labels)
        .filter(|((evidence, _), _)| evidence.presence == Presence::Compared)
        .map(|((evidence, judged), label)| {
            let mut settings = evidence.settings.clone();
            settings.metrics.retain(|metric, _| judged.comparisons.iter().any(|it| it.metric == *metric));
            (label.clone(), settings)
        })
        .collect();
    let settings: Vec<(String, &BenchmarkSettings)> =
        settings.iter().map(|(label, settings)| (label.clone(), settings)).collect();
    let mut lines = before_measuring(&settings);
    let mut notes = Notes::default();
    for ((evidence, judged), label) in evidence.iter().zip(judged).zip(&labels) {
        for note in about_samples(evidence, judged).into_iter().chain(undeclared(evidence)) {
            notes.add(note, label);
        }
        for budget in judged.budgets.iter().filter(|outcome| outcome.few_tail_samples) {
            let needed = super::budget::samples_needed(std::slice::from_ref(&budget.budget));
            let note = format!(
                "few_tail_samples: a percentile budget that needs {needed} samples of head was checked on {}; set a \
                 higher max_samples, or a lower percentile",
                budget.samples
            );
            notes.add(note, label);
        }
    }
    lines.extend(notes.into_lines());
    lines
}

/// Notes, each with the benchmarks it is about, in the order they came up.
#[derive(Default)]
struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    fn add(&mut self, note: String, label: &str) {
        match self.0.iter_mut().find(|(known, _)| *known == note) {
            Some((_, labels)) => labels.push(label.to_owned()),
            None => self.0.push((note, vec![label.to_owned()])),
        }
    }

    fn into_lines(self) -> Vec<String> {
        let line = |(note, labels): (String, Vec<String>)| {
            let named = labels[..labels.len().min(NAMED)].join(", ");
            match labels.len().saturating_sub(NAMED) {
                0 => format!("{named}: {note}"),
                more => format!("{named} and {more} more: {note}"),
            }
        };
        self.0.into_iter().map(line).collect()
    }
}

fn gated(settings: &BenchmarkSettings) -> impl Iterator<Item = (&Metric, f64)> {
    let all = settings.metrics.iter().filter(|_| settings.compare);
    let gated = all
        .filter(|(metric, limits)| limits.gate && metric.is_comparable() && **metric != Metric::Throughput);
    gated.map(|(metric, limits)| (metric, limits.max_percent))
}

/// Notes on the settings of one benchmark. `comparisons`: the gated ones of the whole run.
fn about(settings: &BenchmarkSettings, comparisons: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let judge = &settings.judge;
    for (metric, max_percent) in gated(settings) {
        let times = settings.metrics.get(metric).is_some_and(|limits| limits.unit == Unit::Nanoseconds);
        if times && max_percent < LAYOUT_PERCENT {
            notes.push(format!(
                "{metric} is gated at {max_percent} %: two builds of the same code can differ by {LAYOUT_PERCENT} % \
                 through the layout of the program alone; set max_percent to {LAYOUT_PERCENT} or more"
            ));
        }
    }
    if judge.stop == Stop::Settled && judge.preset != Preset::Effect && !is_settled(settings) {
        let why = if judge.statistic == Statistic::Mean { "a mean" } else { "random resamples" };
        notes.push(format!(
            "stop = \"settled\" has no sound levels for {why}: {MEAN_SAMPLES} runs a side are made and looked at once, \
             with confidence {}",
            judge.confidence
        ));
    }
    if is_settled(settings) {
        notes.extend(about_looks(settings));
    }
    notes.extend(about_rank(settings, comparisons));
    if judge.correction == Correction::Bh && judge.preset != Preset::Effect {
        notes.push(
            "correction = \"bh\" adjusts the p-values that are shown and leaves the verdicts as they are with \"none\"; \"confirm\" \
             or \"holm\" guard against false alarms"
                .to_owned(),
        );
    }
    if judge.interval == crate::suite::settings::Interval::Bca
        && matches!(judge.resamples, Resamples::MonteCarlo(count) if count < 1_000)
    {
        notes.push("interval = \"bca\" reads far tails: set resamples to 1000 or more".to_owned());
    }
    notes
}

/// Notes on the range of samples of the settled rule.
fn about_looks(settings: &BenchmarkSettings) -> Option<String> {
    let last = LOOKS[LOOKS.len() - 1];
    let listed = LOOKS.map(|look| look.to_string()).join(", ");
    match settings.sampling.samples {
        SampleCount::Adaptive { max, .. } if last < max => Some(format!(
            "max_samples = {max}: the settled rule has no look after {last} samples a side, so measuring ends there"
        )),
        SampleCount::Adaptive { min, max } if looks(settings).is_empty() => Some(format!(
            "between min_samples = {min} and max_samples = {max} lies no look of the settled rule ({listed}): {max} runs \
             a side are looked at once, with confidence {}",
            settings.judge.confidence
        )),
        _ => None,
    }
}

/// Notes on rank tests of so few runs that they can never reject.
fn about_rank(settings: &BenchmarkSettings, comparisons: usize) -> Option<String> {
    let judge = &settings.judge;
    let runs = match settings.sampling.samples {
        SampleCount::Fixed(runs) => runs,
        SampleCount::Adaptive { max, .. } => max,
    };
    if judge.method != Method::Rank || judge.preset == Preset::Effect || judge.pairing == Pairing::Independent
    {
        return None;
    }
    let error = if is_settled(settings) {
        super::levels::settled(Method::Rank)
    } else {
        super::table::Needed::all(judge.confidence)
    };
    let error = 1.0 - error.worse;
    let smallest = 0.5_f64.powi(runs.min(1_000) as i32);
    if error < smallest {
        return Some(format!(
            "{runs} runs a side cannot decide anything with the paired rank test: its smallest p-value is {smallest:.2e}, \
             and {error:.2e} is needed; set more samples"
        ));
    }
    let most = (error / smallest).floor();
    (judge.correction == Correction::Holm && most < comparisons as f64).then(|| {
        format!(
            "{runs} runs a side cannot confirm more than {most} of the {comparisons} gated comparisons with the paired \
             rank test and Holm; set more samples, or correction = \"confirm\""
        )
    })
}

/// Notes on samples that were judged otherwise than the settings say.
/// What a program prints beyond what the suite declares: it has no limits, so it is kept and not judged.
fn undeclared(evidence: &Evidence) -> Option<String> {
    if evidence.harness != HarnessChoice::Lines.as_str() {
        return None;
    }
    let runs = evidence.sides.iter().flat_map(|side| &side.runs);
    let printed: BTreeSet<&Metric> =
        runs.flat_map(|run| run.values.iter().map(|(metric, _)| metric)).collect();
    let known = |metric: &Metric| metric.unit().is_some() || evidence.settings.metrics.contains_key(metric);
    let names: Vec<String> =
        printed.into_iter().filter(|metric| !known(metric)).map(|metric| format!("`{metric}`")).collect();
    let first = names.first()?.trim_matches('`');
    let is_bare = first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let key = if is_bare { first.to_owned() } else { format!("{first:?}") };
    Some(format!(
        "undeclared_metric: {} is printed and not declared, so it is kept in the report and not compared; declare it in the \
         suite with the unit it is printed in, as in metrics.{key} = {{ unit = \"count\", better = \"lower\" }}",
        names.join(", ")
    ))
}

fn about_samples(evidence: &Evidence, judged: &Judged) -> Vec<String> {
    let mut notes = Vec::new();
    let judge = &evidence.settings.judge;
    let own: Vec<&Comparison> = judged.comparisons.iter().filter(|row| row.derived_from.is_none()).collect();
    if own.is_empty() {
        return notes;
    }
    let gain = |row: &&Comparison| row.change_percent.map_or(0.0, |change| -degradation(row.better, change));
    if own.iter().any(|row| row.gate && row.verdict == Verdict::Improved && IMPLAUSIBLE_GAIN <= gain(row)) {
        notes.push(
            "it became ten times better or more: make sure that it still does its work (an early return, an input that is gone, a \
             result that is optimised away)"
                .to_owned(),
        );
    }
    if let Some((base, heads)) = evidence.sides.split_first() {
        notes.extend(heads.iter().filter_map(|head| super::exit::disjoint_rounds(base, head)));
    }
    let screened = evidence.sides.iter().flat_map(|side| &side.runs).filter(|run| run.stage == Stage::Screen);
    if screened.clone().any(|run| run.round.is_none()) {
        let asked = judge.stop == Stop::Settled || judge.pairing != Pairing::Independent;
        if asked || judge.correction != Correction::None {
            notes.push(
                "the samples have no rounds: they were looked at once, the sides taken as independent, without \
                 correction for many comparisons"
                    .to_owned(),
            );
        }
    } else if judge.pairing == Pairing::Paired
        && own.iter().any(|row| row.pairing == Some(PairingUsed::Independent))
    {
        notes.push(
            "pairing = \"paired\" was not possible: the rounds hold no pair of positive values of both sides"
                .to_owned(),
        );
    }
    notes
}
