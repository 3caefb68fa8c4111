//! Reports: one model, one writer a format.

pub mod model;
pub mod quantity;
pub mod text;
