//! `aa`: one revision against itself, to learn what a machine's noise does to the gate.

use clap::Args;

use super::compare::RunArgs;
use super::options::OutputFlags;
use super::output::Outputs;
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

/// Builds once, compares the program with itself `--times` times, and sums up. Fails (1) when any repeat would have.
pub(super) fn aa(args: &AaArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Outputs::parse(&args.output().format)?;
    outputs.only_of_aa()?;
    let request =
        Request { repeats: args.times, ..args.run.request(Command::Aa, HeadRequest::from_flag(&args.head))? };
    let environment = Environment::of_this_process()?;
    let Outcome::Finished(repeats) = gate::run(&request, &environment, ui)? else {
        return Ok(ExitCode::Success);
    };
    let report = sum_up(repeats);
    outputs.write_aa(&report, ui)?;
    conclude(&report, request.no_fail, ui)
}

/// Judges the repeats from their own samples, as `judge` would.
fn sum_up(repeats: Vec<Report>) -> AaReport {
    let evidence: Vec<Vec<Evidence>> = repeats.iter().map(Vec::<Evidence>::from).collect();
    let context =
        RunContext { seed: repeats.first().map_or(0, |report| report.seed), ..RunContext::default() };
    let judgements: Vec<_> = evidence.iter().map(|evidence| judge_run(evidence, &context)).collect();
    let summary = summarise(&evidence, &judgements, &context);
    AaReport { schema_version: SCHEMA_VERSION, command: "aa".to_owned(), summary, repeats }
}

/// A repeat that failed for another reason than a false alarm decides the status; then false alarms do.
fn conclude(report: &AaReport, no_fail: bool, ui: &Ui) -> Result<ExitCode, Error> {
    let broken = report
        .repeats
        .iter()
        .find(|repeat| ExitCode::GateFailed as u8 != repeat.exit.code && repeat.exit.code != 0);
    if let Some(broken) = broken {
        ui.error(broken.exit.because.as_deref().unwrap_or("a repeat failed"));
        return ExitCode::from_status(broken.exit.code).ok_or_else(|| {
            Error::Internal(format!("a repeat ended with the unknown status {}", broken.exit.code))
        });
    }
    let summary = &report.summary;
    if summary.false_alarms == 0 {
        return Ok(ExitCode::Success);
    }
    let because = format!("{} of {} repeats raised a false alarm", summary.false_alarms, summary.repeats);
    if no_fail {
        ui.note(format!("{because} (exit status 1 turned into 0 by --no-fail)"));
        return Ok(ExitCode::Success);
    }
    ui.error(because);
    Ok(ExitCode::GateFailed)
}
