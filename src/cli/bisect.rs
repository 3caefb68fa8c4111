//! `bisect`: the commit that made a benchmark slower.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use super::answers::{Answers, present};
use super::compare::SuiteArgs;
use super::options::percent;
use crate::bisect::log::{self, Question};
use crate::bisect::report::{self, NamedCommit};
use crate::bisect::walk::{Prober, Walk, walk};
use crate::bisect::{Answer, BisectReport, Probe, Search};
use crate::error::{Error, ExitCode};
use crate::gate::environment::Environment;
use crate::gate::{self, Command, HeadRequest, Outcome, Request};
use crate::report::model::Report;
use crate::revision::{Commit, CommitId, LineCommit, Repository};
use crate::suite::Overrides;
use crate::suite::metric::Metric;
use crate::suite::settings::{Correction, Stop};
use crate::ui::Ui;

/// Samples a side of the first look of a probe, when nothing is said.
const SAMPLES: u32 = 20;

/// Below this no outcome of the signed-rank and sign tests reaches the level of a look: 9 rounds give 2 / 2^9.
const LEAST_SAMPLES: u32 = 18;

/// Arguments of `bisect`.
#[derive(Debug, Clone, Args)]
pub(super) struct BisectArgs {
    /// The benchmark: its id, or target/id
    #[arg(value_name = "BENCH")]
    benchmark: String,
    /// A revision where it was fast
    #[arg(value_name = "GOOD")]
    good: String,
    /// A revision where it is slow
    #[arg(value_name = "BAD")]
    bad: String,
    /// The change from GOOD to BAD below which there is nothing to find
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    threshold: String,
    /// Where the answer is a merge, go on inside what it brought in
    #[arg(long)]
    open_merges: bool,
    /// Forget the probes of an interrupted bisect of the same question
    #[arg(long)]
    restart: bool,
    /// Show the line of commits and the number of probes, and stop
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) suite: SuiteArgs,
}

/// Finds the commit. 0 found, 3 nothing to find, 4 not told.
pub(super) fn bisect(args: &BisectArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let threshold_percent = percent("--threshold", &args.threshold)?;
    let answers = Answers::parse(&args.suite.output.format, &["terminal", "json"])?;
    let environment = Environment::of_this_process()?;
    let request = args.suite.request(Command::Compare, HeadRequest::WorkingTree)?;
    if let Some(samples) = request.overrides.samples.filter(|samples| *samples < LEAST_SAMPLES) {
        return Err(Error::Usage(format!(
            "`--samples {samples}`: fewer than {LEAST_SAMPLES} a side cannot tell a commit from an end, whatever they say; leave it \
             out for {SAMPLES}"
        )));
    }
    let metric = match request.overrides.metrics.as_slice() {
        [] => None,
        [one] => Some(Metric::from_name(one)),
        _ => return Err(Error::Usage("bisect follows one metric; name one --metric".to_owned())),
    };
    let start = request.manifest_path.as_ref().and_then(|path| path.parent()).unwrap_or(Path::new(""));
    let repository = Repository::discover(&environment.cwd.join(start))?;
    let asking = Asking {
        args,
        request: &request,
        metric,
        threshold_percent,
        environment: &environment,
        repository: &repository,
        ui,
        suite_of: repository.resolve(&args.bad)?.id,
    };
    let line = asking.line(&args.good, &args.bad)?;
    if args.dry_run {
        show_line(&line)?;
        return Ok(ExitCode::Success);
    }
    let mut logs = Vec::new();
    let mut report = asking.answer(&line, &mut logs)?;
    if args.open_merges {
        asking.open(&mut report, &mut logs)?;
    }
    answers.write(ui, |format| match format {
        "json" => report::json(&report),
        _ => report::terminal(&report),
    })?;
    // Only now: an answer that is lost on its way out is had again from the probes.
    logs.iter().for_each(LogFile::remove);
    Ok(conclude(&report, ui))
}

/// What all walks of one bisect share.
struct Asking<'a> {
    args: &'a BisectArgs,
    request: &'a Request,
    metric: Option<Metric>,
    threshold_percent: f64,
    environment: &'a Environment,
    repository: &'a Repository,
    ui: &'a Ui,
    /// The bad end: its suite drives every measurement, those inside a merge as well.
    suite_of: CommitId,
}

impl Asking<'_> {
    fn line(&self, good: &str, bad: &str) -> Result<Vec<LineCommit>, Error> {
        let (good, bad) = (self.repository.resolve(good)?, self.repository.resolve(bad)?);
        let line = self.repository.line(&good, &bad)?;
        if line.len() < 2 {
            return Err(Error::Usage(format!(
                "GOOD and BAD are the same commit, {}; there is nothing between them",
                good.id.short()
            )));
        }
        self.ui.status(
            "Bisecting",
            format!(
                "{} commits from {} to {}: both ends first, then about {} probes of three revisions each",
                line.len() - 1,
                good.id.short(),
                bad.id.short(),
                Search::new(line.len()).probes_left()
            ),
        );
        Ok(line)
    }

    /// Walks a line; its log goes to those that are removed once the answer is written, where it is one.
    fn answer(&self, line: &[LineCommit], logs: &mut Vec<LogFile>) -> Result<BisectReport, Error> {
        let end = |at: Option<&LineCommit>| at.map(|it| it.commit.id.as_str().to_owned()).unwrap_or_default();
        let request = self.request;
        let question = Question {
            benchmark: self.args.benchmark.clone(),
            metric: self.metric.as_ref().map(|metric| metric.name().to_owned()),
            threshold_percent: self.threshold_percent,
            good: end(line.first()),
            bad: end(line.last()),
            settings: format!("{:?} {:?} {:?}", request.overrides, request.selection, request.cargo),
        };
        let mut file = LogFile::open(self.repository, &question, self.args.restart)?;
        if !file.known.is_empty() {
            let count = file.known.len();
            self.ui.status("Resuming", format!("with {count} probes of {}", file.path.display()));
        }
        let known = std::mem::take(&mut file.known);
        let asked = Walk {
            metric: self.metric.clone(),
            threshold_percent: self.threshold_percent,
            samples: request.overrides.samples.unwrap_or(SAMPLES),
            line,
            known: &known,
        };
        let mut prober = GateProber {
            request,
            benchmark: &self.args.benchmark,
            environment: self.environment,
            repository: self.repository,
            ui: self.ui,
            suite_of: self.suite_of.as_str(),
            log: &mut file,
            round_trips: Vec::new(),
        };
        let walked = walk(&asked, &mut prober);
        if let (Err(Error::Interrupted), false) = (&walked, file.is_empty) {
            let path = file.path.display();
            self.ui.note(format!("the probes so far are in {path}; the same command goes on from there"));
        }
        // What was not told is asked again: the probes are kept for it.
        match &walked {
            Ok(report) if file.is_empty || !matches!(report.answer, Answer::Undecided { .. }) => {
                logs.push(file)
            }
            Err(_) if file.is_empty => file.remove(),
            _ => {}
        }
        walked
    }

    /// Goes on inside a merge that is the answer, one side branch after the other until one of them holds the commit. What
    /// is found there is put below the report, and nothing else of it changes.
    fn open(&self, report: &mut BisectReport, logs: &mut Vec<LogFile>) -> Result<(), Error> {
        let Answer::Found { merged, .. } = &report.answer else { return Ok(()) };
        for [from, to] in merged {
            self.ui.status("Opening", format!("the merge: {} to {}", from.subject, to.subject));
            let walked = self.line(&from.commit, &to.commit).and_then(|line| self.answer(&line, logs));
            let mut inner = match walked {
                Ok(inner) => inner,
                Err(error @ (Error::Interrupted | Error::Internal(_))) => return Err(error),
                Err(error) => {
                    self.ui.warn(format!("{} was not looked into: {error}", report_text(&to.subject)));
                    continue;
                }
            };
            self.open(&mut inner, logs)?;
            let is_found = matches!(inner.answer, Answer::Found { .. });
            report.opened.push(inner);
            if is_found {
                break;
            }
        }
        Ok(())
    }
}

fn show_line(line: &[LineCommit]) -> Result<(), Error> {
    let text: String = line
        .iter()
        .map(|it| {
            let merge = if it.merged.is_empty() { "" } else { " (merge)" };
            format!("{} {}{merge}\n", it.commit.id.short(), report_text(&it.commit.subject))
        })
        .collect();
    present(&text)
}

fn report_text(text: &str) -> String {
    crate::report::text::visible(text)
}

/// Says why the status is not 0.
fn conclude(report: &BisectReport, ui: &Ui) -> ExitCode {
    match &report.answer {
        Answer::Found { .. } => {
            let is_found = |inner: &BisectReport| matches!(inner.answer, Answer::Found { .. });
            if !report.opened.is_empty() && !report.opened.iter().any(is_found) {
                ui.note(
                    "the merge was opened, and no commit inside it could be named; the answer is the merge",
                );
            }
        }
        Answer::Between { candidates, .. } => ui.error(format!(
            "the first slow commit is one of {}: those between could not be built or told apart",
            candidates.len()
        )),
        Answer::NothingToFind { why } | Answer::Undecided { why } => ui.error(why),
    }
    report.answer.exit_code()
}

/// Measures through the same gate as `compare`, with the suite of the bad end.
struct GateProber<'a> {
    request: &'a Request,
    benchmark: &'a str,
    environment: &'a Environment,
    repository: &'a Repository,
    ui: &'a Ui,
    suite_of: &'a str,
    log: &'a mut LogFile,
    /// How long each measuring run took, builds included.
    round_trips: Vec<Duration>,
}

impl GateProber<'_> {
    fn measure(
        &self,
        base: &Commit,
        head: &Commit,
        further: Vec<String>,
        overrides: Overrides,
    ) -> Result<Report, Error> {
        let mut request = self.request.clone();
        request.base = Some(base.id.as_str().to_owned());
        request.head = HeadRequest::Revision(head.id.as_str().to_owned());
        request.further = further;
        request.suite_of = Some(self.suite_of.to_owned());
        request.overrides = overrides;
        request.selection.filters = vec![globset::escape(self.benchmark)];
        let measured = gate::run(&request, self.environment, self.ui).map_err(|error| match error {
            Error::AllLeftOut { benchmarks } => Error::Usage(format!(
                "there is no benchmark `{}` among these: {benchmarks}",
                report_text(self.benchmark)
            )),
            error => error,
        });
        match measured? {
            Outcome::Finished(mut reports) if !reports.is_empty() => Ok(reports.remove(0)),
            _ => Err(Error::Internal("a measuring run gave no report".to_owned())),
        }
    }
}

impl Prober for GateProber<'_> {
    fn judge(
        &mut self,
        base: &Commit,
        head: &Commit,
        limit_percent: f64,
        samples: Option<u32>,
    ) -> Result<Report, Error> {
        let mut overrides =
            Overrides { max_percent: Some(limit_percent), samples, ..self.request.overrides.clone() };
        if samples.is_some() {
            (overrides.min_samples, overrides.max_samples) = (None, None);
            (overrides.stop, overrides.target_ci) = (Some(Stop::Fixed), None);
        }
        self.measure(base, head, Vec::new(), overrides)
    }

    fn probe(&mut self, ends: [&Commit; 2], middle: &Commit, samples: u32) -> Result<Report, Error> {
        let overrides = Overrides {
            samples: Some(samples),
            min_samples: None,
            max_samples: None,
            correction: Some(Correction::None),
            ..self.request.overrides.clone()
        };
        let started = Instant::now();
        let measured = self.measure(ends[0], ends[1], vec![middle.id.as_str().to_owned()], overrides);
        self.round_trips.push(started.elapsed());
        measured
    }

    fn next(&mut self, commit: &Commit, probes_left: u32) {
        let mean = self.round_trips.iter().sum::<Duration>().checked_div(self.round_trips.len() as u32);
        let time = mean
            .map(|mean| format!(", about {:.0} s", (mean * probes_left).as_secs_f64()))
            .unwrap_or_default();
        let probes = if probes_left == 1 { "1 probe".to_owned() } else { format!("{probes_left} probes") };
        self.ui.status(
            "Probing",
            format!("{} ({}); {probes} left{time}", commit.id.short(), report_text(&commit.subject)),
        );
    }

    fn merged(&mut self, parent: &Commit, merge: &LineCommit) -> Vec<[NamedCommit; 2]> {
        let side = |tip: &crate::revision::CommitId| {
            let fork = self.repository.common_ancestor(&parent.id, tip).ok().flatten()?;
            let tip = self.repository.resolve(tip.as_str()).ok()?;
            Some([NamedCommit::from(&fork), NamedCommit::from(&tip)])
        };
        merge.merged.iter().filter_map(side).collect()
    }

    fn probed(&mut self, probe: &Probe) -> Result<(), Error> {
        self.ui.status("Probed", report::probe_line(probe));
        self.log.add(probe)
    }
}

/// The log of the probes, in the repository's common git directory.
struct LogFile {
    path: PathBuf,
    known: Vec<Probe>,
    /// Whether it holds no probe.
    is_empty: bool,
}

impl LogFile {
    fn open(repository: &Repository, question: &Question, restart: bool) -> Result<Self, Error> {
        let directory = repository.common_dir().join("benchgate").join("bisect");
        let failed = |error: std::io::Error| {
            Error::Execution(format!("failed to keep the log of the probes: {error}"))
        };
        fs_err::create_dir_all(&directory).map_err(failed)?;
        let path = directory.join(question.file_name());
        let text = match fs_err::read_to_string(&path) {
            Ok(text) if !restart => text,
            _ => String::new(),
        };
        let known = log::read(&text, question);
        // Written anew, so that a torn last line is not built upon.
        let whole: String =
            std::iter::once(question.line()).chain(known.iter().map(log::probe_line)).collect();
        fs_err::write(&path, whole).map_err(failed)?;
        Ok(Self { path, is_empty: known.is_empty(), known })
    }

    fn add(&mut self, probe: &Probe) -> Result<(), Error> {
        use std::io::Write;
        let append = || -> std::io::Result<()> {
            let mut file = fs_err::OpenOptions::new().append(true).open(&self.path)?;
            file.write_all(log::probe_line(probe).as_bytes())
        };
        append()
            .map_err(|error| Error::Execution(format!("failed to keep the log of the probes: {error}")))?;
        self.is_empty = false;
        Ok(())
    }

    /// The question is answered; the next one begins afresh.
    fn remove(&self) {
        let _ = fs_err::remove_file(&self.path);
        let _ = self.path.parent().map(fs_err::remove_dir);
    }
}
