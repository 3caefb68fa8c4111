//! Programs that report lines, measured and gated by the real command.

#[path = "real_support/mod.rs"]
mod real;
#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use real::{comparison, edit, playground, row};
use repository::need_git;

const REPORT: [&str; 4] = ["--base", "HEAD", "--bench", "report"];

#[test]
fn planted_slowdown_in_one_of_two_reported_benchmarks_is_named_alone() {
    need_git!();
    let playground = playground("lines");
    edit(&playground, "src/lib.rs", "PARSE_NS: u64 = 3000", "PARSE_NS: u64 = 3600");
    let (ran, report) = playground.report(&REPORT);
    ran.ends(1, &["1 regression: report/parse/big file"]);
    let latency = comparison(row(&report, "parse/big file"), "latency");
    assert_eq!((&latency["verdict"], &latency["unit"]), (&"regression".into(), &"ns".into()));
    assert!((latency["base"].as_f64().expect("a number") - 3000.0).abs() < 1.0, "{latency}");
    assert!((latency["change_percent"].as_f64().expect("a number") - 20.0).abs() < 0.1, "{latency}");
    assert_eq!(comparison(row(&report, "render"), "latency")["verdict"], "pass");
    assert_eq!(row(&report, "render")["harness"], "lines");
    assert_eq!(row(&report, "parse/big file")["group"], "parse");
}

#[test]
fn one_more_of_a_declared_count_is_decided_exactly_by_the_first_round() {
    need_git!();
    let playground = playground("lines");
    // 0.15 %, where 0.1 % is accepted.
    edit(&playground, "src/lib.rs", "PARSE_TOKENS: u64 = 2000", "PARSE_TOKENS: u64 = 2003");
    let csv = playground.repository.beside("report.csv");
    let format = format!("csv={}", csv.display());
    let args = ["--max-percent", "1000", "--format", &format];
    let (ran, report) = playground.report(&[&REPORT[..], &args].concat());
    // `--max-percent` is about every metric that gates, so nothing is left to complain of.
    ran.ends(0, &[]);
    assert_eq!(comparison(row(&report, "parse/big file"), "tokens")["verdict"], "pass");

    let args =
        ["--format", &format, "--filter", "parse/*", "--min-samples=2", "--max-samples=2", "--warmup=0"];
    let ran = playground.run(&[&REPORT[..], &args].concat());
    ran.ends(1, &["1 regression: report/parse/big file"]);
    let csv = std::fs::read_to_string(csv).expect("it was written");
    let tokens = csv.lines().find(|line| line.contains(",tokens,")).expect("a row of the metric");
    assert!(tokens.contains("regression") && tokens.contains("exact"), "{tokens}");
    ran.shows("REGRESSION").shows("exact count");
}

#[test]
fn metric_that_is_better_higher_fails_when_it_falls_and_improves_when_it_rises() {
    need_git!();
    let playground = playground("lines");
    edit(&playground, "src/lib.rs", "PARSE_RATE: u64 = 900", "PARSE_RATE: u64 = 700");
    let (ran, report) = playground.report(&[&REPORT[..], &["--filter", "parse/*"]].concat());
    ran.ends(1, &["parse/big file"]).shows("rows/s");
    let rate = comparison(row(&report, "parse/big file"), "rate");
    assert_eq!(
        (&rate["verdict"], &rate["better"], &rate["unit"]),
        (&"regression".into(), &"higher".into(), &"rows/s".into())
    );
    assert!(rate["change_percent"].as_f64().expect("a number") < -20.0, "{rate}");

    playground.repository.commit("fewer rows");
    edit(&playground, "src/lib.rs", "PARSE_RATE: u64 = 700", "PARSE_RATE: u64 = 900");
    let (_, report) = playground.report(&[&REPORT[..], &["--filter", "parse/*"]].concat());
    assert_eq!(comparison(row(&report, "parse/big file"), "rate")["verdict"], "improved");
}

#[test]
fn id_that_only_one_side_has_is_new_or_removed_and_fails_where_that_is_asked_for() {
    need_git!();
    let playground = playground("lines");
    edit(&playground, "benches/report.rs", "(\"render\", ", "(\"draw\", ");
    let (ran, report) = playground.report(&REPORT);
    ran.ends(0, &[]);
    let presence = |id| row(&report, id)["presence"].clone();
    assert_eq!(["parse/big file", "draw", "render"].map(presence), ["compared", "new", "removed"]);
    let ran = playground.quick(&[&REPORT[..], &["--also-fail-on", "removed"]].concat());
    ran.ends(1, &["render"]);
}

#[test]
fn script_reports_as_well_as_a_program_does() {
    need_git!();
    let playground = playground("lines");
    edit(&playground, "src/lib.rs", "//! Two functions", "//! Just two functions");
    let (ran, report) = playground.report(&["--base", "HEAD", "--bench", "script"]);
    ran.ends(1, &["1 regression: script/size of src/lib.rs"]);
    let row = row(&report, "size of src/lib.rs");
    let bytes = comparison(row, "allocated_bytes");
    assert_eq!((&bytes["verdict"], &bytes["reason"]), (&"regression".into(), &"exact".into()));
    assert_eq!(bytes["difference"], 5.0);
    assert_eq!(comparison(row, "tokens")["verdict"], "pass");
}

#[test]
fn what_is_printed_and_not_declared_is_kept_and_told_with_the_way_to_declare_it() {
    need_git!();
    let playground = playground("lines");
    edit(
        &playground,
        "Cargo.toml",
        "metrics.rate = { unit = \"rows/s\", better = \"higher\", max_percent = 10 }",
        "",
    );
    let (ran, report) = playground.report(&[&REPORT[..], &["--max-percent", "1000"]].concat());
    ran.ends(0, &[]).shows("undeclared_metric: `rate` is printed and not declared");
    assert_eq!(row(&report, "render")["sides"][1]["runs"][0]["values"]["rate"], 900.0);
    assert!(
        row(&report, "render")["comparisons"]
            .as_array()
            .expect("some")
            .iter()
            .all(|one| one["metric"] != "rate")
    );
}

#[test]
fn wrong_line_and_no_line_at_all_are_no_pass() {
    need_git!();
    let playground = playground("lines");
    let of_one =
        r#"rate {} {} better=higher", reporter::PARSE_RATE, if id == "render" { "rows/s" } else { "rows" }"#;
    edit(&playground, "benches/report.rs", r#"rate {} rows/s better=higher", reporter::PARSE_RATE"#, of_one);
    let (ran, report) = playground.report(&REPORT);
    ran.ends(6, &["`rows` is not a unit of `rate`, which is declared in `rows/s`"]);
    assert_eq!(row(&report, "parse/big file")["result"], "metric_error");
    // The other benchmark of the same program is none the worse.
    assert_eq!(row(&report, "render")["result"], "pass", "{}", row(&report, "render")["error"]);

    edit(&playground, "benches/report.rs", "benchgate: ", "gate: ");
    playground.repository.commit("silent");
    playground.quick(&REPORT).ends(6, &["lists no benchmark"]).says("benchgate: ID METRIC VALUE UNIT");
}

/// The code blocks of the README's part on lines, by language.
fn example(language: &str) -> String {
    const README: &str = include_str!("../README.md");
    let (_, part) = README.split_once("## Any program, line by line").expect("the README has the part");
    let (part, _) = part.split_once("\n## ").expect("it is not the last one");
    let (_, block) = part.split_once(&format!("```{language}\n")).expect("the part has the example");
    block.split_once("```").expect("a block ends").0.to_owned()
}

#[test]
fn examples_of_the_readme_are_read_as_they_stand() {
    need_git!();
    let playground = playground("lines");
    playground.write("benches/report.rs", example("rust"));
    playground.write("benches/report.sh", example("sh"));
    let manifest = "[package]\nname = \"reporter\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                    [[bench]]\nname = \"report\"\nharness = false\n[[bench]]\nname = \"script\"\nharness = false\n";
    let script = example("toml").replace("\"report\"", "\"script\"");
    playground.write("Cargo.toml", format!("{manifest}{}{script}", example("toml")));
    playground.repository.commit("as the README has it");
    let (ran, report) = playground.report(&["--base", "HEAD", "--max-percent", "1000"]);
    ran.ends(0, &[]);
    let rust = row(&report, "sum of products");
    assert!(comparison(rust, "latency")["base"].as_f64().expect("a number") > 0.0);
    assert_eq!(comparison(rust, "rate")["better"], "higher");
    assert_eq!(comparison(rust, "tokens")["reason"], "exact");
    assert_eq!(comparison(row(&report, "src/lib.rs"), "tokens")["base"], 22.0);
}
