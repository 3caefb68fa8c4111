//! From the evidence to the report.

use super::Context;
use super::choice::Chosen;
use super::measuring::Measured;
use crate::build::{self, CargoSettings};
use crate::error::Error;
use crate::machine;
use crate::report::assemble::{Header, assemble};
use crate::report::model::{Machine, Report, RunWide, Toolchain};
use crate::suite::Suite;
use crate::verdict::{self, RunContext};

/// What is known before anything is built.
pub(super) fn header(
    context: &Context<'_>,
    chosen: &Chosen,
    suite: &Suite,
    cargo: &CargoSettings,
) -> Result<Header, Error> {
    let toolchain = build::toolchain_info(cargo, &context.environment.cwd)?;
    let mut warnings = suite.notes.clone();
    warnings.extend(chosen.everything_is_new.clone());
    Ok(Header {
        command: context.request.command.as_str().to_owned(),
        seed: context.seed,
        started_at: Some(now()),
        finished_at: None,
        revisions: chosen.sides().map(super::choice::Side::report).collect(),
        machine: Some(Machine {
            label: context
                .environment
                .variable("BENCHGATE_MACHINE")
                .map(str::trim)
                .filter(|label| !label.is_empty())
                .map(str::to_owned),
            ..machine::read()
        }),
        toolchain: Some(Toolchain {
            rustc: toolchain.rustc.lines().next().unwrap_or_default().to_owned(),
            cargo: toolchain.cargo.trim().to_owned(),
            target: cargo.target.clone().unwrap_or(toolchain.host),
            profile: cargo.profile.clone(),
        }),
        suite: RunWide {
            also_fail_on: suite.run.also_fail_on.iter().map(|what| what.as_str().to_owned()).collect(),
            allow_partial: suite.run.allow_partial,
            max_time_ns: suite.run.max_time_ns,
            no_fail: context.request.no_fail,
            features: feature_words(suite),
        },
        warnings,
    })
}

/// Judges what was measured. A clean-up that failed turns status 0 into 4.
pub(super) fn report(
    mut header: Header,
    seed: u64,
    measured: Measured,
    cleaned: &Result<(), String>,
) -> Report {
    header.seed = seed;
    header.finished_at = Some(now());
    if let Some(machine) = &mut header.machine {
        machine.load_at_end = machine::load_average();
    }
    header.warnings.extend(measured.notes);
    let run = RunContext {
        seed,
        started_at: header.started_at.clone(),
        also_fail_on: header.suite.also_fail_on.clone(),
        allow_partial: header.suite.allow_partial,
        no_fail: header.suite.no_fail,
        interrupted: measured.interrupted,
    };
    let judgement = verdict::judge_run(&measured.evidence, &run);
    header.warnings.extend(judgement.warnings);
    let exit = match cleaned {
        Ok(()) => judgement.exit,
        Err(why) => judgement.exit.after_failed_cleanup(why),
    };
    assemble(header, measured.evidence, judgement.benchmarks, judgement.summary, exit)
}

/// What decides which features both sides have, in a form that does not depend on the order of words.
fn feature_words(suite: &Suite) -> Vec<String> {
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
