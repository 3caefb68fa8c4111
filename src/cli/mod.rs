//! The command line: arguments to a call, a call to an exit status.
#![allow(clippy::disallowed_methods, reason = "how the terminal is written to is known before a run")]

mod aa;
mod answers;
mod bisect;
mod cache;
mod ci;
mod compare;
mod completions;
mod doctor;
mod git_bisect;
mod history;
mod hook;
mod init;
mod judge;
mod list;
mod merge;
mod options;
mod output;
mod report;
mod saved;
mod shard;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::error::{Error, ExitCode};
use crate::ui::{Color, Ui};
use options::OutputFlags;

const AFTER_HELP: &str = "\
Exit status: 0 no gated regression; 1 a regression, an exceeded budget, or a thing named in --also-fail-on; 2 bad \
configuration; 3 bad usage, nothing selected or no base; 4 a build, benchmark or git step failed, or interrupted; \
5 internal error; 6 something that was asked for was not measured.";

/// Did this change make my benchmarks slower?
///
/// Builds the base and the head revision of the crate in temporary worktrees, runs their benchmarks interleaved, and
/// fails only on a slowdown that is larger than accepted and is not noise.
#[derive(Debug, Parser)]
#[command(
    name = "cargo benchgate",
    bin_name = "cargo benchgate",
    version,
    args_conflicts_with_subcommands = true,
    after_help = AFTER_HELP,
    max_term_width = 110
)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    compare: compare::CompareArgs,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Compare head against base (the default)
    Compare(Box<compare::CompareArgs>),
    /// Measure head alone and check its budgets
    Run(Box<compare::HeadArgs>),
    /// Compare one revision with itself: false alarms, noise, the limits this machine can hold
    Aa(Box<aa::AaArgs>),
    /// Compare with the base and the outputs of the CI system this runs in
    Ci(Box<ci::CiArgs>),
    /// Find the commit that made a benchmark slower
    Bisect(Box<bisect::BisectArgs>),
    /// Judge saved reports or samples again, without measuring
    Judge(Box<judge::JudgeArgs>),
    /// Join the reports of all shards of a run, with one verdict
    Merge(merge::MergeArgs),
    /// Render a saved report again
    Report(report::ReportArgs),
    /// Show the suite as it is resolved
    List(Box<compare::SuiteArgs>),
    /// Write the suite table, the files of a CI system, or a git hook
    Init(init::InitArgs),
    /// Check what measuring needs, and what about this machine disturbs it
    Doctor(doctor::DoctorArgs),
    /// Print the completions of a shell
    Completions(completions::CompletionsArgs),
    /// What an installed git hook calls
    #[command(hide = true)]
    Hook(hook::HookArgs),
    /// Follow the benchmarks through past runs: status, steps, change points
    History(Box<history::HistoryArgs>),
    /// List or clean what is kept between runs
    Cache(cache::CacheArgs),
}

impl Verb {
    fn output(&self) -> &OutputFlags {
        match self {
            Self::Compare(args) => args.output(),
            Self::Run(args) => args.output(),
            Self::Aa(args) => args.output(),
            Self::Ci(args) => args.output(),
            Self::Bisect(args) => &args.suite.output,
            Self::Judge(args) => &args.output,
            Self::Merge(args) => &args.output,
            Self::Report(args) => &args.output,
            Self::List(args) => &args.output,
            Self::Init(args) => &args.output,
            Self::Doctor(args) => &args.output,
            Self::Completions(args) => &args.output,
            Self::Hook(args) => args.output(),
            Self::History(args) => args.output(),
            Self::Cache(args) => &args.output,
        }
    }
}

/// The definition of the command line, for manual pages.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command line and gives the exit status. Panics are caught: exit 5.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = without_subcommand_name(args);
    let for_git_bisect = args.iter().any(|arg| arg == "--bisect-run");
    let code = call(args);
    // Of all statuses, that of a typo or of a panic too.
    if for_git_bisect { git_bisect::status(code) } else { code }
}

fn call(args: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return without_call(&error),
    };
    let verb = cli.verb.unwrap_or_else(|| Verb::Compare(Box::new(cli.compare)));
    let output = verb.output();
    let ui = Ui::new(output.color, cargo_term_color().as_deref(), output.quiet, output.verbose)
        .with_columns(std::env::var("COLUMNS").ok().as_deref());
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| dispatch(verb, &ui)))
        .unwrap_or_else(|payload| Err(Error::Internal(panic_text(payload.as_ref()))));
    outcome.unwrap_or_else(|error| {
        ui.error(&error);
        error.exit_code()
    })
}

fn cargo_term_color() -> Option<String> {
    std::env::var("CARGO_TERM_COLOR").ok()
}

/// What clap answers itself: help and version, or a mistake.
fn without_call(answer: &clap::Error) -> ExitCode {
    let ui = Ui::new(Color::Auto, cargo_term_color().as_deref(), false, 0);
    if !answer.use_stderr() {
        // A closed stdout is not worth a message.
        let _ = answer.print();
        return ExitCode::Success;
    }
    if answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = answer.print();
        ui.error("a command is missing; help is above");
        return ExitCode::Usage;
    }
    let (usage, mistake) = mistake(&answer.render().to_string());
    match usage {
        Some(usage) => ui.error_below(&usage, &mistake),
        None => ui.error(mistake),
    }
    ExitCode::Usage
}

/// clap's paragraphs as the usage, and all else in one line.
fn mistake(rendered: &str) -> (Option<String>, String) {
    let (usage, other): (Vec<&str>, Vec<&str>) =
        rendered.split("\n\n").map(str::trim).partition(|paragraph| paragraph.starts_with("Usage: "));
    let sentences: Vec<String> = other
        .into_iter()
        .map(|paragraph| {
            let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = text.strip_prefix("error: ").or(text.strip_prefix("tip: ")).unwrap_or(&text);
            text.replace("For more information, try", "for more, try").trim_end_matches('.').to_owned()
        })
        .filter(|sentence| !sentence.is_empty())
        .collect();
    (usage.first().map(|usage| (*usage).to_owned()), sentences.join("; "))
}

fn dispatch(verb: Verb, ui: &Ui) -> Result<ExitCode, Error> {
    match verb {
        Verb::Compare(args) => compare::compare(&args, ui),
        Verb::Run(args) => compare::run(&args, ui),
        Verb::Aa(args) => aa::aa(&args, ui),
        Verb::Ci(args) => ci::ci(&args, ui),
        Verb::Bisect(args) => bisect::bisect(&args, ui),
        Verb::Judge(args) => judge::judge(&args, ui),
        Verb::Merge(args) => merge::merge(&args, ui),
        Verb::Report(args) => report::report(&args, ui),
        Verb::List(args) => list::list(&args, ui),
        Verb::Init(args) => init::init(&args, ui),
        Verb::Doctor(_) => doctor::doctor(ui),
        Verb::Completions(args) => completions::completions(&args),
        Verb::Hook(args) => hook::hook(&args, ui),
        Verb::History(args) => history::history(&args, ui),
        Verb::Cache(args) => cache::cache(&args, ui),
    }
}

/// Cargo starts `cargo-benchgate benchgate ARGS`; started directly there is no such first argument.
fn without_subcommand_name(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|arg| arg == "benchgate") {
        args.remove(1);
    }
    args
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn command_line_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn name_that_cargo_puts_in_front_is_dropped_once() {
        let args = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(without_subcommand_name(args(&["cb", "benchgate", "list"])), args(&["cb", "list"]));
        assert_eq!(
            without_subcommand_name(args(&["cb", "list", "benchgate"])),
            args(&["cb", "list", "benchgate"])
        );
    }
}
