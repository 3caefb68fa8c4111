//! The processor's instruction counter, inherited by everything the host starts.

use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

use libc::{c_int, c_long, c_ulong};

/// `PERF_TYPE_HARDWARE` with `PERF_COUNT_HW_INSTRUCTIONS`.
const INSTRUCTIONS: (u32, u64) = (0, 1);

/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const READ_TIMES: u64 = 3;

/// Bits of the attribute's flags, as the kernel's header numbers them.
const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: c_ulong = 1 << 3;

/// The first version of the kernel's `perf_event_attr`, which every later kernel takes too.
#[repr(C)]
#[derive(Default)]
struct Attribute {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// A counter of what the children of this thread do from their exec to their end. This process itself is not counted.
pub(super) struct Counter(std::fs::File);

impl Counter {
    /// Opens the counter. The error says why there is none.
    pub(super) fn of_children() -> Result<Self, String> {
        Self::open(INSTRUCTIONS).map_err(|error| explain(&error))
    }

    fn open((kind, config): (u32, u64)) -> io::Result<Self> {
        let attribute = Attribute {
            kind,
            size: size_of::<Attribute>() as u32,
            config,
            read_format: READ_TIMES,
            flags: DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HV | ENABLE_ON_EXEC,
            ..Attribute::default()
        };
        let (this_thread, any_cpu, no_group): (c_int, c_int, c_int) = (0, -1, -1);
        // SAFETY: the attribute is of the size it states and outlives the call, which only reads it.
        let fd: c_long = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attribute,
                this_thread,
                any_cpu,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        let fd = c_int::try_from(fd).map_err(io::Error::other)?;
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just gave this descriptor to us, and nobody else knows it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }.into()))
    }

    /// The count so far; `None` where the counter did not run all the time, shared with others, or never ran.
    pub(super) fn read(mut self) -> Option<u64> {
        let mut bytes = [0; 24];
        self.0.read_exact(&mut bytes).ok()?;
        let word = |at: usize| {
            let bytes = bytes[at * 8..][..8].try_into().expect("a slice of eight bytes");
            u64::from_ne_bytes(bytes)
        };
        let (count, enabled, running) = (word(0), word(1), word(2));
        (0 < running && running == enabled).then_some(count)
    }
}

/// What the system's refusal means.
fn explain(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "the kernel offers no hardware counters here, as in most virtual machines".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            let level = level.map_or_else(|_| "unknown".to_owned(), |level| level.trim().to_owned());
            format!(
                "hardware counters are not permitted (perf_event_paranoid is {level}, 2 or less is needed; a container's \
                 seccomp profile refuses them too)"
            )
        }
        Some(libc::ENOSYS) => "the kernel was built without hardware counters".to_owned(),
        _ => format!("hardware counters cannot be opened ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PERF_TYPE_SOFTWARE` with `PERF_COUNT_SW_PAGE_FAULTS`: counted by every kernel, in virtual machines too.
    const PAGE_FAULTS: (u32, u64) = (1, 2);

    #[test]
    #[allow(
        clippy::disallowed_methods,
        clippy::print_stdout,
        reason = "it is about processes, and says when it is skipped"
    )]
    fn a_counter_counts_the_whole_tree_of_a_child_and_nothing_of_this_process() {
        let Ok(counter) = Counter::open(PAGE_FAULTS) else {
            println!("skipped: this system does not let a process count its own page faults");
            return;
        };
        // A fault of our own, for each of many pages.
        drop(std::hint::black_box(vec![1_u8; 8 << 20]));
        let Ok(unused) = Counter::open(PAGE_FAULTS) else { panic!("it could be opened a moment ago") };
        drop(std::hint::black_box(vec![1_u8; 8 << 20]));
        assert_eq!(unused.read(), None, "nothing was started, so it never ran");

        let status = std::process::Command::new("sh")
            .args(["-c", "ls / >/dev/null; ls / >/dev/null; exit 0"])
            .status();
        assert!(status.expect("there is a shell").success());
        let whole = counter.read().expect("a child ran");
        let Ok(counter) = Counter::open(PAGE_FAULTS) else { panic!("it could be opened a moment ago") };
        std::process::Command::new("sh").args(["-c", "exit 0"]).status().expect("there is a shell");
        let shell = counter.read().expect("a child ran");
        assert!(
            0 < shell && shell + shell / 2 < whole,
            "{shell} of a shell, {whole} of a shell and two programs"
        );
    }

    #[test]
    fn a_refusal_is_told_in_words() {
        let of = |number| explain(&io::Error::from_raw_os_error(number));
        assert!(of(libc::ENOENT).contains("virtual machines"));
        assert!(of(libc::EACCES).contains("perf_event_paranoid is"));
        assert!(of(libc::EIO).starts_with("hardware counters cannot be opened"));
    }
}
