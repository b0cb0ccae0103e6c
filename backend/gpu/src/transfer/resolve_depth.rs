//! Resolves of depth and stencil at the end of subpasses. Source: `VK_KHR_depth_stencil_resolve`.

use ash::vk::{self, ResolveModeFlags as Mode};
use vitric_format as format;
use vitric_memory::{PlaneRef, SurfaceView};

use crate::state::DepthResolve;

/// Resolves a rectangle of one layer of a view.
pub(crate) fn resolve_depth_stencil(
    (source, target): (&SurfaceView, &SurfaceView),
    layer: u32,
    area: vk::Rect2D,
    how: DepthResolve,
) {
    let Some(info) = format::info(source.desc.format) else { return };
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    for (aspect, mode) in [(depth, how.depth), (stencil, how.stencil)] {
        let (from, to) = (source.plane(aspect, 0, layer), target.plane(aspect, 0, layer));
        let (Some(from), Some(to)) = (from, to) else { continue };
        match (aspect == depth, mode) {
            (_, Mode::NONE) => {}
            (true, _) => each(&from, &to, area, |bits| resolve_depths(info.depth_bits, bits, mode)),
            (false, _) => each(&from, &to, area, |bits| resolve_stencils(bits, mode)),
        }
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

/// Resolves each pixel of a rectangle. `resolve` receives the bits of its samples, at least one.
fn each(from: &PlaneRef<'_>, to: &PlaneRef<'_>, area: vk::Rect2D, resolve: impl Fn(&[u32]) -> u32) {
    if from.bytes() != to.bytes() || from.bytes() > 4 {
        return;
    }
    let range = |start: i32, size: u32, limit: u32| {
        let end = (i64::from(start) + i64::from(size)).clamp(0, i64::from(limit));
        start.max(0) as u32..end as u32
    };
    let columns = range(area.offset.x, area.extent.width, from.width().min(to.width()));
    for y in range(area.offset.y, area.extent.height, from.height().min(to.height())) {
        for x in columns.clone() {
            let mut bits = [0u32; 16];
            let bits = &mut bits[..from.samples().clamp(1, 16) as usize];
            for (sample, bits) in (0..).zip(bits.iter_mut()) {
                let mut bytes = [0; 4];
                from.read(x, y, sample, &mut bytes[..from.bytes()]);
                *bits = u32::from_le_bytes(bytes);
            }
            to.write(x, y, 0, &resolve(bits).to_le_bytes()[..to.bytes()]);
        }
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
