//! The manual pages, one a verb, made from the definition of the command line.

use std::path::Path;

/// Writes them into a directory, `target/man` by default.
pub(crate) fn run(directory: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    let directory = directory.unwrap_or(Path::new("target/man"));
    std::fs::create_dir_all(directory)?;
    // The hyphen makes the file names those `man` looks for: cargo-benchgate-compare.1.
    let command = cargo_benchgate::cli::command().name("cargo-benchgate").bin_name("cargo benchgate");
    clap_mangen::generate_to(command, directory)?;
    println!("wrote the manual pages to {}", directory.display());
    Ok(())
}
