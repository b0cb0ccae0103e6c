//! Simple reference model of sampling, which tests compare the routines with. It processes one
//! lane at a time.

mod address;
mod cube;
mod lod;
pub(super) mod tests;

use address::{to_texels, wrap};
use ash::vk;
use vitric_format::{Class, Texel};
use vitric_memory::{PlaneRef, SurfaceView};

use super::texel::Reader;
use crate::runtime::{Sampler, math};
use cube::FaceTexel;
pub(super) use cube::TIES;
pub(super) use lod::query_lod;
use lod::{Levels, levels, steps};

/// Source of the level of detail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LevelOfDetail {
    /// Explicit level, to which the sampler's bias is added.
    Level(f32),
    /// Derivatives of the coordinates with respect to window x and y.
    Gradient {
        /// Derivatives with respect to x.
        dx: [f32; 3],
        /// Derivatives with respect to y.
        dy: [f32; 3],
        /// Bias of the program.
        bias: f32,
    },
}

/// One sampling operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRequest {
    /// Coordinates, as many as the view has dimensions, or a direction for cubes.
    pub coords: [f32; 3],
    /// Layer of an arrayed view, not rounded yet.
    pub layer: f32,
    /// Offset in texels.
    pub offset: [i32; 3],
    /// Level of detail.
    pub lod: LevelOfDetail,
    /// Depth reference for a comparison.
    pub reference: Option<f32>,
}

/// One gathering operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GatherRequest {
    /// Coordinates, layer, offset and reference.
    pub request: SampleRequest,
    /// Component to gather, 0 to 3.
    pub component: u32,
    /// Offset of each of the four texels, in addition to the common one.
    pub offsets: Option<[[i32; 2]; 4]>,
}

/// View and sampler prepared for sampling many lanes. Values that do not depend on a lane are
/// computed once.
pub struct Sampling<'a> {
    reader: Reader<'a>,
    sampler: &'a Sampler,
    border: Texel,
    dimensions: usize,
    is_cube: bool,
    /// Largest code, if texels are filtered as codes.
    scale: Option<f32>,
}

impl<'a> Sampling<'a> {
    /// Prepares a view and a sampler. Returns `None` if the view's format is not supported, in
    /// which case all results are 0.
    pub fn new(view: &'a SurfaceView, sampler: &'a Sampler) -> Option<Self> {
        let reader = Reader::new(view)?;
        let kind = view.desc.kind;
        let dimensions = match kind {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => 1,
            vk::ImageViewType::TYPE_3D => 3,
            _ => 2,
        };
        let codes = scale(&reader);
        Some(Self {
            reader,
            sampler,
            border: reader.border(sampler.border),
            dimensions,
            is_cube: matches!(kind, vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY),
            scale: codes,
        })
    }

    /// Samples the view.
    pub fn sample(&self, request: &SampleRequest) -> [u32; 4] {
        let chosen = self.levels(request);
        let lookup = Lookup::new(self, request);
        let at = |coords: [f32; 3]| Lookup { coords, ..lookup }.of_levels(chosen);
        let steps = steps(self.reader.view, self.sampler, request, lookup.coords);
        let texels: Vec<Texel> = steps.iter().map(|&coords| at(coords)).collect();
        lookup.finish(if texels.len() == 1 { texels[0] } else { self.joined(&texels) })
    }

    /// Returns the average of texels, or the minimum or maximum of each component.
    fn joined(&self, texels: &[Texel]) -> Texel {
        std::array::from_fn(|component| {
            let values = texels.iter().map(|texel| f32::from_bits(texel[component]));
            let joined = match self.sampler.reduction {
                vk::SamplerReductionMode::MIN => values.reduce(math::min).unwrap_or(0.0),
                vk::SamplerReductionMode::MAX => values.reduce(math::max).unwrap_or(0.0),
                _ => values.sum::<f32>() / texels.len() as f32,
            };
            joined.to_bits()
        })
    }

    /// Combines two texels, where `share` is the weight of the second. Returns their
    /// interpolation, or the minimum or maximum of those whose weight is not 0 at 8 bits of
    /// precision.
    fn mix(&self, a: Texel, b: Texel, share: f32) -> Texel {
        if self.sampler.reduction == vk::SamplerReductionMode::WEIGHTED_AVERAGE {
            return mix(a, b, share);
        }
        match (share * 256.0).round_ties_even() {
            0.0 => a,
            256.0 => b,
            _ => self.joined(&[a, b]),
        }
    }

    fn levels(&self, request: &SampleRequest) -> Levels {
        levels(self.reader.view, self.sampler, request)
    }

    /// Gathers one component, or comparison results, of the four texels that linear filtering of
    /// level 0 would read. Their order is (0,1), (1,1), (1,0), (0,0).
    pub fn gather(&self, gather: &GatherRequest) -> [u32; 4] {
        if self.reader.view.desc.min_lod >= 1.0 {
            return [0; 4];
        }
        let lookup = Lookup::new(self, &gather.request);
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

    fn level(&self, number: u32, layer: u32) -> Level<'a> {
        let extent = self.reader.view.extent(number);
        let size = [extent.width, extent.height, extent.depth].map(|texels| texels as i32);
        let single = (!self.is_cube || self.sampler.separate_faces) && self.dimensions < 3;
        Level { number, size, plane: if single { self.reader.plane(number, layer) } else { None } }
    }
}

/// Returns the largest code of the components, if all have an equal number of bits of unsigned
/// fixed point.
fn scale(reader: &Reader<'_>) -> Option<f32> {
    let bits = reader.info.channels.first()?.bits;
    let equal = reader.info.channels.iter().all(|channel| channel.bits == bits);
    let plain = reader.info.class == Class::Unorm && reader.info.compression.is_none();
    (plain && equal && bits <= 16 && reader.is_color()).then(|| ((1u32 << bits) - 1) as f32)
}

fn mix(a: Texel, b: Texel, share: f32) -> Texel {
    let mut out = [0; 4];
    for (out, (a, b)) in out.iter_mut().zip(a.into_iter().zip(b)) {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        *out = (b - a).mul_add(share, a).to_bits();
    }
    out
}

/// Level that is being read.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    number: u32,
    pub(super) size: [i32; 3],
    /// Only slice of the level. `None` for volumes and seamless cubes.
    pub(super) plane: Option<PlaneRef<'a>>,
}

/// Sampling of one view for one request.
struct Lookup<'a, 's> {
    sampling: &'s Sampling<'a>,
    request: &'s SampleRequest,
    /// First layer. `face` is the face of a cube.
    layer: u32,
    face: Option<u32>,
    coords: [f32; 3],
}

impl<'a, 's> Lookup<'a, 's> {
    fn new(sampling: &'s Sampling<'a>, request: &'s SampleRequest) -> Self {
        let desc = &sampling.reader.view.desc;
        let rounded = |count: u32| request.layer.round_ties_even().clamp(0.0, count.saturating_sub(1) as f32) as u32;
        let layer = match desc.kind {
            vk::ImageViewType::TYPE_1D_ARRAY | vk::ImageViewType::TYPE_2D_ARRAY => rounded(desc.layers),
            vk::ImageViewType::CUBE_ARRAY => rounded(desc.layers / 6) * 6,
            _ => 0,
        };
        let on_face = sampling.is_cube.then(|| cube::project(request.coords));
        let coords = on_face.map_or(request.coords, |on| [on.s, on.t, 0.0]);
        let face = on_face.map(|on| on.face);
        match sampling.sampler.separate_faces {
            true => Self { sampling, request, layer: layer + face.unwrap_or(0), face: None, coords },
            false => Self { sampling, request, layer, face, coords },
        }
    }

    /// Returns the offset along an axis, limited to -64 to 63 texels. All valid offsets are in
    /// this range.
    fn offset(&self, axis: usize) -> i32 {
        self.request.offset[axis].clamp(-64, 63)
    }

    fn of_levels(&self, chosen: Levels) -> Texel {
        let first = self.level(chosen.first, chosen);
        if chosen.share == 0.0 || chosen.first == chosen.second {
            return first;
        }
        self.sampling.mix(first, self.level(chosen.second, chosen), chosen.share)
    }

    fn level(&self, number: u32, chosen: Levels) -> Texel {
        let level = &self.sampling.level(number, self.layer);
        let size = level.size;
        let position =
            |index: usize| to_texels(self.coords[index], size[index], self.sampling.sampler.unnormalized_coordinates);
        if chosen.filter == vk::Filter::NEAREST || self.sampling.reader.class().is_integer() {
            let texel: [i32; 3] = std::array::from_fn(|index| match index < self.sampling.dimensions {
                true => position(index).floor() as i32 + self.offset(index),
                false => 0,
            });
            // A single texel of a seamless cube is clamped to the edge of its face.
            let on_face = |index: usize| texel[index].clamp(0, size[0] - 1);
            return self.compared(level, if self.face.is_some() { [on_face(0), on_face(1), 0] } else { texel });
        }
        let mut low = [0; 3];
        let mut share = [0.0; 3];
        for index in 0..self.sampling.dimensions {
            let centred = position(index) - 0.5;
            low[index] = centred.floor() as i32 + self.offset(index);
            share[index] = centred - centred.floor();
        }
        self.linear(level, low, share)
    }

    /// Interpolates along each dimension in turn, x first.
    fn linear(&self, level: &Level<'_>, low: [i32; 3], share: [f32; 3]) -> Texel {
        let along_x = |y: i32, z: i32| {
            let a = self.compared(level, [low[0], y, z]);
            self.sampling.mix(a, self.compared(level, [low[0] + 1, y, z]), share[0])
        };
        let along_y = |z: i32| match self.sampling.dimensions {
            1 => along_x(0, 0),
            _ => self.sampling.mix(along_x(low[1], z), along_x(low[1] + 1, z), share[1]),
        };
        match self.sampling.dimensions {
            3 => self.sampling.mix(along_y(low[2]), along_y(low[2] + 1), share[2]),
            _ => along_y(0),
        }
    }

    /// Returns a wrapped texel, or the result of its comparison if there is a reference.
    fn compared(&self, level: &Level<'_>, texel: [i32; 3]) -> Texel {
        match self.texel(level, texel) {
            Some(texel) => self.tested(texel, f32::round),
            // The border colour need not be a code, so it is not rounded.
            None => self.tested(self.sampling.border, |code| code),
        }
    }

    /// Returns the texel, as codes if those are filtered. If there is a reference, returns the
    /// result of the comparison.
    fn tested(&self, texel: Texel, code: fn(f32) -> f32) -> Texel {
        match self.request.reference {
            None => match self.sampling.scale {
                Some(scale) => texel.map(|word| code(f32::from_bits(word) * scale).to_bits()),
                None => texel,
            },
            Some(reference) => [self.compare(reference, f32::from_bits(texel[0])).to_bits(), 0, 0, 1.0f32.to_bits()],
        }
    }

    fn compare(&self, reference: f32, depth: f32) -> f32 {
        let fixed = self.sampling.reader.info.class == Class::Unorm;
        let reference = if fixed { reference.clamp(0.0, 1.0) } else { reference };
        let op = self.sampling.sampler.compare.unwrap_or(vk::CompareOp::NEVER);
        if crate::texture::compare(op, reference, depth) { 1.0 } else { 0.0 }
    }

    /// Returns a texel, or `None` for the border.
    fn texel(&self, level: &Level<'_>, [x, y, z]: [i32; 3]) -> Option<Texel> {
        if let Some(face) = self.face {
            let FaceTexel { face, x, y } = cube::across_edge(FaceTexel { face, x, y }, level.size[0]);
            let plane = self.sampling.reader.plane(level.number, self.layer + face);
            return Some(plane.map_or([0; 4], |plane| self.sampling.reader.texel(&plane, x as u32, y as u32, 0)));
        }
        let size = level.size;
        let modes = self.sampling.sampler.address_mode;
        let x = wrap(modes[0], x, size[0])?;
        let y = if self.sampling.dimensions > 1 { wrap(modes[1], y, size[1]) } else { Some(0) };
        let z = if self.sampling.dimensions > 2 { wrap(modes[2], z, size[2]) } else { Some(self.layer as i32) };
        let (y, z) = (y?, z?);
        let volume =
            if self.sampling.dimensions == 3 { self.sampling.reader.plane(level.number, z as u32) } else { None };
        Some(match level.plane.as_ref().or(volume.as_ref()) {
            Some(plane) => self.sampling.reader.texel(plane, x as u32, y as u32, 0),
            None => [0; 4],
        })
    }

    /// Returns one corner of the footprint of linear filtering in level 0.
    fn gathered(&self, corner: [i32; 2]) -> Texel {
        let level = &self.sampling.level(0, self.layer);
        let size = level.size;
        let texel: [i32; 3] = std::array::from_fn(|index| match index < 2 {
            true => {
                let centred =
                    to_texels(self.coords[index], size[index], self.sampling.sampler.unnormalized_coordinates) - 0.5;
                centred.floor() as i32 + self.offset(index) + corner[index]
            }
            false => 0,
        });
        self.finish(self.compared(level, texel))
    }

    /// Applies the component mapping. Comparison results are not mapped.
    fn finish(&self, texel: Texel) -> Texel {
        if self.request.reference.is_some() {
            return texel;
        }
        let texel = match self.sampling.scale {
            Some(scale) => texel.map(|word| (f32::from_bits(word) / scale).to_bits()),
            None => texel,
        };
        self.sampling.reader.swizzle(texel)
    }
}
