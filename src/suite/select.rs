//! Which packages and bench targets a command line selects.

use cargo_metadata::{Metadata, Package};

use super::error::SelectionError;
use super::filter::Globs;
use super::identity::TargetKind;
use super::keys::nearest;

/// What the command line selects, in cargo's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// `-p`: names, `name@version`, or globs; empty: the current package, else the default members.
    pub packages: Vec<String>,
    /// `--workspace`.
    pub workspace: bool,
    /// `--exclude`: names or globs; only with `workspace`.
    pub exclude: Vec<String>,
    /// The package whose directory the command runs in.
    pub current_package: Option<String>,
    /// `--bench`: target names or globs; empty is all.
    pub benches: Vec<String>,
    /// `--filter`: globs over benchmark ids or `target/id`; empty is all.
    pub filters: Vec<String>,
    /// `--skip`: the same, left out.
    pub skips: Vec<String>,
    /// Text after `--`: ids must contain one of them; empty is all.
    pub containing: Vec<String>,
}

impl Selection {
    /// Whether it leaves anything out by name.
    pub fn is_narrowed(&self) -> bool {
        let words =
            [&self.packages, &self.exclude, &self.benches, &self.filters, &self.skips, &self.containing];
        words.iter().any(|words| !words.is_empty())
    }
}

/// The members of the workspace, in the order of their names.
pub(super) fn members(metadata: &Metadata) -> Vec<&Package> {
    let mut members: Vec<_> =
        metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id)).collect();
    members.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    members
}

/// The selected packages, in the order of their names; never empty.
pub(super) fn select_packages<'a>(
    metadata: &'a Metadata,
    selection: &Selection,
) -> Result<Vec<&'a Package>, SelectionError> {
    let members = members(metadata);
    if !selection.exclude.is_empty() && !selection.workspace {
        return Err(SelectionError::ExcludeWithoutWorkspace);
    }
    let excluded = matching(&members, &selection.exclude, "--exclude")?;
    if selection.workspace {
        let left: Vec<_> = members
            .iter()
            .copied()
            .filter(|member| !excluded.iter().any(|out| out.id == member.id))
            .collect();
        return match left.as_slice() {
            [] => Err(SelectionError::AllExcluded { known: names(&members) }),
            _ => Ok(left),
        };
    }
    if !selection.packages.is_empty() {
        return matching(&members, &selection.packages, "--package");
    }
    if let Some(current) = &selection.current_package {
        return matching(&members, std::slice::from_ref(current), "--package");
    }
    // Cargo before 1.71 does not list default members.
    let defaults = &metadata.workspace_default_members;
    if defaults.is_available() && !defaults.is_empty() {
        return Ok(members.into_iter().filter(|member| defaults.contains(&member.id)).collect());
    }
    Ok(members)
}

/// The members any pattern matches; every pattern must match one.
fn matching<'a>(
    members: &[&'a Package],
    patterns: &[String],
    flag: &str,
) -> Result<Vec<&'a Package>, SelectionError> {
    let mut chosen: Vec<&Package> = Vec::new();
    for pattern in patterns {
        let globs = globs(std::slice::from_ref(pattern), flag)?;
        let hits: Vec<_> = members
            .iter()
            .copied()
            .filter(|member| {
                globs.is_match(&member.name) || globs.is_match(&format!("{}@{}", member.name, member.version))
            })
            .collect();
        if hits.is_empty() {
            let known = names(members);
            return Err(SelectionError::NoSuchPackage {
                pattern: pattern.clone(),
                nearest: nearest(pattern, &known),
                known,
            });
        }
        chosen.extend(hits);
    }
    Ok(members.iter().copied().filter(|member| chosen.iter().any(|hit| hit.id == member.id)).collect())
}

fn names(packages: &[&Package]) -> Vec<String> {
    packages.iter().map(|package| package.name.to_string()).collect()
}

/// Globs of a flag.
pub(super) fn globs(patterns: &[String], flag: &str) -> Result<Globs, SelectionError> {
    Globs::new(patterns).map_err(|(pattern, invalid)| SelectionError::BadPattern {
        flag: flag.to_owned(),
        pattern,
        reason: invalid.problem,
    })
}

/// The names of a package's targets of that kind, in the order of the manifest.
pub(super) fn targets_of(
    package: &Package,
    kind: TargetKind,
) -> impl Iterator<Item = &cargo_metadata::Target> {
    let cargo_kind = match kind {
        TargetKind::Bench => cargo_metadata::TargetKind::Bench,
        TargetKind::Bin => cargo_metadata::TargetKind::Bin,
        TargetKind::Example => cargo_metadata::TargetKind::Example,
    };
    package.targets.iter().filter(move |target| target.kind.contains(&cargo_kind))
}

/// The error of a selection without bench targets.
pub(super) fn no_targets(metadata: &Metadata, selected: &[&Package]) -> SelectionError {
    let has_benches = |package: &&Package| targets_of(package, TargetKind::Bench).next().is_some();
    let elsewhere: Vec<_> = members(metadata).into_iter().filter(has_benches).collect();
    SelectionError::NoTargets { packages: names(selected), elsewhere: names(&elsewhere) }
}
