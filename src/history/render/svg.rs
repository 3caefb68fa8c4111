//! `history show --format svg`: the series as a small plot that stands alone.

use std::fmt::Write as _;

use super::{day, series_name, value};
use crate::history::change::Changes;
use crate::history::overview::short;
use crate::history::series::Series;
use crate::report::escape::html;
use crate::report::quantity;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 40.0;

/// The plot: a dot a commit, a line a segment, a mark a change.
pub fn svg(series: &Series, changes: &Changes) -> String {
    let unit = series.key.unit();
    let values: Vec<f64> = changes.levels.iter().map(|level| level.level).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = match low < high {
        true => (low - (high - low) * 0.05, high + (high - low) * 0.05),
        false if low.is_finite() => (low * 0.95, low.abs().mul_add(0.05, low) + f64::MIN_POSITIVE),
        false => (0.0, 1.0),
    };
    let last = values.len().saturating_sub(1).max(1) as f64;
    let x = |index: f64| LEFT + index / last * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n"
    );
    let title = html(&series_name(&series.key));
    let _ = writeln!(svg, "<title>{title}</title>");
    svg.push_str(
        "<style>text{fill:#222}.axis{stroke:#999}.dot{fill:#3572b0}.level{stroke:#222;stroke-width:2}.worse{stroke:#c62828}\
         .better{stroke:#2e7d32}.bg{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#ddd}.level{stroke:#ddd}.bg{fill:#1b1b1b}}\
         </style>\n",
    );
    let _ = writeln!(svg, "<rect class=\"bg\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{title}</text>");
    for step in 0..=4 {
        let at = low + (high - low) * f64::from(step) / 4.0;
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke-width=\"0.3\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            y(at),
            y(at),
            LEFT - 6.0,
            y(at) + 4.0,
            html(&value(at, &unit))
        );
    }
    for change in &changes.changes {
        let class = if change.better { "better" } else { "worse" };
        let at = x(change.after as f64 - 0.5);
        let _ = writeln!(
            svg,
            "<line class=\"{class}\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\" stroke-dasharray=\"4 3\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            HEIGHT - BOTTOM,
            at + 4.0,
            TOP + 10.0,
            html(&quantity::change(change.change_percent))
        );
    }
    let bounds: Vec<usize> = [0]
        .into_iter()
        .chain(changes.changes.iter().map(|change| change.after))
        .chain([values.len()])
        .collect();
    for pair in bounds.windows(2).filter(|pair| pair[0] < pair[1]) {
        let level = match changes.changes.iter().find(|change| change.after == pair[0]) {
            Some(change) => change.to,
            None => changes.changes.first().map_or_else(|| geometric_mean(&values), |change| change.from),
        };
        let _ = writeln!(
            svg,
            "<line class=\"level\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
            x(pair[0] as f64),
            x((pair[1] - 1) as f64),
            y(level),
            y(level)
        );
    }
    for (index, level) in changes.levels.iter().enumerate() {
        let point = &series.points[level.point];
        let _ = writeln!(
            svg,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{} {} {}</title></circle>",
            x(index as f64),
            y(level.level),
            html(&short(&point.commit)),
            day(point.committed_at),
            html(&value(level.median, &unit))
        );
    }
    for (index, anchor) in [(0, "start"), (changes.levels.len().saturating_sub(1), "end")] {
        if let Some(level) = changes.levels.get(index) {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} {}</text>",
                x(index as f64),
                HEIGHT - BOTTOM + 20.0,
                html(&short(&series.points[level.point].commit)),
                day(series.points[level.point].committed_at)
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}
