//! One simulated benchmark as the evidence a real run would hand to the verdict.

use std::collections::BTreeMap;

use cargo_benchgate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::settings::{BenchmarkSettings, JudgeSettings, MetricSettings, Sampling};
use cargo_benchgate::verdict::evidence::{Evidence, Presence, Side, Stage, UnitRun, Values};

use super::noise::Sides;
use super::rule;

/// The settings of a benchmark with one gated latency.
pub(crate) fn settings(judge: &JudgeSettings, max_percent: f64, count: usize) -> BenchmarkSettings {
    let limits = MetricSettings {
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        max_percent,
        min_difference: 0.0,
        gate: true,
        asked_for: false,
    };
    BenchmarkSettings {
        sampling: Sampling {
            warmup: 1,
            samples: rule::samples(judge, count),
            min_time_ns: 0,
            timeout_ns: 60_000_000_000,
        },
        judge: judge.clone(),
        metrics: BTreeMap::from([(Metric::Latency, limits)]),
        budgets: Vec::new(),
        compare: true,
        group: None,
        tolerances: BTreeMap::new(),
    }
}

/// The evidence of a benchmark that was measured to the end of its schedule.
pub(crate) fn evidence(id: String, settings: BenchmarkSettings, sides: &Sides) -> Evidence {
    Evidence {
        identity: BenchmarkIdentity {
            target: TargetId { package: "calibrate".into(), kind: TargetKind::Bench, target: "noise".into() },
            variant: String::new(),
            id,
        },
        harness: "simulation".into(),
        presence: Presence::Compared,
        presence_note: None,
        settings,
        sides: vec![
            side("base", runs(Stage::Screen, 0, &sides.base)),
            side("head", runs(Stage::Screen, 0, &sides.head)),
        ],
        stopped_because: None,
        error: None,
    }
}

/// Adds the fresh rounds of a candidate.
pub(crate) fn add_fresh(evidence: &mut Evidence, sides: &Sides) {
    for (side, values) in evidence.sides.iter_mut().zip([&sides.base, &sides.head]) {
        let first_round = side.runs.len() as u32 / 2;
        side.runs.extend(runs(Stage::Confirm, first_round, values));
    }
}

fn side(revision: &str, runs: Vec<UnitRun>) -> Side {
    Side { revision: revision.into(), executable_sha256: None, runs }
}

/// Two runs of each revision share a round.
pub(crate) fn runs(stage: Stage, first_round: u32, values: &[f64]) -> Vec<UnitRun> {
    let run = |(index, &value): (usize, &f64)| UnitRun {
        stage,
        round: Some(first_round + index as u32 / 2),
        sequence: None,
        context_switches: None,
        work: None,
        peak_rss_floor: None,
        wall_ns: None,
        values: Values::from_iter([(Metric::Latency, value)]),
    };
    values.iter().enumerate().map(run).collect()
}
