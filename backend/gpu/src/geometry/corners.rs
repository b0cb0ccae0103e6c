//! The corners of a draw's primitives: consecutive vertices, indices of a buffer, or assembled
//! corners.

use std::ops::Range;

use vitric_memory::Buffer;

/// Vertex indices, a fixed number for each primitive of an instance.
pub enum Corners<'a> {
    /// Consecutive indices: the first, and their number.
    Sequence(u32, usize),
    /// Indices of a buffer, without restarts.
    Indexed(Indices<'a>),
    /// Corners assembled from strips, fans, or indices with restarts.
    Assembled(Vec<u32>),
}

/// Indices of a buffer.
#[derive(Clone, Copy)]
pub struct Indices<'a> {
    /// The buffer. Without one all indices are 0.
    pub buffer: Option<&'a Buffer>,
    /// Offset of the first index, bytes.
    pub offset: u64,
    /// Size of an index: 1, 2 or 4 bytes.
    pub size: u64,
    /// Offset that is added to each index.
    pub base: u32,
    /// Number of indices.
    pub count: usize,
    /// Number of indices that the buffer holds. Indices beyond that are 0.
    pub room: usize,
}

/// Identity of a range of indices.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IndexRange {
    /// Address of the buffer.
    buffer: Option<usize>,
    /// Offset of the buffer's first index, bytes.
    offset: u64,
    /// Size of an index, bytes.
    size: u64,
    /// Number of indices that the buffer holds.
    room: usize,
    range: Range<usize>,
}

/// Number of indices that are read at once.
const MAX_READ: usize = 1024;

impl Indices<'_> {
    /// Returns the identity of a range of indices.
    pub(super) fn identity(&self, range: Range<usize>) -> IndexRange {
        let buffer = self.buffer.map(|buffer| std::ptr::from_ref(buffer).addr());
        IndexRange { buffer, offset: self.offset, size: self.size, room: self.room, range }
    }

    /// Replaces `out` with a range of indices, with the base added.
    pub(super) fn read_based(&self, range: Range<usize>, out: &mut Vec<u32>) {
        self.read_anew(range, out);
        if self.base != 0 {
            out.iter_mut().for_each(|index| *index = index.wrapping_add(self.base));
        }
    }

    /// Replaces `out` with a range of indices, without the base.
    pub(super) fn read_anew(&self, range: Range<usize>, out: &mut Vec<u32>) {
        if self.size == 4 {
            // The read overwrites all elements, so earlier values need no clearing.
            out.resize(range.len(), 0);
            self.read_words(range, out);
        } else {
            out.clear();
            self.read(range, out);
        }
    }

    /// Appends a range of indices to `out`, without the base.
    pub fn read(&self, range: Range<usize>, out: &mut Vec<u32>) {
        if self.size == 4 {
            let first = out.len();
            out.resize(first + range.len(), 0);
            return self.read_words(range, &mut out[first..]);
        }
        let mut bytes = [0; MAX_READ * 2];
        for start in range.clone().step_by(MAX_READ) {
            let bytes = &mut bytes[..(range.end - start).min(MAX_READ) * self.size as usize];
            let inside = self.room.saturating_sub(start).min(bytes.len() / self.size as usize) * self.size as usize;
            let (inside, outside) = bytes.split_at_mut(inside);
            outside.fill(0);
            if let Some(buffer) = self.buffer {
                buffer.read(self.offset.saturating_add(start as u64 * self.size), inside);
            }
            match self.size {
                1 => out.extend(bytes.iter().map(|&index| u32::from(index))),
                _ => out.extend(bytes.as_chunks().0.iter().map(|&index| u32::from(u16::from_le_bytes(index)))),
            }
        }
    }

    /// Reads a range of 4-byte indices.
    fn read_words(&self, range: Range<usize>, out: &mut [u32]) {
        let (words, outside) = out.split_at_mut(self.room.saturating_sub(range.start).min(range.len()));
        outside.fill(0);
        match self.buffer {
            Some(buffer) => {
                let offset = self.offset.saturating_add(range.start as u64 * self.size);
                buffer.read(offset, bytemuck::cast_slice_mut(words));
            }
            None => words.fill(0),
        }
        words.iter_mut().for_each(|word| *word = u32::from_le(*word));
    }
}

impl Corners<'_> {
    /// Returns the number of corners.
    pub fn count(&self) -> usize {
        match self {
            Self::Sequence(_, count) => *count,
            Self::Indexed(indices) => indices.count,
            Self::Assembled(vertices) => vertices.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vitric_memory::{Allocation, Heap};

    #[test]
    fn corners_are_read_by_pieces() {
        let words: Vec<u16> = (0..6000).map(|index| (index * 7 % 5003) as u16).collect();
        let buffer = Buffer::new(12_000);
        assert!(buffer.bind(Allocation::new(&Heap::new(1 << 20), 12_000).unwrap(), 0));
        buffer.write(0, bytemuck::cast_slice(&words));
        let indices = Indices { buffer: Some(&buffer), offset: 4, size: 2, base: 9, count: 5000, room: 5998 };
        for range in [0..5000, 1000..3049, 17..17, 4990..5000] {
            let mut read = vec![1];
            indices.read(range.clone(), &mut read);
            let expected = words[range.start + 2..range.end + 2].iter().map(|&word| u32::from(word));
            assert!(read.into_iter().eq(std::iter::once(1).chain(expected)), "{range:?}");
        }
        let mut read = Vec::new();
        Indices { room: 1500, ..indices }.read(1490..3010, &mut read);
        let known = words[1492..1502].iter().map(|&word| u32::from(word)).chain(std::iter::repeat_n(0, 1510));
        assert!(read.into_iter().eq(known), "what the buffer has not got is 0");
        let mut read = Vec::new();
        Indices { buffer: None, room: 0, ..indices }.read(0..3, &mut read);
        assert_eq!(read, [0; 3]);
        let mut read = Vec::new();
        Indices { size: 1, offset: 7, ..indices }.read(0..3, &mut read);
        assert_eq!(
            read,
            bytemuck::cast_slice::<_, u8>(&words)[7..10].iter().map(|&byte| u32::from(byte)).collect::<Vec<_>>()
        );
        let mut read = Vec::new();
        Indices { size: 4, offset: 0, ..indices }.read(2999..3000, &mut read);
        assert_eq!(read, [u32::from(words[5999]) << 16 | u32::from(words[5998])]);
    }
}
