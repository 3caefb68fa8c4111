//! `cargo xtask calibrate`: the error rates of the verdicts, simulated and compared with the published ones.

mod check;
mod families;
mod family;
mod fit;
mod noise;
mod rule;
mod seeds;
mod simulate;
mod table;
mod targets;
mod trial;

#[cfg(test)]
mod tests;

/// An enum whose values have a name in tables.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The name in tables.
            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}
use words;

use std::error::Error;
use std::time::Instant;

use cargo_benchgate::suite::settings::Method;
use cargo_benchgate::verdict::judge_run;
use cargo_benchgate::verdict::levels::LOOKS;

use check::{Outcome, Row, compare};
use families::FamilyRow;
use family::Guard;
use fit::Fit;
use simulate::{Judge, Tally, simulate};

const USAGE: &str = "\
usage: cargo xtask calibrate [--quick] [--only TEXT]
       cargo xtask calibrate --fit [--method bootstrap|rank] [--looks N,N,…] [--trials N] [--quick]

simulates every published figure, compares, prints the tables; fails when a figure is off

  --quick       a fifteenth of the trials
  --only TEXT   only rows whose line holds the text
  --fit         instead finds the levels of a look for an overall error of 1 % (regression) and 5 % (pass)
  --method M    of the default judge (bootstrap), or of the rank tests
  --looks N,…   samples a side at which is looked: even, ascending; default: those of the settled rule
  --trials N    sequences of each of 13 noises; default 20000";

/// `--quick` makes so many times fewer trials, but no fewer than [`QUICK_LEAST`].
const QUICK: u64 = 15;
/// See [`QUICK`].
const QUICK_LEAST: u64 = 20;

/// What is asked for.
#[derive(Debug, Clone, Default)]
struct Options {
    quick: bool,
    only: Option<String>,
    fit: bool,
    method: Option<String>,
    looks: Option<String>,
    trials: Option<String>,
}

/// One row with what was simulated of it.
struct Simulated {
    row: Row,
    tally: Tally,
    outcomes: Vec<Outcome>,
}

/// Runs the verb with its arguments.
pub(crate) fn run(args: &[String]) -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => options.quick = true,
            "--fit" => options.fit = true,
            "--only" => options.only = Some(args.next().ok_or(USAGE)?.clone()),
            "--method" => options.method = Some(args.next().ok_or(USAGE)?.clone()),
            "--looks" => options.looks = Some(args.next().ok_or(USAGE)?.clone()),
            "--trials" => options.trials = Some(args.next().ok_or(USAGE)?.clone()),
            _ => return Err(USAGE.into()),
        }
    }
    match (&options, options.fit) {
        (_, true) if options.only.is_none() => {
            fit(&options)?.run().iter().for_each(|line| println!("{line}"));
            Ok(())
        }
        (Options { method: None, looks: None, trials: None, .. }, false) => calibrate(&options),
        _ => Err(USAGE.into()),
    }
}

/// What the options ask the fit for.
fn fit(options: &Options) -> Result<Fit, Box<dyn Error>> {
    let method = match options.method.as_deref() {
        None => Method::Bootstrap,
        Some(word) => Method::from_word(word).ok_or(USAGE)?,
    };
    let looks: Vec<usize> = match &options.looks {
        None => LOOKS.iter().map(|&look| look as usize).collect(),
        Some(list) => {
            list.split(',').map(|look| look.trim().parse()).collect::<Result<_, _>>().map_err(|_| USAGE)?
        }
    };
    // A round makes two runs of each side; a median of fewer than four says nothing.
    let even = looks.iter().all(|look| look % 2 == 0 && 4 <= *look);
    if looks.is_empty() || !even || !looks.is_sorted_by(|left, right| left < right) {
        return Err("looks must be even, ascending, and at least 4".into());
    }
    let trials: u64 = match &options.trials {
        None if options.quick => 1000,
        None => 20_000,
        Some(number) => number.parse().ok().filter(|trials| 0 < *trials).ok_or(USAGE)?,
    };
    Ok(Fit { method, looks, trials })
}

fn calibrate(options: &Options) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only));
    let scaled = |trials: u64| if options.quick { (trials / QUICK).max(QUICK_LEAST) } else { trials };
    let mut lines = Vec::new();
    let mut print = |line: String| {
        println!("{line}");
        lines.push(line);
    };
    let mut rows = Vec::new();
    let mut figures = 0;
    for row in [targets::all(), seeds::all()].concat() {
        if wanted(&table::name(&row)) {
            let simulated = check(row.clone(), scaled(row.trials), &judge_run);
            figures += simulated.outcomes.len();
            print(table::line(&simulated));
            rows.push(simulated);
        }
    }
    let mut families: Vec<FamilyRow> = Vec::new();
    for (family, runs) in families::sizes() {
        let mut guards: Vec<Guard> =
            Guard::ALL.into_iter().filter(|&guard| wanted(&table::family_name(family, guard))).collect();
        // What was never published cannot be off.
        guards.retain(|guard| !options.quick || families::is_published(*guard));
        // Guards that take the same trials see the same samples.
        for guards in guards.chunk_by(|left, right| left.thinned() == right.thinned()) {
            let alarms = family.simulate(guards, scaled(runs) / guards[0].thinned(), &judge_run);
            for (&guard, alarms) in guards.iter().zip(alarms) {
                let row = families::check(family, guard, alarms);
                figures += row.outcomes.len();
                print(table::family_line(&row));
                families.push(row);
            }
        }
    }
    println!("\n{}", table::markdown(&rows, &families));
    let off: Vec<String> = lines.into_iter().filter(|line| line.contains(table::OFF)).collect();
    println!("{figures} figures, {} rows off, {:.0} s", off.len(), began.elapsed().as_secs_f64());
    match off.as_slice() {
        [] if rows.is_empty() && families.is_empty() => Err("no row has this text".into()),
        [] => Ok(()),
        off => Err(format!("not as published:\n{}", off.join("\n")).into()),
    }
}

/// Simulates a row and compares it with its targets.
fn check(row: Row, trials: u64, judge: Judge<'_>) -> Simulated {
    let tally = simulate(&row.cell, seed_of(&row), trials, judge);
    let outcomes = row.checks.iter().map(|&check| compare(check, &tally)).collect();
    Simulated { row, tally, outcomes }
}

/// The seed of a row, from its name: a new row elsewhere changes no other.
fn seed_of(row: &Row) -> u64 {
    // FNV-1a.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    table::name(row).bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}
