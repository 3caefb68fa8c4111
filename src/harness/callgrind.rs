//! Instructions by callgrind: which commands count those of one benchmark, and what valgrind's file says.

use std::ffi::OsString;
use std::time::Duration;

use crate::verdict::evidence::ErrorKind;

use super::HarnessKind;
use super::contract::{
    CommandSpec, Executable, HarnessError, ResolvedLaunch, RunBudget, RunOutput, Selection,
};

/// Where callgrind writes, below the scratch directory. Every process of the program writes a file of its own.
const OUT: &str = "callgrind.out";

/// The variable of the scratch directory, for programs whose harness has none.
const DIRECTORY: &str = "BENCHGATE_COUNT_DIR";

/// How much longer a program may take than without valgrind, which is 20 to 50 times slower, most of it in starting up.
const SLOWDOWN: u32 = 10;

/// Native time the many iterations of a difference should take. ns.
const DIFFERENCE_NS: f64 = 20e6;

/// How the instructions of one benchmark are told from those of its harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The whole program is the benchmark.
    Whole,
    /// Counting goes on and off at functions of the harness that callgrind knows by these patterns; the benchmark runs
    /// once.
    Toggle(&'static [&'static str]),
    /// Two runs with different numbers of iterations, whose difference is divided by theirs.
    Difference,
    /// The harness counts by itself.
    Own,
    /// There is none.
    Never,
}

/// criterion's functions that hold one timed iteration. Those that only call another of them are left out: entering a
/// second one would turn the counting off. The second spelling is that of symbols with type arguments.
const CRITERION: &[&str] = &[
    "*criterion::bencher::*Bencher*::iter",
    "*criterion::bencher::*Bencher*::iter::<*",
    "*criterion::bencher::*Bencher*::iter_custom",
    "*criterion::bencher::*Bencher*::iter_custom::<*",
    "*criterion::bencher::*Bencher*::iter_batched",
    "*criterion::bencher::*Bencher*::iter_batched::<*",
    "*criterion::bencher::*Bencher*::iter_batched_ref",
    "*criterion::bencher::*Bencher*::iter_batched_ref::<*",
];

/// The call of a `#[bench]` function by the built-in harness.
const LIBTEST: &[&str] = &["*FnOnce*test::bench::Bencher*call_once*"];

impl Way {
    /// The way of a harness.
    pub fn of(harness: HarnessKind) -> Self {
        match harness.as_str() {
            "process" => Self::Whole,
            "criterion" => Self::Toggle(CRITERION),
            "libtest" => Self::Toggle(LIBTEST),
            "divan" => Self::Difference,
            "gungraun" | "iai-callgrind" | "lines" => Self::Own,
            _ => Self::Never,
        }
    }
}

/// The count of one benchmark of one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    id: String,
    way: Way,
    exit_codes: Vec<i32>,
    /// Iterations of each command beyond those of the one before.
    iterations: f64,
    commands: Vec<CommandSpec>,
}

impl Count {
    /// Plans the count of the benchmark with this id; `None` where callgrind cannot tell it from its harness, or is not
    /// needed to.
    pub fn of(
        harness: HarnessKind,
        executable: &Executable,
        launch: &ResolvedLaunch,
        id: &str,
        budget: RunBudget,
    ) -> Option<Self> {
        let way = Way::of(harness);
        // A runner, such as an emulator, would be counted in place of the program.
        if !executable.runner.is_empty() {
            return None;
        }
        let plain = harness.run_command(executable, launch, &Selection::One(id), budget);
        let (iterations, commands) = match way {
            Way::Whole => (1.0, vec![command(plain, &[], budget)]),
            Way::Toggle(patterns) => (1.0, vec![command(once(plain), patterns, budget)]),
            Way::Difference => {
                let more = match budget.latency_hint_ns {
                    Some(latency) if 0.0 < latency => (DIFFERENCE_NS / latency).clamp(2.0, 1000.0).round(),
                    _ => 100.0,
                };
                let of = |size: f64| command(sized(plain.clone(), size), &[], budget);
                (more, vec![of(1.0), of(1.0 + more)])
            }
            Way::Own | Way::Never => return None,
        };
        let exit_codes = launch.exit_codes.clone();
        Some(Self { id: id.to_owned(), way, exit_codes, iterations, commands })
    }

    /// The commands, one or two, in their order.
    pub fn commands(&self) -> &[CommandSpec] {
        &self.commands
    }

    /// The instructions of one iteration, from the outputs of all commands.
    ///
    /// # Errors
    ///
    /// A program that failed under valgrind, a file that is not of callgrind's form, or a count of 0: the functions at
    /// which counting goes on were not found.
    pub fn parse(&self, outputs: &[RunOutput]) -> Result<f64, HarnessError> {
        let counts: Vec<u64> =
            outputs.iter().map(|output| self.instructions(output)).collect::<Result<_, _>>()?;
        let count = match counts[..] {
            [count] => count as f64,
            [few, many] => (many as f64 - few as f64) / self.iterations,
            _ => 0.0,
        };
        if 0.0 < count {
            return Ok(count);
        }
        let why = match self.way {
            Way::Toggle(_) => {
                "callgrind met none of the harness's functions that hold the benchmark; symbols that are stripped, or a \
                 harness of another version, make this"
            }
            _ => {
                "callgrind counted no more instructions in many iterations than in one; the compiler may have removed \
                  the work"
            }
        };
        Err(HarnessError::new(
            ErrorKind::MetricFailed,
            format!("the instructions of `{}` cannot be counted: {why}", self.id),
        ))
    }

    /// The sum over all processes of one run.
    fn instructions(&self, output: &RunOutput) -> Result<u64, HarnessError> {
        super::ending::check(output, &self.exit_codes).map_err(|error| {
            let message = format!("under callgrind {}", error.message);
            HarnessError::new(ErrorKind::MetricFailed, message)
        })?;
        if output.files.is_empty() {
            let message = "callgrind wrote no file; the program may have ended without telling, or valgrind is not complete";
            return Err(HarnessError::new(ErrorKind::MetricFailed, message));
        }
        output.files.iter().map(|file| summary(&file.bytes)).sum::<Option<u64>>().ok_or_else(|| {
            let message = "callgrind's file has no `summary:` of instructions; check the version of valgrind (3.19 is known)";
            HarnessError::new(ErrorKind::MetricFailed, message)
        })
    }
}

/// The `summary:` (or `totals:`) lines of one file, where the only event is instructions.
fn summary(bytes: &[u8]) -> Option<u64> {
    let lines = || bytes.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let events = lines().find_map(|line| line.strip_prefix("events:"))?;
    if events.split_whitespace().next() != Some("Ir") {
        return None;
    }
    let sum = |prefix: &str| -> Option<u64> {
        let numbers = lines().filter_map(|line| line.strip_prefix(prefix));
        let mut parts = numbers.map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).peekable();
        parts.peek()?;
        parts.sum()
    };
    sum("summary:").or_else(|| sum("totals:"))
}

/// The command under callgrind. What else valgrind would read (its variable, its files) is ignored.
fn command(plain: CommandSpec, toggles: &[&str], budget: RunBudget) -> CommandSpec {
    let variable = plain.scratch_variable.unwrap_or(DIRECTORY);
    let mut args: Vec<OsString> = vec![
        "-q".into(),
        "--command-line-only=yes".into(),
        "--tool=callgrind".into(),
        format!("--callgrind-out-file=%q{{{variable}}}/{OUT}.%p").into(),
        "--dump-line=no".into(),
    ];
    args.extend(toggles.iter().map(|pattern| format!("--toggle-collect={pattern}").into()));
    args.push("--".into());
    args.push(plain.program.clone().into());
    args.extend(plain.args);
    CommandSpec {
        program: "valgrind".into(),
        args,
        timeout: budget.timeout.saturating_mul(SLOWDOWN).max(Duration::from_secs(60)),
        scratch_variable: Some(variable),
        collect: &["callgrind.out.*"],
        ..plain
    }
}

/// The command with its benchmark run once, as a test. criterion wants to be told, the built-in harness does so when it
/// is not told to measure.
fn once(mut plain: CommandSpec) -> CommandSpec {
    let is_criterion = plain.scratch_variable.is_some();
    match plain.args.iter().position(|argument| argument == "--bench") {
        Some(at) if is_criterion => plain.args[at] = "--test".into(),
        Some(at) => {
            plain.args.remove(at);
        }
        None => {}
    }
    if !is_criterion {
        // Its results as JSON are about measuring; one thread keeps the order of all else.
        remove_with_value(&mut plain.args, "-Z");
        remove_with_value(&mut plain.args, "--format");
        plain.args.push("--test-threads=1".into());
    }
    plain
}

/// divan's command with one sample of so many iterations.
fn sized(mut plain: CommandSpec, size: f64) -> CommandSpec {
    for option in ["--sample-count", "--sample-size", "--min-time", "--max-time"] {
        remove_with_value(&mut plain.args, option);
    }
    plain.args.extend(["--sample-count", "1", "--sample-size"].map(OsString::from));
    plain.args.push(format!("{size}").into());
    plain
}

/// Takes an option out, written `--option value` or `--option=value`.
fn remove_with_value(args: &mut Vec<OsString>, option: &str) {
    let joined = format!("{option}=");
    while let Some(at) = args.iter().position(|argument| {
        argument == option || argument.to_str().is_some_and(|argument| argument.starts_with(&joined))
    }) {
        let has_value = args[at] == option;
        args.remove(at);
        if has_value && at < args.len() {
            args.remove(at);
        }
    }
}
