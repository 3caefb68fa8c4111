//! Builders for evidence, shared by the tests of the verdicts.
#![allow(dead_code, reason = "every test program uses a part of them")]

use std::collections::BTreeMap;

use cargo_benchgate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::settings::{
    Aggregation, BenchmarkSettings, Budget, Correction, Interval, JudgeSettings, Method, MetricSettings,
    Operator, Pairing, Preset, Resamples, SampleCount, Sampling, Statistic, Stop,
};
use cargo_benchgate::verdict::evidence::{Evidence, Presence, Side, Stage, UnitRun, Values};
use cargo_benchgate::verdict::{RunContext, RunJudgement, judge_run};

/// The judge of preset `fixed` with the exact law.
pub(crate) fn fixed() -> JudgeSettings {
    JudgeSettings {
        preset: Preset::Fixed,
        method: Method::Bootstrap,
        statistic: Statistic::Median,
        pairing: Pairing::Independent,
        interval: Interval::Percentile,
        resamples: Resamples::Exact,
        confidence: 0.95,
        min_samples: 10,
        max_cv: 0.5,
        stop: Stop::Fixed,
        correction: Correction::None,
        target_ci: 0.01,
        show_percent: 2.0,
    }
}

/// The default judge, without the second measurement of candidates.
pub(crate) fn settled() -> JudgeSettings {
    JudgeSettings {
        preset: Preset::Default,
        pairing: Pairing::Auto,
        min_samples: 8,
        stop: Stop::Settled,
        ..fixed()
    }
}

/// Preset `effect`.
pub(crate) fn effect() -> JudgeSettings {
    JudgeSettings {
        preset: Preset::Effect,
        method: Method::Rank,
        interval: Interval::Bca,
        min_samples: 8,
        max_cv: 0.0,
        stop: Stop::Precision,
        correction: Correction::Holm,
        ..fixed()
    }
}

/// So many values around a centre, evenly spread by up to so many per cent either way, as if at random. Another `turn`
/// gives other values.
pub(crate) fn scattered(centre: f64, percent: f64, count: usize, turn: u64) -> Vec<f64> {
    // SplitMix64: the tests depend on no generator that may change.
    let share = |index: usize| {
        let mut bits = (turn * 1_000_003 + index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..count).map(|index| centre * (1.0 + share(index) * percent / 50.0)).collect()
}

pub(crate) fn metric(max_percent: f64) -> MetricSettings {
    MetricSettings {
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        max_percent,
        min_difference: 0.0,
        gate: true,
        asked_for: false,
    }
}

pub(crate) fn settings(
    judge: JudgeSettings,
    metrics: impl IntoIterator<Item = (Metric, MetricSettings)>,
) -> BenchmarkSettings {
    BenchmarkSettings {
        sampling: Sampling {
            warmup: 1,
            samples: SampleCount::Adaptive { min: 8, max: 60 },
            min_time_ns: 0,
            timeout_ns: 60_000_000_000,
        },
        judge,
        metrics: metrics.into_iter().collect::<BTreeMap<_, _>>(),
        budgets: Vec::new(),
        compare: true,
        group: None,
        tolerances: BTreeMap::new(),
    }
}

pub(crate) fn budget(metric: Metric, aggregation: Aggregation, operator: Operator, limit: f64) -> Budget {
    Budget { metric, aggregation, operator, limit, written: limit.to_string() }
}

pub(crate) fn identity(id: &str) -> BenchmarkIdentity {
    BenchmarkIdentity {
        target: TargetId { package: "demo".into(), kind: TargetKind::Bench, target: "speed".into() },
        variant: String::new(),
        id: id.into(),
    }
}

/// Runs in rounds of two, one metric.
pub(crate) fn runs(metric: &Metric, values: &[f64]) -> Vec<UnitRun> {
    staged(Stage::Screen, metric, values)
}

pub(crate) fn staged(stage: Stage, metric: &Metric, values: &[f64]) -> Vec<UnitRun> {
    let run = |(index, &value): (usize, &f64)| UnitRun {
        stage,
        round: Some(index as u32 / 2),
        sequence: None,
        context_switches: None,
        work: None,
        peak_rss_floor: None,
        wall_ns: None,
        values: Values::from_iter([(metric.clone(), value)]),
    };
    values.iter().enumerate().map(run).collect()
}

/// The same without rounds, as files from elsewhere have them.
pub(crate) fn loose(metric: &Metric, values: &[f64]) -> Vec<UnitRun> {
    runs(metric, values).into_iter().map(|run| UnitRun { round: None, ..run }).collect()
}

pub(crate) fn side(revision: &str, runs: Vec<UnitRun>) -> Side {
    Side { revision: revision.into(), executable_sha256: None, runs }
}

pub(crate) fn evidence(id: &str, settings: BenchmarkSettings, sides: Vec<Side>) -> Evidence {
    Evidence {
        identity: identity(id),
        harness: "criterion".into(),
        presence: Presence::Compared,
        presence_note: None,
        settings,
        sides,
        stopped_because: None,
        error: None,
    }
}

/// One latency benchmark of two sides.
pub(crate) fn latency(judge: JudgeSettings, limits: MetricSettings, base: &[f64], head: &[f64]) -> Evidence {
    let sides = vec![side("base", runs(&Metric::Latency, base)), side("head", runs(&Metric::Latency, head))];
    evidence("group/one", settings(judge, [(Metric::Latency, limits)]), sides)
}

pub(crate) fn judge_one(evidence: Evidence) -> RunJudgement {
    judge_run(&[evidence], &RunContext::default())
}
