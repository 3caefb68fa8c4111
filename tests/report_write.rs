//! Files on disk: whole or untouched.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use cargo_benchgate::report::write::{check_writable, write_file};

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_written_whole_and_leaves_nothing_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    write_file(&path, b"first").unwrap();
    write_file(&path, b"second, longer").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second, longer");
    assert_eq!(names(directory.path()), ["report.json"]);
}

#[test]
fn an_existing_file_keeps_its_permissions_and_a_new_one_has_the_usual() {
    let directory = tempfile::tempdir().unwrap();
    let usual = directory.path().join("usual");
    fs::write(&usual, "").unwrap();
    let path = directory.path().join("new");
    write_file(&path, b"x").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), mode(&usual), "the umask decides, as for any new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write_file(&path, b"y").unwrap();
    assert_eq!(mode(&path), 0o640);
}

#[test]
fn a_link_stays_a_link_and_its_target_is_written_even_when_it_is_not_there_yet() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("sub")).unwrap();
    let link = directory.path().join("link");
    symlink("sub/target", &link).unwrap();
    for text in ["one", "two"] {
        write_file(&link, text.as_bytes()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(directory.path().join("sub/target")).unwrap(), text);
    }
    assert_eq!(names(&directory.path().join("sub")), ["target"]);
}

#[test]
fn a_device_is_written_and_not_replaced() {
    write_file(Path::new("/dev/null"), b"gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_path_that_cannot_be_written_says_which_why_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::write(root.join("file"), "kept").unwrap();
    fs::set_permissions(root.join("file"), fs::Permissions::from_mode(0o444)).unwrap();
    symlink("loop-b", root.join("loop-a")).unwrap();
    symlink("loop-a", root.join("loop-b")).unwrap();
    let cases = [
        ("none/report.json", "create the directory"),
        (".", "it is a directory"),
        ("file", "read-only"),
        ("file/report.json", "not a directory"),
        ("loop-a", "symbolic links"),
    ];
    for (name, why) in cases {
        let path = root.join(name);
        for error in [write_file(&path, b"x").unwrap_err(), check_writable(&path).unwrap_err()] {
            let message = error.to_string();
            assert!(message.contains(&path.display().to_string()) && message.contains(why), "{message}");
        }
    }
    assert_eq!(fs::read_to_string(root.join("file")).unwrap(), "kept");
    assert_eq!(names(root), ["file", "loop-a", "loop-b"]);
}

#[test]
fn asking_whether_a_path_can_be_written_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    check_writable(&path).unwrap();
    assert_eq!(names(directory.path()), [""; 0]);
    fs::write(&path, "old").unwrap();
    check_writable(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}
