//! What building costs beside cargo itself, as ratios of CPU time, which other work on the machine changes little.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cargo_benchgate::harness::contract::{CommandSpec, ExitOutcome, RunOutput};
use cargo_benchgate::measure::RunnerClient;

const MANIFEST: &str = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dev-dependencies]\n\
                        criterion = { version = \"0.7\", default-features = false }\n\n[[bench]]\nname = \"speed\"\n\
                        harness = false\n";
const BENCH: &str = "use criterion::{criterion_group, criterion_main, Criterion};\n\
                     fn speed(c: &mut Criterion) {\n    c.bench_function(\"sum\", |b| b.iter(|| small::sum(1000)));\n}\n\
                     criterion_group!(benches, speed);\ncriterion_main!(benches);\n";
const LIBRARY: &str = "pub fn sum(n: u64) -> u64 {\n    (0..n).fold(1, |a, b| a ^ b.rotate_left(3))\n}\n";

/// Builds a crate with criterion cold and warm, by cargo and by the gate.
///
/// # Errors
///
/// When a step cannot be run at all.
pub(crate) fn builds(binary: &Path) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let place = Place { root: folder.path().canonicalize()?, binary: binary.to_owned() };
    if !place.git(&["--version"]) {
        println!("builds: skipped, there is no git on this machine");
        return Ok(());
    }
    for (path, text) in [("Cargo.toml", MANIFEST), ("src/lib.rs", LIBRARY), ("benches/speed.rs", BENCH)] {
        let path = place.repository().join(path);
        std::fs::create_dir_all(path.parent().ok_or("a file has a parent")?)?;
        std::fs::write(path, text)?;
    }
    place.git(&["init", "-q", "-b", "main"]);
    let Some(cold) = place.cargo_bench()? else {
        println!(
            "builds: skipped, criterion is not to be had here (no network and nothing in cargo's cache)"
        );
        return Ok(());
    };
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "first"]);
    std::fs::write(place.repository().join("README.md"), "words\n")?;

    // Head cold, base from its dependencies; then base from the cache.
    let both = place.gate()?;
    let again = place.gate()?;
    let no_op = place.cargo_bench()?.ok_or("the second build failed")?;
    for _ in 0..3 {
        place.gate()?;
    }
    let mut gate = Vec::new();
    let mut cargo = Vec::new();
    for _ in 0..5 {
        gate.push(place.gate()?.seconds);
        cargo.push(place.cargo_bench()?.ok_or("a build with nothing to do failed")?);
    }
    println!("building a crate with criterion, CPU time:");
    let second = both.seconds - again.seconds - cold;
    println!("  second revision of a cold build / the first: {:.3}   (wanted: at most 0.25)", second / cold);
    let (gate, cargo) = (median(gate), median(cargo));
    println!(
        "  a change that touches no code / two `cargo bench --no-run` with nothing to do: {:.2} ({:.0} ms / 2 x {:.0} ms; the first such \
         took {:.0} ms)   (wanted: at most 1.3)",
        gate / (2.0 * cargo),
        gate * 1e3,
        cargo * 1e3,
        no_op * 1e3
    );
    println!(
        "  base built by the second run: {}   (wanted: no)",
        if again.built_base { "yes" } else { "no" }
    );
    Ok(())
}

struct Place {
    root: PathBuf,
    binary: PathBuf,
}

/// What a run of the gate cost.
struct Gate {
    seconds: f64,
    built_base: bool,
}

impl Place {
    fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    fn git(&self, arguments: &[&str]) -> bool {
        std::fs::create_dir_all(self.repository()).is_ok()
            && Command::new("git")
                .args(["-c", "user.name=x", "-c", "user.email=x@example.com"])
                .args(arguments)
                .current_dir(self.repository())
                .stdout(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
    }

    /// CPU seconds of `cargo bench --no-run`; `None` when it fails.
    fn cargo_bench(&self) -> Result<Option<f64>, Box<dyn Error>> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target = self.root.join("target").into_os_string();
        let arguments = vec!["bench".into(), "--no-run".into(), "--target-dir".into(), target];
        let output = self.execute(Path::new(&cargo), arguments)?;
        Ok((output.outcome == ExitOutcome::Code(0)).then(|| seconds(&output)))
    }

    /// A comparison of the working tree with its commit.
    fn gate(&self) -> Result<Gate, Box<dyn Error>> {
        let arguments = ["--base", "HEAD", "--seed", "1"].map(Into::into).to_vec();
        let output = self.execute(&self.binary, arguments)?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.outcome != ExitOutcome::Code(0) {
            return Err(format!("the gate failed:\n{told}").into());
        }
        Ok(Gate { seconds: seconds(&output), built_base: told.contains("Building base") })
    }

    fn execute(&self, program: &Path, args: Vec<std::ffi::OsString>) -> Result<RunOutput, Box<dyn Error>> {
        let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "CARGO_TARGET_DIR").collect();
        env.push(("BENCHGATE_CACHE_DIR".into(), self.root.join("cache").into()));
        let command = CommandSpec {
            program: program.to_owned(),
            args,
            env,
            cwd: self.repository(),
            stdin: None,
            timeout: Duration::from_secs(3600),
            scratch_variable: None,
            collect: &[],
            capture_stdout: false,
        };
        let mut client = RunnerClient::new(&self.binary, &self.root);
        Ok(client.execute(&command, &AtomicBool::new(false))?)
    }
}

fn seconds(output: &RunOutput) -> f64 {
    (output.user_ns + output.system_ns) as f64 / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
