//! Where the answers of the verbs go that make no report: `--format FORMAT[=PATH]`.

use std::path::PathBuf;

use crate::error::Error;
use crate::report;
use crate::ui::{self, Ui};

/// Where answers go: `--format FORMAT[=PATH]`, checked before anything is read.
#[derive(Debug)]
pub(super) struct Answers(Vec<(&'static str, Option<PathBuf>)>);

impl Answers {
    /// Reads the flags; the first known format is what stdout gets when nothing else goes there.
    pub(super) fn parse(flags: &[String], known: &'static [&'static str]) -> Result<Self, Error> {
        let mut outputs: Vec<(&'static str, Option<PathBuf>)> = Vec::new();
        for flag in flags {
            let (word, path) = match flag.split_once('=') {
                Some((word, path)) => (word, Some(PathBuf::from(path))),
                None => (flag.as_str(), None),
            };
            let Some(&format) = known.iter().find(|known| **known == word) else {
                return Err(Error::Usage(format!(
                    "`--format {flag}`: this verb writes {}",
                    known.join(" and ")
                )));
            };
            if path.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
                return Err(Error::Usage(format!("no path behind the `=` in `--format {flag}`")));
            }
            if outputs.iter().any(|(_, other)| *other == path) {
                return Err(Error::Usage(format!("`--format {flag}`: two formats for one place")));
            }
            if let Some(path) = &path {
                report::write::check_writable(path).map_err(|error| Error::Execution(error.to_string()))?;
            }
            outputs.push((format, path));
        }
        if outputs.iter().all(|(_, path)| path.is_some()) {
            outputs.push((known[0], None));
        }
        Ok(Self(outputs))
    }

    /// The same where the answer is for programs: with a path for it, stdout gets none.
    pub(super) fn asked_for(flags: &[String], known: &'static [&'static str]) -> Result<Self, Error> {
        let Self(mut outputs) = Self::parse(flags, known)?;
        if !flags.is_empty() {
            outputs.truncate(flags.len());
        }
        Ok(Self(outputs))
    }

    /// Writes each output as `render` makes it, files first.
    pub(super) fn write(&self, ui: &Ui, render: impl Fn(&str) -> String) -> Result<(), Error> {
        for (format, path) in &self.0 {
            if let Some(path) = path {
                report::write::write_file(path, render(format).as_bytes())
                    .map_err(|error| Error::Execution(error.to_string()))?;
                ui.status("Wrote", path.display());
            }
        }
        for (format, _) in self.0.iter().filter(|(_, path)| path.is_none()) {
            present(&render(format))?;
        }
        Ok(())
    }
}

/// Prints an answer.
pub(super) fn present(text: &str) -> Result<(), Error> {
    ui::print(text.as_bytes())
        .map_err(|error| Error::Execution(format!("failed to write to stdout: {error}")))
}

/// JSON with its last line end.
pub(super) fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
