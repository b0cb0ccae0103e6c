//! Resolves: multisampled colour to one sample: the average, or sample 0 of integer formats.

use ash::vk;

use crate::format::{self, FormatInfo, Texel};
use crate::memory::{PlaneRef, Surface, SurfaceView};

/// Resolves regions of images.
pub fn resolve(source: &Surface, target: &Surface, regions: &[vk::ImageResolve]) {
    let (Some(from_info), Some(to_info)) = (format::info(source.desc().format), format::info(target.desc().format))
    else {
        return;
    };
    for region in regions {
        for layer in 0..region.src_subresource.layer_count {
            let part = |surface: &Surface, part: vk::ImageSubresourceLayers| {
                (vk::ImageAspectFlags::COLOR, part.mip_level, part.base_array_layer + layer, surface.desc().levels)
            };
            let (aspect, level, slice, _) = part(source, region.src_subresource);
            let from = source.plane(aspect, level, slice);
            let (aspect, level, slice, _) = part(target, region.dst_subresource);
            let to = target.plane(aspect, level, slice);
            let (Some(from), Some(to)) = (from, to) else { continue };
            for y in 0..region.extent.height {
                for x in 0..region.extent.width {
                    let at = (region.src_offset.x as u32 + x, region.src_offset.y as u32 + y);
                    let texel = average(&from, from_info, at);
                    let at = (region.dst_offset.x as u32 + x, region.dst_offset.y as u32 + y);
                    store(&to, to_info, at, texel);
                }
            }
        }
    }
}

/// Resolves a rectangle of one layer of a view.
pub fn resolve_view(source: &SurfaceView, target: &SurfaceView, layer: u32, area: vk::Rect2D) {
    let (Some(from_info), Some(to_info)) = (format::info(source.desc.format), format::info(target.desc.format)) else {
        return;
    };
    let from = source.plane(vk::ImageAspectFlags::COLOR, 0, layer);
    let to = target.plane(vk::ImageAspectFlags::COLOR, 0, layer);
    let (Some(from), Some(to)) = (from, to) else { return };
    let (x0, y0) = (area.offset.x.max(0) as u32, area.offset.y.max(0) as u32);
    for y in y0..y0.saturating_add(area.extent.height).min(to.height()) {
        for x in x0..x0.saturating_add(area.extent.width).min(to.width()) {
            store(&to, to_info, (x, y), average(&from, from_info, (x, y)));
        }
    }
}

fn average(plane: &PlaneRef<'_>, info: &FormatInfo, (x, y): (u32, u32)) -> Texel {
    let texel = |sample: u32| {
        let mut bytes = [0; 16];
        plane.read(x, y, sample, &mut bytes[..info.bytes as usize]);
        format::decode(info, &bytes)
    };
    if info.class.is_integer() {
        return texel(0);
    }
    let mut sum = [0.0f32; 4];
    for sample in 0..plane.samples() {
        for (sum, word) in sum.iter_mut().zip(texel(sample)) {
            *sum += f32::from_bits(word);
        }
    }
    sum.map(|sum| (sum / plane.samples() as f32).to_bits())
}

fn store(plane: &PlaneRef<'_>, info: &FormatInfo, (x, y): (u32, u32), texel: Texel) {
    let mut bytes = [0; 16];
    format::encode(info, texel, &mut bytes);
    plane.write(x, y, 0, &bytes[..info.bytes as usize]);
}
