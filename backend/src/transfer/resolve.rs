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
        let (from_part, to_part) = (region.src_subresource, region.dst_subresource);
        for layer in 0..from_part.layer_count.min(to_part.layer_count) {
            let color = vk::ImageAspectFlags::COLOR;
            let from = source.plane(color, from_part.mip_level, from_part.base_array_layer.saturating_add(layer));
            let to = target.plane(color, to_part.mip_level, to_part.base_array_layer.saturating_add(layer));
            let (Some(from), Some(to)) = (from, to) else { break };
            resolve_plane((&from, from_info), (&to, to_info), region);
        }
    }
}

type Side<'a> = (&'a PlaneRef<'a>, &'static FormatInfo);

fn resolve_plane((from, from_info): Side<'_>, (to, to_info): Side<'_>, region: &vk::ImageResolve) {
    let origin = |offset: vk::Offset3D| [offset.x, offset.y].map(|texels| texels.max(0) as u32);
    let ([fx, fy], [tx, ty]) = (origin(region.src_offset), origin(region.dst_offset));
    let left = |limit: u32, origin: u32| limit.saturating_sub(origin);
    let width = region.extent.width.min(left(from.width(), fx)).min(left(to.width(), tx));
    let height = region.extent.height.min(left(from.height(), fy)).min(left(to.height(), ty));
    for y in 0..height {
        for x in 0..width {
            store(to, to_info, (tx + x, ty + y), average(from, from_info, (fx + x, fy + y)));
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
