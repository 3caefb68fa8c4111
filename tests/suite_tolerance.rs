//! The practical tolerance of metrics, as the suite writes it and as a report keeps it.

mod suite_support;

use cargo_benchgate::suite::metric::{Metric, Unit};
use cargo_benchgate::suite::tolerance::{MetricKind, Policy, default_kind};
use suite_support::Project;

fn tolerance(table: &str, metric: &Metric) -> Option<Policy> {
    let suite = Project::default().package("a", table, &["parse"]).load();
    let target = suite.targets()[0].id.clone();
    suite.target_settings(&target, "").tolerances.get(metric).copied()
}

fn errors(table: &str) -> Vec<String> {
    Project::default().package("a", table, &["parse"]).errors()
}

#[test]
fn floors_are_written_in_the_unit_of_their_metric() {
    let table = r#"
        tolerance.latency = { metric_kind = "duration", absolute = "5ms" }
        tolerance.peak_rss = { absolute = "1MiB", relative_percent = "2.5%" }
        tolerance.allocations = { absolute = 3 }
        metrics.tokens = { unit = "tokens" }
        tolerance.tokens = { absolute = 7, relative_percent = 0 }
    "#;
    let latency = tolerance(table, &Metric::Latency).expect("it is written");
    assert_eq!((latency.metric_kind, latency.absolute), (Some(MetricKind::Duration), Some(5e6)));
    let memory = tolerance(table, &Metric::PeakRss).expect("it is written");
    assert_eq!((memory.absolute, memory.relative_percent), (Some(1_048_576.0), Some(2.5)));
    assert_eq!(tolerance(table, &Metric::Allocations).and_then(|policy| policy.absolute), Some(3.0));
    let tokens = tolerance(table, &Metric::from_name("tokens")).expect("it is written");
    assert_eq!((tokens.absolute, tokens.relative_percent), (Some(7.0), Some(0.0)));
    assert_eq!(tolerance(table, &Metric::Instructions), None);
}

#[test]
fn packages_refine_the_workspace_key_by_key() {
    let suite = Project::default()
        .workspace("tolerance.latency = { absolute = \"1ms\", relative_percent = 3 }")
        .package("a", "tolerance.latency = { relative_percent = 1 }", &["parse"])
        .load();
    let target = suite.targets()[0].id.clone();
    let latency = suite.target_settings(&target, "").tolerances[&Metric::Latency];
    assert_eq!((latency.absolute, latency.relative_percent), (Some(1e6), Some(1.0)));
}

#[test]
fn wrong_tolerances_are_named_with_what_would_be_right() {
    for (table, words) in [
        (
            "tolerance.latency = { metric_kind = \"memory_peak\" }",
            "the kind `memory_peak` is for bytes, and the unit is ns",
        ),
        ("tolerance.latency = { metric_kind = \"durration\" }", "did you mean \"duration\"?"),
        ("tolerance.latency = { absolut = \"1ms\" }", "did you mean `absolute`?"),
        ("tolerance.latency = { absolute = \"1MiB\" }", "absolute = \"1MiB\""),
        ("tolerance.latency = { relative_percent = -1 }", "relative_percent = -1"),
        ("tolerance.tokens = { absolute = 1 }", "unknown metric"),
        ("tolerance.throughput = { absolute = 1 }", "throughput"),
        ("tolerance = \"30ms\"", "is not a table"),
    ] {
        let errors = errors(table);
        assert!(errors.iter().any(|error| error.contains(words)), "{table}: {errors:?}");
    }
}

#[test]
fn kind_follows_the_metric_and_the_harness() {
    let kind = |metric: Metric, whole_program| {
        let unit = metric.unit().unwrap_or(Unit::Count);
        default_kind(&metric, &unit, whole_program)
    };
    assert_eq!(kind(Metric::Latency, false), MetricKind::Microbenchmark);
    assert_eq!(kind(Metric::Latency, true), MetricKind::Duration);
    assert_eq!(kind(Metric::PeakRss, true), MetricKind::MemoryPeak);
    assert_eq!(kind(Metric::AllocatedBytes, false), MetricKind::Allocation);
    assert_eq!(kind(Metric::Instructions, false), MetricKind::Unspecified);
    // Bytes of a metric of the user's own may be anything.
    assert_eq!(default_kind(&Metric::from_name("heap"), &Unit::Bytes, true), MetricKind::Unspecified);
}

#[test]
fn lookback_of_the_history_is_read_and_checked() {
    let suite = Project::default().package("a", "history.lookback = \"plain\"", &["parse"]).load();
    assert_eq!(suite.run.lookback.as_str(), "plain");
    assert_eq!(Project::default().package("a", "", &["parse"]).load().run.lookback.as_str(), "steps");
    let errors = errors("history = { lookback = \"plane\", lookbak = 1 }");
    assert!(errors[0].contains("did you mean"), "{errors:?}");
    assert_eq!(errors.len(), 2);
}
