//! Compiled programs: IR plus what the units around a program must know of it.

/// A program of one stage, ready to run.
#[derive(Debug)]
pub struct Program {}
