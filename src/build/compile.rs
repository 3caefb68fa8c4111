//! One revision's bench targets, built by cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use cargo_metadata::cargo_platform::Cfg;

use super::answer::Answer;
use super::config::{CargoConfig, EnvEntry};
use super::environment::{Inputs, environment};
use super::metadata::{harness_crates, missing_features, uses_libtest};
use super::process::{ask, display, run};
use super::toolchain::{rustc, toolchain_info};
use super::{Artifact, BuildError, CargoSettings, Diagnostics, Workspace, cargo_metadata};
use crate::harness::contract::Executable;
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
    /// Units that were compiled.
    pub compiled: usize,
    /// Units that were up to date.
    pub fresh: usize,
}

/// A built target, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltTarget {
    /// The program with all it is started with.
    pub executable: Executable,
    /// What the file tells.
    pub artifact: Artifact,
    /// Whether the manifest leaves the target to libtest; `None` where that is not a question (programs, examples).
    pub uses_libtest: Option<bool>,
    /// Crates among the package's dependencies that are harnesses: candidates, no proof.
    pub harness_crates: Vec<&'static str>,
    /// The features of the package it was built with.
    pub features: Vec<String>,
    /// Programs of the package that were built with it and that it may start.
    pub programs: BTreeMap<String, PathBuf>,
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

/// What all executables of a revision have in common.
struct Surroundings {
    cargo: PathBuf,
    output: PathBuf,
    libraries: PathBuf,
    runner: Vec<std::ffi::OsString>,
    env: BTreeMap<String, EnvEntry>,
}

/// Builds targets of the workspace whose manifest is `manifest` (relative to the tree).
///
/// Cargo unifies features over the packages of one call. Two revisions get comparable executables when they are asked
/// for the same targets; build those that only one of them has by a call of their own.
///
/// # Errors
/// [`BuildError::Failed`] when none of the targets could be built; a failure of some is in [`Built::targets`].
pub fn build_targets(
    settings: &CargoSettings,
    place: &BuildPlace,
    manifest: &Path,
    targets: &[TargetId],
    diagnostics: &Diagnostics,
    stop: &AtomicBool,
) -> Result<Built, BuildError> {
    // Cargo's configuration speaks in paths as the kernel knows them.
    let tree = fs_err::canonicalize(&place.tree).map_err(BuildError::io("find a checkout"))?;
    let place = &BuildPlace { tree, ..place.clone() };
    let manifest = place.live_tree.join(manifest);
    let workspace = cargo_metadata(settings, &manifest, &place.live_tree)?;
    let known: BTreeMap<TargetId, Vec<String>> =
        workspace.targets().into_iter().map(|info| (info.id, info.required_features)).collect();
    let (present, missing): (BTreeSet<&TargetId>, BTreeSet<&TargetId>) =
        targets.iter().partition(|target| known.contains_key(*target));
    let mut built = Built { missing: missing.into_iter().cloned().collect(), ..Built::default() };
    if present.is_empty() {
        return Ok(built);
    }
    let config = CargoConfig::load(settings, &place.tree)?;
    let surroundings = surroundings(settings, place, &config)?;
    let mut failed = None;
    for call in calls(settings, &workspace, &manifest, &present, &known) {
        let mut command = command(settings, place, &config, &workspace, &call);
        let mut answer = Answer::default();
        let status = run(&mut command, diagnostics, stop, |line| answer.take(line, &mut built.text))?;
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
                    Ok(built_target(settings, place, &surroundings, &workspace, target, &answer, artifact)?)
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
            Err(BuildError::Failed { revision: place.revision.clone(), command, exit })
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
    let mut command = settings.cargo("build", &place.live_tree);
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

/// The path behind the fixed one, if it is in the tree.
fn live(place: &BuildPlace, path: &Path) -> Option<PathBuf> {
    path.strip_prefix(&place.tree).ok().map(|relative| place.live_tree.join(relative))
}

fn surroundings(
    settings: &CargoSettings,
    place: &BuildPlace,
    config: &CargoConfig,
) -> Result<Surroundings, BuildError> {
    let chosen = settings.target.clone();
    let chosen = chosen.or_else(|| Some(settings.variable("CARGO_BUILD_TARGET")?.to_str()?.to_owned()));
    let chosen = chosen.or_else(|| config.build_target());
    let triple = match &chosen {
        Some(target) => target.clone(),
        None => toolchain_info(settings, &place.live_tree)?.host,
    };
    let print = |what: &str| {
        let mut command = rustc(settings, &place.live_tree);
        command.args(["--print", what, "--target", &triple]);
        ask(&mut command, "ask rustc for the target")
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut output = place.live_target.clone();
    if let Some(target) = &chosen {
        // A target may be described by a file; its directory has the name of the file.
        let name = Path::new(target.strip_suffix(".json").unwrap_or(target)).file_name();
        output.push(name.unwrap_or_default());
    }
    output.push(match settings.profile.as_str() {
        "bench" | "release" => "release",
        "dev" | "test" => "debug",
        other => other,
    });
    let cfgs = || {
        let parse = |line: &str| {
            Cfg::from_str(line).map_err(|error| BuildError::Answer {
                command: "rustc --print cfg".to_owned(),
                reason: error.to_string(),
            })
        };
        print("cfg")?.lines().map(parse).collect()
    };
    let mut runner = config.runner(settings, &triple, cfgs)?;
    if let Some(program) = runner.first_mut()
        && let Some(path) = live(place, Path::new(program))
    {
        *program = path.into();
    }
    let mut env = config.env();
    for entry in env.values_mut().filter(|entry| entry.relative) {
        if let Some(path) = live(place, Path::new(&entry.value)) {
            entry.value = path.into();
        }
    }
    Ok(Surroundings {
        cargo: settings.toolchain.cargo.clone(),
        output,
        libraries: PathBuf::from(print("target-libdir")?.trim_end()),
        runner,
        env,
    })
}

fn built_target(
    settings: &CargoSettings,
    place: &BuildPlace,
    surroundings: &Surroundings,
    workspace: &Workspace,
    target: &TargetId,
    answer: &Answer,
    artifact: &cargo_metadata::Artifact,
) -> Result<BuiltTarget, BuildError> {
    let package = workspace.package(&target.package).expect("only targets of known packages are built");
    let manifest = package.manifest_path.as_std_path();
    let package_root = manifest.parent().unwrap_or(&place.live_tree).to_owned();
    let file = artifact.executable.as_ref().expect("only artifacts with an executable are chosen");
    let mut path = file.as_std_path().to_owned();
    if !path.starts_with(&place.live_target) {
        // Elsewhere two revisions would share files, and one would be measured in place of the other.
        return Err(BuildError::Answer {
            command: "cargo build".to_owned(),
            reason: format!(
                "{} is not in the target directory {}; remove build.build-dir and build.artifact-dir from cargo's configuration",
                path.display(),
                place.live_target.display()
            ),
        });
    }
    if target.kind == TargetKind::Bin {
        // The next call may put another variant at this place.
        let own = place.live_target.join("benchgate").join(&target.package);
        fs_err::create_dir_all(&own).map_err(BuildError::io("keep a program"))?;
        let copy = own.join(path.file_name().unwrap_or_default());
        // A new file, never a rewritten one: the old may still be running, or be a link to something of cargo's.
        let unlinked = fs_err::remove_file(&copy);
        if unlinked.is_err() && copy.exists() {
            unlinked.map_err(BuildError::io("keep a program"))?;
        }
        fs_err::copy(&path, &copy).map_err(BuildError::io("keep a program"))?;
        path = copy;
    }
    let programs = match target.kind {
        TargetKind::Bench => answer.programs(&package.id),
        TargetKind::Bin | TargetKind::Example => BTreeMap::new(),
    };
    let env = environment(&Inputs {
        parent: &settings.env,
        cargo: &surroundings.cargo,
        package,
        rust_version: workspace.rust_version(package),
        build_script: answer.script(&package.id, &surroundings.output),
        programs: &programs,
        native: &answer.native(),
        output: &surroundings.output,
        libraries: &surroundings.libraries,
        config: &surroundings.env,
    });
    let uses_libtest = match target.kind {
        TargetKind::Bench => Some(uses_libtest(manifest, &target.target)?),
        TargetKind::Bin | TargetKind::Example => None,
    };
    Ok(BuiltTarget {
        artifact: Artifact::read(&path)?,
        executable: Executable {
            kind: target.kind,
            path,
            package_root,
            env,
            runner: surroundings.runner.clone(),
        },
        uses_libtest,
        harness_crates: harness_crates(package),
        features: artifact.features.clone(),
        programs,
    })
}
