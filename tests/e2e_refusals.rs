//! What the command refuses before it builds anything: bad usage (3) and bad configuration (2).

#[path = "common/repository.rs"]
mod repository;
#[path = "e2e_support/mod.rs"]
mod support;

use repository::need_git;
use support::{Playground, finish};

#[test]
fn no_git_repository_is_named_with_the_way_out() {
    need_git!();
    let playground = Playground::empty();
    playground.add_crate("probe", "../plain");
    let ran = playground.run_in(&playground.repository.beside("plain"), &[]);
    ran.ends(3, &["no git repository at or above", "plain", "'git init'"]).built_nothing();
}

#[test]
fn repository_without_commits_is_named() {
    need_git!();
    let playground = Playground::empty();
    playground.add_crate("probe", "");
    playground.run(&[]).ends(3, &["has no commit yet", "commit something first"]).built_nothing();
}

#[test]
fn unknown_base_is_told_with_the_nearest_names() {
    need_git!();
    let playground = Playground::probe();
    playground.repository.git(&["branch", "release-2"]);
    for args in [["--base", "relase-2"], ["--head", "relase-2"]] {
        playground.run(&args).ends(3, &["'relase-2'", "release-2"]).built_nothing();
    }
    playground.run(&["--base", ""]).ends(3, &["revision \"\" cannot be used"]);
    playground.configure("[package.metadata.benchgate]\nbase = \"nowhere\"");
    playground.run(&[]).ends(3, &["'nowhere'"]).built_nothing();
}

#[test]
fn base_outside_of_a_shallow_clone_names_the_fetch_to_type() {
    need_git!();
    let playground = Playground::probe();
    playground.step_ms(5);
    let first = playground.repository.id("HEAD");
    playground.repository.commit("second");
    let clone = playground.repository.clone_to("clone", &["--depth", "1"]);
    for args in [&["--base", first.as_str()][..], &["--base", "HEAD~1"], &[]] {
        let ran = playground.run_in(&clone, args);
        ran.ends(3, &["shallow", "fetch-depth: 0", "git fetch"]).built_nothing();
    }
}

#[test]
fn package_without_bench_target_is_told_how_to_get_one() {
    need_git!();
    let playground = Playground::probe();
    playground.write(
        "Cargo.toml",
        "[package]\nname = \"probe\"\nversion = \"0.1.0\"\nedition = \"2021\"\nautobenches = false\n",
    );
    playground.run(&[]).ends(3, &["bench target", "[[bench]]"]).built_nothing();
    playground.run(&["list"]).ends(3, &["bench target"]);
}

#[test]
fn virtual_workspace_without_a_bench_is_told_the_same() {
    need_git!();
    let playground = Playground::empty();
    playground.write("Cargo.toml", "[workspace]\nmembers = [\"a\"]\nresolver = \"2\"\n");
    playground.write("a/Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    playground.write("a/src/lib.rs", "");
    playground.repository.commit("first");
    playground.run(&[]).ends(3, &["bench target"]).built_nothing();
}

#[test]
fn selection_of_nothing_names_what_there_is() {
    need_git!();
    let playground = Playground::probe();
    playground.run(&["--bench", "tol"]).ends(3, &["tol", "tool"]).built_nothing();
    playground.run(&["-p", "prob"]).ends(3, &["prob", "probe"]).built_nothing();
    playground.run(&["--filter", "["]).ends(3, &["["]).built_nothing();
    // Which benchmarks a program has is known only once it is built.
    let ran = playground.quick(&["--filter", "nothing/*"]);
    ran.ends(3, &["the filters leave out", "--filter"]);
    assert!(!ran.stderr.contains("Measuring"), "{ran}");
}

#[test]
fn missing_manifest_is_named_whether_or_not_its_directory_exists() {
    need_git!();
    let playground = Playground::probe();
    for path in ["nowhere/Cargo.toml", "Cargo.tml", "src"] {
        playground.run(&["--manifest-path", path]).ends(3, &[path, "--manifest-path"]).built_nothing();
    }
    let empty = playground.repository.beside("void");
    std::fs::create_dir(&empty).expect("it is new");
    playground.run_in(&empty, &["list"]).ends(3, &["there is no Cargo.toml in", "--manifest-path"]);
}

#[test]
fn manifest_that_cargo_cannot_read_is_a_configuration_error_in_cargos_words() {
    need_git!();
    let playground = Playground::probe();
    playground.write("Cargo.toml", "[package]\nname = \n");
    playground.run(&[]).ends(2, &["Cargo.toml"]).says("name =").built_nothing();
    playground.write("Cargo.toml", "[package]\nname = \"probe\"\nversion = \"x.y\"\n");
    playground.run(&[]).ends(2, &["Cargo.toml"]).built_nothing();
}

#[test]
fn all_mistakes_of_the_tables_are_told_at_once() {
    need_git!();
    let playground = Playground::probe();
    playground.configure(
        "[package.metadata.benchgate]\nmin_sampels = 3\nmax_time = 10\n[package.metadata.benchgate.metrics]\nlatency = { max_percent = 0 }\n\
         [[package.metadata.benchgate.bench]]\ntarget = \"tol\"\n[package.metadata.benchgate.judge]\nmethod = \"guess\"",
    );
    for args in [&[][..], &["list"], &["--dry-run"], &["run"]] {
        let ran = playground.run(args);
        ran.ends(2, &["5 errors"]).built_nothing();
        for part in ["min_sampels", "min_samples", "max_time", "max_percent", "tol", "tool", "guess"] {
            ran.says(part);
        }
    }
}

#[test]
fn unwritable_report_is_noticed_before_anything_is_built() {
    need_git!();
    let playground = Playground::probe();
    playground.write("occupied/file", "");
    for path in ["no/such/dir/report.json", "occupied", "occupied/file/report.json"] {
        let format = format!("json={path}");
        playground.quick(&["--format", &format]).ends(4, &[path]).built_nothing();
    }
    // Nothing is made for looking whether it can be.
    let format = format!("json={}", playground.repository.beside("report.json").display());
    playground.run(&["--dry-run", "--format", &format]).ends(0, &[]);
    assert!(!playground.repository.beside("report.json").exists());
}

#[test]
fn words_of_the_command_line_are_checked_with_the_nearest_right_one() {
    need_git!();
    let playground = Playground::probe();
    let cases: &[(&[&str], &[&str])] = &[
        (&["--format", "jsn"], &["`jsn`", "json"]),
        (&["--format", "json", "--format", "csv"], &["stdout"]),
        (&["--format", "json="], &["no path"]),
        (&["--sampels", "3"], &["--sampels", "--samples"]),
        (&["--samples", "x"], &["'x'", "--samples"]),
        (&["--samples", "10", "--min-samples", "10"], &["--samples", "--min-samples"]),
        (&["--preset", "fixd"], &["fixd", "fixed"]),
        (&["--also-fail-on", "removd"], &["removd", "removed"]),
        (&["--max-percent", "0"], &["--max-percent 0"]),
        (&["--max-percent", "NaN"], &["--max-percent NaN"]),
        (&["--timeout", "5"], &["--timeout 5"]),
        (&["--metric", "latncy"], &["latncy", "latency"]),
        (&["--exclude", "probe"], &["--workspace"]),
        (&["--seed", "9007199254740992"], &["--seed"]),
        (&["comparre"], &["comparre"]),
        (&["cache"], &["a command is missing"]),
        (&["judge"], &["FILE"]),
        (&["judge", "nowhere.json"], &["nowhere.json"]),
        (&["report", "Cargo.toml"], &["Cargo.toml"]),
        (&["judge", "Cargo.toml"], &["Cargo.toml"]),
        (&["--color", "sometimes"], &["sometimes"]),
        (&["-q", "-v"], &["--quiet", "--verbose"]),
        (&["--", "--save-baseline", "x"], &["--save-baseline", "only text that ids contain"]),
    ];
    for (args, parts) in cases {
        playground.run(args).ends(3, parts).built_nothing();
    }
}

#[test]
fn cache_inside_the_repository_is_refused() {
    need_git!();
    let playground = Playground::probe();
    playground.run(&["--target-dir", "target"]).ends(3, &["inside the repository"]).built_nothing();
    let link = playground.repository.beside("link");
    std::os::unix::fs::symlink(playground.root(), &link).expect("links can be made");
    let inside = link.join("cache");
    playground
        .run(&["--target-dir", inside.to_str().expect("temporary paths are UTF-8")])
        .ends(3, &["inside the repository"])
        .built_nothing();
    let mut command = playground.command_in(playground.root());
    finish(command.env("BENCHGATE_CACHE_DIR", "cache")).ends(3, &["inside the repository"]).built_nothing();
    assert_eq!(playground.repository.git(&["status", "--porcelain"]), "", "nothing was made there");
}

#[test]
fn bare_repository_has_no_working_tree_to_measure() {
    need_git!();
    let playground = Playground::probe();
    let bare = playground.repository.clone_to("bare", &["--bare"]);
    let mut command = playground.command_in(playground.root());
    command.env("GIT_DIR", &bare).env("GIT_WORK_TREE", playground.repository.beside("home"));
    finish(&mut command).ends(3, &["lies outside the repository"]).built_nothing();
}
