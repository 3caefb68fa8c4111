//! The one fact of a manifest that cargo's metadata leaves out.

/// Whether a `[[bench]]` of this Cargo.toml text uses the built-in harness (libtest), which cargo assumes unless
/// `harness = false` is written. A text that is no TOML counts as saying nothing.
pub fn declared_harness(manifest: &str, bench: &str) -> bool {
    let Ok(manifest) = manifest.parse::<toml::Table>() else { return true };
    let benches = manifest.get("bench").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    benches
        .iter()
        .find(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(bench))
        .and_then(|entry| entry.get("harness"))
        .and_then(toml::Value::as_bool)
        .unwrap_or(true)
}
