//! Revisions that differ in how they are built: packages and targets that come, go and move, lock files, features,
//! profiles, toolchains; and a run that is killed while cargo works.

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use repository::need_git;
use serde_json::Value;
use support::{AS_USUAL, PROBE_MANIFEST, Playground};

/// A virtual workspace with the crates `probe` and `twin` below `crates`.
fn workspace() -> Playground {
    let playground = Playground::empty();
    playground.write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n");
    add_package(&playground, "crates/probe", "probe");
    add_package(&playground, "crates/twin", "twin");
    playground.repository.commit("first");
    playground
}

fn add_package(playground: &Playground, place: &str, name: &str) {
    playground.add_crate("probe", place);
    let lib = format!("name = \"{name}\"");
    let manifest = PROBE_MANIFEST.replace("name = \"probe\"", &lib);
    playground.write(
        &format!("{place}/Cargo.toml"),
        manifest.replace("[[bench]]", "[lib]\nname = \"probe\"\n\n[[bench]]"),
    );
}

fn remove(playground: &Playground, path: &str) {
    std::fs::remove_dir_all(playground.root().join(path)).expect("it was written before");
}

/// The presence of each benchmark, by package.
fn presences(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let benchmarks = report["benchmarks"].as_array().expect("an array");
    benchmarks.iter().map(|it| (text(&it["package"]), text(&it["presence"]))).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(package, presence)| ((*package).to_owned(), (*presence).to_owned())).collect()
}

#[test]
fn packages_of_a_virtual_workspace_with_one_bench_name_are_told_apart_moved_or_not() {
    need_git!();
    let playground = workspace();
    std::fs::create_dir(playground.root().join("moved")).expect("the directory is new");
    let root = playground.root();
    std::fs::rename(root.join("crates/probe"), root.join("moved/probe")).expect("it can be moved");
    playground.write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"moved/*\"]\nresolver = \"2\"\n");
    playground.step_ms_in("moved/probe", 40);
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: probe:tool"]);
    assert_eq!(presences(&report), pairs(&[("probe", "compared"), ("twin", "unchanged")]));
}

#[test]
fn renamed_package_is_compared_with_the_one_that_had_its_manifest() {
    need_git!();
    let playground = workspace();
    add_package(&playground, "crates/probe", "gauge");
    playground.step_ms_in("crates/probe", 40);
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: gauge:tool"])
        .shows("bench tool of package gauge is compared with bench tool of package probe, its former name");
    assert_eq!(presences(&report), pairs(&[("gauge", "compared"), ("twin", "unchanged")]));
}

#[test]
fn renamed_target_is_compared_with_the_one_that_had_its_source() {
    need_git!();
    let playground = Playground::probe();
    let manifest = PROBE_MANIFEST.replace("name = \"tool\"", "name = \"gauge\"\npath = \"benches/tool.rs\"");
    playground.write("Cargo.toml", manifest);
    playground.step_ms(40);
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression: gauge"]).shows("its former name");
    assert_eq!(presences(&report), pairs(&[("probe", "compared")]));
}

#[test]
fn new_and_removed_packages_and_targets_are_rows_of_their_own() {
    need_git!();
    let playground = workspace();
    remove(&playground, "crates/twin");
    add_package(&playground, "crates/young", "young");
    let manifest =
        std::fs::read_to_string(playground.root().join("crates/probe/Cargo.toml")).expect("it is there");
    playground.write(
        "crates/probe/Cargo.toml",
        format!("{manifest}\n[[bench]]\nname = \"second\"\nharness = false\n"),
    );
    playground.write("crates/probe/benches/second.rs", "fn main() { probe::step() }\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[]);
    let expected = [("probe", "new"), ("probe", "unchanged"), ("twin", "removed"), ("young", "new")];
    assert_eq!(presences(&report), pairs(&expected));
}

#[test]
fn programs_and_examples_are_measured_as_what_they_are() {
    need_git!();
    let playground = Playground::probe();
    playground.write("src/main.rs", "fn main() { probe::step() }\n");
    playground.write("examples/show.rs", "fn main() { probe::step() }\n");
    playground.configure(
        "[package.metadata.benchgate]\nonly_listed = true\n[[package.metadata.benchgate.bench]]\ntarget = \"probe\"\nkind = \"bin\"\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"show\"\nkind = \"example\"\n",
    );
    playground.repository.commit("second");
    playground.write("README.md", "words\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[]);
    assert_eq!(presences(&report), pairs(&[("probe", "unchanged"), ("probe", "unchanged")]));
    // Kept programs run as built ones do.
    playground.step_ms(60);
    let (ran, _) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["2 regressions"]).says("Kept base (");
}

#[test]
fn feature_that_base_does_not_have_is_left_out_there_and_that_is_said() {
    need_git!();
    let playground = Playground::probe();
    playground.configure("[features]\nslow = []\n");
    playground.write(
        "src/lib.rs",
        "pub fn step() { std::thread::sleep(std::time::Duration::from_millis(if cfg!(feature = \"slow\") { 40 } else { 4 })) }\n",
    );
    let (ran, _) = playground.usual_report(&["--base", "HEAD", "--features", "slow"]);
    ran.ends(1, &["1 regression"]).shows("does not have the feature `slow` and is built without it");
}

#[test]
fn committed_lock_that_does_not_fit_is_brought_in_line_and_that_is_said() {
    need_git!();
    let playground = Playground::probe();
    playground.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"probe\"\nversion = \"0.0.9\"\n");
    playground.repository.commit("a stale lock");
    playground.write("README.md", "words\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[]).shows("does not fit its manifests");
    assert_eq!(report["builds"][0]["lock"], "updated");
    // The one the user wants unchanged is cargo's to refuse.
    playground.run(&["--base", "HEAD", "--locked", "--no-cache"]).ends(4, &["failed to build head"]);
}

#[test]
fn base_without_a_lock_gets_the_versions_of_head() {
    need_git!();
    let playground = Playground::probe();
    playground.write(".gitignore", "/Cargo.lock\n");
    playground.repository.commit("no lock");
    playground.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"probe\"\nversion = \"0.1.0\"\n");
    playground.write("README.md", "words\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[]);
    let locks: Vec<&Value> =
        report["builds"].as_array().expect("an array").iter().map(|it| &it["lock"]).collect();
    assert_eq!(locks, ["copied", "copied"]);
}

/// A dependency `leaf` of this version in a directory of the repository, as if it came from the registry.
fn vendor(playground: &Playground, version: &str, step_ms: u64) {
    playground
        .write("vendor/leaf/Cargo.toml", format!("[package]\nname = \"leaf\"\nversion = \"{version}\"\n"));
    playground.write("vendor/leaf/.cargo-checksum.json", "{\"files\":{}}");
    playground.write(
        "vendor/leaf/src/lib.rs",
        format!("pub fn step() {{ std::thread::sleep(std::time::Duration::from_millis({step_ms})) }}\n"),
    );
    playground.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n",
    );
    playground.write(
        "Cargo.lock",
        format!(
            "version = 4\n\n[[package]]\nname = \"leaf\"\nversion = \"{version}\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\n[[package]]\nname = \"probe\"\n\
             version = \"0.1.0\"\ndependencies = [\n \"leaf\",\n]\n"
        ),
    );
    playground.configure("[dependencies]\nleaf = \"1\"\n");
    playground.write("src/lib.rs", "pub fn step() { leaf::step() }\n");
}

#[test]
fn changed_dependency_is_reported_and_measured_and_an_equal_one_is_unchanged() {
    need_git!();
    let playground = Playground::empty();
    playground.add_crate("probe", "");
    vendor(&playground, "1.0.0", 4);
    playground.repository.commit("first");
    vendor(&playground, "1.0.5", 40);
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression"]).shows("leaf 1.0.0 -> 1.0.5");
    assert_eq!(
        report["dependency_changes"],
        serde_json::json!([{ "name": "leaf", "base": "1.0.0", "head": "1.0.5" }])
    );
    assert_eq!(report["builds"][0]["lock"], "committed");
    // Another version of the same code.
    vendor(&playground, "1.0.6", 4);
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[]);
    assert_eq!(report["dependency_changes"][0]["name"], "leaf");
    assert_eq!(report["benchmarks"][0]["presence"], "unchanged");
}

#[test]
fn profiles_that_differ_are_reported_and_heads_can_be_used_for_both() {
    need_git!();
    let playground = Playground::probe();
    // Code that tells how it was compiled, in time.
    playground.write(
        "src/lib.rs",
        "pub fn step() { std::thread::sleep(std::time::Duration::from_millis(if cfg!(debug_assertions) { 40 } else { 4 })) }\n",
    );
    playground.repository.commit("second");
    let profile = "[profile.bench]\ndebug-assertions = true\n";
    playground.configure(profile);
    let (ran, _) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(1, &["1 regression"])
        .shows("profile.bench.debug-assertions is not set in base and true in head")
        .shows("profile_from");
    playground.configure(&format!("{profile}[package.metadata.benchgate]\nprofile_from = \"head\"\n"));
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[]);
    assert_eq!(report["benchmarks"][0]["presence"], "unchanged");
}

#[test]
fn toolchain_files_that_differ_are_reported_and_both_are_built_with_one() {
    need_git!();
    let playground = Playground::probe();
    playground.write("rust-toolchain.toml", "[toolchain]\nchannel = \"1.56.0\"\n");
    let (ran, report) = playground.usual_report(&["--base", "HEAD"]);
    ran.ends(0, &[])
        .shows("name different toolchains in their rust-toolchain files; both are built with rustc");
    assert_eq!(report["benchmarks"][0]["presence"], "unchanged");
}

#[test]
fn toolchain_of_the_suite_that_is_not_installed_is_an_error_that_says_how_to_install_it() {
    need_git!();
    let playground = Playground::probe();
    playground.configure("[package.metadata.benchgate]\ntoolchain = \"1.2.3-none\"\n");
    let ran = playground.run(&["--base", "HEAD"]);
    assert_eq!(ran.code, Some(4), "{ran}");
    ran.says("`toolchain = \"1.2.3-none\"`").says("rustup").built_nothing();
}

#[test]
fn benches_of_the_built_in_harness_on_a_stable_toolchain_get_a_hint() {
    need_git!();
    let playground = Playground::probe();
    let rustc = std::process::Command::new("rustc").arg("-V").output().expect("the tests run by a toolchain");
    if String::from_utf8_lossy(&rustc.stdout).contains("nightly") {
        println!("skipped: the tests run by a nightly toolchain");
        return;
    }
    playground.write("Cargo.toml", "[package]\nname = \"probe\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    playground.write("benches/tool.rs", "#![feature(test)]\nextern crate test;\n");
    let ran = playground.run(&["run"]);
    ran.ends(4, &["error E0554", "toolchain = \"nightly\""]);
}

#[cfg(target_os = "linux")]
#[test]
fn killed_run_leaves_no_cargo_behind_and_the_next_run_is_not_disturbed() {
    use std::process::Stdio;
    need_git!();
    let playground = Playground::probe();
    let told = playground.repository.beside("compiling");
    let marker = format!("E2E_KILLED_{}", std::process::id());
    let script = |sleep: u64| {
        format!(
            "fn main() {{ std::fs::write({told:?}, \"\").unwrap(); \
             std::thread::sleep(std::time::Duration::from_secs({sleep})); }}\n"
        )
    };
    playground.write("build.rs", script(600));
    let mut command = playground.command_in(playground.root());
    command.args(["run"]).env("E2E_MARKER", &marker).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it can be started");
    support::wait_until("the build script runs", || told.exists());
    assert!(!support::processes_with(&marker).is_empty(), "otherwise this proves nothing");
    child.kill().expect("it is our child");
    child.wait().expect("it is our child");
    support::wait_until("cargo and its build script are gone", || {
        support::processes_with(&marker).is_empty()
    });

    playground.write("build.rs", script(0));
    let ran = playground.run(&[&["run"][..], &AS_USUAL].concat());
    ran.ends(0, &[]);
    assert!(!ran.stderr.contains("Blocking waiting"), "{ran}");
}
