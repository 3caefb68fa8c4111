//! From the evidence to the report.

use super::Context;
use super::choice::Chosen;
use super::environment::Environment;
use super::measuring::Measured;
use crate::build::{CargoSettings, ToolchainInfo};
use crate::machine;
use crate::report::assemble::{Header, assemble, identity_order};
use crate::report::model::{Machine, Report, RunWide, Toolchain};
use crate::suite::{Accept, Accepts, Suite};
use crate::summary;
use crate::verdict::evidence::Evidence;
use crate::verdict::{self, RunContext};

/// What is known before anything is built.
pub(super) fn header(
    context: &Context<'_>,
    chosen: &Chosen,
    suite: &Suite,
    cargo: &CargoSettings,
    toolchain: &ToolchainInfo,
) -> Header {
    let mut warnings = suite.notes.clone();
    warnings.extend(chosen.everything_is_new.clone());
    Header {
        command: context.request.command.as_str().to_owned(),
        seed: context.seed,
        started_at: Some(now()),
        finished_at: None,
        revisions: chosen.sides().map(super::choice::Side::report).collect(),
        machine: Some(machine_of(context.environment)),
        toolchain: Some(toolchain_of(cargo, toolchain)),
        suite: RunWide {
            also_fail_on: suite.run.also_fail_on.iter().map(|what| what.as_str().to_owned()).collect(),
            allow_partial: suite.run.allow_partial,
            max_time_ns: suite.run.max_time_ns,
            no_fail: context.request.no_fail,
            summary: suite.run.summary,
            accept: suite.accept.clone(),
            shard: None,
            merged_shards: None,
            features: feature_words(suite),
        },
        builds: Vec::new(),
        dependency_changes: Vec::new(),
        warnings,
    }
}

/// This machine, under the name its owner gives it.
pub(super) fn machine_of(environment: &Environment) -> Machine {
    let label = environment.variable("BENCHGATE_MACHINE").map(str::trim).filter(|label| !label.is_empty());
    Machine { label: label.map(str::to_owned), ..machine::read() }
}

/// What builds, and for what.
pub(super) fn toolchain_of(cargo: &CargoSettings, toolchain: &ToolchainInfo) -> Toolchain {
    Toolchain {
        rustc: toolchain.rustc.lines().next().unwrap_or_default().to_owned(),
        cargo: toolchain.cargo.trim().to_owned(),
        target: toolchain.target.clone(),
        profile: cargo.profile.clone(),
    }
}

/// Judges what was measured. A clean-up that failed turns status 0 into 4.
pub(super) fn report(
    mut header: Header,
    seed: u64,
    mut measured: Measured,
    cleaned: &Result<(), String>,
) -> Report {
    header.seed = seed;
    header.finished_at = Some(now());
    if let Some(machine) = &mut header.machine {
        machine.load_at_end = machine::load_average();
    }
    header.warnings.extend(measured.notes);
    header.suite.shard = measured.shard;
    if measured.filtered {
        // An entry about what the flags left out is no mistake, and of no use here.
        let about = concerned(&header.suite.accept, &measured.evidence);
        let mut about = about.into_iter();
        header.suite.accept.retain(|_| about.next().unwrap_or(true));
    }
    // In the order of the report, so that judging it again names and sums up in the same one.
    measured.evidence.sort_by(|a, b| identity_order(&a.identity, &b.identity));
    let run = RunContext {
        seed,
        started_at: header.started_at.clone(),
        also_fail_on: header.suite.also_fail_on.clone(),
        allow_partial: header.suite.allow_partial,
        no_fail: header.suite.no_fail,
        interrupted: measured.interrupted,
        accept: header.suite.accept.clone(),
        shard: header.suite.shard.is_some(),
    };
    let mut judgement = verdict::judge_run(&measured.evidence, &run);
    judgement.summary.overall =
        summary::overall(&measured.evidence, &judgement.benchmarks, header.suite.summary);
    header.warnings.extend(judgement.warnings);
    let exit = match cleaned {
        Ok(()) => judgement.exit,
        Err(why) => judgement.exit.after_failed_cleanup(why),
    };
    assemble(header, measured.evidence, judgement.benchmarks, judgement.summary, exit)
}

/// Which entries are about a benchmark that is there.
fn concerned(entries: &[Accept], evidence: &[Evidence]) -> Vec<bool> {
    let accepts = Accepts::new(entries);
    let mut concerned = vec![false; entries.len()];
    for row in evidence {
        for metric in row.settings.metrics.keys() {
            accepts.about(&row.identity, metric).for_each(|(place, _)| concerned[place] = true);
        }
    }
    concerned
}

/// What decides which features both sides have, in a form that does not depend on the order of words.
pub(super) fn feature_words(suite: &Suite) -> Vec<String> {
    let split = |text: &String| text.split([',', ' ']).map(str::to_owned).collect::<Vec<_>>();
    let mut words: Vec<String> =
        suite.run.features.iter().flat_map(split).filter(|word| !word.is_empty()).collect();
    words.extend(suite.run.all_features.then(|| "--all-features".to_owned()));
    words.extend(suite.run.no_default_features.then(|| "--no-default-features".to_owned()));
    words.sort_unstable();
    words.dedup();
    words
}

/// The present, RFC 3339 in UTC, to the second.
fn now() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}
