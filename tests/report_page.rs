//! The HTML report in a real browser: no errors on its console, rows that sort, filter and open, and a quick start.
//! Skips, saying so, where there is no Chromium.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says why it skips")]

mod report_support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cargo_benchgate::report::html::html;
use cargo_benchgate::report::model::Report;

use report_support::generate::{Draw, absent, benchmark, broken, judged_report};

fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).flat_map(|directory| names.map(|name| directory.join(name)));
    let found = all.into_iter().find(|program| program.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium on this machine");
    }
    found
}

/// A page with a script of the test behind its own, that writes what it saw into the title.
fn with_script(page: &str, script: &str) -> String {
    // The page's policy lets its own script run alone.
    let (before, policy) = page.split_once("'sha256-").unwrap();
    let page = format!("{before}'unsafe-inline'{}", policy.split_once('\'').unwrap().1);
    page.replace("</body>", &format!("<script>\n{script}\n</script>\n</body>"))
}

struct Seen {
    title: String,
    log: String,
    seconds: f64,
}

/// Opens a page and gives what its title is in the end, with what the browser logged.
fn open(browser: &Path, page: &str, name: &str) -> Option<Seen> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, page).unwrap();
    let started = Instant::now();
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(folder.path().join("out")).unwrap())
        .stderr(std::fs::File::create(folder.path().join("err")).unwrap())
        .spawn()
        .unwrap();
    while child.try_wait().unwrap().is_none() {
        if Duration::from_secs(120) < started.elapsed() {
            let _ = child.kill();
            let _ = child.wait();
            eprintln!("skipped: the browser did not end within two minutes");
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let seconds = started.elapsed().as_secs_f64();
    let read =
        |name: &str| String::from_utf8_lossy(&std::fs::read(folder.path().join(name)).unwrap()).into_owned();
    let (dom, log) = (read("out"), read("err"));
    if !dom.contains("</html>") {
        eprintln!("skipped: the browser shows no page here: {log}");
        return None;
    }
    let title = dom.split("<title>").nth(1)?.split("</title>").next()?.to_owned();
    let log = log.lines().filter(|line| line.contains("CONSOLE")).collect::<Vec<_>>().join("\n");
    Some(Seen { title, log, seconds })
}

/// Benchmarks of every kind, some with a change.
fn sample(count: usize) -> Report {
    let mut draw = Draw::new(20);
    let mut all: Vec<_> = (0..count)
        .map(|at| {
            let factor = [1.0, 1.02, 0.8, 1.3][if at % 7 == 0 { at % 4 } else { 0 }];
            let id = format!("{}/case {at}", ["parse", "emit", "index"][at % 3]);
            benchmark(&mut draw, "codec", &id, 900.0 * (1.0 + at as f64), factor, 0.02)
        })
        .collect();
    all.push(broken(
        "codec",
        "parse/crash",
        cargo_benchgate::verdict::evidence::ErrorKind::ExitCode,
        "it ended with exit code 101",
        "thread 'main' panicked at <script>alert(1)</script>",
    ));
    all.push(absent(&mut draw, "codec", "emit/new", cargo_benchgate::verdict::evidence::Presence::New));
    judged_report(all)
}

/// Writes pages to look at, where the environment names a directory for them.
#[test]
fn pages_are_written_for_people_who_ask() {
    let Some(directory) = std::env::var_os("BENCHGATE_PAGES") else { return };
    for count in [12, 500] {
        let path = Path::new(&directory).join(format!("page-{count}.html"));
        std::fs::write(path, html(&sample(count))).unwrap();
    }
}

#[test]
fn page_has_no_errors_and_its_own_policy_lets_its_script_run() {
    let Some(browser) = browser() else { return };
    let page = html(&sample(12));
    // The script makes the filters visible; without it they stay hidden.
    assert!(page.contains("<div class=\"filters\" hidden"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.html"), &page).unwrap();
    let Some(seen) = open(&browser, &page, "page.html") else { return };
    assert!(seen.title.starts_with("benchgate: gate undecided"), "{}", seen.title);
    assert_eq!(seen.log, "", "the console is empty");
}

#[test]
fn rows_sort_filter_and_open_by_what_a_reader_clicks() {
    let Some(browser) = browser() else { return };
    let script = r##"
        const seen = [];
        const rows = () => Array.from(document.querySelectorAll("#rows tbody tr:not(.detail)"));
        const heading = (at) => document.querySelectorAll("#rows th button")[at];
        const visible = () => rows().filter((row) => !row.hidden);
        const numbers = () => rows().map((row) => row.cells[5].dataset.value).filter((it) => it !== "").map(Number);
        const rises = (all) => all.every((it, at) => at === 0 || all[at - 1] <= it);
        seen.push("filters " + !document.querySelector(".filters").hidden, "all " + visible().length);
        heading(5).click();
        seen.push("up " + rises(numbers()), "sort " + document.querySelectorAll("th")[5].getAttribute("aria-sort"));
        seen.push("last " + (rows().at(-1).cells[5].dataset.value === ""));
        heading(5).click();
        seen.push("down " + rises(numbers().reverse()), "still last " + (rows().at(-1).cells[5].dataset.value === ""));
        heading(1).click();
        const names = rows().map((row) => row.cells[1].textContent);
        seen.push("natural " + (names.indexOf("codec/emit/case 4") < names.indexOf("codec/emit/case 10")));
        const set = (id, value) => { const it = document.getElementById(id); it.value = value; it.dispatchEvent(new Event("input")); };
        set("text", "EMIT case"); seen.push("text " + visible().length);
        set("text", ""); set("kind", "broken failing");
        seen.push("kind " + visible().every((row) => ["broken", "failing"].includes(row.dataset.kind)), "some " + (0 < visible().length));
        set("kind", ""); set("group", "=index"); seen.push("group " + visible().every((row) => row.dataset.group === "index"));
        set("group", ""); seen.push("again " + visible().length);
        const button = document.querySelector("#rows tbody button");
        button.focus(); seen.push("focus " + (document.activeElement === button));
        button.click();
        const detail = button.closest("tr").nextElementSibling;
        seen.push("svg " + detail.querySelectorAll("svg").length, "open " + button.getAttribute("aria-expanded"));
        seen.push("points " + detail.querySelectorAll("circle, path").length, "labels " + Array.from(detail.querySelectorAll("svg")).every((it) => it.getAttribute("aria-label")));
        seen.push("numbers " + !/NaN|undefined|Infinity/.test(detail.innerHTML));
        button.click(); seen.push("closed " + detail.hidden);
        document.title = seen.join(", ");
    "##;
    let Some(seen) = open(&browser, &with_script(&html(&sample(12)), script), "page.html") else { return };
    let facts: Vec<&str> = seen.title.split(", ").collect();
    let expected = [
        "filters true",
        "all 14",
        "up true",
        "sort ascending",
        "last true",
        "down true",
        "still last true",
        "natural true",
        "text 4",
        "kind true",
        "some true",
        "group true",
        "again 14",
        "focus true",
        "svg 3",
        "open true",
    ];
    assert_eq!(facts[..expected.len()], expected, "{}", seen.log);
    assert_eq!(facts[expected.len() + 1..], ["labels true", "numbers true", "closed true"], "{}", seen.title);
    assert_eq!(seen.log, "");
}

#[test]
fn page_of_500_benchmarks_is_small_and_all_its_plots_can_be_drawn() {
    let page = html(&sample(500));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        let used = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!used.contains(outside), "{outside}");
    }
    let Some(browser) = browser() else { return };
    let script = r##"
        document.querySelectorAll("#rows tbody button").forEach((button) => button.click());
        const drawn = document.querySelectorAll("tr.detail svg").length;
        const { domContentLoadedEventEnd: end, responseStart: start } = performance.getEntriesByType("navigation")[0];
        document.title = `${drawn} ${document.querySelectorAll("#rows tbody tr:not(.detail)").length}`;
    "##;
    let Some(plain) = open(&browser, &page, "plain.html") else { return };
    eprintln!(
        "500 benchmarks, {} KB: the browser starts, opens the page and ends in {:.2} s",
        page.len() / 1000,
        plain.seconds
    );
    assert_eq!(plain.log, "");
    let Some(seen) = open(&browser, &with_script(&page, script), "page.html") else { return };
    assert_eq!((seen.title.as_str(), seen.log.as_str()), ("1500 502", ""));
}
