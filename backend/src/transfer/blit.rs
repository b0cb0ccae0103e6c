//! Blits: scaled, flipped and converted copies.

use ash::vk;

use super::slices;
use crate::format::{self, FormatInfo, Texel};
use crate::memory::{PlaneRef, Surface};

/// One axis of a blit: where each texel of the target reads.
struct Axis {
    low: i32,
    high: i32,
    source: f32,
    scale: f32,
    origin: f32,
}

impl Axis {
    fn new(source: [i32; 2], target: [i32; 2]) -> Self {
        let scale = (source[1] - source[0]) as f32 / (target[1] - target[0]) as f32;
        Self {
            low: target[0].min(target[1]),
            high: target[0].max(target[1]),
            source: source[0] as f32,
            scale,
            origin: target[0] as f32,
        }
    }

    /// The coordinate in the source, in texels, of a target texel's centre.
    fn at(&self, texel: i32) -> f32 {
        (texel as f32 + 0.5 - self.origin) * self.scale + self.source
    }
}

/// Blits regions.
pub fn blit(source: &Surface, target: &Surface, regions: &[vk::ImageBlit], filter: vk::Filter) {
    for region in regions {
        blit_region(source, target, region, filter);
    }
}

fn blit_region(source: &Surface, target: &Surface, region: &vk::ImageBlit, filter: vk::Filter) {
    let (Some(from_info), Some(to_info)) = (format::info(source.desc().format), format::info(target.desc().format))
    else {
        return;
    };
    let (from, to) = (region.src_offsets, region.dst_offsets);
    let axes = [
        Axis::new([from[0].x, from[1].x], [to[0].x, to[1].x]),
        Axis::new([from[0].y, from[1].y], [to[0].y, to[1].y]),
        Axis::new([from[0].z, from[1].z], [to[0].z, to[1].z]),
    ];
    let depth = (axes[2].high - axes[2].low).max(1) as u32;
    let (to_first, count) = slices(target, region.dst_subresource, vk::Offset3D { z: axes[2].low, ..to[0] }, depth);
    let volume = source.desc().kind == vk::ImageType::TYPE_3D;
    for aspect in [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL] {
        if !region.src_subresource.aspect_mask.contains(aspect) {
            continue;
        }
        for slice in 0..count {
            let from_slice = match volume {
                true => axes[2].at(axes[2].low + slice as i32).floor().max(0.0) as u32,
                false => region.src_subresource.base_array_layer + slice,
            };
            let from = source.plane(aspect, region.src_subresource.mip_level, from_slice);
            let to = target.plane(aspect, region.dst_subresource.mip_level, to_first + slice);
            if let (Some(from), Some(to)) = (from, to) {
                let plane = PlaneBlit { from, to, from_info, to_info, aspect, filter };
                plane.run(&axes);
            }
        }
    }
}

struct PlaneBlit<'a> {
    from: PlaneRef<'a>,
    to: PlaneRef<'a>,
    from_info: &'static FormatInfo,
    to_info: &'static FormatInfo,
    aspect: vk::ImageAspectFlags,
    filter: vk::Filter,
}

impl PlaneBlit<'_> {
    fn run(&self, axes: &[Axis; 3]) {
        for y in axes[1].low.max(0)..axes[1].high {
            for x in axes[0].low.max(0)..axes[0].high {
                let (u, v) = (axes[0].at(x), axes[1].at(y));
                if self.aspect == vk::ImageAspectFlags::COLOR {
                    let texel = if self.filter == vk::Filter::LINEAR { self.linear(u, v) } else { self.nearest(u, v) };
                    let mut bytes = [0; 16];
                    format::encode(self.to_info, texel, &mut bytes);
                    self.to.write(x as u32, y as u32, 0, &bytes[..self.to_info.bytes as usize]);
                } else {
                    let [u, v] = self.clamped(u.floor() as i32, v.floor() as i32);
                    self.to.write_word(x as u32, y as u32, 0, self.from.read_word(u, v, 0));
                }
            }
        }
    }

    fn extent(&self) -> [i32; 2] {
        let side = self.from_info.block_side();
        [self.from.width() * side, self.from.height() * side].map(|texels| texels as i32)
    }

    fn clamped(&self, x: i32, y: i32) -> [u32; 2] {
        let [width, height] = self.extent();
        [x.clamp(0, width - 1) as u32, y.clamp(0, height - 1) as u32]
    }

    fn texel(&self, x: i32, y: i32) -> Texel {
        let [x, y] = self.clamped(x, y);
        let mut bytes = [0; 16];
        let count = self.from_info.bytes as usize;
        if self.from_info.compression.is_some() {
            self.from.read(x / 4, y / 4, 0, &mut bytes[..count]);
            return format::decode_block(self.from_info, &bytes)[(y % 4 * 4 + x % 4) as usize];
        }
        self.from.read(x, y, 0, &mut bytes[..count]);
        format::decode(self.from_info, &bytes)
    }

    fn nearest(&self, u: f32, v: f32) -> Texel {
        self.texel(u.floor() as i32, v.floor() as i32)
    }

    fn linear(&self, u: f32, v: f32) -> Texel {
        let (u, v) = (u - 0.5, v - 0.5);
        let (x, y) = (u.floor() as i32, v.floor() as i32);
        let (s, t) = (u - u.floor(), v - v.floor());
        let mix = |a: Texel, b: Texel, share: f32| -> Texel {
            std::array::from_fn(|index| {
                let (a, b) = (f32::from_bits(a[index]), f32::from_bits(b[index]));
                (a + (b - a) * share).to_bits()
            })
        };
        let row = |y: i32| mix(self.texel(x, y), self.texel(x + 1, y), s);
        mix(row(y), row(y + 1), t)
    }
}
