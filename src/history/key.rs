//! What makes two results members of one series.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::report::model::Machine;
use crate::suite::identity::{BenchmarkIdentity, TargetId, TargetKind};
use crate::suite::metric::{Metric, Unit};

/// The key of a series. Results with equal keys are compared; a changed toolchain is no other key, but a segment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey {
    /// The benchmark.
    pub benchmark: BenchmarkIdentity,
    /// The metric's name.
    pub metric: String,
    /// The unit's name: mixed units make two series, never one.
    pub unit: String,
    /// The fingerprint of the machine.
    pub machine: String,
    /// The cargo profile.
    pub profile: String,
    /// The features, in words.
    pub features: String,
    /// The target triple.
    pub triple: String,
}

impl SeriesKey {
    /// The metric.
    pub fn metric(&self) -> Metric {
        Metric::from_name(&self.metric)
    }

    /// The unit.
    pub fn unit(&self) -> Unit {
        Unit::from_name(&self.unit)
    }

    /// The label people read.
    pub fn label(&self) -> String {
        self.benchmark.label()
    }

    /// The eleven texts of a key, in the order of [`Self::from_texts`].
    pub(super) fn texts(&self) -> [&str; 11] {
        let BenchmarkIdentity { target, variant, id } = &self.benchmark;
        [
            &target.package,
            target.kind.as_str(),
            &target.target,
            variant,
            id,
            &self.metric,
            &self.unit,
            &self.machine,
            &self.profile,
            &self.features,
            &self.triple,
        ]
    }

    /// The key of these texts; `None` for an unknown kind of target.
    pub(super) fn from_texts(texts: [String; 11]) -> Option<Self> {
        let [package, kind, target, variant, id, metric, unit, machine, profile, features, triple] = texts;
        let kind = TargetKind::from_word(&kind)?;
        let benchmark = BenchmarkIdentity { target: TargetId { package, kind, target }, variant, id };
        Some(Self { benchmark, metric, unit, machine, profile, features, triple })
    }
}

impl fmt::Display for SeriesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} on {}", self.label(), self.metric, self.machine)
    }
}

/// A short name for a machine: its label, else a digest of what makes its numbers comparable. Load, governor and free
/// memory change from run to run and are no part of it.
pub fn fingerprint(machine: Option<&Machine>) -> String {
    let Some(machine) = machine else { return "unknown".to_owned() };
    if let Some(label) = &machine.label {
        return label.clone();
    }
    // The memory a system shows varies with its kernel by some megabytes.
    let gibibytes = machine.memory_bytes.map(|bytes| (bytes as f64 / 1_073_741_824.0).round());
    let mut hash = Sha256::new();
    for part in [
        &machine.os,
        &machine.arch,
        machine.cpu_model.as_deref().unwrap_or_default(),
        &machine.logical_cpus.to_string(),
        &gibibytes.map(|size| size.to_string()).unwrap_or_default(),
    ] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize()[..5])
}

/// What people recognise a machine by.
pub fn describe(machine: Option<&Machine>) -> String {
    let Some(machine) = machine else { return "no machine stated".to_owned() };
    let model = machine.cpu_model.as_deref().unwrap_or("unknown CPU");
    format!("{}, {} CPUs, {} {}", model, machine.logical_cpus, machine.os, machine.arch)
}

/// Lowercase hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            os: "linux".into(),
            arch: "x86_64".into(),
            cpu_model: Some("Some CPU".into()),
            logical_cpus: 4,
            governor: None,
            load_at_start: Some(0.1),
            load_at_end: None,
            memory_bytes: Some(16_777_216_000),
            label: None,
        }
    }

    #[test]
    fn fingerprint_is_that_of_the_hardware_not_of_the_moment() {
        let first = fingerprint(Some(&machine()));
        let busy = Machine { load_at_start: Some(9.0), memory_bytes: Some(16_770_000_000), ..machine() };
        assert_eq!(fingerprint(Some(&busy)), first);
        assert_ne!(fingerprint(Some(&Machine { logical_cpus: 8, ..machine() })), first);
        assert_ne!(fingerprint(None), first);
    }

    #[test]
    fn label_of_a_machine_overrides_its_hardware() {
        let labelled = |cpus| Machine { label: Some("ci-pool".into()), logical_cpus: cpus, ..machine() };
        assert_eq!(fingerprint(Some(&labelled(2))), "ci-pool");
        assert_eq!(fingerprint(Some(&labelled(2))), fingerprint(Some(&labelled(64))));
    }
}
