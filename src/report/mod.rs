//! Reports: one model, one writer a format.

pub mod model;
