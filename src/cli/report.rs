//! `report`: a saved report in another format.

use std::path::PathBuf;

use clap::Args;

use super::options::OutputFlags;
use super::output::Outputs;
use super::saved::read_report;
use crate::error::{Error, ExitCode};
use crate::ui::Ui;

/// Arguments of `report`.
#[derive(Debug, Clone, Args)]
pub(super) struct ReportArgs {
    /// A report written by `--format json`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Renders the report as it is: nothing is judged again, and the exit status says only whether that worked.
pub(super) fn report(args: &ReportArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Outputs::parse(&args.output.format)?;
    let report = read_report(&args.file)?;
    outputs.write(&report, ui)?;
    Ok(ExitCode::Success)
}
