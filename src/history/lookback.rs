//! A result against the rolling window of its series: distribution-change flags, rolling mean and spread, z-scores.
//!
//! The rules are those of BenchDB and Conbench (seed document 1), reproduced number for number; the order in which they are
//! computed is in `fixtures/golden/history/README.md`. Windows are evaluated directly, not by a running update, so that a
//! window of equal values has exactly that mean and a spread of exactly 0.

use std::cmp::Ordering;

use crate::stats::quantile;
use crate::suite::metric::Better;

/// Distinct commit positions in a window.
pub const WINDOW: usize = 100;
/// A change between neighbours beyond so many standard deviations is a jump.
pub const SHIFT_SD: f64 = 5.0;
/// The share of changes that is left out at either end before their spread is taken.
const TRIM: f64 = 0.05;

/// One result of a series, already reduced to its best unit run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The place of its commit in the history: a commit time in seconds, or an index. Equal places share one position.
    pub position: i64,
    /// When it was measured; orders the results of one commit.
    pub result_time: i64,
    /// The value, in the unit of the series.
    pub value: f64,
    /// Whether a new distribution begins with its commit.
    pub begins: bool,
}

/// What the window says at one result. `None` where a number does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rolling {
    /// Distributions begun at or before its commit.
    pub segment: usize,
    /// It jumped, and stayed.
    pub is_step: bool,
    /// It jumped, and the next one jumped back: out of all windows.
    pub is_outlier: bool,
    /// Mean of the window before its commit; its own value where there is none in the segment.
    pub mean_before: Option<f64>,
    /// Mean of the window with its commit.
    pub mean_through: Option<f64>,
    /// Value minus `mean_before`.
    pub residual: Option<f64>,
    /// Standard deviation (n - 1) of the residuals of the window before its commit, across segments.
    pub sd_before: Option<f64>,
    /// The same with its commit.
    pub sd_through: Option<f64>,
}

/// The mean and the spread a new result is scored against.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Distribution {
    /// Rolling mean.
    pub mean: Option<f64>,
    /// Rolling standard deviation; exactly 0 for a history without spread.
    pub sd: Option<f64>,
}

impl Distribution {
    /// The signed distance of a value from the mean in standard deviations, positive for better.
    pub fn z(&self, value: f64, better: Better) -> Option<f64> {
        z_score(value, self.mean?, self.sd, better)
    }
}

/// `(value - reference) / sd`, positive for better; `None` without a spread. Never -0.
pub fn z_score(value: f64, reference: f64, sd: Option<f64>, better: Better) -> Option<f64> {
    let sd = sd.filter(|&sd| sd != 0.0)?;
    let z = (value - reference) / sd;
    Some(match better {
        Better::Lower if z != 0.0 => -z,
        _ => z + 0.0,
    })
}

/// The order of the rows: by commit, then by the time of the result; ties keep theirs.
pub fn order(rows: &[Row]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&index| (rows[index].position, rows[index].result_time));
    order
}

/// The statistics of every row. `rows` must be in the order of [`order`].
pub fn rolling(rows: &[Row]) -> Vec<Rolling> {
    tail(rows, 0)
}

/// Which rows jumped away and back. `rows` must be in order.
pub fn outliers(rows: &[Row]) -> Vec<bool> {
    let values: Vec<f64> = rows.iter().map(|row| row.value).collect();
    flags(&values, 0).into_iter().map(|flags| flags.is_outlier).collect()
}

/// The distribution as of the newest commit; the first row of that commit speaks for it. `rows` must be in order.
pub fn distribution(rows: &[Row]) -> Distribution {
    let Some(newest) = rows.last().map(|row| row.position) else { return Distribution::default() };
    let first = rows.partition_point(|row| row.position < newest);
    // Two full windows decide; a long series need not be gone through for them.
    let mut take = 8 * WINDOW;
    loop {
        let from = first.saturating_sub(take);
        let stats = tail(rows, from);
        if from == 0 || 2 * WINDOW + 2 < distinct_kept(&rows[from..], &stats) {
            let speaker = stats[first - from];
            return Distribution { mean: speaker.mean_through, sd: speaker.sd_through };
        }
        take *= 2;
    }
}

/// Distinct positions that are in windows.
fn distinct_kept(rows: &[Row], stats: &[Rolling]) -> usize {
    let mut last = None;
    let mut count = 0;
    for (row, _) in rows.iter().zip(stats).filter(|(_, stats)| !stats.is_outlier) {
        count += usize::from(last.replace(row.position) != Some(row.position));
    }
    count
}

/// The statistics of the rows from `from` on, by windows that begin there. Jumps are judged by all rows.
fn tail(rows: &[Row], from: usize) -> Vec<Rolling> {
    let values: Vec<f64> = rows.iter().map(|row| row.value).collect();
    let mut stats = flags(&values, from);
    let begun_before = rows[..from].iter().filter(|row| row.begins).count();
    let rows = &rows[from..];
    set_segments(rows, begun_before, &mut stats);
    let kept: Vec<usize> = (0..rows.len()).filter(|&index| !stats[index].is_outlier).collect();
    // The mean knows only its own segment, and segments are contiguous.
    let mut start = 0;
    while start < kept.len() {
        let segment = stats[kept[start]].segment;
        let len = kept[start..].iter().take_while(|&&index| stats[index].segment == segment).count();
        let members = &kept[start..start + len];
        let values: Vec<f64> = members.iter().map(|&index| rows[index].value).collect();
        for_each_position(rows, members, |window| {
            let before = mean(&values[window.before]);
            let through = mean(&values[window.through]);
            for &index in &members[window.own] {
                let value = rows[index].value;
                let before = before.unwrap_or(value);
                stats[index].mean_before = Some(before);
                stats[index].mean_through = through;
                stats[index].residual = Some(value - before);
            }
        });
        start += len;
    }
    let residuals: Vec<f64> = kept.iter().filter_map(|&index| stats[index].residual).collect();
    for_each_position(rows, &kept, |window| {
        let before = standard_deviation(&residuals[window.before]);
        let through = standard_deviation(&residuals[window.through]);
        for &index in &kept[window.own] {
            stats[index].sd_before = before;
            stats[index].sd_through = through;
        }
    });
    stats
}

/// How many standard deviations of the usual changes the last change is off their mean. `None` without a spread.
pub fn jump(rows: &[Row]) -> Option<f64> {
    let values: Vec<f64> = rows.iter().map(|row| row.value).collect();
    let (change, mean, sd) = Neighbours::new(&values)?.at(values.len().checked_sub(1)?)?;
    (sd != 0.0).then(|| ((change - mean) / sd).abs())
}

/// The changes between neighbours.
struct Neighbours {
    changes: Vec<f64>,
    /// Those that are left when the largest ones either way are not counted, with the row each of them leads to.
    kept: Vec<f64>,
    kept_at: Vec<usize>,
}

impl Neighbours {
    fn new(values: &[f64]) -> Option<Self> {
        let changes: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut pool = changes.clone();
        let (low, high) = (quantile_of(&mut pool, TRIM)?, quantile_of(&mut pool, 1.0 - TRIM)?);
        let (kept_at, kept) = changes
            .iter()
            .enumerate()
            .filter(|(_, change)| low <= **change && **change <= high)
            .map(|(index, change)| (index + 1, *change))
            .unzip();
        Some(Self { changes, kept, kept_at })
    }

    /// The change that leads to a row, and the mean and the spread of those of the window up to it.
    fn at(&self, row: usize) -> Option<(f64, f64, f64)> {
        let change = *self.changes.get(row.checked_sub(1)?)?;
        let begin = self.kept_at.partition_point(|&at| at + WINDOW <= row);
        let end = self.kept_at.partition_point(|&at| at <= row);
        let window = &self.kept[begin.min(end)..end];
        Some((change, mean(window)?, standard_deviation(window)?))
    }

    fn jumps(&self, row: usize) -> bool {
        match self.at(row) {
            // Against no spread at all any other change is a jump.
            Some((change, mean, 0.0)) => !same(change, mean),
            Some((change, mean, sd)) => SHIFT_SD < ((change - mean) / sd).abs(),
            None => false,
        }
    }
}

/// Steps and outliers of the rows from `from` on.
fn flags(values: &[f64], from: usize) -> Vec<Rolling> {
    let mut stats = vec![Rolling::default(); values.len() - from];
    let Some(neighbours) = Neighbours::new(values) else { return stats };
    let jumps = |row: usize| neighbours.jumps(row);
    let mut before_is_outlier = 1 < from && jumps(from - 1) && from < values.len() && jumps(from);
    let mut this = from < values.len() && jumps(from);
    for (offset, stats) in stats.iter_mut().enumerate() {
        let next = from + offset + 1 < values.len() && jumps(from + offset + 1);
        stats.is_outlier = this && next;
        stats.is_step = this && !next && !before_is_outlier;
        before_is_outlier = stats.is_outlier;
        this = next;
    }
    stats
}

/// A mark on any row of a commit moves all rows of that commit.
fn set_segments(rows: &[Row], begun_before: usize, stats: &mut [Rolling]) {
    let mut begun = begun_before;
    let mut start = 0;
    while start < rows.len() {
        let len = rows[start..].iter().take_while(|row| row.position == rows[start].position).count();
        begun += rows[start..start + len].iter().filter(|row| row.begins).count();
        for stats in &mut stats[start..start + len] {
            stats.segment = begun;
        }
        start += len;
    }
}

/// The members of one commit position, and of the windows before it and through it.
struct Window {
    own: std::ops::Range<usize>,
    before: std::ops::Range<usize>,
    through: std::ops::Range<usize>,
}

/// Calls `each` for every distinct position among these rows, in order.
fn for_each_position(rows: &[Row], members: &[usize], mut each: impl FnMut(Window)) {
    // Where each distinct position begins.
    let mut begins: Vec<usize> = Vec::new();
    for (place, &index) in members.iter().enumerate() {
        if place == 0 || rows[members[place - 1]].position != rows[index].position {
            begins.push(place);
        }
    }
    for rank in 0..begins.len() {
        let start = begins[rank];
        let end = begins.get(rank + 1).copied().unwrap_or(members.len());
        each(Window {
            own: start..end,
            before: begins[rank.saturating_sub(WINDOW)]..start,
            through: begins[(rank + 1).saturating_sub(WINDOW)]..end,
        });
    }
}

/// The mean; of equal values exactly that value.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    if values.iter().all(|&value| same(value, first)) {
        return Some(first);
    }
    Some(sum(values, |value| value) / values.len() as f64)
}

/// The sample standard deviation (n - 1); of equal values exactly 0, of fewer than two none.
pub(super) fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    if values.iter().all(|&value| same(value, values[0])) {
        return Some(0.0);
    }
    let centre = mean(values)?;
    let squares = sum(values, |value| (value - centre) * (value - centre));
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Whether two numbers are one: here equality to the last bit is the point.
fn same(a: f64, b: f64) -> bool {
    a.partial_cmp(&b) == Some(Ordering::Equal)
}

/// A sum in eight lanes: quick, and more exact than one running sum.
fn sum(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let mut chunks = values.chunks_exact(8);
    for chunk in &mut chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += of(*value);
    }
    ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
}

/// The quantile by linear interpolation at `(n - 1) q`, by selection; the values are reordered.
fn quantile_of(values: &mut [f64], q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let position = last as f64 * q;
    let low = (position.floor() as usize).min(last);
    let (_, &mut at_low, above) = values.select_nth_unstable_by(low, f64::total_cmp);
    let at_high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(at_low);
    let weight = position - low as f64;
    // Interpolation from the nearer end, so that q and 1 - q of mirrored values mirror exactly.
    quantile::quantile(&[at_low, at_high], weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[f64]) -> Vec<Row> {
        let row = |(index, &value): (usize, &f64)| Row {
            position: index as i64,
            result_time: index as i64,
            value,
            begins: false,
        };
        values.iter().enumerate().map(row).collect()
    }

    #[test]
    fn distribution_of_a_long_series_is_that_of_the_whole_of_it() {
        let mut values: Vec<f64> =
            (0..3000).map(|index| 1.0 + (f64::from(index) * 0.618_033_988_749_895).fract() * 0.01).collect();
        values[2990] = 3.0;
        values[1500] = 0.1;
        let rows = rows(&values);
        let whole = rolling(&rows);
        let last = whole.last().expect("there are rows");
        let short = distribution(&rows);
        assert_eq!((short.mean, short.sd), (last.mean_through, last.sd_through));
        assert!(whole[2990].is_outlier);
    }

    #[test]
    fn z_is_positive_for_better_and_never_negative_zero() {
        assert_eq!(z_score(9.0, 10.0, Some(0.5), Better::Lower), Some(2.0));
        assert_eq!(z_score(9.0, 10.0, Some(0.5), Better::Higher), Some(-2.0));
        let zero = z_score(10.0, 10.0, Some(0.5), Better::Lower).expect("there is a spread");
        assert!(zero.is_sign_positive());
        assert_eq!(z_score(9.0, 10.0, Some(0.0), Better::Lower), None);
        assert_eq!(z_score(9.0, 10.0, None, Better::Lower), None);
    }

    #[test]
    fn nothing_and_one_value_have_no_spread() {
        assert_eq!(distribution(&[]), Distribution::default());
        assert_eq!(distribution(&rows(&[3.5])), Distribution { mean: Some(3.5), sd: None });
    }
}
