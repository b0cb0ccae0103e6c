//! Level of detail: scale factors from derivatives, bias, clamps, and the accessed levels.
//!
//! Source: Vulkan specification, "Image Level-of-Detail Operations", "Scale Factor Operation",
//! "Texel Anisotropic Filtering".

use ash::vk;
use vitric_memory::SurfaceView;

use super::{LevelOfDetail, SampleRequest, cube};
use crate::runtime::{MAX_ANISOTROPY, MAX_LOD_BIAS, Sampler, math};
use crate::texture::routine::ANISOTROPY_TOLERANCE;

/// Levels to read: the first, the second, and the weight of the second.
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

/// Footprint computed from gradients: the level of detail, and the samples along its longer axis.
struct Footprint {
    lod: f32,
    samples: f32,
    axis: [f32; 3],
}

fn footprint(view: &SurfaceView, sampler: &Sampler, coords: [f32; 3], [dx, dy]: [[f32; 3]; 2]) -> Footprint {
    let extent = view.extent(0);
    let size = match sampler.unnormalized_coordinates {
        true => [1.0; 3],
        false => [extent.width, extent.height, extent.depth].map(|texels| texels as f32),
    };
    let [dx, dy] =
        [dx, dy].map(|gradient| if is_cube(view) { cube::project_gradient(coords, gradient) } else { gradient });
    let square = |gradient: [f32; 3]| {
        (0..3).fold(0.0, |sum: f32, axis| (gradient[axis] * size[axis]).mul_add(gradient[axis] * size[axis], sum))
    };
    let (along_x, along_y) = (square(dx), square(dy));
    let (longer, shorter) = (math::max(along_x, along_y), math::min(along_x, along_y));
    let log = |square: f32| if square > 0.0 { 0.5 * math::log2(square) } else { -1000.0 };
    // Footprints of at most one texel count as isotropic.
    let most = sampler.max_anisotropy.map(|most| most.clamp(1.0, MAX_ANISOTROPY)).filter(|_| longer > 1.0);
    let Some(most) = most.filter(|_| !is_integer(view)) else {
        return Footprint { lod: log(longer), samples: 1.0, axis: dx };
    };
    let ratio = math::max(1.0, math::min(longer / shorter, most * most));
    let samples = math::max((ratio.sqrt() - ANISOTROPY_TOLERANCE).ceil(), 1.0);
    Footprint { lod: log(longer / ratio), samples, axis: if along_x > along_y { dx } else { dy } }
}

fn is_integer(view: &SurfaceView) -> bool {
    view.sampled().is_some_and(|(info, aspect)| aspect == vk::ImageAspectFlags::STENCIL || info.class.is_integer())
}

/// Returns the coordinates of the samples that anisotropic filtering averages.
pub(super) fn steps(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest, coords: [f32; 3]) -> Vec<[f32; 3]> {
    let LevelOfDetail::Gradient { dx, dy, .. } = request.lod else { return vec![coords] };
    let Footprint { samples, axis, .. } = footprint(view, sampler, request.coords, [dx, dy]);
    if samples <= 1.0 {
        return vec![coords];
    }
    let at = |number: u32| {
        let share = number as f32 / (samples + 1.0) - 0.5;
        std::array::from_fn(|index| axis[index].mul_add(share, coords[index]))
    };
    (1..=samples as u32).map(at).collect()
}

/// Returns the level of detail before the sampler's clamp.
fn biased(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> f32 {
    let (base, bias) = match request.lod {
        LevelOfDetail::Level(level) => (level, 0.0),
        LevelOfDetail::Gradient { dx, dy, bias } => (footprint(view, sampler, request.coords, [dx, dy]).lod, bias),
    };
    base + (sampler.mip_lod_bias + bias).clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS)
}

/// Clamps the level of detail to the sampler's range.
fn clamped(biased: f32, sampler: &Sampler) -> f32 {
    math::min(math::max(biased, sampler.min_lod), sampler.max_lod)
}

/// Returns true if the result does not depend on the level of detail: there is a single level, and
/// both filters are equal.
pub(super) fn ignores_lod(view: &SurfaceView, sampler: &Sampler) -> bool {
    view.desc.levels == 1 && sampler.mag_filter == sampler.min_filter
}

/// Returns the levels to read and the filter for them.
pub(super) fn levels(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> Levels {
    if ignores_lod(view, sampler) {
        return Levels { first: 0, second: 0, share: 0.0, filter: sampler.mag_filter };
    }
    let lod = clamped(biased(view, sampler, request), sampler);
    let filter = if lod <= 0.0 { sampler.mag_filter } else { sampler.min_filter };
    let last = view.desc.levels - 1;
    let level = math::max(math::min(math::max(lod, 0.0), last as f32), view.desc.min_lod);
    if sampler.mipmap_mode == vk::SamplerMipmapMode::NEAREST {
        let nearest = nearest(level) as u32;
        return Levels { first: nearest, second: nearest, share: 0.0, filter };
    }
    let first = level.floor();
    let second = (first as u32 + 1).min(last);
    Levels { first: first as u32, second, share: level - first, filter }
}

/// Returns the nearest level. Halves round up, as D3D demands and GPUs do.
fn nearest(level: f32) -> f32 {
    (level + 0.5).floor()
}

/// Returns the level that would be accessed, and the level of detail before clamping.
pub fn query_lod(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> [f32; 2] {
    let lod = biased(view, sampler, request);
    let level = math::min(math::max(clamped(lod, sampler), 0.0), (view.desc.levels - 1) as f32);
    let level = math::max(level, view.desc.min_lod);
    let accessed = match sampler.mipmap_mode {
        vk::SamplerMipmapMode::NEAREST => nearest(level),
        _ => level,
    };
    [accessed, lod]
}
