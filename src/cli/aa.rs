//! `aa`: one revision against itself, to learn what a machine's noise does to the gate.

use clap::Args;

use super::compare::RunArgs;
use super::options::OutputFlags;
use super::output::{self, Outputs};
use super::saved::context;
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{self, Command, HeadRequest, Outcome, Request};
use crate::report::aa::AaReport;
use crate::report::model::{Report, SCHEMA_VERSION};
use crate::ui::Ui;
use crate::verdict::aa::summarise;
use crate::verdict::evidence::Evidence;
use crate::verdict::{RunContext, judge_run};

/// Arguments of `aa`.
#[derive(Debug, Clone, Args)]
pub(super) struct AaArgs {
    /// How often the revision is compared with itself
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: u32,
    /// The revision: a revision, or `worktree`
    #[arg(long, value_name = "REV", default_value = "worktree")]
    head: String,
    #[command(flatten)]
    run: RunArgs,
}

impl AaArgs {
    pub(super) fn output(&self) -> &OutputFlags {
        self.run.output()
    }
}

/// Builds once, compares the program with itself `--times` times, and sums up. Fails (1) when any repeat
/// would have, as a comparison of its own.
pub(super) fn aa(args: &AaArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Outputs::parse(&args.output().format)?;
    outputs.only_of_aa()?;
    let request =
        Request { repeats: args.times, ..args.run.request(Command::Aa, HeadRequest::from_flag(&args.head))? };
    let environment = Environment::of_this_process()?;
    let repeats = match gate::run(&request, &environment, ui)? {
        Outcome::Planned(plan) => {
            super::list::show_plan(&plan)?;
            return Ok(ExitCode::Success);
        }
        Outcome::Finished(repeats) => repeats,
    };
    let report = sum_up(repeats);
    outputs.write_aa(&report, ui)?;
    conclude(&report, request.no_fail, ui)
}

/// Judges the repeats from their own samples and by their suite, as `judge` would.
fn sum_up(repeats: Vec<Report>) -> AaReport {
    let evidence: Vec<Vec<Evidence>> = repeats.iter().map(Vec::<Evidence>::from).collect();
    let contexts: Vec<RunContext> = repeats
        .iter()
        .zip(&evidence)
        .map(|(repeat, evidence)| context(&repeat.suite, repeat.seed, repeat.started_at.clone(), evidence))
        .collect();
    let judgements: Vec<_> =
        evidence.iter().zip(&contexts).map(|(evidence, context)| judge_run(evidence, context)).collect();
    let summary = summarise(&evidence, &judgements, &contexts.into_iter().next().unwrap_or_default());
    AaReport { schema_version: SCHEMA_VERSION, command: "aa".to_owned(), summary, repeats }
}

/// A repeat that failed for another reason than its gate decides the status; then those that the gate failed do.
fn conclude(report: &AaReport, no_fail: bool, ui: &Ui) -> Result<ExitCode, Error> {
    let broken = report
        .repeats
        .iter()
        .find(|repeat| ExitCode::GateFailed as u8 != repeat.exit.code && repeat.exit.code != 0);
    if let Some(broken) = broken {
        ui.error(broken.exit.because.as_deref().unwrap_or("a repeat failed"));
        return output::status(broken);
    }
    let Some(because) = gate_failed(report) else { return Ok(ExitCode::Success) };
    if no_fail {
        ui.note(format!("{because} (exit status 1 turned into 0 by --no-fail)"));
        return Ok(ExitCode::Success);
    }
    ui.error(because);
    Ok(ExitCode::GateFailed)
}

/// How many repeats the gate would have failed, and for what: a false alarm, a budget, or a thing in `also_fail_on`.
fn gate_failed(report: &AaReport) -> Option<String> {
    let code = |repeat: &Report| repeat.exit.without_no_fail.unwrap_or(repeat.exit.code);
    let failed: Vec<&Report> =
        report.repeats.iter().filter(|repeat| code(repeat) == ExitCode::GateFailed as u8).collect();
    let (count, all) = (failed.len(), report.repeats.len());
    let alarms = failed.iter().filter(|repeat| 0 < repeat.summary.regression).count();
    let because = failed.first()?.exit.because.as_deref().unwrap_or_default();
    Some(match alarms == count {
        true => format!("{count} of {all} repeats raised a false alarm"),
        false => format!(
            "{count} of {all} repeats failed, {alarms} of them by a false alarm; the first: {because}"
        ),
    })
}
