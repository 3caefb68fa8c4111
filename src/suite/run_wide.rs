//! The keys that hold for the whole run.

use serde::{Deserialize, Serialize};

use super::error::{Invalid, Sink};
use super::layers::Set;
use super::overrides::Overrides;
use super::settings::word_enum;
use crate::summary::SummarySettings;

word_enum! {
    /// What may fail a run beside a regression and an exceeded budget.
    AlsoFailOn {
        /// A gated comparison the data cannot tell.
        Inconclusive = "inconclusive",
        /// A benchmark that is in base alone.
        Removed = "removed",
        /// A comparison or budget that was skipped.
        Skipped = "skipped",
    }
}

word_enum! {
    /// Whose profile settings the revisions are built with.
    ProfileFrom {
        /// Each revision's own.
        Each = "each",
        /// Head's, for all of them.
        Head = "head",
    }
}

word_enum! {
    /// How a history is looked at.
    LookbackMode {
        /// With segments that begin at confirmed steps and changed toolchains, and regressions that stay open.
        Steps = "steps",
        /// Seed document 1 alone: only marks begin a segment.
        Plain = "plain",
    }
}

/// The run-wide settings, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunWideSettings {
    /// The revision to compare with; `None`: chosen from the repository.
    pub base: Option<String>,
    /// Limit of the whole measuring phase. ns; `None` is unlimited.
    pub max_time_ns: Option<u64>,
    /// What fails the run beside a regression and an exceeded budget.
    pub also_fail_on: Vec<AlsoFailOn>,
    /// Whether benchmarks left out at `max_time` are accepted.
    pub allow_partial: bool,
    /// Whether only what an entry lists is measured.
    pub only_listed: bool,
    /// The cargo profile.
    pub profile: String,
    /// Features.
    pub features: Vec<String>,
    /// All features.
    pub all_features: bool,
    /// No default features.
    pub no_default_features: bool,
    /// The target triple; `None`: the host, or what cargo's own configuration says.
    pub target: Option<String>,
    /// Globs of ignored files that are part of a head taken from the working tree.
    pub snapshot_include: Vec<String>,
    /// How the whole run is summed up.
    #[serde(default)]
    pub summary: SummarySettings,
    /// The toolchain that builds all revisions; `None`: the one that is active where the user stands.
    pub toolchain: Option<String>,
    /// Whose profile settings the revisions are built with.
    pub profile_from: ProfileFrom,
    /// How the history is looked at.
    pub lookback: LookbackMode,
}

/// What one table says of the run.
#[derive(Debug, Clone, Default)]
pub(super) struct RunLayer {
    pub(super) base: Option<Set<String>>,
    pub(super) max_time_ns: Option<Set<u64>>,
    pub(super) also_fail_on: Option<Set<Vec<AlsoFailOn>>>,
    pub(super) allow_partial: Option<Set<bool>>,
    pub(super) only_listed: Option<Set<bool>>,
    pub(super) profile: Option<Set<String>>,
    pub(super) features: Option<Set<Vec<String>>>,
    pub(super) target: Option<Set<String>>,
    pub(super) snapshot_include: Option<Set<Vec<String>>>,
    pub(super) min_change: Option<Set<f64>>,
    pub(super) impact_percent: Option<Set<f64>>,
    pub(super) toolchain: Option<Set<String>>,
    pub(super) profile_from: Option<Set<ProfileFrom>>,
    pub(super) lookback: Option<Set<LookbackMode>>,
}

/// Settles the run-wide keys of the workspace, the selected packages and the command line.
pub(super) fn settle(
    workspace: &RunLayer,
    packages: &[(&str, &RunLayer)],
    overrides: &Overrides,
    sink: &mut Sink,
) -> RunWideSettings {
    // One field of all layers at a time; a macro, since no function can take the name of a field.
    macro_rules! settle_key {
        ($field:ident, $key:literal) => {{
            let written: Vec<_> = packages.iter().map(|(name, run)| (*name, run.$field.as_ref())).collect();
            settle_key($key, workspace.$field.as_ref(), &written, sink)
        }};
    }
    let base = settle_key!(base, "base");
    let max_time_ns = settle_key!(max_time_ns, "max_time");
    let also_fail_on = settle_key!(also_fail_on, "also_fail_on");
    let allow_partial = settle_key!(allow_partial, "allow_partial");
    let only_listed = settle_key!(only_listed, "only_listed");
    let profile = settle_key!(profile, "profile");
    let features = settle_key!(features, "features");
    let target = settle_key!(target, "target");
    let snapshot_include = settle_key!(snapshot_include, "snapshot_include");
    let min_change = settle_key!(min_change, "min_change");
    let impact_percent = settle_key!(impact_percent, "impact_percent");
    let summary = SummarySettings::default();
    let toolchain = settle_key!(toolchain, "toolchain");
    let profile_from = settle_key!(profile_from, "profile_from");
    let lookback = settle_key!(lookback, "history.lookback");
    let mut also_fail_on = overrides.also_fail_on.clone().or(also_fail_on).unwrap_or_default();
    also_fail_on.sort_unstable();
    also_fail_on.dedup();
    RunWideSettings {
        base: overrides.base.clone().or(base),
        max_time_ns: overrides.max_time_ns.or(max_time_ns),
        also_fail_on,
        allow_partial: overrides.allow_partial.or(allow_partial).unwrap_or(false),
        only_listed: overrides.only_listed.or(only_listed).unwrap_or(false),
        profile: overrides.profile.clone().or(profile).unwrap_or_else(|| "bench".to_owned()),
        features: overrides.features.clone().or(features).unwrap_or_default(),
        all_features: overrides.all_features,
        no_default_features: overrides.no_default_features,
        target: overrides.target.clone().or(target),
        snapshot_include: snapshot_include.unwrap_or_default(),
        summary: SummarySettings {
            min_change_percent: min_change.unwrap_or(summary.min_change_percent),
            impact_percent: impact_percent.unwrap_or(summary.impact_percent),
        },
        toolchain,
        profile_from: profile_from.unwrap_or(ProfileFrom::Each),
        lookback: lookback.unwrap_or(LookbackMode::Steps),
    }
}

fn settle_key<T: Clone + PartialEq>(
    key: &str,
    workspace: Option<&Set<T>>,
    packages: &[(&str, Option<&Set<T>>)],
    sink: &mut Sink,
) -> Option<T> {
    let mut settled = workspace.map(|set| set.value.clone());
    for &(name, package) in packages {
        let Some(package) = package else { continue };
        if workspace.is_some_and(|workspace| workspace.value == package.value) {
            continue;
        }
        let invalid = match workspace {
            Some(workspace) => Some(Invalid::with_help(
                format!(
                    "{}: {}.{key} says {}, and a run has one value",
                    workspace.place.manifest, workspace.place.table, workspace.written
                ),
                "leave one of the two out",
            )),
            None if 1 < packages.len() => Some(Invalid::with_help(
                format!("holds for the whole run, and {} packages are selected", packages.len()),
                format!("move it to [workspace.metadata.benchgate], or select one package with -p {name}"),
            )),
            None => None,
        };
        match invalid {
            Some(invalid) => sink.error(&package.place, key, Some(package.written.clone()), invalid),
            None => settled = Some(package.value.clone()),
        }
    }
    settled
}
