//! Runs the suite on the first device that the system's loader finds. `deqp` as the first argument
//! runs Khronos' suite there.

use std::process::ExitCode;

use vitric_cts::deqp::{self, Driver};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    match args.next_if(|arg| arg == "deqp") {
        Some(_) => deqp::main(args, || Ok(Driver::default())),
        None => vitric_cts::main(args, None),
    }
}
