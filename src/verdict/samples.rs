//! Which unit runs of two sides are compared, and in which pairs.

use std::collections::BTreeMap;

use crate::suite::metric::Metric;

use super::evidence::{Stage, UnitRun};

/// The runs of one stage of two sides, in the order they were made.
pub(super) struct Runs<'a> {
    pub(super) base: Vec<&'a UnitRun>,
    pub(super) head: Vec<&'a UnitRun>,
    /// The k-th run of base in a round with the k-th of head. Empty in files without rounds.
    pub(super) pairs: Vec<(&'a UnitRun, &'a UnitRun)>,
    /// Whether every run has a round.
    pub(super) has_rounds: bool,
}

impl<'a> Runs<'a> {
    /// The runs that are compared: where there are rounds, only those of rounds that both sides took part in. Head
    /// may have been measured on alone, for a percentile budget, at another time than base.
    pub(super) fn of(base: &'a [UnitRun], head: &'a [UnitRun], stage: Stage) -> Self {
        let at_stage = |side: &'a [UnitRun]| side.iter().filter(|run| run.stage == stage).collect::<Vec<_>>();
        let (mut base, mut head) = (at_stage(base), at_stage(head));
        let has_rounds = base.iter().chain(&head).all(|run| run.round.is_some());
        let mut pairs = Vec::new();
        if has_rounds {
            let (base_rounds, head_rounds) = (by_round(&base), by_round(&head));
            if !base.is_empty() && !head.is_empty() {
                base.retain(|run| head_rounds.contains_key(&run.round));
                head.retain(|run| base_rounds.contains_key(&run.round));
            }
            // The place of each run of base in its round.
            let mut places: BTreeMap<Option<u32>, usize> = BTreeMap::new();
            for &run in &base {
                let place = places.entry(run.round).or_default();
                if let Some(&partner) = head_rounds.get(&run.round).and_then(|runs| runs.get(*place)) {
                    pairs.push((run, partner));
                }
                *place += 1;
            }
        }
        Self { base, head, pairs, has_rounds }
    }

    /// The samples of one metric.
    pub(super) fn samples(&self, metric: &Metric) -> Samples {
        let values = |runs: &[&UnitRun]| runs.iter().filter_map(|run| run.values.get(metric)).collect();
        let pair =
            |(base, head): &(&UnitRun, &UnitRun)| Some((base.values.get(metric)?, head.values.get(metric)?));
        Samples {
            base: values(&self.base),
            head: values(&self.head),
            pairs: self.pairs.iter().filter_map(pair).collect(),
        }
    }
}

fn by_round<'a>(runs: &[&'a UnitRun]) -> BTreeMap<Option<u32>, Vec<&'a UnitRun>> {
    let mut rounds: BTreeMap<Option<u32>, Vec<&'a UnitRun>> = BTreeMap::new();
    runs.iter().for_each(|run| rounds.entry(run.round).or_default().push(run));
    rounds
}

/// The values of one metric, in the order they were made.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Samples {
    pub(super) base: Vec<f64>,
    pub(super) head: Vec<f64>,
    /// (base, head) of one pair each; empty where there are no rounds.
    pub(super) pairs: Vec<(f64, f64)>,
}

impl Samples {
    /// Samples of base and head.
    pub(super) fn counts(&self) -> [usize; 2] {
        [self.base.len(), self.head.len()]
    }

    /// The smaller of the two counts.
    pub(super) fn fewest(&self) -> usize {
        self.base.len().min(self.head.len())
    }

    /// The first so many of each side, and so many pairs.
    pub(super) fn first(&self, count: usize) -> Self {
        let first = |side: &[f64]| side[..count.min(side.len())].to_vec();
        Self {
            base: first(&self.base),
            head: first(&self.head),
            pairs: self.pairs[..count.min(self.pairs.len())].to_vec(),
        }
    }

    /// Whether every value can be calculated with.
    pub(super) fn all_finite(&self) -> bool {
        self.base.iter().chain(&self.head).all(|value| value.is_finite())
    }
}
