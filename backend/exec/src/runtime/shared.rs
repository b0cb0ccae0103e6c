//! Memory that the waves of a workgroup share.

use std::sync::atomic::{AtomicU32, AtomicU64};

use vitric_base::simd::Lanes;

use super::frame::BufferEntry;

/// Number of 64-bit words in a line of [`SharedMemory`].
const LINE: usize = 8;

/// One 32-bit word for each lane of a wave, aligned for vector loads.
#[repr(C, align(64))]
#[derive(Debug, Default)]
struct Line([AtomicU64; LINE]);

/// Memory shared by the waves of a workgroup, or by the invocations in a wave of a merged program.
#[derive(Debug, Default)]
pub struct SharedMemory {
    lines: Vec<Line>,
}

impl SharedMemory {
    /// Creates `bytes` bytes of zeroed memory, rounded up to lines of 64 bytes.
    #[inline]
    pub fn new(bytes: u32) -> Self {
        let mut memory = Self::default();
        memory.reserve(bytes);
        memory
    }

    /// Grows the memory to at least `bytes` bytes.
    #[inline]
    pub fn reserve(&mut self, bytes: u32) {
        let lines = (bytes as usize).div_ceil(size_of::<Line>());
        self.lines.resize_with(self.lines.len().max(lines), Line::default);
    }

    /// Returns the memory as lanes of words.
    #[inline]
    pub fn lanes_mut(&mut self) -> &mut [Lanes] {
        // SAFETY: a line is as large as a word of each lane, and its alignment is stricter. All
        // bit patterns are valid for both types. The slice mutably borrows the memory, so no other
        // reference exists.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len()) }
    }

    /// Fills the memory with zeros.
    #[inline]
    pub fn clear(&mut self) {
        self.lines.iter_mut().flat_map(|line| &mut line.0).for_each(|word| *word.get_mut() = 0);
    }

    /// Writes words to the start of the memory.
    #[inline]
    pub fn fill(&mut self, words: &[u32]) {
        self.lanes_mut().as_flattened_mut().iter_mut().zip(words).for_each(|(to, &word)| *to = word);
    }

    /// Returns the memory in the layout that generated code reads. The entry must not outlive the
    /// memory.
    pub(super) fn entry(&self) -> BufferEntry {
        BufferEntry::new(self.lines.as_ptr().cast_mut().cast(), (self.lines.len() * size_of::<Line>()) as u64)
    }

    /// Returns the word at byte `offset`, a multiple of 4.
    #[inline]
    pub fn word(&self, offset: u32) -> Option<&AtomicU32> {
        self.words().get(offset as usize / 4)
    }

    /// Returns the 64-bit word at byte `offset`, a multiple of 8.
    #[inline]
    pub fn wide_word(&self, offset: u32) -> Option<&AtomicU64> {
        self.lines.get(offset as usize / size_of::<Line>()).map(|line| &line.0[offset as usize / 8 % LINE])
    }

    /// Returns all words.
    pub(crate) fn words(&self) -> &[AtomicU32] {
        // SAFETY: a 64-bit atomic has the size of two 32-bit atomics and at least their alignment.
        // All bit patterns are valid for both types. The slice borrows the memory.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * LINE * 2) }
    }
}
