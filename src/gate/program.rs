//! The program of a target in one revision, with the harness that measures it.

use std::cell::OnceCell;

use super::programs::BuiltSide;
use crate::build::{BuiltTarget, TargetFailure};
use crate::harness::{Detection, HarnessKind, detect};
use crate::suite::identity::TargetId;
use crate::suite::launch::Launch;
use crate::verdict::evidence::{BenchmarkError, ErrorKind};

/// A program of one revision with what measures it.
pub(super) struct Program<'a> {
    /// The number the executor knows the revision by.
    pub(super) revision: usize,
    pub(super) name: &'a str,
    /// The directory in the slot that the fixed path leads to when it runs; another than its name where its programs are
    /// kept ones.
    pub(super) place: &'a str,
    pub(super) built: &'a BuiltTarget,
    pub(super) harness: HarnessKind,
    /// Whether the file holds the path that all revisions share, once that was looked for.
    pub(super) knows_shared_path: OnceCell<bool>,
}

/// Why a program of one revision cannot be measured.
pub(super) type Trouble = Box<BenchmarkError>;

/// A side's program of a target: `None` when the revision does not have the target.
pub(super) fn program<'a>(
    side: &'a BuiltSide,
    revision: usize,
    target: &TargetId,
    launch: &Launch,
) -> Option<Result<Program<'a>, Trouble>> {
    let built = match side.built.targets.get(target)? {
        Ok(built) => built,
        Err(failure) => return Some(Err(build_failed(side, failure))),
    };
    let candidates: Vec<String> = built.harness_crates.iter().map(|name| (*name).to_owned()).collect();
    let detection =
        detect(launch.harness, built.uses_libtest.unwrap_or(false), &candidates, &built.artifact.markers);
    Some(match detection {
        Detection::Kind(harness) => Ok(Program {
            revision,
            name: &side.name,
            place: &side.place,
            built,
            harness,
            knows_shared_path: OnceCell::new(),
        }),
        Detection::Unsupported { message, .. } => Err(Box::new(BenchmarkError {
            kind: ErrorKind::Unsupported,
            message: format!("{target} in {}: {message}", side.name),
            stderr: None,
        })),
    })
}

fn build_failed(side: &BuiltSide, failure: &TargetFailure) -> Trouble {
    Box::new(BenchmarkError {
        kind: ErrorKind::BuildFailed,
        message: format!(
            "in {}: {} did not build; cargo's messages are above\nthe command was `{}`, and ended with {}",
            side.name, failure.target, failure.command, failure.exit
        ),
        stderr: None,
    })
}
