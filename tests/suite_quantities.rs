//! Strict units, placeholders and the one fact read from a manifest.

use cargo_benchgate::suite::declared_harness;
use cargo_benchgate::suite::metric::Unit;
use cargo_benchgate::suite::placeholder::{Lookup, check, expand};
use cargo_benchgate::suite::quantity::{
    format_amount, format_duration, format_size, parse_amount, parse_count, parse_duration, parse_percent,
    parse_rate, parse_size,
};
use proptest::prelude::*;

#[test]
fn durations_are_read_in_every_unit_exactly() {
    let cases = [
        ("0s", 0),
        ("7ns", 7),
        ("5us", 5_000),
        ("5µs", 5_000),
        ("5μs", 5_000),
        ("1.5ms", 1_500_000),
        ("500ms", 500_000_000),
        ("1m30s", 90_000_000_000),
        ("2h0.25s", 7_200_250_000_000),
        ("0.000000001s", 1),
        ("1.10us", 1_100),
    ];
    for (text, ns) in cases {
        assert_eq!(parse_duration(text), Ok(ns), "{text}");
    }
}

#[test]
fn durations_that_are_not_exact_or_have_no_unit_are_refused_with_the_right_form() {
    let cases = [
        ("", "is empty, not a duration"),
        ("5", "is a bare number without a unit"),
        ("0.5", "is a bare number without a unit"),
        ("0.5ns", "is not a whole number of nanoseconds"),
        ("1.9ns", "is not a whole number of nanoseconds"),
        ("0.0005us", "is not a whole number of nanoseconds"),
        ("-5ms", "is negative"),
        ("+5ms", "is not a duration"),
        ("NaN", "is not a duration"),
        ("inf", "is not a duration"),
        ("5 ms", "has a space in it"),
        (" 5ms", "is not a duration"),
        ("5sec", "`sec` is not a unit of time"),
        ("5MS", "`MS` is not a unit of time"),
        ("30s1m", "its units do not go from large to small, each once"),
        ("1s1s", "its units do not go from large to small, each once"),
        ("1.5m30s", "is not a duration"),
        ("1m30", "`` is not a unit of time"),
        ("1..5s", "`1..5` is not a number"),
        ("99999999999h", "is more nanoseconds than can be held"),
        ("340282366920938463463374607431768211456h", "is more nanoseconds than can be held"),
        ("1e3s", "`e` is not a unit of time"),
    ];
    for (text, problem) in cases {
        assert_eq!(parse_duration(text).expect_err(text).problem, problem, "{text:?}");
    }
    let help = |text: &str| parse_duration(text).expect_err(text).help.expect("there is help");
    assert!(help("5").starts_with("write it like \"5s\" or \"5ms\""));
    assert_eq!(help("5 ms"), "write \"5ms\"");
    assert!(help("5sec").starts_with("did you mean `s`?"));
}

#[test]
fn sizes_are_case_sensitive_and_whole() {
    assert_eq!(parse_size("1KB"), Ok(1_000));
    assert_eq!(parse_size("1KiB"), Ok(1_024));
    assert_eq!(parse_size("1.5MiB"), Ok(1_572_864));
    assert_eq!(parse_size("0B"), Ok(0));
    assert_eq!(parse_size("3TB"), Ok(3_000_000_000_000));
    let problem = |text: &str| parse_size(text).expect_err(text).problem;
    assert_eq!(problem("1024"), "is a bare number without a unit");
    assert_eq!(problem("1kb"), "`kb` is not a unit of size");
    assert_eq!(problem("0.5B"), "is not a whole number of bytes");
    assert_eq!(problem("1MiB1KiB"), "is not a size");
    assert_eq!(problem("-1B"), "is negative");
    assert!(parse_size("1kib").expect_err("case").help.expect("help").starts_with("did you mean `KiB`?"));
}

#[test]
fn percentages_counts_and_rates_take_plain_numbers_only() {
    assert_eq!(parse_percent("10%"), Ok(10.0));
    assert_eq!(parse_percent("0.1%"), Ok(0.1));
    for text in ["10", "%", "NaN%", "-1%", "1e2%", "+1%", "10 %"] {
        assert!(parse_percent(text).is_err(), "{text}");
    }
    assert_eq!(parse_count("1200"), Ok(1200.0));
    for text in ["", "1.5", "1e3", "-1", "NaN", "12ms"] {
        assert!(parse_count(text).is_err(), "{text}");
    }
    let rate = parse_rate("200 MB/s").expect("a rate");
    assert_eq!((rate.per_second, rate.unit.as_deref()), (200e6, Some("bytes")));
    let rate = parse_rate("1000 operations/s").expect("a rate");
    assert_eq!((rate.per_second, rate.unit.as_deref()), (1000.0, Some("operations")));
    assert_eq!(parse_rate("5/s").expect("a rate").unit, None);
    for text in ["5", "/s", "MB/s", "5 two words/s", "-5/s", "NaN/s"] {
        assert!(parse_rate(text).is_err(), "{text}");
    }
}

#[test]
fn amounts_are_shown_in_the_form_they_are_read() {
    for text in ["5ns", "1.5us", "500ms", "1.5s", "1m30s", "1h", "1h30m0.5s"] {
        let ns = parse_duration(text).expect(text);
        assert_eq!(parse_duration(&format_duration(ns)), Ok(ns), "{text}");
    }
    assert_eq!(format_duration(90_000_000_000), "1m30s");
    assert_eq!(format_duration(1_500_000), "1.5ms");
    assert_eq!(format_duration(1_000_000_001), "1000000.001us");
    assert_eq!(format_size(1 << 20), "1MiB");
    assert_eq!(format_size(64_000), "64KB");
    assert_eq!(format_amount(12.5, &Unit::Own("tokens".into())), "12.5 tokens");
    assert_eq!(format_amount(0.25, &Unit::Nanoseconds), "0.25ns");
}

proptest! {
    #[test]
    fn every_duration_survives_writing_and_reading(ns: u64) {
        prop_assert_eq!(parse_duration(&format_duration(ns)), Ok(ns));
    }

    #[test]
    fn every_size_survives_writing_and_reading(bytes: u64) {
        prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,24}") {
        for unit in [Unit::Nanoseconds, Unit::Bytes, Unit::Count, Unit::Percent, Unit::PerSecond] {
            let _ = parse_amount(&text, &unit);
        }
        let _ = check(&text);
    }

    #[test]
    fn number_like_text_never_makes_a_reader_panic(text in "[-+.0-9eKMiBnumsh%/ ]{0,40}") {
        for unit in [Unit::Nanoseconds, Unit::Bytes, Unit::Count, Unit::Percent, Unit::PerSecond] {
            if let Ok(amount) = parse_amount(&text, &unit) {
                prop_assert!(amount.is_finite() && 0.0 <= amount);
            }
        }
    }
}

fn expanded(text: &str) -> Result<String, String> {
    let env = |name: &str| (name == "DATA").then(|| "/data".to_owned());
    let lookup = Lookup { root: "/r", head_root: "/h", workdir: None, env: &env };
    expand(text, &lookup).map_err(|error| error.to_string())
}

#[test]
fn placeholders_are_filled_in_and_a_doubled_dollar_is_literal() {
    assert_eq!(expanded("${root}/a ${head_root}/b").as_deref(), Ok("/r/a /h/b"));
    assert_eq!(expanded("${env:DATA}/x").as_deref(), Ok("/data/x"));
    assert_eq!(expanded("$${root} $5 $ {x}").as_deref(), Ok("${root} $5 $ {x}"));
    assert_eq!(expanded("ä$${").as_deref(), Ok("ä${"));
}

#[test]
fn wrong_placeholders_are_named() {
    let error = |text: &str| expanded(text).expect_err(text);
    assert_eq!(error("${rot}"), "`${rot}` is unknown; did you mean `${root}`?");
    assert_eq!(error("${root"), "`${` has no closing `}`; write `$${` for a literal `${`");
    assert_eq!(
        error("${env:NOPE}"),
        "`${env:NOPE}`: the variable is not set; set it, or take the placeholder out"
    );
    assert_eq!(
        error("${env:1 x}"),
        "`${env:1 x}` does not name a variable; names are letters, digits and `_`"
    );
    assert_eq!(error("${workdir}"), "`${workdir}` has no meaning here; it is there while a benchmark runs");
    assert!(check("${env:NOPE} ${workdir}").is_ok());
}

#[test]
fn a_bench_has_the_built_in_harness_unless_its_manifest_says_no() {
    let manifest = "[[bench]]\nname = \"a\"\nharness = false\n[[bench]]\nname = \"b\"\n";
    assert!(!declared_harness(manifest, "a"));
    assert!(declared_harness(manifest, "b"));
    assert!(declared_harness(manifest, "found_by_its_path"));
    assert!(declared_harness("not = [toml", "a"));
    assert!(declared_harness("bench = 5", "a"));
}
