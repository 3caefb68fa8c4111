//! The main job on a planted slowdown: succeeds when the gate fails as it should.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MANIFEST: &str = r#"[package]
name = "checksum"
version = "0.1.0"
edition = "2021"

[[bench]]
name = "checksum"
harness = false

[[bench]]
name = "reverse"
harness = false

[workspace]
"#;

/// The function with the planted slowdown; `@ROUNDS@` is how often it goes over its input.
pub(crate) const LIBRARY: &str = r#"//! A checksum and a reversal, to be measured.

/// A checksum of `data`.
pub fn checksum(data: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for _ in 0..@ROUNDS@ {
        for &byte in data {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    sum
}

/// Every number with its digits turned round, summed up.
pub fn reverse(count: u64) -> u64 {
    (0..count).fold(0, |sum, mut number| {
        let mut reversed = 0_u64;
        while number != 0 {
            reversed = reversed * 10 + number % 10;
            number /= 10;
        }
        sum ^ reversed
    })
}
"#;

pub(crate) const BENCH_CHECKSUM: &str = r#"fn main() {
    let data: Vec<u8> = (0..400_000_u32).map(|i| i as u8).collect();
    std::hint::black_box(checksum::checksum(std::hint::black_box(&data)));
}
"#;

const BENCH_REVERSE: &str = r#"fn main() {
    std::hint::black_box(checksum::reverse(std::hint::black_box(500_000)));
}
"#;

/// Makes the repository, gates it, and checks the exit status.
///
/// # Errors
///
/// When a step fails, or when the gate does not end with exit status 1.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let binary = build_binary(&[])?;
    let folder = tempfile::Builder::new().prefix("benchgate-demo-").tempdir()?;
    let repository = folder.path().join("checksum");
    fs::create_dir_all(repository.join("src"))?;
    fs::create_dir_all(repository.join("benches"))?;
    git(&repository, &["init", "--quiet", "--initial-branch", "main"])?;
    fs::write(repository.join("Cargo.toml"), MANIFEST)?;
    fs::write(repository.join(".gitignore"), "target/\nCargo.lock\n")?;
    fs::write(repository.join("benches/checksum.rs"), BENCH_CHECKSUM)?;
    fs::write(repository.join("benches/reverse.rs"), BENCH_REVERSE)?;
    commit(&repository, "30", "Add a checksum")?;
    commit(&repository, "42", "Make the checksum more careful")?;

    println!(
        "A small crate was made with two commits; the second makes `checksum` 40 % slower and leaves `reverse` alone."
    );
    println!("In it we now run:\n\n    cargo benchgate --base HEAD~1\n");
    let status = Command::new(&binary)
        .args(["benchgate", "--base", "HEAD~1", "--color", "auto"])
        .current_dir(&repository)
        .env("BENCHGATE_CACHE_DIR", folder.path().join("cache"))
        .status()?;
    println!(
        "\nThe gate's exit status: {}",
        status.code().map_or_else(|| "none".to_owned(), |code| code.to_string())
    );
    match status.code() {
        Some(1) => {
            println!("The planted slowdown was found: exit status 1 is what fails a push or a pull request.");
            Ok(())
        }
        _ => Err("the gate did not fail on the planted slowdown".into()),
    }
}

/// Builds `cargo-benchgate` and gives its path.
pub(crate) fn build_binary(flags: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask lies in the workspace")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--bin", "cargo-benchgate", "--message-format", "json-render-diagnostics"])
        .args(flags)
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("cargo-benchgate does not build".into());
    }
    String::from_utf8(output.stdout)?
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back()
        .ok_or_else(|| "cargo named no executable".into())
}

fn commit(repository: &Path, rounds: &str, message: &str) -> Result<(), Box<dyn Error>> {
    fs::write(repository.join("src/lib.rs"), LIBRARY.replace("@ROUNDS@", rounds))?;
    git(repository, &["add", "--all"])?;
    git(repository, &["commit", "--quiet", "--message", message]).map(drop)
}

/// Runs git in a repository, untouched by the user's configuration; gives what it prints.
pub(crate) fn git(repository: &Path, args: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new("git")
        .args(args)
        .current_dir(repository)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "Demo"), ("GIT_AUTHOR_EMAIL", "demo@example.com")])
        .envs([("GIT_COMMITTER_NAME", "Demo"), ("GIT_COMMITTER_EMAIL", "demo@example.com")])
        .envs([("GIT_AUTHOR_DATE", "2026-01-01T12:00:00Z"), ("GIT_COMMITTER_DATE", "2026-01-01T12:00:00Z")])
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| {
            format!("failed to start git, which the demo needs to make its repository: {error}")
        })?;
    if !output.status.success() {
        return Err(format!("`git {}` failed", args.join(" ")).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
