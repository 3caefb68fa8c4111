//! Revisions: git commits by name, the base to compare with, and temporary worktrees that hold their files.
//!
//! All gix calls of the crate are here. The user's tree, index, HEAD, refs and config are never written.

pub mod base;
pub mod cache;
pub mod checkout;
pub mod commit;
pub mod error;
pub mod repository;
pub mod slot;

mod content;
pub mod history_ref;
mod include;
mod line;
mod lock;
mod remove;
mod resolve;
mod snapshot;
mod sweep;
mod untracked;

pub use base::{BaseChoice, CiHints, DefaultBase, HeadChoice};
pub use checkout::{CheckedOutFile, Checkout, Content};
pub use commit::{Commit, CommitId};
pub use error::RevisionError;
pub use line::{Line, LineCommit};
pub use repository::Repository;
pub use slot::{Slot, SlotRoot};
