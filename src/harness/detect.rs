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
        named => return by_word(named.as_str()),
    }
    if harness_declared {
        return Detection::Kind(HarnessKind::Libtest);
    }
    // Without any it is a main of the user's own, whatever the package depends on.
    match markers {
        [] => Detection::Kind(HarnessKind::Process),
        [marker] => by_lone_marker(*marker, candidates),
        several => {
            // A helper crate may bring a second harness along; the package's own dependency decides. bencher's marker is
            // in every criterion program.
            let strong: Vec<Marker> = several.iter().copied().filter(|&it| it != Marker::Bencher).collect();
            let own: Vec<Marker> = strong.iter().copied().filter(|&it| depends_on(candidates, it)).collect();
            match (strong.as_slice(), own.as_slice()) {
                ([marker], _) | (_, [marker]) => by_word(marker.as_str()),
                _ => ambiguous(&strong),
            }
        }
    }
}

/// bencher's marker is text that a program of the user's own may print as well, so the dependency has to be there too.
fn by_lone_marker(marker: Marker, candidates: &[String]) -> Detection {
    match marker {
        Marker::Bencher if !depends_on(candidates, marker) => Detection::Kind(HarnessKind::Process),
        marker => by_word(marker.as_str()),
    }
}

/// The adapter of that word in Cargo.toml; markers have the same words.
fn by_word(word: &'static str) -> Detection {
    match HarnessKind::from_word(word) {
        Some(kind) => Detection::Kind(kind),
        None => unsupported(word),
    }
}

fn depends_on(candidates: &[String], marker: Marker) -> bool {
    let names: &[&str] = match marker {
        Marker::Criterion => &["criterion", "codspeed-criterion-compat"],
        Marker::Divan => &["divan", "codspeed-divan-compat"],
        Marker::Gungraun => &["gungraun"],
        Marker::IaiCallgrind => &["iai-callgrind"],
        Marker::Tango => &["tango-bench"],
        Marker::Bencher => &["bencher", "codspeed-bencher-compat"],
        Marker::Iai => &["iai"],
    };
    candidates.iter().any(|candidate| names.contains(&candidate.as_str()))
}

fn unsupported(word: &'static str) -> Detection {
    let message = match word {
        "iai" => "its benchmarks are written for iai 0.1, which runs all of them in one go and is no longer maintained; port \
                  them to gungraun, its successor, or set `harness = \"process\"` in its \
                  `[[package.metadata.benchgate.bench]]` entry to time the whole program"
            .to_owned(),
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

    /// The harness of a bench with `harness = false`, or the word of the one that is not supported.
    fn found(candidates: &[&str], markers: &[Marker]) -> String {
        match detect(HarnessChoice::Auto, false, &names(candidates), markers) {
            Detection::Kind(kind) => kind.to_string(),
            Detection::Unsupported { word, message } => {
                assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
                format!("not {word}")
            }
        }
    }

    #[test]
    fn a_named_harness_overrides_everything_else() {
        for kind in HarnessKind::ALL.iter().copied() {
            let choice =
                HarnessChoice::from_word(kind.as_str()).expect("every adapter has a word in Cargo.toml");
            let detection = detect(choice, true, &names(&["divan"]), &[Marker::Tango]);
            assert_eq!(detection, Detection::Kind(kind));
        }
    }

    #[test]
    fn a_bench_with_the_built_in_harness_is_libtest_whatever_it_links() {
        let detection = detect(HarnessChoice::Auto, true, &names(&["criterion"]), &[Marker::Criterion]);
        assert_eq!(detection, Detection::Kind(HarnessKind::Libtest));
    }

    #[test]
    fn the_marker_in_the_program_decides_over_the_dependencies() {
        let both = ["criterion", "divan"];
        assert_eq!(found(&both, &[Marker::Criterion]), "criterion");
        assert_eq!(found(&both, &[Marker::Divan]), "divan");
        assert_eq!(
            found(&[], &[Marker::Divan]),
            "divan",
            "a crate of the workspace may bring the harness along"
        );
        assert_eq!(found(&both, &[]), "process");
    }

    #[test]
    fn of_two_markers_the_one_the_package_depends_on_decides() {
        let markers = [Marker::Criterion, Marker::Divan];
        assert_eq!(found(&["criterion"], &markers), "criterion");
        assert_eq!(found(&["codspeed-divan-compat"], &markers), "divan");
        assert_eq!(found(&["criterion", "divan"], &markers), "not auto");
        assert_eq!(found(&[], &markers), "not auto");
    }

    #[test]
    fn the_format_of_bencher_makes_a_bencher_only_with_its_dependency_and_without_criterion() {
        assert_eq!(found(&["bencher"], &[Marker::Bencher]), "bencher");
        assert_eq!(found(&["codspeed-bencher-compat"], &[Marker::Bencher]), "bencher");
        assert_eq!(found(&[], &[Marker::Bencher]), "process");
        assert_eq!(found(&["bencher"], &[]), "process");
        assert_eq!(found(&["criterion", "bencher"], &[Marker::Criterion, Marker::Bencher]), "criterion");
        assert_eq!(found(&["bencher"], &[Marker::Criterion, Marker::Bencher]), "criterion");
    }

    #[test]
    fn the_classic_iai_is_refused_with_its_successor_named() {
        assert_eq!(found(&["iai", "criterion"], &[Marker::Iai]), "not iai");
        assert_eq!(found(&["iai", "criterion"], &[]), "process");
    }
}
