//! The table of formats: one row per format, in the order of `VkFormat`'s numbers.
//!
//! One line of code defines a family of formats that differ only in class. Bit offsets count from
//! the least significant bit of the little-endian texel. In packed formats the component that is
//! named last therefore has the lowest offset.

use ash::vk;

/// Encoding of a component's value in its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Unsigned fixed point, 0 to 1.
    Unorm,
    /// Signed fixed point, -1 to 1.
    Snorm,
    /// Unsigned integer that is read as a float.
    Uscaled,
    /// Signed integer that is read as a float.
    Sscaled,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Signed floating point of 16, 32 or 64 bits.
    Sfloat,
    /// Unsigned floating point of 10 or 11 bits, or with a shared exponent.
    Ufloat,
    /// Unsigned fixed point, sRGB-encoded except for alpha.
    Srgb,
}

impl Class {
    /// Returns true if texels are integers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Uint | Self::Sint)
    }
}

/// One component of a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Component number, red to alpha as 0 to 3.
    pub component: u8,
    /// First bit in the texel.
    pub offset: u8,
    /// Size in bits.
    pub bits: u8,
}

/// A block compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the names of the formats")]
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
    Etc2Rgb,
    /// ETC2 with punch-through alpha.
    Etc2RgbA1,
    Etc2Rgba,
    EacR11,
    EacRg11,
    /// ASTC with the columns and rows of its blocks.
    Astc(u8, u8),
}

impl Compression {
    /// Returns the columns and rows of a block.
    pub const fn extent(self) -> [u32; 2] {
        match self {
            Self::Astc(width, height) => [width as u32, height as u32],
            _ => [4; 2],
        }
    }

    /// Returns the components that the format has, with nominal offsets and sizes.
    const fn channels(self) -> &'static [Channel] {
        match self {
            Self::Bc4 => R8,
            Self::Bc5 => R8G8,
            Self::Bc1Rgb | Self::Etc2Rgb => R8G8B8,
            Self::Bc6hUfloat | Self::Bc6hSfloat => R16G16B16,
            Self::EacR11 => R16,
            Self::EacRg11 => R16G16,
            Self::Astc(..) => R16G16B16A16,
            _ => R8G8B8A8,
        }
    }
}

/// Layout of an aspect's data in memory.
///
/// Each plane is stored separately, except that 24-bit depth and stencil share dwords. Depth is in
/// the low bits and stencil in the high byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Plane {
    /// The aspect, or depth and stencil together for their shared dwords.
    pub aspect: vk::ImageAspectFlags,
    /// Bytes per texel or block in copies.
    pub bytes: u32,
    /// Bytes from one texel or block to the next in memory.
    ///
    /// The stride exceeds `bytes` for stencil that shares dwords with depth.
    pub stride: u32,
    /// Columns and rows of the image that one texel or block of the plane covers.
    pub block: [u32; 2],
}

/// One plane of a multi-planar format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaneFormat {
    /// Format of a single-plane image with the plane's texels.
    pub format: vk::Format,
    bytes: u32,
    block: [u32; 2],
}

impl Plane {
    const fn new(aspect: vk::ImageAspectFlags, bytes: u32, block: [u32; 2]) -> Self {
        Self { aspect, bytes, stride: bytes, block }
    }
}

/// Depth and stencil, which may share dwords.
pub const DEPTH_STENCIL: vk::ImageAspectFlags =
    vk::ImageAspectFlags::from_raw(vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw());

/// The aspects of the planes of multi-planar formats.
pub const PLANE_ASPECTS: [vk::ImageAspectFlags; 3] =
    [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1, vk::ImageAspectFlags::PLANE_2];

/// Description of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatInfo {
    /// The format.
    pub format: vk::Format,
    /// Encoding of the components. Depth formats have the class of depth, stencil-only formats
    /// [`Class::Uint`].
    pub class: Class,
    /// Bytes per texel or block for the host.
    pub bytes: u32,
    /// Components of colour formats.
    pub channels: &'static [Channel],
    /// Bits of depth, or 0 if the format has no depth.
    pub depth_bits: u32,
    /// True if the format has 8 bits of stencil.
    pub stencil: bool,
    /// Block compression of compressed formats.
    pub compression: Option<Compression>,
    /// Planes of multi-planar formats: luma (green) first, then blue and red, or one plane of
    /// both.
    ///
    /// `channels` describes the first plane.
    pub planar: [Option<PlaneFormat>; 3],
}

impl FormatInfo {
    /// Returns true if the format has depth or stencil.
    pub const fn is_depth_stencil(&self) -> bool {
        self.depth_bits > 0 || self.stencil
    }

    /// Returns the columns and rows of a block, which are 1 each for uncompressed formats.
    pub const fn block_extent(&self) -> [u32; 2] {
        match self.compression {
            Some(compression) => compression.extent(),
            None => [1; 2],
        }
    }

    /// Returns the aspects of the format.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        self.planes().fold(vk::ImageAspectFlags::empty(), |all, plane| all | plane.aspect)
    }

    /// Returns true if the format has several planes of colour.
    pub const fn is_planar(&self) -> bool {
        self.planar[0].is_some()
    }

    /// Returns true if depth and stencil share dwords.
    pub const fn is_packed(&self) -> bool {
        self.depth_bits == 24 && self.stencil
    }

    /// Returns the planes of some aspects.
    ///
    /// Depth and stencil that share dwords are one plane if `aspects` contains both.
    pub fn planes_of(&self, aspects: vk::ImageAspectFlags) -> impl Iterator<Item = Plane> + use<> {
        let words = self.is_packed() && aspects.contains(DEPTH_STENCIL);
        let of_words = words.then(|| Plane::new(DEPTH_STENCIL, self.bytes, [1; 2]));
        of_words.into_iter().chain(self.planes().filter(move |plane| !words && aspects.contains(plane.aspect)))
    }

    /// Returns the planes in which a surface stores the format.
    ///
    /// Colour formats have one plane, multi-planar formats have two or three. Depth and stencil
    /// have one each.
    pub fn planes(&self) -> impl Iterator<Item = Plane> + use<> {
        let depth_bytes = if self.depth_bits == 16 { 2 } else { 4 };
        let depth = Plane::new(vk::ImageAspectFlags::DEPTH, depth_bytes, [1; 2]);
        let stencil = Plane::new(vk::ImageAspectFlags::STENCIL, 1, [1; 2]);
        let stencil = Plane { stride: if self.is_packed() { self.bytes } else { 1 }, ..stencil };
        let color = Plane::new(vk::ImageAspectFlags::COLOR, self.bytes, self.block_extent());
        let mut planes = [
            (self.depth_bits > 0).then_some(depth),
            self.stencil.then_some(stencil),
            (!self.is_depth_stencil()).then_some(color),
        ];
        if self.is_planar() {
            let plane = |(part, aspect): (&Option<PlaneFormat>, _)| {
                part.map(|PlaneFormat { bytes, block, .. }| Plane::new(aspect, bytes, block))
            };
            let parts = self.planar.iter().zip(PLANE_ASPECTS).map(plane);
            planes.iter_mut().zip(parts).for_each(|(slot, part)| *slot = part);
        }
        planes.into_iter().flatten()
    }

    /// Returns true if components have 64 bits.
    ///
    /// Each component then has two channels, the low dword before the high one. The channels
    /// describe only the first two components. Further components form a second texel after these
    /// (see [`Self::second_half`]).
    pub const fn is_wide(&self) -> bool {
        let number = self.format.as_raw();
        vk::Format::R64_UINT.as_raw() <= number && number <= vk::Format::R64G64B64A64_SFLOAT.as_raw()
    }

    /// Returns the format of the third and fourth component of a format with 64-bit components.
    ///
    /// Returns `None` for formats of one or two such components, and for other formats.
    pub fn second_half(&self) -> Option<&'static Self> {
        // `VkFormat` numbers the format with one component less three lower.
        let halves = if self.bytes > 16 { 6 } else { return None };
        info(vk::Format::from_raw(self.format.as_raw() - halves))
    }

    /// Returns the bits of a component (red to alpha as 0 to 3), or 0 if the format does not have
    /// it.
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
channels!(A4R4G4B4: (3, 12, 4), (0, 8, 4), (1, 4, 4), (2, 0, 4));
channels!(A4B4G4R4: (3, 12, 4), (2, 8, 4), (1, 4, 4), (0, 0, 4));
channels!(R5G6B5: (0, 11, 5), (1, 5, 6), (2, 0, 5));
channels!(B5G6R5: (2, 11, 5), (1, 5, 6), (0, 0, 5));
channels!(R5G5B5A1: (0, 11, 5), (1, 6, 5), (2, 1, 5), (3, 0, 1));
channels!(B5G5R5A1: (2, 11, 5), (1, 6, 5), (0, 1, 5), (3, 0, 1));
channels!(A1R5G5B5: (3, 15, 1), (0, 10, 5), (1, 5, 5), (2, 0, 5));
channels!(A1B5G5R5: (3, 15, 1), (2, 10, 5), (1, 5, 5), (0, 0, 5));
channels!(A8: (3, 0, 8));
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
// Values are in the high bits of each 16.
channels!(R10X6: (0, 6, 10));
channels!(R10X6G10X6: (0, 6, 10), (1, 22, 10));
channels!(R10X6G10X6B10X6A10X6: (0, 6, 10), (1, 22, 10), (2, 38, 10), (3, 54, 10));
channels!(R12X4: (0, 4, 12));
channels!(R12X4G12X4: (0, 4, 12), (1, 20, 12));
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

/// Ranges of format numbers, of Vulkan 1.0 and of extensions: the first format and the count.
const NUMBERS: [(vk::Format, usize); 6] = [
    (vk::Format::UNDEFINED, vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw() as usize + 1),
    (vk::Format::ASTC_4X4_SFLOAT_BLOCK, 14),
    (vk::Format::G8B8G8R8_422_UNORM, 34),
    (vk::Format::G8_B8R8_2PLANE_444_UNORM, 4),
    (vk::Format::A4R4G4B4_UNORM_PACK16, 2),
    (vk::Format::A1B5G5R5_UNORM_PACK16_KHR, 2),
];

/// Number of rows of the table.
const ROWS: usize = {
    let (mut rows, mut index) = (0, 0);
    while index < NUMBERS.len() {
        rows += NUMBERS[index].1;
        index += 1;
    }
    rows
};

/// Returns the row of a format, or [`ROWS`] if the format has none.
const fn row(format: vk::Format) -> usize {
    let (mut rows, mut index) = (0, 0);
    while index < NUMBERS.len() {
        let (first, count) = NUMBERS[index];
        let number = format.as_raw().wrapping_sub(first.as_raw());
        if 0 <= number && (number as usize) < count {
            return rows + number as usize;
        }
        rows += count;
        index += 1;
    }
    ROWS
}

struct Builder {
    rows: [Option<FormatInfo>; ROWS],
}

impl Builder {
    const fn color(mut self, format: vk::Format, class: Class, bytes: u32, channels: &'static [Channel]) -> Self {
        self.rows[row(format)] = Some(FormatInfo {
            format,
            class,
            bytes,
            channels,
            depth_bits: 0,
            stencil: false,
            compression: None,
            planar: [None; 3],
        });
        self
    }

    /// Adds `count` formats, numbered from `first` on, with the first `count` of `classes`.
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
        self.rows[row(format)] = Some(FormatInfo {
            format,
            class,
            bytes,
            channels: &[],
            depth_bits,
            stencil,
            compression: None,
            planar: [None; 3],
        });
        self
    }

    /// Adds a compressed format for each class, numbered from `first` on.
    const fn blocks(mut self, first: vk::Format, classes: &[Class], bytes: u32, compression: Compression) -> Self {
        let mut index = 0;
        while index < classes.len() {
            let format = vk::Format::from_raw(first.as_raw() + index as i32);
            self.rows[row(format)] = Some(FormatInfo {
                format,
                class: classes[index],
                bytes,
                channels: compression.channels(),
                depth_bits: 0,
                stencil: false,
                compression: Some(compression),
                planar: [None; 3],
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
        .color(vk::Format::A4R4G4B4_UNORM_PACK16, Class::Unorm, 2, A4R4G4B4)
        .color(vk::Format::A4B4G4R4_UNORM_PACK16, Class::Unorm, 2, A4B4G4R4)
        .color(vk::Format::R5G6B5_UNORM_PACK16, Class::Unorm, 2, R5G6B5)
        .color(vk::Format::B5G6R5_UNORM_PACK16, Class::Unorm, 2, B5G6R5)
        .color(vk::Format::R5G5B5A1_UNORM_PACK16, Class::Unorm, 2, R5G5B5A1)
        .color(vk::Format::B5G5R5A1_UNORM_PACK16, Class::Unorm, 2, B5G5R5A1)
        .color(vk::Format::A1R5G5B5_UNORM_PACK16, Class::Unorm, 2, A1R5G5B5)
        .color(vk::Format::A1B5G5R5_UNORM_PACK16_KHR, Class::Unorm, 2, A1B5G5R5)
        .color(vk::Format::A8_UNORM_KHR, Class::Unorm, 1, A8)
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
        .color(vk::Format::R10X6_UNORM_PACK16, Class::Unorm, 2, R10X6)
        .color(vk::Format::R10X6G10X6_UNORM_2PACK16, Class::Unorm, 4, R10X6G10X6)
        .color(vk::Format::R10X6G10X6B10X6A10X6_UNORM_4PACK16, Class::Unorm, 8, R10X6G10X6B10X6A10X6)
        .color(vk::Format::R12X4_UNORM_PACK16, Class::Unorm, 2, R12X4)
        .color(vk::Format::R12X4G12X4_UNORM_2PACK16, Class::Unorm, 4, R12X4G12X4)
        .family(vk::Format::R32_UINT, &WORDS, 3, 4, R32)
        .family(vk::Format::R32G32_UINT, &WORDS, 3, 8, R32G32)
        .family(vk::Format::R32G32B32_UINT, &WORDS, 3, 12, R32G32B32)
        .family(vk::Format::R32G32B32A32_UINT, &WORDS, 3, 16, R32G32B32A32)
        .family(vk::Format::R64_UINT, &WORDS, 3, 8, R32G32)
        .family(vk::Format::R64G64_UINT, &WORDS, 3, 16, R32G32B32A32)
        .family(vk::Format::R64G64B64_UINT, &WORDS, 3, 24, R32G32B32A32)
        .family(vk::Format::R64G64B64A64_UINT, &WORDS, 3, 32, R32G32B32A32)
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

impl Builder {
    /// Adds a format of two or three planes.
    ///
    /// The planes after the first have one texel for each `block` of the image. `parts` are the
    /// formats of planes with one and with two components.
    const fn planar(
        mut self,
        format: vk::Format,
        parts: (&FormatInfo, vk::Format),
        planes: usize,
        block: [u32; 2],
    ) -> Self {
        let (one, two) = parts;
        let luma = PlaneFormat { format: one.format, bytes: one.bytes, block: [1; 2] };
        let single = PlaneFormat { block, ..luma };
        let pair = PlaneFormat { format: two, bytes: 2 * one.bytes, block };
        let planar =
            if planes == 3 { [Some(luma), Some(single), Some(single)] } else { [Some(luma), Some(pair), None] };
        self.rows[row(format)] = Some(FormatInfo { format, planar, ..*one });
        self
    }

    /// Adds the five formats from `first` on, in the order of `VkFormat`, and `last`.
    ///
    /// `last` has two planes of equal size. `one` and `two` are the formats of planes with one and
    /// with two components.
    const fn planar_family(self, first: vk::Format, last: vk::Format, one: vk::Format, two: vk::Format) -> Self {
        let Some(info) = self.rows[row(one)] else { return self };
        let parts = (&info, two);
        self.planar(first, parts, 3, [2, 2])
            .planar(after(first, 1), parts, 2, [2, 2])
            .planar(after(first, 2), parts, 3, [2, 1])
            .planar(after(first, 3), parts, 2, [2, 1])
            .planar(after(first, 4), parts, 3, [1, 1])
            .planar(last, parts, 2, [1, 1])
    }
}

const fn after(format: vk::Format, step: i32) -> vk::Format {
    vk::Format::from_raw(format.as_raw() + step)
}

/// Adds the formats of ETC2, EAC and ASTC.
const fn mobile(mut builder: Builder) -> Builder {
    builder = builder
        .blocks(vk::Format::ETC2_R8G8B8_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 8, Compression::Etc2Rgb)
        .blocks(vk::Format::ETC2_R8G8B8A1_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 8, Compression::Etc2RgbA1)
        .blocks(vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK, &[Class::Unorm, Class::Srgb], 16, Compression::Etc2Rgba)
        .blocks(vk::Format::EAC_R11_UNORM_BLOCK, &[Class::Unorm, Class::Snorm], 8, Compression::EacR11)
        .blocks(vk::Format::EAC_R11G11_UNORM_BLOCK, &[Class::Unorm, Class::Snorm], 16, Compression::EacRg11);
    let mut index = 0;
    while index < ASTC_EXTENTS.len() {
        let (width, height) = ASTC_EXTENTS[index];
        let compression = Compression::Astc(width, height);
        let low = vk::Format::from_raw(vk::Format::ASTC_4X4_UNORM_BLOCK.as_raw() + 2 * index as i32);
        let high = vk::Format::from_raw(vk::Format::ASTC_4X4_SFLOAT_BLOCK.as_raw() + index as i32);
        builder = builder.blocks(low, &[Class::Unorm, Class::Srgb], 16, compression);
        builder = builder.blocks(high, &[Class::Sfloat], 16, compression);
        index += 1;
    }
    builder
}

/// Block sizes of ASTC in the order in which `VkFormat` numbers them.
const ASTC_EXTENTS: [(u8, u8); 14] = [
    (4, 4),
    (5, 4),
    (5, 5),
    (6, 5),
    (6, 6),
    (8, 5),
    (8, 6),
    (8, 8),
    (10, 5),
    (10, 6),
    (10, 8),
    (10, 10),
    (12, 10),
    (12, 12),
];

/// Adds the formats with separate planes for luma and chroma.
const fn planar(builder: Builder) -> Builder {
    use vk::Format as F;
    builder
        .planar_family(F::G8_B8_R8_3PLANE_420_UNORM, F::G8_B8R8_2PLANE_444_UNORM, F::R8_UNORM, F::R8G8_UNORM)
        .planar_family(
            F::G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16,
            F::G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16,
            F::R10X6_UNORM_PACK16,
            F::R10X6G10X6_UNORM_2PACK16,
        )
        .planar_family(
            F::G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16,
            F::G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16,
            F::R12X4_UNORM_PACK16,
            F::R12X4G12X4_UNORM_2PACK16,
        )
        .planar_family(F::G16_B16_R16_3PLANE_420_UNORM, F::G16_B16R16_2PLANE_444_UNORM, F::R16_UNORM, F::R16G16_UNORM)
}

static TABLE: [Option<FormatInfo>; ROWS] =
    planar(mobile(depth_and_blocks(wide(small(Builder { rows: [None; ROWS] }))))).rows;

/// Returns the description of `format`, or `None` if the format is not supported.
pub fn info(format: vk::Format) -> Option<&'static FormatInfo> {
    TABLE.get(row(format))?.as_ref()
}

/// Returns the descriptions of all supported formats.
pub fn all() -> impl Iterator<Item = &'static FormatInfo> {
    TABLE.iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_a_format_do_not_overlap_and_fit() {
        for info in all().filter(|info| info.compression.is_none()) {
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
            assert!(info.is_none_or(|info| row(info.format) == number));
        }
        assert_eq!(info(vk::Format::UNDEFINED), None);
        assert_eq!(info(vk::Format::from_raw(-1)), None);
        assert_eq!(info(vk::Format::BC7_SRGB_BLOCK).unwrap().class, Class::Srgb);
        let halves = |format| info(format).unwrap().second_half().map(|half| half.format);
        assert_eq!(halves(vk::Format::R64G64_SFLOAT), None);
        assert_eq!(halves(vk::Format::R64G64B64_SFLOAT), Some(vk::Format::R64_SFLOAT));
        assert_eq!(halves(vk::Format::R64G64B64A64_SINT), Some(vk::Format::R64G64_SINT));
        assert_eq!(info(vk::Format::R16G16_SFLOAT).unwrap().class, Class::Sfloat);
        let planar = info(vk::Format::G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16).unwrap();
        let planes: Vec<(u32, [u32; 2])> = planar.planes().map(|plane| (plane.bytes, plane.block)).collect();
        assert_eq!(planes, [(2, [1, 1]), (4, [2, 1])]);
        let last = info(vk::Format::ASTC_12X12_SFLOAT_BLOCK).unwrap();
        assert_eq!((last.class, last.block_extent()), (Class::Sfloat, [12; 2]));
        assert_eq!(info(vk::Format::ASTC_10X6_SRGB_BLOCK).unwrap().block_extent(), [10, 6]);
    }
}
