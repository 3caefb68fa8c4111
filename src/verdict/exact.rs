//! Counts that come out the same in every run: one run a side decides, and any change beyond the limit is real.

use crate::suite::metric::{Better, Metric, Unit};
use crate::suite::settings::MetricSettings;

use super::look::Look;
use super::outcome::{Reason, Verdict};
use super::samples::Samples;
use super::table::{EPSILON_PERCENT, degradation};

/// Whether a metric counts something, so that its runs may all agree.
pub(super) fn is_count(metric: &Metric, limits: &MetricSettings) -> bool {
    match metric {
        Metric::Instructions | Metric::Allocations | Metric::AllocatedBytes => true,
        Metric::Own(_) => limits.unit == Unit::Count,
        _ => false,
    }
}

/// Whether a metric counts, and its base runs all agree.
pub(super) fn is_exact(metric: &Metric, limits: &MetricSettings, samples: &Samples) -> bool {
    let counts = is_count(metric, limits);
    let agree = samples.base.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
    counts && agree && 1 <= samples.fewest()
}

/// The verdict on samples that [`is_exact`]: of the value of base and the median of head.
pub(super) fn look(limits: &MetricSettings, samples: &Samples) -> Look {
    let sorted_head = crate::stats::quantile::sorted(&samples.head);
    let (Some(&base), Some(head)) = (samples.base.first(), crate::stats::quantile::median(&sorted_head))
    else {
        return Look::bare((Verdict::Inconclusive, Some(Reason::NoSamples)));
    };
    let difference = head - base;
    let change_percent = (0.0 < base).then(|| (head / base - 1.0) * 100.0);
    let small = 0.0 < limits.min_difference && difference.abs() < limits.min_difference;
    let (verdict, reason) = match change_percent {
        _ if small => (Verdict::Pass, Reason::BelowMinDifference),
        Some(change) => {
            let worse = degradation(limits.better, change);
            let verdict = if limits.max_percent + EPSILON_PERCENT < worse {
                Verdict::Regression
            } else if worse < -limits.max_percent - EPSILON_PERCENT {
                Verdict::Improved
            } else {
                Verdict::Pass
            };
            (verdict, Reason::Exact)
        }
        None if base < 0.0 => (Verdict::Inconclusive, Reason::ZeroBase),
        None if 0.0 < difference => match limits.better {
            Better::Lower => (Verdict::Regression, Reason::FromZero),
            Better::Higher => (Verdict::Improved, Reason::FromZero),
        },
        None => (Verdict::Pass, Reason::Exact),
    };
    Look {
        settled: true,
        base: Some(base),
        head: Some(head),
        difference: Some(difference),
        change_percent,
        ..Look::bare((verdict, Some(reason)))
    }
}
