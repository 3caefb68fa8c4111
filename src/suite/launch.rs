//! How a benchmark's program is started, as the suite says it: placeholders not yet filled in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::settings::word_enum;

word_enum! {
    /// The harness an entry names.
    HarnessChoice {
        /// Found out by metadata, marker bytes, then a probe.
        Auto = "auto",
        /// The whole process is one benchmark.
        Process = "process",
        /// criterion.
        Criterion = "criterion",
        /// divan.
        Divan = "divan",
        /// The built-in `#[bench]`.
        Libtest = "libtest",
        /// The `bencher` port of it.
        Bencher = "bencher",
        /// gungraun.
        Gungraun = "gungraun",
        /// iai-callgrind.
        IaiCallgrind = "iai-callgrind",
        /// tango-bench.
        Tango = "tango",
        /// Our own line protocol.
        Lines = "lines",
    }
}

/// How a benchmark's program is started. Text may hold `${root}`, `${head_root}`, `${workdir}` and `${env:NAME}`;
/// `$${` is a literal `${`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The harness, or auto.
    pub harness: HarnessChoice,
    /// Whether each benchmark has a process of its own, or one process measures all of a target.
    #[serde(default = "isolated")]
    pub isolate: bool,
    /// Arguments after the harness's own.
    pub args: Vec<String>,
    /// Variables set on top of what cargo would set.
    pub env: BTreeMap<String, String>,
    /// Working directory; the package root of the revision when absent.
    pub cwd: Option<String>,
    /// A file the program reads as standard input; closed when absent.
    pub stdin: Option<String>,
    /// Exit codes that count as success.
    pub exit_codes: Vec<i32>,
    /// The work of one unit run, from which throughput is derived.
    pub work: Option<Work>,
    /// Commands around the benchmarks.
    #[serde(default)]
    pub hooks: Hooks,
}

/// Commands around the benchmarks: a program and its arguments each, with placeholders. They run outside the timing, in
/// the package's root of each revision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Before the target is first run, once a revision.
    pub setup: Vec<Vec<String>>,
    /// Before every unit run.
    pub prepare_each: Vec<Vec<String>>,
    /// After everything, once a revision, whatever came of it.
    pub cleanup: Vec<Vec<String>>,
}

impl Launch {
    /// Whether `${workdir}` is empty whenever a unit run begins: where it is named, and no setup fills it.
    pub fn empties_workdir(&self) -> bool {
        let names = |text: &String| text.contains("${workdir}");
        let file = match &self.work {
            Some(Work::File(file)) => Some(file),
            Some(Work::Value { .. }) | None => None,
        };
        let prepare = self.hooks.prepare_each.iter().flatten();
        let own = self.args.iter().chain(self.env.values()).chain(&self.cwd).chain(&self.stdin);
        own.chain(file).chain(prepare).any(names) && !self.hooks.setup.iter().flatten().any(names)
    }
}

impl Default for Launch {
    fn default() -> Self {
        Self {
            harness: HarnessChoice::Auto,
            isolate: isolated(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            stdin: None,
            exit_codes: vec![0],
            work: None,
            hooks: Hooks::default(),
        }
    }
}

fn isolated() -> bool {
    true
}

/// The work of one unit run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// The size of a file in bytes, read before every unit run, outside the timing.
    File(String),
    /// A constant amount.
    Value {
        /// Above 0.
        value: f64,
        /// What is counted, such as `operations`.
        unit: String,
    },
}
