//! Control of the compression of images. Source: `VK_EXT_image_compression_control`,
//! `VK_EXT_image_compression_control_swapchain`.
//!
//! The driver compacts idle images without loss, and compresses none at a fixed rate. An image
//! whose compression is disabled, a linear image and an image of a swapchain stay resident.

use std::ffi::c_void;

use ash::vk::{self, ImageCompressionFlagsEXT as F};

use crate::call::Call;

/// Returns true if the control in a chain disables compression.
pub fn is_disabled(call: Call<'_>, next: *const c_void) -> bool {
    call.find::<vk::ImageCompressionControlEXT<'_>>(next).is_some_and(|control| control.flags == F::DISABLED)
}

/// Writes the compression of an image, which may be compacted unless it stays resident, to a chain.
pub fn put(call: Call<'_>, stays_resident: bool, next: *mut c_void) {
    let flags = if stays_resident { F::DISABLED } else { F::DEFAULT };
    call.put(next, vk::ImageCompressionPropertiesEXT::default().image_compression_flags(flags));
}
