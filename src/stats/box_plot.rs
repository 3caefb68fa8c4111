//! Tukey's box plot (1977) of one sample: the middle half, whiskers over what is no outlier, outliers as points.

use super::fences::Fences;
use super::quantile::{median, quantile, sorted};

/// One box. All in the unit of the sample.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxPlot {
    /// The smallest value within 1.5 interquartile ranges of the box.
    pub low: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// The largest value within 1.5 interquartile ranges of the box.
    pub high: f64,
    /// The values beyond the whiskers, ascending.
    pub outliers: Vec<f64>,
}

impl BoxPlot {
    /// The box of a sample; `None` of nothing, or where a value is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let sorted = sorted(values);
        let [_, low_fence, high_fence, _] = Fences::of(&sorted)?.fences;
        let inside = |value: &&f64| (low_fence..=high_fence).contains(*value);
        Some(Self {
            low: *sorted.iter().find(inside)?,
            q1: quantile(&sorted, 0.25)?,
            median: median(&sorted)?,
            q3: quantile(&sorted, 0.75)?,
            high: *sorted.iter().rev().find(inside)?,
            outliers: sorted.iter().filter(|value| !inside(value)).copied().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whiskers_end_at_the_last_value_that_is_no_outlier() {
        let plot = BoxPlot::of(&[12.0, 1.0, 2.0, 3.0, 4.0, -9.0, 5.0]).expect("finite");
        // Quartiles 1.5 and 4.5, so the fences are at -3 and 9.
        assert_eq!((plot.q1, plot.median, plot.q3), (1.5, 3.0, 4.5));
        assert_eq!((plot.low, plot.high), (1.0, 5.0));
        assert_eq!(plot.outliers, [-9.0, 12.0]);
    }

    #[test]
    fn one_value_is_a_box_of_no_width_and_none_is_no_box() {
        let plot = BoxPlot::of(&[7.0]).expect("finite");
        assert_eq!((plot.low, plot.q1, plot.median, plot.q3, plot.high), (7.0, 7.0, 7.0, 7.0, 7.0));
        assert!(BoxPlot::of(&[]).is_none() && BoxPlot::of(&[1.0, f64::NAN]).is_none());
    }
}
