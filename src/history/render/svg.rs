//! `history show --format svg`: the series as a small plot that stands alone.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{day, series_name, value};
use crate::history::change::Changes;
use crate::history::course::Course;
use crate::history::lookback::rolling;
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

/// One commit of the plot.
struct Dot {
    /// Its newest result, as an index into the points.
    point: usize,
    /// Its level, as an index into the levels; a value of 0 or below has none.
    level: Option<usize>,
    value: f64,
    is_step: bool,
    is_outlier: bool,
}

/// The commits in their order, without those that the change points leave aside.
fn dots(series: &Series, course: &Course, changes: &Changes) -> Vec<Dot> {
    let of_point: HashMap<usize, usize> =
        changes.levels.iter().enumerate().map(|(index, level)| (level.point, index)).collect();
    let first = changes.levels.first().filter(|_| 0 < changes.older).map_or(0, |level| level.point);
    let flags = rolling(&course.rows);
    let mut dots: Vec<Dot> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (index, point) in series.points.iter().enumerate().skip(first) {
        let level = of_point.get(&index).copied();
        let value = level.map_or(point.best, |level| changes.levels[level].level);
        let (is_step, is_outlier) = (flags[index].is_step, flags[index].is_outlier);
        match places.get(&*point.commit) {
            // The newest result of a commit stands for it, with what is known of the others.
            Some(&place) => {
                let dot = &mut dots[place];
                (dot.point, dot.level, dot.value) = (index, level, value);
                dot.is_step |= is_step;
                dot.is_outlier |= is_outlier;
            }
            None => {
                places.insert(&point.commit, dots.len());
                dots.push(Dot { point: index, level, value, is_step, is_outlier });
            }
        }
    }
    dots
}

/// The plot: a dot a commit, a line a segment, a mark a change. A large dot is a jump, a hollow one an outlier.
pub fn svg(series: &Series, course: &Course, changes: &Changes) -> String {
    let unit = series.key.unit();
    let dots = dots(series, course, changes);
    let values: Vec<f64> = changes.levels.iter().map(|level| level.level).collect();
    let place_of: HashMap<usize, f64> =
        dots.iter().enumerate().filter_map(|(place, dot)| Some((dot.level?, place as f64))).collect();
    let place = |level: usize| place_of.get(&level).copied().unwrap_or(0.0);
    let drawn = || dots.iter().map(|dot| dot.value).filter(|value| value.is_finite());
    let low = drawn().fold(f64::INFINITY, f64::min);
    let high = drawn().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = match low < high {
        true => (low - (high - low) * 0.05, high + (high - low) * 0.05),
        false if low.is_finite() => {
            let room = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
            (low - room, low + room)
        }
        false => (0.0, 1.0),
    };
    let last = dots.len().saturating_sub(1).max(1) as f64;
    let x = |index: f64| LEFT + index / last * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n"
    );
    let title = html(&series_name(&series.key));
    let _ = writeln!(svg, "<title>{title}</title>");
    svg.push_str(
        "<style>text{fill:#222}.axis{stroke:#999}.dot{fill:#3572b0}.outlier{fill:none;stroke:#3572b0;stroke-width:1.5}.level{stroke:#222;stroke-width:2}.worse{stroke:#c62828}\
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
        let at = x(place(change.after) - 0.5);
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
            x(place(pair[0])),
            x(place(pair[1] - 1)),
            y(level),
            y(level)
        );
    }
    for (index, dot) in dots.iter().enumerate().filter(|(_, dot)| dot.value.is_finite()) {
        let point = &series.points[dot.point];
        let shown = dot.level.map_or(point.best, |level| changes.levels[level].median);
        let (class, radius, word) = match dot {
            Dot { is_outlier: true, .. } => ("outlier", 4, " outlier"),
            Dot { is_step: true, .. } => ("dot", 5, " jump"),
            _ => ("dot", 3, ""),
        };
        let _ = writeln!(
            svg,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{} {} {}{word}</title></circle>",
            x(index as f64),
            y(dot.value),
            html(&short(&point.commit)),
            day(point.committed_at),
            html(&value(shown, &unit))
        );
    }
    for (index, anchor) in [(0, "start"), (dots.len().saturating_sub(1), "end")] {
        if let Some(dot) = dots.get(index) {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} {}</text>",
                x(index as f64),
                HEIGHT - BOTTOM + 20.0,
                html(&short(&series.points[dot.point].commit)),
                day(series.points[dot.point].committed_at)
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}
