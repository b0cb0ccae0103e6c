//! Where the texels of a surface lie.
//!
//! Optimal tiling stores *lines*: 8x8 texels (1D: 64x1) of one plane, sample after sample. Inside a line, 2x2 quads follow each
//! other row by row, in the order of a wave's lanes (0,0) (1,0) (0,1) (1,1): two rows of a line are one fragment wave. Lines of
//! a slice follow each other row by row, and a 32-bit single-sampled line is 256 bytes (DESIGN 2). Linear tiling
//! stores rows. The order above that is plane, layer, level, slice. Compressed formats count blocks instead of texels. Depth of 24 bits
//! and stencil share the words of one plane; writes of one aspect keep the bits of the other.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;

use super::{Allocation, SurfaceDesc};
use crate::format;

/// Alignment of surfaces in memory, bytes.
pub const SURFACE_ALIGNMENT: u64 = 256;

/// Size in texels of `level`; at least 1 each.
pub fn level_extent(extent: vk::Extent3D, level: u32) -> vk::Extent3D {
    let scaled = |texels: u32| texels.checked_shr(level).unwrap_or(0).max(1);
    vk::Extent3D { width: scaled(extent.width), height: scaled(extent.height), depth: scaled(extent.depth) }
}

/// What `vkGetImageSubresourceLayout` reports, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubresourceLayout {
    /// From the start of the surface.
    pub offset: u64,
    /// All of the subresource.
    pub size: u64,
    /// Row to row.
    pub row_pitch: u64,
    /// Layer to layer.
    pub array_pitch: u64,
    /// Slice to slice.
    pub depth_pitch: u64,
}

#[derive(Debug, Clone, Copy)]
struct LevelLayout {
    offset: u64,
    slice_bytes: u64,
    row_bytes: u64,
    /// Texels or blocks.
    width: u32,
    height: u32,
    depth: u32,
}

#[derive(Debug, Clone)]
struct PlaneLayout {
    /// Its aspect, or both aspects that share its words.
    aspects: vk::ImageAspectFlags,
    /// Bytes of a texel or block.
    stride: u32,
    offset: u64,
    layer_bytes: u64,
    levels: SmallVec<[LevelLayout; 1]>,
}

/// The layout of a surface.
#[derive(Debug, Clone)]
pub struct SurfaceLayout {
    planes: SmallVec<[PlaneLayout; 1]>,
    size: u64,
    layers: u32,
    volume: bool,
    grid: Grid,
}

/// How texels of a slice are grouped: lines of `1 << width_log2` by `1 << height_log2` texels with all samples, or rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Grid {
    width_log2: u32,
    height_log2: u32,
    samples: u32,
}

impl Grid {
    fn new(desc: &SurfaceDesc) -> Self {
        let (width_log2, height_log2) = match (desc.linear, desc.kind) {
            (true, _) => (0, 0),
            (false, vk::ImageType::TYPE_1D) => (6, 0),
            (false, _) => (3, 3),
        };
        Self { width_log2, height_log2, samples: desc.samples }
    }

    /// Number of a texel in its line.
    #[inline]
    fn place(self, x: u32, y: u32) -> u32 {
        let (in_x, in_y) = (x & ((1 << self.width_log2) - 1), y & ((1 << self.height_log2) - 1));
        match self.height_log2 {
            0 => in_x,
            _ => (in_y >> 1) << (self.width_log2 + 1) | (in_x >> 1) << 2 | (in_y & 1) << 1 | in_x & 1,
        }
    }

    /// Whether lines are made of quads.
    fn has_quads(self) -> bool {
        self.height_log2 > 0
    }

    fn line_bytes(self, bytes: u32) -> u64 {
        (u64::from(bytes) * u64::from(self.samples)) << (self.width_log2 + self.height_log2)
    }
}

impl SurfaceLayout {
    /// Lays a surface out; `None` when its format is not supported or sizes overflow.
    pub fn new(desc: &SurfaceDesc) -> Option<Self> {
        let info = format::info(desc.format)?;
        let grid = Grid::new(desc);
        let mut size = 0u64;
        let mut planes = SmallVec::new();
        for plane in info.planes_of(info.aspects()) {
            let mut layer_bytes = 0u64;
            let mut levels = SmallVec::new();
            for level in 0..desc.levels {
                let layout = level_layout((desc, grid), &plane, level, layer_bytes)?;
                layer_bytes = layer_bytes.checked_add(layout.slice_bytes.checked_mul(u64::from(layout.depth))?)?;
                layer_bytes = layer_bytes.checked_next_multiple_of(SURFACE_ALIGNMENT)?;
                levels.push(layout);
            }
            let (aspects, stride) = (plane.aspect, plane.stride);
            planes.push(PlaneLayout { aspects, stride, offset: size, layer_bytes, levels });
            size = size.checked_add(layer_bytes.checked_mul(u64::from(desc.layers))?)?;
        }
        let volume = desc.kind == vk::ImageType::TYPE_3D;
        Some(Self { planes, size, layers: desc.layers, volume, grid })
    }

    /// The bytes of each plane, from the start of the surface; of depth and stencil together where these share words.
    pub fn planes(&self) -> impl Iterator<Item = (vk::ImageAspectFlags, Range<u64>)> {
        let bytes = |plane: &PlaneLayout| plane.offset..plane.offset + plane.layer_bytes * u64::from(self.layers);
        self.planes.iter().map(move |plane| (plane.aspects, bytes(plane)))
    }

    /// Bytes of the whole surface.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The layout of one subresource, as the host sees linear surfaces; `None` when there is no such subresource. Of an aspect that shares
    /// words with another it is the layout of the words.
    pub fn subresource(&self, aspect: vk::ImageAspectFlags, level: u32, layer: u32) -> Option<SubresourceLayout> {
        let plane = self.planes.iter().find(|plane| aspect.intersects(plane.aspects))?;
        let layout = plane.levels.get(level as usize)?;
        Some(SubresourceLayout {
            offset: plane.offset + u64::from(layer) * plane.layer_bytes + layout.offset,
            size: layout.slice_bytes * u64::from(layout.depth),
            row_pitch: layout.row_bytes,
            array_pitch: plane.layer_bytes,
            depth_pitch: layout.slice_bytes,
        })
    }

    /// Whether texels lie in lines of 8x8.
    pub fn is_in_lines(&self) -> bool {
        self.grid.has_quads()
    }

    pub(super) fn part(&self, aspect: vk::ImageAspectFlags, level: u32, slice: u32) -> Option<Part> {
        let plane = self.planes.iter().find(|plane| plane.aspects.contains(aspect))?;
        let layout = plane.levels.get(level as usize)?;
        let (layer, z) = if self.volume { (0, slice) } else { (slice, 0) };
        if layer >= self.layers || z >= layout.depth {
            return None;
        }
        let offset =
            plane.offset + u64::from(layer) * plane.layer_bytes + layout.offset + u64::from(z) * layout.slice_bytes;
        let (share, line_bytes) = (Share::of(aspect, plane.aspects), self.grid.line_bytes(plane.stride));
        Some(Part {
            offset,
            row_bytes: layout.row_bytes,
            line_bytes,
            stride: plane.stride,
            share,
            width: layout.width,
            height: layout.height,
            grid: self.grid,
        })
    }
}

fn level_layout(
    (desc, grid): (&SurfaceDesc, Grid),
    &format::Plane { stride, block, .. }: &format::Plane,
    level: u32,
    offset: u64,
) -> Option<LevelLayout> {
    let extent = level_extent(desc.extent, level);
    let (width, height) = (extent.width.div_ceil(block[0]), extent.height.div_ceil(block[1]));
    let lines_across = u64::from(width.div_ceil(1 << grid.width_log2));
    let lines_down = u64::from(height.div_ceil(1 << grid.height_log2));
    let row_bytes = lines_across.checked_mul(grid.line_bytes(stride))?;
    let slice_bytes = row_bytes.checked_mul(lines_down)?;
    Some(LevelLayout { offset, slice_bytes, row_bytes, width, height, depth: extent.depth })
}

/// Bits of its words that a plane has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// All.
    Whole,
    /// The low 24 bits: depth beside stencil.
    Depth,
    /// The high byte: stencil beside depth.
    Stencil,
}

impl Share {
    /// The share of an aspect in words of `aspects`.
    fn of(aspect: vk::ImageAspectFlags, aspects: vk::ImageAspectFlags) -> Self {
        match aspect {
            _ if aspect == aspects => Self::Whole,
            vk::ImageAspectFlags::STENCIL => Self::Stencil,
            _ => Self::Depth,
        }
    }

    /// The bits of a word, for a plane that shares them.
    const fn mask(self) -> u32 {
        match self {
            Self::Whole => !0,
            Self::Depth => 0x00ff_ffff,
            Self::Stencil => 0xff00_0000,
        }
    }

    /// Number of the lowest bit.
    const fn shift(self) -> u32 {
        self.mask().trailing_zeros()
    }

    /// Bytes that a texel of `bytes` bytes has to be written.
    fn written(self, bytes: usize) -> usize {
        if matches!(self, Self::Depth) { bytes.min(3) } else { bytes }
    }
}

/// One slice of one level of one plane, without its memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) offset: u64,
    row_bytes: u64,
    line_bytes: u64,
    /// Bytes from a texel or block to the next.
    stride: u32,
    share: Share,
    width: u32,
    height: u32,
    grid: Grid,
}

impl Part {
    /// Bytes of a texel or block, as copies move them.
    pub(super) fn texel_bytes(&self) -> usize {
        if self.share == Share::Stencil { 1 } else { self.stride as usize }
    }
}

/// One slice of one level of one plane of a bound surface: texels by position.
#[derive(Debug, Clone, Copy)]
pub struct PlaneRef<'a> {
    pub(super) memory: &'a Arc<Allocation>,
    pub(super) base: u64,
    pub(super) part: Part,
}

impl<'a> PlaneRef<'a> {
    /// The memory that it lies in.
    pub fn memory(&self) -> &'a Arc<Allocation> {
        self.memory
    }

    /// Width in texels or blocks.
    pub fn width(&self) -> u32 {
        self.part.width
    }

    /// Height in texels or blocks.
    pub fn height(&self) -> u32 {
        self.part.height
    }

    /// Bytes per texel or block.
    pub fn bytes(&self) -> usize {
        self.part.texel_bytes()
    }

    /// Returns true if another plane has a share of its words.
    pub(super) fn is_shared(&self) -> bool {
        self.part.share != Share::Whole
    }

    /// Samples per texel.
    pub fn samples(&self) -> u32 {
        self.part.grid.samples
    }

    /// Where in its memory a texel lies. Positions outside give addresses outside or of other texels: check first.
    #[inline]
    pub fn address(&self, x: u32, y: u32, sample: u32) -> u64 {
        self.word_address(x, y, sample) + u64::from(self.part.share.shift() / 8)
    }

    /// Address of the word that a texel has a share of, or of the texel.
    #[inline]
    fn word_address(&self, x: u32, y: u32, sample: u32) -> u64 {
        let Part { grid, stride, .. } = self.part;
        let line = u64::from(y >> grid.height_log2) * self.part.row_bytes
            + u64::from(x >> grid.width_log2) * self.part.line_bytes;
        let in_line = (sample << (grid.width_log2 + grid.height_log2)) + grid.place(x, y);
        self.base + line + u64::from(in_line * stride)
    }

    /// The plane's memory, and from which byte on; `None` where 32 bits do not reach all texels.
    pub fn reach(&self) -> Option<(&'a Arc<Allocation>, u64)> {
        let last = self.address(self.part.width - 1, self.part.height - 1, self.samples() - 1) - self.base;
        (last < u64::from(u32::MAX >> 1)).then_some((self.memory, self.base))
    }

    /// Bytes from a row of lines of 8x8 texels to the next; `None` where texels do not lie in such lines, or are not of so many
    /// bytes.
    pub fn pitch(&self, bytes: usize) -> Option<u32> {
        let Grid { width_log2, height_log2, .. } = self.part.grid;
        let fits = (width_log2, height_log2, self.part.stride as usize) == (3, 3, bytes);
        if fits { u32::try_from(self.part.row_bytes).ok() } else { None }
    }

    /// Byte of a texel's sample from there on.
    #[inline]
    pub fn offset(&self, x: u32, y: u32, sample: u32) -> u32 {
        (self.address(x, y, sample) - self.base) as u32
    }

    /// Whether a texel lies in the plane.
    #[inline]
    pub fn contains(&self, x: u32, y: u32) -> bool {
        x < self.part.width && y < self.part.height
    }

    /// Reads `out.len()` bytes (at most a texel) of a texel; zeros outside.
    #[inline]
    pub fn read(&self, x: u32, y: u32, sample: u32, out: &mut [u8]) {
        if self.contains(x, y) && sample < self.samples() {
            self.memory.read(self.address(x, y, sample), out);
            self.clear_other_bits(out);
        } else {
            out.fill(0);
        }
    }

    /// Writes `data` (at most a texel) to a texel; dropped outside.
    #[inline]
    pub fn write(&self, x: u32, y: u32, sample: u32, data: &[u8]) {
        if self.contains(x, y) && sample < self.samples() {
            let written = self.part.share.written(data.len());
            self.memory.write(self.address(x, y, sample), &data[..written]);
        }
    }

    /// Clears the bits of whole texels that are of another plane.
    #[inline]
    pub(super) fn clear_other_bits(&self, texels: &mut [u8]) {
        if self.part.share == Share::Depth {
            texels.as_chunks_mut::<4>().0.iter_mut().for_each(|texel| texel[3] = 0);
        }
    }

    /// Texels of a row from `x` on that are read or written at once: to the end of the line, or of the row.
    #[inline]
    pub fn run(&self, x: u32) -> u32 {
        let left = self.part.width.saturating_sub(x);
        let grid = self.part.grid;
        let rows = grid.width_log2 == 0 && grid.samples == 1;
        if rows { left } else { left.min((1 << grid.width_log2) - (x & ((1 << grid.width_log2) - 1))) }
    }

    /// Reads whole texels from `x` on, no more than [`Self::run`] has; zeros when there are more.
    pub fn read_run(&self, x: u32, y: u32, sample: u32, out: &mut [u8]) {
        self.read_run_by((x, y, sample), out, |address, out| self.memory.read(address, out));
    }

    /// The same by somebody who reads the plane's memory from an address on.
    pub fn read_run_by(&self, (x, y, sample): (u32, u32, u32), out: &mut [u8], mut read: impl FnMut(u64, &mut [u8])) {
        if self.holds_run(x, y, sample, out.len()) {
            for (address, piece) in self.pieces((x, y, sample), out.len()) {
                read(address, &mut out[piece]);
            }
            self.clear_other_bits(out);
        } else {
            out.fill(0);
        }
    }

    /// Writes whole texels from `x` on, no more than [`Self::run`] has; dropped when there are more.
    pub fn write_run(&self, x: u32, y: u32, sample: u32, data: &[u8]) {
        if self.holds_run(x, y, sample, data.len()) {
            for (address, piece) in self.pieces((x, y, sample), data.len()) {
                let written = self.part.share.written(piece.len());
                self.memory.write(address, &data[piece][..written]);
            }
        }
    }

    /// Where the bytes of a run lie: addresses, and which bytes of the run follow each other there.
    fn pieces(&self, (x, y, sample): (u32, u32, u32), bytes: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
        let texel = self.bytes();
        let mut at = 0;
        std::iter::from_fn(move || {
            let x = x + (at / texel) as u32;
            let texels = match self.part.grid.has_quads() {
                _ if self.is_shared() => 1,
                true => 2 - (x as usize & 1),
                false => usize::MAX / texel,
            };
            let piece = at..bytes.min(at.saturating_add(texels * texel));
            at = piece.end;
            (!piece.is_empty()).then(|| (self.address(x, y, sample), piece))
        })
    }

    fn holds_run(&self, x: u32, y: u32, sample: u32, bytes: usize) -> bool {
        self.contains(x, y) && sample < self.samples() && bytes <= self.run(x) as usize * self.bytes()
    }

    /// The first four bytes (or fewer, when texels are smaller) of a texel as a word; 0 outside.
    #[inline]
    pub fn read_word(&self, x: u32, y: u32, sample: u32) -> u32 {
        let mut word = [0; 4];
        let count = self.bytes().min(4);
        self.read(x, y, sample, &mut word[..count]);
        u32::from_le_bytes(word)
    }

    /// Writes the low bytes of `word` to a texel of up to four bytes; dropped outside.
    #[inline]
    pub fn write_word(&self, x: u32, y: u32, sample: u32, word: u32) {
        let count = self.bytes().min(4);
        self.write(x, y, sample, &word.to_le_bytes()[..count]);
    }

    /// Fills the lines that lie in a rectangle `[x0, y0, x1, y1]` of texels, the last ones not included, at every sample, with `texels`, copies of
    /// one; what lies beside the image in its lines is filled, too. Returns the rectangle that was filled.
    pub fn fill_lines(&self, [x0, y0, x1, y1]: [u32; 4], texels: &[u8]) -> [u32; 4] {
        let Grid { width_log2, height_log2, .. } = self.part.grid;
        let along = |start: u32, end: u32, size: u32, log2: u32| {
            let (first, end) = (start.div_ceil(1 << log2), end.min(size));
            (first, if end == size { end.div_ceil(1 << log2) } else { end >> log2 })
        };
        let (left, right) = along(x0, x1, self.part.width, width_log2);
        let (top, bottom) = along(y0, y1, self.part.height, height_log2);
        if left >= right || top >= bottom || !texels.len().is_multiple_of(self.bytes()) {
            return [x0, y0, x0, y0];
        }
        let line_bytes = self.part.line_bytes;
        let row = |number: u32| self.base + u64::from(number) * self.part.row_bytes;
        let whole = left == 0 && u64::from(right) * line_bytes == self.part.row_bytes;
        // Whole rows of lines follow each other.
        let spans = if whole { 1 } else { bottom - top };
        for number in top..top + spans {
            let mut at = row(number) + u64::from(left) * line_bytes;
            let end = if whole { row(bottom) } else { row(number) + u64::from(right) * line_bytes };
            while at < end {
                at += self.fill(at, end - at, texels);
            }
        }
        let [x1, y1] = [x1.min(self.part.width), y1.min(self.part.height)];
        [left << width_log2, top << height_log2, x1.min(right << width_log2), y1.min(bottom << height_log2)]
    }

    /// Fills at most `bytes` bytes of whole lines from an address on with copies of a texel. Returns how many were filled.
    fn fill(&self, address: u64, bytes: u64, texels: &[u8]) -> u64 {
        if !self.is_shared() {
            let count = bytes.min(texels.len() as u64);
            self.memory.write(address, &texels[..count as usize]);
            return count;
        }
        let (mut words, mut texel) = ([0; 64], [0; 4]);
        texel[..self.bytes()].copy_from_slice(&texels[..self.bytes()]);
        let count = bytes.min(size_of_val(&words) as u64);
        let words = &mut words[..count as usize / 4];
        self.memory.read(address, bytemuck::cast_slice_mut(words));
        words.iter_mut().for_each(|word| *word = self.merged(*word, u32::from_le_bytes(texel)));
        self.memory.write(address, bytemuck::cast_slice(words));
        count
    }

    /// A word, little-endian as it lies in memory, with the plane's share replaced by `value`.
    #[inline]
    fn merged(&self, word: u32, value: u32) -> u32 {
        let share = self.part.share;
        let (mask, value) = (share.mask(), value << share.shift());
        (u32::from_le(word) & !mask | value & mask).to_le()
    }

    /// Whether (`x`, `y`) is the first texel of a line of 8x8 texels, wholly inside.
    pub fn is_line_at(&self, x: u32, y: u32) -> bool {
        self.has_line_of(x, y, self.part.stride)
    }

    /// The same with four bytes a texel.
    pub fn has_line(&self, x: u32, y: u32) -> bool {
        self.has_line_of(x, y, 4)
    }

    /// The same with two bytes a texel.
    pub fn has_short_line(&self, x: u32, y: u32) -> bool {
        self.has_line_of(x, y, 2)
    }

    /// Whether (`x`, `y`) is the first texel of a line of 8x8 texels of a byte, wholly inside; the bytes may be shares of words.
    pub fn has_byte_line(&self, x: u32, y: u32) -> bool {
        self.bytes() == 1 && self.is_line_at(x, y)
    }

    /// Reads a sample of the line of 8x8 texels that begins at (`x`, `y`) by `read`, from an address on; `texels` is as long as the line.
    #[inline]
    pub(super) fn read_line_by(
        &self,
        (x, y, sample): (u32, u32, u32),
        texels: &mut [u8],
        mut read: impl FnMut(u64, &mut [u8]),
    ) {
        let (address, share) = (self.word_address(x, y, sample), self.part.share);
        if share != Share::Stencil {
            read(address, texels);
            return self.clear_other_bits(texels);
        }
        let mut words = [0u32; 64];
        read(address, bytemuck::bytes_of_mut(&mut words));
        texels.iter_mut().zip(words).for_each(|(texel, word)| *texel = (u32::from_le(word) >> share.shift()) as u8);
    }

    /// Writes such a line.
    #[inline]
    pub(super) fn write_line(&self, (x, y, sample): (u32, u32, u32), texels: &[u8]) {
        let address = self.word_address(x, y, sample);
        if !self.is_shared() {
            return self.memory.write(address, texels);
        }
        let mut words = [0u32; 64];
        self.memory.read(address, bytemuck::bytes_of_mut(&mut words));
        for (word, texel) in words.iter_mut().zip(texels.chunks_exact(self.bytes())) {
            let mut value = [0; 4];
            value[..texel.len()].copy_from_slice(texel);
            *word = self.merged(*word, u32::from_le_bytes(value));
        }
        self.memory.write(address, bytemuck::bytes_of(&words));
    }

    /// Reads a sample of the line of texels of a byte that begins at (`x`, `y`).
    #[inline]
    pub fn read_byte_line(&self, x: u32, y: u32, sample: u32) -> [u8; 64] {
        let mut bytes = [0; 64];
        self.read_line_by((x, y, sample), &mut bytes, |address, out| self.memory.read(address, out));
        bytes
    }

    /// Writes such a line.
    #[inline]
    pub fn write_byte_line(&self, x: u32, y: u32, sample: u32, bytes: &[u8; 64]) {
        self.write_line((x, y, sample), bytes);
    }

    /// Whether a line of texels begins there that are so many bytes apart.
    fn has_line_of(&self, x: u32, y: u32, stride: u32) -> bool {
        let Grid { width_log2, height_log2, .. } = self.part.grid;
        let aligned = x.is_multiple_of(8) && y.is_multiple_of(8) && self.contains(x + 7, y + 7);
        (width_log2, height_log2, self.part.stride) == (3, 3, stride) && aligned
    }

    /// Reads a line of texels of four bytes at its address: a group's words, two rows after two rows. Words of depth that stencil shares
    /// come with both.
    #[inline]
    pub fn read_line_at(&self, address: u64) -> [u32; 64] {
        let mut words = [0u32; 64];
        self.memory.read(address, bytemuck::bytes_of_mut(&mut words));
        words.iter_mut().for_each(|word| *word = u32::from_le(*word));
        words
    }

    /// Writes two rows of such a line at their address, with all bits of their words.
    #[inline]
    pub fn write_strip_at(&self, address: u64, words: &[u32; 16]) {
        self.memory.write(address, bytemuck::bytes_of(&words.map(u32::to_le)));
    }

    /// [`Self::read_line_at`] of texels of two bytes, as words.
    #[inline]
    pub fn read_short_line_at(&self, address: u64) -> [u32; 64] {
        let mut words = [0u16; 64];
        self.memory.read(address, bytemuck::bytes_of_mut(&mut words));
        words.map(|word| u16::from_le(word).into())
    }

    /// [`Self::write_strip_at`] of texels of two bytes, the low ones of words.
    #[inline]
    pub fn write_short_strip_at(&self, address: u64, words: &[u32; 16]) {
        self.memory.write(address, bytemuck::bytes_of(&words.map(|word| (word as u16).to_le())));
    }

    /// Reads a sample of the words of a 2x2 quad of texels of one, two or four bytes at even (`x`, `y`); 0 outside. Words of depth may come
    /// with the stencil that shares them.
    #[inline]
    pub fn read_quad(&self, x: u32, y: u32, sample: u32) -> [u32; 4] {
        if !self.has_whole_quad(x, y) || sample >= self.samples() {
            let word = |index: u32| self.read_word(x + (index & 1), y + (index >> 1), sample);
            return [0, 1, 2, 3].map(word);
        }
        let (mut bytes, address) = ([0; 16], self.address(x, y, sample));
        match self.bytes() {
            1 if self.is_shared() => {
                self.memory.read(self.word_address(x, y, sample), &mut bytes);
                [3, 7, 11, 15].map(|texel: usize| bytes[texel].into())
            }
            1 => {
                self.memory.read(address, &mut bytes[..4]);
                [0, 1, 2, 3].map(|texel: usize| bytes[texel].into())
            }
            2 => {
                self.memory.read(address, &mut bytes[..8]);
                [0, 2, 4, 6].map(|first: usize| u16::from_le_bytes([bytes[first], bytes[first + 1]]).into())
            }
            _ => {
                self.memory.read(address, &mut bytes);
                u128_to_words(u128::from_le_bytes(bytes))
            }
        }
    }

    /// Whether a quad at even coordinates lies wholly inside, in one line: lines have even sides.
    #[inline]
    fn has_whole_quad(&self, x: u32, y: u32) -> bool {
        self.contains(x + 1, y + 1) && self.part.grid.has_quads()
    }

    /// Writes the words of a 2x2 quad of texels of one, two or four bytes at even (`x`, `y`): those in `mask`, by bits for
    /// (0,0) (1,0) (0,1) (1,1). What lies outside is dropped.
    #[inline]
    pub fn write_quad(&self, x: u32, y: u32, sample: u32, words: &[u32; 4], mask: u32) {
        if mask != 0xf || !self.has_whole_quad(x, y) {
            for (index, &word) in words.iter().enumerate().filter(|(index, _)| mask >> index & 1 != 0) {
                self.write_word(x + (index as u32 & 1), y + (index as u32 >> 1), sample, word);
            }
            return;
        }
        let address = self.word_address(x, y, sample);
        match self.bytes() {
            _ if self.is_shared() => {
                let mut merged = [0u32; 4];
                self.memory.read(address, bytemuck::bytes_of_mut(&mut merged));
                merged.iter_mut().zip(words).for_each(|(word, &value)| *word = self.merged(*word, value));
                self.memory.write(address, bytemuck::bytes_of(&merged));
            }
            1 => self.memory.write(address, &words.map(|word| word as u8)),
            2 => self.memory.write(address, bytemuck::bytes_of(&words.map(|word| (word as u16).to_le()))),
            _ => self.memory.write(address, &words_to_u128(*words).to_le_bytes()),
        }
    }

    /// Writes all texels of a 2x2 quad at even (`x`, `y`), which follow each other in `texels`. False, and nothing written, where not all
    /// of it lies inside.
    #[inline]
    pub fn write_whole_quad(&self, x: u32, y: u32, sample: u32, texels: &[u8]) -> bool {
        let is_whole = self.has_whole_quad(x, y) && texels.len() == 4 * self.bytes() && sample < self.samples();
        let is_whole = is_whole && !self.is_shared();
        if is_whole {
            self.memory.write(self.address(x, y, sample), texels);
        }
        is_whole
    }

    /// Reads a sample of two rows of such a line, from (`x`, `y`) on: the words of one wave. Anything where there is no such line.
    #[inline]
    pub fn read_strip(&self, x: u32, y: u32, sample: u32) -> [u32; 16] {
        let mut words = [0u32; 16];
        self.memory.read(self.address(x, y, sample), bytemuck::bytes_of_mut(&mut words));
        // Texels are little-endian words.
        words.map(u32::from_le)
    }

    /// Writes a sample of two rows of a line, from (`x`, `y`) on. False, and nothing written, where there is no such line.
    #[inline]
    pub fn write_strip(&self, x: u32, y: u32, sample: u32, words: &[u32; 16]) -> bool {
        let is_line = self.has_line(x, y & !7) && !self.is_shared();
        if is_line {
            self.write_strip_at(self.address(x, y, sample), words);
        }
        is_line
    }

    /// The memory that a texel lies in, and where; `None` outside.
    pub fn locate(&self, x: u32, y: u32, sample: u32) -> Option<(&'a Arc<Allocation>, u64)> {
        let inside = self.contains(x, y) && sample < self.samples();
        inside.then(|| (self.memory, self.address(x, y, sample)))
    }
}

fn u128_to_words(bits: u128) -> [u32; 4] {
    [0, 32, 64, 96].map(|shift| (bits >> shift) as u32)
}

fn words_to_u128(words: [u32; 4]) -> u128 {
    words.iter().rev().fold(0, |bits, &word| bits << 32 | u128::from(word))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{Allocation, Heap, Surface};
    use super::*;

    fn desc(kind: vk::ImageType, format: vk::Format, size: [u32; 3], levels: u32, layers: u32) -> SurfaceDesc {
        let extent = vk::Extent3D { width: size[0], height: size[1], depth: size[2] };
        SurfaceDesc { kind, format, extent, levels, layers, samples: 1, linear: false, decoded: false }
    }

    /// Every texel of every part has bytes of its own inside the surface, which it is written to.
    fn check_disjoint(desc: SurfaceDesc) {
        let surface = Surface::new(desc).unwrap();
        let memory = Allocation::new(&Heap::new(1 << 30), surface.layout().size()).unwrap();
        assert!(surface.bind(memory, 0));
        let mut seen = HashSet::new();
        let info = format::info(desc.format).unwrap();
        for aspect in info.planes().map(|plane| plane.aspect) {
            for level in 0..desc.levels {
                let depth = surface.level_extent(level).depth;
                for slice in 0..desc.layers.max(depth) {
                    let part = surface.plane(aspect, level, slice).unwrap();
                    check_runs(&part);
                    for (x, y, sample) in positions(&part) {
                        let address = part.address(x, y, sample);
                        assert!(address + part.bytes() as u64 <= surface.layout().size());
                        let written = part.part.share.written(part.bytes()) as u64;
                        assert!((0..written).all(|byte| seen.insert(address + byte)));
                    }
                }
            }
        }
    }

    fn positions(part: &PlaneRef<'_>) -> Vec<(u32, u32, u32)> {
        let (width, height, samples) = (part.width(), part.height(), part.samples());
        let rows = (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)));
        rows.flat_map(|(x, y)| (0..samples).map(move |sample| (x, y, sample))).collect()
    }

    #[test]
    fn texels_never_share_bytes() {
        let (one, two, three) = (vk::ImageType::TYPE_1D, vk::ImageType::TYPE_2D, vk::ImageType::TYPE_3D);
        check_disjoint(desc(two, vk::Format::R8G8B8A8_UNORM, [19, 13, 1], 5, 3));
        check_disjoint(desc(two, vk::Format::D24_UNORM_S8_UINT, [9, 17, 1], 2, 2));
        check_disjoint(desc(one, vk::Format::R16_UINT, [100, 1, 1], 7, 2));
        check_disjoint(desc(three, vk::Format::R32G32_SFLOAT, [9, 5, 7], 4, 1));
        check_disjoint(desc(two, vk::Format::BC1_RGB_UNORM_BLOCK, [21, 9, 1], 3, 1));
        check_disjoint(SurfaceDesc { samples: 4, ..desc(two, vk::Format::R8G8B8A8_UNORM, [10, 9, 1], 1, 2) });
        check_disjoint(SurfaceDesc { linear: true, ..desc(two, vk::Format::R8G8B8A8_UNORM, [10, 9, 1], 1, 1) });
    }

    #[test]
    fn lines_are_filled_that_are_whole() {
        let two = vk::ImageType::TYPE_2D;
        let all = [0, 11, 100, 100];
        for (linear, samples, asked, whole) in [
            (false, 1, all, [0, 16, 13, 19]),
            (false, 4, all, [0, 16, 13, 19]),
            (true, 1, all, [0, 11, 13, 19]),
            (false, 1, [3, 0, 13, 17], [8, 0, 13, 16]),
            (false, 4, [0, 7, 12, 16], [0, 8, 8, 16]),
            (true, 1, [3, 2, 9, 4], [3, 2, 9, 4]),
        ] {
            let desc = SurfaceDesc { linear, samples, ..desc(two, vk::Format::R8G8B8A8_UNORM, [13, 19, 1], 1, 2) };
            let surface = Surface::new(desc).unwrap();
            surface.bind(Allocation::new(&Heap::new(1 << 20), surface.layout().size()).unwrap(), 0);
            let [plane, other] = [0, 1].map(|layer| surface.plane(vk::ImageAspectFlags::COLOR, 0, layer).unwrap());
            assert_eq!(plane.fill_lines(asked, &[1, 2, 3, 4]), whole);
            let [x0, y0, x1, y1] = whole;
            for (x, y, sample) in positions(&plane) {
                let expected = if (x0..x1).contains(&x) && (y0..y1).contains(&y) { 0x0403_0201 } else { 0 };
                assert_eq!(plane.read_word(x, y, sample), expected, "({x}, {y})");
                assert_eq!(other.read_word(x, y, sample), 0, "another layer");
            }
            for nothing in [[0, 3, 13, 3], [1, 1, 7, 7], [0, 30, 13, 40]].into_iter().skip(usize::from(linear) * 2) {
                let [x0, y0, x1, y1] = plane.fill_lines(nothing, &[9; 4]);
                assert!(x0 == x1 || y0 == y1);
            }
        }
    }

    #[test]
    fn quads_are_written_like_their_texels() {
        let two = vk::ImageType::TYPE_2D;
        let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::R16_UINT, vk::Format::R8_UINT];
        for (linear, format) in [false, true].into_iter().flat_map(|linear| formats.map(|format| (linear, format))) {
            let desc = SurfaceDesc { linear, ..desc(two, format, [11, 9, 1], 1, 1) };
            let surfaces = [(); 2].map(|()| {
                let surface = Surface::new(desc).unwrap();
                surface.bind(Allocation::new(&Heap::new(1 << 20), surface.layout().size()).unwrap(), 0);
                surface
            });
            let [quads, texels] =
                [0, 1].map(|index: usize| surfaces[index].plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap());
            for (number, (x, y)) in (0..6).flat_map(|y| (0..7).map(move |x| (x * 2, y * 2))).enumerate() {
                let words = [1, 2, 3, 4].map(|word| word + number as u32 * 16);
                let mask = if number % 3 == 0 { 0xf } else { number as u32 % 16 };
                quads.write_quad(x, y, 0, &words, mask);
                for index in (0..4).filter(|index| mask >> index & 1 != 0) {
                    texels.write_word(x + (index & 1), y + (index >> 1), 0, words[index as usize]);
                }
            }
            for (x, y, _) in positions(&texels) {
                assert_eq!(quads.read_word(x, y, 0), texels.read_word(x, y, 0), "({x}, {y})");
                let (left, upper) = (x & !1, y & !1);
                let word = |index: u32| texels.read_word(left + (index & 1), upper + (index >> 1), 0);
                assert_eq!(quads.read_quad(left, upper, 0), [0, 1, 2, 3].map(word));
            }
        }
    }

    #[test]
    fn a_line_of_32_bits_is_256_bytes() {
        let surface = Surface::new(desc(vk::ImageType::TYPE_2D, vk::Format::R8G8B8A8_UNORM, [16, 8, 1], 1, 1)).unwrap();
        assert_eq!(surface.layout().size(), 512);
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let absurd = desc(vk::ImageType::TYPE_3D, vk::Format::R32G32B32A32_SFLOAT, [u32::MAX; 3], 1, 1);
        assert!(Surface::new(absurd).is_none());
        assert!(Surface::new(desc(vk::ImageType::TYPE_2D, vk::Format::UNDEFINED, [1; 3], 1, 1)).is_none());
    }

    /// A run holds the bytes of its texels, and reaches no further than the row.
    fn check_runs(part: &PlaneRef<'_>) {
        for (x, y, sample) in positions(part) {
            let run = part.run(x);
            assert!(run >= 1 && x + run <= part.width());
            let mut next = 0;
            for (address, piece) in part.pieces((x, y, sample), run as usize * part.bytes()) {
                assert_eq!(piece.start, next);
                for byte in piece.clone() {
                    let texel = (byte / part.bytes()) as u32;
                    let expected = part.address(x + texel, y, sample) + (byte % part.bytes()) as u64;
                    assert_eq!(address + (byte - piece.start) as u64, expected);
                }
                next = piece.end;
            }
            assert_eq!(next, run as usize * part.bytes());
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        #[test]
        fn layouts_are_disjoint_and_inside(
            kind in 0usize..3, format in 0usize..9, size in [1u32..40, 1u32..20, 1u32..6],
            levels in 1u32..4, layers in 1u32..4, shape in 0u32..3,
        ) {
            let formats = [
                vk::Format::R8_UNORM, vk::Format::R16G16B16A16_SFLOAT, vk::Format::D16_UNORM_S8_UINT,
                vk::Format::D32_SFLOAT_S8_UINT, vk::Format::BC3_UNORM_BLOCK, vk::Format::R32G32B32A32_UINT,
                vk::Format::ASTC_10X6_UNORM_BLOCK, vk::Format::EAC_R11_SNORM_BLOCK, vk::Format::G8_B8R8_2PLANE_420_UNORM,
            ];
            let (kind, size, layers) = match kind {
                0 => (vk::ImageType::TYPE_1D, [size[0], 1, 1], layers),
                1 => (vk::ImageType::TYPE_2D, [size[0], size[1], 1], layers),
                _ => (vk::ImageType::TYPE_3D, size, 1),
            };
            let desc = desc(kind, formats[format], size, levels, layers);
            // Several samples exist for 2D surfaces of one level.
            let desc = match shape {
                1 if kind == vk::ImageType::TYPE_2D => SurfaceDesc { samples: 4, levels: 1, ..desc },
                2 => SurfaceDesc { linear: true, ..desc },
                _ => desc,
            };
            check_disjoint(desc);
        }
    }
}
