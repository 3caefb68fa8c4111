//! The order of the steps of one measuring run, from the suite to the report.

mod benchmarks;
mod builder;
mod choice;
pub mod ci;
mod compiling;
mod conclude;
mod counting;
mod differences;
pub mod environment;
mod functions;
mod hooks;
mod launch;
mod listing;
mod lockstep;
mod measuring;
mod outside;
mod phase;
mod planning;
mod program;
mod programs;
mod remarks;
mod request_suite;
#[cfg(test)]
mod scripted;
pub mod shard;
mod targets;
mod tools;

use std::collections::BTreeSet;
use std::mem;
use std::path::{Path, PathBuf};

use crate::build::{self, BuildError, CargoSettings, Toolchain, Workspace};
use crate::error::Error;
use crate::machine;
use crate::report::model::Report;
use crate::revision::{Checkout, Repository, Slot, SlotRoot};
use crate::suite::identity::TargetId;
use crate::suite::{Overrides, Selection, Suite};
use crate::ui::Ui;
use environment::Environment;
use request_suite::{cargo_settings, load_suite, user_workspace, user_workspace_at};

pub use request_suite::{Setting, find_manifest, setting, suite};

/// What is asked of a run.
#[derive(Debug, Clone)]
pub struct Request {
    /// The verb.
    pub command: Command,
    /// The revision to compare with; `None`: the suite's, else chosen from the repository.
    pub base: Option<String>,
    /// The revision to judge.
    pub head: HeadRequest,
    /// The revision whose suite drives all others, where head is a commit; `None`: head's own.
    pub suite_of: Option<String>,
    /// More revisions to compare with the base.
    pub further: Vec<String>,
    /// `--manifest-path`; `None`: found from the working directory.
    pub manifest_path: Option<PathBuf>,
    /// Which packages, targets and benchmarks.
    pub selection: Selection,
    /// The flags that lie over the suite.
    pub overrides: Overrides,
    /// Flags that go to cargo unchanged.
    pub cargo: CargoFlags,
    /// Where slots are kept; `None`: the user's cache directory.
    pub cache: Option<PathBuf>,
    /// The seed; `None`: drawn.
    pub seed: Option<u64>,
    /// `--no-fail`.
    pub no_fail: bool,
    /// `--keep`.
    pub keep: bool,
    /// `--dry-run`.
    pub dry_run: bool,
    /// What the CI system says about the base; it comes before the suite's. `None`: nobody asked it.
    pub ci: Option<ci::CiBase>,
    /// The part of the benchmarks that is measured; `None`: all.
    pub shard: Option<shard::ShardRequest>,
    /// Whether base's executables are kept and taken from earlier runs; false with `--no-cache`.
    pub build_cache: bool,
    /// Whether identical programs are not measured; false with `--no-identity`.
    pub identity: bool,
    /// How often everything is measured: 1, or the repeats of [`Command::Aa`].
    pub repeats: u32,
}

/// The verbs that measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Base against head.
    Compare,
    /// Head alone.
    Run,
    /// Head against itself.
    Aa,
}

impl Command {
    /// The word in the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compare => "compare",
            Self::Run => "run",
            Self::Aa => "aa",
        }
    }
}

/// The revision that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadRequest {
    /// The working tree with its uncommitted files.
    WorkingTree,
    /// A revision.
    Revision(String),
}

impl HeadRequest {
    /// The value of `--head`: `worktree`, or a revision.
    pub fn from_flag(flag: &str) -> Self {
        match flag {
            "worktree" => Self::WorkingTree,
            revision => Self::Revision(revision.to_owned()),
        }
    }
}

/// Flags that go to cargo unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CargoFlags {
    /// `--config`.
    pub config: Vec<String>,
    /// `--locked`.
    pub locked: bool,
    /// `--offline`.
    pub offline: bool,
    /// `--frozen`.
    pub frozen: bool,
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// Only the plan was wanted, and nothing was done.
    Planned(Box<Plan>),
    /// There are reports, one for each repeat; never none.
    Finished(Vec<Report>),
}

/// What `--dry-run` shows.
#[derive(Debug)]
pub struct Plan {
    /// What would be built and measured, for people.
    pub steps: String,
    /// The suite that would be measured.
    pub suite: Suite,
}

/// What a run knows from its start on.
struct Context<'a> {
    request: &'a Request,
    environment: &'a Environment,
    ui: &'a Ui,
    repository: Repository,
    /// The workspace's manifest, relative to the repository's root.
    manifest: PathBuf,
    seed: u64,
}

/// Runs the gate: resolves, builds, measures, judges.
///
/// # Errors
///
/// When there is nothing to report: bad configuration or usage, no base, a revision that cannot be checked out, a
/// workspace that does not build at all, or an interrupt before anything was measured.
pub fn run(request: &Request, environment: &Environment, ui: &Ui) -> Result<Outcome, Error> {
    let found = find_manifest(request.manifest_path.as_deref(), &environment.cwd);
    let start = found.as_ref().ok().and_then(|manifest| manifest.parent()).unwrap_or(&environment.cwd);
    let repository = match Repository::discover(start) {
        Ok(repository) => repository,
        // Without a manifest there is nothing to do anywhere.
        Err(error) => return Err(found.err().unwrap_or_else(|| error.into())),
    };
    let mut cargo = cargo_settings(request, environment, ui)?;
    let outer = outside::configs_of(&repository, request, environment, ui);
    cargo.config.splice(0..0, outer);
    let seed = request.seed.unwrap_or_else(drawn_seed);
    if !repository.has_work_tree() {
        // Where the user stands there are no files of it: the manifest is that of head.
        let manifest = request.manifest_path.clone().unwrap_or_else(|| PathBuf::from("Cargo.toml"));
        let context = Context { request, environment, ui, manifest: manifest.clone(), seed, repository };
        let head = choice::head(&context)?;
        return run_revision(context, cargo, head, &manifest);
    }
    let manifest = found?;
    let user_workspace = user_workspace(environment, &cargo, &manifest)?;
    let relative = |path: &Path| {
        repository.relative(path).ok_or_else(|| {
            Error::Usage(format!(
                "{} lies outside the repository {}; run inside the repository that holds it",
                path.display(),
                repository.root().display()
            ))
        })
    };
    let package = relative(&manifest)?;
    let context = Context {
        request,
        environment,
        ui,
        manifest: relative(&user_workspace.metadata.workspace_root.as_std_path().join("Cargo.toml"))?,
        seed,
        repository,
    };
    let head = choice::head(&context)?;
    match &request.head {
        // The suite is checked before anything is checked out.
        HeadRequest::WorkingTree => {
            let suite = load_suite(request, &user_workspace, &context.repository.root().join(package))?;
            run_suite(&context, cargo, &suite, head, None)
        }
        HeadRequest::Revision(_) => run_revision(context, cargo, head, &package),
    }
}

/// Head's suite drives all revisions unless another one's is asked for, so a head that is a commit is checked out to read it. `package` is the manifest of
/// the directory the user stands in, relative to the repository's root.
fn run_revision(
    mut context: Context<'_>,
    cargo: CargoSettings,
    head: choice::Side,
    package: &Path,
) -> Result<Outcome, Error> {
    let slot = acquire_slot(&context)?;
    let other = other_suite(&context, &cargo, &slot, &head, package)?;
    let checkout = builder::check_out(&context, &slot, &head, &head.name)?;
    slot.point_at(&head.name).map_err(|error| builder::failed_to_point(&error))?;
    let tree = slot.live_tree();
    if !tree.join(&context.manifest).is_file() {
        return Err(Error::Usage(format!(
            "{} has no {}, so there is nothing to measure; name another revision with --head, or none for the \
             working tree",
            head.label(),
            context.manifest.display()
        )));
    }
    let workspace = user_workspace_at(&cargo, &tree.join(&context.manifest), &tree)?;
    if let Ok(root) = workspace.metadata.workspace_root.as_std_path().strip_prefix(&tree) {
        context.manifest = root.join("Cargo.toml");
    }
    let suite = match other {
        Some(mut suite) => {
            let there: BTreeSet<TargetId> = workspace.targets().into_iter().map(|info| info.id).collect();
            suite.keep_targets(|target| there.contains(target));
            if suite.targets().is_empty() {
                let label = head.label();
                return Err(Error::Usage(format!("{label} has none of the targets that are measured")));
            }
            suite
        }
        None => load_suite(context.request, &workspace, &tree.join(package))?,
    };
    run_suite(&context, cargo, &suite, head, Some((slot, checkout, workspace)))
}

/// The suite of the revision that is to drive head, where that is another commit.
fn other_suite(
    context: &Context<'_>,
    cargo: &CargoSettings,
    slot: &Slot,
    head: &choice::Side,
    package: &Path,
) -> Result<Option<Suite>, Error> {
    let Some(spec) = &context.request.suite_of else { return Ok(None) };
    let commit = context.repository.resolve(spec)?;
    if commit.id == head.commit.id {
        return Ok(None);
    }
    let side = choice::Side::of_commit("suite", spec, commit);
    // Gone again once it is read.
    let _checkout = builder::check_out(context, slot, &side, &side.name)?;
    slot.point_at(&side.name).map_err(|error| builder::failed_to_point(&error))?;
    let tree = slot.live_tree();
    let workspace = user_workspace_at(cargo, &tree.join(&context.manifest), &tree)?;
    load_suite(context.request, &workspace, &tree.join(package)).map(Some)
}

/// The steps once the suite is known.
fn run_suite(
    context: &Context<'_>,
    mut cargo: CargoSettings,
    suite: &Suite,
    head: choice::Side,
    ready: Option<(Slot, Checkout, Workspace)>,
) -> Result<Outcome, Error> {
    let (request, ui) = (context.request, context.ui);
    cargo.profile.clone_from(&suite.run.profile);
    cargo.features.clone_from(&suite.run.features);
    cargo.all_features = suite.run.all_features;
    cargo.no_default_features = suite.run.no_default_features;
    cargo.target.clone_from(&suite.run.target);
    cargo.symbols = suite.names(&crate::suite::metric::Metric::Instructions);
    if let Some(name) = &suite.run.toolchain {
        cargo.toolchain = toolchain_of_the_suite(name, context)?;
    }
    let chosen = choice::choose(context, suite, head)?;
    choice::announce(&chosen, ui);
    if request.dry_run {
        for note in &suite.notes {
            ui.note(note);
        }
        let steps = choice::steps(&chosen, suite, context.seed);
        return Ok(Outcome::Planned(Box::new(Plan { steps, suite: suite.clone() })));
    }
    let toolchain = build::toolchain_info(&cargo, &context.environment.cwd)?;
    cargo.host = Some(toolchain.host.clone());
    let mut header = conclude::header(context, &chosen, suite, &cargo, &toolchain);
    let (slot, checkout, workspace) = match ready {
        Some((slot, checkout, workspace)) => (slot, checkout, Some(workspace)),
        None => {
            let slot = acquire_slot(context)?;
            let checkout = builder::check_out(context, &slot, &chosen.head, &chosen.head.name)?;
            (slot, checkout, None)
        }
    };
    header.warnings.extend(outside::link_packages(context, &slot, &chosen, &checkout)?);
    let (mark, value) = crate::measure::leftover_mark(slot.directory());
    cargo.env.push((mark.into(), value));
    let builder = builder::Builder::new(context, suite, &cargo, &slot, &toolchain);
    let mut programs = builder.build((checkout, workspace), &chosen)?;
    header.builds = mem::take(&mut programs.builds);
    header.dependency_changes = mem::take(&mut programs.dependency_changes);
    header.warnings.extend(programs.warnings.iter().cloned());
    header.warnings.extend(header.machine.as_ref().map(machine::advice).unwrap_or_default());
    let seeds: Vec<u64> =
        (0..u64::from(request.repeats.max(1))).map(|repeat| context.seed.wrapping_add(repeat)).collect();
    let measured = measuring::measure(context, suite, &slot, &programs, &seeds);
    let cleaned = programs.finish(request.keep, ui);
    let reports = measured?
        .into_iter()
        .zip(seeds)
        .map(|(measured, seed)| conclude::report(header.clone(), seed, measured, &cleaned))
        .collect();
    Ok(Outcome::Finished(reports))
}

/// The toolchain that the suite names.
fn toolchain_of_the_suite(name: &str, context: &Context<'_>) -> Result<Toolchain, Error> {
    let environment = context.environment;
    Toolchain::resolve(&environment.variables, Some(name), &environment.cwd).map_err(|error| {
        let plain = name.trim_start_matches('+');
        let help = match &error {
            BuildError::Start { .. } => {
                "it takes rustup to build with another toolchain; see https://rustup.rs".to_owned()
            }
            _ => format!("`rustup toolchain install {plain}` installs it"),
        };
        Error::Execution(format!("`toolchain = \"{name}\"`: {error}\n{help}"))
    })
}

/// A slot of the cache, freed of what killed runs left.
fn acquire_slot(context: &Context<'_>) -> Result<Slot, Error> {
    let cache = context.request.cache.as_ref().unwrap_or(&context.environment.cache);
    refuse_cache_inside(cache, context)?;
    let slots = SlotRoot::new(cache, &context.repository)?;
    slots.sweep()?;
    let slot = slots.acquire()?;
    if !slot.directory().ends_with("slot-00") {
        context.ui.note("another run uses this repository's builds; this one has its own, which may have to be built first");
    }
    Ok(slot)
}

/// A cache inside the repository would put worktrees there, where cargo finds the outer workspace.
fn refuse_cache_inside(cache: &Path, context: &Context<'_>) -> Result<(), Error> {
    let absolute = context.environment.cwd.join(cache);
    if context.repository.has_work_tree() && absolute.starts_with(context.repository.root()) {
        return Err(Error::Usage(format!(
            "the directory {} for worktrees and builds lies inside the repository, where cargo would find the outer workspace; \
             name one outside with --target-dir or BENCHGATE_CACHE_DIR",
            absolute.display()
        )));
    }
    Ok(())
}

/// A seed from the system's randomness, small enough for every JSON reader.
fn drawn_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one("seed") >> 12
}
