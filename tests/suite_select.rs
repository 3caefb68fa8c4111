//! Which targets, variants and benchmarks a suite and a command line select.

#![allow(clippy::float_cmp, reason = "limits are read exactly, never computed")]

mod suite_support;

use cargo_benchgate::suite::identity::TargetKind;
use cargo_benchgate::suite::launch::HarnessChoice;
use cargo_benchgate::suite::{Overrides, Selection, SelectionError, Suite};
use suite_support::{Project, id, only};

fn names(suite: &Suite) -> Vec<String> {
    suite
        .targets()
        .iter()
        .flat_map(|plan| {
            plan.variants.iter().map(|v| {
                let sign = if v.variant.is_empty() { String::new() } else { format!("[{}]", v.variant) };
                format!("{}/{}/{}{sign}", plan.id.package, plan.id.kind, plan.id.target)
            })
        })
        .collect()
}

#[test]
fn an_entry_with_a_name_makes_a_variant_on_top_of_the_nameless_ones() {
    let suite = Project::default()
        .package(
            "a",
            r#"
            [[bench]]
            target = "b"
            name = "big"
            args = ["big"]
            [[bench]]
            target = "b"
            warmup = 3
            args = ["small"]
            "#,
            &["b"],
        )
        .load();
    assert_eq!(names(&suite), ["a/bench/b", "a/bench/b[big]"]);
    let big = only(&suite, "a", "b", "big", "b", "process");
    assert_eq!((big.settings.sampling.warmup, big.launch.args), (3, vec!["big".to_owned()]));
    let launches: Vec<_> = suite.targets()[0].variants.iter().map(|v| v.launch.args.clone()).collect();
    assert_eq!(launches, [["small"], ["big"]]);
}

#[test]
fn benchmarks_that_flags_leave_out_are_not_selected() {
    let project = Project::default().package("a", "", &["b", "c"]).package("z", "", &["b"]);
    let of = |selection: Selection| {
        let suite = project.select(&selection).expect("loads");
        [("a", "b", "json/1"), ("a", "c", "json/1"), ("a", "b", "xml/1"), ("z", "b", "json/1")]
            .map(|(package, target, benchmark)| suite.selects(&id(package, target), benchmark))
    };
    let list = |word: &str| vec![word.to_owned()];
    let a = || Selection { packages: list("a"), ..Default::default() };
    assert_eq!(of(a()), [true, true, true, false]);
    assert_eq!(of(Selection { benches: list("b"), ..a() }), [true, false, true, false]);
    assert_eq!(of(Selection { filters: list("json/*"), ..a() }), [true, true, false, false]);
    assert!(a().is_narrowed() && !Selection::default().is_narrowed());
}

#[test]
fn names_that_cover_a_whole_target_replace_its_plain_run() {
    let table = "[[bench]]\ntarget = \"b\"\nname = \"x\"\n[[bench]]\ntarget = \"b\"\nname = \"y\"\n\
                 [[bench]]\ntarget = \"c\"\nname = \"z\"\nfilter = [\"json/*\"]";
    let suite = Project::default().package("a", table, &["b", "c"]).load();
    assert_eq!(names(&suite), ["a/bench/b[x]", "a/bench/b[y]", "a/bench/c", "a/bench/c[z]"]);
    let z = |benchmark| suite.benchmark(&id("a", "c"), "z", benchmark, "criterion").expect("resolves");
    assert!(z("json/1").is_some() && z("xml/1").is_none());
}

#[test]
fn bins_and_examples_are_measured_when_named_as_processes() {
    let table = "[[bench]]\ntarget = \"cli\"\nkind = \"bin\"\nargs = [\"x\"]";
    let suite = Project::default().package("a", table, &["b"]).bin("a", "cli").bin("a", "other").load();
    assert_eq!(names(&suite), ["a/bench/b", "a/bin/cli"]);
    assert_eq!(suite.targets()[1].id.kind, TargetKind::Bin);
    assert_eq!(suite.targets()[1].variants[0].launch.harness, HarnessChoice::Process);
}

#[test]
fn only_listed_leaves_out_targets_and_benchmarks_no_entry_is_about() {
    let table =
        "only_listed = true\n[[bench]]\ntarget = \"b\"\nfilter = [\"json/*\"]\nskip = [\"json/slow*\"]";
    let suite = Project::default().package("a", table, &["b", "c"]).load();
    assert_eq!(names(&suite), ["a/bench/b"]);
    let has =
        |benchmark| suite.benchmark(&id("a", "b"), "", benchmark, "criterion").expect("resolves").is_some();
    assert!(has("json/a/b") && !has("json/slow/x") && !has("xml"));
}

#[test]
fn filter_flags_match_ids_and_labels() {
    let project = Project::default().package("a", "", &["b", "c"]);
    let selection = Selection {
        filters: vec!["json/*".to_owned(), "c/*".to_owned()],
        skips: vec!["*slow*".to_owned()],
        ..Default::default()
    };
    let suite = project.load_with(&selection, &Overrides::default()).expect("loads");
    let has = |target, benchmark| {
        suite.benchmark(&id("a", target), "", benchmark, "criterion").expect("resolves").is_some()
    };
    assert!(has("b", "json/1") && has("c", "anything"));
    assert!(!has("b", "xml/1") && !has("c", "slow") && !has("b", "json/slow"));
}

#[test]
fn text_after_two_dashes_is_a_part_of_the_id_alone_and_goes_with_the_other_filters() {
    let project = Project::default().package("a", "", &["b"]);
    let has = |containing: &[&str], skips: &[&str], benchmark| {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let selection =
            Selection { containing: texts(containing), skips: texts(skips), ..Default::default() };
        let suite = project.load_with(&selection, &Overrides::default()).expect("loads");
        suite.benchmark(&id("a", "b"), "", benchmark, "criterion").expect("resolves").is_some()
    };
    assert!(has(&["son/"], &[], "json/1") && !has(&["json/"], &[], "xml/1"));
    assert!(has(&["x", "json"], &[], "json/1"), "one of several is enough");
    assert!(has(&["[a*"], &[], "f[a*]") && !has(&["a*"], &[], "ab"), "it is no glob");
    assert!(!has(&["b"], &[], "json/1"), "the target's name is not part of the id");
    assert!(!has(&["json"], &["*1"], "json/1") && has(&[], &[], "xml/1"));
}

#[test]
fn unknown_targets_and_variants_have_no_benchmarks() {
    let suite = Project::default().package("a", "", &["b"]).load();
    let none =
        |target, variant| suite.benchmark(&id("a", target), variant, "x", "criterion").expect("resolves");
    assert_eq!(none("nope", ""), None);
    assert_eq!(none("b", "nope"), None);
}

fn three() -> Project {
    Project::default().package("core", "", &["parse"]).package("cli", "", &["start"]).package(
        "core-macros",
        "",
        &[],
    )
}

fn selected(selection: Selection) -> Result<Vec<String>, SelectionError> {
    three().select(&selection).map(|suite| names(&suite))
}

fn list(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn packages_are_selected_as_cargo_does() {
    let all = ["cli/bench/start", "core/bench/parse"];
    assert_eq!(selected(Selection::default()).expect("default members"), all);
    let workspace = Selection { workspace: true, exclude: list(&["cl*"]), ..Default::default() };
    assert_eq!(selected(workspace).expect("one is left"), ["core/bench/parse"]);
    let current = Selection { current_package: Some("cli".to_owned()), ..Default::default() };
    assert_eq!(selected(current).expect("the current one"), ["cli/bench/start"]);
    let named = Selection { packages: list(&["core@0.1.0"]), ..Default::default() };
    assert_eq!(selected(named).expect("by version"), ["core/bench/parse"]);
    let globbed = Selection { packages: list(&["c*"]), benches: list(&["st*"]), ..Default::default() };
    assert_eq!(selected(globbed).expect("by glob"), ["cli/bench/start"]);
    let project = three().default_members(&["cli"]);
    assert_eq!(names(&project.load()), ["cli/bench/start"]);
}

#[test]
fn a_selection_of_nothing_names_what_there_is() {
    let message = |selection| selected(selection).expect_err("nothing is selected").to_string();
    assert_eq!(
        message(Selection { packages: list(&["coer"]), ..Default::default() }),
        "no package of the workspace matches `coer`; did you mean `core`?"
    );
    assert_eq!(
        message(Selection { packages: list(&["zzz"]), ..Default::default() }),
        "no package of the workspace matches `zzz`; there is cli, core, core-macros"
    );
    assert_eq!(
        message(Selection { benches: list(&["prase"]), ..Default::default() }),
        "no bench target of the selected packages matches `prase`; did you mean `parse`?"
    );
    assert_eq!(
        message(Selection { packages: list(&["core-macros"]), ..Default::default() }),
        "package core-macros has no bench target; choose with -p from cli, core, or use --workspace"
    );
    assert_eq!(
        message(Selection { exclude: list(&["cli"]), ..Default::default() }),
        "--exclude only works together with --workspace; add --workspace, or choose packages with -p"
    );
    assert_eq!(
        message(Selection { workspace: true, exclude: list(&["*"]), ..Default::default() }),
        "--exclude leaves no package of the workspace; exclude fewer than cli, core, core-macros"
    );
    assert_eq!(
        message(Selection { filters: list(&["a{b"]), ..Default::default() }),
        "--filter \"a{b\" is not a valid pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"
    );
    let project = Project::default().package("a", "only_listed = true", &["b"]);
    assert_eq!(
        project.select(&Selection::default()).expect_err("none is listed").to_string(),
        "`only_listed = true` and no [[bench]] entry lists a target of the selected packages; targets there are b"
    );
}

#[test]
fn harness_candidates_follow_renames() {
    let suite = Project::default()
        .package("a", "", &["b"])
        .dependency("a", "codspeed-criterion-compat", Some("criterion"), "dev")
        .dependency("a", "divan", Some("timer"), "dev")
        .dependency("a", "bencher", None, "build")
        .load();
    assert_eq!(suite.targets()[0].harness_candidates, [HarnessChoice::Criterion, HarnessChoice::Divan]);
}

#[test]
fn the_list_has_a_row_for_each_variant_and_each_filtered_entry() {
    let table = r#"
        [[bench]]
        target = "b"
        filter = ["json/*"]
        metrics.latency = { max_percent = 5, min_difference = "2us" }
        [[bench]]
        target = "b"
        name = "cold"
        compare = false
        budget.latency.max = "<= 1m30s"
    "#;
    let project = Project::default().package("a", table, &["b"]).dependency("a", "criterion", None, "dev");
    let rows = project.load().list(|_| None);
    let short: Vec<_> =
        rows.iter().map(|r| (r.variant.as_str(), r.filter.join(" "), r.metrics.len())).collect();
    assert_eq!(short, [("", String::new(), 2), ("", "json/*".to_owned(), 2), ("cold", String::new(), 0)]);
    assert_eq!(rows[0].assumed_harness, HarnessChoice::Criterion);
    assert_eq!(rows[0].harness, HarnessChoice::Auto);
    assert_eq!(rows[1].metrics[0].max_percent, 5.0);
    assert_eq!(rows[1].metrics[0].min_difference.as_deref(), Some("2us"));
    assert_eq!(rows[2].budgets, ["latency max <= 1m30s"]);
}

#[test]
fn an_entry_that_changes_nothing_is_noted() {
    let suite =
        Project::default().package("a", "[[bench]]\ntarget = \"b\"\nskip = [\"slow\"]", &["b"]).load();
    assert_eq!(
        suite.notes,
        [
            "a/Cargo.toml: package.metadata.benchgate.bench[0] changes nothing: `filter` and `skip` say which benchmarks \
          an entry is about; to measure only these, set only_listed = true"
        ]
    );
}
