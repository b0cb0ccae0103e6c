//! Level of detail: scale factors from derivatives, bias, clamps, and the levels that are accessed.
//!
//! Source: Vulkan specification, "Image Level-of-Detail Operations". Anisotropy is not supported.

use ash::vk;

use super::super::{MAX_LOD_BIAS, Sampler};
use super::{LevelOfDetail, SampleRequest, cube};
use crate::memory::SurfaceView;
use crate::shader::runtime::math;

/// Levels to read: the first, the second, and the share of the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) share: f32,
    pub(super) filter: vk::Filter,
}

fn is_cube(view: &SurfaceView) -> bool {
    matches!(view.desc.kind, vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY)
}

/// log2 of the larger scale factor.
fn from_gradient(view: &SurfaceView, coords: [f32; 3], dx: [f32; 3], dy: [f32; 3], unnormalized: bool) -> f32 {
    let extent = view.extent(0);
    let size =
        if unnormalized { [1.0; 3] } else { [extent.width, extent.height, extent.depth].map(|texels| texels as f32) };
    let (dx, dy) =
        if is_cube(view) { (cube::project_gradient(coords, dx), cube::project_gradient(coords, dy)) } else { (dx, dy) };
    let square = |gradient: [f32; 3]| {
        let scaled: [f32; 3] = std::array::from_fn(|index| gradient[index] * size[index]);
        scaled[0] * scaled[0] + scaled[1] * scaled[1] + scaled[2] * scaled[2]
    };
    let largest = math::max(square(dx), square(dy));
    if largest > 0.0 { 0.5 * math::log2(largest) } else { -1000.0 }
}

/// The level of detail before the sampler's clamp.
fn biased(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> f32 {
    let (base, bias) = match request.lod {
        LevelOfDetail::Level(level) => (level, 0.0),
        LevelOfDetail::Gradient { dx, dy, bias } => {
            (from_gradient(view, request.coords, dx, dy, sampler.unnormalized_coordinates), bias)
        }
    };
    base + (sampler.mip_lod_bias + bias).clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS)
}

/// The level of detail within the sampler's clamp.
fn clamped(biased: f32, sampler: &Sampler) -> f32 {
    math::min(math::max(biased, sampler.min_lod), sampler.max_lod)
}

/// Whether nothing depends on the level of detail: a single level, filtered the same way when magnified.
pub(super) fn ignores_lod(view: &SurfaceView, sampler: &Sampler) -> bool {
    view.desc.levels == 1 && sampler.mag_filter == sampler.min_filter
}

/// Which levels are read, and how each is filtered.
pub(super) fn levels(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> Levels {
    if ignores_lod(view, sampler) {
        return Levels { first: 0, second: 0, share: 0.0, filter: sampler.mag_filter };
    }
    let lod = clamped(biased(view, sampler, request), sampler);
    let filter = if lod <= 0.0 { sampler.mag_filter } else { sampler.min_filter };
    let last = view.desc.levels - 1;
    let level = math::min(math::max(lod, 0.0), last as f32);
    if sampler.mipmap_mode == vk::SamplerMipmapMode::NEAREST {
        let nearest = ((level + 0.5).ceil() - 1.0).max(0.0) as u32;
        return Levels { first: nearest, second: nearest, share: 0.0, filter };
    }
    let first = level.floor();
    let second = (first as u32 + 1).min(last);
    Levels { first: first as u32, second, share: level - first, filter }
}

/// The level that would be accessed, and the computed level of detail before clamping.
pub fn query_lod(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> [f32; 2] {
    let lod = biased(view, sampler, request);
    let level = math::min(math::max(clamped(lod, sampler), 0.0), (view.desc.levels - 1) as f32);
    let accessed = match sampler.mipmap_mode {
        vk::SamplerMipmapMode::NEAREST => ((level + 0.5).ceil() - 1.0).max(0.0),
        _ => level,
    };
    [accessed, lod]
}
