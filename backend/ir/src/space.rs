//! Memory spaces, and positions of interpolation.

use super::Value;
use super::notation::notation;

/// Memory that loads, stores and atomics access by byte offset. Offsets are multiples of 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Uniform or storage buffer.
    Buffer {
        /// Index into the program's resources.
        resource: u32,
        /// Element of the binding's array. `None` is element 0.
        element: Option<Value>,
    },
    /// Push constants.
    Push,
    /// First buffer of the resource with this index, at word offsets known to lie in it. Occurs in
    /// linked routines only.
    Texels(u32),
    /// Push constants at this number of bytes after the offset, known to be in bounds. Occurs in
    /// linked routines only.
    Levels(u32),
    /// Memory that was resolved for an image instruction. Occurs only in programs that include the
    /// instruction's routine.
    OfImage {
        /// Number of the image instruction.
        image: u32,
        /// Part of the resolved state.
        part: Part,
    },
    /// Memory range with this number, which the host passes with a run.
    Range(u32),
    /// Memory range of which each quad of four lanes accesses 16 consecutive bytes, one word per
    /// lane. Occurs in linked kernels only.
    ///
    /// The 16 bytes lie completely inside or completely outside of the range, and inside if a lane
    /// of the quad stores. A store may also rewrite the words of the quad's other lanes with their
    /// current values.
    Quads(u32),
    /// Memory range of which a wave accesses a block of 4x4 texels in a tile of 8x8 texels. Occurs
    /// in linked kernels only.
    ///
    /// The block's four quads are 32 bytes at the offset and 32 bytes at 64 bytes after it. The
    /// offset is uniform. All of these bytes lie inside or all lie outside of the range. As with
    /// [`Self::Quads`], they lie inside if a lane stores, and a store may rewrite other words.
    Block(u32),
    /// Memory shared by a workgroup.
    Shared,
    /// The device's clock: a 64-bit counter that an atomic load reads at any offset.
    Clock,
    /// Device memory at a 64-bit address, whose low word is the offset.
    Address {
        /// High word of the address.
        high: Value,
    },
    /// Storage buffer at an offset of [`Self::FAR_BITS`] bits, whose low word is the offset.
    Far {
        /// Index into the program's resources.
        resource: u32,
        /// Upper bits of the offset, and above them the element of the binding's array.
        high: Value,
    },
}

/// Part of the state that was resolved for an image instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// First buffer of the routine's resource with this index.
    Buffer(u32),
    /// First buffer of the routine's resource with this index, at word offsets known to lie in it.
    Texels(u32),
    /// The routine's push constants at this number of bytes after the offset, known to be in
    /// bounds.
    Levels(u32),
}

impl Space {
    /// Number of bits of offsets into [`Self::Far`] buffers.
    pub const FAR_BITS: u32 = 44;

    /// Bytes from the upper quads of a block to its lower quads.
    pub const BLOCK_ROW: u32 = 64;

    /// Returns true if nothing writes the memory while a program runs.
    pub const fn is_pushed(self) -> bool {
        matches!(self, Self::Push | Self::Levels(_) | Self::OfImage { part: Part::Levels(_), .. })
    }

    /// Returns true for buffers and for texels of images.
    pub const fn is_buffer(self) -> bool {
        matches!(self, Self::Buffer { .. } | Self::Far { .. } | Self::Texels(_) | Self::OfImage { .. })
            && !self.is_pushed()
    }

    /// Returns true if operands locate the memory with 64 bits.
    pub const fn is_located(self) -> bool {
        matches!(self, Self::Address { .. } | Self::Far { .. })
    }

    /// Returns the index of the program's resource that is accessed.
    pub const fn resource(mut self) -> Option<u32> {
        match self.resource_mut() {
            Some(resource) => Some(*resource),
            None => None,
        }
    }

    /// Returns a mutable reference to the index of the program's resource that is accessed.
    pub const fn resource_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Buffer { resource, .. } | Self::Far { resource, .. } => Some(resource),
            _ => None,
        }
    }

    /// Returns the value that selects the memory, in addition to the offset.
    pub const fn operand(mut self) -> Option<Value> {
        match self.operand_mut() {
            Some(value) => Some(*value),
            None => None,
        }
    }

    /// Returns a mutable reference to the value that selects the memory, in addition to the
    /// offset.
    pub const fn operand_mut(&mut self) -> Option<&mut Value> {
        match self {
            Self::Buffer { element, .. } => element.as_mut(),
            Self::Address { high } | Self::Far { high, .. } => Some(high),
            Self::Push
            | Self::Texels(_)
            | Self::Levels(_)
            | Self::OfImage { .. }
            | Self::Range(_)
            | Self::Quads(_)
            | Self::Block(_)
            | Self::Shared
            | Self::Clock => None,
        }
    }
}

/// Position at which a program interpolates a fragment input instead of the declared position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InterpolateAt {
    /// The centroid.
    Centroid,
    /// The sample with this number.
    Sample(Value),
    /// An offset from the pixel's centre, in pixels.
    Offset(Value, Value),
}

impl InterpolateAt {
    /// Returns this position with each operand replaced by `map` of it.
    pub fn map(self, map: impl Fn(Value) -> Value) -> Self {
        match self {
            Self::Centroid => Self::Centroid,
            Self::Sample(sample) => Self::Sample(map(sample)),
            Self::Offset(x, y) => Self::Offset(map(x), map(y)),
        }
    }
}

notation! { Space "no such memory" {
    Buffer { resource, element } = "buffer" (resource ["[" element "]"]);
    Push = "push";
    Texels(resource) = "texels" (resource);
    Levels(first) = "levels" (first);
    OfImage { image, part } = "of" (image " " part);
    Range(number) = "range" (number);
    Quads(number) = "quads" (number);
    Block(number) = "block" (number);
    Shared = "shared";
    Clock = "clock";
    Address { high } = "address" (high);
    Far { resource, high } = "far" (resource " " high);
} }

notation! { Part "no such part of an image" {
    Buffer(resource) = "buffer" (resource);
    Texels(resource) = "texels" (resource);
    Levels(first) = "levels" (first);
} }

notation! { InterpolateAt "no such position" {
    Centroid = "centroid";
    Sample(sample) = "sample" (sample);
    Offset(x, y) = "offset" (x ", " y);
} }
