//! Images whose layout other drivers know by a modifier of the Linux kernel's format codes.
//!
//! The only modifier is linear: rows of texels. Modifiers belong to vendors that the kernel's
//! header registers, and this driver has no vendor there. Sources: Vulkan specification,
//! `VK_EXT_image_drm_format_modifier`; the kernel's `drm_fourcc.h`.

use std::sync::Arc;

use ash::vk;
use vitric_format as format;
use vitric_memory::{PlanePlacement, Surface};

use crate::image::{self, ImageDesc};
use crate::physical::{self, ImageKind};
use crate::{Error, Result};

/// Modifier of images in rows of texels (`DRM_FORMAT_MOD_LINEAR`).
pub const LINEAR: u64 = 0;

/// Properties of a format with a modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModifierProperties {
    /// Modifier.
    pub modifier: u64,
    /// Number of memory planes, one for each plane of the format.
    pub planes: u32,
    /// Features.
    pub features: vk::FormatFeatureFlags2,
}

/// Returns the modifiers of a format. Formats of compressed blocks have none, because the kernel
/// has no codes for them.
pub fn of_format(format: vk::Format) -> Option<ModifierProperties> {
    let info = format::info(format).filter(|info| info.compression.is_none())?;
    let features = physical::format_properties3(format).linear_tiling_features;
    let planes = info.planes().count() as u32;
    (!features.is_empty()).then_some(ModifierProperties { modifier: LINEAR, planes, features })
}

/// Returns true if images of a kind can have a modifier.
pub fn is_supported(image: ImageKind, modifier: u64) -> bool {
    image.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT
        && of_format(image.format).is_some_and(|found| found.modifier == modifier)
}

/// Layout of a new image with a modifier.
#[derive(Debug, Clone, Copy)]
pub enum ModifierLayout<'a> {
    /// The driver chooses one of the modifiers, and places the planes.
    Any(&'a [u64]),
    /// The application places each plane.
    Placed(u64, &'a [PlanePlacement]),
}

/// Creates an image with a modifier, as [`image::create`] does.
///
/// # Errors
/// [`Error::FormatNotSupported`] if the modifier or a parameter of the image is not supported,
/// [`Error::InvalidPlaneLayout`] if a plane cannot be where the application places it.
pub fn create(desc: &ImageDesc, layout: ModifierLayout<'_>) -> Result<Arc<Surface>> {
    let surface = image::surface_desc(desc)?;
    let is_supported = |modifier: &u64| is_supported(desc.kind, *modifier);
    let made = match layout {
        ModifierLayout::Any(modifiers) if modifiers.iter().any(is_supported) => {
            Surface::in_rows(surface, None).ok_or(Error::OutOfDeviceMemory)?
        }
        ModifierLayout::Placed(modifier, placements) if is_supported(&modifier) => {
            Surface::in_rows(surface, Some(placements)).ok_or(Error::InvalidPlaneLayout)?
        }
        _ => return Err(Error::FormatNotSupported),
    };
    match made.layout().size() <= physical::max_buffer_bytes() {
        true => Ok(made),
        false => Err(Error::OutOfDeviceMemory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desc(format: vk::Format, tiling: vk::ImageTiling) -> ImageDesc {
        let (usage, flags) = (vk::ImageUsageFlags::SAMPLED, vk::ImageCreateFlags::empty());
        ImageDesc {
            kind: ImageKind { format, kind: vk::ImageType::TYPE_2D, tiling, usage, flags },
            extent: vk::Extent3D { width: 100, height: 50, depth: 1 },
            levels: 1,
            layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
        }
    }

    #[test]
    fn formats_have_the_linear_modifier_or_none() {
        let planes = |format| of_format(format).map(|found| found.planes);
        assert_eq!(planes(vk::Format::B8G8R8A8_UNORM), Some(1));
        assert_eq!(planes(vk::Format::G8_B8R8_2PLANE_420_UNORM), Some(2));
        assert_eq!(planes(vk::Format::G8_B8_R8_3PLANE_420_UNORM), Some(3));
        for without in [vk::Format::D32_SFLOAT, vk::Format::BC1_RGBA_UNORM_BLOCK, vk::Format::UNDEFINED] {
            assert_eq!(of_format(without), None, "{without:?}");
        }
    }

    #[test]
    fn images_are_made_with_a_listed_modifier_only() {
        let tiling = vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;
        let rgba = desc(vk::Format::R8G8B8A8_UNORM, tiling);
        let any = |modifiers: &[u64]| create(&rgba, ModifierLayout::Any(modifiers)).map(|image| image.layout().size());
        assert_eq!(any(&[5, LINEAR]), Ok(49 * 512 + 400));
        assert_eq!(any(&[5]), Err(Error::FormatNotSupported));
        assert_eq!(any(&[]), Err(Error::FormatNotSupported));
        let placed = |modifier, row_pitch| {
            let placements = [PlanePlacement { offset: 0, row_pitch }];
            create(&rgba, ModifierLayout::Placed(modifier, &placements)).map(|image| image.layout().size())
        };
        assert_eq!(placed(LINEAR, 404), Ok(49 * 404 + 400));
        assert_eq!(placed(LINEAR, 396), Err(Error::InvalidPlaneLayout));
        assert_eq!(placed(LINEAR, u64::from(u32::MAX)), Err(Error::InvalidPlaneLayout));
        assert_eq!(placed(LINEAR, 1 << 40), Err(Error::OutOfDeviceMemory));
        assert_eq!(placed(1, 400), Err(Error::FormatNotSupported));
        let optimal = desc(vk::Format::R8G8B8A8_UNORM, vk::ImageTiling::OPTIMAL);
        assert!(create(&optimal, ModifierLayout::Any(&[LINEAR])).is_err());
        let levels = ImageDesc { levels: 2, ..rgba };
        assert!(create(&levels, ModifierLayout::Any(&[LINEAR])).is_err());
    }
}
