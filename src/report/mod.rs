//! Reports: one model, one writer a format.

pub mod aa;
pub mod assemble;
pub mod csv;
mod evidence;
pub mod json;
mod layout;
pub mod merge;
pub mod model;
pub mod quantity;
pub mod read;
pub mod samples_csv;
pub mod terminal;
pub mod text;
pub mod wording;
pub mod write;

pub use assemble::{Header, assemble};
pub use read::ReadError;
