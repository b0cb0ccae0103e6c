//! The table: one row per format, numbered as `VkFormat` numbers them.
//!
//! Families of formats that differ only in class are one line each. Bit offsets count from the least significant bit of
//! the little-endian texel, so packed formats are written from their last-named component upwards.

use ash::vk;

/// How the bits of a component stand for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Unsigned fixed point, 0 to 1.
    Unorm,
    /// Signed fixed point, -1 to 1.
    Snorm,
    /// Unsigned integer read as float.
    Uscaled,
    /// Signed integer read as float.
    Sscaled,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Signed floating point of 16, 32 or 64 bits.
    Sfloat,
    /// Unsigned floating point of 10 or 11 bits, or with a shared exponent.
    Ufloat,
    /// Unsigned fixed point, sRGB-encoded but for alpha.
    Srgb,
}

impl Class {
    /// Whether texels are integers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Uint | Self::Sint)
    }
}

/// One component of a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Red to alpha as 0 to 3.
    pub component: u8,
    /// First bit in the texel.
    pub offset: u8,
    /// Bits.
    pub bits: u8,
}

/// A block compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the names of the BC formats")]
pub enum Compression {
    Bc1Rgb,
    Bc1Rgba,
    Bc2,
    Bc3,
    Bc4,
    Bc5,
    Bc6hUfloat,
    Bc6hSfloat,
    Bc7,
}

/// Where the data of an aspect lies: each plane is stored on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Plane {
    /// The aspect.
    pub aspect: vk::ImageAspectFlags,
    /// Bytes per texel or block.
    pub bytes: u32,
}

/// What there is to know of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatInfo {
    /// The format.
    pub format: vk::Format,
    /// How components are encoded. Depth formats: of depth; stencil alone: [`Class::Uint`].
    pub class: Class,
    /// Bytes per texel or block, as the host sees it.
    pub bytes: u32,
    /// Components of colour formats.
    pub channels: &'static [Channel],
    /// Bits of depth, 0 without.
    pub depth_bits: u32,
    /// Whether there are 8 bits of stencil.
    pub stencil: bool,
    /// Block compression: 4x4 texels a block.
    pub compression: Option<Compression>,
}

impl FormatInfo {
    /// Whether the format has depth or stencil.
    pub const fn is_depth_stencil(&self) -> bool {
        self.depth_bits > 0 || self.stencil
    }

    /// Texels along each side of a block: 1, or 4 when compressed.
    pub const fn block_side(&self) -> u32 {
        if self.compression.is_some() { 4 } else { 1 }
    }

    /// The aspects of the format.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        self.planes().fold(vk::ImageAspectFlags::empty(), |all, plane| all | plane.aspect)
    }

    /// The planes in which a surface stores the format: one for colour, one each for depth and stencil.
    pub fn planes(&self) -> impl Iterator<Item = Plane> + use<> {
        let depth_bytes = if self.depth_bits == 16 { 2 } else { 4 };
        let depth = Plane { aspect: vk::ImageAspectFlags::DEPTH, bytes: depth_bytes };
        let stencil = Plane { aspect: vk::ImageAspectFlags::STENCIL, bytes: 1 };
        let color = Plane { aspect: vk::ImageAspectFlags::COLOR, bytes: self.bytes };
        let planes = [
            (self.depth_bits > 0).then_some(depth),
            self.stencil.then_some(stencil),
            (!self.is_depth_stencil()).then_some(color),
        ];
        planes.into_iter().flatten()
    }

    /// Bits of a component, red to alpha as 0 to 3; 0 when missing.
    pub fn component_bits(&self, component: u8) -> u32 {
        let channel = self.channels.iter().find(|channel| channel.component == component);
        channel.map_or(0, |channel| u32::from(channel.bits))
    }
}

const fn channel(component: u8, offset: u8, bits: u8) -> Channel {
    Channel { component, offset, bits }
}

macro_rules! channels {
    ($name:ident: $(($component:expr, $offset:expr, $bits:expr)),+) => {
        const $name: &[Channel] = &[$(channel($component, $offset, $bits)),+];
    };
}

channels!(R4G4: (0, 4, 4), (1, 0, 4));
channels!(R4G4B4A4: (0, 12, 4), (1, 8, 4), (2, 4, 4), (3, 0, 4));
channels!(B4G4R4A4: (2, 12, 4), (1, 8, 4), (0, 4, 4), (3, 0, 4));
channels!(R5G6B5: (0, 11, 5), (1, 5, 6), (2, 0, 5));
channels!(B5G6R5: (2, 11, 5), (1, 5, 6), (0, 0, 5));
channels!(R5G5B5A1: (0, 11, 5), (1, 6, 5), (2, 1, 5), (3, 0, 1));
channels!(B5G5R5A1: (2, 11, 5), (1, 6, 5), (0, 1, 5), (3, 0, 1));
channels!(A1R5G5B5: (3, 15, 1), (0, 10, 5), (1, 5, 5), (2, 0, 5));
channels!(R8: (0, 0, 8));
channels!(R8G8: (0, 0, 8), (1, 8, 8));
channels!(R8G8B8: (0, 0, 8), (1, 8, 8), (2, 16, 8));
channels!(B8G8R8: (2, 0, 8), (1, 8, 8), (0, 16, 8));
channels!(R8G8B8A8: (0, 0, 8), (1, 8, 8), (2, 16, 8), (3, 24, 8));
channels!(B8G8R8A8: (2, 0, 8), (1, 8, 8), (0, 16, 8), (3, 24, 8));
channels!(A2R10G10B10: (3, 30, 2), (0, 20, 10), (1, 10, 10), (2, 0, 10));
channels!(A2B10G10R10: (3, 30, 2), (2, 20, 10), (1, 10, 10), (0, 0, 10));
channels!(R16: (0, 0, 16));
channels!(R16G16: (0, 0, 16), (1, 16, 16));
channels!(R16G16B16: (0, 0, 16), (1, 16, 16), (2, 32, 16));
channels!(R16G16B16A16: (0, 0, 16), (1, 16, 16), (2, 32, 16), (3, 48, 16));
channels!(R32: (0, 0, 32));
channels!(R32G32: (0, 0, 32), (1, 32, 32));
channels!(R32G32B32: (0, 0, 32), (1, 32, 32), (2, 64, 32));
channels!(R32G32B32A32: (0, 0, 32), (1, 32, 32), (2, 64, 32), (3, 96, 32));
channels!(B10G11R11: (2, 22, 10), (1, 11, 11), (0, 0, 11));
channels!(E5B9G9R9: (0, 0, 9), (1, 9, 9), (2, 18, 9));

/// Classes in the order in which `VkFormat` numbers a family.
const FIXED: [Class; 7] =
    [Class::Unorm, Class::Snorm, Class::Uscaled, Class::Sscaled, Class::Uint, Class::Sint, Class::Srgb];
const FIXED_OR_HALF: [Class; 7] =
    [Class::Unorm, Class::Snorm, Class::Uscaled, Class::Sscaled, Class::Uint, Class::Sint, Class::Sfloat];
const WORDS: [Class; 3] = [Class::Uint, Class::Sint, Class::Sfloat];

/// Formats of Vulkan 1.0's first numbers; compressed ones other than BC are not supported.
const ROWS: usize = vk::Format::BC7_SRGB_BLOCK.as_raw() as usize + 1;

struct Builder {
    rows: [Option<FormatInfo>; ROWS],
}

impl Builder {
    const fn color(mut self, format: vk::Format, class: Class, bytes: u32, channels: &'static [Channel]) -> Self {
        self.rows[format.as_raw() as usize] =
            Some(FormatInfo { format, class, bytes, channels, depth_bits: 0, stencil: false, compression: None });
        self
    }

    /// `classes.len()` formats numbered from `first` on.
    const fn family(
        mut self,
        first: vk::Format,
        classes: &[Class],
        count: usize,
        bytes: u32,
        channels: &'static [Channel],
    ) -> Self {
        let mut index = 0;
        while index < count {
            let format = vk::Format::from_raw(first.as_raw() + index as i32);
            self = self.color(format, classes[index], bytes, channels);
            index += 1;
        }
        self
    }

    const fn depth(mut self, format: vk::Format, class: Class, bytes: u32, depth_bits: u32, stencil: bool) -> Self {
        self.rows[format.as_raw() as usize] =
            Some(FormatInfo { format, class, bytes, channels: &[], depth_bits, stencil, compression: None });
        self
    }

    /// A compressed format; its second class, when it has one, is the next number.
    const fn blocks(mut self, first: vk::Format, classes: &[Class], bytes: u32, compression: Compression) -> Self {
        let mut index = 0;
        while index < classes.len() {
            let format = vk::Format::from_raw(first.as_raw() + index as i32);
            let channels = match compression {
                Compression::Bc4 => R8,
                Compression::Bc5 => R8G8,
                Compression::Bc1Rgb => R8G8B8,
                Compression::Bc6hUfloat | Compression::Bc6hSfloat => R16G16B16,
                _ => R8G8B8A8,
            };
            self.rows[format.as_raw() as usize] = Some(FormatInfo {
                format,
                class: classes[index],
                bytes,
                channels,
                depth_bits: 0,
                stencil: false,
                compression: Some(compression),
            });
            index += 1;
        }
        self
    }
}

const fn small(builder: Builder) -> Builder {
    builder
        .color(vk::Format::R4G4_UNORM_PACK8, Class::Unorm, 1, R4G4)
        .color(vk::Format::R4G4B4A4_UNORM_PACK16, Class::Unorm, 2, R4G4B4A4)
        .color(vk::Format::B4G4R4A4_UNORM_PACK16, Class::Unorm, 2, B4G4R4A4)
        .color(vk::Format::R5G6B5_UNORM_PACK16, Class::Unorm, 2, R5G6B5)
        .color(vk::Format::B5G6R5_UNORM_PACK16, Class::Unorm, 2, B5G6R5)
        .color(vk::Format::R5G5B5A1_UNORM_PACK16, Class::Unorm, 2, R5G5B5A1)
        .color(vk::Format::B5G5R5A1_UNORM_PACK16, Class::Unorm, 2, B5G5R5A1)
        .color(vk::Format::A1R5G5B5_UNORM_PACK16, Class::Unorm, 2, A1R5G5B5)
        .family(vk::Format::R8_UNORM, &FIXED, 7, 1, R8)
        .family(vk::Format::R8G8_UNORM, &FIXED, 7, 2, R8G8)
        .family(vk::Format::R8G8B8_UNORM, &FIXED, 7, 3, R8G8B8)
        .family(vk::Format::B8G8R8_UNORM, &FIXED, 7, 3, B8G8R8)
        .family(vk::Format::R8G8B8A8_UNORM, &FIXED, 7, 4, R8G8B8A8)
        .family(vk::Format::B8G8R8A8_UNORM, &FIXED, 7, 4, B8G8R8A8)
        .family(vk::Format::A8B8G8R8_UNORM_PACK32, &FIXED, 7, 4, R8G8B8A8)
        .family(vk::Format::A2R10G10B10_UNORM_PACK32, &FIXED, 6, 4, A2R10G10B10)
        .family(vk::Format::A2B10G10R10_UNORM_PACK32, &FIXED, 6, 4, A2B10G10R10)
}

const fn wide(builder: Builder) -> Builder {
    builder
        .family(vk::Format::R16_UNORM, &FIXED_OR_HALF, 7, 2, R16)
        .family(vk::Format::R16G16_UNORM, &FIXED_OR_HALF, 7, 4, R16G16)
        .family(vk::Format::R16G16B16_UNORM, &FIXED_OR_HALF, 7, 6, R16G16B16)
        .family(vk::Format::R16G16B16A16_UNORM, &FIXED_OR_HALF, 7, 8, R16G16B16A16)
        .family(vk::Format::R32_UINT, &WORDS, 3, 4, R32)
        .family(vk::Format::R32G32_UINT, &WORDS, 3, 8, R32G32)
        .family(vk::Format::R32G32B32_UINT, &WORDS, 3, 12, R32G32B32)
        .family(vk::Format::R32G32B32A32_UINT, &WORDS, 3, 16, R32G32B32A32)
        .color(vk::Format::B10G11R11_UFLOAT_PACK32, Class::Ufloat, 4, B10G11R11)
        .color(vk::Format::E5B9G9R9_UFLOAT_PACK32, Class::Ufloat, 4, E5B9G9R9)
}

const fn depth_and_blocks(builder: Builder) -> Builder {
    builder
        .depth(vk::Format::D16_UNORM, Class::Unorm, 2, 16, false)
        .depth(vk::Format::X8_D24_UNORM_PACK32, Class::Unorm, 4, 24, false)
        .depth(vk::Format::D32_SFLOAT, Class::Sfloat, 4, 32, false)
        .depth(vk::Format::S8_UINT, Class::Uint, 1, 0, true)
        .depth(vk::Format::D16_UNORM_S8_UINT, Class::Unorm, 3, 16, true)
        .depth(vk::Format::D24_UNORM_S8_UINT, Class::Unorm, 4, 24, true)
        .depth(vk::Format::D32_SFLOAT_S8_UINT, Class::Sfloat, 5, 32, true)
        .blocks(vk::Format::BC1_RGB_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 8, Compression::Bc1Rgb)
        .blocks(vk::Format::BC1_RGBA_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 8, Compression::Bc1Rgba)
        .blocks(vk::Format::BC2_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 16, Compression::Bc2)
        .blocks(vk::Format::BC3_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 16, Compression::Bc3)
        .blocks(vk::Format::BC4_UNORM_BLOCK, &[Class::Unorm, Class::Snorm], 8, Compression::Bc4)
        .blocks(vk::Format::BC5_UNORM_BLOCK, &[Class::Unorm, Class::Snorm], 16, Compression::Bc5)
        .blocks(vk::Format::BC6H_UFLOAT_BLOCK, &[Class::Ufloat], 16, Compression::Bc6hUfloat)
        .blocks(vk::Format::BC6H_SFLOAT_BLOCK, &[Class::Sfloat], 16, Compression::Bc6hSfloat)
        .blocks(vk::Format::BC7_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 16, Compression::Bc7)
}

static TABLE: [Option<FormatInfo>; ROWS] = depth_and_blocks(wide(small(Builder { rows: [None; ROWS] }))).rows;

/// What is known of `format`; `None` when it is not supported at all.
pub fn info(format: vk::Format) -> Option<&'static FormatInfo> {
    TABLE.get(usize::try_from(format.as_raw()).ok()?)?.as_ref()
}

/// Every format that is supported.
pub fn all() -> impl Iterator<Item = &'static FormatInfo> {
    TABLE.iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_a_format_do_not_overlap_and_fit() {
        for info in TABLE.iter().flatten().filter(|info| info.compression.is_none()) {
            let mut seen = 0u128;
            for channel in info.channels {
                let mask = ((1u128 << channel.bits) - 1) << channel.offset;
                assert_eq!(seen & mask, 0, "{:?}", info.format);
                seen |= mask;
            }
            assert!(u32::from(info.channels.iter().map(|c| c.offset + c.bits).max().unwrap_or(0)) <= info.bytes * 8);
        }
    }

    #[test]
    fn rows_stand_at_their_own_number() {
        for (number, info) in TABLE.iter().enumerate() {
            assert!(info.is_none_or(|info| info.format.as_raw() as usize == number));
        }
        assert_eq!(info(vk::Format::UNDEFINED), None);
        assert_eq!(info(vk::Format::from_raw(-1)), None);
        assert_eq!(info(vk::Format::BC7_SRGB_BLOCK).unwrap().class, Class::Srgb);
        assert_eq!(info(vk::Format::R16G16_SFLOAT).unwrap().class, Class::Sfloat);
    }
}
