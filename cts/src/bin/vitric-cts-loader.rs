//! Runs the suite on the first device that the system's loader finds. `deqp` as the first argument
//! runs Khronos' suite there.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    match args.next_if(|arg| arg == "deqp") {
        Some(_) => vitric_cts::deqp::main(args, || Ok(Vec::new())),
        None => vitric_cts::main(args, None),
    }
}
