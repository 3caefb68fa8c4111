//! Whether what the entries name is there.

use cargo_metadata::Package;

use super::error::{Invalid, Sink};
use super::identity::TargetKind;
use super::keys::nearest;
use super::read::Entry;
use super::select::targets_of;

/// Checks what the entries name: packages, targets, variants.
pub(super) fn check_entries(entries: &[Entry], members: &[&Package], only_listed: bool, sink: &mut Sink) {
    for (index, entry) in entries.iter().enumerate() {
        let Some(package) = members.iter().find(|package| package.name.as_str() == entry.package) else {
            let known: Vec<_> = members.iter().map(|package| package.name.as_str()).collect();
            let help = match nearest(&entry.package, &known) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("members are {}", known.join(", ")),
            };
            let invalid = Invalid::with_help("is not a package of the workspace", help);
            sink.error(&entry.place, "package", Some(format!("{:?}", entry.package)), invalid);
            continue;
        };
        check_target(entry, package, sink);
        let twin = entries[..index].iter().find(|other| {
            let same_target =
                entry.target.is_none() || other.target.is_none() || entry.target == other.target;
            entry.name.is_some()
                && other.name == entry.name
                && other.package == entry.package
                && other.kind == entry.kind
                && same_target
        });
        if let (Some(twin), Some(name)) = (twin, &entry.name) {
            let problem =
                format!("makes the same variant as {}.name in {}", twin.place.table, twin.place.manifest);
            let invalid = Invalid::with_help(problem, "give one of them another name");
            sink.error(&entry.place, "name", Some(format!("{name:?}")), invalid);
        }
        if entry.name.is_none() && entry.layer.is_empty() && !only_listed && entry.kind == TargetKind::Bench {
            sink.note(format!(
                "{}: {} changes nothing: `filter` and `skip` say which benchmarks an entry is about; to measure only \
                 these, set only_listed = true",
                entry.place.manifest, entry.place.table
            ));
        }
    }
}

fn check_target(entry: &Entry, package: &Package, sink: &mut Sink) {
    let Some(target) = &entry.target else { return };
    let known: Vec<_> = targets_of(package, entry.kind).map(|target| target.name.clone()).collect();
    if known.contains(target) {
        return;
    }
    let mut kinds = TargetKind::ALL.iter().copied();
    let other_kind = kinds.find(|&kind| targets_of(package, kind).any(|other| other.name == *target));
    let help = match (other_kind, nearest(target, &known)) {
        (Some(kind), _) => format!("there is a {kind} of that name: write kind = \"{kind}\""),
        (None, Some(near)) => format!("did you mean \"{near}\"?"),
        (None, None) if known.is_empty() => format!("the package has no {} at all", entry.kind),
        (None, None) => format!("there is {}", known.join(", ")),
    };
    let problem = format!("is no {} of package {}", entry.kind, package.name);
    sink.error(&entry.place, "target", Some(format!("{target:?}")), Invalid::with_help(problem, help));
}
