//! The programs that measure for a harness, looked up in the PATH a bench is started with.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::harness::Tools;

/// Looks for the runner of that name, and for valgrind. `env` lists the variables, the later of two equal ones wins.
pub(super) fn look_up<'a>(
    runner: &str,
    env: impl DoubleEndedIterator<Item = &'a (OsString, OsString)>,
) -> Tools {
    let path = env.rev().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
    let find = |name: &str| find(name, path?);
    Tools { runner: find(runner), valgrind: find("valgrind") }
}

/// The first program of that name in the directories of a PATH.
pub(super) fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|directory| directory.join(name)).find(|candidate| is_program(candidate))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.with_extension("exe").is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn first_program_in_the_path_is_taken_and_a_plain_file_is_none() {
        let home = tempfile::tempdir().expect("a temporary directory can be made");
        for (directory, mode) in [("first", 0o644), ("second", 0o755), ("third", 0o755)] {
            let file = home.path().join(directory).join("some-runner");
            std::fs::create_dir(home.path().join(directory)).expect("it is new");
            std::fs::write(&file, "").expect("it can be written");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        }
        let path = ["first", "second", "third"].map(|name| home.path().join(name));
        let path = std::env::join_paths(path).expect("no separator in them");
        let env: [(OsString, OsString); 2] = [("PATH".into(), "/nowhere".into()), ("PATH".into(), path)];
        let tools = look_up("some-runner", env.iter());
        assert_eq!(tools.runner, Some(home.path().join("second/some-runner")));
        assert_eq!(tools.valgrind, None);
        assert_eq!(look_up("some-runner", [].iter()), Tools::default());
    }
}
