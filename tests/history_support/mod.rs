//! A history in a temporary directory, and the real command on it.
#![allow(dead_code, unreachable_pub, reason = "each test program takes a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs `cargo-benchgate history ARGS` in a directory.
pub fn history(cwd: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-benchgate"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    let output = command
        .arg("history")
        .args(arguments)
        .current_dir(cwd)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", std::env::temp_dir())
        .env("COLUMNS", "200")
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A directory that is no repository, with a history `H` made of a table.
pub struct Plain {
    temp: TempDir,
}

impl Plain {
    pub fn new() -> Self {
        Self { temp: TempDir::with_prefix("benchgate-history-").unwrap() }
    }

    pub fn of_table(table: &str) -> Self {
        let plain = Self::new();
        plain.write("table.csv", table);
        plain.run(&["import", "table.csv"]).ok();
        plain
    }

    pub fn path(&self) -> &Path {
        self.temp.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join("H")
    }

    pub fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        let mut all = arguments.to_vec();
        all.extend(["--history", "H"]);
        history(self.path(), &all)
    }

    /// The JSON of `show`.
    pub fn show(&self, bench: &str, more: &[&str]) -> Value {
        let mut all = vec!["show", bench, "--format", "json"];
        all.extend(more);
        self.run(&all).ok().json()
    }

    /// All files of the store that are no cache, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        files_below(&self.store())
            .into_iter()
            .filter(|path| !path.starts_with(self.store().join("cache")))
            .collect()
    }
}

pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A table with one benchmark `b`, a commit a day.
pub fn table(values: &[f64]) -> String {
    let mut text = "commit,timestamp,benchmark,metric,unit,value\n".to_owned();
    for (index, value) in values.iter().enumerate() {
        text.push_str(&format!("c{index},{},b,latency,ns,{value}\n", 1_700_000_000 + 86_400 * index));
    }
    text
}

/// Values about a level with about one per cent of scatter; always the same.
pub fn scattered(count: usize, level: f64) -> Vec<f64> {
    let share = |index: usize| 2.0 * ((index as f64 * 0.618_033_988_749_895).fract() - 0.5);
    (0..count).map(|index| level * (1.0 + 0.01 * share(index))).collect()
}

/// What one side of a report holds.
pub struct Side<'a> {
    pub name: &'a str,
    pub commit: &'a str,
    pub dirty: bool,
    pub values: &'a [f64],
}

/// A report of one benchmark `t/b` with latencies, as our own runs write it.
pub fn report(started_at: &str, sides: &[Side<'_>]) -> Value {
    report_with(started_at, sides, json!({}))
}

/// The same with other machine, toolchain or settings laid over.
pub fn report_with(started_at: &str, sides: &[Side<'_>], over: Value) -> Value {
    let revisions: Vec<Value> = sides
        .iter()
        .map(|side| {
            json!({ "name": side.name, "spec": side.name, "commit": side.commit, "subject": null, "dirty": side.dirty,
                    "chosen_because": null, "committed_at": started_at })
        })
        .collect();
    let of_side = |side: &Side<'_>| {
        let mut sorted = side.values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let runs: Vec<Value> = side
            .values
            .iter()
            .enumerate()
            .map(|(index, value)| {
                json!({ "stage": "screen", "round": index / 2, "sequence": index, "values": { "latency": value } })
            })
            .collect();
        json!({ "revision": side.name, "executable_sha256": null, "runs": runs, "statistics": { "latency": {
            "unit": "ns", "count": sorted.len(), "min": sorted[0], "max": sorted[sorted.len() - 1],
            "mean": sorted.iter().sum::<f64>() / sorted.len() as f64, "median": sorted[sorted.len() / 2],
            "standard_deviation": null, "cv": null, "robust_cv": null, "percentiles": {} } } })
    };
    let settings = json!({
                "sampling": { "warmup": 1, "samples": { "adaptive": { "min": 8, "max": 60 } }, "min_time_ns": 0,
                              "timeout_ns": 60000000000u64 },
                "judge": { "preset": "default", "method": "bootstrap", "statistic": "median", "pairing": "auto",
                           "interval": "percentile", "resamples": "exact", "confidence": 0.95, "min_samples": 8,
                           "max_cv": 0.5, "stop": "settled", "correction": "confirm", "target_ci": 0.01,
                           "show_percent": 2.0 },
                "metrics": { "latency": { "unit": "ns", "better": "lower", "max_percent": 10.0,
                                          "min_difference": 0.0, "gate": true, "asked_for": false } },
                "budgets": [], "compare": true, "group": null });
    let summary = json!({ "benchmarks": 1, "pass": 1, "improved": 0, "inconclusive": 0, "over_budget": 0, "regression": 0,
            "metric_error": 0, "error": 0, "skipped": 0, "unchanged": 0, "new": 0, "removed": 0, "not_comparable": 0,
            "not_gated": { "pass": 0, "improved": 0, "inconclusive": 0, "regression": 0 } });
    let mut report = json!({
        "schema_version": 1,
        "tool": { "name": "cargo-benchgate", "version": "0.1.0" },
        "command": "compare", "seed": 1, "started_at": started_at, "finished_at": started_at,
        "revisions": revisions,
        "machine": { "os": "linux", "arch": "x86_64", "cpu_model": "Test CPU", "logical_cpus": 2, "governor": null,
                     "load_at_start": 0.1, "load_at_end": 0.1, "memory_bytes": 8589934592u64 },
        "toolchain": { "rustc": "rustc 1.90.0", "cargo": "cargo 1.90.0", "target": "x86_64-unknown-linux-gnu",
                       "profile": "bench" },
        "suite": { "also_fail_on": [], "allow_partial": false, "max_time_ns": null, "no_fail": false },
        "benchmarks": [{
            "package": "p", "kind": "bench", "target": "t", "variant": "", "id": "b", "group": "b",
            "harness": "criterion", "presence": "compared", "result": "pass",
            "sides": sides.iter().map(of_side).collect::<Vec<_>>(),
            "comparisons": [], "budgets": [], "stopped_because": "settled",
            "settings": settings,
            "error": null }],
        "summary": summary,
        "warnings": [], "exit": { "code": 0, "because": null }
    });
    merge(&mut report, &over);
    report
}

fn merge(into: &mut Value, over: &Value) {
    match (into, over) {
        (Value::Object(into), Value::Object(over)) => {
            for (key, value) in over {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, over) => *into = over.clone(),
    }
}

/// A report of head alone at a commit.
pub fn head_report(started_at: &str, commit: &str, value: f64) -> Value {
    let values = [value, value * 1.01, value * 1.02];
    report(started_at, &[Side { name: "head", commit, dirty: false, values: &values }])
}

/// A time so many minutes after a fixed one.
pub fn minute(minute: usize) -> String {
    format!("2026-02-{:02}T{:02}:{:02}:00Z", 1 + minute / 1440, minute / 60 % 24, minute % 60)
}
