//! Developer tasks: `cargo xtask <verb>`.

fn main() {}
