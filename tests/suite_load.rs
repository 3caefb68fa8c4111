//! From metadata tables and flags to a resolved suite.

#![allow(clippy::float_cmp, reason = "limits are read exactly, never computed")]

mod suite_support;

use cargo_benchgate::suite::launch::Work;
use cargo_benchgate::suite::metric::{Better, Metric, Unit};
use cargo_benchgate::suite::overrides::parse_resamples;
use cargo_benchgate::suite::presets::judge_of;
use cargo_benchgate::suite::settings::{
    Aggregation, Correction, Interval, Method, Operator, Pairing, Preset, Resamples, SampleCount, Statistic,
    Stop,
};
use cargo_benchgate::suite::{AlsoFailOn, DEFAULT_PRESET, Overrides, ProfileFrom, Selection};
use suite_support::{Project, id, only};

#[test]
fn without_tables_every_bench_target_has_the_defaults() {
    let suite = Project::default().package("a", "", &["parse", "render"]).load();
    let targets: Vec<_> = suite.targets().iter().map(|plan| plan.id.target.as_str()).collect();
    assert_eq!(targets, ["parse", "render"]);
    assert_eq!(suite.run.profile, "bench");
    assert_eq!(suite.run.base, None);
    assert_eq!(suite.run.max_time_ns, None);
    assert!(suite.run.also_fail_on.is_empty() && !suite.run.allow_partial && !suite.run.only_listed);
    let settings = only(&suite, "a", "parse", "", "x", "criterion").settings;
    assert_eq!(settings.sampling.warmup, 1);
    let min = judge_of(DEFAULT_PRESET).min_samples;
    assert_eq!(settings.sampling.samples, SampleCount::Adaptive { min, max: 60 });
    assert_eq!(settings.sampling.min_time_ns, 0);
    assert_eq!(settings.sampling.timeout_ns, 60_000_000_000);
    assert_eq!(settings.judge, judge_of(DEFAULT_PRESET));
    assert!(settings.compare && settings.budgets.is_empty() && settings.group.is_none());
    let latency = &settings.metrics[&Metric::Latency];
    assert_eq!((latency.max_percent, latency.min_difference), (10.0, 0.0));
    assert!(latency.gate && !latency.asked_for);
    // CPU time is shown where a run of the harness has it, and gates nothing until it is named.
    assert!(settings.metrics.iter().all(|(metric, limits)| limits.gate == (*metric == Metric::Latency)));
    assert_eq!(settings.metrics.len(), 2);
    assert_eq!(suite.targets()[0].variants[0].launch, Default::default());
    assert_eq!(suite.targets()[0].manifest_path, "a/Cargo.toml");
}

#[test]
fn default_metrics_follow_the_harness() {
    let suite = Project::default().package("a", "", &["b"]).load();
    let metrics = |harness: &str| {
        let settings = only(&suite, "a", "b", "", "x", harness).settings;
        let rows = settings.metrics.iter().map(|(metric, limits)| (metric.name().to_owned(), limits));
        rows.map(|(name, limits)| (name, limits.max_percent, limits.gate)).collect::<Vec<_>>()
    };
    let own = |name: &str| name.to_owned();
    assert_eq!(
        metrics("process"),
        [(own("latency"), 10.0, true), (own("cpu_total"), 10.0, false), (own("peak_rss"), 10.0, false)]
    );
    assert_eq!(metrics("criterion"), [(own("latency"), 10.0, true), (own("cpu_total"), 10.0, false)]);
    assert_eq!(metrics("libtest"), [(own("latency"), 10.0, true)]);
    assert_eq!(metrics("gungraun"), [(own("instructions"), 1.0, true)]);
    assert_eq!(
        metrics("divan"),
        [(own("latency"), 10.0, true), (own("allocations"), 0.1, true), (own("allocated_bytes"), 0.1, true)]
    );
}

#[test]
fn presets_hold_the_values_they_are_named_for() {
    let fixed = judge_of(Preset::Fixed);
    assert_eq!(fixed.method, Method::Bootstrap);
    assert_eq!(fixed.statistic, Statistic::Median);
    assert_eq!(fixed.pairing, Pairing::Independent);
    assert_eq!(fixed.interval, Interval::Percentile);
    assert_eq!(fixed.resamples, Resamples::MonteCarlo(2000));
    assert_eq!((fixed.confidence, fixed.min_samples, fixed.max_cv), (0.95, 10, 0.5));
    assert_eq!((fixed.stop, fixed.correction), (Stop::Fixed, Correction::None));
    let default = judge_of(Preset::Default);
    assert_eq!((default.pairing, default.resamples), (Pairing::Auto, Resamples::Exact));
    assert_eq!((default.min_samples, default.max_cv), (8, 0.5));
    assert_eq!((default.stop, default.correction), (Stop::Settled, Correction::Confirm));
    let effect = judge_of(Preset::Effect);
    assert_eq!((effect.method, effect.pairing), (Method::Rank, Pairing::Independent));
    assert_eq!((effect.interval, effect.correction), (Interval::Bca, Correction::Holm));
    assert_eq!((effect.confidence, effect.show_percent), (0.95, 2.0));
}

#[test]
fn a_preset_sets_all_keys_and_a_key_beside_it_wins() {
    let suite = Project::default()
        .workspace("judge.method = \"rank\"\njudge.max_cv = 0.1")
        .package("a", "judge = { preset = \"default\", correction = \"holm\" }", &["b"])
        .load();
    let judge = only(&suite, "a", "b", "", "x", "criterion").settings.judge;
    assert_eq!(judge.preset, Preset::Default);
    assert_eq!((judge.method, judge.max_cv), (Method::Bootstrap, 0.5));
    assert_eq!(judge.correction, Correction::Holm);
    assert_eq!(judge.min_samples, 8);
    let row = &suite.list(|_| None)[0];
    assert_eq!(row.judge, "preset default, correction = holm");
    assert_eq!(row.sampling, "8 to 60 samples, warmup 1, timeout 1m");
}

#[test]
fn a_preset_flag_retires_every_judge_key_of_the_suite() {
    let project = Project::default().package("a", "judge = { stop = \"settled\" }", &["b"]);
    let overrides = Overrides { preset: Some(Preset::Fixed), max_cv: Some(0.2), ..Default::default() };
    let suite = project.load_with(&Selection::default(), &overrides).expect("loads");
    let judge = only(&suite, "a", "b", "", "x", "criterion").settings.judge;
    assert_eq!((judge.stop, judge.max_cv), (Stop::Fixed, 0.2));
}

#[test]
fn layers_win_in_their_order_and_merge_key_by_key() {
    let suite = Project::default()
        .workspace(
            r#"
            warmup = 2
            timeout = "10s"
            min_time = "1s"
            metrics.latency = { max_percent = 20, min_difference = "5ns" }
            metrics.peak_rss = { gate = false }
            [[bench]]
            package = "a"
            target = "b"
            args = ["--from-workspace", "x"]
            env = { A = "1", B = "1" }
            "#,
        )
        .package(
            "a",
            r#"
            timeout = "20s"
            metrics.latency.max_percent = "15%"
            [[bench]]
            target = "b"
            args = ["--from-package"]
            env.B = "2"
            group = "first"
            [[bench]]
            target = "b"
            filter = ["json/*"]
            metrics.latency.max_percent = 5
            metrics.peak_rss.max_percent = 3
            group = "json"
            [[bench]]
            filter = ["*"]
            min_samples = 12
            "#,
            &["b", "c"],
        )
        .load();
    let json = only(&suite, "a", "b", "", "json/x/y", "process");
    assert_eq!(json.settings.sampling.warmup, 2);
    assert_eq!(json.settings.sampling.timeout_ns, 20_000_000_000);
    assert_eq!(json.settings.sampling.min_time_ns, 1_000_000_000);
    assert_eq!(json.settings.sampling.samples, SampleCount::Adaptive { min: 12, max: 60 });
    assert_eq!(json.settings.judge.min_samples, 12);
    let latency = &json.settings.metrics[&Metric::Latency];
    assert_eq!((latency.max_percent, latency.min_difference), (5.0, 5.0));
    let rss = &json.settings.metrics[&Metric::PeakRss];
    assert_eq!((rss.max_percent, rss.gate, rss.asked_for), (3.0, false, true));
    assert_eq!(json.settings.group.as_deref(), Some("json"));
    assert_eq!(json.launch.args, ["--from-package"]);
    assert_eq!(json.launch.env["A"], "1");
    assert_eq!(json.launch.env["B"], "2");
    let other = only(&suite, "a", "b", "", "xml/x", "process");
    assert_eq!(other.settings.metrics[&Metric::Latency].max_percent, 15.0);
    assert_eq!(other.settings.group.as_deref(), Some("first"));
    let unlisted = only(&suite, "a", "c", "", "x", "process");
    assert!(unlisted.launch.args.is_empty());
    assert_eq!(unlisted.settings.metrics[&Metric::Latency].max_percent, 15.0);
}

#[test]
fn samples_and_the_adaptive_pair_retire_each_other() {
    let suite = Project::default()
        .workspace("samples = 20\njudge.preset = \"fixed\"")
        .package("a", "[[bench]]\ntarget = \"b\"\nmax_samples = 30", &["b", "c"])
        .load();
    let samples = |target| only(&suite, "a", target, "", "x", "criterion").settings.sampling.samples;
    assert_eq!(samples("b"), SampleCount::Adaptive { min: 10, max: 30 });
    assert_eq!(samples("c"), SampleCount::Fixed(20));
    let flags = Overrides { samples: Some(15), ..Default::default() };
    let project = Project::default().package("a", "min_samples = 12", &["b"]);
    let suite = project.load_with(&Selection::default(), &flags).expect("loads");
    assert_eq!(
        only(&suite, "a", "b", "", "x", "criterion").settings.sampling.samples,
        SampleCount::Fixed(16)
    );
    let judge = only(&suite, "a", "b", "", "x", "criterion").settings.judge;
    assert_eq!(judge.min_samples, judge_of(DEFAULT_PRESET).min_samples);
    assert_eq!(
        suite.notes,
        ["samples = 15 is rounded up to 16, since a round holds two runs of every revision"]
    );
}

#[test]
fn a_large_least_number_raises_the_default_largest() {
    let suite = Project::default().package("a", "min_samples = 81\njudge.stop = \"fixed\"", &["b"]).load();
    assert_eq!(
        only(&suite, "a", "b", "", "x", "criterion").settings.sampling.samples,
        SampleCount::Adaptive { min: 81, max: 82 }
    );
}

#[test]
fn the_mean_is_resampled_and_cannot_stop_early() {
    let table = "judge = { preset = \"default\", statistic = \"mean\" }";
    let suite = Project::default().package("a", table, &["b"]).load();
    let settings = only(&suite, "a", "b", "", "x", "criterion").settings;
    assert_eq!(settings.judge.resamples, Resamples::MonteCarlo(2000));
    assert_eq!(settings.judge.stop, Stop::Fixed);
    assert_eq!(settings.sampling.samples, SampleCount::Fixed(30));
    assert_eq!(
        suite.notes,
        ["statistic = \"mean\" has no rule for stopping early, so 30 samples a side are taken"]
    );
}

#[test]
fn a_fixed_number_of_samples_is_judged_at_one_look() {
    let table = "samples = 30\njudge = { preset = \"default\", stop = \"settled\" }";
    let suite = Project::default().package("a", table, &["b"]).load();
    assert_eq!(only(&suite, "a", "b", "", "x", "criterion").settings.judge.stop, Stop::Fixed);
    assert_eq!(suite.notes, ["samples = 30 is a fixed number of runs, so stop = \"settled\" has no effect"]);
}

#[test]
fn naming_a_metric_gates_it_where_the_harness_measures_it() {
    let suite = Project::default().package("a", "metrics.peak_rss = {}", &["b"]).load();
    let metrics = |harness: &str| only(&suite, "a", "b", "", "x", harness).settings.metrics;
    let rss = &metrics("process")[&Metric::PeakRss];
    assert!(rss.gate && rss.asked_for);
    assert!(!metrics("criterion").contains_key(&Metric::PeakRss));
}

#[test]
fn a_metric_named_for_one_target_or_by_flag_is_asked_for() {
    let entry = "[[bench]]\ntarget = \"b\"\nmetrics.cpu_total = {}";
    let suite = Project::default().package("a", entry, &["b"]).load();
    let metrics = only(&suite, "a", "b", "", "x", "criterion").settings.metrics;
    assert!(metrics[&Metric::CpuTotal].asked_for, "though criterion measures it of some functions only");
    let flags = Overrides { metrics: vec!["cpu_total".to_owned()], ..Default::default() };
    let project = Project::default().package("a", "metrics.cpu_total.gate = false", &["b"]);
    let suite = project.load_with(&Selection::default(), &flags).expect("loads");
    let metrics = only(&suite, "a", "b", "", "x", "process").settings.metrics;
    assert!(metrics[&Metric::CpuTotal].gate && metrics[&Metric::CpuTotal].asked_for);
}

#[test]
fn a_flag_asks_the_benchmarks_whose_entry_declares_the_metric_and_no_others() {
    let entries = r#"
        [[bench]]
        target = "b"
        harness = "lines"
        metrics.steps = { unit = "count" }
        [[bench]]
        target = "c"
        harness = "lines"
        filter = ["busy*"]
        metrics.turns = { unit = "count" }
    "#;
    let project = Project::default().package("a", entries, &["b", "c", "d"]);
    let flags = Overrides { metrics: vec!["steps".to_owned(), "turns".to_owned()], ..Default::default() };
    let suite = project.load_with(&Selection::default(), &flags).expect("loads");
    let metrics = |bench: &str, id: &str| only(&suite, "a", bench, "", id, "lines").settings.metrics;
    let (steps, turns) = (Metric::from_name("steps"), Metric::from_name("turns"));
    assert!(metrics("b", "x")[&steps].gate && !metrics("b", "x").contains_key(&turns));
    assert!(metrics("c", "busy/1")[&turns].gate && !metrics("c", "busy/1").contains_key(&steps));
    assert!(!metrics("c", "idle").contains_key(&turns));
    assert!(!metrics("d", "x").contains_key(&steps));
    let flags = Overrides { metrics: vec!["stps".to_owned()], ..Default::default() };
    let errors = project.errors_with(&Selection::default(), &flags).to_string();
    assert!(
        errors.contains("--metric stps: is not a metric of this suite; did you mean `steps`?"),
        "{errors}"
    );
}

#[test]
fn max_percent_on_the_command_line_is_for_gated_comparisons() {
    let flags = Overrides { max_percent: Some(3.0), ..Default::default() };
    let suite = Project::default()
        .package("a", "metrics.latency.max_percent = 7", &["b"])
        .load_with(&Selection::default(), &flags)
        .expect("loads");
    let metrics = only(&suite, "a", "b", "", "x", "process").settings.metrics;
    assert_eq!(metrics[&Metric::Latency].max_percent, 3.0);
    assert_eq!(metrics[&Metric::PeakRss].max_percent, 10.0);
}

#[test]
fn own_metrics_are_declared_once_and_refined_elsewhere() {
    let suite = Project::default()
        .workspace("metrics.tokens = { unit = \"tokens\", better = \"higher\" }")
        .package(
            "a",
            r#"
            [[bench]]
            target = "b"
            harness = "lines"
            metrics.tokens = { max_percent = 2, min_difference = 0.5 }
            budget.tokens = { min = ">= 100" }
            "#,
            &["b"],
        )
        .load();
    let settings = only(&suite, "a", "b", "", "x", "lines").settings;
    let tokens = &settings.metrics[&Metric::Own("tokens".into())];
    assert_eq!(tokens.unit, Unit::Own("tokens".into()));
    assert_eq!((tokens.better, tokens.max_percent, tokens.min_difference), (Better::Higher, 2.0, 0.5));
    assert_eq!(settings.budgets[0].limit, 100.0);
    assert_eq!(suite.list(|_| None)[0].budgets, ["tokens min >= 100 tokens"]);
}

#[test]
fn budgets_are_read_in_the_unit_of_their_metric_and_the_later_one_wins() {
    let suite = Project::default()
        .package(
            "a",
            r#"
            [[bench]]
            target = "b"
            harness = "process"
            work = { file = "${head_root}/big.json" }
            budget.latency = { p95 = "<= 500ms", "p99.9" = "<1s" }
            budget.throughput = { median = ">= 20 MB/s" }
            budget.cpu_utilization.max = "<= 150%"
            [[bench]]
            target = "b"
            budget.latency.p95 = "<= 400ms"
            "#,
            &["b"],
        )
        .load();
    let benchmark = only(&suite, "a", "b", "", "b", "process");
    let budgets = &benchmark.settings.budgets;
    let find = |metric: Metric, aggregation: Aggregation| {
        let budget = budgets.iter().find(|b| b.metric == metric && b.aggregation == aggregation);
        let budget = budget.expect("the budget is there");
        (budget.operator, budget.limit, budget.written.clone())
    };
    assert_eq!(budgets.len(), 4);
    assert_eq!(
        find(Metric::Latency, Aggregation::Percentile(95.0)),
        (Operator::LessOrEqual, 4e8, "<= 400ms".to_owned())
    );
    assert_eq!(find(Metric::Latency, Aggregation::Percentile(99.9)), (Operator::Less, 1e9, "<1s".to_owned()));
    assert_eq!(find(Metric::Throughput, Aggregation::Median).1, 2e7);
    assert_eq!(find(Metric::CpuUtilization, Aggregation::Max).1, 150.0);
    assert_eq!(benchmark.launch.work, Some(Work::File("${head_root}/big.json".to_owned())));
}

#[test]
fn run_wide_keys_come_from_either_table_and_flags_win() {
    let table = "base = \"main\"\nmax_time = \"10m\"\nalso_fail_on = [\"skipped\", \"inconclusive\"]\n\
                 profile = \"release\"\nfeatures = [\"x\"]\nallow_partial = true\nsnapshot_include = [\"data/*.bin\"]\n\
                 toolchain = \"nightly\"\nprofile_from = \"head\"";
    let project = Project::default().package("a", table, &["b"]);
    let run = project.load().run;
    assert_eq!(run.base.as_deref(), Some("main"));
    assert_eq!(run.max_time_ns, Some(600_000_000_000));
    assert_eq!(run.also_fail_on, [AlsoFailOn::Inconclusive, AlsoFailOn::Skipped]);
    assert_eq!((run.profile.as_str(), run.allow_partial), ("release", true));
    assert_eq!(run.snapshot_include, ["data/*.bin"]);
    assert_eq!((run.toolchain.as_deref(), run.profile_from), (Some("nightly"), ProfileFrom::Head));
    let flags = Overrides {
        base: Some("v1".to_owned()),
        profile: Some("dev".to_owned()),
        features: Some(vec![]),
        also_fail_on: Some(vec![AlsoFailOn::Removed]),
        all_features: true,
        ..Default::default()
    };
    let run = project.load_with(&Selection::default(), &flags).expect("loads").run;
    assert_eq!((run.base.as_deref(), run.profile.as_str()), (Some("v1"), "dev"));
    assert!(run.features.is_empty() && run.all_features);
    assert_eq!(run.also_fail_on, [AlsoFailOn::Removed]);
}

#[test]
fn flags_are_read_like_keys() {
    assert_eq!(parse_resamples("exact"), Ok(Resamples::Exact));
    assert_eq!(parse_resamples("500"), Ok(Resamples::MonteCarlo(500)));
    assert_eq!(
        parse_resamples("5").expect_err("too few").to_string(),
        "is out of range; write \"exact\" or a whole number from 100 to 1000000"
    );
    assert!(parse_resamples("-5").is_err() && parse_resamples("").is_err());
}

#[test]
fn newer_word_retires_the_keys_it_leaves_without_effect() {
    let judge = |table: &str, flags: Overrides| {
        let suite = Project::default()
            .workspace(table)
            .package("a", "", &["b"])
            .load_with(&Selection::default(), &flags)
            .expect("loads");
        only(&suite, "a", "b", "", "x", "process").settings.judge
    };
    let precise = "judge = { stop = \"precision\", target_ci = \"2%\", confidence = 0.9 }";
    let flags = Overrides { stop: Some(Stop::Settled), ..Default::default() };
    assert_eq!(judge(precise, flags).stop, Stop::Settled);
    let flags = Overrides { stop: Some(Stop::Fixed), ..Default::default() };
    assert_eq!(judge(precise, flags).confidence, 0.9);
    let flags = Overrides { samples: Some(30), ..Default::default() };
    assert_eq!(judge(precise, flags).stop, Stop::Fixed);
    let flags = Overrides { method: Some(Method::Rank), ..Default::default() };
    let resampled = "judge = { interval = \"bca\", resamples = 5000 }";
    assert_eq!(judge(resampled, flags).method, Method::Rank);
}

#[test]
fn confidence_goes_with_a_fixed_number_of_samples() {
    let flags = Overrides { samples: Some(30), confidence: Some(0.99), ..Default::default() };
    let suite = Project::default().package("a", "", &["b"]).load_with(&Selection::default(), &flags);
    let judge = only(&suite.expect("one look"), "a", "b", "", "x", "process").settings.judge;
    assert_eq!((judge.stop, judge.confidence), (Stop::Fixed, 0.99));
}

#[test]
fn entries_about_no_benchmark_that_is_there_are_told() {
    let table = "[[bench]]\ntarget = \"b\"\nfilter = [\"jsonn/a\"]\nbudget.latency.max = \"<= 1s\"\n\
                 [[bench]]\ntarget = \"b\"\nfilter = [\"json/*\"]\nwarmup = 3\n\
                 [[bench]]\nfilter = [\"c\"]\nmetrics.latency = { max_percent = 5 }";
    let suite = Project::default().package("a", table, &["b", "c"]).load();
    let ids = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let of_b = (id("a", "b"), ids(&["json/a", "json/b"]));
    let told = suite.entries_without_benchmarks(&[of_b.clone(), (id("a", "c"), ids(&["c"]))]);
    assert_eq!(
        told,
        [
            "a/Cargo.toml: package.metadata.benchgate.bench[0] is about none of the 2 benchmarks of its target, so its budgets are \
          checked on nothing; did you mean \"json/a\"?"
        ]
    );
    let told = suite.entries_without_benchmarks(&[of_b]);
    assert_eq!(told.len(), 1, "what the other target has is not known: {told:?}");
    assert!(suite.entries_without_benchmarks(&[]).is_empty());
}

#[test]
fn limits_of_an_entry_that_compares_nothing_are_noted() {
    let entry = "[[bench]]\ntarget = \"b\"\ncompare = false\nmetrics.latency.max_percent = 5\nbudget.latency.max = \"<= 1s\"";
    let suite = Project::default().package("a", entry, &["b"]).load();
    assert!(suite.notes.iter().any(|note| note.contains("compare = false")), "{:?}", suite.notes);
    let declared = "[[bench]]\ntarget = \"b\"\nharness = \"lines\"\ncompare = false\nmetrics.hits = { unit = \"hits\" }\n\
                    budget.hits.max = \"<= 5\"";
    assert!(Project::default().package("a", declared, &["b"]).load().notes.is_empty());
}
