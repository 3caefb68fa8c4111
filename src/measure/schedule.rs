//! The order of unit runs: shuffled palindromes, drawn by the seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use crate::suite::identity::BenchmarkIdentity;
use crate::verdict::evidence::Stage;

/// The orders of one stage. Every order is a function of its arguments alone: which other benchmarks are measured,
/// which of them failed and how many rounds were made before do not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The run's seed.
    pub seed: u64,
    /// The stage.
    pub stage: Stage,
    /// Warm-up rounds have orders of their own.
    pub warm_up: bool,
}

impl Schedule {
    /// The order of one benchmark's unit runs in one round: a random permutation of its sides, then its reverse.
    /// So every side runs twice and a linear drift falls on all sides alike: ABBA or BAAB; ABC in one of six orders,
    /// such as BCAACB.
    pub fn palindrome(&self, benchmark: &BenchmarkIdentity, round: u32, sides: &[usize]) -> Vec<usize> {
        let mut order = self.half(benchmark, round, sides);
        order.extend(order.clone().into_iter().rev());
        order
    }

    /// The first half of that palindrome.
    pub fn half(&self, benchmark: &BenchmarkIdentity, round: u32, sides: &[usize]) -> Vec<usize> {
        let target = &benchmark.target;
        let names =
            [&target.package, target.kind.as_str(), &target.target, &benchmark.variant, &benchmark.id];
        let mut order = sides.to_vec();
        shuffle(&mut order, &mut self.stream("sides", &names, round));
        order
    }

    /// The order of `count` benchmarks in one round.
    pub fn benchmarks(&self, round: u32, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        shuffle(&mut order, &mut self.stream("benchmarks", &[], round));
        order
    }

    /// The random numbers of one round for one purpose.
    fn stream(&self, purpose: &str, names: &[&str], round: u32) -> ChaCha8Rng {
        let mut key = Sha256::new_with_prefix(self.seed.to_le_bytes());
        let phase = if self.warm_up { "warm-up" } else { "kept" };
        // Each name ends in a zero, which none can hold, so that no two lists of names run together.
        for name in [purpose, self.stage.as_str(), phase].iter().chain(names) {
            key.update(name.as_bytes());
            key.update([0]);
        }
        let mut rng = ChaCha8Rng::from_seed(key.finalize().into());
        rng.set_stream(u64::from(round));
        rng
    }
}

/// Fisher-Yates, with an index rule of our own so that no release of a library changes the order of a seed.
fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, index(rng.next_u64(), last + 1));
    }
}

/// A 64-bit draw brought down to below `count` by multiplication; the bias is below count / 2^64.
fn index(draw: u64, count: usize) -> usize {
    ((u128::from(draw) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use crate::suite::identity::{TargetId, TargetKind};

    use super::*;

    fn schedule(seed: u64) -> Schedule {
        Schedule { seed, stage: Stage::Screen, warm_up: false }
    }

    fn named(id: &str) -> BenchmarkIdentity {
        let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() };
        BenchmarkIdentity { target, variant: String::new(), id: id.into() }
    }

    proptest! {
        #[test]
        fn a_round_is_a_palindrome_with_every_side_twice(seed: u64, round: u32, sides in 1..6_usize, id in ".{0,12}") {
            let sides: Vec<usize> = (0..sides).collect();
            let order = schedule(seed).palindrome(&named(&id), round, &sides);
            prop_assert!(order.iter().eq(order.iter().rev()));
            let mut half = order[..sides.len()].to_vec();
            half.sort_unstable();
            prop_assert_eq!(half, sides);
        }

        #[test]
        fn every_benchmark_has_its_place_in_a_round(seed: u64, round: u32, count in 0..40_usize) {
            let order = schedule(seed).benchmarks(round, count);
            prop_assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), count);
            prop_assert!(order.iter().all(|&place| place < count));
        }

        #[test]
        fn an_index_is_below_its_count(draw: u64, count in 1..1000_usize) {
            prop_assert!(index(draw, count) < count);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_orders_for_ever() {
        let order = |round| schedule(42).palindrome(&named("parse"), round, &[0, 1]);
        let rounds: Vec<_> = (0..8).map(order).collect();
        let letters: Vec<String> = rounds
            .iter()
            .map(|order| order.iter().map(|&side| if side == 0 { 'A' } else { 'B' }).collect())
            .collect();
        assert_eq!(letters.join(" "), "BAAB BAAB BAAB BAAB ABBA ABBA BAAB ABBA");
        assert_eq!(schedule(42).benchmarks(0, 6), [3, 2, 1, 5, 4, 0]);
    }

    #[test]
    fn both_orientations_are_equally_likely() {
        let first = |round| schedule(7).palindrome(&named("parse"), round, &[0, 1])[0];
        let heads: usize = (0..10_000).map(first).sum();
        // Four standard deviations of a fair coin are 200.
        assert!((4_800..=5_200).contains(&heads), "{heads}");
    }

    #[test]
    fn all_six_orders_of_three_revisions_are_equally_likely() {
        let mut seen = BTreeMap::new();
        for round in 0..6_000 {
            *seen.entry(schedule(7).half(&named("parse"), round, &[0, 1, 2])).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (850..=1_150).contains(count)), "{seen:?}");
    }

    #[test]
    fn seeds_stages_warm_up_rounds_and_names_have_orders_of_their_own() {
        let orders = |schedule: Schedule, id: &str| -> Vec<usize> {
            (0..64).map(|round| schedule.half(&named(id), round, &[0, 1])[0]).collect()
        };
        let all = [
            orders(schedule(1), "a"),
            orders(schedule(2), "a"),
            orders(schedule(1), "b"),
            orders(Schedule { stage: Stage::Confirm, ..schedule(1) }, "a"),
            orders(Schedule { warm_up: true, ..schedule(1) }, "a"),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn names_do_not_run_together() {
        let split = |variant: &str, id: &str| {
            let benchmark = BenchmarkIdentity { variant: variant.into(), ..named(id) };
            (0..64).map(|round| schedule(1).half(&benchmark, round, &[0, 1])[0]).collect::<Vec<_>>()
        };
        assert_ne!(split("a", "bc"), split("ab", "c"));
    }
}
