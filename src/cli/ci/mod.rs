//! `ci`: `compare` with the base, the head and the outputs of the CI system it runs in.

mod system;

use std::path::{Path, PathBuf};

use clap::Args;

use super::compare::{RecordFlags, RunArgs, measure_into};
use super::options::OutputFlags;
use super::output::Outputs;
use super::shard::ShardFlags;
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{Command, HeadRequest, Request};
use crate::ui::Ui;
use system::System;

/// What is written into the output directory: the format and the file.
const FILES: [(&str, &str); 4] =
    [("json", "report.json"), ("markdown", "comment.md"), ("html", "report.html"), ("junit", "junit.xml")];

/// What is written where the run is a step of a GitHub workflow: annotations, the step's summary and its outputs.
const GITHUB: &str = "github";

/// Arguments of `ci`.
#[derive(Debug, Clone, Args)]
pub(super) struct CiArgs {
    /// Revision to compare against; default: BENCHGATE_BASE, else what the CI system says
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Revision to judge: a revision, or `worktree` for the working tree with its uncommitted files
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// Directory of the report (JSON, HTML, JUnit) and of the text of a comment (Markdown)
    #[arg(long, value_name = "DIRECTORY", default_value = "benchgate-report", help_heading = "Output")]
    output_dir: PathBuf,
    #[command(flatten)]
    shard: ShardFlags,
    #[command(flatten)]
    history: RecordFlags,
    #[command(flatten)]
    run: RunArgs,
}

impl CiArgs {
    pub(super) fn output(&self) -> &OutputFlags {
        self.run.output()
    }
}

/// Compares as the CI system's environment says. The status is that of `compare`; files are there whatever it is.
pub(super) fn ci(args: &CiArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let environment = Environment::of_this_process()?;
    let system = System::of(&|name| environment.variable(name).map(str::to_owned), &read_event)?;
    let request = Request {
        base: args.base.clone(),
        ci: Some(system.base.clone()),
        shard: args.shard.request()?,
        ..args.run.request(Command::Compare, HeadRequest::from_flag(&args.head))?
    };
    ui.status("Running", format!("in {}", system.name));
    let mut formats = args.output().format.clone();
    if !request.dry_run {
        make_directory(&args.output_dir)?;
        formats = with_files(formats, &args.output_dir);
        if system.is_github && !formats.iter().any(|format| is_of(format, GITHUB)) {
            formats.push(GITHUB.to_owned());
        }
    }
    measure_into(&Outputs::parse(&formats)?, &request, &environment, &args.history, ui)
}

/// The formats that were asked for, and those of the output directory.
fn with_files(mut formats: Vec<String>, directory: &Path) -> Vec<String> {
    for (format, file) in FILES {
        let wanted = format!("{format}={}", directory.join(file).display());
        if !formats.contains(&wanted) {
            formats.push(wanted);
        }
    }
    formats
}

fn is_of(flag: &str, format: &str) -> bool {
    flag.split('=').next() == Some(format)
}

/// Makes the directory, ignored by git, so that it never counts as an uncommitted change.
fn make_directory(directory: &Path) -> Result<(), Error> {
    let failed =
        |error: std::io::Error| Error::Execution(format!("failed to make the output directory: {error}"));
    if directory.is_dir() {
        return Ok(());
    }
    fs_err::create_dir_all(directory).map_err(failed)?;
    fs_err::write(directory.join(".gitignore"), "*\n").map_err(failed)
}

/// Reads what GitHub tells of the event.
fn read_event(path: &Path) -> Result<serde_json::Value, String> {
    let bytes = fs_err::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{} is no JSON: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_output_directory_is_asked_for_once() {
        let own = vec!["json=out/report.json".to_owned(), "csv=x.csv".to_owned()];
        let formats = with_files(own, Path::new("out"));
        assert_eq!(formats.iter().filter(|format| format.starts_with("json=")).count(), 1, "{formats:?}");
        assert!(formats.contains(&"csv=x.csv".to_owned()));
    }
}
