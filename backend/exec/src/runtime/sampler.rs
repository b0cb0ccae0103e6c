//! Sampler state. Source: Vulkan specification, "Samplers".

use ash::vk;
use vitric_format::Texel;
use vitric_memory::Swizzle;

/// Limit `maxSamplerLodBias`.
pub const MAX_LOD_BIAS: f32 = 16.0;
/// Limit `maxSamplerAnisotropy`.
pub const MAX_ANISOTROPY: f32 = 16.0;

/// State of sampling. The fields are those of `VkSamplerCreateInfo` and its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampler {
    /// Filter for magnification.
    pub mag_filter: vk::Filter,
    /// Filter for minification.
    pub min_filter: vk::Filter,
    /// Filter between mip levels.
    pub mipmap_mode: vk::SamplerMipmapMode,
    /// Address modes along u, v and w.
    pub address_mode: [vk::SamplerAddressMode; 3],
    /// Bias of the level of detail.
    pub mip_lod_bias: f32,
    /// Maximum anisotropy, at least 1, if anisotropic filtering is enabled.
    pub max_anisotropy: Option<f32>,
    /// Comparison operator of depth comparison.
    pub compare: Option<vk::CompareOp>,
    /// Minimum level of detail.
    pub min_lod: f32,
    /// Maximum level of detail.
    pub max_lod: f32,
    /// Words of the border colour: integers for integer formats, otherwise floats.
    pub border: Texel,
    /// True if coordinates are in texels instead of 0 to 1.
    pub unnormalized_coordinates: bool,
    /// Reduction of the filtered texels: their average, or the minimum or maximum of each
    /// component.
    pub reduction: vk::SamplerReductionMode,
    /// True if filtering does not cross the edges of cube faces. Coordinates are then wrapped as
    /// in any other image.
    pub separate_faces: bool,
    /// Conversion of luma and chroma.
    pub conversion: Option<Conversion>,
}

/// Conversion of luma and chroma to the components that a program reads. The fields are those of
/// `VkSamplerYcbcrConversionCreateInfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// Colour model to convert from.
    pub model: vk::SamplerYcbcrModelConversion,
    /// Range of the encoded values.
    pub range: vk::SamplerYcbcrRange,
    /// Component mapping before the conversion.
    pub components: [Swizzle; 4],
    /// Positions of chroma samples relative to luma samples, horizontally and vertically.
    pub chroma_offsets: [vk::ChromaLocation; 2],
    /// Filter for chroma.
    pub chroma_filter: vk::Filter,
}

impl Conversion {
    /// Returns the range expansion of components with `bits` bits: factor and summand of luma, and
    /// of chroma.
    pub(crate) fn expansion(&self, bits: u32) -> [[f32; 2]; 2] {
        let (greatest, unit) = (f64::from((1u32 << bits) - 1), f64::from(1u32 << (bits - 8)));
        let between = |zero: f64, length: f64| [greatest / (length * unit), -zero / length].map(|value| value as f32);
        match self.range {
            vk::SamplerYcbcrRange::ITU_NARROW => [between(16.0, 219.0), between(128.0, 224.0)],
            _ => [[1.0, 0.0], [1.0, (-128.0 * unit / greatest) as f32]],
        }
    }
}

/// Returns the weights of Cr in red, of Cb and Cr in green, and of Cb in blue. Returns `None` for
/// models without a conversion.
pub(crate) fn model_weights(model: vk::SamplerYcbcrModelConversion) -> Option<[f32; 4]> {
    use vk::SamplerYcbcrModelConversion as Model;
    // Weights of red and blue in luma.
    let (red, blue): (f64, f64) = match model {
        Model::YCBCR_709 => (0.2126, 0.0722),
        Model::YCBCR_601 => (0.299, 0.114),
        Model::YCBCR_2020 => (0.2627, 0.0593),
        _ => return None,
    };
    let (r_cr, b_cb, green) = (2.0 * (1.0 - red), 2.0 * (1.0 - blue), 1.0 - red - blue);
    Some([r_cr, -b_cb * blue / green, -r_cr * red / green, b_cb].map(|weight| weight as f32))
}

/// Returns the words of a predefined border colour.
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
