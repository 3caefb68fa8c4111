//! docs/report.schema.json describes what is written: real reports are valid, and hold nothing it does not name.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;

use cargo_benchgate::report::json::{SCHEMA, json};
use cargo_benchgate::report::model::{Report, Shard};
use cargo_benchgate::suite::accept::Accept;
use cargo_benchgate::suite::metric::Metric;
use cargo_benchgate::suite::settings::{Correction, Preset, Stop};
use cargo_benchgate::summary::{Certainty, Label};
use cargo_benchgate::verdict::evidence::{ErrorKind, Presence, Stage, StoppedBecause};
use cargo_benchgate::verdict::outcome::{
    AcceptStatus, Acceptance, BenchResult, BudgetStatus, Reason, Verdict,
};
use serde_json::{Value, json};

use report_support::generate::any_report;
use report_support::{nasty, whole};

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// The same schema, refusing every field it does not name.
fn strict() -> Value {
    fn close(value: &mut Value) {
        match value {
            Value::Object(map) => {
                if map.contains_key("properties") {
                    map.insert("additionalProperties".to_owned(), json!(false));
                }
                map.values_mut().for_each(close);
            }
            Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema = schema();
    close(&mut schema);
    schema
}

fn value(report: &Report) -> Value {
    serde_json::from_str(&json(report)).unwrap()
}

#[test]
fn schema_is_a_schema() {
    jsonschema::meta::validate(&schema()).unwrap();
}

#[test]
fn generated_reports_are_valid_and_hold_nothing_that_is_not_described() {
    let validator = jsonschema::validator_for(&strict()).unwrap();
    let generated = (0..40).map(|seed| any_report(seed, 8));
    for report in generated.chain([whole(), nasty()]) {
        let value = value(&report);
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn report_with_an_accepted_slowdown_and_of_merged_shards_is_valid() {
    let validator = jsonschema::validator_for(&strict()).unwrap();
    let mut report = whole();
    report.suite.merged_shards = Some(3);
    report.suite.shard = Some(Shard { index: 1, count: 3, benchmarks: 9, plan_sha256: "ab".repeat(32) });
    report.suite.accept = vec![Accept {
        package: Some("toy".to_owned()),
        bench: "parse/*".to_owned(),
        metric: Metric::Latency,
        up_to_percent: 40.0,
        reason: "every byte is checked now".to_owned(),
        until: "2027-01-31".to_owned(),
    }];
    report.summary.accepted = 1;
    for status in AcceptStatus::ALL {
        let slower = &mut report.benchmarks.iter_mut().flat_map(|it| &mut it.comparisons).next().unwrap();
        slower.acceptance = Some(Acceptance {
            status: *status,
            up_to_percent: 40.0,
            reason: "every byte is checked now".to_owned(),
            until: "2027-01-31".to_owned(),
        });
        let errors: Vec<String> = validator.iter_errors(&value(&report)).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert!(cargo_benchgate::report::csv::csv(&report).contains(&format!(",42,{status}\n")));
    }
}

#[test]
fn report_with_a_missing_or_wrong_field_is_not_valid() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let good = value(&whole());
    assert!(validator.is_valid(&good));
    let broken: [fn(&mut Value); 6] = [
        |it| it["schema_version"] = json!(2),
        |it| drop(it.as_object_mut().unwrap().remove("benchmarks")),
        |it| it["benchmarks"][0]["result"] = json!("fine"),
        |it| drop(it["exit"].as_object_mut().unwrap().remove("code")),
        |it| it["benchmarks"][4]["comparisons"] = json!({}),
        |it| it["summary"]["regression"] = json!(-1),
    ];
    for (at, breaks) in broken.iter().enumerate() {
        let mut bad = good.clone();
        breaks(&mut bad);
        assert!(!validator.is_valid(&bad), "change {at}");
    }
}

#[test]
fn report_of_a_later_minor_version_is_still_valid() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut later = value(&whole());
    later["new_field"] = json!({ "a": 1 });
    later["benchmarks"][0]["new_field"] = json!("x");
    assert!(validator.is_valid(&later));
}

#[test]
fn schema_lists_every_word_that_a_report_may_hold() {
    let schema = schema();
    macro_rules! check {
        ($($name:ident),+) => {
            $({
                let words: Vec<&str> = $name::ALL.iter().map(|word| word.as_str()).collect();
                assert_eq!(schema["$defs"][stringify!($name)]["enum"], json!(words), stringify!($name));
            })+
        };
    }
    check!(
        Verdict,
        Reason,
        BenchResult,
        BudgetStatus,
        ErrorKind,
        Presence,
        Stage,
        StoppedBecause,
        Preset,
        Stop,
        Correction,
        Label,
        Certainty
    );
}
