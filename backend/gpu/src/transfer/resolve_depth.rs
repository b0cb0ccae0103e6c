//! Resolves of depth and stencil, at the end of subpasses and between images. Source:
//! `VK_KHR_depth_stencil_resolve`, `VK_KHR_maintenance10`.

use ash::vk::{self, ResolveModeFlags as Mode};
use vitric_format as format;
use vitric_memory::{Surface, SurfaceView};

use super::PlaneOrigin;
use crate::state::DepthResolve;

/// Modes of a resolve of images. Source: `VK_KHR_maintenance10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolveModes {
    /// Mode of depth.
    pub depth: vk::ResolveModeFlags,
    /// Mode of stencil.
    pub stencil: vk::ResolveModeFlags,
    /// True if sRGB samples are averaged as they are encoded.
    pub skips_transfer: bool,
}

impl Default for ResolveModes {
    fn default() -> Self {
        let none = vk::ResolveModeFlags::NONE;
        Self { depth: none, stencil: none, skips_transfer: false }
    }
}

/// Resolves a rectangle of one layer of a view.
pub(crate) fn resolve_depth_stencil(
    (source, target): (&SurfaceView, &SurfaceView),
    layer: u32,
    area: vk::Rect2D,
    how: DepthResolve,
) {
    let Some(info) = format::info(source.desc.format) else { return };
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    // Texels at negative positions are dropped.
    let part = |start: i32, size: u32| (start.max(0) as u32, size.saturating_sub((-start.min(0)) as u32));
    let ((left, width), (top, height)) =
        (part(area.offset.x, area.extent.width), part(area.offset.y, area.extent.height));
    for (aspect, mode) in [(depth, how.depth), (stencil, how.stencil)] {
        let (from, to) = (source.plane(aspect, 0, layer), target.plane(aspect, 0, layer));
        let (Some(from), Some(to)) = (from, to) else { continue };
        let [from, to] = [&from, &to].map(|plane| PlaneOrigin { plane, origin: [left, top] });
        resolve_aspect([from, to], [width, height], (aspect, info.depth_bits), mode);
    }
}

/// Resolves a region of an image with depth or stencil.
pub(super) fn resolve_depth_region(
    (source, target): (&Surface, &Surface),
    depth_bits: u32,
    region: &vk::ImageResolve,
    modes: ResolveModes,
) {
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let (from_part, to_part) = (region.src_subresource, region.dst_subresource);
    let origin = |offset: vk::Offset3D| [offset.x, offset.y].map(|texels| texels.max(0) as u32);
    let aspects = from_part.aspect_mask & to_part.aspect_mask;
    for (aspect, mode) in [(depth, modes.depth), (stencil, modes.stencil)] {
        for layer in 0..from_part.layer_count.min(to_part.layer_count) {
            let from = source.plane(aspect, from_part.mip_level, from_part.base_array_layer.saturating_add(layer));
            let to = target.plane(aspect, to_part.mip_level, to_part.base_array_layer.saturating_add(layer));
            let (Some(from), Some(to)) = (from, to) else { break };
            if !aspects.contains(aspect) {
                break;
            }
            let from = PlaneOrigin { plane: &from, origin: origin(region.src_offset) };
            let to = PlaneOrigin { plane: &to, origin: origin(region.dst_offset) };
            resolve_aspect([from, to], [region.extent.width, region.extent.height], (aspect, depth_bits), mode);
        }
    }
}

/// Resolves `size` texels of depth, with some bits, or of stencil.
fn resolve_aspect(
    sides: [PlaneOrigin<'_>; 2],
    size: [u32; 2],
    (aspect, depth_bits): (vk::ImageAspectFlags, u32),
    mode: Mode,
) {
    match (aspect == vk::ImageAspectFlags::DEPTH, mode) {
        (_, Mode::NONE) => {}
        (true, _) => each(sides, size, |bits| resolve_depths(depth_bits, bits, mode)),
        (false, _) => each(sides, size, |bits| resolve_stencils(bits, mode)),
    }
}

/// Returns the bits of a pixel's resolved depth. `bits` are the depths of its samples, and `width`
/// is the number of bits of a depth.
fn resolve_depths(width: u32, bits: &[u32], mode: Mode) -> u32 {
    let depths = bits.iter().map(|&bits| format::decode_depth(width, bits));
    match mode {
        Mode::MIN => format::encode_depth(width, depths.fold(f32::INFINITY, f32::min)),
        Mode::MAX => format::encode_depth(width, depths.fold(f32::NEG_INFINITY, f32::max)),
        Mode::AVERAGE => format::encode_depth(width, depths.sum::<f32>() / bits.len() as f32),
        _ => bits[0],
    }
}

fn resolve_stencils(bits: &[u32], mode: Mode) -> u32 {
    match mode {
        Mode::MIN => bits.iter().copied().min().unwrap_or(0),
        Mode::MAX => bits.iter().copied().max().unwrap_or(0),
        _ => bits[0],
    }
}

/// Resolves `size` texels, starting at the origin of each side. Texels outside either side are
/// dropped. `resolve` receives the bits of a texel's samples, at least one.
fn each(
    [PlaneOrigin { plane: from, origin: [fx, fy] }, PlaneOrigin { plane: to, origin: [tx, ty] }]: [PlaneOrigin<'_>; 2],
    size: [u32; 2],
    resolve: impl Fn(&[u32]) -> u32,
) {
    if from.bytes() != to.bytes() || from.bytes() > 4 {
        return;
    }
    let left = |limit: u32, origin: u32| limit.saturating_sub(origin);
    let width = size[0].min(left(from.width(), fx)).min(left(to.width(), tx));
    let height = size[1].min(left(from.height(), fy)).min(left(to.height(), ty));
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let mut bits = [0u32; 16];
        let bits = &mut bits[..from.samples().clamp(1, 16) as usize];
        for (sample, bits) in (0..).zip(bits.iter_mut()) {
            let mut bytes = [0; 4];
            from.read(fx + x, fy + y, sample, &mut bytes[..from.bytes()]);
            *bits = u32::from_le_bytes(bytes);
        }
        to.write(tx + x, ty + y, 0, &resolve(bits).to_le_bytes()[..to.bytes()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_of_every_width() {
        for width in [16, 24, 32] {
            let bits = |depth: f32| format::encode_depth(width, depth);
            let all = [0.75, 0.25, 0.5, 1.0].map(bits);
            let resolved = |mode| format::decode_depth(width, resolve_depths(width, &all, mode));
            let close = |mode, depth: f32| assert!((resolved(mode) - depth).abs() < 1e-4, "{mode:?} of {width} bits");
            close(Mode::SAMPLE_ZERO, 0.75);
            close(Mode::MIN, 0.25);
            close(Mode::MAX, 1.0);
            close(Mode::AVERAGE, 0.625);
        }
        let all = [7, 3, 255, 4];
        let resolved = [Mode::SAMPLE_ZERO, Mode::MIN, Mode::MAX].map(|mode| resolve_stencils(&all, mode));
        assert_eq!(resolved, [7, 3, 255]);
    }
}
