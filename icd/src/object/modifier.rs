//! Images with a modifier of the kernel's format codes, and their queries. Source:
//! `VK_EXT_image_drm_format_modifier`.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::image::{self, ImageDesc};
use vitric_api::modifiers::{self, ModifierLayout};
use vitric_api::physical::ImageKind;
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_memory::{PlanePlacement, Surface};

use super::{DeviceObject, need};
use crate::call::{Call, Out};

/// Aspects of memory planes, in order.
const MEMORY_PLANES: [vk::ImageAspectFlags; 4] = [
    vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_1_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_2_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_3_EXT,
];

/// Creates an image that is not bound to memory, with a modifier or without.
///
/// # Errors
/// Errors of [`image::create`] and [`modifiers::create`]; [`Error::Unknown`] unless an image with a
/// modifier has exactly one structure that says which.
pub fn create_image(call: Call<'_>, info: &vk::ImageCreateInfo<'_>, desc: &ImageDesc) -> Result<Arc<Surface>> {
    if info.tiling != vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT {
        return image::create(desc);
    }
    let list: Option<&vk::ImageDrmFormatModifierListCreateInfoEXT<'_>> = call.find(info.p_next);
    let placed: Option<&vk::ImageDrmFormatModifierExplicitCreateInfoEXT<'_>> = call.find(info.p_next);
    match (list, placed) {
        (Some(list), None) => {
            let listed = call.slice(list.p_drm_format_modifiers, list.drm_format_modifier_count);
            modifiers::create(desc, ModifierLayout::Any(listed))
        }
        (None, Some(placed)) => {
            // An array that is too long for any image may have a wrong count, so it is not read.
            let count = placed.drm_format_modifier_plane_count;
            let count = if count as usize > MEMORY_PLANES.len() { 0 } else { count };
            // Sizes, and pitches of layers and slices, are 0 by valid usage.
            let placement =
                |layout: &vk::SubresourceLayout| PlanePlacement { offset: layout.offset, row_pitch: layout.row_pitch };
            let placements: Vec<_> = call.slice(placed.p_plane_layouts, count).iter().map(placement).collect();
            modifiers::create(desc, ModifierLayout::Placed(placed.drm_format_modifier, &placements))
        }
        _ => Err(Error::Unknown),
    }
}

/// Sends a message about an image with a modifier that could not be created.
pub fn report(object: &DeviceObject, info: &vk::ImageCreateInfo<'_>, error: Error) {
    let allowed = match error {
        _ if info.tiling != vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT => return,
        Error::FormatNotSupported => {
            "modifier 0 (linear), and a format and usage that vkGetPhysicalDeviceFormatProperties2 reports for it"
        }
        Error::InvalidPlaneLayout => {
            "a layout for each plane of the format, with offsets that are multiples of 4, and row pitches of whole texels that hold a row"
        }
        Error::Unknown => {
            "either VkImageDrmFormatModifierListCreateInfoEXT or VkImageDrmFormatModifierExplicitCreateInfoEXT in the chain"
        }
        _ => return,
    };
    let vk::ImageCreateInfo { format, usage, extent, .. } = info;
    object.messages().error(&format!(
        "an image with a modifier, of format {format:?}, usage {usage:?} and {}x{} texels: expected {allowed}",
        extent.width, extent.height
    ));
}

/// Returns true if images of a kind can have the modifier that a query names, or if the query names
/// none and the kind has none.
pub fn is_supported(call: Call<'_>, kind: ImageKind, next: *const c_void) -> bool {
    let queried: Option<&vk::PhysicalDeviceImageDrmFormatModifierInfoEXT<'_>> = call.find(next);
    match kind.tiling {
        vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT => {
            queried.is_some_and(|queried| modifiers::is_supported(kind, queried.drm_format_modifier))
        }
        _ => true,
    }
}

/// Writes the modifiers of a format to the lists in a chain.
pub fn put_modifiers(call: Call<'_>, format: vk::Format, next: *mut c_void) {
    let found = modifiers::of_format(format);
    if let Some(list) = call.find_output::<vk::DrmFormatModifierPropertiesListEXT<'_>>(next) {
        let list = list.get_mut();
        let out = call.list(&mut list.drm_format_modifier_count, list.p_drm_format_modifier_properties);
        // The older list has the features that 32 bits can name.
        let _ = out.put_with(found.iter(), |out, found| {
            *out = vk::DrmFormatModifierPropertiesEXT {
                drm_format_modifier: found.modifier,
                drm_format_modifier_plane_count: found.planes,
                drm_format_modifier_tiling_features: vk::FormatFeatureFlags::from_raw(
                    found.features.as_raw() as u32 & (u32::MAX >> 1),
                ),
            };
        });
    }
    if let Some(list) = call.find_output::<vk::DrmFormatModifierPropertiesList2EXT<'_>>(next) {
        let list = list.get_mut();
        let out = call.list(&mut list.drm_format_modifier_count, list.p_drm_format_modifier_properties);
        let _ = out.put_with(found.iter(), |out, found| {
            *out = vk::DrmFormatModifierProperties2EXT {
                drm_format_modifier: found.modifier,
                drm_format_modifier_plane_count: found.planes,
                drm_format_modifier_tiling_features: found.features,
            };
        });
    }
}

/// Returns the aspect of an image that lies in a memory plane. Other aspects are returned as they
/// are.
pub fn stored_aspect(image: &Surface, aspect: vk::ImageAspectFlags) -> vk::ImageAspectFlags {
    match MEMORY_PLANES.iter().position(|&plane| plane == aspect) {
        Some(number) => image.layout().planes().nth(number).map_or(vk::ImageAspectFlags::empty(), |(aspect, _)| aspect),
        None => aspect,
    }
}

#[entry(vkGetImageDrmFormatModifierPropertiesEXT)]
fn get_image_drm_format_modifier_properties(
    object: &DeviceObject,
    image: vk::Image,
    mut out: Out<'_, vk::ImageDrmFormatModifierPropertiesEXT<'_>>,
) -> Result<vk::Result> {
    let found = need(object, &object.images, image)?;
    if !found.desc().linear {
        object.messages().error(&format!(
            "{} has no modifier: create it with VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT",
            object.describe(image)
        ));
        return Err(Error::Unknown);
    }
    out.drm_format_modifier = modifiers::LINEAR;
    Ok(vk::Result::SUCCESS)
}
