//! `hook`: what an installed git hook calls. Only a gated regression or an exceeded budget stops the push.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, Subcommand};

use super::compare::{RecordFlags, RunArgs, measure_into};
use super::options::OutputFlags;
use super::output::Outputs;
use crate::error::{Error, ExitCode};
use crate::gate::ci::CiBase;
use crate::gate::environment::Environment;
use crate::gate::{Command, HeadRequest, Request};
use crate::revision::Repository;
use crate::suite::quantity::{format_duration, parse_duration};
use crate::ui::Ui;

/// A list of pushed refs is never longer.
const LONGEST_LIST: u64 = 1 << 20;

/// Arguments of `hook`.
#[derive(Debug, Clone, Args)]
pub(super) struct HookArgs {
    #[command(subcommand)]
    hook: HookVerb,
}

#[derive(Debug, Clone, Subcommand)]
enum HookVerb {
    /// Judge what a push would add; git tells the refs on standard input
    PrePush(Box<PrePushArgs>),
}

#[derive(Debug, Clone, Args)]
struct PrePushArgs {
    /// Stop building and measuring after this time, and let the push go on
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    time_cap: String,
    #[command(flatten)]
    run: RunArgs,
}

impl HookArgs {
    pub(super) fn output(&self) -> &OutputFlags {
        let HookVerb::PrePush(args) = &self.hook;
        args.run.output()
    }
}

/// Runs the hook. Every status but 1 becomes 0, with a note.
pub(super) fn hook(args: &HookArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let HookVerb::PrePush(args) = &args.hook;
    let cap = parse_duration(&args.time_cap)
        .map_err(|invalid| Error::Usage(format!("`--time-cap {}` {invalid}", args.time_cap)))?;
    let capped = AtomicBool::new(false);
    match pre_push(args, Duration::from_nanos(cap), &capped, ui) {
        Ok(ExitCode::GateFailed) => {
            ui.error("the push is stopped by a regression; to push all the same: BENCHGATE_SKIP=1 git push");
            Ok(ExitCode::GateFailed)
        }
        Ok(ExitCode::Success) => Ok(ExitCode::Success),
        Ok(_) | Err(_) if capped.load(Ordering::Relaxed) => {
            ui.note(format!("the time cap of {} was reached; the push goes on", format_duration(cap)));
            Ok(ExitCode::Success)
        }
        Ok(_) => {
            ui.note("not everything could be measured; the push goes on");
            Ok(ExitCode::Success)
        }
        Err(error) => {
            ui.note(format!("{error}; the push goes on"));
            Ok(ExitCode::Success)
        }
    }
}

fn pre_push(args: &PrePushArgs, cap: Duration, capped: &AtomicBool, ui: &Ui) -> Result<ExitCode, Error> {
    let mut list = String::new();
    std::io::stdin()
        .take(LONGEST_LIST)
        .read_to_string(&mut list)
        .map_err(|error| Error::Execution(format!("failed to read the pushed refs: {error}")))?;
    let environment = Environment::of_this_process()?;
    let repository = Repository::discover(&environment.cwd)?;
    let checked_out = repository.head()?;
    let pushed = pushed(&list);
    let Some(ours) = chosen(&pushed, checked_out.id.as_str()) else {
        ui.detail("Skipped", "the push adds no commit to a branch");
        return Ok(ExitCode::Success);
    };
    if 1 < pushed.len() {
        ui.note(format!("of {} pushed branches one is judged: {}", pushed.len(), ours.name));
    }
    let default = repository.default_branch_name().map(|name| format!("origin/{name}"));
    let default = default.filter(|spec| repository.resolve(spec).is_ok());
    let mut request = Request {
        ci: Some(ours.base(default)),
        ..args.run.request(Command::Compare, HeadRequest::Revision(ours.local.to_owned()))?
    };
    // A hook never stops a push for what could not be told.
    request.overrides.also_fail_on = Some(Vec::new());
    let outputs = Outputs::parse(&args.run.output().format)?;
    let (done, watched) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let environment = &environment;
        scope.spawn(move || {
            // An end of the run closes the channel; else the time is up.
            if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = watched.recv_timeout(cap) {
                capped.store(true, Ordering::Relaxed);
                environment.interrupted.store(true, Ordering::Relaxed);
            }
        });
        let measured = measure_into(&outputs, &request, environment, &RecordFlags::default(), ui);
        drop(done);
        measured
    })
}

/// A branch that is pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pushed<'a> {
    name: &'a str,
    local: &'a str,
    remote: &'a str,
}

impl Pushed<'_> {
    /// What the push adds is judged: against what the remote has, or for a new branch against where it left the default
    /// branch.
    /// `default` is the remote's default branch, as this clone knows it.
    fn base(&self, default: Option<String>) -> CiBase {
        if !is_null(self.remote) {
            return CiBase::Change { merge: None, targets: vec![self.remote.to_owned()] };
        }
        // Which branch is checked out says nothing: a new one may be pushed from the default branch itself.
        match default {
            Some(target) => CiBase::Change { merge: None, targets: vec![target] },
            None => CiBase::Default { default_branch: None },
        }
    }
}

/// The branches git lists, a line `LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID` each; deleted ones and tags are not judged.
fn pushed(list: &str) -> Vec<Pushed<'_>> {
    list.lines()
        .filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            [_, local, name, remote] => Some(Pushed { name, local, remote }),
            _ => None,
        })
        .filter(|it| it.name.starts_with("refs/heads/") && !is_null(it.local) && it.local != it.remote)
        .collect()
}

/// The branch that is checked out, else the first.
fn chosen<'a>(pushed: &'a [Pushed<'a>], checked_out: &str) -> Option<&'a Pushed<'a>> {
    pushed.iter().find(|it| it.local == checked_out).or(pushed.first())
}

fn is_null(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    const NULL: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn deleted_branches_tags_and_lines_of_another_form_are_not_judged() {
        let list = format!(
            "(delete) {NULL} refs/heads/old aaaa\nrefs/tags/v1 bbbb refs/tags/v1 {NULL}\nnonsense\n\
             refs/heads/x cccc refs/heads/x cccc\nrefs/heads/y dddd refs/heads/y {NULL}\n"
        );
        let pushed = pushed(&list);
        assert_eq!(pushed, [Pushed { name: "refs/heads/y", local: "dddd", remote: NULL }]);
        assert_eq!(pushed[0].base(None), CiBase::Default { default_branch: None });
        let default = || Some("origin/main".to_owned());
        let of_default = CiBase::Change { merge: None, targets: vec!["origin/main".to_owned()] };
        assert_eq!(pushed[0].base(default()), of_default);
    }

    #[test]
    fn branch_that_is_checked_out_is_judged_against_what_the_remote_has() {
        let list = "a aaaa refs/heads/a eeee\nb bbbb refs/heads/b ffff\n";
        let pushed = pushed(list);
        let ours = chosen(&pushed, "bbbb").expect("there are two");
        assert_eq!(ours.base(None), CiBase::Change { merge: None, targets: vec!["ffff".to_owned()] });
        assert_eq!(chosen(&pushed, "cccc").expect("there are two").name, "refs/heads/a");
    }
}
