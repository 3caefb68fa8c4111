//! A built target with all it is started with: the program, its environment, what it may start or load.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cargo_metadata::cargo_platform::Cfg;

use super::answer::Answer;
use super::config::{CargoConfig, EnvEntry};
use super::environment::{Inputs, Recipe};
use super::metadata::{harness_crates, uses_libtest};
use super::process::ask;
use super::toolchain::{rustc, toolchain_info};
use super::{Artifact, BuildError, BuildPlace, CargoSettings, Workspace};
use crate::harness::contract::Executable;
use crate::suite::identity::{TargetId, TargetKind};

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
    /// Dynamic libraries it may load, by what names them on both sides.
    pub libraries: BTreeMap<String, PathBuf>,
    /// What the build scripts of the workspace's packages generated, by package.
    pub generated: BTreeMap<String, PathBuf>,
    /// What the environment of `executable` was made from.
    pub(super) recipe: Recipe,
}

/// What all executables of a revision have in common.
pub(super) struct Surroundings {
    cargo: PathBuf,
    output: PathBuf,
    libraries: PathBuf,
    runner: Vec<std::ffi::OsString>,
    env: BTreeMap<String, EnvEntry>,
}

pub(super) fn surroundings(
    settings: &CargoSettings,
    place: &BuildPlace,
    config: &CargoConfig,
) -> Result<Surroundings, BuildError> {
    let chosen = config.target(settings);
    let triple = match chosen.as_ref().or(settings.host.as_ref()) {
        Some(target) => target.clone(),
        None => toolchain_info(settings, &place.cwd())?.host,
    };
    let print = |what: &str| {
        let mut command = rustc(settings, config, &place.cwd());
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

pub(super) fn built_target(
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
    let native = answer.native();
    let recipe = Recipe::new(&Inputs {
        cargo: &surroundings.cargo,
        package,
        rust_version: workspace.rust_version(package),
        build_script: answer.script(&package.id, &surroundings.output),
        programs: &programs,
        native: &native,
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
            env: recipe.environment(&settings.env),
            runner: surroundings.runner.clone(),
        },
        uses_libtest,
        harness_crates: harness_crates(package),
        features: artifact.features.clone(),
        programs,
        libraries: answer.libraries(&native, &place.live_target),
        generated: answer.generated(&surroundings.output),
        recipe,
    })
}

/// The path behind the fixed one, if it is in the tree.
pub(super) fn live(place: &BuildPlace, path: &Path) -> Option<PathBuf> {
    path.strip_prefix(&place.tree).ok().map(|relative| place.live_tree.join(relative))
}
