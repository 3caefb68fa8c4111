//! The published table of corrections (part 6), beside the same runs of our own.

use super::check::{Outcome, Quantity, Target, compare_share};
use super::family::{Alarms, Family, Guard};

/// (size of a run, tolerance %, runs of a full simulation, runs of the publication).
const SIZES: [(usize, u32, u64, u64); 6] = [
    (1, 0, 3000, 3000),
    (20, 0, 2000, 2500),
    (20, 2, 2000, 2500),
    (100, 0, 300, 300),
    (100, 2, 300, 300),
    (100, 10, 300, 300),
];

/// Any false alarm, +15 found, +5 found; in per cent of runs, benchmarks, benchmarks.
type Triple = [f64; 3];

/// What was published for a guard at m = 1, 20 and 100 with tolerance 0, and at m = 100 with tolerance 2.
const fn published(guard: Guard) -> Option<(f64, Triple, Triple, Triple)> {
    Some(match guard {
        Guard::Independent => (3.1, [43.8, 99.0, 84.0], [93.0, 99.0, 84.0], [10.3, 98.0, 84.0]),
        Guard::Loose => (4.9, [59.5, 100.0, 94.0], [99.3, 100.0, 93.0], [11.0, 100.0, 92.0]),
        Guard::Strict => (0.9, [16.9, 100.0, 87.0], [61.7, 100.0, 86.0], [1.7, 100.0, 86.0]),
        Guard::Holm => (4.9, [5.0, 99.0, 80.0], [5.0, 99.0, 69.0], [0.0, 99.0, 68.0]),
        Guard::Bh => (4.9, [13.0, 100.0, 84.0], [34.3, 100.0, 82.0], [0.0, 100.0, 82.0]),
        Guard::Confirm => (0.1, [1.0, 100.0, 80.0], [1.3, 99.0, 75.0], [0.3, 100.0, 80.0]),
        Guard::Effect | Guard::Default => return None,
    })
}

/// One guard at one size of a run.
#[derive(Debug, Clone)]
pub(crate) struct FamilyRow {
    pub(crate) family: Family,
    pub(crate) guard: Guard,
    pub(crate) alarms: Alarms,
    pub(crate) outcomes: Vec<Outcome>,
}

/// Whether the publication has figures of a guard.
pub(crate) fn is_published(guard: Guard) -> bool {
    published(guard).is_some()
}

/// A size of the table, with its trials in a full simulation.
pub(crate) fn sizes() -> impl Iterator<Item = (Family, u64)> {
    SIZES.into_iter().map(|(benchmarks, tolerance, runs, _)| (Family { benchmarks, tolerance }, runs))
}

/// Compares what a guard did with what was published of it.
pub(crate) fn check(family: Family, guard: Guard, alarms: Alarms) -> FamilyRow {
    let runs_published = SIZES
        .iter()
        .find(|size| size.0 == family.benchmarks && size.1 == family.tolerance)
        .map_or(1, |it| it.3);
    let targets =
        published(guard).map(|(one, twenty, hundred, at_two)| match (family.benchmarks, family.tolerance) {
            (1, 0) => vec![one],
            (20, 0) => twenty.to_vec(),
            (100, 0) => hundred.to_vec(),
            (100, 2) => at_two.to_vec(),
            _ => Vec::new(),
        });
    let mut outcomes = Vec::new();
    let seen = alarms.shares();
    for (place, value) in targets.unwrap_or_default().into_iter().enumerate() {
        // One in 20 benchmarks has each of the changes; what is found of them was published in whole per cent.
        let (quantity, scale, digit) = match place {
            0 => (Quantity::AnyFalse, 1, 0.1),
            1 => (Quantity::FoundLarge, family.benchmarks as u64 / 20, 1.0),
            _ => (Quantity::FoundSmall, family.benchmarks as u64 / 20, 1.0),
        };
        let target = Target::Is { value, trials: runs_published * scale, digit };
        outcomes.push(compare_share(quantity, seen[place], alarms.runs * scale, target));
    }
    if guard == Guard::Confirm && family.benchmarks == 100 && family.tolerance == 0 {
        // Part 9, row 22.
        let target = Target::AtMost { value: 2.5, trials: 300 };
        outcomes.push(compare_share(Quantity::AnyFalse, seen[0], alarms.runs, target));
    }
    FamilyRow { family, guard, alarms, outcomes }
}
