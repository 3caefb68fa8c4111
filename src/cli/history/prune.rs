//! `history prune`: stored reports that may go.

use clap::Args;

use super::{Common, History};
use crate::error::{Error, ExitCode};
use crate::history::index::Index;
use crate::history::prune::{Rule, doomed};
use crate::history::render::counted;
use crate::ui::Ui;

/// Arguments of `history prune`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", |arg| arg.hide(true)))]
pub(super) struct PruneArgs {
    /// Runs older than this, such as 90d or 52w
    #[arg(long, value_name = "AGE")]
    older_than: Option<String>,
    /// All but the newest N runs of each machine
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Runs of this machine only; alone: all of them
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Say what would be removed, and stop
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Removes what every given condition is about.
pub(super) fn prune(args: &PruneArgs, ui: &Ui) -> Result<ExitCode, Error> {
    if args.older_than.is_none() && args.keep.is_none() && args.machine.is_none() {
        return Err(Error::Usage("say what may go: --older-than, --keep or --machine".to_owned()));
    }
    let history = History::existing(&args.common)?;
    let now = i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
    let rule = Rule {
        before: args
            .older_than
            .as_deref()
            .map(|text| age(text).map(|age| now.saturating_sub(age)))
            .transpose()?,
        keep: args.keep,
        machine: args.machine.clone(),
    };
    let names = doomed(&Index::load(&history.store)?, &rule);
    if !args.dry_run {
        for name in &names {
            history.store.remove(name)?;
        }
    }
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    for name in &names {
        ui.detail(verb, name);
    }
    ui.status(
        verb,
        format!("{} from {}", counted(names.len(), "report"), history.store.directory().display()),
    );
    Ok(ExitCode::Success)
}

/// Days, weeks, months of 30 days or years of 365 days, in ns.
fn age(text: &str) -> Result<i64, Error> {
    const DAY: i64 = 86_400_000_000_000;
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let days = match &text[digits.len()..] {
        "h" => None,
        "d" => Some(1),
        "w" => Some(7),
        "m" => Some(30),
        "y" => Some(365),
        _ => Some(0),
    };
    let number = digits.parse::<i64>().ok();
    let age = match (number, days) {
        (Some(number), None) => number.checked_mul(DAY / 24),
        (Some(number), Some(days)) if days != 0 => {
            number.checked_mul(days).and_then(|days| days.checked_mul(DAY))
        }
        _ => None,
    };
    age.ok_or_else(|| {
        Error::Usage(format!(
            "`--older-than {text}`: write a number with h, d, w, m (30 days) or y, such as 90d"
        ))
    })
}
