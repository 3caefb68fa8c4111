//! A change that all rows share: a machine or build-wide shift, which no single row explains.

use crate::stats::describe::mad;
use crate::stats::median_law::MedianLaw;
use crate::stats::quantile::sorted;

use super::model::Shift;

/// Fewer rows share a change too easily.
const FEWEST_ROWS: usize = 8;
/// So many of ten rows move the same way.
const SAME_OF_TEN: usize = 9;
/// Median absolute deviation to standard deviation, for a normal law.
const MAD_TO_DEVIATION: f64 = 1.4826;
/// The rows scatter around the shift by at most this part of it.
const LIKE: f64 = 0.5;

/// The shift of rows, given as ln(head / base); `None` where they do not move together by a like amount of at least
/// `min_change_percent`.
pub(super) fn shift(logs: &[f64], min_change_percent: f64) -> Option<Shift> {
    if logs.len() < FEWEST_ROWS {
        return None;
    }
    let law = MedianLaw::of(&sorted(logs));
    let median = crate::stats::quantile::median(&sorted(logs))?;
    let [low, high] = [law.quantile(0.025)?, law.quantile(0.975)?];
    let same = logs.iter().filter(|log| 0.0 < **log * median.signum()).count();
    let scatter = mad(logs)? * MAD_TO_DEVIATION;
    let percent = |log: f64| log.exp_m1() * 100.0;
    let together = SAME_OF_TEN * logs.len() <= 10 * same && scatter <= LIKE * median.abs();
    let counts = min_change_percent <= percent(median).abs() && (0.0 < low || high < 0.0);
    (together && counts).then(|| Shift {
        percent: percent(median),
        ci_low_percent: percent(low),
        ci_high_percent: percent(high),
        rows: logs.len(),
        same_direction: same,
    })
}
