//! One revision's bench targets, built by cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use super::answer::Answer;
use super::config::CargoConfig;
use super::metadata::missing_features;
use super::process::{display, run};
use super::target::{built_target, live, surroundings};
use super::{BuildError, BuiltTarget, CargoSettings, Diagnostics, Workspace};
use crate::suite::identity::{TargetId, TargetKind};

/// Where one revision is built. The caller has flipped the fixed path to this revision, and leaves it so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildPlace {
    /// How messages call the revision, such as `base (4f2a91c)`.
    pub revision: String,
    /// The checkout, behind the fixed path both revisions share.
    pub live_tree: PathBuf,
    /// The target directory, behind the same.
    pub live_target: PathBuf,
    /// The checkout itself.
    pub tree: PathBuf,
    /// The target directory itself.
    pub target: PathBuf,
    /// The workspace's directory below the checkout; empty for its root.
    pub workspace: PathBuf,
}

impl BuildPlace {
    /// Where cargo runs, behind the fixed path: it looks for its configuration from there upwards.
    pub fn cwd(&self) -> PathBuf {
        below(&self.live_tree, &self.workspace)
    }
}

/// Without a slash at the end where there is nothing below.
fn below(tree: &Path, workspace: &Path) -> PathBuf {
    tree.join(workspace).components().collect()
}

/// What came of building.
#[derive(Debug, Clone, Default)]
pub struct Built {
    /// Every asked-for target the revision has.
    pub targets: BTreeMap<TargetId, Result<BuiltTarget, TargetFailure>>,
    /// Asked-for targets the revision does not have.
    pub missing: Vec<TargetId>,
    /// Lines on cargo's standard output that are not its messages.
    pub text: Vec<String>,
    /// Whether sources outside the checkout were compiled that no lock file pins.
    pub has_foreign_sources: bool,
    /// Units that were compiled.
    pub compiled: usize,
    /// Units that were up to date.
    pub fresh: usize,
}

/// Why one target among several could not be built. The compiler's own words are on standard error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{target} did not build: `{command}` ended with {exit}")]
pub struct TargetFailure {
    /// The target.
    pub target: TargetId,
    /// The command as the user could paste it.
    pub command: String,
    /// How it ended.
    pub exit: String,
}

/// One cargo call.
#[derive(Debug, Default)]
struct Call {
    manifest: PathBuf,
    extra_features: BTreeSet<String>,
    targets: Vec<TargetId>,
}

/// Builds targets of the workspace, which was asked for behind the fixed path.
///
/// Cargo unifies features over the packages of one call. Two revisions get comparable executables when they are asked
/// for the same targets; build those that only one of them has by a call of their own.
///
/// # Errors
/// [`BuildError::Failed`] when none of the targets could be built; a failure of some is in [`Built::targets`].
pub fn build_targets(
    settings: &CargoSettings,
    place: &BuildPlace,
    workspace: &Workspace,
    targets: &[TargetId],
    diagnostics: &Diagnostics,
    stop: &AtomicBool,
) -> Result<Built, BuildError> {
    // Cargo's configuration speaks in paths as the kernel knows them.
    let tree = fs_err::canonicalize(&place.tree).map_err(BuildError::io("find a checkout"))?;
    let place = &BuildPlace { tree, ..place.clone() };
    let manifest = workspace.metadata.workspace_root.as_std_path().join("Cargo.toml");
    let known: BTreeMap<TargetId, Vec<String>> =
        workspace.targets().into_iter().map(|info| (info.id, info.required_features)).collect();
    let (present, missing): (BTreeSet<&TargetId>, BTreeSet<&TargetId>) =
        targets.iter().partition(|target| known.contains_key(*target));
    let mut built = Built { missing: missing.into_iter().cloned().collect(), ..Built::default() };
    if present.is_empty() {
        return Ok(built);
    }
    let config = CargoConfig::load(settings, &below(&place.tree, &place.workspace))?;
    let surroundings = surroundings(settings, place, &config)?;
    let mut failed = None;
    let mut started = false;
    for call in calls(settings, workspace, &manifest, &present, &known) {
        let command = command(settings, place, &config, workspace, &call);
        let mut answer = Answer::default();
        let status = run(&command, settings.guard.as_deref(), diagnostics, stop, |line| {
            answer.take(line, &mut built.text)
        })?;
        started |= answer.finished;
        built.has_foreign_sources |= answer.has_foreign_sources(&place.live_tree);
        built.fresh += answer.artifacts.iter().filter(|artifact| artifact.fresh).count();
        built.compiled += answer.artifacts.iter().filter(|artifact| !artifact.fresh).count();
        if status.success() && !answer.finished {
            return Err(BuildError::Answer {
                command: display(&command),
                reason: "cargo succeeded without saying that the build is finished".to_owned(),
            });
        }
        for target in &call.targets {
            let package =
                workspace.package(&target.package).expect("only targets of known packages are built");
            let outcome = match answer.executable(target, &package.id) {
                Some(artifact) => {
                    Ok(built_target(settings, place, &surroundings, workspace, target, &answer, artifact)?)
                }
                None => {
                    let exit = status.to_string();
                    Err(TargetFailure { target: target.clone(), command: display(&command), exit })
                }
            };
            if let Err(failure) = &outcome {
                failed = Some(failure.clone());
            }
            built.targets.insert(target.clone(), outcome);
        }
    }
    match failed {
        Some(TargetFailure { command, exit, .. }) if built.targets.values().all(Result::is_err) => {
            Err(BuildError::Failed { revision: place.revision.clone(), command, exit, started })
        }
        _ => Ok(built),
    }
}

/// Splits the targets into as few calls as give each what `cargo bench` or `cargo run` of it alone would.
fn calls(
    settings: &CargoSettings,
    workspace: &Workspace,
    manifest: &Path,
    present: &BTreeSet<&TargetId>,
    known: &BTreeMap<TargetId, Vec<String>>,
) -> Vec<Call> {
    // Programs are apart, since the features dev-dependencies ask for are not theirs. They come first, since a bench
    // of their package makes cargo put its variant of the program at the same place.
    let mut calls: BTreeMap<(bool, String, BTreeSet<String>), Call> = BTreeMap::new();
    for target in present {
        let package = workspace.package(&target.package).expect("only targets of known packages are built");
        let extra_features = missing_features(settings, package, &known[*target]);
        // Which package `--features` speaks to depends on the manifest, so such a call has its own.
        let (alone, manifest) = match extra_features.is_empty() {
            true => (String::new(), manifest),
            false => (target.package.clone(), package.manifest_path.as_std_path()),
        };
        let call = calls.entry((target.kind != TargetKind::Bin, alone, extra_features.clone())).or_default();
        call.manifest = manifest.to_owned();
        call.extra_features = extra_features;
        call.targets.push((*target).clone());
    }
    calls.into_values().collect()
}

/// `cargo build` of bench targets makes the very units of `cargo bench --no-run`, and only it has `--keep-going`: one
/// target that does not compile must not hide the others.
fn command(
    settings: &CargoSettings,
    place: &BuildPlace,
    config: &CargoConfig,
    workspace: &Workspace,
    call: &Call,
) -> Command {
    let mut command = settings.cargo("build", &place.cwd());
    // A `build.build-dir` of the user would be one directory for both revisions, whose paths are equal.
    command.env("CARGO_BUILD_BUILD_DIR", &place.live_target);
    command.args(["--keep-going", "--message-format=json-render-diagnostics"]);
    command.args(["--profile", &settings.profile]);
    if settings.quiet {
        command.arg("--quiet");
    }
    if settings.verbosity > 0 {
        command.arg(format!("-{}", "v".repeat(settings.verbosity.into())));
    }
    if let Some(target) = &settings.target {
        command.args(["--target", target]);
    }
    for feature in settings.features.iter().chain(&call.extra_features) {
        command.args(["--features", feature]);
    }
    if settings.all_features {
        command.arg("--all-features");
    }
    if settings.no_default_features {
        command.arg("--no-default-features");
    }
    for argument in relocations(place, config) {
        command.args(["--config", &argument]);
    }
    if settings.symbols {
        // Where nothing else is said this is cargo's own default, so it makes nothing be built again. Of several words the
        // last one counts.
        command.args(["--config", &format!("profile.{}.strip=\"debuginfo\"", settings.profile)]);
    }
    command.arg("--manifest-path").arg(&call.manifest);
    command.arg("--target-dir").arg(&place.live_target);
    let packages: BTreeSet<&str> = call.targets.iter().map(|target| target.package.as_str()).collect();
    for name in packages {
        let package = workspace.package(name).expect("only targets of known packages are built");
        // The name alone could also mean a dependency of the same name.
        command.args(["--package", &package.id.repr]);
    }
    let names: BTreeSet<(TargetKind, &str)> =
        call.targets.iter().map(|target| (target.kind, target.target.as_str())).collect();
    for (kind, name) in names {
        command.args([&format!("--{kind}"), name]);
    }
    command
}

/// Cargo finds its configuration from where it runs, which the kernel tells it without the link; what it then makes
/// absolute would differ between the revisions and end up inside the executables.
fn relocations(place: &BuildPlace, config: &CargoConfig) -> Vec<String> {
    let text = |path: &Path| live(place, path).and_then(|path| Some(toml_string(path.to_str()?)));
    let mut arguments = Vec::new();
    for (name, entry) in config.env() {
        let Some(value) = text(Path::new(&entry.value)).filter(|_| entry.relative) else { continue };
        let key = toml_string(&name);
        arguments.push(format!("env.{key}.value={value}"));
        arguments.push(format!("env.{key}.relative=false"));
        arguments.push(format!("env.{key}.force={}", entry.force));
    }
    for (name, key, directory) in config.source_directories() {
        if let Some(directory) = text(&directory) {
            arguments.push(format!("source.{}.{key}={directory}", toml_string(&name)));
        }
    }
    arguments
}

fn toml_string(text: &str) -> String {
    toml::Value::from(text).to_string()
}
