//! Reader of single texels of a view, decoded and swizzled.

use ash::vk;
use vitric_format as format;
use vitric_format::{Class, FormatInfo, Texel};
use vitric_memory::{DECODED, PlaneRef, SurfaceView, Swizzle};

/// View prepared for reading texels, with resolved format and aspect.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) view: &'a SurfaceView,
    pub(super) info: &'static FormatInfo,
    aspect: vk::ImageAspectFlags,
    byte_decoder: Option<ByteDecoder>,
}

/// Common formats with four bytes per texel, which are decoded by table.
#[derive(Clone, Copy)]
struct ByteDecoder {
    /// True if blue is the first component.
    swapped: bool,
    srgb: bool,
}

impl ByteDecoder {
    fn new(format: vk::Format) -> Option<Self> {
        let (swapped, srgb) = match format {
            vk::Format::R8G8B8A8_UNORM | vk::Format::A8B8G8R8_UNORM_PACK32 => (false, false),
            vk::Format::R8G8B8A8_SRGB | vk::Format::A8B8G8R8_SRGB_PACK32 => (false, true),
            vk::Format::B8G8R8A8_UNORM => (true, false),
            vk::Format::B8G8R8A8_SRGB => (true, true),
            _ => return None,
        };
        Some(Self { swapped, srgb })
    }

    #[inline]
    fn decode(self, [first, green, third, alpha]: [u8; 4]) -> Texel {
        let (red, blue) = if self.swapped { (third, first) } else { (first, third) };
        let unorm = |code: u8| UNORM8[usize::from(code)];
        if self.srgb {
            let [red, green, blue] = [red, green, blue].map(|code| format::srgb8_to_linear(code).to_bits());
            return [red, green, blue, unorm(alpha)];
        }
        [unorm(red), unorm(green), unorm(blue), unorm(alpha)]
    }
}

/// Words of 8-bit unsigned fixed point as floats, computed with the quotient that `format` uses.
static UNORM8: [u32; 256] = {
    let mut words = [0; 256];
    let mut code = 0;
    while code < 256 {
        words[code] = (code as f32 / 255.0).to_bits();
        code += 1;
    }
    words
};

impl<'a> Reader<'a> {
    /// Creates a reader. Returns `None` if the view's format is not supported.
    pub(super) fn new(view: &'a SurfaceView) -> Option<Self> {
        let (info, aspect) = view.sampled()?;
        Some(Self { view, info, aspect, byte_decoder: ByteDecoder::new(info.format) })
    }

    /// Returns the aspect that is read.
    pub(super) fn aspect(&self) -> vk::ImageAspectFlags {
        self.aspect
    }

    /// Returns true if the aspect is colour rather than depth or stencil.
    pub(super) fn is_color(&self) -> bool {
        !self.aspect.intersects(vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL)
    }

    /// Returns true if the format consists of compressed blocks.
    pub(super) fn is_compressed(&self) -> bool {
        self.info.compression.is_some()
    }

    /// Returns the class of the words of a texel.
    pub(super) fn class(&self) -> Class {
        let is_words = self.aspect == vk::ImageAspectFlags::STENCIL || self.aspect == DECODED;
        if is_words { Class::Uint } else { self.info.class }
    }

    /// Returns one level and slice (layer, or depth slice of 3D views).
    pub(super) fn plane(&self, level: u32, slice: u32) -> Option<PlaneRef<'a>> {
        self.view.plane(self.aspect, level, slice)
    }

    /// Returns a texel before swizzling, or zeros if it is out of bounds.
    #[inline(always)]
    pub(super) fn texel(&self, plane: &PlaneRef<'_>, x: u32, y: u32, sample: u32) -> Texel {
        match self.aspect {
            vk::ImageAspectFlags::DEPTH => {
                let depth = format::decode_depth(self.info.depth_bits, plane.read_word(x, y, sample));
                [depth.to_bits(), 0, 0, 1.0f32.to_bits()]
            }
            vk::ImageAspectFlags::STENCIL => [plane.read_word(x, y, sample), 0, 0, 1],
            DECODED => format::block_words(self.info, &self.block(plane, x, y), x, y),
            _ if self.view.desc.decodes_codes => self.color(plane, x, y, sample).map(format::rounded_to_code),
            _ => self.color(plane, x, y, sample),
        }
    }

    #[inline(always)]
    fn color(&self, plane: &PlaneRef<'_>, x: u32, y: u32, sample: u32) -> Texel {
        if let Some(decoder) = self.byte_decoder {
            let mut bytes = [0; 4];
            plane.read(x, y, sample, &mut bytes);
            return decoder.decode(bytes);
        }
        if self.info.compression.is_some() {
            return format::block_texel(self.info, &self.block(plane, x, y), x, y);
        }
        let mut bytes = [0; 16];
        plane.read(x, y, sample, &mut bytes[..self.info.bytes as usize]);
        format::decode(self.info, &bytes)
    }

    /// Returns the block that contains a texel, padded with zeros.
    fn block(&self, plane: &PlaneRef<'_>, x: u32, y: u32) -> [u8; 16] {
        let ([width, height], mut bytes) = (self.info.block_extent(), [0; 16]);
        plane.read(x / width, y / height, 0, &mut bytes[..self.info.bytes as usize]);
        bytes
    }

    /// Applies the view's component mapping.
    #[inline]
    pub(super) fn swizzle(&self, texel: Texel) -> Texel {
        if self.view.desc.swizzle == Swizzle::IDENTITY {
            return texel;
        }
        self.view.desc.swizzle.map(|swizzle| match swizzle {
            Swizzle::Zero => 0,
            Swizzle::One => format::one(self.class()),
            Swizzle::Component(component) => texel[usize::from(component & 3)],
        })
    }

    /// Returns the result of reading outside of the view: zeros, with the usual values for
    /// components that the format lacks, after the component mapping.
    pub(super) fn outside(&self) -> Texel {
        self.swizzle(self.border([0; 4]))
    }

    /// Returns a border colour as a texel of the view's format. Components that the format lacks
    /// have their usual values.
    pub(super) fn border(&self, color: Texel) -> Texel {
        let own = format::info(self.view.desc.format).unwrap_or(self.info);
        let has = |component: u8| match self.is_color() {
            true => own.component_bits(component) > 0,
            false => component == 0,
        };
        let missing = [0, 0, 0, format::one(self.class())];
        std::array::from_fn(|index| if has(index as u8) { color[index] } else { missing[index] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_four_bytes_decode_as_the_table_says() {
        for format in (0..200).map(vk::Format::from_raw) {
            let (Some(decoder), Some(info)) = (ByteDecoder::new(format), format::info(format)) else { continue };
            for code in 0..=255u8 {
                let bytes = [code, code.wrapping_mul(3), code.wrapping_add(99), !code];
                assert_eq!(decoder.decode(bytes), format::decode(info, &bytes), "{format:?}");
            }
        }
    }
}
