//! Supported uses of each format.
//!
//! Every listed use works end to end, and no other use does. Source: Vulkan specification,
//! "Required Format Support".

use ash::vk::{self, FormatFeatureFlags as F};

use super::table::{Class, FormatInfo, info};

/// Uses of a format in images of each tiling and in buffers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Features {
    /// Uses in images with linear tiling.
    pub linear: F,
    /// Uses in images with optimal tiling.
    pub optimal: F,
    /// Uses in buffers.
    pub buffer: F,
}

const TRANSFER: F = F::from_raw(F::TRANSFER_SRC.as_raw() | F::TRANSFER_DST.as_raw());

/// Filters that combine several texels.
const FILTERS: F = F::from_raw(F::SAMPLED_IMAGE_FILTER_LINEAR.as_raw() | F::SAMPLED_IMAGE_FILTER_MINMAX.as_raw());

/// Uses of formats with luma and chroma planes. Each plane is filtered separately before
/// conversion.
const PLANAR: F = F::from_raw(
    F::SAMPLED_IMAGE.as_raw()
        | F::SAMPLED_IMAGE_FILTER_LINEAR.as_raw()
        | F::COSITED_CHROMA_SAMPLES.as_raw()
        | F::MIDPOINT_CHROMA_SAMPLES.as_raw()
        | F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER.as_raw()
        | F::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER.as_raw()
        | TRANSFER.as_raw(),
);

/// Returns the uses of `format`, which are none if the format is not supported.
pub fn features(format: vk::Format) -> Features {
    let Some(info) = info(format) else { return Features::default() };
    if info.compression.is_some() {
        let image = F::SAMPLED_IMAGE | FILTERS | F::BLIT_SRC | TRANSFER;
        return Features { linear: image, optimal: image, ..Features::default() };
    }
    if info.is_planar() {
        return Features { linear: PLANAR, optimal: PLANAR, ..Features::default() };
    }
    if info.is_depth_stencil() {
        return Features { optimal: depth_stencil(info), ..Features::default() };
    }
    let (image, mut optimal) = (color(info), color(info));
    if format == vk::Format::R8_UINT {
        optimal |= F::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
    }
    if format == vk::Format::R8G8_UNORM {
        optimal |= F::FRAGMENT_DENSITY_MAP_EXT;
    }
    Features { linear: image, optimal, buffer: buffer(info) }
}

fn depth_stencil(info: &FormatInfo) -> F {
    let filter = if info.depth_bits > 0 { FILTERS } else { F::empty() };
    F::DEPTH_STENCIL_ATTACHMENT | F::SAMPLED_IMAGE | F::BLIT_SRC | F::BLIT_DST | TRANSFER | filter
}

fn color(info: &FormatInfo) -> F {
    if info.is_wide() {
        // A shader can only declare images of a single 64-bit integer.
        return if has_atomics(info) { F::STORAGE_IMAGE | F::STORAGE_IMAGE_ATOMIC | TRANSFER } else { F::empty() };
    }
    // Images need texels whose size in bytes is a power of two or a multiple of 4.
    if !info.bytes.is_power_of_two() && !info.bytes.is_multiple_of(4) {
        return F::empty();
    }
    if is_scaled(info) {
        return F::BLIT_SRC | F::BLIT_DST | TRANSFER;
    }
    let mut uses = F::SAMPLED_IMAGE | F::BLIT_SRC | TRANSFER;
    if !info.class.is_integer() {
        uses |= FILTERS;
    }
    if info.channels[0].bits != 9 {
        uses |= F::COLOR_ATTACHMENT | F::BLIT_DST;
        if !info.class.is_integer() {
            uses |= F::COLOR_ATTACHMENT_BLEND;
        }
    }
    if is_storage(info) {
        uses |= F::STORAGE_IMAGE;
    }
    if has_atomics(info) {
        uses |= F::STORAGE_IMAGE_ATOMIC;
    }
    uses
}

fn buffer(info: &FormatInfo) -> F {
    let mut uses = F::empty();
    if info.class != Class::Srgb {
        uses |= F::VERTEX_BUFFER;
    }
    if !is_scaled(info) && (!info.is_wide() || has_atomics(info)) {
        uses |= F::UNIFORM_TEXEL_BUFFER;
        if is_storage(info) {
            uses |= F::STORAGE_TEXEL_BUFFER;
        }
        if has_atomics(info) {
            uses |= F::STORAGE_TEXEL_BUFFER_ATOMIC;
        }
    }
    uses
}

/// Returns true if texels are integers that are read as floats.
fn is_scaled(info: &FormatInfo) -> bool {
    matches!(info.class, Class::Uscaled | Class::Sscaled)
}

/// Returns true if SPIR-V can name the format as the format of a storage image.
///
/// These formats have whole bytes in each component, or 10:10:10:2 or 11:11:10 bits.
fn is_storage(info: &FormatInfo) -> bool {
    let by_bytes = info.channels.iter().all(|channel| channel.bits % 8 == 0 && channel.bits == info.channels[0].bits);
    let packed = matches!(info.format, vk::Format::A2B10G10R10_UNORM_PACK32 | vk::Format::A2B10G10R10_UINT_PACK32)
        || info.format == vk::Format::B10G11R11_UFLOAT_PACK32;
    let plain = info.class != Class::Srgb && !is_scaled(info) && info.bytes.is_power_of_two();
    plain && (by_bytes || packed)
}

fn has_atomics(info: &FormatInfo) -> bool {
    use vk::Format as N;
    matches!(info.format, N::R32_UINT | N::R32_SINT | N::R32_SFLOAT | N::R64_UINT | N::R64_SINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the specification's tables of mandatory formats.
    #[test]
    fn required_uses_are_there() {
        let sampled = F::SAMPLED_IMAGE | F::BLIT_SRC;
        let filtered = sampled | F::SAMPLED_IMAGE_FILTER_LINEAR;
        let rendered = filtered | F::COLOR_ATTACHMENT | F::COLOR_ATTACHMENT_BLEND | F::BLIT_DST;
        let integer = sampled | F::COLOR_ATTACHMENT | F::BLIT_DST;
        let optimal = [
            (vk::Format::B4G4R4A4_UNORM_PACK16, filtered),
            (vk::Format::R5G6B5_UNORM_PACK16, rendered),
            (vk::Format::A1R5G5B5_UNORM_PACK16, rendered),
            (vk::Format::R8_UNORM, rendered),
            (vk::Format::R8_UINT, integer | F::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR),
            (vk::Format::R8G8_UNORM, rendered | F::FRAGMENT_DENSITY_MAP_EXT),
            (vk::Format::R8G8B8A8_UNORM, rendered | F::STORAGE_IMAGE),
            (vk::Format::R8G8B8A8_SRGB, rendered),
            (vk::Format::B8G8R8A8_SRGB, rendered),
            (vk::Format::A2B10G10R10_UNORM_PACK32, rendered),
            (vk::Format::A2B10G10R10_UINT_PACK32, integer),
            (vk::Format::R16G16B16A16_SFLOAT, rendered | F::STORAGE_IMAGE),
            (vk::Format::R32_UINT, integer | F::STORAGE_IMAGE | F::STORAGE_IMAGE_ATOMIC),
            (vk::Format::R32G32B32A32_SFLOAT, integer | F::STORAGE_IMAGE),
            (vk::Format::B10G11R11_UFLOAT_PACK32, filtered),
            (vk::Format::E5B9G9R9_UFLOAT_PACK32, filtered),
            (vk::Format::D16_UNORM, sampled | F::DEPTH_STENCIL_ATTACHMENT),
            (vk::Format::D32_SFLOAT, sampled | F::DEPTH_STENCIL_ATTACHMENT),
            (vk::Format::BC7_SRGB_BLOCK, filtered),
        ];
        for (format, uses) in optimal {
            assert!(features(format).optimal.contains(uses), "{format:?}");
        }
        for format in [vk::Format::R32G32B32_SFLOAT, vk::Format::A8B8G8R8_SNORM_PACK32, vk::Format::R16G16_SNORM] {
            assert!(features(format).buffer.contains(F::VERTEX_BUFFER), "{format:?}");
        }
        assert!(features(vk::Format::R32_UINT).buffer.contains(F::STORAGE_TEXEL_BUFFER_ATOMIC));
    }
}
