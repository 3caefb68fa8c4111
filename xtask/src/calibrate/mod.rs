//! `cargo xtask calibrate`: the error rates of the verdicts, simulated and compared with the published ones.

mod check;
mod families;
mod family;
mod noise;
mod rule;
mod seeds;
mod simulate;
mod table;
mod targets;
mod trial;

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

use cargo_benchgate::verdict::judge_run;

use check::{Outcome, Row, compare};
use families::FamilyRow;
use family::Guard;
use simulate::{Judge, Tally, simulate};

const USAGE: &str = "\
usage: cargo xtask calibrate [--quick] [--only TEXT]

simulates every published figure, compares, prints the tables; fails when a figure is off

  --quick       a fifteenth of the trials
  --only TEXT   only rows whose line holds the text";

/// `--quick` makes so many times fewer trials, but no fewer than [`QUICK_LEAST`].
const QUICK: u64 = 15;
/// See [`QUICK`].
const QUICK_LEAST: u64 = 20;

/// What is asked for.
#[derive(Debug, Clone, Default)]
struct Options {
    quick: bool,
    only: Option<String>,
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
            "--only" => options.only = Some(args.next().ok_or(USAGE)?.clone()),
            _ => return Err(USAGE.into()),
        }
    }
    calibrate(&options)
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
        let guards: Vec<Guard> =
            Guard::ALL.into_iter().filter(|&guard| wanted(&table::family_name(family, guard))).collect();
        if !guards.is_empty() {
            let alarms = family.simulate(&guards, scaled(runs), &judge_run);
            for (guard, alarms) in guards.into_iter().zip(alarms) {
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
        [] if figures == 0 => Err("no row has this text".into()),
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
