//! Names this build of the driver by a digest of all its sources, so that a ledger of Khronos'
//! suite can tell drivers apart. Hides the C functions of the crates below the library, which
//! exports the loader's interface only.

#[path = "../backend/digest.rs"]
mod digest;

use std::path::PathBuf;

/// Folders of the driver's crates, and the versions of the crates that they depend on.
const SOURCES: [&str; 13] = [
    "src",
    "entry/src",
    "../api/src",
    "../vulkan/src",
    "../Cargo.lock",
    "../backend/base/src",
    "../backend/codegen/src",
    "../backend/exec/src",
    "../backend/format/src",
    "../backend/gpu/src",
    "../backend/ir/src",
    "../backend/memory/src",
    "../backend/spirv/src",
];

fn main() {
    println!("cargo::rustc-env=VITRIC_SOURCES={}", digest::of(&SOURCES.map(PathBuf::from)));
    println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs=ALL");
}
