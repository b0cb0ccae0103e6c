//! Clears of images and attachments, and fills of buffers.

use std::ops::Range;

use ash::vk;
use vitric_base::workers::Workers;
use vitric_format as format;
use vitric_format::{DEPTH_STENCIL, FormatInfo};
use vitric_memory::{Buffer, InUse, PlaneRef, Surface, SurfaceView};

use crate::raster::TILE_LOG2;
use crate::state::ClearValue;

/// Fills `size` bytes of a buffer with a word. `vk::WHOLE_SIZE` means up to the end. The size is
/// rounded down to whole words.
pub fn fill_buffer(target: &Buffer, offset: u64, size: u64, word: u32) {
    let room = target.size().saturating_sub(offset);
    let words = size.min(room) / 4;
    let block: Vec<u8> = word.to_le_bytes().repeat(words.min(1024) as usize);
    let mut done = 0;
    while done < words {
        let count = (words - done).min(1024);
        target.write(offset + done * 4, &block[..count as usize * 4]);
        done += count;
    }
}

/// Returns the bytes of a cleared texel of one plane.
fn texel(info: &FormatInfo, aspects: vk::ImageAspectFlags, value: ClearValue) -> [u8; 16] {
    let mut bytes = [0; 16];
    let stencil = value.stencil() as u8;
    match aspects {
        vk::ImageAspectFlags::STENCIL => bytes[0] = stencil,
        _ if aspects.contains(vk::ImageAspectFlags::DEPTH) => {
            let depth = format::encode_depth(info.depth_bits, value.depth());
            bytes[..4].copy_from_slice(&depth.to_le_bytes());
            if aspects == DEPTH_STENCIL {
                bytes[3] = stencil;
            }
        }
        _ => format::encode(info, value.0, &mut bytes),
    }
    bytes
}

/// Number of copies of a texel in the source of writes.
const COPIES: usize = 1024;

/// Maximum number of texels of a run that are written at once.
const RUN: u32 = 64;

/// Clears a rectangle of a plane. `texels` are [`COPIES`] copies of one texel.
fn clear_plane(plane: &PlaneRef<'_>, [x0, y0, x1, y1]: [u32; 4], texels: &[u8]) {
    let [left, top, right, bottom] = plane.fill_lines([x0, y0, x1, y1], texels);
    for rest in [[x0, y0, x1, top], [x0, bottom, x1, y1], [x0, top, left, bottom], [right, top, x1, bottom]] {
        clear_runs(plane, rest, texels);
    }
}

fn clear_runs(plane: &PlaneRef<'_>, [x0, y0, x1, y1]: [u32; 4], texels: &[u8]) {
    for y in y0..y1.min(plane.height()) {
        let mut x = x0;
        while x < x1.min(plane.width()) {
            let count = plane.run(x).min(RUN).min(x1 - x);
            for sample in 0..plane.samples() {
                plane.write_run(x, y, sample, &texels[..count as usize * plane.bytes()]);
            }
            x += count;
        }
    }
}

/// Clears ranges of an image that is in use by `in_use`. A clear of a whole plane is recorded
/// instead of written if the image may be compacted.
pub fn clear_image(
    in_use: Option<&InUse<'_>>,
    target: &Surface,
    value: ClearValue,
    ranges: &[vk::ImageSubresourceRange],
) {
    let Some(info) = format::info(target.desc().format) else { return };
    for range in ranges {
        for plane in info.planes_of(range.aspect_mask) {
            let texels = texel(info, plane.aspect, value)[..plane.bytes as usize].repeat(COPIES);
            let in_use = in_use.filter(|_| is_whole(target, range));
            if !in_use.is_some_and(|in_use| target.note_clear(in_use, plane.aspect, &texels)) {
                clear_range(target, plane.aspect, range, &texels);
            }
        }
    }
}

/// Clears a plane of the levels and layers of a range.
fn clear_range(target: &Surface, aspect: vk::ImageAspectFlags, range: &vk::ImageSubresourceRange, texels: &[u8]) {
    for level in count(range.base_mip_level, range.level_count, target.desc().levels) {
        let slices = match target.desc().kind {
            vk::ImageType::TYPE_3D => 0..target.level_extent(level).depth,
            _ => count(range.base_array_layer, range.layer_count, target.desc().layers),
        };
        for part in slices.filter_map(|slice| target.plane(aspect, level, slice)) {
            clear_plane(&part, [0, 0, u32::MAX, u32::MAX], texels);
        }
    }
}

/// Returns true if a range includes all levels and layers.
fn is_whole(target: &Surface, range: &vk::ImageSubresourceRange) -> bool {
    let desc = target.desc();
    count(range.base_mip_level, range.level_count, desc.levels) == (0..desc.levels)
        && (desc.kind == vk::ImageType::TYPE_3D
            || count(range.base_array_layer, range.layer_count, desc.layers) == (0..desc.layers))
}

/// Returns true if one of the ranges is a whole image with one plane.
pub(crate) fn clears_all(target: &Surface, ranges: &[vk::ImageSubresourceRange]) -> bool {
    let planes = || target.layout().planes().map(|(aspect, _)| aspect);
    let is_all = |range: &vk::ImageSubresourceRange| {
        is_whole(target, range) && planes().all(|aspect| range.aspect_mask.contains(aspect))
    };
    planes().count() == 1 && ranges.iter().any(is_all)
}

/// Returns the numbers from `first` on, at most `count`, below `limit`.
fn count(first: u32, count: u32, limit: u32) -> std::ops::Range<u32> {
    first..first.saturating_add(count).min(limit)
}

/// Number of rows that a thread clears as one chunk: the rows of a tile.
const ROWS: u32 = 1 << TILE_LOG2;

/// A plane to clear, of one layer of a view.
pub(crate) struct PlaneClear<'v> {
    aspect: vk::ImageAspectFlags,
    plane: PlaneRef<'v>,
    texels: Vec<u8>,
}

impl<'v> PlaneClear<'v> {
    /// Returns the clears of the planes that contain `aspects`.
    pub(crate) fn of_view(
        view: &'v SurfaceView,
        aspects: vk::ImageAspectFlags,
        layer: u32,
        value: ClearValue,
    ) -> impl Iterator<Item = Self> {
        let info = format::info(view.desc.format).into_iter();
        let planes = info.flat_map(move |info| info.planes_of(aspects).map(move |plane| (info, plane)));
        planes.filter_map(move |(info, plane)| {
            let texel = texel(info, plane.aspect, value);
            let texels = texel[..plane.bytes as usize].repeat(COPIES);
            Some(Self { aspect: plane.aspect, plane: view.plane(plane.aspect, 0, layer)?, texels })
        })
    }

    /// Returns the aspect, or the aspects that share the plane's words.
    pub(crate) fn aspect(&self) -> vk::ImageAspectFlags {
        self.aspect
    }

    /// Returns the plane.
    pub(crate) fn plane(&self) -> &PlaneRef<'v> {
        &self.plane
    }

    /// Records that the plane is cleared in the whole surface, see [`Surface::note_clear`].
    pub(crate) fn note(&self, in_use: &InUse<'_>, surface: &Surface) -> bool {
        surface.note_clear(in_use, self.aspect, &self.texels)
    }

    /// Records that lines of the plane are cleared, see [`Surface::note_cleared_lines`].
    pub(crate) fn note_lines(
        &self,
        in_use: &InUse<'_>,
        surface: &Surface,
        rows: impl Iterator<Item = (u32, Range<u32>)>,
    ) -> bool {
        surface.note_cleared_lines(in_use, self.aspect, &self.texels, rows)
    }

    /// Clears the texels of a rectangle `[x0, y0, x1, y1]`; `x1` and `y1` are exclusive.
    pub(crate) fn clear(&self, area: [i64; 4]) {
        let area = area.map(|bound| bound.clamp(0, u32::MAX.into()) as u32);
        clear_plane(&self.plane, area, &self.texels);
    }

    /// Clears the texels of a rectangle like [`Self::clear`], on all threads.
    pub(crate) fn clear_on(&self, workers: &Workers, [x0, y0, x1, y1]: [i64; 4]) {
        let (rows, height) = (i64::from(ROWS), self.plane.height().into());
        let (first, last) = (y0.max(0) / rows, (y1.min(height) + rows - 1) / rows);
        let clear = |(): &mut (), number: usize| {
            let start = (first + number as i64) * rows;
            self.clear([x0, start.max(y0), x1, (start + rows).min(y1)]);
        };
        workers.parallel((last - first).max(0) as usize, || (), clear);
    }
}
