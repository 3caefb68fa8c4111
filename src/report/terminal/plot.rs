//! One comparison as plain plots: the interval against the limit, and the samples of both sides as boxes.

use crate::stats::box_plot::BoxPlot;
use crate::suite::metric::Better;
use crate::verdict::evidence::Stage;
use crate::verdict::outcome::Comparison;

use super::super::model::Benchmark;
use super::super::quantity;
use super::super::text::{pad_right, visible, width};

/// Columns of a plot where the terminal does not say.
const USUAL: usize = 50;
const NARROWEST: usize = 16;
const WIDEST: usize = 70;
/// What stands beside the plot: the indent, the name, the scale.
const BESIDE: usize = 40;

/// The plots of a comparison, a line each; none of one without numbers.
pub(super) fn lines(benchmark: &Benchmark, comparison: &Comparison, columns: Option<usize>) -> Vec<String> {
    let columns = columns.map_or(USUAL, |columns| columns.saturating_sub(BESIDE).clamp(NARROWEST, WIDEST));
    let names = [&comparison.base_revision, &comparison.head_revision].map(|name| visible(name));
    let widest = names.iter().map(|name| width(name)).chain(["interval".len()]).max().unwrap_or(0);
    let named = |name: &str, plot: String, scale: String| {
        format!("{} |{plot}| {scale}", pad_right(name, widest)).trim_end().to_owned()
    };
    let mut lines = Vec::new();
    if let Some((plot, scale)) = interval(comparison, columns) {
        lines.push(named("interval", plot, scale));
    }
    let stage = comparison.details.stage.unwrap_or(Stage::Screen);
    let sides = [&comparison.base_revision, &comparison.head_revision].map(|name| {
        let side = benchmark.sides.iter().find(|side| side.revision == *name)?;
        let runs = side.runs.iter().filter(|run| run.stage == stage);
        BoxPlot::of(&runs.filter_map(|run| run.values.get(&comparison.metric)).collect::<Vec<_>>())
    });
    if let [Some(base), Some(head)] = sides {
        let ends = |plot: &BoxPlot| {
            let all = plot.outliers.iter().copied().chain([plot.low, plot.high]);
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let (a, b) = (ends(&base), ends(&head));
        let scale = Scale { low: a.0.min(b.0), high: a.1.max(b.1), columns };
        let unit = &comparison.unit;
        let span = format!("{} to {}", quantity::value(scale.low, unit), quantity::value(scale.high, unit));
        lines.push(named(&names[0], boxed(&base, &scale), span));
        lines.push(named(&names[1], boxed(&head, &scale), String::new()));
    }
    lines
}

/// Positions of values on a line.
struct Scale {
    low: f64,
    high: f64,
    columns: usize,
}

impl Scale {
    fn at(&self, value: f64) -> usize {
        let last = self.columns - 1;
        let span = self.high - self.low;
        if span.is_nan() || span <= 0.0 {
            return last / 2;
        }
        let place = ((value - self.low) / span * last as f64).round();
        // A cast takes what is not a number, or outside, to the nearest end.
        (place as usize).min(last)
    }

    fn line(&self) -> Vec<char> {
        vec![' '; self.columns]
    }
}

fn fill(line: &mut [char], from: usize, to: usize, sign: char) {
    line[from.min(to)..=from.max(to)].fill(sign);
}

fn interval(comparison: &Comparison, columns: usize) -> Option<(String, String)> {
    let change = comparison.change_percent?;
    let (low, high) = comparison.ci_low_percent.zip(comparison.ci_high_percent).unwrap_or((change, change));
    let limit = match comparison.better {
        Better::Lower => comparison.max_percent,
        Better::Higher => -comparison.max_percent,
    };
    let ends = [0.0, limit, low, high, change];
    let scale = Scale {
        low: ends.into_iter().fold(f64::INFINITY, f64::min),
        high: ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
        columns,
    };
    let mut line = scale.line();
    fill(&mut line, scale.at(low), scale.at(high), '=');
    line[scale.at(0.0)] = '0';
    line[scale.at(limit)] = '!';
    line[scale.at(low)] = '<';
    line[scale.at(high)] = '>';
    line[scale.at(change)] = 'o';
    let span = format!("{} to {} (limit !)", quantity::change(scale.low), quantity::change(scale.high));
    Some((line.into_iter().collect(), span))
}

fn boxed(plot: &BoxPlot, scale: &Scale) -> String {
    let mut line = scale.line();
    fill(&mut line, scale.at(plot.low), scale.at(plot.high), '-');
    line[scale.at(plot.low)] = '|';
    line[scale.at(plot.high)] = '|';
    fill(&mut line, scale.at(plot.q1), scale.at(plot.q3), '=');
    line[scale.at(plot.q1)] = '[';
    line[scale.at(plot.q3)] = ']';
    line[scale.at(plot.median)] = '#';
    for outlier in &plot.outliers {
        line[scale.at(*outlier)] = 'o';
    }
    line.into_iter().collect()
}
