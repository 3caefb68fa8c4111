//! The Unix half: wait4, process groups, and on Linux the adoption of orphans.
#![allow(unsafe_code)] // The one place that calls the system directly; every block says why it is sound.

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use libc::{c_int, pid_t};

use super::super::wire::CANCEL;
use super::{Ended, Ending, Finished, RunProblem, Start, command, explain, take_line};

#[cfg(target_os = "linux")]
mod counters;
mod orphans;

/// How long killed processes may take to be gone: more than a page-out, less than a user's patience.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// The process that starts programs one at a time, listening to the tool all the while.
pub(in super::super) struct Host {
    /// Standard input, unbuffered, so that `poll` tells the truth about it.
    input: std::fs::File,
    /// What was read of it and not yet taken.
    buffer: Vec<u8>,
    /// Readable when a child changed state.
    child_events: UnixStream,
}

/// A waited-for child.
struct Reaped {
    status: c_int,
    usage: libc::rusage,
    wall: Duration,
}

/// What `poll` saw first.
enum Event {
    Child,
    Input,
    Deadline,
}

impl Host {
    /// Makes this process the host: a session of its own, so that the terminal's signals reach the tool alone, and
    /// on Linux the adopter of everything its children orphan.
    pub(in super::super) fn new() -> io::Result<Self> {
        // SAFETY: setsid takes no arguments. It fails only in a process that already leads a group of its own.
        unsafe { libc::setsid() };
        #[cfg(target_os = "linux")]
        {
            let on: libc::c_ulong = 1;
            // SAFETY: PR_SET_CHILD_SUBREAPER takes one integer and no pointers.
            if unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, on) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let (child_events, waker) = UnixStream::pair()?;
        child_events.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, waker)?;
        let input = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Self { input, buffer: Vec::new(), child_events })
    }

    /// The next line from the tool; `None` when the tool is gone.
    pub(in super::super) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(line) = take_line(&mut self.buffer) {
                return Ok(Some(line));
            }
            if !self.read_input()? {
                return Ok(None);
            }
        }
    }

    /// Starts the program, waits for it, and clears away whatever it left running.
    pub(in super::super) fn run(&mut self, start: &Start) -> Result<Ended, RunProblem> {
        let mut command = command(start)?;
        command.arg0(&start.program).process_group(0);
        self.drain_child_events();
        memory::reset_peak();
        let counter = start.count.then(counters::Counter::of_children).and_then(Result::ok);

        let started = Instant::now();
        let child = command.spawn().map_err(|error| RunProblem::Start(explain(start, &command, &error)))?;
        let group = child.id() as pid_t;
        let ended = self.wait(group, started, started.checked_add(start.timeout));
        // Dropping a std child neither kills nor waits; wait4 already has.
        drop(child);

        // Also after a normal exit: a background process must not run into the next measurement. The group's number
        // cannot be another's yet: the system goes through all other numbers first.
        kill_group(group);
        let cleared = self.clear_orphans();
        let mut ended = ended.map_err(|error| RunProblem::Host(format!("failed to wait for it: {error}")))?;
        // Read once everything is reaped: a process adds its count to ours when it ends.
        if let (Some(counter), Ended::Finished(finished)) = (counter, &mut ended) {
            finished.instructions = counter.read();
        }
        if !matches!(ended, Ended::ParentGone) {
            cleared.map_err(RunProblem::Host)?;
        }
        Ok(ended)
    }

    /// Waits until the program is reaped, by itself or by force.
    fn wait(&mut self, pid: pid_t, started: Instant, deadline: Option<Instant>) -> io::Result<Ended> {
        loop {
            match self.poll(deadline)? {
                Event::Child => {
                    if let Some(reaped) = self.reap_after_event(pid, started)? {
                        let status = ExitStatus::from_raw(reaped.status);
                        let ending = match (status.code(), status.signal()) {
                            (Some(code), _) => Ending::Code(code),
                            (None, signal) => Ending::Signal(signal.unwrap_or_default()),
                        };
                        return Ok(Ended::Finished(finished(ending, &reaped)));
                    }
                }
                Event::Deadline => {
                    let reaped = self.kill_and_reap(pid, started)?;
                    return Ok(Ended::Finished(finished(Ending::TimedOut, &reaped)));
                }
                Event::Input => {
                    if !self.read_input()? {
                        self.kill_and_reap(pid, started)?;
                        return Ok(Ended::ParentGone);
                    }
                    if self.take_cancel() {
                        self.kill_and_reap(pid, started)?;
                        return Ok(Ended::Cancelled);
                    }
                }
            }
        }
    }

    /// Reaps the program if it is gone. The clock is read first of all; only then the event is taken off.
    fn reap_after_event(&mut self, pid: pid_t, started: Instant) -> io::Result<Option<Reaped>> {
        if let Some(reaped) = try_reap(pid, started)? {
            return Ok(Some(reaped));
        }
        // An adopted orphan ended. Take the event off, and look again: the program may have ended in between.
        self.drain_child_events();
        try_reap(pid, started)
    }

    fn kill_and_reap(&mut self, pid: pid_t, started: Instant) -> io::Result<Reaped> {
        let limit = Instant::now() + KILL_LIMIT;
        loop {
            kill_group(pid);
            orphans::kill_descendants();
            if let Some(reaped) = try_reap(pid, started)? {
                return Ok(reaped);
            }
            if limit <= Instant::now() {
                return Err(io::Error::other(format!("process {pid} was killed and does not end")));
            }
            self.pause();
        }
    }

    /// Kills and reaps everything that was started by the program and outlived it. One system call when there is none.
    fn clear_orphans(&mut self) -> Result<(), String> {
        let limit = Instant::now() + KILL_LIMIT;
        loop {
            let mut status = 0;
            // SAFETY: waitpid writes only the status it is given. The program itself is reaped already, so no result
            // that someone else waits for is taken.
            match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
                0 => {
                    let left = orphans::kill_descendants();
                    if limit <= Instant::now() {
                        return Err(format!("processes {left:?}"));
                    }
                    self.pause();
                }
                -1 if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted => return Ok(()),
                _ => {}
            }
        }
    }

    /// A moment for killed processes to end; a child's end cuts it short.
    fn pause(&mut self) {
        let mut fds = [poll_in(self.child_events.as_fd())];
        poll(&mut fds, 10);
        self.drain_child_events();
    }

    fn poll(&mut self, deadline: Option<Instant>) -> io::Result<Event> {
        loop {
            let timeout = match deadline {
                None => -1,
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    // Rounded up, and in pieces of at most a day: poll counts in 32 bits.
                    left.as_nanos().div_ceil(1_000_000).min(86_400_000) as c_int
                }
            };
            let mut fds = [poll_in(self.child_events.as_fd()), poll_in(self.input.as_fd())];
            let ready = poll(&mut fds, timeout);
            if ready < 0 {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            } else if fds[0].revents != 0 {
                return Ok(Event::Child);
            } else if fds[1].revents != 0 {
                return Ok(Event::Input);
            } else if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Ok(Event::Deadline);
            }
        }
    }

    /// Reads what there is; false at the end, which is the end of the tool.
    fn read_input(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 4096];
        loop {
            match self.input.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    self.buffer.extend_from_slice(&chunk[..length]);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes a whole cancel line out of what was read.
    fn take_cancel(&mut self) -> bool {
        let line = CANCEL.len() + 1;
        let found = self
            .buffer
            .windows(line)
            .position(|window| window.strip_suffix(b"\n").is_some_and(|text| text == CANCEL.as_bytes()));
        if let Some(start) = found {
            self.buffer.drain(start..start + line);
        }
        found.is_some()
    }

    fn drain_child_events(&mut self) {
        let mut sink = [0; 64];
        while matches!(self.child_events.read(&mut sink), Ok(length) if 0 < length) {}
    }
}

fn poll_in(fd: BorrowedFd<'_>) -> libc::pollfd {
    libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }
}

/// Whether there is something to read, the end included, within that time. A signal ends the wait.
pub(super) fn is_readable(source: &impl AsFd, time: Duration) -> io::Result<bool> {
    let mut fds = [poll_in(source.as_fd())];
    match poll(&mut fds, c_int::try_from(time.as_millis()).unwrap_or(c_int::MAX)) {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        },
        ready => Ok(ready != 0),
    }
}

fn poll(fds: &mut [libc::pollfd], timeout_ms: c_int) -> c_int {
    // SAFETY: the pointer and the length are those of one slice, which outlives the call.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) }
}

fn try_reap(pid: pid_t, started: Instant) -> io::Result<Option<Reaped>> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writes of their types.
    let reaped = unsafe { libc::wait4(pid, &mut status, libc::WNOHANG, usage.as_mut_ptr()) };
    let wall = started.elapsed();
    if reaped == pid {
        // SAFETY: rusage holds integers only, for which the zeroes it started from are valid values too.
        let usage = unsafe { usage.assume_init() };
        return Ok(Some(Reaped { status, usage, wall }));
    }
    if reaped < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(None)
}

fn finished(ending: Ending, reaped: &Reaped) -> Finished {
    let ns = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
    };
    // Apple's systems count in bytes, all others in KiB.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    Finished {
        ending,
        wall_ns: u64::try_from(reaped.wall.as_nanos()).unwrap_or(u64::MAX),
        user_ns: ns(reaped.usage.ru_utime),
        system_ns: ns(reaped.usage.ru_stime),
        peak_rss_bytes: count(reaped.usage.ru_maxrss) * unit,
        peak_rss_floor_bytes: memory::floor(),
        involuntary_switches: count(reaped.usage.ru_nivcsw),
        instructions: None,
    }
}

fn kill_group(group: pid_t) {
    // SAFETY: kill takes two integers. A group that is gone already is what we want.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Kills what a dead host left running: the members of the session it led.
pub(in super::super) fn kill_session(host: u32) {
    orphans::kill_session(host as pid_t);
}

/// Whether the processor's instructions can be counted here; the error says why not.
pub(in super::super) fn probe_counters() -> Result<(), String> {
    counters::Counter::of_children().map(drop)
}

#[cfg(not(target_os = "linux"))]
mod counters {
    /// There is none.
    pub(super) struct Counter;

    impl Counter {
        pub(super) fn of_children() -> Result<Self, String> {
            Err("hardware counters are read on Linux only".to_owned())
        }

        pub(super) fn read(&self) -> Option<u64> {
            None
        }
    }
}

/// Kills a child that was not waited for yet, with everything it started.
pub(in super::super) fn kill_tree(child: u32) {
    orphans::kill_tree(child as pid_t);
}

/// The session this process is in; 0 where the system does not tell.
pub(in super::super) fn own_session() -> i32 {
    orphans::own_session()
}

/// Kills the processes whose environment says that they work for a slot, in the session it names.
pub(in super::super) fn kill_marked(variable: &str, slot: &std::path::Path) {
    orphans::kill_marked(variable, slot);
}

/// The host's own memory, which the kernel folds into a child's peak at exec.
#[cfg(target_os = "linux")]
mod memory {
    /// Pages the kernel counts in batches per CPU and may add late.
    const SLACK_BYTES: u64 = 1 << 20;

    /// Lets the peak start again from the present size. Where that is refused the peak since the start stays, which
    /// is a floor as well, only a higher one.
    pub(super) fn reset_peak() {
        std::fs::write("/proc/self/clear_refs", "5").ok();
    }

    /// Read after the run: the fork itself is part of the peak.
    pub(super) fn floor() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kib = status.lines().find_map(|line| {
            line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        });
        kib.map_or_else(super::own_peak_bytes, |kib| kib * 1024) + SLACK_BYTES
    }
}

/// Other systems: Apple's start a program's peak at exec; of the rest the host's own peak is the floor.
#[cfg(not(target_os = "linux"))]
mod memory {
    pub(super) fn reset_peak() {}

    pub(super) fn floor() -> u64 {
        if cfg!(target_vendor = "apple") { 0 } else { super::own_peak_bytes() }
    }
}

fn own_peak_bytes() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writes of an rusage, whose zeroes are valid values too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * if cfg!(target_vendor = "apple") { 1 } else { 1024 }
}
