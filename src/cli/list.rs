//! `list`: the suite as it is resolved.

use std::fmt::Write as _;

use super::compare::SuiteArgs;
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{self, Command, HeadRequest, Plan};
use crate::report::quantity;
use crate::suite::Suite;
use crate::suite::list::{ListRow, MetricRow};
use crate::ui::{self, Ui};

/// Shows the resolved suite. Builds nothing, so benchmarks inside a program are not listed.
pub(super) fn list(args: &SuiteArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let request = args.request(Command::Compare, HeadRequest::WorkingTree)?;
    let suite = gate::suite(&request, &Environment::of_this_process()?, ui)?;
    for note in &suite.notes {
        ui.note(note);
    }
    ui::print(render(&suite).as_bytes())
        .map_err(|error| Error::Execution(format!("failed to write the list to stdout: {error}")))?;
    Ok(ExitCode::Success)
}

/// Shows what a run would do.
pub(super) fn show_plan(plan: &Plan) -> Result<(), Error> {
    ui::print(format!("{}{}", plan.steps, render(&plan.suite)).as_bytes())
        .map_err(|error| Error::Execution(format!("failed to write the plan to stdout: {error}")))
}

/// The rows of the suite as text.
fn render(suite: &Suite) -> String {
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
