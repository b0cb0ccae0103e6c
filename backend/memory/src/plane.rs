//! Access to texels of one slice of a surface by position: single texels, runs, quads, and lines
//! of 8x8 texels.
//!
//! A plane may own only some bits of its words (depth that shares words with stencil). Reads then
//! return only its bits, and writes keep the bits of the other plane.

use std::ops::Range;
use std::sync::Arc;

use super::Allocation;
use super::layout::{Grid, Part, Share};

/// Position of one sample of a texel.
#[derive(Debug, Clone, Copy)]
pub struct TexelSample {
    /// Column of the texel.
    pub x: u32,
    /// Row of the texel.
    pub y: u32,
    /// Number of the sample.
    pub sample: u32,
}

/// One slice of one level of one plane of a bound surface, with access to texels by position.
#[derive(Debug, Clone, Copy)]
pub struct PlaneRef<'a> {
    pub(super) memory: &'a Arc<Allocation>,
    pub(super) base: u64,
    pub(super) part: Part,
}

impl<'a> PlaneRef<'a> {
    /// Returns the memory that contains the plane.
    pub fn memory(&self) -> &'a Arc<Allocation> {
        self.memory
    }

    /// Returns the width in texels or blocks.
    pub fn width(&self) -> u32 {
        self.part.width
    }

    /// Returns the height in texels or blocks.
    pub fn height(&self) -> u32 {
        self.part.height
    }

    /// Returns the bytes per texel or block.
    pub fn bytes(&self) -> usize {
        self.part.texel_bytes()
    }

    /// Returns true if another plane shares the words of this plane.
    pub fn is_shared(&self) -> bool {
        self.part.share != Share::Whole
    }

    /// Returns the samples per texel.
    pub fn samples(&self) -> u32 {
        self.part.grid.samples
    }

    /// Returns the offset of a texel in the memory, in bytes. The caller must check the position
    /// first: a position outside gives an offset outside of the plane or of another texel.
    #[inline]
    pub fn address(&self, x: u32, y: u32, sample: u32) -> u64 {
        self.word_address(x, y, sample) + u64::from(self.part.share.shift() / 8)
    }

    /// Returns the offset of the word that contains a texel's bits if words are shared, or of the
    /// texel.
    #[inline]
    fn word_address(&self, x: u32, y: u32, sample: u32) -> u64 {
        let Part { grid, stride, .. } = self.part;
        let line = u64::from(y >> grid.height_log2) * self.part.row_bytes
            + u64::from(x >> grid.width_log2) * self.part.line_bytes;
        let in_line = (sample << (grid.width_log2 + grid.height_log2)) + grid.texel_index(x, y);
        self.base + line + u64::from(in_line * stride)
    }

    /// Returns the plane's memory and the offset of its first byte. Returns `None` if the last
    /// texel is 2 GiB or more from that byte.
    pub fn reach(&self) -> Option<(&'a Arc<Allocation>, u64)> {
        let last = self.address(self.part.width - 1, self.part.height - 1, self.samples() - 1) - self.base;
        (last < u64::from(u32::MAX >> 1)).then_some((self.memory, self.base))
    }

    /// Returns the distance between rows of lines of 8x8 texels, in bytes. Returns `None` if
    /// texels are not stored in such lines or do not have `bytes` bytes.
    pub fn pitch(&self, bytes: usize) -> Option<u32> {
        let Grid { width_log2, height_log2, .. } = self.part.grid;
        let fits = (width_log2, height_log2, self.part.stride as usize) == (3, 3, bytes);
        if fits { u32::try_from(self.part.row_bytes).ok() } else { None }
    }

    /// Returns the offset of a texel's sample from the plane's first byte, in bytes.
    #[inline]
    pub fn offset(&self, x: u32, y: u32, sample: u32) -> u32 {
        (self.address(x, y, sample) - self.base) as u32
    }

    /// Returns true if a texel lies in the plane.
    #[inline]
    pub fn contains(&self, x: u32, y: u32) -> bool {
        x < self.part.width && y < self.part.height
    }

    /// Reads `out.len()` bytes (at most a texel) of a texel. Fills `out` with zeros outside of the
    /// plane.
    #[inline]
    pub fn read(&self, x: u32, y: u32, sample: u32, out: &mut [u8]) {
        if self.contains(x, y) && sample < self.samples() {
            self.memory.read(self.address(x, y, sample), out);
            self.clear_other_bits(out);
        } else {
            out.fill(0);
        }
    }

    /// Writes `data` (at most a texel) to a texel. Does nothing outside of the plane.
    #[inline]
    pub fn write(&self, x: u32, y: u32, sample: u32, data: &[u8]) {
        if self.contains(x, y) && sample < self.samples() {
            let written = self.part.share.written(data.len());
            self.memory.write(self.address(x, y, sample), &data[..written]);
        }
    }

    /// Clears the bits of whole texels that belong to another plane.
    #[inline]
    pub(super) fn clear_other_bits(&self, texels: &mut [u8]) {
        if self.part.share == Share::Depth {
            texels.as_chunks_mut::<4>().0.iter_mut().for_each(|texel| texel[3] = 0);
        }
    }

    /// Returns the number of texels of a row from `x` on that one access can read or write. A run
    /// ends with the line, or with the row if the plane stores rows.
    #[inline]
    pub fn run(&self, x: u32) -> u32 {
        let left = self.part.width.saturating_sub(x);
        let grid = self.part.grid;
        let rows = grid.width_log2 == 0 && grid.samples == 1;
        if rows { left } else { left.min((1 << grid.width_log2) - (x & ((1 << grid.width_log2) - 1))) }
    }

    /// Reads whole texels from `x` on, at most as many as [`Self::run`] returns. Fills `out` with
    /// zeros if it is longer.
    pub fn read_run(&self, x: u32, y: u32, sample: u32, out: &mut [u8]) {
        self.read_run_by(TexelSample { x, y, sample }, out, |address, out| self.memory.read(address, out));
    }

    /// Reads texels like [`Self::read_run`], by a function that reads the plane's memory at an
    /// address.
    pub(super) fn read_run_by(&self, first: TexelSample, out: &mut [u8], mut read: impl FnMut(u64, &mut [u8])) {
        if self.holds_run(first, out.len()) {
            for (address, part) in self.contiguous_parts(first, out.len()) {
                read(address, &mut out[part]);
            }
            self.clear_other_bits(out);
        } else {
            out.fill(0);
        }
    }

    /// Writes whole texels from `x` on, at most as many as [`Self::run`] returns. Does nothing if
    /// `data` is longer.
    pub fn write_run(&self, x: u32, y: u32, sample: u32, data: &[u8]) {
        let first = TexelSample { x, y, sample };
        if self.holds_run(first, data.len()) {
            for (address, part) in self.contiguous_parts(first, data.len()) {
                let written = self.part.share.written(part.len());
                self.memory.write(address, &data[part][..written]);
            }
        }
    }

    /// Returns the contiguous parts of a run: the address of each part, and the bytes of the run
    /// that it holds.
    pub(super) fn contiguous_parts(
        &self,
        first: TexelSample,
        bytes: usize,
    ) -> impl Iterator<Item = (u64, Range<usize>)> {
        let TexelSample { x, y, sample } = first;
        let texel = self.bytes();
        let mut at = 0;
        std::iter::from_fn(move || {
            let x = x + (at / texel) as u32;
            let texels = match self.part.grid.has_quads() {
                _ if self.is_shared() => 1,
                true => 2 - (x as usize & 1),
                false => usize::MAX / texel,
            };
            let part = at..bytes.min(at.saturating_add(texels * texel));
            at = part.end;
            (!part.is_empty()).then(|| (self.address(x, y, sample), part))
        })
    }

    fn holds_run(&self, first: TexelSample, bytes: usize) -> bool {
        let TexelSample { x, y, sample } = first;
        self.contains(x, y) && sample < self.samples() && bytes <= self.run(x) as usize * self.bytes()
    }

    /// Reads the first four bytes of a texel (or all, if it is smaller) as a word. Returns 0
    /// outside of the plane.
    #[inline]
    pub fn read_word(&self, x: u32, y: u32, sample: u32) -> u32 {
        let mut word = [0; 4];
        let count = self.bytes().min(4);
        self.read(x, y, sample, &mut word[..count]);
        u32::from_le_bytes(word)
    }

    /// Writes the low bytes of `word` to a texel of up to four bytes. Does nothing outside of the
    /// plane.
    #[inline]
    pub fn write_word(&self, x: u32, y: u32, sample: u32, word: u32) {
        let count = self.bytes().min(4);
        self.write(x, y, sample, &word.to_le_bytes()[..count]);
    }

    /// Fills the lines inside the rectangle `[x0, y0, x1, y1]` of texels, `x1` and `y1` exclusive,
    /// at every sample. `texels` holds copies of one texel. The fill includes the padding of lines
    /// at the image's edge. Returns the rectangle that was filled.
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
        // Whole rows of lines are contiguous.
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

    /// Fills at most `bytes` bytes of whole lines at an address with copies of a texel. Returns
    /// the number of bytes filled.
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

    /// Returns a word, little-endian as it lies in memory, with the plane's bits replaced by
    /// `value`.
    #[inline]
    fn merged(&self, word: u32, value: u32) -> u32 {
        let share = self.part.share;
        let (mask, value) = (share.mask(), value << share.shift());
        (u32::from_le(word) & !mask | value & mask).to_le()
    }

    /// Returns true if (`x`, `y`) is the first texel of a line of 8x8 texels that lies wholly
    /// inside.
    pub fn is_line_at(&self, x: u32, y: u32) -> bool {
        self.has_line_of(x, y, self.part.stride)
    }

    /// Returns true if (`x`, `y`) is the first texel of such a line with four bytes per texel.
    pub fn has_line(&self, x: u32, y: u32) -> bool {
        self.has_line_of(x, y, 4)
    }

    /// Returns true if (`x`, `y`) is the first texel of such a line with two bytes per texel.
    pub fn has_short_line(&self, x: u32, y: u32) -> bool {
        self.has_line_of(x, y, 2)
    }

    /// Returns true if (`x`, `y`) is the first texel of such a line with one byte per texel. The
    /// bytes may be shares of words.
    pub fn has_byte_line(&self, x: u32, y: u32) -> bool {
        self.bytes() == 1 && self.is_line_at(x, y)
    }

    /// Reads a sample of the line of 8x8 texels that begins at `first` by `read`, which reads
    /// memory at an address. `texels` has the length of the line.
    #[inline]
    pub(super) fn read_line_by(&self, first: TexelSample, texels: &mut [u8], mut read: impl FnMut(u64, &mut [u8])) {
        let (address, share) = (self.word_address(first.x, first.y, first.sample), self.part.share);
        if share != Share::Stencil {
            read(address, texels);
            return self.clear_other_bits(texels);
        }
        let mut words = [0u32; 64];
        read(address, bytemuck::bytes_of_mut(&mut words));
        texels.iter_mut().zip(words).for_each(|(texel, word)| *texel = (u32::from_le(word) >> share.shift()) as u8);
    }

    /// Writes a sample of the line of 8x8 texels that begins at `first`.
    #[inline]
    pub(super) fn write_line(&self, first: TexelSample, texels: &[u8]) {
        let address = self.word_address(first.x, first.y, first.sample);
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

    /// Reads a sample of the line of one-byte texels that begins at (`x`, `y`).
    #[inline]
    pub fn read_byte_line(&self, x: u32, y: u32, sample: u32) -> [u8; 64] {
        let mut bytes = [0; 64];
        self.read_line_by(TexelSample { x, y, sample }, &mut bytes, |address, out| self.memory.read(address, out));
        bytes
    }

    /// Writes a sample of the line of one-byte texels that begins at (`x`, `y`).
    #[inline]
    pub fn write_byte_line(&self, x: u32, y: u32, sample: u32, bytes: &[u8; 64]) {
        self.write_line(TexelSample { x, y, sample }, bytes);
    }

    /// Returns true if (`x`, `y`) is the first texel of a line whose texels are `stride` bytes
    /// apart.
    fn has_line_of(&self, x: u32, y: u32, stride: u32) -> bool {
        let Grid { width_log2, height_log2, .. } = self.part.grid;
        let aligned = x.is_multiple_of(8) && y.is_multiple_of(8) && self.contains(x + 7, y + 7);
        (width_log2, height_log2, self.part.stride) == (3, 3, stride) && aligned
    }

    /// Reads the words of a line of four-byte texels at its address, in memory order. Each 16
    /// words are two rows. Words of depth include the bits of a stencil that shares them.
    #[inline]
    pub fn read_line_at(&self, address: u64) -> [u32; 64] {
        let mut words = [0u32; 64];
        self.memory.read(address, bytemuck::bytes_of_mut(&mut words));
        words.iter_mut().for_each(|word| *word = u32::from_le(*word));
        words
    }

    /// Writes two rows of a line of four-byte texels at their address, with all bits of their
    /// words.
    #[inline]
    pub fn write_strip_at(&self, address: u64, words: &[u32; 16]) {
        self.memory.write(address, bytemuck::bytes_of(&words.map(u32::to_le)));
    }

    /// Reads a line of two-byte texels like [`Self::read_line_at`], extended to words.
    #[inline]
    pub fn read_short_line_at(&self, address: u64) -> [u32; 64] {
        let mut words = [0u16; 64];
        self.memory.read(address, bytemuck::bytes_of_mut(&mut words));
        words.map(|word| u16::from_le(word).into())
    }

    /// Writes two rows of two-byte texels like [`Self::write_strip_at`], from the low bytes of
    /// words.
    #[inline]
    pub fn write_short_strip_at(&self, address: u64, words: &[u32; 16]) {
        self.memory.write(address, bytemuck::bytes_of(&words.map(|word| (word as u16).to_le())));
    }

    /// Reads a sample of the words of a 2x2 quad of texels of one, two or four bytes at even (`x`,
    /// `y`). Texels outside are 0. Words of depth may include the bits of a stencil that shares
    /// them.
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

    /// Returns true if a quad at even coordinates lies wholly inside and in one line. Lines have
    /// even sides.
    #[inline]
    fn has_whole_quad(&self, x: u32, y: u32) -> bool {
        self.contains(x + 1, y + 1) && self.part.grid.has_quads()
    }

    /// Writes the words of a 2x2 quad of texels of one, two or four bytes at even (`x`, `y`). Bits
    /// of `mask` select the texels (0,0) (1,0) (0,1) (1,1). Texels outside are dropped.
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

    /// Writes selected texels of each sample of a 2x2 quad at an even place, from the consecutive
    /// `texels` (0,0) (1,0) (0,1) (1,1). Bits of `pixels_at(sample)` select those of a sample.
    /// Texels outside are dropped.
    #[inline(always)]
    pub fn write_quad_samples(&self, [x, y]: [u32; 2], texels: &[u8], pixels_at: impl Fn(u32) -> u32) {
        let bytes = texels.len() / 4;
        let is_whole = self.has_whole_quad(x, y) && bytes == self.bytes() && !self.is_shared();
        let first = self.address(x, y, 0);
        let step = u64::from(self.part.stride) << (self.part.grid.width_log2 + self.part.grid.height_log2);
        for sample in 0..self.samples() {
            let (mut rest, address) = (pixels_at(sample), first + u64::from(sample) * step);
            if rest == 0xf && is_whole {
                self.memory.write(address, texels);
                continue;
            }
            while rest != 0 {
                let pixel = rest.trailing_zeros();
                let texel = &texels[pixel as usize * bytes..][..bytes];
                match is_whole {
                    true => self.memory.write(address + u64::from(pixel) * bytes as u64, texel),
                    false => self.write(x + (pixel & 1), y + (pixel >> 1), sample, texel),
                }
                rest &= rest - 1;
            }
        }
    }

    /// Reads a sample of two rows of a line of four-byte texels, from (`x`, `y`) on: the words of
    /// one wave. The result is unspecified if there is no such line.
    #[inline]
    pub fn read_strip(&self, x: u32, y: u32, sample: u32) -> [u32; 16] {
        let mut words = [0u32; 16];
        self.memory.read(self.address(x, y, sample), bytemuck::bytes_of_mut(&mut words));
        // Texels are little-endian words.
        words.map(u32::from_le)
    }

    /// Writes a sample of two rows of a line of four-byte texels, from (`x`, `y`) on. Writes
    /// nothing and returns false if there is no such line or its words are shared.
    #[inline]
    pub fn write_strip(&self, x: u32, y: u32, sample: u32, words: &[u32; 16]) -> bool {
        let is_line = self.has_line(x, y & !7) && !self.is_shared();
        if is_line {
            self.write_strip_at(self.address(x, y, sample), words);
        }
        is_line
    }

    /// Returns the memory that contains a texel, and the texel's offset in it. Returns `None`
    /// outside of the plane.
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
