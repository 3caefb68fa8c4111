//! Reports made as a run makes them, from samples drawn with a seed: judged, summed up, assembled.

use std::collections::BTreeMap;

use cargo_benchgate::report::assemble::identity_order;
use cargo_benchgate::report::model::Report;
use cargo_benchgate::report::{Header, assemble};
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::settings::{Aggregation, Budget, MetricSettings, Operator, Preset, Resamples};
use cargo_benchgate::summary;
use cargo_benchgate::verdict::evidence::{
    BenchmarkError, ErrorKind, Evidence, Presence, Side, Stage, StoppedBecause, UnitRun, Values,
};
use cargo_benchgate::verdict::{RunContext, judge_run};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{evidence, header, identity, settings};

/// Numbers drawn with a seed.
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// From 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    /// Around 1, the wider the larger `spread`.
    fn noise(&mut self, spread: f64) -> f64 {
        let bell: f64 = (0..4).map(|_| self.unit() - 0.5).sum();
        (1.0 + bell * spread).max(0.01)
    }
}

/// The samples of one side in rounds of two.
pub(crate) fn samples(draw: &mut Draw, revision: &str, count: u32, of: &[(Metric, f64, f64)]) -> Side {
    let offset = u64::from(revision != "base");
    let run = |at: u32, draw: &mut Draw| UnitRun {
        stage: Stage::Screen,
        round: Some(at / 2),
        sequence: Some(u64::from(at) * 2 + offset),
        context_switches: None,
        work: None,
        peak_rss_floor: None,
        wall_ns: None,
        values: of
            .iter()
            .map(|(metric, centre, spread)| (metric.clone(), centre * draw.noise(*spread)))
            .collect::<Values>(),
    };
    let runs = (0..count).map(|at| run(at, draw)).collect();
    Side { revision: revision.into(), executable_sha256: None, runs }
}

/// A benchmark whose head takes `factor` times what base takes.
pub(crate) fn benchmark(
    draw: &mut Draw,
    target: &str,
    id: &str,
    base: f64,
    factor: f64,
    spread: f64,
) -> Evidence {
    let base_side = samples(draw, "base", 30, &[(Metric::Latency, base, spread)]);
    let head_side = samples(draw, "head", 30, &[(Metric::Latency, base * factor, spread)]);
    let mut made = evidence(identity(target, id), vec![base_side, head_side]);
    made.settings.judge = judge_of(Preset::Fixed);
    made.settings.judge.resamples = Resamples::Exact;
    made
}

/// One that failed.
pub(crate) fn broken(target: &str, id: &str, kind: ErrorKind, message: &str, stderr: &str) -> Evidence {
    let sides =
        ["base", "head"].map(|name| Side { revision: name.into(), executable_sha256: None, runs: vec![] });
    let mut made = evidence(identity(target, id), sides.into());
    let stderr = Some(stderr.to_owned()).filter(|text| !text.is_empty());
    made.error = Some(BenchmarkError { kind, message: message.into(), stderr });
    made.stopped_because = Some(StoppedBecause::Error);
    made
}

/// One that is in a revision alone, or the same in both.
pub(crate) fn absent(draw: &mut Draw, target: &str, id: &str, presence: Presence) -> Evidence {
    let sides = match presence {
        Presence::New => vec![samples(draw, "head", 10, &[(Metric::Latency, 800.0, 0.02)])],
        _ => vec![],
    };
    Evidence { presence, ..evidence(identity(target, id), sides) }
}

/// What a run makes of the evidence.
pub(crate) fn report_of(mut evidence: Vec<Evidence>, header: Header, context: &RunContext) -> Report {
    evidence.sort_by(|a, b| identity_order(&a.identity, &b.identity));
    let mut judgement = judge_run(&evidence, context);
    judgement.summary.overall = summary::overall(&evidence, &judgement.benchmarks, header.suite.summary);
    let header = Header { warnings: [header.warnings, judgement.warnings].concat(), ..header };
    assemble(header, evidence, judgement.benchmarks, judgement.summary, judgement.exit)
}

pub(crate) fn judged_report(evidence: Vec<Evidence>) -> Report {
    let header = Header { warnings: vec![], ..header() };
    report_of(evidence, header, &RunContext { seed: 42, ..RunContext::default() })
}

/// A report of up to `most` benchmarks of every kind, with metrics from picoseconds to terabytes.
pub(crate) fn any_report(seed: u64, most: u64) -> Report {
    let mut draw = Draw::new(seed);
    let count = 1 + draw.below(most);
    let evidence = (0..count).map(|number| any_benchmark(&mut draw, number)).collect();
    judged_report(evidence)
}

fn any_benchmark(draw: &mut Draw, number: u64) -> Evidence {
    let id = format!("group {}/case_{number}", draw.below(4));
    let target = ["parse", "whole"][draw.below(2) as usize];
    match draw.below(12) {
        0 => {
            return broken(
                target,
                &id,
                ErrorKind::ExitCode,
                "it ended with exit code 101",
                "thread panicked",
            );
        }
        1 => {
            let kinds = [Presence::New, Presence::Removed, Presence::Unchanged, Presence::NotComparable];
            let kind = kinds[draw.below(4) as usize];
            return absent(draw, target, &id, kind);
        }
        _ => {}
    }
    let factor = match draw.below(4) {
        0 => 1.0,
        1 => 0.5 + draw.unit(),
        2 => 1.0 + draw.unit() * 0.05,
        _ => 10f64.powf(draw.unit() * 2.0 - 1.0),
    };
    let spread = [0.001, 0.02, 0.3, 1.5][draw.below(4) as usize];
    let tokens = Metric::from_name("tokens/s");
    let of = [
        (Metric::Latency, 10f64.powf(draw.unit() * 13.0 - 2.0), spread),
        (Metric::PeakRss, 10f64.powf(3.0 + draw.unit() * 9.0), spread / 10.0),
        (tokens.clone(), 10f64.powf(draw.unit() * 6.0), spread),
    ];
    let kept = &of[..1 + draw.below(3) as usize];
    let scaled: Vec<_> =
        kept.iter().map(|(metric, centre, spread)| (metric.clone(), centre * factor, *spread)).collect();
    let count = [4, 12, 30][draw.below(3) as usize];
    let sides = vec![samples(draw, "base", count, kept), samples(draw, "head", count, &scaled)];
    let mut made = evidence(identity(target, &id), sides);
    made.settings = settings();
    made.settings.judge = judge_of(Preset::Fixed);
    made.settings.judge.resamples = Resamples::Exact;
    let limits = |unit: Unit, better: Better, gate: bool| MetricSettings {
        unit,
        better,
        max_percent: 10.0,
        min_difference: 0.0,
        gate,
        asked_for: false,
    };
    let all = [
        limits(Unit::Nanoseconds, Better::Lower, draw.below(5) != 0),
        limits(Unit::Bytes, Better::Lower, draw.below(2) == 0),
        limits(Unit::from_name("tokens/s"), Better::Higher, draw.below(2) == 0),
    ];
    let metrics = [Metric::Latency, Metric::PeakRss, tokens];
    made.settings.metrics = metrics.into_iter().zip(all).take(kept.len()).collect::<BTreeMap<_, _>>();
    if draw.below(3) == 0 {
        made.settings.budgets.push(Budget {
            metric: Metric::Latency,
            aggregation: Aggregation::Median,
            operator: Operator::LessOrEqual,
            limit: of[0].1,
            written: "<= 1".into(),
        });
    }
    made
}
