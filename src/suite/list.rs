//! The resolved suite as plain rows, for people to look through.

use super::error::Sink;
use super::identity::TargetId;
use super::launch::HarnessChoice;
use super::plan::{Suite, TargetPlan};
use super::presets::judge_of;
use super::quantity::{format_amount, format_duration};
use super::resolve::unit_of;
use super::settings::{Aggregation, BenchmarkSettings, JudgeSettings, Resamples, SampleCount};

/// One row: a variant of a target, or the benchmarks of it that an entry with a filter is about.
#[derive(Debug, Clone, PartialEq)]
pub struct ListRow {
    /// The target.
    pub target: TargetId,
    /// The variant; empty by default.
    pub variant: String,
    /// The globs of the entry the row is about; empty for all benchmarks.
    pub filter: Vec<String>,
    /// The globs of benchmarks the row is not about.
    pub skip: Vec<String>,
    /// The harness word of the suite.
    pub harness: HarnessChoice,
    /// The harness the metrics below are those of, where the suite leaves it open.
    pub assumed_harness: HarnessChoice,
    /// Arguments.
    pub args: Vec<String>,
    /// `10 to 60 samples`, with warm-up, least time and time limit.
    pub sampling: String,
    /// The preset, with the keys that differ from it.
    pub judge: String,
    /// Whether base is compared.
    pub compare: bool,
    /// The group, where one is named.
    pub group: Option<String>,
    /// The metrics that are compared.
    pub metrics: Vec<MetricRow>,
    /// The budgets, such as `latency p95 <= 500ms`.
    pub budgets: Vec<String>,
}

/// One metric of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricRow {
    /// Its name.
    pub metric: String,
    /// Tolerated degradation, per cent.
    pub max_percent: f64,
    /// Smallest change that counts, with its unit; `None` is off.
    pub min_difference: Option<String>,
    /// Whether it may fail the run.
    pub gate: bool,
}

impl Suite {
    /// The rows in the order of the targets. `known_harness` gives what is known of a target's harness beyond the suite,
    /// such as that its manifest says `harness = true`.
    pub fn list(&self, known_harness: impl Fn(&TargetId) -> Option<HarnessChoice>) -> Vec<ListRow> {
        let mut rows = Vec::new();
        for plan in self.targets() {
            for variant in &plan.variants {
                let filtered: Vec<_> = self
                    .entries_of(&plan.id)
                    .filter(|entry| !entry.covers_all())
                    .filter(|entry| entry.name.as_deref().unwrap_or("") == variant.variant)
                    .collect();
                let named_with_filter = filtered.iter().any(|entry| entry.name.is_some());
                if !named_with_filter {
                    rows.push(self.row(plan, &variant.variant, None, &known_harness));
                }
                for entry in filtered {
                    rows.push(self.row(plan, &variant.variant, Some(entry), &known_harness));
                }
            }
        }
        rows
    }

    fn row(
        &self,
        plan: &TargetPlan,
        variant: &str,
        about: Option<&super::read::Entry>,
        known_harness: impl Fn(&TargetId) -> Option<HarnessChoice>,
    ) -> ListRow {
        let layer = self.layer(&plan.id, variant, |entry| {
            entry.covers_all() || about.is_some_and(|about| about.place == entry.place)
        });
        let harness = layer.launch.harness.as_ref().map_or(HarnessChoice::Auto, |set| set.value);
        let assumed_harness = match (harness, plan.harness_candidates.as_slice()) {
            (HarnessChoice::Auto, candidates) => known_harness(&plan.id).unwrap_or(match candidates {
                [] => HarnessChoice::Process,
                [only, ..] => *only,
            }),
            (named, _) => named,
        };
        // All mistakes were found when the suite was loaded.
        let (settings, launch) = self.resolve(&layer, Some(assumed_harness), &mut Sink::default());
        let globs = |globs: Option<&super::filter::Globs>| globs.map(|globs| globs.patterns.clone());
        ListRow {
            target: plan.id.clone(),
            variant: variant.to_owned(),
            filter: about.and_then(|entry| globs(entry.filter.as_ref())).unwrap_or_default(),
            skip: about.and_then(|entry| globs(entry.skip.as_ref())).unwrap_or_default(),
            harness,
            assumed_harness,
            args: launch.args,
            sampling: sampling(&settings),
            judge: judge(&settings.judge),
            compare: settings.compare,
            group: settings.group.clone(),
            metrics: metrics(&settings),
            budgets: budgets(&settings),
        }
    }
}

fn sampling(settings: &BenchmarkSettings) -> String {
    let sampling = &settings.sampling;
    let mut text = match sampling.samples {
        SampleCount::Fixed(count) => format!("{count} samples"),
        SampleCount::Adaptive { min, max } => format!("{min} to {max} samples"),
    };
    text.push_str(&format!(", warmup {}", sampling.warmup));
    if 0 < sampling.min_time_ns {
        text.push_str(&format!(", at least {}", format_duration(sampling.min_time_ns)));
    }
    text.push_str(&format!(", timeout {}", format_duration(sampling.timeout_ns)));
    text
}

fn judge(judge: &JudgeSettings) -> String {
    let preset = judge_of(judge.preset);
    let mut text = format!("preset {}", judge.preset);
    let mut differs = |key: &str, value: String, of_preset: String| {
        if value != of_preset {
            text.push_str(&format!(", {key} = {value}"));
        }
    };
    let resamples = |resamples| match resamples {
        Resamples::Exact => "exact".to_owned(),
        Resamples::MonteCarlo(count) => count.to_string(),
    };
    differs("method", judge.method.to_string(), preset.method.to_string());
    differs("statistic", judge.statistic.to_string(), preset.statistic.to_string());
    differs("pairing", judge.pairing.to_string(), preset.pairing.to_string());
    differs("interval", judge.interval.to_string(), preset.interval.to_string());
    differs("resamples", resamples(judge.resamples), resamples(preset.resamples));
    differs("confidence", judge.confidence.to_string(), preset.confidence.to_string());
    differs("max_cv", judge.max_cv.to_string(), preset.max_cv.to_string());
    differs("stop", judge.stop.to_string(), preset.stop.to_string());
    differs("correction", judge.correction.to_string(), preset.correction.to_string());
    differs("target_ci", percent(judge.target_ci), percent(preset.target_ci));
    differs("show_percent", judge.show_percent.to_string(), preset.show_percent.to_string());
    text
}

fn percent(ratio: f64) -> String {
    format!("{}%", ratio * 100.0)
}

fn metrics(settings: &BenchmarkSettings) -> Vec<MetricRow> {
    if !settings.compare {
        return Vec::new();
    }
    settings
        .metrics
        .iter()
        .map(|(metric, limits)| MetricRow {
            metric: metric.name().to_owned(),
            max_percent: limits.max_percent,
            min_difference: (0.0 < limits.min_difference)
                .then(|| format_amount(limits.min_difference, &limits.unit)),
            gate: limits.gate,
        })
        .collect()
}

fn budgets(settings: &BenchmarkSettings) -> Vec<String> {
    settings
        .budgets
        .iter()
        .map(|budget| {
            let limit = match unit_of(&budget.metric, settings) {
                Some(unit) => format_amount(budget.limit, &unit),
                None => budget.limit.to_string(),
            };
            format!("{} {} {} {limit}", budget.metric, aggregation(budget.aggregation), budget.operator)
        })
        .collect()
}

fn aggregation(aggregation: Aggregation) -> String {
    match aggregation {
        Aggregation::Min => "min".to_owned(),
        Aggregation::Max => "max".to_owned(),
        Aggregation::Mean => "mean".to_owned(),
        Aggregation::Median => "median".to_owned(),
        Aggregation::Percentile(percent) => format!("p{percent}"),
    }
}
