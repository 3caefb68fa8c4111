//! Fixture crates through real cargo calls: which executables come back, and with what they are started.
#![cfg(unix)]

mod build_support;

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use build_support::{Slot, bench, lines, start, stdout};
use cargo_benchgate::build::{
    BuildError, Diagnostics, LockOrigin, build_targets, cargo_metadata, prepare_lock, toolchain_info,
};
use cargo_benchgate::suite::identity::{TargetId, TargetKind};

#[test]
fn two_packages_with_one_bench_name_give_two_executables() {
    let slot = Slot::new();
    slot.check_out("twins", "head");
    let (first, second) = (bench("first", "speed"), bench("second", "speed"));
    let built = slot.build("head", &[first.clone(), second.clone()]).expect("it builds");
    let print = |id| stdout(built.targets[id].as_ref().expect("it builds"));
    assert_eq!((print(&first), print(&second)), ("first\n".to_owned(), "second\n".to_owned()));
    assert!(built.missing.is_empty());
}

#[test]
fn one_of_two_packages_with_one_bench_name_is_built_alone() {
    let slot = Slot::new();
    slot.check_out("twins", "head");
    let second = bench("second", "speed");
    let built = slot.build("head", std::slice::from_ref(&second)).expect("it builds");
    assert_eq!(built.targets.keys().collect::<Vec<_>>(), [&second]);
    assert_eq!(stdout(built.targets[&second].as_ref().expect("it builds")), "second\n");
}

#[test]
fn a_bench_that_does_not_compile_hides_no_other_and_its_error_reaches_the_user() {
    let mut slot = Slot::new();
    // One job and several of both kinds: in whatever order cargo takes them, some good one comes after an error.
    slot.settings.env.push(("CARGO_BUILD_JOBS".into(), "1".into()));
    slot.check_out("broken", "head");
    let bad = ["bad", "bad-2", "bad-3", "bad-4"].map(|name| bench("broken", name));
    let good = ["good", "good-2", "good-3", "good-4"].map(|name| bench("broken", name));
    for (targets, code) in
        [(&bad[1..], "fn main() { let number: u32 = \"text\"; }"), (&good[1..], "fn main() {}")]
    {
        for id in targets {
            slot.write("head", &format!("benches/{}.rs", id.target), code);
        }
    }
    let built = slot.build("head", &[good.clone(), bad.clone()].concat()).expect("four of eight build");
    assert!(
        good.iter().all(|id| built.targets[id].is_ok()) && bad.iter().all(|id| built.targets[id].is_err())
    );
    assert_eq!(stdout(built.targets[&good[0]].as_ref().expect("it builds")), "1\n");
    let failure = built.targets[&bad[0]].as_ref().expect_err("it does not compile").to_string();
    assert!(failure.starts_with("bench bad of package broken did not build: `"), "{failure}");
    assert!(slot.messages().contains("error[E0308]: mismatched types"), "{}", slot.messages());
}

#[test]
fn a_build_without_any_executable_is_an_error_that_shows_the_command() {
    let slot = Slot::new();
    slot.check_out("broken", "head");
    let error = slot.build("head", &[bench("broken", "bad")]).expect_err("it does not compile");
    let BuildError::Failed { revision, command, exit, started: true } = &error else { panic!("{error:?}") };
    assert_eq!((revision.as_str(), exit.as_str()), ("head", "exit status: 101"));
    assert!(command.contains(" build ") && command.contains(" --bench bad"), "{command}");
    assert!(slot.messages().contains("a text where a number belongs"), "{}", slot.messages());
}

#[test]
fn an_unusable_manifest_is_an_error_with_cargos_words_and_the_command() {
    let slot = Slot::new();
    slot.check_out("library", "head");
    slot.write("head", "Cargo.toml", "[package]\nname = 'x'\nversion = 'no version'\n");
    let error = slot.build("head", &[bench("x", "y")]).expect_err("no manifest").to_string();
    assert!(error.starts_with("failed to read the workspace: `"), "{error}");
    assert!(error.contains("metadata") && error.contains("no version"), "{error}");
}

#[test]
fn a_crate_with_only_a_library_has_no_targets_and_what_is_asked_for_is_missing() {
    let slot = Slot::new();
    slot.check_out("library", "head");
    let place = slot.place("head");
    let workspace = cargo_metadata(&slot.settings, &place.live_tree.join("Cargo.toml"), &place.live_tree);
    assert_eq!(workspace.expect("it is a workspace").targets(), []);
    assert!(!place.tree.join("Cargo.lock").exists(), "asking must not write a lock file");
    let asked = bench("library", "speed");
    let built = slot.build("head", std::slice::from_ref(&asked)).expect("nothing to build");
    assert_eq!(built.missing, [asked]);
    assert!(built.targets.is_empty() && !place.target.exists(), "nothing is built");
}

#[test]
fn a_bench_gets_the_features_it_requires_and_no_other_bench_does() {
    let slot = Slot::new();
    slot.check_out("features", "head");
    let ids = ["implied", "plain", "special"].map(|name| bench("features", name));
    let built = slot.build("head", &ids).expect("all build");
    let print = |id| stdout(built.targets[id].as_ref().expect("it builds"));
    assert_eq!(ids.each_ref().map(print), ["false\n", "false\n", "true\n"]);
    assert_eq!(
        built.targets[&ids[2]].as_ref().expect("it builds").features,
        ["default", "implied", "special", "usual"]
    );
}

#[test]
fn profile_target_and_features_of_the_settings_reach_cargo() {
    let mut slot = Slot::new();
    slot.check_out("features", "head");
    let plain = [bench("features", "plain")];
    let built = |slot: &Slot| {
        let built = slot.build("head", &plain).expect("it builds");
        let target = built.targets[&plain[0]].as_ref().expect("it builds");
        (target.features.clone(), target.executable.path.clone())
    };
    slot.settings.all_features = true;
    assert_eq!(built(&slot).0, ["default", "implied", "special", "usual"]);
    slot.settings.all_features = false;
    slot.settings.no_default_features = true;
    assert!(built(&slot).0.is_empty());
    let host = toolchain_info(&slot.settings, &slot.root).expect("there is a compiler").host;
    slot.settings.target = Some(host.clone());
    slot.settings.profile = "dev".to_owned();
    let path = built(&slot).1;
    assert!(path.starts_with(slot.root.join("live/target").join(host).join("debug")), "{}", path.display());
}

#[test]
fn a_program_is_built_as_itself_and_kept_apart_from_later_variants() {
    let slot = Slot::new();
    slot.check_out("environment", "head");
    let program = TargetId {
        package: "environment".to_owned(),
        kind: TargetKind::Bin,
        target: "helper-program".to_owned(),
    };
    let bench = bench("environment", "environment");
    let built = slot.build("head", &[program.clone(), bench.clone()]).expect("both build");
    let program = built.targets[&program].as_ref().expect("it builds");
    assert_eq!(program.executable.path, slot.root.join("live/target/benchgate/environment/helper-program"));
    assert_eq!(program.uses_libtest, None);
    let printed = lines(&stdout(program));
    assert_eq!(printed["CARGO_PKG_NAME"], "environment");
    assert!(!printed.keys().any(|name| name.starts_with("CARGO_BIN_EXE_")), "{printed:?}");
    assert_eq!(built.targets[&bench].as_ref().expect("it builds").uses_libtest, Some(false));
}

#[test]
fn an_example_is_built_as_the_program_it_is() {
    let slot = Slot::new();
    slot.check_out("library", "head");
    slot.write("head", "examples/show.rs", "fn main() { println!(\"{}\", library::one()) }");
    let id = TargetId { kind: TargetKind::Example, ..bench("library", "show") };
    let built = slot.build("head", std::slice::from_ref(&id)).expect("it builds");
    assert_eq!(stdout(built.targets[&id].as_ref().expect("it builds")), "1\n");
}

#[test]
fn a_bench_is_started_with_the_environment_cargo_bench_gives_it() {
    let mut slot = Slot::new();
    slot.check_out("environment", "head");
    for (name, value) in [
        ("CRITERION_HOME", "x"),
        ("CARGO_CRITERION_PORT", "1"),
        ("DIVAN_SAMPLE_COUNT", "1"),
        ("GUNGRAUN_HOME", "x"),
        ("IAI_CALLGRIND_RUNNER", "x"),
        ("RUST_TEST_THREADS", "1"),
        ("RUST_BACKTRACE", "1"),
        ("RUST_LIB_BACKTRACE", "1"),
        ("BENCHGATE_X", "1"),
        ("FIXTURE_WEAK", "inherited"),
        ("FIXTURE_FORCED", "inherited"),
        ("FIXTURE_OTHER", "inherited"),
        ("LD_LIBRARY_PATH", "/inherited/one:/inherited/two"),
    ] {
        slot.settings.env.push((name.into(), value.into()));
    }
    let id = bench("environment", "environment");
    let built = slot.build("head", std::slice::from_ref(&id)).expect("it builds");
    let ours = stdout(built.targets[&id].as_ref().expect("it builds"));

    let place = slot.place("head");
    let mut command = Command::new(&slot.settings.toolchain.cargo);
    command.args(["bench", "--offline", "--quiet", "--bench", "environment"]);
    command.arg("--manifest-path").arg(place.live_tree.join("Cargo.toml"));
    command.arg("--target-dir").arg(&place.live_target);
    command.current_dir(&place.live_tree).env_clear().envs(slot.settings.env.iter().cloned());
    command.envs(slot.settings.toolchain.rustup_toolchain.iter().map(|name| ("RUSTUP_TOOLCHAIN", name)));
    let output = command.output().expect("cargo is there");
    let cargos = String::from_utf8(output.stdout).expect("fixtures print text");

    let scrubbed =
        ["CRITERION_", "CARGO_CRITERION", "DIVAN_", "GUNGRAUN_", "IAI_", "RUST_TEST_", "BENCHGATE_"];
    let mut expected = lines(&cargos);
    assert!(expected.contains_key("CARGO_BIN_EXE_helper-program"), "{cargos}");
    let before = expected.len();
    expected.retain(|name, _| {
        !name.contains("BACKTRACE") && !scrubbed.iter().any(|prefix| name.starts_with(prefix))
    });
    assert_eq!(before - expected.len(), 9, "cargo itself passes the harnesses' knobs on");
    // Cargo looks for the system's certificates, and shows what it found to all it starts.
    expected.retain(|name, _| !name.starts_with("SSL_CERT_"));
    // The one thing that differs on purpose: cargo knows its configuration by the path without the link.
    let relative = expected.insert("FIXTURE_RELATIVE".to_owned(), text(&place.live_tree.join("data/input")));
    assert_eq!(relative, Some(text(&place.tree.join("data/input"))));
    let actual: BTreeMap<_, _> = lines(&ours);
    assert_eq!(actual, expected);
    assert_eq!(actual["FIXTURE_WEAK"], "inherited");
    assert_eq!(actual["FIXTURE_FORCED"], "from the configuration");
    assert_eq!(actual["FIXTURE_SCRIPT"], "from the build script");

    let rest =
        |text: &str| text.lines().filter(|line| line.contains(": ")).map(str::to_owned).collect::<Vec<_>>();
    let (mut ours, mut cargos) = (rest(&ours), rest(&cargos));
    let built_with = format!("built with: {}", place.live_tree.join("data/input").display());
    assert_eq!(ours.remove(0), built_with, "the compiler is told the fixed path");
    cargos.remove(0);
    assert_eq!(ours, cargos);
}

#[test]
fn a_configured_runner_is_returned_behind_the_fixed_path() {
    let slot = Slot::new();
    slot.check_out("library", "head");
    slot.write("head", "benches/speed.rs", "fn main() {}");
    let host = toolchain_info(&slot.settings, &slot.root).expect("there is a toolchain").host;
    slot.write("head", ".cargo/config.toml", &format!("[target.{host}]\nrunner = ['tools/run', '-x']"));
    let id = bench("library", "speed");
    let built = slot.build("head", std::slice::from_ref(&id)).expect("it builds");
    let target = built.targets[&id].as_ref().expect("it builds");
    let program = slot.root.join("live/tree/tools/run").into_os_string();
    assert_eq!(target.executable.runner, [program, "-x".into()]);
    assert_eq!(target.uses_libtest, Some(true), "nothing in the manifest says otherwise");
    assert!(start(target, &["--bench"]).status.success());
}

#[test]
fn a_build_directory_of_the_user_is_not_shared_by_the_revisions() {
    let slot = Slot::new();
    slot.check_out("twins", "head");
    let elsewhere = slot.root.join("elsewhere");
    let config = format!("[build]\nbuild-dir = {:?}\ntarget-dir = {:?}", text(&elsewhere), text(&elsewhere));
    slot.write("head", ".cargo/config.toml", &config);
    let id = bench("first", "speed");
    let built = slot.build("head", std::slice::from_ref(&id)).expect("it builds");
    let path = &built.targets[&id].as_ref().expect("it builds").executable.path;
    assert!(path.starts_with(slot.root.join("live/target")), "{}", path.display());
    assert!(!elsewhere.exists());
}

#[test]
fn a_revision_without_a_lock_file_gets_the_given_one_and_a_committed_one_is_kept() {
    let slot = Slot::new();
    slot.check_out("twins", "head");
    let (workspace, place) = (slot.workspace("head"), slot.place("head"));
    let prepare = |fallback: Option<&std::path::Path>| {
        prepare_lock(&slot.settings, &place, &workspace, fallback).expect("no network is needed")
    };
    assert_eq!(prepare(None), LockOrigin::Generated);
    let lock = place.tree.join("Cargo.lock");
    let generated = fs_err::read_to_string(&lock).expect("it was generated");
    let other = slot.root.join("other.lock");
    let extra = "\n[[package]]\nname = \"unneeded\"\nversion = \"1.0.0\"\n";
    fs_err::write(&other, format!("{generated}{extra}")).expect("writable");
    assert_eq!(prepare(Some(&other)), LockOrigin::Committed);
    fs_err::write(&lock, format!("{generated}{extra}")).expect("writable");
    assert_eq!(prepare(None), LockOrigin::Updated, "cargo would refuse it with --locked");
    assert_eq!(fs_err::read_to_string(&lock).expect("it was settled"), generated);
    fs_err::remove_file(&lock).expect("it was generated");
    assert_eq!(prepare(Some(&other)), LockOrigin::Copied);
    assert_eq!(
        fs_err::read_to_string(&lock).expect("it was copied"),
        generated,
        "the extra package is pruned"
    );
}

#[test]
fn a_stop_flag_that_is_set_ends_the_build_as_interrupted() {
    let slot = Slot::new();
    slot.check_out("twins", "head");
    let place = slot.place("head");
    let (workspace, targets) = (slot.workspace("head"), [bench("first", "speed")]);
    let (diagnostics, stop) = (Diagnostics::File(slot.root.join("messages")), AtomicBool::new(true));
    let built = build_targets(&slot.settings, &place, &workspace, &targets, &diagnostics, &stop);
    assert!(matches!(built, Err(BuildError::Interrupted)), "{built:?}");
}

fn text(path: &std::path::Path) -> String {
    path.to_str().expect("test paths are text").to_owned()
}
