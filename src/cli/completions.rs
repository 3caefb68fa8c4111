//! `completions`: what a shell needs to complete our words.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::options::OutputFlags;
use crate::error::{Error, ExitCode};
use crate::ui;

/// Arguments of `completions`.
#[derive(Debug, Clone, Args)]
pub(super) struct CompletionsArgs {
    /// The shell the script is for
    shell: Shell,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Prints the script for `cargo-benchgate`: shells complete a program by its own name.
pub(super) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    let mut command = Cli::command().bin_name("cargo-benchgate").name("cargo-benchgate");
    clap_complete::generate(args.shell, &mut command, "cargo-benchgate", &mut script);
    ui::print(&script)
        .map_err(|error| Error::Execution(format!("failed to write the completions to stdout: {error}")))?;
    Ok(ExitCode::Success)
}
