//! Revisions: git commits by name, the base to compare with, and temporary worktrees that hold their files.
//!
//! All gix calls of the crate are here, and the few of the git program. The user's tree, index, HEAD, refs and config are never written.

pub mod ancestry;
pub mod base;
pub mod cache;
pub mod checkout;
pub mod commit;
pub mod error;
pub mod repository;
pub mod slot;

mod branch_line;
mod content;
mod git;
pub mod history_ref;
pub mod hooks;
mod include;
mod lfs;
mod lock;
mod partial;
mod range;
mod remove;
mod resolve;
mod snapshot;
mod submodule;
mod sweep;
mod untracked;
mod watch;

pub use ancestry::LineCommit;
pub use base::{BaseChoice, CiHints, DefaultBase, HeadChoice};
pub use branch_line::{BranchCommit, BranchLine};
pub use checkout::{CheckedOutFile, Checkout, Content};
pub use commit::{Commit, CommitId};
pub use error::RevisionError;
pub use git::LOCATION_VARIABLES;
pub use hooks::Hooks;
pub use repository::Repository;
pub use slot::{Slot, SlotRoot};
