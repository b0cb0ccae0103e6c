//! Resolves of multisampled colour to one sample: the average, or sample 0 of integer formats.

use ash::vk;
use smallvec::SmallVec;
use vitric_base::simd::{Lanes, WAVE, kernel};
use vitric_base::workers::Workers;
use vitric_format as format;
use vitric_format::{Class, FormatInfo, Texel, WHOLE, srgb};
use vitric_memory::{PlaneRef, Surface, SurfaceView};

use super::resolve_depth::{ResolveModes, resolve_depth_region};
use super::{PlaneOrigin, slices};

/// Returns the format whose texels are the encoded values of an sRGB format. Other formats are
/// unchanged.
fn encoded(info: &'static FormatInfo) -> &'static FormatInfo {
    let is_encoded = |other: &&FormatInfo| {
        other.class == Class::Unorm && other.bytes == info.bytes && other.channels == info.channels
    };
    let is_plain = |other: &&FormatInfo| other.compression.is_none() && !other.is_planar();
    let found = || format::all().find(|other| is_encoded(other) && is_plain(other));
    if info.class == Class::Srgb { found().unwrap_or(info) } else { info }
}

/// Resolves regions of images on all threads. Integer colours are those of sample 0, and other
/// colours are averages.
pub(crate) fn resolve(
    workers: &Workers,
    (source, target): (&Surface, &Surface),
    regions: &[vk::ImageResolve],
    modes: ResolveModes,
) {
    let (Some(from_info), Some(to_info)) = (format::info(source.desc().format), format::info(target.desc().format))
    else {
        return;
    };
    let by_encoding = |info| if modes.skips_transfer { encoded(info) } else { info };
    let (from_info, to_info) = (by_encoding(from_info), by_encoding(to_info));
    for region in regions {
        if from_info.is_depth_stencil() {
            resolve_depth_region((source, target), from_info.depth_bits, region, modes);
            continue;
        }
        let (from_part, to_part) = (region.src_subresource, region.dst_subresource);
        let origin = |offset: vk::Offset3D| [offset.x, offset.y].map(|texels| texels.max(0) as u32);
        let origins = [origin(region.src_offset), origin(region.dst_offset)];
        let (first, count) = slices(target, to_part, region.dst_offset, region.extent.depth);
        for layer in 0..from_part.layer_count.min(count) {
            let color = vk::ImageAspectFlags::COLOR;
            let from = source.plane(color, from_part.mip_level, from_part.base_array_layer.saturating_add(layer));
            let to = target.plane(color, to_part.mip_level, first.saturating_add(layer));
            let (Some(from), Some(to)) = (from, to) else { break };
            let size = [region.extent.width, region.extent.height];
            resolve_plane(workers, ((&from, from_info), (&to, to_info)), origins, size);
        }
    }
}

/// Part of a view that is resolved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResolveArea {
    /// Layer.
    pub layer: u32,
    /// Rectangle in texels.
    pub area: vk::Rect2D,
    /// True if sRGB samples are averaged as they are encoded.
    pub skips_transfer: bool,
}

/// Resolves a rectangle of one layer of a view on all threads.
pub(crate) fn resolve_view(workers: &Workers, (source, target): (&SurfaceView, &SurfaceView), part: ResolveArea) {
    let ResolveArea { layer, area, skips_transfer } = part;
    let (Some(from_info), Some(to_info)) = (format::info(source.desc.format), format::info(target.desc.format)) else {
        return;
    };
    let by_encoding = |info| if skips_transfer { encoded(info) } else { info };
    let (from_info, to_info) = (by_encoding(from_info), by_encoding(to_info));
    let from = source.plane(vk::ImageAspectFlags::COLOR, 0, layer);
    let to = target.plane(vk::ImageAspectFlags::COLOR, 0, layer);
    let (Some(from), Some(to)) = (from, to) else { return };
    let origin = [area.offset.x.max(0) as u32, area.offset.y.max(0) as u32];
    let size = [area.extent.width, area.extent.height];
    resolve_plane(workers, ((&from, from_info), (&to, to_info)), [origin; 2], size);
}

type Side<'a> = (&'a PlaneRef<'a>, &'static FormatInfo);

/// Resolves `size` texels, starting at the origin of each side. Texels outside either side are
/// dropped.
fn resolve_plane(
    workers: &Workers,
    ((from, from_info), (to, to_info)): (Side<'_>, Side<'_>),
    [[fx, fy], [tx, ty]]: [[u32; 2]; 2],
    size: [u32; 2],
) {
    let left = |limit: u32, origin: u32| limit.saturating_sub(origin);
    let width = size[0].min(left(from.width(), fx)).min(left(to.width(), tx));
    let height = size[1].min(left(from.height(), fy)).min(left(to.height(), ty));
    let (right, end, first) = (tx + width, ty + height, ty / ROWS);
    let strip = strips(from_info).filter(|_| from_info.format == to_info.format);
    workers.parallel(
        end.div_ceil(ROWS).saturating_sub(first) as usize,
        || (),
        |(), index| {
            let top = (first + index as u32) * ROWS;
            let (top, bottom) = (top.max(ty), (top + ROWS).min(end));
            let source = |x: u32, y: u32| [x - tx + fx, y - ty + fy];
            let is_line = |x: u32| {
                let [from_x, from_y] = source(x, top);
                x + ROWS <= right && top + ROWS == bottom && from.has_line(from_x, from_y) && to.has_line(x, top)
            };
            let mut x = tx;
            while x < right {
                if let Some(average) = strip.filter(|_| is_line(x)) {
                    let rows = (top..bottom).step_by(2);
                    rows.for_each(|y| {
                        let from = PlaneOrigin { plane: from, origin: source(x, y) };
                        resolve_strip(from, PlaneOrigin { plane: to, origin: [x, y] }, average);
                    });
                    x += ROWS;
                    continue;
                }
                (top..bottom).for_each(|y| store(to, to_info, [x, y], average(from, from_info, source(x, y))));
                x += 1;
            }
        },
    );
}

/// Copies the single sample of each texel in a rectangle of `source` to all samples of `target`,
/// for one layer, on all threads.
pub(crate) fn replicate(
    workers: &Workers,
    (source, target): (&SurfaceView, &SurfaceView),
    layer: u32,
    area: vk::Rect2D,
) {
    let Some(info) = format::info(source.desc.format) else { return };
    for aspect in info.planes().map(|plane| plane.aspect) {
        let (from, to) = (source.plane(aspect, 0, layer), target.plane(aspect, 0, layer));
        let (Some(from), Some(to)) = (from, to) else { continue };
        let (x0, y0) = (area.offset.x.max(0) as u32, area.offset.y.max(0) as u32);
        let (x1, y1) = (x0.saturating_add(area.extent.width), y0.saturating_add(area.extent.height));
        let (x1, y1) = (x1.min(to.width()), y1.min(to.height()));
        let row = |y: u32| {
            let mut x = x0;
            while x < x1 {
                let count = from.run(x).min(to.run(x)).min(x1 - x).min(ROWS);
                let mut bytes = [0; ROWS as usize * 16];
                let texels = &mut bytes[..count as usize * from.bytes()];
                from.read_run(x, y, 0, texels);
                (0..to.samples()).for_each(|sample| to.write_run(x, y, sample, texels));
                x += count;
            }
        };
        let first = y0 / ROWS;
        let count = y1.div_ceil(ROWS).saturating_sub(first) as usize;
        let rows = |number: usize| {
            let top = (first + number as u32) * ROWS;
            top.max(y0)..(top + ROWS).min(y1)
        };
        workers.parallel(count, || (), |(), number| rows(number).for_each(row));
    }
}

/// Number of rows and columns of a line of texels.
const ROWS: u32 = 8;

/// Returns true if texels are four 8-bit fixed-point channels. Their averages are rounded as
/// integers, halves upwards.
fn is_bytes(info: &FormatInfo) -> bool {
    info.class == Class::Unorm && info.bytes == 4 && info.channels.iter().all(|channel| channel.bits == 8)
}

/// Sums of bytes 0 and 2 of words, and of bytes 1 and 3.
#[derive(Clone, Copy, Default)]
struct Sums([u32; 2]);

impl Sums {
    fn add(&mut self, word: u32) {
        self.0[0] += word & 0x00ff_00ff;
        self.0[1] += word >> 8 & 0x00ff_00ff;
    }

    /// Returns the averages of `count` words; `count` must be a power of two.
    fn average(self, count: u32) -> u32 {
        let half = (count / 2) * 0x0001_0001;
        let [even, odd] = self.0.map(|sum| (sum + half) >> count.trailing_zeros() & 0x00ff_00ff);
        even | odd << 8
    }
}

/// A function that computes the words of sixteen resolved texels from the words of their samples.
type Average = fn(&[Lanes], &mut Lanes);

/// Returns the averaging function of a format with four 8-bit channels; `None` for other formats.
fn strips(info: &FormatInfo) -> Option<Average> {
    let alpha_is_highest = info.channels.iter().all(|channel| channel.component != 3 || channel.offset == 24);
    let is_srgb = info.class == Class::Srgb && info.bytes == 4 && alpha_is_highest;
    match is_bytes(info) {
        true => Some(average_bytes),
        false => is_srgb.then_some(average_srgb as Average),
    }
}

fn average_bytes(samples: &[Lanes], words: &mut Lanes) {
    let mut sums = [Sums::default(); WAVE];
    for sample in samples {
        sums.iter_mut().zip(sample).for_each(|(sums, &word)| sums.add(word));
    }
    *words = sums.map(|sums| sums.average(samples.len() as u32));
}

#[inline(always)]
fn average_srgb_lanes(samples: &[Lanes], words: &mut Lanes) {
    // The number of samples is a power of two, so the division is exact.
    let share = 1.0 / samples.len() as f32;
    *words = [0; WAVE];
    for channel in 0..4 {
        let (shift, is_linear) = (channel * 8, channel == 3);
        let mut sums = [0.0; WAVE];
        for sample in samples {
            for lane in 0..WAVE {
                let code = sample[lane] >> shift & 255;
                sums[lane] += if is_linear { code as f32 / 255.0 } else { srgb::decode(code) };
            }
        }
        for lane in 0..WAVE {
            let value = sums[lane] * share;
            let code = if is_linear { value.mul_add(255.0, WHOLE).to_bits() & 255 } else { srgb::encode(value) };
            words[lane] |= code << shift;
        }
    }
}

kernel!(
    /// Averages sixteen sRGB texels as linear values. Alpha is the highest byte.
    average_srgb, average_srgb_lanes, (samples: &[Lanes], words: &mut Lanes)
);

/// Resolves two rows of a line.
fn resolve_strip(
    PlaneOrigin { plane: from, origin: [from_x, from_y] }: PlaneOrigin<'_>,
    PlaneOrigin { plane: to, origin: [x, y] }: PlaneOrigin<'_>,
    average: Average,
) {
    let samples = (0..from.samples()).map(|sample| from.read_strip(from_x, from_y, sample));
    let (samples, mut words): (SmallVec<[Lanes; 4]>, _) = (samples.collect(), [0; WAVE]);
    average(&samples, &mut words);
    to.write_strip(x, y, 0, &words);
}

fn average(plane: &PlaneRef<'_>, info: &FormatInfo, [x, y]: [u32; 2]) -> Texel {
    let texel = |sample: u32| {
        let mut bytes = [0; 16];
        plane.read(x, y, sample, &mut bytes[..info.bytes as usize]);
        format::decode(info, &bytes)
    };
    if info.class.is_integer() {
        return texel(0);
    }
    if is_bytes(info) {
        let mut sums = Sums::default();
        (0..plane.samples()).for_each(|sample| sums.add(plane.read_word(x, y, sample)));
        return format::decode(info, &sums.average(plane.samples()).to_le_bytes());
    }
    let mut sum = [0.0f32; 4];
    for sample in 0..plane.samples() {
        for (sum, word) in sum.iter_mut().zip(texel(sample)) {
            *sum += f32::from_bits(word);
        }
    }
    sum.map(|sum| (sum / plane.samples() as f32).to_bits())
}

fn store(plane: &PlaneRef<'_>, info: &FormatInfo, [x, y]: [u32; 2], texel: Texel) {
    let mut bytes = [0; 16];
    format::encode(info, texel, &mut bytes);
    plane.write(x, y, 0, &bytes[..info.bytes as usize]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that averaging sixteen texels at once gives the results of separate texels.
        #[test]
        fn strips_are_texels(samples_log2 in 0u32..5, words in prop::collection::vec(any::<Lanes>(), 16)) {
            let samples = &words[..1 << samples_log2];
            for format in [vk::Format::R8G8B8A8_SRGB, vk::Format::B8G8R8A8_SRGB, vk::Format::A8B8G8R8_SRGB_PACK32] {
                let info = format::info(format).unwrap();
                let mut found = [0; WAVE];
                strips(info).unwrap()(samples, &mut found);
                for lane in 0..WAVE {
                    let mut sum = [0.0f32; 4];
                    for sample in samples {
                        let mut bytes = [0; 16];
                        bytes[..4].copy_from_slice(&sample[lane].to_le_bytes());
                        let texel = format::decode(info, &bytes);
                        sum.iter_mut().zip(texel).for_each(|(sum, word)| *sum += f32::from_bits(word));
                    }
                    let mut bytes = [0; 16];
                    format::encode(info, sum.map(|sum| (sum / samples.len() as f32).to_bits()), &mut bytes);
                    prop_assert_eq!(&found[lane].to_le_bytes(), &bytes[..4]);
                }
            }
        }
    }
}
