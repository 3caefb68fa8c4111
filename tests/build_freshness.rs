//! The guard against running the executable of another revision: what is rebuilt, and what is not.
#![cfg(unix)]

mod build_support;

use std::collections::BTreeSet;
use std::path::Path;

use build_support::{Slot, bench, lines, start, stdout};
use cargo_benchgate::build::{BuiltTarget, cargo_metadata, seed_target};
use cargo_benchgate::suite::identity::TargetId;

fn id() -> TargetId {
    bench("answer", "answer")
}

fn set_answer(slot: &Slot, revision: &str, value: u32) {
    let code = format!(
        "include!(concat!(env!(\"OUT_DIR\"), \"/data.rs\"));\npub fn answer() -> u32 {{ {value} }}\n"
    );
    slot.write(revision, "src/lib.rs", &code);
}

fn printed(target: &BuiltTarget, name: &str) -> String {
    lines(&stdout(target)).remove(name).expect("the fixture prints it")
}

/// Makes every file of the tree as old as files get.
fn age(directory: &Path) {
    for entry in fs_err::read_dir(directory).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            age(&path);
        }
        filetime::set_file_mtime(&path, filetime::FileTime::from_unix_time(1_000_000_000, 0))
            .expect("own file");
    }
}

#[test]
fn the_same_checkout_a_second_time_builds_nothing() {
    let slot = Slot::new();
    slot.check_out("answer", "head");
    let (first, compiled, _) = slot.rebuild("head", &id());
    assert!(0 < compiled);
    slot.check_out("answer", "head");
    let (second, compiled, fresh) = slot.rebuild("head", &id());
    assert_eq!(compiled, 0);
    assert!(0 < fresh);
    assert_eq!(first, second);
}

#[test]
fn without_restored_times_the_same_checkout_is_built_again() {
    let slot = Slot::new();
    slot.check_out("answer", "head");
    slot.rebuild("head", &id());
    slot.check_out("answer", "head");
    let built = slot.build("head", &[id()]).expect("it builds");
    assert!(0 < built.compiled, "otherwise the test above proves nothing");
}

#[test]
fn a_changed_and_then_reverted_file_is_rebuilt_each_time() {
    let slot = Slot::new();
    for value in [1, 2, 1, 3, 2] {
        slot.check_out("answer", "head");
        set_answer(&slot, "head", value);
        age(&slot.root.join("head/tree"));
        let (target, compiled, _) = slot.rebuild("head", &id());
        assert_eq!(printed(&target, "answer"), value.to_string());
        assert!(0 < compiled);
    }
}

#[test]
fn a_build_that_failed_half_way_does_not_pass_for_the_one_before_it() {
    let slot = Slot::new();
    slot.check_out("answer", "head");
    slot.rebuild("head", &id());
    // The library compiles with another value, the bench does not.
    slot.check_out("answer", "head");
    set_answer(&slot, "head", 2);
    slot.write("head", "benches/answer.rs", "fn main() { no such thing }");
    slot.restore("head");
    assert!(slot.build("head", &[id()]).is_err());
    slot.check_out("answer", "head");
    let (target, ..) = slot.rebuild("head", &id());
    assert_eq!(printed(&target, "answer"), "1");
}

#[test]
fn a_removed_file_reruns_the_build_script_that_watches_its_directory() {
    let slot = Slot::new();
    slot.check_out("answer", "head");
    slot.write("head", "data/two.txt", "two");
    let (target, ..) = slot.rebuild("head", &id());
    assert_eq!(printed(&target, "data"), "one");
    assert!(stdout(&target).contains("\ntwo\n"), "{}", stdout(&target));
    slot.check_out("answer", "head");
    let (target, compiled, _) = slot.rebuild("head", &id());
    assert!(0 < compiled);
    assert!(!stdout(&target).contains("two"));
}

#[test]
fn a_seeded_target_directory_never_gives_the_other_revisions_executable() {
    let slot = Slot::new();
    slot.check_out("answer", "head");
    let (head, ..) = slot.rebuild("head", &id());
    slot.check_out("answer", "base");
    set_answer(&slot, "base", 7);
    let place = slot.place("base");
    let workspace = cargo_metadata(&slot.settings, &place.live_tree.join("Cargo.toml"), &place.live_tree);
    let members = workspace.expect("it is a workspace").path_packages();
    let (from, to) = (slot.root.join("head/target"), slot.root.join("base/target"));
    assert!(seed_target(&from, &to, &members).expect("it can be copied"));
    // Even files that look older than the seed: here only the removed fingerprints guard.
    age(&slot.root.join("base/tree"));
    let built = slot.build("base", &[id()]).expect("it builds");
    let base = built.targets[&id()].as_ref().expect("it builds");
    assert_eq!(printed(base, "answer"), "7");
    assert_ne!(head.artifact.sha256, base.artifact.sha256);
    slot.place("head");
    assert_eq!(printed(&head, "answer"), "1", "the first revision's executable is untouched");
}

#[test]
fn two_revisions_of_the_same_sources_are_the_same_bytes_with_all_paths_inside() {
    let slot = Slot::new();
    slot.check_out("answer", "head");
    slot.check_out("answer", "a-base-with-a-longer-name");
    let (head, ..) = slot.rebuild("head", &id());
    let (base, ..) = slot.rebuild("a-base-with-a-longer-name", &id());
    assert_eq!(head, base, "path, environment and digest are equal");
    assert_eq!(
        printed(&head, "manifest"),
        slot.root.join("live/tree").to_str().expect("test paths are text")
    );
    let place = slot.root.join("live/target/release/build");
    let beyond = String::from_utf8(start(&head, &["beyond"]).stderr).expect("fixtures print text");
    assert!(beyond.contains(place.to_str().expect("test paths are text")), "OUT_DIR is inside: {beyond}");
}

#[test]
fn a_vendored_dependency_is_compiled_behind_the_fixed_path_and_once_for_a_seeded_revision() {
    let slot = Slot::new();
    let id = bench("library", "speed");
    for revision in ["head", "a-base-with-a-longer-name"] {
        slot.check_out("library", revision);
        let manifest = "[package]\nname = 'library'\nversion = '0.1.0'\n[dependencies]\nleaf = '1'\n[[bench]]\nname = 'speed'\nharness = false\n";
        slot.write(revision, "Cargo.toml", manifest);
        slot.write(revision, "benches/speed.rs", "fn main() { println!(\"file={}\", leaf::file()) }");
        slot.write(revision, "vendor/leaf/Cargo.toml", "[package]\nname = 'leaf'\nversion = '1.0.0'\n");
        slot.write(revision, "vendor/leaf/.cargo-checksum.json", "{\"files\":{}}");
        slot.write(revision, "vendor/leaf/src/lib.rs", "pub fn file() -> &'static str { file!() }");
        let config = "[source.crates-io]\nreplace-with = 'here'\n[source.here]\ndirectory = 'vendor'\n";
        slot.write(revision, ".cargo/config.toml", config);
    }
    let (head, ..) = slot.rebuild("head", &id);
    let (from, to) = (slot.root.join("head/target"), slot.root.join("a-base-with-a-longer-name/target"));
    assert!(seed_target(&from, &to, &BTreeSet::from(["library".to_owned()])).expect("it can be copied"));
    let (base, compiled, fresh) = slot.rebuild("a-base-with-a-longer-name", &id);
    assert_eq!((compiled, fresh), (2, 1), "the library and its bench; the dependency came with the seed");
    let file = slot.root.join("live/tree/vendor/leaf/src/lib.rs");
    assert_eq!(printed(&head, "file"), file.to_str().expect("test paths are text"));
    assert_eq!(head, base);
}

#[test]
fn a_seed_alone_is_guarded_by_the_times_that_came_with_it() {
    let slot = Slot::new();
    slot.check_out("answer", "head");
    slot.rebuild("head", &id());
    slot.check_out("answer", "base");
    set_answer(&slot, "base", 7);
    age(&slot.root.join("base/tree"));
    // As for a package nobody named: all fingerprints are believed.
    let (from, to) = (slot.root.join("head/target"), slot.root.join("base/target"));
    assert!(seed_target(&from, &to, &BTreeSet::new()).expect("it can be copied"));
    let (base, ..) = slot.rebuild("base", &id());
    assert_eq!(printed(&base, "answer"), "7");
}
