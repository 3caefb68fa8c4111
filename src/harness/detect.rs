//! Which harness measures a target, from what the manifest, the dependencies and the program's bytes say.

use crate::suite::launch::HarnessChoice;

use super::HarnessKind;
use super::marker::Marker;

/// The answer of [`detect`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detection {
    /// It is measured by this adapter.
    Kind(HarnessKind),
    /// It cannot be measured: an error of that target alone, others go on.
    Unsupported {
        /// The harness's word in Cargo.toml.
        word: &'static str,
        /// Why, and what to try. One line.
        message: String,
    },
}

/// Decides the harness of one target. Nothing is ever run to find out: a plain program would run for its full length.
///
/// `harness_declared` is the manifest's `harness` key of a `[[bench]]` (true unless it says `harness = false`); pass
/// false for bins and examples, whose main is always the user's own. `candidates` are the names of the direct
/// dependencies of the package that owns the target, as published. `markers` are those found in the program.
pub fn detect(
    choice: HarnessChoice,
    harness_declared: bool,
    candidates: &[String],
    markers: &[Marker],
) -> Detection {
    match choice {
        HarnessChoice::Auto => {}
        HarnessChoice::Process => return Detection::Kind(HarnessKind::Process),
        HarnessChoice::Criterion => return Detection::Kind(HarnessKind::Criterion),
        HarnessChoice::Gungraun => return Detection::Kind(HarnessKind::Gungraun),
        HarnessChoice::IaiCallgrind => return Detection::Kind(HarnessKind::IaiCallgrind),
        HarnessChoice::Tango => return Detection::Kind(HarnessKind::Tango),
        HarnessChoice::Lines => return Detection::Kind(HarnessKind::Lines),
        other => return unsupported(other.as_str()),
    }
    if harness_declared {
        return unsupported(HarnessChoice::Libtest.as_str());
    }
    match markers {
        [] => without_marker(candidates),
        [marker] => by_marker(*marker),
        several => {
            // A helper crate may bring a second harness along; the package's own dependency decides.
            let own: Vec<Marker> = several.iter().copied().filter(|&it| depends_on(candidates, it)).collect();
            match own.as_slice() {
                [marker] => by_marker(*marker),
                _ => ambiguous(several),
            }
        }
    }
}

fn by_marker(marker: Marker) -> Detection {
    match marker {
        Marker::Criterion => Detection::Kind(HarnessKind::Criterion),
        Marker::Gungraun => Detection::Kind(HarnessKind::Gungraun),
        Marker::IaiCallgrind => Detection::Kind(HarnessKind::IaiCallgrind),
        Marker::Tango => Detection::Kind(HarnessKind::Tango),
        other => unsupported(other.as_str()),
    }
}

/// A program without any marker is a main of the user's own, unless it may be one of the harnesses that leave none.
fn without_marker(candidates: &[String]) -> Detection {
    match ["bencher", "iai"].into_iter().find(|&name| candidates.iter().any(|it| it == name)) {
        Some(name) => unsupported(name),
        None => Detection::Kind(HarnessKind::Process),
    }
}

fn depends_on(candidates: &[String], marker: Marker) -> bool {
    let names: &[&str] = match marker {
        Marker::Criterion => &["criterion", "codspeed-criterion-compat"],
        Marker::Divan => &["divan", "codspeed-divan-compat"],
        Marker::Gungraun => &["gungraun"],
        Marker::IaiCallgrind => &["iai-callgrind"],
        Marker::Tango => &["tango-bench"],
    };
    candidates.iter().any(|candidate| names.contains(&candidate.as_str()))
}

fn unsupported(word: &'static str) -> Detection {
    let message = match word {
        "libtest" => {
            "its benchmarks are `#[bench]` functions of the built-in harness, which cannot be measured yet; \
                      set `harness = false` in its `[[bench]]` and port it to criterion"
                .to_owned()
        }
        "bencher" | "iai" => format!(
            "its package depends on {word}, whose benchmarks cannot be measured yet; if this target does not use \
             {word}, set `harness = \"process\"` in its `[[package.metadata.benchgate.bench]]` entry"
        ),
        word => format!(
            "its benchmarks are written for {word}, which cannot be measured yet; port them to criterion, or set \
             `harness = \"process\"` in its `[[package.metadata.benchgate.bench]]` entry to time the whole program"
        ),
    };
    Detection::Unsupported { word, message }
}

fn ambiguous(markers: &[Marker]) -> Detection {
    let names = markers.iter().map(|marker| marker.as_str()).collect::<Vec<_>>().join(" and ");
    let message = format!(
        "the program holds {names}, so its harness cannot be told; name it with `harness = \"…\"` in its \
         `[[package.metadata.benchgate.bench]]` entry"
    );
    Detection::Unsupported { word: HarnessChoice::Auto.as_str(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn word(detection: Detection) -> &'static str {
        match detection {
            Detection::Kind(kind) => panic!("{kind} is supported"),
            Detection::Unsupported { word, message } => {
                assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
                word
            }
        }
    }

    #[test]
    fn a_named_harness_overrides_everything_else() {
        let process = detect(HarnessChoice::Process, true, &names(&["divan"]), &[Marker::Divan]);
        assert_eq!(process, Detection::Kind(HarnessKind::Process));
        let criterion = detect(HarnessChoice::Criterion, false, &[], &[]);
        assert_eq!(criterion, Detection::Kind(HarnessKind::Criterion));
        let lines = detect(HarnessChoice::Lines, false, &names(&["divan"]), &[Marker::Divan]);
        assert_eq!(lines, Detection::Kind(HarnessKind::Lines));
    }

    #[test]
    fn a_bench_with_the_built_in_harness_is_libtest_whatever_it_links() {
        assert_eq!(
            word(detect(HarnessChoice::Auto, true, &names(&["criterion"]), &[Marker::Criterion])),
            "libtest"
        );
    }

    #[test]
    fn the_marker_in_the_program_decides_over_the_dependencies() {
        let both = names(&["criterion", "divan"]);
        let kind = |markers: &[Marker]| detect(HarnessChoice::Auto, false, &both, markers);
        assert_eq!(kind(&[Marker::Criterion]), Detection::Kind(HarnessKind::Criterion));
        assert_eq!(word(kind(&[Marker::Divan])), "divan");
        assert_eq!(kind(&[]), Detection::Kind(HarnessKind::Process));
    }

    #[test]
    fn of_two_markers_the_one_the_package_depends_on_decides() {
        let markers = [Marker::Criterion, Marker::Divan];
        let only_criterion = detect(HarnessChoice::Auto, false, &names(&["criterion"]), &markers);
        assert_eq!(only_criterion, Detection::Kind(HarnessKind::Criterion));
        assert_eq!(
            word(detect(HarnessChoice::Auto, false, &names(&["criterion", "divan"]), &markers)),
            "auto"
        );
    }

    #[test]
    fn a_package_with_a_harness_that_leaves_no_marker_is_not_taken_for_a_plain_program() {
        assert_eq!(word(detect(HarnessChoice::Auto, false, &names(&["bencher"]), &[])), "bencher");
        assert_eq!(word(detect(HarnessChoice::Auto, false, &names(&["iai"]), &[])), "iai");
    }
}
