//! The runner process with real programs: how they end, what is read back, and that nothing is left behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // A helper of a test fails by panicking, as the test does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cargo_benchgate::harness::contract::{CommandSpec, ExitOutcome, RunOutput};
use cargo_benchgate::measure::{ExecuteError, Executor, LiveExecutor, RunnerClient, StartProblem};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-benchgate");
/// Seconds: long beyond every test, short enough not to outlive a broken one for long.
const LONG: &str = "60";

struct Place {
    home: tempfile::TempDir,
    client: RunnerClient,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("runs")).unwrap();
        let client = RunnerClient::new(PROGRAM, home.path().join("runs"));
        Self { home, client }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn run(&mut self, spec: &CommandSpec) -> Result<RunOutput, ExecuteError> {
        self.client.execute(spec, &AtomicBool::new(false))
    }

    fn sh(&self, script: &str) -> CommandSpec {
        shell(script, self.home.path())
    }

    /// The number a script wrote to a file, once it is there.
    fn pid(&self, name: &str) -> u32 {
        pid_in(&self.path(name))
    }
}

fn shell(script: &str, cwd: &Path) -> CommandSpec {
    CommandSpec {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
        cwd: cwd.into(),
        stdin: None,
        timeout: Duration::from_secs(50),
        scratch_variable: None,
        collect: &[],
        capture_stdout: true,
    }
}

fn pid_in(path: &Path) -> u32 {
    let mut pid = None;
    within("a process id is written", || {
        pid = std::fs::read_to_string(path).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok());
        pid.is_some()
    });
    pid.unwrap()
}

fn ps(column: &str, pid: u32) -> String {
    let output =
        Command::new("ps").args(["-o", &format!("{column}="), "-p", &pid.to_string()]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn is_alive(pid: u32) -> bool {
    let state = ps("stat", pid);
    !state.is_empty() && !state.starts_with('Z')
}

fn within(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let mut place = Place::new();
    for (script, outcome) in [
        ("exit 0", ExitOutcome::Code(0)),
        ("exit 137", ExitOutcome::Code(137)),
        ("kill -9 $$", ExitOutcome::Signal(9)),
        ("kill -11 $$", ExitOutcome::Signal(11)),
    ] {
        let output = place.run(&place.sh(script)).unwrap();
        assert_eq!(output.outcome, outcome, "{script}");
    }
}

#[test]
fn nothing_of_the_environment_is_inherited() {
    let mut place = Place::new();
    let mut spec = place.sh("");
    spec.program = "env".into();
    spec.args.clear();
    spec.env.push(("A".into(), "with space\nand line".into()));
    let output = place.run(&spec).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut lines: Vec<_> = text(&output.stdout).lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=with space", &format!("PATH={path}"), "and line"]);
}

#[test]
fn arguments_that_are_not_utf8_reach_the_program_as_they_are() {
    let mut place = Place::new();
    let mut spec = place.sh("printf %s \"$1\"");
    let raw: OsString = std::os::unix::ffi::OsStringExt::from_vec(vec![b'x', 0xff, b'"']);
    spec.args.extend(["sh".into(), raw]);
    assert_eq!(place.run(&spec).unwrap().stdout, [b'x', 0xff, b'"']);
}

#[test]
fn standard_input_is_empty_unless_a_file_is_named() {
    let mut place = Place::new();
    let mut spec = place.sh("cat; echo end");
    assert_eq!(text(&place.run(&spec).unwrap().stdout), "end\n");

    std::fs::write(place.path("input"), "from the file\n").unwrap();
    spec.stdin = Some(place.path("input"));
    for _ in 0..2 {
        assert_eq!(text(&place.run(&spec).unwrap().stdout), "from the file\nend\n");
    }
}

#[test]
fn a_missing_program_directory_interpreter_and_input_are_told_apart() {
    use std::os::unix::fs::PermissionsExt;
    let mut place = Place::new();
    let nowhere = place.path("nowhere");
    let script = place.path("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    let mut problem = |change: &dyn Fn(&mut CommandSpec)| {
        let mut spec = place.sh("exit 0");
        change(&mut spec);
        match place.run(&spec) {
            Err(ExecuteError::Start(problem)) => problem,
            other => panic!("{other:?}"),
        }
    };
    let shown = |path: &Path| path.display().to_string();

    let missing = problem(&|spec| spec.program.clone_from(&nowhere));
    assert_eq!(missing, StartProblem::NoProgram { program: shown(&nowhere) });
    let missing = problem(&|spec| spec.cwd.clone_from(&nowhere));
    assert_eq!(missing, StartProblem::NoWorkingDirectory { cwd: shown(&nowhere) });
    let missing = problem(&|spec| spec.program = "no-such-program".into());
    assert_eq!(missing, StartProblem::NotInPath { program: "no-such-program".into() });
    let refused = problem(&|spec| spec.program.clone_from(&script));
    assert_eq!(refused, StartProblem::NotExecutable { program: shown(&script) });
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let missing = problem(&|spec| spec.program.clone_from(&script));
    assert_eq!(missing, StartProblem::NoInterpreter { program: shown(&script) });
    let missing = problem(&|spec| spec.stdin = Some(nowhere.clone()));
    assert!(matches!(missing, StartProblem::NoStdin { path, .. } if path == shown(&nowhere)));
}

#[test]
fn output_nobody_asked_for_is_kept_by_its_tail() {
    let mut place = Place::new();
    let script = "for i in 1 2 3 4 5 6 7 8 9; do printf %01024d $i; printf %01024d $i >&2; done";
    let mut spec = place.sh(script);
    spec.capture_stdout = false;
    let output = place.run(&spec).unwrap();
    for tail in [&output.stdout, &output.stderr] {
        assert_eq!(tail.len(), 8 << 10);
        assert!(text(&tail[..1024]).ends_with("002") && text(tail).ends_with("009"));
    }
    spec.capture_stdout = true;
    assert_eq!(place.run(&spec).unwrap().stdout.len(), 9 << 10);
}

#[test]
fn output_beyond_the_limit_is_an_error_that_says_so() {
    let mut place = Place::new();
    let spec = place.sh("head -c 17000000 /dev/zero");
    match place.run(&spec) {
        Err(ExecuteError::TooLarge { what, bytes: 17_000_000, .. }) => assert_eq!(what, "standard output"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_scratch_directory_is_fresh_collected_and_gone_after_the_run() {
    let mut place = Place::new();
    let script = "echo $S; ls -A $S; mkdir -p $S/a/new $S/b; echo 1 >$S/a/new/x.json; echo 2 >$S/b/x.json; \
                  echo 3 >$S/other; ln -s /etc/passwd $S/x.json; mkdir $S/shut; echo 4 >$S/shut/f; chmod 500 $S/shut";
    let mut spec = place.sh(script);
    spec.scratch_variable = Some("S");
    spec.collect = &["x.json"];
    // What the caller has of that name does not win over the fresh directory.
    spec.env.push(("S".into(), "/nowhere".into()));
    let mut seen = Vec::new();
    for _ in 0..2 {
        let output = place.run(&spec).unwrap();
        let files: Vec<_> =
            output.files.iter().map(|file| (file.path.to_str().unwrap(), text(&file.bytes))).collect();
        assert_eq!(files, [("a/new/x.json", "1\n"), ("b/x.json", "2\n")], "{}", text(&output.stderr));
        // One line: the directory's name, and nothing in it.
        assert_eq!(text(&output.stdout).lines().count(), 1);
        assert!(!Path::new(text(&output.stdout).trim()).exists());
        seen.push(output.stdout);
    }
    // The name is part of the environment, which moves the stack: it must not differ from run to run.
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn cpu_time_is_that_of_the_whole_waited_for_tree() {
    let mut place = Place::new();
    let busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let output = place.run(&place.sh(&format!("(sh -c '{busy}'); exit 0"))).unwrap();
    assert!(1_000_000 < output.user_ns + output.system_ns, "{output:?}");
    assert!(0 < output.wall_ns);
}

#[cfg(target_os = "linux")]
#[test]
fn peak_rss_does_not_depend_on_the_memory_of_the_tool() {
    let mut place = Place::new();
    // Every page is touched, so that it counts.
    let ballast = std::hint::black_box(vec![1_u8; 300 << 20]);
    let spec = place.sh("exit 0");
    let small = place.run(&spec).unwrap();
    assert!(small.peak_rss_bytes < 64 << 20, "{small:?}");
    assert!(1 << 20 < small.peak_rss_floor_bytes && small.peak_rss_floor_bytes < 64 << 20, "{small:?}");
    drop(ballast);
    let big = place.run(&place.sh("head -c 100000000 /dev/zero | tail -c 100000000 >/dev/null")).unwrap();
    assert!(90_000_000 < big.peak_rss_bytes, "{big:?}");
    // The peak of one run is not the floor of the next.
    let again = place.run(&spec).unwrap();
    assert!(again.peak_rss_bytes < 64 << 20 && again.peak_rss_floor_bytes < 64 << 20, "{again:?}");
}

#[test]
fn a_time_out_kills_the_children_too() {
    let mut place = Place::new();
    let mut spec = place.sh(&format!("sleep {LONG} & echo $! >child; echo said >&2; wait"));
    spec.timeout = Duration::from_secs(1);
    let output = place.run(&spec).unwrap();
    assert_eq!(output.outcome, ExitOutcome::TimedOut);
    assert_eq!(text(&output.stderr), "said\n");
    assert!(!is_alive(place.pid("child")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_time_out_kills_those_who_left_the_group_and_the_session_too() {
    let mut place = Place::new();
    // One still a child, one a daemon, one a child of that daemon in a third session.
    std::fs::write(
        place.path("daemon.sh"),
        format!("echo $$ >two\nsetsid sh -c 'echo $$ >three; exec sleep {LONG}' &\nexec sleep {LONG}\n"),
    )
    .unwrap();
    let mut spec = place.sh(&format!(
        "setsid sh -c 'echo $$ >one; exec sleep {LONG}' & (setsid sh daemon.sh & exit 0); sleep {LONG}"
    ));
    spec.timeout = Duration::from_secs(2);
    assert_eq!(place.run(&spec).unwrap().outcome, ExitOutcome::TimedOut);
    for name in ["one", "two", "three"] {
        assert!(!is_alive(place.pid(name)), "{name}");
    }
}

#[test]
fn a_background_process_does_not_run_into_the_next_measurement() {
    let mut place = Place::new();
    let script = format!("sleep {LONG} & echo $! >child; exit 3");
    assert_eq!(place.run(&place.sh(&script)).unwrap().outcome, ExitOutcome::Code(3));
    assert!(!is_alive(place.pid("child")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_does_not_run_into_the_next_measurement() {
    let mut place = Place::new();
    let script = format!(
        "(setsid sh -c 'echo $$ >daemon; exec sleep {LONG}' & exit 0); while [ ! -s daemon ]; do sleep 0.01; done; exit 4"
    );
    assert_eq!(place.run(&place.sh(&script)).unwrap().outcome, ExitOutcome::Code(4));
    assert!(!is_alive(place.pid("daemon")));
}

#[test]
fn the_end_of_another_child_is_not_the_end_of_the_program() {
    let mut place = Place::new();
    // Orphans that end while the program runs wake the runner as well.
    let script = "for i in 1 2 3 4 5; do (sh -c 'exit 1' & exit 0); done; sleep 0.2; echo whole; exit 5";
    let output = place.run(&place.sh(script)).unwrap();
    assert_eq!((output.outcome, text(&output.stdout)), (ExitOutcome::Code(5), "whole\n"));
}

#[test]
fn an_interrupt_kills_the_program_and_the_client_goes_on() {
    let mut place = Place::new();
    let flag = AtomicBool::new(false);
    let spec = place.sh(&format!("echo $$ >program; sleep {LONG} & echo $! >child; wait"));
    let (program, child) = std::thread::scope(|scope| {
        let home = place.home.path();
        let ids = scope.spawn(|| {
            let ids = (pid_in(&home.join("program")), pid_in(&home.join("child")));
            flag.store(true, Ordering::Relaxed);
            ids
        });
        assert_eq!(place.client.execute(&spec, &flag), Err(ExecuteError::Interrupted));
        ids.join().unwrap()
    });
    assert!(!is_alive(program) && !is_alive(child));
    // Set beforehand, nothing starts.
    assert_eq!(place.client.execute(&place.sh("touch started"), &flag), Err(ExecuteError::Interrupted));
    assert!(!place.path("started").exists());
    assert_eq!(place.run(&place.sh("exit 6")).unwrap().outcome, ExitOutcome::Code(6));
}

#[test]
fn the_runner_is_in_a_group_of_its_own_so_that_ctrl_c_reaches_the_tool_alone() {
    let mut place = Place::new();
    let output = place.run(&place.sh("ps -o pgid= -p $$")).unwrap();
    let runner = place.client.runner_id().unwrap().to_string();
    assert_eq!(ps("pgid", place.client.runner_id().unwrap()), runner);
    assert_ne!(ps("pgid", std::process::id()), runner);
    // The program is in another one again.
    assert_ne!(text(&output.stdout).trim(), runner);
}

#[test]
fn a_runner_that_dies_is_an_error_and_is_restarted_once() {
    let mut place = Place::new();
    // The parent of the program is the runner.
    let spec = place.sh(&format!("sleep {LONG} & echo $! >child; kill -9 $PPID; wait"));
    assert!(matches!(place.run(&spec), Err(ExecuteError::RunnerDied(_))));
    if cfg!(target_os = "linux") {
        let child = place.pid("child");
        within("what the dead runner left running is gone", || !is_alive(child));
    }
    assert_eq!(place.run(&place.sh("exit 7")).unwrap().outcome, ExitOutcome::Code(7));
    assert!(matches!(place.run(&spec), Err(ExecuteError::RunnerDied(_))));
    match place.run(&place.sh("exit 7")) {
        Err(ExecuteError::RunnerDied(why)) => assert!(why.contains("twice"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(std::fs::read_dir(place.path("runs")).unwrap().count(), 0);
}

#[test]
fn a_runner_that_cannot_be_started_is_an_error() {
    let place = Place::new();
    let mut client = RunnerClient::new("/no/such/runner", place.path("runs"));
    let result = client.execute(&place.sh("exit 0"), &AtomicBool::new(false));
    assert!(matches!(result, Err(ExecuteError::RunnerDied(why)) if why.contains("/no/such/runner")));
}

#[test]
fn a_dropped_client_leaves_no_process_and_no_file() {
    let mut place = Place::new();
    place.run(&place.sh("exit 0")).unwrap();
    let runner = place.client.runner_id().unwrap();
    let runs = place.path("runs");
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1);
    drop(place.client);
    assert!(!is_alive(runner));
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 0);
}

/// Not a test of its own: the process the next test kills.
#[test]
fn the_parent_that_is_killed() {
    let Some(home) = std::env::var_os("BENCHGATE_TEST_KILLED_PARENT").map(PathBuf::from) else { return };
    let mut client = RunnerClient::new(PROGRAM, home.join("runs"));
    client.execute(&shell("exit 0", &home), &AtomicBool::new(false)).unwrap();
    std::fs::write(home.join("runner"), format!("{}\n", client.runner_id().unwrap())).unwrap();
    let script = format!(
        "echo $$ >program; sleep {LONG} & echo $! >child; setsid sh -c 'echo $$ >escapee; exec sleep {LONG}' & wait"
    );
    client.execute(&shell(&script, &home), &AtomicBool::new(false)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn the_runner_and_all_it_started_are_gone_when_the_tool_is_killed() {
    let place = Place::new();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_parent_that_is_killed"])
        .env("BENCHGATE_TEST_KILLED_PARENT", place.home.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pids = ["runner", "program", "child", "escapee"].map(|name| place.pid(name));
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    parent.kill().unwrap();
    parent.wait().unwrap();
    for pid in pids {
        within("processes are gone", || !is_alive(pid));
    }
    within("files are gone", || std::fs::read_dir(place.path("runs")).unwrap().count() == 0);
}

#[test]
fn the_internal_argument_removes_no_directory_that_is_not_a_runners() {
    let place = Place::new();
    std::fs::write(place.path("mine"), "").unwrap();
    let output =
        Command::new(PROGRAM).arg("__run").arg(place.home.path()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(place.path("mine").exists());
}

#[test]
fn the_fixed_path_is_switched_only_when_another_revision_runs() {
    let place = Place::new();
    let never = AtomicBool::new(false);
    let mut switched = Vec::new();
    std::fs::write(place.path("work"), "12345").unwrap();
    let (spec, work) = (place.sh("exit 0"), place.path("work"));
    let mut live = LiveExecutor::new(
        place.client,
        |revision| {
            switched.push(revision);
            if revision == 9 { Err(std::io::Error::other("planted")) } else { Ok(()) }
        },
        &never,
    );
    for revision in [0, 1, 1, 0] {
        live.execute(revision, &spec).unwrap();
    }
    assert_eq!(live.file_size(1, &work), Ok(5));
    assert!(matches!(live.file_size(1, Path::new("/no/such")), Err(ExecuteError::FileSize { .. })));
    assert!(matches!(live.execute(9, &spec), Err(ExecuteError::Switch(why)) if why == "planted"));
    // After a failed switch nothing is known to be live.
    live.execute(1, &spec).unwrap();
    drop(live);
    assert_eq!(switched, [0, 1, 0, 1, 9, 1]);
}

/// Prints what the detour through the runner costs; asserts nothing of it.
#[test]
fn overhead_of_the_runner_is_printed() {
    let mut place = Place::new();
    let mut spec = place.sh("");
    spec.program = "/bin/true".into();
    spec.args.clear();
    spec.capture_stdout = false;
    place.run(&spec).unwrap();
    let (mut recorded, mut whole, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..300 {
        let started = Instant::now();
        recorded.push(Duration::from_nanos(place.run(&spec).unwrap().wall_ns));
        whole.push(started.elapsed());
        let mut command = Command::new("/bin/true");
        command.env_clear().envs(spec.env.iter().map(|(name, value)| (name, value))).current_dir(&spec.cwd);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        command.spawn().unwrap().wait().unwrap();
        bare.push(started.elapsed());
    }
    for (name, times) in [("recorded", &mut recorded), ("round trip", &mut whole), ("bare loop", &mut bare)] {
        times.sort_unstable();
        let at = |part: usize| times[(times.len() - 1) * part / 4];
        println!("{name}: min {:?}, quarter {:?}, median {:?}", at(0), at(1), at(2));
    }
}
