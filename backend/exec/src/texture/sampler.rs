//! Sampler state. Source: Vulkan specification, "Samplers".

use ash::vk;
use vitric_format::Texel;
use vitric_memory::Swizzle;

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
    /// What becomes of luma and chroma.
    pub conversion: Option<Conversion>,
}

/// From luma and chroma to what a program sees; the fields are those of `VkSamplerYcbcrConversionCreateInfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The model that is converted from.
    pub model: vk::SamplerYcbcrModelConversion,
    /// What codes stand for.
    pub range: vk::SamplerYcbcrRange,
    /// Where components come from, before they are converted.
    pub components: [Swizzle; 4],
    /// Where samples of chroma lie beside those of luma, across and down.
    pub chroma_offsets: [vk::ChromaLocation; 2],
    /// Filter of chroma.
    pub chroma_filter: vk::Filter,
}

impl Conversion {
    /// Range expansion of components with `bits` bits: factor and summand of luma, and of chroma.
    pub(super) fn expansion(&self, bits: u32) -> [[f32; 2]; 2] {
        let (greatest, unit) = (f64::from((1u32 << bits) - 1), f64::from(1u32 << (bits - 8)));
        let between = |zero: f64, length: f64| [greatest / (length * unit), -zero / length].map(|value| value as f32);
        match self.range {
            vk::SamplerYcbcrRange::ITU_NARROW => [between(16.0, 219.0), between(128.0, 224.0)],
            _ => [[1.0, 0.0], [1.0, (-128.0 * unit / greatest) as f32]],
        }
    }
}

/// Shares that Cr has in red, Cb and Cr have in green, and Cb has in blue; `None` for models that are not converted.
pub(super) fn model_weights(model: vk::SamplerYcbcrModelConversion) -> Option<[f32; 4]> {
    use vk::SamplerYcbcrModelConversion as Model;
    // Shares of red and blue in luma.
    let (red, blue): (f64, f64) = match model {
        Model::YCBCR_709 => (0.2126, 0.0722),
        Model::YCBCR_601 => (0.299, 0.114),
        Model::YCBCR_2020 => (0.2627, 0.0593),
        _ => return None,
    };
    let (r_cr, b_cb, green) = (2.0 * (1.0 - red), 2.0 * (1.0 - blue), 1.0 - red - blue);
    Some([r_cr, -b_cb * blue / green, -r_cr * red / green, b_cb].map(|weight| weight as f32))
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
