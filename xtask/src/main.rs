//! Every command a person types.
fn main() {}
