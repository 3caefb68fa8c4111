//! Shards of one run joined: the verdict is that of all evidence at once, and nothing that is missing goes unseen.

mod e2e_support;
#[path = "common/repository.rs"]
mod repository;
mod verdict_support;

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_benchgate::report::assemble::identity_order;
use cargo_benchgate::report::json::{json, read_json};
use cargo_benchgate::report::merge::{MergeError, merge};
use cargo_benchgate::report::model::{Machine, Report, Revision, RunWide, Shard};
use cargo_benchgate::report::{Header, assemble};
use cargo_benchgate::suite::settings::{Correction, JudgeSettings};
use cargo_benchgate::summary::overall;
use cargo_benchgate::verdict::evidence::{BenchmarkError, ErrorKind, Evidence};
use cargo_benchgate::verdict::{RunContext, judge_run};
use e2e_support::{Ran, finish};
use tempfile::TempDir;
use verdict_support::{fixed, latency, metric, scattered};

/// Benchmarks whose p-values stand or fall by how many there are: a third of them are slower, some only just.
fn all() -> Vec<Evidence> {
    let judge = JudgeSettings { correction: Correction::Holm, ..fixed() };
    (0..12)
        .map(|at| {
            let slower =
                [111.9, 111.7, 112.5, 130.0, 130.0, 112.3, 100.0, 100.0, 100.0, 110.9, 112.4, 100.0][at];
            let (base, head) =
                (scattered(100.0, 3.0, 10, at as u64), scattered(slower, 3.0, 10, 100 + at as u64));
            let mut evidence = latency(judge.clone(), metric(10.0), &base, &head);
            evidence.identity.id = format!("bench{at}");
            evidence
        })
        .collect()
}

fn header(suite: RunWide) -> Header {
    let revision = |name: &str, commit: &str| Revision {
        name: name.into(),
        spec: name.into(),
        commit: Some(commit.repeat(20)),
        subject: Some("a change".into()),
        dirty: false,
        chosen_because: None,
        committed_at: None,
    };
    Header {
        command: "compare".into(),
        seed: 7,
        started_at: Some("2026-11-30T10:00:00Z".into()),
        finished_at: Some("2026-11-30T10:05:00Z".into()),
        revisions: vec![revision("base", "ab"), revision("head", "cd")],
        machine: Some(machine("Some CPU")),
        toolchain: None,
        suite,
        builds: Vec::new(),
        dependency_changes: Vec::new(),
        warnings: vec!["the lock files differ".into()],
    }
}

fn machine(cpu: &str) -> Machine {
    Machine {
        os: "linux".into(),
        arch: "x86_64".into(),
        cpu_model: Some(cpu.into()),
        logical_cpus: 4,
        governor: None,
        load_at_start: Some(0.1),
        load_at_end: Some(0.2),
        memory_bytes: None,
        label: None,
    }
}

fn judged(header: Header, evidence: Vec<Evidence>) -> Report {
    let context = RunContext {
        seed: header.seed,
        started_at: header.started_at.clone(),
        also_fail_on: header.suite.also_fail_on.clone(),
        allow_partial: header.suite.allow_partial,
        no_fail: header.suite.no_fail,
        interrupted: false,
        accept: header.suite.accept.clone(),
        shard: header.suite.shard.is_some(),
    };
    let mut judgement = judge_run(&evidence, &context);
    judgement.summary.overall = overall(&evidence, &judgement.benchmarks, header.suite.summary);
    let mut header = header;
    header.warnings.extend(judgement.warnings);
    assemble(header, evidence, judgement.benchmarks, judgement.summary, judgement.exit)
}

fn whole() -> Report {
    let mut evidence = all();
    evidence.sort_by(|a, b| identity_order(&a.identity, &b.identity));
    judged(header(RunWide { merged_shards: Some(3), ..RunWide::default() }), evidence)
}

/// The reports of three shards.
fn shards() -> Vec<Report> {
    (1..=3)
        .map(|index| {
            let ours = all().into_iter().enumerate().filter(|(at, _)| at % 3 + 1 == index as usize);
            let shard = Shard { index, count: 3, benchmarks: 12, plan_sha256: "12".repeat(32) };
            let suite = RunWide { shard: Some(shard), ..RunWide::default() };
            judged(header(suite), ours.map(|(_, evidence)| evidence).collect())
        })
        .collect()
}

/// Runs `merge` on reports, in a directory of its own.
fn run(reports: &[Report], args: &[&str]) -> (Ran, Option<Report>) {
    let place = TempDir::with_prefix("benchgate-test-").expect("a temporary directory can be made");
    let file = |name: &str| place.path().join(name);
    let files: Vec<PathBuf> = (0..reports.len()).map(|at| file(&format!("shard{at}.json"))).collect();
    for (path, report) in files.iter().zip(reports) {
        std::fs::write(path, json(report)).expect("it can be written");
    }
    let merged = file("merged.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-benchgate"));
    command.arg("merge").args(&files).args(args).arg(format!("--format=json={}", merged.display()));
    let ran = finish(&mut command);
    (ran, read(&merged))
}

fn read(path: &Path) -> Option<Report> {
    std::fs::read(path).ok().map(|bytes| read_json(&bytes).expect("it was written by us"))
}

#[test]
fn merged_shards_give_the_report_of_all_evidence_at_once_in_any_order_of_the_files() {
    let [a, b, c] = shards().try_into().expect("there are three");
    let separate = [&a, &b, &c].map(|shard| shard.summary.regression).iter().sum::<usize>();
    let expected = whole();
    assert!(expected.summary.regression < separate, "the correction over all must matter in this test");
    for order in [[&a, &b, &c], [&c, &a, &b], [&b, &c, &a]] {
        let (ran, merged) = run(&order.map(Report::clone), &[]);
        assert_eq!(ran.code, Some(1), "{ran}");
        let merged = merged.expect("it is written before a failing exit");
        assert_eq!(json(&merged), json(&expected));
    }
}

#[test]
fn missing_shard_is_an_error_that_names_it() {
    let (ran, merged) = run(&shards()[..2], &[]);
    ran.ends(3, &["shard 3 of 3 is missing", "--format json=PATH"]);
    assert!(merged.is_none(), "no half report");
    let (ran, _) = run(&shards()[1..2], &[]);
    ran.ends(3, &["shards 1, 3 of 3 are missing"]);
}

#[test]
fn doubled_shard_is_an_error_that_names_the_file() {
    let [a, b, _] = shards().try_into().expect("there are three");
    let (ran, _) = run(&[a.clone(), b, a], &[]);
    ran.ends(3, &["shard2.json", "it is shard 1 of 3, and so is another file"]);
}

#[test]
fn reports_of_different_runs_are_not_merged() {
    let change = |change: fn(&mut Report)| {
        let mut shards = shards();
        change(&mut shards[1]);
        merge(shards).expect_err("they are not of one run").to_string()
    };
    for (told, change) in [
        ("set of revisions", change(|it| it.revisions[1].commit = Some("ef".repeat(20)))),
        ("with uncommitted changes", change(|it| it.revisions[1].dirty = true)),
        ("suite (its run-wide keys)", change(|it| it.suite.also_fail_on = vec!["removed".into()])),
        ("program", change(|it| it.tool.version = "9.9.9".into())),
        ("command", change(|it| it.command = "run".into())),
        (
            "plan (the benchmarks",
            change(|it| it.suite.shard.as_mut().expect("it has one").plan_sha256.clear()),
        ),
        ("it is shard 2 of 4", change(|it| it.suite.shard.as_mut().expect("it has one").count = 4)),
        ("it is no shard", change(|it| it.suite.shard = None)),
        ("hold 11 of 12", change(|it| drop(it.benchmarks.pop()))),
    ] {
        assert!(change.contains(told), "{told}: {change}");
    }
    assert!(matches!(merge(Vec::new()), Err(MergeError::Missing { .. })));
}

#[test]
fn machines_that_differ_are_noted_and_leave_the_report_without_one() {
    let mut shards = shards();
    shards[2].machine = Some(machine("Another CPU"));
    let (ran, merged) = run(&shards, &[]);
    assert_eq!(ran.code, Some(1), "{ran}");
    let merged = merged.expect("it is written");
    assert_eq!(merged.machine, None);
    let told = merged.warnings.iter().find(|it| it.contains("different machines")).expect("it is told");
    assert!(told.contains("1, 2 on Some CPU") && told.contains("3 on Another CPU"), "{told}");
}

#[test]
fn shards_may_leave_the_verdict_to_the_merge() {
    let lenient: Vec<Report> = shards()
        .into_iter()
        .map(|shard| {
            let suite = RunWide { no_fail: true, ..shard.suite.clone() };
            let evidence: Vec<Evidence> = (&shard).into();
            judged(
                Header { suite, warnings: vec!["the lock files differ".into()], ..Header::from(&shard) },
                evidence,
            )
        })
        .collect();
    assert!(lenient.iter().all(|shard| shard.exit.code == 0));
    let (ran, merged) = run(&lenient, &[]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert_eq!(json(&merged.expect("it is written")), json(&whole()));
    let (ran, merged) = run(&lenient, &["--no-fail"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(merged.expect("it is written").exit.without_no_fail, Some(1));
}

#[test]
fn broken_benchmark_of_one_shard_breaks_the_whole_run_whatever_no_fail_says() {
    let mut shards = shards();
    let mut evidence: Vec<Evidence> = (&shards[0]).into();
    evidence[0].error =
        Some(BenchmarkError { kind: ErrorKind::ExitCode, message: "it broke".into(), stderr: None });
    shards[0] = judged(Header::from(&shards[0]), evidence);
    let (ran, _) = run(&shards, &["--no-fail"]);
    ran.ends(4, &["1 benchmark failed"]);
}

#[test]
fn shard_that_ended_otherwise_than_its_samples_say_is_not_forgotten() {
    let mut shards: Vec<Report> = shards();
    for shard in &mut shards {
        let mut evidence: Vec<Evidence> = (&*shard).into();
        evidence.iter_mut().for_each(|it| it.sides[1].runs = it.sides[0].runs.clone());
        *shard = judged(Header::from(&*shard), evidence);
        assert_eq!(shard.exit.code, 0);
    }
    shards[1].exit.code = 4;
    shards[1].exit.because = Some("cleaning up failed: a worktree is in use".into());
    let (ran, _) = run(&shards, &[]);
    ran.ends(4, &["shard 2: cleaning up failed"]);
}

#[test]
fn empty_shard_is_no_failure_and_does_not_hinder_the_merge() {
    let mut shards = shards();
    let shard = |index| Some(Shard { index, count: 4, benchmarks: 12, plan_sha256: "12".repeat(32) });
    for (index, report) in (1..).zip(&mut shards) {
        report.suite.shard = shard(index);
    }
    let empty = judged(header(RunWide { shard: shard(4), ..RunWide::default() }), Vec::new());
    assert_eq!(empty.exit.code, 0, "{:?}", empty.exit);
    shards.push(empty);
    let (ran, merged) = run(&shards, &[]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert_eq!(merged.expect("it is written").benchmarks.len(), 12);
}
