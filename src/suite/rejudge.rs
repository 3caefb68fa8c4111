//! Settings for samples that exist already: those of a saved report with flags on top, or the defaults.

use std::collections::BTreeMap;

use super::error::{Sink, SuiteErrors};
use super::harnesses::default_max_percent;
use super::judge_check::check_judge;
use super::layers::JudgeLayer;
use super::metric::{Better, Metric, Unit};
use super::overrides::Overrides;
use super::presets::{DEFAULT_PRESET, LAST_LOOK, MEAN_RESAMPLES, judge_of};
use super::settings::{
    BenchmarkSettings, JudgeSettings, MetricSettings, Resamples, SampleCount, Sampling, Statistic,
};

impl Overrides {
    /// Lays the judging flags over settings that were resolved before.
    ///
    /// # Errors
    ///
    /// Flags with impossible values, and metrics that the settings do not know.
    pub fn rejudge(&self, settings: &mut BenchmarkSettings) -> Result<(), SuiteErrors> {
        let mut sink = Sink::default();
        let declared: Vec<String> = settings.metrics.keys().map(|metric| metric.name().to_owned()).collect();
        let layer = self.layer(&declared, &mut sink);
        let mut judge = judge_over(&settings.judge, &layer.judge);
        check_judge(&judge, judge.stop, &layer.judge, &mut sink);
        sink.finish()?;
        if judge.statistic == Statistic::Mean && judge.resamples == Resamples::Exact {
            judge.resamples = Resamples::MonteCarlo(MEAN_RESAMPLES);
        }
        settings.judge = judge;
        if let Some(min_samples) = &layer.min_samples {
            settings.judge.min_samples = min_samples.value;
        }
        for metric in layer.metrics.keys() {
            if let Some(settings) = settings.metrics.get_mut(metric) {
                settings.gate = true;
            }
        }
        if let Some(max_percent) = &layer.max_percent {
            for metric in settings.metrics.values_mut().filter(|metric| metric.gate) {
                metric.max_percent = max_percent.value;
            }
        }
        Ok(())
    }
}

/// The settings of samples that came without any: the defaults, for each metric that is there. Latency and metrics of the
/// user's own are gated.
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
                gate: matches!(metric, Metric::Latency | Metric::Own(_)),
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

    #[test]
    fn max_percent_flag_reaches_gated_metrics_alone() {
        let mut judged = settings();
        let flags = Overrides { max_percent: Some(3.0), ..Overrides::default() };
        flags.rejudge(&mut judged).expect("valid flags");
        assert_eq!(judged.metrics[&Metric::Latency].max_percent, 3.0);
        assert_eq!(judged.metrics[&Metric::PeakRss].max_percent, 10.0);
    }

    #[test]
    fn metric_flag_gates_before_the_limit_is_set() {
        let mut judged = settings();
        let flags = Overrides {
            max_percent: Some(3.0),
            metrics: vec!["peak_rss".to_owned()],
            ..Overrides::default()
        };
        flags.rejudge(&mut judged).expect("valid flags");
        assert!(judged.metrics[&Metric::PeakRss].gate);
        assert_eq!(judged.metrics[&Metric::PeakRss].max_percent, 3.0);
    }

    #[test]
    fn key_beside_a_preset_wins_over_it() {
        let mut judged = settings();
        let flags = Overrides { preset: Some(Preset::Fixed), confidence: Some(0.9), ..Overrides::default() };
        flags.rejudge(&mut judged).expect("valid flags");
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
            assert!(flags.rejudge(&mut settings()).is_err(), "{flags:?}");
        }
        let flags = Overrides { confidence: Some(0.99), stop: Some(Stop::Fixed), ..Overrides::default() };
        flags.rejudge(&mut settings()).expect("one look");
    }

    #[test]
    fn impossible_flag_is_an_error() {
        let flags = Overrides { max_percent: Some(-1.0), ..Overrides::default() };
        assert!(flags.rejudge(&mut settings()).is_err());
    }
}
