//! Pipeline caches: foreign data is refused, own data returns the same pipelines.

use ash::vk;

use crate::cases::support::transfer_images::{equal, words};
use crate::harness::{Case, Gpu, check};

case!("pipelines.cache.foreign_data", "Pipeline Cache", foreign_cache);

fn foreign_cache(gpu: &Gpu) -> Case {
    let make = |data: &[u8]| {
        // SAFETY: a cache takes any data that begins with a header; a foreign one is ignored.
        unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default().initial_data(data), None) }
    };
    let empty = make(&[])?;
    // SAFETY: the cache is valid.
    let own = unsafe { gpu.device.get_pipeline_cache_data(empty)? };
    check(own.len() >= 32, || format!("{} bytes", own.len()))?;
    let header = words(&own[..16]);
    let device = &gpu.properties;
    equal(&header, &[32, 1, device.vendor_id, device.device_id])?;
    equal(&own[16..32], &device.pipeline_cache_uuid)?;
    let mut foreign = own.clone();
    foreign[16..32].iter_mut().for_each(|byte| *byte ^= 0xff);
    let caches = [make(&own)?, make(&foreign)?];
    // SAFETY: the caches are valid and the target is none of the sources.
    let data = unsafe {
        gpu.device.merge_pipeline_caches(empty, &caches)?;
        gpu.device.get_pipeline_cache_data(empty)?
    };
    equal(&data[..32], &own[..32])
}

case!("pipelines.cache.round_trip", "Pipeline Cache", cache_round_trip);

/// Checks that a cache's data creates the same pipeline again, that too little room gives an
/// incomplete part of the data, and that a cache accepts that part.
fn cache_round_trip(gpu: &Gpu) -> Case {
    let make = |data: &[u8]| {
        // SAFETY: a cache takes any data that begins with a header.
        unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default().initial_data(data), None) }
    };
    let (set_layout, _) = gpu.set(&[vk::DescriptorType::STORAGE_BUFFER; 2])?;
    let layout = gpu.layout(&[set_layout])?;
    let module = gpu.module(shader!("unary.comp"))?;
    let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage.module(module).name(c"main")).layout(layout)];
    let first = make(&[])?;
    // SAFETY: valid infos and caches; the last call is told of too little room, and writes no more
    // than that.
    let (data, size, code) = unsafe {
        gpu.device.create_compute_pipelines(first, &info, None).map_err(|(_, code)| code)?;
        let data = gpu.device.get_pipeline_cache_data(first)?;
        let mut size = data.len() - 1;
        let mut part = vec![0u8; size];
        let get = gpu.device.fp_v1_0().get_pipeline_cache_data;
        let code = get(gpu.device.handle(), first, &mut size, part.as_mut_ptr().cast());
        part.truncate(size);
        make(&part)?;
        (data, size, code)
    };
    check(code == vk::Result::INCOMPLETE && size < data.len(), || format!("{code:?} with {size} bytes"))?;
    let second = make(&data)?;
    // SAFETY: infos and caches are valid, and the data fit the memory that the call fills.
    let again = unsafe {
        gpu.device.create_compute_pipelines(second, &info, None).map_err(|(_, code)| code)?;
        gpu.device.get_pipeline_cache_data(second)?
    };
    equal(&again[..32], &data[..32])
}
