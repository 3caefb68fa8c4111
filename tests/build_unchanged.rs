//! Which changes leave a program as it was, and which inputs make it measured all the same; through real builds.
#![cfg(unix)]

mod build_support;

use std::path::PathBuf;

use build_support::{Slot, bench, lines, stdout};
use cargo_benchgate::build::{BuiltTarget, Comparability, Likeness, Located, compare};
use cargo_benchgate::suite::identity::TargetId;

/// Base and head of a library `own` with a bench `speed`.
struct Pair {
    slot: Slot,
}

const MANIFEST: &str = "[package]\nname = 'own'\nversion = '0.1.0'\nedition = '2021'\ndescription = 'first'\n\
                        [[bench]]\nname = 'speed'\nharness = false\n";
const LIBRARY: &str = "//! A library.\n/// The work.\npub fn work(n: u64) -> u64 {\n    (0..n).fold(1, |a, b| a ^ b.rotate_left(3))\n}\n";
const BENCH: &str = "fn main() {\n    println!(\"work={}\", own::work(1000));\n}\n";

impl Pair {
    fn new() -> Self {
        let pair = Self { slot: Slot::new() };
        pair.both("Cargo.toml", MANIFEST);
        pair.both("src/lib.rs", LIBRARY);
        pair.both("benches/speed.rs", BENCH);
        pair
    }

    fn both(&self, path: &str, text: &str) {
        for revision in ["base", "head"] {
            self.slot.write(revision, path, text);
        }
    }

    fn head(&self, path: &str, text: &str) {
        self.slot.write("head", path, text);
    }

    fn build(&self) -> (BuiltTarget, BuiltTarget) {
        let id = self.id();
        (self.slot.rebuild("base", &id).0, self.slot.rebuild("head", &id).0)
    }

    fn id(&self) -> TargetId {
        bench("own", "speed")
    }

    /// Builds both and compares them, with these files changed.
    fn compare(&self, changed: &[&str]) -> Comparability {
        let (base, head) = self.build();
        self.compare_built(&base, &head, changed)
    }

    fn compare_built(&self, base: &BuiltTarget, head: &BuiltTarget, changed: &[&str]) -> Comparability {
        let live_target = self.slot.root.join("live/target");
        let (base_target, head_target) =
            (self.slot.root.join("base/target"), self.slot.root.join("head/target"));
        let changed: Vec<PathBuf> = changed.iter().map(PathBuf::from).collect();
        compare(
            Located { built: base, live_target: &live_target, target: &base_target },
            Located { built: head, live_target: &live_target, target: &head_target },
            &changed,
        )
        .expect("the files can be read")
    }

    #[track_caller]
    fn is_unchanged(&self, changed: &[&str]) {
        let expected = Comparability { likeness: Likeness::Same, changed_input: None };
        assert_eq!(self.compare(changed), expected);
    }

    #[track_caller]
    fn is_measured_since(&self, changed: &[&str], reason: &str) {
        let found = self.compare(changed);
        assert_eq!(found.likeness, Likeness::Same);
        assert_eq!(found.changed_input.as_deref(), Some(reason));
    }
}

#[test]
fn a_comment_and_an_unused_function_leave_the_program_as_it_was() {
    let pair = Pair::new();
    let more = format!(
        "{}// More words.\n/// Not used.\npub fn unused() -> u32 {{ 7 }}\n",
        LIBRARY.replace("//! A", "//! The")
    );
    pair.head("src/lib.rs", &more);
    pair.is_unchanged(&["src/lib.rs"]);
}

#[test]
fn a_real_change_is_a_different_program() {
    let pair = Pair::new();
    pair.head("src/lib.rs", &LIBRARY.replace("rotate_left(3)", "rotate_left(5).wrapping_mul(b)"));
    assert_eq!(pair.compare(&["src/lib.rs"]).likeness, Likeness::Different);
}

#[test]
fn a_changed_constant_is_the_same_code_at_most() {
    let pair = Pair::new();
    pair.head("benches/speed.rs", &BENCH.replace("work=", "werk="));
    assert_eq!(pair.compare(&["benches/speed.rs"]).likeness, Likeness::SameCode);
}

#[test]
fn a_version_bump_and_a_description_leave_the_program_as_it_was_though_its_file_differs() {
    let pair = Pair::new();
    pair.head("Cargo.toml", &MANIFEST.replace("0.1.0", "0.2.0").replace("first", "second"));
    let (base, head) = pair.build();
    assert_ne!(base.executable.env, head.executable.env);
    let expected = Comparability { likeness: Likeness::Same, changed_input: None };
    assert_eq!(pair.compare_built(&base, &head, &["Cargo.toml"]), expected);
}

#[test]
fn a_version_that_the_program_looks_up_when_it_runs_is_an_input() {
    let pair = Pair::new();
    pair.both(
        "benches/speed.rs",
        "fn main() {\n    println!(\"{:?}\", std::env::var(\"CARGO_PKG_VERSION\"));\n}\n",
    );
    pair.head("Cargo.toml", &MANIFEST.replace("0.1.0", "0.2.0"));
    pair.is_measured_since(
        &["Cargo.toml"],
        "the environment variable CARGO_PKG_VERSION differs, and may be read",
    );
}

#[test]
fn a_version_that_is_compiled_in_makes_another_program() {
    let pair = Pair::new();
    pair.both("benches/speed.rs", "fn main() {\n    println!(\"{}\", env!(\"CARGO_PKG_VERSION\"));\n}\n");
    pair.head("Cargo.toml", &MANIFEST.replace("0.1.0", "0.2.0"));
    assert_ne!(pair.compare(&["Cargo.toml"]).likeness, Likeness::Same);
}

#[test]
fn a_changed_data_file_is_an_input_wherever_it_lies() {
    let pair = Pair::new();
    for path in ["data/in.json", "notes", "benches/README.md"] {
        pair.is_measured_since(&[path], &format!("{path} differs, and may be read"));
    }
}

#[test]
fn a_readme_is_an_input_of_a_program_that_names_it_only() {
    let pair = Pair::new();
    pair.is_unchanged(&["README.md", "CHANGELOG.md", ".github/workflows/ci.yml"]);
    pair.both(
        "benches/speed.rs",
        "fn main() {\n    println!(\"{}\", std::fs::read_to_string(\"README.md\").unwrap().len());\n}\n",
    );
    pair.is_measured_since(&["README.md"], "README.md differs, and the program names it");
    pair.is_unchanged(&["CHANGELOG.md"]);
}

#[test]
fn a_readme_that_is_compiled_in_makes_another_program() {
    let pair = Pair::new();
    pair.both("benches/speed.rs", "fn main() {\n    println!(\"{}\", include_str!(\"../README.md\"));\n}\n");
    pair.both("README.md", "words");
    pair.head("README.md", "more words");
    assert_ne!(pair.compare(&["README.md"]).likeness, Likeness::Same);
}

#[test]
fn a_program_that_the_bench_may_start_is_compared_too() {
    let pair = Pair::new();
    pair.both("src/main.rs", "fn main() { println!(\"one\") }\n");
    pair.both("benches/speed.rs", "fn main() {\n    println!(\"{}\", env!(\"CARGO_BIN_EXE_own\"));\n}\n");
    pair.is_unchanged(&[]);
    pair.head("src/main.rs", "// Only a comment.\nfn main() { println!(\"one\") }\n");
    let (base, head) = pair.build();
    assert_eq!(pair.compare_built(&base, &head, &["src/main.rs"]).likeness, Likeness::Same);
    pair.head("src/main.rs", "fn main() { println!(\"{}\", 41 + std::env::args().count()) }\n");
    pair.is_measured_since(&["src/main.rs"], "the program `own` differs");
}

#[test]
fn a_dynamic_library_of_the_workspace_is_compared_too() {
    let pair = Pair::new();
    let manifest = "[workspace]\nmembers = ['plugin']\n";
    pair.both(
        "Cargo.toml",
        &format!("{MANIFEST}[dev-dependencies]\nplugin = {{ path = 'plugin' }}\n{manifest}"),
    );
    pair.both(
        "plugin/Cargo.toml",
        "[package]\nname = 'plugin'\nversion = '0.1.0'\n[lib]\ncrate-type = ['cdylib', 'rlib']\n",
    );
    let code =
        |value: u32| format!("#[unsafe(no_mangle)]\npub extern \"C\" fn answer() -> u32 {{ {value} }}\n");
    pair.both("plugin/src/lib.rs", &code(1));
    pair.is_unchanged(&[]);
    pair.head("plugin/src/lib.rs", &code(2));
    pair.is_measured_since(&["plugin/src/lib.rs"], "the library `crate plugin` differs");
}

#[test]
fn what_a_build_script_generates_for_the_run_is_an_input() {
    let pair = Pair::new();
    let script = |value: u32| {
        format!(
            "fn main() {{\n    println!(\"cargo:rerun-if-changed=build.rs\");\n    \
             std::fs::write(std::env::var(\"OUT_DIR\").unwrap() + \"/table\", \"{value}\").unwrap();\n}}\n"
        )
    };
    pair.both("build.rs", &script(1));
    pair.is_unchanged(&[]);
    pair.head("build.rs", &script(2));
    // The program does not look at it.
    pair.is_unchanged(&["build.rs"]);
    pair.both(
        "benches/speed.rs",
        "fn main() {\n    println!(\"{}\", std::fs::read_to_string(concat!(env!(\"OUT_DIR\"), \"/table\")).unwrap());\n}\n",
    );
    pair.is_measured_since(&["build.rs"], "what the build script of own generated differs, and may be read");
}

#[test]
fn all_paths_inside_the_fixture_are_the_same_through_the_slot() {
    let slot = Slot::new();
    let id = bench("answer", "answer");
    for revision in ["base", "head"] {
        slot.check_out("answer", revision);
    }
    let (base, head) = (slot.rebuild("base", &id).0, slot.rebuild("head", &id).0);
    let printed = lines(&stdout(&head));
    assert!(printed["manifest"].ends_with("live/tree"), "{printed:?}");
    let pair = Pair { slot };
    let expected = Comparability { likeness: Likeness::Same, changed_input: None };
    assert_eq!(pair.compare_built(&base, &head, &[]), expected);
}
