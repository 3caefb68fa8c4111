//! Runs that are ended from outside at ten points: nothing that was there before is lost, and nothing of theirs is left
//! after the next run.
#![cfg(target_os = "linux")]

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use repository::{Listing, listing, need_git};
use support::{PROBE_MANIFEST, Playground, QUICK, Ran, processes_with, wait_until};

/// Where a run can be held, in the order it comes there.
const POINTS: [&str; 10] = [
    "smudge-head",
    "build-head",
    "smudge-base",
    "build-base",
    "setup-base",
    "setup-head",
    "prepare-base",
    "bench-base",
    "bench-head",
    "cleanup-head",
];

/// Says that a point is reached and stays there, when it is the one to be held: `pause STAGE CONTROL`. The side is in the
/// file `which`, or, of a filter, what it reads.
const PAUSE: &str = r#"#!/bin/sh
case $1 in
    smudge) which=$(cat) ;;
    *) which=$(cat which) ;;
esac
point=$1-$which
if [ -e "$2/hold-$point" ]; then
    # Out of reach of whoever only kills a process group.
    [ "$1" = bench ] && setsid sleep 300 &
    touch "$2/at-$point"
    # A filter ends with its streams; everything else stays until somebody kills it.
    [ "$1" = smudge ] || exec sleep 300
    while [ -e "$2/hold-$point" ]; do sleep 0.02; done
fi
[ "$1" = smudge ] && printf %s "$which"
exit 0
"#;

struct Held {
    playground: Playground,
    control: PathBuf,
    marker: String,
    before: String,
    precious: Precious,
}

/// What is the user's, byte for byte.
#[derive(PartialEq)]
struct Precious {
    tree: Listing,
    git: Listing,
    refs: String,
}

impl Held {
    fn new(name: &str) -> Self {
        let playground = Playground::empty();
        let control = playground.repository.beside("control");
        std::fs::create_dir(&control).expect("a temporary directory");
        let pause = control.join("pause.sh");
        std::fs::write(&pause, PAUSE).expect("a temporary file");
        let (script, place) = (pause.display(), control.display());
        playground.add_crate("probe", "");
        let hook = |stage: &str| format!("[[\"sh\", \"{script}\", \"{stage}\", \"{place}\"]]");
        playground.write(
            "Cargo.toml",
            format!(
                "{PROBE_MANIFEST}\n[[package.metadata.benchgate.bench]]\ntarget = \"tool\"\nsetup = {}\nprepare_each = {}\n\
                 cleanup = {}\n",
                hook("setup"),
                hook("prepare"),
                hook("cleanup")
            ),
        );
        // A file that is never there: the script runs in every build.
        let call = |stage: &str| {
            format!(
                "assert!(std::process::Command::new(\"sh\").args([{pause:?}, {stage:?}, {control:?}]).status().unwrap().success());"
            )
        };
        playground.write(
            "build.rs",
            format!("fn main() {{ println!(\"cargo:rerun-if-changed=never\"); {} }}\n", call("build")),
        );
        playground.write("benches/tool.rs", format!("fn main() {{ {} }}\n", call("bench")));
        playground.write(".gitattributes", "which filter=pause\n");
        playground.write("which", "base");
        playground.repository.commit("first");
        playground.write("which", "head");
        playground.repository.commit("second");
        playground.repository.git(&["config", "filter.pause.smudge", &format!("sh {script} smudge {place}")]);
        // Work that must not get lost.
        playground.write("src/extra.rs", "// not yet committed\n");
        playground.write("staged.txt", "staged\n");
        playground.repository.git(&["add", "staged.txt"]);
        playground.repository.git(&["update-index", "--refresh", "-q"]);
        let before = playground.state();
        let precious = precious(&playground);
        let marker = format!("benchgate-kill-{name}-{}", std::process::id());
        Self { playground, control, marker, before, precious }
    }

    fn command(&self) -> Command {
        let mut command = self.playground.command_in(self.playground.root());
        command.args(QUICK).args([
            "--base",
            "HEAD~1",
            "--no-cache",
            "--timeout",
            "5m",
            "--max-percent",
            "1000",
        ]);
        command.env("E2E_MARKER", &self.marker);
        command
    }

    /// Starts a run, in a process group of its own as a terminal would, and waits until it stands at the point.
    fn start(&self, point: &str) -> Child {
        let at = self.control.join(format!("at-{point}"));
        let _ = std::fs::remove_file(&at);
        std::fs::write(self.control.join(format!("hold-{point}")), "").expect("a temporary file");
        let mut command = self.command();
        // A file: whatever outlives the run must not keep the test waiting for the end of a pipe.
        let stderr = std::fs::File::create(self.stderr()).expect("a temporary file");
        command.process_group(0).stdout(Stdio::null()).stderr(stderr);
        let mut child = command.spawn().expect("it can be started");
        wait_until(&format!("the run stands at {point}"), || {
            let ended = child.try_wait().expect("it was started here");
            assert!(ended.is_none(), "the run ended before {point}: {}", self.said());
            at.exists()
        });
        child
    }

    fn stderr(&self) -> PathBuf {
        self.playground.repository.beside("stderr")
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.stderr()).unwrap_or_default()
    }

    /// What came of a run that was started.
    fn wait(&self, mut child: Child) -> Ran {
        let code = child.wait().expect("it was started here").code();
        Ran { code, stdout: String::new(), stderr: self.said() }
    }

    fn let_go(&self, point: &str) {
        std::fs::remove_file(self.control.join(format!("hold-{point}"))).expect("it was made by `start`");
    }

    /// The files of the user are as they were, whatever else there may be.
    #[track_caller]
    fn assert_nothing_lost(&self, point: &str) {
        assert!(precious(&self.playground) == self.precious, "something was lost at {point}");
    }

    #[track_caller]
    fn assert_no_trace(&self, ran: &Ran, point: &str) {
        self.assert_nothing_lost(point);
        assert_eq!(self.playground.state(), self.before, "at {point}: {ran}");
        wait_until(&format!("every process of the run at {point} is gone"), || {
            processes_with(&self.marker).is_empty()
        });
        assert_eq!(self.playground.temporary_files(), Vec::<PathBuf>::new(), "at {point}");
        assert_eq!(leftovers(&self.playground.cache()), Vec::<PathBuf>::new(), "at {point}");
    }

    /// A run to its end.
    fn run_through(&self) -> Ran {
        let mut command = self.command();
        let ran = support::finish(&mut command);
        assert_eq!(ran.code, Some(0), "{ran}");
        ran
    }
}

fn precious(playground: &Playground) -> Precious {
    let git = playground.root().join(".git");
    let mut files = listing(&git, &["worktrees", "objects", "logs"]);
    // What git writes as it looks.
    files.retain(|path, _| path.extension().is_none_or(|extension| extension != "lock"));
    Precious {
        tree: listing(playground.root(), &[".git"]),
        git: files,
        refs: playground.repository.git(&["for-each-ref"]),
    }
}

/// Worktrees, scratch directories and half-made links below a cache.
fn leftovers(cache: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![(cache.to_owned(), 0)];
    while let Some((directory, depth)) = pending.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "tree" || name == "run" || name.starts_with("live.") {
                found.push(entry.path());
            } else if depth < 3 && name != "target" && entry.path().is_dir() && name != "live" {
                pending.push((entry.path(), depth + 1));
            }
        }
    }
    found
}

fn send(signal: &str, to: &str) {
    assert!(send_if_there(signal, to), "{to} is not there");
}

fn send_if_there(signal: &str, to: &str) -> bool {
    let mut command = Command::new("kill");
    let output = command.args(["-s", signal, "--", to]).output();
    output.expect("kill can be run").status.success()
}

/// Signals that a run can heed, sent to it alone as a CI system does; a filter of git's, which nobody else knows of, gets it
/// too, as from a terminal.
fn heeded(signal: &str) {
    let held = Held::new(signal);
    for point in POINTS {
        let mut child = held.start(point);
        let to =
            if point.starts_with("smudge") { format!("-{}", child.id()) } else { child.id().to_string() };
        send(signal, &to);
        if point.starts_with("cleanup") {
            // It may have half a minute; a second signal ends the run at once. Two that come as one are one.
            wait_until("the run heeds a second signal", || {
                send_if_there(signal, &to);
                child.try_wait().expect("it was started here").is_some()
            });
        }
        let ran = held.wait(child);
        held.let_go(point);
        ran.ends(4, &["interrupted"]);
        if point.starts_with("cleanup") {
            held.assert_nothing_lost(point);
            let ran = held.run_through();
            held.assert_no_trace(&ran, point);
        } else {
            held.assert_no_trace(&ran, point);
        }
    }
}

#[test]
fn interrupt_at_any_point_loses_nothing_and_leaves_nothing() {
    need_git!();
    heeded("INT");
}

#[test]
fn termination_at_any_point_loses_nothing_and_leaves_nothing() {
    need_git!();
    heeded("TERM");
}

#[test]
fn kill_at_any_point_loses_nothing_and_the_next_run_clears_up() {
    need_git!();
    let held = Held::new("KILL");
    for point in POINTS {
        let child = held.start(point);
        send("KILL", &child.id().to_string());
        let ran = held.wait(child);
        assert_eq!(ran.code, None, "at {point}: {ran}");
        held.let_go(point);
        held.assert_nothing_lost(point);
        let ran = held.run_through();
        held.assert_no_trace(&ran, point);
    }
}
