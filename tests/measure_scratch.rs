//! The fresh directory of a run: named in an argument, and read back by the ends of names.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cargo_benchgate::harness::CommandSpec;
use cargo_benchgate::measure::RunnerClient;

/// Runs a script in the shell with these arguments; gives what it printed and the paths of what was read back.
fn run(script: &str, args: &[&str], collect: &'static [&'static str]) -> (String, Vec<PathBuf>) {
    let home = tempfile::tempdir().expect("a temporary directory can be made");
    let mut client = RunnerClient::new(env!("CARGO_BIN_EXE_cargo-benchgate"), home.path());
    let spec = CommandSpec {
        program: "/bin/sh".into(),
        args: ["-c", script, "sh"].iter().chain(args).map(Into::into).collect(),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
        cwd: home.path().into(),
        stdin: None,
        timeout: Duration::from_secs(50),
        scratch_variable: Some("FRESH"),
        collect,
        capture_stdout: true,
    };
    let output = client.execute(&spec, &AtomicBool::new(false)).expect("it can be run");
    let printed = String::from_utf8(output.stdout).expect("the script prints text");
    (printed, output.files.into_iter().map(|file| file.path).collect())
}

#[test]
fn argument_that_begins_with_the_placeholder_gets_the_path_of_the_variable() {
    let script = r#"printf '%s\n' "$1" "$2" "$3" "$FRESH""#;
    let (printed, _) = run(script, &["{scratch}", "{scratch}/sub", "x{scratch}"], &[]);
    let lines: Vec<&str> = printed.lines().collect();
    let [whole, below, other, fresh] = lines[..] else { panic!("{printed}") };
    assert_eq!(whole, fresh);
    assert_eq!(Path::new(below), Path::new(fresh).join("sub"));
    assert_eq!(other, "x{scratch}");
    assert!(Path::new(fresh).is_absolute());
}

#[test]
fn star_and_extension_name_every_file_that_ends_so() {
    let script = r#"mkdir "$FRESH/sub"; touch "$FRESH/a b.csv" "$FRESH/sub/c.csv" "$FRESH/csv" "$FRESH/d.csv.gz" "$FRESH/facts""#;
    let (_, files) = run(script, &[], &["*.csv", "facts"]);
    assert_eq!(files, ["a b.csv", "facts", "sub/c.csv"].map(PathBuf::from));
}
