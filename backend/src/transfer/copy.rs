//! Copies between buffers and images. Compressed formats move whole blocks.

use ash::vk;

use super::slices;
use crate::format;
use crate::memory::{Allocation, Buffer, Surface};

/// Copies regions between buffers.
pub fn copy_buffer(source: &Buffer, target: &Buffer, regions: &[vk::BufferCopy]) {
    for region in regions {
        let from = source.locate(region.src_offset, region.size);
        let to = target.locate(region.dst_offset, region.size);
        if let (Some((from, from_offset)), Some((to, to_offset))) = (from, to) {
            Allocation::copy(from, from_offset, to, to_offset, region.size);
        }
    }
}

/// Which way texels move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the buffer to the image.
    ToImage,
    /// From the image to the buffer.
    ToBuffer,
}

/// Copies regions between a buffer and an image.
pub fn copy_buffer_image(buffer: &Buffer, image: &Surface, regions: &[vk::BufferImageCopy], direction: Direction) {
    for region in regions {
        copy_region(buffer, image, region, direction);
    }
}

fn copy_region(buffer: &Buffer, image: &Surface, region: &vk::BufferImageCopy, direction: Direction) {
    let Some(info) = format::info(image.desc().format) else { return };
    let aspect = region.image_subresource.aspect_mask;
    let Some(plane) = info.planes().find(|plane| aspect.contains(plane.aspect)) else { return };
    let side = info.block_side();
    let or = |length: u32, default: u32| if length == 0 { default } else { length };
    let extent = region.image_extent;
    let row = u64::from(or(region.buffer_row_length, extent.width).div_ceil(side)) * u64::from(plane.bytes);
    let slice_bytes = row * u64::from(or(region.buffer_image_height, extent.height).div_ceil(side));
    let (first, count) = slices(image, region.image_subresource, region.image_offset, extent.depth);
    let (x0, y0) = (region.image_offset.x as u32 / side, region.image_offset.y as u32 / side);
    let mut bytes = [0; 16];
    let texel = &mut bytes[..plane.bytes as usize];
    for slice in 0..count {
        let Some(part) = image.plane(plane.aspect, region.image_subresource.mip_level, first + slice) else { continue };
        for y in 0..extent.height.div_ceil(side) {
            let start = region.buffer_offset + u64::from(slice) * slice_bytes + u64::from(y) * row;
            for x in 0..extent.width.div_ceil(side) {
                let offset = start + u64::from(x * plane.bytes);
                if !part.contains(x0 + x, y0 + y) {
                    continue;
                }
                if direction == Direction::ToImage {
                    buffer.read(offset, texel);
                    part.write(x0 + x, y0 + y, 0, texel);
                } else {
                    part.read(x0 + x, y0 + y, 0, texel);
                    buffer.write(offset, texel);
                }
            }
        }
    }
}

/// Copies regions between images of size-compatible formats, block for block.
pub fn copy_image(source: &Surface, target: &Surface, regions: &[vk::ImageCopy]) {
    for region in regions {
        copy_image_region(source, target, region);
    }
}

fn copy_image_region(source: &Surface, target: &Surface, region: &vk::ImageCopy) {
    let (Some(from_info), Some(to_info)) = (format::info(source.desc().format), format::info(target.desc().format))
    else {
        return;
    };
    let (from_side, to_side) = (from_info.block_side(), to_info.block_side());
    // The extent is in texels of the source.
    let (width, height) = (region.extent.width.div_ceil(from_side), region.extent.height.div_ceil(from_side));
    let (from_first, from_count) = slices(source, region.src_subresource, region.src_offset, region.extent.depth);
    let (to_first, to_count) = slices(target, region.dst_subresource, region.dst_offset, region.extent.depth);
    let from_origin = [region.src_offset.x as u32 / from_side, region.src_offset.y as u32 / from_side];
    let to_origin = [region.dst_offset.x as u32 / to_side, region.dst_offset.y as u32 / to_side];
    for plane in from_info.planes().filter(|plane| region.src_subresource.aspect_mask.contains(plane.aspect)) {
        for slice in 0..from_count.min(to_count) {
            let from = source.plane(plane.aspect, region.src_subresource.mip_level, from_first + slice);
            let to = target.plane(plane.aspect, region.dst_subresource.mip_level, to_first + slice);
            let (Some(from), Some(to)) = (from, to) else { continue };
            let mut bytes = [0; 16];
            let texel = &mut bytes[..from.bytes().min(to.bytes())];
            for y in 0..height {
                for x in 0..width {
                    for sample in 0..from.samples().min(to.samples()) {
                        from.read(from_origin[0] + x, from_origin[1] + y, sample, texel);
                        to.write(to_origin[0] + x, to_origin[1] + y, sample, texel);
                    }
                }
            }
        }
    }
}
