//! `judge`: saved reports or samples judged again, without measuring.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::options::{JudgeFlags, OutputFlags};
use super::output::{Outputs, conclude, finish, status};
use super::saved::{context, read_report_from};
use crate::error::{Error, ExitCode};
use crate::report::model::{Report, Revision};
use crate::report::samples_csv::{SampledBenchmark, read_samples_csv};
use crate::report::text::visible;
use crate::report::{Header, assemble, json};
use crate::suite::Overrides;
use crate::suite::rejudge::Sampled;
use crate::summary;
use crate::ui::Ui;
use crate::verdict::{self, evidence::Evidence};

/// Arguments of `judge`.
#[derive(Debug, Clone, Args)]
pub(super) struct JudgeArgs {
    /// Reports written by `--format json`, or tables of samples (columns benchmark,revision,metric,value)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    judge: JudgeFlags,
    /// Samples a side before anything is judged
    #[arg(long, value_name = "N", help_heading = "Judging")]
    min_samples: Option<u32>,
    /// Seed of the random draws; default: the report's, 0 for samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..1 << 53), help_heading = "Judging")]
    seed: Option<u64>,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Judges every file. Several files are judged one by one; the worst status is the one of all: 4, then 6, then 1.
pub(super) fn judge(args: &JudgeArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let outputs = Outputs::parse(&args.output.format)?;
    if 1 < args.files.len() && outputs.has_paths() {
        return Err(Error::Usage(
            "several files would be written to one path; judge them one by one".to_owned(),
        ));
    }
    let overrides =
        Overrides { min_samples: args.min_samples, ..super::options::overrides(None, &args.judge, None)? };
    if let [path] = args.files.as_slice() {
        return finish(&judge_file(path, args, &overrides, ui)?, &outputs, ui);
    }
    let mut failed = Vec::new();
    for path in &args.files {
        ui.status("Judging", path.display());
        let report = judge_file(path, args, &overrides, ui)?;
        outputs.write(&report, ui)?;
        match (status(&report)?, &report.exit.because) {
            (ExitCode::Success, _) => {
                conclude(&report, ui)?;
            }
            (code, because) => {
                let because = because.as_deref().unwrap_or("it failed");
                failed.push((code, format!("{}: {because}", path.display())));
            }
        }
    }
    // The last line says why the status is what it is.
    failed.sort_by_key(|(code, _)| severity(*code));
    let Some((worst, because)) = failed.pop() else { return Ok(ExitCode::Success) };
    failed.iter().for_each(|(_, because)| ui.note(because));
    ui.error(because);
    Ok(worst)
}

/// Which status of several files is that of all, as among the benchmarks of one run.
fn severity(code: ExitCode) -> u8 {
    match code {
        ExitCode::Success => 0,
        ExitCode::GateFailed => 1,
        ExitCode::NotMeasured => 2,
        _ => 3,
    }
}

fn judge_file(path: &Path, args: &JudgeArgs, overrides: &Overrides, ui: &Ui) -> Result<Report, Error> {
    let Input { mut header, mut evidence, is_table } = read(path, args, ui)?;
    let judged = |header: &Header, evidence: &[Evidence]| {
        let started_at = header.started_at.clone();
        verdict::judge_run(evidence, &context(&header.suite, header.seed, started_at, evidence))
    };
    // What was said of settings that the flags replace no longer holds; what holds is said again.
    if !header.warnings.is_empty() {
        let before = judged(&header, &evidence);
        header.warnings.retain(|warning| !before.warnings.contains(warning));
    }
    let mut measured: Vec<Sampled<'_>> = evidence.iter_mut().map(measured).collect();
    overrides.rejudge(&mut measured)?;
    if is_table {
        header.warnings.extend(nothing_gated(&measured));
    }
    if let Some(also_fail_on) = &overrides.also_fail_on {
        header.suite.also_fail_on = also_fail_on.iter().map(|what| what.as_str().to_owned()).collect();
    }
    header.suite.no_fail = args.judge.no_fail;
    header.seed = args.seed.unwrap_or(header.seed);
    header.command = "judge".to_owned();
    let mut judgement = judged(&header, &evidence);
    judgement.summary.overall = summary::overall(&evidence, &judgement.benchmarks, header.suite.summary);
    for warning in judgement.warnings {
        if !header.warnings.contains(&warning) {
            header.warnings.push(warning);
        }
    }
    // A table holds nothing but comparisons, so one without any is a mistake and no pass.
    let exit = match is_table {
        true => judgement.exit.unless_compared(&evidence, &judgement.benchmarks),
        false => judgement.exit,
    };
    Ok(assemble(header, evidence, judgement.benchmarks, judgement.summary, exit))
}

fn measured(evidence: &mut Evidence) -> Sampled<'_> {
    let runs = evidence.sides.iter().flat_map(|side| &side.runs);
    let metrics = runs.flat_map(|run| run.values.iter().map(|(metric, _)| metric.clone())).collect();
    Sampled { settings: &mut evidence.settings, metrics }
}

/// What to say of samples none of which may fail the run.
fn nothing_gated(measured: &[Sampled<'_>]) -> Option<String> {
    let all = || measured.iter().flat_map(|it| &it.settings.metrics);
    if all().any(|(_, limits)| limits.gate) {
        return None;
    }
    let names: BTreeSet<&str> = all().map(|(metric, _)| metric.name()).collect();
    Some(match names.first() {
        Some(first) => format!(
            "nothing in this file is gated, so nothing can fail: {} is shown only; gate it with `--metric {first}`",
            Vec::from_iter(names.clone()).join(", ")
        ),
        None => "nothing in this file can be compared, so nothing can fail".to_owned(),
    })
}

/// What a file holds.
struct Input {
    header: Header,
    evidence: Vec<Evidence>,
    /// Whether it is a table of samples.
    is_table: bool,
}

/// Reads a report or a table of samples; which it is shows in its first character.
fn read(path: &Path, args: &JudgeArgs, ui: &Ui) -> Result<Input, Error> {
    let mut file = open_file(path)?;
    let refuse =
        |error: crate::report::ReadError| Error::Usage(format!("failed to read {}: {error}", path.display()));
    let unreadable = |error: io::Error| Error::Usage(format!("failed to read {}: {error}", path.display()));
    let start = file.fill_buf().map_err(unreadable)?;
    let start = start.strip_prefix(json::MARK).unwrap_or(start);
    if start.trim_ascii_start().first() == Some(&b'{') {
        let report = read_report_from(path, file)?;
        return Ok(Input { header: Header::from(&report), evidence: Vec::from(report), is_table: false });
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    let samples = read_samples_csv(&bytes).map_err(refuse)?;
    if !samples.has_rounds() {
        ui.note("the samples do not say their rounds, so they are judged by one look, each side on its own, uncorrected");
    }
    if let Some(base) = samples.assumed_base() {
        ui.note(format!("no revision is called `base`, so {} is taken as the base", visible(base)));
    }
    let revision = |name: &String| Revision {
        name: name.clone(),
        spec: name.clone(),
        commit: None,
        subject: None,
        dirty: false,
        chosen_because: (samples.assumed_base() == Some(name))
            .then(|| "the first of the file, since none is called base".to_owned()),
        committed_at: None,
    };
    let header = Header {
        revisions: samples.revisions.iter().map(revision).collect(),
        ..Header::bare("judge", args.seed.unwrap_or(0))
    };
    let evidence = samples.into_evidence(SampledBenchmark::settings);
    Ok(Input { header, evidence, is_table: true })
}

/// Opens a file the user named.
pub(super) fn open_file(path: &Path) -> Result<BufReader<fs_err::File>, Error> {
    const AT_ONCE: usize = 1 << 18;
    let file = fs_err::File::open(path).map_err(|error| Error::Usage(format!("{error}; check the path")))?;
    Ok(BufReader::with_capacity(AT_ONCE, file))
}

/// The bytes of a file the user named.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    fs_err::read(path).map_err(|error| Error::Usage(format!("{error}; check the path")))
}
