//! What fits in the time there is.

use std::time::Duration;

/// Of benchmarks that need so much time each, those that can be given it: the cheapest first, so that as many as
/// possible are measured in full rather than all in part. A tenth of the time is kept back, since costs are estimates.
pub(super) fn fitting(left: Duration, needs: &[(usize, Duration)]) -> Vec<usize> {
    let mut cheapest_first = needs.to_vec();
    cheapest_first.sort_by_key(|&(place, need)| (need, place));
    let mut budget = left.mul_f64(0.9);
    let mut fits = Vec::new();
    for (place, need) in cheapest_first {
        let Some(rest) = budget.checked_sub(need) else { break };
        budget = rest;
        fits.push(place);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_benchmarks_fit_first_and_a_tenth_of_the_time_is_kept_back() {
        let seconds = Duration::from_secs;
        let needs = [(0, seconds(6)), (1, seconds(2)), (2, seconds(3))];
        assert_eq!(fitting(seconds(20), &needs), [1, 2, 0]);
        assert_eq!(fitting(seconds(12), &needs), [1, 2]);
        assert_eq!(fitting(seconds(5), &needs), [1]);
        assert!(fitting(seconds(2), &needs).is_empty());
    }
}
