//! The flags that several verbs share, in groups.

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use crate::gate::CargoFlags;
use crate::suite::error::Invalid;
use crate::suite::keys::nearest;
use crate::suite::overrides::parse_resamples;
use crate::suite::quantity::{parse_duration, parse_percent};
use crate::suite::settings::{Correction, Interval, Method, Pairing, Preset, Statistic, Stop};
use crate::suite::{AlsoFailOn, Overrides, Selection};
use crate::ui::Color;

/// Which packages, in cargo's words.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Package Selection")]
pub(super) struct PackageSelection {
    /// Package to measure (glob allowed; repeatable)
    #[arg(short = 'p', long = "package", value_name = "SPEC")]
    pub(super) package: Vec<String>,
    /// All packages of the workspace
    #[arg(long, conflicts_with = "package")]
    pub(super) workspace: bool,
    /// Leave a package out (with --workspace; repeatable)
    #[arg(long, value_name = "SPEC", requires = "workspace")]
    pub(super) exclude: Vec<String>,
}

/// Which bench targets and which benchmarks.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Benchmark Selection")]
pub(super) struct BenchmarkSelection {
    /// Bench target to measure (glob allowed; repeatable); default: all
    #[arg(long = "bench", value_name = "NAME")]
    pub(super) bench: Vec<String>,
    /// Measure only benchmarks whose id matches the glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) filter: Vec<String>,
    /// Leave out benchmarks whose id matches the glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) skip: Vec<String>,
    /// Measure only benchmarks whose id contains the text, as after `cargo bench --` (repeatable)
    #[arg(last = true, value_name = "TEXT", value_parser = filter_text)]
    pub(super) containing: Vec<String>,
}

/// What is given after `--`: no flag of a harness, which would do something else or nothing.
fn filter_text(text: &str) -> Result<String, String> {
    match text {
        "" => Err("an empty text is part of every id".to_owned()),
        text if text.starts_with('-') => Err("only text that ids contain is taken after `--`; the harnesses' own flags are \
                                             chosen by cargo benchgate, or written as `args` of a [[bench]] entry"
            .to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Cargo's own build flags.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Compilation Options")]
pub(super) struct BuildFlags {
    /// Features to activate (space or comma separated; repeatable)
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub(super) features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub(super) all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    pub(super) no_default_features: bool,
    /// Profile to build with [default: bench]
    #[arg(long, value_name = "PROFILE-NAME")]
    pub(super) profile: Option<String>,
    /// Build for the target triple
    #[arg(long, value_name = "TRIPLE")]
    pub(super) target: Option<String>,
    /// Keep the target directories of both revisions below this directory instead of the user's cache
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) target_dir: Option<PathBuf>,
}

/// Cargo's manifest flags.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Manifest Options")]
pub(super) struct ManifestFlags {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,
    /// Override a cargo configuration value (repeatable)
    #[arg(long, value_name = "KEY=VALUE|PATH")]
    pub(super) config: Vec<String>,
    /// Assert that Cargo.lock will remain unchanged
    #[arg(long)]
    pub(super) locked: bool,
    /// Run without accessing the network
    #[arg(long)]
    pub(super) offline: bool,
    /// Equivalent to specifying both --locked and --offline
    #[arg(long)]
    pub(super) frozen: bool,
}

/// How much is measured.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Measuring")]
pub(super) struct MeasuringFlags {
    /// Unit runs a revision, fixed (an odd number is rounded up); what would fail is still measured once more
    #[arg(long, value_name = "N", conflicts_with_all = ["min_samples", "max_samples"])]
    pub(super) samples: Option<u32>,
    /// Unit runs a revision before anything is judged [default: 8]
    #[arg(long, value_name = "N")]
    pub(super) min_samples: Option<u32>,
    /// Unit runs a revision at the most [default: 60]
    #[arg(long, value_name = "N")]
    pub(super) max_samples: Option<u32>,
    /// Unit runs a revision that are thrown away first [default: 1]
    #[arg(long, value_name = "N")]
    pub(super) warmup: Option<u32>,
    /// Measured time a revision of every benchmark at the least, such as 2s
    #[arg(long, value_name = "DURATION")]
    pub(super) min_time: Option<String>,
    /// Limit of the whole measuring phase, such as 10m
    #[arg(long, value_name = "DURATION")]
    pub(super) max_time: Option<String>,
    /// Accept that --max-time leaves benchmarks out; otherwise these end the run with status 6
    #[arg(long)]
    pub(super) allow_partial: bool,
    /// Limit of one unit run, such as 30s [default: 1m]
    #[arg(long, value_name = "DURATION")]
    pub(super) timeout: Option<String>,
    /// Seed of the order of runs and of all random draws (0 to 2^53 - 1); printed on every run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..1 << 53))]
    pub(super) seed: Option<u64>,
}

/// How two sides are judged.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Judging")]
pub(super) struct JudgeFlags {
    /// Set all judge keys at once: default, fixed or effect
    #[arg(long, value_name = "PRESET")]
    pub(super) preset: Option<String>,
    /// Tolerated degradation of every gated metric, in per cent [default: 10]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub(super) max_percent: Option<String>,
    /// Gate on this metric too, wherever it can be measured (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(super) metric: Vec<String>,
    /// bootstrap or rank [default: bootstrap]
    #[arg(long, value_name = "METHOD")]
    pub(super) method: Option<String>,
    /// median or mean [default: median]
    #[arg(long, value_name = "STATISTIC")]
    pub(super) statistic: Option<String>,
    /// Compare the pairs of the rounds: auto (where they correlate), paired or independent [default: auto]
    #[arg(long, value_name = "PAIRING")]
    pub(super) pairing: Option<String>,
    /// Form of the shown interval: percentile or bca [default: percentile]
    #[arg(long, value_name = "INTERVAL")]
    pub(super) interval: Option<String>,
    /// exact (median only) or a number of random resamples
    #[arg(long, value_name = "N|exact")]
    pub(super) resamples: Option<String>,
    /// Probability a verdict needs with --samples, or --stop fixed or precision; 0.5 to 0.999 [default: 0.95]
    #[arg(long, value_name = "P")]
    pub(super) confidence: Option<f64>,
    /// Spread of the samples above which nothing is called, a ratio; 0 turns that off [default: 0.5]
    #[arg(long, value_name = "RATIO")]
    pub(super) max_cv: Option<f64>,
    /// When measuring ends: settled (as soon as the answer is clear), fixed or precision [default: settled]
    #[arg(long, value_name = "RULE")]
    pub(super) stop: Option<String>,
    /// Guard against false alarms over many benchmarks: confirm (measure candidates again), holm, bh or none [default: confirm]
    #[arg(long, value_name = "RULE")]
    pub(super) correction: Option<String>,
    /// Half-width of the interval for --stop precision, such as 1%
    #[arg(long, value_name = "PERCENT")]
    pub(super) target_ci: Option<String>,
    /// Fail also on: inconclusive, removed, skipped (repeatable)
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(super) also_fail_on: Vec<String>,
    /// Turn exit status 1 into 0, nothing else, and say what would have failed
    #[arg(long)]
    pub(super) no_fail: bool,
}

/// What is said, and where results go.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputFlags {
    /// Write a report to PATH or to stdout (repeatable): terminal, json, csv, samples-csv, markdown, github, html, junit,
    /// bencher, github-action-benchmark
    #[arg(long, value_name = "FORMAT[=PATH]")]
    pub(super) format: Vec<String>,
    /// Do not print status lines
    #[arg(short = 'q', long)]
    pub(super) quiet: bool,
    /// Say more (-vv: every command)
    #[arg(short = 'v', long, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(super) verbose: u8,
    /// Colouring: auto, always, never
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(super) color: Color,
}

impl PackageSelection {
    /// What these flags and those of the benchmarks select.
    pub(super) fn selection(&self, benchmarks: &BenchmarkSelection) -> Selection {
        Selection {
            packages: self.package.clone(),
            workspace: self.workspace,
            exclude: self.exclude.clone(),
            current_package: None,
            benches: benchmarks.bench.clone(),
            filters: benchmarks.filter.clone(),
            skips: benchmarks.skip.clone(),
            containing: benchmarks.containing.clone(),
        }
    }
}

impl ManifestFlags {
    /// The flags that go to cargo unchanged.
    pub(super) fn cargo_flags(&self) -> CargoFlags {
        CargoFlags {
            config: self.config.clone(),
            locked: self.locked,
            offline: self.offline,
            frozen: self.frozen,
        }
    }
}

impl BuildFlags {
    /// Lays the flags that are suite keys too over `overrides`.
    fn lay_over(&self, overrides: &mut Overrides) {
        overrides.profile.clone_from(&self.profile);
        overrides.target.clone_from(&self.target);
        overrides.features = Some(self.features.clone()).filter(|features| !features.is_empty());
        overrides.all_features = self.all_features;
        overrides.no_default_features = self.no_default_features;
    }
}

impl MeasuringFlags {
    fn lay_over(&self, overrides: &mut Overrides) -> Result<(), Error> {
        overrides.samples = self.samples;
        overrides.min_samples = self.min_samples;
        overrides.max_samples = self.max_samples;
        overrides.warmup = self.warmup;
        overrides.allow_partial = self.allow_partial.then_some(true);
        overrides.min_time_ns = parsed("--min-time", self.min_time.as_deref(), parse_duration)?;
        overrides.max_time_ns = parsed("--max-time", self.max_time.as_deref(), parse_duration)?;
        overrides.timeout_ns = parsed("--timeout", self.timeout.as_deref(), parse_duration)?;
        Ok(())
    }
}

impl JudgeFlags {
    fn lay_over(&self, overrides: &mut Overrides) -> Result<(), Error> {
        overrides.preset = word("--preset", self.preset.as_deref(), Preset::ALL, Preset::as_str)?;
        overrides.method = word("--method", self.method.as_deref(), Method::ALL, Method::as_str)?;
        overrides.statistic =
            word("--statistic", self.statistic.as_deref(), Statistic::ALL, Statistic::as_str)?;
        overrides.pairing = word("--pairing", self.pairing.as_deref(), Pairing::ALL, Pairing::as_str)?;
        overrides.interval = word("--interval", self.interval.as_deref(), Interval::ALL, Interval::as_str)?;
        overrides.stop = word("--stop", self.stop.as_deref(), Stop::ALL, Stop::as_str)?;
        overrides.correction =
            word("--correction", self.correction.as_deref(), Correction::ALL, Correction::as_str)?;
        overrides.resamples = parsed("--resamples", self.resamples.as_deref(), parse_resamples)?;
        overrides.max_percent = parsed("--max-percent", self.max_percent.as_deref(), percent_or_number)?;
        overrides.target_ci =
            parsed("--target-ci", self.target_ci.as_deref(), percent_or_number)?.map(|p| p / 100.0);
        overrides.confidence = self.confidence;
        overrides.max_cv = self.max_cv;
        overrides.metrics.clone_from(&self.metric);
        if !self.also_fail_on.is_empty() {
            let words: Result<Vec<_>, Error> = self
                .also_fail_on
                .iter()
                .map(|text| word("--also-fail-on", Some(text), AlsoFailOn::ALL, AlsoFailOn::as_str))
                .collect();
            overrides.also_fail_on = Some(words?.into_iter().flatten().collect());
        }
        Ok(())
    }
}

/// The suite keys that the flags set.
///
/// # Errors
///
/// A flag whose value is not of its form.
pub(super) fn overrides(
    measuring: Option<&MeasuringFlags>,
    judge: &JudgeFlags,
    build: Option<&BuildFlags>,
) -> Result<Overrides, Error> {
    let mut overrides = Overrides::default();
    if let Some(build) = build {
        build.lay_over(&mut overrides);
    }
    if let Some(measuring) = measuring {
        measuring.lay_over(&mut overrides)?;
    }
    judge.lay_over(&mut overrides)?;
    Ok(overrides)
}

fn word<T: Copy>(
    flag: &str,
    text: Option<&str>,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> Result<Option<T>, Error> {
    text.map(|text| one_of(flag, text, all, as_str)).transpose()
}

/// One of the words of a flag.
pub(super) fn one_of<T: Copy>(
    flag: &str,
    text: &str,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    let words: Vec<&str> = all.iter().map(|value| as_str(*value)).collect();
    all.iter().copied().find(|value| as_str(*value) == text).ok_or_else(|| {
        let near = nearest(text, &words).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        Error::Usage(format!("`{flag} {text}`: not one of {}{near}", words.join(", ")))
    })
}

/// A percentage of a flag, with or without its sign.
pub(super) fn percent(flag: &str, text: &str) -> Result<f64, Error> {
    percent_or_number(text).map_err(|invalid| Error::Usage(format!("`{flag} {text}` {invalid}")))
}

fn parsed<T>(
    flag: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, Error> {
    let fail = |text: &str, invalid: Invalid| Error::Usage(format!("`{flag} {text}` {invalid}"));
    text.map(|text| parse(text).map_err(|invalid| fail(text, invalid))).transpose()
}

/// A percentage on the command line may leave the sign out: `10` and `10%` are the same.
fn percent_or_number(text: &str) -> Result<f64, Invalid> {
    if text.ends_with('%') { parse_percent(text) } else { parse_percent(&format!("{text}%")) }
}
