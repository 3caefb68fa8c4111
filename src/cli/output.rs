//! Where a report goes: `--format FORMAT[=PATH]`.

use std::io;
use std::path::PathBuf;

use crate::error::{Error, ExitCode};
use crate::report::aa::AaReport;
use crate::report::{self, model::Report};
use crate::ui::{self, Ui};

/// The formats a report can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Terminal,
    Json,
    Csv,
    SamplesCsv,
    Markdown,
    Github,
    Html,
    Junit,
    Bencher,
    ActionBenchmark,
}

impl Format {
    const ALL: [(&'static str, Self); 10] = [
        ("terminal", Self::Terminal),
        ("json", Self::Json),
        ("csv", Self::Csv),
        ("samples-csv", Self::SamplesCsv),
        ("markdown", Self::Markdown),
        ("github", Self::Github),
        ("html", Self::Html),
        ("junit", Self::Junit),
        ("bencher", Self::Bencher),
        ("github-action-benchmark", Self::ActionBenchmark),
    ];

    /// Whether both may go to stdout: annotations are lines of their own below the table.
    fn goes_with(self, other: Self) -> bool {
        matches!((self, other), (Self::Github, Self::Terminal) | (Self::Terminal, Self::Github))
    }
}

/// One wanted output; without a path it goes to stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Output {
    format: Format,
    path: Option<PathBuf>,
}

/// All wanted outputs, checked before anything runs: a typo must not cost a measured result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outputs(Vec<Output>);

impl Outputs {
    /// Reads the `--format` flags.
    ///
    /// # Errors
    ///
    /// An unknown format, two formats for stdout, or two for one path; a path that cannot be written.
    pub(super) fn parse(flags: &[String]) -> Result<Self, Error> {
        let mut outputs: Vec<Output> = Vec::new();
        for flag in flags {
            let (word, path) = match flag.split_once('=') {
                Some((word, path)) => (word, Some(PathBuf::from(path))),
                None => (flag.as_str(), None),
            };
            let Some(&(_, format)) = Format::ALL.iter().find(|(name, _)| *name == word) else {
                let names: Vec<&str> = Format::ALL.iter().map(|(name, _)| *name).collect();
                return Err(Error::Usage(format!(
                    "unknown format `{word}` in `--format {flag}`; formats are {}",
                    names.join(", ")
                )));
            };
            if path.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
                return Err(Error::Usage(format!("no path behind the `=` in `--format {flag}`")));
            }
            let is_in_the_way =
                |other: &&Output| other.path == path && !(path.is_none() && format.goes_with(other.format));
            if let Some(other) = outputs.iter().find(is_in_the_way) {
                let place = path.map_or_else(|| "stdout".to_owned(), |path| path.display().to_string());
                let both = if other.format == format { "the same format twice" } else { "two formats" };
                return Err(Error::Usage(format!(
                    "`--format {flag}`: {both} for {place}; give each its own path"
                )));
            }
            outputs.push(Output { format, path });
        }
        for output in &outputs {
            let Some(path) = &output.path else { continue };
            let checked = match output.format {
                Format::Markdown => report::write::check_section(path),
                _ => report::write::check_writable(path),
            };
            checked.map_err(|error| Error::Execution(error.to_string()))?;
        }
        if outputs.iter().all(|output| output.path.is_some() || output.format == Format::Github) {
            outputs.push(Output { format: Format::Terminal, path: None });
        }
        // The table first: annotations are shown elsewhere, too.
        outputs.sort_by_key(|output| output.format == Format::Github);
        Ok(Self(outputs))
    }

    /// Whether any output goes to a file.
    pub(super) fn has_paths(&self) -> bool {
        self.0.iter().any(|output| output.path.is_some())
    }

    /// Refuses formats that the report of `aa` has no form in.
    pub(super) fn only_of_aa(&self) -> Result<(), Error> {
        match self.0.iter().find(|output| !matches!(output.format, Format::Terminal | Format::Json)) {
            None => Ok(()),
            Some(_) => Err(Error::Usage(
                "`aa` writes `--format terminal` and `--format json`; each repeat in the JSON can be judged again".to_owned(),
            )),
        }
    }

    /// Writes the report of `aa`.
    pub(super) fn write_aa(&self, report: &AaReport, ui: &Ui) -> Result<(), Error> {
        self.write_rendered(ui, |format, _, writer| {
            let text = match format {
                Format::Json => report::aa::json(report),
                _ => report::aa::terminal(report, ui.width()),
            };
            writer.write_all(text.as_bytes())
        })
    }

    /// Writes every output. Files come first, so that they are complete whatever happens to stdout; all are tried
    /// before the first failure is told.
    ///
    /// # Errors
    ///
    /// When a file or stdout cannot be written.
    pub(super) fn write(&self, report: &Report, ui: &Ui) -> Result<(), Error> {
        let written =
            self.write_rendered(ui, |format, color, writer| render(report, format, color, ui, writer));
        if self.0.iter().any(|output| output.format == Format::Github) {
            return written.and(append_to_workflow(report, ui));
        }
        written
    }

    fn write_rendered(
        &self,
        ui: &Ui,
        render: impl Fn(Format, bool, &mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut failure = None;
        for output in &self.0 {
            if let Some(path) = &output.path {
                let written = match output.format {
                    Format::Markdown => {
                        report::write::write_section(path, |file| render(output.format, false, file))
                    }
                    _ => report::write::write_with(path, |file| render(output.format, false, file)),
                };
                match written {
                    Ok(()) => ui.status("Wrote", path.display()),
                    Err(error) => failure = failure.or(Some(Error::Execution(error.to_string()))),
                }
            }
        }
        for output in self.0.iter().filter(|output| output.path.is_none()) {
            let mut bytes = Vec::new();
            let rendered = render(output.format, ui.stdout_color(), &mut bytes);
            if let Err(error) = rendered.and_then(|()| ui::print(&bytes)) {
                failure = failure
                    .or(Some(Error::Execution(format!("failed to write the report to stdout: {error}"))));
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

/// Writes the report and gives the exit status it ends with, saying why when it is not 0.
///
/// # Errors
///
/// When an output cannot be written.
pub(super) fn finish(report: &Report, outputs: &Outputs, ui: &Ui) -> Result<ExitCode, Error> {
    outputs.write(report, ui)?;
    conclude(report, ui)
}

/// The exit status a report ends with.
pub(super) fn status(report: &Report) -> Result<ExitCode, Error> {
    ExitCode::from_status(report.exit.code).ok_or_else(|| {
        Error::Internal(format!("the report ends with the unknown status {}", report.exit.code))
    })
}

/// Gives the exit status of a report that was written, saying why when it is not 0.
pub(super) fn conclude(report: &Report, ui: &Ui) -> Result<ExitCode, Error> {
    let code = status(report)?;
    if let Some(because) = &report.exit.because {
        match code {
            ExitCode::Success if report.exit.without_no_fail.is_some() => {
                ui.note(format!("{because} (exit status 1 turned into 0 by --no-fail)"));
            }
            ExitCode::Success => ui.note(because),
            _ => ui.error(crate::report::text::visible(because)),
        }
    }
    Ok(code)
}

/// Appends what a step of a GitHub workflow may give: its summary and its outputs, each where the environment names a
/// file for it.
fn append_to_workflow(report: &Report, ui: &Ui) -> Result<(), Error> {
    let summary = || report::markdown::report(report, report::markdown::LIMIT);
    let files: [(&str, &dyn Fn() -> String); 2] =
        [("GITHUB_STEP_SUMMARY", &summary), ("GITHUB_OUTPUT", &|| report::github::outputs(report))];
    let mut failure = None;
    for (variable, text) in files {
        let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) else { continue };
        match report::write::append(path.as_ref(), text().as_bytes()) {
            Ok(()) => ui.status("Appended", format!("to {variable}")),
            Err(error) => {
                let why = format!("{error} (the file that {variable} names)");
                failure = failure.or(Some(Error::Execution(why)));
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

fn render(
    report: &Report,
    format: Format,
    color: bool,
    ui: &Ui,
    writer: &mut dyn io::Write,
) -> io::Result<()> {
    let text = match format {
        Format::Json => return report::json::write(report, writer),
        Format::Terminal => {
            let options = report::terminal::Options { color, width: ui.width(), verbose: 0 < ui.verbosity() };
            report::terminal::terminal(report, options)
        }
        Format::Markdown => report::markdown::report(report, report::markdown::LIMIT),
        Format::Github => report::github::annotations(report),
        Format::Html => report::html::html(report),
        Format::Junit => report::junit::junit(report),
        Format::Bencher => report::exports::bencher(report),
        Format::ActionBenchmark => report::exports::action_benchmark(report),
        Format::Csv => report::csv::csv(report),
        Format::SamplesCsv => report::samples_csv::samples_csv(report),
    };
    writer.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &[&str]) -> Result<Outputs, Error> {
        Outputs::parse(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn format_without_path_takes_the_place_of_the_table() {
        let outputs = parse(&["json"]).expect("valid");
        assert_eq!(outputs.0, [Output { format: Format::Json, path: None }]);
        let outputs = parse(&["json=a.json"]).expect("valid");
        assert_eq!(outputs.0.last().map(|output| output.format), Some(Format::Terminal));
    }

    #[test]
    fn format_errors_are_told_before_anything_runs() {
        for flags in [&["jsn"][..], &["json", "csv"], &["json=a", "csv=a"], &["json="]] {
            assert_eq!(parse(flags).expect_err("invalid").exit_code(), ExitCode::Usage, "{flags:?}");
        }
        let unwritable = parse(&["json=no/such/dir/a.json"]).expect_err("there is no such directory");
        assert_eq!(unwritable.exit_code(), ExitCode::Execution);
    }
}
