//! Descriptors whose buffers are resolved to memory.
//!
//! Buffer accesses are robust. A word outside of the bound range, rounded up to whole words, reads
//! 0 and is not written. Source: Vulkan specification, "robustBufferAccess",
//! `robustStorageBufferAccessSizeAlignment`.

use std::ops::Range;
use std::sync::Arc;

use vitric_memory::{Allocation, BufferRange, Surface, SurfaceView};

use super::Descriptor;
use super::frame::BufferEntry;
use super::rows::{CACHE_LINE, prefetch_at};

/// One resolved descriptor.
#[derive(Debug, Clone)]
pub enum Bound {
    /// Buffer: its memory, first byte, and size in bytes. Without memory all accesses are out of
    /// bounds.
    Buffer(Option<Arc<Allocation>>, u64, u64),
    /// Any other descriptor.
    Other(Descriptor),
}

impl Bound {
    /// Resolves a descriptor. `dynamic_offset`, in bytes, is added to a buffer's offset.
    #[inline]
    pub fn new(descriptor: Descriptor, dynamic_offset: u32) -> Self {
        match descriptor {
            Descriptor::UniformBuffer(range) | Descriptor::StorageBuffer(range) => Self::buffer(&range, dynamic_offset),
            other => Self::Other(other),
        }
    }

    /// Returns true if the buffer or image is protected.
    pub(crate) fn is_protected(&self) -> bool {
        match self {
            Self::Buffer(memory, ..) => memory.as_ref().is_some_and(|memory| memory.is_protected()),
            Self::Other(descriptor) => descriptor.is_protected(),
        }
    }

    /// Returns the null descriptor of the same type.
    pub(crate) fn without_memory(&self) -> Self {
        match self {
            Self::Other(_) => Self::Other(Descriptor::None),
            Self::Buffer(..) => Self::Buffer(None, 0, 0),
        }
    }

    /// Returns the surface of an image descriptor.
    pub(crate) fn surface(&self) -> Option<&Surface> {
        self.view().map(|view| &*view.surface)
    }

    /// Returns the view of an image descriptor.
    pub(crate) fn view(&self) -> Option<&SurfaceView> {
        match self {
            Self::Other(descriptor) => descriptor.view().map(|view| &**view),
            Self::Buffer(..) => None,
        }
    }

    /// Returns the memory of a buffer descriptor, if it has any.
    #[inline]
    pub(crate) fn memory(&self) -> Option<BoundBuffer<'_>> {
        match self {
            Self::Buffer(Some(memory), start, size) => Some(BoundBuffer { memory, start: *start, size: *size }),
            _ => None,
        }
    }

    /// Returns a bound buffer in the layout that generated code reads. The entry must not outlive
    /// the descriptor.
    pub(crate) fn entry(&self) -> BufferEntry {
        let Some(BoundBuffer { memory, start, size }) = self.memory() else { return BufferEntry::EMPTY };
        // The allocation is padded to whole words.
        let inside = size.min(memory.size().saturating_sub(start));
        BufferEntry::new(memory.host_pointer().wrapping_add(start as usize), inside)
    }

    fn buffer(range: &BufferRange, dynamic_offset: u32) -> Self {
        let offset = range.offset + u64::from(dynamic_offset);
        let size = range.size.min(range.buffer.size().saturating_sub(offset));
        match range.buffer.binding() {
            Some((memory, start)) => Self::Buffer(Some(memory.clone()), start + offset, size),
            None => Self::Buffer(None, 0, 0),
        }
    }
}

/// Bound range of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct BoundBuffer<'a> {
    /// Memory of the buffer.
    pub memory: &'a Allocation,
    /// Position of the first byte in the memory.
    pub start: u64,
    /// Size in bytes.
    pub size: u64,
}

impl<'a> BoundBuffer<'a> {
    /// Returns the memory and position of `bytes` bytes at `offset`, or `None` if they are out of
    /// bounds. The size of the range is rounded up to whole words.
    #[inline]
    pub fn locate(&self, offset: u32, bytes: u64) -> Option<(&'a Allocation, u64)> {
        let is_inside = u64::from(offset) + bytes <= self.size.next_multiple_of(4);
        is_inside.then_some((self.memory, self.start + u64::from(offset)))
    }
}

/// Memory ranges that an internal program accesses by number.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    bounds: Vec<Bound>,
    entries: Vec<BufferEntry>,
}

impl Ranges {
    /// Creates ranges from these buffers.
    #[inline]
    pub fn new(bounds: Vec<Bound>) -> Self {
        let entries = bounds.iter().map(Bound::entry).collect();
        Self { bounds, entries }
    }

    /// Returns an empty list of ranges.
    #[inline]
    pub fn none() -> &'static Self {
        static NONE: Ranges = Ranges { bounds: Vec::new(), entries: Vec::new() };
        &NONE
    }

    /// Returns the ranges in the layout that generated code reads.
    pub(crate) fn entries(&self) -> &[BufferEntry] {
        &self.entries
    }

    /// Prefetches bytes of a range into the caches.
    #[inline]
    pub fn prefetch(&self, number: u32, bytes: Range<usize>) {
        let Some(entry) = self.entries.get(number as usize).filter(|entry| bytes.end <= entry.size as usize) else {
            return;
        };
        let first = entry.base.wrapping_add(bytes.start);
        (0..bytes.len()).step_by(CACHE_LINE).for_each(|line| prefetch_at(first.wrapping_add(line)));
    }

    /// Returns a range's memory.
    pub(crate) fn buffer(&self, number: u32) -> Option<BoundBuffer<'_>> {
        self.bounds.get(number as usize)?.memory()
    }
}
