//! Reading one texel of a view, decoded and swizzled.

use ash::vk;

use super::cube;
use crate::format::{self, Class, FormatInfo, Texel};
use crate::memory::{PlaneRef, SurfaceView, Swizzle};

/// A view prepared for reading texels: format and aspect resolved.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) view: &'a SurfaceView,
    pub(super) info: &'static FormatInfo,
    aspect: vk::ImageAspectFlags,
}

impl<'a> Reader<'a> {
    /// `None` when the view's format is not supported.
    pub(super) fn new(view: &'a SurfaceView) -> Option<Self> {
        Some(Self { view, info: format::info(view.desc.format)?, aspect: view.sampled_aspect() })
    }

    /// Class of the words that texels consist of.
    pub(super) fn class(&self) -> Class {
        if self.aspect == vk::ImageAspectFlags::STENCIL { Class::Uint } else { self.info.class }
    }

    /// One level and slice (layer, or depth of 3D views).
    pub(super) fn plane(&self, level: u32, slice: u32) -> Option<PlaneRef<'a>> {
        self.view.plane(self.aspect, level, slice)
    }

    /// A texel before swizzling; zeros outside.
    #[inline]
    pub(super) fn texel(&self, plane: &PlaneRef<'_>, x: u32, y: u32, sample: u32) -> Texel {
        match self.aspect {
            vk::ImageAspectFlags::DEPTH => {
                let depth = format::decode_depth(self.info.depth_bits, plane.read_word(x, y, sample));
                [depth.to_bits(), 0, 0, 1.0f32.to_bits()]
            }
            vk::ImageAspectFlags::STENCIL => [plane.read_word(x, y, sample), 0, 0, 1],
            _ => self.color(plane, x, y, sample),
        }
    }

    #[inline]
    fn color(&self, plane: &PlaneRef<'_>, x: u32, y: u32, sample: u32) -> Texel {
        let mut bytes = [0; 16];
        if self.info.compression.is_some() {
            plane.read(x / 4, y / 4, sample, &mut bytes[..self.info.bytes as usize]);
            return format::decode_block(self.info, &bytes)[(y % 4 * 4 + x % 4) as usize];
        }
        plane.read(x, y, sample, &mut bytes[..self.info.bytes as usize]);
        format::decode(self.info, &bytes)
    }

    /// The view's component mapping.
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

    /// A texel of a cube's face that may lie beyond its edge.
    pub(super) fn cube_texel(&self, level: u32, first_layer: u32, face: u32, (x, y): (i32, i32)) -> Texel {
        let size = self.view.extent(level).width as i32;
        let (face, x, y) = cube::across_edge(face, x, y, size);
        match self.plane(level, first_layer + face) {
            Some(plane) => self.texel(&plane, x as u32, y as u32, 0),
            None => [0; 4],
        }
    }
}
