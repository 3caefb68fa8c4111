//! Histories of imported tables: what `import`, `show`, `status`, `export` and `prune` do with them.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking; exact answers are part of the contract"
)]

#[path = "history_support/mod.rs"]
mod history_support;

use history_support::{Plain, scattered, table};
use serde_json::Value;

fn golden(file: &str) -> Value {
    let path = format!("{}/fixtures/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn near(got: &Value, want: &Value, what: &str) {
    match (got.as_f64(), want.as_f64()) {
        (None, None) => {}
        (Some(got), Some(want)) => {
            assert!((got - want).abs() <= 1e-11 * want.abs().max(1.0), "{what}: {got} {want}")
        }
        _ => panic!("{what}: got {got}, want {want}"),
    }
}

#[test]
fn golden_series_come_out_of_an_imported_table_as_they_should_be() {
    let mut text = "commit,timestamp,benchmark,metric,unit,value,mark\n".to_owned();
    let all = golden("history/series.json");
    for series in all.as_array().unwrap() {
        let name = series["name"].as_str().unwrap();
        for point in series["points"].as_array().unwrap() {
            text.push_str(&format!(
                "{name}-{0},{0},{name},time,{1},{2},{3}\n",
                point["commit_time"],
                series["unit"].as_str().unwrap(),
                point["value"],
                point["begins"]
            ));
        }
    }
    let plain = Plain::of_table(&text);
    let statuses = plain.run(&["status", "--lookback", "plain", "--format", "json"]).ok().json();
    assert_eq!(statuses["benchmarks"].as_array().unwrap().len(), 33);
    for got in statuses["benchmarks"].as_array().unwrap() {
        let name = got["benchmark"].as_str().unwrap();
        let want = all.as_array().unwrap().iter().find(|series| series["name"] == name).unwrap();
        assert_eq!(got["status"], want["status"], "{name}");
        near(&got["change_percent"], &want["change_percent"], name);
        near(&got["z_score"], &want["latest"]["z"], name);
    }
    for name in ["three_results_a_commit", "mark_on_second_of_tied_rows", "rows_out_of_order", "zero_spread"]
    {
        let want = all.as_array().unwrap().iter().find(|series| series["name"] == name).unwrap();
        let mut want: Vec<&Value> = want["points"].as_array().unwrap().iter().collect();
        want.sort_by_key(|point| (point["commit_time"].as_i64(), point["result_time"].as_i64()));
        let got = plain.show(name, &["--lookback", "plain"]);
        let got = got["points"].as_array().unwrap();
        assert_eq!(got.len(), want.len(), "{name}");
        for (got, want) in got.iter().zip(want) {
            for (field, of_golden) in [
                ("value", "value"),
                ("rolling_mean", "mean_before"),
                ("rolling_sd", "sd_before"),
                ("z_score", "z"),
            ] {
                near(&got[field], &want[of_golden], &format!("{name} {field}"));
            }
            for field in ["segment", "is_step", "is_outlier"] {
                assert_eq!(got[field], want[field], "{name} {field}");
            }
        }
    }
}

#[test]
fn golden_word_freq_flags_commit_4_and_only_it() {
    let values = [1.16, 1.16, 1.15, 1.62, 1.60, 1.55];
    let mut text = "commit,timestamp,benchmark,metric,unit,value\n".to_owned();
    for (index, value) in values.iter().enumerate() {
        text.push_str(&format!(
            "commit{},2026-01-0{}T12:00:00Z,word_freq,latency,ms,{value}\n",
            index + 1,
            index + 1
        ));
    }
    let plain = Plain::of_table(&text);
    for method in ["optimal", "binary"] {
        let shown = plain.show("word_freq", &["--change-points", method, "--min-change", "5%"]);
        let [change] = &shown["change_points"].as_array().unwrap()[..] else { panic!("{shown}") };
        assert_eq!(change["commit"], "commit4", "{method}");
        assert_eq!(change["after"], "commit3");
        assert_eq!(change["bisect"], Value::Null, "names of an import are no commits");
        assert!((change["change_percent"].as_f64().unwrap() - 37.4).abs() < 0.1);
    }
    let shown = plain.run(&["show", "word_freq"]).ok().stdout;
    assert!(shown.contains("change point +37.4 %"), "{shown}");
    assert!(shown.contains('▁') && shown.contains('█'), "{shown}");
    let svg = plain.run(&["show", "word_freq", "--format", "svg"]).ok().stdout;
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("<circle").count(), 6);
}

#[test]
fn importing_the_same_table_twice_adds_nothing() {
    let plain = Plain::of_table(&table(&scattered(20, 100.0)));
    let before = plain.files();
    let again = plain.run(&["import", "table.csv"]).ok();
    assert!(again.stderr.contains("20 known"), "{}", again.stderr);
    assert_eq!(plain.files(), before);
}

#[test]
fn exported_table_imports_as_the_same_series() {
    let mut text = "commit,timestamp,benchmark,metric,unit,value,mark,machine\n".to_owned();
    for (index, value) in scattered(30, 100.0).iter().enumerate() {
        let mark = index == 20;
        text.push_str(&format!(
            "c{index},{},\"=odd, name\",rate,B/s,{value},{mark},box\n",
            1_700_000_000 + index
        ));
    }
    let first = Plain::of_table(&text);
    let exported = first.run(&["export"]).ok().stdout;
    assert!(exported.contains("'=odd"), "a spreadsheet must not take it for a formula: {exported}");
    let second = Plain::of_table(&exported);
    assert_eq!(second.run(&["export"]).ok().stdout, exported);
    let points = |plain: &Plain| plain.show("=odd, name", &[])["points"].clone();
    assert_eq!(points(&first), points(&second));
    assert_eq!(points(&first)[20]["segment"], 1);
}

#[test]
fn table_that_is_written_to_a_file_is_not_printed_as_well() {
    let plain = Plain::of_table(&table(&scattered(3, 100.0)));
    let printed = plain.run(&["export"]).ok().stdout;
    assert_eq!(plain.run(&["export", "--format", "csv=all.csv"]).ok().stdout, "");
    assert_eq!(std::fs::read_to_string(plain.path().join("all.csv")).unwrap(), printed);
    assert_eq!(plain.run(&["export", "--format", "csv=all.csv", "--format", "csv"]).ok().stdout, printed);
}

#[test]
fn status_fails_on_what_it_is_told_to_and_on_nothing_else() {
    let mut values = scattered(40, 100.0);
    values.extend(scattered(3, 120.0));
    let plain = Plain::of_table(&table(&values));
    assert_eq!(plain.run(&["status"]).code, 0);
    assert_eq!(plain.run(&["status", "--fail-on", "improved"]).code, 0);
    let failed = plain.run(&["status", "--fail-on", "regressed"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("error: b regressed"), "{}", failed.stderr);
    let unknown = plain.run(&["status", "--fail-on", "regresed"]);
    assert_eq!(unknown.code, 3);
    assert!(unknown.stderr.contains("did you mean `regressed`?"), "{}", unknown.stderr);
}

#[test]
fn open_regression_whose_newest_result_is_back_says_that_a_second_one_closes_it() {
    let reason = |newest: &[f64]| {
        let values = [&scattered(14, 1000.0)[..], &[1300.0, 1302.0, 1301.0], newest].concat();
        let plain = Plain::of_table(&table(&values));
        plain.run(&["status"]).ok().stdout
    };
    assert!(reason(&[]).contains("` accepts it"));
    let back = reason(&[1001.0]);
    assert!(
        back.contains("REGRESSED") && back.contains("the newest result is back, a second one closes it"),
        "{back}"
    );
    assert!(!reason(&[1001.0, 1002.0]).contains("REGRESSED"));
}

#[test]
fn one_is_counted_as_one_and_a_mark_is_listed_with_what_it_is_narrowed_to() {
    let plain = Plain::new();
    plain.write("table.csv", &table(&[100.0]));
    let said = plain.run(&["import", "table.csv"]).ok().stderr;
    assert!(said.contains("1 result as 1 new report (0 known), 0 marks"), "{said}");
    let narrowed = ["--metric", "latency", "--machine", "unknown", "--reason", "so it is"];
    plain.run(&[&["mark", "b", "c0"], &narrowed[..]].concat()).ok();
    let listed = plain.run(&["list"]).ok().stdout;
    assert!(listed.contains("mark c0 b --metric latency --machine unknown: so it is"), "{listed}");
    assert!(listed.contains(", 1 value") && listed.contains("1 report, 1 mark, "), "{listed}");
    let shown = plain.run(&["show", "b"]).ok().stdout;
    assert!(shown.contains("1 commit is too few") && shown.contains("over 1 commit:"), "{shown}");
    plain.write("table.csv", &table(&[100.0, 101.0]));
    plain.run(&["import", "table.csv"]).ok();
    let status = plain.run(&["status"]).ok().stdout;
    assert!(status.contains("1 earlier result, 10 needed"), "{status}");
}

#[test]
fn prune_removes_by_age_number_and_machine_and_only_what_all_of_them_name() {
    let plain = Plain::of_table(&table(&scattered(20, 100.0)));
    plain.run(&["import", "table.csv", "--machine", "other"]).ok();
    let reports = || plain.files().len();
    assert_eq!(reports(), 40);
    assert_eq!(plain.run(&["prune"]).code, 3);
    plain.run(&["prune", "--keep", "15", "--machine", "other", "--dry-run"]).ok();
    assert_eq!(reports(), 40);
    plain.run(&["prune", "--keep", "15", "--machine", "other"]).ok();
    assert_eq!(reports(), 35);
    plain.run(&["prune", "--older-than", "1000000h"]).ok();
    assert_eq!(reports(), 35);
    plain.run(&["prune", "--machine", "other"]).ok();
    assert_eq!(reports(), 20);
    plain.run(&["prune", "--older-than", "1d"]).ok();
    assert_eq!(reports(), 0);
    assert_eq!(plain.run(&["prune", "--older-than", "90"]).code, 3);
}

#[test]
fn tables_with_a_wrong_line_are_refused_as_a_whole_with_its_number() {
    let good = table(&scattered(3, 100.0));
    for (bad, words) in [
        ("c,soon,b,latency,ns,1\n", "line 5, column `timestamp`"),
        ("c,99999999999999,b,latency,ns,1\n", "column `timestamp`"),
        ("c,1,b,latency,ns,NaN\n", "column `value`"),
        ("c,1,b,latency,ns,inf\n", "column `value`"),
        ("c,1,b,latency,ns,\n", "column `value`: it is empty"),
        ("c,1,,latency,ns,1\n", "column `benchmark`: it is empty"),
    ] {
        let plain = Plain::new();
        plain.write("table.csv", &format!("{good}{bad}"));
        let refused = plain.run(&["import", "table.csv"]);
        assert_eq!(refused.code, 3, "{bad}");
        assert!(refused.stderr.contains(words), "{bad}: {}", refused.stderr);
        assert!(plain.files().is_empty());
    }
    for (text, words) in [
        ("", "it is empty"),
        ("commit,timestamp,benchmark,metric,unit\n", "column value missing"),
        ("commit,timestamp,benchmark,metric,unit,value\n", "no samples"),
        ("commit,timestamp,benchmark,metric,unit,value,mark\nc,1,b,m,s,1,perhaps\n", "write true or false"),
        ("{\"schema_version\": 1}", "history add"),
    ] {
        let plain = Plain::new();
        plain.write("table.csv", text);
        let refused = plain.run(&["import", "table.csv"]);
        assert_eq!(refused.code, 3, "{text}");
        assert!(refused.stderr.contains(words), "{text}: {}", refused.stderr);
    }
}

#[test]
fn series_of_one_value_of_zeros_and_of_mixed_units_are_answered() {
    let mut text = "commit,timestamp,benchmark,metric,unit,value\n".to_owned();
    text.push_str("c0,1,single,latency,ns,5\n");
    for index in 0..12 {
        text.push_str(&format!("c{index},{index},zeros,latency,ns,0\n"));
        text.push_str(&format!("c{index},{index},mixed,latency,{},7\n", if index < 6 { "s" } else { "ns" }));
    }
    let plain = Plain::new();
    plain.write("table.csv", &text);
    let imported = plain.run(&["import", "table.csv"]).ok();
    assert!(imported.stderr.contains("mixed latency comes in several units (s, ns)"), "{}", imported.stderr);
    let statuses = plain.run(&["status", "--format", "json"]).ok().json();
    let of = |name: &str| {
        statuses["benchmarks"].as_array().unwrap().iter().find(|it| it["benchmark"] == name).unwrap().clone()
    };
    assert_eq!(of("single")["status"], "insufficient");
    assert_eq!(of("single")["z_score"], Value::Null);
    assert_eq!(of("zeros")["status"], "stable");
    assert_eq!(of("zeros")["change_percent"], Value::Null);
    assert_eq!(of("mixed")["unit"], "ns");
    let shown = plain.show("zeros", &[]);
    assert_eq!(shown["change_point_method"]["not_positive"], 12);
    assert_eq!(shown["points"][5]["rolling_sd"], 0.0);
    assert!(plain.run(&["show", "zeros", "--format", "svg"]).ok().stdout.contains("</svg>"));
    assert!(plain.run(&["show", "single"]).ok().stdout.contains("too few"));
}

#[test]
fn equal_timestamps_and_times_before_1970_keep_the_order_of_the_table() {
    let mut text = "commit,timestamp,benchmark,metric,unit,value\n".to_owned();
    for (index, value) in [3.0, 1.0, 2.0, 5.0, 4.0].iter().enumerate() {
        text.push_str(&format!("c{index},-5,b,latency,ns,{value}\n"));
    }
    let shown = Plain::of_table(&text).show("b", &[]);
    let values: Vec<f64> =
        shown["points"].as_array().unwrap().iter().map(|point| point["value"].as_f64().unwrap()).collect();
    assert_eq!(values, [3.0, 1.0, 2.0, 5.0, 4.0]);
    // One commit time is one window position.
    assert!(shown["points"].as_array().unwrap().iter().all(|point| point["residual"] == 0.0));
}

#[test]
fn names_that_could_drive_a_terminal_or_a_page_do_not() {
    let text = "commit,timestamp,benchmark,metric,unit,value\nc0,1,\"<b>\u{1b}[31m\",latency,\"n\u{7}\",5\n";
    let plain = Plain::of_table(text);
    for arguments in [&["status"][..], &["list"], &["show", "<b>*"], &["show", "<b>*", "--format", "svg"]] {
        let shown = plain.run(arguments).ok().stdout;
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{arguments:?}: {shown}");
    }
    let svg = plain.run(&["show", "<b>*", "--format", "svg"]).ok().stdout;
    assert!(!svg.contains("<b>"), "{svg}");
}

#[test]
fn unknown_benchmark_gets_the_nearest_name_and_a_missing_history_its_path() {
    let plain = Plain::of_table(&table(&scattered(3, 1.0)).replace(",b,", ",parse/json,"));
    let unknown = plain.run(&["show", "parse/jsn"]);
    assert_eq!(unknown.code, 3);
    assert!(unknown.stderr.contains("did you mean `parse/json`?"), "{}", unknown.stderr);
    let missing = history_support::history(plain.path(), &["status", "--history", "nowhere"]);
    assert_eq!(missing.code, 3);
    assert!(missing.stderr.contains("nowhere"), "{}", missing.stderr);
    let no_place = history_support::history(plain.path(), &["status"]);
    assert_eq!(no_place.code, 3);
    assert!(no_place.stderr.contains("--history DIR"), "{}", no_place.stderr);
}

#[test]
fn suite_says_how_the_history_is_looked_at_and_a_flag_overrules_it() {
    let mut values = scattered(40, 100.0);
    values.extend(scattered(60, 120.0));
    let plain = Plain::of_table(&table(&values));
    let mode = |more: &[&str]| {
        let mut all = vec!["status", "--format", "json"];
        all.extend(more);
        plain.run(&all).ok().json()["lookback"].clone()
    };
    assert_eq!(mode(&[]), "steps");
    plain.write("Cargo.toml", "[workspace.metadata.benchgate.history]\nlookback = \"plain\"\n");
    assert_eq!(mode(&[]), "plain");
    assert_eq!(mode(&["--lookback", "steps"]), "steps");
    plain.write("Cargo.toml", "[package.metadata.benchgate]\nhistory.lookback = \"plan\"\n");
    let wrong = plain.run(&["status"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("history.lookback = \"plan\": known are steps, plain"), "{}", wrong.stderr);
}

#[test]
fn plot_draws_what_has_no_logarithm_and_marks_jumps_and_outliers() {
    let mut text = "commit,timestamp,benchmark,metric,unit,value\n".to_owned();
    let mut values = scattered(40, 100.0);
    values[20] = 300.0;
    values.extend(scattered(10, 200.0));
    for (index, value) in values.iter().enumerate() {
        text.push_str(&format!("c{index},{index},jumps,latency,ns,{value}\n"));
        text.push_str(&format!("c{index},{index},zeros,latency,ns,0\n"));
        text.push_str(&format!("c{index},{index},below,latency,ns,{}\n", -value));
    }
    let plain = Plain::of_table(&text);
    let svg = |bench: &str| plain.run(&["show", bench, "--format", "svg"]).ok().stdout;
    for bench in ["jumps", "zeros", "below"] {
        let svg = svg(bench);
        assert_eq!(svg.matches("<circle").count(), 50, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    let jumps = svg("jumps");
    assert!(jumps.contains("<circle class=\"outlier\"") && jumps.contains(" outlier</title>"), "{jumps}");
    assert!(jumps.contains("r=\"5\"") && jumps.contains(" jump</title>"), "{jumps}");
}

#[test]
fn binary_segmentation_cuts_two_commits_and_shows_the_change_to_the_commit_before() {
    let plain = Plain::of_table(&table(&[100.0, 150.0]));
    let shown = plain.run(&["show", "b", "--change-points", "binary"]).ok().stdout;
    assert!(!shown.contains("too few") && shown.contains("change point +50.0 %"), "{shown}");
    assert!(plain.run(&["show", "b"]).ok().stdout.contains("too few"));
    let points = plain.show("b", &[])["points"].clone();
    assert_eq!(
        (&points[0]["change_percent"], points[1]["change_percent"].as_f64()),
        (&Value::Null, Some(50.0))
    );
}
