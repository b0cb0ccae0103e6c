//! vitric command line.
fn main() {}
