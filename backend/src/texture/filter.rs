//! Filtering: nearest and linear in each dimension and between levels, depth comparison, gather.

use ash::vk;

use super::address::{to_texels, wrap};
use super::lod::{Levels, levels};
use super::texel::Reader;
use super::{GatherRequest, SampleRequest, Sampler, cube};
use crate::format::{Class, Texel};
use crate::memory::{PlaneRef, SurfaceView};

/// Samples a view.
pub fn sample(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> [u32; 4] {
    let Some(reader) = Reader::new(view) else { return [0; 4] };
    let chosen = levels(view, sampler, request);
    let lookup = Lookup::new(reader, sampler, request);
    let first = lookup.level(chosen.first, chosen);
    if chosen.share == 0.0 || chosen.first == chosen.second {
        return lookup.finish(first);
    }
    let second = lookup.level(chosen.second, chosen);
    lookup.finish(mix(first, second, chosen.share))
}

/// Gathers one component (or comparisons) of the four texels that linear filtering of level 0 would read, in the order
/// (0,1) (1,1) (1,0) (0,0).
pub fn gather(view: &SurfaceView, sampler: &Sampler, gather: &GatherRequest) -> [u32; 4] {
    let Some(reader) = Reader::new(view) else { return [0; 4] };
    let lookup = Lookup::new(reader, sampler, &gather.request);
    let corners = [(0, 1), (1, 1), (1, 0), (0, 0)];
    let component = if gather.request.reference.is_some() { 0 } else { (gather.component & 3) as usize };
    std::array::from_fn(|index| {
        let (corner_x, corner_y) = corners[index];
        let corner = match gather.offsets {
            // Each texel is the (0,0) corner at its own offset.
            Some(offsets) => offsets[index],
            None => [corner_x, corner_y],
        };
        lookup.gathered(corner)[component]
    })
}

fn mix(a: Texel, b: Texel, share: f32) -> Texel {
    std::array::from_fn(|index| {
        let (a, b) = (f32::from_bits(a[index]), f32::from_bits(b[index]));
        (a + (b - a) * share).to_bits()
    })
}

/// A level that is being read.
struct Level<'a> {
    number: u32,
    size: [i32; 3],
    /// Its only slice, but for volumes and cubes.
    plane: Option<PlaneRef<'a>>,
}

/// One sampling of one view, before levels are known.
struct Lookup<'a> {
    reader: Reader<'a>,
    sampler: &'a Sampler,
    request: &'a SampleRequest,
    /// First layer, and the face of a cube.
    layer: u32,
    face: Option<u32>,
    coords: [f32; 3],
    dimensions: usize,
    border: Texel,
}

impl<'a> Lookup<'a> {
    fn new(reader: Reader<'a>, sampler: &'a Sampler, request: &'a SampleRequest) -> Self {
        let kind = reader.view.desc.kind;
        let rounded = |count: u32| request.layer.round_ties_even().clamp(0.0, count.saturating_sub(1) as f32) as u32;
        let layers = reader.view.desc.layers;
        let (layer, dimensions) = match kind {
            vk::ImageViewType::TYPE_1D => (0, 1),
            vk::ImageViewType::TYPE_1D_ARRAY => (rounded(layers), 1),
            vk::ImageViewType::TYPE_2D_ARRAY => (rounded(layers), 2),
            vk::ImageViewType::TYPE_3D => (0, 3),
            vk::ImageViewType::CUBE_ARRAY => (rounded(layers / 6) * 6, 2),
            _ => (0, 2),
        };
        let on_face = matches!(kind, vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY)
            .then(|| cube::project(request.coords));
        let coords = on_face.map_or(request.coords, |on| [on.s, on.t, 0.0]);
        let border = reader.border(border(sampler.border_color));
        let face = on_face.map(|on| on.face);
        Self { reader, sampler, request, layer, face, coords, dimensions, border }
    }

    fn open(&self, number: u32) -> Level<'a> {
        let extent = self.reader.view.extent(number);
        let size = [extent.width, extent.height, extent.depth].map(|texels| texels as i32);
        let single = self.face.is_none() && self.dimensions < 3;
        let plane = if single { self.reader.plane(number, self.layer) } else { None };
        Level { number, size, plane }
    }

    fn level(&self, number: u32, chosen: Levels) -> Texel {
        let level = &self.open(number);
        let size = level.size;
        let position = |index: usize| to_texels(self.coords[index], size[index], self.sampler.unnormalized_coordinates);
        if chosen.filter == vk::Filter::NEAREST || self.reader.class().is_integer() {
            let texel: [i32; 3] = std::array::from_fn(|index| match index < self.dimensions {
                true => (position(index).floor() as i32).saturating_add(self.request.offset[index]),
                false => 0,
            });
            return self.compared(level, texel);
        }
        let mut low = [0; 3];
        let mut share = [0.0; 3];
        for index in 0..self.dimensions {
            let centred = position(index) - 0.5;
            low[index] = (centred.floor() as i32).saturating_add(self.request.offset[index]);
            share[index] = centred - centred.floor();
        }
        self.linear(level, low, share)
    }

    /// Interpolates along each dimension in turn, x first.
    fn linear(&self, level: &Level<'_>, low: [i32; 3], share: [f32; 3]) -> Texel {
        let along_x = |y: i32, z: i32| {
            let a = self.compared(level, [low[0], y, z]);
            mix(a, self.compared(level, [low[0].saturating_add(1), y, z]), share[0])
        };
        let along_y = |z: i32| match self.dimensions {
            1 => along_x(0, 0),
            _ => mix(along_x(low[1], z), along_x(low[1].saturating_add(1), z), share[1]),
        };
        match self.dimensions {
            3 => mix(along_y(low[2]), along_y(low[2].saturating_add(1)), share[2]),
            _ => along_y(0),
        }
    }

    /// A texel, wrapped, and compared when there is a reference.
    #[inline]
    fn compared(&self, level: &Level<'_>, texel: [i32; 3]) -> Texel {
        let texel = self.texel(level, texel);
        match self.request.reference {
            None => texel,
            Some(reference) => [self.compare(reference, f32::from_bits(texel[0])).to_bits(), 0, 0, 1.0f32.to_bits()],
        }
    }

    fn compare(&self, reference: f32, depth: f32) -> f32 {
        let fixed = self.reader.info.class == Class::Unorm;
        let reference = if fixed { reference.clamp(0.0, 1.0) } else { reference };
        let op = self.sampler.compare.unwrap_or(vk::CompareOp::NEVER);
        if crate::pixel::compare(op, reference, depth) { 1.0 } else { 0.0 }
    }

    #[inline]
    fn texel(&self, level: &Level<'_>, [x, y, z]: [i32; 3]) -> Texel {
        if let Some(face) = self.face {
            return self.reader.cube_texel(level.number, self.layer, face, (x, y));
        }
        let size = level.size;
        let modes = self.sampler.address_mode;
        let Some(x) = wrap(modes[0], x, size[0]) else { return self.border };
        let y = if self.dimensions > 1 { wrap(modes[1], y, size[1]) } else { Some(0) };
        let z = if self.dimensions > 2 { wrap(modes[2], z, size[2]) } else { Some(self.layer as i32) };
        let (Some(y), Some(z)) = (y, z) else { return self.border };
        let volume = if self.dimensions == 3 { self.reader.plane(level.number, z as u32) } else { None };
        match level.plane.as_ref().or(volume.as_ref()) {
            Some(plane) => self.reader.texel(plane, x as u32, y as u32, 0),
            None => [0; 4],
        }
    }

    /// One corner of the footprint of linear filtering in level 0.
    fn gathered(&self, corner: [i32; 2]) -> Texel {
        let level = &self.open(0);
        let size = level.size;
        let texel: [i32; 3] = std::array::from_fn(|index| match index < 2 {
            true => {
                let centred = to_texels(self.coords[index], size[index], self.sampler.unnormalized_coordinates) - 0.5;
                (centred.floor() as i32).saturating_add(self.request.offset[index]).saturating_add(corner[index])
            }
            false => 0,
        });
        self.finish(self.compared(level, texel))
    }

    /// Component mapping; comparisons have one component.
    fn finish(&self, texel: Texel) -> Texel {
        if self.request.reference.is_some() { texel } else { self.reader.swizzle(texel) }
    }
}

fn border(color: vk::BorderColor) -> Texel {
    let one = 1.0f32.to_bits();
    match color {
        vk::BorderColor::FLOAT_OPAQUE_BLACK => [0, 0, 0, one],
        vk::BorderColor::INT_OPAQUE_BLACK => [0, 0, 0, 1],
        vk::BorderColor::FLOAT_OPAQUE_WHITE => [one; 4],
        vk::BorderColor::INT_OPAQUE_WHITE => [1; 4],
        _ => [0; 4],
    }
}
