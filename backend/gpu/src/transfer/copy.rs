//! Copies between buffers and images. Compressed formats move whole blocks.

use ash::vk;
use vitric_base::workers::Workers;
use vitric_format as format;
use vitric_format::FormatInfo;
use vitric_memory::{Allocation, Buffer, ImageAccess, InUse, PlaneRef, Reading, Surface, Writing};

use super::{PlaneOrigin, slices};

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

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyDirection {
    /// From the buffer to the image.
    ToImage,
    /// From the image to the buffer.
    ToBuffer,
}

/// Buffer and image of a copy, and its direction.
#[derive(Clone, Copy)]
pub(crate) struct BufferImageTransfer<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) image: &'a Surface,
    pub(crate) direction: CopyDirection,
}

/// Divisor of an image's texels that gives the most texels that a copy writes to compacted memory.
/// A copy of more texels makes the image resident.
const SMALL_PART: u64 = 8;

/// Worker threads of a copy, and its accesses to compacted images. They live as long as the
/// command.
pub(crate) struct CopyAccess<'a> {
    workers: &'a Workers,
    /// Present if the source is a compacted image.
    reading: Option<Reading<'a>>,
    /// Present if the target is a compacted image.
    writing: Option<Writing<'a>>,
}

impl<'a> CopyAccess<'a> {
    /// Returns the access of a copy between resident images.
    pub(super) fn resident(workers: &'a Workers) -> Self {
        Self { workers, reading: None, writing: None }
    }

    /// Begins a command that copies regions between a buffer and an image. The image may be
    /// compacted in near memory if `in_use` is present.
    pub(crate) fn of_buffer_image(
        workers: &'a Workers,
        in_use: Option<&'a InUse<'a>>,
        BufferImageTransfer { image, direction, .. }: BufferImageTransfer<'a>,
        regions: &[vk::BufferImageCopy],
    ) -> Self {
        if direction == CopyDirection::ToBuffer {
            return Self { workers, reading: image.reading(in_use), writing: None };
        }
        let texels = |region: &vk::BufferImageCopy| {
            let (_, count) = slices(image, region.image_subresource, region.image_offset, region.image_extent.depth);
            written_texels(image, region.image_extent, count)
        };
        Self { workers, reading: None, writing: begin_writes(in_use, image, regions.iter().map(texels)) }
    }

    /// Begins a command that copies regions between images. Both may be compacted in near memory
    /// if `in_use` is present.
    pub(crate) fn of_images(
        workers: &'a Workers,
        in_use: Option<&'a InUse<'a>>,
        (source, target): (&'a Surface, &'a Surface),
        regions: &[vk::ImageCopy],
    ) -> Self {
        // Extents are in texels of the source. The count is too large if these are blocks. It is
        // too small if texels of the target are blocks, but such a target never stays compacted.
        let texels = |region: &vk::ImageCopy| {
            let (_, count) = slices(target, region.dst_subresource, region.dst_offset, region.extent.depth);
            written_texels(target, region.extent, count)
        };
        // The writes begin first, because the source may be the target. If many texels are written,
        // the image is resident from then on.
        let writing = begin_writes(in_use, target, regions.iter().map(texels));
        Self { workers, reading: source.reading(in_use), writing }
    }

    /// Calls `work` with bands of at most [`ROWS`] rows, from `first` to before `end`. The calling
    /// thread alone reads compacted images; otherwise all threads are used.
    fn each_band(&mut self, [first, end]: [u32; 2], work: impl Fn(&mut BandAccess<'_, 'a>, [u32; 2]) + Sync) {
        let (start, count) = (first / ROWS, end.div_ceil(ROWS).saturating_sub(first / ROWS));
        let rows = |number: u32| [((start + number) * ROWS).max(first), ((start + number + 1) * ROWS).min(end)];
        let writing = self.writing.as_ref();
        match &mut self.reading {
            Some(reading) => {
                let mut access = BandAccess { reading: Some(reading), writing };
                (0..count).for_each(|number| work(&mut access, rows(number)));
            }
            None => {
                let access = || BandAccess { reading: None, writing };
                self.workers.parallel(count as usize, access, |access, number| work(access, rows(number as u32)));
            }
        }
    }
}

/// Returns the number of texels of an image that a region with `count` slices covers. Slices beyond
/// the last one end the region.
fn written_texels(image: &Surface, vk::Extent3D { width, height, .. }: vk::Extent3D, count: u32) -> u64 {
    let all = image.desc().extent.depth.saturating_mul(image.desc().layers);
    (u64::from(width) * u64::from(height)).saturating_mul(u64::from(count.min(all)))
}

/// Begins writes of parts of an image, each with its number of texels. Returns a writer if the
/// image is compacted and the parts are a small part of it. Otherwise the image is resident from
/// then on.
fn begin_writes<'a>(
    in_use: Option<&'a InUse<'a>>,
    image: &'a Surface,
    parts: impl Iterator<Item = u64>,
) -> Option<Writing<'a>> {
    let in_use = in_use?;
    let written = parts.fold(0, u64::saturating_add);
    if written <= written_texels(image, image.desc().extent, u32::MAX) / SMALL_PART {
        return image.writing(in_use, written);
    }
    image.begin_use(in_use, ImageAccess::Write);
    None
}

/// Copies regions between a buffer and an image.
pub(crate) fn copy_buffer_image(
    access: &mut CopyAccess<'_>,
    transfer: BufferImageTransfer<'_>,
    regions: &[vk::BufferImageCopy],
) {
    for region in regions {
        copy_region(access, transfer, region);
    }
}

fn copy_region(
    access: &mut CopyAccess<'_>,
    BufferImageTransfer { buffer, image, direction }: BufferImageTransfer<'_>,
    region: &vk::BufferImageCopy,
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
        let rows = BufferRows { buffer, start, row_bytes, direction };
        copy_slice(access, &rows, PlaneOrigin { plane: &part, origin }, size);
        if direction == CopyDirection::ToImage {
            image.wrote_blocks(access.workers, (level, first + slice), [origin, size]);
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
    direction: CopyDirection,
}

/// Number of rows and columns of a line of texels. A thread moves one row of lines as a chunk.
const ROWS: u32 = 8;

/// Bytes of [`ROWS`] rows that are moved at once.
const CHUNK_BYTES: usize = 8192;

/// Returns the number of columns that are moved at once.
fn columns(part: &PlaneRef<'_>) -> u32 {
    (CHUNK_BYTES / (ROWS as usize * part.bytes())) as u32
}

/// Accesses of a band of rows to compacted images.
struct BandAccess<'b, 'a> {
    /// Present if the source is compacted.
    reading: Option<&'b mut Reading<'a>>,
    /// Present if the target is compacted.
    writing: Option<&'b Writing<'a>>,
}

impl BandAccess<'_, '_> {
    /// Reads a sample of a rectangle of texels of the source.
    fn read(&mut self, part: &PlaneRef<'_>, rect: [u32; 4], sample: u32, out: &mut [u8]) {
        match &mut self.reading {
            Some(reading) => reading.read_rows(part, rect, sample, out),
            None => part.read_rows(rect, sample, out),
        }
    }

    /// Writes a sample of a rectangle of texels of the target.
    fn write(&self, part: &PlaneRef<'_>, rect: [u32; 4], sample: u32, texels: &[u8]) {
        match self.writing {
            Some(writing) => writing.write_rows(part, rect, sample, texels),
            None => part.write_rows(rect, sample, texels),
        }
    }
}

fn copy_slice(
    access: &mut CopyAccess<'_>,
    rows: &BufferRows<'_>,
    PlaneOrigin { plane: part, origin: [left, top] }: PlaneOrigin<'_>,
    size: [u32; 2],
) {
    let right = left.saturating_add(size[0]).min(part.width());
    let bottom = top.saturating_add(size[1]).min(part.height());
    if left >= right || top >= bottom {
        return;
    }
    access.each_band([top, bottom], |access, [y0, y1]| {
        let (mut bytes, columns) = ([0; CHUNK_BYTES], columns(part));
        let mut x0 = left;
        while x0 < right {
            let x1 = ((x0 / columns + 1) * columns).min(right);
            let pitch = (x1 - x0) as usize * part.bytes();
            let chunk = &mut bytes[..pitch * (y1 - y0) as usize];
            let at = u64::from(x0 - left) * part.bytes() as u64;
            let place =
                |y: u32| rows.row_bytes.checked_mul(u64::from(y - top))?.checked_add(rows.start)?.checked_add(at);
            // Offsets that overflow lie outside every buffer.
            let offsets = (y0..y1).map(|y| place(y).unwrap_or(u64::MAX));
            if rows.direction == CopyDirection::ToImage {
                offsets.zip(chunk.chunks_exact_mut(pitch)).for_each(|(offset, row)| rows.buffer.read(offset, row));
                access.write(part, [x0, y0, x1, y1], 0, chunk);
            } else {
                access.read(part, [x0, y0, x1, y1], 0, chunk);
                offsets.zip(chunk.chunks_exact(pitch)).for_each(|(offset, row)| rows.buffer.write(offset, row));
            }
            x0 = x1;
        }
    });
}

/// Copies regions between images of size-compatible formats, block by block.
pub(crate) fn copy_image(
    access: &mut CopyAccess<'_>,
    (source, target): (&Surface, &Surface),
    regions: &[vk::ImageCopy],
) {
    for region in regions {
        copy_image_region(access, source, target, region);
    }
}

fn copy_image_region(access: &mut CopyAccess<'_>, source: &Surface, target: &Surface, region: &vk::ImageCopy) {
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
    // Planes of a multi-planar image may be copied to or from a single-plane colour image.
    let planes = |info: &FormatInfo, layers: vk::ImageSubresourceLayers| info.planes_of(layers.aspect_mask);
    let (from_planes, to_planes) = (planes(from_info, region.src_subresource), planes(to_info, region.dst_subresource));
    for (from_plane, to_plane) in from_planes.zip(to_planes) {
        for slice in 0..from_count.min(to_count) {
            let from_slice = from_first.saturating_add(slice);
            let from = source.plane(from_plane.aspect, region.src_subresource.mip_level, from_slice);
            let to_slice = to_first.saturating_add(slice);
            let to = target.plane(to_plane.aspect, region.dst_subresource.mip_level, to_slice);
            let (Some(from), Some(to)) = (from, to) else { break };
            let from = PlaneOrigin { plane: &from, origin: from_origin };
            copy_plane(access, from, PlaneOrigin { plane: &to, origin: to_origin }, size);
            target.wrote_blocks(access.workers, (region.dst_subresource.mip_level, to_slice), [to_origin, size]);
        }
    }
}

/// Copies `size` texels between planes, starting at the origin of each. Texels outside either
/// plane are dropped.
pub(super) fn copy_plane(
    access: &mut CopyAccess<'_>,
    PlaneOrigin { plane: from, origin: [fx, fy] }: PlaneOrigin<'_>,
    PlaneOrigin { plane: to, origin: [tx, ty] }: PlaneOrigin<'_>,
    size: [u32; 2],
) {
    if from.bytes() != to.bytes() {
        return;
    }
    let left = |limit: u32, origin: u32| limit.saturating_sub(origin);
    let width = size[0].min(left(from.width(), fx)).min(left(to.width(), tx));
    let height = size[1].min(left(from.height(), fy)).min(left(to.height(), ty));
    if width == 0 || height == 0 {
        return;
    }
    access.each_band([ty, ty + height], |access, [y0, y1]| {
        let (rows, source_row) = (y1 - y0, fy + (y0 - ty));
        let mut x = 0;
        while x < width {
            let source = PlaneOrigin { plane: from, origin: [fx + x, source_row] };
            let target = PlaneOrigin { plane: to, origin: [tx + x, y0] };
            let lines = whole_lines(source, target, [width - x, rows]);
            if lines > 0 {
                copy_lines(access, source, target, lines);
                x += lines * ROWS;
                continue;
            }
            let columns = columns(to);
            let count = (columns - (tx + x) % columns).min(width - x);
            copy_part(access, source, target, [count, rows]);
            x += count;
        }
    });
}

/// Returns the number of whole lines, within `size` columns and rows, that can be copied
/// unchanged.
fn whole_lines(
    PlaneOrigin { plane: from, origin: [fx, fy] }: PlaneOrigin<'_>,
    PlaneOrigin { plane: to, origin: [tx, ty] }: PlaneOrigin<'_>,
    size: [u32; 2],
) -> u32 {
    match from.samples() == to.samples() {
        true => from.whole_lines(fx, fy, size).min(to.whole_lines(tx, ty, size)),
        false => 0,
    }
}

/// Copies consecutive lines with all samples.
fn copy_lines(
    access: &mut BandAccess<'_, '_>,
    PlaneOrigin { plane: from, origin: [fx, fy] }: PlaneOrigin<'_>,
    PlaneOrigin { plane: to, origin: [tx, ty] }: PlaneOrigin<'_>,
    lines: u32,
) {
    let (source, target) = (from.address(fx, fy, 0), to.address(tx, ty, 0));
    let bytes = u64::from(lines * ROWS * ROWS) * u64::from(from.samples()) * from.bytes() as u64;
    if access.reading.is_none() && access.writing.is_none() {
        return Allocation::copy(from.memory(), source, to.memory(), target, bytes);
    }
    let mut chunk = [0; CHUNK_BYTES];
    for at in (0..bytes).step_by(CHUNK_BYTES) {
        let chunk = &mut chunk[..(bytes - at).min(CHUNK_BYTES as u64) as usize];
        match &mut access.reading {
            Some(reading) => reading.read(source + at, chunk),
            None => from.memory().read(source + at, chunk),
        }
        match access.writing {
            Some(writing) => writing.write(target + at, chunk),
            None => to.memory().write(target + at, chunk),
        }
    }
}

/// Copies texels that fit in [`CHUNK_BYTES`] bytes, sample by sample.
fn copy_part(
    access: &mut BandAccess<'_, '_>,
    PlaneOrigin { plane: from, origin: [fx, fy] }: PlaneOrigin<'_>,
    PlaneOrigin { plane: to, origin: [tx, ty] }: PlaneOrigin<'_>,
    [columns, rows]: [u32; 2],
) {
    let mut bytes = [0; CHUNK_BYTES];
    let chunk = &mut bytes[..(columns * rows) as usize * from.bytes()];
    for sample in 0..from.samples().min(to.samples()) {
        access.read(from, [fx, fy, fx + columns, fy + rows], sample, chunk);
        access.write(to, [tx, ty, tx + columns, ty + rows], sample, chunk);
    }
}
