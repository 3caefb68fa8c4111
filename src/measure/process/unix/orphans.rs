//! Finding the processes that left their group.

use libc::pid_t;

#[cfg(target_os = "linux")]
pub(super) use by_proc::{kill_descendants, kill_marked, kill_session, kill_tree, own_session};

/// Without /proc only the group is known; orphans go to init.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_descendants() -> Vec<pid_t> {
    Vec::new()
}

/// Without /proc only the process itself is known.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_tree(root: pid_t) {
    // SAFETY: kill takes two integers.
    unsafe { libc::kill(root, libc::SIGKILL) };
}

/// Without /proc no environment is known.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_marked(_variable: &str, _slot: &std::path::Path) {}

/// Without /proc the session is not told.
#[cfg(not(target_os = "linux"))]
pub(super) fn own_session() -> pid_t {
    0
}

/// Without /proc nothing is known of a session.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_session(_session: pid_t) {}

#[cfg(target_os = "linux")]
mod by_proc {
    use super::pid_t;

    struct Process {
        pid: pid_t,
        parent: pid_t,
        session: pid_t,
    }

    /// Kills every descendant of this process and names them. The dead that nobody waited for yet are among them, since
    /// a process whose main thread alone has ended looks the same.
    pub(in super::super) fn kill_descendants() -> Vec<pid_t> {
        let mut found = tree(std::process::id() as pid_t);
        found.remove(0);
        found.iter().for_each(|&pid| kill(pid));
        found
    }

    /// Kills a process and all of its descendants, parents first, so that none starts another one meanwhile.
    pub(in super::super) fn kill_tree(root: pid_t) {
        tree(root).into_iter().for_each(kill);
    }

    /// A process and its descendants, parents first.
    fn tree(root: pid_t) -> Vec<pid_t> {
        let processes = all();
        let mut found: Vec<pid_t> = vec![root];
        let mut next = 0;
        while next < found.len() {
            let parent = found[next];
            found.extend(
                processes.iter().filter(|process| process.parent == parent).map(|process| process.pid),
            );
            next += 1;
        }
        found
    }

    pub(in super::super) fn kill_session(session: pid_t) {
        for process in all().iter().filter(|process| process.session == session && process.pid != session) {
            kill(process.pid);
        }
    }

    /// This process's own session.
    pub(in super::super) fn own_session() -> pid_t {
        let stat = std::fs::read("/proc/self/stat").unwrap_or_default();
        parse(0, &stat).map_or(0, |process| process.session)
    }

    /// Kills every process with `variable=SESSION SLOT` in its environment that is still in that session, and waits a
    /// little until they are gone.
    pub(in super::super) fn kill_marked(variable: &str, slot: &std::path::Path) {
        const PASSES: usize = 400;
        for _ in 0..PASSES {
            let own = std::process::id() as pid_t;
            let marked = |process: &Process| {
                let environment = std::fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
                process.pid != own && is_marked(&environment, variable, slot, process.session)
            };
            let found: Vec<Process> = all().into_iter().filter(marked).collect();
            if found.is_empty() {
                return;
            }
            found.iter().for_each(|process| kill(process.pid));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Whether an environment, as the kernel shows it, marks a process of that session.
    fn is_marked(environment: &[u8], variable: &str, slot: &std::path::Path, session: pid_t) -> bool {
        let mark = format!("{variable}={session} ");
        environment
            .split(|&byte| byte == 0)
            .any(|entry| entry.strip_prefix(mark.as_bytes()) == Some(slot.as_os_str().as_encoded_bytes()))
    }

    fn kill(pid: pid_t) {
        // SAFETY: kill takes two integers.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }

    fn all() -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| {
                let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
                parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
            })
            .collect()
    }

    /// `pid (name) state parent group session …`; the name is the program's choice and may hold parentheses and any byte.
    fn parse(pid: pid_t, stat: &[u8]) -> Option<Process> {
        let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
        let text = std::str::from_utf8(&stat[after_name..]).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        Some(Process { pid, parent, session })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_processes_of_the_slot_and_the_session_are_marked() {
            let slot = std::path::Path::new("/cache/slot-00");
            let marked = |environment: &[u8], session| is_marked(environment, "MARK", slot, session);
            assert!(marked(b"A=1\0MARK=7 /cache/slot-00\0B=2", 7));
            assert!(!marked(b"MARK=7 /cache/slot-00", 8), "a daemon has a session of its own");
            assert!(!marked(b"MARK=7 /cache/slot-01", 7) && !marked(b"", 7));
        }

        #[test]
        fn a_process_name_with_parentheses_and_bad_utf8_does_not_shift_the_fields() {
            let process = parse(7, b"7 (a) S 1 (\xff b) S 3 4 5 0 -1").unwrap();
            assert_eq!((process.pid, process.parent, process.session), (7, 3, 5));
            assert!(parse(7, b"").is_none());
        }
    }
}
