//! `vitric cts`: the project's own cases on the linked driver, or Khronos' suite on the driver's
//! library.

use crate::{Failure, driver, manifest};
use std::process::ExitCode;
use vitric_cts::deqp::{self, Driver};

/// Runs the command.
pub fn command(args: Vec<String>) -> Result<ExitCode, Failure> {
    let mut args = args.into_iter().peekable();
    if args.next_if(|arg| arg == "deqp").is_some() {
        return Ok(deqp::main(args, under_test));
    }
    Ok(vitric_cts::main(args, Some(driver::entry()?)))
}

/// Returns the driver's library, beside this program.
fn under_test() -> Result<Driver, String> {
    let variables = manifest::variables().map_err(|failure| failure.message)?;
    let variables = variables.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Ok(Driver { variables, sources: Some(sources) })
}

/// Returns the digest of the sources of the driver's library.
fn sources() -> Result<String, String> {
    let library = manifest::library().map_err(|failure| failure.message)?;
    let bytes = std::fs::read(&library).map_err(|error| format!("{} cannot be read: {error}", library.display()))?;
    let digest = vulkan_vitric::SOURCES;
    if !bytes.windows(digest.len()).any(|window| window == digest.as_bytes()) {
        return Err(format!(
            "the driver library {} is of another build than this program: build both with `cargo build --release`",
            library.display()
        ));
    }
    Ok(digest.to_owned())
}
