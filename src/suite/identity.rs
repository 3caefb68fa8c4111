//! The names of bench targets, and of the benchmarks inside them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::settings::word_enum;

word_enum! {
    /// The kind of Cargo target that is measured.
    TargetKind {
        /// A `[[bench]]`.
        Bench = "bench",
        /// A `[[bin]]`, measured as the user's own program.
        Bin = "bin",
        /// An example.
        Example = "example",
    }
}

/// One Cargo target: a package may hold a bench and an example of the same name, a workspace two benches of one name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TargetId {
    /// The package's name.
    pub package: String,
    /// The target's kind.
    pub kind: TargetKind,
    /// The target's name.
    pub target: String,
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of package {}", self.kind, self.target, self.package)
    }
}

/// One thing that is measured. Equal identity twice is a configuration error.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BenchmarkIdentity {
    /// The Cargo target that holds the benchmark.
    #[serde(flatten)]
    pub target: TargetId,
    /// The `name` of the `[[bench]]` entry that made this variant; empty by default.
    pub variant: String,
    /// The benchmark's id in its harness; for a whole program the target's name.
    pub id: String,
}

impl BenchmarkIdentity {
    /// What people read and what `accept` globs match: `target/id`, or just the target for a whole program, with
    /// `[variant]` behind it where there is one.
    pub fn label(&self) -> String {
        let mut label = self.target.target.clone();
        if self.id != self.target.target {
            label.push('/');
            label.push_str(&self.id);
        }
        if !self.variant.is_empty() {
            label.push_str(&format!(" [{}]", self.variant));
        }
        label
    }
}

/// The labels of the benchmarks of one run, told apart: those that two would share have the package before them, and
/// the kind too where that is still not enough.
pub fn labels<'a>(identities: impl Iterator<Item = &'a BenchmarkIdentity>) -> Vec<String> {
    let identities: Vec<&BenchmarkIdentity> = identities.collect();
    let plain = identities.iter().map(|identity| identity.label()).collect();
    let with_package =
        qualify(&identities, plain, |identity, label| format!("{}:{label}", identity.target.package));
    qualify(&identities, with_package, |identity, label| format!("{} {label}", identity.target.kind))
}

/// Rewrites the labels that several benchmarks share.
fn qualify(
    identities: &[&BenchmarkIdentity],
    labels: Vec<String>,
    rewrite: impl Fn(&BenchmarkIdentity, &str) -> String,
) -> Vec<String> {
    let mut sharing: BTreeMap<&str, BTreeSet<&BenchmarkIdentity>> = BTreeMap::new();
    for (identity, label) in identities.iter().zip(&labels) {
        sharing.entry(label).or_default().insert(identity);
    }
    let told_apart = |(identity, label): (&&BenchmarkIdentity, &String)| match sharing[label.as_str()].len() {
        1 => label.clone(),
        _ => rewrite(identity, label),
    };
    identities.iter().zip(&labels).map(told_apart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_the_package_and_the_kind_only_where_they_must() {
        let identity = |package: &str, kind, target: &str| BenchmarkIdentity {
            target: TargetId { package: package.into(), kind, target: target.into() },
            variant: String::new(),
            id: target.into(),
        };
        let all = [
            identity("a", TargetKind::Bench, "one"),
            identity("a", TargetKind::Bench, "two"),
            identity("b", TargetKind::Bench, "two"),
            identity("b", TargetKind::Example, "two"),
        ];
        assert_eq!(labels(all.iter()), ["one", "a:two", "bench b:two", "example b:two"]);
    }
}
