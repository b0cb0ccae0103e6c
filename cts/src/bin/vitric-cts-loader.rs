//! The suite on whatever device the system's loader finds first.

use std::process::ExitCode;

fn main() -> ExitCode {
    vitric_cts::main(std::env::args().skip(1), None)
}
