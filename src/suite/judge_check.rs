//! Judge keys that contradict each other, or would do nothing: mistakes, not wishes to be ignored.

use super::error::{Invalid, Sink};
use super::layers::{JudgeLayer, Set};
use super::presets::MEAN_RESAMPLES;
use super::resolve::complain;
use super::settings::{JudgeSettings, Method, Preset, Resamples, Statistic, Stop};

/// Checks what was written against what came of it. `asked` is the stop before a fixed number of samples replaced it.
pub(super) fn check_judge(judge: &JudgeSettings, asked: Stop, written: &JudgeLayer, sink: &mut Sink) {
    let by_ranks = judge.method == Method::Rank && judge.preset != Preset::Effect;
    if let (Some(set), true, Resamples::Exact) =
        (&written.resamples, judge.statistic == Statistic::Mean, judge.resamples)
    {
        let invalid = Invalid::with_help(
            "is for the median, and the statistic is the mean",
            format!("write a number such as {MEAN_RESAMPLES}, or leave the key out"),
        );
        complain("resamples", set, invalid, sink);
    }
    if by_ranks {
        check_ranks(judge, written, sink);
    }
    let is_settled = judge.stop == Stop::Settled
        && judge.preset != Preset::Effect
        && (by_ranks || judge.statistic == Statistic::Median && judge.resamples == Resamples::Exact);
    if let (Some(set), true) = (&written.confidence, is_settled) {
        let help = "write stop = \"fixed\" beside it, or leave it out";
        let problem = "is the probability of one look, and the stop is `settled`";
        complain("confidence", set, Invalid::with_help(problem, help), sink);
    }
    let is_precise = [asked, judge.stop].contains(&Stop::Precision);
    if let (Some(set), false) = (&written.target_ci, is_precise) {
        let help = "write stop = \"precision\" beside it, or leave it out";
        dead("target_ci", set, &format!("with the stop `{}`", judge.stop), help, sink);
    }
    if let (Some(set), true) = (&written.show_percent, judge.preset != Preset::Effect) {
        let help = "write preset = \"effect\" beside it, or leave it out";
        dead("show_percent", set, &format!("in the preset `{}`", judge.preset), help, sink);
    }
}

/// Rank tests compare neither means nor resampled statistics.
fn check_ranks(judge: &JudgeSettings, written: &JudgeLayer, sink: &mut Sink) {
    if judge.statistic == Statistic::Mean {
        let problem = "compares means, and the method `rank` compares ranks";
        if let Some(set) = &written.statistic {
            let help = "write method = \"bootstrap\" beside it, or leave one out";
            complain("statistic", set, Invalid::with_help(problem, help), sink);
        } else if let Some(set) = &written.method {
            let problem = "compares ranks, and the statistic is the mean";
            let help = "write statistic = \"median\" beside it, or leave it out";
            complain("method", set, Invalid::with_help(problem, help), sink);
        }
    }
    let help = "write method = \"bootstrap\" beside it, or leave it out";
    if let Some(set) = &written.interval {
        dead("interval", set, "with the method `rank`", help, sink);
    }
    if let (Some(set), Statistic::Median) = (&written.resamples, judge.statistic) {
        dead("resamples", set, "with the method `rank`", help, sink);
    }
}

fn dead<T>(key: &str, set: &Set<T>, where_: &str, help: &str, sink: &mut Sink) {
    complain(key, set, Invalid::with_help(format!("does nothing {where_}"), help), sink);
}
