//! Clears of images and attachments, and fills of buffers.

use ash::vk;

use crate::format::{self, FormatInfo};
use crate::memory::{Buffer, PlaneRef, Surface, SurfaceView};
use crate::raster::TILE_LOG2;
use crate::state::ClearValue;
use crate::workers::Workers;

/// Fills `size` bytes (`vk::WHOLE_SIZE`: to the end, rounded down to words) of a buffer with a word.
pub fn fill_buffer(target: &Buffer, offset: u64, size: u64, word: u32) {
    let room = target.size().saturating_sub(offset);
    let words = size.min(room) / 4;
    let block: Vec<u8> = word.to_le_bytes().repeat(1024);
    let mut done = 0;
    while done < words {
        let count = (words - done).min(1024);
        target.write(offset + done * 4, &block[..count as usize * 4]);
        done += count;
    }
}

/// The bytes of a cleared texel of one plane.
fn texel(info: &FormatInfo, aspect: vk::ImageAspectFlags, value: ClearValue) -> [u8; 16] {
    let mut bytes = [0; 16];
    match aspect {
        vk::ImageAspectFlags::DEPTH => {
            let depth = format::encode_depth(info.depth_bits, value.depth());
            bytes[..4].copy_from_slice(&depth.to_le_bytes());
        }
        vk::ImageAspectFlags::STENCIL => bytes[0] = value.stencil() as u8,
        _ => format::encode(info, value.0, &mut bytes),
    }
    bytes
}

fn clear_plane(plane: &PlaneRef<'_>, [x0, y0, x1, y1]: [u32; 4], bytes: &[u8]) {
    if x0 > 0 || x1 < plane.width() {
        return clear_runs(plane, [x0, y0, x1, y1], bytes);
    }
    let filled = plane.fill_rows(y0, y1, bytes);
    clear_runs(plane, [x0, y0, x1, filled.start], bytes);
    clear_runs(plane, [x0, filled.end, x1, y1], bytes);
}

fn clear_runs(plane: &PlaneRef<'_>, [x0, y0, x1, y1]: [u32; 4], bytes: &[u8]) {
    // As many copies of the texel as the longest run written at once.
    let piece = bytes.repeat(64);
    for y in y0..y1.min(plane.height()) {
        let mut x = x0;
        while x < x1.min(plane.width()) {
            let count = plane.run(x).min(64).min(x1 - x);
            for sample in 0..plane.samples() {
                plane.write_run(x, y, sample, &piece[..count as usize * bytes.len()]);
            }
            x += count;
        }
    }
}

/// Clears the given ranges of an image.
pub fn clear_image(target: &Surface, value: ClearValue, ranges: &[vk::ImageSubresourceRange]) {
    let Some(info) = format::info(target.desc().format) else { return };
    for range in ranges {
        let levels = count(range.base_mip_level, range.level_count, target.desc().levels);
        for level in levels {
            let depth = target.level_extent(level).depth;
            let slices = match target.desc().kind {
                vk::ImageType::TYPE_3D => 0..depth,
                _ => count(range.base_array_layer, range.layer_count, target.desc().layers),
            };
            for slice in slices {
                for plane in info.planes().filter(|plane| range.aspect_mask.contains(plane.aspect)) {
                    if let Some(part) = target.plane(plane.aspect, level, slice) {
                        let bytes = texel(info, plane.aspect, value);
                        clear_plane(&part, [0, 0, u32::MAX, u32::MAX], &bytes[..plane.bytes as usize]);
                    }
                }
            }
        }
    }
}

/// Numbers from `first` on, at most `count`, below `limit`.
fn count(first: u32, count: u32, limit: u32) -> std::ops::Range<u32> {
    first..first.saturating_add(count).min(limit)
}

/// Rows that a thread clears at once: those of a tile.
const ROWS: u32 = 1 << TILE_LOG2;

/// Clears a rectangle of one layer of a view, on all threads.
pub(crate) fn clear_view(
    workers: &Workers,
    view: &SurfaceView,
    aspects: vk::ImageAspectFlags,
    (layer, rect): (u32, vk::Rect2D),
    value: ClearValue,
) {
    let Some(info) = format::info(view.desc.format) else { return };
    let end = |start: i32, size: u32| (i64::from(start) + i64::from(size)).clamp(0, i64::from(u32::MAX)) as u32;
    let (x, y) = (rect.offset.x, rect.offset.y);
    let area = [x.max(0) as u32, y.max(0) as u32, end(x, rect.extent.width), end(y, rect.extent.height)];
    for plane in info.planes().filter(|plane| aspects.contains(plane.aspect)) {
        if let Some(part) = view.plane(plane.aspect, 0, layer) {
            let (bytes, [x0, y0, x1, y1]) = (texel(info, plane.aspect, value), area);
            let (first, last) = (y0 / ROWS, y1.min(part.height()).div_ceil(ROWS));
            let rows = |number: usize| {
                let start = (first + number as u32) * ROWS;
                [x0, start.max(y0), x1, (start + ROWS).min(y1)]
            };
            let clear = |(): &mut (), number| clear_plane(&part, rows(number), &bytes[..plane.bytes as usize]);
            workers.parallel(last.saturating_sub(first) as usize, || (), clear);
        }
    }
}
