//! Results of other tools: criterion folders, BenchDB and Conbench, github-action-benchmark.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "history_support/mod.rs"]
mod history_support;

use history_support::Plain;
use serde_json::{Value, json};

fn names(plain: &Plain) -> Vec<String> {
    let status = plain.run(&["status", "--format", "json"]).ok().json();
    status["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["benchmark"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn rows_without_a_direction_take_that_of_their_series_and_two_directions_are_refused() {
    let row = |index: usize, value: f64, better: &str| {
        format!("c{index},{},a,score,points,{value},{better}\n", 1_700_000_000 + index)
    };
    let heading = "commit,timestamp,benchmark,metric,unit,value,better\n";
    let stated: String = (0..14)
        .map(|index| row(index, if index < 12 { 100.0 + (index % 3) as f64 } else { 50.0 }, "higher"))
        .collect();
    let plain = Plain::of_table(&format!("{heading}{stated}"));
    let status = || plain.run(&["status", "--format", "json"]).ok().json()["benchmarks"][0]["status"].clone();
    assert_eq!(status(), "regressed");
    plain.write("more.csv", &format!("{heading}{}", row(20, 50.0, "")));
    plain.run(&["import", "more.csv"]).ok();
    assert_eq!(status(), "regressed");
    for rows in [row(21, 50.0, "lower"), row(22, 50.0, "higher") + &row(23, 50.0, "lower")] {
        plain.write("wrong.csv", &format!("{heading}{rows}"));
        let ran = plain.run(&["import", "wrong.csv"]);
        assert!(ran.code == 3 && ran.stderr.contains("a score is better lower at c2"), "{}", ran.stderr);
    }
}

#[test]
fn criterion_folder_gives_one_latency_a_benchmark() {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/golden/harness/criterion-0.5/home");
    let plain = Plain::new();
    let arguments =
        ["import", home, "--commit", "v1.0", "--timestamp", "2026-01-31T12:00:00Z", "--machine", "laptop"];
    plain.run(&arguments).ok();
    assert_eq!(names(&plain).len(), 9);
    let shown = plain.show("grp/100", &[]);
    assert_eq!(
        (&shown["unit"], &shown["metric"], &shown["machine"]),
        (&json!("ns"), &json!("latency"), &json!("laptop"))
    );
    let point = &shown["points"][0];
    assert_eq!((&point["commit"], &point["timestamp"]), (&json!("v1.0"), &json!("2026-01-31T12:00:00Z")));
    // The median of times/iterations of the samples, as our own runs take it.
    let sample: Value =
        serde_json::from_slice(&std::fs::read(format!("{home}/grp/100/new/sample.json")).unwrap()).unwrap();
    let numbers =
        |key: &str| sample[key].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect::<Vec<_>>();
    let mut times: Vec<f64> =
        numbers("times").iter().zip(numbers("iters")).map(|(time, iters)| time / iters).collect();
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    let median =
        if times.len() % 2 == 1 { times[middle] } else { f64::midpoint(times[middle - 1], times[middle]) };
    assert!((point["value"].as_f64().unwrap() - median).abs() < 1e-9 * median);
}

#[test]
fn criterion_folder_without_a_commit_or_without_results_is_refused() {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/golden/harness/criterion-0.5/home");
    let plain = Plain::new();
    let refused = plain.run(&["import", home]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("--commit and --timestamp"), "{}", refused.stderr);
    std::fs::create_dir(plain.path().join("empty")).unwrap();
    let refused = plain.run(&["import", "empty", "--commit", "x", "--timestamp", "1"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("target/criterion"), "{}", refused.stderr);
    // Damaged files leave their benchmark out, by name.
    plain.write("home/a/new/benchmark.json", "{\"full_id\":\"a\",\"title\":\"a\"}");
    plain.write("home/a/new/sample.json", "{\"iters\":[1.0,2.0,3.0],\"times\":[10.0,20.0,30.0]}");
    plain.write("home/b/new/benchmark.json", "{\"full_id\":\"b\",\"title\":\"b\"}");
    plain.write("home/b/new/sample.json", "{\"iters\":");
    let imported = plain.run(&["import", "home", "--commit", "x", "--timestamp", "1"]).ok();
    assert!(
        imported.stderr.contains("home/b/new: sample.json is not what criterion writes"),
        "{}",
        imported.stderr
    );
    assert_eq!(names(&plain), ["a"]);
}

fn result(commit: &str, at: &str, data: &[f64]) -> Value {
    json!({
        "id": format!("id-{commit}"), "run_id": "r", "timestamp": at,
        "tags": { "name": "read", "compression": "gzip", "rows": 10 },
        "context": { "benchmark_language": "C++" },
        "machine_info": { "name": "box" },
        "github": { "commit": commit, "repository": "https://github.com/o/r", "pr_number": null },
        "stats": { "data": data, "unit": "B/s", "times": [], "time_unit": "s", "iterations": data.len() }
    })
}

#[test]
fn benchdb_results_keep_their_case_machine_direction_marks_and_tolerance() {
    let mut second = result("bbb", "2026-01-02T00:00:00Z", &[90.0, 95.0, 92.0]);
    second["change_annotations"] = json!({ "begins_distribution_change": true });
    second["optional_benchmark_info"] =
        json!({ "tolerance": { "metric_kind": "unspecified", "absolute": 3 } });
    let mut failed = result("ccc", "2026-01-03T00:00:00Z", &[1.0]);
    failed["error"] = json!({ "stack_trace": "…" });
    let mut pull_request = result("ddd", "2026-01-04T00:00:00Z", &[1.0]);
    pull_request["github"]["pr_number"] = json!(7);
    let mut incomplete = result("eee", "2026-01-05T00:00:00Z", &[1.0]);
    incomplete["stats"]["data"] = json!([1.0, null]);
    let mut wrong = result("fff", "2026-01-06T00:00:00Z", &[1.0]);
    wrong["optional_benchmark_info"] = json!({ "tolerance": { "metric_kind": "memory_peak" } });
    let all = [
        result("aaa", "2026-01-01T00:00:00Z", &[100.0, 104.0]),
        second,
        failed,
        pull_request,
        incomplete,
        wrong,
    ];
    let lines: Vec<String> = all.iter().map(Value::to_string).collect();
    for text in [lines.join("\n"), json!(all).to_string(), json!({ "data": all, "metadata": {} }).to_string()]
    {
        let plain = Plain::new();
        plain.write("results.json", &text);
        let imported = plain.run(&["import", "results.json"]).ok();
        for words in ["it holds an error", "of a pull request", "an iteration has no value", "is for bytes"] {
            assert!(imported.stderr.contains(words), "{words}: {}", imported.stderr);
        }
        assert_eq!(names(&plain), ["read compression=gzip rows=10"]);
        let shown = plain.show("read*", &[]);
        assert_eq!((&shown["better"], &shown["machine"]), (&json!("higher"), &json!("box")));
        let values: Vec<f64> = shown["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["value"].as_f64().unwrap())
            .collect();
        // The best iteration: where higher is better the largest.
        assert_eq!(values, [104.0, 95.0]);
        assert_eq!(shown["points"][1]["segment"], 1);
    }
}

#[test]
fn github_action_benchmark_data_are_read_from_the_script_and_from_json() {
    let entry = |id: &str, at: &str, value: Value| {
        json!({ "commit": { "id": id, "timestamp": at, "message": "m" }, "date": 1767225600000u64, "tool": "cargo",
                "benches": [{ "name": "fib", "value": value, "range": "± 5", "unit": "ns/iter" }] })
    };
    let data = json!({ "lastUpdate": 1, "repoUrl": "u", "entries": { "Rust": [
        entry("a1", "2026-01-01T01:00:00+01:00", json!(120)),
        entry("b2", "2026-01-02T00:00:00Z", json!("1,130")),
        entry("c3", "2026-01-03T00:00:00Z", json!("fast")),
    ] } });
    for text in [format!("window.BENCHMARK_DATA = {data};\n"), data.to_string()] {
        let plain = Plain::new();
        plain.write("data.js", &text);
        let imported = plain.run(&["import", "data.js"]).ok();
        assert!(imported.stderr.contains("commit c3, fib: no number"), "{}", imported.stderr);
        let shown = plain.show("fib", &[]);
        assert_eq!((&shown["metric"], &shown["unit"]), (&json!("latency"), &json!("ns")));
        assert_eq!(shown["points"][0]["timestamp"], "2026-01-01T00:00:00Z");
        assert_eq!(
            (&shown["points"][0]["value"], &shown["points"][1]["value"]),
            (&json!(120.0), &json!(1130.0))
        );
    }
    let bigger = json!({ "entries": { "s": [{ "commit": { "id": "a" }, "date": 1000, "tool": "customBiggerIsBetter",
        "benches": [{ "name": "ops", "value": 5, "unit": "req" }] }] } });
    let plain = Plain::new();
    plain.write("data.json", &bigger.to_string());
    plain.run(&["import", "data.json"]).ok();
    assert_eq!(plain.show("ops", &[])["better"], "higher");
}

#[test]
fn data_of_another_shape_are_refused_with_what_was_expected() {
    let plain = Plain::new();
    for (text, from) in [
        ("window.BENCHMARK_DATA", "auto"),
        ("window.BENCHMARK_DATA = {\"entries\": 5}", "auto"),
        ("[1, 2", "auto"),
        ("{\"entries\": {}}", "github-action-benchmark"),
        ("{}", "benchdb"),
    ] {
        plain.write("x", text);
        assert_eq!(plain.run(&["import", "x", "--from", from]).code, 3, "{text}");
    }
    let unknown = plain.run(&["import", "x", "--from", "criterio"]);
    assert!(unknown.stderr.contains("did you mean `criterion`?"), "{}", unknown.stderr);
}

const HEADING: &str = "commit,timestamp,benchmark,metric,unit,value\n";

#[test]
fn second_import_adds_the_metrics_retries_and_benchmarks_that_the_first_one_lacked() {
    let plain = Plain::new();
    let import = |rows: &str| {
        plain.write("table.csv", &format!("{HEADING}{rows}"));
        plain.run(&["import", "table.csv"]).ok();
    };
    let points = |bench: &str, metric: &str| {
        plain.show(bench, &["--metric", metric])["points"].as_array().unwrap().len()
    };
    import("c0,1,b,latency,ns,5\nc1,2,b,latency,ns,6\n");
    import("c0,1,b,instructions,count,50\nc1,2,b,instructions,count,60\n");
    assert_eq!((points("b", "latency"), points("b", "instructions")), (2, 2));
    // One commit was measured again.
    import("c1,2,b,latency,ns,7\n");
    assert_eq!(points("b", "latency"), 3);
    // The first table with one benchmark more: what it repeats does not count twice.
    import("c0,1,b,latency,ns,5\nc0,1,a,latency,ns,1\nc1,2,b,latency,ns,6\nc1,2,a,latency,ns,2\n");
    assert_eq!((points("b", "latency"), points("a", "latency")), (3, 2));
    let status = plain.run(&["status", "--format", "json"]).ok().json();
    assert_eq!(status["left_out"]["duplicates"], 2);
}

#[test]
fn direction_that_a_source_states_counts_and_one_that_nobody_knows_is_left_out() {
    let smaller = json!({ "entries": { "s": [{ "commit": { "id": "a" }, "date": 1000, "tool": "customSmallerIsBetter",
        "benches": [{ "name": "lag", "value": 5, "unit": "KB/s" }] }] } });
    let plain = Plain::new();
    plain.write("data.json", &smaller.to_string());
    plain.run(&["import", "data.json"]).ok();
    assert_eq!(plain.show("lag", &[])["better"], "lower");
    let in_unit = |commit: &str| {
        let mut result = result(commit, "2026-01-01T00:00:00Z", &[1.0]);
        result["stats"]["unit"] = json!("furlongs");
        result
    };
    let mut stated = in_unit("bbb");
    stated["less_is_better"] = json!(false);
    plain.write("results.json", &json!([in_unit("aaa"), stated]).to_string());
    let imported = plain.run(&["import", "results.json"]).ok();
    assert!(
        imported.stderr.contains("id-aaa: nothing says whether furlongs is better"),
        "{}",
        imported.stderr
    );
    let shown = plain.show("read*", &[]);
    assert_eq!((&shown["better"], shown["points"].as_array().unwrap().len()), (&json!("higher"), 1));
}

#[test]
fn imported_mark_is_about_the_benchmark_of_that_name_whatever_a_glob_makes_of_it() {
    let plain = Plain::new();
    let text = "commit,timestamp,benchmark,metric,unit,value,mark\nc0,1,b[12],latency,ns,5,false\nc0,1,b1,latency,ns,5,false\n\
                c1,2,b[12],latency,ns,6,true\nc1,2,b1,latency,ns,6,false\n";
    plain.write("table.csv", text);
    plain.run(&["import", "table.csv"]).ok();
    let marks = |bench: &str| plain.show(bench, &[])["points"][1]["mark"].clone();
    assert_eq!((marks("b[12]"), marks("b1")), (json!(true), json!(false)));
    // So it is of a mark that is set by hand.
    let marked = plain.run(&["mark", "b[12]", "c0", "--reason", "accepted"]).ok();
    assert!(marked.stderr.contains("(1 series)"), "{}", marked.stderr);
    assert_eq!(plain.run(&["export", "b[12]"]).ok().stdout.lines().count(), 3);
}
