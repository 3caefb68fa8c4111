//! Real timings of a loaded machine (`fixtures/golden/traces`): an identical copy never fails, and the ten rows give the
//! rates that were worked out outside Rust.

mod verdict_support;

use cargo_benchgate::suite::settings::JudgeSettings;
use cargo_benchgate::verdict::outcome::Verdict;
use verdict_support::{fixed, judge_one, latency, metric, settled};

/// A trace's samples of one revision: wall time and CPU time, ns, in the order they were made.
fn trace(file: &str, revision: &str) -> [Vec<f64>; 2] {
    let path = format!("{}/fixtures/golden/traces/{file}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the trace is there");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    [3, 4].map(|column| {
        let own = rows.iter().filter(|row| row[2] == revision);
        own.map(|row| row[column].parse().expect("a number")).collect()
    })
}

fn verdict(judge: &JudgeSettings, max_percent: f64, base: &[f64], head: &[f64]) -> Verdict {
    judge_one(latency(judge.clone(), metric(max_percent), base, head)).benchmarks[0].comparisons[0].verdict
}

const FILES: [&str; 4] = ["cpu5", "cpu50", "mem5", "mem50"];

#[test]
fn an_identical_copy_is_never_a_regression_over_a_whole_trace() {
    for file in FILES {
        for (base, head) in trace(file, "A").iter().zip(&trace(file, "A2")) {
            for max_percent in [2.0, 10.0] {
                for judge in [fixed(), settled()] {
                    assert_ne!(
                        verdict(&judge, max_percent, base, head),
                        Verdict::Regression,
                        "{file} {max_percent}"
                    );
                }
            }
        }
    }
}

#[test]
fn windows_of_30_runs_have_the_rates_of_the_ten_rows() {
    // For wall and CPU time: A2 passed at tolerance 10, B20 called a regression at tolerance 10; per cent of 86 windows.
    for (file, passed, called) in [
        ("cpu5", [84, 100], [28, 100]),
        ("cpu50", [78, 100], [72, 100]),
        ("mem5", [57, 81], [34, 44]),
        ("mem50", [24, 91], [43, 100]),
    ] {
        let (base, copy, slower) = (trace(file, "A"), trace(file, "A2"), trace(file, "B20"));
        for column in 0..2 {
            let share = |head: &[f64], wanted: Verdict| {
                let window = |start: usize| {
                    verdict(&fixed(), 10.0, &base[column][start..start + 30], &head[start..start + 30])
                };
                let hits = (0..86).filter(|k| window(4 * k) == wanted).count();
                hits as f64 / 0.86
            };
            let (got_pass, got_call) =
                (share(&copy[column], Verdict::Pass), share(&slower[column], Verdict::Regression));
            assert!((got_pass - f64::from(passed[column])).abs() <= 3.0, "{file} {column}: {got_pass}");
            assert!((got_call - f64::from(called[column])).abs() <= 3.0, "{file} {column}: {got_call}");
        }
    }
}
