//! No text from a benchmark, its output, or a revision does anything to a format: no markup, no command, no formula.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod report_support;

use cargo_benchgate::report::csv::csv;
use cargo_benchgate::report::exports::{action_benchmark, bencher};
use cargo_benchgate::report::html::html;
use cargo_benchgate::report::json::{json, read_json};
use cargo_benchgate::report::junit::junit;
use cargo_benchgate::report::markdown::{self, END, LIMIT, START};
use cargo_benchgate::report::model::Report;
use cargo_benchgate::report::samples_csv::samples_csv;
use cargo_benchgate::report::terminal::{Options, terminal};
use cargo_benchgate::report::{assemble, github};
use cargo_benchgate::suite::metric::{Metric, Unit};
use cargo_benchgate::summary::{SummarySettings, overall};
use cargo_benchgate::verdict::evidence::{BenchmarkError, ErrorKind, Presence};
use cargo_benchgate::verdict::outcome::{BenchResult, Comparison, Exit, Summary, Verdict};
use proptest::prelude::*;
use serde_json::Value;

use report_support::*;

/// What has broken formats before.
const FRAGMENTS: [&str; 40] = [
    "\u{1b}[31m",
    "\u{1b}]0;t\u{7}",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "|",
    "\\|",
    "`",
    "```",
    "\\",
    "<script>alert(1)</script>",
    "</script>",
    "</style>",
    "</textarea>",
    "<!--",
    "-->",
    "<!-- benchgate:end -->",
    "<!-- benchgate:start -->",
    "]]>",
    "::error::",
    "::set-output name=a::b",
    "##[error]",
    "=cmd|' /C calc'!A0",
    "@user",
    "#12",
    "&lt;",
    "&#0;",
    "\"",
    "'",
    "onload=x",
    "\u{202e}",
    "\u{2028}",
    "\u{feff}",
    "\u{fffe}",
    "🦀",
    "${x}$(y)",
    "[a](https://b)",
    "https://c",
    "*_~",
];

fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(FRAGMENTS.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z /]{1,8}",
    ];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

/// A report that holds the text wherever text from outside may stand.
fn report_of(text: &str) -> Report {
    let own = Metric::from_name(&format!("own{text}"));
    let unit = Unit::from_name(text);
    let mut slow = slower();
    slow.unit = unit.clone();
    slow.metric = own.clone();
    let open = comparison(Metric::Latency, Verdict::Inconclusive, None);
    let mut all = Vec::new();
    for (at, comparisons) in
        [vec![slow.clone()], vec![open], vec![Comparison { gate: false, ..slow }]].into_iter().enumerate()
    {
        let mut identity = identity(&format!("{text}{at}"), text);
        identity.target.package = text.into();
        identity.variant = text.into();
        let mut made = evidence(identity, vec![side("base", &[1.0, 2.0]), side("head", &[3.0, 4.0])]);
        made.harness = text.into();
        let mut judged = judged(BenchResult::Regression, comparisons, vec![]);
        judged.group = text.into();
        judged.statistics = vec![statistics(1.0), statistics(2.0)];
        let mut named = judged.statistics[1][&Metric::Latency].clone();
        named.unit = unit.clone();
        judged.statistics[1].insert(own.clone(), named);
        all.push((made, judged));
    }
    let mut broken = evidence(identity(text, "broken"), vec![]);
    broken.error = Some(BenchmarkError {
        kind: ErrorKind::Output,
        message: format!("{text}\n{text}"),
        stderr: Some(format!("{text}\n```\n{text}")),
    });
    all.push((broken, judged(BenchResult::Error, vec![], vec![])));
    let mut moved = evidence(identity(text, "moved"), vec![]);
    moved.presence = Presence::NotComparable;
    moved.presence_note = Some(text.into());
    all.push((moved, judged(BenchResult::Pass, vec![], vec![])));
    let (evidence, judged): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let summary = Summary {
        benchmarks: 5,
        error: 1,
        overall: overall(&evidence, &judged, SummarySettings::default()),
        ..Summary::default()
    };
    let mut header = header();
    header.warnings.push(text.into());
    for revision in &mut header.revisions {
        revision.spec = text.into();
        revision.subject = Some(text.into());
        revision.chosen_because = Some(text.into());
    }
    header.toolchain.as_mut().unwrap().rustc = text.into();
    header.machine.as_mut().unwrap().cpu_model = Some(text.into());
    let exit = Exit { code: 4, because: Some(text.into()), without_no_fail: None };
    assemble(header, evidence, judged, summary, exit)
}

fn is_harmless(text: &str) {
    let bad = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2028}\u{feff}".contains(c));
    assert!(!text.contains(bad), "{text:?}");
}

/// No line is a command to the runner of a workflow.
fn has_no_command(text: &str) {
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{line}");
    }
}

/// The tags of a text, as `script`, `/script`; every `<` must start one.
fn tags(text: &str) -> Vec<String> {
    let tag = |part: &str| part.split(['>', ' ', '\n']).next().unwrap_or("").to_owned();
    text.split('<').skip(1).map(tag).collect()
}

fn markdown_is_harmless(text: &str) {
    is_harmless(text);
    has_no_command(text);
    assert_eq!((text.matches(START).count(), text.matches(END).count()), (1, 1), "{text}");
    assert!(text.starts_with(START) && text.trim_end().ends_with(END));
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|&c| c == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            Some(open) => assert!(ticks.len() < open.len(), "{line}"),
            None if 3 <= ticks.len() => {
                assert!(matches!(line.trim_start_matches('`'), "sh" | "text"), "{line}");
                fence = Some(ticks);
            }
            None => {
                let plain = ["\\\\", "\\`", "\\]"]
                    .iter()
                    .fold(line.to_owned(), |text, escaped| text.replace(escaped, ""));
                let outside: String = plain.split('`').step_by(2).collect::<Vec<_>>().join("x");
                if line.starts_with("| ") {
                    assert_eq!(line.matches('|').count(), 8, "{line}");
                }
                for tag in tags(&outside) {
                    let known = ["details", "/details", "summary", "/summary", "code", "/code", "!--"];
                    assert!(known.contains(&tag.as_str()), "{tag}: {line}");
                }
                assert!(
                    !outside.contains("@u") && !outside.contains("https:/") && !outside.contains("]("),
                    "{line}"
                );
            }
        }
    }
    assert!(fence.is_none());
}

fn html_is_harmless(page: &str) {
    is_harmless(page);
    let (before, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, script) = rest.split_once("</script>\n<script>").unwrap();
    let _: Vec<Value> = serde_json::from_str(data).unwrap();
    assert!(!data.contains('<'));
    assert_eq!(script.matches("</script").count(), 1);
    let body = before.split_once("</style>").unwrap().1;
    let known = [
        "/head",
        "body",
        "main",
        "header",
        "h1",
        "/h1",
        "p",
        "/p",
        "/header",
        "ul",
        "/ul",
        "li",
        "/li",
        "details",
        "/details",
        "summary",
        "/summary",
        "code",
        "/code",
        "strong",
        "/strong",
        "pre",
        "/pre",
        "div",
        "/div",
        "label",
        "/label",
        "input",
        "select",
        "/select",
        "option",
        "/option",
        "span",
        "/span",
        "table",
        "/table",
        "caption",
        "/caption",
        "thead",
        "/thead",
        "tbody",
        "/tbody",
        "tr",
        "/tr",
        "th",
        "/th",
        "td",
        "/td",
        "button",
        "/button",
        "svg",
        "/svg",
        "line",
        "rect",
        "circle",
        "text",
        "/text",
        "noscript",
        "/noscript",
        "h2",
        "/h2",
        "/main",
    ];
    for tag in tags(body) {
        assert!(known.contains(&tag.as_str()), "{tag}");
    }
    for inside in body.split('<').filter_map(|part| part.split('>').next()) {
        let attributes = inside.split('"').step_by(2).skip(1);
        assert!(attributes.clone().all(|it| !it.contains('\'')), "{inside}");
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        assert!(inside.split('"').step_by(2).all(|name| !name.trim_start().starts_with("on")), "{inside}");
    }
}

/// Tags are balanced, and `&` starts an entity.
fn xml_is_well_formed(text: &str) {
    is_harmless(text);
    assert!(!text.contains(['\u{fffe}', '\u{ffff}']));
    let body = text.split_once("?>").unwrap().1;
    let mut open = Vec::new();
    for part in body.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap();
        let name = tag.split(' ').next().unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{text}"),
            None if tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty());
    for entity in body.split('&').skip(1) {
        assert!(["lt;", "gt;", "amp;", "quot;", "#39;"].iter().any(|it| entity.starts_with(it)), "{entity}");
    }
}

fn all_are_harmless(report: &Report) {
    for verbose in [false, true] {
        for width in [None, Some(40)] {
            let text = terminal(report, Options { color: false, width, verbose });
            is_harmless(&text);
            has_no_command(&text);
        }
    }
    markdown_is_harmless(&markdown::report(report, LIMIT));
    html_is_harmless(&html(report));
    xml_is_well_formed(&junit(report));
    let annotations = github::annotations(report);
    is_harmless(&annotations);
    assert!(annotations.lines().count() <= 20);
    for line in annotations.lines() {
        let title = line.strip_prefix("::error title=").or(line.strip_prefix("::warning title=")).unwrap();
        let (title, _) = title.split_once("::").unwrap();
        assert!(!title.contains([',', ':']) && !line.contains("##["), "{line}");
    }
    let outputs = github::outputs(report);
    is_harmless(&outputs);
    assert_eq!(outputs.lines().count(), 14);
    assert!(outputs.lines().all(|line| {
        line.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    }));
    let table = csv(report);
    is_harmless(&table);
    has_no_command(&table);
    for record in csv::Reader::from_reader(table.as_bytes()).records() {
        for cell in &record.unwrap() {
            let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert!(!formula || cell.parse::<f64>().is_ok(), "{cell}");
        }
    }
    for record in csv::Reader::from_reader(samples_csv(report).as_bytes()).records() {
        assert!(record.unwrap().iter().all(|cell| !cell.starts_with(['=', '+', '@'])));
    }
    for text in [bencher(report), action_benchmark(report)] {
        is_harmless(&text);
        let _: Value = serde_json::from_str(&text).unwrap();
    }
    assert_eq!(read_json(json(report).as_bytes()).unwrap(), *report);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_a_format(text in hostile()) {
        all_are_harmless(&report_of(&text));
    }
}

#[test]
fn single_fragments_break_no_format() {
    for fragment in FRAGMENTS {
        all_are_harmless(&report_of(fragment));
    }
    all_are_harmless(&report_of(""));
    all_are_harmless(&report_of(&"long ".repeat(4000)));
    all_are_harmless(&nasty());
}

#[test]
fn the_checks_themselves_notice_what_is_not_escaped() {
    let caught = |check: fn(&str), text: &str| std::panic::catch_unwind(|| check(text)).is_err();
    let good = format!("{START}\n| a | b | c | d | e | f | g |\n{END}\n");
    markdown_is_harmless(&good);
    assert!(caught(markdown_is_harmless, &good.replace("| b", "| <b>")));
    assert!(caught(markdown_is_harmless, &good.replace("| b", "| | b")));
    assert!(caught(has_no_command, "a\n ::error::x"));
    assert!(caught(is_harmless, "\u{1b}"));
    let page = html(&whole());
    assert!(caught(html_is_harmless, &page.replace("<h1>", "<h1><img src=x>")));
    assert!(caught(xml_is_well_formed, &junit(&whole()).replace("</testsuite>", "")));
}

#[test]
fn five_thousand_rows_stay_within_the_limits_of_each_format() {
    let sides = || vec![side("base", &[1.0, 2.0]), side("head", &[3.0, 4.0])];
    let (evidence, judged): (Vec<_>, Vec<_>) = (0..5000)
        .map(|at| {
            let id = format!("{}/{at}", "long name ".repeat(10));
            (evidence(identity("t", &id), sides()), judged(BenchResult::Regression, vec![slower()], vec![]))
        })
        .unzip();
    let exit = Exit {
        code: 1,
        because: Some("5000 regressions: a, b, c and 4997 more".into()),
        without_no_fail: None,
    };
    let summary = Summary { benchmarks: 5000, regression: 5000, ..Summary::default() };
    let report = assemble(header(), evidence, judged, summary, exit);
    let text = markdown::report(&report, LIMIT);
    assert!(text.len() <= LIMIT && LIMIT * 9 / 10 < text.len(), "{}", text.len());
    markdown_is_harmless(&text);
    let shown = text.lines().filter(|line| line.starts_with("| ❌")).count();
    assert!(text.contains(&format!("{} more rows like these do not fit here", 5000 - shown)));
    let annotations = github::annotations(&report);
    assert_eq!(annotations.lines().count(), 10);
    assert!(annotations.contains("4991 more like these"));
    assert_eq!(html(&report).matches("<tr class=\"failing\"").count(), 5000);
    assert_eq!(junit(&report).matches("<failure").count(), 5000);
    assert_eq!(csv(&report).lines().count(), 5001);
    assert_eq!(
        terminal(&report, Options::default()).matches("REGRESSION").count(),
        5000,
        "failing rows are never folded"
    );
}

#[test]
fn markdown_stays_below_its_limit_whatever_is_long() {
    let long = "x".repeat(100_000);
    for text in [long.as_str(), &"é|".repeat(50_000), &"a\n".repeat(50_000)] {
        let report = report_of(text);
        let markdown = markdown::report(&report, LIMIT);
        assert!(markdown.len() <= LIMIT, "{}", markdown.len());
        markdown_is_harmless(&markdown);
    }
}
