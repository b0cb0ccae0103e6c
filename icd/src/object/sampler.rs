//! Samplers. Source: Vulkan specification, "Samplers".

use std::sync::Arc;

use ash::vk;
use vitric_api::Result;
use vitric_entry::entry;
use vitric_exec::runtime::{Conversion, Sampler, border};

use super::memory::component_mapping;
use super::{DeviceObject, check, destroy, need};
use crate::call::{Call, New};

#[entry(vkCreateSampler)]
fn create_sampler(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::SamplerCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Sampler>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let sampler = Sampler {
        mag_filter: info.mag_filter,
        min_filter: info.min_filter,
        mipmap_mode: info.mipmap_mode,
        address_mode: [info.address_mode_u, info.address_mode_v, info.address_mode_w],
        mip_lod_bias: info.mip_lod_bias,
        max_anisotropy: (info.anisotropy_enable != 0).then_some(info.max_anisotropy),
        compare: (info.compare_enable != 0).then_some(info.compare_op),
        min_lod: info.min_lod,
        max_lod: info.max_lod,
        border: border_of(call, info),
        unnormalized_coordinates: info.unnormalized_coordinates != 0,
        reduction: call
            .find::<vk::SamplerReductionModeCreateInfo<'_>>(info.p_next)
            .map_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE, |reduction| reduction.reduction_mode),
        separate_faces: info.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
        conversion: call
            .find::<vk::SamplerYcbcrConversionInfo<'_>>(info.p_next)
            .map(|info| need(object, &object.conversions, info.conversion))
            .transpose()?
            .map(|conversion| *conversion),
    };
    Ok(out.put(object.samplers.insert(Arc::new(sampler))))
}

#[entry(vkCreateSamplerYcbcrConversion)]
fn create_sampler_ycbcr_conversion(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::SamplerYcbcrConversionCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::SamplerYcbcrConversion>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    // The view has the format; reconstruction is never explicit.
    let conversion = Conversion {
        model: info.ycbcr_model,
        range: info.ycbcr_range,
        components: component_mapping(info.components),
        chroma_offsets: [info.x_chroma_offset, info.y_chroma_offset],
        chroma_filter: info.chroma_filter,
    };
    Ok(out.put(object.conversions.insert(Arc::new(conversion))))
}

#[entry(vkDestroySamplerYcbcrConversion)]
fn destroy_sampler_ycbcr_conversion(
    object: &DeviceObject,
    conversion: vk::SamplerYcbcrConversion,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(object, &object.conversions, conversion);
}

/// Returns the four 32-bit components of the border colour, which views map themselves.
fn border_of(call: Call<'_>, info: &vk::SamplerCreateInfo<'_>) -> [u32; 4] {
    let is_custom = matches!(info.border_color, vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT);
    let custom = call.find::<vk::SamplerCustomBorderColorCreateInfoEXT<'_>>(info.p_next).filter(|_| is_custom);
    // SAFETY: each member of the union is an array of four 32-bit numbers.
    custom.map_or_else(|| border(info.border_color), |custom| unsafe { custom.custom_border_color.uint32 })
}

#[entry(vkDestroySampler)]
fn destroy_sampler(object: &DeviceObject, sampler: vk::Sampler, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.samplers, sampler);
}
