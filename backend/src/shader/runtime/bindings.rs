//! Resolved bindings: for each resource of a program, the descriptors of its array, with buffers resolved to memory.
//!
//! Buffer accesses are robust: a word that is not wholly inside the bound range reads 0, and is not written. Source: Vulkan
//! specification, "robustBufferAccess".

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Descriptor;
use super::frame::BufferTable;
use crate::memory::{Allocation, BufferRange};
use crate::shader::ir::AtomicOp;

/// One resolved descriptor.
#[derive(Debug, Clone)]
pub enum Bound {
    /// A buffer's bytes: memory, first byte, and bytes; without memory nothing is there.
    Buffer(Option<Arc<Allocation>>, u64, u64),
    /// Anything else.
    Other(Descriptor),
}

impl Bound {
    /// Resolves a descriptor; `dynamic_offset` is added to a buffer's offset.
    pub fn new(descriptor: Descriptor, dynamic_offset: u32) -> Self {
        match descriptor {
            Descriptor::UniformBuffer(range) | Descriptor::StorageBuffer(range) => Self::buffer(&range, dynamic_offset),
            other => Self::Other(other),
        }
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

/// The bindings of one draw or dispatch, by resource index and array element.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    resources: Vec<Vec<Bound>>,
    table: BufferTable,
}

impl Bindings {
    /// Bindings of one list of descriptors per resource of the program.
    pub fn new(resources: Vec<Vec<Bound>>) -> Self {
        let table = BufferTable::new(&resources);
        Self { resources, table }
    }

    /// The buffers as generated code sees them.
    pub(super) fn table(&self) -> &BufferTable {
        &self.table
    }

    fn buffer(&self, resource: u32, element: u32) -> Option<(&Allocation, u64, u64)> {
        match self.resources.get(resource as usize)?.get(element as usize)? {
            Bound::Buffer(Some(memory), start, size) => Some((memory, *start, *size)),
            _ => None,
        }
    }

    /// The descriptor of a resource that is not a buffer.
    pub fn descriptor(&self, resource: u32, element: u32) -> Option<&Descriptor> {
        match self.resources.get(resource as usize)?.get(element as usize)? {
            Bound::Other(descriptor) => Some(descriptor),
            Bound::Buffer(..) => None,
        }
    }

    /// Loads the word at byte `offset` of a buffer.
    #[inline]
    pub fn load(&self, resource: u32, element: u32, offset: u32) -> u32 {
        let mut word = [0; 4];
        if let Some((memory, start, size)) = self.buffer(resource, element)
            && u64::from(offset) + 4 <= size
        {
            memory.read(start + u64::from(offset), &mut word);
        }
        u32::from_le_bytes(word)
    }

    /// Stores a word at byte `offset` of a buffer.
    #[inline]
    pub fn store(&self, resource: u32, element: u32, offset: u32, word: u32) {
        if let Some((memory, start, size)) = self.buffer(resource, element)
            && u64::from(offset) + 4 <= size
        {
            memory.write(start + u64::from(offset), &word.to_le_bytes());
        }
    }

    /// The word at byte `offset` of a buffer as an atomic.
    pub fn atomic(&self, resource: u32, element: u32, offset: u32) -> Option<&AtomicU32> {
        let (memory, start, size) = self.buffer(resource, element)?;
        if u64::from(offset) + 4 <= size { memory.atomic_u32(start + u64::from(offset)) } else { None }
    }

    /// Bytes of a buffer's bound range.
    pub fn length(&self, resource: u32, element: u32) -> u32 {
        self.buffer(resource, element).map_or(0, |(_, _, size)| size.min(u64::from(u32::MAX)) as u32)
    }
}

/// Memory shared by the waves of a workgroup.
#[derive(Debug, Default)]
pub struct SharedMemory {
    words: Vec<AtomicU32>,
}

impl SharedMemory {
    /// `bytes` of zeroed memory.
    pub fn new(bytes: u32) -> Self {
        Self { words: (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Zeroes it.
    pub fn clear(&mut self) {
        self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    /// First byte, and bytes, for generated code.
    pub(super) fn raw(&self) -> (*mut u8, u64) {
        (self.words.as_ptr().cast_mut().cast(), self.words.len() as u64 * 4)
    }

    /// The word at byte `offset`.
    #[inline]
    pub fn word(&self, offset: u32) -> Option<&AtomicU32> {
        self.words.get(offset as usize / 4)
    }
}

/// Performs `op` on a word and returns what was there before.
pub fn perform(word: &AtomicU32, op: AtomicOp, value: u32, comparator: u32) -> u32 {
    let update = |old| op.apply(old, value, comparator);
    word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, update).unwrap_or_else(|old| old)
}
