//! The `cargo benchgate` command.

fn main() {}
