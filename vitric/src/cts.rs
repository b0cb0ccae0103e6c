//! `vitric cts`: the project's own cases on the linked driver, or Khronos' suite on the driver's
//! library.

use crate::{Failure, driver, manifest};
use std::process::ExitCode;

/// Runs the command.
pub fn command(args: Vec<String>) -> Result<ExitCode, Failure> {
    let mut args = args.into_iter().peekable();
    if args.next_if(|arg| arg == "deqp").is_some() {
        return Ok(vitric_cts::deqp::main(args, variables));
    }
    Ok(vitric_cts::main(args, Some(driver::entry()?)))
}

fn variables() -> Result<Vec<(String, std::path::PathBuf)>, String> {
    let variables = manifest::variables().map_err(|failure| failure.message)?;
    Ok(variables.map(|(name, value)| (name.to_owned(), value)).to_vec())
}
