//! The walk of a bisect: both ends first, then the middle of what is open, then the answer once more.

use super::decide::{self, Finding};
use super::report::{Answer, BisectReport, Change, NamedCommit, Probe, wrong_turn_at_most};
use super::search::{Outcome, Search};
use crate::error::Error;
use crate::report::model::{Benchmark, Report, SCHEMA_VERSION};
use crate::revision::{Commit, LineCommit};
use crate::suite::metric::{Better, Metric};
use crate::verdict::evidence::Presence;
use crate::verdict::outcome::{Comparison, Verdict};

/// How often a probe that is not settled is made again, each time with twice the samples.
const MOST_LOOKS: u32 = 3;

/// Samples a side of a second look at both ends.
const MANY_SAMPLES: u32 = 120;

/// The names of the sides of a probe's report.
const SIDES: [&str; 3] = ["base", "ref1", "head"];

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk<'a> {
    /// The metric; `None`: the one that got worse.
    pub metric: Option<Metric>,
    /// The change from good to bad below which there is nothing to find, in per cent.
    pub threshold_percent: f64,
    /// Samples a side of the first look of a probe.
    pub samples: u32,
    /// Good first, bad last; at least two.
    pub line: &'a [LineCommit],
    /// Probes of an earlier walk.
    pub known: &'a [Probe],
}

/// Measures revisions: the seam between the walk and the world.
pub trait Prober {
    /// Judges head against base, with this limit in per cent; with so many samples a side, or as many as the judge wants.
    fn judge(
        &mut self,
        base: &Commit,
        head: &Commit,
        limit_percent: f64,
        samples: Option<u32>,
    ) -> Result<Report, Error>;

    /// Measures both ends and a commit between them in one schedule; the commit is the further revision `ref1`.
    fn probe(&mut self, ends: [&Commit; 2], middle: &Commit, samples: u32) -> Result<Report, Error>;

    /// Hears of the walk's way: what comes next, and how many probes are left at the most.
    fn next(&mut self, commit: &Commit, probes_left: u32);

    /// What a merge brought into its first parent: the ends of each side branch.
    fn merged(&mut self, parent: &Commit, merge: &LineCommit) -> Vec<[NamedCommit; 2]>;

    /// Hears of a probe that was made.
    fn probed(&mut self, probe: &Probe) -> Result<(), Error>;
}

/// Walks to the answer.
///
/// # Errors
///
/// When a step fails that has nothing to do with the commit between the ends, or the user interrupts.
pub fn walk(asked: &Walk<'_>, prober: &mut dyn Prober) -> Result<BisectReport, Error> {
    let [good, .., bad] = asked.line else { panic!("a line has two ends") };
    let mut report = BisectReport {
        schema_version: SCHEMA_VERSION,
        command: "bisect".to_owned(),
        benchmark: None,
        metric: asked.metric.clone(),
        threshold_percent: asked.threshold_percent,
        good: (&good.commit).into(),
        bad: (&bad.commit).into(),
        commits: asked.line.len() - 1,
        effect: None,
        probes: Vec::new(),
        wrong_turn_at_most: 0.0,
        answer: Answer::Undecided { why: String::new() },
        opened: Vec::new(),
    };
    let mut anchor = prober.judge(&good.commit, &bad.commit, asked.threshold_percent, None)?;
    refuse_interrupted(&anchor)?;
    // All that follows hangs on this answer, so a noisy minute gets a second chance.
    let undecided = |it: &Comparison| it.gate && it.verdict == Verdict::Inconclusive;
    if only(&anchor)?.comparisons.iter().any(undecided) {
        anchor = prober.judge(&good.commit, &bad.commit, asked.threshold_percent, Some(MANY_SAMPLES))?;
        refuse_interrupted(&anchor)?;
    }
    let benchmark = only(&anchor)?;
    report.benchmark = Some(benchmark.identity.clone());
    let comparison = match anchored(benchmark, asked) {
        Ok(comparison) => comparison,
        Err(answer) => return Ok(BisectReport { answer: *answer, ..report }),
    };
    report.metric = Some(comparison.metric.clone());
    report.effect = Some(change(comparison));
    match comparison.verdict {
        Verdict::Regression => {}
        Verdict::Skipped => {
            let why = format!(
                "there are no values of {} of both good and bad, so there is nothing to bisect by",
                comparison.metric
            );
            return Ok(BisectReport { answer: Answer::Undecided { why }, ..report });
        }
        Verdict::Inconclusive => {
            let why = format!(
                "good and bad could not be told apart at {} %: more samples (--max-samples), a wider --threshold or a quieter machine would",
                asked.threshold_percent
            );
            return Ok(BisectReport { answer: Answer::Undecided { why }, ..report });
        }
        Verdict::Pass | Verdict::Improved => {
            let why = format!(
                "nothing to find: bad is not slower than good by more than {} %",
                asked.threshold_percent
            );
            return Ok(BisectReport { answer: Answer::NothingToFind { why }, ..report });
        }
    }
    let metric = comparison.metric.clone();
    let half = half_of(comparison).unwrap_or(asked.threshold_percent);
    let outcome = search(asked, &metric, prober, &mut report)?;
    report.wrong_turn_at_most = wrong_turn_at_most(&report.probes);
    report.answer = match outcome {
        Outcome::Found(place) => found(asked, &metric, half, place, prober)?,
        Outcome::Between(fast, slow) => Answer::Between {
            after: (&asked.line[fast].commit).into(),
            candidates: asked.line[fast + 1..=slow].iter().map(|it| (&it.commit).into()).collect(),
        },
        Outcome::Probe(_) => unreachable!("a search ends with an answer"),
    };
    Ok(report)
}

/// The comparison of both ends, or the answer that there is none.
fn anchored<'a>(benchmark: &'a Benchmark, asked: &Walk<'_>) -> Result<&'a Comparison, Box<Answer>> {
    let label = benchmark.identity.label();
    match benchmark.presence {
        Presence::Compared => {}
        Presence::Unchanged => {
            let why = "nothing to find: the programs of good and bad are identical".to_owned();
            return Err(Box::new(Answer::NothingToFind { why }));
        }
        Presence::New => {
            let why = format!("{label} is not in good; name a later GOOD, from where it exists");
            return Err(Box::new(Answer::Undecided { why }));
        }
        Presence::Removed => {
            let why = format!("{label} is not in bad; name an earlier BAD, up to where it exists");
            return Err(Box::new(Answer::Undecided { why }));
        }
        Presence::NotComparable => {
            let note = benchmark.presence_note.clone().unwrap_or_default();
            return Err(Box::new(Answer::Undecided {
                why: format!("good and bad cannot be compared: {note}"),
            }));
        }
    }
    if let Some(error) = &benchmark.error {
        return Err(Box::new(Answer::Undecided {
            why: format!("the ends could not be measured: {}", error.message),
        }));
    }
    let comparisons = || benchmark.comparisons.iter().filter(|it| it.derived_from.is_none());
    let wanted = match &asked.metric {
        Some(metric) => comparisons().find(|it| it.metric == *metric),
        None => comparisons()
            .find(|it| it.gate && it.verdict == Verdict::Regression)
            .or_else(|| comparisons().find(|it| it.gate)),
    };
    wanted.ok_or_else(|| {
        let metric = asked.metric.as_ref().map_or("gated metric", Metric::name);
        let why = format!("{label} has no {metric} to compare; name one with --metric");
        Box::new(Answer::Undecided { why })
    })
}

fn search(
    asked: &Walk<'_>,
    metric: &Metric,
    prober: &mut dyn Prober,
    report: &mut BisectReport,
) -> Result<Outcome, Error> {
    let mut search = Search::new(asked.line.len());
    loop {
        let place = match search.outcome() {
            Outcome::Probe(place) => place,
            answer => return Ok(answer),
        };
        let commit = &asked.line[place].commit;
        // Of another metric, a probe says nothing: which one is followed may hang on how the ends came out.
        let is_it =
            |it: &&Probe| it.commit.commit == commit.id.as_str() && it.metric.as_ref() == Some(metric);
        let probe = match asked.known.iter().find(is_it) {
            Some(probe) => Probe { place, ..probe.clone() },
            None => {
                prober.next(commit, search.probes_left());
                let probe = probe(asked, metric, place, prober)?;
                prober.probed(&probe)?;
                probe
            }
        };
        search.record(place, probe.finding.clone());
        report.probes.push(probe);
    }
}

/// Probes a commit until it is told or the looks are used up.
fn probe(asked: &Walk<'_>, metric: &Metric, place: usize, prober: &mut dyn Prober) -> Result<Probe, Error> {
    let [good, .., bad] = asked.line else { panic!("a line has two ends") };
    let commit = &asked.line[place].commit;
    let mut probe = Probe {
        commit: commit.into(),
        place,
        metric: Some(metric.clone()),
        finding: Finding::Undecided,
        change_percent: None,
        share: None,
        rounds: 0,
        looks: 0,
    };
    let mut samples = asked.samples;
    while probe.finding == Finding::Undecided && probe.looks < MOST_LOOKS {
        let measured = match prober.probe([&good.commit, &bad.commit], commit, samples) {
            Ok(measured) => measured,
            Err(error @ (Error::Interrupted | Error::Internal(_))) => return Err(error),
            // Both ends were built before, so what fails now is this commit's.
            Err(error) => {
                probe.finding = Finding::Skipped { why: error.to_string() };
                return Ok(probe);
            }
        };
        refuse_interrupted(&measured)?;
        probe.looks += 1;
        match runs(&measured) {
            Err(why) => probe.finding = Finding::Skipped { why },
            Ok([good, middle, bad]) => {
                let leaning = decide::lean(metric, good, middle, bad);
                probe.finding = leaning.finding;
                probe.change_percent = leaning.change_percent;
                probe.share = leaning.share;
                probe.rounds = leaning.rounds;
            }
        }
        samples = samples.saturating_mul(2);
    }
    Ok(probe)
}

type Runs<'a> = &'a [crate::verdict::evidence::UnitRun];

/// The runs of good, the commit between, and bad; or why the commit has none.
fn runs(report: &Report) -> Result<[Runs<'_>; 3], String> {
    let benchmark = only(report).map_err(|error| error.to_string())?;
    if let Some(error) = &benchmark.error {
        return Err(error.message.clone());
    }
    let side = |name: &str| {
        benchmark
            .sides
            .iter()
            .find(|side| side.revision == name && !side.runs.is_empty())
            .map(|side| side.runs.as_slice())
    };
    match SIDES.map(side) {
        [Some(good), Some(middle), Some(bad)] => Ok([good, middle, bad]),
        _ => {
            let note = report.warnings.iter().find(|warning| warning.contains("ref1"));
            Err(note.cloned().unwrap_or_else(|| "the benchmark was not measured there".to_owned()))
        }
    }
}

/// Measures the answer against its parent once more.
fn found(
    asked: &Walk<'_>,
    metric: &Metric,
    half: f64,
    place: usize,
    prober: &mut dyn Prober,
) -> Result<Answer, Error> {
    let (first, parent) = (&asked.line[place], &asked.line[place - 1]);
    let confirmation = match prober.judge(&parent.commit, &first.commit, half, None) {
        Ok(measured) => {
            refuse_interrupted(&measured)?;
            confirmation(&measured, metric)
        }
        Err(error @ (Error::Interrupted | Error::Internal(_))) => return Err(error),
        // The answer stands without it, and says so.
        Err(error) => Confirmation { why: Some(error.to_string()), ..Confirmation::default() },
    };
    Ok(Answer::Found {
        first: (&first.commit).into(),
        parent: (&parent.commit).into(),
        step: confirmation.step,
        confirmed: confirmation.confirmed,
        why: confirmation.why,
        merged: if first.merged.is_empty() { Vec::new() } else { prober.merged(&parent.commit, first) },
    })
}

/// What the answer's own change says of the answer.
#[derive(Default)]
struct Confirmation {
    step: Option<Change>,
    confirmed: Option<bool>,
    why: Option<String>,
}

fn confirmation(measured: &Report, metric: &Metric) -> Confirmation {
    let untold = |why: String| Confirmation { why: Some(why), ..Confirmation::default() };
    let benchmark = match only(measured) {
        Ok(benchmark) => benchmark,
        Err(error) => return untold(error.to_string()),
    };
    if benchmark.presence == Presence::Unchanged {
        let why = "its program is identical to its parent's, so it cannot have made the benchmark slower";
        return Confirmation { confirmed: Some(false), ..untold(why.to_owned()) };
    }
    if let Some(error) = &benchmark.error {
        return untold(error.message.clone());
    }
    let Some(comparison) = benchmark.comparisons.iter().find(|it| it.metric == *metric) else {
        let why = benchmark.presence_note.clone();
        return untold(why.unwrap_or_else(|| format!("{metric} was not compared there")));
    };
    let confirmed = match comparison.verdict {
        Verdict::Regression => Some(true),
        Verdict::Pass | Verdict::Improved => Some(false),
        Verdict::Inconclusive | Verdict::Skipped => None,
    };
    Confirmation { step: Some(change(comparison)), confirmed, why: None }
}

/// Half of the whole change on the logarithmic scale, as a limit in per cent: of what rises where less is better, of what
/// falls where more is.
fn half_of(comparison: &Comparison) -> Option<f64> {
    let half = (comparison.change_percent? / 100.0).ln_1p().abs() / 2.0;
    let limit = match comparison.better {
        Better::Lower => half.exp_m1() * 100.0,
        Better::Higher => -(-half).exp_m1() * 100.0,
    };
    (half.is_finite() && limit.is_finite()).then(|| limit.clamp(0.01, 1000.0))
}

fn change(comparison: &Comparison) -> Change {
    Change {
        verdict: comparison.verdict,
        percent: comparison.change_percent,
        ci_low_percent: comparison.ci_low_percent,
        ci_high_percent: comparison.ci_high_percent,
    }
}

fn only(report: &Report) -> Result<&Benchmark, Error> {
    match report.benchmarks.as_slice() {
        [benchmark] => Ok(benchmark),
        several => {
            let names: Vec<String> = several
                .iter()
                .take(8)
                .map(|it| format!("{}:{}", it.identity.target.package, it.identity.label()))
                .collect();
            Err(Error::Usage(format!(
                "the name fits {} benchmarks ({}); bisect follows one: name it in full as target/id, or add --bench or --package",
                several.len(),
                names.join(", ")
            )))
        }
    }
}

fn refuse_interrupted(report: &Report) -> Result<(), Error> {
    if report.was_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}
