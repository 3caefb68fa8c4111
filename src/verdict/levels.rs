//! The calibrated constants of the default judge. `cargo xtask calibrate` reproduces the error rates they stand for;
//! other looks, caps or overall levels need a new fit, never these numbers. docs/METHODOLOGY.md, "The constants, and
//! where each comes from", names the rows that hold each of them.

use crate::suite::settings::Method;

use super::table::Needed;

/// Samples a side at which the settled rule looks.
pub const LOOKS: [u32; 10] = [8, 10, 12, 16, 20, 24, 30, 40, 50, 60];

/// Overall chance of a false regression when the change is exactly what is accepted, over all looks.
pub const SETTLED_ERROR: f64 = 0.01;

/// Bootstrap of the median with automatic pairing, looks from 8: 1 % false regressions and 5 % false passes at the
/// limit itself, in the worst of 13 noises.
pub const BOOTSTRAP_REGRESSION: f64 = 0.9978;
/// See [`BOOTSTRAP_REGRESSION`].
pub const BOOTSTRAP_PASS: f64 = 1.0 - 0.0135;

/// The rank tests, looks from 8: the same errors.
pub const RANK_REGRESSION: f64 = 1.0 - 0.0016;
/// See [`RANK_REGRESSION`].
pub const RANK_PASS: f64 = 1.0 - 0.0111;

/// Fresh unit runs a side for a candidate for failure.
pub const CONFIRM_SAMPLES: u32 = 30;

/// Chance of any false regression among all candidates, by Holm over the fresh p-values.
pub const CONFIRM_ERROR: f64 = 0.01;

/// Largest p-value with which the fresh samples clear a candidate altogether.
pub const CONFIRM_PASS_ERROR: f64 = 0.05;

/// What one look of the settled rule needs.
pub(super) fn settled(method: Method) -> Needed {
    match method {
        Method::Bootstrap => {
            Needed { worse: BOOTSTRAP_REGRESSION, better: BOOTSTRAP_REGRESSION, not_worse: BOOTSTRAP_PASS }
        }
        Method::Rank => Needed { worse: RANK_REGRESSION, better: RANK_REGRESSION, not_worse: RANK_PASS },
    }
}
