//! `init`: writes the suite table, the files of a CI system, or a git hook. Nothing is overwritten unasked.

mod change;
mod files;
mod hook;
mod table;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::options::OutputFlags;
use crate::error::{Error, ExitCode};
use crate::gate;
use crate::revision::Repository;
use crate::ui::Ui;

/// Arguments of `init`.
#[derive(Debug, Clone, Args)]
pub(super) struct InitArgs {
    /// Write the files of a CI system in place of the table in Cargo.toml
    #[arg(long, value_name = "SYSTEM")]
    ci: Option<CiSystem>,
    /// Install a git hook in place of the table in Cargo.toml
    #[arg(long, value_name = "HOOK", conflicts_with = "remove_hook")]
    hook: Option<Hook>,
    /// Remove a git hook that `--hook` installed
    #[arg(long, value_name = "HOOK")]
    remove_hook: Option<Hook>,
    /// Write the table for all packages of the workspace, into the manifest at its root
    #[arg(long, conflicts_with_all = ["ci", "hook", "remove_hook"])]
    workspace: bool,
    /// Show what would be written, and stop
    #[arg(long)]
    dry_run: bool,
    /// Overwrite files that are there and differ
    #[arg(long)]
    force: bool,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// The CI systems there are files for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CiSystem {
    /// GitHub Actions
    Github,
    /// GitLab CI
    Gitlab,
}

/// The git hooks there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Hook {
    /// Before a push
    PrePush,
}

/// Writes what is asked for; alone, the table in Cargo.toml.
pub(super) fn init(args: &InitArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let cwd = std::env::current_dir()
        .map_err(|error| Error::Execution(format!("failed to find the working directory: {error}")))?;
    let mut changes = Vec::new();
    if let Some(system) = args.ci {
        let place = Place::find(args, &cwd)?;
        changes.extend(match system {
            CiSystem::Github => files::github(&place),
            CiSystem::Gitlab => files::gitlab(&place, ui)?,
        });
    }
    if args.hook.is_some() {
        changes.push(hook::install(&Repository::discover(&cwd)?, args.force)?);
    }
    if args.remove_hook.is_some() {
        changes.extend(hook::remove(&Repository::discover(&cwd)?, args.force, ui)?);
    }
    let is_alone = args.ci.is_none() && args.hook.is_none() && args.remove_hook.is_none();
    if is_alone {
        let manifest = gate::find_manifest(args.manifest_path.as_deref(), &cwd)?;
        let branch = Repository::discover(&cwd).ok().and_then(|repository| repository.default_branch_name());
        changes.push(table::insert(&manifest, args.workspace, branch.as_deref().unwrap_or("main"))?);
    }
    change::carry_out(&changes, args.dry_run, args.force, ui)?;
    if !args.dry_run && !changes.is_empty() {
        say_what_next(args, is_alone, ui);
    }
    Ok(ExitCode::Success)
}

fn say_what_next(args: &InitArgs, is_alone: bool, ui: &Ui) {
    match args.ci {
        Some(CiSystem::Github) => ui.note(
            "commit both files; comments begin once benchgate-comment.yml is on the default branch, the gate with the first pull \
             request",
        ),
        Some(CiSystem::Gitlab) => ui.note("commit the files; the job runs in the next merge request"),
        None if is_alone => ui.note("every line of the table is a comment; `cargo benchgate list` shows what holds"),
        None => {}
    }
}

/// Where a repository and its crate are.
struct Place {
    /// The root of the working tree.
    root: PathBuf,
    /// The directory of the manifest below it; empty at the root itself.
    below: PathBuf,
    /// The default branch.
    branch: String,
}

impl Place {
    fn find(args: &InitArgs, cwd: &Path) -> Result<Self, Error> {
        let repository = Repository::discover(cwd)?;
        if !repository.has_work_tree() {
            return Err(Error::Usage(
                "the repository is bare; run in a clone with a working tree".to_owned(),
            ));
        }
        let manifest = gate::find_manifest(args.manifest_path.as_deref(), cwd)?;
        let directory = repository.relative(manifest.parent().unwrap_or(cwd)).ok_or_else(|| {
            Error::Usage(format!(
                "{} lies outside the repository {}",
                manifest.display(),
                repository.root().display()
            ))
        })?;
        Ok(Self {
            root: repository.root().to_owned(),
            below: directory,
            branch: repository.default_branch_name().unwrap_or_else(|| "main".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_systems_and_hooks_are_those_of_the_documentation() {
        let names: Vec<String> = CiSystem::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .chain(Hook::value_variants().iter().filter_map(ValueEnum::to_possible_value))
            .map(|value| value.get_name().to_owned())
            .collect();
        assert_eq!(names, ["github", "gitlab", "pre-push"]);
    }
}
