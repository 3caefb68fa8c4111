//! Every key of the benchgate tables: where it may stand, what it is, what it does.

/// A table of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `[workspace.metadata.benchgate]` or `[package.metadata.benchgate]`.
    Root,
    /// `judge`.
    Judge,
    /// `metrics.NAME`.
    Metric,
    /// A `[[…bench]]` entry.
    Entry,
    /// `budget.METRIC` of an entry; its keys are aggregations.
    Budget,
    /// `work` of an entry.
    Work,
    /// An `[[…accept]]` entry.
    Accept,
    /// `summary`.
    Summary,
    /// `tolerance.METRIC`.
    Tolerance,
    /// `history`.
    History,
}

/// The level a table belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The workspace's table.
    Workspace,
    /// A package's table.
    Package,
    /// A `[[…bench]]` entry of either.
    Entry,
}

/// The levels a key may be written at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Levels {
    /// Once for the whole run: the workspace, or the package when exactly one is selected.
    Run,
    /// The workspace and the package.
    Tables,
    /// The workspace, the package and an entry.
    All,
    /// An entry only.
    Entry,
}

impl Levels {
    /// Whether a key of these levels may stand at that one.
    pub fn allow(self, level: Level) -> bool {
        match self {
            Self::Run | Self::Tables => level != Level::Entry,
            Self::All => true,
            Self::Entry => level == Level::Entry,
        }
    }

    /// The words of the documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run-wide",
            Self::Tables => "workspace, package",
            Self::All => "workspace, package, entry",
            Self::Entry => "entry",
        }
    }
}

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The table it stands in.
    pub table: Table,
    /// Its name; `NAME`, `METRIC` and `pN` stand for what the user writes.
    pub name: &'static str,
    /// What is written behind the `=`.
    pub kind: &'static str,
    /// What holds when nothing is written.
    pub default: &'static str,
    /// Where it may be written.
    pub levels: Levels,
    /// What it does.
    pub doc: &'static str,
}

const fn key(
    table: Table,
    levels: Levels,
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Key {
    Key { table, name, kind, default, levels, doc }
}

use Levels::{All, Entry as InEntry, Run, Tables};
use Table::{Accept, Budget, Entry, History, Judge, Metric, Root, Summary, Tolerance, Work};

/// All keys, in the order the documentation lists them.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key(Root, Run, "base", "revision", "chosen from the repository", "What head is compared with."),
    key(Root, Run, "max_time", "duration", "no limit", "Limit of the whole measuring phase, at most 168h."),
    key(Root, Run, "also_fail_on", "list of words", "[]", "What fails the run beside a regression and an exceeded budget: `inconclusive`, `removed`, `skipped`."),
    key(Root, Run, "allow_partial", "true or false", "false", "Accept that `max_time` leaves benchmarks out; otherwise these end the run with status 6."),
    key(Root, Run, "only_listed", "true or false", "false", "Measure only what a `[[bench]]` entry lists."),
    key(Root, Run, "profile", "text", "\"bench\"", "The cargo profile of both sides."),
    key(Root, Run, "features", "list of text", "[]", "Features both sides are built with."),
    key(Root, Run, "target", "text", "the host", "The target triple both sides are built for."),
    key(Root, Run, "snapshot_include", "list of globs", "[]", "Ignored files that are part of a head taken from the working tree, relative to the repository's root."),
    key(Root, Run, "toolchain", "text", "the one that is active", "The rustup toolchain that builds all revisions, such as `\"nightly\"`, which benches of the built-in harness need."),
    key(Root, Run, "profile_from", "`each` or `head`", "\"each\"", "Whose profile settings the revisions are built with: `each` its own, or head's for all."),
    key(Root, All, "warmup", "whole number, 0 to 10000", "1", "Unit runs a revision that are thrown away first."),
    key(Root, All, "min_samples", "whole number, 2 to 100000", "10 in preset `fixed`, else 8", "Unit runs a side before anything is judged."),
    key(Root, All, "max_samples", "whole number, 2 to 100000", "60", "Unit runs a side at which measuring ends whatever the data say. An odd number is rounded up."),
    key(Root, All, "samples", "whole number, 2 to 100000", "adaptive", "A fixed number of unit runs a side, in place of `min_samples` and `max_samples`. An odd number is rounded up, since a round holds two runs of every revision."),
    key(Root, All, "min_time", "duration", "\"0s\"", "Adaptive runs go on for at least this much measured time a revision, at most 24h."),
    key(Root, All, "timeout", "duration", "\"1m\"", "Limit of one unit run, from 1ms to 24h."),
    key(Root, All, "isolate", "true or false", "true", "Every benchmark in a process of its own. `false`: one process measures all benchmarks of a target in each run, for benches whose start-up costs more than they measure; their order is then the bench's own, and they share caches and heap."),
    key(Root, All, "judge", "table", "", "How two sides are compared."),
    key(Root, All, "metrics", "table of tables", "", "The limits of each metric; metrics of your own are declared here."),
    key(Root, Tables, "bench", "array of tables", "", "Entries for single bench targets, benchmarks and variants."),
    key(Root, Tables, "accept", "array of tables", "", "Known slowdowns that do not fail the run."),
    key(Root, Run, "summary", "table", "", "How the whole run is summed up."),
    key(Root, Run, "history", "table", "", "How the history is looked at."),
    key(Root, Tables, "tolerance", "table of tables", "", "The smallest change of a metric that counts in a comparison with the history."),

    key(Judge, All, "preset", "`default`, `fixed` or `effect`", "one of them", "Sets all keys of this table at once; a key beside it wins. What a lower level says of the table no longer counts."),
    key(Judge, All, "method", "`bootstrap` or `rank`", "by preset", "The family of the test."),
    key(Judge, All, "statistic", "`median` or `mean`", "by preset", "The statistic that is compared."),
    key(Judge, All, "pairing", "`auto`, `paired` or `independent`", "by preset", "Whether the runs of one round are taken as pairs; `auto` when the rounds correlate."),
    key(Judge, All, "interval", "`percentile` or `bca`", "by preset", "The form of the bootstrap interval."),
    key(Judge, All, "resamples", "`exact` or a whole number, 100 to 1000000", "by preset; 2000 for the mean", "How the bootstrap law is computed; `exact` is for the median."),
    key(Judge, All, "confidence", "number, 0.5 to 0.999", "by preset", "The probability a verdict of one look needs; only with `stop = \"fixed\"` or `\"precision\"`, or with `samples`."),
    key(Judge, All, "max_cv", "number, 0 to 10", "by preset", "Limit of the noise gate, a ratio; 0 turns it off."),
    key(Judge, All, "stop", "`settled`, `fixed` or `precision`", "by preset", "When measuring ends: when the verdict is settled, at the wanted number of samples, or when every interval is narrow enough."),
    key(Judge, All, "correction", "`confirm`, `holm`, `bh` or `none`", "by preset", "What guards against false alarms over many benchmarks. Outside of the preset `effect`, `bh` adjusts the p-values that are shown and leaves the gate as `none` does."),
    key(Judge, All, "target_ci", "text like \"1%\", up to \"100%\"", "\"1%\"", "Wanted half-width of the interval; only with `stop = \"precision\"`."),
    key(Judge, All, "show_percent", "number or \"2%\", 0 to 1000", "2", "The smallest change that is shown; only with `preset = \"effect\"`."),

    key(Metric, All, "max_percent", "number or \"10%\", above 0, at most 1000", "latency, cpu_total, peak_rss and your own 10; instructions 1; allocations, allocated_bytes 0.1", "Tolerated degradation. A change fails only when it exceeds this and `min_difference`."),
    key(Metric, All, "min_difference", "duration, size or whole number, by the metric's unit; a plain number for your own", "off", "The smallest absolute change that counts; 0 in the metric's unit is off."),
    key(Metric, All, "gate", "true or false", "true once the metric is named", "Whether the metric may fail the run."),
    key(Metric, All, "unit", "text", "", "The unit of a metric of your own; needed to declare it."),
    key(Metric, All, "better", "`lower` or `higher`", "\"lower\"", "The direction of a metric of your own."),

    key(Entry, InEntry, "package", "text", "the package of the table", "The package the entry is about; needed in the workspace's table."),
    key(Entry, InEntry, "target", "text", "every bench target", "The name of the target; needed for a bin or an example."),
    key(Entry, InEntry, "kind", "`bench`, `bin` or `example`", "\"bench\"", "The kind of the target."),
    key(Entry, InEntry, "name", "letters, digits, `_`, `-`, `.`", "", "Makes a variant of its own, on top of what the entries without a name say."),
    key(Entry, InEntry, "filter", "list of globs", "[\"*\"]", "The benchmarks the entry is about, by their ids; `*` also matches `/`."),
    key(Entry, InEntry, "skip", "list of globs", "[]", "The benchmarks the entry is not about."),
    key(Entry, InEntry, "harness", "word", "\"auto\"", "The bench harness: `auto`, `process`, `criterion`, `divan`, `libtest`, `bencher`, `gungraun`, `iai-callgrind`, `tango`, `lines`. A bin or example is a `process` by default."),
    key(Entry, InEntry, "args", "list of text", "[]", "Arguments behind the harness's own."),
    key(Entry, InEntry, "env", "table of text", "{}", "Variables set on top of what cargo would set."),
    key(Entry, InEntry, "cwd", "path", "the package's root in each revision", "The working directory."),
    key(Entry, InEntry, "stdin", "path", "closed", "A file the program reads as standard input."),
    key(Entry, InEntry, "exit_codes", "list of whole numbers, 0 to 255", "[0]", "Exit codes that count as success."),
    key(Entry, InEntry, "work", "table", "", "The work of one unit run, from which throughput is derived."),
    key(Entry, InEntry, "group", "text", "the part of the id before the first `/`", "The group the benchmark is summarised in."),
    key(Entry, InEntry, "compare", "true or false", "true", "False measures head alone, for its budgets."),
    key(Entry, InEntry, "budget", "table of tables", "", "Absolute limits on head."),
    key(Entry, InEntry, "setup", "list of argv lists", "[]", "Commands before the benchmarks of the target, once a revision, in the package's root there, outside the timing: `[[\"./gen-data\", \"--big\"]]`. Placeholders as in `args`; `timeout` holds for each."),
    key(Entry, InEntry, "prepare_each", "list of argv lists", "[]", "The same before every unit run."),
    key(Entry, InEntry, "cleanup", "list of argv lists", "[]", "The same after the benchmarks of the target, whatever came of them."),

    key(Work, InEntry, "file", "path", "", "The work is the size of this file in bytes, read before every unit run."),
    key(Work, InEntry, "value", "number above 0", "", "The work is this constant amount."),
    key(Work, InEntry, "unit", "text", "\"operations\"", "What `value` counts."),

    key(Budget, InEntry, "min", "text like \"<= 500ms\"", "", "Limit on the smallest sample."),
    key(Budget, InEntry, "max", "text like \"<= 500ms\"", "", "Limit on the largest sample."),
    key(Budget, InEntry, "mean", "text like \"<= 500ms\"", "", "Limit on the arithmetic mean."),
    key(Budget, InEntry, "median", "text like \"<= 500ms\"", "", "Limit on the median."),
    key(Budget, InEntry, "pN", "text like \"<= 500ms\"", "", "Limit on a percentile, above p0 and below p100, for whole programs; one with a decimal is a quoted key: `\"p99.9\"`."),

    key(Accept, Tables, "bench", "glob over labels", "needed", "The benchmarks: `target/id`, or the target of a whole program, with ` [variant]` behind it where there is one. Entries of a package are about its benchmarks alone."),
    key(Accept, Tables, "metric", "text", "needed", "The metric that got worse."),
    key(Accept, Tables, "up_to_percent", "number or \"20%\", above 0, at most 1000", "needed", "The largest degradation that is accepted, held against the change of the report. Leave a little room."),
    key(Accept, Tables, "reason", "text", "needed", "Why it is accepted; shown wherever the slowdown is."),
    key(Accept, Tables, "until", "date like \"2027-01-31\"", "needed", "The last day it holds (UTC), held against the time the run began."),

    key(Summary, Run, "min_change", "number or \"0.2%\", 0 to 100", "0.2", "The smallest change that is significant, for the label of the whole run; ten times that for a row whose samples scatter by more than 5 %."),
    key(Summary, Run, "impact_percent", "number or \"10%\", 0 to 50", "10", "A change of speed beyond this on one benchmark is the impact of the run; otherwise that is the geometric mean of all."),

    key(Tolerance, Tables, "metric_kind", "`duration`, `microbenchmark`, `memory_peak`, `heap_live`, `allocation` or `unspecified`", "a function's latency `microbenchmark`, a program's times `duration`, peak_rss `memory_peak`, allocated_bytes `allocation`, else `unspecified`", "The kind of the metric, from which the floors have their defaults."),
    key(Tolerance, Tables, "absolute", "duration, size or whole number, by the metric's unit; a plain number for your own", "duration 30 ms; memory_peak and heap_live 8 MiB; else 0", "The absolute floor; 0 turns it off."),
    key(Tolerance, Tables, "relative_percent", "number or \"5%\", 0 to 1000", "memory_peak and heap_live 5; else 0", "The relative floor, in per cent of what a value is compared with; 0 turns it off. The larger floor counts, and a change exactly at it is within."),

    key(History, Run, "lookback", "`steps` or `plain`", "\"steps\"", "`steps`: confirmed steps and changed toolchains begin a segment, and a regression stays open until it is back or accepted; `plain`: only marks begin a segment."),
];

/// The keys that may stand in a table of that level. An entry takes the keys for every benchmark, too.
pub fn keys_of(table: Table, level: Level) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.levels.allow(level) && belongs(key, table, level))
}

fn belongs(key: &Key, table: Table, level: Level) -> bool {
    key.table == table || (table == Entry && key.table == Root && level == Level::Entry)
}

/// What is wrong with a key that stands in a table, and what would be right; `None` when all is well.
pub(super) fn complaint(table: Table, level: Level, written: &str) -> Option<super::error::Invalid> {
    use super::error::Invalid;
    if keys_of(table, level).any(|key| key.name == written) {
        return None;
    }
    if let Some(key) =
        KEYS.iter().find(|key| key.name == written && key.table != Accept && key.table != Tolerance)
    {
        let help = format!("it belongs in {}", home_of(key));
        return Some(Invalid::with_help("is not a key of this table", help));
    }
    let help = match nearest(written, keys_of(table, level).map(|key| key.name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match nearest(written, KEYS.iter().filter(|key| key.name != "pN").map(|key| key.name)) {
            Some(near) => {
                let key = KEYS.iter().find(|key| key.name == near).expect("the name comes from this list");
                format!("did you mean `{near}`? It belongs in {}", home_of(key))
            }
            None => {
                let known: Vec<_> = keys_of(table, level).map(|key| key.name).collect();
                format!("known here: {}", known.join(", "))
            }
        },
    };
    Some(Invalid::with_help("unknown key", help))
}

fn home_of(key: &Key) -> &'static str {
    match key.table {
        Root => "the benchgate table of the workspace or the package",
        Judge => "the `judge` table",
        Metric => "`metrics.NAME`",
        Entry => "a [[…bench]] entry",
        Budget => "`budget.METRIC` of a [[…bench]] entry",
        Work => "`work` of a [[…bench]] entry",
        Accept => "an [[…accept]] entry",
        Summary => "the `summary` table",
        Tolerance => "`tolerance.METRIC`",
        History => "the `history` table",
    }
}

/// The candidate nearest to a word, when one is near enough to be meant.
pub fn nearest<I>(word: &str, candidates: I) -> Option<String>
where
    I: IntoIterator,
    I::Item: AsRef<str>,
{
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let written = plain(word);
    let allowed = (written.chars().count() / 3).max(1);
    let distance = |candidate: &str| {
        let candidate = plain(candidate);
        let begun = 3 <= written.len().min(candidate.len())
            && (candidate.starts_with(&written) || written.starts_with(&candidate));
        match strsim::damerau_levenshtein(&written, &candidate) {
            distance if distance <= allowed => Some(distance),
            distance if begun => Some(distance),
            _ => None,
        }
    };
    candidates
        .into_iter()
        .filter_map(|candidate| distance(candidate.as_ref()).map(|d| (d, candidate.as_ref().to_owned())))
        .min()
        .map(|(_, candidate)| candidate)
}
