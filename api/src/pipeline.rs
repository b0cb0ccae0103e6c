//! Pipelines and pipeline caches.
//!
//! Cache data is the header that the specification defines and nothing behind it: programs are translated in microseconds.

use std::sync::Arc;

use ash::vk;
use vitric_backend::shader::Program;
use vitric_backend::shader::spirv::{self, Module, Specialization};

use crate::debug::Messages;
use crate::physical;
use crate::{Error, Result};

/// One shader stage of a pipeline.
#[derive(Debug)]
pub struct StageDesc {
    /// Stage.
    pub stage: vk::ShaderStageFlags,
    /// Module.
    pub module: Arc<Module>,
    /// Entry point.
    pub entry: String,
    /// Values of specialization constants.
    pub specialization: Specialization,
}

/// Parses a shader module.
///
/// # Errors
/// [`Error::InvalidShader`], with a message that says why.
pub fn parse_module(messages: &Messages, words: &[u32]) -> Result<Arc<Module>> {
    let refuse = |error: spirv::Error| {
        messages.error(&format!("vkCreateShaderModule: {error}"));
        Error::InvalidShader
    };
    spirv::parse(words).map(Arc::new).map_err(refuse)
}

/// Compiles a stage.
///
/// # Errors
/// [`Error::InvalidShader`], with a message that says why.
pub fn compile(messages: &Messages, stage: &StageDesc) -> Result<Arc<Program>> {
    let refuse = |error: spirv::Error| {
        messages.error(&format!("entry point {:?}: {error}", stage.entry));
        Error::InvalidShader
    };
    spirv::compile(&stage.module, &stage.entry, stage.stage, &stage.specialization).map(Arc::new).map_err(refuse)
}

/// The data of a pipeline cache: `VkPipelineCacheHeaderVersionOne`.
pub fn cache_data() -> Vec<u8> {
    let properties = physical::properties();
    let header = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
    let words = [32, header, properties.vendor_id, properties.device_id];
    let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    data.extend_from_slice(&properties.pipeline_cache_uuid);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_data_is_the_header() {
        let data = cache_data();
        assert_eq!(data.len(), 32);
        assert_eq!(data[..8], [32, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(data[16..], physical::cache_uuid());
    }

    #[test]
    fn bad_modules_are_refused_with_a_message() {
        let messages = Messages::default();
        assert_eq!(parse_module(&messages, &[1, 2, 3]).unwrap_err(), Error::InvalidShader);
    }
}
