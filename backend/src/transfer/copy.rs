//! Copies between buffers and images. Compressed formats move whole blocks.

use ash::vk;

use super::decode::decode;
use super::slices;
use crate::format::{self, FormatInfo};
use crate::memory::{Allocation, Buffer, InUse, PlaneRef, Reading, Surface};
use crate::workers::Workers;

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

/// Copies regions between a buffer and an image. What is read of an image may rest in near memory, what is written must not.
pub(crate) fn copy_buffer_image(
    workers: &Workers,
    in_use: Option<&InUse<'_>>,
    (buffer, image): (&Buffer, &Surface),
    regions: &[vk::BufferImageCopy],
    direction: Direction,
) {
    let mut reading = image.reading(in_use.filter(|_| direction == Direction::ToBuffer));
    for region in regions {
        copy_region((workers, &mut reading), (buffer, image), region, direction);
    }
}

fn copy_region(
    (workers, reading): (&Workers, &mut Option<Reading<'_>>),
    (buffer, image): (&Buffer, &Surface),
    region: &vk::BufferImageCopy,
    direction: Direction,
) {
    let Some(info) = format::info(image.desc().format) else { return };
    let aspect = region.image_subresource.aspect_mask;
    let Some(plane) = info.planes().find(|plane| aspect.contains(plane.aspect)) else { return };
    let block = info.block_extent();
    let or = |length: u32, default: u32| if length == 0 { default } else { length };
    let extent = region.image_extent;
    let row_bytes = u64::from(or(region.buffer_row_length, extent.width).div_ceil(block[0])) * u64::from(plane.bytes);
    let rows = u64::from(or(region.buffer_image_height, extent.height).div_ceil(block[1]));
    let (first, count) = slices(image, region.image_subresource, region.image_offset, extent.depth);
    let (origin, size) = (origin_in_blocks(region.image_offset, block), size_in_blocks(extent, block));
    let level = region.image_subresource.mip_level;
    for slice in 0..count {
        // Slices beyond the last end the region.
        let Some(part) = image.plane(plane.aspect, level, first.saturating_add(slice)) else { break };
        let slice_bytes = u128::from(row_bytes) * u128::from(rows) * u128::from(slice);
        let start = u128::from(region.buffer_offset) + slice_bytes;
        let Ok(start) = u64::try_from(start) else { break };
        copy_slice(&BufferRows { buffer, start, row_bytes, direction }, reading, &part, origin, size);
        if direction == Direction::ToImage {
            decode(workers, image, (level, first + slice), origin, size);
        }
    }
}

fn origin_in_blocks(offset: vk::Offset3D, [width, height]: [u32; 2]) -> [u32; 2] {
    [offset.x.max(0) as u32 / width, offset.y.max(0) as u32 / height]
}

fn size_in_blocks(extent: vk::Extent3D, [width, height]: [u32; 2]) -> [u32; 2] {
    [extent.width.div_ceil(width), extent.height.div_ceil(height)]
}

/// The buffer's side of one slice of a copy.
struct BufferRows<'a> {
    buffer: &'a Buffer,
    start: u64,
    row_bytes: u64,
    direction: Direction,
}

/// Bytes moved at a time: the longest run of a line, or a piece of a linear row.
const PIECE: usize = 1024;

/// Reads a run of texels, of an image that rests by who can.
fn read(reading: &mut Option<Reading<'_>>, part: &PlaneRef<'_>, (x, y, sample): (u32, u32, u32), out: &mut [u8]) {
    match reading {
        Some(reading) => reading.read_run(part, (x, y, sample), out),
        None => part.read_run(x, y, sample, out),
    }
}

fn copy_slice(
    rows: &BufferRows<'_>,
    reading: &mut Option<Reading<'_>>,
    part: &PlaneRef<'_>,
    origin: [u32; 2],
    size: [u32; 2],
) {
    let mut bytes = [0; PIECE];
    let width = size[0].min(part.width().saturating_sub(origin[0]));
    let height = size[1].min(part.height().saturating_sub(origin[1]));
    for y in 0..height {
        let Some(row) = rows.row_bytes.checked_mul(u64::from(y)).and_then(|row| row.checked_add(rows.start)) else {
            return;
        };
        let mut x = 0;
        while x < width {
            let count = run(part, origin[0] + x).min(width - x);
            let piece = &mut bytes[..count as usize * part.bytes()];
            let offset = row.saturating_add(u64::from(x) * part.bytes() as u64);
            if rows.direction == Direction::ToImage {
                rows.buffer.read(offset, piece);
                part.write_run(origin[0] + x, origin[1] + y, 0, piece);
            } else {
                read(reading, part, (origin[0] + x, origin[1] + y, 0), piece);
                rows.buffer.write(offset, piece);
            }
            x += count;
        }
    }
}

/// Texels to move at once from `x` on; at least 1 inside the plane.
fn run(part: &PlaneRef<'_>, x: u32) -> u32 {
    part.run(x).min((PIECE / part.bytes()) as u32)
}

/// Copies regions between images of size-compatible formats, block for block. The source may rest in near memory.
pub(crate) fn copy_image(
    workers: &Workers,
    in_use: Option<&InUse<'_>>,
    (source, target): (&Surface, &Surface),
    regions: &[vk::ImageCopy],
) {
    let mut reading = source.reading(in_use);
    for region in regions {
        copy_image_region((workers, &mut reading), source, target, region);
    }
}

fn copy_image_region(
    (workers, reading): (&Workers, &mut Option<Reading<'_>>),
    source: &Surface,
    target: &Surface,
    region: &vk::ImageCopy,
) {
    let (Some(from_info), Some(to_info)) = (format::info(source.desc().format), format::info(target.desc().format))
    else {
        return;
    };
    // The extent is in texels of the source.
    let size = size_in_blocks(region.extent, from_info.block_extent());
    let (from_first, from_count) = slices(source, region.src_subresource, region.src_offset, region.extent.depth);
    let (to_first, to_count) = slices(target, region.dst_subresource, region.dst_offset, region.extent.depth);
    let from_origin = origin_in_blocks(region.src_offset, from_info.block_extent());
    let to_origin = origin_in_blocks(region.dst_offset, to_info.block_extent());
    // Planes of colour may be copied to images of one, and the other way around.
    let planes = |info: &FormatInfo, layers: vk::ImageSubresourceLayers| {
        info.planes().filter(move |plane| layers.aspect_mask.contains(plane.aspect))
    };
    let (from_planes, to_planes) = (planes(from_info, region.src_subresource), planes(to_info, region.dst_subresource));
    for (from_plane, to_plane) in from_planes.zip(to_planes) {
        for slice in 0..from_count.min(to_count) {
            let from_slice = from_first.saturating_add(slice);
            let from = source.plane(from_plane.aspect, region.src_subresource.mip_level, from_slice);
            let to_slice = to_first.saturating_add(slice);
            let to = target.plane(to_plane.aspect, region.dst_subresource.mip_level, to_slice);
            let (Some(from), Some(to)) = (from, to) else { break };
            copy_plane(reading, (&from, from_origin), (&to, to_origin), size);
            decode(workers, target, (region.dst_subresource.mip_level, to_slice), to_origin, size);
        }
    }
}

/// Copies `size` texels between planes, each from its origin on; what either lacks is dropped.
fn copy_plane(
    reading: &mut Option<Reading<'_>>,
    (from, [fx, fy]): (&PlaneRef<'_>, [u32; 2]),
    (to, [tx, ty]): (&PlaneRef<'_>, [u32; 2]),
    size: [u32; 2],
) {
    if from.bytes() != to.bytes() {
        return;
    }
    let left = |limit: u32, origin: u32| limit.saturating_sub(origin);
    let width = size[0].min(left(from.width(), fx)).min(left(to.width(), tx));
    let height = size[1].min(left(from.height(), fy)).min(left(to.height(), ty));
    let mut bytes = [0; PIECE];
    for y in 0..height {
        let mut x = 0;
        while x < width {
            let count = run(from, fx + x).min(run(to, tx + x)).min(width - x);
            let piece = &mut bytes[..count as usize * from.bytes()];
            for sample in 0..from.samples().min(to.samples()) {
                read(reading, from, (fx + x, fy + y, sample), piece);
                to.write_run(tx + x, ty + y, sample, piece);
            }
            x += count;
        }
    }
}
