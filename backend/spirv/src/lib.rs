//! SPIR-V binaries to IR: an own bounded walker and the translation.
//!
//! Nothing trusts a word count or an id: `parse` turns words into owned instructions, `module` sorts them into tables, and
//! `translate` walks the entry point with every call inlined. Composite values are flattened to scalar words, but for those
//! of many words, which lie in memory; pointers are symbolic. Modules that nest deeply are translated on a thread with a
//! larger stack. What is not supported is an error that names it. Source: SPIR-V specification; Vulkan's environment for
//! SPIR-V.

#![forbid(unsafe_code)]

mod constants;
mod interface;
mod module;
mod number;
mod parse;
mod scalar;
mod translate;
mod usage;

use ash::vk;
use vitric_ir::interface::Shader;
use vitric_ir::passes::Observer;

pub use module::Module;
/// Why a module was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The binary breaks SPIR-V's own rules.
    #[error("malformed SPIR-V: {0}")]
    Malformed(&'static str),
    /// The binary uses what Vitric does not have.
    #[error("unsupported SPIR-V: {0}")]
    Unsupported(String),
    /// Constructs or types nest more deeply than the stack has room for.
    #[error("unsupported SPIR-V: {0} nested this deeply")]
    Deep(&'static str),
    /// Memory, or what else of the system it takes, ran out.
    #[error("there is too little memory to compile it")]
    OutOfMemory,
}

/// A result of reading SPIR-V.
pub type Result<T> = std::result::Result<T, Error>;

/// Values of specialization constants: constant id and the first (up to) 64 bits of its value, zeros above.
pub type Specialization = Vec<(u32, u64)>;

/// Parses a module.
///
/// # Errors
/// When the binary is malformed.
pub fn parse(words: &[u32]) -> Result<Module> {
    let version = words.get(1).copied().unwrap_or_default();
    Module::new(version, parse::instructions(words)?)
}

/// Compiles one entry point.
///
/// # Errors
/// When there is no such entry point, or when it is malformed or uses something unsupported.
pub fn compile(
    module: &Module,
    entry: &str,
    stage: vk::ShaderStageFlags,
    specialization: &Specialization,
) -> Result<Shader> {
    compile_observed(module, entry, stage, specialization, &mut |_, _| {})
}

/// Compiles one entry point and shows its IR before the passes (as "front end") and after each, by name.
///
/// # Errors
/// As [`compile`].
pub fn compile_observed(
    module: &Module,
    entry: &str,
    stage: vk::ShaderStageFlags,
    specialization: &Specialization,
    observe: Observer<'_>,
) -> Result<Shader> {
    translate::program(module, entry, stage, specialization, observe)
}

#[cfg(test)]
mod tests;
