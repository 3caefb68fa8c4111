//! Every mistake in a suite is named with its place, its value and what would be right.

mod suite_support;

use cargo_benchgate::error::{Error, ExitCode};
use cargo_benchgate::suite::settings::{Preset, Stop};
use cargo_benchgate::suite::{LoadError, Overrides, Selection};
use serde_json::json;
use suite_support::{Project, id};

/// The errors of a package's table, without the manifest and the table that are the same in all.
fn of_package(table: &str) -> Vec<String> {
    let errors = Project::default().package("a", table, &["parse"]).bin("a", "cli").errors();
    let prefix = "a/Cargo.toml: package.metadata.benchgate";
    errors.iter().map(|e| e.strip_prefix(prefix).expect(e).trim_start_matches('.').to_owned()).collect()
}

/// The errors of one entry for the target `parse`, and of the package's own keys.
fn of_entry(keys: &str) -> Vec<String> {
    let errors = of_package(&format!("[[bench]]\ntarget = \"parse\"\n{keys}"));
    errors.iter().map(|e| e.strip_prefix("bench[0].").expect(e).to_owned()).collect()
}

fn of_package_loads(table: &str) -> bool {
    let project = Project::default().package("a", table, &["parse"]);
    project.load_with(&Selection::default(), &Overrides::default()).is_ok()
}

#[track_caller]
fn one(errors: Vec<String>, expected: &str) {
    assert_eq!(errors, [expected]);
}

#[test]
fn all_errors_are_listed_at_once_in_the_order_they_stand() {
    let project = Project::default().workspace("warmpu = 1\ntimeout = 60").package(
        "a",
        "max_percent = 5\n[[bench]]\ntarget = \"prase\"\nsamples = 1",
        &["parse"],
    );
    let error = Project::load_with(&project, &Selection::default(), &Overrides::default());
    let error = error.expect_err("the suite is wrong");
    assert_eq!(
        error.to_string(),
        "the benchgate configuration has 5 errors:\
         \n  Cargo.toml: workspace.metadata.benchgate.warmpu = 1: unknown key; did you mean `warmup`?\
         \n  Cargo.toml: workspace.metadata.benchgate.timeout = 60: is a bare number without a unit; write it like \
         \"60s\" or \"60ms\"; units are ns, us, ms, s, m, h, as in \"500ms\" or \"1m30s\"\
         \n  a/Cargo.toml: package.metadata.benchgate.max_percent = 5: is not a key of this table; it belongs in \
         `metrics.NAME`\
         \n  a/Cargo.toml: package.metadata.benchgate.bench[0].samples = 1: is out of range; write a whole number from \
         2 to 100000\
         \n  a/Cargo.toml: package.metadata.benchgate.bench[0].target = \"prase\": is no bench of package a; did you \
         mean \"parse\"?"
    );
    assert_eq!(Error::from(error).exit_code(), ExitCode::Configuration);
    let nothing = Project::default().package("a", "", &[]).select(&Selection::default()).expect_err("none");
    assert_eq!(Error::from(LoadError::from(nothing)).exit_code(), ExitCode::Usage);
}

#[test]
fn unknown_keys_name_the_nearest_one_of_their_table() {
    one(of_package("max-time = \"1m\""), "max-time = \"1m\": unknown key; did you mean `max_time`?");
    one(of_package("judge.stopp = \"fixed\""), "judge.stopp = \"fixed\": unknown key; did you mean `stop`?");
    one(
        of_package("metrics.latency.max_percnt = 1"),
        "metrics.latency.max_percnt = 1: unknown key; did you mean `max_percent`?",
    );
    one(of_entry("agrs = [\"x\"]"), "agrs = [\"x\"]: unknown key; did you mean `args`?");
    one(
        of_entry("work = { value = 1, unti = \"x\" }"),
        "work.unti = \"x\": unknown key; did you mean `unit`?",
    );
    one(
        of_package("confidence = 0.9"),
        "confidence = 0.9: is not a key of this table; it belongs in the `judge` table",
    );
    one(
        of_package("filter = [\"x\"]"),
        "filter = [\"x\"]: is not a key of this table; it belongs in a [[…bench]] entry",
    );
    one(
        of_entry("base = \"main\""),
        "base = \"main\": is not a key of this table; it belongs in the benchgate table of the workspace or the package",
    );
    one(
        of_package("judge.colour = 1"),
        "judge.colour = 1: unknown key; known here: preset, method, statistic, pairing, interval, resamples, confidence, \
         max_cv, stop, correction, target_ci, show_percent",
    );
}

#[test]
fn hooks_are_lists_of_commands_and_each_command_names_a_program() {
    let help = "write a list of commands, each a list of words, like [[\"./gen-data\", \"--big\"]]; no shell is started";
    one(of_entry("setup = \"./x\""), &format!("setup = \"./x\": is not a list; {help}"));
    one(
        of_entry("prepare_each = [\"./x\"]"),
        &format!("prepare_each = [\"./x\"]: holds \"./x\", which is no list of words; {help}"),
    );
    one(of_entry("cleanup = [[]]"), &format!("cleanup = [[]]: holds an empty command; {help}"));
    one(
        of_entry("setup = [[\" \"]]"),
        &format!("setup = [[\" \"]]: holds a command without a program; {help}"),
    );
    one(
        of_entry("setup = [[\"./x\", \"${rot}\"]]"),
        "setup = [[\"./x\", \"${rot}\"]]: `${rot}` is unknown; did you mean `${root}`?",
    );
}

#[test]
fn summary_takes_percentages_of_its_range_once_a_run() {
    let range = |most: u32| format!("is out of range; write a percentage from 0 to {most}");
    one(of_package("summary.min_change = 101"), &format!("summary.min_change = 101: {}", range(100)));
    one(
        of_package("summary.impact_percent = \"51%\""),
        &format!("summary.impact_percent = \"51%\": {}", range(50)),
    );
    one(
        of_package("summary.min_chang = 1"),
        "summary.min_chang = 1: unknown key; did you mean `min_change`?",
    );
}

#[test]
fn profiles_are_each_revisions_own_or_heads() {
    one(
        of_package("profile_from = \"base\""),
        "profile_from = \"base\": \"base\" is not a known word; known are each, head",
    );
    one(of_package("toolchain = 1"), "toolchain = 1: is not text; write it in quotes");
}

#[test]
fn words_name_the_nearest_known_one() {
    one(
        of_package("judge.stop = \"setled\""),
        "judge.stop = \"setled\": \"setled\" is not a known word; did you mean \"settled\"? known are settled, fixed, \
         precision",
    );
    one(
        of_package("also_fail_on = [\"everything\"]"),
        "also_fail_on = [\"everything\"]: \"everything\" is not a known word; known are inconclusive, removed, skipped",
    );
    one(
        of_package("also_fail_on = \"removed\""),
        "also_fail_on = \"removed\": is not a list; write a list of inconclusive, removed, skipped",
    );
    one(
        of_package("judge.method = 1"),
        "judge.method = 1: is not text; write one of \"bootstrap\", \"rank\"",
    );
    one(
        of_entry("harness = \"critrion\""),
        "harness = \"critrion\": \"critrion\" is not a known word; did you mean \"criterion\"? known are auto, process, \
         criterion, divan, libtest, bencher, gungraun, iai-callgrind, tango, lines",
    );
}

#[test]
fn numbers_out_of_range_and_of_the_wrong_kind_are_refused() {
    one(of_package("warmup = -1"), "warmup = -1: is out of range; write a whole number from 0 to 10000");
    one(
        of_package("warmup = 1.5"),
        "warmup = 1.5: is not a whole number; write a whole number from 0 to 10000",
    );
    one(
        of_package("samples = \"30\""),
        "samples = \"30\": is not a whole number; write a whole number from 2 to 100000",
    );
    one(
        of_package("max_samples = 9999999999"),
        "max_samples = 9999999999: is out of range; write a whole number from 2 to 100000",
    );
    one(
        of_package("judge.confidence = 1.0"),
        "judge.confidence = 1.0: is out of range; write a number from 0.5 to 0.999",
    );
    one(
        of_package("judge.max_cv = nan"),
        "judge.max_cv = nan or inf: is not a number; write a number from 0 to 10",
    );
    one(
        of_package("judge.resamples = 10"),
        "judge.resamples = 10: is out of range; write \"exact\" or a whole number from 100 to 1000000",
    );
    one(
        of_package("timeout = \"0s\""),
        "timeout = \"0s\": is out of range; write a duration from 1ms to 24h",
    );
    one(
        of_package("max_time = \"0.5ns\""),
        "max_time = \"0.5ns\": is not a whole number of nanoseconds; 1ns is the smallest step",
    );
    one(
        of_package("min_time = \"-1s\""),
        "min_time = \"-1s\": is negative; units are ns, us, ms, s, m, h, as in \"500ms\" or \"1m30s\"",
    );
    one(
        of_package("only_listed = \"yes\""),
        "only_listed = \"yes\": is not true or false; write true or false without quotes",
    );
}

#[test]
fn percentages_are_above_0_and_at_most_1000() {
    let range = "is out of range; write a percentage above 0 and at most 1000";
    for (written, shown) in
        [("0", "0"), ("-5", "-5"), ("1000.5", "1000.5"), ("\"5000%\"", "\"5000%\""), ("\"0%\"", "\"0%\"")]
    {
        one(
            of_package(&format!("metrics.latency.max_percent = {written}")),
            &format!("metrics.latency.max_percent = {shown}: {range}"),
        );
    }
    one(
        of_package("metrics.latency.max_percent = \"NaN\""),
        "metrics.latency.max_percent = \"NaN\": has no percent sign; write it like 10 or \"10%\"",
    );
    one(
        of_package("metrics.latency.max_percent = \"NaN%\""),
        "metrics.latency.max_percent = \"NaN%\": is not a percentage; write it like 10 or \"10%\"",
    );
    one(
        of_package("metrics.latency.max_percent = inf"),
        "metrics.latency.max_percent = nan or inf: is not a percentage; write it like 10 or \"10%\"",
    );
    one(
        of_package("judge = { stop = \"precision\", target_ci = 0.01 }"),
        "judge.target_ci = 0.01: is not text with a percent sign; write it like \"1%\", above 0 and at most \"100%\"",
    );
}

#[test]
fn amounts_follow_the_unit_of_the_metric() {
    one(
        of_package("metrics.latency.min_difference = 5"),
        "metrics.latency.min_difference = 5: is a bare number without a unit; write it like \"5s\" or \"5ms\"; units are ns, us, \
         ms, s, m, h, as in \"500ms\" or \"1m30s\"",
    );
    one(
        of_package("metrics.peak_rss.min_difference = \"1mib\""),
        "metrics.peak_rss.min_difference = \"1mib\": `mib` is not a unit of size; did you mean `MiB`? units are B, KB, \
         MB, GB, TB and KiB, MiB, GiB, TiB, as in \"4MiB\"",
    );
    one(
        of_package("metrics.allocations.min_difference = 1.5"),
        "metrics.allocations.min_difference = 1.5: is not a whole number; write a count like 1200",
    );
    one(
        of_package("metrics.tokens = { unit = \"tokens\", min_difference = \"5ms\" }"),
        "metrics.tokens.min_difference = \"5ms\": is not a number; write a plain number of 0 or more",
    );
}

#[test]
fn metrics_that_cannot_be_compared_or_are_unknown_are_refused() {
    one(
        of_package("metrics.throughput.max_percent = 5"),
        "metrics.throughput = { max_percent = 5 }: throughput follows latency and has no limits of its own; set \
         `metrics.latency`, or a `budget.throughput`",
    );
    one(
        of_package("metrics.cpu_user = {}"),
        "metrics.cpu_user = {}: cpu_user is reported and never compared; set `metrics.cpu_total`, or a budget",
    );
    one(
        of_package("metrics.latncy.max_percent = 5"),
        "metrics.latncy: unknown metric; did you mean `latency`? For a metric of your own, give it a unit, as in { unit \
         = \"tokens\", better = \"lower\" }",
    );
    one(
        of_package("metrics.latency = 5"),
        "metrics.latency = 5: is not a table; write it like latency = { max_percent = 5 }",
    );
    one(
        of_package("metrics.latency.unit = \"s\""),
        "metrics.latency.unit = \"s\": latency is built in; its unit is ns and less is better; leave the key out, or give \
         a metric of your own another name",
    );
}

#[test]
fn impossible_budgets_are_refused() {
    let budget = |table: &str| of_entry(&format!("budget.{table}"));
    one(
        budget("latency = { p95 = \">= 1s\" }"),
        "budget.latency.p95 = \">= 1s\": limits latency from below, although less is better; write `<=` or `<`",
    );
    one(
        budget("throughput = { mean = \"<= 5/s\" }"),
        "budget.throughput.mean = \"<= 5/s\": limits throughput from above, although more is better; write `>=` or `>`",
    );
    one(
        budget("latency.p0 = \"<= 1s\""),
        "budget.latency.p0 = \"<= 1s\": p0 is not a percentile of samples; write `min` for the smallest",
    );
    one(
        budget("latency.p100 = \"<= 1s\""),
        "budget.latency.p100 = \"<= 1s\": p100 is not a percentile of samples: they end below p100; write `max` for the \
         largest",
    );
    one(
        budget("latency = { \"p99.99999999999999999999\" = \"<= 1s\" }"),
        "budget.latency.\"p99.99999999999999999999\" = \"<= 1s\": p99.99999999999999999999 is not a percentile of \
         samples: they end below p100; write `max` for the largest",
    );
    one(
        budget("latency.p99.9 = \"<= 1s\""),
        "budget.latency.p99 = { 9 = \"<= 1s\" }: is a table: a bare p99.9 is a key in a table; quote it: \"p99.9\" = \"<= \
         …\"",
    );
    one(
        budget("latency.max = \"500ms\""),
        "budget.latency.max = \"500ms\": has no operator; write it like \"<= 500ms\"",
    );
    one(
        budget("instructions.max = 500"),
        "budget.instructions.max = 500: has no operator; write it like \"<= 500\"",
    );
    one(
        budget("latency.max = \"<= 0s\""),
        "budget.latency.max = \"<= 0s\": is a limit of zero; write a limit above 0",
    );
    one(
        budget("latency.max = \"<= -1s\""),
        "budget.latency.max = \"<= -1s\": is a negative limit; write a limit above 0",
    );
    one(
        budget("latency.medain = \"<= 1s\""),
        "budget.latency.medain = \"<= 1s\": unknown key; did you mean `median`? known are min, max, mean, median and \
         percentiles like p95 or \"p99.9\"",
    );
    one(
        budget("latency = { p95 = \"<= 1s\", \"p95.0\" = \"<= 2s\" }"),
        "budget.latency.\"p95.0\" = \"<= 2s\": is a limit that stands here already; leave one out",
    );
    one(
        budget("tokens.max = \"<= 5\""),
        "budget.tokens.max = \"<= 5\": unknown metric; for a metric of your own, declare metrics.tokens = { unit = \"…\" }",
    );
    one(
        budget("latency = \"<= 1s\""),
        "budget.latency = \"<= 1s\": is not a table; write it like budget.latency = { p95 = \"<= 500ms\" }",
    );
}

#[test]
fn budgets_must_fit_the_harness_the_work_and_the_declared_direction() {
    one(
        of_entry("harness = \"criterion\"\nbudget.latency.p95 = \"<= 1s\""),
        "budget.latency.p95 = \"<= 1s\": is a percentile, and criterion reports one summary a run, not single calls; \
         write min, median, mean or max",
    );
    one(
        of_entry("harness = \"process\"\nbudget.throughput.mean = \">= 5/s\""),
        "budget.throughput.mean = \">= 5/s\": limits a rate, and the entry states no work; write work = { file = \"…\" } \
         or work = { value = … } beside it",
    );
    one(
        of_entry("work.value = 10\nbudget.throughput.mean = \">= 5 MB/s\""),
        "budget.throughput.mean = \">= 5 MB/s\": is in bytes per second, and the work is in operations; write a limit in \
         operations per second",
    );
    one(
        of_entry("metrics.hits = { unit = \"hits\", better = \"higher\" }\nbudget.hits.max = \"<= 5\""),
        "budget.hits.max = \"<= 5\": limits hits from above, although more is better; write `>=` or `>`",
    );
}

#[test]
fn metrics_and_budgets_no_harness_can_give_are_refused_once_it_is_known() {
    one(
        of_entry("harness = \"divan\"\nmetrics.peak_rss = {}"),
        "metrics.peak_rss: cannot be measured with the harness divan; leave it out; of the built-in ones it measures latency, \
         instructions, allocations, allocated_bytes",
    );
    one(
        of_entry("harness = \"process\"\nbudget.allocations.max = \"<= 5\""),
        "budget.allocations.max = \"<= 5\": cannot be measured with the harness process; leave it out; of the built-in ones it \
         measures latency, throughput, cpu_total, cpu_user, cpu_system, cpu_utilization, peak_rss, instructions",
    );
    let found_later = |table: &str, harness: &str| {
        let suite = Project::default().package("a", table, &["parse"]).load();
        suite.benchmark(&id("a", "parse"), "", "x", harness).map(drop).map_err(|errors| errors.to_string())
    };
    let entry = "[[bench]]\ntarget = \"parse\"\nbudget.peak_rss.max = \"<= 1MiB\"";
    assert!(found_later(entry, "criterion").is_err_and(|it| it.contains("budget.peak_rss.max")));
    assert_eq!(found_later(entry, "process"), Ok(()));
    let of_all = "[[bench]]\nbudget.peak_rss.max = \"<= 1MiB\"";
    assert_eq!(found_later(of_all, "criterion"), Ok(()), "it may be about another target");
    let rate = "[[bench]]\ntarget = \"parse\"\nwork.value = 5\nbudget.throughput.mean = \">= 5/s\"";
    assert_eq!(found_later(rate, "divan"), Ok(()));
}

#[test]
fn a_percentile_that_takes_days_of_runs_needs_a_limit_of_the_time() {
    one(
        of_entry("budget.latency = { \"p99.9999\" = \"<= 1s\" }"),
        "budget.latency.\"p99.9999\" = \"<= 1s\": needs 10000000 runs of head; write a lower percentile, or set max_time: what \
         there is when it is over is then checked",
    );
    let limited =
        "max_time = \"10m\"\n[[bench]]\ntarget = \"b\"\nbudget.latency = { \"p99.9999\" = \"<= 1s\" }";
    Project::default().package("a", limited, &["b"]).load();
}

#[test]
fn an_empty_filter_is_refused() {
    one(
        of_entry("filter = []"),
        "filter = []: is an empty list, which no benchmark matches; write [\"*\"], or leave the key out",
    );
}

#[test]
fn keys_that_do_nothing_beside_rank_tests_are_refused() {
    one(
        of_package("judge = { method = \"rank\", interval = \"bca\" }"),
        "judge.interval = \"bca\": does nothing with the method `rank`; write method = \"bootstrap\" beside it, or leave it out",
    );
    one(
        of_package("judge = { method = \"rank\", resamples = 5000 }"),
        "judge.resamples = 5000: does nothing with the method `rank`; write method = \"bootstrap\" beside it, or leave it out",
    );
    one(
        of_package("judge = { method = \"rank\", statistic = \"mean\" }"),
        "judge.statistic = \"mean\": compares means, and the method `rank` compares ranks; write method = \"bootstrap\" beside \
         it, or leave one out",
    );
    assert!(of_package_loads("judge = { preset = \"effect\", interval = \"percentile\", resamples = 5000 }"));
}

#[test]
fn flags_have_the_ranges_of_their_keys() {
    one(
        of_package("timeout = \"999us\""),
        "timeout = \"999us\": is out of range; write a duration from 1ms to 24h",
    );
    let errors = |flags: Overrides| {
        let project = Project::default().package("a", "", &["b"]);
        let errors = project.errors_with(&Selection::default(), &flags);
        errors.0.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for timeout_ns in [0, 1, 999_999] {
        let found = errors(Overrides { timeout_ns: Some(timeout_ns), ..Default::default() });
        assert!(found[0].contains("--timeout") && found[0].contains("from 1ms to 24h"), "{found:?}");
    }
    one(
        errors(Overrides { max_time_ns: Some(0), ..Default::default() }),
        "command line: --max-time 0s: is out of range; write a duration from 1ns to 168h",
    );
    one(
        errors(Overrides { min_time_ns: Some(3_600_000_000_000_000), ..Default::default() }),
        "command line: --min-time 1000h: is out of range; write a duration from 0s to 24h",
    );
    one(
        errors(Overrides { stop: Some(Stop::Precision), target_ci: Some(0.0), ..Default::default() }),
        "command line: --target-ci 0: is out of range; write a percentage above 0 and at most 100",
    );
}

#[test]
fn a_percentile_budget_on_a_harness_found_later_is_an_error_then() {
    let table = "[[bench]]\ntarget = \"parse\"\nbudget.latency.p95 = \"<= 1s\"";
    let suite = Project::default().package("a", table, &["parse"]).load();
    assert!(suite.benchmark(&id("a", "parse"), "", "x", "process").is_ok());
    let errors = suite.benchmark(&id("a", "parse"), "", "x", "divan").expect_err("in-process");
    assert!(errors.to_string().contains("budget.latency.p95"), "{errors}");
}

#[test]
fn sample_numbers_that_contradict_each_other_are_refused() {
    let beside = "stands beside `min_samples` or `max_samples`; write either `samples` for a fixed number, or the other \
                  two";
    one(of_package("samples = 30\nmax_samples = 40"), &format!("samples = 30: {beside}"));
    one(
        of_package("min_samples = 40\nmax_samples = 20"),
        "max_samples = 20: is below min_samples = 40; write max_samples = 40 or more, or a smaller min_samples",
    );
    one(
        of_package("max_samples = 6\njudge.preset = \"fixed\""),
        "max_samples = 6: is below the 10 samples a side that preset `fixed` needs; write max_samples = 10 or more, or a \
         smaller min_samples",
    );
    one(
        of_package("samples = 4\njudge.preset = \"fixed\""),
        "samples = 4: can never be judged: a verdict of preset `fixed` needs 10 a side; write samples = 10, or \
         min_samples = 4 and max_samples = 4",
    );
    one(
        of_package("max_samples = 100\njudge.stop = \"settled\""),
        "max_samples = 100: is beyond the last look of the stop `settled`, 60 a side; write 60 at most, or judge.stop = \
         \"fixed\"",
    );
}

#[test]
fn few_samples_are_no_mistake_where_nothing_is_compared() {
    let few = Project::default().package("a", "samples = 4", &["b"]);
    let flags = Overrides { head_only: true, ..Default::default() };
    assert!(few.load_with(&Selection::default(), &flags).is_ok());
    let entry = "[[bench]]\ntarget = \"b\"\nsamples = 4\ncompare = false\nbudget.latency.max = \"<= 1s\"";
    Project::default().package("a", entry, &["b"]).load();
}

#[test]
fn judge_keys_without_effect_are_refused() {
    one(
        of_package("judge = { stop = \"settled\", confidence = 0.9 }"),
        "judge.confidence = 0.9: is the probability of one look, and the stop is `settled`; write stop = \"fixed\" beside \
         it, or leave it out",
    );
    one(
        of_package("judge = { preset = \"fixed\", target_ci = \"2%\" }"),
        "judge.target_ci = \"2%\": does nothing with the stop `fixed`; write stop = \"precision\" beside it, or leave it \
         out",
    );
    one(
        of_package("judge = { preset = \"fixed\", show_percent = 2 }"),
        "judge.show_percent = 2: does nothing in the preset `fixed`; write preset = \"effect\" beside it, or leave it out",
    );
    one(
        of_package("judge = { statistic = \"mean\", resamples = \"exact\" }"),
        "judge.resamples = \"exact\": is for the median, and the statistic is the mean; write a number such as 2000, or \
         leave the key out",
    );
}

#[test]
fn entries_name_targets_kinds_and_packages_that_are_there() {
    one(
        of_package("[[bench]]\ntarget = \"cli\""),
        "bench[0].target = \"cli\": is no bench of package a; there is a bin of that name: write kind = \"bin\"",
    );
    one(
        of_package("[[bench]]\ntarget = \"zzz\"\nkind = \"example\""),
        "bench[0].target = \"zzz\": is no example of package a; the package has no example at all",
    );
    one(
        of_package("[[bench]]\nkind = \"bin\""),
        "bench[0].target: is missing; a bin is only measured when it is named",
    );
    one(
        of_package("[[bench]]\npackage = \"b\""),
        "bench[0].package = \"b\": this is the table of package a; leave the key out, or move the entry to \
         [[workspace.metadata.benchgate.bench]]",
    );
    one(
        of_package("bench = { target = \"parse\" }"),
        "bench = { target = \"parse\" }: is not an array of tables; write it with two brackets: \
         [[package.metadata.benchgate.bench]]",
    );
    let workspace = |table: &str| Project::default().workspace(table).package("core", "", &["b"]).errors();
    one(
        workspace("[[bench]]\npackage = \"coer\"\ntarget = \"b\""),
        "Cargo.toml: workspace.metadata.benchgate.bench[0].package = \"coer\": is not a package of the workspace; did you \
         mean \"core\"?",
    );
    one(
        workspace("[[bench]]\ntarget = \"b\""),
        "Cargo.toml: workspace.metadata.benchgate.bench[0].package: is missing; an entry of the workspace's table names \
         its package",
    );
}

#[test]
fn the_same_variant_twice_is_refused() {
    one(
        of_package("[[bench]]\ntarget = \"parse\"\nname = \"x\"\n[[bench]]\nname = \"x\""),
        "bench[1].name = \"x\": makes the same variant as package.metadata.benchgate.bench[0].name in a/Cargo.toml; give \
         one of them another name",
    );
    one(of_entry("name = \"\""), "name = \"\": is empty; write some text, or leave the key out");
    one(of_entry("name = \"a b\""), "name = \"a b\": is not a name; use letters, digits, `_`, `-` and `.`");
}

#[test]
fn globs_and_launch_keys_are_checked() {
    one(
        of_entry("filter = [\"a[\"]"),
        "filter = [\"a[\"]: \"a[\" is not a valid glob: unclosed character class; missing ']'; `*`, `?`, `[a-z]` and \
         `{a,b}` are special; a backslash takes that away",
    );
    one(of_entry("skip = \"x\""), "skip = \"x\": is not a list; write it like [\"a\", \"b\"]");
    one(
        of_entry("args = [\"${rot}/x\"]"),
        "args = [\"${rot}/x\"]: `${rot}` is unknown; did you mean `${root}`?",
    );
    one(of_entry("args = [1]"), "args = [1]: holds 1, which is not text; write it like [\"a\", \"b\"]");
    one(
        of_entry("env.\"A-B\" = \"x\""),
        "env.A-B: is not the name of a variable; use letters, digits and `_`",
    );
    one(of_entry("env.A = 1"), "env.A = 1: is not text; write the value in quotes");
    one(
        of_entry("cwd = \"~/x\""),
        "cwd = \"~/x\": starts with `~`, which only a shell expands; write ${env:HOME}",
    );
    one(of_entry("exit_codes = []"), "exit_codes = []: is empty: no run could succeed; write it like [0, 2]");
    one(
        of_entry("exit_codes = [256]"),
        "exit_codes = [256]: holds 256, which is no exit code from 0 to 255; write it like [0, 2]",
    );
    let example = "write work = { file = \"input.json\" } or work = { value = 1000, unit = \"operations\" }";
    one(of_entry("work = {}"), &format!("work = {{}}: has neither `file` nor `value`; {example}"));
    one(
        of_entry("work = { file = \"a\", value = 1 }"),
        &format!("work = {{ file = \"a\", value = 1 }}: has both `file` and `value`; {example}"),
    );
    one(
        of_entry("work = { value = 1, unit = \"MB\" }"),
        "work.unit = \"MB\": is a multiple of a unit; write \"bytes\", and the value in bytes",
    );
    one(
        of_package("snapshot_include = [\"../x\"]"),
        "snapshot_include = [\"../x\"]: \"../x\" leaves the repository; write it relative to the repository's root",
    );
}

#[test]
fn two_run_wide_values_are_an_error_that_names_both_places() {
    let project = Project::default().workspace("base = \"main\"").package("a", "base = \"dev\"", &["b"]);
    one(
        project.errors(),
        "a/Cargo.toml: package.metadata.benchgate.base = \"dev\": Cargo.toml: workspace.metadata.benchgate.base says \
         \"main\", and a run has one value; leave one of the two out",
    );
    let project = Project::default().package("a", "profile = \"release\"", &["b"]).package("c", "", &["d"]);
    one(
        project.errors(),
        "a/Cargo.toml: package.metadata.benchgate.profile = \"release\": holds for the whole run, and 2 packages are \
         selected; move it to [workspace.metadata.benchgate], or select one package with -p a",
    );
    let alone = Selection { packages: vec!["a".to_owned()], ..Default::default() };
    assert_eq!(project.select(&alone).expect("one package").run.profile, "release");
}

#[test]
fn flags_are_checked_like_keys() {
    let project = Project::default().package("a", "", &["b"]);
    let errors = |flags: Overrides| {
        let errors = project.errors_with(&Selection::default(), &flags);
        errors.0.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    one(
        errors(Overrides { max_percent: Some(f64::NAN), ..Default::default() }),
        "command line: --max-percent NaN: is out of range; write a percentage above 0 and at most 1000",
    );
    one(
        errors(Overrides { confidence: Some(1.5), ..Default::default() }),
        "command line: --confidence 1.5: is out of range; write a number from 0.5 to 0.999",
    );
    one(
        errors(Overrides { samples: Some(20), min_samples: Some(10), ..Default::default() }),
        "command line: --samples 20: stands beside --min-samples or --max-samples; give either --samples for a fixed \
         number, or the other two",
    );
    one(
        errors(Overrides { samples: Some(4), preset: Some(Preset::Fixed), ..Default::default() }),
        "command line: --samples 4: can never be judged: a verdict of preset `fixed` needs 10 a side; give --samples 10, \
         or --min-samples 4 --max-samples 4",
    );
    one(
        errors(Overrides { metrics: vec!["latncy".to_owned()], ..Default::default() }),
        "command line: --metric latncy: is not a metric of this suite; did you mean `latency`?",
    );
    one(
        errors(Overrides { preset: Some(Preset::Default), confidence: Some(0.9), ..Default::default() }),
        "command line: --confidence 0.9: is the probability of one look, and the stop is `settled`; write stop = \
         \"fixed\" beside it, or leave it out",
    );
}

#[test]
fn filtered_entries_that_contradict_the_rest_are_found_before_anything_runs() {
    one(
        of_package("min_samples = 30\n[[bench]]\ntarget = \"parse\"\nfilter = [\"x\"]\nmax_samples = 20"),
        "bench[0].max_samples = 20: is below min_samples = 30; write max_samples = 30 or more, or a smaller min_samples",
    );
}

#[test]
fn metadata_of_any_shape_is_an_error_and_never_a_panic() {
    for value in [json!(null), json!(5), json!("x"), json!([]), json!({ "bench": [1, null, []] })] {
        let project =
            Project::default().package("a", "", &["b"]).raw_metadata("a", json!({ "benchgate": value }));
        assert!(!project.errors().is_empty());
    }
    for value in [json!(null), json!(5), json!("x"), json!([1]), json!({ "other": 1 })] {
        Project::default().package("a", "", &["b"]).raw_metadata("a", value).load();
    }
    let shapes =
        [json!(null), json!(true), json!(-1), json!(1e300), json!("x"), json!([null]), json!({ "x": {} })];
    for key in cargo_benchgate::suite::keys::KEYS {
        for shape in &shapes {
            for table in [
                json!({ key.name: shape }),
                json!({ "judge": { key.name: shape } }),
                json!({ "metrics": { "latency": { key.name: shape } } }),
                json!({ "bench": [{ key.name: shape }] }),
                json!({ "bench": [{ "work": { key.name: shape }, "budget": { "latency": { key.name: shape } } }] }),
            ] {
                let metadata = json!({ "benchgate": table });
                let project = Project::default().package("a", "", &["b"]).raw_metadata("a", metadata);
                let _ = project.load_with(&Selection::default(), &Overrides::default());
            }
        }
    }
}
