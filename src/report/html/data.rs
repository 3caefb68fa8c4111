//! What the script of the page draws plots from.

use serde::Serialize;

use crate::stats::box_plot::BoxPlot;
use crate::suite::metric::Better;
use crate::verdict::evidence::Stage;
use crate::verdict::outcome::Comparison;

use super::super::model::Benchmark;
use super::super::quantity;
use super::super::rows::Row;
use super::super::text::visible;

/// What the plots of one row are drawn from. Values are in the metric's base unit.
#[derive(Serialize)]
pub(super) struct Item {
    title: String,
    names: [String; 2],
    unit: String,
    divisor: f64,
    ordered: &'static str,
    /// Change, ends of its interval.
    change: Option<[Option<f64>; 3]>,
    limit: f64,
    base: Option<ItemSide>,
    head: Option<ItemSide>,
}

#[derive(Serialize)]
struct ItemSide {
    name: String,
    places: Vec<u64>,
    values: Vec<f64>,
    #[serde(rename = "box")]
    five: Option<[f64; 5]>,
    outliers: Vec<f64>,
}

impl Item {
    /// Of the row of a comparison.
    pub(super) fn of(row: &Row<'_>, it: &Comparison) -> Self {
        let side = |revision: &str| ItemSide::of(row.benchmark, it, revision);
        let (divisor, unit) = quantity::scale(it.base.or(it.head).unwrap_or(0.0), &it.unit);
        let better_lower = it.better == Better::Lower;
        let has_order =
            row.benchmark.sides.iter().flat_map(|side| &side.runs).all(|run| run.sequence.is_some());
        Self {
            title: format!("{} {}", row.target, row.metric),
            names: [visible(&it.base_revision), visible(&it.head_revision)],
            unit: visible(&unit),
            divisor,
            ordered: if has_order { "their place in the run" } else { "their place in the file" },
            change: it.change_percent.map(|change| [Some(change), it.ci_low_percent, it.ci_high_percent]),
            limit: if better_lower { it.max_percent } else { -it.max_percent },
            base: side(&it.base_revision),
            head: side(&it.head_revision),
        }
    }

    /// Whether there is anything to draw.
    pub(super) fn shows_anything(&self) -> bool {
        self.change.is_some() || (self.base.is_some() && self.head.is_some())
    }
}

impl ItemSide {
    /// The samples that decided; `None` where there is none.
    fn of(benchmark: &Benchmark, it: &Comparison, revision: &str) -> Option<Self> {
        let stage = it.details.stage.unwrap_or(Stage::Screen);
        let side = benchmark.sides.iter().find(|side| side.revision == revision)?;
        let samples: Vec<(u64, f64)> = side
            .runs
            .iter()
            .enumerate()
            .filter(|(_, run)| run.stage == stage)
            .filter_map(|(at, run)| Some((run.sequence.unwrap_or(at as u64), run.values.get(&it.metric)?)))
            .filter(|(_, value)| value.is_finite())
            .collect();
        let (places, values): (Vec<u64>, Vec<f64>) = samples.into_iter().unzip();
        let plot = BoxPlot::of(&values)?;
        Some(Self {
            name: visible(revision),
            places,
            values,
            five: Some([plot.low, plot.q1, plot.median, plot.q3, plot.high]),
            outliers: plot.outliers,
        })
    }
}
