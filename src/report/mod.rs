//! Reports: one model, one writer a format.

pub mod aa;
pub mod assemble;
pub mod csv;
pub mod escape;
mod evidence;
pub mod exports;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
mod layout;
pub mod markdown;
pub mod merge;
pub mod model;
pub mod next_step;
pub mod overview;
pub mod quantity;
pub mod read;
mod reason;
pub mod rows;
pub mod samples_csv;
pub mod terminal;
pub mod text;
pub mod wording;
pub mod write;

pub use assemble::{Header, assemble};
pub use read::ReadError;
