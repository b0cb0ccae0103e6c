//! Creation of images within the limits of their kind.
//!
//! Source: Vulkan specification, "Resource Creation" (Images) and "Additional Capabilities".

use std::sync::Arc;

use ash::vk;
use vitric_format as format;
use vitric_memory::{Surface, SurfaceDesc};

use crate::physical::{ImageKind, image_format_properties};
use crate::{Error, Result};

/// Parameters of `vkCreateImage`. The extent is in texels of level 0; its depth is 1 except for 3D
/// images.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields are those of VkImageCreateInfo")]
pub struct ImageDesc {
    pub kind: ImageKind,
    pub extent: vk::Extent3D,
    pub levels: u32,
    pub layers: u32,
    pub samples: vk::SampleCountFlags,
}

/// Creates an image that is not bound to memory. Its layout has the size in bytes that it needs.
///
/// # Errors
/// [`Error::FormatNotSupported`] for an unsupported combination of parameters,
/// [`Error::OutOfDeviceMemory`] for a size that no memory can hold.
pub fn create(desc: &ImageDesc) -> Result<Arc<Surface>> {
    let surface = surface_desc(desc)?;
    let is_transient = desc.kind.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
    let make = if is_transient { Surface::transient } else { Surface::new };
    let made = make(surface).ok_or(Error::OutOfDeviceMemory)?;
    if desc.kind.flags.contains(vk::ImageCreateFlags::PROTECTED) {
        made.protect();
    }
    Ok(made)
}

/// Returns the surface that an image becomes.
///
/// # Errors
/// [`Error::FormatNotSupported`] for an unsupported combination of parameters.
pub(crate) fn surface_desc(desc: &ImageDesc) -> Result<SurfaceDesc> {
    let limits = image_format_properties(desc.kind).ok_or(Error::FormatNotSupported)?;
    let (extent, max) = (desc.extent, limits.max_extent);
    let fits = (1..=max.width).contains(&extent.width)
        && (1..=max.height).contains(&extent.height)
        && (1..=max.depth).contains(&extent.depth)
        && (1..=limits.max_mip_levels).contains(&desc.levels)
        && (1..=limits.max_array_layers).contains(&desc.layers)
        && limits.sample_counts.contains(desc.samples);
    if !fits {
        return Err(Error::FormatNotSupported);
    }
    Ok(SurfaceDesc {
        kind: desc.kind.kind,
        format: desc.kind.format,
        extent,
        levels: desc.levels,
        layers: desc.layers,
        samples: desc.samples.as_raw(),
        linear: desc.kind.is_in_rows(),
        decoded: is_decoded(desc.kind),
    })
}

/// Returns true if texels of a compressed image are stored decoded: it is sampled and no view
/// accesses its blocks.
fn is_decoded(kind: ImageKind) -> bool {
    let is_compressed = format::info(kind.format).is_some_and(|info| info.compression.is_some());
    let views_blocks = kind.flags.contains(vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE);
    // The host can write the blocks of a linear image directly, so such an image is decoded on
    // each read.
    is_compressed && !kind.is_in_rows() && !views_blocks && kind.usage.contains(vk::ImageUsageFlags::SAMPLED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_at_and_over_the_limits() {
        let kind = ImageKind {
            format: vk::Format::R8G8B8A8_UNORM,
            kind: vk::ImageType::TYPE_2D,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: vk::ImageUsageFlags::SAMPLED,
            flags: vk::ImageCreateFlags::empty(),
        };
        let extent = vk::Extent3D { width: 16384, height: 16384, depth: 1 };
        let desc = ImageDesc { kind, extent, levels: 15, layers: 1, samples: vk::SampleCountFlags::TYPE_1 };
        assert!(create(&desc).is_ok());
        assert_eq!(create(&ImageDesc { levels: 16, ..desc }).unwrap_err(), Error::FormatNotSupported);
        let empty = vk::Extent3D { width: 0, ..extent };
        assert_eq!(create(&ImageDesc { extent: empty, ..desc }).unwrap_err(), Error::FormatNotSupported);
        let many = vk::SampleCountFlags::TYPE_32;
        assert_eq!(create(&ImageDesc { samples: many, ..desc }).unwrap_err(), Error::FormatNotSupported);
    }
}
