//! What the command line says over the suite.

use std::ops::RangeInclusive;

use super::error::{Invalid, Place, Sink};
use super::keys::nearest;
use super::layers::{BenchLayer, JudgeLayer, MetricLayer, Set};
use super::metric::Metric;
use super::quantity::format_duration;
use super::ranges;
use super::read::{check_metric, resamples};
use super::reader::check_max_percent;
use super::run_wide::AlsoFailOn;
use super::settings::{Correction, Interval, Method, Pairing, Preset, Resamples, Statistic, Stop};

/// The flags that stand above every key of the suite; absent ones leave the suite as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// `--base`.
    pub base: Option<String>,
    /// `--max-time`, ns.
    pub max_time_ns: Option<u64>,
    /// `--also-fail-on`; replaces the suite's list.
    pub also_fail_on: Option<Vec<AlsoFailOn>>,
    /// `--allow-partial`.
    pub allow_partial: Option<bool>,
    /// `--only-listed`.
    pub only_listed: Option<bool>,
    /// `--profile`.
    pub profile: Option<String>,
    /// `--features`; replaces the suite's list.
    pub features: Option<Vec<String>>,
    /// `--all-features`.
    pub all_features: bool,
    /// `--no-default-features`.
    pub no_default_features: bool,
    /// `--target`.
    pub target: Option<String>,
    /// `--warmup`.
    pub warmup: Option<u32>,
    /// `--samples`.
    pub samples: Option<u32>,
    /// `--min-samples`.
    pub min_samples: Option<u32>,
    /// `--max-samples`.
    pub max_samples: Option<u32>,
    /// `--min-time`, ns.
    pub min_time_ns: Option<u64>,
    /// `--timeout`, ns.
    pub timeout_ns: Option<u64>,
    /// `--max-percent`: of every gated comparison.
    pub max_percent: Option<f64>,
    /// `--metric`: gates these, and asks for them.
    pub metrics: Vec<String>,
    /// `--preset`.
    pub preset: Option<Preset>,
    /// `--method`.
    pub method: Option<Method>,
    /// `--statistic`.
    pub statistic: Option<Statistic>,
    /// `--pairing`.
    pub pairing: Option<Pairing>,
    /// `--interval`.
    pub interval: Option<Interval>,
    /// `--resamples`.
    pub resamples: Option<Resamples>,
    /// `--confidence`.
    pub confidence: Option<f64>,
    /// `--max-cv`.
    pub max_cv: Option<f64>,
    /// `--stop`.
    pub stop: Option<Stop>,
    /// `--correction`.
    pub correction: Option<Correction>,
    /// `--target-ci`, a ratio (0.01 is 1 %).
    pub target_ci: Option<f64>,
    /// `--show-percent`.
    pub show_percent: Option<f64>,
    /// Head alone is measured (the verb `run`): too few samples for a comparison are no mistake.
    pub head_only: bool,
}

impl Overrides {
    /// The layer that lies over all others. `declared` are the metrics the suite declares.
    pub(super) fn layer(&self, declared: &[String], sink: &mut Sink) -> BenchLayer {
        let mut flags = Flags { place: Place::command_line(), sink };
        let layer = BenchLayer {
            warmup: flags.whole("--warmup", self.warmup, ranges::WARMUP),
            samples: flags.whole("--samples", self.samples, ranges::SAMPLES),
            min_samples: flags.whole("--min-samples", self.min_samples, ranges::SAMPLES),
            max_samples: flags.whole("--max-samples", self.max_samples, ranges::SAMPLES),
            min_time_ns: flags.duration("--min-time", self.min_time_ns, ranges::MIN_TIME_NS),
            timeout_ns: flags.duration("--timeout", self.timeout_ns, ranges::TIMEOUT_NS),
            max_percent: flags
                .checked("--max-percent", self.max_percent, |percent| check_max_percent(percent).map(drop)),
            judge: JudgeLayer {
                preset: flags.set(self.preset, |word| word.to_string()),
                method: flags.set(self.method, |word| word.to_string()),
                statistic: flags.set(self.statistic, |word| word.to_string()),
                pairing: flags.set(self.pairing, |word| word.to_string()),
                interval: flags.set(self.interval, |word| word.to_string()),
                resamples: flags.set(self.resamples, |resamples| match resamples {
                    Resamples::Exact => "exact".to_owned(),
                    Resamples::MonteCarlo(count) => count.to_string(),
                }),
                confidence: flags.number("--confidence", self.confidence, ranges::CONFIDENCE),
                max_cv: flags.number("--max-cv", self.max_cv, ranges::MAX_CV),
                stop: flags.set(self.stop, |word| word.to_string()),
                correction: flags.set(self.correction, |word| word.to_string()),
                target_ci: flags.checked("--target-ci", self.target_ci, check_ratio),
                show_percent: flags.number("--show-percent", self.show_percent, ranges::SHOW_PERCENT),
            },
            metrics: self.metrics.iter().filter_map(|name| flags.metric(name, declared)).collect(),
            ..BenchLayer::default()
        };
        flags.duration("--max-time", self.max_time_ns, ranges::MAX_TIME_NS);
        if let (Some(samples), true) =
            (self.samples, self.min_samples.is_some() || self.max_samples.is_some())
        {
            let invalid = Invalid::with_help(
                "stands beside --min-samples or --max-samples",
                "give either --samples for a fixed number, or the other two",
            );
            flags.error("--samples", samples.to_string(), invalid);
        }
        layer
    }
}

/// The value of `--resamples`: `exact` or a whole number.
pub fn parse_resamples(text: &str) -> Result<Resamples, Invalid> {
    let value = match text.parse::<u32>() {
        Ok(count) => serde_json::Value::from(count),
        Err(_) => serde_json::Value::from(text),
    };
    resamples(&value)
}

struct Flags<'a> {
    place: Place,
    sink: &'a mut Sink,
}

impl Flags<'_> {
    fn error(&mut self, flag: &str, written: String, invalid: Invalid) {
        self.sink.error(&self.place, flag, Some(written), invalid);
    }

    fn set<T: Copy>(&self, value: Option<T>, written: impl FnOnce(T) -> String) -> Option<Set<T>> {
        value.map(|value| Set { value, written: written(value), place: self.place.clone() })
    }

    fn checked<T: Copy + std::fmt::Display>(
        &mut self,
        flag: &str,
        value: Option<T>,
        check: impl FnOnce(T) -> Result<(), Invalid>,
    ) -> Option<Set<T>> {
        let value = value?;
        match check(value) {
            Ok(()) => self.set(Some(value), |value| value.to_string()),
            Err(invalid) => {
                self.error(flag, value.to_string(), invalid);
                None
            }
        }
    }

    fn whole(&mut self, flag: &str, value: Option<u32>, range: RangeInclusive<u32>) -> Option<Set<u32>> {
        let help = format!("write a whole number from {} to {}", range.start(), range.end());
        self.checked(flag, value, |value| within(&range, &value, help))
    }

    fn number(&mut self, flag: &str, value: Option<f64>, range: RangeInclusive<f64>) -> Option<Set<f64>> {
        let help = format!("write a number from {} to {}", range.start(), range.end());
        self.checked(flag, value, |value| within(&range, &value, help))
    }

    fn duration(&mut self, flag: &str, ns: Option<u64>, range: RangeInclusive<u64>) -> Option<Set<u64>> {
        let help = || {
            let [low, high] = [range.start(), range.end()].map(|ns| format_duration(*ns));
            format!("write a duration from {low} to {high}")
        };
        let ns = ns?;
        match within(&range, &ns, help()) {
            Ok(()) => self.set(Some(ns), format_duration),
            Err(invalid) => {
                self.error(flag, format_duration(ns), invalid);
                None
            }
        }
    }

    fn metric(&mut self, name: &str, declared: &[String]) -> Option<(Metric, MetricLayer)> {
        let metric = Metric::from_name(name);
        let mut known: Vec<&str> = Vec::new();
        let checked = check_metric(&metric).and_then(|()| match &metric {
            Metric::Own(name) if !declared.iter().any(|own| **own == **name) => {
                known.extend(Metric::BUILT_IN.iter().filter(|m| check_metric(m).is_ok()).map(Metric::name));
                known.extend(declared.iter().map(String::as_str));
                let help = match nearest(name, &known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known are {}", known.join(", ")),
                };
                Err(Invalid::with_help("is not a metric of this suite", help))
            }
            _ => Ok(()),
        });
        if let Err(invalid) = checked {
            self.error("--metric", name.to_owned(), invalid);
            return None;
        }
        // Of a benchmark whose harness cannot measure it, it asks nothing; that nobody measures it is found by the caller.
        let mut layer = MetricLayer::named(self.place.clone(), false);
        layer.gate = self.set(Some(true), |_| name.to_owned());
        Some((metric, layer))
    }
}

fn within<T: PartialOrd>(range: &RangeInclusive<T>, value: &T, help: String) -> Result<(), Invalid> {
    if range.contains(value) { Ok(()) } else { Err(Invalid::with_help("is out of range", help)) }
}

/// A ratio above 0 and at most 1, which is written in per cent.
fn check_ratio(ratio: f64) -> Result<(), Invalid> {
    if 0.0 < ratio && ratio <= 1.0 {
        return Ok(());
    }
    Err(Invalid::with_help("is out of range", "write a percentage above 0 and at most 100"))
}
