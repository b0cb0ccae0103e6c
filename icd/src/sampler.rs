//! Samplers. Source: Vulkan specification, "Samplers".

use std::sync::Arc;

use ash::vk;
use vitric_api::Error;
use vitric_backend::texture::Sampler;

use crate::objects::{destroy as destroy_handle, device};
use crate::raw;

pub extern "system" fn create(
    handle: vk::Device,
    info: *const vk::SamplerCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Sampler,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
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
            border_color: info.border_color,
            unnormalized_coordinates: info.unnormalized_coordinates != 0,
        };
        Ok(object.samplers.insert(Arc::new(sampler)))
    })
}

pub extern "system" fn destroy(handle: vk::Device, sampler: vk::Sampler, _: *const vk::AllocationCallbacks<'_>) {
    destroy_handle(handle, |object| &object.samplers, sampler);
}

pub extern "system" fn create_conversion(
    _: vk::Device,
    _: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SamplerYcbcrConversion,
) -> vk::Result {
    // The device does not offer conversions.
    raw::create(out, || Err(Error::FeatureNotPresent))
}

pub extern "system" fn destroy_conversion(
    _: vk::Device,
    _: vk::SamplerYcbcrConversion,
    _: *const vk::AllocationCallbacks<'_>,
) {
}
