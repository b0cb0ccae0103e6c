//! Buffers and their views: ranges of an allocation, bound once.
//!
//! Source: Vulkan specification, "Resource Creation" (Buffers, Buffer Views).

use std::sync::{Arc, OnceLock};

use ash::vk;

use super::{AddressKind, Allocation};

/// Linear range of bytes, bound to memory after its creation.
#[derive(Debug)]
pub struct Buffer {
    size: u64,
    binding: OnceLock<(Arc<Allocation>, u64)>,
    address: BufferAddress,
    is_protected: bool,
}

/// Device address of a buffer, for access by shader programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferAddress {
    /// The buffer has no address.
    None,
    /// The buffer has an address of this kind, derived from the address of its memory.
    Of(AddressKind),
}

impl Buffer {
    /// Creates an unbound buffer of `size` bytes without a device address.
    pub fn new(size: u64) -> Arc<Self> {
        Self::with_address(size, BufferAddress::None)
    }

    /// Creates an unbound buffer of `size` bytes with a device address, which is valid once the
    /// buffer is bound. An address requested with [`AddressKind::At`] is the address of the
    /// buffer, not of its memory.
    pub fn with_address(size: u64, address: BufferAddress) -> Arc<Self> {
        Arc::new(Self { size, binding: OnceLock::new(), address, is_protected: false })
    }

    /// Creates an unbound buffer like [`Self::with_address`] that may only be bound to protected
    /// memory.
    pub fn protected(size: u64, address: BufferAddress) -> Arc<Self> {
        Arc::new(Self { size, binding: OnceLock::new(), address, is_protected: true })
    }

    /// Returns true if the buffer may only be bound to protected memory. Other buffers may only be
    /// bound to unprotected memory.
    pub fn is_protected(&self) -> bool {
        self.is_protected
    }

    /// Returns the requested kind of device address.
    pub fn address(&self) -> BufferAddress {
        self.address
    }

    /// Returns the size of the buffer in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Binds the buffer to `memory` at `offset`. Returns true if the buffer was unbound before.
    pub fn bind(&self, memory: Arc<Allocation>, offset: u64) -> bool {
        // The driver does not track uses of buffers, so their memory must stay resident.
        memory.keep_resident(offset..offset.saturating_add(self.size));
        self.binding.set((memory, offset)).is_ok()
    }

    /// Returns the memory of the buffer, and the offset of the buffer in it, in bytes.
    pub fn binding(&self) -> Option<(&Arc<Allocation>, u64)> {
        self.binding.get().map(|(memory, offset)| (memory, *offset))
    }

    /// Copies bytes at `offset` to `out`. Fills `out` with zeros if the range is out of bounds or
    /// the buffer is unbound.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        match self.locate(offset, out.len() as u64) {
            Some((memory, start)) => memory.read(start, out),
            None => out.fill(0),
        }
    }

    /// Copies `data` to `offset`. Does nothing if the range is out of bounds or the buffer is
    /// unbound.
    pub fn write(&self, offset: u64, data: &[u8]) {
        if let Some((memory, start)) = self.locate(offset, data.len() as u64) {
            memory.write(start, data);
        }
    }

    /// Returns the allocation that holds `length` bytes at `offset`, and their offset in it.
    /// Returns `None` if the range is out of bounds or the buffer is unbound.
    pub fn locate(&self, offset: u64, length: u64) -> Option<(&Arc<Allocation>, u64)> {
        let end = offset.checked_add(length)?;
        let (memory, start) = self.binding()?;
        if end > self.size {
            return None;
        }
        Some((memory, start.checked_add(offset)?))
    }
}

/// Part of a buffer, as descriptors and vertex bindings refer to it.
#[derive(Debug, Clone)]
pub struct BufferRange {
    /// Buffer.
    pub buffer: Arc<Buffer>,
    /// Offset from the start of the buffer, in bytes.
    pub offset: u64,
    /// Size in bytes, clamped to the end of the buffer.
    pub size: u64,
}

impl BufferRange {
    /// Creates the range of `size` bytes at `offset`, clamped to the buffer. `vk::WHOLE_SIZE`
    /// means up to the end.
    pub fn new(buffer: Arc<Buffer>, offset: u64, size: u64) -> Self {
        let room = buffer.size().saturating_sub(offset);
        Self { buffer, offset, size: size.min(room) }
    }
}

/// Buffer range that is read or written as formatted texels.
#[derive(Debug)]
pub struct BufferView {
    /// Bytes of the view. Their number is a multiple of the texel size.
    pub range: BufferRange,
    /// Format of a texel.
    pub format: vk::Format,
}
