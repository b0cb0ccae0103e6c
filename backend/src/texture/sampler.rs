//! Sampler state. Source: Vulkan specification, "Samplers".

use ash::vk;

use crate::format::Texel;

/// `maxSamplerLodBias`.
pub const MAX_LOD_BIAS: f32 = 16.0;
/// `maxSamplerAnisotropy`.
pub const MAX_ANISOTROPY: f32 = 16.0;

/// How an image is sampled; the fields are those of `VkSamplerCreateInfo` and of what extends it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampler {
    /// Filter when magnifying.
    pub mag_filter: vk::Filter,
    /// Filter when minifying.
    pub min_filter: vk::Filter,
    /// Between mip levels.
    pub mipmap_mode: vk::SamplerMipmapMode,
    /// Wrapping in u, v and w.
    pub address_mode: [vk::SamplerAddressMode; 3],
    /// Added to the level of detail.
    pub mip_lod_bias: f32,
    /// Anisotropy clamp when anisotropic filtering is on, at least 1.
    pub max_anisotropy: Option<f32>,
    /// Comparison for depth-compare sampling.
    pub compare: Option<vk::CompareOp>,
    /// Clamp of the level of detail from below.
    pub min_lod: f32,
    /// Clamp of the level of detail from above.
    pub max_lod: f32,
    /// Words of the border colour: floats, or integers for formats of integers.
    pub border: Texel,
    /// Coordinates are texels instead of 0 to 1.
    pub unnormalized_coordinates: bool,
    /// What filtering makes of several texels: their average, or the least or greatest of each component.
    pub reduction: vk::SamplerReductionMode,
    /// Faces of cubes end at their edges, where addresses are wrapped as on any other image.
    pub separate_faces: bool,
}

/// The words of a border colour of Vulkan's own.
pub fn border(color: vk::BorderColor) -> Texel {
    let one = 1.0f32.to_bits();
    match color {
        vk::BorderColor::FLOAT_OPAQUE_BLACK => [0, 0, 0, one],
        vk::BorderColor::INT_OPAQUE_BLACK => [0, 0, 0, 1],
        vk::BorderColor::FLOAT_OPAQUE_WHITE => [one; 4],
        vk::BorderColor::INT_OPAQUE_WHITE => [1; 4],
        _ => [0; 4],
    }
}
