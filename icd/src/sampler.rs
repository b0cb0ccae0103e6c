//! Samplers. Source: Vulkan specification, "Samplers".

use std::sync::Arc;

use ash::vk;
use vitric_exec::texture::{Conversion, Sampler, border};

use crate::memory::component_mapping;
use crate::objects::{destroy as destroy_handle, device, need};
use crate::{check, raw};

pub extern "system" fn create(
    handle: vk::Device,
    info: *const vk::SamplerCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Sampler,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
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
            border: border_of(info),
            unnormalized_coordinates: info.unnormalized_coordinates != 0,
            reduction: raw::find::<vk::SamplerReductionModeCreateInfo<'_>>(info.p_next)
                .map_or(vk::SamplerReductionMode::WEIGHTED_AVERAGE, |reduction| reduction.reduction_mode),
            separate_faces: info.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
            conversion: raw::find::<vk::SamplerYcbcrConversionInfo<'_>>(info.p_next)
                .map(|info| need(object, &object.conversions, info.conversion))
                .transpose()?
                .map(|conversion| *conversion),
        };
        Ok(object.samplers.insert(Arc::new(sampler)))
    })
}

pub extern "system" fn create_conversion(
    handle: vk::Device,
    info: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SamplerYcbcrConversion,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        // Which format it is for the view says; reconstruction is never explicit.
        let conversion = Conversion {
            model: info.ycbcr_model,
            range: info.ycbcr_range,
            components: component_mapping(info.components),
            chroma_offsets: [info.x_chroma_offset, info.y_chroma_offset],
            chroma_filter: info.chroma_filter,
        };
        Ok(object.conversions.insert(Arc::new(conversion)))
    })
}

pub extern "system" fn destroy_conversion(
    handle: vk::Device,
    conversion: vk::SamplerYcbcrConversion,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy_handle(handle, |object| &object.conversions, conversion);
}

/// The words of the border colour. Views map its components themselves, so that no sampler has to say how they do.
fn border_of(info: &vk::SamplerCreateInfo<'_>) -> [u32; 4] {
    let is_custom = matches!(info.border_color, vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT);
    let custom = raw::find::<vk::SamplerCustomBorderColorCreateInfoEXT<'_>>(info.p_next).filter(|_| is_custom);
    // Whatever a colour is made of, it is four words.
    let words = custom.and_then(|custom| raw::input((&raw const custom.custom_border_color).cast::<[u32; 4]>()));
    words.copied().unwrap_or_else(|| border(info.border_color))
}

pub extern "system" fn destroy(handle: vk::Device, sampler: vk::Sampler, _: *const vk::AllocationCallbacks<'_>) {
    destroy_handle(handle, |object| &object.samplers, sampler);
}
