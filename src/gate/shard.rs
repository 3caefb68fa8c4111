//! Which benchmarks a shard of a run measures. The same benchmarks, settings and costs give the same parts everywhere.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::benchmarks::Benchmarks;
use crate::report::assemble::identity_order;
use crate::report::model::{Report, Shard};
use crate::suite::identity::BenchmarkIdentity;
use crate::verdict::evidence::Evidence;

/// The part of a run that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardRequest {
    /// Which one, from 1 to `count`.
    pub index: u32,
    /// How many there are; at least 1.
    pub count: u32,
    /// What the benchmarks cost before; `None`: all cost the same.
    pub costs: Option<Costs>,
}

/// What each benchmark took in an earlier run. ns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Costs(BTreeMap<BenchmarkIdentity, f64>);

impl Costs {
    /// The wall time of all runs of each benchmark of a report.
    pub fn of(report: &Report) -> Self {
        let cost = |benchmark: &crate::report::model::Benchmark| {
            let runs = benchmark.sides.iter().flat_map(|side| &side.runs);
            runs.filter_map(crate::verdict::evidence::UnitRun::wall).sum::<f64>()
        };
        Self(
            report
                .benchmarks
                .iter()
                .map(|benchmark| (benchmark.identity.clone(), cost(benchmark)))
                .filter(|(_, cost)| cost.is_finite() && 0.0 < *cost)
                .collect(),
        )
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cost of a benchmark; one that was not there costs what the middle one does.
    fn of_benchmark(&self, identity: &BenchmarkIdentity) -> f64 {
        self.0.get(identity).copied().unwrap_or_else(|| {
            let mut all: Vec<f64> = self.0.values().copied().collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(1.0)
        })
    }
}

/// Leaves the benchmarks of the shard, and says which part that is.
pub(super) fn keep(found: &mut Benchmarks, request: &ShardRequest) {
    let parts = parts(&found.evidence, request);
    let plan_sha256 = fingerprint(&found.evidence, &parts);
    let benchmarks = found.evidence.len();
    // The place each kept row moves to.
    let mut moved: Vec<Option<usize>> = Vec::with_capacity(benchmarks);
    let mut kept = 0;
    for part in &parts {
        let is_ours = *part == request.index;
        moved.push(is_ours.then_some(kept));
        kept += usize::from(is_ours);
    }
    let mut place = 0;
    found.evidence.retain(|_| {
        place += 1;
        moved[place - 1].is_some()
    });
    let planned = std::mem::take(&mut found.planned);
    found.planned =
        planned.into_iter().filter_map(|(place, plan)| moved[place].map(|place| (place, plan))).collect();
    let setups = std::mem::take(&mut found.setups).into_iter();
    found.setups = setups
        .filter_map(|(place, owner, commands)| moved[place].map(|place| (place, owner, commands)))
        .collect();
    let errors = std::mem::take(&mut found.errors).into_iter();
    found.errors = errors.filter_map(|(place, error)| moved[place].map(|place| (place, error))).collect();
    found.shard = Some(Shard { index: request.index, count: request.count, benchmarks, plan_sha256 });
}

/// The shard of each row, from 1.
fn parts(evidence: &[Evidence], request: &ShardRequest) -> Vec<u32> {
    let mut order: Vec<usize> = (0..evidence.len()).collect();
    order.sort_by(|&a, &b| identity_order(&evidence[a].identity, &evidence[b].identity));
    let mut parts = vec![1; evidence.len()];
    let Some(costs) = &request.costs else {
        for (turn, &row) in order.iter().enumerate() {
            parts[row] = u32::try_from(turn).unwrap_or(u32::MAX) % request.count + 1;
        }
        return parts;
    };
    // The dearest first, each to the shard that has least to do: at most a third above the best split.
    let cost: Vec<f64> = evidence.iter().map(|row| costs.of_benchmark(&row.identity)).collect();
    order.sort_by(|&a, &b| cost[b].total_cmp(&cost[a]));
    let mut loads = vec![0.0; request.count as usize];
    for row in order {
        let (least, _) = loads
            .iter()
            .enumerate()
            .min_by(|(_, a): &(usize, &f64), (_, b)| a.total_cmp(b))
            .expect("there is at least one shard");
        loads[least] += cost[row];
        parts[row] = u32::try_from(least).unwrap_or(u32::MAX) + 1;
    }
    parts
}

/// What all shards of a run have in common, in one word.
fn fingerprint(evidence: &[Evidence], parts: &[u32]) -> String {
    let mut rows: Vec<(&Evidence, u32)> = evidence.iter().zip(parts.iter().copied()).collect();
    rows.sort_by(|(a, _), (b, _)| identity_order(&a.identity, &b.identity));
    let mut hash = Sha256::new();
    for (row, part) in rows {
        let line = serde_json::to_string(&(&row.identity, &row.settings, part))
            .expect("names, numbers and words have a form in JSON");
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::identity::{TargetId, TargetKind};
    use crate::suite::rejudge::settings_for_samples;
    use crate::verdict::evidence::Presence;

    fn rows(ids: &[&str]) -> Vec<Evidence> {
        let row = |id: &&str| Evidence {
            identity: BenchmarkIdentity {
                target: TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() },
                variant: String::new(),
                id: (*id).to_owned(),
            },
            harness: "criterion".into(),
            presence: Presence::Compared,
            presence_note: None,
            settings: settings_for_samples(&BTreeMap::new()),
            sides: Vec::new(),
            stopped_because: None,
            error: None,
        };
        ids.iter().map(row).collect()
    }

    fn request(count: u32, costs: Option<Costs>) -> ShardRequest {
        ShardRequest { index: 1, count, costs }
    }

    #[test]
    fn shards_by_count_differ_by_one_benchmark_at_most_and_do_not_depend_on_the_order_of_the_list() {
        let rows_there = rows(&["a", "b", "c", "d", "e"]);
        assert_eq!(parts(&rows_there, &request(2, None)), [1, 2, 1, 2, 1]);
        let rows_back = rows(&["e", "d", "c", "b", "a"]);
        assert_eq!(parts(&rows_back, &request(2, None)), [1, 2, 1, 2, 1]);
        assert_eq!(parts(&rows(&["b", "a"]), &request(2, None)), [2, 1], "by name, wherever it is listed");
    }

    #[test]
    fn shards_by_cost_give_the_dearest_benchmark_a_shard_of_its_own() {
        let all = rows(&["a", "b", "c", "new"]);
        let cost = |at: usize, cost| (all[at].identity.clone(), cost);
        let costs = Costs(BTreeMap::from([cost(0, 10.0), cost(1, 100.0), cost(2, 30.0)]));
        assert_eq!(
            parts(&all, &request(2, Some(costs))),
            [2, 1, 2, 2],
            "an unknown one costs the middle one's 30"
        );
    }

    #[test]
    fn every_shard_keeps_its_rows_with_their_places_and_all_have_one_fingerprint() {
        let mut seen = Vec::new();
        let mut fingerprints = Vec::new();
        for index in 1..=3 {
            let mut found =
                Benchmarks { evidence: rows(&["a", "b", "c", "d", "e"]), ..Benchmarks::default() };
            keep(&mut found, &ShardRequest { index, count: 3, costs: None });
            seen.extend(found.evidence.iter().map(|row| row.identity.id.clone()));
            let shard = found.shard.expect("it is set");
            assert_eq!((shard.index, shard.count, shard.benchmarks), (index, 3, 5));
            fingerprints.push(shard.plan_sha256);
        }
        seen.sort();
        assert_eq!(seen, ["a", "b", "c", "d", "e"]);
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), 1);
    }

    #[test]
    fn another_limit_gives_another_fingerprint() {
        let all = rows(&["a"]);
        let mut other = rows(&["a"]);
        other[0].settings.judge.max_cv = 0.7;
        assert_ne!(fingerprint(&all, &[1]), fingerprint(&other, &[1]));
    }
}
