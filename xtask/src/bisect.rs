//! How often bisect names the right one of forty commits, by time.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::demo::{BENCH_CHECKSUM, LIBRARY, build_binary, git};

const COMMITS: u64 = 40;
const MANIFEST: &str = "[package]\nname = \"checksum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[[bench]]\nname = \"checksum\"\nharness = false\n\n[workspace]\n";

/// Bisects `runs` repositories, each with a step of 10 % at a commit drawn by its number, a commit beside it that does not
/// build and a merge; prints a line a run.
///
/// # Errors
///
/// When a step cannot be run at all, or fewer than 19 of 20 are right.
pub(crate) fn run(runs: u64) -> Result<(), Box<dyn Error>> {
    let binary = build_binary(&["--release"])?;
    let cache = tempfile::Builder::new().prefix("benchgate-bisect-").tempdir()?;
    let mut right = 0;
    for seed in 1..=runs {
        let folder = tempfile::Builder::new().prefix("benchgate-bisect-").tempdir()?;
        let repository = folder.path().join("checksum");
        let (culprit, place) = plant(&repository, seed)?;
        let started = Instant::now();
        let output = Command::new(&binary)
            .args(["bisect", "checksum", "good", "main", "--quiet", "--format", "json"])
            .current_dir(&repository)
            .env("BENCHGATE_CACHE_DIR", cache.path().join(seed.to_string()))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()?;
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let named = report["answer"]["first"]["commit"].as_str() == Some(&culprit);
        right += u64::from(named);
        println!(
            "seed {seed}: planted at commit {place} of {COMMITS}, {} ({}), {} probes, {:.0} s",
            if named { "named" } else { "NOT named" },
            report["answer"]["answer"].as_str().unwrap_or("no report"),
            report["probes"].as_array().map_or(0, Vec::len),
            started.elapsed().as_secs_f64()
        );
        fs::remove_dir_all(cache.path().join(seed.to_string()))?;
    }
    println!("bisect of {COMMITS} commits by time: {right} of {runs} right   (wanted: at least 19 of 20)");
    if right * 20 < runs * 19 { Err("bisect by time was wrong too often".into()) } else { Ok(()) }
}

/// A line of commits whose step from 30 to 33 rounds is at a drawn place. Gives the commit and the place.
fn plant(repository: &Path, seed: u64) -> Result<(String, u64), Box<dyn Error>> {
    // A multiplicative hash of the number: every place may come, and the same number gives the same place.
    let place = 2 + (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % (COMMITS - 4);
    fs::create_dir_all(repository.join("src"))?;
    fs::create_dir_all(repository.join("benches"))?;
    git(repository, &["init", "--quiet", "--initial-branch", "main"])?;
    fs::write(repository.join("Cargo.toml"), MANIFEST)?;
    fs::write(repository.join(".gitignore"), "target/\nCargo.lock\n")?;
    fs::write(repository.join("benches/checksum.rs"), BENCH_CHECKSUM)?;
    let mut culprit = String::new();
    for at in 0..=COMMITS {
        let rounds = if place <= at { "33" } else { "30" };
        let extra = format!(
            "\n/// Not measured.\npub fn unused_{at}(x: u64) -> u64 {{\n    x.rotate_left({at})\n}}\n"
        );
        let mut library = LIBRARY.replace("@ROUNDS@", rounds) + &extra;
        if at == place + 1 {
            library.push_str("this does not build\n");
        }
        fs::write(repository.join("src/lib.rs"), library)?;
        if at == place - 1 && 1 < at {
            git(repository, &["add", "--all"])?;
            git(repository, &["commit", "--quiet", "--message", &format!("on main {at}")])?;
            git(repository, &["checkout", "--quiet", "-b", "side", "HEAD~1"])?;
            fs::write(repository.join("notes.txt"), "side")?;
            git(repository, &["add", "--all"])?;
            git(repository, &["commit", "--quiet", "--message", "side"])?;
            git(repository, &["checkout", "--quiet", "main"])?;
            git(repository, &["merge", "--quiet", "--no-ff", "--message", "merge side", "side"])?;
        } else {
            git(repository, &["add", "--all"])?;
            git(repository, &["commit", "--quiet", "--message", &format!("commit {at}")])?;
        }
        if at == 0 {
            git(repository, &["tag", "good"])?;
        }
        if at == place {
            culprit = git(repository, &["rev-parse", "HEAD"])?.trim().to_owned();
        }
    }
    Ok((culprit, place))
}
