//! The description of each metric of one side.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::describe::{cv, mean, robust_cv, standard_deviation};
use crate::stats::quantile::{median, quantile, sorted};
use crate::suite::metric::{Metric, Unit};
use crate::suite::settings::{Aggregation, BenchmarkSettings};

use super::evidence::Side;
use super::outcome::Statistics;
use super::throughput;

/// Percentiles that are always reported.
const PERCENTILES: [f64; 3] = [90.0, 95.0, 99.0];

/// Describes every metric of a side that has finite values; throughput as the rate of each run.
pub(super) fn describe(settings: &BenchmarkSettings, side: &Side) -> BTreeMap<Metric, Statistics> {
    let mut metrics: BTreeSet<Metric> =
        side.runs.iter().flat_map(|run| run.values.iter().map(|(metric, _)| metric.clone())).collect();
    if side.runs.iter().any(|run| run.work.is_some()) {
        metrics.insert(Metric::Throughput);
    }
    let described = metrics.into_iter().filter_map(|metric| {
        let values: Vec<f64> = match metric {
            Metric::Throughput => side.runs.iter().filter_map(throughput::rate).collect(),
            _ => side.runs.iter().filter_map(|run| run.values.get(&metric)).collect(),
        };
        let statistics = statistics(settings, &metric, &values)?;
        Some((metric, statistics))
    });
    described.collect()
}

fn statistics(settings: &BenchmarkSettings, metric: &Metric, values: &[f64]) -> Option<Statistics> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let sorted = sorted(values);
    let declared = settings.metrics.get(metric).map(|metric| metric.unit.clone());
    let (mean, median) = (mean(values)?, median(&sorted)?);
    let named = settings.budgets.iter().filter(|budget| budget.metric == *metric);
    let named = named.filter_map(|budget| match budget.aggregation {
        Aggregation::Percentile(percent) => Some(percent),
        _ => None,
    });
    let percentiles = PERCENTILES.into_iter().chain(named);
    let ratio = |value: f64, centre: f64| {
        (0.0 < centre && 2 <= values.len()).then_some(value).filter(|v| v.is_finite())
    };
    Some(Statistics {
        unit: declared.or(metric.unit()).unwrap_or(Unit::Own("".into())),
        count: values.len(),
        min: *sorted.first()?,
        max: *sorted.last()?,
        mean,
        median,
        standard_deviation: standard_deviation(values).filter(|value| value.is_finite()),
        cv: ratio(cv(values), mean),
        robust_cv: ratio(robust_cv(&sorted), median),
        percentiles: percentiles
            .filter_map(|percent| Some((format!("p{percent}"), quantile(&sorted, percent / 100.0)?)))
            .collect(),
    })
}
