//! Shards of one run joined: the evidence of all of them, with one header. Nothing is judged here.

use crate::verdict::evidence::Evidence;

use super::assemble::{Header, identity_order};
use super::model::{Machine, Report, Shard};

/// Why reports are not the shards of one run. The number is that of the report in the order they were given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A report that is no shard.
    #[error("it is no shard of a run; shards are measured with `--shard K/N`")]
    NotAShard(usize),
    /// A report of a run with another number of shards.
    #[error(
        "it is shard {index} of {count}, and the first file is one of {expected}; merge the shards of one run"
    )]
    OtherCount {
        /// Which report.
        place: usize,
        /// Its number.
        index: u32,
        /// Its count.
        count: u32,
        /// The count of the first report.
        expected: u32,
    },
    /// A shard that is there twice.
    #[error("it is shard {index} of {count}, and so is another file; give each shard once")]
    Twice {
        /// Which report.
        place: usize,
        /// Its number.
        index: u32,
        /// Its count.
        count: u32,
    },
    /// A report that differs from the first in something one run has one of.
    #[error(
        "its {what} from that of shard {first}; merge the shards of one run: same commits, same flags, same suite"
    )]
    Differs {
        /// Which report.
        place: usize,
        /// What differs, with both.
        what: String,
        /// The shard it is compared with.
        first: u32,
    },
    /// Shards that are not there.
    #[error("{} of {count} {} missing; every shard writes its report with `--format json=PATH`, a failing one too", named(.missing), if .missing.len() == 1 { "is" } else { "are" })]
    Missing {
        /// Their numbers.
        missing: Vec<u32>,
        /// How many there are.
        count: u32,
    },
    /// All shards are there, and they do not hold all benchmarks.
    #[error(
        "the shards hold {found} of {expected} benchmarks; at least one file was changed after it was written"
    )]
    Incomplete {
        /// Benchmarks in all files.
        found: usize,
        /// Benchmarks of the run.
        expected: usize,
    },
}

impl MergeError {
    /// The report it is about; `None`: all of them.
    pub fn place(&self) -> Option<usize> {
        match self {
            Self::NotAShard(place)
            | Self::OtherCount { place, .. }
            | Self::Twice { place, .. }
            | Self::Differs { place, .. } => Some(*place),
            Self::Missing { .. } | Self::Incomplete { .. } => None,
        }
    }
}

/// The shards of one run as one: a header, and everything that was measured, in the order of reports.
///
/// # Errors
///
/// A shard that is missing or there twice, and reports that are not of one run.
pub fn merge(reports: Vec<Report>) -> Result<(Header, Vec<Evidence>), MergeError> {
    let mut shards: Vec<(usize, Shard, Report)> = Vec::new();
    for (place, report) in reports.into_iter().enumerate() {
        let shard = report.suite.shard.clone().ok_or(MergeError::NotAShard(place))?;
        shards.push((place, shard, report));
    }
    let Some((_, first, _)) = shards.first() else {
        return Err(MergeError::Missing { missing: vec![1], count: 1 });
    };
    let count = first.count;
    check_numbers(&shards, count)?;
    shards.sort_by_key(|(_, shard, _)| shard.index);
    check_header(&shards)?;
    let mut header = Header::from(&shards[0].2);
    let expected = shards[0].1.benchmarks;
    header.suite.shard = None;
    header.suite.merged_shards = Some(count);
    header.started_at = times(&shards, |report| report.started_at.as_ref()).into_iter().min().flatten();
    let ends = times(&shards, |report| report.finished_at.as_ref());
    header.finished_at = if ends.contains(&None) { None } else { ends.into_iter().max().flatten() };
    for (_, _, report) in &shards[1..] {
        let new = report.warnings.iter().filter(|warning| !header.warnings.contains(warning));
        header.warnings.extend(new.cloned().collect::<Vec<_>>());
    }
    if let Some(warning) = other_machines(&shards) {
        // A comparison was always made on one machine; a report of several has no machine of its own.
        header.machine = None;
        header.warnings.push(warning);
    }
    let mut evidence: Vec<Evidence> =
        shards.into_iter().flat_map(|(_, _, report)| Vec::<Evidence>::from(report)).collect();
    if evidence.len() != expected {
        return Err(MergeError::Incomplete { found: evidence.len(), expected });
    }
    evidence.sort_by(|a, b| identity_order(&a.identity, &b.identity));
    Ok((header, evidence))
}

fn check_numbers(shards: &[(usize, Shard, Report)], expected: u32) -> Result<(), MergeError> {
    for (at, (place, shard, _)) in shards.iter().enumerate() {
        let Shard { index, count, .. } = *shard;
        let place = *place;
        if count != expected {
            return Err(MergeError::OtherCount { place, index, count, expected });
        }
        if shards[..at].iter().any(|(_, other, _)| other.index == index) {
            return Err(MergeError::Twice { place, index, count });
        }
    }
    let is_there = |index: u32| shards.iter().any(|(_, shard, _)| shard.index == index);
    let missing: Vec<u32> = (1..=expected).filter(|&index| !is_there(index)).collect();
    if missing.is_empty() { Ok(()) } else { Err(MergeError::Missing { missing, count: expected }) }
}

/// Whether all say the same of what one run has one of. `--no-fail` is not among it: a shard may leave the verdict to
/// the merge.
fn check_header(shards: &[(usize, Shard, Report)]) -> Result<(), MergeError> {
    let (_, first_shard, first) = &shards[0];
    for (place, shard, report) in &shards[1..] {
        let differs =
            |what: String| Err(MergeError::Differs { place: *place, what, first: first_shard.index });
        if report.tool != first.tool {
            let [a, b] = [report, first].map(|it| format!("{} {}", it.tool.name, it.tool.version));
            return differs(format!("program, {a}, differs ({b})"));
        }
        if report.command != first.command {
            return differs(format!("command, `{}`, differs (`{}`)", report.command, first.command));
        }
        let names = |report: &Report| -> Vec<String> {
            let commit = |commit: &Option<String>| {
                commit.as_deref().map_or("no commit", |id| id.get(..10).unwrap_or(id)).to_owned()
            };
            let dirty = |dirty| if dirty { ", with uncommitted changes" } else { "" };
            report
                .revisions
                .iter()
                .map(|it| format!("{} ({}{})", it.name, commit(&it.commit), dirty(it.dirty)))
                .collect()
        };
        let [ours, theirs] = [report, first].map(names);
        if ours != theirs {
            return differs(format!(
                "set of revisions, {}, differs ({})",
                ours.join(" and "),
                theirs.join(" and ")
            ));
        }
        if report.toolchain != first.toolchain {
            let rustc = |report: &Report| {
                report.toolchain.as_ref().map_or_else(
                    || "none".to_owned(),
                    |it| format!("{}, target {}, profile {}", it.rustc, it.target, it.profile),
                )
            };
            return differs(format!("toolchain, {}, differs ({})", rustc(report), rustc(first)));
        }
        let suite = |report: &Report| {
            let mut suite = report.suite.clone();
            suite.no_fail = false;
            suite.shard = None;
            suite
        };
        if suite(report) != suite(first) {
            return differs("suite (its run-wide keys) differs".to_owned());
        }
        if (&shard.plan_sha256, shard.benchmarks) != (&first_shard.plan_sha256, first_shard.benchmarks) {
            return differs(
                "plan (the benchmarks, their settings, or how they were shared out) differs".to_owned(),
            );
        }
    }
    Ok(())
}

fn times<'a>(
    shards: &'a [(usize, Shard, Report)],
    time: impl Fn(&'a Report) -> Option<&'a String>,
) -> Vec<Option<String>> {
    shards.iter().map(|(_, _, report)| time(report).cloned()).collect()
}

/// Says which shards ran on which computer, where these differ.
fn other_machines(shards: &[(usize, Shard, Report)]) -> Option<String> {
    let kind = |machine: &Option<Machine>| {
        machine.as_ref().map_or_else(
            || "unknown".to_owned(),
            |it| {
                let cpu = it.cpu_model.as_deref().unwrap_or("unknown CPU");
                format!("{cpu}, {} CPUs, {} {}", it.logical_cpus, it.os, it.arch)
            },
        )
    };
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for (_, shard, report) in shards {
        let kind = kind(&report.machine);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, indices)) => indices.push(shard.index.to_string()),
            None => kinds.push((kind, vec![shard.index.to_string()])),
        }
    }
    (1 < kinds.len()).then(|| {
        let listed: Vec<String> =
            kinds.iter().map(|(kind, indices)| format!("{} on {kind}", indices.join(", "))).collect();
        format!(
            "the shards ran on different machines ({}); base and head of a benchmark always ran on the same one, so the \
             changes stand, but times of different benchmarks do not compare",
            listed.join("; ")
        )
    })
}

fn named(shards: &[u32]) -> String {
    let numbers: Vec<String> = shards.iter().map(ToString::to_string).collect();
    format!("shard{} {}", if shards.len() == 1 { "" } else { "s" }, numbers.join(", "))
}
