//! `compare --bisect-run`: the statuses `git bisect run` knows.

use crate::error::ExitCode;
use crate::report::model::{Report, Summary};
use crate::verdict::evidence::Presence;

/// A status for git: 0 is a good commit, 1 a bad one, and 125 none that can be told. Every other up to 127 would be taken
/// for a bad commit, and one above ends the bisect.
pub(super) fn status(code: ExitCode) -> ExitCode {
    match code {
        ExitCode::Success | ExitCode::GateFailed => code,
        _ => ExitCode::BisectSkip,
    }
}

/// Why a report says neither good nor bad, though its run ends with 0 or 1. What is not told is no reason to call a commit
/// good, nor is what `also_fail_on` names one to call it bad.
pub(super) fn untold(report: &Report) -> Option<String> {
    let is_bad = report.exit.code == 1 && 0 < report.summary.regression + report.summary.over_budget;
    if 1 < report.exit.code || is_bad {
        return None;
    }
    let judged =
        |it: &crate::report::model::Benchmark| it.presence != Presence::New || !it.budgets.is_empty();
    if !report.benchmarks.iter().any(judged) {
        return Some("cannot be told: base has none of these benchmarks".to_owned());
    }
    untold_counts(&report.summary)
}

fn untold_counts(summary: &Summary) -> Option<String> {
    let counts = [
        (summary.inconclusive, "inconclusive"),
        (summary.gated_skipped, "skipped"),
        (summary.removed, "removed"),
        (summary.not_comparable, "not comparable"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| 0 < *count)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    (!parts.is_empty()).then(|| format!("cannot be told: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_but_good_and_bad_is_125_to_git() {
        for code in (0..=6).filter_map(ExitCode::from_status).chain([ExitCode::BisectSkip]) {
            let expected = if (code as u8) < 2 { code } else { ExitCode::BisectSkip };
            assert_eq!(status(code), expected, "{code:?}");
        }
    }

    #[test]
    fn what_was_not_told_is_not_good() {
        let of = |change: fn(&mut Summary)| {
            let mut summary =
                Summary { benchmarks: 3, pass: 2, unchanged: 1, skipped: 1, ..Summary::default() };
            change(&mut summary);
            untold_counts(&summary)
        };
        assert_eq!(of(|_| {}), None, "what is skipped without a gate says nothing");
        assert_eq!(of(|it| it.inconclusive = 2).as_deref(), Some("cannot be told: 2 inconclusive"));
        assert_eq!(of(|it| it.gated_skipped = 1).as_deref(), Some("cannot be told: 1 skipped"));
        assert_eq!(of(|it| it.removed = 1).as_deref(), Some("cannot be told: 1 removed"));
        assert_eq!(of(|it| it.not_comparable = 1).as_deref(), Some("cannot be told: 1 not comparable"));
    }
}
