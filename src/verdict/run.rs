//! The judgement of a whole run: every benchmark, the counts, the exit status.

use std::collections::BTreeMap;

use crate::suite::accept::Accept;
use crate::suite::identity::labels;
use crate::suite::metric::Metric;

use super::acceptance;
use super::budget;
use super::comparison::{Draft, Opponents};
use super::correction::{self, Drafted};
use super::evidence::{ErrorKind, Evidence, Presence, Side};
use super::exit::{self, Named};
use super::outcome::{
    BenchResult, BudgetOutcome, BudgetStatus, Comparison, Exit, Reason, Statistics, Summary, Verdict,
};
use super::result;
use super::statistics;
use super::throughput;
use super::warnings;

/// What a judgement depends on beside the samples and their settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunContext {
    /// The seed of the random resamples.
    pub seed: u64,
    /// When the run began, RFC 3339: what is accepted for a time is judged against it.
    pub started_at: Option<String>,
    /// Things beside a regression that fail the run: `inconclusive`, `removed`, `skipped`.
    pub also_fail_on: Vec<String>,
    /// Whether benchmarks that `max_time` left out are accepted.
    pub allow_partial: bool,
    /// `--no-fail`: exit status 1 becomes 0.
    pub no_fail: bool,
    /// Whether the user interrupted the run.
    pub interrupted: bool,
    /// Known slowdowns that do not fail the run.
    pub accept: Vec<Accept>,
    /// Whether this is one shard of a run: what is missing here may be in another.
    pub shard: bool,
}

/// What a run comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct RunJudgement {
    /// One for each evidence, in its order.
    pub benchmarks: Vec<Judged>,
    /// The counts.
    pub summary: Summary,
    /// The exit status and why.
    pub exit: Exit,
    /// What advises the reader.
    pub warnings: Vec<String>,
}

/// What a benchmark comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Base against each further side.
    pub comparisons: Vec<Comparison>,
    /// The absolute limits, for each side but base.
    pub budgets: Vec<BudgetOutcome>,
    /// The worst of its gated parts.
    pub result: BenchResult,
    /// The description of each side's metrics, in the order of the sides.
    pub statistics: Vec<BTreeMap<Metric, Statistics>>,
    /// The group it is summarised in.
    pub group: String,
}

/// Judges everything that was measured. The same evidence and context give the same answer, bit for bit.
pub fn judge_run(evidence: &[Evidence], context: &RunContext) -> RunJudgement {
    let mut drafted: Vec<Drafted<'_>> = evidence.iter().map(|evidence| draft(evidence, context)).collect();
    correction::apply(&mut drafted, context);
    let accepts = acceptance::apply(&mut drafted, context);
    let expected_false_alarms = correction::expected_false_alarms(&drafted);
    let benchmarks: Vec<Judged> = drafted.into_iter().map(|drafted| conclude(drafted, context)).collect();
    let mut summary = Summary { expected_false_alarms, ..Summary::default() };
    let mut names = Vec::with_capacity(evidence.len());
    let labels = labels(evidence.iter().map(|evidence| &evidence.identity));
    for ((evidence, judged), label) in evidence.iter().zip(&benchmarks).zip(labels) {
        let skipped_before = summary.gated_skipped;
        result::count(&mut summary, evidence.presence, judged.result, &judged.comparisons, &judged.budgets);
        names.push(Named {
            label,
            result: judged.result,
            removed: evidence.presence == Presence::Removed,
            skipped: skipped_before < summary.gated_skipped,
            regressed: judged.comparisons.iter().any(result::is_failing),
            over_budget: judged.budgets.iter().any(|budget| budget.status == BudgetStatus::Fail),
            error: match &evidence.error {
                Some(error) => Some(error.message.clone()),
                None => missing_metric(evidence, &judged.comparisons),
            },
        });
    }
    let known = |evidence: &Evidence| {
        evidence.presence == Presence::Unchanged || evidence.sides.iter().any(|side| !side.runs.is_empty())
    };
    // A shard without a benchmark has nothing to say; the run it is a part of has.
    let is_empty_shard = context.shard && evidence.is_empty();
    let measured_nothing = !evidence.iter().any(known) && !is_empty_shard;
    let exit = exit::exit(&summary, context, &names, measured_nothing);
    let mut warnings = warnings::of_run(evidence, &benchmarks);
    warnings.extend(accepts);
    RunJudgement { benchmarks, summary, exit, warnings }
}

/// The comparisons of a benchmark before any correction: each further side against the first.
pub(super) fn draft<'a>(evidence: &'a Evidence, context: &RunContext) -> Drafted<'a> {
    let compared = is_compared(evidence) && failure(evidence, context) != Some(BenchResult::Error);
    let heads = if compared { 1..evidence.sides.len() } else { 0..0 };
    let opponents = heads.filter_map(|head| Opponents::of(evidence, head, context.seed));
    Drafted { evidence, heads: opponents.map(|opponents| opponents.compare()).collect() }
}

/// All of a benchmark, once its comparisons have their last word.
fn conclude(Drafted { evidence, heads: drafts }: Drafted<'_>, context: &RunContext) -> Judged {
    let settings = &evidence.settings;
    let failure = failure(evidence, context);
    let readable = failure != Some(BenchResult::Error) || is_base_unbuilt(evidence);
    let comparisons = with_throughput(evidence, drafts);
    let heads = heads(evidence);
    let budgets: Vec<BudgetOutcome> = if readable {
        // A side that was left out, where that is allowed, has nothing to check.
        let checked = heads
            .iter()
            .filter(|side| failure.is_none() || !side.runs.is_empty())
            .flat_map(|side| settings.budgets.iter().map(|budget| budget::check(settings, budget, side)));
        checked.collect()
    } else {
        Vec::new()
    };
    let mut result = result::worst(&comparisons, &budgets);
    if lacks_measurement(evidence, &comparisons) && failure.is_none() {
        result = result.max(BenchResult::MetricError);
    }
    Judged {
        comparisons,
        budgets,
        result: failure.map_or(result, |failure| result.max(failure)),
        statistics: evidence.sides.iter().map(|side| statistics::describe(settings, side)).collect(),
        group: group(evidence),
    }
}

/// What a failure makes of the result.
fn failure(evidence: &Evidence, context: &RunContext) -> Option<BenchResult> {
    Some(match evidence.error.as_ref()?.kind {
        ErrorKind::NotMeasured if context.allow_partial => BenchResult::Inconclusive,
        ErrorKind::Unsupported
        | ErrorKind::MeasuredNothing
        | ErrorKind::NotMeasured
        | ErrorKind::MetricFailed => BenchResult::MetricError,
        _ => BenchResult::Error,
    })
}

/// Whether base and head are compared at all.
fn is_compared(evidence: &Evidence) -> bool {
    evidence.presence == Presence::Compared && evidence.settings.compare
}

/// Whether it is base alone that failed, which says nothing against what was measured of head.
fn is_base_unbuilt(evidence: &Evidence) -> bool {
    evidence.presence == Presence::NotComparable
        && evidence.error.as_ref().is_some_and(|error| error.kind == ErrorKind::BuildFailed)
}

/// All comparisons in one list, each latency followed by the throughput that mirrors it.
fn with_throughput(evidence: &Evidence, drafts: Vec<Vec<Draft>>) -> Vec<Comparison> {
    let mut all = Vec::new();
    for (drafts, head) in drafts.into_iter().zip(evidence.sides.iter().skip(1)) {
        let mut comparisons: Vec<Comparison> = drafts.into_iter().map(|draft| draft.comparison).collect();
        let latency = comparisons.iter().position(|comparison| comparison.metric == Metric::Latency);
        let mirrored =
            |index: usize| throughput::derive(evidence, &evidence.sides[0], head, &comparisons[index]);
        if let Some((index, derived)) = latency.and_then(|index| Some((index, mirrored(index)?))) {
            comparisons.insert(index + 1, derived);
        }
        all.append(&mut comparisons);
    }
    all
}

/// The sides that budgets are checked on: all but base.
fn heads(evidence: &Evidence) -> &[Side] {
    match evidence.presence {
        Presence::Removed => &[],
        Presence::New => &evidence.sides,
        _ if evidence.sides.len() == 1 => &evidence.sides,
        _ => evidence.sides.get(1..).unwrap_or(&[]),
    }
}

/// What to say of a metric that had to be measured and was not.
fn missing_metric(evidence: &Evidence, comparisons: &[Comparison]) -> Option<String> {
    let settings = &evidence.settings;
    if let Some(comparison) =
        comparisons.iter().find(|it| result::is_missing(it, settings, &evidence.harness))
    {
        let metric = &comparison.metric;
        return Some(match comparison.samples {
            [0, 0] => format!("`{metric}` was not measured on either side"),
            [0, _] => format!("`{metric}` was not measured in {}", comparison.base_revision),
            _ => format!("`{metric}` was not measured in {}", comparison.head_revision),
        });
    }
    // Of one side alone, or without a comparison, the side itself must have what was asked for.
    let alone = result::stands_alone(evidence.presence, settings, evidence.sides.len());
    let heads = heads(evidence).iter().filter(|_| alone);
    let metric = heads.flat_map(|side| result::unmeasured(settings, &side.runs)).next()?;
    Some(format!("`{metric}` was asked for and not measured"))
}

/// Whether something that was asked for was not measured: a metric, or anything at all.
fn lacks_measurement(evidence: &Evidence, comparisons: &[Comparison]) -> bool {
    let missing = missing_metric(evidence, comparisons).is_some();
    let own = |comparison: &&Comparison| comparison.derived_from.is_none();
    let nothing = match evidence.presence {
        Presence::Removed | Presence::Unchanged | Presence::NotComparable => false,
        // Of head alone, as `run` measures it, there is nothing to compare.
        Presence::Compared if evidence.settings.compare && 1 < evidence.sides.len() => {
            comparisons.iter().filter(own).all(|comparison| {
                comparison.verdict == Verdict::Skipped && comparison.reason == Some(Reason::NotMeasured)
            })
        }
        Presence::Compared | Presence::New => heads(evidence).iter().all(|side| side.runs.is_empty()),
    };
    missing || nothing
}

/// The suite's group, else the part of the id before the first `/`.
fn group(evidence: &Evidence) -> String {
    let id = &evidence.identity.id;
    let own = || id.split_once('/').map_or(id.as_str(), |(first, _)| first).to_owned();
    evidence.settings.group.clone().unwrap_or_else(own)
}
