//! Where a history is, and what is in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Common;
use crate::cli::options::one_of;
use crate::error::Error;
use crate::history::course::LookbackMode;
use crate::history::index::Index;
use crate::history::key::SeriesKey;
use crate::history::marks::Mark;
use crate::history::rekey::Rekeys;
use crate::history::series::{View, wanted_commits};
use crate::history::store::Store;
use crate::report::text::visible;
use crate::revision::{BranchLine, Repository, RevisionError};
use crate::suite::keys::nearest;
use crate::ui::Ui;

/// The place of histories below the git directory that all worktrees share.
const DEFAULT_PLACE: &str = "benchgate/history";

/// A history that was found.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) store: Store,
    pub(crate) repository: Option<Repository>,
    named: bool,
}

/// A history that was read, its series under the names of now.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) index: Index,
    pub(crate) marks: Vec<Mark>,
    pub(crate) rekeys: Rekeys,
    pub(crate) line: Option<BranchLine>,
}

impl History {
    /// The history at that directory, else the one of the repository around the manifest that was named, or around the
    /// working directory.
    ///
    /// # Errors
    ///
    /// When no directory is named and there is no repository.
    pub(crate) fn find(directory: Option<&Path>, manifest: Option<&Path>) -> Result<Self, Error> {
        let cwd = working_directory()?;
        let repository = match Repository::discover(&beside(manifest, &cwd)) {
            Ok(repository) => Some(repository),
            Err(RevisionError::NoRepository { .. }) if directory.is_some() => None,
            Err(RevisionError::NoRepository { start }) => {
                return Err(Error::Usage(format!(
                    "no git repository at or above {}, so there is no default place for a history; name one with --history DIR",
                    start.display()
                )));
            }
            Err(error) => return Err(error.into()),
        };
        let place = match (directory, &repository) {
            (Some(directory), _) => cwd.join(directory),
            (None, Some(repository)) => repository.common_dir().join(DEFAULT_PLACE),
            (None, None) => return Err(Error::Internal("a history has no place".to_owned())),
        };
        Ok(Self { store: Store::new(place), repository, named: directory.is_some() })
    }

    /// The history of these arguments, to be read: a directory that was named must be there.
    pub(super) fn existing(common: &Common) -> Result<Self, Error> {
        let history = Self::find(common.history.as_deref(), None)?;
        if history.named && !history.store.directory().is_dir() {
            return Err(Error::Usage(format!(
                "there is no history at {}; check --history, or store a report there with `history add`",
                history.store.directory().display()
            )));
        }
        Ok(history)
    }

    /// Reads it. What cannot be used is said.
    pub(crate) fn load(&self, branch: Option<&str>, ui: &Ui) -> Result<Loaded, Error> {
        let (marks, problems) = self.store.marks()?;
        let (rekeys, more_problems) = self.store.rekeys()?;
        for problem in problems.into_iter().chain(more_problems) {
            ui.warn(problem);
        }
        let rekeys = Rekeys::new(&rekeys);
        let (index, _) = rekeys.index(Index::load(&self.store)?);
        let line = self.line(&index, &marks, branch)?;
        Ok(Loaded { index, marks, rekeys, line })
    }

    /// The branch; `None` without a repository, and where nothing in the history is a commit of it.
    fn line(&self, index: &Index, marks: &[Mark], branch: Option<&str>) -> Result<Option<BranchLine>, Error> {
        let Some(repository) = &self.repository else { return Ok(None) };
        let foreign =
            index.reports.iter().filter_map(|report| report.content.as_ref().ok()).all(|run| run.imported);
        let tip = match branch {
            Some(branch) => Ok((branch.to_owned(), repository.resolve(branch)?)),
            None => repository.default_branch_tip(),
        };
        match tip {
            Ok((name, tip)) => Ok(Some(repository.branch_line(name, &tip, &wanted_commits(index, marks))?)),
            // Foreign data has its own order; it may lie in a repository without a commit.
            Err(_) if foreign => Ok(None),
            Err(error) => Err(Error::Usage(format!(
                "{}; name the branch whose commits count with --branch",
                error.to_string().trim_end_matches("; name one with --base")
            ))),
        }
    }
}

impl Loaded {
    /// The series that are wanted.
    pub(crate) fn view(&self, keep: impl Fn(usize, &SeriesKey) -> bool) -> View {
        View::new(&self.index, self.line.as_ref(), &self.marks, keep)
    }

    /// Refuses a metric that no series has, in a history that has some.
    pub(super) fn know_metrics(&self, metrics: &[String]) -> Result<(), Error> {
        let mut known: Vec<&str> = self.index.keys.iter().map(|key| key.metric.as_str()).collect();
        known.retain(|metric| !metric.is_empty());
        known.sort_unstable();
        known.dedup();
        match metrics.iter().find(|metric| !known.is_empty() && !known.contains(&metric.as_str())) {
            None => Ok(()),
            Some(unknown) => {
                let hint = match nearest(unknown, &known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("it has {}", known.join(", ")),
                };
                Err(Error::Usage(format!("`--metric {unknown}`: the history has no such metric; {hint}")))
            }
        }
    }

    /// Refuses a machine that no series has, in a history that has some.
    pub(super) fn know_machines(&self, machines: &[String]) -> Result<(), Error> {
        let keys = self.index.keys.iter().zip(self.index.measured());
        let known: BTreeSet<&str> =
            keys.filter(|(_, measured)| *measured).map(|(key, _)| key.machine.as_str()).collect();
        match machines.iter().find(|machine| !known.is_empty() && !known.contains(machine.as_str())) {
            None => Ok(()),
            Some(unknown) => {
                let known: Vec<&str> = known.into_iter().collect();
                Err(Error::Usage(format!(
                    "`--machine {unknown}`: the history has no such machine; it has {}",
                    visible(&known.join(", "))
                )))
            }
        }
    }

    /// Which series gate, by their newest report.
    pub(crate) fn gated(&self) -> Vec<bool> {
        let mut gated = vec![false; self.index.keys.len()];
        // Names begin with the time, so the last file is the newest.
        for run in self.index.reports.iter().filter_map(|report| report.content.as_ref().ok()) {
            for point in &run.points {
                gated[point.key as usize] = point.gate;
            }
        }
        gated
    }
}

/// `--lookback`, else what the nearest manifest that says something says.
pub(super) fn mode(word: Option<&str>) -> Result<LookbackMode, Error> {
    match word {
        Some(word) => one_of("--lookback", word, LookbackMode::ALL, LookbackMode::as_str),
        None => mode_of_the_suite(None),
    }
}

fn working_directory() -> Result<PathBuf, Error> {
    std::env::current_dir()
        .map_err(|error| Error::Execution(format!("failed to find the working directory: {error}")))
}

/// The directory of a manifest.
pub(super) fn beside(manifest: Option<&Path>, cwd: &Path) -> PathBuf {
    manifest.and_then(Path::parent).map_or_else(|| cwd.to_owned(), |parent| cwd.join(parent))
}

/// What the nearest manifest that says something says.
pub(super) fn mode_of_the_suite(manifest: Option<&Path>) -> Result<LookbackMode, Error> {
    for directory in beside(manifest, &working_directory()?).ancestors() {
        let path = directory.join("Cargo.toml");
        let Ok(text) = fs_err::read_to_string(&path) else { continue };
        // A manifest that cargo cannot read is told of by the verbs that ask cargo.
        let Ok(manifest) = text.parse::<toml::Table>() else { continue };
        let of = |root: &str| {
            let value =
                manifest.get(root)?.get("metadata")?.get("benchgate")?.get("history")?.get("lookback")?;
            Some(value.as_str().unwrap_or_default().to_owned())
        };
        if let Some(word) = of("package").or_else(|| of("workspace")) {
            return LookbackMode::from_word(&word).ok_or_else(|| {
                let words: Vec<&str> = LookbackMode::ALL.iter().map(|mode| mode.as_str()).collect();
                Error::Configuration(format!(
                    "{}: history.lookback = {word:?}: known are {}",
                    path.display(),
                    words.join(", ")
                ))
            });
        }
    }
    Ok(LookbackMode::Steps)
}

/// The present, RFC 3339 in UTC.
pub(super) fn now() -> String {
    jiff::Timestamp::now().to_string()
}
