//! One report with a row of every kind, built as a run builds it, and whole-output checks.

#![allow(clippy::unwrap_used, dead_code, reason = "tests may panic, and each uses its part")]

pub(crate) mod generate;

use std::collections::BTreeMap;
use std::path::Path;

use cargo_benchgate::report::model::{
    Exit, Machine, NotGated, Report, Revision, RunWide, Statistics, Summary, Toolchain,
};
use cargo_benchgate::report::{Header, assemble};
use cargo_benchgate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::settings::{
    Aggregation, BenchmarkSettings, Budget, Correction, Interval, JudgeSettings, Method, MetricSettings,
    Operator, Pairing, Preset, Resamples, SampleCount, Sampling, Statistic, Stop,
};
use cargo_benchgate::verdict::Judged;
use cargo_benchgate::verdict::evidence::{
    BenchmarkError, ErrorKind, Evidence, Presence, Side, Stage, StoppedBecause, UnitRun, Values,
};
use cargo_benchgate::verdict::outcome::{
    BenchResult, BudgetOutcome, BudgetStatus, Comparison, PairingUsed, Reason, Verdict,
};

/// Checks a whole output against its file; `UPDATE_SNAPSHOTS=1` writes the file instead.
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/report").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "{name} differs from its file; now:\n{text}");
}

pub(crate) fn identity(target: &str, id: &str) -> BenchmarkIdentity {
    let target = TargetId { package: "toy".into(), kind: TargetKind::Bench, target: target.into() };
    BenchmarkIdentity { target, variant: String::new(), id: id.into() }
}

pub(crate) fn settings() -> BenchmarkSettings {
    let latency = MetricSettings {
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        max_percent: 10.0,
        min_difference: 0.0,
        gate: true,
        asked_for: false,
    };
    BenchmarkSettings {
        sampling: Sampling {
            warmup: 1,
            samples: SampleCount::Adaptive { min: 10, max: 60 },
            min_time_ns: 0,
            timeout_ns: 60_000_000_000,
        },
        judge: JudgeSettings {
            preset: Preset::Fixed,
            method: Method::Bootstrap,
            statistic: Statistic::Median,
            pairing: Pairing::Independent,
            interval: Interval::Percentile,
            resamples: Resamples::MonteCarlo(2000),
            confidence: 0.95,
            min_samples: 10,
            max_cv: 0.5,
            stop: Stop::Fixed,
            correction: Correction::None,
            target_ci: 0.01,
            show_percent: 2.0,
        },
        metrics: BTreeMap::from([(Metric::Latency, latency)]),
        budgets: Vec::new(),
        compare: true,
        group: None,
        tolerances: BTreeMap::new(),
    }
}

pub(crate) fn run(sequence: u64, values: &[(Metric, f64)]) -> UnitRun {
    UnitRun {
        stage: Stage::Screen,
        round: Some((sequence / 4) as u32),
        sequence: Some(sequence),
        context_switches: Some(2),
        work: None,
        peak_rss_floor: None,
        wall_ns: None,
        values: Values::from_iter(values.iter().cloned()),
    }
}

pub(crate) fn side(revision: &str, latencies: &[f64]) -> Side {
    let offset = u64::from(revision == "head");
    let runs = latencies.iter().enumerate();
    let runs = runs.map(|(at, &value)| run(at as u64 * 2 + offset, &[(Metric::Latency, value)])).collect();
    Side { revision: revision.into(), executable_sha256: Some("ab".repeat(32)), runs }
}

pub(crate) fn evidence(identity: BenchmarkIdentity, sides: Vec<Side>) -> Evidence {
    Evidence {
        identity,
        harness: "criterion".into(),
        presence: Presence::Compared,
        presence_note: None,
        settings: settings(),
        sides,
        stopped_because: Some(StoppedBecause::MinReached),
        error: None,
    }
}

pub(crate) fn comparison(metric: Metric, verdict: Verdict, reason: Option<Reason>) -> Comparison {
    Comparison {
        base_revision: "base".into(),
        head_revision: "head".into(),
        unit: metric.unit().unwrap_or(Unit::Count),
        metric,
        better: Better::Lower,
        statistic: Statistic::Median,
        base: Some(12_310.0),
        head: Some(12_500.0),
        difference: Some(190.0),
        change_percent: Some(1.5434),
        ci_low_percent: Some(0.2),
        ci_high_percent: Some(2.9),
        probability_regression: Some(0.0),
        probability_improvement: Some(0.0),
        max_percent: 10.0,
        min_difference: 0.0,
        confidence: 0.95,
        max_cv: 0.5,
        base_dispersion: Some(0.021),
        head_dispersion: Some(0.034),
        gate: true,
        verdict,
        reason,
        samples: [30, 30],
        min_samples: 10,
        pairing: Some(PairingUsed::Independent),
        stopped_because: Some(StoppedBecause::FixedSamples),
        derived_from: None,
        samples_needed: None,
        acceptance: None,
        details: Default::default(),
    }
}

pub(crate) fn slower() -> Comparison {
    Comparison {
        head: Some(15_520.0),
        difference: Some(3_210.0),
        change_percent: Some(26.0764),
        ci_low_percent: Some(24.9),
        ci_high_percent: Some(27.3),
        probability_regression: Some(1.0),
        ..comparison(Metric::Latency, Verdict::Regression, None)
    }
}

pub(crate) fn budget(aggregation: Aggregation, actual: Option<f64>, status: BudgetStatus) -> BudgetOutcome {
    BudgetOutcome {
        budget: Budget {
            metric: Metric::Latency,
            aggregation,
            operator: Operator::LessOrEqual,
            limit: 500e6,
            written: "<= 500ms".into(),
        },
        revision: "head".into(),
        unit: Unit::Nanoseconds,
        actual,
        status,
        reason: None,
        samples: 30,
        few_tail_samples: false,
    }
}

pub(crate) fn judged(
    result: BenchResult,
    comparisons: Vec<Comparison>,
    budgets: Vec<BudgetOutcome>,
) -> Judged {
    Judged { group: "grp".into(), result, comparisons, budgets, statistics: Vec::new() }
}

pub(crate) fn statistics(value: f64) -> BTreeMap<Metric, Statistics> {
    let latency = Statistics {
        unit: Unit::Nanoseconds,
        count: 3,
        min: value - 1.0,
        max: value + 1.0,
        mean: value,
        median: value,
        standard_deviation: Some(1.0),
        cv: Some(1.0 / value),
        robust_cv: Some(0.7 / value),
        percentiles: BTreeMap::from([("p90".into(), value + 0.8), ("p95".into(), value + 0.9)]),
    };
    BTreeMap::from([(Metric::Latency, latency)])
}

pub(crate) fn header() -> Header {
    Header {
        command: "compare".into(),
        seed: 42,
        started_at: Some("2026-11-29T10:00:00Z".into()),
        finished_at: Some("2026-11-29T10:03:20Z".into()),
        revisions: vec![
            Revision {
                name: "base".into(),
                spec: "origin/main".into(),
                commit: Some("1a2b3c4d5e6f708192a3b4c5d6e7f80912345678".into()),
                subject: Some("Parse numbers".into()),
                dirty: false,
                chosen_because: Some("merge base with origin/main".into()),
                committed_at: None,
            },
            Revision {
                name: "head".into(),
                spec: "worktree".into(),
                commit: Some("9f8e7d6c5b4a39281706f5e4d3c2b1a098765432".into()),
                subject: Some("Check every byte".into()),
                dirty: true,
                chosen_because: None,
                committed_at: None,
            },
        ],
        machine: Some(Machine {
            os: "linux".into(),
            arch: "x86_64".into(),
            cpu_model: Some("Toy CPU".into()),
            logical_cpus: 2,
            governor: None,
            load_at_start: Some(0.4),
            load_at_end: Some(f64::NAN),
            memory_bytes: Some(8 << 30),
            label: None,
        }),
        toolchain: Some(Toolchain {
            rustc: "rustc 1.95.0".into(),
            cargo: "cargo 1.95.0".into(),
            target: "x86_64-unknown-linux-gnu".into(),
            profile: "bench".into(),
        }),
        suite: RunWide::default(),
        builds: Vec::new(),
        dependency_changes: Vec::new(),
        warnings: vec![
            "load average 3.1 on 2 CPUs: other work disturbs the numbers; wait for it, or move it".into(),
        ],
    }
}

/// A run with a row of every kind.
pub(crate) fn whole() -> Report {
    let mut parts: Vec<(Evidence, Judged)> = Vec::new();
    let mut add = |evidence: Evidence, judged: Judged| parts.push((evidence, judged));
    let two =
        || vec![side("base", &[12_300.0, 12_310.0, 12_320.5]), side("head", &[15_500.0, 15_520.0, 15_530.0])];

    let mut throughput = Comparison {
        unit: Unit::PerSecond,
        better: Better::Higher,
        base: Some(81_234.8),
        head: Some(64_432.9),
        difference: None,
        change_percent: Some(-20.683),
        ci_low_percent: Some(-21.4),
        ci_high_percent: Some(-19.9),
        max_percent: 9.090909,
        gate: false,
        derived_from: Some(Metric::Latency),
        ..slower()
    };
    throughput.metric = Metric::Throughput;
    let mut one = judged(BenchResult::Regression, vec![slower(), throughput], vec![]);
    one.statistics = vec![statistics(12_310.0), statistics(15_520.0)];
    add(evidence(identity("parse", "json/deep/10"), two()), one);

    let tail = budget(Aggregation::Percentile(95.0), Some(510e6), BudgetStatus::Fail);
    let tail = BudgetOutcome { few_tail_samples: true, ..tail };
    let fine = budget(Aggregation::Max, Some(480e6), BudgetStatus::Pass);
    let pass = comparison(Metric::Latency, Verdict::Pass, None);
    add(
        evidence(identity("parse", "json/deep/2"), two()),
        judged(BenchResult::OverBudget, vec![pass], vec![fine, tail]),
    );

    let unsure = Comparison {
        probability_regression: Some(0.623),
        change_percent: Some(11.2),
        ci_low_percent: Some(-3.0),
        ci_high_percent: Some(24.6),
        stopped_because: Some(StoppedBecause::MaxSamples),
        samples_needed: Some(140),
        ..comparison(Metric::Latency, Verdict::Inconclusive, Some(Reason::TooClose))
    };
    let rss = Comparison {
        base: Some(3e6),
        head: Some(4e6),
        change_percent: None,
        ci_low_percent: None,
        ci_high_percent: None,
        ..comparison(Metric::PeakRss, Verdict::Skipped, Some(Reason::AtFloor))
    };
    let cpu = Comparison { gate: false, ..slower() };
    let cpu = Comparison { metric: Metric::CpuTotal, statistic: Statistic::Mean, ..cpu };
    add(
        evidence(identity("whole", "whole"), two()),
        judged(BenchResult::Inconclusive, vec![rss, unsure, cpu], vec![]),
    );

    let better = Comparison {
        change_percent: Some(-30.0),
        ci_low_percent: Some(-31.0),
        ci_high_percent: Some(-29.5),
        probability_improvement: Some(0.9991),
        pairing: Some(PairingUsed::Paired),
        ..comparison(Metric::Latency, Verdict::Improved, None)
    };
    add(evidence(identity("fast", "sum"), two()), judged(BenchResult::Improved, vec![better], vec![]));

    let mut broken = evidence(identity("fast", "hang"), vec![side("base", &[]), side("head", &[])]);
    broken.error = Some(BenchmarkError {
        kind: ErrorKind::Timeout,
        message: "the benchmark was killed at its time limit, after 60.0 s; raise `timeout`".into(),
        stderr: Some("loading\n\u{1b}[31mthread 'main' is stuck\u{1b}[0m".into()),
    });
    add(broken, judged(BenchResult::Error, vec![], vec![]));

    let mut new = evidence(identity("fast", "new one"), vec![side("head", &[7.0, 8.0, 9.0])]);
    new.presence = Presence::New;
    let mut alone = judged(BenchResult::Pass, vec![], vec![]);
    alone.statistics = vec![statistics(8.0)];
    add(new, alone);
    let mut gone = evidence(identity("fast", "gone"), vec![]);
    gone.presence = Presence::Removed;
    add(gone, judged(BenchResult::Pass, vec![], vec![]));
    let mut same = evidence(identity("fast", "same"), vec![]);
    same.presence = Presence::Unchanged;
    add(same, judged(BenchResult::Pass, vec![], vec![]));
    let mut other = evidence(identity("moved", "moved"), vec![]);
    other.presence = Presence::NotComparable;
    other.presence_note = Some("base uses libtest, head criterion".into());
    add(other, judged(BenchResult::Pass, vec![], vec![]));

    let (evidence, judged) = parts.into_iter().unzip();
    let summary = Summary {
        benchmarks: 9,
        pass: 4,
        improved: 1,
        inconclusive: 1,
        over_budget: 1,
        regression: 1,
        error: 1,
        skipped: 1,
        not_gated: NotGated { regression: 1, ..NotGated::default() },
        unchanged: 1,
        new: 1,
        removed: 1,
        not_comparable: 1,
        ..Summary::default()
    };
    let because = Some("fast/hang failed: timeout".into());
    assemble(header(), evidence, judged, summary, Exit { code: 4, because, without_no_fail: None })
}

/// Ids that try to break a format.
pub(crate) fn nasty_ids() -> Vec<String> {
    let mut ids: Vec<String> = [
        "🦀/café",
        "line\nend\r\n",
        "\u{1b}[31mred\u{1b}[0m\u{7}",
        "say \"hi\", then 'bye'",
        "=cmd|' /C calc'!A0",
        "'=1+1",
        "''-1",
        "+1",
        "-1",
        "@sum",
        "\ttab",
        "a,b;c",
        "<b>&amp;|`x`\\",
        " spaces ",
        "\u{202e}desrever",
    ]
    .map(str::to_owned)
    .into();
    ids.push("x".repeat(300));
    ids
}

/// A report whose benchmarks have those ids.
pub(crate) fn nasty() -> Report {
    let sides = || vec![side("base", &[1.0, 0.1 + 0.2, 3e-7]), side("head", &[1.0, 2.5, 1e17])];
    let (evidence, judged) = nasty_ids()
        .into_iter()
        .map(|id| {
            (
                evidence(identity(&format!("t{id}"), &id), sides()),
                judged(BenchResult::Regression, vec![slower()], vec![]),
            )
        })
        .unzip();
    let exit = Exit { code: 1, because: Some("x\u{1b}[31m\nis slower".into()), without_no_fail: None };
    assemble(header(), evidence, judged, Summary::default(), exit)
}
