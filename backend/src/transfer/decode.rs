//! Decoding of blocks that a copy wrote, where an image keeps its texels decoded.

use std::ops::Range;

use ash::vk;

use crate::format::{self, FormatInfo, MOST_DECODED};
use crate::memory::{DECODED, PlaneRef, Surface};
use crate::workers::Workers;

/// Blocks that a thread decodes at once, at least.
const BLOCKS: u32 = 256;

/// Decodes the blocks of a level and slice from `origin` on (both in blocks), as far as they lie in the image, on all threads.
pub(super) fn decode(workers: &Workers, image: &Surface, (level, slice): (u32, u32), origin: [u32; 2], size: [u32; 2]) {
    let info = format::info(image.desc().format).filter(|_| image.desc().decoded);
    let blocks = image.plane(vk::ImageAspectFlags::COLOR, level, slice);
    let texels = image.plane(DECODED, level, slice);
    let (Some(info), Some(blocks), Some(texels)) = (info, blocks, texels) else { return };
    let end = |axis: usize, limit: u32| origin[axis].saturating_add(size[axis]).min(limit);
    let (columns, last) = (origin[0]..end(0, blocks.width()), end(1, blocks.height()));
    let rows = (BLOCKS / columns.len().max(1) as u32).max(1);
    let count = last.saturating_sub(origin[1]).div_ceil(rows);
    workers.parallel(
        count as usize,
        || [0; MOST_DECODED],
        |decoded, number| {
            let first = origin[1] + number as u32 * rows;
            for y in first..(first + rows).min(last) {
                decode_row(info, (&blocks, &texels), (y, columns.clone()), decoded);
            }
        },
    );
}

/// Decodes a row of blocks.
fn decode_row(
    info: &FormatInfo,
    (blocks, texels): (&PlaneRef<'_>, &PlaneRef<'_>),
    (y, columns): (u32, Range<u32>),
    decoded: &mut [u8],
) {
    let [width, height] = info.block_extent();
    let mut block = [0; 16];
    let block = &mut block[..info.bytes as usize];
    for x in columns {
        blocks.read(x, y, 0, block);
        format::decode_block(info, block, decoded);
        put(texels, [x * width, y * height], [width, height], decoded);
    }
}

/// Writes a block's texels, row by row, as far as they lie in the image.
fn put(texels: &PlaneRef<'_>, [left, top]: [u32; 2], [width, height]: [u32; 2], decoded: &[u8]) {
    let bytes = texels.bytes();
    let rows = decoded.chunks_exact(width as usize * bytes);
    for (y, row) in (top..(top + height).min(texels.height())).zip(rows) {
        let mut x = left;
        let end = (left + width).min(texels.width());
        while x < end {
            let count = texels.run(x).min(end - x);
            let first = (x - left) as usize * bytes;
            texels.write_run(x, y, 0, &row[first..first + count as usize * bytes]);
            x += count;
        }
    }
}
