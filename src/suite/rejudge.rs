//! Settings for samples that exist already: those of a saved report with flags on top, or the defaults.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{Invalid, Place, Sink, SuiteErrors};
use super::harnesses::{default_max_percent, is_gated_unasked};
use super::judge_check::check_judge;
use super::layers::JudgeLayer;
use super::metric::{Better, Metric, Unit};
use super::overrides::Overrides;
use super::presets::{DEFAULT_PRESET, LAST_LOOK, MEAN_RESAMPLES, judge_of};
use super::settings::{
    BenchmarkSettings, JudgeSettings, MetricSettings, Resamples, SampleCount, Sampling, Statistic,
};

/// A benchmark that was measured before.
#[derive(Debug)]
pub struct Sampled<'a> {
    /// What it was judged by.
    pub settings: &'a mut BenchmarkSettings,
    /// What it has samples of, on whichever side.
    pub metrics: BTreeSet<Metric>,
}

impl Overrides {
    /// Lays the judging flags over settings that were resolved before.
    ///
    /// # Errors
    ///
    /// Flags with impossible values, and metrics that none of the benchmarks has.
    pub fn rejudge(&self, benchmarks: &mut [Sampled<'_>]) -> Result<(), SuiteErrors> {
        let mut sink = Sink::default();
        let declared = |it: &Sampled<'_>| it.settings.metrics.keys().cloned().collect::<BTreeSet<Metric>>();
        let declared: BTreeSet<Metric> = benchmarks.iter().flat_map(declared).collect();
        let names: Vec<String> = declared.iter().map(|metric| metric.name().to_owned()).collect();
        let layer = self.layer(&names, &mut sink);
        for metric in layer.metrics.keys() {
            let is_there =
                |it: &Sampled<'_>| it.settings.metrics.contains_key(metric) && it.metrics.contains(metric);
            if !benchmarks.is_empty() && !benchmarks.iter().any(is_there) {
                let measured: BTreeSet<&str> =
                    benchmarks.iter().flat_map(|it| &it.metrics).map(Metric::name).collect();
                let help = format!("there are samples of {}", Vec::from_iter(measured).join(", "));
                let invalid = Invalid::with_help("was not measured of any benchmark", help);
                sink.error(&Place::command_line(), "--metric", Some(metric.name().to_owned()), invalid);
            }
        }
        // Most benchmarks share one judge, and a mistake is told once.
        let mut checked: Vec<JudgeSettings> = Vec::new();
        for benchmark in benchmarks.iter() {
            let judge = judge_over(&benchmark.settings.judge, &layer.judge);
            if !checked.contains(&judge) {
                check_judge(&judge, judge.stop, &layer.judge, &mut sink);
                checked.push(judge);
            }
        }
        sink.finish()?;
        for Sampled { settings, metrics } in benchmarks {
            let mut judge = judge_over(&settings.judge, &layer.judge);
            if judge.statistic == Statistic::Mean && judge.resamples == Resamples::Exact {
                judge.resamples = Resamples::MonteCarlo(MEAN_RESAMPLES);
            }
            settings.judge = judge;
            if let Some(min_samples) = &layer.min_samples {
                settings.judge.min_samples = min_samples.value;
            }
            for metric in layer.metrics.keys() {
                if let Some(limits) = settings.metrics.get_mut(metric) {
                    limits.gate = true;
                    // Of a benchmark that has none on either side, the flag asks nothing, as when it is measured.
                    limits.asked_for |= metrics.contains(metric);
                }
            }
            if let Some(max_percent) = &layer.max_percent {
                for metric in settings.metrics.values_mut().filter(|metric| metric.gate) {
                    metric.max_percent = max_percent.value;
                }
            }
        }
        Ok(())
    }
}

/// The settings of samples that came without any: the defaults, for each metric that is there. What a run gates without
/// being asked is gated, and so are metrics of the user's own.
pub fn settings_for_samples(units: &BTreeMap<Metric, Unit>) -> BenchmarkSettings {
    let metrics = units
        .iter()
        .filter(|(metric, _)| metric.is_comparable() && **metric != Metric::Throughput)
        .map(|(metric, unit)| {
            let settings = MetricSettings {
                unit: unit.clone(),
                better: Better::Lower,
                max_percent: default_max_percent(metric),
                min_difference: 0.0,
                gate: is_gated_unasked(metric),
                asked_for: false,
            };
            (metric.clone(), settings)
        });
    BenchmarkSettings {
        sampling: Sampling {
            warmup: 0,
            samples: SampleCount::Adaptive { min: 2, max: LAST_LOOK },
            min_time_ns: 0,
            timeout_ns: 0,
        },
        judge: judge_of(DEFAULT_PRESET),
        metrics: metrics.collect(),
        budgets: Vec::new(),
        compare: true,
        group: None,
        tolerances: BTreeMap::new(),
    }
}

/// A named preset sets all keys at once, then each written key wins.
fn judge_over(judge: &JudgeSettings, written: &JudgeLayer) -> JudgeSettings {
    let mut judge = written.preset.as_ref().map_or_else(|| judge.clone(), |preset| judge_of(preset.value));
    macro_rules! lay {
        ($($key:ident),+) => { $(if let Some(set) = &written.$key { judge.$key = set.value; })+ };
    }
    lay!(
        method,
        statistic,
        pairing,
        interval,
        resamples,
        confidence,
        max_cv,
        stop,
        correction,
        target_ci,
        show_percent
    );
    judge
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the limits are copied, never computed")]
mod tests {
    use super::super::settings::{Interval, Method, Preset, Stop};
    use super::*;

    fn settings() -> BenchmarkSettings {
        settings_for_samples(&BTreeMap::from([
            (Metric::Latency, Unit::Nanoseconds),
            (Metric::PeakRss, Unit::Bytes),
        ]))
    }

    /// The settings after the flags, of one benchmark that has samples of all it has settings for.
    fn judged_again(flags: &Overrides) -> Result<BenchmarkSettings, SuiteErrors> {
        let mut settings = settings();
        let metrics = settings.metrics.keys().cloned().collect();
        flags.rejudge(&mut [Sampled { settings: &mut settings, metrics }])?;
        Ok(settings)
    }

    #[test]
    fn samples_without_settings_are_gated_as_a_run_gates_them() {
        let units = Metric::BUILT_IN.map(|metric| (metric.clone(), metric.unit().expect("it is built in")));
        let own = (Metric::from_name("tokens"), Unit::Own("".into()));
        let settings = settings_for_samples(&units.into_iter().chain([own]).collect());
        let gated: Vec<&str> =
            settings.metrics.iter().filter(|(_, it)| it.gate).map(|(metric, _)| metric.name()).collect();
        assert_eq!(gated, ["latency", "instructions", "allocations", "allocated_bytes", "tokens"]);
    }

    #[test]
    fn max_percent_flag_reaches_gated_metrics_alone() {
        let flags = Overrides { max_percent: Some(3.0), ..Overrides::default() };
        let judged = judged_again(&flags).expect("valid flags");
        assert_eq!(judged.metrics[&Metric::Latency].max_percent, 3.0);
        assert_eq!(judged.metrics[&Metric::PeakRss].max_percent, 10.0);
    }

    #[test]
    fn metric_flag_gates_before_the_limit_is_set() {
        let flags = Overrides {
            max_percent: Some(3.0),
            metrics: vec!["peak_rss".to_owned()],
            ..Overrides::default()
        };
        let judged = judged_again(&flags).expect("valid flags");
        let MetricSettings { gate, asked_for, max_percent, .. } = judged.metrics[&Metric::PeakRss];
        assert!(gate && asked_for);
        assert_eq!(max_percent, 3.0);
    }

    #[test]
    fn metric_flag_asks_the_benchmarks_that_have_it_and_is_refused_where_none_has() {
        let tokens = Metric::from_name("tokens");
        let mut with = settings_for_samples(&BTreeMap::from([(tokens.clone(), Unit::Count)]));
        let mut without = settings();
        let mut ask = |name: &str| {
            let flags = Overrides { metrics: vec![name.to_owned()], ..Overrides::default() };
            flags.rejudge(&mut [
                Sampled { settings: &mut without, metrics: [Metric::Latency].into() },
                Sampled { settings: &mut with, metrics: [tokens.clone()].into() },
            ])
        };
        ask("tokens").expect("one benchmark has it");
        let refused = ask("peak_rss").expect_err("no samples of it").to_string();
        assert!(refused.contains("--metric") && refused.contains("samples of latency, tokens"), "{refused}");
        assert!(ask("instructions").is_err() && ask("tokns").is_err());
        assert!(with.metrics[&tokens].asked_for);
        assert!(without.metrics.values().all(|limits| !limits.asked_for));
    }

    #[test]
    fn key_beside_a_preset_wins_over_it() {
        let flags = Overrides { preset: Some(Preset::Fixed), confidence: Some(0.9), ..Overrides::default() };
        let judged = judged_again(&flags).expect("valid flags");
        assert_eq!((judged.judge.stop, judged.judge.confidence), (Stop::Fixed, 0.9));
    }

    #[test]
    fn flag_that_would_do_nothing_is_an_error_as_in_a_run() {
        let refused = [
            Overrides { confidence: Some(0.99), ..Overrides::default() },
            Overrides { target_ci: Some(0.01), ..Overrides::default() },
            Overrides { method: Some(Method::Rank), interval: Some(Interval::Bca), ..Overrides::default() },
        ];
        for flags in refused {
            assert!(judged_again(&flags).is_err(), "{flags:?}");
        }
        let flags = Overrides { confidence: Some(0.99), stop: Some(Stop::Fixed), ..Overrides::default() };
        judged_again(&flags).expect("one look");
    }

    #[test]
    fn impossible_flag_is_an_error() {
        let flags = Overrides { max_percent: Some(-1.0), ..Overrides::default() };
        assert!(judged_again(&flags).is_err());
    }
}
