//! Translator of SPIR-V binaries to IR, with a bounded parser.
//!
//! No word count and no id is trusted. `parse` turns words into owned instructions, and `module`
//! sorts them into tables. `translate` walks the entry point and inlines all calls. Composite
//! values are flattened to scalars, except large ones, which are kept in memory. Pointers are
//! symbolic. Modules that nest deeply are translated on a thread with a larger stack. An
//! unsupported feature is an error that names it. Source: SPIR-V specification; Vulkan environment
//! for SPIR-V.
//!
//! ```
//! use ash::vk;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/blocks.comp.spv");
//! # let bytes = std::fs::read(path).unwrap();
//! let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
//! let words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
//! let module = vitric_spirv::parse(&words)?;
//! let stage = vk::ShaderStageFlags::COMPUTE;
//! let shader = vitric_spirv::compile(&module, "main", stage, &Vec::new())?;
//! assert_eq!(shader.interface.local_size, [16, 1, 1]);
//! assert!(vitric_spirv::parse(&words[..words.len() / 2]).is_err());
//! # Ok::<(), vitric_spirv::Error>(())
//! ```

#![forbid(unsafe_code)]

mod constants;
mod encoding;
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
/// Reason for which a module was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The binary violates the rules of SPIR-V.
    #[error("malformed SPIR-V: {0}")]
    Malformed(&'static str),
    /// The binary uses a feature that Vitric does not support.
    #[error("unsupported SPIR-V: {0}")]
    Unsupported(String),
    /// Constructs or types nest more deeply than the stack allows.
    #[error("unsupported SPIR-V: {0} nested this deeply")]
    Deep(&'static str),
    /// Memory or another system resource ran out.
    #[error("there is too little memory to compile it")]
    OutOfMemory,
}

/// Result of reading or translating SPIR-V.
pub type Result<T> = std::result::Result<T, Error>;

/// Values of specialization constants: constant id and value of up to 64 bits, zero-extended. An
/// array of more bits has several values with its id, in order.
pub type Specialization = Vec<(u32, u64)>;

/// Entry point of a module and its use in a pipeline.
#[derive(Clone, Copy)]
pub(crate) struct ShaderStage<'a> {
    /// Name of the entry point.
    pub entry: &'a str,
    /// Stage of the pipeline.
    pub stage: vk::ShaderStageFlags,
    /// Values of specialization constants.
    pub specialization: &'a Specialization,
}

/// Parses a module.
///
/// # Errors
/// Returns an error if the binary is malformed or unsupported.
pub fn parse(words: &[u32]) -> Result<Module> {
    let version = words.get(1).copied().unwrap_or_default();
    Module::new(version, parse::instructions(words)?)
}

/// Compiles one entry point.
///
/// # Errors
/// Returns an error if there is no such entry point, if it is malformed, or if it uses an
/// unsupported feature.
pub fn compile(
    module: &Module,
    entry: &str,
    stage: vk::ShaderStageFlags,
    specialization: &Specialization,
) -> Result<Shader> {
    compile_observed(module, entry, stage, specialization, &mut |_, _| {})
}

/// Compiles one entry point. Passes its IR to `observe` before the passes (as "front end") and
/// after each pass, with the pass's name.
///
/// # Errors
/// Returns the errors of [`compile`].
pub fn compile_observed(
    module: &Module,
    entry: &str,
    stage: vk::ShaderStageFlags,
    specialization: &Specialization,
    observe: Observer<'_>,
) -> Result<Shader> {
    translate::program(module, ShaderStage { entry, stage, specialization }, observe)
}

#[cfg(test)]
mod tests;
