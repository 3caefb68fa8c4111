//! The budgets of an entry: absolute limits on head.

use serde_json::Value;

use super::error::{Invalid, Place, Sink, as_written};
use super::keys::nearest;
use super::layers::BudgetLayer;
use super::metric::{Better, Metric, Unit};
use super::quantity::{parse_amount, parse_decimal, parse_rate};
use super::reader::Reader;
use super::settings::{Aggregation, Operator};

const EXAMPLE: &str = "budget.latency = { p95 = \"<= 500ms\" }";

/// All budgets of an entry that can be read; `pointed`: the entry names its target.
pub(super) fn read_budgets(reader: &Reader<'_>, pointed: bool, sink: &mut Sink) -> Vec<BudgetLayer> {
    let mut budgets: Vec<BudgetLayer> = Vec::new();
    let Some(tables) = reader.child("budget", EXAMPLE, sink) else { return budgets };
    for (name, value) in tables.iter() {
        let Some(table) = Reader::open(value, &tables.place, name, EXAMPLE, sink) else { continue };
        let metric = Metric::from_name(name);
        for (key, value) in table.iter() {
            match read_budget(&metric, &table.place, key, value) {
                Ok(budget) if budgets.iter().any(|other| same(other, &budget)) => {
                    let invalid = Invalid::with_help("is a limit that stands here already", "leave one out");
                    sink.error(&table.place, key, Some(as_written(value)), invalid);
                }
                Ok(budget) => budgets.push(BudgetLayer { pointed, ..budget }),
                Err(invalid) => sink.error(&table.place, key, Some(as_written(value)), invalid),
            }
        }
    }
    budgets
}

fn same(one: &BudgetLayer, other: &BudgetLayer) -> bool {
    one.metric == other.metric && one.aggregation == other.aggregation
}

fn read_budget(metric: &Metric, place: &Place, key: &str, value: &Value) -> Result<BudgetLayer, Invalid> {
    if let (Value::Object(nested), true) = (value, key.starts_with('p')) {
        // `p99.9 = …` is the key 9 in the table p99.
        let inner = nested.keys().next().map_or("9", String::as_str);
        return Err(Invalid::with_help(
            format!("is a table: a bare {key}.{inner} is a key in a table"),
            format!("quote it: \"{key}.{inner}\" = \"<= …\""),
        ));
    }
    let aggregation = aggregation(key)?;
    let text = value.as_str().ok_or_else(|| {
        let plain = as_written(value);
        Invalid::with_help("has no operator", format!("write it like \"<= {}\"", plain.trim_matches('"')))
    })?;
    let (operator, amount) = operator(text)?;
    if let Some(better) = direction(metric) {
        check_direction(metric, better, operator)?;
    }
    if amount.starts_with('-') {
        return Err(Invalid::with_help("is a negative limit", "write a limit above 0"));
    }
    let (limit, rate_unit) = limit(metric, amount)?;
    if limit <= 0.0 {
        return Err(Invalid::with_help("is a limit of zero", "write a limit above 0"));
    }
    Ok(BudgetLayer {
        metric: metric.clone(),
        aggregation,
        operator,
        limit,
        rate_unit,
        written: text.to_owned(),
        key: key.to_owned(),
        place: place.clone(),
        pointed: false,
    })
}

fn aggregation(key: &str) -> Result<Aggregation, Invalid> {
    const HELP: &str = "known are min, max, mean, median and percentiles like p95 or \"p99.9\"";
    match key {
        "min" => return Ok(Aggregation::Min),
        "max" => return Ok(Aggregation::Max),
        "mean" => return Ok(Aggregation::Mean),
        "median" => return Ok(Aggregation::Median),
        _ => {}
    }
    let Some(percent) = key.strip_prefix('p').and_then(|digits| parse_decimal(digits).ok()) else {
        let help = match nearest(key, ["min", "max", "mean", "median"]) {
            Some(near) => format!("did you mean `{near}`? {HELP}"),
            None => HELP.to_owned(),
        };
        return Err(Invalid::with_help("unknown key", help));
    };
    if percent <= 0.0 {
        return Err(Invalid::with_help("p0 is not a percentile of samples", "write `min` for the smallest"));
    }
    // Written as p99.99…, a number can still round to 100.
    if 100.0 <= percent {
        let problem = format!("{key} is not a percentile of samples: they end below p100");
        return Err(Invalid::with_help(problem, "write `max` for the largest"));
    }
    Ok(Aggregation::Percentile(percent))
}

fn operator(text: &str) -> Result<(Operator, &str), Invalid> {
    // The longer operators first, since each begins with a shorter one.
    let order = [Operator::LessOrEqual, Operator::GreaterOrEqual, Operator::Less, Operator::Greater];
    order
        .into_iter()
        .find_map(|operator| text.trim().strip_prefix(operator.as_str()).map(|rest| (operator, rest.trim())))
        .ok_or_else(|| Invalid::with_help("has no operator", format!("write it like \"<= {}\"", text.trim())))
}

/// The direction of a built-in metric; `None` where both make sense, or only the suite knows.
fn direction(metric: &Metric) -> Option<Better> {
    match metric {
        Metric::Throughput => Some(Better::Higher),
        Metric::CpuUtilization | Metric::Own(_) => None,
        _ => Some(Better::Lower),
    }
}

/// Whether the operator limits the bad side of the metric.
pub(super) fn check_direction(metric: &Metric, better: Better, operator: Operator) -> Result<(), Invalid> {
    let upper = matches!(operator, Operator::Less | Operator::LessOrEqual);
    match better {
        Better::Lower if !upper => Err(Invalid::with_help(
            format!("limits {metric} from below, although less is better"),
            "write `<=` or `<`",
        )),
        Better::Higher if upper => Err(Invalid::with_help(
            format!("limits {metric} from above, although more is better"),
            "write `>=` or `>`",
        )),
        _ => Ok(()),
    }
}

fn limit(metric: &Metric, amount: &str) -> Result<(f64, Option<String>), Invalid> {
    match metric.unit() {
        Some(Unit::PerSecond) => parse_rate(amount).map(|rate| (rate.per_second, rate.unit)),
        Some(unit) => parse_amount(amount, &unit).map(|limit| (limit, None)),
        None => parse_decimal(amount).map(|limit| (limit, None)),
    }
}
