//! docs/CONFIGURATION.md says what the key table says.

use std::path::Path;

use cargo_benchgate::suite::docs::configuration_page;
use cargo_benchgate::suite::keys::{KEYS, Level, Table, keys_of, nearest};

#[test]
fn configuration_page_is_the_one_made_from_the_key_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CONFIGURATION.md");
    let made = configuration_page();
    if std::env::var_os("BENCHGATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &made).expect("docs is writable");
    }
    let stored = std::fs::read_to_string(&path).expect("docs/CONFIGURATION.md is there");
    assert!(stored == made, "docs/CONFIGURATION.md is stale; run with BENCHGATE_BLESS=1");
}

#[test]
fn every_key_of_a_table_is_listed_once_and_documented() {
    for key in KEYS {
        assert!(!key.doc.is_empty() && key.doc.ends_with('.'), "{} has a sentence", key.name);
        let twins = KEYS.iter().filter(|other| (other.table, other.name) == (key.table, key.name)).count();
        assert_eq!(twins, 1, "{}", key.name);
    }
}

#[test]
fn an_entry_takes_the_keys_for_every_benchmark_and_no_run_wide_ones() {
    let names: Vec<_> = keys_of(Table::Entry, Level::Entry).map(|key| key.name).collect();
    assert!(names.contains(&"warmup") && names.contains(&"judge") && names.contains(&"target"));
    assert!(!names.contains(&"base") && !names.contains(&"bench"));
}

#[test]
fn nearest_finds_slips_of_the_keyboard_and_nothing_far_away() {
    let names = ["max_time", "max_samples", "samples", "warmup"];
    assert_eq!(nearest("max-time", names).as_deref(), Some("max_time"));
    assert_eq!(nearest("sample", names).as_deref(), Some("samples"));
    assert_eq!(nearest("wramup", names).as_deref(), Some("warmup"));
    assert_eq!(nearest("colour", names), None);
}
