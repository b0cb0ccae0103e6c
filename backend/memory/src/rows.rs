//! Row-by-row access to texels of planes that store lines of 8x8 texels, for buffer copies and
//! blits.

use super::near::{Reading, Writing};
use super::plane::{PlaneRef, TexelSample};

/// Width and height of a line, in texels.
const SIDE: u32 = 8;

/// Bytes of one sample of a line with the largest texels (16 bytes).
const MAX_LINE_BYTES: usize = (SIDE * SIDE) as usize * 16;

/// Copies the texels of one line into rows. The last parameter is the distance between rows in
/// bytes.
type FromLine = fn(&[u8], &mut [u8], usize);

/// Copies texels from rows into one line. The last parameter is the distance between rows in
/// bytes.
type ToLine = fn(&mut [u8], &[u8], usize);

/// Returns the byte offset, in rows, of the upper two texels of a quad of a line. The lower two
/// texels lie one row further.
#[inline]
fn quad_offset<const TEXEL: usize>(quad: usize, pitch: usize) -> usize {
    quad / 4 * 2 * pitch + quad % 4 * 2 * TEXEL
}

fn from_line<const TEXEL: usize>(line: &[u8], rows: &mut [u8], pitch: usize) {
    for (number, quad) in line.chunks_exact(4 * TEXEL).enumerate() {
        let (at, (upper, lower)) = (quad_offset::<TEXEL>(number, pitch), quad.split_at(2 * TEXEL));
        rows[at..at + 2 * TEXEL].copy_from_slice(upper);
        rows[at + pitch..at + pitch + 2 * TEXEL].copy_from_slice(lower);
    }
}

fn to_line<const TEXEL: usize>(line: &mut [u8], rows: &[u8], pitch: usize) {
    for (number, quad) in line.chunks_exact_mut(4 * TEXEL).enumerate() {
        let (at, (upper, lower)) = (quad_offset::<TEXEL>(number, pitch), quad.split_at_mut(2 * TEXEL));
        upper.copy_from_slice(&rows[at..at + 2 * TEXEL]);
        lower.copy_from_slice(&rows[at + pitch..at + pitch + 2 * TEXEL]);
    }
}

/// Returns the copy functions for texels of `bytes` bytes, or `None` for sizes that are copied run
/// by run.
fn movers(bytes: usize) -> Option<(FromLine, ToLine)> {
    match bytes {
        1 => Some((from_line::<1>, to_line::<1>)),
        2 => Some((from_line::<2>, to_line::<2>)),
        4 => Some((from_line::<4>, to_line::<4>)),
        8 => Some((from_line::<8>, to_line::<8>)),
        16 => Some((from_line::<16>, to_line::<16>)),
        _ => None,
    }
}

/// Part of a rectangle of texels that is copied at once.
#[derive(Clone, Copy)]
enum Piece {
    /// Whole line of 8x8 texels.
    Line,
    /// Run of texels in a row, with its length in texels.
    Run(u32),
}

impl PlaneRef<'_> {
    /// Reads a sample of the rectangle `[x0, y0, x1, y1]` of texels, `x1` and `y1` exclusive, row
    /// by row. `out` must have room for the whole rectangle.
    pub fn read_rows(&self, rect: [u32; 4], sample: u32, out: &mut [u8]) {
        self.read_rows_by(rect, sample, out, |address, out| self.memory.read(address, out));
    }

    /// Reads a sample of a rectangle like [`Self::read_rows`], by a function that reads the
    /// plane's memory at an address.
    fn read_rows_by(&self, rect: [u32; 4], sample: u32, out: &mut [u8], mut read: impl FnMut(u64, &mut [u8])) {
        let (pitch, mover) = (self.pitch_of(rect), movers(self.bytes()));
        let mut line = [0; MAX_LINE_BYTES];
        self.each_piece(rect, |[x, y], at, piece| match (piece, mover) {
            (Piece::Line, Some((from_line, _))) => {
                let line = &mut line[..self.bytes() * (SIDE * SIDE) as usize];
                self.read_line_by(TexelSample { x, y, sample }, line, &mut read);
                from_line(line, &mut out[at..], pitch);
            }
            (Piece::Line, None) => {}
            (Piece::Run(count), _) => {
                let out = &mut out[at..at + count as usize * self.bytes()];
                self.read_run_by(TexelSample { x, y, sample }, out, &mut read);
            }
        });
    }

    /// Writes a sample of the rectangle `[x0, y0, x1, y1]` of texels, `x1` and `y1` exclusive,
    /// from rows in `data`.
    pub fn write_rows(&self, rect: [u32; 4], sample: u32, data: &[u8]) {
        self.write_pieces(rect, data, |[x, y], piece, texels| match piece {
            Piece::Line => self.write_line(TexelSample { x, y, sample }, texels),
            Piece::Run(_) => self.write_run(x, y, sample, texels),
        });
    }

    /// Splits rows of texels into pieces. `write` receives the first texel of a piece, and its
    /// texels in the order of memory.
    fn write_pieces(&self, rect: [u32; 4], data: &[u8], mut write: impl FnMut([u32; 2], Piece, &[u8])) {
        let (pitch, mover) = (self.pitch_of(rect), movers(self.bytes()));
        let mut line = [0; MAX_LINE_BYTES];
        self.each_piece(rect, |first, at, piece| match (piece, mover) {
            (Piece::Line, Some((_, to_line))) => {
                let line = &mut line[..self.bytes() * (SIDE * SIDE) as usize];
                to_line(line, &data[at..], pitch);
                write(first, piece, line);
            }
            (Piece::Line, None) => {}
            (Piece::Run(count), _) => write(first, piece, &data[at..at + count as usize * self.bytes()]),
        });
    }

    /// Returns the number of consecutive whole lines from a texel on within `size` columns and
    /// rows. Returns 0 if another plane shares the words of this plane.
    pub fn whole_lines(&self, x: u32, y: u32, size: [u32; 2]) -> u32 {
        if self.is_shared() { 0 } else { self.lines(x, y, size) }
    }

    /// Returns the number of consecutive whole lines from a texel on within the given columns and
    /// rows. Another plane may share the words of the lines.
    fn lines(&self, x: u32, y: u32, [columns, rows]: [u32; 2]) -> u32 {
        if rows < SIDE || !self.is_line_at(x, y) {
            return 0;
        }
        (columns / SIDE).min((self.width() - x) / SIDE)
    }

    /// Returns the bytes of a row of a rectangle.
    fn pitch_of(&self, [x0, _, x1, _]: [u32; 4]) -> usize {
        (x1 - x0) as usize * self.bytes()
    }

    /// Splits a rectangle into pieces. `each` receives the first texel of a piece, and its byte
    /// offset in row-by-row order.
    fn each_piece(&self, rect @ [x0, y0, x1, y1]: [u32; 4], mut each: impl FnMut([u32; 2], usize, Piece)) {
        let (pitch, has_lines) = (self.pitch_of(rect), movers(self.bytes()).is_some());
        let mut top = y0;
        while top < y1 {
            let bottom = ((top | (SIDE - 1)) + 1).min(y1);
            let mut x = x0;
            while x < x1 {
                let at = |y: u32| (y - y0) as usize * pitch + (x - x0) as usize * self.bytes();
                if has_lines && self.lines(x, top, [x1 - x, bottom - top]) > 0 {
                    each([x, top], at(top), Piece::Line);
                    x += SIDE;
                    continue;
                }
                let count = self.run(x).min(x1 - x).max(1);
                (top..bottom).for_each(|y| each([x, y], at(y), Piece::Run(count)));
                x += count;
            }
            top = bottom;
        }
    }
}

impl Reading<'_> {
    /// Reads a rectangle of texels of a plane of the image, as [`PlaneRef::read_rows`] does.
    pub fn read_rows(&mut self, plane: &PlaneRef<'_>, rect: [u32; 4], sample: u32, out: &mut [u8]) {
        plane.read_rows_by(rect, sample, out, |address, out| self.read(address, out));
    }
}

impl Writing<'_> {
    /// Writes a rectangle of texels of a plane of the image, as [`PlaneRef::write_rows`] does. The
    /// plane must not share words with another plane.
    pub fn write_rows(&self, plane: &PlaneRef<'_>, rect: [u32; 4], sample: u32, data: &[u8]) {
        plane.write_pieces(rect, data, |[x, y], piece, texels| match piece {
            Piece::Line => self.write(plane.address(x, y, sample), texels),
            Piece::Run(_) => {
                for (address, part) in plane.contiguous_parts(TexelSample { x, y, sample }, texels.len()) {
                    self.write(address, &texels[part]);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ash::vk;
    use proptest::prelude::*;

    use super::super::{Allocation, Heap, Surface, SurfaceDesc};
    use vitric_format::DEPTH_STENCIL;

    /// Formats with the aspects to write. Depth of 24 bits and stencil of 8 bits share words.
    fn aspects() -> impl Strategy<Value = (vk::Format, vk::ImageAspectFlags)> {
        let color = [
            vk::Format::R8_UNORM,
            vk::Format::R8G8B8_UNORM,
            vk::Format::R16_UNORM,
            vk::Format::R32_UINT,
            vk::Format::R16G16B16A16_UINT,
            vk::Format::R32G32B32_UINT,
            vk::Format::R32G32B32A32_UINT,
        ];
        let color = color.map(|format| (format, vk::ImageAspectFlags::COLOR));
        let packed = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL, DEPTH_STENCIL];
        let packed = packed.map(|aspects| (vk::Format::D24_UNORM_S8_UINT, aspects));
        prop::sample::select([&color[..], &packed].concat())
    }

    fn surface(format: vk::Format, linear: bool) -> Arc<Surface> {
        let extent = vk::Extent3D { width: 37, height: 29, depth: 1 };
        let kind = vk::ImageType::TYPE_2D;
        let desc = SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples: 2, linear, decoded: false };
        let surface = Surface::new(desc).unwrap();
        assert!(surface.bind(Allocation::new(&Heap::new(1 << 24), surface.layout().size()).unwrap(), 0));
        surface
    }

    proptest! {
        #[test]
        fn rows_are_texels(
            (x0, x1) in (0u32..37).prop_flat_map(|x0| (Just(x0), x0 + 1..38)),
            (y0, y1) in (0u32..29).prop_flat_map(|y0| (Just(y0), y0 + 1..30)),
            (format, aspects) in aspects(), linear in any::<bool>(), seed in any::<u8>(),
        ) {
            let surface = surface(format, linear);
            let plane = surface.plane(aspects, 0, 0).unwrap();
            let bytes = plane.bytes();
            let count = ((x1 - x0) * (y1 - y0)) as usize * bytes;
            let mut data: Vec<u8> = (0..count).map(|index| (index * 7 % 251) as u8 ^ seed).collect();
            plane.clear_other_bits(&mut data);
            plane.write_rows([x0, y0, x1, y1], 1, &data);
            for (number, texel) in data.chunks(bytes).enumerate() {
                let (x, y) = (x0 + number as u32 % (x1 - x0), y0 + number as u32 / (x1 - x0));
                let mut held = vec![0; bytes];
                plane.read(x, y, 1, &mut held);
                prop_assert_eq!(&held, texel);
            }
            let mut back = vec![0; count];
            plane.read_rows([x0, y0, x1, y1], 1, &mut back);
            prop_assert_eq!(back, data);
            // The write must not change texels outside of the rectangle.
            let mut all = vec![0; 37 * 29 * bytes];
            plane.read_rows([0, 0, 37, 29], 1, &mut all);
            for (number, texel) in all.chunks(bytes).enumerate() {
                let (x, y) = (number as u32 % 37, number as u32 / 37);
                let inside = (x0..x1).contains(&x) && (y0..y1).contains(&y);
                prop_assert!(inside || texel.iter().all(|byte| *byte == 0));
            }
            // The write must not change another aspect.
            for other in [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL] {
                let Some(plane) = surface.plane(other, 0, 0).filter(|_| !aspects.contains(other)) else { continue };
                let mut all = vec![0; 37 * 29 * plane.bytes()];
                plane.read_rows([0, 0, 37, 29], 1, &mut all);
                prop_assert!(all.iter().all(|byte| *byte == 0));
            }
        }
    }
}
