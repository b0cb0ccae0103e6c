//! The only table of formats, and everything derived from it: texel conversion, features and
//! planes.
//!
//! An unpacked texel is four dwords, red to alpha. They are `f32` bits for normalised, scaled and
//! floating-point formats, and integers for integer formats. Missing components read 0, 0, 0, 1.
//! Source: Vulkan specification, "Formats" and "Numeric Conversion" (fixed-point data
//! conversions); Khronos Data Format Specification for the packed floats.
//!
//! ```
//! use ash::vk;
//!
//! let info = vitric_format::info(vk::Format::R8G8B8A8_SRGB).unwrap();
//! let mut bytes = [0; 4];
//! vitric_format::encode(info, [0.5, 0.0, 1.0, 0.2].map(f32::to_bits), &mut bytes);
//! // Alpha is not converted to sRGB.
//! assert_eq!(bytes, [188, 0, 255, 51]);
//! assert_eq!(vitric_format::decode(info, &bytes)[2], 1.0f32.to_bits());
//! ```

#![forbid(unsafe_code)]

mod astc;
mod block;
mod convert;
mod etc;
mod features;
mod float;
pub mod srgb;
mod table;

pub use block::{MAX_DECODED, block_texel, block_words, decode_alike, decode_block, decoded_format, rounded_to_code};
pub use convert::{decode, decode_depth, depth_code, encode, encode_depth, stored_depth};
pub use features::{Features, features};
pub use float::{f32_to_half, half_to_f32};
pub use srgb::{WHOLE, linear_to_srgb8, srgb8_to_linear};
pub use table::{Channel, Class, Compression, DEPTH_STENCIL, FormatInfo, PLANE_ASPECTS, Plane, PlaneFormat, all, info};

/// One unpacked texel: four dwords, red to alpha.
pub type Texel = [u32; 4];

/// Returns the dword for the value 1 in a format of this class.
pub fn one(class: Class) -> u32 {
    if class.is_integer() { 1 } else { 1.0f32.to_bits() }
}
