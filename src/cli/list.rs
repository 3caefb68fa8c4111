//! `list`: the suite as it is resolved.

use std::fmt::Write as _;

use clap::Args;

use super::options::{
    BenchmarkSelection, BuildFlags, JudgeFlags, ManifestFlags, MeasuringFlags, OutputFlags, PackageSelection,
};
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{self, Command, HeadRequest, Request};
use crate::report::quantity;
use crate::suite::Suite;
use crate::suite::list::{ListRow, MetricRow};
use crate::ui::{self, Ui};

/// Arguments of `list`.
#[derive(Debug, Clone, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    packages: PackageSelection,
    #[command(flatten)]
    benchmarks: BenchmarkSelection,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    manifest: ManifestFlags,
    #[command(flatten)]
    measuring: MeasuringFlags,
    #[command(flatten)]
    judge: JudgeFlags,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Shows the resolved suite. Builds nothing, so benchmarks inside a program are not listed.
pub(super) fn list(args: &ListArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let request = Request {
        command: Command::Compare,
        base: None,
        head: HeadRequest::WorkingTree,
        further: Vec::new(),
        manifest_path: args.manifest.manifest_path.clone(),
        selection: args.packages.selection(&args.benchmarks),
        overrides: super::options::overrides(Some(&args.measuring), &args.judge, Some(&args.build))?,
        cargo: args.manifest.cargo_flags(),
        cache: None,
        seed: None,
        no_fail: args.judge.no_fail,
        keep: false,
        dry_run: false,
        repeats: 1,
    };
    let suite = gate::suite(&request, &Environment::of_this_process()?, ui)?;
    for note in &suite.notes {
        ui.note(note);
    }
    ui::print(render(&suite).as_bytes())
        .map_err(|error| Error::Execution(format!("failed to write the list to stdout: {error}")))?;
    Ok(ExitCode::Success)
}

/// The rows of the suite as text.
pub(crate) fn render(suite: &Suite) -> String {
    let mut text = String::new();
    for row in suite.list(|_| None) {
        render_row(&mut text, &row);
    }
    text
}

fn render_row(text: &mut String, row: &ListRow) {
    let variant = if row.variant.is_empty() { String::new() } else { format!(" [{}]", row.variant) };
    let mut about = String::new();
    for (word, globs) in [("only", &row.filter), ("without", &row.skip)] {
        if !globs.is_empty() {
            let _ = write!(about, ", {word} {}", globs.join(" "));
        }
    }
    let _ =
        writeln!(text, "{} {} {}{variant}{about}", row.target.package, row.target.kind, row.target.target);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "    {name:<9} {value}");
    };
    line("harness", row.harness.as_str());
    if !row.args.is_empty() {
        line("args", &row.args.join(" "));
    }
    line("sampling", &row.sampling);
    line("judge", &row.judge);
    if !row.compare {
        line("compare", "no: head alone is measured, for its budgets");
    }
    if let Some(group) = &row.group {
        line("group", group);
    }
    for metric in &row.metrics {
        line("metric", &metric_text(metric));
    }
    for budget in &row.budgets {
        line("budget", budget);
    }
}

fn metric_text(metric: &MetricRow) -> String {
    let mut text = format!("{}: {}", metric.metric, quantity::limit(metric.max_percent));
    if let Some(min_difference) = &metric.min_difference {
        let _ = write!(text, ", min_difference {min_difference}");
    }
    if !metric.gate {
        text.push_str(" (not gated)");
    }
    text
}
