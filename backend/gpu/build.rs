//! Names this build of the emulated GPU by a digest of its crates' sources. A pipeline cache that
//! another build saved is so never taken for its own.

#[path = "../digest.rs"]
mod digest;

use std::path::Path;

/// Crates that make of SPIR-V what is saved, or run it.
const CRATES: [&str; 8] = ["base", "codegen", "exec", "format", "gpu", "ir", "memory", "spirv"];

fn main() {
    let sources = CRATES.map(|krate| Path::new("..").join(krate).join("src"));
    println!("cargo::rustc-env=VITRIC_BUILD={}", digest::of(&sources));
}
