//! Buffers and their views: ranges of an allocation, bound once.
//!
//! Source: Vulkan specification, "Resource Creation" (Buffers, Buffer Views).

use std::sync::{Arc, OnceLock};

use ash::vk;

use super::{AddressKind, Allocation};

/// A linear range of bytes, bound to memory after it was created.
#[derive(Debug)]
pub struct Buffer {
    size: u64,
    binding: OnceLock<(Arc<Allocation>, u64)>,
    address: BufferAddress,
}

/// Whether programs reach a buffer by its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferAddress {
    /// It has none.
    None,
    /// It has one: that of its memory.
    Of(AddressKind),
}

impl Buffer {
    /// An unbound buffer of `size` bytes.
    pub fn new(size: u64) -> Arc<Self> {
        Self::with_address(size, BufferAddress::None)
    }

    /// The same with an address, once it is bound: one that is asked for is the buffer's own, not that of the memory.
    pub fn with_address(size: u64, address: BufferAddress) -> Arc<Self> {
        Arc::new(Self { size, binding: OnceLock::new(), address })
    }

    /// Whether it has an address, and which.
    pub fn address(&self) -> BufferAddress {
        self.address
    }

    /// Bytes in the buffer.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Binds the buffer to `memory` from `offset` on. Returns whether it was unbound before.
    pub fn bind(&self, memory: Arc<Allocation>, offset: u64) -> bool {
        // Nobody says when buffers are used.
        memory.keep_awake(offset..offset.saturating_add(self.size));
        self.binding.set((memory, offset)).is_ok()
    }

    /// The memory behind the buffer and where in it the buffer starts.
    pub fn binding(&self) -> Option<(&Arc<Allocation>, u64)> {
        self.binding.get().map(|(memory, offset)| (memory, *offset))
    }

    /// Copies bytes at `offset` to `out`; zeros when out of the buffer's range or unbound.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        match self.locate(offset, out.len() as u64) {
            Some((memory, start)) => memory.read(start, out),
            None => out.fill(0),
        }
    }

    /// Copies `data` to `offset`; dropped when out of the buffer's range or unbound.
    pub fn write(&self, offset: u64, data: &[u8]) {
        if let Some((memory, start)) = self.locate(offset, data.len() as u64) {
            memory.write(start, data);
        }
    }

    /// The allocation and the offset in it of `length` bytes at `offset`; `None` when out of range or unbound.
    pub fn locate(&self, offset: u64, length: u64) -> Option<(&Arc<Allocation>, u64)> {
        let end = offset.checked_add(length)?;
        let (memory, start) = self.binding()?;
        if end > self.size {
            return None;
        }
        Some((memory, start.checked_add(offset)?))
    }
}

/// A part of a buffer, as descriptors and vertex bindings hold it.
#[derive(Debug, Clone)]
pub struct BufferRange {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Bytes, already clamped to the end of the buffer.
    pub size: u64,
}

impl BufferRange {
    /// The range from `offset` over `size` bytes (`vk::WHOLE_SIZE`: to the end), clamped to the buffer.
    pub fn new(buffer: Arc<Buffer>, offset: u64, size: u64) -> Self {
        let room = buffer.size().saturating_sub(offset);
        Self { buffer, offset, size: size.min(room) }
    }
}

/// A buffer range read or written as formatted texels.
#[derive(Debug)]
pub struct BufferView {
    /// The bytes; a multiple of the texel size long.
    pub range: BufferRange,
    /// Format of a texel.
    pub format: vk::Format,
}
