//! Shader modules named by identifiers, or given with the stage that uses them.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::cases::support::pairs::{Pair, bound_pair};
use crate::harness::{Case, Gpu, Outcome, check};

const PAIR: &[u8] = shader!("pair.comp");
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const PAIR_KINDS: [T; 3] = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER];

/// Expected sum of the bound buffers.
const SUM: u32 = 1 + 2 * 16 + 3 * 256;

pub(in crate::cases) fn words(code: &[u8]) -> Vec<u32> {
    code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

case!("commands.modules.identifiers", "VK_EXT_shader_module_identifier", identifiers);

/// Checks that a module's identifier depends on its words, and that a pipeline can be created by
/// it only while the program is known.
fn identifiers(gpu: &Gpu) -> Case {
    if gpu.extension_features.identifiers.shader_module_identifier == vk::FALSE {
        return Err(Outcome::NotSupported("identifiers".into()));
    }
    let extension = ash::ext::shader_module_identifier::Device::new(&gpu.instance, &gpu.device);
    let code = words(PAIR);
    let info = vk::ShaderModuleCreateInfo::default().code(&code);
    let mut of_info = vk::ShaderModuleIdentifierEXT::default();
    let mut of_module = vk::ShaderModuleIdentifierEXT::default();
    let module = gpu.module(PAIR)?;
    // SAFETY: the structures are alive.
    unsafe {
        let (functions, device) = (extension.fp(), gpu.device.handle());
        (functions.get_shader_module_create_info_identifier_ext)(device, &raw const info, &raw mut of_info);
        (functions.get_shader_module_identifier_ext)(device, module, &raw mut of_module);
    }
    let size = of_info.identifier_size as usize;
    check((1..=32).contains(&size), || format!("{size} bytes"))?;
    check(of_info.identifier[..size] == of_module.identifier[..size], || "identifiers differ".into())?;
    let (first, _) = gpu.set(&PAIR_KINDS)?;
    let pair = Pair::new(gpu, first)?;
    let make = |identifier: &[u8]| {
        let mut named = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(identifier);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .name(c"main")
            .push_next(&mut named);
        let info = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(pair.layout)
            .flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED_EXT)];
        // SAFETY: the info is valid.
        unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) }
    };
    let known = make(&of_info.identifier[..size]);
    // SAFETY: the pipeline is not in use.
    known.iter().flatten().for_each(|&made| unsafe { gpu.device.destroy_pipeline(made, None) });
    let known = known.map_err(|(_, code)| code);
    let is_known = known.is_ok() || known == Err(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT);
    check(is_known, || format!("{known:?}"))?;
    let mut other = of_info.identifier;
    other[0] ^= 1;
    let unknown = make(&other[..size]).map_err(|(_, code)| code);
    let expected = Err(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT);
    check(unknown == expected, || format!("an unknown identifier gave {unknown:?}"))
}

case!("commands.modules.inline", "VK_EXT_graphics_pipeline_library", inline_module);

/// Creates a pipeline with a stage whose module is given inline.
fn inline_module(gpu: &Gpu) -> Case {
    if gpu.extension_features.libraries.graphics_pipeline_library == vk::FALSE {
        return Err(Outcome::NotSupported("modules in stages".into()));
    }
    let (pair, set) = bound_pair(gpu)?;
    let code = words(PAIR);
    let mut module = vk::ShaderModuleCreateInfo::default().code(&code);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .push_next(&mut module);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(pair.layout)];
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pair = Pair { pipeline: made.map_err(|(_, code)| code)?[0], ..pair };
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            pair.bind(gpu, commands);
            gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[set], &[]);
            pair.dispatch(gpu, commands, 3);
        }
        gpu.barrier(commands, None);
    })?;
    check(pair.out.words()[3] == SUM, || format!("{:?}", pair.out.words()))
}
