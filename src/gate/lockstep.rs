//! Whether base and head can run at once: each by a path of its own, in place of the one they share.

use std::path::Path;

use super::program::Program;
use crate::build::words_in;
use crate::harness::contract::{Executable, ResolvedLaunch, RunBudget, Selection};
use crate::revision::Slot;

/// The programs of base and head by their own paths, where their harness compares two in one process and neither knows
/// the shared path: a program that does would find the other revision's files there.
pub(super) fn programs(
    slot: &Slot,
    [base, head]: [&Program<'_>; 2],
    launch: &ResolvedLaunch,
    id: &str,
) -> Option<Box<[Executable; 2]>> {
    let own = [own_path(slot, base)?, own_path(slot, head)?];
    let budget = RunBudget::from(std::time::Duration::from_secs(1));
    head.harness.lockstep_command(&own[1], &own[0], launch, &Selection::One(id), budget)?;
    let shared = slot.live_target();
    let shared = shared.parent().unwrap_or(&shared).to_str()?;
    let knows = |program: &Program<'_>, own: &Executable| {
        *program.knows_shared_path.get_or_init(|| !lacks(&own.path, shared))
    };
    (!knows(base, &own[0]) && !knows(head, &own[1])).then(|| Box::new(own))
}

fn own_path(slot: &Slot, program: &Program<'_>) -> Option<Executable> {
    let executable = &program.built.executable;
    let below = executable.path.strip_prefix(slot.live_target()).ok()?;
    Some(Executable { path: slot.target(program.place).join(below), ..executable.clone() })
}

/// Whether a file can be read and holds none of these bytes.
fn lacks(path: &Path, wanted: &str) -> bool {
    words_in(path, &[wanted]).is_ok_and(|found| !found[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_holds_the_path_or_cannot_be_read_does_not_lack_it() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("program");
        fs_err::write(&file, b"\x7fELF /slot/live/tree\0").expect("it can be written");
        assert!(!lacks(&file, "/slot/live"));
        assert!(lacks(&file, "/slot/dead"));
        assert!(!lacks(&home.path().join("none"), "/slot/live"));
    }
}
