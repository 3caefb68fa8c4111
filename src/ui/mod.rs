//! Status lines and notes on stderr, results on stdout: the only place that prints.

use crate::report::text::visible;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};

const GREEN: Style = AnsiColor::Green.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much is said on stderr, and how.
#[derive(Debug)]
pub struct Ui {
    forced_color: Option<&'static str>,
    quiet: bool,
    verbose: u8,
    terminal: bool,
    columns: Option<usize>,
    progress_shown: AtomicBool,
}

impl Ui {
    /// Sets colour for the whole process. `CARGO_TERM_COLOR` counts as cargo counts it: below the flag, above the
    /// terminal's own wish.
    pub fn new(color: Color, cargo_term_color: Option<&str>, quiet: bool, verbose: u8) -> Self {
        let choice = match (color, cargo_term_color) {
            (Color::Always, _) | (Color::Auto, Some("always")) => anstream::ColorChoice::Always,
            (Color::Never, _) | (Color::Auto, Some("never")) => anstream::ColorChoice::Never,
            (Color::Auto, _) => anstream::ColorChoice::Auto,
        };
        choice.write_global();
        let forced_color = match choice {
            anstream::ColorChoice::Always => Some("always"),
            anstream::ColorChoice::Never => Some("never"),
            _ => None,
        };
        Self {
            forced_color,
            quiet,
            verbose,
            terminal: io::stderr().is_terminal(),
            columns: None,
            progress_shown: AtomicBool::new(false),
        }
    }

    /// Takes the width of lines from `COLUMNS`, where that is set to a number above 0: the user knows it better.
    pub fn with_columns(mut self, columns: Option<&str>) -> Self {
        self.columns = columns.and_then(|text| text.parse().ok()).filter(|columns| 0 < *columns);
        self
    }

    /// Columns of a line: those the user named, else those of the terminal; `None` where there is none.
    pub fn width(&self) -> Option<usize> {
        self.columns.or_else(terminal_width)
    }

    /// Whether results on stdout may be coloured.
    pub fn stdout_color(&self) -> bool {
        anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
    }

    /// What cargo is to be told about colour: `None` lets it find out by itself.
    pub fn forced_color(&self) -> Option<&'static str> {
        self.forced_color
    }

    /// The number of `-v`.
    pub fn verbosity(&self) -> u8 {
        self.verbose
    }

    /// Whether `-q` was given.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A status line in cargo's voice: a right-aligned verb, then the object.
    pub fn status(&self, verb: &str, object: impl std::fmt::Display) {
        if !self.quiet {
            self.line(GREEN, verb, &object.to_string());
        }
    }

    /// A status line that only `-v` shows.
    pub fn detail(&self, verb: &str, object: impl std::fmt::Display) {
        if 0 < self.verbose && !self.quiet {
            self.line(CYAN, verb, &object.to_string());
        }
    }

    /// Something the reader should know but need not act on.
    pub fn note(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            self.prefixed(CYAN, "note", &text.to_string());
        }
    }

    /// A warning that advises.
    pub fn warn(&self, text: impl std::fmt::Display) {
        self.prefixed(YELLOW, "warning", &text.to_string());
    }

    /// The end of a failed run. Its last line says why: of a longer text the first line comes last, below the rest.
    pub fn error(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        match text.trim_end().split_once('\n') {
            None => self.prefixed(RED, "error", text.trim_end()),
            Some((headline, details)) => {
                self.error_below(details, &format!("{} (see above)", headline.trim_end_matches(':')));
            }
        }
    }

    /// The same, with lines of their own above the last one.
    pub fn error_below(&self, details: &str, headline: &str) {
        self.clear_progress();
        let _ = writeln!(anstream::stderr(), "{}", harmless(details));
        self.prefixed(RED, "error", headline);
    }

    /// Shows progress: rewritten in place on a terminal, nothing elsewhere. Never call it while a measurement runs.
    pub fn progress(&self, text: &str) {
        if self.terminal && !self.quiet {
            let width = self.width().unwrap_or(80).saturating_sub(1).max(20);
            let text: String = text.chars().take(width).collect();
            let mut stderr = anstream::stderr().lock();
            let _ = write!(stderr, "\r\x1b[2K{text}");
            let _ = stderr.flush();
            self.progress_shown.store(true, Ordering::Relaxed);
        }
    }

    /// Whether progress lines can be seen.
    pub fn shows_progress(&self) -> bool {
        self.terminal && !self.quiet
    }

    /// Takes the progress line away.
    pub fn clear_progress(&self) {
        if self.progress_shown.swap(false, Ordering::Relaxed) {
            let mut stderr = anstream::stderr().lock();
            let _ = write!(stderr, "\r\x1b[2K");
            let _ = stderr.flush();
        }
    }

    fn line(&self, style: Style, verb: &str, object: &str) {
        self.clear_progress();
        let _ = writeln!(anstream::stderr(), "{style}{verb:>12}{style:#} {}", harmless(object));
    }

    fn prefixed(&self, style: Style, word: &str, text: &str) {
        self.clear_progress();
        let _ = writeln!(anstream::stderr(), "{style}{word}{style:#}: {}", harmless(text));
    }
}

/// The lines of a text from anywhere, none of which drives a terminal or is a command to the runner of a workflow.
fn harmless(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Columns of the terminal stdout or stderr is on; `None` where there is none.
fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout())
        .or_else(|| terminal_size::terminal_size_of(io::stderr()))
        .map(|(width, _)| usize::from(width.0))
}

/// Writes results to stdout.
///
/// # Errors
///
/// When stdout cannot be written; a reader that went away (`| head`) is not an error.
pub fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
