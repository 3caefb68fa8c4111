//! The text of docs/CONFIGURATION.md, made from the key table.

use super::keys::{KEYS, Key, Table};
use super::presets::{DEFAULT_PRESET, judge_of};
use super::settings::{JudgeSettings, Preset, Resamples};

const HEAD: &str = "\
<!-- Made from the key table in src/suite/keys.rs; `BENCHGATE_BLESS=1 cargo test --test suite_docs` writes it anew. -->

# Configuration

Without any configuration every bench target of the selected packages is measured with the defaults below. Tables in
Cargo.toml refine that:

```toml
[workspace.metadata.benchgate]            # for all packages
[package.metadata.benchgate]              # for one package
[[package.metadata.benchgate.bench]]      # an entry: for one target, or some of its benchmarks
```

## Which value wins

From weak to strong: the defaults, the workspace's table, the package's table, the matching entries without a `name` in
their order (those of the workspace's table first), the entry that made the variant, the command line. Tables are merged
key by key; lists are replaced. `samples` on one level retires `min_samples` and `max_samples` of the levels below, and the
other way round. `judge.preset` retires what the levels below say of the `judge` table.

The suite of head drives both revisions.

- *run-wide* keys come from the workspace's table, or from the package's when exactly one package is selected. Two
  different values are an error.
- An entry with a `name` makes a *variant*: a run of its own with its own settings. Entries with a name that cover a
  whole target replace the plain run of it; add an entry without a name for that target to keep both.
- `filter` and `skip` say which benchmarks an entry is about. They leave none out: that is done by `only_listed = true`,
  or by `--filter` and `--skip`.
- Naming a metric gates it unless `gate = false`, and asks for it: not measured is then a failure. A metric named for a
  workspace, a package, or all targets of it is asked for where the harness can measure it.

Unknown keys, values out of range and impossible limits are errors, all listed at once before anything is built.

## Units

- Durations: `\"500ms\"`, `\"1m30s\"`; units `ns us ms s m h` (or `µs`), from large to small, a whole number of nanoseconds.
- Sizes: `\"64KB\"`, `\"4MiB\"`; units `B KB MB GB TB` (thousands) and `KiB MiB GiB TiB` (1024), case matters, a whole
  number of bytes.
- Percentages: `10` or `\"10%\"`. Counts are whole numbers. Limits of your own metrics are plain numbers.
- Rates: `\"1000/s\"`, `\"200MB/s\"`, `\"1000 operations/s\"`, in the unit of `work`.
- A bare number for a duration or a size is an error.

## Placeholders

In `args`, the values of `env`, `cwd`, `stdin` and `work.file`: `${root}` is the package's root in the revision that runs,
`${head_root}` the one in head (for files both revisions share), `${workdir}` a directory of the benchmark in the revision that
runs, which is empty before every unit run (where `setup` names it, it keeps what is there), `${env:NAME}` a variable of the environment. `$${` is a literal `${`. A relative path is relative to the package's root in each revision.
";

const SECTIONS: [(Table, &str, &str); 10] = [
    (
        Table::Root,
        "The benchgate table",
        "`[workspace.metadata.benchgate]` and `[package.metadata.benchgate]`.",
    ),
    (Table::Judge, "`judge`", "How two sides are compared. The presets are below."),
    (
        Table::Metric,
        "`metrics.NAME`",
        "Compared metrics: `latency`, `cpu_total`, `peak_rss`, `instructions`, `allocations`, `allocated_bytes`, and your \
         own. `throughput` follows latency; `cpu_user`, `cpu_system` and `cpu_utilization` are reported and may have \
         budgets.",
    ),
    (
        Table::Entry,
        "`[[…bench]]` entries",
        "`[[package.metadata.benchgate.bench]]`, or `[[workspace.metadata.benchgate.bench]]` with `package`. The keys above \
         with the level *entry* may stand here, too.",
    ),
    (Table::Work, "`work` of an entry", "Either `file` or `value`."),
    (
        Table::Budget,
        "`budget.METRIC` of an entry",
        "Absolute limits on head, as in `budget.latency = { p95 = \"<= 500ms\", \"p99.9\" = \"<= 1s\" }`. Where less is \
         better the operator is `<` or `<=`, where more is better `>` or `>=`; `cpu_utilization` takes both.",
    ),
    (
        Table::Accept,
        "`[[…accept]]` entries",
        "`[[package.metadata.benchgate.accept]]` or `[[workspace.metadata.benchgate.accept]]`. A gated regression that an entry \
         is about does not fail the run: it is shown as accepted, with its reason and its last day. Beyond the ceiling or after that \
         day it fails again. All keys are needed. An entry that is about nothing in the run is a warning.",
    ),
    (
        Table::Summary,
        "`summary`",
        "How the run is summed up in a label and an impact, which never decide the exit status. docs/REPORTS.md says how they are made.",
    ),
    (
        Table::Tolerance,
        "`tolerance.METRIC`",
        "The practical tolerance of comparisons with the history (`history compare`); statuses and gates do not use it.",
    ),
    (Table::History, "`history`", "What the verbs of `history` read, without a flag that says otherwise."),
];

/// The whole page.
pub fn configuration_page() -> String {
    let mut page = HEAD.to_owned();
    for (table, title, text) in SECTIONS {
        page.push_str(&format!("\n## {title}\n\n{text}\n\n"));
        page.push_str("| key | value | default | where | |\n|---|---|---|---|---|\n");
        for key in KEYS.iter().filter(|key| key.table == table) {
            page.push_str(&row(key));
        }
        if table == Table::Judge {
            page.push_str(&presets());
        }
    }
    page
}

fn row(key: &Key) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    // The one default that is a constant of the code.
    let default = match (key.table, key.name) {
        (Table::Judge, "preset") => format!("\"{DEFAULT_PRESET}\""),
        _ => cell(key.default),
    };
    let doc = key.doc;
    format!("| `{}` | {} | {default} | {} | {} |\n", key.name, cell(key.kind), key.levels.as_str(), cell(doc))
}

fn presets() -> String {
    let all: Vec<JudgeSettings> = Preset::ALL.iter().map(|&preset| judge_of(preset)).collect();
    let line = |key: &str, value: &dyn Fn(&JudgeSettings) -> String| {
        let cells: Vec<_> = all.iter().map(value).collect();
        format!("| `{key}` | {} |\n", cells.join(" | "))
    };
    let names: Vec<_> = Preset::ALL.iter().map(|preset| format!("`{preset}`")).collect();
    let mut text = format!("\n| preset | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(all.len()));
    text.push_str(&line("method", &|judge| judge.method.to_string()));
    text.push_str(&line("statistic", &|judge| judge.statistic.to_string()));
    text.push_str(&line("pairing", &|judge| judge.pairing.to_string()));
    text.push_str(&line("interval", &|judge| judge.interval.to_string()));
    text.push_str(&line("resamples", &|judge| match judge.resamples {
        Resamples::Exact => "exact".to_owned(),
        Resamples::MonteCarlo(count) => count.to_string(),
    }));
    text.push_str(&line("confidence", &|judge| judge.confidence.to_string()));
    text.push_str(&line("max_cv", &|judge| judge.max_cv.to_string()));
    text.push_str(&line("stop", &|judge| judge.stop.to_string()));
    text.push_str(&line("correction", &|judge| judge.correction.to_string()));
    text.push_str(&line("min_samples", &|judge| judge.min_samples.to_string()));
    text
}
