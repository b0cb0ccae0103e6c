//! Blits: scaled, flipped and converted copies.
//!
//! A target texel's centre maps to `(texel + 0.5 - target) * scale + source` along each axis.
//! Coordinates outside the source level clamp to its edge. Source: Vulkan specification, "Image
//! Copies With Scaling".

use std::ops::Range;

use ash::vk;
use vitric_base::workers::Workers;
use vitric_format as format;
use vitric_format::{FormatInfo, Texel};
use vitric_memory::{PlaneRef, Surface};

use super::copy::{CopyAccess, copy_plane};
use super::{PlaneOrigin, scaled, slices};

/// The mapping from target to source texels along one axis of a blit.
#[derive(Clone, Copy)]
struct Axis {
    low: i32,
    high: i32,
    source: f32,
    scale: f32,
    origin: f32,
}

impl Axis {
    fn new(source: [i32; 2], target: [i32; 2]) -> Self {
        let length = |[start, end]: [i32; 2]| (i64::from(end) - i64::from(start)) as f32;
        Self {
            low: target[0].min(target[1]),
            high: target[0].max(target[1]),
            source: source[0] as f32,
            scale: length(source) / length(target),
            origin: target[0] as f32,
        }
    }

    /// Returns the coordinate in the source of a target texel's centre, in texels.
    fn at(&self, texel: u32) -> f32 {
        (texel as f32 + 0.5 - self.origin) * self.scale + self.source
    }

    /// Returns the target texels of the axis that lie in a target of `size` texels.
    fn range(&self, size: u32) -> Range<u32> {
        self.low.max(0) as u32..(self.high.max(0) as u32).min(size)
    }
}

/// Blits regions on all threads.
pub(crate) fn blit(
    workers: &Workers,
    (source, target): (&Surface, &Surface),
    regions: &[vk::ImageBlit],
    filter: vk::Filter,
) {
    Blit { workers, source, target, filter, is_reference: false }.run(regions);
}

/// A blit between two images.
#[derive(Clone, Copy)]
pub(super) struct Blit<'a> {
    pub(super) workers: &'a Workers,
    pub(super) source: &'a Surface,
    pub(super) target: &'a Surface,
    pub(super) filter: vk::Filter,
    /// True if each texel is converted separately, as the reference for tests.
    pub(super) is_reference: bool,
}

impl Blit<'_> {
    /// Blits regions on all threads.
    pub(super) fn run(&self, regions: &[vk::ImageBlit]) {
        regions.iter().for_each(|region| self.run_region(region));
    }

    fn run_region(&self, region: &vk::ImageBlit) {
        let (from_format, to_format) = (self.source.desc().format, self.target.desc().format);
        let (Some(from_info), Some(to_info)) = (format::info(from_format), format::info(to_format)) else { return };
        let (from, to) = (region.src_offsets, region.dst_offsets);
        let axes = [
            Axis::new([from[0].x, from[1].x], [to[0].x, to[1].x]),
            Axis::new([from[0].y, from[1].y], [to[0].y, to[1].y]),
            Axis::new([from[0].z, from[1].z], [to[0].z, to[1].z]),
        ];
        for aspect in [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL] {
            if region.src_subresource.aspect_mask.contains(aspect) {
                AspectBlit { blit: *self, region, from_info, to_info, aspect, axes }.run();
            }
        }
    }
}

/// A blit of one aspect of a region.
struct AspectBlit<'a> {
    blit: Blit<'a>,
    region: &'a vk::ImageBlit,
    from_info: &'static FormatInfo,
    to_info: &'static FormatInfo,
    aspect: vk::ImageAspectFlags,
    axes: [Axis; 3],
}

/// A rectangle whose texels a blit copies unchanged.
struct UnscaledRect {
    from: [u32; 2],
    to: [u32; 2],
    size: [u32; 2],
}

impl AspectBlit<'_> {
    fn run(&self) {
        let level = self.region.dst_subresource.mip_level;
        let z = &self.axes[2];
        let offset = vk::Offset3D { z: z.low, ..Default::default() };
        let depth = (i64::from(z.high) - i64::from(z.low)) as u32;
        let (first, count) = slices(self.blit.target, self.region.dst_subresource, offset, depth);
        for slice in 0..count {
            let Some(to) = self.blit.target.plane(self.aspect, level, first.saturating_add(slice)) else { break };
            self.slice(slice, &to);
        }
    }

    /// Fills one slice of the target; `slice` counts from the region's first.
    fn slice(&self, slice: u32, to: &PlaneRef<'_>) {
        if self.blit.source.desc().kind != vk::ImageType::TYPE_3D {
            let layer = self.region.src_subresource.base_array_layer.saturating_add(slice);
            return self.blend(to, [layer, layer], 0.0);
        }
        let z = self.axes[2].at((self.axes[2].low.max(0) as u32).saturating_add(slice));
        let level = self.region.src_subresource.mip_level;
        let last = self.blit.source.level_extent(level).depth as i32 - 1;
        let clamped = |z: f32| (z as i32).clamp(0, last) as u32;
        if self.blit.filter == vk::Filter::LINEAR {
            let low = (z - 0.5).floor();
            self.blend(to, [clamped(low), clamped(low + 1.0)], z - 0.5 - low);
        } else {
            self.blend(to, [clamped(z.floor()); 2], 0.0);
        }
    }

    /// Returns the rectangle of a blit that copies texels unchanged. Returns `None` for all other
    /// blits.
    fn unscaled(&self, from: &PlaneRef<'_>, to: &PlaneRef<'_>) -> Option<UnscaledRect> {
        let is_copy = |axis: &Axis| axis.scale == 1.0;
        if self.blit.is_reference || self.from_info.format != self.to_info.format || !self.axes[..2].iter().all(is_copy)
        {
            return None;
        }
        let along = |axis: &Axis, [of_source, of_target]: [u32; 2]| {
            let range = axis.range(of_target);
            let first = i64::from(range.start) - axis.origin as i64 + axis.source as i64;
            let fits = !range.is_empty() && first >= 0 && first + range.len() as i64 <= of_source.into();
            fits.then_some([first as u32, range.start, range.len() as u32])
        };
        let [fx, tx, across] = along(&self.axes[0], [from.width(), to.width()])?;
        let [fy, ty, down] = along(&self.axes[1], [from.height(), to.height()])?;
        Some(UnscaledRect { from: [fx, fy], to: [tx, ty], size: [across, down] })
    }

    /// Returns true if four texels are filtered.
    fn mixes(&self) -> bool {
        let is_color = self.aspect == vk::ImageAspectFlags::COLOR;
        self.blit.filter == vk::Filter::LINEAR && is_color && !self.from_info.class.is_integer()
    }

    /// Returns the conversion of whole rows, if there is one.
    fn conversion(&self) -> Option<scaled::Conversion> {
        if self.blit.is_reference {
            return None;
        }
        // Depths and stencils are copied as words, so both formats must be equal.
        if self.aspect != vk::ImageAspectFlags::COLOR {
            return (self.from_info.format == self.to_info.format).then_some(None);
        }
        let is_whole = self.from_info.compression.is_none() && self.from_info.planes().count() == 1;
        is_whole.then(|| scaled::conversion(self.from_info, self.to_info, self.mixes())).flatten()
    }

    /// Returns the source texels of each target texel along an axis. `size` is the size of the
    /// target, and `last` is the last texel of the source.
    fn taps(&self, axis: usize, (size, last): (u32, i32)) -> scaled::Taps {
        let (axis, clamped) = (&self.axes[axis], |texel: i32| texel.clamp(0, last) as u32);
        let tap = |texel: u32| {
            let at = axis.at(texel);
            if !self.mixes() {
                let nearest = clamped(at.floor() as i32);
                return scaled::Tap { first: nearest, second: nearest, share: 0.0 };
            }
            let at = at - 0.5;
            let first = at.floor() as i32;
            let (first, second) = (clamped(first), clamped(first.saturating_add(1)));
            scaled::Tap { first, second, share: at - at.floor() }
        };
        let range = axis.range(size);
        scaled::Taps { taps: range.clone().map(tap).collect(), range, scale: axis.scale }
    }

    /// Fills a slice of the target from two slices of the source. `share` is the weight of the
    /// second slice.
    fn blend(&self, to: &PlaneRef<'_>, slices: [u32; 2], share: f32) {
        let level = self.region.src_subresource.mip_level;
        let extent = self.blit.source.level_extent(level);
        let sampler = |slice: u32| {
            let from = self.blit.source.plane(self.aspect, level, slice)?;
            let last = [extent.width as i32 - 1, extent.height as i32 - 1];
            Some(SourceSlice { from, info: self.from_info, filter: self.blit.filter, last })
        };
        let (Some(first), Some(second)) = (sampler(slices[0]), sampler(slices[1])) else { return };
        if share == 0.0
            && let Some(rect) = self.unscaled(&first.from, to)
        {
            let from = PlaneOrigin { plane: &first.from, origin: rect.from };
            let to = PlaneOrigin { plane: to, origin: rect.to };
            return copy_plane(&mut CopyAccess::resident(self.blit.workers), from, to, rect.size);
        }
        if share == 0.0
            && let Some(conversion) = self.conversion()
        {
            let taps = |axis: usize, size: u32| self.taps(axis, (size, first.last[axis]));
            let taps = [taps(0, to.width()), taps(1, to.height())];
            return scaled::scale(self.blit.workers, (&first.from, to), [&taps[0], &taps[1]], &conversion);
        }
        for y in self.axes[1].range(to.height()) {
            let v = self.axes[1].at(y);
            for x in self.axes[0].range(to.width()) {
                let u = self.axes[0].at(x);
                if self.aspect != vk::ImageAspectFlags::COLOR {
                    to.write_word(x, y, 0, first.word(u, v));
                    continue;
                }
                let mut texel = first.sample(u, v);
                if share != 0.0 {
                    texel = mix(texel, second.sample(u, v), share);
                }
                let mut bytes = [0; 16];
                format::encode(self.to_info, texel, &mut bytes);
                to.write(x, y, 0, &bytes[..to.bytes()]);
            }
        }
    }
}

/// One slice that a blit reads.
struct SourceSlice<'a> {
    from: PlaneRef<'a>,
    info: &'static FormatInfo,
    filter: vk::Filter,
    last: [i32; 2],
}

impl SourceSlice<'_> {
    fn clamped(&self, x: i32, y: i32) -> [u32; 2] {
        [x.clamp(0, self.last[0]) as u32, y.clamp(0, self.last[1]) as u32]
    }

    /// Returns the nearest texel of a depth or stencil plane.
    fn word(&self, u: f32, v: f32) -> u32 {
        let [x, y] = self.clamped(u.floor() as i32, v.floor() as i32);
        self.from.read_word(x, y, 0)
    }

    fn texel(&self, x: i32, y: i32) -> Texel {
        let [x, y] = self.clamped(x, y);
        let mut bytes = [0; 16];
        let texel = &mut bytes[..self.info.bytes as usize];
        if self.info.compression.is_some() {
            let [width, height] = self.info.block_extent();
            self.from.read(x / width, y / height, 0, texel);
            return format::block_texel(self.info, &bytes, x, y);
        }
        self.from.read(x, y, 0, texel);
        format::decode(self.info, &bytes)
    }

    fn sample(&self, u: f32, v: f32) -> Texel {
        if self.filter != vk::Filter::LINEAR || self.info.class.is_integer() {
            return self.texel(u.floor() as i32, v.floor() as i32);
        }
        let (u, v) = (u - 0.5, v - 0.5);
        let (x, y) = (u.floor() as i32, v.floor() as i32);
        let (s, t) = (u - u.floor(), v - v.floor());
        let row = |y: i32| mix(self.texel(x, y), self.texel(x.saturating_add(1), y), s);
        mix(row(y), row(y.saturating_add(1)), t)
    }
}

fn mix(a: Texel, b: Texel, share: f32) -> Texel {
    std::array::from_fn(|index| {
        let (a, b) = (f32::from_bits(a[index]), f32::from_bits(b[index]));
        (a + (b - a) * share).to_bits()
    })
}
