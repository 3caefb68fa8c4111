//! Every way a run can fail, and the one place that turns a failure into an exit status.

/// The exit statuses. Which one holds when several could: `verdict::exit` for a finished run, [`Error::exit_code`] else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Nothing to complain of.
    Success = 0,
    /// A gated regression, an exceeded budget, or a thing named in `also_fail_on`.
    GateFailed = 1,
    /// Bad configuration; nothing ran.
    Configuration = 2,
    /// Bad usage, nothing selected, no base determinable; nothing ran.
    Usage = 3,
    /// A build, a benchmark, a hook, a git step or a report failed, or the run was interrupted.
    Execution = 4,
    /// A fault of the tool itself.
    Internal = 5,
    /// Something that was asked for was not measured.
    NotMeasured = 6,
    /// For `git bisect run`: this commit cannot be told.
    BisectSkip = 125,
}

impl ExitCode {
    /// The exit code of that status.
    pub fn from_status(status: u8) -> Option<Self> {
        [
            Self::Success,
            Self::GateFailed,
            Self::Configuration,
            Self::Usage,
            Self::Execution,
            Self::Internal,
            Self::NotMeasured,
        ]
        .into_iter()
        .find(|code| *code as u8 == status)
    }
}

/// A failure of the whole run. The message says what was being done, to what, why it failed and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bad configuration.
    #[error("{0}")]
    Configuration(String),
    /// Bad usage, nothing selected, no base.
    #[error("{0}")]
    Usage(String),
    /// The filters leave out every benchmark there is.
    #[error(
        "nothing is selected: the filters leave out all of {benchmarks}; `--filter` and `--skip` take globs over ids, such as \
         'group/*', where `\\[` stands for a bracket of an id; `-- TEXT` takes a part of an id as it is"
    )]
    AllLeftOut {
        /// How many there are, and the first of their ids.
        benchmarks: String,
    },
    /// A step of the run failed.
    #[error("{0}")]
    Execution(String),
    /// Interrupted by the user.
    #[error("interrupted")]
    Interrupted,
    /// A fault of the tool itself.
    #[error("internal error: {0}; please report this")]
    Internal(String),
}

impl Error {
    /// The exit status it ends the run with.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Configuration(_) => ExitCode::Configuration,
            Self::Usage(_) | Self::AllLeftOut { .. } => ExitCode::Usage,
            Self::Execution(_) | Self::Interrupted => ExitCode::Execution,
            Self::Internal(_) => ExitCode::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_the_status_that_the_readme_gives_it() {
        let text = || "x".to_owned();
        let cases = [
            (Error::Configuration(text()), 2),
            (Error::Usage(text()), 3),
            (Error::AllLeftOut { benchmarks: text() }, 3),
            (Error::Execution(text()), 4),
            (Error::Interrupted, 4),
            (Error::Internal(text()), 5),
        ];
        for (error, status) in cases {
            assert_eq!(error.exit_code() as u8, status, "{error}");
            assert_eq!(ExitCode::from_status(status), Some(error.exit_code()));
        }
    }
}
