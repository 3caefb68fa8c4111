//! From the layers of one benchmark to its settings.

use std::collections::BTreeMap;

use super::error::{Invalid, Sink};
use super::harnesses::{default_metrics, is_in_process, measures, measures_sometimes};
use super::judge_check::check_judge;
use super::keys::nearest;
use super::launch::{HarnessChoice, Hooks, Launch, Work};
use super::layers::{BenchLayer, BudgetLayer, MetricLayer, Set};
use super::metric::{Better, Metric, Unit};
use super::presets::{DEFAULT_PRESET, LAST_LOOK, MEAN_RESAMPLES, MEAN_SAMPLES, judge_of};
use super::read_budget::check_direction;
use super::settings::{
    Aggregation, BenchmarkSettings, Budget, JudgeSettings, MetricSettings, Resamples, SampleCount, Sampling,
    Statistic, Stop,
};
use super::tolerance::Policy;

/// Everything of one benchmark; `harness` is `None` before it is known. Mistakes go to `sink`, with a value that can
/// be gone on with in their place.
pub(super) fn resolve(
    layer: &BenchLayer,
    harness: Option<HarnessChoice>,
    head_only: bool,
    sink: &mut Sink,
) -> (BenchmarkSettings, Launch) {
    let compare = value(&layer.compare, true);
    let mut judge = resolve_judge(layer);
    let asked = judge.stop;
    let samples = resolve_samples(layer, &mut judge, compare && !head_only, sink);
    check_judge(&judge, asked, &layer.judge, sink);
    if judge.statistic == Statistic::Mean && judge.resamples == Resamples::Exact {
        judge.resamples = Resamples::MonteCarlo(MEAN_RESAMPLES);
    }
    let metrics = resolve_metrics(layer, harness, sink);
    if !compare {
        say_uncompared(layer, sink);
    }
    let budgets = resolve_budgets(layer, harness, sink);
    let tolerances = resolve_tolerances(layer, sink);
    let settings = BenchmarkSettings {
        sampling: Sampling {
            warmup: value(&layer.warmup, 1),
            samples,
            min_time_ns: value(&layer.min_time_ns, 0),
            timeout_ns: value(&layer.timeout_ns, 60_000_000_000),
        },
        judge,
        metrics: metrics.into_iter().collect(),
        budgets,
        compare,
        group: layer.group.as_ref().map(|set| set.value.clone()),
        tolerances,
    };
    (settings, resolve_launch(layer))
}

fn value<T: Copy>(set: &Option<Set<T>>, default: T) -> T {
    set.as_ref().map_or(default, |set| set.value)
}

fn resolve_judge(layer: &BenchLayer) -> JudgeSettings {
    let written = &layer.judge;
    let preset = judge_of(value(&written.preset, DEFAULT_PRESET));
    JudgeSettings {
        preset: preset.preset,
        method: value(&written.method, preset.method),
        statistic: value(&written.statistic, preset.statistic),
        pairing: value(&written.pairing, preset.pairing),
        interval: value(&written.interval, preset.interval),
        resamples: value(&written.resamples, preset.resamples),
        confidence: value(&written.confidence, preset.confidence),
        min_samples: value(&layer.min_samples, preset.min_samples),
        max_cv: value(&written.max_cv, preset.max_cv),
        stop: value(&written.stop, preset.stop),
        correction: value(&written.correction, preset.correction),
        target_ci: value(&written.target_ci, preset.target_ci),
        show_percent: value(&written.show_percent, preset.show_percent),
    }
}

fn resolve_samples(
    layer: &BenchLayer,
    judge: &mut JudgeSettings,
    compared: bool,
    sink: &mut Sink,
) -> SampleCount {
    if let Some(samples) = &layer.samples {
        if compared && samples.value < judge.min_samples {
            let needed = judge.min_samples;
            let least = samples.value.next_multiple_of(2);
            let help = if samples.place.is_command_line() {
                format!("give --samples {needed}, or --min-samples {least} --max-samples {least}")
            } else {
                format!("write samples = {needed}, or min_samples = {least} and max_samples = {least}")
            };
            let preset = judge.preset;
            let problem =
                format!("can never be judged: a verdict of preset `{preset}` needs {needed} a side");
            let invalid = Invalid::with_help(problem, help);
            complain("samples", samples, invalid, sink);
        }
        let fixed = round_up("samples", samples, sink);
        // The looks of the settled stop have no place in a fixed number of runs.
        if judge.stop == Stop::Settled || judge.stop == Stop::Precision {
            if let Some(stop) = &layer.judge.stop {
                sink.note(format!(
                    "samples = {fixed} is a fixed number of runs, so stop = \"{}\" has no effect",
                    stop.value
                ));
            }
            judge.stop = Stop::Fixed;
        }
        return SampleCount::Fixed(fixed);
    }
    let min = judge.min_samples;
    let default_max = LAST_LOOK.max(min.next_multiple_of(2));
    let max = match &layer.max_samples {
        Some(set) => round_up("max_samples", set, sink),
        None => default_max,
    };
    if max < min {
        let problem = match (&layer.max_samples, &layer.min_samples) {
            (Some(set), Some(min_set)) => Some((set, format!("is below min_samples = {}", min_set.value))),
            (Some(set), None) => {
                Some((set, format!("is below the {min} samples a side that preset `{}` needs", judge.preset)))
            }
            (None, _) => None,
        };
        if let Some((set, problem)) = problem {
            let help = format!("write max_samples = {min} or more, or a smaller min_samples");
            complain("max_samples", set, Invalid::with_help(problem, help), sink);
        }
        return SampleCount::Adaptive { min, max: default_max };
    }
    if judge.stop == Stop::Settled && judge.statistic == Statistic::Mean {
        let fixed = MEAN_SAMPLES.clamp(min.next_multiple_of(2), max);
        sink.note(format!(
            "statistic = \"mean\" has no rule for stopping early, so {fixed} samples a side are taken"
        ));
        judge.stop = Stop::Fixed;
        return SampleCount::Fixed(fixed);
    }
    if judge.stop == Stop::Settled && LAST_LOOK < max {
        let help = format!("write {LAST_LOOK} at most, or judge.stop = \"fixed\"");
        let problem = format!("is beyond the last look of the stop `settled`, {LAST_LOOK} a side");
        let (key, set) = match &layer.max_samples {
            Some(set) => ("max_samples", Some(set)),
            None => ("min_samples", layer.min_samples.as_ref()),
        };
        if let Some(set) = set {
            complain(key, set, Invalid::with_help(problem, help), sink);
        }
    }
    SampleCount::Adaptive { min, max }
}

fn round_up(key: &str, set: &Set<u32>, sink: &mut Sink) -> u32 {
    let even = set.value.next_multiple_of(2);
    if even != set.value {
        sink.note(format!(
            "{key} = {} is rounded up to {even}, since a round holds two runs of every revision",
            set.value
        ));
    }
    even
}

fn resolve_metrics(
    layer: &BenchLayer,
    harness: Option<HarnessChoice>,
    sink: &mut Sink,
) -> Vec<(Metric, MetricSettings)> {
    let mut resolved: Vec<(Metric, MetricSettings)> = default_metrics(harness);
    for (metric, written) in &layer.metrics {
        let Some(unit) = metric.unit().or_else(|| written.unit.as_ref().map(|set| set.value.clone())) else {
            // A flag asks those that declare the metric; that none does is found where flags are read.
            if written.named_in.is_command_line() {
                continue;
            }
            let invalid =
                undeclared(metric, "give it a unit, as in { unit = \"tokens\", better = \"lower\" }");
            sink.error(&written.named_in, metric.name(), None, invalid);
            continue;
        };
        if let Some(harness) = harness.filter(|harness| !measures(*harness, metric)) {
            if written.pointed {
                sink.error(&written.named_in, metric.name(), None, unmeasured(harness, metric));
            }
            continue;
        }
        let better = value(&written.better, Better::Lower);
        let settings = MetricSettings {
            unit,
            better,
            max_percent: value(&written.max_percent, super::harnesses::default_max_percent(metric)),
            min_difference: value(&written.min_difference, 0.0),
            gate: value(&written.gate, true),
            asked_for: written.pointed || !harness.is_some_and(|harness| measures_sometimes(harness, metric)),
        };
        match resolved.iter_mut().find(|(known, _)| known == metric) {
            Some(slot) => slot.1 = settings,
            None => resolved.push((metric.clone(), settings)),
        }
    }
    if let Some(percent) = &layer.max_percent {
        for (_, settings) in resolved.iter_mut().filter(|(_, settings)| settings.gate) {
            settings.max_percent = percent.value;
        }
    }
    resolved
}

/// Limits of comparison of an entry that compares nothing.
fn say_uncompared(layer: &BenchLayer, sink: &mut Sink) {
    let limits = |written: &MetricLayer| {
        written.max_percent.is_some() || written.min_difference.is_some() || written.gate.is_some()
    };
    let named = layer.metrics.iter().find(|(_, written)| written.pointed && limits(written));
    if let Some((metric, written)) = named {
        sink.note(format!(
            "{}: compare = false measures head alone, so the limits of {}.{metric} do nothing; write a budget, or leave them out",
            written.named_in.manifest, written.named_in.table
        ));
    }
}

/// A metric that was named for just these benchmarks, whose harness cannot measure it.
fn unmeasured(harness: HarnessChoice, metric: &Metric) -> Invalid {
    let known: Vec<&str> =
        Metric::BUILT_IN.iter().filter(|known| measures(harness, known)).map(Metric::name).collect();
    let help = match metric {
        Metric::Own(_) => "leave it out, or print it under harness = \"lines\"".to_owned(),
        _ => format!("leave it out; of the built-in ones it measures {}", known.join(", ")),
    };
    Invalid::with_help(format!("cannot be measured with the harness {harness}"), help)
}

/// The written tolerances, each checked against the unit of its metric.
fn resolve_tolerances(layer: &BenchLayer, sink: &mut Sink) -> BTreeMap<Metric, Policy> {
    let mut tolerances = BTreeMap::new();
    for (metric, written) in &layer.tolerances {
        let declared = layer.metrics.get(metric).and_then(|written| written.unit.as_ref());
        let Some(unit) = metric.unit().or_else(|| declared.map(|set| set.value.clone())) else {
            let declare = format!("declare metrics.{metric} = {{ unit = \"…\" }}");
            sink.error(&written.named_in, metric.name(), None, undeclared(metric, &declare));
            continue;
        };
        let policy = Policy {
            metric_kind: written.metric_kind.as_ref().map(|set| set.value),
            absolute: written.absolute.as_ref().map(|set| set.value),
            relative_percent: written.relative_percent.as_ref().map(|set| set.value),
        };
        if let (Err(problem), Some(set)) = (policy.resolve(&unit), &written.metric_kind) {
            let help = "write the kind that goes with the unit, or leave it out";
            complain("metric_kind", set, Invalid::with_help(problem, help), sink);
            continue;
        }
        tolerances.insert(metric.clone(), policy);
    }
    tolerances
}

fn undeclared(metric: &Metric, declare: &str) -> Invalid {
    let help = match nearest(metric.name(), Metric::BUILT_IN.iter().map(Metric::name)) {
        Some(near) => format!("did you mean `{near}`? For a metric of your own, {declare}"),
        None => format!("for a metric of your own, {declare}"),
    };
    Invalid::with_help("unknown metric", help)
}

fn resolve_budgets(layer: &BenchLayer, harness: Option<HarnessChoice>, sink: &mut Sink) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for budget in &layer.budgets {
        match check_budget(layer, budget, harness) {
            Ok(()) => budgets.push(Budget {
                metric: budget.metric.clone(),
                aggregation: budget.aggregation,
                operator: budget.operator,
                limit: budget.limit,
                written: budget.written.clone(),
            }),
            Err(invalid) => {
                sink.error(&budget.place, &budget.key, Some(format!("{:?}", budget.written)), invalid);
            }
        }
    }
    budgets
}

fn check_budget(
    layer: &BenchLayer,
    budget: &BudgetLayer,
    harness: Option<HarnessChoice>,
) -> Result<(), Invalid> {
    if let Metric::Own(_) = budget.metric {
        let declared = layer.metrics.get(&budget.metric).filter(|written| written.unit.is_some());
        let Some(declared) = declared else {
            let name = budget.metric.name();
            let declare = format!("declare metrics.{name} = {{ unit = \"…\" }}");
            return Err(undeclared(&budget.metric, &declare));
        };
        check_direction(&budget.metric, value(&declared.better, Better::Lower), budget.operator)?;
    }
    // A rate is made of the latency and the work.
    let measured = if budget.metric == Metric::Throughput { &Metric::Latency } else { &budget.metric };
    if let Some(harness) = harness.filter(|harness| budget.pointed && !measures(*harness, measured)) {
        return Err(unmeasured(harness, measured));
    }
    if let (Aggregation::Percentile(_), Some(harness)) = (budget.aggregation, harness)
        && is_in_process(harness)
    {
        return Err(Invalid::with_help(
            format!("is a percentile, and {harness} reports one summary a run, not single calls"),
            "write min, median, mean or max",
        ));
    }
    if budget.metric == Metric::Throughput {
        return check_rate(layer, budget, harness);
    }
    Ok(())
}

fn check_rate(
    layer: &BenchLayer,
    budget: &BudgetLayer,
    harness: Option<HarnessChoice>,
) -> Result<(), Invalid> {
    let work_unit = match layer.launch.work.as_ref().map(|set| &set.value) {
        Some(Work::File(_)) => "bytes",
        Some(Work::Value { unit, .. }) => unit.as_str(),
        None if harness == Some(HarnessChoice::Process) => {
            let help = "write work = { file = \"…\" } or work = { value = … } beside it";
            return Err(Invalid::with_help("limits a rate, and the entry states no work", help));
        }
        None => return Ok(()),
    };
    match &budget.rate_unit {
        Some(unit) if unit != work_unit => Err(Invalid::with_help(
            format!("is in {unit} per second, and the work is in {work_unit}"),
            format!("write a limit in {work_unit} per second"),
        )),
        _ => Ok(()),
    }
}

fn resolve_launch(layer: &BenchLayer) -> Launch {
    let written = &layer.launch;
    let default = Launch::default();
    let commands =
        |set: &Option<Set<Vec<Vec<String>>>>| set.as_ref().map_or_else(Vec::new, |set| set.value.clone());
    Launch {
        harness: value(&written.harness, HarnessChoice::Auto),
        isolate: value(&layer.isolate, default.isolate),
        args: written.args.as_ref().map_or(default.args, |set| set.value.clone()),
        env: written.env.clone(),
        cwd: written.cwd.as_ref().map(|set| set.value.clone()),
        stdin: written.stdin.as_ref().map(|set| set.value.clone()),
        exit_codes: written.exit_codes.as_ref().map_or(default.exit_codes, |set| set.value.clone()),
        work: written.work.as_ref().map(|set| set.value.clone()),
        hooks: Hooks {
            setup: commands(&written.setup),
            prepare_each: commands(&written.prepare_each),
            cleanup: commands(&written.cleanup),
        },
    }
}

pub(super) fn complain<T>(key: &str, set: &Set<T>, invalid: Invalid, sink: &mut Sink) {
    let flag = format!("--{}", key.replace('_', "-"));
    let key = if set.place.is_command_line() { &flag } else { key };
    sink.error(&set.place, key, Some(set.written.clone()), invalid);
}

/// The unit a metric of the suite is shown in.
pub(super) fn unit_of<'a>(
    metric: &Metric,
    settings: &'a BenchmarkSettings,
) -> Option<std::borrow::Cow<'a, Unit>> {
    match settings.metrics.get(metric) {
        Some(known) => Some(std::borrow::Cow::Borrowed(&known.unit)),
        None => metric.unit().map(std::borrow::Cow::Owned),
    }
}
